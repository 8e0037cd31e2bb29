//! Names of ops and counts of things in sentences and labels.

use crate::present::format::format_count;
use fuseline_core::Analysis;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{KernelId, OpId};
use fuseline_core::notation::spelling::{first_chars, printable};

/// The label of a text in a list: its title, else its first line that is not empty.
pub fn title(text: &str) -> &str {
    let mut lines = text.lines().map(|line| line.trim_start_matches('#').trim());
    (own_title(text))
        .or_else(|| lines.find(|line| !line.is_empty()))
        .unwrap_or("(empty)")
}

/// The title that a text gives itself: a comment before all else, without a full stop at its end.
/// `# title: Two readers` is the form of puzzles and lessons.
pub fn own_title(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    let comment = lines.find(|line| !line.trim_start_matches('#').trim().is_empty())?;
    let words = comment.strip_prefix('#')?.trim_start_matches('#').trim();
    let words = words.strip_prefix("title:").unwrap_or(words);
    Some(words.trim().trim_end_matches('.'))
}

/// The op's name; empty for an op that the graph does not have.
pub fn op_name(graph: &Graph, op: OpId) -> &str {
    graph.ops.get(op).map_or("", |op| op.name.as_str())
}

/// The number of an op as a separate kernel: that of its fused kernel, with a letter if the kernel
/// has several ops: `3`, `1a`, `1b`. Empty for a free view or a second result, which are no kernel.
/// `O(ops of the kernel)`.
pub fn lone_number(analysis: &Analysis, op: OpId) -> String {
    let kernel = analysis.partition.kernel_of[op];
    let ops = analysis.partition.kernels[kernel].iter().copied();
    let launched: Vec<OpId> = ops
        .filter(|&op| !analysis.unfused.of_lone_op(op).is_free)
        .collect();
    let number = kernel.number();
    match launched.iter().position(|&of| of == op) {
        Some(index) if launched.len() > 1 => format!("{number}{}", letters(index)),
        Some(_) => number.to_string(),
        None => String::new(),
    }
}

/// `a` to `z`, then `aa`, `ab`, as the columns of a spreadsheet.
fn letters(index: usize) -> String {
    let letter = ('a'..='z').nth(index % 26).unwrap_or_default();
    match index / 26 {
        0 => letter.to_string(),
        more => format!("{}{letter}", letters(more - 1)),
    }
}

/// The op's name, marked as code: `` `relu` ``.
pub fn quoted_op(graph: &Graph, op: OpId) -> String {
    format!("`{}`", printable(op_name(graph, op)))
}

/// A name of at most this many characters, cut if it is longer, because a name can have any length.
pub fn short_name(name: &str, most_chars: usize) -> String {
    first_chars(name, most_chars)
}

/// The first `most` names and how many more there are: `a, b and 3 more`.
pub fn joined(
    mut names: impl ExactSizeIterator<Item = impl AsRef<str>>,
    [between, before_more]: [&str; 2],
    most: usize,
) -> String {
    let mut text = String::new();
    for (place, name) in names.by_ref().take(most).enumerate() {
        if place > 0 {
            text.push_str(between);
        }
        text.push_str(name.as_ref());
    }
    match names.len() {
        0 => text,
        more => format!("{text}{before_more}{} more", format_count(more)),
    }
}

/// All of some things as a list in a sentence: `a, b and c`.
pub fn listed(mut things: Vec<String>) -> String {
    match (things.pop(), things.is_empty()) {
        (None, _) => String::new(),
        (Some(only), true) => only,
        (Some(last), false) => format!("{} and {last}", things.join(", ")),
    }
}

/// Most ops that the name of a kernel lists.
const NAMED_OPS: usize = 12;

/// The names of a kernel's ops as people read them: `matmul + bias + relu`, of a long kernel the
/// first ones.
pub fn op_names(graph: &Graph, ops: &[OpId]) -> String {
    names_of_ops(ops.iter().map(|&op| op_name(graph, op)))
}

/// The ops of a fused kernel, and those of other kernels that it computes, too: `norm2 + up`, `up,
/// recomputes norm1`. The statistics of a reduction whose elements a later kernel writes are its
/// intermediate: `resid1, intermediate of norm1`.
pub fn kernel_ops(analysis: &Analysis, kernel: KernelId) -> String {
    let name = |op: OpId| printable(op_name(&analysis.graph, op));
    kernel_name(analysis, kernel, NAMED_OPS, name)
}

/// [`kernel_ops`] for a narrow column: at most so many ops, each of at most so many characters.
pub fn short_kernel_ops(
    analysis: &Analysis,
    kernel: KernelId,
    most_ops: usize,
    most_chars: usize,
) -> String {
    let name = |op: OpId| short_name(op_name(&analysis.graph, op), most_chars);
    kernel_name(analysis, kernel, most_ops, name)
}

fn kernel_name<Name: AsRef<str>>(
    analysis: &Analysis,
    kernel: KernelId,
    most_ops: usize,
    name: impl Fn(OpId) -> Name,
) -> String {
    let partition = &analysis.partition;
    let own = partition.kernels[kernel].iter().map(|&op| name(op));
    let own = joined(own, [" + "; 2], most_ops);
    let is_reduced = |op: &OpId| partition.reduces(kernel, *op);
    let others = |ops: &mut dyn Iterator<Item = &OpId>| {
        let names: Vec<Name> = ops.map(|&op| name(op)).collect();
        joined(names.into_iter(), [", ", " and "], most_ops)
    };
    let again = || partition.recomputed[kernel].iter();
    let reduced = others(&mut again().filter(|&op| is_reduced(op)));
    let computed = others(&mut again().filter(|&op| !is_reduced(op)));
    let parts = [
        ("", own),
        ("intermediate of ", reduced),
        ("recomputes ", computed),
    ];
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts
        .map(|(what, names)| format!("{what}{names}"))
        .collect();
    parts.join(", ")
}

/// How often a fused kernel is launched, where that is not once: `2 launches`. The headline counts
/// launches.
pub fn launches_note(analysis: &Analysis, kernel: KernelId) -> Option<String> {
    let is_free = analysis.fused.kernels.get(kernel)?.is_free;
    match u32::from(!is_free) + analysis.partition.further_launches_of(kernel) {
        0 => Some("no launch".to_owned()),
        1 => None,
        launches => Some(format!("{launches} launches")),
    }
}

/// [`op_names`] for ops that are given by name.
pub(super) fn names_of_ops<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    joined(names.map(printable), [" + "; 2], NAMED_OPS)
}

/// `1 kernel`, `2 kernels`, `1,200 kernels`.
pub fn counted(count: usize, thing: &str) -> String {
    format!("{} {}", format_count(count), plural(count, thing))
}

/// `kernel` of 1, `kernels` of any other count.
pub fn plural(count: usize, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{thing}{ending}")
}
