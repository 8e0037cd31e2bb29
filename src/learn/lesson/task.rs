//! Tasks: the questions of steps. No right answer is written in a lesson: the engine works each out
//! from the state of the step.

use super::arithmetic::number_in;
use super::condition::Condition;
use super::entries::{BlockEntry, FencedBlock, Item, Problem, lines_of, unknown};
use super::markdown::inline;
use super::mistake::Mistake;
use super::named_figure::NamedFigure;
use super::prose::Inline;
use super::value::Unit;
use crate::language::Language;
use std::fmt::Display;

#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Line of its block.
    pub line: usize,
    /// The language of answers and verdicts.
    pub language: Language,
    pub ask: Vec<Inline>,
    /// The kind of its answer.
    pub kind: TaskKind,
    /// Shown when the visitor asks for a hint.
    pub hint: Vec<Inline>,
    /// The reason of the answer where the engine has none, such as a measurement; else empty.
    pub why: Vec<Inline>,
    /// Wrong numbers that are expected; empty where no number is asked for.
    pub mistakes: Vec<Mistake>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TaskKind {
    /// Predict a number, then see it.
    Number {
        quantity: NamedFigure,
        /// Tolerance, as a share of the right number.
        within: f64,
    },
    /// Find the value of a param from which on a condition holds.
    First {
        param: String,
        when: Condition,
        /// Tolerance, as a share of the right number.
        within: f64,
    },
    /// Choose among options, each right where its condition holds.
    Choose(Vec<Choice>),
    /// Choose the tensors or the kernels that fulfil a condition.
    Each {
        things: Things,
        /// The right ones fulfil it.
        condition: Condition,
    },
    /// Change the page until conditions hold.
    Do {
        /// All of them have to hold.
        until: Vec<Condition>,
        /// The things that the engine changes to show a solution.
        by: SolveBy,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub line: usize,
    pub label: String,
    /// It is right if this holds.
    pub condition: Condition,
    /// The nudge for a visitor who wrongly chooses it first, with quoted parts as code; may be
    /// empty.
    pub hint: String,
}

/// The things of a program that a task asks about one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Things {
    /// The tensors that ops write.
    Tensors,
    /// The kernels of the shown policy.
    Kernels,
}

/// The things that the engine changes to find a solution of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SolveBy {
    /// The value of a param.
    Param(String),
    /// The kernels, by hand.
    Merge,
    /// Policy, switches, element type or device.
    Choices,
}

impl TaskKind {
    /// The unit in which an answer is written; `None` if it is no number.
    pub const fn unit(&self) -> Option<Unit> {
        match self {
            Self::Number { quantity, .. } => quantity.unit(),
            Self::First { .. } => Some(Unit::Count),
            Self::Choose(_) | Self::Each { .. } | Self::Do { .. } => None,
        }
    }
}

/// By how much a prediction of a number may be off, unless the file says so: a factor is reasoned
/// from rounded times.
const fn within_of(unit: Unit) -> f64 {
    match unit {
        Unit::Count => 0.0,
        Unit::Ratio => 0.1,
        _ => 0.05,
    }
}

impl Task {
    /// Reads a `predict`, `choose` or `do` block of a lesson in this language. `None` if a needed
    /// entry is missing, which becomes a problem.
    pub fn read(
        block: &FencedBlock,
        language: Language,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let (entries, mut items) = lines_of(block, problems);
        let mut fields = Fields::new(block, entries);
        let ask = fields.needed(
            "ask",
            "the question: `ask: How many kernels are left?`",
            problems,
        )?;
        let hint = fields.take("hint");
        let why = fields.take("why");
        let kind = match block.kind.as_str() {
            "predict" => predict(&mut fields, problems),
            "choose" => choose(&mut fields, std::mem::take(&mut items), problems),
            _ => to_do(&mut fields, problems),
        };
        fields.finish(problems);
        let kind = kind?;
        let mistakes = kind.unit().map(|unit| {
            let read = items.into_iter();
            read.filter_map(|item| Mistake::read(item, unit, problems))
                .collect()
        });
        Some(Self {
            line: block.line,
            language,
            ask: inline(&ask.value, ask.line, problems),
            hint: hint.map_or_else(Vec::new, |hint| inline(&hint.value, hint.line, problems)),
            why: why.map_or_else(Vec::new, |why| inline(&why.value, why.line, problems)),
            kind,
            mistakes: mistakes.unwrap_or_default(),
        })
    }

    /// Whether the visitor changes the page to find the answer.
    pub const fn is_done_on_page(&self) -> bool {
        matches!(self.kind, TaskKind::Do { .. } | TaskKind::First { .. })
    }
}

