//! Times of kernels: what each unit would take alone, and what follows from that.

use super::Found;
use crate::present::bottleneck_names::{bottleneck_name, bound_name};
use crate::present::derivation::{Derivation, Number, Operation, Term};
use crate::present::devices::{computed_as, units_name};
use crate::present::explain::has_assumed_size;
use crate::present::format::format_seconds;
use crate::present::times::{TimeKind, kernel_time, missing_text, outside_text};
use fuseline_core::analysis::device_model::{Breakdown, Part, Share, What, breakdown};
use fuseline_core::analysis::{Analysis, Kernel};
use fuseline_core::cost::roofline::{peaks, times};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::ids::KernelId;
use fuseline_core::model::options::Options;

/// What one unit of the device has to do for a kernel, and how long that takes alone.
pub(in crate::present) struct Limit {
    /// The unit.
    pub(in crate::present) name: String,
    /// Bytes or FLOPs.
    pub(in crate::present) amount: Number,
    /// How much of it in a second; `None` where no peak is known.
    pub(in crate::present) rate: Option<Number>,
    /// The time; 0 without a rate.
    pub(in crate::present) seconds: f64,
}

/// The limits of a kernel: memory, and the units that have FLOPs.
pub(in crate::present) fn limits_of(options: &Options, kernel: &Kernel) -> Vec<Limit> {
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
    pub(in crate::present) fn term(&self) -> Option<Term> {
        let worked =
            Derivation::quotient(Term::given("", self.amount), Term::given("", self.rate?));
        Some(Term::derived(
            &*self.name,
            Number::Seconds(self.seconds),
            worked,
        ))
    }
}

/// The longest of the limits of a kernel.
fn longest(options: &Options, kernel: &Kernel) -> Term {
    let limits = limits_of(options, kernel);
    let terms: Vec<Term> = limits.iter().filter_map(Limit::term).collect();
    let seconds = terms.iter().map(|term| term.number.value());
    let longest_s = seconds.fold(0.0, f64::max);
    let worked = Derivation::new(Operation::Longest, terms);
    Term::derived("the longest of", Number::Seconds(longest_s), worked)
}

/// How the lower bound of a fused kernel is found; nothing for a view.
fn bound_derivation(analysis: &Analysis, id: KernelId) -> Option<Derivation> {
    let kernel = &analysis.fused.kernels[id];
    let one = Number::Seconds(analysis.options.device.launch_s.value);
    let further = analysis.partition.further_launches_of(id);
    let launches = u64::from(further) + 1;
    let launch = match launches {
        1 => Term::given("launch", one),
        launches => Term::derived(
            "launches",
            Number::Seconds(one.value() * launches as f64),
            Derivation::new(
                Operation::Product,
                vec![
                    Term::given("", Number::Count(launches)),
                    Term::given("", one),
                ],
            ),
        ),
    };
    let terms = vec![longest(&analysis.options, kernel), launch];
    (!kernel.is_free).then(|| Derivation::new(Operation::Sum, terms))
}

