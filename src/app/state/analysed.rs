//! A text and its analysis, by the page itself or with the kernels that the worker has chosen.

use crate::app::jobs::{Answer, Job, Question, Task, is_quick};
use fuseline_core::analysis::by_hand::Shown;
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::Parsed;
use fuseline_core::{
    Analysis, Diagnostic, IdVec, OpId, Options, Outcome, analyze, analyze_program,
    analyze_program_with,
};
use fuseline_view::picture::dag::DagLayout;
use fuseline_view::present::reasons::all_diagnostics;
use std::sync::Arc;

/// A text and its analysis.
#[derive(Clone)]
pub struct AnalysedText {
    /// The text.
    pub text: Arc<str>,
    /// The parsed text.
    pub parsed: Arc<Parsed>,
    /// The analysis of its valid statements.
    pub analysis: Arc<Analysis>,
    /// The statement in `parsed` of each op of `analysis`.
    pub statement_of_op: Arc<IdVec<OpId, usize>>,
    /// The layout, if the worker has computed it.
    pub layout: Option<Arc<DagLayout>>,
    /// Whether the text has an error, so that the analysis is only of the statements that can be read.
    pub has_error: bool,
    /// The number of decisions after which `analysis` has the kernels; `None` is after all.
    pub step: Option<usize>,
}

impl AnalysedText {
    /// The kernels that a change by hand starts from.
    pub fn by_hand(&self) -> Shown<'_> {
        Shown {
            text: &self.text,
            program: &self.parsed.program,
            analysis: &self.analysis,
            statement_of_op: &self.statement_of_op,
        }
    }

    /// Shown before any text was valid.
    pub(super) fn empty(options: &Options) -> Self {
        let analysis = analyze(&[], &[], options)
            .unwrap_or_else(|_| unreachable!("an empty list has no fault"));
        Self {
            text: "".into(),
            parsed: Arc::default(),
            analysis: Arc::new(analysis),
            statement_of_op: Arc::default(),
            layout: None,
            has_error: false,
            step: None,
        }
    }

    /// Something to compute about it in the worker.
    pub fn job(&self, task: Task) -> Job {
        Job {
            text: self.text.clone(),
            options: self.analysis.options.clone(),
            task,
        }
    }

    /// A question about its kernels for the worker.
    pub fn asked(&self, question: Question) -> Job {
        self.job(Task::Ask {
            step: self.step,
            question,
        })
    }

    /// Whether two ops are of one statement, in two rounds of its block.
    pub fn share_statement(&self, one: OpId, other: OpId) -> bool {
        let statement = |op: OpId| self.statement_of_op.get(op);
        statement(one).is_some_and(|one| Some(one) == statement(other))
    }

    /// Whether the worker computes about it.
    pub fn is_long(&self) -> bool {
        !is_quick(&self.parsed.program)
    }

    /// Whether the analysis is of this text under the same choices, perhaps after fewer decisions.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.parsed, &other.parsed) && self.analysis.options == other.analysis.options
    }
}

/// The analysis of the valid statements of a text, which may have errors.
pub(super) struct Understood {
    /// `None` when no analysis is possible, for example because of a cycle.
    pub(super) analysed: Option<Arc<AnalysedText>>,
    /// All of them, in text order.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// A text, parsed.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) text: Arc<str>,
    pub(super) parsed: Arc<Parsed>,
}

impl Source {
    /// Analyses it here and now.
    pub(super) fn understood(self, options: &Options) -> Understood {
        let outcome = analyze_program(&self.parsed.program, options);
        self.with_outcome(outcome, None)
    }

    /// Analyses it with the kernels and the layout that the worker has computed; `None` for another answer.
    pub(super) fn understood_with(self, options: &Options, answer: &Answer) -> Option<Understood> {
        let Answer::Picture { plan, layout } = answer else {
            return None;
        };
        let outcome = analyze_program_with(&self.parsed.program, options, plan.clone());
        Some(self.with_outcome(outcome, layout.clone()))
    }

    fn with_outcome(self, outcome: Outcome, layout: Option<Arc<DagLayout>>) -> Understood {
        let diagnostics = all_diagnostics(&self.parsed, &outcome);
        let has_error = has_errors(&diagnostics);
        let statement_of_op = outcome.statement_of_op;
        let analysed = outcome.analysis.map(|analysis| {
            Arc::new(AnalysedText {
                text: self.text,
                parsed: self.parsed,
                analysis: Arc::new(analysis),
                statement_of_op: Arc::new(statement_of_op),
                layout,
                has_error,
                step: None,
            })
        });
        Understood {
            analysed,
            diagnostics,
        }
    }
}
