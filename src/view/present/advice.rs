//! Advice on what would save time, in words.

use super::format::format_count;
use super::manual::merge_alone;
use super::names::op_names;
use super::number::Number;
use super::options::{policy_title, switch_name};
use super::saved::{Saved, saved_text};
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::advice::{Advice, Advised, advise};
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::why::Price;
use fuseline_core::model::options::Switch;
use fuseline_core::{Analysis, KernelId, Objective, OpType, Policy};
use std::cmp::Ordering;

/// A change that would save time.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct AdviceRow {
    pub advice: Advice,
    /// What to do; quoted parts are code.
    pub action: String,
    /// What else the change costs, or where to make it; empty if there is nothing to say.
    pub caveat: String,
    /// Cost of the whole program before and after.
    pub price: Price,
    /// Saved time as a share of the program's time, in percent.
    pub share_percent: f64,
}

impl AdviceRow {
    /// The smallest share of the time that is worth suggesting: half of the measured times are off
    /// by as much.
    pub const LEAST_PERCENT: f64 = 5.0;

    /// Whether it saves enough to be suggested.
    pub fn matters(&self) -> bool {
        self.share_percent >= Self::LEAST_PERCENT
    }

    /// The saving as the page shows it.
    pub fn saved(&self, saved: Saved) -> String {
        match saved {
            Saved::Share => Number::Percent(self.share_percent).text(),
            Saved::Bytes | Saved::Time => saved_text(self.price, saved),
        }
    }
}

/// A note that holds for all rows.
pub fn rows_note(analysis: &Analysis) -> String {
    let note = "Each row counts that change alone, on the chosen device. The savings of several changes do not add up.";
    if analysis.predicted.is_none() {
        return note.to_owned();
    }
    let percent = AdviceRow::LEAST_PERCENT;
    format!(
        "{note} Half of the predicted times are off by about {percent} % or more: measure whether a smaller saving is one."
    )
}

/// A row for each advice, the largest saving first. Takes as long as [`advise`].
pub fn advice_rows(shown: KernelsInText<'_>) -> Vec<AdviceRow> {
    let advised = advise(shown).into_iter();
    advised
        .filter_map(|advised| row(shown.analysis, &advised))
        .collect()
}

fn row(analysis: &Analysis, advised: &Advised) -> Option<AdviceRow> {
    let (action, caveat) = advice_words(analysis, advised)?;
    let saved_s = advised.price.time_s()?;
    Some(AdviceRow {
        advice: advised.advice,
        action,
        caveat,
        price: advised.price,
        share_percent: saved_s / analysis.time_s() * 100.0,
    })
}

/// Which choice followed an advice, in the page's words; `None` for advice that changes the text.
pub fn set_words(advice: Advice) -> Option<String> {
    Some(format!("Set: {}.", changed_words(advice)?))
}

/// What an advice chooses, in the page's words; `None` for advice that changes the text.
pub(super) fn changed_words(advice: Advice) -> Option<String> {
    let switch = |switch| format!("{}, under Options", switch_name(switch));
    match advice {
        Advice::Compile => Some(format!(
            "fusion policy {}",
            policy_title(Policy::Inductor, Objective::default())
        )),
        Advice::Attention => Some(switch(Switch::Attention)),
        Advice::MaxAutotune => Some(switch(Switch::MaxAutotune)),
        Advice::Tf32 => Some("f32 matmuls in TF32, in the counting conventions".to_owned()),
        Advice::Merge(..) => None,
    }
}

