//! The fusion policies side by side, each with its kernels and its memory traffic on one scale.

use super::names::plural;
use super::options::policy_title;
use super::quantity::{Quantity, Run, Values};
use fuseline_core::{Analysis, Objective, Policy};
use strum::VariantArray;

/// A policy and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyBar {
    pub policy: Policy,
    /// Its title; of torch.compile the mode that is not its default.
    pub title: &'static str,
    /// Its result; `None` while that is not known, and *by hand* before any kernel is chosen by
    /// hand.
    pub result: Option<PolicyResult>,
    /// Whether this is *by hand* and saves as many bytes as the search for the fewest.
    pub is_at_optimum: bool,
}

/// Kernels, memory traffic and time of the program under a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyResult {
    /// Number of kernels: `9 kernels`.
    pub kernels: String,
    /// Memory traffic: `1.96 GB`.
    pub bytes: String,
    /// Predicted time: `1.30 ms`; `None` where only a lower bound is known.
    pub time: Option<String>,
    /// Memory traffic over the greatest of all policies, 0 to 1.
    pub share: f64,
}

/// A bar for each policy, in the order of [`Policy::VARIANTS`]. `known` are the policies whose
/// results are known.
pub fn policy_bars<'a>(known: impl IntoIterator<Item = (Policy, &'a Analysis)>) -> Vec<PolicyBar> {
    let known: Vec<_> = known.into_iter().collect();
    let unfused = known.first().map(|(_, analysis)| *analysis);
    let bytes = known
        .iter()
        .map(|(_, analysis)| analysis.fused.traffic.total);
    let objective = unfused.map_or_else(Objective::default, |any| any.options.fusion.objective);
    let tunes_matmuls = unfused.is_some_and(|any| any.options.fusion.max_autotune);
    let most = bytes.chain(unfused.map(|any| any.unfused.traffic.total));
    let most = most.max().unwrap_or_default().max(1);
    let of_policy = |policy| known.iter().find(|(known, _)| *known == policy);
    let fused_bytes = |policy| Some(of_policy(policy)?.1.fused.traffic.total);
    let is_at_optimum = objective == Objective::Bytes
        && fused_bytes(Policy::Manual).is_some_and(|by_hand| {
            unfused.is_some_and(|any| by_hand < any.unfused.traffic.total)
                && fused_bytes(Policy::Optimal).is_some_and(|fewest| by_hand <= fewest)
        });
    let bar = |&policy: &Policy| {
        // Every analysis contains the unfused program, which is the result of *no fusion*.
        let result = match policy {
            Policy::None => unfused.map(|any| (any, Run::Unfused)),
            _ => of_policy(policy).map(|(_, analysis)| (*analysis, Run::Fused)),
        };
        PolicyBar {
            policy,
            title: match policy {
                Policy::Inductor if tunes_matmuls => "max-autotune",
                _ => policy_title(policy, objective),
            },
            is_at_optimum: policy == Policy::Manual && is_at_optimum,
            result: result.map(|(analysis, run)| {
                let values = Values::new(analysis);
                let execution = run.execution(analysis);
                let noun = plural(execution.launches, "kernel");
                PolicyResult {
                    kernels: format!("{} {noun}", values.total(Quantity::Launches, run)),
                    bytes: values.total(Quantity::Bytes, run),
                    time: (analysis.predicted.as_ref()).map(|_| values.total(Quantity::Time, run)),
                    share: execution.traffic.total as f64 / most as f64,
                }
            }),
        }
    };
    Policy::VARIANTS.iter().map(bar).collect()
}
