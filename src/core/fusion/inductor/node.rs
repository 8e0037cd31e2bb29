//! Nodes of the scheduler, and what they access.

use super::view::{AccessedElements, Loops, View};
pub(super) use crate::fusion::decision::NodeId;
use crate::fusion::loops::Loop;
use crate::model::graph::{Graph, Tensor};
use crate::model::ids::{OpId, TensorId, define_ids};

define_ids! {
    /// The buffer of a tensor or, after all tensors, one that no tensor names: row values, halves
    /// of reductions, copies.
    pub(super) struct BufferId;
}

impl BufferId {
    pub(super) const fn of_tensor(tensor: TensorId) -> Self {
        Self::new(tensor.index())
    }

    /// The tensor that it holds, if it is one of the program.
    pub(super) fn tensor(self, graph: &Graph) -> Option<&Tensor> {
        graph.tensors.get(TensorId::new(self.index()))
    }
}

/// A node of the scheduler; it writes one buffer.
#[derive(Clone, Debug)]
pub(super) struct SchedulerNode {
    pub(super) space: Loop,
    /// The ops that it computes, inlined ones included; empty for the second half of a reduction
    /// and for some copies, which are launches of the kernel that they belong to.
    pub(super) ops: Vec<OpId>,
    /// Its reads, ascending and each once.
    pub(super) reads: Vec<BufferAccess>,
    pub(super) writes: BufferAccess,
    /// The rows that it reduces, before they were cut into pieces.
    pub(super) rows: Option<ReducedRows>,
    /// How many nodes of the compiler this one stands for that read the same.
    pub(super) readings: u32,
    /// Its pieces wait for each other through a buffer, which is filled with zeros first
    /// (`SplitScan`).
    pub(super) waits: bool,
    /// If it computes no op and reads nothing that one writes, the buffer with whose kernel its
    /// launch counts.
    pub(super) launch_of: Option<BufferId>,
}

impl Default for SchedulerNode {
    fn default() -> Self {
        Self {
            space: Loop::Library,
            ops: Vec::new(),
            reads: Vec::new(),
            writes: BufferAccess {
                buffer: BufferId::new(0),
                access: AccessedElements::Unknown,
                bytes: 0,
                loops: Loops::default(),
                is_straight: false,
                is_flat: false,
                tile: None,
            },
            rows: None,
            readings: 1,
            waits: false,
            launch_of: None,
        }
    }
}

/// A buffer, and what of it is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BufferAccess {
    pub(super) buffer: BufferId,
    /// A reader and a writer, or two readers, can share a kernel if their accesses are equal.
    pub(super) access: AccessedElements,
    pub(super) bytes: u64,
    pub(super) loops: Loops,
    /// Elements are accessed in the order of the buffer.
    pub(super) is_straight: bool,
    /// Elements are accessed in the order of the buffer, without a gap.
    pub(super) is_flat: bool,
    /// If neighbours in the buffer are not those of the innermost loop, the size of the loops down
    /// to where they are.
    pub(super) tile: Option<u64>,
}

/// The rows of a reduction as a program states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReducedRows {
    pub(super) count: u64,
    pub(super) width: u64,
    /// Neighbours of a row are neighbours in memory, in all that is read.
    pub(super) is_contiguous: bool,
    /// The reduction is a sum or a mean.
    pub(super) is_sum: bool,
}

impl ReducedRows {
    /// Elements of all rows together.
    pub(super) const fn elements(self) -> u64 {
        self.count.saturating_mul(self.width)
    }
}

impl BufferAccess {
    /// An access in a loop over a shape; elements have `width` bytes.
    pub(super) fn of(buffer: BufferId, view: Option<&View>, shape: &[u64], width: u32) -> Self {
        let access = view.map_or(AccessedElements::Unknown, |view| view.access(shape));
        let elements = view.map_or(0, View::elements);
        Self {
            buffer,
            access,
            bytes: elements.saturating_mul(width.into()),
            loops: view.map_or(Loops::default(), |view| view.loops(shape)),
            is_straight: view.is_some_and(View::is_straight),
            is_flat: view.is_some_and(View::is_flat),
            tile: view
                .filter(|_| access != AccessedElements::Unknown)
                .and_then(View::tile),
        }
    }

    /// Whether the compiler sees that two accesses are the same: of as many loops, only if it can
    /// bring them into one order.
    pub(super) fn matches(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && self.access != AccessedElements::Unknown
            && self.access == other.access
            && (self.loops.count != other.loops.count || self.loops == other.loops)
    }
}

impl SchedulerNode {
    /// The size of the outer one of two loops that its kernel runs over, if its accesses differ in
    /// their innermost dimension.
    pub(super) fn tiles(&self) -> impl Iterator<Item = u64> {
        let reads = self.reads.iter().filter(|_| self.writes.is_straight);
        reads.filter_map(|read| read.tile)
    }

    /// This node with a buffer of this shape as its output.
    pub(super) fn writing(self, buffer: BufferId, view: &View, shape: &[u64], width: u32) -> Self {
        Self {
            writes: BufferAccess::of(buffer, Some(view), shape, width),
            ..self
        }
    }
}
