//! Times of kernels as derivations: what each unit takes alone by the roofline, and the phases of a predicted time.

use crate::present::derivation::{Derivation, Number, Operation, Term};
use crate::present::devices::{computed_as, units_name};
use fuseline_core::analysis::Kernel;
use fuseline_core::analysis::device_model::{Breakdown, Part, Share, What};
use fuseline_core::cost::roofline::{peaks, times};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::options::Options;

/// What one unit of the device has to do for a kernel, and how long that takes alone.
pub(super) struct Limit {
    /// The unit.
    pub(super) name: String,
    /// Bytes or FLOPs.
    pub(super) amount: Number,
    /// How much of it in a second; `None` where no peak is known.
    pub(super) rate: Option<Number>,
    /// The time; 0 without a rate.
    pub(super) seconds: f64,
}

/// The limits of a kernel: memory, and the units that have FLOPs.
pub(super) fn limits_of(options: &Options, kernel: &Kernel) -> Vec<Limit> {
    let (work, bytes) = (kernel.work, kernel.bytes());
    let alone = times(options, work, bytes);
    let peaks = peaks(options, work);
    let dtype = work.matrix_dtype.map_or("", DType::name);
    let (computed_as, units) = peaks.matrix.as_ref().map_or(("", "matrix units"), |peak| {
        (computed_as(peak), units_name(peak))
    });
    let unit = |name: String, flops: u128, peak: Option<f64>, seconds: f64| Limit {
        name,
        amount: Number::Flops(flops),
        rate: peak.map(|peak| Number::Amount(peak, "FLOP/s")),
        seconds,
    };
    let memory = Limit {
        name: "memory".to_owned(),
        amount: Number::Bytes(bytes),
        rate: Some(Number::Amount(
            options.device.memory_bytes_per_s.value,
            "B/s",
        )),
        seconds: alone.memory_s,
    };
    let units = [
        unit(
            format!("{units}, {dtype}{computed_as}"),
            work.matrix_flops,
            peaks.matrix.map(|peak| peak.figure.value),
            alone.matrix_s,
        ),
        unit(
            "vector units".to_owned(),
            work.vector_f32_flops(),
            peaks.vector.map(|figure| figure.value),
            alone.vector_s,
        ),
        unit(
            "vector units, f64".to_owned(),
            work.vector_f64_flops,
            peaks.vector_f64.map(|figure| figure.value),
            alone.vector_f64_s,
        ),
    ];
    let has_work = |limit: &Limit| limit.amount != Number::Flops(0);
    let mut limits = vec![memory];
    limits.extend(units.into_iter().filter(has_work));
    limits
}

impl Limit {
    /// The amount over the rate.
    pub(super) fn term(&self) -> Option<Term> {
        let worked =
            Derivation::quotient(Term::given("", self.amount), Term::given("", self.rate?));
        Some(Term::derived(
            &*self.name,
            Number::Seconds(self.seconds),
            worked,
        ))
    }
}

/// How a predicted time is found: phases one after the other, each as long as its longest part.
pub(super) fn breakdown_derivation(breakdown: &Breakdown) -> Derivation {
    let mut terms: Vec<Term> = breakdown
        .phases
        .iter()
        .filter_map(|phase| phase_term(phase))
        .collect();
    terms.push(launch_term(breakdown));
    if breakdown.pipeline_s > 0.0 {
        terms.push(Term::given(
            "to fill the pipeline of tiles and write the last one",
            Number::Seconds(breakdown.pipeline_s),
        ));
    }
    Derivation::new(Operation::Sum, terms)
}

pub(super) fn launch_term(breakdown: &Breakdown) -> Term {
    let launch = Number::Seconds(breakdown.launch_s());
    Term::given("to launch, start and end", launch)
}

/// `None` for a phase that takes no time.
fn phase_term(phase: &[Part]) -> Option<Term> {
    let parts = phase.iter().filter(|part| part.seconds() > 0.0);
    let parts: Vec<Term> = parts.map(part_term).collect();
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let name = match &names[..] {
        [] => return None,
        [only] => (*only).to_owned(),
        [a, b] => format!("the longer of {a} and {b}"),
        _ => format!("the longest of {}", names.join(", ")),
    };
    let seconds = parts.iter().map(|part| part.number.value());
    let number = Number::Seconds(seconds.fold(0.0, f64::max));
    Some(Term::derived(
        name,
        number,
        Derivation::new(Operation::Longest, parts),
    ))
}

pub(super) fn part_term(part: &Part) -> Term {
    let shares = part.shares.iter().map(share_term).collect();
    let worked = Derivation::new(Operation::Sum, shares);
    Term::derived(part.name, Number::Seconds(part.seconds()), worked)
}

fn share_term(share: &Share) -> Term {
    let &Share {
        what,
        amount,
        per_s,
    } = share;
    let over = |of: &str, unit, rate_unit| {
        Derivation::quotient(
            Term::given(of, Number::Amount(amount, unit)),
            Term::given("", Number::Amount(per_s, rate_unit)),
        )
    };
    let bytes = |of| over(of, "B", "B/s");
    let flops = |of| over(of, "FLOP", "FLOP/s");
    let things = |of| over(of, "", "/s");
    let worked = match what {
        What::MemoryBytes => bytes("of memory"),
        What::BytesAgain => bytes("of memory, read again"),
        What::CacheBytes => bytes("of the cache"),
        What::MatrixFlops => flops(""),
        What::WaveFlops => flops("in whole waves of tiles"),
        What::Waves => Derivation::new(
            Operation::Product,
            vec![
                Term::given("waves", Number::Whole(amount)),
                Term::given("", Number::Seconds(1.0 / per_s)),
            ],
        ),
        What::Elements => things("updates"),
        What::Exponentials => things("exponentials"),
        What::ErrorFunctions => things("error functions"),
        What::Tangents => things("hyperbolic tangents"),
        What::Divisions => things("divisions"),
        What::Instructions => things("other instructions"),
        What::Strided => things("elements of strided operands"),
        What::Softmax => things("elements of a library softmax"),
        What::WideSoftmax => things("elements of a library softmax over long rows"),
        What::Norm => things("elements of a library norm"),
        What::Pool => things("elements of a library pooling"),
        What::Sum => things("elements of a library reduction"),
    };
    Term::derived("", Number::Seconds(share.seconds()), worked)
}
