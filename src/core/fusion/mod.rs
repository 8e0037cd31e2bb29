//! Graph to groups: which ops run as one kernel. One policy, one file.

mod acyclic;
pub mod inductor;
pub mod legality;
pub mod manual;
pub(super) mod none;
pub(in crate::core) mod on_chip;
pub mod optimal;
pub mod options;
mod pieces;
pub mod record;
pub(in crate::core) mod region;
pub(super) mod rules;

use super::analysis::Options;
use super::attention;
use super::diagnostic::Diagnostic;
use super::graph::{Graph, OpId, build_graph};
use super::lists::Lists;
use super::op::Op;
use manual::Refused;
use optimal::Certificate;
use record::{Decision, Log};
use region::Setting;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Who decides what fuses.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
    EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Policy {
    /// Every op is its own kernel.
    None,
    /// The contract's forward scan.
    #[default]
    Rules,
    /// What torch.compile would launch.
    Inductor,
    /// The cheapest legal partition.
    Optimal,
    /// The visitor's own kernels.
    Manual,
}

impl Policy {
    /// The name on the command line and in links.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// What it does, in a sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::None => "every op runs as a kernel of its own",
            Self::Rules => {
                "one forward scan: element-wise chains, matmul epilogues, reductions that end a kernel"
            }
            Self::Inductor => {
                "as torch.compile does: pointwise ops and reductions over the same rows share kernels, matmuls are library calls"
            }
            Self::Manual => {
                "the kernels that the text states by `@kernel 1`, as far as they are legal"
            }
            Self::Optimal => {
                "the least bytes or time that any legal kernels reach, proven or with its gap"
            }
        }
    }
}

/// The kernels of a graph: each op in exactly one, kernels in an order in which they can run, the ops of
/// one kernel in execution order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Partition {
    /// The ops of each kernel.
    pub groups: Lists,
    /// For each op its kernel.
    pub group_of: Vec<usize>,
    /// For each kernel the ops of other kernels that it computes again instead of reading their outputs;
    /// empty but for policies that recompute.
    pub recomputed: Lists,
}

impl Partition {
    /// The partition with these groups, which hold each of `ops` ops once.
    pub fn new(groups: &[Vec<OpId>], ops: usize) -> Self {
        let mut group_of = vec![0; ops];
        for (group, members) in groups.iter().enumerate() {
            for &op in members {
                if let Some(place) = group_of.get_mut(op) {
                    *place = group;
                }
            }
        }
        Self::of_ops(group_of, groups.len())
    }

    /// The partition in which each op belongs to this kernel, of `kernels` in all. `O(ops + kernels)`.
    pub fn of_ops(group_of: Vec<usize>, kernels: usize) -> Self {
        let mut of_each = Lists::with_capacity(group_of.len(), group_of.len());
        for &group in &group_of {
            of_each.push([group]);
        }
        Self {
            groups: of_each.inverted(kernels),
            group_of,
            recomputed: Lists::default(),
        }
    }

    /// The partition with these groups of ops in the order in which pictures number kernels; `None` where groups
    /// need each other, or for a number that is not below the number of ops. `O((ops + reads) log ops)`.
    pub fn in_order(graph: &Graph, group_of: &[usize]) -> Option<Self> {
        let is_dense = group_of.iter().all(|&group| group < group_of.len());
        (is_dense && group_of.len() == graph.ops.len())
            .then(|| acyclic::in_order(graph, group_of).ok())
            .flatten()
    }

    /// Whether the op's output comes about inside this kernel. Logarithmic in what the kernel recomputes.
    pub fn computes(&self, kernel: usize, op: OpId) -> bool {
        self.group_of.get(op) == Some(&kernel) || self.recomputed[kernel].binary_search(&op).is_ok()
    }
}

