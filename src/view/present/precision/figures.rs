//! Errors and elements of a run, each with its formula and its figures.

use super::{error_text, is_narrow, place_text, ratio_words};
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::figure::{Convention, Explanation};
use crate::present::format::{format_digits, format_scientific};
use crate::present::names::counted;
use crate::present::number::Number;
use crate::present::words::capitalized;
use fuseline_codegen::interpret::{FloatFormat, Interpretation, Run, Stored, TensorRuns};
use fuseline_core::TensorId;
use fuseline_core::model::dtype::DType;
use fuseline_core::notation::spelling::printable;

/// Digits of a number inside an explanation.
const FEW: usize = 4;
/// Digits that distinguish all f32.
const OF_F32: usize = 9;

const RUNS: &str = "Fuseline runs the same inputs three times: in f64, with each op as a kernel, and with the kernels of the policy.";
const ROUNDING: &str =
    "IEEE 754: a stored value rounds to the nearest value of its type, and a tie rounds to even.";
const ORDER: &str = "Sums follow the order of the elements. A GPU adds in another order, which changes f32 sums by f32 rounding errors.";

/// A tensor of a run.
#[derive(Clone, Copy)]
pub(super) struct ExplanationOf<'a> {
    pub(super) ran: &'a Interpretation,
    pub(super) tensor: TensorId,
    pub(super) runs: &'a TensorRuns,
}

impl<'a> ExplanationOf<'a> {
    fn of(
        self,
        title: impl Into<String>,
        formula: &'static str,
        term: Option<Term>,
    ) -> Explanation {
        let Self { ran, tensor, runs } = self;
        let name = printable(ran.graph.tensor_name(tensor));
        let elements = counted(runs.elements, "element");
        let subject = format!("{name}: {elements} in {}", runs.dtype.name());
        let sizes: Vec<String> = (ran.sizes.iter())
            .map(|(name, size)| format!("{} = {size}", printable(name)))
            .collect();
        let sizes = match &sizes[..] {
            [] => String::new(),
            sizes => format!(": {}", sizes.join(", ")),
        };
        let inputs = Convention {
            choice: "Inputs are normally distributed random numbers".to_owned(),
            sentence: format!("Choose the seed and the sizes on this tab{sizes}."),
        };
        Explanation {
            conventions: vec![inputs],
            sources: [RUNS, ROUNDING, ORDER].map(str::to_owned).to_vec(),
            ..Explanation::of(title, subject, formula, term)
        }
    }

