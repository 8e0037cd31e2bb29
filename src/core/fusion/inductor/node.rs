//! Nodes of the scheduler, and what they access.

use super::value::BufferView;
use super::view::{AccessedElements, Dependency, Loops, View, loop_order};
pub(super) use crate::fusion::decision::NodeId;
use crate::fusion::loops::Loop;
use crate::model::graph::{Graph, Tensor};
use crate::model::ids::{OpId, TensorId, define_ids};
use crate::model::op::element_count;

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
    /// The sizes of its loops, without those of 1, the outermost first.
    pub(super) sizes: Vec<u64>,
    /// Until the loops are ordered.
    pub(super) indices: Option<Indices>,
    /// How each access that a view describes moves along these loops.
    pub(super) moves: Vec<Moves>,
    /// If the node is a norm with its elements, the index of the write in the loops of its
    /// reduction, into whose order the elements are brought.
    pub(super) write_by_rows: Option<Dependency>,
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
    /// If no op of the list stands for its launch, the buffer with whose kernel the launch counts;
    /// `None` for that of what it reads.
    pub(super) launch_of: Option<BufferId>,
    /// The buffers whose memory it overwrites in place, ascending.
    pub(super) overwrites: Vec<BufferId>,
}

impl Default for SchedulerNode {
    fn default() -> Self {
        Self {
            space: Loop::Library,
            sizes: Vec::new(),
            indices: None,
            moves: Vec::new(),
            write_by_rows: None,
            ops: Vec::new(),
            reads: Vec::new(),
            writes: BufferAccess {
                buffer: BufferId::new(0),
                dependency: Dependency::default(),
                rank: 0,
                loads: 1,
                access: AccessedElements::Unknown,
                bytes: 0,
                width: 0,
                step: None,
                loops: Loops::default(),
                is_straight: false,
                is_shifted: false,
                is_flat: false,
            },
            rows: None,
            readings: 1,
            waits: false,
            launch_of: None,
            overwrites: Vec::new(),
        }
    }
}

/// How an access moves along the ordered loops of a node.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    pub(super) buffer: BufferId,
    pub(super) dependency: Dependency,
    /// How far a step of each loop moves.
    pub(super) steps: Vec<u64>,
}

/// A buffer, and what of it is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BufferAccess {
    pub(super) buffer: BufferId,
    pub(super) dependency: Dependency,
    /// A reader and a writer, or two readers, can share a kernel if their accesses are equal.
    pub(super) access: AccessedElements,
    pub(super) bytes: u64,
    /// Bytes of an element.
    pub(super) width: u32,
    /// What identifies the way along a row that a reduction takes through the buffer; 0 if it stays
    /// at one element. `None` if nothing is reduced, or if the way is divided.
    pub(super) step: Option<u64>,
    pub(super) loops: Loops,
    /// Elements are accessed in the order of the buffer.
    pub(super) is_straight: bool,
    /// Whether it begins elsewhere than at the first element.
    pub(super) is_shifted: bool,
    /// Elements are accessed in the order of the buffer, without a gap.
    pub(super) is_flat: bool,
    /// Position among the reads of a node, in the order in which it computes.
    pub(super) rank: usize,
    /// How often the expression of a node loads it; 0 if a write in place only waits for it.
    pub(super) loads: u32,
}

