//! Charts compared with golden files, and their common properties.
//!
//! `UPDATE_GOLDEN=1 cargo test --test model charts` rewrites the files; look at them before
//! committing.

use fuseline_core::analysis::transformer::transformer_block;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Op, OpType, Options, Policy, TensorDecl, analyze, analyze_program};
use fuseline_view::picture::charts::by_kernel_scene;
use fuseline_view::picture::charts::scene::{Anchor, Mark, Role, Scene, Shape};
use fuseline_view::picture::charts::{roofline, traffic_bars};
use fuseline_view::picture::export::chart;

const WIDE: (f64, f64) = (900.0, 560.0);
const COMPACT: (f64, f64) = (360.0, 300.0);

fn rules() -> Options {
    Options {
        policy: Policy::Rules,
        ..Options::default()
    }
}

fn transformer() -> Analysis {
    let (ops, externals) = transformer_block(2048, 4096, 32, 2).unwrap();
    analyze(&ops, &externals, &rules()).unwrap()
}

/// The four ops of the exercise.
fn exercise() -> Analysis {
    let shape = [1024, 4096];
    let ops = [
        Op::new("matmul1", OpType::Matmul, &["x", "w1"], "y1", &shape, 2),
        Op::new("relu", OpType::Elementwise, &["y1"], "y2", &shape, 2),
        Op::new("dropout", OpType::Elementwise, &["y2"], "y3", &shape, 2),
        Op::new(
            "matmul2",
            OpType::Matmul,
            &["y3", "w2"],
            "y4",
            &[1024, 1024],
            2,
        ),
    ];
    let externals = [
        TensorDecl::new("x", &[1024, 1024], 2),
        TensorDecl::new("w1", &[1024, 4096], 2),
        TensorDecl::new("w2", &[4096, 1024], 2),
    ];
    analyze(&ops, &externals, &rules()).unwrap()
}

/// A chain without a matmul.
fn elementwise() -> Analysis {
    let shape = [1 << 20];
    let ops = [
        Op::new("a", OpType::Elementwise, &["x"], "y1", &shape, 4).with_function(Function::Gelu),
        Op::new("b", OpType::Elementwise, &["y1"], "y2", &shape, 4).with_function(Function::Relu),
        Op::new("c", OpType::Elementwise, &["y2", "x"], "y3", &shape, 4)
            .with_function(Function::Add),
    ];
    analyze(&ops, &[], &rules()).unwrap()
}

pub(crate) fn check_golden(name: &str, scene: &Scene) {
    let path = format!(
        "{}/tests/model/golden/{name}.svg",
        env!("CARGO_MANIFEST_DIR")
    );
    let drawn = chart(scene, true).plain_svg();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, drawn).unwrap();
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = golden.lines().zip(drawn.lines()).position(|(a, b)| a != b);
    assert!(
        golden == drawn,
        "{name} differs from its golden picture at line {:?}; if it should, write it anew with UPDATE_GOLDEN=1",
        differs.map(|line| line + 1)
    );
}

#[test]
fn rooflines_are_as_drawn_before() {
    for (name, analysis) in [
        ("transformer", transformer()),
        ("exercise", exercise()),
        ("elementwise", elementwise()),
    ] {
        check_golden(
            &format!("roofline_{name}_wide"),
            &roofline::scene(&analysis, WIDE, None),
        );
        check_golden(
            &format!("roofline_{name}_compact"),
            &roofline::scene(&analysis, COMPACT, None),
        );
    }
}

/// Twenty kernels, of which many are at nearly the same place.
#[test]
fn a_crowded_roofline_is_as_drawn_before() {
    let text = EXAMPLES.iter().find(|e| e.id == "gpt2").unwrap().text;
    let analysis = analyze_program(&parse(text).program, &rules())
        .analysis
        .unwrap();
    assert_eq!(analysis.fused.kernels.len(), 20);
    for (name, size) in [
        ("panel", (400.0, 260.0)),
        ("projector", (560.0, 347.0)),
        ("wide", WIDE),
    ] {
        check_golden(
            &format!("roofline_gpt2_{name}"),
            &roofline::scene(&analysis, size, None),
        );
    }
}

/// The sizes of a page with three columns and of a phone.
#[test]
fn narrow_rooflines_are_as_drawn_before() {
    let analysis = transformer();
    check_golden(
        "roofline_transformer_panel",
        &roofline::scene(&analysis, (400.0, 288.0), None),
    );
    check_golden(
        "roofline_transformer_phone",
        &roofline::scene(&analysis, (296.0, 260.0), None),
    );
}

#[test]
fn traffic_bars_are_as_drawn_before() {
    for (name, analysis) in [
        ("transformer", transformer()),
        ("exercise", exercise()),
        ("elementwise", elementwise()),
    ] {
        let wide = traffic_bars::scene(&analysis, (900.0, 200.0), None);
        check_golden(&format!("traffic_{name}_wide"), &wide);
        let phone = traffic_bars::scene(&analysis, (296.0, 150.0), None);
        check_golden(&format!("traffic_{name}_phone"), &phone);
        let compact = traffic_bars::scene(&analysis, (360.0, 200.0), None);
        check_golden(&format!("traffic_{name}_compact"), &compact);
    }
    let analysis = transformer();
    check_golden(
        "by_kernel_transformer_wide",
        &by_kernel_scene(&analysis, 900.0, None),
    );
    check_golden(
        "by_kernel_transformer_compact",
        &by_kernel_scene(&analysis, 360.0, None),
    );
}

/// The golden pictures write discs and rectangles as elements of their own; the page draws every
/// outline as a path.
#[test]
fn discs_and_rectangles_have_an_outline() {
    let disc = Shape::Circle {
        center: (10.0, 20.0),
        radius: 5.0,
    };
    assert_eq!(disc.path_data(), "M5 20a5 5 0 0 1 10 0a5 5 0 0 1 -10 0Z");
    let rectangle = Shape::Rect {
        corner: (1.0, 2.5),
        width: 3.0,
        height: 4.0,
    };
    assert_eq!(rectangle.path_data(), "M1 2.5h3v4h-3Z");
}

/// Plotters draws axes ten times as large, in whole pixels.
#[test]
fn lines_and_texts_of_axes_are_scaled_down_and_have_their_roles() {
    let scene = roofline::scene(&exercise(), WIDE, None);
    assert_eq!((scene.width, scene.height), WIDE);
    let line = Shape::Path {
        points: vec![(95.9, 30.0), (95.9, 513.9)],
        is_closed: false,
    };
    // A baseline is 0.35 em below the middle of its text, which is at 513.9.
    let text = Shape::Text {
        at: (88.0, 518.1),
        anchor: Anchor::End,
        turn_deg: 0.0,
        text: "100 GFLOP/s".to_owned(),
    };
    for mark in [Mark::new(Role::Axis, line), Mark::new(Role::AxisText, text)] {
        assert!(scene.marks.contains(&mark), "{mark:?}");
    }
}
