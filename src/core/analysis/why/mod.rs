//! Why an edge is not fused: a reason with its figures, and what fusing it alone would save.
//!
//! Computed when somebody asks; an analysis does not wait for it.

mod facts;
mod price;
mod refusals;
mod seen;
mod words;

use crate::core::analysis::Analysis;
use crate::core::fusion::inductor::library_call;
use crate::core::fusion::legality;
use crate::core::fusion::legality::check_in;
use crate::core::fusion::record::Refusal;
use crate::core::model::ids::{KernelId, OpId, TensorId};
use crate::core::model::op_type::OpType;
use crate::core::model::options::Policy;

use crate::core::analysis::why::refusals::Refusals;
use crate::core::analysis::why::seen::Seen;
use std::cell::OnceCell;

pub use crate::core::analysis::why::facts::{Fact, Facts, Named};
pub use crate::core::analysis::why::price::{Price, Prices};
pub use crate::core::analysis::why::words::{in_words, reason_in_words, sentence};
pub(crate) use words::op_name;

/// A tensor on its way from the op that writes it to an op that reads it.
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

/// What became of two ops.
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

/// Why two ops run in two kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Their kernels may not be one.
    Illegal(legality::Reason),
    /// The contract fuses an output into its reader only when nobody else reads it.
    AnotherConsumer {
        /// Who else does.
        consumer: OpId,
    },
    /// The compiler compared their kernels and refused, by its own rules.
    Refused(Refusal),
    /// The compiler never compared their kernels.
    NotCompared,
    /// It is allowed, and saves nothing.
    NotWorthIt,
    /// It is allowed and would save something; the policy does not try it.
    NotLookedAt,
    /// It is allowed; whoever states the kernels does not state this one.
    NotStated,
}

/// Answers about one analysis. Made in `O(ops + reads)`.
pub struct Why<'a> {
    analysis: &'a Analysis,
    seen: Seen,
    prices: Prices<'a>,
    /// What the compiler refused, once somebody asks.
    refusals: OnceCell<Refusals>,
}

impl<'a> Why<'a> {
    /// Prepares to answer.
    pub fn new(analysis: &'a Analysis) -> Self {
        Self {
            analysis,
            seen: Seen::new(analysis),
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

    /// What keeps two ops apart, in whichever order they are given; they need not feed each other.
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
            policy => self
                .contract(first, second)
                .or_else(|| self.contract_between(a, b))
                .or_else(|| self.forbidden(a, b).map(Reason::Illegal))
                .unwrap_or(match policy {
                    Policy::Optimal if !self.prices.is_gain(price) => Reason::NotWorthIt,
                    Policy::Manual => Reason::NotStated,
                    _ => Reason::NotLookedAt,
                }),
        };
        Verdict::Apart { reason, price }
    }

    /// The compiler's own words: it neither knows nor keeps the legality of the optimum.
    fn compilers(&self, a: KernelId, b: KernelId) -> Reason {
        let refusals = self.refusals.get_or_init(|| Refusals::of(self.analysis));
        if let Some(refusal) = refusals.last(a, b) {
            return Reason::Refused(refusal.clone());
        }
        let (analysis, of_kernel) = (self.analysis, &self.analysis.partition.kernels);
        let max_autotune = analysis.options.fusion.max_autotune;
        let call =
            |kernel: KernelId| library_call(&analysis.graph, &of_kernel[kernel], max_autotune);
        match call(a).or_else(|| call(b)) {
            Some(matmul) => Reason::Refused(Refusal::LibraryCall { matmul }),
            None => Reason::NotCompared,
        }
    }

    /// What merging two kernels by hand would save. `O(ops + reads)`.
    ///
    /// # Errors
    /// Why they may not be merged.
    pub fn merge(&self, a: KernelId, b: KernelId) -> Result<Price, legality::Reason> {
        match self.forbidden(a, b) {
            Some(reason) => Err(reason),
            None => Ok(self.prices.merged(a, b)),
        }
    }

    /// Why two kernels may not be one.
    fn forbidden(&self, a: KernelId, b: KernelId) -> Option<legality::Reason> {
        let seen = &self.seen;
        let kernels = &self.analysis.partition.kernels;
        let ops = seen.ops(&[&kernels[a], &kernels[b]].concat());
        let checked = check_in(&seen.setting(self.analysis), &ops);
        checked
            .err()
            .map(|reason| seen.original(reason))
            .or_else(|| {
                let path = self.prices.path_around(a.min(b), a.max(b))?;
                Some(legality::Reason::Cycle { path })
            })
    }

    /// Two ops that do not feed each other are apart because of an edge between their kernels.
    fn contract_between(&self, a: KernelId, b: KernelId) -> Option<Reason> {
        let graph = &self.analysis.graph;
        let partition = &self.analysis.partition;
        let edges = partition.kernels[b].iter().flat_map(|&consumer| {
            let producers = graph.predecessors[consumer].iter().copied();
            producers.map(move |producer| (producer, consumer))
        });
        let mut crossing = edges.filter(|&(producer, _)| partition.kernel_of[producer] == a);
        crossing.find_map(|(producer, consumer)| self.contract(producer, consumer))
    }

    /// The contract's own reasons, under its policy.
    fn contract(&self, producer: OpId, consumer: OpId) -> Option<Reason> {
        let graph = self.seen.graph(self.analysis);
        let partition = &self.analysis.partition;
        let (from, to) = (partition.kernel_of[producer], partition.kernel_of[consumer]);
        let (producer, consumer) = (self.seen.op(producer), self.seen.op(consumer));
        if self.analysis.options.policy != Policy::Rules
            || !graph.successors[producer].contains(&consumer)
        {
            return None;
        }
        let of_type = |kernel: KernelId, op_type: OpType| {
            let mut ops = partition.kernels[kernel].iter();
            let op = ops.find(|&&op| graph.ops[self.seen.op(op)].op_type == op_type)?;
            Some(self.seen.op(*op))
        };
        let consumer_type = graph.ops[consumer].op_type;
        let matmul = of_type(from, OpType::Matmul);
        let second = of_type(to, OpType::Matmul);
        let mut others = graph.successors[producer].iter();
        let reason = if let (Some(first), Some(second)) = (matmul, second) {
            legality::Reason::TwoMatmuls { first, second }
        } else if consumer_type == OpType::Matmul {
            legality::Reason::MatmulStarts {
                matmul: consumer,
                before: producer,
            }
        } else if let Some(reduction) = of_type(from, OpType::Reduction) {
            legality::Reason::ReductionEnds {
                reduction,
                after: consumer,
            }
        } else if let Some(&other) = others.find(|&&other| other != consumer) {
            let consumer = self.seen.original_op(other);
            return Some(Reason::AnotherConsumer { consumer });
        } else if let (Some(matmul), OpType::Reduction) = (matmul, consumer_type) {
            legality::Reason::MatmulAndReduction {
                matmul,
                reduction: consumer,
            }
        } else {
            return None;
        };
        Some(Reason::Illegal(self.seen.original(reason)))
    }
}
