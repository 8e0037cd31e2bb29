//! Other sizes for a question, where its words stay true.

use crate::lesson::named_figure::NamedFigure;
use crate::lesson::prose::{Inline, ProsePart, each_inline, figures};
use crate::lesson::solve::with_param;
use crate::lesson::state::{AnalyzedProgram, PageState};
use crate::lesson::task::{Task, TaskKind};
use crate::lesson::value::Unit;
use crate::lesson::{LessonStep, StepStates};
use fuseline_core::model::program::{Param, ParamRange};
use fuseline_core::notation::parse;
use fuseline_core::splitmix::SplitMix64;
use fuseline_core::{Analysis, Bound, KernelId, OpId, Policy};

/// Most sizes that are tried for a question: each takes a few analyses.
const MAX_TRIES: usize = 8;

/// The states of a step with another value of one param; `None` where the step keeps the numbers of
/// the lesson.
pub(super) fn changed(
    step: &LessonStep,
    task: &Task,
    states: &StepStates,
    seed: u32,
    at: usize,
) -> Option<StepStates> {
    let TaskKind::Number { quantity, .. } = &task.kind else {
        return None;
    };
    // Counts and shares are about kernels and waves, and the words of their steps about these very
    // ones.
    let follows_sizes = matches!(
        quantity.unit()?,
        Unit::Bytes | Unit::Flops | Unit::Intensity | Unit::Seconds | Unit::Ratio
    );
    let ask = [task.ask.clone(), task.why.clone()].map(ProsePart::Paragraph);
    if seed == 0 || !follows_sizes || states_a_number(&step.before) || states_a_number(&ask) {
        return None;
    }
    let before = Look::of(states, quantity)?;
    let program = parse(&states.asked.shared.text).program;
    let params = program.params.iter();
    let mut sizes: Vec<(&str, i64)> = params.flat_map(other_values).collect();
    shuffle(&mut sizes, seed, at);
    sizes.into_iter().take(MAX_TRIES).find_map(|(name, value)| {
        let asked = with_param(&states.asked, name, value)?;
        let answered = step.then.applied(&asked, &mut Vec::new());
        // The answer would be about the lesson's own value.
        if value_of(&answered, name) != Some(value) {
            return None;
        }
        let states = StepStates { asked, answered };
        let after = Look::of(&states, quantity)?;
        let figures = figures(&step.before).into_iter().chain(figures(&ask));
        let has_figures = figures
            .into_iter()
            .all(|figure| figure.text(&after.analyzed).is_ok());
        (has_figures && after.tells_same(&before)).then_some(states)
    })
}

/// The facts that the words of a step state.
struct Look {
    analyzed: AnalyzedProgram,
    /// The right answer, as read.
    answer: String,
    /// The kernel of each op and the bottleneck of each kernel, when asked, when answered and under
    /// policies that texts name.
    structure: Vec<(Vec<KernelId>, Vec<Bound>)>,
}

impl Look {
    fn of(states: &StepStates, figure: &NamedFigure) -> Option<Self> {
        let (asked, answered) = (states.asked.analyzed()?, states.answered.analyzed()?);
        if asked.has_error || answered.has_error {
            return None;
        }
        let named = [Policy::Rules, Policy::Inductor].map(|policy| answered.under(policy));
        let all = [&asked.analysis, &answered.analysis];
        let structure = all.into_iter().chain(&named);
        Some(Self {
            answer: figure.value(&answered).ok()?.text(),
            structure: structure.map(|analysis| structure_of(analysis)).collect(),
            analyzed: asked,
        })
    }

    /// Whether the words for another look are true for this one, and the answer is another.
    fn tells_same(&self, other: &Self) -> bool {
        self.answer != other.answer && self.structure == other.structure
    }
}

fn structure_of(analysis: &Analysis) -> (Vec<KernelId>, Vec<Bound>) {
    let kernel_of = &analysis.partition.kernel_of;
    let kernels = kernel_of.iter_enumerated();
    let kernels = kernels.map(|(_, &kernel): (OpId, _)| kernel).collect();
    let fused = analysis.fused.kernels.iter();
    let bounds = fused
        .chain(analysis.unfused.kernels.iter())
        .map(|kernel| kernel.placement.bound);
    (kernels, bounds.collect())
}

/// Values of a slider within a factor of four, other than the present one.
fn other_values(param: &Param) -> impl Iterator<Item = (&str, i64)> {
    /// Factors as fractions, so that the values are the same on every machine. The answers of two
    /// neighbours are so far apart that one is not right within the tolerance of the other.
    const FACTORS: [(i64, i64); 11] = [
        (1, 4),
        (3, 8),
        (1, 2),
        (5, 8),
        (3, 4),
        (5, 4),
        (3, 2),
        (7, 4),
        (2, 1),
        (5, 2),
        (3, 1),
    ];
    // One that divides another size moves with it, and the words may be about both.
    let range = (param.range.as_ref()).filter(|range| range.dividing.is_none());
    let values = range.into_iter().flat_map(|range| {
        let values = FACTORS.iter().filter_map(|&(over, under)| {
            let value = param.value.checked_mul(over)? / under;
            on_slider(range, value)
        });
        values.collect::<Vec<_>>()
    });
    let mut values: Vec<i64> = values.filter(|&value| value != param.value).collect();
    values.dedup();
    values
        .into_iter()
        .map(|value| (param.name.text.as_str(), value))
}

/// The value of the slider at or below another one; `None` outside of it.
fn on_slider(range: &ParamRange, value: i64) -> Option<i64> {
    let above = value.checked_sub(range.min)?;
    let value = value.checked_sub(above.checked_rem(range.step.max(1))?)?;
    (range.min..=range.max).contains(&value).then_some(value)
}

fn value_of(state: &PageState, name: &str) -> Option<i64> {
    let program = parse(&state.shared.text).program;
    let param = (program.params.iter()).find(|param| param.name.text == name)?;
    Some(param.value)
}

/// Whether a number is written out in parts, and not as a figure of the engine: it may be about a
/// size. Names such as `y1`, f16 and A100 are no numbers.
fn states_a_number(parts: &[ProsePart]) -> bool {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let has_number = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(is_number)
    };
    let mut found = parts
        .iter()
        .any(|part| matches!(part, ProsePart::Code(code) if has_number(code)));
    each_inline(parts, &mut |inline| {
        if let Inline::Text(text) | Inline::Code(text) = inline {
            found |= has_number(text);
        }
    });
    found
}

/// In an order that follows from the step, from a place that follows from the seed: neighbours
/// begin far from each other.
fn shuffle<T>(items: &mut [T], seed: u32, step: usize) {
    /// Prime, so that the sheets reach every place.
    const APART: usize = 7;
    let mut numbers = SplitMix64(step as u64);
    for last in (1..items.len()).rev() {
        let other = numbers.draw() % (last as u64 + 1);
        items.swap(last, usize::try_from(other).unwrap_or_default());
    }
    let first = (seed as usize).wrapping_mul(APART).checked_rem(items.len());
    items.rotate_left(first.unwrap_or_default());
}
