//! The decisions by which a policy reaches its partition.
//!
//! A policy notes them in a log, which takes no time when it is off.

use super::certificate::Amount;
use super::evidence::Evidence;
use super::reason::Reason;
use crate::model::ids::{IdVec, KernelId, OpId, define_ids};
use borsh::{BorshDeserialize, BorshSerialize};
use strum::IntoStaticStr;

define_ids! {
    /// A node of the compiler's scheduler; nodes are in the order of their ops.
    pub struct NodeId;
}

/// A kernel of the compiler. An op does not identify one: row values and elements of a norm may be
/// in two kernels, and an inlined op is computed in several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct NodeKernel {
    /// Its first node that computes ops.
    pub node: NodeId,
    /// The last op of that node.
    pub op: OpId,
    /// The node writes the output of that op.
    pub is_output: bool,
}

/// The final kernel of a node that computes ops, and the nodes that it reads.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct PlacedNode {
    /// Its kernel in the partition; of no meaning for a node without ops.
    pub(super) kernel: KernelId,
    /// The nodes with ops that it reads, directly or through nodes without.
    pub(super) reads: Vec<NodeId>,
}

/// One decision of a policy. Except for the compiler's, a kernel is identified by one of its ops.
#[derive(Clone, Debug, PartialEq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum Decision {
    /// Attention: these ops run as one kernel, and the policy plans one op in their place.
    Rewritten {
        /// The ops in execution order.
        ops: Vec<OpId>,
    },
    /// Rules: an op starts a kernel.
    Started {
        /// The first op of that kernel.
        op: OpId,
    },
    /// Rules: an op joins the kernel whose last op is its producer.
    Joined {
        /// The op that joins.
        op: OpId,
        /// The op before it in the kernel, whose output it reads.
        producer: OpId,
    },
    /// Rules: the kernel whose last op is another producer of an op is merged into the kernel of
    /// that op.
    Merged {
        /// The op that reads both kernels.
        op: OpId,
        /// The last op of the kernel that is merged into the other.
        producer: OpId,
    },
    /// Rules: a reduction ends its kernel.
    Closed {
        /// The last op of that kernel.
        reduction: OpId,
    },
    /// Inductor: an op is not written to a buffer; each reader computes it.
    Inlined {
        /// The op that has no buffer.
        op: OpId,
        /// Ops that read it.
        readers: usize,
    },
    /// Inductor: one node of the scheduler computes these ops and writes one buffer.
    Buffer {
        /// Its number in the scheduler.
        node: NodeId,
        /// The ops: inlined ones first, the op that names the node last.
        ops: Vec<OpId>,
        /// The op whose output the buffer holds; `None` for row values, partial results and copies.
        output: Option<OpId>,
    },
    /// Inductor: a view of a buffer launches nothing, and is part of the kernel that writes the
    /// buffer.
    Stays {
        /// The op that only indexes the buffer.
        view: OpId,
        /// The op that it views.
        producer: OpId,
    },
    /// A free view, or the second result of an operator, launches nothing, and becomes part of a
    /// kernel that does.
    Viewed {
        /// An op of a kernel of free views, or a second result.
        view: OpId,
        /// The first result, or an op of the kernel that writes the bytes or, of external ones, of
        /// the first that reads them.
        with: OpId,
    },
    /// Inductor: a round of fusion begins.
    Round {
        /// Its number, from 1.
        round: usize,
        /// Pairs of kernels that share a buffer and have matching loops; each is tried, best first.
        pairs: usize,
    },
    /// Inductor: two kernels become one.
    Fused {
        /// The earlier kernel.
        first: NodeKernel,
        /// The later one.
        second: NodeKernel,
        /// The score of the pair: bytes of the buffers that both access.
        shared_bytes: u64,
        /// The later one reads what the earlier one writes; otherwise they only read the same.
        is_vertical: bool,
    },
    /// Optimal: the search over some ops has ended.
    Searched {
        /// The ops, ascending.
        ops: Vec<OpId>,
        /// Legal kernels of these ops.
        candidates: usize,
        /// States that the search visited.
        states: usize,
        /// The kernels found for these ops are proven to be the cheapest.
        is_proven: bool,
    },
    /// Optimal: a kernel of the best partition; kernels are noted in the order in which they run.
    Chosen {
        /// The ops that it runs.
        ops: Vec<OpId>,
        /// Bytes or seconds, as the objective counts.
        cost: Amount,
        /// The evidence of measured runs, under the objective *measured*; `None` for a lone op.
        evidence: Option<Evidence>,
    },
    /// Manual: a kernel of the text, or a piece of one that was refused.
    Accepted {
        /// Its number in the text.
        kernel: u32,
        /// The ops that it runs.
        ops: Vec<OpId>,
    },
    /// These ops do not become one kernel. They are one op of each of two kernels, or all ops of a
    /// stated kernel.
    Refused {
        /// The ops that would run together.
        ops: Vec<OpId>,
        /// Why.
        reason: Reason,
    },
}

