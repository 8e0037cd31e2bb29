//! Times of kernels as derivations: what each unit takes alone by the roofline, and the phases of a
//! predicted time.

use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::devices::{computed_as, units_name};
use crate::present::number::Number;
use fuseline_core::analysis::Kernel;
use fuseline_core::analysis::device_model::{Breakdown, BreakdownPart, BreakdownShare, RatedWork};
use fuseline_core::cost::roofline::{RatedAmount, UnitKind, peaks, unit_works};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::options::Options;

/// What one unit of the device has to do for a kernel, and how long that takes alone.
pub(super) struct Limit {
    /// The unit.
    name: String,
    unit: UnitKind,
    /// What it does one after the other, by name; one share has no name.
    shares: Vec<(String, RatedAmount)>,
}

/// The limits of a kernel: memory, and the units that have FLOPs.
pub(super) fn limits_of(options: &Options, kernel: &Kernel) -> Vec<Limit> {
    let dtype = kernel.work.matrix_dtype.map_or("", DType::name);
    let peak = peaks(options, kernel.work).matrix;
    let (computed_as, units) = peak.as_ref().map_or(("", "matrix units"), |peak| {
        (computed_as(peak), units_name(peak))
    });
    let shown = match kernel.work.hidden_flops {
        [0, 0] => "",
        _ => ", without what the causal mask hides",
    };
    let works = unit_works(options, kernel.work, kernel.bytes()).into_iter();
    let works = works.filter(|work| work.unit == UnitKind::Memory || work.amount() > 0);
    let limits = works.map(|work| {
        let name = match work.unit {
            UnitKind::Memory => "memory",
            UnitKind::Matrix => units,
            UnitKind::Vector => "vector units",
            UnitKind::VectorF64 => "vector units, f64",
        };
        let of_matmuls = format!("{dtype}{computed_as}{shown}");
        match (work.matmuls.amount > 0, work.other.amount > 0) {
            (true, true) => Limit {
                name: name.to_owned(),
                unit: work.unit,
                shares: vec![
                    (format!("matmuls, {of_matmuls}"), work.matmuls),
                    ("other ops".to_owned(), work.other),
                ],
            },
            (true, false) => Limit {
                name: format!("{units}, {of_matmuls}"),
                unit: work.unit,
                shares: vec![(String::new(), work.matmuls)],
            },
            (false, _) => Limit {
                name: name.to_owned(),
                unit: work.unit,
                shares: vec![(String::new(), work.other)],
            },
        }
    });
    limits.collect()
}

impl Limit {
    /// The amounts over their rates; `None` where no peak is known.
    pub(super) fn term(&self) -> Option<Term> {
        let quotient = |(name, share): &(String, RatedAmount)| {
            let (amount, rate) = match self.unit {
                UnitKind::Memory => (Number::Bytes(share.amount.try_into().ok()?), "B/s"),
                _ => (Number::Flops(share.amount), "FLOP/s"),
            };
            let rate = Number::Amount(share.per_s?, rate);
            let quotient = Derivation::quotient(Term::given("", amount), Term::given("", rate));
            let time = Number::Seconds(share.time_s());
            Some(Term::derived(&**name, time, quotient))
        };
        let mut terms: Vec<Term> = self.shares.iter().filter_map(quotient).collect();
        let seconds = terms.iter().map(|term| term.number.value()).sum();
        let derivation = match terms.len() {
            0 => return None,
            1 => terms.pop()?.derivation?,
            _ => Derivation::new(Operation::Sum, terms),
        };
        Some(Term::derived(
            &*self.name,
            Number::Seconds(seconds),
            derivation,
        ))
    }

    /// The calculation on one line.
    pub(super) fn line(&self) -> String {
        let Some(term) = self.term() else {
            return format!("{}: no peak is known", self.name);
        };
        let line = |term: &Term| term.derivation.as_ref().and_then(Derivation::line);
        let line = line(&term).unwrap_or_else(|| {
            let lines: Vec<String> = term.terms().iter().filter_map(line).collect();
            lines.join(" + ")
        });
        format!("{}: {line} = {}", term.name, term.text())
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
        let mut shares = breakdown
            .phases
            .iter()
            .flatten()
            .flat_map(|part| &part.shares);
        let name = if shares.any(|share| share.what == RatedWork::WaveFlops) {
            "to fill the pipeline of tiles and write the last one"
        } else {
            "that such a kernel takes longer at least"
        };
        terms.push(Term::given(name, Number::Seconds(breakdown.pipeline_s)));
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
