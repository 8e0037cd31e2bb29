//! The kernels of a program as a sequence that can be searched for repetitions.

use fuseline_core::{Graph, IdVec, KernelId, OpId, Partition, TensorId};
use hashbrown::HashMap;
use rustc_hash::{FxBuildHasher, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// The base of the rolling hash: odd, with its bits spread.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Ops and kernels in the order in which they run.
pub(super) struct Sequence<'a> {
    pub(super) graph: &'a Graph,
    pub(super) partition: &'a Partition,
    /// All ops, kernel by kernel.
    ops: Vec<OpId>,
    /// For each op its place in `ops`.
    place: IdVec<OpId, usize>,
    /// For each kernel the place of its first op; at last the number of ops.
    starts: Vec<usize>,
    /// A hash of each kernel, without what it reads from others.
    hashes: Vec<u64>,
    /// Hashes of the first kernels, from none to all.
    prefixes: Vec<u64>,
    /// Powers of [`BASE`].
    powers: Vec<u64>,
    /// For each kernel the next one of the same hash.
    next: Vec<Option<usize>>,
    /// For each kernel the number of tensors that are written before it and read by it or later.
    live: Vec<usize>,
}

impl<'a> Sequence<'a> {
    /// `O(ops + reads)`.
    pub(super) fn new(graph: &'a Graph, partition: &'a Partition) -> Self {
        let kernels = partition.kernels.len();
        let mut ops = Vec::with_capacity(graph.ops.len());
        let mut place = IdVec::from_elem(0, graph.ops.len());
        let mut starts = vec![0];
        for members in partition.kernels.iter() {
            for &op in members {
                place[op] = ops.len();
                ops.push(op);
            }
            starts.push(ops.len());
        }
        let mut sequence = Self {
            graph,
            partition,
            ops,
            place,
            starts,
            hashes: Vec::with_capacity(kernels),
            prefixes: vec![0],
            powers: vec![1],
            next: vec![None; kernels],
            live: Vec::new(),
        };
        for kernel in 0..kernels {
            let hash = sequence.hash_of(kernel);
            let rolled = last(&sequence.prefixes)
                .wrapping_mul(BASE)
                .wrapping_add(hash);
            let power = last(&sequence.powers).wrapping_mul(BASE);
            sequence.hashes.push(hash);
            sequence.prefixes.push(rolled);
            sequence.powers.push(power);
        }
        let mut seen: HashMap<u64, usize, FxBuildHasher> = HashMap::default();
        for (kernel, &hash) in sequence.hashes.iter().enumerate().rev() {
            if let Some(next) = sequence.next.get_mut(kernel) {
                *next = seen.insert(hash, kernel);
            }
        }
        sequence.live = sequence.count_live();
        sequence
    }

    pub(super) const fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The place of the first op of a kernel; behind all ops for the kernel behind the last one.
    pub(super) fn start(&self, kernel: usize) -> usize {
        self.starts.get(kernel).copied().unwrap_or(self.ops.len())
    }

    pub(super) fn op(&self, place: usize) -> Option<OpId> {
        self.ops.get(place).copied()
    }

    pub(super) fn place(&self, op: OpId) -> usize {
        self.place.get(op).copied().unwrap_or(usize::MAX)
    }

    /// The next kernel of the same hash.
    pub(super) fn next(&self, kernel: usize) -> Option<usize> {
        self.next.get(kernel).copied().flatten()
    }

    /// How many tensors lead across the start of a kernel.
    pub(super) fn live(&self, kernel: usize) -> usize {
        self.live.get(kernel).copied().unwrap_or(0)
    }

    /// How many kernels from `a` on have the hashes of those from `b` on, where `a < b`.
    /// Logarithmic.
    pub(super) fn common(&self, a: usize, b: usize) -> usize {
        let (mut least, mut most) = (0, self.len().saturating_sub(b));
        // If a prefix is equal, so are all shorter ones. Comparing op by op finds out equal hashes
        // of unequal kernels.
        while least < most {
            let middle = most - (most - least) / 2;
            if self.hash(a..a + middle) == self.hash(b..b + middle) {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        least
    }

    fn hash(&self, kernels: Range<usize>) -> Option<u64> {
        let before = self.prefixes.get(kernels.start)?;
        let all = self.prefixes.get(kernels.end)?;
        let power = self.powers.get(kernels.len())?;
        Some(all.wrapping_sub(before.wrapping_mul(*power)))
    }

    /// Ops of a kernel with the reads inside it. Where the other reads lead is seen when two
    /// kernels are compared.
    fn hash_of(&self, kernel: usize) -> u64 {
        let id = KernelId::new(kernel);
        let mut hasher = FxHasher::default();
        for &op in &self.partition.kernels[id] {
            let definition = &self.graph.ops[op];
            (definition.op_type, &definition.function, &definition.shape).hash(&mut hasher);
            (definition.bytes_per_element, definition.k).hash(&mut hasher);
            for &tensor in &self.graph.inputs[op] {
                let producer = self.graph.tensors[tensor].producer;
                let inside = producer.filter(|&p| self.partition.kernel_of[p] == id);
                // From the op back to what it reads; 0 for a tensor from elsewhere.
                let back = inside.map_or(0, |p| self.place(op).wrapping_sub(self.place(p)));
                (back as u64).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    fn count_live(&self) -> Vec<usize> {
        let mut changes = vec![0_isize; self.len() + 1];
        for (tensor, readers) in self.graph.consumers.iter_enumerated() {
            let Some(live) = self.live_range(tensor, readers) else {
                continue;
            };
            for (kernel, change) in [(live.start, 1), (live.end, -1)] {
                if let Some(at) = changes.get_mut(kernel) {
                    *at += change;
                }
            }
        }
        let mut count = 0;
        let counts = changes.iter().map(|change| {
            count += change;
            count.unsigned_abs()
        });
        counts.collect()
    }

    /// The kernels at whose starts a produced tensor waits for a reader.
    fn live_range(&self, tensor: TensorId, readers: &[OpId]) -> Option<Range<usize>> {
        let producer = self.graph.tensors[tensor].producer?;
        let kernel = |op: OpId| self.partition.kernel_of[op].index();
        let end = readers.iter().map(|&reader| kernel(reader)).max()? + 1;
        let start = kernel(producer) + 1;
        (start < end).then_some(start..end)
    }
}

fn last(list: &[u64]) -> u64 {
    list.last().copied().unwrap_or(0)
}