/// What the order of the loops of a node is chosen by.
#[derive(Clone, Debug, Default)]
pub(super) struct Indices {
    pub(super) shape: Vec<u64>,
    /// The bits of the reduced dimensions.
    pub(super) axes: u32,
    /// For each read its index, if a view says it.
    pub(super) reads: Vec<Option<View>>,
    pub(super) write: Option<View>,
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
        let known = view.map_or(AccessedElements::Unknown, |view| view.access(shape));
        let access = view.map_or(known, |view| known.or_divided(view, shape));
        let accesses = view.map_or(0, |view| view.accesses(shape));
        Self {
            buffer,
            dependency: Dependency::opaque(access.number(), shape.len()),
            access,
            bytes: accesses.saturating_mul(width.into()),
            width,
            step: None,
            loops: view.map_or(Loops::default(), |view| view.loops(shape)),
            is_straight: view.is_some_and(View::is_straight),
            is_shifted: view.is_some_and(|view| view.start() != Some(0)),
            is_flat: view.is_some_and(View::is_flat),
            rank: 0,
            loads: 1,
        }
    }

    /// A read in a loop over a shape, which reduces along the axes of these bits.
    pub(super) fn of_read(read: &BufferView, shape: &[u64], axes: u32, width: u32) -> Self {
        let seen = Self::of(read.buffer, read.view.as_ref(), shape, width);
        let step = read.view.as_ref().and_then(|view| view.step(shape, axes));
        let Some(index) = read.hidden else {
            return Self { step, ..seen };
        };
        // An index that no digits describe equals the index of another reader through the same op
        // in the same loops.
        let elements = element_count(shape).unwrap_or(0);
        let access = AccessedElements::hidden(index, shape);
        Self {
            dependency: Dependency::opaque(access.number(), shape.len()),
            access,
            bytes: elements.saturating_mul(width.into()),
            step: (axes != 0).then_some(axes.into()),
            ..seen
        }
    }

    /// The wait of a write in place for a buffer that is computed from what it overwrites.
    pub(super) fn wait(buffer: BufferId) -> Self {
        Self {
            loads: 0,
            ..Self::of(buffer, None, &[], 0)
        }
    }

    pub(super) const fn is_wait(&self) -> bool {
        self.loads == 0
    }

    /// Elements that are accessed.
    pub(super) fn elements(&self) -> u64 {
        self.bytes / u64::from(self.width.max(1))
    }

    /// Whether the compiler sees that two accesses are the same: of as many loops, only if it can
    /// bring them into one order.
    pub(super) fn matches(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && self.access != AccessedElements::Unknown
            && self.access == other.access
            && (self.step.is_none() || other.step.is_none() || self.step == other.step)
            && (self.loops.count != other.loops.count || self.loops == other.loops)
    }
}

impl SchedulerNode {
    /// The op whose output its buffer holds, if the node computes it.
    pub(super) fn output(&self, graph: &Graph) -> Option<OpId> {
        let producer = self.writes.buffer.tensor(graph)?.producer;
        producer.filter(|op| self.ops.contains(op))
    }

    /// Whether its loops can be cut and joined to so many rows of a width. Source: `is_compatible`
    /// in `torch/_inductor/codegen/simd.py`.
    pub(super) fn has_rows(&self, rows: u64, width: u64) -> bool {
        let mut left = rows;
        let mut inner = width;
        for &size in &self.sizes {
            if left > 1 {
                let (large, small) = (size.max(left), size.min(left));
                if small == 0 || !large.is_multiple_of(small) {
                    return false;
                }
                // A loop that is longer than what is left of the rows reaches into them.
                let reach = size / small;
                left /= small;
                if reach > 1 {
                    if !inner.is_multiple_of(reach) {
                        return false;
                    }
                    inner /= reach;
                }
            } else if size == 0 || !inner.is_multiple_of(size) {
                return false;
            } else {
                inner /= size;
            }
        }
        true
    }

    /// The size of the outer one of two loops that its kernel runs over, if its accesses differ in
    /// their innermost dimension.
    pub(super) fn tiles(&self) -> impl Iterator<Item = u64> {
        let sizes = self.sizes.iter().copied();
        let loops = move |moves: &Moves| View::of_loops(sizes.clone().zip(moves.steps.clone()));
        self.moves
            .iter()
            .filter_map(move |moves| loops(moves).tile())
    }

    /// The same, where the loops are brought into another order, given by their present positions.
    pub(super) fn tiles_in(&self, order: &[usize]) -> impl Iterator<Item = u64> {
        self.moves.iter().filter_map(|moves| {
            let loops = order.iter().filter_map(|&at| {
                let (size, step) = (self.sizes.get(at)?, moves.steps.get(at)?);
                Some((*size, *step))
            });
            View::of_loops(loops).tile()
        })
    }

    /// This node with its loops in another order, given by their present positions. An index that
    /// loops and steps do not tell stays as it is.
    pub(super) fn in_order(&self, order: &[usize]) -> Self {
        fn ordered(of: &[u64], order: &[usize]) -> Vec<u64> {
            order.iter().filter_map(|&at| of.get(at).copied()).collect()
        }
        let index = |sizes: &[u64], steps: &[u64]| {
            let loops = sizes.iter().copied().zip(steps.iter().copied());
            Dependency::of_loops(&loops.collect::<Vec<_>>())
        };
        let sizes = ordered(&self.sizes, order);
        let mut node = self.clone();
        for (moves, before) in node.moves.iter_mut().zip(&self.moves) {
            moves.steps = ordered(&before.steps, order);
            if index(&self.sizes, &before.steps) == before.dependency {
                moves.dependency = index(&sizes, &moves.steps);
            }
            for access in node.reads.iter_mut().chain([&mut node.writes]) {
                if access.buffer == before.buffer && access.dependency == before.dependency {
                    access.dependency = moves.dependency;
                }
            }
        }
        node.reads.sort_unstable();
        node.sizes = sizes;
        node
    }

