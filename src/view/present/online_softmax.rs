//! Online softmax on a few numbers, in words.

use crate::present::format::format_digits;
use fuseline_core::fusion::attention::{
    F16_OVERFLOWS_FROM, SoftmaxMethod, SoftmaxPass, SoftmaxStep, naive_in_f16, softmax_of,
    softmax_steps,
};

/// Numbers of the row.
pub const COUNT: usize = 8;
/// Smallest and largest number that can be typed: exponentials stay finite in f64.
pub const MOST: f64 = 100.0;
/// The methods that a visitor can choose.
pub const METHODS: [SoftmaxMethod; 4] = [
    SoftmaxMethod::ThreePasses,
    SoftmaxMethod::Online { block: 1 },
    SoftmaxMethod::Online { block: 2 },
    SoftmaxMethod::Online { block: 4 },
];

/// A row of numbers, and the method that computes its softmax.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftmaxRun {
    pub row: [f64; COUNT],
    pub method: SoftmaxMethod,
}

impl Default for SoftmaxRun {
    /// A row whose maximum changes three times, and whose last maximum overflows f16 unless it is
    /// subtracted.
    fn default() -> Self {
        Self {
            row: [1.0, 3.0, 2.0, 5.0, 4.0, 12.0, 0.5, 7.0],
            method: SoftmaxMethod::Online { block: 1 },
        }
    }
}

impl SoftmaxRun {
    /// The run with another number; `None` if the text is not a number, or too large.
    pub fn with_number(mut self, place: usize, text: &str) -> Option<Self> {
        let number: f64 = text.trim().parse().ok()?;
        if !(-MOST..=MOST).contains(&number) {
            return None;
        }
        *self.row.get_mut(place)? = number;
        Some(self)
    }

    pub fn steps(&self) -> Vec<SoftmaxStep> {
        softmax_steps(&self.row, self.method)
    }
}

/// The name of a method.
pub const fn method_name(method: SoftmaxMethod) -> &'static str {
    match method {
        SoftmaxMethod::ThreePasses => "three passes",
        SoftmaxMethod::Online { block: 1 } => "online, one at a time",
        SoftmaxMethod::Online { block: 2 } => "online, blocks of 2",
        SoftmaxMethod::Online { .. } => "online, blocks of 4",
    }
}

/// How often a method reads the row.
pub const fn reads_of(method: SoftmaxMethod) -> &'static str {
    match method {
        SoftmaxMethod::ThreePasses => "reads the row three times, or keeps the whole row on chip",
        SoftmaxMethod::Online { .. } => {
            "reads the row once for maximum and sum; attention rescales its result instead of reading again"
        }
    }
}

/// The state of a cell of the row at the displayed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState {
    /// Not read yet in this pass.
    Waiting,
    /// Read by the shown step.
    Read,
    /// Read before in this pass.
    Done,
}

/// The state of a run as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftmaxView {
    /// The state of each number.
    pub cells: Vec<CellState>,
    /// The last value computed from each number: an exponential, then the softmax; empty before.
    pub terms: Vec<String>,
    /// The running maximum.
    pub maximum: String,
    /// The running sum.
    pub sum: String,
    /// What the step did, with its figures.
    pub formulas: Vec<Formula>,
}

/// A formula with its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub text: String,
    /// Whether the sum is scaled to a new maximum here.
    pub is_rescaling: bool,
}

fn plain(text: String) -> Formula {
    Formula {
        text,
        is_rescaling: false,
    }
}

/// The run after so many of its steps.
pub fn softmax_view(run: &SoftmaxRun, done: usize) -> SoftmaxView {
    let steps = run.steps();
    let shown = done.checked_sub(1).and_then(|last| steps.get(last));
    let cells = (0..COUNT).map(|place| match shown {
        Some(step) if step.reads.contains(&place) => CellState::Read,
        Some(step) if place < step.reads.start => CellState::Done,
        _ => CellState::Waiting,
    });
    let mut terms = vec![String::new(); COUNT];
    for step in steps.iter().take(done) {
        for (place, term) in step.reads.clone().zip(&step.terms) {
            if let Some(cell) = terms.get_mut(place) {
                *cell = number(*term);
            }
        }
    }
    let state = shown.map(|step| step.after);
    SoftmaxView {
        cells: cells.collect(),
        terms,
        maximum: state.map_or_else(|| "−∞".to_owned(), |state| number(state.maximum)),
        sum: state.map_or_else(|| "0".to_owned(), |state| number(state.sum)),
        formulas: shown.map_or_else(Vec::new, |step| formulas(&run.row, step)),
    }
}

