//! Advice on what would save time, in words.

use super::format::{format_count, format_seconds};
use super::manual::{Change, merge_alone};
use super::names::{listed, op_names};
use super::number::Number;
use super::options::{policy_title, switch_name};
use super::saved::{Saved, saved_text};
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::advice::{Advice, Advised, advise, is_prologue};
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::launches::PYTHON_LAUNCH_S;
use fuseline_core::analysis::why::Price;
use fuseline_core::model::options::Switch;
use fuseline_core::notation::edit::{Joinable, joinable_products};
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
    /// Saved time as a share of the time before, in percent.
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
    let note = "Each row counts that change alone, on the chosen device. The savings of several changes do not add up. Rows are in the order of their share of the time.";
    if analysis.predicted.is_none() {
        return note.to_owned();
    }
    let percent = AdviceRow::LEAST_PERCENT;
    format!(
        "{note} Half of the predicted times are off by about {percent} % or more: measure whether a smaller saving is one."
    )
}

/// A row for each advice, the largest share first. Takes as long as [`advise`].
pub fn advice_rows(shown: KernelsInText<'_>) -> Vec<AdviceRow> {
    let advised = advise(shown).into_iter();
    advised.filter_map(|advised| row(shown, &advised)).collect()
}

fn row(shown: KernelsInText<'_>, advised: &Advised) -> Option<AdviceRow> {
    let (action, caveat) = advice_words(shown, advised)?;
    Some(AdviceRow {
        advice: advised.advice,
        action,
        caveat,
        price: advised.price,
        share_percent: advised.share()? * 100.0,
    })
}

/// What has changed once an advice is followed, in the page's words; `None` for a merge, which has
/// words of its own, and for advice that changes nothing.
pub fn done_words(advice: Advice) -> Option<String> {
    let changed = changed_words(advice)?;
    match advice {
        Advice::CudaGraph => None,
        _ if advice.is_of_kernels() => Some(format!("Set: {changed}.")),
        _ => Some(format!("Changed in the text: {changed}.")),
    }
}

/// What an advice changes, in the page's words; `None` for a merge.
pub(super) fn changed_words(advice: Advice) -> Option<String> {
    let switch = |switch| format!("{}, under Options", switch_name(switch));
    Some(match advice {
        Advice::Compile => format!(
            "fusion policy {}",
            policy_title(Policy::Inductor, Objective::default())
        ),
        Advice::Attention => switch(Switch::Attention),
        Advice::MaxAutotune => switch(Switch::MaxAutotune),
        Advice::Tf32 => "f32 matmuls in TF32, in the counting conventions".to_owned(),
        Advice::Merge(..) => return None,
        Advice::JoinProducts(_) => "one product computes several products of a tensor".to_owned(),
        Advice::F8Products => "products in f8, with scales".to_owned(),
        Advice::Int8Weights => "weights in i8, with scales".to_owned(),
        Advice::LargerBatch { factor, .. } => format!("{factor} times as many rows in one run"),
        Advice::CudaGraph => "one call launches all kernels".to_owned(),
    })
}

/// What is compared by the price of an advice.
pub(super) fn sides(advice: Advice) -> [String; 2] {
    match advice {
        Advice::LargerBatch { factor, .. } => [
            format!("{factor} runs now"),
            "one run with the change".to_owned(),
        ],
        Advice::CudaGraph => ["launched by Python", "launched as a CUDA graph"].map(str::to_owned),
        _ => ["now", "with the change"].map(str::to_owned),
    }
}

