//! What fusion can save at most: no policy reads less, and none is faster.

use fuseline_core::analysis::fusion_limit::fusion_limit;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, analyze_program, device};
use fuseline_view::present::fusion_limit::fusion_limit_text;
use strum::VariantArray;

const DECODE_BLOCK: &str = include_str!("../../public/measured/decode_block.fuse");

fn analysis(text: &str, policy: Policy, device_id: &str) -> Analysis {
    let options = Options {
        device: device(device_id).unwrap().clone(),
        ..Options::of_policy(policy)
    };
    let outcome = analyze_program(&parse(text).program, &options);
    outcome.analysis.unwrap()
}

#[test]
fn no_policy_reads_less_or_has_a_smaller_lower_bound() {
    let texts = EXAMPLES.iter().map(|example| example.text);
    for text in texts.chain([DECODE_BLOCK]) {
        for shown in [Policy::None, Policy::Inductor] {
            let shown = analysis(text, shown, "h100");
            let Some(limit) = fusion_limit(&shown) else {
                assert!(shown.graph.ops.is_empty(), "{text}");
                continue;
            };
            assert_eq!(limit.total_bytes, shown.fused.traffic.total);
            for &policy in Policy::VARIANTS {
                let other = analysis(text, policy, "h100");
                assert!(limit.weight_bytes + limit.input_bytes <= other.fused.traffic.bytes_read);
                // Rounding of sums in another order.
                assert!(
                    limit.least_bound_s <= other.fused.time_s * (1.0 + 1e-9),
                    "{policy:?}\n{text}"
                );
            }
        }
    }
}

#[test]
fn weights_of_a_decode_step_are_nearly_all_bytes() {
    for (policy, words) in [
        (
            Policy::None,
            "Of the memory traffic, 98.0 % is weights and 1.9 % is inputs. Every fusion policy reads both at least once. Fusion can lower the lower bound of the time, ",
        ),
        (
            Policy::Inductor,
            "Of the memory traffic, 98.0 % is weights and 1.9 % is inputs. Every fusion policy reads both at least once. Fusion can lower the lower bound of the time, ",
        ),
    ] {
        let said = fusion_limit_text(&analysis(DECODE_BLOCK, policy, "h100"));
        assert!(said.starts_with(words), "{said}");
    }
}

#[test]
fn a_program_that_fusion_cannot_change_says_so() {
    let text = "input a : f16[1024, 1024]\ny = relu(a)\n";
    let said = fusion_limit_text(&analysis(text, Policy::Inductor, "h100"));
    assert!(
        said.contains("50.0 % of the memory traffic is inputs"),
        "{said}"
    );
    assert!(said.contains("Fusion is done"), "{said}");
    assert_eq!(fusion_limit_text(&analysis("", Policy::Rules, "h100")), "");
}