/// How an expected time is found: phases one after the other, each as long as its longest part.
pub(in crate::present) fn breakdown_derivation(breakdown: &Breakdown) -> Derivation {
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

fn launch_term(breakdown: &Breakdown) -> Term {
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

fn part_term(part: &Part) -> Term {
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

/// The time of a kernel: expected where it is known, otherwise the lower bound.
pub(super) fn of_kernel(analysis: &Analysis, id: KernelId) -> Found {
    let Some(breakdown) = breakdown(analysis, id) else {
        return bound_of_kernel(analysis, id);
    };
    let kernel = &analysis.fused.kernels[id];
    let text = kernel_time(analysis, id).unwrap_or_default();
    let term = Term::derived(
        "",
        Number::Seconds(breakdown.time_s()),
        breakdown_derivation(&breakdown),
    );
    let bound = text.bound_beside().map(|bound| {
        format!("Its lower bound is {bound}, which uses the rates of the data sheet.")
    });
    Found {
        value: text.time,
        notes: (text.outside.map(outside_text).into_iter())
            .chain(slower_than_alone(analysis, id))
            .chain(bound)
            .collect(),
        term: Some(term.assumed(has_assumed_size(kernel))),
    }
}

/// Why a kernel of one op takes longer than the op does unfused; `None` where it does not, and where it has several ops.
fn slower_than_alone(analysis: &Analysis, id: KernelId) -> Option<String> {
    let times = analysis.predicted.as_ref()?.kernels.get(id)?;
    let ops = analysis.fused.kernels.get(id)?.ops.iter();
    let is_alone = ops.filter(|&&op| !analysis.is_free_view(op)).count() == 1;
    (is_alone && times.unfused_s < times.time_s).then(|| {
        format!(
            "Unfused it takes {}: PyTorch's library kernel for this op is faster than a generated one.",
            format_seconds(times.unfused_s)
        )
    })
}

/// The lower bound of the time of a kernel.
pub(super) fn bound_of_kernel(analysis: &Analysis, id: KernelId) -> Found {
    let kernel = &analysis.fused.kernels[id];
    let text = kernel_time(analysis, id).unwrap_or_default();
    let mut notes = notes(analysis, kernel);
    if text.is_below {
        notes.push(format!(
            "The {} time is below it, because some of the data is still in the cache. The lower bound assumes a cold cache.",
            TimeKind::of(analysis).name()
        ));
    }
    let number = Number::Seconds(kernel.placement.time_s);
    let term = Term {
        derivation: bound_derivation(analysis, id),
        ..Term::given("", number).assumed(has_assumed_size(kernel))
    };
    Found {
        value: text.bound.unwrap_or(text.time),
        term: Some(term),
        notes,
    }
}

fn notes(analysis: &Analysis, kernel: &Kernel) -> Vec<String> {
    let missing = missing_text(kernel, &analysis.options).map(|missing| format!("{missing}."));
    let view = "A view needs no launch.".to_owned();
    missing
        .into_iter()
        .chain(kernel.is_free.then_some(view))
        .collect()
}

/// Which unit takes longest, or the launch.
pub(super) fn limit(analysis: &Analysis, id: KernelId) -> Found {
    let kernel = &analysis.fused.kernels[id];
    if let Some(breakdown) = breakdown(analysis, id).filter(|_| !kernel.is_free) {
        return limit_of(&breakdown, analysis, id);
    }
    let Term {
        derivation, number, ..
    } = longest(&analysis.options, kernel);
    let launch = Number::Seconds(analysis.options.device.launch_s.value);
    let mut terms = derivation.map_or_else(Vec::new, |derivation| derivation.terms);
    terms.push(Term::given("launch", launch));
    let number = if launch.value() > number.value() {
        launch
    } else {
        number
    };
    let worked = Derivation::new(Operation::Longest, terms);
    Found {
        value: bottleneck_name(analysis, id).to_owned(),
        term: (!kernel.is_free).then(|| Term::derived("", number, worked)),
        notes: notes(analysis, kernel),
    }
}

/// The same of a predicted time: its longest part, or the fixed time.
fn limit_of(breakdown: &Breakdown, analysis: &Analysis, id: KernelId) -> Found {
    let kernel = &analysis.fused.kernels[id];
    let parts = breakdown.phases.iter().flatten();
    let mut terms: Vec<Term> = parts
        .filter(|part| part.seconds() > 0.0)
        .map(part_term)
        .collect();
    terms.push(launch_term(breakdown));
    let longest_s = terms.iter().map(|term| term.number.value());
    let longest = Number::Seconds(longest_s.fold(0.0, f64::max));
    let on_roofline = format!(
        "By the rates of the data sheet, which the roofline shows, it is: {}.",
        bound_name(kernel.placement.bound)
    );
    Found {
        value: bottleneck_name(analysis, id).to_owned(),
        term: Some(Term::derived(
            "",
            longest,
            Derivation::new(Operation::Longest, terms),
        )),
        notes: (notes(analysis, kernel).into_iter())
            .chain([on_roofline])
            .collect(),
    }
}
