//! The sentence that leads the page, and the policies beside each other.

use crate::headline::TEXT;
use fuseline_core::analysis::compare::compare;
use fuseline_core::examples::{EXAMPLES, Example, NEXT, example};
use fuseline_core::{Analysis, Options, Policy, analyze_program, device, notation};
use fuseline_view::present::claim::{claim, counting_claim, page_title};
use fuseline_view::present::figure::{Part, explanation};
use fuseline_view::present::format::format_percent;
use fuseline_view::present::number::Number;
use fuseline_view::present::policy_bars::policy_bars;
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use strum::VariantArray;

fn analysis(text: &str, policy: Policy) -> Analysis {
    let options = Options::of_policy(policy);
    let outcome = analyze_program(&notation::parse(text).program, &options);
    outcome.analysis.unwrap()
}

fn said(text: &str, policy: Policy) -> String {
    Part::text_of(&claim(&analysis(text, policy), true))
}

#[test]
fn what_fusion_saves_is_said_with_numbers_that_explain_themselves() {
    let analysis = analysis(TEXT, Policy::Rules);
    let parts = claim(&analysis, true);
    assert_eq!(
        Part::text_of(&parts),
        "Fusing by textbook rules turns 3 kernels into 2 and saves 28.6 % of the memory traffic: \
         at best 1.49× faster on A100 SXM 80GB."
    );
    let numbers = parts.iter().filter(|part| part.figure.is_some());
    let numbers: Vec<_> = numbers.map(|part| part.text.as_str()).collect();
    assert_eq!(numbers, ["3", "2", "28.6 %", "1.49×"]);
    assert_eq!(
        Part::text_of(&claim(&analysis, false)),
        "Without fusion, 3 kernels read and write 918 kB of memory: at best 6.45 µs on A100 SXM 80GB."
    );
}

#[test]
fn while_the_kernels_fuse_the_saved_share_counts_and_nothing_else() {
    let analysis = analysis(TEXT, Policy::Rules);
    let at = |share| Part::text_of(&counting_claim(&analysis, share));
    assert_eq!(
        [0.0, 0.5].map(at),
        [
            "Fusing by textbook rules turns 3 kernels into 2 and saves 0.0 % of the memory traffic: \
             at best 1.49× faster on A100 SXM 80GB.",
            "Fusing by textbook rules turns 3 kernels into 2 and saves 14.3 % of the memory traffic: \
             at best 1.49× faster on A100 SXM 80GB.",
        ]
    );
    assert_eq!(counting_claim(&analysis, 1.0), claim(&analysis, true));
}

#[test]
fn the_title_of_the_page_is_the_sentence_and_the_name() {
    let analysis = analysis(TEXT, Policy::Rules);
    assert_eq!(
        page_title(&analysis, true),
        "Fusing by textbook rules turns 3 kernels into 2 and saves 28.6 % of the memory traffic: \
         at best 1.49× faster on A100 SXM 80GB · Fuseline"
    );
    assert_eq!(
        page_title(&analysis, false),
        "Without fusion, 3 kernels read and write 918 kB of memory: at best 6.45 µs on A100 SXM 80GB · Fuseline"
    );
}

#[test]
fn on_a_device_with_a_model_the_ratio_is_predicted() {
    let options = Options {
        device: device("h200").unwrap().clone(),
        ..Options::of_policy(Policy::Rules)
    };
    let text = TEXT.replace("256", "4096");
    let outcome = analyze_program(&notation::parse(&text).program, &options);
    let analysis = outcome.analysis.unwrap();
    let said = Part::text_of(&claim(&analysis, true));
    assert!(said.contains(": predicted 1."), "{said}");
    assert!(said.ends_with("× faster on H200."), "{said}");
}

#[test]
fn where_fusion_saves_nothing_the_reason_is_said() {
    let single = "input x : f16[256]\ny = relu(x)\n";
    let apart =
        "input x : f16[256, 256]\nweight w : f16[256, 256]\ny = matmul(x, w)\nz = softmax(y)\n";
    for (text, policy, expected) in [
        (
            "",
            Policy::Rules,
            "Nothing runs yet. Write an operation, open a model or choose an example.",
        ),
        (
            single,
            Policy::Rules,
            "Nothing to save here: the program is one kernel already.",
        ),
        (
            apart,
            Policy::Rules,
            "Nothing saved: the textbook rules fuse none of these ops.",
        ),
        (
            apart,
            Policy::Inductor,
            "Nothing saved: torch.compile fuses none of these ops.",
        ),
        (
            apart,
            Policy::Optimal,
            "Nothing saved: no kernels that the search allows have fewer bytes.",
        ),
        (
            TEXT,
            Policy::Manual,
            "Nothing saved yet: no kernels are merged by hand.",
        ),
    ] {
        assert_eq!(said(text, policy), expected);
    }
    assert!(
        said(TEXT, Policy::None).starts_with("Without fusion, 3 kernels read and write 918 kB")
    );
}

