//! How the engine did a task, as an instruction.

use super::state::PageState;
use fuseline_core::Policy;
use fuseline_core::model::options::{FusionOptions, Switch};
use fuseline_view::present::names::listed;
use fuseline_view::present::options::{
    f32_conv_words, f32_matmul_words, policy_title, switch_name,
};
use strum::VariantArray;

/// What leads from one state of the page to another: `Merge `a` and `b` into one kernel.`
pub(super) fn way_words(before: &PageState, after: &PageState) -> String {
    let (shared, changed) = (&before.shared, &after.shared);
    let mut words = Vec::new();
    if changed.policy == Policy::Manual {
        words.extend(merges(before, after));
    } else {
        words.extend(choices(before, after));
        let lines = shared.text.lines().zip(changed.text.lines());
        let lines = lines.filter(|(a, b)| a != b);
        words.extend(lines.take(MAX_LINES).map(|(_, line)| changed_line(line)));
    }
    if words.is_empty() {
        return String::new();
    }
    format!("{}.", words.join(". "))
}

/// Most changed lines of the text that are quoted.
const MAX_LINES: usize = 4;

/// The kernels of several ops that were not there before.
fn merges(before: &PageState, after: &PageState) -> Vec<String> {
    let (Some(before), Some(after)) = (before.analyzed(), after.analyzed()) else {
        return Vec::new();
    };
    let kernels_before = &before.analysis.fused.kernels;
    let kernels = after.analysis.fused.kernels.iter();
    let merged = kernels.filter(|kernel| {
        kernel.ops.len() > 1 && !kernels_before.iter().any(|other| other.ops == kernel.ops)
    });
    merged
        .map(|kernel| {
            let ops = kernel
                .ops
                .iter()
                .filter_map(|&op| after.analysis.graph.ops.get(op));
            let names = ops.map(|op| format!("`{}`", op.name)).collect();
            format!("Merge {} into one kernel", listed(names))
        })
        .collect()
}

fn choices(before: &PageState, after: &PageState) -> Vec<String> {
    let (shared, changed) = (&before.shared, &after.shared);
    let mut words = Vec::new();
    if shared.policy != changed.policy {
        words.push(format!(
            "Choose the fusion policy {}",
            policy_title(changed.policy, changed.fusion.objective)
        ));
    }
    if shared.fusion.objective != changed.fusion.objective {
        words.push(format!(
            "Under Options, search for the {}",
            policy_title(Policy::Optimal, changed.fusion.objective)
        ));
    }
    if shared.device != changed.device {
        words.push(format!("Choose the GPU {}", changed.device.name));
    }
    for &switch in Switch::VARIANTS {
        let is_on = |mut fusion: FusionOptions| *switch.flag(&mut fusion);
        if is_on(shared.fusion) != is_on(changed.fusion) {
            let state = if is_on(changed.fusion) { "on" } else { "off" };
            words.push(format!(
                "Under Options, switch {} {state}",
                switch_name(switch)
            ));
        }
    }
    if shared.conventions.f32_matmul != changed.conventions.f32_matmul {
        let name = f32_matmul_words(changed.conventions.f32_matmul).name;
        words.push(format!(
            "In the counting conventions, compute f32 matmuls in {name}"
        ));
    }
    if shared.conventions.f32_conv != changed.conventions.f32_conv {
        let name = f32_conv_words(changed.conventions.f32_conv).name;
        words.push(format!(
            "In the counting conventions, compute f32 convolutions in {name}"
        ));
    }
    words
}

/// A line of the text without its comment; of a param its value alone.
fn changed_line(line: &str) -> String {
    let statement = line.split('#').next().unwrap_or(line).trim();
    match statement.strip_prefix("param ") {
        Some(param) => {
            let shown = param.split(" in ").next().unwrap_or(param).trim();
            format!("Move the slider to `{shown}`")
        }
        None => format!("Write `{statement}`"),
    }
}
