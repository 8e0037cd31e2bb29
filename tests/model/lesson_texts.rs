//! What is written beside the engine: measured tables in lessons, and the document for teachers.

use fuseline_core::analysis::measured::{MeasuredRow, Measurements, Variant};
use fuseline_learn::lesson::check::check;
use fuseline_learn::lesson::library::LESSONS;
use fuseline_learn::lesson::named_figure::NamedFigure;
use fuseline_learn::lesson::prose::ProsePart;
use fuseline_learn::lesson::read;

const DOCUMENT: &str = include_str!("../../docs/lessons.md");
const H200: &str = include_str!("../../public/measured/h200.json");

fn rows() -> Vec<MeasuredRow> {
    serde_json::from_str::<Measurements>(H200)
        .unwrap_or_else(|e| unreachable!("{e}"))
        .rows
}

/// The measured row of a table's head, such as `linear_bias_relu  4096 x 4096, bf16`, and of a
/// variant's name.
fn row<'a>(rows: &'a [MeasuredRow], head: &str, variant: &str) -> Option<&'a MeasuredRow> {
    let pattern = head.split_whitespace().next()?;
    let size: Vec<i64> = head
        .split(|c: char| !c.is_ascii_digit() && !c.is_alphanumeric())
        .filter_map(|word| word.parse().ok())
        .collect();
    rows.iter().find(|row| {
        row.pattern == pattern && row.size == size && Variant::name(row.variant) == variant
    })
}

/// How a table rounds: `832.0 µs`, `939.9 MB`.
fn one_digit(number: f64, unit: &str) -> String {
    format!("{number:.1} {unit}")
}

/// What in a table is not as it was measured.
fn wrong_cells(table: &str, rows: &[MeasuredRow]) -> Vec<String> {
    let Some(head) = table.lines().next() else {
        return vec!["the table is empty".to_owned()];
    };
    let mut wrong = Vec::new();
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let Some(row) = cells.first().and_then(|name| row(rows, head, name)) else {
            continue;
        };
        let read = row.dram_read_bytes.map_or(f64::NAN, |bytes| bytes as f64);
        let expected = [
            row.kernels.len().to_string(),
            one_digit(row.time_us, "µs"),
            one_digit(read / 1e6, "MB"),
        ];
        for cell in expected {
            if !line.contains(&format!(" {cell}")) {
                wrong.push(format!("{line}: {cell}"));
            }
        }
    }
    wrong
}

fn code_blocks() -> impl Iterator<Item = (&'static str, String)> {
    LESSONS.iter().flat_map(|listed| {
        let steps = read(listed.text).0.steps.into_iter();
        let parts = steps.flat_map(|step| step.before.into_iter().chain(step.after));
        parts.filter_map(|part| match part {
            ProsePart::Code(text) => Some((listed.id, text)),
            _ => None,
        })
    })
}

#[test]
fn measured_tables_are_as_measured() {
    let rows = rows();
    let altered = "linear_bias_relu  4096 x 4096 x 4096, bf16\neager  3  235.9 µs  216.1 MB";
    assert_eq!(wrong_cells(altered, &rows).len(), 1, "the check can fail");
    let mut tables = 0;
    for (id, text) in code_blocks() {
        let head = text.lines().next().unwrap_or_default();
        if text.contains("DRAM read") {
            let measured = text.lines().skip(2);
            let unknown = measured.filter(|line| {
                let name = line.split_whitespace().next().unwrap_or_default();
                row(&rows, head, name).is_none()
            });
            assert_eq!(unknown.count(), 0, "{id}: {head}");
            assert_eq!(wrong_cells(&text, &rows), [] as [String; 0], "{id}");
            tables += 1;
        }
    }
    assert!(tables >= 3, "{tables}");
}

/// Bytes written are in the file, but no part of the model's rows.
#[test]
fn written_bytes_in_tables_are_as_measured() {
    let file: serde_json::Value =
        serde_json::from_str(H200).unwrap_or_else(|e| unreachable!("{e}"));
    let written: Vec<String> = file["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| row["dram_write_bytes"].as_f64())
        .map(|bytes| one_digit(bytes / 1e6, "MB"))
        .collect();
    for (id, text) in code_blocks().filter(|(_, text)| text.contains("DRAM write")) {
        for line in text.lines().skip(2) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            let last = cells[cells.len() - 2..].join(" ");
            assert!(written.contains(&last), "{id}: {line}");
        }
    }
}

#[test]
fn the_lesson_in_the_document_has_no_problems() {
    let text = DOCUMENT
        .split("````markdown\n")
        .nth(1)
        .and_then(|rest| rest.split("````").next())
        .unwrap_or_default();
    let (lesson, mut problems) = read(text);
    problems.extend(check(&lesson));
    assert_eq!(problems, []);
    assert_eq!(lesson.steps.len(), 2);
    assert!(lesson.steps.iter().all(|step| step.task.is_some()));
}

/// The names that a message offers: `write one of a, b`.
fn offered(message: &str) -> Vec<&str> {
    let list = message.split("one of ").nth(1).unwrap_or_default();
    list.split(", ").map(str::trim).collect()
}

#[test]
fn the_document_names_all_keys_and_figures() {
    let named = |name: &str| DOCUMENT.contains(&format!("`{name}`"));
    assert!(!named("colour"), "the check can fail");
    let figures = NamedFigure::parse("zzz").unwrap_err().to_string();
    let figures = offered(&figures);
    assert!(figures.len() > 20, "{figures:?}");
    for figure in figures {
        assert!(named(figure), "no figure `{figure}`");
    }
    let head = "---\ntitle: T\n---\n\n## Step\n";
    for block in ["page\nzzzzzz: 1", "page\ntab: zzzzzz", "page\nlook: zzzzzz"] {
        let (_, problems) = read(&format!("{head}```{block}\n```\n"));
        let mend = problems.first().map_or("", |problem| problem.mend.as_str());
        let offers = offered(mend);
        assert!(offers.len() > 5, "{block}: {mend}");
        for name in offers {
            assert!(named(name), "{block}: no `{name}`");
        }
    }
}
