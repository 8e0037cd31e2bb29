//! A lesson on paper: its questions with the program that each needs, and a key. A seed gives each
//! neighbour other numbers.

mod listing;
mod sizes;

pub use listing::Listing;

use crate::language::{Language, Tag};
use crate::lesson::named_figure::NamedFigure;
use crate::lesson::prose::{Inline, ProsePart, filled};
use crate::lesson::state::{AnalyzedProgram, PageState};
use crate::lesson::task::{SolveBy, Task, TaskKind};
use crate::lesson::value::Unit;
use crate::lesson::{Lesson, LessonStep, StepStates};
use crate::puzzle::source::without_kernels;
use fuseline_core::Policy;
use fuseline_core::notation::parse;
use fuseline_view::present::options::policy_title;

/// The questions of a lesson.
#[derive(Clone, Debug)]
pub struct Worksheet {
    /// Which numbers it has; 0 for those of the lesson.
    pub seed: u32,
    pub lang: Tag,
    pub title: String,
    /// One for each step with a task that the engine can answer.
    pub questions: Vec<Question>,
}

/// A question on paper.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its step, from 0.
    pub step: usize,
    pub title: String,
    /// The page that it is about.
    pub states: StepStates,
    /// Whether its numbers differ from those of the lesson.
    pub has_other_sizes: bool,
    /// Prose before the question, with the engine's figures as text.
    pub before: Vec<ProsePart>,
    /// Fusion policy and GPU, where they differ from those of the question before.
    pub setting: Vec<String>,
    pub listing: Listing,
    /// The question, with the engine's figures as text.
    pub ask: Vec<Inline>,
    /// The field for the answer.
    pub field: Field,
    /// The right answer and its reason; quoted parts are code.
    pub key: String,
    /// Which other answers to a task to do are right, with quoted parts as code.
    pub others: Option<String>,
}

/// The field for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    Number(Unit),
    /// A value of a slider.
    Param {
        name: String,
        /// The values that the slider has.
        range: String,
        /// Whether the lesson asks to drag it, so that who has no page calculates instead.
        is_dragged: bool,
    },
    /// A box for each option.
    Options {
        /// Their labels, with quoted parts as code.
        labels: Vec<String>,
        /// Whether one alone is right and the question shows it.
        is_one: bool,
    },
    /// None: it is done on the page.
    OnPage,
}

impl Worksheet {
    /// The questions of a lesson, the same for the same seed. A few analyses for each step, and
    /// what the engine needs to do a task itself.
    pub fn new(lesson: &Lesson, seed: u32) -> Self {
        let all = lesson.states(&mut Vec::new());
        let mut questions: Vec<Question> = Vec::new();
        for (at, (step, states)) in lesson.steps.iter().zip(all).enumerate() {
            let Some(task) = &step.task else { continue };
            let changed = sizes::changed(step, task, &states, seed, at);
            let has_other_sizes = changed.is_some();
            let states = changed.unwrap_or(states);
            let known = questions.last().map(|question| &question.states.asked);
            if let Some(mut question) = Question::new(step, task, states, known) {
                question.step = at;
                question.has_other_sizes = has_other_sizes;
                question.field.turn(seed);
                questions.push(question);
            }
        }
        Self {
            seed,
            lang: lesson.lang.clone(),
            title: lesson.title.clone(),
            questions,
        }
    }
}

impl Field {
    /// Lets the options of another sheet begin with another one: a neighbour's tick stands
    /// elsewhere.
    fn turn(&mut self, seed: u32) {
        if let Self::Options { labels, .. } = self {
            let first = (seed as usize).checked_rem(labels.len());
            labels.rotate_left(first.unwrap_or_default());
        }
    }
}

