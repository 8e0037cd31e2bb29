//! Equal kernels again and again, as the blocks of a language model are, of which the picture shows
//! one iteration.
//!
//! ```text
//!   prefix   body   body   body   body   suffix          kernels in the order in which they run
//!            \___/  \_____hidden_____/
//!            shown
//! ```
//!
//! Names play no part: kernels are compared by their ops and by what these read. `find` looks for
//! candidates by the hashes of kernels, `check` compares them op by op.

mod check;
mod find;
mod sequence;

use self::check::is_equal_tensor;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::{Graph, IdVec, KernelId, Op, OpId, Partition, TensorId};
use serde::Serialize;
use std::ops::Range;

/// Most ops that are all drawn: so many can be looked through.
pub const ALL_DRAWN_OPS: usize = 60;

/// Iterations of a repeat, at least.
const MIN_ITERATIONS: usize = 3;

/// Equal iterations of kernels, each of which reads what the one before it writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Repeat {
    /// The first kernel of the first iteration.
    pub first: KernelId,
    /// Number of kernels of an iteration.
    pub kernels: usize,
    /// Number of iterations, at least 3.
    pub iterations: usize,
    /// The tensors that lead from iteration to iteration.
    pub carried: Vec<CarriedTensor>,
}

/// A tensor that each iteration reads from the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct CarriedTensor {
    /// The tensor that the first iteration reads in its place.
    pub enters: TensorId,
    /// The op of the first iteration that writes it for the second.
    pub producer: OpId,
}

impl Repeat {
    /// The kernels of the first iteration, which are shown.
    pub fn shown(&self) -> Range<usize> {
        self.first.index()..self.first.index() + self.kernels
    }

    /// The kernels of all iterations.
    pub fn all(&self) -> Range<usize> {
        self.first.index()..self.first.index() + self.kernels * self.iterations
    }

    /// The iteration of a kernel, from 0; `None` for a kernel of no iteration.
    pub fn iteration_of(&self, kernel: KernelId) -> Option<usize> {
        let place = kernel.index().checked_sub(self.first.index())?;
        let iteration = place / self.kernels.max(1);
        (iteration < self.iterations).then_some(iteration)
    }
}

/// The repeats of a program, and for each op and kernel the equal one that is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Repeats {
    runs: Vec<Repeat>,
    /// Empty where all are shown, as is the next one.
    shown_op: IdVec<OpId, OpId>,
    shown_kernel: IdVec<KernelId, KernelId>,
}

impl Repeats {
    /// The repeats of a program. `O(n log n)` in ops and reads.
    pub fn find(graph: &Graph, partition: &Partition) -> Self {
        Self::of_runs(find::find(graph, partition), graph, partition)
    }

    /// The repeats of a program that is too large to be drawn op by op; of any other program none.
    pub fn of_large(graph: &Graph, partition: &Partition) -> Self {
        if graph.ops.len() > ALL_DRAWN_OPS {
            Self::find(graph, partition)
        } else {
            Self::default()
        }
    }

    fn of_runs(runs: Vec<Repeat>, graph: &Graph, partition: &Partition) -> Self {
        if runs.is_empty() {
            return Self::default();
        }
        let mut shown_op: IdVec<OpId, OpId> = graph.ops.ids().collect();
        let mut shown_kernel: IdVec<KernelId, KernelId> = partition.kernels.ids().collect();
        for run in &runs {
            for kernel in run.all().map(KernelId::new) {
                let place = (kernel.index() - run.first.index()) % run.kernels.max(1);
                let shown = KernelId::new(run.first.index() + place);
                shown_kernel[kernel] = shown;
                let equals = partition.kernels[shown].iter();
                for (&op, &equal) in partition.kernels[kernel].iter().zip(equals) {
                    shown_op[op] = equal;
                }
            }
        }
        Self {
            runs,
            shown_op,
            shown_kernel,
        }
    }