/// What to do, and what else it costs or where to do it.
pub(super) fn advice_words(analysis: &Analysis, advised: &Advised) -> Option<(String, String)> {
    let names = |kernel: KernelId| {
        let ops = analysis.partition.kernels.get(kernel)?;
        Some(op_names(&analysis.graph, ops).replace('`', ""))
    };
    let for_all_iterations = match advised.iterations {
        1 => String::new(),
        iterations => format!(
            "The figures are for all {} iterations.",
            format_count(iterations)
        ),
    };
    let (action, caveat) = match advised.advice {
        Advice::Compile if generates_matmuls(analysis) => (
            "Compile the model with `torch.compile`: it leaves matmuls to the library, which is faster than generated ones.".to_owned(),
            "",
        ),
        Advice::Compile => ("Compile the model with `torch.compile`.".to_owned(), ""),
        Advice::Attention => (
            "Call `scaled_dot_product_attention`, so that the attention scores stay on chip."
                .to_owned(),
            "",
        ),
        Advice::MaxAutotune => {
            let action = "Compile with `mode=\"max-autotune\"`: a generated matmul takes the ops after it as its epilogue.";
            let rate = assumed_rate(analysis).unwrap_or_else(|| {
                "A generated matmul may be slower than the library's.".to_owned()
            });
            return Some((action.to_owned(), format!("Compiling takes minutes. {rate}")));
        }
        Advice::Tf32 => (
            "Allow TF32 with `torch.set_float32_matmul_precision(\"high\")`.".to_owned(),
            "Matmul operands keep 10 of the 23 bits of their mantissa.",
        ),
        Advice::Merge(a, b) => {
            let (first, second) = (names(a)?, names(b)?);
            let action = format!(
                "Write kernel {} (`{first}`) and kernel {} (`{second}`) as one kernel, for example in Triton.",
                a.number(),
                b.number()
            );
            let with_policy = advised
                .merge
                .and_then(|merge| merge_alone(analysis, merge, advised.price.saved_bytes()));
            let with_policy = with_policy.map(|alone| format!("Memory traffic: {alone}."));
            let kernels = [a, b].map(|kernel| analysis.partition.kernels.get(kernel));
            let mut ops = kernels.into_iter().flatten().flatten();
            let has_matmul = ops.any(|&op| analysis.graph.ops[op].op_type == OpType::Matmul);
            let rate = has_matmul.then(|| assumed_rate(analysis)).flatten();
            let caveats = [Some(for_all_iterations), with_policy, rate].into_iter().flatten();
            let caveats: Vec<String> = caveats.filter(|caveat| !caveat.is_empty()).collect();
            return Some((action, caveats.join(" ")));
        }
    };
    Some((action, caveat.to_owned()))
}

/// The rate at which a generated matmul is priced; `None` without measured rates.
fn assumed_rate(analysis: &Analysis) -> Option<String> {
    let measured = analysis.options.device.calibration()?;
    let share = measured.rates.generated_matmul_share * 100.0;
    Some(format!(
        "The time saved assumes generated matmuls at {share:.0} % of the library's speed."
    ))
}

/// An advice in a few words, for a button beside it.
pub fn advice_title(advice: Advice) -> String {
    match advice {
        Advice::Compile => "Use torch.compile".to_owned(),
        Advice::Attention => "Call FlashAttention".to_owned(),
        Advice::MaxAutotune => "Use max-autotune".to_owned(),
        Advice::Tf32 => "Allow TF32".to_owned(),
        Advice::Merge(a, b) => format!("Fuse kernels {} and {}", a.number(), b.number()),
    }
}

/// Why an advice helps, to follow its title where there is room.
pub fn advice_cause(analysis: &Analysis, advice: Advice) -> &'static str {
    if advice == Advice::Compile && generates_matmuls(analysis) {
        " with library matmuls"
    } else {
        ""
    }
}

/// Whether a fused kernel computes a matmul that no library call computes.
fn generates_matmuls(analysis: &Analysis) -> bool {
    let predicted = analysis.predicted.as_ref();
    predicted.is_some_and(|predicted| predicted.generated_matmuls > 0)
}

/// What an advice saves, to follow its title.
///
/// The first text has the time that ranks it, with its cost in memory traffic. The second has the
/// saved memory traffic.
pub fn advice_gain(row: &AdviceRow) -> [String; 2] {
    let time = format!("saves {}", row.saved(Saved::Time));
    let bytes = row.saved(Saved::Bytes);
    match row.price.saved_bytes().cmp(&0) {
        Ordering::Greater => [time, format!(" and {bytes}")],
        Ordering::Equal => [time, String::new()],
        Ordering::Less => [format!("{time}, {bytes}"), String::new()],
    }
}
