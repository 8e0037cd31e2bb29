//! Edits of kernel marks, `@kernel 3`: merge two kernels, cut one in two, set the mark of one op.

use crate::core::model::diagnostic::Span;
use crate::core::model::graph::{Graph, OpId};
use crate::core::model::partition::Partition;
use crate::core::model::program::Program;
use crate::core::notation::edit::replaced;

/// The state that an edit of kernels starts from: the kernels as shown, and the statement of each op.
#[derive(Clone, Copy)]
pub struct ShownKernels<'a> {
    /// The ops.
    pub graph: &'a Graph,
    /// Their kernels.
    pub partition: &'a Partition,
    /// For each op its statement in the program.
    pub statement_of_op: &'a [usize],
}

/// Writes or removes the kernel mark of one op.
pub fn set_kernel(text: &str, program: &Program, op: usize, kernel: Option<u32>) -> String {
    replaced(
        text,
        edit_of(text, program, op, kernel).into_iter().collect(),
    )
}

/// Marks the kernels as shown, with two of them as one; comments and layout stay.
///
/// The caller checks first whether the merge is legal, by [`crate::core::analysis::why::Why::merge`].
pub fn merge_kernels(
    text: &str,
    program: &Program,
    shown: ShownKernels<'_>,
    a: usize,
    b: usize,
) -> String {
    let group_of = shown.partition.group_of.iter();
    let merged = group_of.map(|&group| if group == b { a } else { group });
    state(text, program, shown, &merged.collect::<Vec<_>>())
}

/// Marks the kernels as shown, with one of them cut in two: the consumer, and the ops of the kernel that depend
/// on it, form a new kernel. If the two ops are in different kernels already, only the marks are written.
pub fn cut_edge(
    text: &str,
    program: &Program,
    shown: ShownKernels<'_>,
    producer: OpId,
    consumer: OpId,
) -> String {
    let mut group_of = shown.partition.group_of.clone();
    let kernel = group_of.get(producer).copied();
    if kernel.is_some() && group_of.get(consumer).copied() == kernel {
        let new = shown.partition.groups.len();
        for op in consumer..group_of.len() {
            let follows = shown.graph.predecessors[op]
                .iter()
                .any(|&before| group_of.get(before) == Some(&new));
            if let Some(group) = group_of.get_mut(op)
                && Some(*group) == kernel
                && (op == consumer || follows)
            {
                *group = new;
            }
        }
    }
    state(text, program, shown, &group_of)
}

/// Marks each op that shares its kernel with the number that pictures give that kernel, and removes all other
/// marks. If the kernels form a cycle, no order numbers them, and they keep the numbers of `group_of`.
fn state(text: &str, program: &Program, shown: ShownKernels<'_>, group_of: &[usize]) -> String {
    let ordered = Partition::in_order(shown.graph, group_of);
    let group_of = ordered.as_ref().map_or(group_of, |p| &p.group_of);
    let mut sizes = vec![0_u32; group_of.len() + 1];
    for &group in group_of {
        if let Some(size) = sizes.get_mut(group) {
            *size += 1;
        }
    }
    let mut edits = Vec::new();
    for (&group, &statement) in group_of.iter().zip(shown.statement_of_op) {
        let is_shared = sizes.get(group).is_some_and(|&size| size > 1);
        let number = is_shared.then(|| u32::try_from(group + 1).ok()).flatten();
        edits.extend(edit_of(text, program, statement, number));
    }
    replaced(text, edits)
}

fn edit_of(
    text: &str,
    program: &Program,
    op: usize,
    kernel: Option<u32>,
) -> Option<(Span, String)> {
    let statement = program.ops.get(op)?;
    match (&statement.kernel, kernel) {
        (Some(old), Some(new)) if old.number == new => None,
        (Some(old), Some(new)) => Some((old.span, format!("@kernel {new}"))),
        (Some(old), None) => {
            let before = text.get(..old.span.start)?.trim_end().len();
            Some((Span::new(before, old.span.end), String::new()))
        }
        (None, Some(new)) => {
            let end = statement.span.end;
            Some((Span::new(end, end), format!(" @kernel {new}")))
        }
        (None, None) => None,
    }
}
