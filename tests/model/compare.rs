//! Policies side by side: the numbers of each policy, and the edges on which they differ.

use crate::random_graph::fusable_ops;
use fuseline_core::analysis::compare::{Compared, compare, ranked};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::model::options::Switch;
use fuseline_core::{
    Analysis, Objective, Options, Policy, analyze, analyze_program, device, notation,
};
use fuseline_view::picture::charts::roofline_compare::scene;
use fuseline_view::picture::charts::scene::{Role, Shape};
use fuseline_view::present::compare::{PolicyRow, policy_rows};
use fuseline_view::present::options::{policy_title, switch_is_idle};
use fuseline_view::present::quantity::Quantity;
use proptest::prelude::*;
use strum::VariantArray;

fn example(id: &str, policy: Policy) -> Analysis {
    let text = EXAMPLES.iter().find(|e| e.id == id).unwrap().text;
    let outcome = analyze_program(&notation::parse(text).program, &Options::of_policy(policy));
    outcome.analysis.unwrap()
}

/// Number of edges inside a kernel.
fn kept(analysis: &Analysis) -> usize {
    let partition = &analysis.partition;
    let edges = analysis.graph.ops.ids().flat_map(|op| {
        analysis.graph.predecessors[op]
            .iter()
            .map(move |&from| (from, op))
    });
    edges
        .filter(|&(from, to)| partition.computes(partition.kernel_of[to], from))
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_policy_has_its_own_numbers_and_edges((ops, externals) in fusable_ops(1..=20)) {
        let chosen = analyze(&ops, &externals, &Options::default()).unwrap();
        for compared in compare(&chosen) {
            let alone = analyze(&ops, &externals, &Options::of_policy(compared.policy)).unwrap();
            prop_assert_eq!(&*compared.analysis, &alone);
            let more = compared.differing.iter().filter(|edge| edge.is_fused).count();
            let fewer = compared.differing.len() - more;
            prop_assert_eq!(kept(&alone) + fewer, kept(&chosen) + more);
            if compared.policy == chosen.options.policy {
                prop_assert!(compared.differing.is_empty());
            }
        }
    }
}

fn rows_of(text: &str, policy: Policy) -> Vec<PolicyRow> {
    let options = Options::of_policy(policy);
    let outcome = analyze_program(&notation::parse(text).program, &options);
    policy_rows(
        &compare(&outcome.analysis.unwrap()),
        policy,
        Objective::Bytes,
    )
}

fn row_of(text: &str, policy: Policy) -> PolicyRow {
    let rows = rows_of(text, Policy::Rules).into_iter();
    rows.into_iter().find(|row| row.policy == policy).unwrap()
}

/// The policies that the table shows, best first.
fn policies_of(text: &str, policy: Policy, by: Objective) -> Vec<Policy> {
    let outcome = analyze_program(&notation::parse(text).program, &Options::of_policy(policy));
    let rows = policy_rows(&compare(&outcome.analysis.unwrap()), policy, by);
    rows.iter().map(|row| row.policy).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn policies_are_ranked_and_equal_ones_keep_their_order((ops, externals) in fusable_ops(1..=12)) {
        let chosen = analyze(&ops, &externals, &Options::default()).unwrap();
        let all = compare(&chosen);
        for &by in Objective::VARIANTS {
            let ranked = ranked(&all, by);
            prop_assert_eq!(ranked.len(), all.len());
            for pair in ranked.windows(2) {
                let [a, b] = [0, 1].map(|place: usize| &pair[place].analysis.fused);
                let order = match by {
                    Objective::Bytes => a.traffic.total.cmp(&b.traffic.total),
                    Objective::Time | Objective::Measured => a.time_s.total_cmp(&b.time_s),
                };
                let place = |at: usize| Policy::VARIANTS.iter().position(|&p| p == pair[at].policy);
                prop_assert!(order.is_lt() || order.is_eq() && place(0) < place(1));
            }
        }
    }
}

/// The transformer block's matmuls take the same time under all policies but the scores that only
/// some write.
#[test]
fn the_table_is_ranked_by_bytes_or_by_time() {
    use Policy::{Inductor, None, Optimal, Rules};
    let text = EXAMPLES
        .iter()
        .find(|e| e.id == "transformer")
        .unwrap()
        .text;
    for &by in Objective::VARIANTS {
        let ranked = policies_of(text, Rules, by);
        assert_eq!(ranked, [Optimal, Inductor, Rules, None], "{by:?}");
    }
    // A launch more for fewer bytes: the policies change places.
    let text = "input x : f16[8192, 8192]\na = relu(x)\nb = softmax(a)\nc = gelu(b)\n";
    assert_eq!(
        policies_of(text, Rules, Objective::Bytes),
        [Inductor, Optimal, Rules, None]
    );
}

