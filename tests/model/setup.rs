//! What a printed page says about the choices behind its figures.

use fuseline_core::notation::parse;
use fuseline_core::{Conventions, DEVICES, FusionOptions, Objective, Options, Policy, ReshapeCost};
use fuseline_view::present::setup::setup;

#[test]
fn every_choice_that_figures_depend_on_is_named() {
    let program =
        parse("param S = 16384 in 128..65536\nparam H = 64\ninput x : f16[S, H]\ny = relu(x)\n")
            .program;
    let device = DEVICES.iter().find(|device| device.id == "h200").unwrap();
    let options = Options {
        fusion: FusionOptions {
            objective: Objective::Time,
            horizontal: true,
            max_autotune: true,
            ..FusionOptions::default()
        },
        conventions: Conventions {
            reshape: ReshapeCost::View,
            ..Conventions::default()
        },
        device: device.clone(),
        ..Options::of_policy(Policy::Optimal)
    };
    let said = setup(&options, &program);
    let value = |name| {
        said.iter()
            .find(|(choice, _)| *choice == name)
            .map(|(_, value)| &**value)
    };
    assert!(
        value("Fusion policy")
            .unwrap()
            .starts_with("least time: the legal kernels")
    );
    // `max-autotune` is an option of the compiler.
    assert_eq!(
        value("Options"),
        Some("horizontal fusion, ops after reductions, fused attention where it pays")
    );
    assert!(value("GPU").unwrap().contains("H200"));
    assert!(
        value("Counting conventions")
            .unwrap()
            .contains("a reshape is a view")
    );
    assert_eq!(value("Type"), Some("f16"));
    assert_eq!(value("Sizes"), Some("S = 16,384, H = 64"));
}

#[test]
fn what_there_is_none_of_has_no_line() {
    let said = setup(
        &Options::of_policy(Policy::Rules),
        &parse("y = relu(x)\n").program,
    );
    let names: Vec<&str> = said.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["Fusion policy", "GPU", "Counting conventions"]);
}
