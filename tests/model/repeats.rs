//! Folding: of equal kernels again and again one round is drawn, and every op that is hidden has its equal in it.
//!
//! `DAG_SVG=dir cargo test --test model repeats` also writes all drawings to `dir`.

use crate::dag_check::faults;
use crate::dag_svg::draw;
use crate::families::{chain, ladder, text_of};
use crate::gpt2::{OPS_PER_BLOCK, gpt2};
use crate::random_graph;
use fuseline::core::examples::EXAMPLES;
use fuseline::core::notation::parse;
use fuseline::core::{
    Analysis, KernelId, Op, OpType, Options, Policy, TensorDecl, TensorRole, analyze,
    analyze_program,
};
use fuseline::picture::dag::metrics::SMALL_FONT_PX;
use fuseline::picture::dag::repeats::Repeats;
use fuseline::picture::dag::viewport::{LEGIBLE_PX, Viewport};
use fuseline::picture::dag::wrap::{in_columns, wrap};
use fuseline::picture::dag::{DagLayout, EdgeEnd, Point, folded_layout, layout};
use proptest::prelude::*;
use std::fmt::Write as _;

const POLICIES: [Policy; 3] = [Policy::None, Policy::Rules, Policy::Inductor];

fn of_text(text: &str, policy: Policy) -> Analysis {
    let options = Options::of_policy(policy);
    let outcome = analyze_program(&parse(text).program, &options);
    outcome.analysis.unwrap()
}

fn repeats(analysis: &Analysis) -> Repeats {
    Repeats::find(&analysis.graph, &analysis.partition)
}

/// First op, kernels of a round and rounds of each repeat.
fn summary(analysis: &Analysis) -> Vec<(String, usize, usize)> {
    let name = |kernel: KernelId| {
        let op = analysis.partition.kernels[kernel][0];
        analysis.graph.ops[op].name.clone()
    };
    let repeats = repeats(analysis);
    (repeats.runs().iter())
        .map(|run| (name(run.first), run.kernels, run.rounds))
        .collect()
}

fn folded(analysis: &Analysis) -> DagLayout {
    folded_layout(&analysis.graph, &analysis.partition, repeats(analysis))
}

/// `head`, then `body` with `#` as the number of the round and `@` as that of the one before, then `tail`.
fn program(head: &str, body: &str, tail: &str, rounds: usize) -> String {
    let mut text = format!("{head}\n");
    for round in 1..=rounds {
        let body = body.replace('#', &round.to_string());
        writeln!(text, "{}", body.replace('@', &(round - 1).to_string())).unwrap();
    }
    text + &tail.replace('#', &rounds.to_string())
}

const HEAD: &str = "input t : f16[64, 32]\nweight e : f16[32, 32]\nx0 = matmul(t, e)";
const BLOCK: &str = "weight w# : f16[32, 32]
n# = layer_norm(x@)
m# = matmul(n#, w#)
g# = gelu(m#)
x# = add(g#, x@)";
const TAIL: &str = "weight u : f16[32, 128]\nf = rms_norm(x#)\ny = matmul(f, u)";

/// The shown kernels, one a line, and how often those in brackets run.
fn text_picture(analysis: &Analysis) -> String {
    let picture = folded(analysis);
    let mut text = String::new();
    for (kernel, ops) in analysis.partition.kernels.iter_enumerated() {
        if !picture.repeats.shows_kernel(kernel) {
            continue;
        }
        let run = picture.repeats.round_of(kernel).map(|(run, _)| run);
        let names: Vec<_> = ops
            .iter()
            .map(|&op| &*analysis.graph.ops[op].name)
            .collect();
        let border = match run {
            Some(_) => "|",
            None => " ",
        };
        let last = run.filter(|run| run.shown().end == kernel.index() + 1);
        let count = last.map_or_else(String::new, |run| format!("  x {}", run.rounds));
        writeln!(text, "{border} {}{count}", names.join(" ")).unwrap();
    }
    text
}

#[test]
fn pictures_as_text() {
    let blocks = program(HEAD, BLOCK, TAIL, 6);
    let none = text_picture(&of_text(&blocks, Policy::None));
    assert_eq!(none, "  x0\n| n1\n| m1\n| g1\n| x1  x 6\n  f\n  y\n");
    let rules = text_picture(&of_text(&blocks, Policy::Rules));
    assert_eq!(rules, "  x0\n| n1\n| m1 g1 x1  x 6\n  f\n  y\n");
    let two = format!("{blocks}\np = matmul(y, r)\nweight r : f16[128, 32]\nz0 = tanh(p)\n");
    let two = program(&two, "k# = rms_norm(z@)\nz# = add(k#, z@)", "", 4);
    let two = text_picture(&of_text(&two, Policy::None));
    let expected = "  x0\n| n1\n| m1\n| g1\n| x1  x 6\n  f\n  y\n  p\n  z0\n| k1\n| z1  x 4\n";
    assert_eq!(two, expected);
}

