//! What fusion cannot save: the reads of weights and inputs, and the time that any partition takes.

use crate::analysis::{Analysis, analyze_graph};
use crate::fusion::certificate::Amount;
use crate::fusion::plan;
use crate::model::ids::{IdVec, TensorId};
use crate::model::op::TensorRole;
use crate::model::options::{Objective, Options, Policy};

/// The memory traffic that no fusion policy avoids, and the least time that one reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FusionLimit {
    /// Bytes of the weights that the program reads, each tensor once.
    pub weight_bytes: u64,
    /// Bytes of the inputs that the program reads, each tensor once.
    pub input_bytes: u64,
    /// Memory traffic of the fused program.
    pub total_bytes: u64,
    /// Lower bound of the time of the fused program.
    pub bound_s: f64,
    /// No legal partition and no fusion policy has a smaller lower bound of the time.
    pub least_bound_s: f64,
}

impl FusionLimit {
    /// By how much fusion can reduce the lower bound of the time at most.
    pub fn saved_s(self) -> f64 {
        self.bound_s - self.least_bound_s
    }
}

/// What fusion can change at most. `None` without memory traffic, and where the time leaves out
/// work. Takes as long as a search for the least time and two analyses.
pub fn fusion_limit(analysis: &Analysis) -> Option<FusionLimit> {
    let total_bytes = analysis.fused.traffic.total;
    let is_complete = analysis.fused.first_incomplete().is_none() && !analysis.is_partial();
    if total_bytes == 0 || !is_complete {
        return None;
    }
    let plan = plan(&analysis.graph, &widest(&analysis.options));
    let Amount::Seconds(proven_s) = plan.certificate?.lower_bound else {
        return None;
    };
    // The search allows no kernel whose rows exceed the chip or that computes an op twice. These
    // policies do.
    let policies = [Policy::Rules, Policy::Inductor].map(|policy| {
        let analysis = analyze_graph(analysis.graph.clone(), &analysis.options.under(policy));
        analysis.fused.time_s
    });
    let shown_s = analysis.fused.time_s;
    let least_bound_s = policies.into_iter().fold(proven_s.min(shown_s), f64::min);
    let mut limit = FusionLimit {
        weight_bytes: 0,
        input_bytes: 0,
        total_bytes,
        bound_s: shown_s,
        least_bound_s,
    };
    let once = read_once(analysis);
    for (tensor, bytes) in analysis.graph.tensors.iter().zip(&once) {
        match tensor.role {
            _ if !tensor.is_external() => {}
            TensorRole::Weight => limit.weight_bytes += bytes,
            TensorRole::Input => limit.input_bytes += bytes,
        }
    }
    Some(limit)
}

/// For each input and weight the bytes that any policy reads from its memory; 0 for other tensors.
fn read_once(analysis: &Analysis) -> IdVec<TensorId, u64> {
    let graph = &analysis.graph;
    // Kernels may read different parts: only the largest is certain under any policy.
    let reads = graph.tensors.iter().zip(&analysis.tensors);
    let mut once: IdVec<TensorId, u64> = reads
        .map(|(tensor, traffic)| match tensor.producer {
            None => traffic.bytes.min(traffic.fused_bytes),
            Some(_) => 0,
        })
        .collect();
    for (id, tensor) in graph.tensors.iter_enumerated() {
        // A cache that a step updates: what the step has not written comes from memory.
        if let (Some(memory), Some(op)) = (tensor.in_memory_of, tensor.producer) {
            let written = analysis.unfused.of_lone_op(op).bytes_written;
            let traffic = &analysis.tensors[id];
            let read = traffic
                .bytes
                .min(traffic.fused_bytes.saturating_sub(written));
            if graph.tensors[memory].is_external() {
                once[memory] = once[memory].max(read.saturating_sub(written));
            }
        }
    }
    once
}

/// The options under which the search allows most kernels, so that its bound holds for all
/// policies.
fn widest(options: &Options) -> Options {
    let mut options = options.under(Policy::Optimal);
    let fusion = &mut options.fusion;
    fusion.objective = Objective::Time;
    fusion.horizontal = true;
    fusion.prologue = true;
    fusion.after_reductions = true;
    fusion.attention = false;
    fusion.attention_search = true;
    fusion.keeps_marks = false;
    options
}
