//! The partition of a graph under the chosen policy.

use super::certificate::{Certificate, CertificateScope};
use super::decision::{Decision, Log};
use super::manual::Refused;
use super::region::RegionContext;
use super::{attention, inductor, manual, none, optimal, rules, views};
use crate::cost::launch_order::with_least_memory;
use crate::cost::views::Views;
use crate::model::graph::Graph;
use crate::model::options::{Options, Policy, Switch};
use crate::model::partition::Partition;
use borsh::{BorshDeserialize, BorshSerialize};

/// The result of a policy.
#[derive(Clone, Debug, PartialEq, Default, BorshSerialize, BorshDeserialize)]
pub struct Plan {
    /// Which ops run as which kernel.
    pub partition: Partition,
    /// The proof of a search about it.
    pub certificate: Option<Certificate>,
    /// Kernels that the text states and that are not legal.
    pub refused: Vec<Refused>,
}

/// Groups the ops of `graph` into kernels, as the policy of `options` decides. `O(ops + reads)` for
/// the textbook rules and the compiler. With the option *attention*, policies see each attention as
/// one op; without it the search for the optimum may, and so does a stated kernel that holds all of
/// one.
pub fn plan(graph: &Graph, options: &Options) -> Plan {
    plan_noting(graph, options, &mut Log::default())
}

/// [`plan`] with every decision in the log.
pub(super) fn plan_noting(graph: &Graph, options: &Options, log: &mut Log) -> Plan {
    let mut plan = plan_launched(graph, options, log);
    if options.fusion.keeps_marks && Switch::KernelMarks.concerns(options.policy) {
        let kernels = plan.partition.kernels.len();
        let context = RegionContext::new(graph, options);
        (plan.partition, plan.refused) = manual::merge_marked(&context, plan.partition, log);
        if plan.partition.kernels.len() < kernels {
            // It is about the kernels before.
            plan.certificate = None;
        }
    }
    if options.policy != Policy::Inductor {
        // The compiler generates reductions and decides itself what they share.
        plan.partition.results = none::lone_results(graph, &plan.partition);
    }
    let views = Views::of_partition(graph, options.conventions.reshape, &plan.partition);
    let partition = views::within_kernels(graph, &views, plan.partition, log);
    Plan {
        partition: in_order(graph, options, partition, log),
        ..plan
    }
}

/// The kernels in the order in which they run.
fn in_order(graph: &Graph, options: &Options, partition: Partition, log: &mut Log) -> Partition {
    // PyTorch runs the ops of a program in its order.
    if options.policy == Policy::None {
        return partition;
    }
    match with_least_memory(graph, options.conventions, &partition) {
        Some((ordered, number)) => {
            log.renumber(|kernel| number[kernel]);
            ordered
        }
        None => partition,
    }
}

/// The kernels before free views join others.
fn plan_launched(graph: &Graph, options: &Options, log: &mut Log) -> Plan {
    let fusion = &options.fusion;
    let is_searched =
        options.policy == Policy::Optimal && fusion.attention_search && !fusion.attention;
    let attentions = if options.fuses_attention() || is_searched {
        attention::find(graph)
    } else if options.policy == Policy::Manual {
        attention::stated(graph)
    } else {
        Vec::new()
    };
    let Some(rewritten) = attention::rewrite(graph, &attentions, options) else {
        return plan_ops(graph, options, log);
    };
    if is_searched {
        let (partition, certificate) =
            optimal::partition_with_attention(graph, options, &attentions, &rewritten, log);
        return Plan {
            partition,
            certificate: Some(certificate),
            ..Plan::default()
        };
    }
    for attention in &attentions {
        let ops = attention.ops.clone();
        log.note(Decision::Rewritten { ops });
    }
    // The ops of these decisions are those of the rewritten graph, until they are renamed below.
    let noted = log.len();
    let plan = plan_ops(&rewritten.graph, options, log);
    log.rename_from(noted, |op| rewritten.original(op));
    let mut refused = plan.refused;
    for kernel in &mut refused {
        kernel.op = rewritten.original(kernel.op);
    }
    Plan {
        partition: rewritten.expanded(graph, &plan.partition),
        certificate: plan.certificate.map(|certificate| Certificate {
            scope: CertificateScope::AttentionRewritten,
            ..certificate
        }),
        refused,
    }
}

fn plan_ops(graph: &Graph, options: &Options, log: &mut Log) -> Plan {
    let only = |partition| Plan {
        partition,
        ..Plan::default()
    };
    match options.policy {
        Policy::None => only(none::eager(graph, options.conventions)),
        Policy::Rules => only(rules::partition(graph, log)),
        Policy::Inductor => only(inductor::partition(graph, options, log)),
        Policy::Manual => {
            let (partition, refused) = manual::partition(&RegionContext::new(graph, options), log);
            Plan {
                refused,
                ..only(partition)
            }
        }
        Policy::Optimal => {
            let context = RegionContext::new(graph, options);
            let (partition, certificate) = optimal::partition(&context, log);
            Plan {
                certificate: Some(certificate),
                ..only(partition)
            }
        }
    }
}
