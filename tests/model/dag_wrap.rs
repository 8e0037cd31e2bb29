//! A tall drawing in columns, and the first view of it: nothing overlaps, no line is lost, every
//! text can be read.
//!
//! `DAG_SVG=dir cargo test --test model dag` also writes all drawings to `dir`.

use crate::dag_check::{crossings, faults};
use crate::gpt2::gpt2;
use crate::random_graph;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, analyze, analyze_program};
use fuseline_learn::lesson::library::LESSONS;
use fuseline_learn::lesson::read as read_lesson;
use fuseline_learn::puzzle::library::PUZZLES;
use fuseline_learn::puzzle::read;
use fuseline_view::picture::dag::in_columns::in_columns;
use fuseline_view::picture::dag::metrics::SMALL_FONT_PX;
use fuseline_view::picture::dag::viewport::{LEGIBLE_PX, Size, Viewport};
use fuseline_view::picture::dag::wrap::{MAX_COLUMNS, columns_on_page, wrap, wrap_in_step};
use fuseline_view::picture::dag::{DagLayout, Rect, layout};
use fuseline_view::picture::export::graph;
use proptest::prelude::*;
use std::sync::Arc;

/// The canvas of the graph on a phone, a laptop and a projector, and full-screen on the last one.
const FRAMES: [Size; 4] = [
    (364.0, 500.0),
    (530.0, 560.0),
    (750.0, 790.0),
    (1920.0, 1040.0),
];

fn named() -> Vec<(String, Analysis)> {
    let examples = EXAMPLES.iter().flat_map(|example| {
        let program = parse(example.text).program;
        [Policy::Rules, Policy::Inductor].map(|policy| {
            let analysis = analyze_program(&program, &Options::of_policy(policy)).analysis;
            (format!("{}_{policy:?}", example.id), analysis.unwrap())
        })
    });
    let stacks = [1, 48].map(|blocks| {
        let (ops, externals) = gpt2(blocks, true);
        let analysis = analyze(&ops, &externals, &Options::default()).unwrap();
        (format!("gpt2_{blocks}"), analysis)
    });
    examples.chain(stacks).collect()
}

fn assert_faultless(name: &str, analysis: &Analysis, picture: &DagLayout) {
    let faults = faults(&analysis.graph, &analysis.partition, picture);
    assert!(faults.is_empty(), "{name}: {faults:#?}");
    assert_eq!(
        crossings(&analysis.partition, picture).1,
        0,
        "{name}: lines through boxes"
    );
    for point in picture.edges.iter().flat_map(|edge| &edge.points) {
        let is_in =
            (0.0..=picture.width).contains(&point.x) && (0.0..=picture.height).contains(&point.y);
        assert!(is_in, "{name}: a line leaves the picture at {point:?}");
    }
}