#[test]
fn blocks_of_gpt2_are_one_block_as_often_as_it_has_blocks() {
    for policy in [Policy::None, Policy::Rules] {
        let (ops, externals) = gpt2(48, true);
        let analysis = analyze(&ops, &externals, &Options::of_policy(policy)).unwrap();
        let repeats = repeats(&analysis);
        let [run] = repeats.runs() else {
            panic!("{policy:?}: {:?}", repeats.runs());
        };
        assert_eq!(run.rounds, 48, "{policy:?}");
        assert_eq!(run.carried.len(), 1, "{policy:?}");
        assert_eq!(
            folded(&analysis).shown_op_count(),
            OPS_PER_BLOCK,
            "{policy:?}"
        );
    }
}

#[test]
fn what_is_written_often_is_drawn_as_what_is_written_once() {
    for policy in [Policy::None, Policy::Rules] {
        for rounds in [4, 5, 17] {
            let many = of_text(&program(HEAD, BLOCK, TAIL, rounds), policy);
            let found = repeats(&many);
            let [run] = found.runs() else {
                panic!("{policy:?}, {rounds}: {:?}", found.runs());
            };
            assert_eq!(run.rounds, rounds, "{policy:?}");
            let picture = folded(&many);
            let few = folded(&of_text(&program(HEAD, BLOCK, TAIL, 4), policy));
            assert_eq!(picture.size(), few.size());
            assert_eq!(picture.edges.len(), few.edges.len());
            let places = |picture: &DagLayout| -> Vec<_> {
                let shown = picture.ops.iter_enumerated();
                let shown = shown.filter(|(op, _)| picture.repeats.shows_op(*op));
                shown.map(|(_, place)| place.clone()).collect()
            };
            assert_eq!(places(&picture), places(&few));
        }
    }
}

#[test]
fn kernels_across_the_border_of_blocks_are_folded_too() {
    let (ops, externals) = gpt2(48, true);
    let analysis = analyze(&ops, &externals, &Options::of_policy(Policy::Inductor)).unwrap();
    let block = |op| {
        analysis.graph.ops[op]
            .name
            .split_once('.')
            .map(|(block, _)| block.to_owned())
    };
    let is_across = |kernel: KernelId| {
        let ops = &analysis.partition.kernels[kernel];
        ops.iter().any(|&op| block(op) != block(ops[0]))
    };
    let found = repeats(&analysis);
    let [run] = found.runs() else {
        panic!("{:?}", found.runs());
    };
    // The last sum has no norm behind it, so its kernel differs from those of the other blocks.
    assert_eq!(run.rounds, 47);
    assert!(run.shown().map(KernelId::new).any(is_across));
}

#[test]
fn names_and_the_order_of_weights_play_no_part() {
    let mut text = program(HEAD, BLOCK, TAIL, 6);
    for (old, new) in [
        ("g3 ", "zulu "),
        ("g3,", "zulu,"),
        ("w2 ", "w_b "),
        ("w2)", "w_b)"),
    ] {
        text = text.replace(old, new);
    }
    let [(_, _, rounds)] = summary(&of_text(&text, Policy::Rules))[..] else {
        panic!("not one repeat");
    };
    assert_eq!(rounds, 6);
}

#[test]
fn rounds_that_differ_are_not_folded() {
    let rounds = |text: &str| -> Vec<usize> {
        let found = summary(&of_text(text, Policy::Rules));
        found.into_iter().map(|(_, _, rounds)| rounds).collect()
    };
    let text = program(HEAD, BLOCK, TAIL, 8);
    assert_eq!(rounds(&text), [8]);
    // Another function in the fourth block.
    assert_eq!(rounds(&text.replace("gelu(m4)", "silu(m4)")), [3, 4]);
    // The sixth block reads what the fourth wrote, so only the last round may be the fourth.
    assert_eq!(rounds(&text.replace("add(g6, x5)", "add(g6, x4)")), [4]);
    // Two blocks share a weight.
    assert_eq!(
        rounds(&text.replace("matmul(n5, w5)", "matmul(n5, w4)")),
        [3, 3]
    );
    // What the second block computes is read behind all blocks.
    assert_eq!(
        rounds(&text.replace("f = rms_norm(x8)", "k = rms_norm(g2)\nf = rms_norm(x8)")),
        [6]
    );
    assert!(rounds(&program(HEAD, BLOCK, TAIL, 2)).is_empty());
}

