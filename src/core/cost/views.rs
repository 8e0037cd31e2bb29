//! Free views: ops that only index bytes that are there.

use crate::cost::equal_parts::equal_parts;
use crate::cost::named::Named;
use crate::model::graph::{Graph, SizeSource};
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::options::{Externals, ReshapeCost};
use crate::model::partition::Partition;
use crate::model::sizes::{ReadSize, read_size};
use std::collections::HashMap;

/// For each op whether it is a free view, and for each tensor the tensor whose bytes it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Views {
    /// Whether each op is a free view.
    pub is_view: IdVec<OpId, bool>,
    /// For each tensor the one whose bytes it is, which is itself where it is no view.
    pub base: IdVec<TensorId, TensorId>,
    /// For each view the bytes that it names of its base, at most.
    named: IdVec<TensorId, Option<u64>>,
    /// For each tensor the first one that names the same elements of the same memory.
    equal: IdVec<TensorId, TensorId>,
}

impl Views {
    /// The views of a graph where reshapes cost this. Where ops write a part of a tensor in place,
    /// its reshapes are views in any case: who writes a part does not copy the whole.
    /// `O(n)` in ops and tensors.
    pub fn under(graph: &Graph, reshape: ReshapeCost) -> Self {
        Self::and(graph, reshape, &[], &[])
    }

    /// The views of a graph in the kernels of a partition: what is one under the convention, and
    /// what the policy indexes in a buffer, but for what it writes. `O(n)` in ops and tensors.
    pub fn of_partition(graph: &Graph, reshape: ReshapeCost, partition: &Partition) -> Self {
        Self::and(graph, reshape, &partition.views, &partition.copied_views)
    }

    /// With `indexed`, ascending, which are views under any convention, and without `copied`,
    /// ascending, which are none.
    fn and(graph: &Graph, reshape: ReshapeCost, indexed: &[OpId], copied: &[OpId]) -> Self {
        let mut indexed = indexed.iter().copied().peekable();
        let mut copied = copied.iter().copied().peekable();
        let mut views = Self {
            is_view: (graph.ops.ids())
                .map(|op| reshape.is_free_view(graph, op))
                .collect(),
            base: graph.tensors.ids().collect(),
            named: IdVec::from_elem(None, graph.tensors.len()),
            equal: IdVec::new(),
        };
        let mut named: HashMap<TensorId, Named> = HashMap::new();
        for (op, definition) in graph.ops.iter_enumerated() {
            views.is_view[op] |= indexed.next_if_eq(&op).is_some();
            views.is_view[op] &= copied.next_if_eq(&op).is_none();
            // A part that is put back leads to the value of all of its tensor, a new one.
            if let Some(&input) = graph.inputs[op].first().filter(|_| !definition.in_place)
                && views.is_view[op]
            {
                let output = graph.output[op];
                views.base[output] = views.base[input];
                if let Some(bytes) = graph.tensors[input].bytes() {
                    let own = match graph.tensor_shape(input) {
                        Some(shape) => {
                            let whole = || Named::whole(shape, bytes);
                            let before = named.entry(input).or_insert_with(whole);
                            before.through(definition, shape)
                        }
                        None => Named::whole(&definition.shape, bytes),
                    };
                    views.named[output] = Some(own.bytes);
                    named.insert(output, own);
                }
            }
        }
        views.equal = equal_parts(graph, &views.is_view, &views.base);
        views
    }

    /// The tensor that stands for all that show the same elements in memory: for equal views the
    /// first of them.
    pub(crate) fn shown(&self, tensor: TensorId) -> TensorId {
        if self.base[tensor] == tensor {
            tensor
        } else {
            self.equal[tensor]
        }
    }

    /// The part that an op takes of an input, which equal ops share. It is meaningful where the op
    /// reads a part.
    pub(crate) fn taken(&self, graph: &Graph, op: OpId) -> TensorId {
        self.equal[graph.output[op]]
    }

    /// For each tensor the one that stands for all tensors in its memory. `O(tensors)`.
    pub(crate) fn memory(&self, graph: &Graph) -> IdVec<TensorId, TensorId> {
        let memory = self.base.iter().map(|&base| {
            let shared = graph.tensors[base].in_memory_of;
            shared.map_or(base, |shared| self.base[shared])
        });
        memory.collect()
    }

    /// The most that a kernel reads of a stored tensor, by its name and by views; `None` where the
    /// size is unknown, or a convention makes it that of the reader.
    pub fn most_read(&self, graph: &Graph, stored: TensorId, externals: Externals) -> Option<u64> {
        let known = &graph.tensors[stored];
        let is_own = !known.is_external() || externals == Externals::Declared;
        known.bytes().filter(|_| is_own)
    }

    /// What `op` reads of `tensor` from memory.
    pub fn read(
        &self,
        graph: &Graph,
        op: OpId,
        tensor: TensorId,
        externals: Externals,
    ) -> ReadSize {
        let base = &graph.tensors[self.base[tensor]];
        if base.is_external() && externals == Externals::KnownOnly {
            return ReadSize {
                bytes: 0,
                source: SizeSource::Ignored,
                part_of: None,
            };
        }
        let read = read_size(graph, op, tensor, externals);
        let at_most = |bytes: u64| self.named[tensor].map_or(bytes, |named| bytes.min(named));
        ReadSize {
            bytes: at_most(read.bytes),
            part_of: read.part_of.map(at_most),
            ..read
        }
    }
}
