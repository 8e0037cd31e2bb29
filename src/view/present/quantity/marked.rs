//! Values as they are shown: with a mark that says what they rest on or leave out.

use super::values::Scope;
use super::{Figure, Quantity, Run, Subject, Value, Values};
use crate::present::bottleneck_names::bound_name;
use crate::present::derivation::Term;
use crate::present::explain::has_assumed_size;
use crate::present::format::{assumed, at_least};
use fuseline_core::Kernel;
use fuseline_core::analysis::device_model::Outside;

/// A value with its marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marked {
    pub value: Value,
    /// It rests on an assumed size: `~33.6 MB`.
    pub is_assumed: bool,
    /// It leaves out ops of unknown shape, or work that is not known: `≥ 430 µs`.
    pub is_incomplete: bool,
    /// It is a figure of the device from memory, not checked: `85.1 GB ?`.
    pub is_recalled: bool,
    /// How it is outside the measured sizes, as a prediction: `15.7 µs?`.
    pub outside: Option<Outside>,
}

impl Marked {
    /// The value as the page shows it.
    pub fn text(self) -> String {
        let mark = match self.outside {
            Some(_) => "?",
            None if self.is_recalled => " ?",
            None => "",
        };
        let text = assumed(self.is_assumed, &self.value.text());
        at_least(self.is_incomplete, &format!("{text}{mark}"))
    }

    /// The number as a term of a calculation; `None` for a word.
    pub(in crate::present) fn term(self, name: impl Into<String>) -> Option<Term> {
        match self.value {
            Value::Number(number) => Some(Term::given(name, number).assumed(self.is_assumed)),
            Value::Word(_) => None,
        }
    }
}