    /// The repeats, in the order in which they run.
    pub fn runs(&self) -> &[Repeat] {
        &self.runs
    }

    /// Nothing is repeated, so all is shown.
    pub const fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The op that is shown in place of this one: itself, unless it is in a later iteration.
    pub fn shown_op(&self, op: OpId) -> OpId {
        self.shown_op.get(op).copied().unwrap_or(op)
    }

    /// The kernel that is shown in place of this one.
    pub fn shown_kernel(&self, kernel: KernelId) -> KernelId {
        self.shown_kernel.get(kernel).copied().unwrap_or(kernel)
    }

    /// The tensor that is shown in place of this one from outside: what the shown op reads where an
    /// op of a later iteration reads it. `graph` is the one for which the repeats were found.
    pub fn shown_tensor(&self, graph: &Graph, tensor: TensorId) -> TensorId {
        let shown = || {
            let reader = *graph.consumers.get(tensor)?.first()?;
            let place = graph.inputs[reader]
                .iter()
                .position(|&read| read == tensor)?;
            graph.inputs.get(self.shown_op(reader))?.get(place).copied()
        };
        shown().unwrap_or(tensor)
    }

    /// The tensor of the shown iteration that equals this one: what the shown op writes, or what it
    /// reads from outside.
    pub fn equal_tensor(&self, graph: &Graph, tensor: TensorId) -> TensorId {
        match graph.tensors.get(tensor).and_then(|of| of.producer) {
            Some(producer) => {
                let equal = graph.output.get(self.shown_op(producer));
                equal.copied().unwrap_or(tensor)
            }
            None => self.shown_tensor(graph, tensor),
        }
    }

    /// Whether this op is shown itself.
    pub fn shows_op(&self, op: OpId) -> bool {
        self.shown_op(op) == op
    }

    /// Whether this kernel is shown itself.
    pub fn shows_kernel(&self, kernel: KernelId) -> bool {
        self.shown_kernel(kernel) == kernel
    }

    /// The run of a kernel with the kernel's iteration, from 0.
    pub fn iteration_of(&self, kernel: KernelId) -> Option<(&Repeat, usize)> {
        let after = self.runs.partition_point(|run| run.first <= kernel);
        let run = self.runs.get(after.checked_sub(1)?)?;
        Some((run, run.iteration_of(kernel)?))
    }

    /// Whether each hidden op is still equal to the shown one and reads equal tensors, as it may
    /// not when sizes or element types have changed. Names, reads and kernels must be those for
    /// which the repeats were found. `O(ops + reads)`.
    pub fn still_hold(&self, graph: &Graph) -> bool {
        let is_equal_read = |(&read, &shown): (&TensorId, &TensorId)| {
            read == shown
                || is_equal_tensor(graph, read, shown)
                || graph.tensor_shape(shown).is_none()
        };
        let mut pairs = self.shown_op.iter_enumerated();
        pairs.all(
            |(op, &shown)| match (graph.ops.get(op), graph.ops.get(shown)) {
                (Some(hidden), Some(equal)) => {
                    let mut reads = graph.inputs[op].iter().zip(&graph.inputs[shown]);
                    is_equal_op(hidden, equal) && reads.all(is_equal_read)
                }
                _ => false,
            },
        )
    }
}

/// Whether two ops compute the same, whatever their names and inputs. Whether the program returns
/// the output does not matter: the last of equal blocks often gives the result.
fn is_equal_op(a: &Op, b: &Op) -> bool {
    a.op_type == b.op_type
        && a.function == b.function
        && a.unknown == b.unknown
        && a.shape == b.shape
        && (a.bytes_per_element, a.dtype) == (b.bytes_per_element, b.dtype)
        && (a.k, a.is_across_rows, a.axes) == (b.k, b.is_across_rows, b.axes)
        && a.literals == b.literals
        && a.indexing == b.indexing
        && a.inputs.len() == b.inputs.len()
}