fn formulas(row: &[f64], step: &SoftmaxStep) -> Vec<Formula> {
    let numbers = row.get(step.reads.clone()).unwrap_or_default();
    let listed = |values: &[f64]| values.iter().map(|x| number(*x)).collect::<Vec<_>>();
    let (before, after) = (step.before, step.after);
    let maximum = || {
        plain(format!(
            "m = max({}, {}) = {}",
            number(before.maximum),
            listed(numbers).join(", "),
            number(after.maximum)
        ))
    };
    let exponentials = |to: &str| {
        let terms = numbers.iter().zip(&step.terms);
        let terms =
            terms.map(|(x, term)| format!("exp({} − {to}) = {}", number(*x), number(*term)));
        terms.collect::<Vec<_>>().join(", ")
    };
    match step.pass {
        SoftmaxPass::Maximum => vec![maximum()],
        SoftmaxPass::Sum => vec![
            plain(exponentials(&number(after.maximum))),
            plain(format!(
                "l = {} + {} = {}",
                number(before.sum),
                listed(&step.terms).join(" + "),
                number(after.sum)
            )),
        ],
        SoftmaxPass::Both => {
            let factor = step.rescale.unwrap_or(1.0);
            let is_rescaling = before.sum > 0.0 && factor < 1.0;
            let scaled = if is_rescaling {
                format!(
                    "the maximum grew from {} to {}: multiply the old sum by exp({} − {}) = {}",
                    number(before.maximum),
                    number(after.maximum),
                    number(before.maximum),
                    number(after.maximum),
                    number(factor)
                )
            } else if before.sum > 0.0 {
                "the maximum stays, so the old sum stays".to_owned()
            } else {
                "first numbers: no sum to rescale yet".to_owned()
            };
            vec![
                maximum(),
                Formula {
                    text: scaled,
                    is_rescaling,
                },
                plain(exponentials(&number(after.maximum))),
                Formula {
                    text: format!(
                        "l = {} · {} + {} = {}",
                        number(before.sum),
                        number(factor),
                        listed(&step.terms).join(" + "),
                        number(after.sum)
                    ),
                    is_rescaling,
                },
            ]
        }
        SoftmaxPass::Divide => vec![plain(format!(
            "softmax = exp(x − {}) / {}, for each x",
            number(after.maximum),
            number(after.sum)
        ))],
    }
}

/// Whether the chosen method gives the result of three passes, in a sentence.
pub fn same_as_plain(run: &SoftmaxRun) -> String {
    let (ours, steps) = (
        run.steps(),
        softmax_steps(&run.row, SoftmaxMethod::ThreePasses),
    );
    let pairs = softmax_of(&ours).iter().zip(softmax_of(&steps));
    let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        return "The result equals three passes to the last bit in f64.".to_owned();
    }
    format!("The largest difference from three passes is {largest:.0e}, which is f64 rounding.")
}

/// Why the maximum is subtracted, with the largest of the numbers.
pub fn overflow_note(run: &SoftmaxRun) -> String {
    let largest = run.row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let power = largest.exp();
    let lost = naive_in_f16(&run.row).iter().filter(|x| x.is_nan()).count();
    let zeros = naive_in_f16(&run.row).iter().filter(|x| **x == 0.0).count();
    let (exp, limit) = (number(largest), number(65_504.0));
    if power >= F16_OVERFLOWS_FROM {
        return format!(
            "Without subtracting the maximum, exp({exp}) = {} exceeds the largest f16, {limit}, and is stored as ∞. Then {lost} of {COUNT} results are ∞/∞ = NaN, and the others are 0.",
            number(power)
        );
    }
    if zeros == COUNT {
        return format!(
            "Without subtracting the maximum, each exponential fits in f16, but their sum exceeds the largest f16, {limit}, and every result is 0. Type a number of at least 12 to make an exponential overflow, too."
        );
    }
    format!(
        "Without subtracting the maximum, f16 still holds all exponentials: exp({exp}) = {}, and the largest f16 is {limit}. Type a number of at least 12 to make one overflow.",
        number(power)
    )
}

/// Four significant digits.
fn number(value: f64) -> String {
    format_digits(value, 4)
}
