//! What fusion brings to the program, in the one sentence that leads the page.

use super::figure::Part;
use super::format::{assumed, format_faster, format_percent};
use super::names::plural;
use super::options::fusing;
use super::prediction_error::PredictionError;
use super::quantity::{Figure, Quantity, Run, Subject, Values};
use super::slower::slowest_loss;
use super::times::{TimeKind, program_outside, total_speedup};
use fuseline_core::{Analysis, Policy};

/// Two predicted times that differ by less, as a share, count as equal.
const EQUAL_TIMES: f64 = 0.01;

/// The sentence about what is shown, with its numbers: the fused program, or the unfused one while
/// `is_fused` is false.
///
/// `Fusing by torch.compile turns 14 kernels into 9 and saves 14.6 % of the memory traffic: at best
/// 1.06× faster on A100 SXM 80GB.`
pub fn claim(analysis: &Analysis, is_fused: bool) -> Vec<Part> {
    if analysis.unfused.launches == 0 {
        return vec![Part::words(
            "Nothing runs yet. Write an operation, open a model or choose an example.",
        )];
    }
    if !is_fused || analysis.options.policy == Policy::None {
        return without_fusion(analysis);
    }
    if analysis.is_partial() {
        return partial(analysis);
    }
    match nothing_to_save(analysis) {
        Some(reason) => {
            let mut parts = vec![Part::words(format!("{reason}."))];
            parts.extend(generated_code(analysis));
            parts
        }
        None => fused(analysis),
    }
}

/// The claim while the pictures change from unfused to fused: this share of the saved bytes is
/// counted.
///
/// The other numbers show their final values at once, because values in between would be those of
/// another policy. The last sentence is [`claim`].
pub fn counting_claim(analysis: &Analysis, share: f64) -> Vec<Part> {
    let mut parts = claim(analysis, true);
    if share >= 1.0 || analysis.is_partial() {
        return parts;
    }
    for part in &mut parts {
        if (part.figure).is_some_and(|figure| figure.quantity == Quantity::Saving) {
            part.text = format_percent(share * analysis.savings_pct.abs());
        }
    }
    parts
}

/// The title of the page: [`claim`] without its full stop, in front of the page's name.
pub fn page_title(analysis: &Analysis, is_fused: bool) -> String {
    let claim = Part::text_of(&claim(analysis, is_fused));
    format!("{} · Fuseline", claim.trim_end_matches('.'))
}

/// A number of the whole program, as a part of a sentence.
fn total(values: &Values<'_>, quantity: Quantity, run: Run) -> Part {
    let of = Subject::Program;
    Part::of(values, Figure { quantity, run, of })
}

fn of_fused(text: String, quantity: Quantity) -> Part {
    Part::number(text, Figure::fused(Subject::Program, quantity))
}

fn kernels(count: usize) -> String {
    plural(count, "kernel")
}

fn without_fusion(analysis: &Analysis) -> Vec<Part> {
    let unfused = &analysis.unfused;
    let values = Values::new(analysis);
    let how = if analysis.predicted.is_some() {
        "predicted"
    } else {
        "at best"
    };
    vec![
        Part::words("Without fusion, "),
        total(&values, Quantity::Launches, Run::Unfused),
        Part::words(format!(
            " {} {} ",
            kernels(unfused.launches),
            if unfused.launches == 1 {
                "reads and writes"
            } else {
                "read and write"
            }
        )),
        total(&values, Quantity::Bytes, Run::Unfused),
        Part::words(format!(" of memory: {how} ")),
        total(&values, Quantity::Time, Run::Unfused),
        Part::words(format!(" on {}.", analysis.options.device.name)),
    ]
}

/// The claim about a program with ops of unknown shape: two lower bounds have no ratio.
fn partial(analysis: &Analysis) -> Vec<Part> {
    let values = Values::new(analysis);
    vec![
        Part::words("Fused, "),
        total(&values, Quantity::Launches, Run::Fused),
        Part::words(" kernels read and write "),
        total(&values, Quantity::Bytes, Run::Fused),
        Part::words(" of memory. Give every op a shape to see what fusion saves."),
    ]
}