#[test]
fn manual_is_compared_once_a_kernel_is_stated_or_it_is_chosen() {
    let text = "input x : f16[8, 8]\ny = relu(x)\nz = gelu(y)\n";
    let has_manual =
        |text: &str, policy| policies_of(text, policy, Objective::Bytes).contains(&Policy::Manual);
    assert!(!has_manual(text, Policy::Rules));
    assert!(has_manual(text, Policy::Manual));
    assert!(has_manual(
        &text.replace("(x)", "(x) @kernel 1"),
        Policy::Rules
    ));
}

#[test]
fn the_table_has_a_row_for_each_policy_and_names_the_edges_that_differ() {
    let chosen = example("softmax", Policy::Rules);
    let all = compare(&chosen);
    let rows = policy_rows(&all, Policy::Rules, Objective::Bytes);
    let policies: Vec<_> = all.iter().map(|compared| compared.policy).collect();
    assert_eq!(
        policies,
        [
            Policy::None,
            Policy::Rules,
            Policy::Inductor,
            Policy::Optimal
        ]
    );
    for (row, compared) in rows.iter().zip(ranked(&all, Objective::Bytes)) {
        assert_eq!(row.policy, compared.policy);
        let total = compared.analysis.fused.traffic.total;
        assert_eq!(
            row.cells
                .tooltip(Quantity::Bytes)
                .map(|exact| exact.replace([',', ' ', 'B'], "")),
            Some(total.to_string())
        );
        if row.policy == Policy::Rules {
            assert_eq!(
                [row.differing.as_str(), &row.differing_edges],
                ["–", "the chosen policy"]
            );
        } else {
            assert_eq!(row.differing, compared.differing.len().to_string());
        }
    }
    let none = &all[0];
    assert!(!none.differing.is_empty() && none.differing.iter().all(|edge| !edge.is_fused));
    let row = rows.iter().find(|row| row.policy == Policy::None).unwrap();
    assert!(row.differing_edges.contains(" separate"), "{row:?}");
    let optimal = rows.iter().find(|row| row.policy == Policy::Optimal);
    assert!(
        optimal
            .unwrap()
            .note
            .contains("proven optimal: no kernels that the search allows"),
        "{optimal:?}"
    );
}

#[test]
fn a_row_names_the_first_edges_that_differ_and_its_tooltip_more() {
    let text =
        "input x : f16[64]\na = relu(x)\nb = relu(a)\nc = relu(b)\nd = relu(c)\ne = relu(d)\n";
    let none = row_of(text, Policy::None);
    assert_eq!(none.differing, "4");
    assert_eq!(
        none.differing_edges,
        "a → b separate; b → c separate; c → d separate; and 1 more"
    );
    assert_eq!(
        none.more_differing_edges,
        "a → b separate; b → c separate; c → d separate; d → e separate"
    );
}

/// Otherwise a user who has chosen it would wonder why manual kernels are worse than those of the
/// rules.
#[test]
fn manual_without_marks_says_so() {
    let text = "input x : f16[8, 8]\ny = relu(x)\nz = gelu(y)\n";
    let rows = rows_of(text, Policy::Manual);
    let manual = rows.iter().find(|row| row.policy == Policy::Manual);
    assert_eq!(manual.unwrap().note, "no kernel marks yet");
    let stated = text
        .replace("(x)", "(x) @kernel 1")
        .replace("(y)", "(y) @kernel 1");
    assert_eq!(row_of(&stated, Policy::Manual).note, "");
}

#[test]
fn the_axes_of_all_policies_stand_still_while_they_are_held() {
    let chosen = example("transformer", Policy::Rules);
    let all = compare(&chosen);
    let first = scene(&chosen, &all, (900.0, 500.0), None);
    let text = "input x : f16[8]\nweight w : f16[8]\ny = add(x, w)\n";
    let tiny = analyze_program(&notation::parse(text).program, &Options::default());
    let tiny = tiny.analysis.unwrap();
    let compared = compare(&tiny);
    let own = scene(&tiny, &compared, (900.0, 500.0), None);
    assert_ne!(own.axes, first.axes);
    let held = scene(&tiny, &compared, (900.0, 500.0), first.axes);
    let again = scene(&chosen, &all, (900.0, 500.0), held.axes);
    assert_eq!(held.axes, again.axes);
}

