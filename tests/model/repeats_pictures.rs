//! Folded pictures: every op that is hidden has its equal in the shown round, and a frame holds
//! that round and nothing else.
//!
//! `DAG_SVG=dir cargo test --test model repeats` also writes all drawings to `dir`.

use crate::dag_check::faults;
use crate::gpt2::gpt2;
use crate::random_graph;
use crate::repeats::{BLOCK, HEAD, POLICIES, TAIL, folded, of_text, program, repeats};
use fuseline_core::{Analysis, KernelId, Op, Options, Policy, TensorDecl, TensorRole, analyze};
use fuseline_view::picture::dag::in_columns::in_columns;
use fuseline_view::picture::dag::metrics::SMALL_FONT_PX;
use fuseline_view::picture::dag::viewport::{LEGIBLE_PX, Viewport};
use fuseline_view::picture::dag::wrap::{MAX_COLUMNS, wrap};
use fuseline_view::picture::dag::{DagLayout, EdgeEnd, Point, layout};
use fuseline_view::picture::export::graph;
use proptest::prelude::*;
use std::sync::Arc;

#[test]
fn what_all_rounds_read_is_drawn_once() {
    let head = format!("{HEAD}\ninput mask : f16[64, 32]\nscale = sigmoid(mask)");
    let block = format!("{BLOCK}\n").replace("gelu(m#)", "mul(m#, scale)");
    let analysis = of_text(&program(&head, &block, TAIL, 9), Policy::None);
    let rounds = repeats(&analysis)
        .runs()
        .iter()
        .map(|run| run.iterations)
        .collect::<Vec<_>>();
    assert_eq!(rounds, [9]);
    let picture = folded(&analysis);
    let of_scale = picture
        .edges
        .iter()
        .filter(|edge| analysis.graph.tensor_name(edge.tensor) == "scale");
    assert_eq!(of_scale.count(), 1);
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
            std::fs::write(
                file,
                graph(&Arc::new(analysis.clone()), &picture, true).plain_svg(),
            )
            .unwrap();
        }
        for columns in [2, 3] {
            let Some(wrapped) = in_columns(&picture, columns) else {
                continue;
            };
            let name = format!("{name}_{columns}");
            assert_eq!(shown_faults(&analysis, &wrapped), [""; 0], "{name}");
            if let Some(folder) = std::env::var_os("DAG_SVG") {
                let file = std::path::PathBuf::from(folder).join(format!("{name}.svg"));
                std::fs::write(
                    file,
                    graph(&Arc::new(analysis.clone()), &wrapped, true).plain_svg(),
                )
                .unwrap();
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
fn the_first_view_of_a_folded_picture_can_be_read_and_cuts_no_tag() {
    for (name, analysis) in named() {
        let picture = folded(&analysis);
        for canvas in [
            (364.0, 500.0),
            (530.0, 500.0),
            (750.0, 790.0),
            (1920.0, 1040.0),
        ] {
            let wrapped = wrap(&picture, canvas, MAX_COLUMNS);
            let seen = wrapped.as_ref().unwrap_or(&picture);
            let view = Viewport::fit(seen.size(), seen.start_x(canvas.0), canvas);
            assert!(
                SMALL_FONT_PX * view.scale >= LEGIBLE_PX,
                "{name} in {canvas:?}"
            );
            let first = seen.panels.iter().next().unwrap().center();
            assert!(view.shows(first, canvas), "{name} in {canvas:?}: {view:?}");
            for tag in seen.frames.iter().map(|frame| frame.tag) {
                // Behind a prefix it may be out of sight.
                let ends = [tag.x, tag.right()];
                let [left, right] = ends.map(|x| view.on_canvas(Point::new(x, 0.0)).x);
                assert!(left >= 0.0 || right <= 0.0, "{name} in {canvas:?}: {left}");
            }
        }
    }
}

/// A list of ops `rounds` times, each reading the outputs of the one before instead of its external
/// tensors.
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
                        let run = repeats.iteration_of(analysis.partition.kernel_of[op]);
                        run.map(|(run, _)| run.first)
                    };
                    // The first round reads from above what the others read from the one before.
                    let enters = run_of(a) == run_of(op) && run_of(b) != run_of(op);
                    prop_assert!(same || enters);
                }
            }
        }
        for run in repeats.runs() {
            prop_assert!(run.iterations >= 3 && !run.carried.is_empty());
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
