//! Why an edge is not fused: a reason with its figures, and what fusing it alone would save.
//!
//! Computed on demand, not with every analysis.

mod detour;
mod merged_writes;
mod operands;
mod policy_graph;
mod price;
mod prices;
mod reason;
mod refusals;
mod spared_writes;

pub use crate::analysis::why::price::{Cost, Price, RepeatedPrice};
pub use crate::analysis::why::prices::Prices;

use crate::analysis::Analysis;
use crate::analysis::device_model::Breakdown;
use crate::analysis::why::detour::Detours;
use crate::analysis::why::operands::Operands;
use crate::analysis::why::policy_graph::PolicyGraph;
use crate::analysis::why::refusals::Refusals;
use crate::fusion::decision_trace::DecisionTrace;
use crate::fusion::reason::Reason;
use crate::model::ids::{IdVec, KernelId, OpId, TensorId};
use crate::model::options::Policy;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use std::borrow::Cow;
use std::cell::OnceCell;

/// A tensor between the op that writes it and an op that reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeVerdict {
    /// The op that writes it.
    pub producer: OpId,
    /// The op that reads it.
    pub consumer: OpId,
    /// The tensor that connects both ops.
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
    Separate {
        /// Why.
        reason: Reason,
        /// The saving of merging their two kernels, whether that is legal or not.
        price: Price,
    },
}

impl Verdict {
    /// The saving of one kernel in place of the two; `None` for ops in one kernel, and where no
    /// order of the kernels allows it.
    pub const fn saved(&self) -> Option<&Price> {
        match self {
            Self::Fused
            | Self::Separate {
                reason: Reason::Cycle { .. },
                ..
            } => None,
            Self::Separate { price, .. } => Some(price),
        }
    }
}

/// An edge between two kernels, and what merging them would save.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PricedEdge {
    /// The op that writes the tensor.
    pub producer: OpId,
    /// The op that reads it.
    pub consumer: OpId,
    /// The saving of merging their two kernels, whether that is legal or not.
    pub price: Price,
}

/// Answers about one analysis. What prices and what reasons need is made with the first of them, in
/// `O(ops + reads log reads)`.
pub struct Why<'a> {
    analysis: &'a Analysis,
    prices: OnceCell<Prices<'a>>,
    policy_graph: OnceCell<PolicyGraph>,
    operands: OnceCell<Operands>,
    detours: OnceCell<Detours<'a>>,
    refusals: OnceCell<Refusals<'a>>,
    /// For each kernel with a matmul that is a library call, why it takes no other op.
    library_calls: OnceCell<IdVec<KernelId, Option<Reason>>>,
}

/// Answers for pairs of kernels with several edges.
type Known<T> = HashMap<(KernelId, KernelId), T, FxBuildHasher>;

impl<'a> Why<'a> {
    /// Prepares to answer.
    pub const fn new(analysis: &'a Analysis) -> Self {
        Self {
            analysis,
            prices: OnceCell::new(),
            policy_graph: OnceCell::new(),
            operands: OnceCell::new(),
            detours: OnceCell::new(),
            refusals: OnceCell::new(),
            library_calls: OnceCell::new(),
        }
    }

    /// Every edge between two ops, by consumer in execution order, each once with its verdict.
    ///
    /// The edges between two kernels take a [price](Prices::merged) and a reason: the kernels
    /// between them, and `O(ops^2 + reads)` of the two, of at most 64 ops. Only a kernel with a
    /// reduction has more than 96 reads that a reason looks at.
    pub fn edges(&self) -> Vec<EdgeVerdict> {
        let mut known: Known<(Price, Option<Reason>)> = HashMap::default();
        let mut edges = Vec::new();
        for (producer, consumer) in self.producers_and_consumers() {
            let verdict = match self.separate_kernels(producer, consumer) {
                None => Verdict::Fused,
                Some((a, b)) => {
                    let answer = || (self.prices().merged(a, b), self.of_kernels(a, b));
                    let (price, of_kernels) = self.once(&mut known, (a, b), answer);
                    let reason = self.reason_of(producer, consumer, price, of_kernels);
                    Verdict::Separate { reason, price }
                }
            };
            edges.push(EdgeVerdict {
                producer,
                consumer,
                tensor: self.analysis.graph.output[producer],
                verdict,
            });
        }
        edges
    }

