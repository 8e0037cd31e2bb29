//! Every number that the page shows explains itself: its formula with the figures of the program, the options that decide how
//! it is counted, and where it comes from.

mod bytes;
mod explanation;
mod measured;
mod memory;
mod part;
mod resources;
mod said;
mod saved;
mod since;
mod slower;
mod swept;
mod time;
mod whole;
mod words;
mod work;
mod worked;

pub use self::explanation::Explanation;
pub use self::measured::{MeasuredFigure, measured_explanation};
pub use self::part::Part;
use self::said::Counted;
pub use self::said::{Convention, f32_matmul, hardware_source};
pub use self::saved::{Saved, advice_explanation, merge_explanation};
pub use self::since::{explanation_of_change, explanation_of_pinned};
pub use self::slower::slowest_loss;
pub(in crate::present) use self::slower::{ops_of_both, slower_cause};
pub use self::swept::swept_explanation;
pub(super) use self::swept::swept_number;
pub(super) use self::time::{Limit, breakdown_worked, limits_of};
use self::words::{formula, subject, title};
pub use self::worked::{How, Number, Term, Worked};

use fuseline_core::analysis::compare::Compared;
use fuseline_core::{Analysis, Kernel, KernelId, OpId, Policy, TensorId};

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
    /// The fused kernel without ops of its own that computes this op, of another kernel, once more.
    Again(OpId),
    /// This op alone.
    Op(OpId),
    /// This tensor, at all kernels together.
    Tensor(TensorId),
    /// This tensor, at the fused kernel with this first op.
    TensorAt(OpId, TensorId),
}

impl Of {
    /// A fused kernel, by what stays the same while kernels come and go.
    pub fn kernel(analysis: &Analysis, id: KernelId) -> Option<Self> {
        let own = analysis.partition.kernels.get(id)?.first();
        let again = analysis.partition.recomputed[id].first();
        let own = own.map(|&first| Self::Kernel(first));
        own.or_else(|| again.map(|&first| Self::Again(first)))
    }

    /// The fused kernel that it is, or that it is in; `None` where it is of no kernel, or the analysis has none like it.
    fn id(self, analysis: &Analysis) -> Option<KernelId> {
        match self {
            Self::Kernel(first) | Self::TensorAt(first, _) => kernel_from(analysis, first),
            Self::Again(op) => kernel_again(analysis, op),
            Self::Program | Self::Policy(_) | Self::Op(_) | Self::Tensor(_) => None,
        }
    }
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

/// A figure before words are added.
struct Found {
    value: String,
    term: Option<Term>,
    notes: Vec<String>,
}

impl Found {
    /// A figure that is shown as its number is.
    fn new(term: Term) -> Self {
        Self {
            value: term.text(),
            term: Some(term),
            notes: Vec::new(),
        }
    }

    /// With another note, if there is one.
    fn noted(mut self, note: Option<String>) -> Self {
        self.notes.extend(note);
        self
    }
}

/// What is told about a figure of an analysis; `None` where it has no such figure. For a figure of a policy it is the analysis of
/// that policy. `O(ops + reads)`.
pub fn explanation(figure: Figure, analysis: &Analysis) -> Option<Explanation> {
    let Figure { quantity, run, of } = figure;
    let counted = counted(of, analysis)?;
    let found = match of {
        Of::Program | Of::Policy(_) => whole::found(analysis, quantity, run)?,
        Of::Kernel(_) | Of::Again(_) => of_kernel(analysis, of.id(analysis)?, quantity, run)?,
        Of::Op(op) => of_lone_op(analysis, analysis.unfused.of_lone_op(op), quantity)?,
        Of::Tensor(tensor) => {
            (quantity == Quantity::Bytes).then(|| bytes::of_tensor(analysis, tensor, run))?
        }
        Of::TensorAt(_, tensor) => {
            let id = of.id(analysis)?;
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
        Of::Kernel(_) | Of::Again(_) | Of::TensorAt(..) => {
            Some(kernel(&analysis.fused.kernels[of.id(analysis)?]))
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
    let own_formula = found.term.as_ref().and_then(|term| term.formula);
    Explanation {
        title: title(figure, analysis),
        subject: subject(figure.of, analysis),
        value: found.value,
        formula: own_formula.unwrap_or_else(|| formula(figure, analysis)),
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
        Term::given("fused by this policy only", Number::Count(here)),
        Term::given("fused by the chosen policy only", Number::Count(there)),
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

/// The fused kernel that computes nothing but this op of another one.
fn kernel_again(analysis: &Analysis, op: OpId) -> Option<KernelId> {
    let mut kernels = analysis.partition.kernels.iter_enumerated();
    kernels.find_map(|(id, ops)| {
        let is_it = ops.is_empty() && analysis.partition.recomputed[id].first() == Some(&op);
        is_it.then_some(id)
    })
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