#[test]
fn one_roofline_shows_every_policy_by_markers_of_its_own() {
    let chosen = example("transformer", Policy::Rules);
    let all = compare(&chosen);
    for width in [320.0, 1200.0] {
        let picture = scene(&chosen, &all, (width, 400.0), None);
        for policy in all.iter().map(|compared| compared.policy) {
            let mut markers = (picture.focus_order.iter())
                .map(|&mark| &picture.marks[mark])
                .filter(|mark| mark.role == Role::Policy(policy));
            let named = markers.all(|mark| {
                let label = mark.label.as_ref().unwrap();
                label
                    .name
                    .starts_with(policy_title(policy, Objective::Bytes))
                    && label.name.contains("intensity")
            });
            assert!(named, "{}", policy.name());
        }
        let count = |policy| {
            let marks = picture.marks.iter();
            marks
                .filter(|mark| mark.role == Role::Policy(policy))
                .count()
        };
        // Points that coincide share a marker, so there are at most as many markers as kernels with
        // a point.
        assert!(count(Policy::None) >= count(Policy::Rules));
        for compared in &all {
            assert!((1..=compared.analysis.fused.kernels.len()).contains(&count(compared.policy)));
        }
    }
}

/// In the example of three layers `none` and `manual` agree on every kernel; a marker must not hide
/// another one.
#[test]
fn markers_of_policies_hang_below_each_other_and_none_is_above_a_roof() {
    for e in EXAMPLES {
        let chosen = example(e.id, Policy::Rules);
        let all = compare(&chosen);
        for (size, radius) in [((340.0, 260.0), 5.0), ((1300.0, 560.0), 6.5)] {
            let picture = scene(&chosen, &all, size, None);
            let middles: Vec<(f64, f64)> = (picture.focus_order.iter())
                .map(|&mark| middle_of(&picture.marks[mark].shape))
                .collect();
            let roofs: Vec<_> = (picture.marks.iter())
                .filter(|mark| {
                    matches!(
                        mark.role,
                        Role::MemoryRoof | Role::MatrixRoof | Role::VectorRoof
                    )
                })
                .map(|mark| &mark.shape)
                .collect();
            assert!(roofs.len() >= 2);
            for (at, a) in middles.iter().enumerate() {
                let highest = roofs.iter().filter_map(|roof| height_at(roof, a.0));
                let highest = highest.reduce(f64::min).unwrap();
                // The box of a triangle has another middle than the triangle.
                assert!(
                    a.1 > highest - radius * 0.3,
                    "{}: {a:?} above {highest}",
                    e.id
                );
                assert!(a.1 > 0.0 && a.1 < size.1, "{}: outside", e.id);
                for b in &middles[..at] {
                    let is_apart = (a.0 - b.0).abs().max((a.1 - b.1).abs()) > radius * 1.6;
                    assert!(is_apart, "{}: {a:?} covers {b:?}", e.id);
                }
            }
        }
    }
}

#[test]
fn a_marker_says_how_many_kernels_share_it() {
    let text = "input a : f16[64, 64]\ninput b : f16[64, 64]\ninput c : f16[64, 64]\ny = relu(a)\nz = relu(b)\n";
    for (text, words) in [
        (text.to_owned(), "1 more kernel here"),
        ([text, "u = relu(c)\n"].concat(), "2 more kernels here"),
    ] {
        let outcome = analyze_program(&notation::parse(&text).program, &Options::default());
        let analysis = outcome.analysis.unwrap();
        let picture = scene(&analysis, &compare(&analysis), (900.0, 500.0), None);
        let names = picture.marks.iter().filter_map(|mark| mark.label.as_ref());
        assert!(names.clone().any(|label| label.name.ends_with(words)));
    }
}

/// The height of a line at this place; `None` beside its ends.
fn height_at(line: &Shape, x: f64) -> Option<f64> {
    let Shape::Path { points, .. } = line else {
        panic!("a roof is no {line:?}");
    };
    points.array_windows().find_map(|&[from, to]| {
        let share = (x - from.0) / (to.0 - from.0);
        let is_on = (-0.01..=1.01).contains(&share);
        is_on.then_some(from.1 + share * (to.1 - from.1))
    })
}

