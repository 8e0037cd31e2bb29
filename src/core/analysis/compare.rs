//! All policies on one program, or several devices, side by side.

use crate::analysis::{Analysis, analyze_graph, analyze_plan};
use crate::fusion::{Plan, plan};
use crate::model::device::Device;
use crate::model::graph::Graph;
use crate::model::ids::OpId;
use crate::model::options::{Objective, Options, Policy};
use crate::model::partition::Partition;
use std::sync::Arc;
use strum::VariantArray;

/// The result of one policy.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Who decided which ops fuse.
    pub policy: Policy,
    /// Kernels, traffic and times under that policy.
    pub analysis: Arc<Analysis>,
    /// The edges that it treats in another way than the chosen policy, by consumer in execution
    /// order.
    pub differing: Vec<DifferingEdge>,
}

/// An edge on which two policies differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DifferingEdge {
    /// The op that writes the tensor.
    pub producer: OpId,
    /// The op that reads it.
    pub consumer: OpId,
    /// This policy keeps the tensor inside a kernel and the chosen one does not; otherwise the
    /// reverse.
    pub is_fused: bool,
}

/// The policies that are worth comparing, in the order of [`Policy::VARIANTS`]: all, but *manual*
/// only where the text states a kernel or the policy is chosen. `O(ops)`.
pub fn compared_policies(chosen: &Analysis) -> impl Iterator<Item = Policy> {
    let is_stated = chosen.graph.ops.iter().any(|op| op.kernel.is_some());
    let own = chosen.options.policy;
    let policies = Policy::VARIANTS.iter().copied();
    policies.filter(move |&policy| policy != Policy::Manual || is_stated || policy == own)
}

/// The policies of [`compared_policies`] on the graph of `chosen`, under its other options. As many
/// analyses as there are policies.
pub fn compare(chosen: &Analysis) -> Vec<Compared> {
    compared_policies(chosen)
        .map(|policy| {
            if policy == chosen.options.policy {
                Compared::chosen(chosen)
            } else {
                let options = chosen.options.under(policy);
                Compared::new(chosen, &options, plan(&chosen.graph, &options))
            }
        })
        .collect()
}

/// The results by bytes or by time, the least first: by the predicted time where it is known,
/// otherwise by the lower bound. Equal ones keep their order.
pub fn ranked(all: &[Compared], by: Objective) -> Vec<&Compared> {
    let mut ranked: Vec<&Compared> = all.iter().collect();
    let fused = |compared: &Compared| {
        let analysis = &compared.analysis;
        (analysis.fused.traffic.total, analysis.time_s())
    };
    ranked.sort_by(|a, b| match by {
        Objective::Bytes => fused(a).0.cmp(&fused(b).0),
        Objective::Time | Objective::Measured => fused(a).1.total_cmp(&fused(b).1),
    });
    ranked
}

/// The program of `chosen` on another device, under its other options. As long as an analysis.
pub fn on_device(chosen: &Analysis, device: &Device) -> Analysis {
    let options = Options {
        device: device.clone(),
        ..chosen.options.clone()
    };
    analyze_graph(chosen.graph.clone(), &options)
}

impl Compared {
    /// The policy of the analysis itself.
    pub fn chosen(chosen: &Analysis) -> Self {
        Self {
            policy: chosen.options.policy,
            analysis: Arc::new(chosen.clone()),
            differing: Vec::new(),
        }
    }

    /// The policy of `options`, whose plan for the graph of `chosen` is known. `O(ops + reads)`.
    pub fn new(chosen: &Analysis, options: &Options, plan: Plan) -> Self {
        let analysis = analyze_plan(chosen.graph.clone(), options, plan);
        Self {
            policy: options.policy,
            differing: differing(&chosen.graph, &analysis.partition, &chosen.partition),
            analysis: Arc::new(analysis),
        }
    }
}

/// `O(reads)`, times the logarithm of what a kernel recomputes.
fn differing(graph: &Graph, of: &Partition, chosen: &Partition) -> Vec<DifferingEdge> {
    let mut edges = Vec::new();
    for consumer in graph.ops.ids() {
        for &producer in &graph.predecessors[consumer] {
            let keeps =
                |partition: &Partition| partition.computes(partition.kernel_of[consumer], producer);
            let is_fused = keeps(of);
            if is_fused != keeps(chosen) {
                edges.push(DifferingEdge {
                    producer,
                    consumer,
                    is_fused,
                });
            }
        }
    }
    edges
}
