//! Merging and cutting kernels by hand: the changed text, and what the change saves or costs.

use super::format::{format_bytes, format_seconds};
use super::names::op_name;
use super::options::switch_name;
use super::reasons::reason_text;
use super::verdict::time_scope;
use borsh::{BorshDeserialize, BorshSerialize};
pub use fuseline_core::analysis::by_hand::Change;
use fuseline_core::analysis::by_hand::{self, KernelsInText, Unchanged};
use fuseline_core::analysis::why::Price;
use fuseline_core::model::options::Switch;
use fuseline_core::notation::edit::Unmarkable;
use fuseline_core::{Analysis, Graph, OpId, Policy};

/// The effect of a change.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Proposal {
    /// What the change saves or costs, or why it is not possible.
    pub words: String,
    /// The saving or cost alone: `saves 33.6 MB and 16.5 µs`; empty if the change is not possible.
    pub effect: String,
    /// The words for the change once it is made; empty if it is not possible.
    pub done: String,
    /// The changed text; `None` where the change is not possible.
    pub text: Option<String>,
    /// Whether the policy decides on the other kernels, so that the text marks only changed ones.
    pub keeps_policy: bool,
}

impl Proposal {
    /// A change that is not possible, with the reason.
    pub fn refused(words: String) -> Self {
        Self {
            words,
            effect: String::new(),
            done: String::new(),
            text: None,
            keeps_policy: false,
        }
    }
}

/// The first op that `consumer` reads in its own kernel, from which a cut would separate it.
pub fn producer_beside(analysis: &Analysis, consumer: OpId) -> Option<OpId> {
    let kernel_of = &analysis.partition.kernel_of;
    let kernel = kernel_of.get(consumer);
    let producers = analysis.graph.predecessors.get(consumer)?;
    let mut producers = producers.iter().copied();
    producers.find(|&producer| kernel_of.get(producer) == kernel)
}

/// The effect of `change`: the difference from an analysis of the changed text under policy
/// `manual`, so it takes as long as an analysis.
pub fn propose(change: Change, shown: KernelsInText<'_>) -> Proposal {
    let analysis = shown.analysis;
    let [proposed, done] = in_words(change, analysis);
    let changed = match by_hand::change(change, shown) {
        Ok(changed) => changed,
        Err(why) => {
            let words = unchanged_text(&analysis.graph, (change, &proposed), &why);
            // The words are shown as plain text, without quotes for code.
            return Proposal::refused(words.replace('`', ""));
        }
    };
    let mut gain = gain(analysis, &changed.analysis);
    let saved_bytes = saved_bytes(analysis, &changed.analysis);
    let keeps_policy = change.keeps_policy(analysis.options.policy);
    let merge = (changed.merge).filter(|_| !changed.is_in_iterations && !keeps_policy);
    if let Some(alone) = merge.and_then(|merge| merge_alone(analysis, merge, saved_bytes)) {
        gain = format!("{gain} ({alone})");
    }
    let mut scope = String::new();
    let [kernels, kernels_after] =
        [analysis, &changed.analysis].map(|analysis| analysis.partition.kernels.len());
    if shown.program.blocks.is_empty() && kernels_after > kernels + 1 {
        scope = format!(" into {} kernels", kernels_after - kernels + 1);
    }
    if changed.is_in_iterations {
        scope.push_str(" in every iteration");
    }
    if changed.cuts_iterations {
        scope.push_str(", cut where iterations end");
    }
    let comma = if changed.cuts_iterations { "," } else { "" };
    Proposal {
        words: format!("{proposed}{scope}{comma} {gain}."),
        done: format!("{done}{scope}: {gain}."),
        effect: gain,
        text: Some(changed.text),
        keeps_policy,
    }
}

