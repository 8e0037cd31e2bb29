//! The panel that compares the model with measurements: reading the file, chart, table.

use crate::headline::analysis;
use fuseline_core::analysis::measured::{Measurements, Variant, errors};
use fuseline_core::examples::{NEXT, example};
use fuseline_core::json::read_json;
use fuseline_core::model::program::{OpStatement, Program};
use fuseline_core::notation::parse;
use fuseline_core::{Options, device};
use fuseline_view::picture::charts::measured_scatter::scene;
use fuseline_view::picture::charts::scene::{Anchor, Role, Shape};
use fuseline_view::present::format::format_error;
use fuseline_view::present::measured::{
    MeasuredQuantity, PredictedRow, comparisons, error_summary, pattern_note, patterns,
    predicted_rows, source_notes, table_rows,
};
use fuseline_view::present::prediction_error::{LONG_S, PredictionError, SHORT_S};
use strum::IntoEnumIterator;

pub(crate) const FILES: [&str; 8] = [
    "h200",
    "h200_sizes",
    "h200_fresh",
    "h200_decode",
    "h200_decode_fresh",
    "h200_rows",
    "h200_rows_fresh",
    "h100",
];

pub(crate) fn read(name: &str) -> Measurements {
    let path = format!("{}/public/measured/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    read_json(&text).unwrap()
}

pub(crate) fn predicted(file: &Measurements) -> Vec<PredictedRow> {
    let programs: Vec<_> = patterns(&file.rows)
        .into_iter()
        .map(|name| {
            let root = env!("CARGO_MANIFEST_DIR");
            let path = format!("{root}/public/measured/{name}.fuse");
            let text = std::fs::read_to_string(path).unwrap();
            (name, parse(&text).program)
        })
        .collect();
    predicted_rows(file.rows.clone(), &programs, file.listed_device().unwrap())
}

#[test]
fn every_measured_row_has_a_prediction() {
    for name in FILES {
        let file = read(name);
        assert!(
            file.listed_device().is_some() && !file.note.is_empty(),
            "{name}"
        );
        assert_eq!(predicted(&file).len(), file.rows.len(), "{name}");
    }
    assert_eq!(patterns(&read("h200").rows).len(), 23);
}

#[test]
fn a_speedup_is_over_the_eager_run_of_the_same_size() {
    let rows = predicted(&read("h200"));
    for row in &rows {
        let is_eager = row.row.variant == Variant::Eager;
        assert_eq!(row.speedup().is_none(), is_eager, "{:?}", row.row.pattern);
    }
    let time = |variant| {
        let row = rows
            .iter()
            .find(|row| row.row.pattern == "add_relu" && row.row.variant == variant);
        row.unwrap().clone()
    };
    let (eager, compiled) = (time(Variant::Eager), time(Variant::Inductor));
    let (_, measured) = compiled.speedup().unwrap();
    assert!((measured - eager.row.time_us / compiled.row.time_us).abs() < 1e-12);
}

#[test]
fn a_point_right_of_the_diagonal_is_predicted_too_short() {
    let rows = predicted(&read("h200"));
    let comparisons = comparisons(&rows, MeasuredQuantity::Time);
    let drawn = scene(&comparisons, MeasuredQuantity::Time, (600.0, 480.0));
    assert_eq!(drawn.focus_order.len(), comparisons.len());
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
    for (comparison, &mark) in comparisons.iter().zip(&drawn.focus_order) {
        let Shape::Circle { center: (x, y), .. } = drawn.marks[mark].shape else {
            continue;
        };
        let on_diagonal = y0 + (y1 - y0) * (x - x0) / (x1 - x0);
        if comparison.error().abs() > 0.02 {
            assert_eq!(
                y < on_diagonal,
                comparison.error() > 0.0,
                "{}",
                comparison.name
            );
            compared += 1;
        }
    }
    assert!(compared > 5, "{compared}");
}

#[test]
fn the_table_has_a_row_for_each_comparison_and_the_summary_their_errors() {
    let file = read("h200");
    let rows = predicted(&file);
    for quantity in MeasuredQuantity::iter() {
        let comparisons = comparisons(&rows, quantity);
        let table = table_rows(&rows, quantity);
        assert_eq!(table.len(), comparisons.len());
        for (row, comparison) in table.iter().zip(&comparisons) {
            assert_eq!(row.error, format_error(comparison.error()));
            assert_eq!(row.measured, quantity.text(comparison.measured));
            assert!(comparison.name.ends_with(&row.size), "{row:?}");
        }
        let summary = error_summary(&comparisons);
        assert!(summary.contains("nine of ten within"), "{summary}");
    }
    let none = error_summary(&[]);
    assert!(none.contains("No run of this kind"), "{none}");
}

#[test]
fn a_decade_is_named_once_on_each_axis() {
    for name in FILES {
        let rows = predicted(&read(name));
        for quantity in MeasuredQuantity::iter() {
            let drawn = scene(&comparisons(&rows, quantity), quantity, (600.0, 480.0));
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
            assert_eq!(texts.len(), all, "{name} {quantity:?}: {texts:?}");
        }
    }
}

#[test]
fn where_figures_come_from_is_said_in_words() {
    for name in FILES {
        let file = read(name);
        assert!(!file.note.contains('_'), "{}", file.note);
        let [model, source] = source_notes(&file);
        assert!(model.starts_with("Predicted times come from the device model"));
        assert!(
            source.contains("PyTorch") && source.contains(&file.note),
            "{source}"
        );
    }
}

/// What the page says beside predicted times is what the runs in the repository give: for short
/// times, and for others.
#[test]
fn the_error_beside_predicted_times_is_that_of_the_measured_runs() {
    let long = example(NEXT).unwrap().text;
    let short = "input a : bf16[2048, 2048]\ns = add(a, a)\ny = relu(s)";
    let h200 = &FILES[..7];
    for (id, files) in [("h200", h200), ("h100", &["h100"])] {
        let rows = files.iter().flat_map(|file| predicted(&read(file)));
        let rows: Vec<_> = rows.collect();
        for (text, is_short) in [(long, false), (short, true)] {
            let of_its_kind: Vec<_> = (rows.iter())
                .filter(|&row| {
                    let time = comparisons(std::slice::from_ref(row), MeasuredQuantity::Time);
                    time.iter().any(|run| (run.predicted < SHORT_S) == is_short)
                })
                .cloned()
                .collect();
            let errors_of = |quantity| {
                let pairs: Vec<(f64, f64)> = comparisons(&of_its_kind, quantity)
                    .iter()
                    .map(|run| (run.measured, run.predicted))
                    .collect();
                errors(&pairs).unwrap()
            };
            let found = errors_of(MeasuredQuantity::Time);
            let of_speedups = errors_of(MeasuredQuantity::Speedup).ninth_decile;
            let options = Options {
                device: device(id).unwrap().clone(),
                ..Options::default()
            };
            let shown = PredictionError::of(&analysis(text, &options)).unwrap();
            let mut biases: Vec<f64> = comparisons(&rows, MeasuredQuantity::Time)
                .iter()
                .filter(|run| run.predicted >= LONG_S)
                .map(|run| run.measured / run.predicted - 1.0)
                .collect();
            biases.sort_by(f64::total_cmp);
            let bias = 100.0 * biases[(biases.len() - 1) / 2];
            assert_eq!(
                format!("{bias:.1}"),
                format!("{:.1}", shown.long_runs_longer_percent),
                "{id}, {} long runs",
                biases.len()
            );
            let shown = [
                shown.half_percent,
                shown.most_percent,
                shown.speedup_percent,
            ]
            .map(|percent| format!("{percent:.1}"));
            let found = [found.median, found.ninth_decile, of_speedups]
                .map(|error| format!("{:.1}", error * 100.0));
            assert_eq!(
                shown,
                found,
                "{id}, short: {is_short}, {} runs",
                of_its_kind.len()
            );
        }
    }
}

#[test]
fn files_with_the_measured_block_say_that_the_example_is_another_program() {
    let example = parse(example(NEXT).unwrap().text).program;
    for name in FILES {
        let file = read(name);
        let has_block = patterns(&file.rows).iter().any(|pattern| pattern == NEXT);
        assert_eq!(pattern_note(&file).is_some(), has_block, "{name}");
    }
    let root = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{root}/public/measured/{NEXT}.fuse")).unwrap();
    let pattern = parse(&text).program;
    assert_ne!(example.ops.len(), pattern.ops.len());
    assert!(FILES.iter().any(|name| pattern_note(&read(name)).is_some()));
    let packed = parse(self::example("transformer").unwrap().text).program;
    // What the note says of the three.
    let count = |program: &Program, is: &dyn Fn(&OpStatement) -> bool| {
        program.ops.iter().filter(|op| is(op)).count()
    };
    let of = |name: &'static str| move |op: &OpStatement| op.callee.text == name;
    let of_x = |program: &Program| {
        let input = &program.declarations[0].name.text;
        let reads = |op: &OpStatement| op.inputs.iter().any(|read| read.text == *input);
        count(program, &|op| of("matmul")(op) && reads(op))
    };
    assert_eq!([&pattern, &packed, &example].map(of_x), [1, 1, 3]);
    let scales = [&pattern, &packed, &example].map(|program| count(program, &of("scale")));
    assert_eq!(scales, [0, 0, 1]);
    let splits = [&pattern, &packed, &example].map(|program| count(program, &of("split")));
    assert_eq!(splits, [3, 0, 0]);
    let norms = [&pattern, &packed, &example].map(|program| {
        let is_bare = |op: &OpStatement| of("layer_norm")(op) && op.inputs.len() == 1;
        count(program, &is_bare)
    });
    assert_eq!(norms, [0, 2, 2]);
    assert!(text.contains("bf16") && !self::example(NEXT).unwrap().text.contains("bf16"));
}

#[test]
fn the_note_on_the_measured_block_says_how_wide_it_was_measured() {
    for name in FILES {
        let file = read(name);
        let widths = (file.rows.iter())
            .filter(|row| row.pattern == NEXT)
            .map(|row| row.size[1]);
        let Some(widest) = widths.max() else {
            continue;
        };
        let note = pattern_note(&file).unwrap();
        let said = format!(
            "No block wider than H = {},{:03} ",
            widest / 1000,
            widest % 1000
        );
        assert!(note.contains(&said), "{name}: {note}");
    }
}

#[test]
fn the_error_beside_a_prediction_explains_itself() {
    let options = Options {
        device: device("h200").unwrap().clone(),
        ..Options::default()
    };
    let analysis = analysis(example(NEXT).unwrap().text, &options);
    let error = PredictionError::of(&analysis).unwrap();
    let told = error.explanation(&analysis);
    assert_eq!(told.value, error.text());
    // It is the larger of both errors, and both are told.
    assert!(error.most_percent < error.speedup_percent);
    assert_eq!(told.value, format!("±{:.0} %", error.speedup_percent));
    for percent in [error.most_percent, error.speedup_percent] {
        let told = told.notes.concat();
        assert!(told.contains(&format!("within {percent:.1} %")), "{told}");
    }
    assert!(
        told.subject.contains("H200") && !told.sources.is_empty(),
        "{told:?}"
    );
}