/// The middle of a marker's box; markers are not rotated.
fn middle_of(shape: &Shape) -> (f64, f64) {
    match shape {
        Shape::Circle { center, .. } => *center,
        Shape::Path { points, .. } => {
            let middle = |part: fn(&(f64, f64)) -> f64| {
                let parts = points.iter().map(part);
                let least = parts.clone().fold(f64::INFINITY, f64::min);
                f64::midpoint(least, parts.fold(f64::NEG_INFINITY, f64::max))
            };
            (middle(|at| at.0), middle(|at| at.1))
        }
        other => panic!("a marker is no {other:?}"),
    }
}

/// Rules that keep one matmul a kernel need twice the bytes in the transformer block: the table
/// explains it by the flash kernel.
#[test]
fn a_flash_kernel_of_the_compiler_is_named_in_its_row() {
    let with_attention = |id: &str| -> Vec<_> {
        let text = EXAMPLES.iter().find(|e| e.id == id).unwrap().text;
        let rows = rows_of(text, Policy::Rules).into_iter();
        rows.filter(|row| row.note == "with fused attention")
            .map(|row| row.policy)
            .collect()
    };
    assert_eq!(with_attention("sdpa_flash"), [Policy::Inductor]);
    assert_eq!(with_attention("mlp2"), []);
}

/// Matmuls, row kernels and chains of all sizes: more than the stacks of markers in a chart can
/// show.
fn many_kernels(count: usize) -> String {
    let part = |n: usize| {
        let (rows, inner, columns) = (16 << (n % 9), 16 << (n * 5 % 9), 16 << (n * 7 % 8));
        let dtype = ["f16", "f32", "bf16"][n % 3];
        let kernels = match n % 4 {
            0 => format!(
                "input w{n} : {dtype}[{inner}, {columns}]\ny{n} = matmul(x{n}, w{n})\nz{n} = gelu(y{n})\n"
            ),
            1 => format!("y{n} = softmax(x{n})\nz{n} = gelu(y{n})\n"),
            2 => format!("y{n} = relu(x{n})\nz{n} = sum(y{n})\n"),
            _ => format!("y{n} = gelu(x{n})\nz{n} = tanh(y{n})\nu{n} = gelu(z{n})\n"),
        };
        format!("input x{n} : {dtype}[{rows}, {inner}]\n{kernels}")
    };
    (0..count).map(part).collect()
}

/// Markers beyond the frame would be invisible.
#[test]
fn stacks_stay_in_the_frame() {
    for count in [10, 40, 120] {
        let parsed = notation::parse(&many_kernels(count));
        let outcome = analyze_program(&parsed.program, &Options::default());
        let analysis = outcome.analysis.unwrap();
        let all = compare(&analysis);
        for size in [(340.0, 260.0), (900.0, 450.0), (1300.0, 560.0)] {
            let picture = scene(&analysis, &all, size, None);
            let shapes = picture
                .focus_order
                .iter()
                .map(|&mark| &picture.marks[mark].shape);
            let heights = shapes.map(|shape| middle_of(shape).1);
            let (highest, lowest) = heights.fold((size.1, 0.0_f64), |(high, low), y| {
                (high.min(y), low.max(y))
            });
            assert!(
                highest > 5.0 && lowest < size.1,
                "{count} {size:?}: {highest} {lowest}"
            );
        }
    }
}

/// Under a policy that finds attention by itself the option changes nothing, and says so instead of
/// standing open.
#[test]
fn the_option_of_attention_is_idle_where_it_is_one_kernel_already() {
    let text = |id: &str| EXAMPLES.iter().find(|e| e.id == id).unwrap().text;
    let idle = |id: &str, policy, attention| {
        let mut options = Options::of_policy(policy);
        options.fusion.attention = attention;
        let outcome = analyze_program(&notation::parse(text(id)).program, &options);
        switch_is_idle(&outcome.analysis.unwrap(), Switch::Attention).is_some()
    };
    assert!(idle("transformer", Policy::Inductor, false));
    assert!(!idle("transformer", Policy::Inductor, true));
    assert!(!idle("transformer", Policy::Rules, false));
    assert!(!idle("mlp", Policy::Inductor, false));
}

/// A matmul with an epilogue that no library call has is generated, and Compare names its rate.
#[test]
fn the_rate_of_generated_matmuls_stands_beside_the_policy() {
    let mut options = Options::of_policy(Policy::Rules);
    options.device = device("h200").unwrap().clone();
    let text = EXAMPLES
        .iter()
        .find(|e| e.id == "transformer")
        .unwrap()
        .text;
    let chosen = analyze_program(&notation::parse(text).program, &options)
        .analysis
        .unwrap();
    let rows = policy_rows(&compare(&chosen), Policy::Rules, Objective::Bytes);
    let note = |policy| &rows.iter().find(|row| row.policy == policy).unwrap().note;
    let rate = "1 generated matmul, at 90\u{a0}% of the library's speed";
    assert!(note(Policy::Rules).ends_with(rate), "{rows:?}");
    assert!(!note(Policy::Inductor).contains("generated"), "{rows:?}");
}

