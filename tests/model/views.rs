//! Texts of the panels, and that names in them are escaped.

use fuseline::core::{FusionOptions, Objective, Options, Policy, analyze_program, notation};
use fuseline::markup::Markup;
use fuseline::present::certificates::certificate_text;
use fuseline::views::fusion_options::{Launch, options};

/// The text of some markup, without tags.
pub(crate) fn words(markup: &Markup) -> String {
    let html = markup.html().text;
    let mut words = String::new();
    let mut is_in_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_in_tag = true,
            '>' => {
                is_in_tag = false;
                words.push(' ');
            }
            _ if !is_in_tag => words.push(c),
            _ => {}
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

const LAUNCH: Launch = Launch {
    seconds: 2e-6,
    is_chosen: false,
};

#[test]
fn a_policy_shows_the_options_that_it_looks_at() {
    let shown = |policy| words(&options(policy, FusionOptions::default(), LAUNCH));
    assert!(!shown(Policy::Rules).contains("Cheapest in"));
    assert!(!shown(Policy::Rules).contains("max-autotune"));
    assert!(shown(Policy::Inductor).contains("max-autotune"));
    assert!(!shown(Policy::Inductor).contains("horizontal"));
    for what in ["Cheapest in", "horizontal", "prologue", "after reductions"] {
        assert!(shown(Policy::Optimal).contains(what), "{what}");
    }
    for policy in Policy::ALL {
        assert!(shown(policy).contains("attention as one kernel"));
        assert!(shown(policy).contains("Launch of a kernel 2.00 µs"));
    }
}

#[test]
fn options_show_what_is_chosen() {
    let fusion = FusionOptions {
        objective: Objective::Time,
        after_reductions: false,
        ..FusionOptions::default()
    };
    let html = options(
        Policy::Optimal,
        fusion,
        Launch {
            seconds: 7.5e-6,
            is_chosen: true,
        },
    )
    .html()
    .text;
    assert!(html.contains(r#"id="objective-time" data-objective="1" checked="""#));
    assert!(!html.contains(r#"id="objective-bytes" data-objective="0" checked"#));
    assert!(!html.contains(r#"id="switch-after-reductions" data-switch="2" checked"#));
    assert!(html.contains(r#"value="7.5""#));
    assert!(html.contains("As the device"));
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
    let proven = certificate_text(&certificate(10_000));
    assert_eq!(proven, "proven optimal in bytes");
    let mut stopped = certificate(0);
    stopped.is_optimal = false;
    let text = certificate_text(&stopped);
    assert!(
        text.starts_with("at most ") && text.contains("above the optimum; search stopped after"),
        "{text}"
    );
}