#[test]
fn branches_beside_each_other_are_no_rounds() {
    let branch = "weight w# : f16[32, 32]\nm# = matmul(x0, w#)\ng# = gelu(m#)\nr# = layer_norm(g#)";
    let text = program(HEAD, branch, "y = add(r1, r2)", 6);
    assert_eq!(summary(&of_text(&text, Policy::None)), []);
}

#[test]
fn a_chain_of_one_op_is_not_folded_and_one_of_two_is() {
    assert_eq!(summary(&of_text(&text_of(&chain(100)), Policy::None)), []);
    let [(_, kernels, rounds)] = summary(&of_text(&text_of(&ladder(100)), Policy::None))[..] else {
        panic!("a ladder is a repeat");
    };
    assert_eq!((kernels, rounds), (2, 49));
}

#[test]
fn what_all_rounds_read_is_drawn_once() {
    let head = format!("{HEAD}\ninput mask : f16[64, 32]\nscale = sigmoid(mask)");
    let block = format!("{BLOCK}\n").replace("gelu(m#)", "mul(m#, scale)");
    let analysis = of_text(&program(&head, &block, TAIL, 9), Policy::None);
    let [(_, _, rounds)] = summary(&analysis)[..] else {
        panic!("{:?}", summary(&analysis));
    };
    assert_eq!(rounds, 9);
    let picture = folded(&analysis);
    let of_scale = picture
        .edges
        .iter()
        .filter(|edge| analysis.graph.tensor_name(edge.tensor) == "scale");
    assert_eq!(of_scale.count(), 1);
}

#[test]
fn an_encoder_and_a_decoder_are_two_repeats() {
    let encoder = program(HEAD, BLOCK, "", 6);
    let block = "n6_# = rms_norm(z@)\nc# = add(n6_#, x6)\nz# = relu(c#)\n";
    let text = program(
        &format!("{encoder}z0 = tanh(t)"),
        block,
        "y = sigmoid(z#)",
        5,
    );
    let found = summary(&of_text(&text, Policy::None));
    let rounds: Vec<usize> = found.iter().map(|(_, _, rounds)| *rounds).collect();
    assert_eq!(rounds, [6, 5]);
}

#[test]
fn a_result_of_the_last_round_is_the_result_of_the_picture() {
    let analysis = of_text(&program(HEAD, BLOCK, "", 5), Policy::Rules);
    let picture = folded(&analysis);
    let results = picture
        .edges
        .iter()
        .filter(|edge| matches!(edge.to, EdgeEnd::Pill(_)));
    let names: Vec<_> = results
        .map(|edge| analysis.graph.tensor_name(edge.tensor))
        .collect();
    assert_eq!(names, ["x5"]);
}

#[test]
fn frames_hold_their_round_and_nothing_else() {
    for (name, analysis) in named() {
        let picture = folded(&analysis);
        assert_eq!(picture.frames.len(), picture.repeats.runs().len(), "{name}");
        for (frame, run) in picture.frames.iter().zip(picture.repeats.runs()) {
            let rect = frame.rect();
            for (kernel, panel) in picture.panels.iter_enumerated() {
                let is_in = rect.with(panel) == rect;
                let is_own = run.all().contains(&kernel.index());
                assert_eq!(is_in, is_own, "{name}: kernel {}", kernel.number());
                assert!(
                    is_own || !rect.meets(panel),
                    "{name}: kernel {}",
                    kernel.number()
                );
                assert!(
                    !frame.tag.meets(panel),
                    "{name}: the tag covers {}",
                    kernel.number()
                );
            }
            assert!(
                !frame.entries.is_empty() && !frame.exits.is_empty(),
                "{name}"
            );
            assert!(rect.right() <= picture.width && rect.x >= 0.0, "{name}");
        }
    }
}

#[test]
fn sizes_that_differ_end_a_fold() {
    let text = program(HEAD, BLOCK, TAIL, 6);
    let analysis = of_text(&text, Policy::Rules);
    assert!(repeats(&analysis).still_hold(&analysis.graph));
    let larger = of_text(&text.replace("64", "128"), Policy::Rules);
    assert!(repeats(&analysis).still_hold(&larger.graph));
    let mut graph = analysis.graph.clone();
    let hidden = graph.op_named("g4").unwrap();
    graph.ops[hidden].shape = vec![64, 33];
    assert!(!repeats(&analysis).still_hold(&graph));
}

