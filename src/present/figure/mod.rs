//! Every number that the page shows explains itself: its formula with the figures of the program, the options that decide how
//! it is counted, and where it comes from.

mod bytes;
mod measured;
mod memory;
mod part;
mod resources;
mod said;
mod saved;
mod since;
mod swept;
mod time;
mod whole;
mod work;
mod worked;

pub use self::measured::{MeasuredFigure, measured_explanation};
pub use self::part::Part;
use self::said::Counted;
pub use self::said::{Convention, f32_matmul, hardware_source};
pub use self::saved::{Saved, advice_explanation, merge_explanation};
pub use self::since::{explanation_of_change, explanation_of_pinned};
pub use self::swept::swept_explanation;
pub(super) use self::swept::swept_number;
pub(super) use self::time::{Limit, breakdown_worked, limits_of};
pub use self::worked::{How, Number, Term, Worked};

use crate::core::analysis::compare::Compared;
use crate::core::{Analysis, Kernel, KernelId, OpId, Policy, TensorId};
use crate::present::names::{op_name, op_names};
use crate::present::options::policy_title;
use crate::present::times::TimeKind;

/// A number on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Figure {
    /// What it measures.
    pub quantity: Quantity,
    /// In which kernels.
    pub run: Run,
    /// Of what.
    pub of: Of,
}

/// What a figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Bytes read and written.
    Bytes,
    /// Bytes read.
    BytesRead,
    /// Bytes written.
    BytesWritten,
    /// The part of the unfused bytes that fusion saves.
    Saving,
    /// Launched kernels.
    Launches,
    /// Floating-point operations.
    Flops,
    /// FLOPs for each byte.
    Intensity,
    /// What takes longest.
    LimitedBy,
    /// The intensity at which the peak takes as long as the memory.
    Ridge,
    /// The time: expected where it is known, otherwise its lower bound.
    Time,
    /// The lower bound of the time.
    LowerBound,
    /// Unfused over fused time.
    Speedup,
    /// The same of the lower bounds.
    BoundSpeedup,
    /// The most bytes of tensors that are live at once.
    PeakMemory,
    /// Edges that another policy treats in another way than the chosen one.
    Differing,
    /// The bytes of the device's memory.
    DeviceMemory,
    /// Bytes of a tensor that the ops of a kernel move one by one and the kernel does not.
    BytesVanished,
    /// A resource of a launch.
    Resource(Resource),
}

/// What a launch needs of a multiprocessor, and how it fills the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// On-chip bytes that a block wants.
    OnChip,
    /// On-chip bytes that a block may have.
    OnChipAvailable,
    /// Registers of a thread.
    Registers,
    /// Resident threads over those that a multiprocessor could hold.
    Occupancy,
    /// Blocks.
    Blocks,
    /// Rounds of blocks.
    Waves,
    /// Tiles over the slots of all waves.
    WaveEfficiency,
    /// Elements of the output over those of all tiles.
    TileEfficiency,
}

/// The kernels in which something is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Run {
    /// One for each op.
    Unfused,
    /// Those of the policy.
    Fused,
}

/// What a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Of {
    /// The whole program.
    Program,
    /// The whole program under another policy.
    Policy(Policy),
    /// The fused kernel with this first op.
    Kernel(OpId),
    /// This op alone.
    Op(OpId),
    /// This tensor, at all kernels together.
    Tensor(TensorId),
    /// This tensor, at the fused kernel with this first op.
    TensorAt(OpId, TensorId),
}

impl Figure {
    /// A figure of the fused kernels.
    pub const fn fused(of: Of, quantity: Quantity) -> Self {
        Self {
            quantity,
            run: Run::Fused,
            of,
        }
    }

    /// The same of the ops one by one.
    pub const fn unfused(of: Of, quantity: Quantity) -> Self {
        Self {
            quantity,
            run: Run::Unfused,
            of,
        }
    }

    /// The policy whose analysis it is a figure of; `None` for the chosen one.
    pub const fn policy(self) -> Option<Policy> {
        match self.of {
            Of::Policy(policy) => Some(policy),
            _ => None,
        }
    }
}

