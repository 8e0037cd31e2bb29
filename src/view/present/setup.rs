//! The choices behind the figures of a page, in words: what a printed page says first.

use super::options::{
    externals_words, f32_conv_words, f32_matmul_words, policy_summary, policy_title, reshape_words,
    switch_name,
};
use crate::present::format::{format_count, format_seconds};
use fuseline_core::Options;
use fuseline_core::model::options::Switch;
use fuseline_core::model::program::Program;
use fuseline_core::notation::edit::main_dtype;
use strum::VariantArray;

/// Each choice with its value: who fuses, on which device, how bytes are counted, and the sizes.
pub fn setup(options: &Options, program: &Program) -> Vec<(&'static str, String)> {
    let Options { policy, device, .. } = options;
    let policy_words = format!(
        "{}: {}",
        policy_title(*policy, options.fusion.objective),
        policy_summary(*policy)
    );
    let launch = format_seconds(device.launch_s.value);
    let measured = device
        .probe
        .as_ref()
        .map(|probe| format!(", {}", probe.origin()));
    let measured = measured.unwrap_or_default();
    let conventions = &options.conventions;
    let counting = format!(
        "inputs and weights count {}, a reshape is {}, f32 matmuls run in {}, f32 convolutions in {}",
        externals_words(conventions.externals).name,
        reshape_words(conventions.reshape).name,
        f32_matmul_words(conventions.f32_matmul).name,
        f32_conv_words(conventions.f32_conv).name,
    );
    let sizes = program.params.iter().map(|param| {
        let value = usize::try_from(param.value);
        let value = value.map_or_else(|_| param.value.to_string(), format_count);
        format!("{} = {value}", param.name.text)
    });
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    let element_type = main_dtype(program).map_or("", <&str>::from).to_owned();
    let all = [
        ("Fusion policy", policy_words),
        ("Options", switches(options)),
        (
            "GPU",
            format!("{}{measured}, {launch} per launch", device.name),
        ),
        ("Type", element_type),
        ("Counting conventions", counting),
        ("Sizes", sizes),
    ];
    (all.into_iter())
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// The options that are on and that the policy uses.
fn switches(options: &Options) -> String {
    let mut fusion = options.fusion;
    let switches = Switch::VARIANTS.iter().filter_map(|switch| {
        let is_on = switch.concerns(options.policy) && *switch.flag(&mut fusion);
        is_on.then(|| switch_name(*switch).to_owned())
    });
    switches.collect::<Vec<_>>().join(", ")
}
