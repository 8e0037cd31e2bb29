//! Texts of the panels, and that names in them are escaped.

use fuseline_core::model::options::Switch;
use fuseline_core::{
    Device, FusionOptions, Options, Policy, analyze_program, default_device, notation,
};
use fuseline_view::present::certificates::certificate_text;
use strum::VariantArray;

#[test]
fn a_switch_concerns_the_policies_that_look_at_it() {
    let shown = |policy: Policy| -> Vec<_> {
        let switches = Switch::VARIANTS.iter().copied();
        let shown = switches.filter(|switch| switch.concerns(policy));
        shown.map(Switch::name).collect()
    };
    assert_eq!(shown(Policy::Rules), ["attention", "kernel-marks"]);
    assert_eq!(
        shown(Policy::Inductor),
        ["max-autotune", "torch-2.15", "attention", "kernel-marks"]
    );
    assert_eq!(
        shown(Policy::Optimal),
        [
            "horizontal",
            "prologue",
            "after-reductions",
            "attention",
            "attention-search",
            "kernel-marks"
        ]
    );
    for &policy in Policy::VARIANTS {
        assert!(shown(policy).contains(&"attention"));
    }
}

#[test]
fn a_launch_of_ones_own_is_told_from_that_of_the_table() {
    let listed = default_device();
    assert!(!listed.has_own_launch());
    let own = listed.clone().with_launch_s(7.5e-6);
    assert!(own.has_own_launch());
    assert_eq!(own.listed_launch_s(), Some(listed.launch_s.value));
    let custom = Device::custom(1e12, 1e14, 1e13, 7.5e-6);
    assert!(!custom.has_own_launch());
    assert_eq!(custom.listed_launch_s(), None);
}

#[test]
fn a_search_says_how_well_it_did() {
    let text = "input x : f16[64, 64]\na = relu(x)\nb = gelu(a)\nc = add(a, b)\nd = add(c, x)\n";
    let certificate = |budget_states| {
        let options = Options {
            fusion: FusionOptions {
                budget_states,
                ..FusionOptions::default()
            },
            ..Options::of_policy(Policy::Optimal)
        };
        let outcome = analyze_program(&notation::parse(text).program, &options);
        outcome.analysis.unwrap().certificate.unwrap()
    };
    let proven = certificate_text(&certificate(10_000), false);
    assert_eq!(
        proven,
        "proven optimal: no kernels that the search allows have fewer bytes"
    );
    let mut stopped = certificate(0);
    stopped.is_optimal = false;
    let text = certificate_text(&stopped, false);
    assert!(
        text.starts_with("at most ")
            && text.contains("above the optimum; the search stopped after"),
        "{text}"
    );
}
