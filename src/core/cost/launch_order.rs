//! The order of kernels that needs the least memory.
//!
//! Two orders are tried beside the one that is there, as `reorder_for_peak_memory` in
//! `torch/_inductor/memory.py` tries three. Inputs and weights are live in every order.

use crate::cost::traffic::{Access, kernel_traffic};
use crate::cost::views::Views;
use crate::model::adjacency::Adjacency;
use crate::model::graph::{Graph, SizeSource};
use crate::model::ids::{IdVec, KernelId, TensorId, define_ids};
use crate::model::options::Conventions;
use crate::model::partition::Partition;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The share of the present peak that another order must not exceed: for less, kernels stay where
/// the program has them.
const WORTH_IT: f64 = 0.95;

define_ids! {
    struct BufferId;
}

/// Memory that kernels write and read.
struct Buffer {
    bytes: u64,
    /// A result of the program lives to its end.
    is_held: bool,
    /// The kernels that write or read it, ascending; the first allocates it.
    users: Vec<KernelId>,
}

/// What the order of kernels decides on.
struct Launches {
    buffers: IdVec<BufferId, Buffer>,
    /// For each kernel the buffers that it writes or reads.
    uses: Adjacency<KernelId, BufferId>,
    /// For each kernel the bytes that it allocates, and those of the other buffers that it uses.
    allocated: IdVec<KernelId, u64>,
    read: IdVec<KernelId, u64>,
    /// For each kernel those that must run before it, and those that must run after it.
    before: Adjacency<KernelId, KernelId>,
    after: Adjacency<KernelId, KernelId>,
}

/// The partition with its kernels in the order of the least peak found, and the new number of each
/// kernel; `None` where no order that is tried saves enough.
///
/// `O((kernels + reads) log kernels)`.
pub(crate) fn with_least_memory(
    graph: &Graph,
    conventions: Conventions,
    partition: &Partition,
) -> Option<(Partition, IdVec<KernelId, KernelId>)> {
    let launches = Launches::of(graph, conventions, partition);
    let present: Vec<KernelId> = partition.kernels.ids().collect();
    let present_bytes = launches.peak_bytes(&present);
    if present_bytes == launches.least_bytes() {
        return None;
    }
    let others = [launches.by_least_growth(), launches.by_need()];
    let priced = others.map(|order| (launches.peak_bytes(&order), order));
    let (bytes, order) = priced.into_iter().min_by_key(|&(bytes, _)| bytes)?;
    let is_better = (bytes as f64) < present_bytes as f64 * WORTH_IT;
    (is_better && order.len() == present.len()).then(|| {
        let mut number = IdVec::from_elem(KernelId::new(0), order.len());
        for (at, &kernel) in order.iter().enumerate() {
            number[kernel] = KernelId::new(at);
        }
        (partition.renumbered(&number, order.len()), number)
    })
}

impl Launches {
    fn of(graph: &Graph, conventions: Conventions, partition: &Partition) -> Self {
        let views = Views::of_partition(graph, conventions.reshape, partition);
        let memory = views.memory(graph);
        let mut held = IdVec::from_elem(false, graph.tensors.len());
        for &output in graph.output.iter().filter(|&&output| graph.is_held(output)) {
            held[memory[output]] = true;
        }
        let count = partition.kernels.len();
        let mut buffer_of: IdVec<TensorId, Option<BufferId>> =
            IdVec::from_elem(None, graph.tensors.len());
        let mut copy_of = buffer_of.clone();
        let mut launches = Self {
            buffers: IdVec::new(),
            uses: Adjacency::with_capacity(count, count * 2),
            allocated: IdVec::from_elem(0, count),
            read: IdVec::from_elem(0, count),
            before: Adjacency::with_capacity(count, count * 2),
            after: Adjacency::default(),
        };
        for (kernel, traffic) in
            (partition.kernels.ids()).zip(kernel_traffic(graph, partition, conventions))
        {
            let mut used = Vec::new();
            // A copy of an operand lives until the last call that reads it.
            let is_copy = |access: &&Access| access.source == SizeSource::Copied;
            for copy in traffic.writes.iter().filter(is_copy) {
                launches.allocated[kernel] += copy.bytes;
                let buffer = launches.buffers.push(Buffer {
                    bytes: copy.bytes,
                    is_held: false,
                    users: vec![kernel],
                });
                copy_of[copy.tensor] = Some(buffer);
                used.push(buffer);
            }
            for copy in traffic.reads.iter().filter(is_copy) {
                let Some(buffer) = copy_of[copy.tensor] else {
                    continue;
                };
                let of = &mut launches.buffers[buffer];
                if of.users.last() != Some(&kernel) {
                    launches.read[kernel] += of.bytes;
                    of.users.push(kernel);
                    used.push(buffer);
                }
            }
            let accesses = traffic.writes.iter().chain(&traffic.reads);
            for access in accesses.filter(|access| !is_copy(access)) {
                let base = memory[access.tensor];
                if graph.tensors[base].is_external() {
                    continue;
                }
                // Kernels are in an order in which they can run: the first to access it writes it.
                let buffer = *buffer_of[base].get_or_insert_with(|| {
                    launches.buffers.push(Buffer {
                        bytes: graph.tensors[access.tensor].bytes().unwrap_or(0),
                        is_held: held[base],
                        users: Vec::new(),
                    })
                });
                let of = &mut launches.buffers[buffer];
                if of.users.last() != Some(&kernel) {
                    let bytes = if of.users.is_empty() {
                        &mut launches.allocated[kernel]
                    } else {
                        &mut launches.read[kernel]
                    };
                    *bytes += of.bytes;
                    of.users.push(kernel);
                    used.push(buffer);
                }
            }
            launches.uses.push(used);
        }
        launches.relate(graph, partition);
        launches
    }

