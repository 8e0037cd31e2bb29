//! What follows from the text and the choices: computed once for each change, shared and never copied.

use crate::core::analysis::replay::analysis_with;
use crate::core::fusion::record::{Record, record};
use crate::core::model::diagnostic::{has_errors, merged};
use crate::core::notation::{Parsed, parse};
use crate::core::{Analysis, Diagnostic, Options, Outcome, Program, analyze, analyze_program};
use crate::present::reasons::refused_kernels;
use crate::value::Value;
use leptos::prelude::untrack;
use std::cell::RefCell;
use std::sync::Arc;

/// Everything that follows from one text under one set of choices.
#[derive(Clone)]
pub struct Derived {
    text: String,
    options: Options,
    /// The text as read.
    pub parsed: Arc<Parsed>,
    /// What the text comes to, be it broken or not.
    pub outcome: Arc<Understood>,
    /// Everything that is wrong or assumed, in text order.
    pub diagnostics: Arc<Vec<Diagnostic>>,
    /// What the pictures and tables show: `whole`, or while somebody steps through the decisions as far as they
    /// had come.
    pub shown: Arc<Shown>,
    /// What the policy decided, for whoever steps through it; empty when nobody does.
    pub record: Arc<Record>,
    /// The last text without an error as its policy decided in the end.
    whole: Arc<Shown>,
    step: Option<usize>,
    /// The text has errors, and what is shown is older than it.
    pub is_stale: bool,
}

/// As far as a text was understood.
#[derive(Clone, Default)]
pub struct Understood {
    /// The numbers of all statements that could be understood; `None` when the list itself is broken.
    pub analysis: Option<Arc<Analysis>>,
    /// For each op of the analysis its statement.
    pub statement_of_op: Arc<Vec<usize>>,
}

/// What the pictures and tables show.
#[derive(Clone)]
pub struct Shown {
    /// The numbers of the last text without an error, under the present choices.
    pub analysis: Arc<Analysis>,
    /// For each op of the analysis its statement in `parsed`.
    pub statement_of_op: Arc<Vec<usize>>,
    /// The text that was analysed, as read.
    pub parsed: Arc<Parsed>,
}

impl Derived {
    /// What follows from `text`. A text without a change is not read again.
    pub fn of(text: &str, options: Options, last: Option<&Self>) -> Self {
        let parsed = match last {
            Some(last) if last.text == text => last.parsed.clone(),
            _ => Arc::new(parse(text)),
        };
        let (outcome, analysed) = understand(&parsed.program, &options);
        let diagnostics = merged(parsed.diagnostics.clone(), analysed);
        let is_stale = has_errors(&diagnostics);
        let present = || Shown::of(&outcome, &parsed);
        let found = if is_stale {
            last_good(last, &options).or_else(present)
        } else {
            present()
        };
        let whole = Arc::new(found.unwrap_or_else(|| Shown::empty(&options)));
        Self {
            text: text.to_owned(),
            shown: whole.clone(),
            record: Arc::default(),
            whole,
            step: None,
            options,
            parsed,
            outcome: Arc::new(outcome),
            diagnostics: Arc::new(diagnostics),
            is_stale,
        }
    }

    /// The same text after `step` decisions; with `None` as decided in the end.
    fn after(&self, step: Option<usize>) -> Self {
        let mut now = self.clone();
        now.step = step;
        now.shown = self.whole.clone();
        now.record = match step {
            None => Arc::default(),
            Some(_) if self.step.is_some() => self.record.clone(),
            Some(_) => {
                let analysis = &self.whole.analysis;
                Arc::new(record(&analysis.graph, &analysis.options))
            }
        };
        let is_on_the_way = |step: &usize| *step < now.record.decisions.len();
        if let Some(step) = step.filter(is_on_the_way) {
            let whole = &self.whole;
            let kernels = now.record.partition_after(&whole.analysis.graph, step);
            // Most decisions change no kernel.
            let is_as_before = kernels == self.shown.analysis.partition;
            now.shown = if is_as_before && self.step.as_ref().is_some_and(is_on_the_way) {
                self.shown.clone()
            } else {
                Arc::new(Shown {
                    analysis: Arc::new(analysis_with(&whole.analysis, kernels)),
                    ..Shown::clone(whole)
                })
            };
        }
        if !self.is_stale {
            now.outcome = Arc::new(Understood {
                analysis: Some(now.shown.analysis.clone()),
                statement_of_op: now.shown.statement_of_op.clone(),
            });
        }
        now
    }
}

