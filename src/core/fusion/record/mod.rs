//! The decisions of a policy, in order, so that somebody can step through them.
//!
//! A policy notes what it decides in a [`Log`]; a log that nobody reads takes nothing. Replaying every
//! decision gives the policy's own partition, and each earlier step one that can run as well.

mod replay;
mod words;

use super::inductor::Loop;
use super::legality;
use super::optimal::Amount;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, KernelId, OpId};
use crate::core::model::options::Options;

pub use words::in_words;
pub(crate) use words::refusal_in_words;

/// One thing that a policy decided. Kernels are named by an op of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Attention: these ops, the last one last, run as one kernel, and the policy sees one op in their place.
    Rewritten {
        /// The ops in execution order.
        ops: Vec<OpId>,
    },
    /// Rules: an op starts a kernel.
    Started {
        /// The op.
        op: OpId,
    },
    /// Rules: an op goes on in the kernel that ends in its producer.
    Joined {
        /// The op.
        op: OpId,
        /// The producer.
        producer: OpId,
    },
    /// Rules: the kernel that ends in another producer of an op becomes part of the op's kernel.
    Merged {
        /// The op.
        op: OpId,
        /// The producer.
        producer: OpId,
    },
    /// Rules: a reduction ends its kernel.
    Closed {
        /// The reduction.
        reduction: OpId,
    },
    /// Inductor: an op is no buffer; whoever reads it computes it.
    Inlined {
        /// The op.
        op: OpId,
        /// Ops that read it.
        readers: usize,
    },
    /// Inductor: one node of the scheduler computes these ops and writes one buffer.
    Buffer {
        /// The ops, those that it computes for itself first, the one that it is named by last.
        ops: Vec<OpId>,
        /// What it writes are the row values of a norm, not the norm's output.
        is_row_values: bool,
    },
    /// Inductor: a view of a buffer is nothing to run, and stays with what writes the buffer.
    Stays {
        /// The view.
        view: OpId,
        /// What it views.
        producer: OpId,
    },
    /// Inductor: a round of fusion begins.
    Round {
        /// Its number, from 1.
        round: usize,
        /// Pairs of kernels that share a buffer and may loop together, each of which is tried, best first.
        pairs: usize,
    },
    /// Inductor: two kernels become one.
    Fused {
        /// An op of the earlier kernel.
        first: OpId,
        /// An op of the later one.
        second: OpId,
        /// The score of the pair: bytes of the buffers that both touch.
        shared_bytes: u64,
    },
    /// Optimal: the search over some ops has ended.
    Searched {
        /// The ops, ascending.
        ops: Vec<OpId>,
        /// Legal kernels of these ops.
        candidates: usize,
        /// States that were looked at.
        states: usize,
        /// The cheapest kernels of these ops are proven.
        is_proven: bool,
    },
    /// Optimal: a kernel of the best partition, in the order in which they run.
    Chosen {
        /// Its ops.
        ops: Vec<OpId>,
        /// What it costs.
        cost: Amount,
    },
    /// Manual: a kernel of the text, or a piece of one that was refused.
    Accepted {
        /// Its number in the text.
        kernel: u32,
        /// Its ops.
        ops: Vec<OpId>,
    },
    /// These ops do not become one kernel: two kernels by an op each, or all ops of a stated kernel.
    Refused {
        /// The ops.
        ops: Vec<OpId>,
        /// Why.
        refusal: Refusal,
    },
}

/// Why a policy kept ops apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// They may not be one kernel.
    Illegal(legality::Reason),
    /// Rules: somebody else reads the tensor as well.
    AnotherConsumer {
        /// Who.
        consumer: OpId,
    },
    /// Inductor: the kernel would have more nodes than the limit.
    TooManyNodes {
        /// Nodes of both.
        nodes: usize,
        /// Most that are allowed.
        limit: usize,
    },
    /// Inductor: the one is a call of a library, which nothing joins.
    LibraryCall {
        /// Its matmul.
        matmul: OpId,
    },
    /// Inductor: they loop over different things.
    Loops {
        /// How the earlier one loops.
        first: Loop,
        /// How the later one loops.
        second: Loop,
    },
    /// Inductor: the later one reads the buffer in another order than it is written in.
    Reordered,
    /// Inductor: neither feeds the other, and they share too little or stand too far apart.
    TooLittleShared {
        /// Bytes of the buffers that both touch.
        shared_bytes: u64,
        /// Kernels from the one to the other.
        places: usize,
    },
    /// Inductor: another kernel has to run between them.
    Between {
        /// An op of it.
        through: OpId,
    },
    /// Inductor: so many kernels stand between them that it does not reorder them.
    TooFar {
        /// Kernels from the one to the other.
        places: usize,
    },
    /// Manual: kernels need each other even after so many rounds of taking such apart.
    TooManyCycles {
        /// The rounds.
        rounds: usize,
    },
}

