//! Whether iterations of kernels are equal in full: their ops, what these read, and who reads what
//! they write.

use super::sequence::Sequence;
use super::{CarriedTensor, MIN_ITERATIONS, Repeat, is_equal_op};
use fuseline_core::{Graph, KernelId, OpId, TensorId};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Steps that comparing may still take. A program that deceives the hashes on purpose costs no more
/// than another one.
pub(super) struct Budget {
    steps: usize,
}

impl Budget {
    /// Several times what a program of equal blocks needs.
    pub(super) fn of(graph: &Graph) -> Self {
        let reads: usize = graph.inputs.iter().map(<[TensorId]>::len).sum();
        Self {
            steps: 1_000 + 32 * (graph.ops.len() + reads),
        }
    }

    pub(super) const fn is_spent(&self) -> bool {
        self.steps == 0
    }

    fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps);
    }
}

/// As many of the `iterations` iterations of `period` kernels as are equal; `None` for too few, or
/// where no way leads through them.
pub(super) fn checked(
    sequence: &Sequence<'_>,
    first: usize,
    period: usize,
    iterations: usize,
    budget: &mut Budget,
) -> Option<Repeat> {
    let start = sequence.start(first);
    let mut check = Check {
        sequence,
        start,
        length: sequence.start(first + period) - start,
        partner: Partners::default(),
        partner_back: Partners::default(),
        carried: Vec::new(),
    };
    let mut equal = 1;
    while equal < iterations && !budget.is_spent() && check.is_next_equal(first, period, equal) {
        budget.spend(check.steps_of(equal));
        equal += 1;
    }
    budget.spend(check.length);
    let iterations = check.equally_read(equal, budget);
    (iterations >= MIN_ITERATIONS && check.is_chain()).then(|| Repeat {
        carried: check.carried,
        ..Repeat::new(first, period, iterations)
    })
}

/// For a tensor another one.
type Partners = HashMap<TensorId, TensorId, FxBuildHasher>;

/// Iterations that are compared with each other.
struct Check<'a> {
    sequence: &'a Sequence<'a>,
    /// Place of the first op.
    start: usize,
    /// Ops of an iteration.
    length: usize,
    /// Tensors of an iteration that have their own in each iteration, such as weights: from an
    /// iteration to the one before, and back.
    partner: Partners,
    partner_back: Partners,
    carried: Vec<CarriedTensor>,
}