impl Shown {
    fn of(outcome: &Understood, parsed: &Arc<Parsed>) -> Option<Self> {
        Some(Self {
            analysis: outcome.analysis.clone()?,
            statement_of_op: outcome.statement_of_op.clone(),
            parsed: parsed.clone(),
        })
    }

    fn empty(options: &Options) -> Self {
        Self {
            analysis: Arc::new(empty_analysis(options)),
            statement_of_op: Arc::default(),
            parsed: Arc::default(),
        }
    }
}

fn understand(program: &Program, options: &Options) -> (Understood, Vec<Diagnostic>) {
    let outcome = analyze_program(program, options);
    let refused = refused_kernels(program, &outcome);
    let Outcome {
        analysis,
        statement_of_op,
        mut diagnostics,
    } = outcome;
    diagnostics.extend(refused);
    let outcome = Understood {
        analysis: analysis.map(Arc::new),
        statement_of_op: Arc::new(statement_of_op),
    };
    (outcome, diagnostics)
}

/// The last text that had no error, under the present choices.
fn last_good(last: Option<&Derived>, options: &Options) -> Option<Shown> {
    let shown = &last?.whole;
    if shown.analysis.graph.ops.is_empty() {
        return None;
    }
    if shown.analysis.options == *options {
        return Some(Shown::clone(shown));
    }
    let (again, _) = understand(&shown.parsed.program, options);
    Shown::of(&again, &shown.parsed)
}

fn empty_analysis(options: &Options) -> Analysis {
    analyze(&[], &[], options).unwrap_or_else(|_| unreachable!("an empty list has no fault"))
}

/// Everything that follows from the present text and choices: computed when it is first asked for after a
/// change, and then shared.
#[derive(Clone, Copy)]
pub struct All(&'static Inputs);

struct Inputs {
    text: Value<String>,
    step: Value<Option<usize>>,
    options: Box<dyn Fn() -> Options>,
    last: RefCell<Option<Arc<Derived>>>,
}

impl All {
    /// What follows from `text` under `options`, which follows the choices that it reads, after `step` decisions.
    pub fn new(
        text: Value<String>,
        step: Value<Option<usize>>,
        options: impl Fn() -> Options + 'static,
    ) -> Self {
        Self(Box::leak(Box::new(Inputs {
            text,
            step,
            options: Box::new(options),
            last: RefCell::default(),
        })))
    }

    /// The present state; whoever reads it here follows text and choices.
    pub fn get(self) -> Arc<Derived> {
        let options = (self.0.options)();
        let step = self.0.step.get();
        let last = self.0.last.borrow().clone();
        self.0.text.with(|text| {
            let now = match last {
                Some(last) if last.text == *text && last.options == options => {
                    if last.step == step {
                        return last;
                    }
                    last.after(step)
                }
                last => {
                    let now = Derived::of(text, options, last.as_deref());
                    if step.is_some() { now.after(step) } else { now }
                }
            };
            let now = Arc::new(now);
            *self.0.last.borrow_mut() = Some(now.clone());
            now
        })
    }

    /// The present state, once.
    pub fn get_untracked(self) -> Arc<Derived> {
        untrack(|| self.get())
    }
}

/// Whether what is shown is older than the text.
#[derive(Clone, Copy)]
pub struct IsStale(pub All);

impl IsStale {
    /// As it is; whoever reads it here follows it.
    pub fn get(self) -> bool {
        self.0.get().is_stale
    }

    /// As it is, once.
    pub fn get_untracked(self) -> bool {
        self.0.get_untracked().is_stale
    }
}

/// One part of what follows from the text, as a value to follow. All parts change together, for comparing
/// analyses costs more than a view that finds nothing to write.
pub struct Part<T: 'static> {
    all: All,
    part: fn(&Derived) -> &Arc<T>,
}

impl<T> Part<T> {
    /// This part of `all`.
    pub const fn new(all: All, part: fn(&Derived) -> &Arc<T>) -> Self {
        Self { all, part }
    }

    /// The present value; whoever reads it here follows it.
    pub fn get(self) -> Arc<T> {
        (self.part)(&self.all.get()).clone()
    }

    /// The present value, once.
    pub fn get_untracked(self) -> Arc<T> {
        (self.part)(&self.all.get_untracked()).clone()
    }

    /// What `read` finds in the present value, followed.
    pub fn with<O>(self, read: impl FnOnce(&Arc<T>) -> O) -> O {
        read((self.part)(&self.all.get()))
    }

    /// What `read` finds in the present value, once.
    pub fn with_untracked<O>(self, read: impl FnOnce(&Arc<T>) -> O) -> O {
        read((self.part)(&self.all.get_untracked()))
    }
}

impl<T> Clone for Part<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Part<T> {}
