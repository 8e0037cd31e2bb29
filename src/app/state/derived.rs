//! What is computed from the text and the choices, as memos: each is computed when it is first read after a change.
//!
//! ```text
//! text ── parsed ──┐
//!                  ├── understood ──┬── diagnostics ── is_stale
//! choices ─ options┘                └── last_good ── record ── shown (after `step` decisions) ── analysis
//! ```
//!
//! A memo that nobody reads is not computed, and one whose sources have not changed keeps its value: the costly memos of a
//! tab cost nothing while it is closed, and nothing when it is opened again unchanged.

use super::selection::{NamedSelection, Selection};
use crate::core::analysis::compare::{Compared, compare};
use crate::core::analysis::replay::analysis_with;
use crate::core::analysis::why::PricedEdge;
use crate::core::fusion::record::{Decision, Record, record};
use crate::core::model::diagnostic::{has_errors, merged};
use crate::core::notation::{Parsed, parse};
use crate::core::{Analysis, Diagnostic, IdVec, OpId, Options, Outcome, analyze, analyze_program};
use crate::present::reasons::refused_kernels;
use crate::present::why;
use leptos::prelude::*;
use std::sync::Arc;

/// A memo of a value that is costly to compare: it compares pointers, not contents. `compute` gets the last value; it
/// returns the same `Arc` to say that nothing changed.
pub fn shared_memo<T: Send + Sync + 'static>(
    compute: impl Fn(Option<&Arc<T>>) -> Arc<T> + Send + Sync + 'static,
) -> Memo<Arc<T>> {
    Memo::new_with_compare(compute, |before, now| match (before, now) {
        (Some(before), Some(now)) => !Arc::ptr_eq(before, now),
        _ => true,
    })
}

/// A text and its analysis.
#[derive(Clone)]
pub struct AnalysedText {
    /// The parsed text.
    pub parsed: Arc<Parsed>,
    /// The analysis of its valid statements.
    pub analysis: Arc<Analysis>,
    /// The statement in `parsed` of each op of `analysis`.
    pub statement_of_op: Arc<IdVec<OpId, usize>>,
}

impl AnalysedText {
    /// Shown before any text was valid.
    fn empty(options: &Options) -> Self {
        let analysis = analyze(&[], &[], options)
            .unwrap_or_else(|_| unreachable!("an empty list has no fault"));
        Self {
            parsed: Arc::default(),
            analysis: Arc::new(analysis),
            statement_of_op: Arc::default(),
        }
    }
}

/// The analysis of the valid statements of a text, which may have errors.
pub(super) struct Understood {
    /// `None` when no analysis is possible, for example because of a cycle.
    analysed: Option<Arc<AnalysedText>>,
    /// Diagnostics of the analysis, without those of the parser.
    diagnostics: Vec<Diagnostic>,
}

fn understand(parsed: Arc<Parsed>, options: &Options) -> Understood {
    let outcome = analyze_program(&parsed.program, options);
    let refused = refused_kernels(&parsed.program, &outcome);
    let Outcome {
        analysis,
        statement_of_op,
        mut diagnostics,
    } = outcome;
    diagnostics.extend(refused);
    let analysed = analysis.map(|analysis| {
        Arc::new(AnalysedText {
            parsed,
            analysis: Arc::new(analysis),
            statement_of_op: Arc::new(statement_of_op),
        })
    });
    Understood {
        analysed,
        diagnostics,
    }
}

pub(super) fn parsed(text: ReadSignal<String>) -> Memo<Arc<Parsed>> {
    shared_memo(move |_| Arc::new(text.with(|text| parse(text))))
}

pub(super) fn understood(
    parsed: Memo<Arc<Parsed>>,
    options: Memo<Options>,
) -> Memo<Arc<Understood>> {
    shared_memo(move |_| Arc::new(options.with(|options| understand(parsed.get(), options))))
}

/// Compared by value: a slider rarely changes a diagnostic.
pub(super) fn diagnostics(
    parsed: Memo<Arc<Parsed>>,
    understood: Memo<Arc<Understood>>,
) -> Memo<Arc<Vec<Diagnostic>>> {
    Memo::new(move |_| {
        let of_parser = parsed.with(|parsed| parsed.diagnostics.clone());
        let of_analysis = understood.with(|understood| understood.diagnostics.clone());
        Arc::new(merged(of_parser, of_analysis))
    })
}