impl Resource {
    const fn title(self) -> &'static str {
        match self {
            Self::OnChip => "on-chip memory of a block",
            Self::OnChipAvailable => "on-chip memory that a block can allocate",
            Self::Registers => "registers of a thread",
            Self::Occupancy => "occupancy",
            Self::Blocks => "blocks",
            Self::Waves => "waves",
            Self::WaveEfficiency => "wave efficiency",
            Self::TileEfficiency => "tile efficiency",
        }
    }
}

/// What is told about a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What it is.
    pub title: String,
    /// Of what: `kernel 3: softmax`.
    pub subject: String,
    /// The figure as it is shown.
    pub value: String,
    /// The formula in symbols.
    pub formula: &'static str,
    /// The number, and the formula with the figures of this program; `None` where it is not known.
    pub term: Option<Term>,
    /// What it leaves out, and what else bears on it.
    pub notes: Vec<String>,
    /// The options that decide how it is counted.
    pub conventions: Vec<Convention>,
    /// Where it comes from.
    pub sources: Vec<String>,
}

impl Explanation {
    /// Of a number that is shown as its term is; a dash where there is none.
    pub fn of(
        title: impl Into<String>,
        subject: impl Into<String>,
        formula: &'static str,
        term: impl Into<Option<Term>>,
    ) -> Self {
        let term = term.into();
        Self {
            title: title.into(),
            subject: subject.into(),
            value: term.as_ref().map_or_else(|| "–".to_owned(), Term::text),
            formula,
            term,
            notes: Vec::new(),
            conventions: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// With the conventions and sources of a figure of the analysis that it is computed from, if it has none of them yet.
    fn counted_as(mut self, figure: Figure, analysis: &Analysis) -> Self {
        let Some(counted) = counted(figure.of, analysis) else {
            return self;
        };
        let conventions = said::conventions(figure, counted);
        let sources = said::sources(figure, counted);
        add_missing(&mut self.conventions, conventions);
        add_missing(&mut self.sources, sources);
        self
    }

    /// All digits, where it is shown with less. A word has none.
    pub fn exact(&self) -> Option<String> {
        let number = self.term.as_ref()?.number;
        let exact = number.exact();
        (self.value.ends_with(&number.text()) && exact != self.value).then_some(exact)
    }

    /// The calculation with its result: `312 TFLOP/s / 2.04 TB/s = 153 FLOP/B`. `None` for a sum of many terms.
    pub fn line(&self) -> Option<String> {
        let line = self.term.as_ref()?.worked.as_ref()?.line()?;
        Some(format!("{line} = {}", self.value))
    }
}

fn add_missing<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

/// A figure before words are added.
struct Found {
    value: String,
    /// Where it is not the same for all of its quantity.
    formula: Option<&'static str>,
    term: Option<Term>,
    notes: Vec<String>,
}

impl Found {
    /// A figure that is shown as its number is.
    fn new(term: Term) -> Self {
        Self {
            value: term.text(),
            formula: None,
            term: Some(term),
            notes: Vec::new(),
        }
    }
}

/// What is told about a figure of an analysis; `None` where it has no such figure. For a figure of a policy it is the analysis of
/// that policy. `O(ops + reads)`.
pub fn explanation(figure: Figure, analysis: &Analysis) -> Option<Explanation> {
    let Figure { quantity, run, of } = figure;
    let counted = counted(of, analysis)?;
    let found = match of {
        Of::Program | Of::Policy(_) => whole::found(analysis, quantity, run)?,
        Of::Kernel(first) => of_kernel(analysis, kernel_from(analysis, first)?, quantity, run)?,
        Of::Op(op) => of_lone_op(analysis, analysis.unfused.of_lone_op(op), quantity)?,
        Of::Tensor(tensor) => {
            (quantity == Quantity::Bytes).then(|| bytes::of_tensor(analysis, tensor, run))?
        }
        Of::TensorAt(first, tensor) => {
            let id = kernel_from(analysis, first)?;
            bytes::of_tensor_at(analysis, id, tensor, quantity)?
        }
    };
    Some(told(figure, found, counted, analysis))
}

/// The kernels that a figure of this counts; `None` where the analysis has none.
fn counted(of: Of, analysis: &Analysis) -> Option<Counted<'_>> {
    let kernel = |kernel| Counted::kernel(analysis, kernel);
    match of {
        Of::Program | Of::Policy(_) => Some(Counted::program(analysis)),
        Of::Kernel(first) | Of::TensorAt(first, _) => {
            let id = kernel_from(analysis, first)?;
            Some(kernel(&analysis.fused.kernels[id]))
        }
        Of::Op(op) => {
            analysis.graph.ops.get(op)?;
            Some(kernel(analysis.unfused.of_lone_op(op)))
        }
        Of::Tensor(tensor) => {
            analysis.tensors.get(tensor)?;
            Some(Counted::program(analysis))
        }
    }
}

fn told(figure: Figure, found: Found, counted: Counted<'_>, analysis: &Analysis) -> Explanation {
    Explanation {
        title: title(figure, analysis),
        subject: subject(figure.of, analysis),
        value: found.value,
        formula: found.formula.unwrap_or_else(|| formula(figure, analysis)),
        term: found.term,
        notes: found.notes,
        conventions: said::conventions(figure, counted),
        sources: said::sources(figure, counted),
    }
}

/// What is told about a figure of a policy beside the chosen one.
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
        Term::given(
            "kept inside a kernel by this policy only",
            Number::Count(here),
        ),
        Term::given(
            "kept inside a kernel by the chosen one only",
            Number::Count(there),
        ),
    ];
    let number = Number::Count(here + there);
    let term = Term::worked("", number, Worked::new(How::Sum, terms));
    let found = Found::new(term);
    Some(told(figure, found, Counted::program(analysis), analysis))
}