    fn relate(&mut self, graph: &Graph, partition: &Partition) {
        let again_in = partition.recomputed.inverted(graph.ops.len());
        for kernel in partition.kernels.ids() {
            let own = &partition.kernels[kernel];
            let again = partition.recomputed.get(kernel).unwrap_or_default();
            let computed = own.iter().chain(again);
            let producers = computed
                .flat_map(|&op| &graph.predecessors[op])
                .filter(|&&op| !partition.computes(kernel, op));
            // What is overwritten must have been read by every kernel that runs its readers.
            let readers = own.iter().flat_map(|&op| &graph.waits_for[op]);
            // Any kernel that computes an op may be the one that writes it.
            let needed = producers.chain(readers).flat_map(|&op| {
                let again = again_in.get(op).unwrap_or_default().iter().copied();
                again.chain([partition.kernel_of[op]])
            });
            // The first kernel that computes an op stays the one that it belongs to.
            let homes = again.iter().map(|&op| partition.kernel_of[op]);
            let mut before: Vec<KernelId> = needed.chain(homes).collect();
            // The present order can run, so no kernel needs a later one.
            before.retain(|&other| other < kernel);
            before.sort_unstable();
            before.dedup();
            self.before.push(before);
        }
        self.after = self.before.inverted(partition.kernels.len());
    }

    /// Bytes that are live at once in an order in which the kernels can run.
    fn peak_bytes(&self, order: &[KernelId]) -> u64 {
        let mut state = Live::new(self);
        for &kernel in order {
            state.run(kernel, |_, _| {});
        }
        state.peak_bytes
    }

    /// Every order needs what one kernel accesses, and all results.
    fn least_bytes(&self) -> u64 {
        let of_kernels = (self.allocated.iter().zip(&self.read)).map(|(own, read)| own + read);
        of_kernels.max().unwrap_or(0).max(self.held_bytes())
    }

    fn held_bytes(&self) -> u64 {
        let held = self.buffers.iter().filter(|buffer| buffer.is_held);
        held.map(|buffer| buffer.bytes).sum()
    }

    /// Kernels that can run, and for each the number of kernels that it still waits for.
    fn ready(&self) -> (Vec<KernelId>, IdVec<KernelId, usize>) {
        let missing: IdVec<KernelId, usize> = self.before.iter().map(<[KernelId]>::len).collect();
        let ready = missing
            .iter_enumerated()
            .filter(|&(_, &missing)| missing == 0);
        (ready.map(|(kernel, _)| kernel).collect(), missing)
    }

    /// As `topological_sort_lpmf` of the compiler: of the kernels that can run without a new peak
    /// the one after which the least is live, else the one that allocates the least.
    fn by_least_growth(&self) -> Vec<KernelId> {
        /// Kernels that are looked at before one that raises the peak counts as the only choice:
        /// without a limit the time would be quadratic.
        const LOOKED_AT: usize = 64;
        let mut live = Live::new(self);
        live.peak_bytes = self.held_bytes();
        let mut freed = IdVec::from_elem(0_u64, self.before.len());
        for buffer in self.buffers.iter().filter(|buffer| !buffer.is_held) {
            if let &[only] = &buffer.users[..] {
                freed[only] += buffer.bytes;
            }
        }
        let growth = |kernel: KernelId, freed: &IdVec<KernelId, u64>| {
            self.allocated[kernel].cast_signed() - freed[kernel].cast_signed()
        };
        let (ready, mut missing) = self.ready();
        let mut by_growth: BTreeSet<(i64, KernelId)> = ready
            .iter()
            .map(|&kernel| (growth(kernel, &freed), kernel))
            .collect();
        let mut by_bytes: BTreeSet<(u64, KernelId)> = ready
            .iter()
            .map(|&kernel| (self.allocated[kernel], kernel))
            .collect();
        let mut order = Vec::with_capacity(missing.len());
        while let Some(&(_, least)) = by_bytes.first() {
            let fits = |&&(_, kernel): &&(i64, KernelId)| {
                live.bytes + self.allocated[kernel] <= live.peak_bytes
            };
            let kernel = by_growth.iter().take(LOOKED_AT).find(fits);
            let kernel = kernel.map_or(least, |&(_, kernel)| kernel);
            by_growth.remove(&(growth(kernel, &freed), kernel));
            by_bytes.remove(&(self.allocated[kernel], kernel));
            order.push(kernel);
            live.run(kernel, |last, bytes| {
                // The last kernel that needs a buffer frees it.
                let waits = by_growth.remove(&(growth(last, &freed), last));
                freed[last] += bytes;
                if waits {
                    by_growth.insert((growth(last, &freed), last));
                }
            });
            for &next in &self.after[kernel] {
                missing[next] -= 1;
                if missing[next] == 0 {
                    by_growth.insert((growth(next, &freed), next));
                    by_bytes.insert((self.allocated[next], next));
                }
            }
        }
        order
    }