pub(super) fn is_stale(diagnostics: Memo<Arc<Vec<Diagnostic>>>) -> Memo<bool> {
    Memo::new(move |_| diagnostics.with(|all| has_errors(all)))
}

/// The last text without an error, analysed under the present choices.
pub(super) fn last_good(
    understood: Memo<Arc<Understood>>,
    is_stale: Memo<bool>,
    options: Memo<Options>,
) -> Memo<Arc<AnalysedText>> {
    shared_memo(move |last| {
        let options = options.get();
        let is_worth_keeping = |last: &&Arc<AnalysedText>| !last.analysis.graph.ops.is_empty();
        if is_stale.get()
            && let Some(last) = last.filter(is_worth_keeping)
        {
            if last.analysis.options == options {
                return last.clone();
            }
            if let Some(again) = understand(last.parsed.clone(), &options).analysed {
                return again;
            }
        }
        understood
            .with(|understood| understood.analysed.clone())
            .unwrap_or_else(|| Arc::new(AnalysedText::empty(&options)))
    })
}

pub(super) fn record_of(last_good: Memo<Arc<AnalysedText>>) -> Memo<Arc<Record>> {
    shared_memo(move |_| {
        let analysis = last_good.with(|last_good| last_good.analysis.clone());
        Arc::new(record(&analysis.graph, &analysis.options))
    })
}

/// `last_good`, or while the *Steps* tab is open, with the kernels after the first `step` decisions.
pub(super) fn shown(
    last_good: Memo<Arc<AnalysedText>>,
    record: Memo<Arc<Record>>,
    step: RwSignal<Option<usize>>,
) -> Memo<Arc<AnalysedText>> {
    // Many decisions change no kernel: then this memo stays equal and its readers do not run.
    let kernels_at_step = Memo::new(move |_| {
        let step = step.get()?;
        let analysis = last_good.with(|last_good| last_good.analysis.clone());
        record.with(|record| {
            let is_earlier = step < record.decisions.len();
            is_earlier.then(|| record.partition_after(&analysis.graph, step))
        })
    });
    shared_memo(move |_| {
        let last_good = last_good.get();
        kernels_at_step.with(|kernels| match kernels {
            None => last_good.clone(),
            Some(kernels) => Arc::new(AnalysedText {
                analysis: Arc::new(analysis_with(&last_good.analysis, kernels.clone())),
                ..AnalysedText::clone(&last_good)
            }),
        })
    })
}

/// `shown`, or while the text has errors, the analysis of its valid statements.
pub(super) fn present(
    understood: Memo<Arc<Understood>>,
    is_stale: Memo<bool>,
    shown: Memo<Arc<AnalysedText>>,
) -> Signal<Option<Arc<AnalysedText>>> {
    Signal::derive(move || {
        if is_stale.get() {
            understood.with(|understood| understood.analysed.clone())
        } else {
            Some(shown.get())
        }
    })
}

pub(super) fn analysis(shown: Memo<Arc<AnalysedText>>) -> Memo<Arc<Analysis>> {
    shared_memo(move |_| shown.with(|shown| shown.analysis.clone()))
}

pub(super) fn selection(
    selected: RwSignal<NamedSelection>,
    analysis: Memo<Arc<Analysis>>,
) -> Memo<Selection> {
    Memo::new(move |_| {
        selected.with(|selected| analysis.with(|analysis| selected.in_analysis(analysis)))
    })
}

/// As costly as one analysis a policy.
pub(super) fn compared(analysis: Memo<Arc<Analysis>>) -> Memo<Arc<Vec<Compared>>> {
    shared_memo(move |_| Arc::new(analysis.with(|analysis| compare(analysis))))
}

pub(super) fn crossings(analysis: Memo<Arc<Analysis>>) -> Memo<Arc<Vec<PricedEdge>>> {
    shared_memo(move |_| Arc::new(analysis.with(|analysis| why::crossings(analysis))))
}

pub(super) fn decided_ops(
    record: Memo<Arc<Record>>,
    step: RwSignal<Option<usize>>,
) -> Memo<Vec<OpId>> {
    Memo::new(move |_| {
        let Some(step) = step.get() else {
            return Vec::new();
        };
        record.with(|record| {
            record
                .last_decision(step)
                .map_or_else(Vec::new, Decision::ops)
        })
    })
}