impl Check<'_> {
    fn graph(&self) -> &Graph {
        self.sequence.graph
    }

    fn ops_of(&self, iteration: usize) -> impl Iterator<Item = OpId> + use<'_> {
        let start = self.start + iteration * self.length;
        (start..start + self.length).filter_map(|place| self.sequence.op(place))
    }

    /// Steps of the budget that comparing an iteration takes.
    fn steps_of(&self, iteration: usize) -> usize {
        let reads = self
            .ops_of(iteration)
            .map(|op| self.graph().inputs[op].len());
        reads.sum::<usize>() + self.length
    }

    /// Whether an iteration equals the one before it. `iteration` is at least 1.
    fn is_next_equal(&mut self, first: usize, period: usize, iteration: usize) -> bool {
        let partition = self.sequence.partition;
        let later = first + iteration * period;
        for kernel in later..later + period {
            let (kernel, before) = (KernelId::new(kernel), KernelId::new(kernel - period));
            let further = |kernel| partition.further_launches_of(kernel);
            let again = |kernel| &partition.recomputed[kernel];
            if partition.kernels[kernel].len() != partition.kernels[before].len()
                || further(kernel) != further(before)
                || again(kernel).len() != again(before).len()
                || !(again(kernel).iter().zip(again(before)))
                    .all(|(&op, &other)| self.is_shifted_or_same(op, other))
            {
                return false;
            }
        }
        let sequence = self.sequence;
        let start = self.start + iteration * self.length;
        (start..start + self.length).all(|place| {
            let ops = sequence.op(place).zip(sequence.op(place - self.length));
            ops.is_some_and(|(op, before)| self.is_equal(op, before, start))
        })
    }

    fn is_shifted_or_same(&self, op: OpId, other: OpId) -> bool {
        op == other || self.sequence.place(op) == self.sequence.place(other) + self.length
    }

    /// Whether an op of the iteration that starts at `start` equals the one an iteration before.
    fn is_equal(&mut self, op: OpId, before: OpId, start: usize) -> bool {
        let graph = self.sequence.graph;
        is_equal_op(&graph.ops[op], &graph.ops[before])
            && (graph.inputs[op].iter().zip(&graph.inputs[before]))
                .all(|(&tensor, &other)| self.is_equal_read(tensor, other, start))
    }

    /// Whether an op of the iteration that starts at `start` reads `tensor` as its equal in the
    /// iteration before reads `other`.
    fn is_equal_read(&mut self, tensor: TensorId, other: TensorId, start: usize) -> bool {
        let graph = self.sequence.graph;
        let place_of = |tensor: TensorId| {
            let producer = graph.tensors[tensor].producer;
            producer.map(|producer| self.sequence.place(producer))
        };
        match (place_of(tensor), place_of(other)) {
            // In this iteration, or in the one before.
            (Some(place), place_of_other) if place >= self.start => {
                let length = self.length;
                if place + length < start {
                    return false;
                }
                match place
                    .checked_sub(length)
                    .filter(|&place| place >= self.start)
                {
                    Some(expected) => place_of_other == Some(expected),
                    // The first iteration reads what comes before all iterations instead.
                    None => {
                        place_of_other.is_none_or(|place| place < self.start)
                            && (is_equal_tensor(graph, tensor, other)
                                || graph.tensor_shape(other).is_none())
                            && self.carry(tensor, other)
                    }
                }
            }
            (Some(_), _) => tensor == other,
            (None, Some(_)) => false,
            (None, None) => {
                tensor == other
                    || is_equal_tensor(graph, tensor, other)
                        && graph.consumers[tensor].len() == graph.consumers[other].len()
                        && self.pair(tensor, other)
            }
        }
    }

    /// Notes that the second iteration reads `tensor` from the first one, and the first one
    /// `enters` in its place.
    fn carry(&mut self, tensor: TensorId, enters: TensorId) -> bool {
        let Some(producer) = self.graph().tensors[tensor].producer else {
            return false;
        };
        if !self.partner.contains_key(&tensor) {
            self.carried.push(CarriedTensor { enters, producer });
        }
        self.pair(tensor, enters)
    }

    /// Whether no other tensor is the partner of one of these.
    fn pair(&mut self, tensor: TensorId, other: TensorId) -> bool {
        *self.partner.entry(tensor).or_insert(other) == other
            && *self.partner_back.entry(other).or_insert(tensor) == tensor
    }

    /// Whether a way leads from what an iteration reads from the one before to what it writes for
    /// the next one. Branches beside each other are no iterations, even if a branch of one follows
    /// on the start of the next.
    fn is_chain(&self) -> bool {
        let graph = self.graph();
        let mut reached = vec![false; self.length];
        // The second iteration, because the first one reads what comes before all of them.
        for (index, op) in self.ops_of(1).enumerate() {
            let is_reached = graph.predecessors[op].iter().any(|&producer| {
                match self.sequence.place(producer).checked_sub(self.start) {
                    Some(place) if place < self.length => true,
                    Some(place) => reached.get(place - self.length) == Some(&true),
                    None => false,
                }
            });
            if let Some(own) = reached.get_mut(index) {
                *own = is_reached;
            }
        }
        self.carried.iter().any(|carried| {
            let place = self
                .sequence
                .place(carried.producer)
                .checked_sub(self.start);
            place.and_then(|place| reached.get(place)) == Some(&true)
        })
    }

    /// How many iterations the ops after all iterations read equally. They may read the last
    /// iteration as they like.
    fn equally_read(&self, iterations: usize, budget: &mut Budget) -> usize {
        let end = self.start + iterations * self.length;
        let graph = self.graph();
        let readers_behind = |op: OpId| {
            let readers = graph.consumers[graph.output[op]].iter().copied();
            readers.filter(move |&reader| self.sequence.place(reader) >= end)
        };
        let is_result = |op: OpId| graph.is_final(graph.output[op]);
        let mut budget_of = |op: OpId| budget.spend(1 + graph.consumers[graph.output[op]].len());
        for iteration in 1..iterations.saturating_sub(1) {
            let is_equal = (self.ops_of(iteration).zip(self.ops_of(0))).all(|(op, first)| {
                budget_of(op);
                is_result(op) == is_result(first) && readers_behind(op).eq(readers_behind(first))
            });
            if !is_equal {
                // This iteration counts as the last one, which any op may read.
                return iteration + 1;
            }
        }
        iterations
    }
}

/// Whether two tensors have the same size and role.
pub(super) fn is_equal_tensor(graph: &Graph, a: TensorId, b: TensorId) -> bool {
    let (one, other) = (&graph.tensors[a], &graph.tensors[b]);
    let is_external = one.is_external() && other.is_external();
    graph.tensor_shape(a) == graph.tensor_shape(b)
        && (one.bytes_per_element, one.dtype) == (other.bytes_per_element, other.dtype)
        && (!is_external || one.role == other.role)
}
