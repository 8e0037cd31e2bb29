//! The model's predictions beside what was measured on a real GPU.

use crate::core::Program;
use crate::core::analysis::measured::{Measurements, Predicted, Row, Variant, errors, predict};
use crate::markup::Markup;
use crate::picture::charts::measured_scatter::{Pair, Quantity, error_text, variant_text};
use crate::present::format::{format_bytes, format_percent, format_ratio, format_seconds};

/// A row beside its prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What was measured.
    pub row: Row,
    /// What the model says.
    pub predicted: Predicted,
    /// Predicted and measured time of the eager run over this one's; `None` for the eager run itself.
    pub speedup: Option<(f64, f64)>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compared {
    /// The time of one run.
    #[default]
    Time,
    /// Bytes read from device memory.
    Reads,
    /// How much faster compiled code is than library kernels.
    Speedup,
}

impl Compared {
    /// All three, in the order of the choice.
    pub const ALL: [Self; 3] = [Self::Time, Self::Reads, Self::Speedup];

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Reads => "memory reads",
            Self::Speedup => "speedup over eager",
        }
    }

    /// Its name and its unit.
    pub const fn quantity(self) -> Quantity<'static> {
        Quantity {
            name: self.name(),
            text: match self {
                Self::Time => format_seconds,
                Self::Reads => bytes_text,
                Self::Speedup => format_ratio,
            },
        }
    }

    /// Predicted and measured; `None` where there is nothing to compare.
    fn of(self, line: &Line) -> Option<(f64, f64)> {
        match self {
            Self::Time => Some((line.predicted.time_us * 1e-6, line.row.time_us * 1e-6)),
            Self::Reads => Some((
                line.predicted.dram_read_bytes,
                line.row.dram_read_bytes? as f64,
            )),
            Self::Speedup => line.speedup,
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes of a chart, far below 2^63 and never negative"
)]
fn bytes_text(bytes: f64) -> String {
    format_bytes(bytes.round() as u64)
}

/// The names of all patterns, each once, in the order of the rows.
pub fn patterns(rows: &[Row]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        if !names.contains(&row.pattern) {
            names.push(row.pattern.clone());
        }
    }
    names
}

/// Each row beside what the model says; `programs` are op lists by their pattern's name. A row without a list, or whose
/// list cannot be analysed, is left out. `O(rows * (rows + ops))`.
pub fn lines(rows: Vec<Row>, programs: &[(String, Program)], device_id: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in rows {
        let program = programs.iter().find(|(name, _)| *name == row.pattern);
        if let Some(predicted) = program.and_then(|(_, list)| predict(&row, list, device_id)) {
            lines.push(Line {
                row,
                predicted,
                speedup: None,
            });
        }
    }
    let speedups: Vec<Option<(f64, f64)>> =
        lines.iter().map(|line| speedup(&lines, line)).collect();
    for (line, speedup) in lines.iter_mut().zip(speedups) {
        line.speedup = speedup;
    }
    lines
}

fn speedup(lines: &[Line], line: &Line) -> Option<(f64, f64)> {
    if line.row.variant == Variant::Eager {
        return None;
    }
    let eager = lines.iter().find(|other| {
        let (other, row) = (&other.row, &line.row);
        other.variant == Variant::Eager && other.pattern == row.pattern && other.size == row.size
    })?;
    Some((
        eager.predicted.time_us / line.predicted.time_us,
        eager.row.time_us / line.row.time_us,
    ))
}

/// The points of the chart.
pub fn pairs(lines: &[Line], compared: Compared) -> Vec<Pair> {
    let pair = |line: &Line| {
        let (predicted, measured) = compared.of(line)?;
        Some(Pair {
            name: [&line.row.pattern, " ", &size_text(&line.row)].concat(),
            variant: line.row.variant,
            predicted,
            measured,
        })
    };
    lines.iter().filter_map(pair).collect()
}

fn size_text(row: &Row) -> String {
    let sizes: Vec<String> = row.size.iter().map(i64::to_string).collect();
    sizes.join("×")
}

/// How far the model is off, in a sentence, and where the figures come from.
pub fn summary(measurements: &Measurements, lines: &[Line], compared: Compared) -> Markup {
    let pairs = pairs(lines, compared);
    let figures: Vec<(f64, f64)> = pairs.iter().map(|p| (p.predicted, p.measured)).collect();
    let mut markup = Markup::new();
    if let Some(errors) = errors(&figures) {
        let percent = |error: f64| format_percent(error * 100.0);
        let worst = pairs.get(errors.worst_at);
        let count = errors.count.to_string();
        let sentence = [
            count.as_str(),
            " rows: half within ",
            &percent(errors.median),
            ", nine in ten within ",
            &percent(errors.ninth_decile),
            ", the farthest off by ",
            &percent(errors.worst),
            " (",
            worst.map_or("", |pair| pair.name.as_str()),
            ", ",
            worst.map_or("", |pair| variant_text(pair.variant)),
            ").",
        ];
        markup.fill(
            r#"<p class="measured-errors">{}</p>"#,
            &[&sentence.concat()],
        );
    } else {
        markup.raw("<p>Nothing of this kind was measured here.</p>");
    }
    markup.raw(r#"<p class="quiet">Predicted by the device model, calibrated on an H200; the rest of the page shows roofline bounds, at full peak rates.</p>"#);
    let source = [
        &measurements.device,
        ", PyTorch ",
        &measurements.torch,
        ". ",
        &measurements.note,
    ];
    markup.fill(r#"<p class="quiet">{}</p>"#, &[&source.concat()]);
    markup
}

/// One row for each line that has both figures.
pub fn table(lines: &[Line], compared: Compared) -> Markup {
    let mut markup = Markup::new();
    let text = compared.quantity().text;
    for line in lines {
        let Some((predicted, measured)) = compared.of(line) else {
            continue;
        };
        let launches = [
            &line.predicted.launches.to_string(),
            " / ",
            &line.row.kernels.len().to_string(),
        ];
        markup.fill(
            r#"<tr><th scope="row">{}</th><td class="number">{}</td><td>{}</td><td class="number">{}</td><td class="number">{}</td><td class="number">{}</td><td class="number">{}</td></tr>"#,
            &[
                &line.row.pattern,
                &error_text(predicted / measured - 1.0),
                variant_text(line.row.variant),
                &text(predicted),
                &text(measured),
                &size_text(&line.row),
                &launches.concat(),
            ],
        );
    }
    markup
}