    /// For each edge between two kernels whether these can be one, as far as the order of the
    /// kernels goes: not where another kernel must run between them. Visits the kernels between the
    /// two of each edge.
    pub fn are_possible(&self, edges: &[PricedEdge]) -> Vec<bool> {
        let kernel_of = &self.analysis.partition.kernel_of;
        let mut known: Known<bool> = HashMap::default();
        let is_possible = |edge: &PricedEdge| {
            let (a, b) = (kernel_of[edge.producer], kernel_of[edge.consumer]);
            self.once(&mut known, (a, b), || self.path_around(a, b).is_none())
        };
        edges.iter().map(is_possible).collect()
    }

    /// How the predicted time of two kernels as one is found; `None` where it has none.
    pub fn merged_breakdown(&self, a: KernelId, b: KernelId) -> Option<Breakdown> {
        self.prices().merged_breakdown(a, b)
    }

    /// Every edge between two kernels with its price, by consumer in execution order. As
    /// [`Prices::merged`] for each two kernels.
    pub fn priced_edges(&self) -> Vec<PricedEdge> {
        let mut known: Known<Price> = HashMap::default();
        let mut edges = Vec::new();
        for (producer, consumer) in self.producers_and_consumers() {
            if let Some((a, b)) = self.separate_kernels(producer, consumer) {
                let price = self.once(&mut known, (a, b), || self.prices().merged(a, b));
                edges.push(PricedEdge {
                    producer,
                    consumer,
                    price,
                });
            }
        }
        edges
    }

    /// Why two ops are in separate kernels. They are given in either order and need not share a
    /// tensor.
    pub fn ask(&self, first: OpId, second: OpId) -> Verdict {
        let (first, second) = (first.min(second), first.max(second));
        let Some((a, b)) = self.separate_kernels(first, second) else {
            return Verdict::Fused;
        };
        let price = self.prices().merged(a, b);
        Verdict::Separate {
            reason: self.reason_of(first, second, price, self.of_kernels(a, b)),
            price,
        }
    }

    /// Why an edge between two kernels, whose price is known, is not fused.
    pub fn reason(&self, edge: &PricedEdge) -> Reason {
        let kernel_of = &self.analysis.partition.kernel_of;
        let of_kernels = self.of_kernels(kernel_of[edge.producer], kernel_of[edge.consumer]);
        self.reason_of(edge.producer, edge.consumer, edge.price, of_kernels)
    }

    fn producers_and_consumers(&self) -> impl Iterator<Item = (OpId, OpId)> + 'a {
        let predecessors = self.analysis.graph.predecessors.iter_enumerated();
        predecessors.flat_map(|(consumer, producers)| {
            producers.iter().map(move |&producer| (producer, consumer))
        })
    }

    /// The kernels of two ops; `None` if the kernel of the later one computes both.
    fn separate_kernels(&self, first: OpId, second: OpId) -> Option<(KernelId, KernelId)> {
        let partition = &self.analysis.partition;
        let (a, b) = (partition.kernel_of[first], partition.kernel_of[second]);
        (!partition.computes(b, first)).then_some((a, b))
    }

    /// The answer for two kernels with an edge, which is kept if they can have another one.
    fn once<T: Clone>(
        &self,
        known: &mut Known<T>,
        (a, b): (KernelId, KernelId),
        answer: impl FnOnce() -> T,
    ) -> T {
        let kernels = &self.analysis.partition.kernels;
        // Kernels of one op each have a single edge, so an entry would never be read.
        if kernels[a].len() == 1 && kernels[b].len() == 1 {
            answer()
        } else {
            known.entry((a, b)).or_insert_with(answer).clone()
        }
    }

    /// Whether the reasons of a policy are among its decisions.
    pub const fn needs_trace(policy: Policy) -> bool {
        matches!(policy, Policy::Rules | Policy::Inductor)
    }

    /// Prepares to answer with the decisions of the policy. Without them a policy that
    /// [needs](Self::needs_trace) them decides again for the first reason.
    pub fn with_trace(analysis: &'a Analysis, trace: &'a DecisionTrace) -> Self {
        let why = Self::new(analysis);
        why.refusals
            .get_or_init(|| Refusals::of(analysis, Cow::Borrowed(trace)));
        why
    }

    fn prices(&self) -> &Prices<'a> {
        self.prices.get_or_init(|| Prices::new(self.analysis))
    }

    /// The saving of merging two kernels by hand; nothing for a kernel and itself.
    /// `O(ops + reads)`.
    ///
    /// # Errors
    /// Why they may not be merged.
    pub fn merge(&self, a: KernelId, b: KernelId) -> Result<Price, Reason> {
        if a == b {
            return Ok(Price::NOTHING);
        }
        match self.forbidden(a, b) {
            Some(reason) => Err(reason),
            None => Ok(self.prices().merged(a, b)),
        }
    }
}