#[test]
fn small_programs_are_drawn_in_full() {
    for example in EXAMPLES {
        let analysis = of_text(example.text, Policy::Rules);
        let found = Repeats::of_large(&analysis.graph, &analysis.partition);
        assert!(found.is_empty(), "{}", example.id);
    }
}

fn named() -> Vec<(String, Analysis)> {
    let stacks = POLICIES.map(|policy| {
        let (ops, externals) = gpt2(48, true);
        let analysis = analyze(&ops, &externals, &Options::of_policy(policy)).unwrap();
        (format!("gpt2_48_{policy:?}"), analysis)
    });
    let blocks = POLICIES.map(|policy| {
        let text = program(HEAD, BLOCK, TAIL, 6);
        (format!("blocks_{policy:?}"), of_text(&text, policy))
    });
    let from_outside = POLICIES.map(|policy| {
        let text = program("input x0 : f16[64, 32]", BLOCK, "", 6);
        (format!("from_outside_{policy:?}"), of_text(&text, policy))
    });
    stacks
        .into_iter()
        .chain(blocks)
        .chain(from_outside)
        .collect()
}

/// What is shown, checked as a drawing of its own.
fn shown_faults(analysis: &Analysis, picture: &DagLayout) -> Vec<String> {
    let all = faults(&analysis.graph, &analysis.partition, picture);
    // Hidden boxes have the places of the shown ones, and hidden reads have no edges.
    let is_about_hidden =
        |fault: &String| fault.contains("overlaps") || fault.contains("reads are drawn");
    if picture.repeats.is_empty() {
        all
    } else {
        all.into_iter()
            .filter(|fault| !is_about_hidden(fault))
            .collect()
    }
}

#[test]
fn folded_pictures_have_no_faults_in_any_number_of_columns() {
    for (name, analysis) in named() {
        let picture = folded(&analysis);
        assert_eq!(shown_faults(&analysis, &picture), [""; 0], "{name}");
        if let Some(folder) = std::env::var_os("DAG_SVG") {
            let file = std::path::PathBuf::from(folder).join(format!("{name}.svg"));
            std::fs::write(file, draw(&analysis, &picture, true)).unwrap();
        }
        for columns in [2, 3] {
            let Some(wrapped) = in_columns(&picture, columns) else {
                continue;
            };
            let name = format!("{name}_{columns}");
            assert_eq!(shown_faults(&analysis, &wrapped), [""; 0], "{name}");
            if let Some(folder) = std::env::var_os("DAG_SVG") {
                let file = std::path::PathBuf::from(folder).join(format!("{name}.svg"));
                std::fs::write(file, draw(&analysis, &wrapped, true)).unwrap();
            }
            assert!(wrapped.height < picture.height, "{name}");
            for (frame, run) in wrapped.frames.iter().zip(wrapped.repeats.runs()) {
                for panel in run
                    .shown()
                    .map(|kernel| wrapped.panels[KernelId::new(kernel)])
                {
                    let holds = frame.parts.iter().any(|part| part.with(&panel) == *part);
                    assert!(
                        holds,
                        "{name}: {panel:?} is in no part of {:?}",
                        frame.parts
                    );
                }
            }
        }
    }
}

#[test]
fn the_first_view_of_a_folded_picture_can_be_read_and_shows_the_tag() {
    for (name, analysis) in named() {
        let picture = folded(&analysis);
        for canvas in [
            (364.0, 500.0),
            (530.0, 500.0),
            (750.0, 790.0),
            (1920.0, 1040.0),
        ] {
            let wrapped = wrap(&picture, canvas);
            let seen = wrapped.as_ref().unwrap_or(&picture);
            let view = Viewport::fit(seen.size(), seen.start_x(canvas.0), canvas);
            assert!(
                SMALL_FONT_PX * view.scale >= LEGIBLE_PX,
                "{name} in {canvas:?}"
            );
            let first = seen.panels.iter().next().unwrap().center();
            assert!(view.shows(first, canvas), "{name} in {canvas:?}: {view:?}");
            let tag = seen.frames[0].tag;
            // With a prefix the tag may be further down.
            let left = view.on_canvas(Point::new(tag.x, 0.0)).x;
            assert!(
                left >= 0.0 && left < canvas.0,
                "{name} in {canvas:?}: {left}"
            );
        }
    }
}

