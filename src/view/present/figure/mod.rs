//! Every number that the page shows explains itself: its formula with the figures of the program,
//! the options that decide how it is counted, and where it comes from.

mod bytes;
mod change;
mod conventions;
mod derived;
mod explanation;
mod measured;
mod memory;
mod part;
mod resources;
mod saved;
mod sweep;
mod time;
mod whole;
mod words;
mod work;

pub use self::change::{explanation_of_change, explanation_of_pinned};
use self::conventions::Counted;
pub use self::conventions::{Convention, f32_matmul, hardware_source};
use self::derived::Derived;
pub use self::explanation::Explanation;
pub use self::measured::{MeasuredFigure, measured_explanation};
pub use self::part::Part;
pub use self::saved::{advice_explanation, merge_explanation};
pub use self::sweep::swept_explanation;
use self::words::{formula, subject, title};

use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::number::Number;
use crate::present::quantity::{Figure, Marked, Quantity, Run, Subject, Values};
use fuseline_core::analysis::compare::Compared;
use fuseline_core::{Analysis, Kernel, KernelId};

/// The explanation of a figure of an analysis; `None` where it has no such figure. For a figure of
/// a policy it is the analysis of that policy. `O(ops + reads)`.
pub fn explanation(figure: Figure, analysis: &Analysis) -> Option<Explanation> {
    let Figure { quantity, run, of } = figure;
    let counted = Counted::of(of, analysis)?;
    let values = Values::new(analysis);
    let derived = match of {
        Subject::Program | Subject::Policy(_) => whole::derived(analysis, quantity, run)?,
        Subject::Kernel(_) | Subject::Again(_) => {
            of_kernel(&values, of.kernel_id(analysis)?, quantity, run)?
        }
        Subject::Op(op) => of_lone_op(analysis, analysis.unfused.of_lone_op(op), quantity)?,
        Subject::Tensor(tensor) => {
            (quantity == Quantity::Bytes).then(|| bytes::of_tensor(analysis, tensor, run))?
        }
        Subject::TensorAt(_, tensor) => {
            let id = of.kernel_id(analysis)?;
            bytes::of_tensor_at(analysis, id, tensor, quantity)?
        }
    };
    Some(explained(figure, derived, counted, &values))
}

fn explained(
    figure: Figure,
    derived: Derived,
    counted: Counted<'_>,
    values: &Values<'_>,
) -> Explanation {
    let analysis = values.analysis();
    let marked = values.marked(figure);
    let term = derived.own.or_else(|| {
        let term = marked?.term("")?;
        Some(Term {
            derivation: derived.derivation,
            ..term
        })
    });
    let shown = marked.map(Marked::text);
    let shown = shown.or_else(|| term.as_ref().map(Term::text));
    let own_formula = derived.formula.or_else(|| term.as_ref()?.formula);
    Explanation {
        title: title(figure, analysis),
        subject: subject(figure.of, analysis),
        value: shown.unwrap_or_else(|| "–".to_owned()),
        formula: own_formula.unwrap_or_else(|| formula(figure, analysis)),
        term,
        notes: derived.notes,
        conventions: conventions::conventions(figure, counted),
        sources: conventions::sources(figure, counted),
    }
}

/// The explanation of a figure of a policy beside the chosen one.
pub fn explanation_of_policy(figure: Figure, compared: &Compared) -> Option<Explanation> {
    let analysis = &compared.analysis;
    if figure.quantity != Quantity::Differing {
        return explanation(figure, analysis);
    }
    let count = |is_fused: bool| {
        let edges = compared.differing.iter();
        edges.filter(|edge| edge.is_fused == is_fused).count() as u64
    };
    let [here, there] = [true, false].map(count);
    let terms = vec![
        Term::given("fused by this policy only", Number::Count(here)),
        Term::given("fused by the chosen policy only", Number::Count(there)),
    ];
    let number = Number::Count(here + there);
    let term = Term::derived("", number, Derivation::new(Operation::Sum, terms));
    let derived = Derived::of(term);
    Some(explained(
        figure,
        derived,
        Counted::program(analysis),
        &Values::new(analysis),
    ))
}

fn of_kernel(values: &Values<'_>, id: KernelId, quantity: Quantity, run: Run) -> Option<Derived> {
    let analysis = values.analysis();
    let kernel = &analysis.fused.kernels[id];
    match (quantity, run) {
        (Quantity::Bytes, Run::Unfused) => Some(bytes::of_ops(analysis, id)),
        (Quantity::Saving, _) => bytes::saving_of_kernel(analysis, id),
        (_, Run::Unfused) => None,
        (Quantity::Bytes | Quantity::BytesRead | Quantity::BytesWritten, _) => {
            Some(bytes::of_kernel(analysis, kernel, quantity))
        }
        (Quantity::Flops, _) => Some(work::flops_of_kernel(analysis, id)),
        (Quantity::Intensity, _) => Some(work::intensity(analysis, kernel)),
        (Quantity::Ridge, _) => work::ridge_of_kernel(analysis, kernel),
        (Quantity::Bottleneck, _) => Some(time::limit(analysis, id)),
        (Quantity::Time, _) => Some(time::of_kernel(analysis, id)),
        (Quantity::LowerBound, _) => Some(time::bound_of_kernel(analysis, id)),
        _ => resources::derived(values, id, quantity),
    }
}

fn of_lone_op(analysis: &Analysis, alone: &Kernel, quantity: Quantity) -> Option<Derived> {
    match quantity {
        Quantity::Bytes | Quantity::BytesRead | Quantity::BytesWritten => {
            Some(bytes::of_kernel(analysis, alone, quantity))
        }
        Quantity::Intensity => Some(work::intensity(analysis, alone)),
        _ => None,
    }
}