fn predict(fields: &mut Fields, problems: &mut Vec<Problem>) -> Option<TaskKind> {
    let within = fields.take("within");
    let within = within.and_then(|entry| {
        reported(
            number_in(entry.value.as_str(), Unit::Percent),
            &entry,
            problems,
        )
    });
    let within = within.map(|percent| percent / 100.0);
    if let Some(first) = fields.take("first") {
        let when = fields.needed(
            "when",
            "a condition: `when: share of tensor scores > 50 %`",
            problems,
        )?;
        return Some(TaskKind::First {
            param: first.value,
            when: reported(Condition::parse(&when.value), &when, problems)?,
            within: within.unwrap_or(0.0),
        });
    }
    let number = fields.needed(
        "number",
        "what to predict: `number: kernels`, or `first: S` with `when: …`",
        problems,
    )?;
    let quantity = reported(NamedFigure::parse(&number.value), &number, problems)?;
    match quantity.unit() {
        None => {
            problems.push(Problem::new(
                number.line,
                format!("`{quantity}` is a word, not a number"),
                "ask for it in a `choose` block",
            ));
            None
        }
        Some(unit) => Some(TaskKind::Number {
            within: within.unwrap_or(within_of(unit)),
            quantity,
        }),
    }
}

fn choose(fields: &mut Fields, items: Vec<Item>, problems: &mut Vec<Problem>) -> Option<TaskKind> {
    for (key, things) in [("tensors", Things::Tensors), ("kernels", Things::Kernels)] {
        if let Some(entry) = fields.take(key) {
            let condition = reported(Condition::parse(&entry.value), &entry, problems)?;
            return Some(TaskKind::Each { things, condition });
        }
    }
    if items.len() < 2 {
        problems.push(Problem::new(
            fields.line,
            "the task has no options",
            "write two lines or more `- text :: condition :: hint`, or `tensors: place = chip`, or `kernels: bound = memory`",
        ));
        return None;
    }
    let choices = items.into_iter().filter_map(|item| {
        let condition = Condition::parse(&item.condition).map_err(|mend| {
            let what = format!("`{}` is not a condition", item.condition);
            problems.push(Problem::new(item.line, what, mend.to_string()));
        });
        Some(Choice {
            line: item.line,
            label: item.label,
            condition: condition.ok()?,
            hint: item.hint,
        })
    });
    Some(TaskKind::Choose(choices.collect()))
}

fn to_do(fields: &mut Fields, problems: &mut Vec<Problem>) -> Option<TaskKind> {
    let mut until = Vec::new();
    while let Some(entry) = fields.take("until") {
        until.extend(reported(Condition::parse(&entry.value), &entry, problems));
    }
    if until.is_empty() {
        problems.push(Problem::new(
            fields.line,
            "the task does not say when it is done",
            "write `until: bytes < 1.2 GB`, one line for each condition",
        ));
        return None;
    }
    let by = fields.needed(
        "by",
        "what to change: `by: param S`, `by: merge` or `by: choices`",
        problems,
    )?;
    let by = match by.value.split_whitespace().collect::<Vec<_>>()[..] {
        ["param", name] => SolveBy::Param(name.to_owned()),
        ["merge"] => SolveBy::Merge,
        ["choices"] => SolveBy::Choices,
        _ => {
            problems.push(unknown(
                by.line,
                "way",
                &by.value,
                &["param NAME", "merge", "choices"],
            ));
            return None;
        }
    };
    Some(TaskKind::Do { until, by })
}

/// The value that was read, or `None` with the problem reported.
fn reported<T>(
    read: Result<T, impl Display>,
    entry: &BlockEntry,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    read.map_err(|mend| {
        let what = format!("`{}` cannot be read", entry.value);
        problems.push(Problem::new(entry.line, what, mend.to_string()));
    })
    .ok()
}

/// The entries of a block that are not read yet.
struct Fields {
    line: usize,
    kind: String,
    entries: Vec<BlockEntry>,
}

impl Fields {
    fn new(block: &FencedBlock, entries: Vec<BlockEntry>) -> Self {
        Self {
            line: block.line,
            kind: block.kind.clone(),
            entries,
        }
    }

    /// The first entry of this key.
    fn take(&mut self, key: &str) -> Option<BlockEntry> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at))
    }

    fn needed(&mut self, key: &str, mend: &str, problems: &mut Vec<Problem>) -> Option<BlockEntry> {
        let entry = self.take(key);
        if entry.is_none() {
            problems.push(Problem::new(
                self.line,
                format!("this block needs `{key}:`"),
                format!("add {mend}"),
            ));
        }
        entry
    }

    fn finish(self, problems: &mut Vec<Problem>) {
        let known: &[&str] = match self.kind.as_str() {
            "predict" => &["ask", "number", "first", "when", "within", "hint", "why"],
            "choose" => &["ask", "tensors", "kernels", "hint", "why"],
            _ => &["ask", "until", "by", "hint"],
        };
        let left = self.entries.iter();
        problems.extend(
            left.map(|entry| unknown(entry.line, "key of such a block", &entry.key, known)),
        );
    }
}