/// The sentence that fusion changes neither kernels nor bytes, and why; `None` where it does.
///
/// It says that there is nothing to save only where no policy can change anything.
fn nothing_to_save(analysis: &Analysis) -> Option<String> {
    let (unfused, fused) = (&analysis.unfused, &analysis.fused);
    if unfused.launches != fused.launches || unfused.traffic.total != fused.traffic.total {
        return None;
    }
    if unfused.launches == 1 {
        return Some("Nothing to save here: the program is one kernel already".to_owned());
    }
    let is_marked = analysis.graph.ops.iter().any(|op| op.kernel.is_some());
    Some(match analysis.options.policy {
        Policy::Manual if !is_marked => {
            "Nothing saved yet: no kernels are merged by hand".to_owned()
        }
        Policy::Manual => "Nothing saved yet: the kernels merged by hand save nothing".to_owned(),
        Policy::Optimal => {
            "Nothing saved: no kernels that the search allows have fewer bytes".to_owned()
        }
        Policy::None | Policy::Rules => {
            "Nothing saved: the textbook rules fuse none of these ops".to_owned()
        }
        Policy::Inductor => "Nothing saved: torch.compile fuses none of these ops".to_owned(),
    })
}

/// Why the same kernels take another time than before fusion: PyTorch's library no longer computes
/// them. Empty for differences up to [`EQUAL_TIMES`].
fn generated_code(analysis: &Analysis) -> Vec<Part> {
    let Some(predicted) = &analysis.predicted else {
        return Vec::new();
    };
    let change = predicted.fused_s / predicted.unfused_s - 1.0;
    if !change.is_finite() || change.abs() < EQUAL_TIMES {
        return Vec::new();
    }
    let than = if change > 0.0 { "longer" } else { "less time" };
    vec![
        Part::words(" Generated kernels of these ops take "),
        of_fused(format_percent(100.0 * change.abs()), Quantity::Speedup),
        Part::words(format!(" {than} than PyTorch's.")),
    ]
}

fn fused(analysis: &Analysis) -> Vec<Part> {
    let (unfused, fused) = (&analysis.unfused, &analysis.fused);
    let options = &analysis.options;
    let fusing = fusing(options);
    let values = Values::new(analysis);
    let mut parts = if unfused.launches == fused.launches {
        vec![
            Part::words(format!("{fusing} keeps ")),
            total(&values, Quantity::Launches, Run::Fused),
            Part::words(format!(" {} and ", kernels(fused.launches))),
        ]
    } else {
        vec![
            Part::words(format!("{fusing} turns ")),
            total(&values, Quantity::Launches, Run::Unfused),
            Part::words(format!(" {} into ", kernels(unfused.launches))),
            total(&values, Quantity::Launches, Run::Fused),
            Part::words(" and "),
        ]
    };
    let is_assumed = values.program_has_assumed_size(Run::Unfused);
    let change = assumed(is_assumed, &format_percent(analysis.savings_pct.abs()));
    let change = of_fused(change, Quantity::Saving);
    match fused.traffic.saved_by_fusion {
        0 => parts.push(Part::words("saves no memory traffic")),
        saved if saved > 0 => parts.extend([
            Part::words("saves "),
            change,
            Part::words(" of the memory traffic"),
        ]),
        _ => parts.extend([
            Part::words("adds "),
            change,
            Part::words(" to the memory traffic"),
        ]),
    }
    parts.extend(gain(analysis, is_assumed));
    parts
}

/// The gain at the end of the claim: `: at best 1.06× faster on A100 SXM 80GB.`
fn gain(analysis: &Analysis, is_assumed: bool) -> Vec<Part> {
    let Some((kind, speedup)) = total_speedup(analysis) else {
        return vec![Part::words(".")];
    };
    let is_rough = PredictionError::of(analysis).is_some_and(PredictionError::is_rough);
    let (how, quantity) = match kind {
        TimeKind::Predicted if program_outside(analysis).is_some() => {
            ("predicted (unverified)", Quantity::Speedup)
        }
        TimeKind::Predicted if is_rough => ("predicted roughly", Quantity::Speedup),
        TimeKind::Predicted => ("predicted", Quantity::Speedup),
        TimeKind::LowerBound => ("at best", Quantity::BoundSpeedup),
    };
    let device = &analysis.options.device.name;
    // The card of the ratio says why.
    let slowed = (speedup < 1.0)
        .then(|| slowest_loss(analysis))
        .flatten()
        .map_or_else(String::new, |id| {
            format!(", slowed by kernel {}", id.number())
        });
    let faster = format_faster(speedup);
    // The number alone explains itself: `1.06×` of `1.06× faster`.
    let number_end = (faster.char_indices().rev())
        .find(|(_, char)| matches!(char, '×' | '%'))
        .map_or(faster.len(), |(at, char)| at + char.len_utf8());
    let (ratio, rest) = faster.split_at(number_end);
    vec![
        Part::words(format!(": {how} ")),
        of_fused(assumed(is_assumed, ratio), quantity),
        Part::words(format!("{rest} on {device}{slowed}.")),
    ]
}