/// Why a change of kernels of `graph` is not possible.
fn unchanged_text(graph: &Graph, (change, proposed): (Change, &str), why: &Unchanged) -> String {
    let reason = match why {
        Unchanged::Lost => {
            let parts = match change {
                Change::Merge(..) | Change::MergeOnTop(..) => "kernels",
                Change::Cut { .. } => "ops",
            };
            return format!("The program no longer has both {parts}.");
        }
        Unchanged::Illegal {
            reason,
            are_in_attention,
        } => {
            let words = reason_text(graph, reason);
            if *are_in_attention {
                let name = switch_name(Switch::Attention);
                format!("{words}. A fused attention kernel can: that is the option {name}")
            } else {
                words
            }
        }
        Unchanged::IsCut => "they run in two kernels already".to_owned(),
        Unchanged::Unmarkable(problem) => unmarkable_text(graph, problem),
        Unchanged::Broken => "the text has an error".to_owned(),
        Unchanged::Refused(after, reason) => reason_text(after, reason),
        Unchanged::IsAttention => "the option fused attention keeps them in one kernel".to_owned(),
    };
    format!("{proposed} is not possible: {reason}.")
}

/// Why the kernels after a change cannot be written as marks.
fn unmarkable_text(graph: &Graph, problem: &Unmarkable) -> String {
    match *problem {
        Unmarkable::AcrossIterations(first, other) => format!(
            "{} and {} would share a kernel across iterations, but a kernel mark applies within one iteration",
            op_name(graph, first),
            op_name(graph, other)
        ),
        Unmarkable::IterationsDiffer(first, other) => format!(
            "the kernels of {} and {} differ, but a kernel mark applies to every iteration",
            op_name(graph, first),
            op_name(graph, other)
        ),
    }
}

/// The change as the beginning of a sentence, before and after it is made.
fn in_words(change: Change, analysis: &Analysis) -> [String; 2] {
    match change {
        Change::Merge(a, b) | Change::MergeOnTop(a, b) => ["Merging", "Merged"].map(|verb| {
            format!(
                "{verb} kernels {} and {}",
                a.min(b).number(),
                a.max(b).number()
            )
        }),
        Change::Cut { consumer, .. } => ["Cutting", "Cut"]
            .map(|verb| format!("{verb} before {}", op_name(&analysis.graph, consumer))),
    }
}

/// The part of the saved bytes that the merge alone saves, if switching to *by hand* changes other
/// kernels, too.
///
/// *Why not* shows the merge alone.
pub(super) fn merge_alone(analysis: &Analysis, merge: Price, saved_bytes: i64) -> Option<String> {
    let alone = merge.saved_bytes();
    let verb = if alone < 0 { "costs" } else { "saves" };
    let alone_text = format_bytes(alone.unsigned_abs());
    let is_other = alone != saved_bytes && analysis.options.policy != Policy::Manual;
    is_other.then(|| {
        format!(
            "the merge alone {verb} {alone_text}, the change of policy to by hand does the rest"
        )
    })
}

fn saved_bytes(before: &Analysis, after: &Analysis) -> i64 {
    before.fused.traffic.total.cast_signed() - after.fused.traffic.total.cast_signed()
}

/// The saving or cost of a change: `saves 33.6 MB and 16.5 µs`, `costs 268 MB and 131 µs`, or one
/// of each.
fn gain(before: &Analysis, after: &Analysis) -> String {
    let saved_bytes = saved_bytes(before, after);
    let predicted = before.predicted.as_ref().zip(after.predicted.as_ref());
    let saved_s = predicted.map_or_else(
        || before.fused.time_s - after.fused.time_s,
        |(before, after)| before.fused_s - after.fused_s,
    );
    let verb = |is_saved: bool| if is_saved { "saves" } else { "costs" };
    let bytes = format_bytes(saved_bytes.unsigned_abs());
    let time = format!("{} {}", format_seconds(saved_s.abs()), time_scope(before));
    let (bytes_verb, time_verb) = (verb(saved_bytes >= 0), verb(saved_s >= 0.0));
    // Times are sums of floats: a smaller difference is rounding.
    if saved_s.abs() < 1e-12 {
        format!("{bytes_verb} {bytes} and no time")
    } else if bytes_verb == time_verb || saved_bytes == 0 {
        format!("{time_verb} {bytes} and {time}")
    } else {
        format!("{bytes_verb} {bytes} and {time_verb} {time}")
    }
}