impl Question {
    /// `known` is the page of the question before.
    fn new(
        step: &LessonStep,
        task: &Task,
        states: StepStates,
        known: Option<&PageState>,
    ) -> Option<Self> {
        let (asked, answered) = (states.asked.analyzed()?, states.answered.analyzed()?);
        Some(Self {
            step: 0,
            title: step.title.clone(),
            has_other_sizes: false,
            before: step
                .before
                .iter()
                .map(|part| filled_part(part, &asked))
                .collect(),
            setting: setting(task.language, &states.asked, &asked, known),
            listing: Listing::new(&stated(&states.asked), known.map(stated).as_deref()),
            ask: filled(&task.ask, &asked),
            field: field(task, &states.asked, &answered)?,
            key: task.right_answer(&states)?,
            others: task.other_ways(&states),
            states,
        })
    }
}

/// The program of a page, without kernel marks where another policy decides.
fn stated(page: &PageState) -> String {
    let shared = &page.shared;
    match shared.policy {
        Policy::Manual => shared.text.clone(),
        _ => without_kernels(&shared.text),
    }
}

fn field(task: &Task, asked: &PageState, answered: &AnalyzedProgram) -> Option<Field> {
    let param = |name: &str, is_dragged| {
        let program = parse(&asked.shared.text).program;
        let param = program
            .params
            .iter()
            .find(|param| param.name.text == name)?;
        let range = param.range.as_ref()?;
        Some(Field::Param {
            name: name.to_owned(),
            range: (task.language).slider_range(range.min, range.max, range.step),
            is_dragged,
        })
    };
    match &task.kind {
        TaskKind::Number { quantity, .. } => Some(Field::Number(quantity.unit()?)),
        TaskKind::First { param: name, .. } => param(name, false),
        TaskKind::Do {
            by: SolveBy::Param(name),
            ..
        } => param(name, true).or(Some(Field::OnPage)),
        TaskKind::Do { .. } => Some(Field::OnPage),
        TaskKind::Choose(_) | TaskKind::Each { .. } => {
            let options = task.options(answered).ok()?;
            let right = options.iter().filter(|option| option.is_right).count();
            let are_names = matches!(task.kind, TaskKind::Each { .. });
            let labels = options.into_iter().map(|option| {
                let name = if are_names {
                    format!("`{}`", option.label)
                } else {
                    option.label
                };
                match option.about.as_str() {
                    "" => name,
                    about => format!("{name} ({about})"),
                }
            });
            Some(Field::Options {
                labels: labels.collect(),
                is_one: right == 1 && !are_names,
            })
        }
    }
}

/// Fusion policy and GPU, without what the question before has in common.
fn setting(
    language: Language,
    state: &PageState,
    analyzed: &AnalyzedProgram,
    known: Option<&PageState>,
) -> Vec<String> {
    let shared = &state.shared;
    let policy =
        |state: &PageState| policy_title(state.shared.policy, state.shared.fusion.objective);
    let mut lines = Vec::new();
    if known.is_none_or(|known| policy(known) != policy(state)) {
        lines.push(language.policy(policy(state)));
    }
    if known.is_none_or(|known| known.shared.device != shared.device) {
        let figure = |text: &str| Some(NamedFigure::parse(text).ok()?.value(analyzed).ok()?.text());
        // The ridge point is what questions ask for.
        let figures = [
            figure("bandwidth").map(|rate| language.from_memory(&rate)),
            figure("matrix").map(|rate| language.for_matmuls(&rate)),
            figure("vector").map(|rate| language.for_vectors(&rate)),
            figure("launch").map(|time| language.per_launch(&time)),
        ];
        let figures: Vec<_> = figures.into_iter().flatten().collect();
        lines.push(language.gpu(&shared.device.name, &figures.join(", ")));
    }
    lines
}

fn filled_part(part: &ProsePart, analyzed: &AnalyzedProgram) -> ProsePart {
    match part {
        ProsePart::Paragraph(line) => ProsePart::Paragraph(filled(line, analyzed)),
        ProsePart::List { is_numbered, items } => ProsePart::List {
            is_numbered: *is_numbered,
            items: items.iter().map(|item| filled(item, analyzed)).collect(),
        },
        ProsePart::Code(code) => ProsePart::Code(code.clone()),
    }
}
