//! Why an edge is not fused: a reason with its figures, and what fusing it alone would save.
//!
//! Computed on demand, not with every analysis.

mod policy_graph;
mod price;
mod refusals;

pub use crate::core::analysis::why::price::{Price, Prices};

use crate::core::analysis::Analysis;
use crate::core::analysis::why::policy_graph::PolicyGraph;
use crate::core::analysis::why::refusals::Refusals;
use crate::core::fusion::inductor::library_call;
use crate::core::fusion::legality::check_in;
use crate::core::fusion::reason::Reason;
use crate::core::model::ids::{KernelId, OpId, TensorId};
use crate::core::model::options::Policy;
use std::cell::OnceCell;

/// A tensor between the op that writes it and an op that reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The op that writes it.
    pub producer: OpId,
    /// The op that reads it.
    pub consumer: OpId,
    /// The tensor.
    pub tensor: TensorId,
    /// Whether it stays inside a kernel.
    pub verdict: Verdict,
}

/// Whether two ops run in one kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// They run in one kernel.
    Fused,
    /// They do not.
    Apart {
        /// Why.
        reason: Reason,
        /// What merging their two kernels would save, whether that is allowed or not.
        price: Price,
    },
}

/// Answers about one analysis. Made in `O(ops + reads)`.
pub struct Why<'a> {
    analysis: &'a Analysis,
    policy_graph: PolicyGraph,
    prices: Prices<'a>,
    /// The refusals of the policy, computed on first use.
    refusals: OnceCell<Refusals>,
}

impl<'a> Why<'a> {
    /// Prepares to answer.
    pub fn new(analysis: &'a Analysis) -> Self {
        Self {
            analysis,
            policy_graph: PolicyGraph::new(analysis),
            prices: Prices::new(analysis),
            refusals: OnceCell::new(),
        }
    }

    /// Every edge between two ops, by consumer in execution order, each once with its verdict.
    ///
    /// An edge between two kernels takes `O(ops^2 + reads)` of these kernels, of at most 64 ops, and looks at
    /// the kernels between them.
    pub fn edges(&self) -> Vec<Edge> {
        let graph = &self.analysis.graph;
        let mut edges = Vec::new();
        for consumer in graph.ops.ids() {
            for &producer in &graph.predecessors[consumer] {
                edges.push(Edge {
                    producer,
                    consumer,
                    tensor: graph.output[producer],
                    verdict: self.ask(producer, consumer),
                });
            }
        }
        edges
    }

    /// What keeps two ops apart, given in either order. They need not share a tensor.
    pub fn ask(&self, first: OpId, second: OpId) -> Verdict {
        let partition = &self.analysis.partition;
        let (first, second) = (first.min(second), first.max(second));
        if partition.computes(partition.kernel_of[second], first) {
            return Verdict::Fused;
        }
        let (a, b) = (partition.kernel_of[first], partition.kernel_of[second]);
        let price = self.prices.merged(a, b);
        let reason = match self.analysis.options.policy {
            Policy::Inductor => self.compilers(a, b),
            Policy::Rules => self
                .rules(first, second)
                .or_else(|| self.forbidden(a, b))
                .unwrap_or(Reason::NotLookedAt),
            policy => self.forbidden(a, b).unwrap_or(match policy {
                Policy::Optimal if !self.prices.is_gain(price) => Reason::NotWorthIt,
                Policy::Manual => Reason::NotStated,
                _ => Reason::NotLookedAt,
            }),
        };
        Verdict::Apart { reason, price }
    }

    fn refusals(&self) -> &Refusals {
        self.refusals.get_or_init(|| Refusals::of(self.analysis))
    }

    /// Why the baseline rules kept two ops apart. For ops without a common edge it is an edge between their kernels;
    /// `None` if there is none.
    fn rules(&self, first: OpId, second: OpId) -> Option<Reason> {
        let kernel_of = &self.analysis.partition.kernel_of;
        let (a, b) = (kernel_of[first], kernel_of[second]);
        // The rules decide about the ops of their graph, where attention is one op.
        let decided =
            [first, second].map(|op| self.policy_graph.original_op(self.policy_graph.op(op)));
        self.refusals().of_edge(a, b, decided).cloned()
    }

    /// The compiler's own reason, which legality has no part in.
    fn compilers(&self, a: KernelId, b: KernelId) -> Reason {
        if let Some(reason) = self.refusals().last(a, b) {
            return reason.clone();
        }
        let (analysis, of_kernel) = (self.analysis, &self.analysis.partition.kernels);
        let max_autotune = analysis.options.fusion.max_autotune;
        let call =
            |kernel: KernelId| library_call(&analysis.graph, &of_kernel[kernel], max_autotune);
        match call(a).or_else(|| call(b)) {
            Some(matmul) => Reason::LibraryCall { matmul },
            None => Reason::NotCompared,
        }
    }

    /// What merging two kernels by hand would save; nothing for a kernel and itself. `O(ops + reads)`.
    ///
    /// # Errors
    /// Why they may not be merged.
    pub fn merge(&self, a: KernelId, b: KernelId) -> Result<Price, Reason> {
        if a == b {
            return Ok(Price::default());
        }
        match self.forbidden(a, b) {
            Some(reason) => Err(reason),
            None => Ok(self.prices.merged(a, b)),
        }
    }

    /// Why two kernels may not be one.
    fn forbidden(&self, a: KernelId, b: KernelId) -> Option<Reason> {
        let policy_graph = &self.policy_graph;
        let kernels = &self.analysis.partition.kernels;
        let ops = policy_graph.ops(&[&kernels[a], &kernels[b]].concat());
        let checked = check_in(&policy_graph.context(self.analysis), &ops);
        checked
            .err()
            .map(|reason| policy_graph.original(reason))
            .or_else(|| {
                let path = self.prices.path_around(a.min(b), a.max(b))?;
                Some(Reason::Cycle { path })
            })
    }
}
