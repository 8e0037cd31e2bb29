//! The arithmetic behind an expected time, in words.

use super::format::{format_amount, format_bandwidth, format_rate, format_seconds};
use crate::core::analysis::device_model::{Breakdown, Part, Share, What};

/// How an expected time is computed: a line for each part that takes time, and one for the whole. `kind` names such times.
pub fn breakdown_lines(breakdown: &Breakdown, kind: &str) -> Vec<String> {
    let takes_time = |part: &&Part| part.seconds() > 0.0;
    let mut lines = Vec::new();
    let mut terms = Vec::new();
    for phase in &breakdown.phases {
        let parts: Vec<&Part> = phase.iter().filter(takes_time).collect();
        lines.extend(parts.iter().map(|part| {
            let shares: Vec<String> = part.shares.iter().map(share_text).collect();
            let seconds = format_seconds(part.seconds());
            format!("{kind}, {}: {} = {seconds}", part.name, shares.join(" + "))
        }));
        let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
        match &names[..] {
            [] => {}
            [only] => terms.push((*only).to_owned()),
            [a, b] => terms.push(format!("the longer of {a} and {b}")),
            _ => terms.push(format!("the longest of {}", names.join(", "))),
        }
    }
    terms.push(format!(
        "{} to launch, start and end",
        format_seconds(breakdown.fixed_s)
    ));
    let seconds = format_seconds(breakdown.time_s());
    lines.push(format!("{kind}: {} = {seconds}", terms.join(" + ")));
    lines
}

/// What takes the most of an expected time, with its arithmetic: `53.2 GFLOP in whole waves of tiles / 800 TFLOP/s = 66.4 µs`.
pub fn longest_part(breakdown: &Breakdown) -> Option<String> {
    let parts = breakdown.phases.iter().flatten();
    let longest = parts.max_by(|a, b| a.seconds().total_cmp(&b.seconds()))?;
    let shares: Vec<String> = longest.shares.iter().map(share_text).collect();
    let seconds = format_seconds(longest.seconds());
    Some(format!("{} = {seconds}", shares.join(" + ")))
}

fn share_text(share: &Share) -> String {
    let &Share {
        what,
        amount,
        per_s,
    } = share;
    let bytes = |from: &str| {
        let bandwidth = format_bandwidth(per_s);
        format!("{} {from} / {bandwidth}", format_amount(amount, "B"))
    };
    let flops = |place: &str| {
        format!(
            "{}{place} / {}",
            format_amount(amount, "FLOP"),
            format_rate(per_s)
        )
    };
    let things = |of: &str| {
        format!(
            "{} {of} / {}",
            format_amount(amount, ""),
            format_amount(per_s, "/s")
        )
    };
    match what {
        What::MemoryBytes => bytes("of memory"),
        What::BytesAgain => bytes("of memory once more"),
        What::CacheBytes => bytes("of the cache"),
        What::MatrixFlops => flops(""),
        What::WaveFlops => flops(" in whole waves of tiles"),
        What::Waves => format!("{amount:.0} waves × {}", format_seconds(1.0 / per_s)),
        What::Elements => things("updates"),
        What::Exponentials => things("exponentials"),
        What::ErrorFunctions => things("error functions"),
        What::Tangents => things("hyperbolic tangents"),
        What::Divisions => things("divisions"),
        What::Instructions => things("further instructions"),
        What::Strided => things("elements of operands with other strides"),
        What::Softmax => things("elements of a library softmax"),
        What::WideSoftmax => things("elements of a library softmax over long rows"),
        What::Norm => things("elements of a library norm"),
        What::Pool => things("elements of a library pooling"),
        What::Sum => things("elements of a library reduction"),
    }
}