/// The fused kernel with this first op.
fn kernel_from(analysis: &Analysis, first: OpId) -> Option<KernelId> {
    let id = *analysis.partition.kernel_of.get(first)?;
    let ops = &analysis.fused.kernels.get(id)?.ops;
    (ops.first() == Some(&first)).then_some(id)
}

fn of_kernel(analysis: &Analysis, id: KernelId, quantity: Quantity, run: Run) -> Option<Found> {
    let kernel = &analysis.fused.kernels[id];
    match (quantity, run) {
        (Quantity::Bytes, Run::Unfused) => Some(bytes::of_ops(analysis, id)),
        (Quantity::Saving, _) => Some(bytes::saving_of_kernel(analysis, id)),
        (_, Run::Unfused) => None,
        (Quantity::Bytes | Quantity::BytesRead | Quantity::BytesWritten, _) => {
            Some(bytes::of_kernel(analysis, kernel, quantity))
        }
        (Quantity::Flops, _) => Some(work::flops_of_kernel(analysis, id)),
        (Quantity::Intensity, _) => Some(work::intensity(analysis, kernel)),
        (Quantity::Ridge, _) => work::ridge_of_kernel(analysis, kernel),
        (Quantity::LimitedBy, _) => Some(time::limit(analysis, id)),
        (Quantity::Time, _) => Some(time::of_kernel(analysis, id)),
        (Quantity::LowerBound, _) => Some(time::bound_of_kernel(analysis, id)),
        (Quantity::Resource(resource), _) => resources::found(analysis, id, resource),
        _ => None,
    }
}

fn of_lone_op(analysis: &Analysis, alone: &Kernel, quantity: Quantity) -> Option<Found> {
    match quantity {
        Quantity::Bytes | Quantity::BytesRead | Quantity::BytesWritten => {
            Some(bytes::of_kernel(analysis, alone, quantity))
        }
        Quantity::Intensity => Some(work::intensity(analysis, alone)),
        _ => None,
    }
}

fn title(figure: Figure, analysis: &Analysis) -> String {
    let time = TimeKind::of(analysis).title();
    let what = match figure.quantity {
        Quantity::Bytes => "memory traffic",
        Quantity::BytesRead => "bytes read",
        Quantity::BytesWritten => "bytes written",
        Quantity::Saving => return "change of the memory traffic".to_owned(),
        Quantity::Launches => "kernels",
        Quantity::Flops => return "FLOPs".to_owned(),
        Quantity::Intensity => return "arithmetic intensity".to_owned(),
        Quantity::LimitedBy => return "what takes longest".to_owned(),
        Quantity::Ridge => return "ridge point".to_owned(),
        Quantity::Time => time,
        Quantity::LowerBound => TimeKind::LowerBound.title(),
        Quantity::Speedup => return format!("{time}, unfused over fused"),
        Quantity::BoundSpeedup => return "lower bounds, unfused over fused".to_owned(),
        Quantity::PeakMemory => "peak memory",
        Quantity::Differing => return "edges that differ from the chosen policy".to_owned(),
        Quantity::DeviceMemory => return "memory of the device".to_owned(),
        Quantity::BytesVanished => return "bytes that fusion saves".to_owned(),
        Quantity::Resource(resource) => return resource.title().to_owned(),
    };
    match figure.run {
        Run::Unfused => format!("{what}, unfused"),
        Run::Fused => format!("{what}, fused"),
    }
}