/// A compiler that fuses nothing still generates the ops, which takes another time than the
/// library's kernels.
#[test]
fn a_time_that_changes_without_fusion_has_its_reason() {
    let text =
        "input x : f16[8192, 4096]\nweight w : f16[4096, 4096]\ny = matmul(x, w)\nz = softmax(y)\n";
    let of = |policy| {
        let mut options = Options::of_policy(policy);
        options.device = device("h100").unwrap().clone();
        let program = notation::parse(text).program;
        analyze_program(&program, &options).analysis.unwrap()
    };
    let analysis = of(Policy::Inductor);
    let predicted = analysis.predicted.as_ref().unwrap();
    let change = 100.0 * (predicted.fused_s / predicted.unfused_s - 1.0);
    assert!(change.abs() > 1.0, "{change}");
    let than = if change > 0.0 { "longer" } else { "less time" };
    assert_eq!(
        Part::text_of(&claim(&analysis, true)),
        format!(
            "Nothing saved: torch.compile fuses none of these ops. Generated kernels of these ops take {} {than} than PyTorch's.",
            format_percent(change.abs())
        )
    );
    // By hand, an op that nobody marked stays the library's.
    assert_eq!(
        Part::text_of(&claim(&of(Policy::Manual), true)),
        "Nothing saved yet: no kernels are merged by hand."
    );
}

#[test]
fn two_lower_bounds_have_no_ratio() {
    let partial = said(&format!("{TEXT}o = opaque(n)\n"), Policy::Rules);
    assert_eq!(
        partial,
        "Fused, ≥ 2 kernels read and write ≥ 655 kB of memory. Give every op a shape to see what fusion saves."
    );
}

#[test]
fn the_bars_of_all_policies_share_one_scale() {
    let shown = analysis(TEXT, Policy::Rules);
    let all = compare(&shown);
    let bars = policy_bars(all.iter().map(|one| (one.policy, &*one.analysis)));
    let row = |policy| bars.iter().find(|bar| bar.policy == policy).unwrap();
    let none = row(Policy::None).result.as_ref().unwrap();
    assert_eq!(
        (none.kernels.as_str(), none.bytes.as_str(), none.share),
        ("3 kernels", "918 kB", 1.0)
    );
    let rules = row(Policy::Rules).result.as_ref().unwrap();
    assert_eq!(
        (rules.kernels.as_str(), rules.bytes.as_str()),
        ("2 kernels", "655 kB")
    );
    assert!((rules.share - 655_360.0 / 917_504.0).abs() < 1e-12);
    // The text states no kernel.
    assert_eq!(row(Policy::Manual).result, None);
    assert!(bars.iter().all(|bar| !bar.is_at_optimum));
    // Of a large program only the chosen policy is known, and what no policy fuses.
    let known = policy_bars([(Policy::Rules, &shown)]);
    let known: Vec<_> = known
        .iter()
        .filter(|bar| bar.result.is_some())
        .map(|bar| bar.policy)
        .collect();
    assert_eq!(known, [Policy::None, Policy::Rules]);
}

#[test]
fn kernels_by_hand_are_at_the_optimum_when_nothing_fuses_into_fewer_bytes() {
    let is_at_optimum = |marks: [&str; 3]| {
        let text = format!(
            "input x : f16[4096, 1024]\na = gelu(x){}\nb = exp(a){}\nc = tanh(b){}",
            marks[0], marks[1], marks[2]
        );
        let shown = analysis(&text, Policy::Manual);
        let all = compare(&shown);
        let bars = policy_bars(all.iter().map(|one| (one.policy, &*one.analysis)));
        let by_hand = bars.iter().find(|bar| bar.policy == Policy::Manual);
        by_hand.unwrap().is_at_optimum
    };
    let one = " @kernel 1";
    assert!(!is_at_optimum([one, one, ""]));
    assert!(is_at_optimum([one; 3]));
}

/// A policy that computes an op in several kernels, or a reduction in two, can add traffic: the
/// card of the number says which.
#[test]
fn a_negative_saving_says_why() {
    let mut negative = [0, 0];
    let whole = |example: &Example| vec![example.text.to_owned()];
    let split = example(NEXT).unwrap();
    let split = split.text.replace("param S = 2048", "param S = 128");
    let split = split.replace("param H = 4096", "param H = 16384");
    // Each of the two kernels reads four bytes in place of one.
    let narrowed = "input x : f32[4096, 4096]\np = cast(x, dtype=f8)\na = sum(p, axis=0)\nb = sum(p, axis=1)\n".to_owned();
    for text in EXAMPLES.iter().flat_map(whole).chain([split, narrowed]) {
        for &policy in Policy::VARIANTS {
            let outcome =
                analyze_program(&notation::parse(&text).program, &Options::of_policy(policy));
            let analysis = outcome.analysis.unwrap();
            let saved = |of| {
                let told = explanation(Figure::fused(of, Quantity::Saving), &analysis)?;
                let Number::SavedPercent(percent) = told.term?.number else {
                    return None;
                };
                Some((percent, told.notes))
            };
            let kernels = analysis.fused.kernels.ids();
            let kernels = kernels.filter_map(|kernel| Subject::kernel(&analysis, kernel));
            for (at, of) in [Subject::Program].into_iter().chain(kernels).enumerate() {
                let Some((percent, notes)) = saved(of) else {
                    continue;
                };
                let is_said = notes
                    .iter()
                    .any(|note| note.starts_with("Fusion adds memory traffic here: "));
                assert_eq!(
                    is_said,
                    percent < 0.0,
                    "{policy:?} {of:?} {percent} {notes:?}"
                );
                negative[usize::from(at > 0)] += usize::from(is_said);
            }
        }
    }
    assert!(negative.iter().all(|&count| count > 0), "{negative:?}");
}
