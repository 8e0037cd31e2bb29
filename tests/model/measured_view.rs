//! The panel that compares the model with measurements: reading the file, chart, table.

use fuseline::core::analysis::measured::Variant;
use fuseline::core::json::Json;
use fuseline::core::notation::parse;
use fuseline::picture::charts::measured_scatter::{error_text, scene};
use fuseline::picture::charts::scene::{Anchor, Role, Shape};
use fuseline::views::measured::{
    Compared, Line, Measurements, lines, measurements, pairs, patterns, summary, table,
};

const FILES: [&str; 3] = ["h200", "h200_sizes", "h200_fresh"];

fn read(name: &str) -> Measurements {
    let path = format!("{}/public/measured/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    measurements(&Json::from(json)).unwrap()
}

fn compared(file: &Measurements) -> Vec<Line> {
    let programs: Vec<_> = patterns(&file.rows)
        .into_iter()
        .map(|name| {
            let root = env!("CARGO_MANIFEST_DIR");
            let path = format!("{root}/public/measured/{name}.fuse");
            let text = std::fs::read_to_string(path).unwrap();
            (name, parse(&text).program)
        })
        .collect();
    lines(file.rows.clone(), &programs, "h200")
}

#[test]
fn every_measured_row_has_a_prediction() {
    for name in FILES {
        let file = read(name);
        assert!(
            file.device.contains("H200") && !file.note.is_empty(),
            "{name}"
        );
        assert_eq!(compared(&file).len(), file.rows.len(), "{name}");
    }
    assert_eq!(patterns(&read("h200").rows).len(), 23);
}

#[test]
fn a_speedup_is_over_the_eager_run_of_the_same_size() {
    let lines = compared(&read("h200"));
    for line in &lines {
        let is_eager = line.row.variant == Variant::Eager;
        assert_eq!(line.speedup.is_none(), is_eager, "{:?}", line.row.pattern);
    }
    let time = |variant| {
        let line = lines
            .iter()
            .find(|l| l.row.pattern == "add_relu" && l.row.variant == variant);
        line.unwrap().clone()
    };
    let (eager, compiled) = (time(Variant::Eager), time(Variant::Inductor));
    let (_, measured) = compiled.speedup.unwrap();
    assert!((measured - eager.row.time_us / compiled.row.time_us).abs() < 1e-12);
}

#[test]
fn a_file_that_is_none_is_refused_with_what_is_missing() {
    let refused = |text: &str| {
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        measurements(&Json::from(json)).unwrap_err()
    };
    assert_eq!(refused("[]"), "it names no `device`");
    assert_eq!(
        refused(r#"{"device": "d", "rows": [{"pattern": "p"}]}"#),
        "its `rows` are of another form"
    );
}

#[test]
fn a_point_right_of_the_diagonal_is_predicted_too_short() {
    let lines = compared(&read("h200"));
    let pairs = pairs(&lines, Compared::Time);
    let drawn = scene(&pairs, Compared::Time.quantity(), (600.0, 480.0));
    assert_eq!(drawn.focus_order.len(), pairs.len());
    // The diagonal, to check that both axes have one scale.
    let diagonal = drawn
        .marks
        .iter()
        .find(|mark| mark.role == Role::MemoryRoof);
    let Some(Shape::Path { points, .. }) = diagonal.map(|mark| &mark.shape) else {
        panic!("no diagonal");
    };
    let ((x0, y0), (x1, y1)) = (points[0], points[points.len() - 1]);
    let mut compared = 0;
    for (pair, &mark) in pairs.iter().zip(&drawn.focus_order) {
        let Shape::Circle { center: (x, y), .. } = drawn.marks[mark].shape else {
            continue;
        };
        let on_diagonal = y0 + (y1 - y0) * (x - x0) / (x1 - x0);
        if pair.error().abs() > 0.02 {
            assert_eq!(y < on_diagonal, pair.error() > 0.0, "{}", pair.name);
            compared += 1;
        }
    }
    assert!(compared > 5, "{compared}");
}

#[test]
fn the_table_has_a_row_for_each_pair_and_the_summary_their_errors() {
    let file = read("h200");
    let lines = compared(&file);
    for kind in Compared::ALL {
        let rows = table(&lines, kind).html().text;
        assert_eq!(rows.matches("<tr>").count(), pairs(&lines, kind).len());
        let text = summary(&file, &lines, kind).html().text;
        assert!(
            text.contains("nine in ten within") && text.contains("PyTorch"),
            "{text}"
        );
        assert!(text.contains("the rest of the page shows roofline bounds"));
    }
    let none = summary(&file, &[], Compared::Time).html().text;
    assert!(none.contains("Nothing of this kind"), "{none}");
    assert_eq!(error_text(-0.0471), "−4.7 %");
    assert_eq!(error_text(0.5), "+50.0 %");
}

#[test]
fn a_decade_is_named_once_on_each_axis() {
    for name in FILES {
        let lines = compared(&read(name));
        for kind in Compared::ALL {
            let drawn = scene(&pairs(&lines, kind), kind.quantity(), (600.0, 480.0));
            let mut texts: Vec<(bool, String)> = Vec::new();
            for mark in drawn.marks.iter().filter(|m| m.role == Role::AxisText) {
                if let Shape::Text { text, anchor, .. } = &mark.shape
                    && !text.is_empty()
                {
                    texts.push((*anchor == Anchor::End, text.clone()));
                }
            }
            let all = texts.len();
            texts.sort();
            texts.dedup();
            assert_eq!(texts.len(), all, "{name} {kind:?}: {texts:?}");
        }
    }
}

#[test]
fn where_figures_come_from_is_said_in_words() {
    for name in FILES {
        let file = read(name);
        let text = crate::views::words(&summary(&file, &compared(&file), Compared::Time));
        assert!(!file.note.contains('_'), "{text}");
    }
}