#[test]
fn columns_have_no_overlap_and_no_new_crossing() {
    for (name, analysis) in named() {
        let picture = layout(&analysis.graph, &analysis.partition);
        let before = crossings(&analysis.partition, &picture);
        for columns in [2, 3, 5] {
            let name = format!("{name}_{columns}");
            let Some(wrapped) = in_columns(&picture, columns) else {
                continue;
            };
            assert_faultless(&name, &analysis, &wrapped);
            assert_eq!(
                crossings(&analysis.partition, &wrapped),
                before,
                "{name}: crossings"
            );
            assert!(wrapped.height < picture.height, "{name}");
            if let Some(folder) = std::env::var_os("DAG_SVG") {
                let file = std::path::PathBuf::from(folder).join(format!("{name}.svg"));
                std::fs::write(
                    file,
                    graph(&Arc::new(analysis.clone()), &wrapped, true).plain_svg(),
                )
                .unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn columns_of_random_graphs_have_no_overlap(
        (ops, externals) in random_graph::ops(40),
        columns in 2_usize..6,
    ) {
        let analysis = analyze(&ops, &externals, &Options::default()).unwrap();
        let picture = layout(&analysis.graph, &analysis.partition);
        if let Some(wrapped) = in_columns(&picture, columns) {
            assert_faultless("random", &analysis, &wrapped);
            prop_assert_eq!(
                crossings(&analysis.partition, &wrapped).0,
                crossings(&analysis.partition, &picture).0
            );
            prop_assert_eq!(&wrapped, &in_columns(&picture, columns).unwrap());
        }
    }
}

#[test]
fn text_can_be_read_at_first_sight_on_every_screen() {
    for (name, analysis) in named() {
        let picture = layout(&analysis.graph, &analysis.partition);
        for frame in FRAMES {
            let wrapped = wrap(&picture, frame, MAX_COLUMNS);
            let seen = wrapped.as_ref().unwrap_or(&picture);
            let view = Viewport::fit(seen.size(), seen.start_x(frame.0), frame);
            let text_px = SMALL_FONT_PX * view.scale;
            assert!(text_px >= LEGIBLE_PX, "{name} in {frame:?}: {text_px}");
            let first = seen.panels.iter().next().unwrap().center();
            assert!(
                (0.0..=frame.0).contains(&view.on_canvas(first).x) && view.y >= -0.5,
                "{name} in {frame:?} starts at {view:?}"
            );
            if wrapped.is_some() {
                assert!(
                    seen.width * view.scale <= frame.0 + 0.5,
                    "{name} in {frame:?}"
                );
            }
        }
    }
}

#[test]
fn a_chain_that_is_taller_than_its_frame_is_in_columns_where_they_fit() {
    let transformer = EXAMPLES
        .iter()
        .find(|example| example.id == "transformer")
        .unwrap();
    let analysis = analyze_program(&parse(transformer.text).program, &Options::default())
        .analysis
        .unwrap();
    let picture = layout(&analysis.graph, &analysis.partition);
    let [phone, _, projector, full_screen] = FRAMES;
    assert_eq!(
        wrap(&picture, phone, MAX_COLUMNS),
        None,
        "a phone has no room for two columns"
    );
    assert_eq!(
        wrap(&picture, (full_screen.0, picture.height), MAX_COLUMNS),
        None,
        "all of it is seen"
    );
    for frame in [projector, full_screen] {
        let wrapped = wrap(&picture, frame, MAX_COLUMNS).unwrap();
        assert!(wrapped.height <= frame.1, "all of it is seen in {frame:?}");
    }
    let tall = (projector.0, picture.height / 7.0);
    assert_eq!(
        wrap(&picture, tall, MAX_COLUMNS),
        None,
        "columns of several frames are no help"
    );
}

/// The pages of the puzzles on a laptop and a phone.
const PAGES: [Size; 2] = [(1348.0, 508.0), (364.0, 500.0)];

#[test]
fn a_large_puzzle_shows_more_kernels_at_once_in_columns_than_as_one() {
    let mut broadened = Vec::new();
    for listed in PUZZLES {
        let program = parse(&read(listed.text).0.page.shared.text).program;
        let analysis = analyze_program(&program, &Options::of_policy(Policy::Manual));
        let analysis = analysis.analysis.unwrap();
        let picture = layout(&analysis.graph, &analysis.partition);
        for frame in PAGES {
            let columns = columns_on_page(&picture, frame, None);
            assert_eq!(columns_on_page(&picture, frame, Some(columns)), columns);
            if columns == 1 {
                continue;
            }
            let wrapped = in_columns(&picture, columns).unwrap();
            assert_faultless(listed.id, &analysis, &wrapped);
            let scale = LEGIBLE_PX / SMALL_FONT_PX;
            if wrapped.width * scale <= frame.0 {
                continue;
            }
            // The most ops in sight, wherever the drawing is moved to.
            let in_sight = |picture: &DagLayout| {
                let (width, height) = (frame.0 / scale, frame.1 / scale);
                let corners = picture.ops.iter().map(|corner| {
                    let (left, top) = (corner.rect.x, corner.rect.y);
                    let is_in = |rect: Rect| {
                        (left..=left + width - rect.width).contains(&rect.x)
                            && (top..=top + height - rect.height).contains(&rect.y)
                    };
                    picture.ops.iter().filter(|op| is_in(op.rect)).count()
                });
                corners.max().unwrap_or_default()
            };
            let (one, many) = (in_sight(&picture), in_sight(&wrapped));
            assert!(many > one, "{} in {frame:?}: {many} for {one}", listed.id);
            broadened.push((listed.id, frame));
        }
    }
    // Others fit, or have one column that a phone moves up and down.
    assert_eq!(broadened, [("llama", PAGES[0])]);
}

/// The graphs of lessons, in units: before a class at 1920x1080, and beside the lesson on a laptop.
const STEPS: [Size; 2] = [(720.0, 470.0), (780.0, 610.0)];

#[test]
fn a_step_with_a_tall_graph_shows_the_whole_of_it_larger_in_columns() {
    let mut wrapped_steps = Vec::new();
    for listed in LESSONS {
        let lesson = read_lesson(listed.text).0;
        for (at, states) in lesson.states(&mut Vec::new()).iter().enumerate() {
            let Some(seen) = states.asked.analyzed() else {
                continue;
            };
            let picture = layout(&seen.analysis.graph, &seen.analysis.partition);
            for frame in STEPS {
                let whole = |of: &DagLayout| (frame.0 / of.width).min(frame.1 / of.height);
                let Some(wrapped) = wrap_in_step(&picture, frame) else {
                    continue;
                };
                let name = format!("{} {}", listed.id, at + 1);
                let through_boxes = |of| crossings(&seen.analysis.partition, of).1;
                assert!(through_boxes(&wrapped) <= through_boxes(&picture), "{name}");
                assert!(whole(&wrapped) > whole(&picture), "{name}");
                wrapped_steps.push((name, frame));
            }
        }
    }
    let is_wrapped = |name: &str, frame| wrapped_steps.contains(&(name.to_owned(), frame));
    assert!(is_wrapped("torch_compile 3", STEPS[0]));
    // Four ops are large enough in one column.
    assert!(!is_wrapped("exercise 1", STEPS[0]));
}