/// A list of ops `rounds` times, each reading the outputs of the one before instead of its external tensors.
fn repeated(ops: &[Op], rounds: usize) -> Vec<Op> {
    let last = |place: usize| {
        ops.len()
            .checked_sub(place + 1)
            .map(|at| ops[at].output.clone())
    };
    let mut all = Vec::new();
    for round in 0..rounds {
        for op in ops {
            let named = |name: &String| {
                let place = ["x0", "x1", "x2"]
                    .iter()
                    .position(|outside| outside == name);
                match (place, round) {
                    (None | Some(2), _) | (Some(_), 0) => format!("{name}_{round}"),
                    (Some(place), _) => match last(place) {
                        Some(output) => format!("{output}_{}", round - 1),
                        None => format!("{name}_{round}"),
                    },
                }
            };
            all.push(Op {
                name: format!("{}_{round}", op.name),
                inputs: op.inputs.iter().map(named).collect(),
                output: format!("{}_{round}", op.output),
                ..op.clone()
            });
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_hidden_op_has_an_equal_that_is_shown(
        (ops, _) in random_graph::ops(8),
        rounds in 1_usize..9,
        policy in prop::sample::select(&POLICIES[..]),
    ) {
        let ops = repeated(&ops, rounds);
        let weights: Vec<TensorDecl> = (0..rounds)
            .map(|round| TensorDecl {
                role: TensorRole::Weight,
                ..TensorDecl::new(&format!("x2_{round}"), &[4, 3], 2)
            })
            .collect();
        let analysis = analyze(&ops, &weights, &Options::of_policy(policy)).unwrap();
        let repeats = repeats(&analysis);
        let graph = &analysis.graph;
        for op in graph.ops.ids() {
            let shown = repeats.shown_op(op);
            prop_assert!(repeats.shows_op(shown));
            let (one, other) = (&graph.ops[op], &graph.ops[shown]);
            prop_assert_eq!((one.op_type, &one.shape), (other.op_type, &other.shape));
            prop_assert_eq!(
                repeats.shown_kernel(analysis.partition.kernel_of[op]),
                analysis.partition.kernel_of[shown]
            );
            // Reads of one round lead to equal ops.
            let producers = |op| graph.inputs[op].iter().map(|&t| graph.tensors[t].producer);
            for (a, b) in producers(op).zip(producers(shown)) {
                if let (Some(a), Some(b)) = (a, b) {
                    let same = repeats.shown_op(a) == repeats.shown_op(b);
                    let run_of = |op| {
                        let run = repeats.round_of(analysis.partition.kernel_of[op]);
                        run.map(|(run, _)| run.first)
                    };
                    // The first round reads from above what the others read from the one before.
                    let enters = run_of(a) == run_of(op) && run_of(b) != run_of(op);
                    prop_assert!(same || enters);
                }
            }
        }
        for run in repeats.runs() {
            prop_assert!(run.rounds >= 3 && !run.carried.is_empty());
        }
        prop_assert!(repeats.still_hold(graph));
        let picture = folded(&analysis);
        prop_assert_eq!(shown_faults(&analysis, &picture), Vec::<String>::new());
        if repeats.is_empty() {
            prop_assert_eq!(picture, layout(graph, &analysis.partition));
        } else {
            let drawn_reads = picture.edges.iter().filter(|edge| edge.to.op().is_some());
            for edge in drawn_reads {
                let Some(reader) = edge.to.op() else { continue };
                prop_assert!(repeats.shows_op(reader));
                prop_assert!(matches!(edge.from, EdgeEnd::Pill(_)) || graph.inputs[reader].contains(&edge.tensor));
            }
        }
    }

    #[test]
    fn random_graphs_fold_to_equal_ops((ops, externals) in random_graph::ops(40)) {
        let analysis = analyze(&ops, &externals, &Options::of_policy(Policy::None)).unwrap();
        let picture = folded(&analysis);
        prop_assert_eq!(shown_faults(&analysis, &picture), Vec::<String>::new());
    }
}

#[test]
fn matmuls_of_different_lengths_are_not_equal() {
    let ops: Vec<Op> = (0..9)
        .flat_map(|at| {
            let name = |what: &str, at: usize| format!("{what}{at}");
            let before = name("r", at).replace("r0", "x");
            let product = Op::new(
                &name("m", at),
                OpType::Matmul,
                &[&before, &name("w", at)],
                &name("m", at),
                &[8, 8],
                2,
            );
            let relu = Op::new(
                &name("e", at),
                OpType::Elementwise,
                &[&name("m", at)],
                &name("r", at + 1),
                &[8, 8],
                2,
            );
            [product.with_k(if at == 4 { 16 } else { 8 }), relu]
        })
        .collect();
    let analysis = analyze(&ops, &[], &Options::of_policy(Policy::Rules)).unwrap();
    let rounds: Vec<usize> = summary(&analysis)
        .into_iter()
        .map(|(_, _, rounds)| rounds)
        .collect();
    assert_eq!(rounds, [4, 4]);
}
