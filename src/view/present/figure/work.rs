//! FLOPs, and how they compare with bytes.

use super::derived::Derived;
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::explain::{FlopFactors, flop_factors};
use crate::present::names::op_name;
use crate::present::number::Number;
use crate::present::times::missing_text;
use fuseline_core::analysis::{Analysis, Kernel};
use fuseline_core::cost::roofline::peaks;
use fuseline_core::cost::work::op_work;
use fuseline_core::model::device::Figure as DeviceFigure;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::ids::{KernelId, OpId};
use fuseline_core::model::work::Work;

/// The FLOPs of the ops of a kernel.
pub(super) fn flops_of_kernel(analysis: &Analysis, id: KernelId) -> Derived {
    let kernel = &analysis.fused.kernels[id];
    let computed = |op: OpId, suffix: &str| match kernel.traffic.part_of(op) {
        Some(part) => {
            let name = op_name(&analysis.graph, op);
            let name = format!("{name}{suffix}, where it is needed");
            let flops = part.work_of(op_work(&analysis.graph, op)).flops();
            Term::given(name, Number::Flops(flops))
        }
        None => op_flops(analysis, op, suffix),
    };
    let own = kernel.ops.iter().map(|&op| computed(op, ""));
    let again = analysis.partition.recomputed[id].iter();
    let again = again.map(|&op| computed(op, " once more"));
    let mut terms: Vec<Term> = own.chain(again).collect();
    let of_ops = terms.iter().map(|term| match term.number {
        Number::Flops(flops) => flops,
        _ => 0,
    });
    let beyond = kernel.work.flops().saturating_sub(of_ops.sum());
    terms.push(Term::given(
        "rescaling of the sums, per tile of keys",
        Number::Flops(beyond),
    ));
    if kernel.work.is_unknown {
        return unknown(analysis, kernel);
    }
    Derived::by(Derivation::sum(terms))
}

fn op_flops(analysis: &Analysis, op: OpId, suffix: &str) -> Term {
    let graph = &analysis.graph;
    let name = format!("{}{suffix}", op_name(graph, op));
    let flops = op_work(graph, op).flops();
    let factor = |name: &str, count: u64| Term::given(name, Number::Count(count));
    let factors = match flop_factors(graph, op) {
        FlopFactors::Matmul { sides, k: Some(k) } => {
            let sides = sides.iter().map(|&side| factor("", side));
            let factors = [factor("", 2)].into_iter().chain(sides);
            factors.chain([factor("(K)", k)]).collect()
        }
        FlopFactors::Each {
            flops,
            elements,
            of,
        } => {
            vec![factor("for each", flops), factor(of, elements)]
        }
        FlopFactors::Matmul { k: None, .. }
        | FlopFactors::Nothing
        | FlopFactors::CountedBefore
        | FlopFactors::Stated => Vec::new(),
    };
    let product = factors
        .iter()
        .try_fold(1_u128, |product, factor| match factor.number {
            Number::Count(count) => product.checked_mul(count.into()),
            _ => None,
        });
    Term {
        // A rewritten op has the work of the ops that it replaces.
        derivation: (product == Some(flops) && !factors.is_empty())
            .then(|| Derivation::new(Operation::Product, factors)),
        ..Term::given(name, Number::Flops(flops))
    }
}

/// Arithmetic intensity of a kernel.
pub(super) fn intensity(analysis: &Analysis, kernel: &Kernel) -> Derived {
    let Some(intensity) = kernel.placement.intensity else {
        return unknown(analysis, kernel);
    };
    let derivation = Derivation::quotient(
        Term::given("", Number::Flops(kernel.work.flops())),
        Term::given("", Number::Bytes(kernel.bytes())),
    );
    let ridge = ridge_of_kernel(analysis, kernel).and_then(|ridge| ridge.own);
    let notes = ridge.map(|ridge| {
        let (side, roof) = if intensity < ridge.number.value() {
            ("Left", "memory")
        } else {
            ("Right", "arithmetic")
        };
        let at = ridge.text();
        format!("{side} of the ridge point at {at}: the {roof} roof is above it.")
    });
    Derived::by(derivation).noted(notes)
}

/// Why a word stands in place of an unknown or missing figure.
fn unknown(analysis: &Analysis, kernel: &Kernel) -> Derived {
    let why = if kernel.work.is_unknown {
        missing_text(kernel, &analysis.options)
    } else {
        let why = "A kernel without FLOPs or without memory traffic has no point on the roofline";
        Some(why.to_owned())
    };
    Derived::default().noted(why.map(|why| format!("{why}.")))
}

/// The ridge point for the arithmetic of a kernel; `None` where no peak is known.
pub(super) fn ridge_of_kernel(analysis: &Analysis, kernel: &Kernel) -> Option<Derived> {
    let peak = peaks(&analysis.options, kernel.work).roof(kernel.work);
    Some(ridge(analysis, peak?))
}

/// The ridge point of f16 matmuls.
pub(super) fn ridge_for_f16(analysis: &Analysis) -> Option<Derived> {
    let f16 = Work {
        matrix_dtype: Some(DType::F16),
        ..Work::default()
    };
    let peak = peaks(&analysis.options, f16).roof(f16)?;
    Some(ridge(analysis, peak))
}

fn ridge(analysis: &Analysis, peak: DeviceFigure) -> Derived {
    let bandwidth = analysis.options.device.memory_bytes_per_s.value;
    let derivation = Derivation::quotient(
        Term::given("", Number::Amount(peak.value, "FLOP/s")),
        Term::given("", Number::Amount(bandwidth, "B/s")),
    );
    Derived::of(Term::derived(
        "",
        Number::Intensity(peak.value / bandwidth),
        derivation,
    ))
}
