//! Paths between two kernels through others.

use crate::analysis::Analysis;
use crate::model::ids::{IdVec, KernelId, OpId};
use std::cell::RefCell;

/// Finds paths between kernels of one analysis.
pub(super) struct Detours<'a> {
    analysis: &'a Analysis,
    /// Kept for the next question, so that a question costs no more than the kernels that it
    /// visits.
    visited: RefCell<Visited>,
}

/// For each kernel the question that visited it last, by its number, and the step that leads on
/// from there.
struct Visited {
    questions: usize,
    towards: IdVec<KernelId, (usize, Option<Step>)>,
}

/// The next kernel of a path, and the edge that leads to it.
#[derive(Clone, Copy)]
struct Step {
    next: KernelId,
    producer: OpId,
    consumer: OpId,
}

impl<'a> Detours<'a> {
    /// `O(kernels)`.
    pub(super) fn new(analysis: &'a Analysis) -> Self {
        let kernels = analysis.partition.kernels.len();
        Self {
            analysis,
            visited: RefCell::new(Visited {
                questions: 0,
                towards: IdVec::from_elem((0, None), kernels),
            }),
        }
    }

    /// The ops of a path from a kernel to a later one through other kernels: merged, the two would
    /// form a cycle with these. Visits the kernels between them that the later one depends on.
    pub(super) fn path_around(&self, first: KernelId, last: KernelId) -> Option<Vec<OpId>> {
        let mut visited = self.visited.borrow_mut();
        visited.questions += 1;
        let mut waiting = vec![last];
        // Backwards from the later kernel, through what it depends on.
        while let Some(kernel) = waiting.pop() {
            for (producer, consumer) in self.reads_of(kernel) {
                let from = self.analysis.partition.kernel_of[producer];
                let is_direct = kernel == last && from == first;
                // Kernels are numbered in an order in which they can run, so every kernel of a path
                // has a number between the two. The direct edge is no detour: merging keeps it
                // inside.
                if from < first || from >= last || is_direct || visited.is_known(from) {
                    continue;
                }
                let question = visited.questions;
                let step = Step {
                    next: kernel,
                    producer,
                    consumer,
                };
                visited.towards[from] = (question, Some(step));
                if from == first {
                    return Some(visited.path(first, last));
                }
                waiting.push(from);
            }
        }
        None
    }

    /// The edges from other kernels to this one: producer and consumer.
    fn reads_of(&self, kernel: KernelId) -> impl Iterator<Item = (OpId, OpId)> + '_ {
        let (graph, partition) = (&self.analysis.graph, &self.analysis.partition);
        let own = partition.kernels[kernel].iter();
        own.chain(&partition.recomputed[kernel])
            .flat_map(move |&op| {
                let producers = graph.predecessors[op].iter();
                producers.map(move |&producer| (producer, op))
            })
            .filter(move |&(producer, _)| !partition.computes(kernel, producer))
    }
}

impl Visited {
    /// Whether the present question has visited the kernel.
    fn is_known(&self, kernel: KernelId) -> bool {
        self.towards[kernel].0 == self.questions
    }

    /// The ops along the path from the first kernel on.
    fn path(&self, first: KernelId, last: KernelId) -> Vec<OpId> {
        let mut ops = Vec::new();
        let mut kernel = first;
        while kernel != last
            && let (_, Some(step)) = self.towards[kernel]
        {
            if ops.last() != Some(&step.producer) {
                ops.push(step.producer);
            }
            ops.push(step.consumer);
            kernel = step.next;
        }
        ops
    }
}
