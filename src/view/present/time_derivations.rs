//! Times of kernels as derivations: what each unit takes alone by the roofline, and the phases of a
//! predicted time.

use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::devices::{computed_as, units_name};
use crate::present::number::Number;
use fuseline_core::analysis::Kernel;
use fuseline_core::analysis::device_model::{Breakdown, BreakdownPart, BreakdownShare, RatedWork};
use fuseline_core::cost::roofline::{UnitKind, UnitWork, peaks, unit_works};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::options::Options;

/// What one unit of the device has to do for a kernel, and how long that takes alone.
pub(super) struct Limit {
    /// The unit.
    pub(super) name: String,
    work: UnitWork,
}

/// The limits of a kernel: memory, and the units that have FLOPs.
pub(super) fn limits_of(options: &Options, kernel: &Kernel) -> Vec<Limit> {
    let dtype = kernel.work.matrix_dtype.map_or("", DType::name);
    let peak = peaks(options, kernel.work).matrix;
    let (computed_as, units) = peak.as_ref().map_or(("", "matrix units"), |peak| {
        (computed_as(peak), units_name(peak))
    });
    let works = unit_works(options, kernel.work, kernel.bytes()).into_iter();
    let works = works.filter(|work| work.unit == UnitKind::Memory || work.amount > 0);
    let limits = works.map(|work| Limit {
        name: match work.unit {
            UnitKind::Memory => "memory".to_owned(),
            UnitKind::Matrix if kernel.work.hidden_flops != [0, 0] => {
                format!("{units}, {dtype}{computed_as}, without what the causal mask hides")
            }
            UnitKind::Matrix => format!("{units}, {dtype}{computed_as}"),
            UnitKind::Vector => "vector units".to_owned(),
            UnitKind::VectorF64 => "vector units, f64".to_owned(),
        },
        work,
    });
    limits.collect()
}

impl Limit {
    /// The amount over the rate; `None` where no peak is known.
    pub(super) fn term(&self) -> Option<Term> {
        let UnitWork {
            unit,
            amount,
            per_s,
        } = self.work;
        let (amount, rate) = match unit {
            UnitKind::Memory => (Number::Bytes(amount.try_into().ok()?), "B/s"),
            _ => (Number::Flops(amount), "FLOP/s"),
        };
        let rate = Number::Amount(per_s?, rate);
        let quotient = Derivation::quotient(Term::given("", amount), Term::given("", rate));
        let time = Number::Seconds(self.work.time_s());
        Some(Term::derived(&*self.name, time, quotient))
    }
}

/// The derivation of a predicted time: phases one after the other, each as long as its longest
/// part.
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

/// The time of a phase, or `None` for a phase that takes no time.
fn phase_term(phase: &[BreakdownPart]) -> Option<Term> {
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

pub(super) fn part_term(part: &BreakdownPart) -> Term {
    let shares = part.shares.iter().map(share_term).collect();
    let derivation = Derivation::new(Operation::Sum, shares);
    Term::derived(part.name, Number::Seconds(part.seconds()), derivation)
}

fn share_term(share: &BreakdownShare) -> Term {
    let &BreakdownShare {
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
    let each = |of: &str| {
        Derivation::new(
            Operation::Product,
            vec![
                Term::given(of, Number::Whole(amount)),
                Term::given("", Number::Seconds(1.0 / per_s)),
            ],
        )
    };
    let derivation = match what {
        RatedWork::MemoryBytes => bytes("of memory"),
        RatedWork::BytesAgain => bytes("of memory, read again"),
        RatedWork::CacheBytes => bytes("of the cache"),
        RatedWork::MatrixFlops | RatedWork::VectorFlops => flops(""),
        RatedWork::WaveFlops => flops("in whole waves of tiles"),
        RatedWork::Waves => each("waves"),
        RatedWork::RowWaves => each("waves of rows"),
        RatedWork::Steps => each("steps along K of all waves"),
        RatedWork::Keys => each("keys of all waves"),
        RatedWork::RowElements => each("elements of one row"),
        RatedWork::HeldElements => things("elements in registers"),
        RatedWork::Elements => things("updates"),
        RatedWork::Exponentials => things("exponentials"),
        RatedWork::ErrorFunctions => things("error functions"),
        RatedWork::Tangents => things("hyperbolic tangents"),
        RatedWork::Divisions => things("divisions"),
        RatedWork::Instructions => things("other instructions"),
        RatedWork::Strided => things("elements of strided operands"),
        RatedWork::Softmax => things("elements of a library softmax"),
        RatedWork::WideSoftmax => things("elements of a library softmax over long rows"),
        RatedWork::Norm => things("elements of a library norm"),
        RatedWork::Pool => things("elements of a library pooling"),
        RatedWork::Sum => things("elements of a library reduction"),
    };
    Term::derived("", Number::Seconds(share.seconds()), derivation)
}