    /// Each kernel right after those that it needs, and of these first the one that frees the most
    /// when it is done: Sethi and Ullman's order, as if nothing were needed twice.
    fn by_need(&self) -> Vec<KernelId> {
        // For each kernel the memory in which it and all that it needs can run.
        let mut needed = IdVec::from_elem(0_u64, self.before.len());
        let order_of = |kernels: &[KernelId], needed: &IdVec<KernelId, u64>| {
            let mut kernels = kernels.to_vec();
            kernels.sort_by_key(|&kernel| Reverse(needed[kernel] - self.allocated[kernel]));
            kernels
        };
        let mut first: Adjacency<KernelId, KernelId> =
            Adjacency::with_capacity(self.before.len(), self.before.len() * 2);
        for (kernel, before) in self.before.iter_enumerated() {
            let before = order_of(before, &needed);
            let (mut kept, mut most) = (0_u64, 0_u64);
            for &other in &before {
                most = most.max(kept.saturating_add(needed[other]));
                kept = kept.saturating_add(self.allocated[other]);
            }
            needed[kernel] = most.max(kept.saturating_add(self.allocated[kernel]));
            first.push(before);
        }
        let ends = self
            .after
            .iter_enumerated()
            .filter(|(_, after)| after.is_empty());
        let ends: Vec<KernelId> = ends.map(|(kernel, _)| kernel).collect();
        let mut is_seen = IdVec::from_elem(false, self.before.len());
        let mut order = Vec::with_capacity(self.before.len());
        // A stack instead of a recursion: a kernel is pushed again below those that it needs.
        let mut stack = Vec::new();
        let push = |stack: &mut Vec<(KernelId, bool)>, kernels: &[KernelId]| {
            stack.extend(kernels.iter().rev().map(|&kernel| (kernel, false)));
        };
        push(&mut stack, &order_of(&ends, &needed));
        while let Some((kernel, has_all)) = stack.pop() {
            if has_all {
                order.push(kernel);
            } else if !std::mem::replace(&mut is_seen[kernel], true) {
                stack.push((kernel, true));
                push(&mut stack, &first[kernel]);
            }
        }
        order
    }
}

/// The memory that is live while kernels run.
struct Live<'a> {
    launches: &'a Launches,
    bytes: u64,
    peak_bytes: u64,
    /// For each kernel whether it ran.
    ran: IdVec<KernelId, bool>,
    /// For each buffer the number of kernels that still use it.
    users: IdVec<BufferId, usize>,
}

impl<'a> Live<'a> {
    fn new(launches: &'a Launches) -> Self {
        Self {
            launches,
            bytes: 0,
            peak_bytes: 0,
            ran: IdVec::from_elem(false, launches.before.len()),
            users: launches
                .buffers
                .iter()
                .map(|buffer| buffer.users.len())
                .collect(),
        }
    }

    /// Runs a kernel. Calls `last` with each kernel that is now the only one left to use a buffer,
    /// and the bytes that it will free.
    fn run(&mut self, kernel: KernelId, mut last: impl FnMut(KernelId, u64)) {
        self.bytes += self.launches.allocated[kernel];
        self.peak_bytes = self.peak_bytes.max(self.bytes);
        self.ran[kernel] = true;
        for &id in &self.launches.uses[kernel] {
            let buffer = &self.launches.buffers[id];
            self.users[id] -= 1;
            match self.users[id] {
                _ if buffer.is_held => {}
                0 => self.bytes -= buffer.bytes,
                1 => {
                    let mut users = buffer.users.iter();
                    if let Some(&only) = users.find(|&&user| !self.ran[user]) {
                        last(only, buffer.bytes);
                    }
                }
                _ => {}
            }
        }
    }
}