/// The decisions that led a policy to its partition.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Record {
    /// In the order in which they were made.
    pub decisions: Vec<Decision>,
    /// For each op its kernel in the end, by which kernels are numbered on the way.
    kernel_of: IdVec<OpId, KernelId>,
}

/// Plans once more and notes every decision. As long as [`super::plan`].
pub fn record(graph: &Graph, options: &Options) -> Record {
    let mut log = Log(Some(Vec::new()));
    let plan = super::plan_noting(graph, options, &mut log);
    Record {
        decisions: log.0.unwrap_or_default(),
        kernel_of: plan.partition.kernel_of,
    }
}

/// Where a policy notes what it decides.
#[derive(Default)]
pub(crate) struct Log(Option<Vec<Decision>>);

impl Log {
    /// Somebody reads it; else finding out why would be wasted.
    pub(super) const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn note(&mut self, decision: Decision) {
        if let Some(decisions) = &mut self.0 {
            decisions.push(decision);
        }
    }

    pub(super) fn refuse(&mut self, ops: &[OpId], refusal: Refusal) {
        if self.is_on() {
            let ops = ops.to_vec();
            self.note(Decision::Refused { ops, refusal });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, Vec::len)
    }

    /// Renames the ops of all decisions but the first ones.
    pub(super) fn rename_from(&mut self, first: usize, name_of: impl Fn(OpId) -> OpId) {
        for decision in self.0.iter_mut().flatten().skip(first) {
            decision.for_each_op(&mut |op| *op = name_of(*op));
        }
    }
}

impl Decision {
    /// The ops that it is about and that its reason names, ascending: those that a picture would mark.
    pub fn ops(&self) -> Vec<OpId> {
        let mut ops = Vec::new();
        self.clone().for_each_op(&mut |op| ops.push(*op));
        ops.sort_unstable();
        ops.dedup();
        ops
    }

    /// The name of what was decided, as JSON and style sheets say it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Rewritten { .. } => "rewritten",
            Self::Started { .. } => "started",
            Self::Joined { .. } => "joined",
            Self::Merged { .. } => "merged",
            Self::Closed { .. } => "closed",
            Self::Inlined { .. } => "inlined",
            Self::Buffer { .. } => "buffer",
            Self::Stays { .. } => "stays",
            Self::Round { .. } => "round",
            Self::Fused { .. } => "fused",
            Self::Searched { .. } => "searched",
            Self::Chosen { .. } => "chosen",
            Self::Accepted { .. } => "accepted",
            Self::Refused { .. } => "refused",
        }
    }

    fn for_each_op(&mut self, visit: &mut dyn FnMut(&mut OpId)) {
        match self {
            Self::Rewritten { ops }
            | Self::Buffer { ops, .. }
            | Self::Searched { ops, .. }
            | Self::Chosen { ops, .. }
            | Self::Accepted { ops, .. } => ops.iter_mut().for_each(visit),
            Self::Started { op } | Self::Closed { reduction: op } | Self::Inlined { op, .. } => {
                visit(op);
            }
            Self::Joined { op: b, producer: a }
            | Self::Merged { op: b, producer: a }
            | Self::Stays {
                view: b,
                producer: a,
            }
            | Self::Fused {
                first: a,
                second: b,
                ..
            } => {
                visit(a);
                visit(b);
            }
            Self::Round { .. } => {}
            Self::Refused { ops, refusal } => {
                ops.iter_mut().for_each(&mut *visit);
                match refusal {
                    Refusal::Illegal(reason) => reason.for_each_op(visit),
                    Refusal::AnotherConsumer { consumer: op }
                    | Refusal::Between { through: op } => visit(op),
                    _ => {}
                }
            }
        }
    }
}