    /// This node with a buffer of this shape as its output.
    pub(super) fn writing(self, buffer: BufferId, view: &View, shape: &[u64], width: u32) -> Self {
        let mut node = Self {
            writes: BufferAccess::of(buffer, Some(view), shape, width),
            ..self
        };
        if let Some(indices) = &mut node.indices {
            indices.write = Some(view.clone());
        }
        node
    }

    /// Adds the reads of another node, whose write takes the place of this one's.
    pub(super) fn take_accesses(&mut self, mut other: Self) {
        other.order_loops();
        let step = self.writes.step;
        self.write_by_rows = Some(self.writes.dependency);
        let known = |read: &BufferAccess| {
            let same = |own: &BufferAccess| own.dependency == read.dependency;
            self.reads
                .iter()
                .any(|own| own.buffer == read.buffer && same(own))
        };
        other.reads.retain(|read| !known(read));
        self.reads.extend(other.reads);
        self.reads.sort_unstable();
        self.moves.extend(other.moves);
        self.writes = BufferAccess {
            step,
            ..other.writes
        };
    }

    /// Nests the loops as the compiler does, and finds the index of each access in them.
    pub(super) fn order_loops(&mut self) {
        let Some(Indices {
            shape,
            axes,
            reads,
            write,
        }) = self.indices.take()
        else {
            return;
        };
        let is_reduced = |dimension: usize| dimension < 32 && axes >> dimension & 1 == 1;
        let sized = || (0..shape.len()).filter(|&at| shape.get(at).is_some_and(|&size| size > 1));
        let kept: Vec<usize> = sized().filter(|&at| !is_reduced(at)).collect();
        let reduced: Vec<usize> = sized().filter(|&at| is_reduced(at)).collect();
        let rows = kept.iter().filter_map(|&at| shape.get(at));
        let rows = rows.fold(1_u64, |n, &size| n.saturating_mul(size));
        if let Loop::Reduction { rows: count, .. } = self.space
            && rows != count
        {
            // Groups of channels, whose rows are no dimensions.
            return;
        }
        // A value of each row has the dimensions of the rows, each value of a row all of them.
        let is_of_rows = self.writes.step == Some(0) || axes != 0 && self.writes.step.is_none();
        let written: Vec<u64> = (shape.iter().enumerate())
            .map(|(at, &size)| {
                if is_of_rows && is_reduced(at) {
                    1
                } else {
                    size
                }
            })
            .collect();
        let mut steps = Vec::with_capacity(reads.len() + 1);
        // The memory of row values is laid out as what is reduced, so that it decides nothing.
        let deciding = write.as_ref().filter(|_| !is_of_rows);
        steps.extend(deciding.map(|view| (view.steps(&written), 1)));
        for (read, seen) in self.reads.iter().zip(&reads) {
            steps.extend(seen.iter().map(|view| (view.steps(&shape), read.loads)));
        }
        let is_fixed = matches!(self.space, Loop::Library | Loop::Template(_));
        let order = if is_fixed {
            kept
        } else {
            [loop_order(&kept, &steps), loop_order(&reduced, &steps)].concat()
        };
        let nested = order.iter().filter_map(|&at| shape.get(at).copied());
        self.sizes = nested.collect();
        let steps = |view: &View, shape: &[u64]| {
            let steps = view.steps(shape);
            let ordered = order.iter().filter_map(|&at| steps.get(at).copied());
            ordered.collect()
        };
        if let Some(view) = write {
            self.moves.push(Moves {
                buffer: self.writes.buffer,
                dependency: view.dependency(&written, &order),
                steps: steps(&view, &written),
            });
            self.writes.dependency = view.dependency(&written, &order);
            self.writes.loops = view.loops(&written);
        }
        for (read, seen) in self.reads.iter_mut().zip(&reads) {
            if let Some(view) = seen {
                read.dependency = view.dependency(&shape, &order);
                self.moves.push(Moves {
                    buffer: read.buffer,
                    dependency: read.dependency,
                    steps: steps(view, &shape),
                });
            } else if read.access != AccessedElements::Unknown {
                read.dependency = read.dependency.nested(&order);
            }
        }
    }
}