impl Values<'_> {
    /// The value of a figure with its marks; a word where the number is not known.
    pub fn marked(&self, figure: Figure) -> Option<Marked> {
        self.marked_at(self.scope(figure.of)?, figure.quantity, figure.run)
    }

    /// A figure as it is shown; a dash where there is none.
    pub fn text(&self, figure: Figure) -> String {
        let marked = self.marked(figure);
        marked.map_or_else(|| "–".to_owned(), Marked::text)
    }

    /// A figure of the whole program as it is shown.
    pub fn total(&self, quantity: Quantity, run: Run) -> String {
        let of = Subject::Program;
        self.text(Figure { quantity, run, of })
    }

    /// The total without the mark of an assumed size, where the sum beside it has the mark.
    pub fn total_without_assumed(&self, quantity: Quantity, run: Run) -> String {
        let marked = self.marked_at(Scope::Program, quantity, run);
        let marked = marked.map(|marked| Marked {
            is_assumed: false,
            ..marked
        });
        marked.map_or_else(|| "–".to_owned(), Marked::text)
    }

    /// What all kernels read and write: `1.20 GB read, 1.10 GB written`.
    pub fn accesses(&self, run: Run) -> String {
        let [read, written] = [Quantity::BytesRead, Quantity::BytesWritten]
            .map(|quantity| self.total_without_assumed(quantity, run));
        format!("{read} read, {written} written")
    }

    pub(crate) fn marked_at(&self, scope: Scope, quantity: Quantity, run: Run) -> Option<Marked> {
        let value = match self.word(scope, quantity, run) {
            Some(word) => Value::Word(word),
            None => self.at(scope, quantity, run)?,
        };
        let is_number = matches!(value, Value::Number(_));
        Some(Marked {
            value,
            is_assumed: is_number && self.is_assumed(scope, quantity, run),
            is_incomplete: is_number && self.is_incomplete(scope, quantity, run),
            is_recalled: (self.device_figure(quantity)).is_some_and(|figure| !figure.is_confirmed),
            outside: self.outside(scope, quantity, run),
        })
    }

    /// What limits a kernel on the roofline, where that is not the bottleneck of its predicted
    /// time.
    pub(in crate::present) fn roofline_bound_beside(&self, scope: Scope) -> Option<&'static str> {
        let Scope::Kernel(id) = scope else {
            return None;
        };
        let kernel = self.analysis().fused.kernels.get(id)?;
        let times = self.analysis().predicted.as_ref()?.kernels.get(id)?;
        let bound = kernel.placement.bound;
        (!kernel.is_free && times.bound() != Some(bound)).then(|| bound_name(bound))
    }

    /// The word in place of a number that would say nothing.
    fn word(&self, scope: Scope, quantity: Quantity, run: Run) -> Option<&'static str> {
        let Some(kernel) = self.kernel(scope) else {
            // Two lower bounds have no ratio.
            let is_partial = self.analysis().is_partial();
            return (quantity == Quantity::Saving && is_partial).then_some("–");
        };
        match quantity {
            Quantity::RooflineBound => Some(bound_name(kernel.placement.bound)),
            // A partial count of FLOPs helps a reader for a whole program, but not for one kernel.
            Quantity::Flops if kernel.work.is_unknown => Some("unknown"),
            Quantity::Intensity if self.at(scope, quantity, run).is_none() => {
                Some(if kernel.work.is_unknown {
                    "unknown"
                } else {
                    "–"
                })
            }
            _ => None,
        }
    }

    /// Whether the figure rests on an assumed size. No written size is assumed.
    fn is_assumed(&self, scope: Scope, quantity: Quantity, run: Run) -> bool {
        match quantity {
            Quantity::Bytes
            | Quantity::BytesRead
            | Quantity::PeakMemory
            | Quantity::Time
            | Quantity::LowerBound
            | Quantity::PredictedTime => match self.kernel(scope) {
                // Both runs of a kernel are marked alike, because they are read side by side.
                Some(kernel) => has_assumed_size(kernel),
                None => scope == Scope::Program && self.program_has_assumed_size(run),
            },
            Quantity::Saving | Quantity::Speedup | Quantity::BoundSpeedup => {
                scope == Scope::Program && self.program_has_assumed_size(Run::Unfused)
            }
            _ => false,
        }
    }

    /// Whether the figure leaves something out.
    fn is_incomplete(&self, scope: Scope, quantity: Quantity, run: Run) -> bool {
        let analysis = self.analysis();
        let is_time = matches!(
            quantity,
            Quantity::Time | Quantity::LowerBound | Quantity::PredictedTime
        );
        let is_predicted = matches!(quantity, Quantity::Time | Quantity::PredictedTime);
        match scope {
            Scope::Program => {
                let execution = run.execution(analysis);
                match quantity {
                    Quantity::Bytes
                    | Quantity::BytesRead
                    | Quantity::BytesWritten
                    | Quantity::Launches
                    | Quantity::PeakMemory => analysis.is_partial(),
                    Quantity::Flops => {
                        let mut kernels = execution.kernels.iter();
                        analysis.is_partial() || kernels.any(|kernel| kernel.work.is_unknown)
                    }
                    _ if is_time => {
                        analysis.is_partial()
                            || execution.first_incomplete().is_some()
                            || is_predicted && self.is_predicted_at_least(scope, run)
                    }
                    _ => false,
                }
            }
            Scope::Kernel(id) if run == Run::Unfused => {
                let before = analysis.comparisons.get(id);
                is_time && before.is_some_and(|before| before.unfused_placement.is_incomplete())
                    || is_predicted && self.is_predicted_at_least(scope, run)
            }
            Scope::Kernel(_) | Scope::Op(_) | Scope::Tensor(_) => {
                let kernel = self.kernel(scope);
                is_time && kernel.is_some_and(|kernel| kernel.placement.is_incomplete())
                    || is_predicted && self.is_predicted_at_least(scope, run)
            }
        }
    }

    /// Whether a predicted time leaves out arithmetic, or counts some at peak rates.
    fn is_predicted_at_least(&self, scope: Scope, run: Run) -> bool {
        let Some(predicted) = &self.analysis().predicted else {
            return false;
        };
        match scope {
            Scope::Program => match run {
                Run::Unfused => predicted.unfused_is_at_least,
                Run::Fused => predicted.fused_is_at_least,
            },
            Scope::Kernel(id) => (predicted.kernels.get(id)).is_some_and(|times| match run {
                Run::Unfused => times.unfused_is_at_least,
                Run::Fused => times.outside.is_some_and(Outside::is_at_least),
            }),
            Scope::Op(_) | Scope::Tensor(_) => false,
        }
    }

    /// How a predicted time is outside the measured sizes.
    pub(in crate::present) fn outside(
        &self,
        scope: Scope,
        quantity: Quantity,
        run: Run,
    ) -> Option<Outside> {
        let predicted = self.analysis().predicted.as_ref()?;
        let [unfused, fused] = match (quantity, scope) {
            (Quantity::Time | Quantity::PredictedTime, Scope::Program) => {
                [predicted.unfused_outside, predicted.fused_outside]
            }
            (Quantity::Time | Quantity::PredictedTime, Scope::Kernel(id)) => {
                let times = predicted.kernels.get(id)?;
                [times.unfused_outside, times.outside]
            }
            _ => return None,
        };
        match run {
            Run::Unfused => unfused,
            Run::Fused => fused,
        }
    }

    /// The fused kernel, or that of an op alone.
    pub(crate) fn kernel(&self, scope: Scope) -> Option<&Kernel> {
        match scope {
            Scope::Kernel(id) => self.analysis().fused.kernels.get(id),
            Scope::Op(op) => Some(self.analysis().unfused.of_lone_op(op)),
            Scope::Program | Scope::Tensor(_) => None,
        }
    }
}