/// What a policy comes to.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Plan {
    /// Which ops run as which kernel.
    pub partition: Partition,
    /// What a search knows about it.
    pub certificate: Option<Certificate>,
    /// Kernels that the text states and that are not legal.
    pub refused: Vec<Refused>,
}

/// Groups the ops of `graph` into kernels, as the policy of `options` decides. `O(ops + reads)` for the
/// policies of the contract. Where attention is one kernel, policies see it as one op.
pub fn plan(graph: &Graph, options: &Options) -> Plan {
    plan_noting(graph, options, &mut Log::default())
}

fn plan_noting(graph: &Graph, options: &Options, log: &mut Log) -> Plan {
    if options.fusion.attention {
        let attentions = attention::find(graph);
        if let Some(contracted) = attention::contract(graph, &attentions, options) {
            for attention in &attentions {
                let ops = attention.ops.clone();
                log.note(Decision::Rewritten { ops });
            }
            let rewritten = log.len();
            let plan = plan_ops(&contracted.graph, options, log);
            log.rename_from(rewritten, |op| contracted.original(op));
            let mut refused = plan.refused;
            for kernel in &mut refused {
                kernel.op = contracted.original(kernel.op);
            }
            return Plan {
                partition: contracted.expanded(&plan.partition),
                certificate: plan.certificate,
                refused,
            };
        }
    }
    plan_ops(graph, options, log)
}

fn plan_ops(graph: &Graph, options: &Options, log: &mut Log) -> Plan {
    let only = |partition| Plan {
        partition,
        certificate: None,
        refused: Vec::new(),
    };
    match options.policy {
        Policy::None => only(none::partition(graph)),
        Policy::Rules => only(rules::partition(graph, log)),
        Policy::Inductor => only(inductor::partition(graph, options.fusion.max_autotune, log)),
        Policy::Manual => {
            let (partition, refused) = manual::partition(&Setting::new(graph, options), log);
            Plan {
                refused,
                ..only(partition)
            }
        }
        Policy::Optimal => {
            let setting = Setting::new(graph, options);
            let mut unread = Log::default();
            let compiled = inductor::partition(graph, options.fusion.max_autotune, &mut unread);
            let stated = manual::partition(&setting, &mut unread).0;
            let known = [rules::partition(graph, &mut unread), compiled, stated];
            let (partition, certificate) = optimal::partition(&setting, &known, log);
            Plan {
                certificate: Some(certificate),
                ..only(partition)
            }
        }
    }
}

/// The contract's fusion rules on a list of ops: the kernels, each a list of ops.
///
/// # Errors
/// As [`build_graph`].
///
/// ```
/// use fuseline::core::{find_fusion_groups, Op, OpType::*};
/// let ops = [
///     Op::new("matmul1", Matmul, &["x", "w1"], "y1", &[1024, 4096], 2),
///     Op::new("bias1", Elementwise, &["y1", "b1"], "y2", &[1024, 4096], 2),
///     Op::new("relu", Elementwise, &["y2"], "y3", &[1024, 4096], 2),
///     Op::new("matmul2", Matmul, &["y3", "w2"], "y4", &[1024, 1024], 2),
/// ];
/// let groups: Vec<Vec<String>> = find_fusion_groups(&ops)?
///     .into_iter()
///     .map(|group| group.into_iter().map(|op| op.name).collect())
///     .collect();
/// assert_eq!(groups, [vec!["matmul1", "bias1", "relu"], vec!["matmul2"]]);
/// # Ok::<(), Vec<fuseline::core::Diagnostic>>(())
/// ```
pub fn find_fusion_groups(ops: &[Op]) -> Result<Vec<Vec<Op>>, Vec<Diagnostic>> {
    let graph = build_graph(ops, &[])?;
    let kernels = rules::partition(&graph, &mut Log::default());
    let op = |&id: &OpId| graph.ops.get(id).cloned();
    Ok(kernels
        .groups
        .iter()
        .map(|members| members.iter().filter_map(op).collect())
        .collect())
}