/// Collects the decisions of a policy while it is on.
#[derive(Default)]
pub(crate) struct Log(Option<Notes>);

/// The notes of a policy.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) decisions: Vec<Decision>,
    /// The nodes of the compiler; other policies have none.
    pub(super) nodes: IdVec<NodeId, PlacedNode>,
}

impl Log {
    /// A log that is on.
    pub(super) fn listening() -> Self {
        Self(Some(Notes::default()))
    }

    pub(super) fn into_notes(self) -> Notes {
        self.0.unwrap_or_default()
    }

    /// Whether decisions are kept. If not, their reasons need not be computed.
    pub(super) const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn note(&mut self, decision: Decision) {
        if let Some(notes) = &mut self.0 {
            notes.decisions.push(decision);
        }
    }

    /// Keeps what became of the nodes that the decisions name.
    pub(super) fn place_nodes(&mut self, nodes: IdVec<NodeId, PlacedNode>) {
        if let Some(notes) = &mut self.0 {
            notes.nodes = nodes;
        }
    }

    /// Replaces the kernels of all nodes.
    pub(super) fn renumber(&mut self, number_of: impl Fn(KernelId) -> KernelId) {
        for node in self.0.iter_mut().flat_map(|notes| notes.nodes.iter_mut()) {
            node.kernel = number_of(node.kernel);
        }
    }

    pub(super) fn refuse(&mut self, ops: &[OpId], reason: Reason) {
        if self.is_on() {
            let ops = ops.to_vec();
            self.note(Decision::Refused { ops, reason });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |notes| notes.decisions.len())
    }

    /// Replaces the ops of all decisions from `first` on.
    pub(super) fn rename_from(&mut self, first: usize, name_of: impl Fn(OpId) -> OpId) {
        let decisions = self.0.iter_mut().flat_map(|notes| &mut notes.decisions);
        for decision in decisions.skip(first) {
            decision.for_each_op(&mut |op| *op = name_of(*op));
        }
    }
}

impl Decision {
    /// The ops that the decision and its reason name, ascending.
    pub fn ops(&self) -> Vec<OpId> {
        let mut ops = Vec::new();
        self.clone().for_each_op(&mut |op| ops.push(*op));
        ops.sort_unstable();
        ops.dedup();
        ops
    }

    /// The kind of decision, as in JSON.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    fn for_each_op(&mut self, visit: &mut dyn FnMut(&mut OpId)) {
        match self {
            Self::Rewritten { ops }
            | Self::Searched { ops, .. }
            | Self::Chosen { ops, .. }
            | Self::Accepted { ops, .. } => ops.iter_mut().for_each(visit),
            Self::Buffer { ops, output, .. } => ops.iter_mut().chain(output).for_each(visit),
            Self::Started { op } | Self::Closed { reduction: op } | Self::Inlined { op, .. } => {
                visit(op);
            }
            Self::Joined { op: b, producer: a }
            | Self::Merged { op: b, producer: a }
            | Self::Stays {
                view: b,
                producer: a,
            }
            | Self::Viewed { view: b, with: a } => {
                visit(a);
                visit(b);
            }
            Self::Fused { first, second, .. } => {
                visit(&mut first.op);
                visit(&mut second.op);
            }
            Self::Round { .. } => {}
            Self::Refused { ops, reason } => {
                ops.iter_mut().for_each(&mut *visit);
                *reason = reason.clone().map_ops(|mut op| {
                    visit(&mut op);
                    op
                });
            }
        }
    }
}