fn subject(of: Of, analysis: &Analysis) -> String {
    let graph = &analysis.graph;
    match of {
        Of::Program => "the whole program".to_owned(),
        Of::Policy(policy) => format!("the whole program under {}", policy_title(policy)),
        Of::Kernel(first) => kernel_from(analysis, first).map_or_else(String::new, |id| {
            let ops = op_names(graph, &analysis.fused.kernels[id].ops);
            format!("kernel {}: {ops}", id.number())
        }),
        Of::Op(op) => format!("{} alone", op_name(graph, op)),
        Of::Tensor(tensor) => graph.tensor_name(tensor).to_owned(),
        Of::TensorAt(first, tensor) => {
            let kernel = subject(Of::Kernel(first), analysis);
            format!("{} in {kernel}", graph.tensor_name(tensor))
        }
    }
}

/// The formula of a figure in symbols.
fn formula(figure: Figure, analysis: &Analysis) -> &'static str {
    let Figure { quantity, run, of } = figure;
    let is_program = matches!(of, Of::Program | Of::Policy(_));
    let is_expected = analysis.expected.is_some();
    match quantity {
        Quantity::Bytes => match (of, run) {
            (Of::Tensor(_) | Of::TensorAt(..), _) => {
                "Σ over its accesses (elements × bytes per element)"
            }
            (Of::Program | Of::Policy(_), Run::Fused) => {
                "Σ over kernels (bytes read + bytes written)"
            }
            (Of::Program | Of::Policy(_) | Of::Kernel(_), Run::Unfused) => {
                "Σ over ops (bytes read + bytes written)"
            }
            _ => "Σ over tensors read + Σ over tensors written (elements × bytes per element)",
        },
        Quantity::BytesRead if is_program => "Σ over kernels (bytes read)",
        Quantity::BytesWritten if is_program => "Σ over kernels (bytes written)",
        Quantity::BytesRead => "Σ over tensors read (elements × bytes per element)",
        Quantity::BytesWritten => "Σ over tensors written (elements × bytes per element)",
        Quantity::Saving => "(unfused bytes − fused bytes) / unfused bytes",
        Quantity::Launches => "kernels − views + further launches",
        Quantity::Flops if is_program => "Σ over kernels (FLOPs)",
        Quantity::Flops => "Σ over ops (FLOPs)",
        Quantity::Intensity => "FLOPs / (bytes read + bytes written)",
        Quantity::LimitedBy => "max(bytes / bandwidth, FLOPs / peak, launch)",
        Quantity::Ridge => "peak / bandwidth",
        Quantity::Time if is_program && is_expected => "Σ over kernels (time)",
        Quantity::Time if is_expected => {
            "Σ over phases max(bytes / bandwidth, arithmetic / rate) + fixed time"
        }
        Quantity::Time | Quantity::LowerBound if is_program => {
            "Σ over kernels (max(bytes / bandwidth, FLOPs / peak) + launches × launch time)"
        }
        Quantity::Time | Quantity::LowerBound => {
            "max(bytes / bandwidth, FLOPs / peak) + launches × launch time"
        }
        Quantity::Speedup | Quantity::BoundSpeedup => "unfused time / fused time",
        Quantity::PeakMemory => "max over kernels Σ over live tensors (bytes)",
        Quantity::Differing => {
            "edges that one of the two policies keeps inside a kernel and the other does not"
        }
        Quantity::BytesVanished => "Σ accesses of its ops one by one − Σ accesses of the kernel",
        Quantity::DeviceMemory | Quantity::Resource(_) => "a figure of the device",
    }
}