/// Whatever policy is chosen, the others come to what they come to when they are.
#[test]
fn no_policy_depends_on_the_one_that_is_chosen() {
    let block = fuseline_core::examples::example("transformer_block").unwrap();
    let program = notation::parse(block.text).program;
    let of_policy = |policy| {
        let mut options = Options::of_policy(policy);
        options.fusion.attention = true;
        analyze_program(&program, &options).analysis.unwrap()
    };
    let figures = |analysis: &Analysis| (analysis.fused.launches, analysis.fused.traffic.total);
    for &chosen in Policy::VARIANTS {
        for one in compare(&of_policy(chosen)) {
            let alone = of_policy(one.policy);
            assert_eq!(
                figures(&one.analysis),
                figures(&alone),
                "{chosen:?}, {:?}",
                one.policy
            );
        }
    }
    let none = of_policy(Policy::None);
    assert_eq!(none.fused.launches, none.unfused.launches);
}

#[test]
fn without_fusion_each_op_is_a_kernel_beside_fused_attention_too() {
    let block = fuseline_core::examples::example("transformer_block").unwrap();
    let mut options = Options::of_policy(Policy::Inductor);
    options.fusion.attention = true;
    let outcome = analyze_program(&notation::parse(block.text).program, &options);
    let chosen = outcome.analysis.unwrap();
    let all = compare(&chosen);
    let none = all.iter().find(|one| one.policy == Policy::None).unwrap();
    assert_eq!(none.analysis.fused.launches, chosen.unfused.launches);
    assert_eq!(
        none.analysis.fused.traffic.total,
        chosen.unfused.traffic.total
    );
}

#[test]
fn a_policy_with_fewer_bytes_than_the_proven_ones_is_named() {
    // A kernel would keep two rows of 513 kB, of `x` and of `z`, which only the search minds.
    let text = "input x : f32[4096, 128256]\ninput z : f32[4096, 128256]\nr = sum(x)\nt = sum(z)\n\
                c = mul(x, r)\nd = mul(z, t)\ny = add(c, d)\ns = softmax(y)\n";
    let parsed = notation::parse(text);
    let outcome = analyze_program(&parsed.program, &Options::of_policy(Policy::Optimal));
    let all = compare(&outcome.analysis.unwrap());
    let note = |all: &[Compared]| {
        let rows = policy_rows(all, Policy::Optimal, Objective::Bytes);
        let row = rows.into_iter().find(|row| row.policy == Policy::Optimal);
        row.unwrap().note
    };
    let named = "; torch.compile has fewer, in kernels that the search does not allow";
    assert!(note(&all).contains(named), "{}", note(&all));
    let alone = all.into_iter().filter(|one| one.policy == Policy::Optimal);
    let alone: Vec<Compared> = alone.collect();
    assert!(!note(&alone).contains("does not allow"));
}

/// The product of few rows is a library call that takes no residual, so the two as one kernel are
/// generated code, which is slower than both.
#[test]
fn a_policy_that_is_predicted_to_be_faster_than_the_least_lower_bound_is_named() {
    let text = "input x : f8e4m3[8, 14336]\nweight w : f8e4m3[14336, 4096]\ninput a : f32[1]\n\
                input b : f32[1]\ninput r : bf16[8, 4096]\n\
                y = scaled_matmul(x, w, a, b) : bf16[8, 4096]\nz = add(y, r)\n";
    let parsed = notation::parse(text);
    assert_eq!(parsed.diagnostics, []);
    let mut options = Options::of_policy(Policy::Optimal);
    options.fusion.objective = Objective::Time;
    options.device = fuseline_core::device("h200").unwrap().clone();
    let all = compare(&analyze_program(&parsed.program, &options).analysis.unwrap());
    let rows = policy_rows(&all, Policy::Optimal, Objective::Time);
    let row = rows.iter().find(|row| row.policy == Policy::Optimal);
    let note = &row.unwrap().note;
    assert!(
        note.contains("is predicted to be faster: the search minimizes the lower bound"),
        "{note}"
    );
}