    fn stored(self, run: Run) -> &'a Stored {
        match run {
            Run::Unfused => &self.runs.unfused,
            Run::Fused => &self.runs.fused,
        }
    }

    /// The relative error of the tensor in a run.
    pub(super) fn error(self, run: Run) -> Explanation {
        let stored = self.stored(run);
        let error = stored.error;
        let place = place_text(self.runs, stored.is_stored);
        let mut notes = vec![format!(
            "{}. The largest difference of an element is {}.",
            capitalized(&place),
            format_digits(error.max_abs, FEW)
        )];
        if error.overflowed > 0 {
            notes.push(
                "These values are infinite or NaN where the exact values are finite.".to_owned(),
            );
            notes.extend(self.largest(stored.is_stored));
        } else {
            notes.push("The L2 norm of a tensor is the square root of its sum of squares. The difference includes the errors of earlier tensors.".to_owned());
        }
        Explanation {
            value: error_text(self.runs, error),
            notes,
            ..self.of(
                format!("error {}", run_name(run)),
                "L2 norm of (values − exact values) / L2 norm of the exact values",
                (error.overflowed == 0).then(|| self.error_term(run)),
            )
        }
    }

    fn error_term(self, run: Run) -> Term {
        let error = self.stored(run).error;
        let length = |name, length| Term::given(name, Number::Digits(length, FEW));
        let derivation = Derivation::quotient(
            length("(difference)", error.difference_length),
            length("(exact)", error.exact_length),
        );
        Term {
            // An exact result of zero leaves no quotient.
            derivation: (error.exact_length > 0.0).then_some(derivation),
            ..Term::given(run_name(run), Number::Scientific(error.relative))
        }
    }

    /// How many times smaller fusion makes the error.
    pub(super) fn ratio(self) -> Explanation {
        let [unfused, fused] =
            [Run::Unfused, Run::Fused].map(|run| self.stored(run).error.relative);
        let words = ratio_words(unfused, fused);
        let derivation = || {
            let [unfused, fused] = [Run::Unfused, Run::Fused].map(|run| self.error_term(run));
            Derivation::quotient(unfused, fused)
        };
        let term = match words {
            Some(_) => None,
            None => Some(Term::derived(
                "",
                Number::Ratio(unfused / fused),
                derivation(),
            )),
        };
        let explanation = self.of(
            "error unfused over fused",
            "error unfused / error fused",
            term,
        );
        let errors = format!(
            "The error is {} unfused and {} fused.",
            format_scientific(unfused),
            format_scientific(fused)
        );
        match words {
            Some(words) => Explanation {
                value: words.to_owned(),
                notes: vec![errors],
                ..explanation
            },
            None => explanation,
        }
    }

    /// An element in the run in f64.
    pub(super) fn exact_element(self, place: usize, value: f64) -> Explanation {
        self.of(
            format!("element {place}, exact"),
            "all ops in f64",
            Some(Term::given("", Number::Digits(value, OF_F32))),
        )
    }

    /// An element in a run that rounds.
    pub(super) fn element(self, run: Run, place: usize, exact: f64, value: f64) -> Explanation {
        let difference = value - exact;
        let terms = vec![
            Term::given("exact", Number::Digits(exact, OF_F32)),
            Term::given("changed by rounding", Number::Digits(difference, FEW)),
        ];
        let term = Term {
            derivation: difference
                .is_finite()
                .then(|| Derivation::new(Operation::Sum, terms)),
            ..Term::given("", Number::Digits(value, OF_F32))
        };
        let is_stored = self.stored(run).is_stored;
        let mut notes = vec![format!(
            "{}.",
            capitalized(&place_text(self.runs, is_stored))
        )];
        if value.is_finite() {
            notes.extend(self.steps(is_stored, difference, value));
        } else {
            notes.extend(self.largest(is_stored));
        }
        if difference.is_finite() && difference != 0.0 && exact != 0.0 {
            notes.push(format!(
                "Its relative error is {}.",
                format_scientific((difference / exact).abs())
            ));
        }
        Explanation {
            notes,
            ..self.of(
                format!("element {place}, {}", run_name(run)),
                "exact value + change by rounding",
                Some(term),
            )
        }
    }

    /// The type that holds its elements; elements that stay in registers have a wide one.
    fn held_in(self, is_stored: bool) -> DType {
        match self.runs.dtype {
            dtype if !is_stored && is_narrow(dtype) => DType::F32,
            dtype => dtype,
        }
    }

    /// How far a value is from the exact one, in steps of its type.
    fn steps(self, is_stored: bool, difference: f64, value: f64) -> Option<String> {
        let dtype = self.held_in(is_stored);
        let step = FloatFormat::of(dtype)?.spacing(value);
        let steps = format_digits((difference / step).abs(), 2);
        Some(format!(
            "Here neighbouring values in {} are {} apart, and rounding changes a value by at most half of that. This value differs by {steps} times that distance.",
            dtype.name(),
            format_digits(step, FEW),
        ))
    }

    fn largest(self, is_stored: bool) -> Option<String> {
        let dtype = self.held_in(is_stored);
        let largest = FloatFormat::of(dtype)?.largest;
        let (name, largest) = (dtype.name(), format_digits(largest, FEW));
        Some(format!("The largest finite {name} is {largest}."))
    }
}

const fn run_name(run: Run) -> &'static str {
    match run {
        Run::Unfused => "unfused",
        Run::Fused => "fused",
    }
}