/// What to do, and what else it costs or where to do it.
pub(super) fn advice_words(
    shown: KernelsInText<'_>,
    advised: &Advised,
) -> Option<(String, String)> {
    let analysis = shown.analysis;
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
            let change = Change::MergeOnTop(a, b);
            let is_by_hand = !change.keeps_policy(analysis.options.policy);
            let with_policy = (advised.merge)
                .filter(|_| is_by_hand)
                .and_then(|merge| merge_alone(analysis, merge, advised.price.saved_bytes()));
            let with_policy = with_policy.map(|alone| format!("Memory traffic: {alone}."));
            let kernels = [a, b].map(|kernel| analysis.partition.kernels.get(kernel));
            let mut ops = kernels.into_iter().flatten().flatten();
            let has_matmul = ops.any(|&op| analysis.graph.ops[op].op_type == OpType::Matmul);
            let rate = has_matmul.then(|| assumed_rate(analysis)).flatten();
            let has_templates =
                analysis.options.policy == Policy::Inductor && is_prologue(analysis, [a, b]);
            let templates = has_templates.then(|| {
                "The templates of torch.compile take such ops, too: try mode=\"max-autotune\" first."
                    .to_owned()
            });
            let caveats = [Some(for_all_iterations), with_policy, rate, templates];
            let caveats = caveats.into_iter().flatten();
            let caveats: Vec<String> = caveats.filter(|caveat| !caveat.is_empty()).collect();
            return Some((action, caveats.join(" ")));
        }
        Advice::JoinProducts(first) => return joined_words(shown, first),
        Advice::F8Products => (
            "Multiply in f8: store the weights in `f8e4m3` with a scale for each column, and round their operands, as `torch._scaled_mm` takes them."
                .to_owned(),
            "Operands keep 3 bits of their mantissa: check the accuracy.",
        ),
        Advice::Int8Weights => (
            "Store the weights in 8-bit integers with a scale for each column, in a kernel that widens them as it loads them.".to_owned(),
            "Weights have 255 values in a column: check the accuracy.",
        ),
        Advice::LargerBatch {
            param,
            value,
            factor,
        } => return Some(larger_batch_words(shown, advised.price, param, value, factor)),
        Advice::CudaGraph => {
            let action = "Launch all kernels by one call, as a CUDA graph: in PyTorch `mode=\"reduce-overhead\"`.";
            let caveat = format!(
                "Python needs about {} for a launch, so the GPU waits between short kernels.",
                format_seconds(PYTHON_LAUNCH_S)
            );
            return Some((action.to_owned(), caveat));
        }
    };
    Some((action, caveat.to_owned()))
}

fn joined_words(shown: KernelsInText<'_>, first: usize) -> Option<(String, String)> {
    let kinds = joinable_products(shown.text, shown.program);
    let is_first =
        |kind: &&Joinable| kind.groups.first().and_then(|group| group.first()) == Some(&first);
    let kind = kinds.iter().find(is_first)?;
    let names = kind
        .groups
        .first()?
        .iter()
        .filter_map(|&op| shown.program.ops.get(op));
    let names = names.map(|op| format!("`{}`", op.output.text.replace('`', "")));
    let action = format!(
        "Compute {} by one product: put their weights side by side in one tensor.",
        listed(names.collect())
    );
    let caveat = match kind.groups.len() {
        1 => String::new(),
        groups => format!(
            "The figures are for all {} such groups.",
            format_count(groups)
        ),
    };
    Some((action, caveat))
}

fn larger_batch_words(
    shown: KernelsInText<'_>,
    price: Price,
    param: usize,
    value: i64,
    factor: u32,
) -> (String, String) {
    let name = shown
        .program
        .params
        .get(param)
        .map(|param| param.name.text.replace('`', ""));
    let action = format!(
        "Compute {factor} times as many rows in one run: `{} = {value}`.",
        name.unwrap_or_default()
    );
    let is_predicted = price.is_predicted();
    let [before, after] = [price.before, price.after].map(|cost| {
        let time = Saved::Time.of(cost, is_predicted);
        time.map_or_else(String::new, Number::text)
    });
    let caveat = format!(
        "The price is for equal rows: {factor} runs now take {before}, one such run takes {after}."
    );
    (action, caveat)
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
        Advice::JoinProducts(_) => "Join products".to_owned(),
        Advice::F8Products => "Multiply in f8".to_owned(),
        Advice::Int8Weights => "Store weights in 8 bits".to_owned(),
        Advice::LargerBatch { factor, .. } => format!("Compute {factor} times the rows"),
        Advice::CudaGraph => "Use a CUDA graph".to_owned(),
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
