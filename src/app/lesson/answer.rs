//! What is right, and why.

use super::StepStates;
use super::condition::{Condition, Operand};
use super::quantity::{Metric, Quantity, Subject, kernel_names, tensor_named};
use super::reason::{of_ops, reason};
use super::solve::{first_value, value_before, with_param};
use super::state::{PageState, Seen};
use super::task::{Kind, Task, Things};
use super::tensor_reason::of_tensors;
use super::value::{Unit, Value, number_in, parts_in, within_text};
use super::way_words::way_words;
use super::wording::{
    Naming, capitalized, join_sentences, noun, operand_words, relation_words, sentence_of,
    value_words,
};
use crate::core::TensorId;
use crate::present::names::listed;

/// What a visitor answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A number, as written.
    Text(String),
    /// The chosen options, by their places.
    Chosen(Vec<usize>),
}

/// An answer that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Whether it is right.
    pub is_right: bool,
    /// The right answer and its reason; quoted parts are code.
    pub words: String,
}

/// An option with the engine's word on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choosable {
    /// What it says.
    pub label: String,
    /// Whether it is right.
    pub is_right: bool,
}

/// A condition of a task to do, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What is wanted, and what is.
    pub words: String,
    /// Whether it holds.
    pub holds: bool,
}

impl Task {
    /// What to choose among; empty if the task asks for no choice.
    ///
    /// # Errors
    /// Why the engine cannot say what is right.
    pub fn choosables(&self, seen: &Seen) -> Result<Vec<Choosable>, String> {
        match &self.kind {
            Kind::Choose(choices) => (choices.iter())
                .map(|choice| {
                    Ok(Choosable {
                        label: choice.label.clone(),
                        is_right: choice.condition.holds(seen)?,
                    })
                })
                .collect(),
            Kind::Each { things, condition } => (things_of(*things, seen).into_iter())
                .map(|(label, subject)| {
                    Ok(Choosable {
                        label,
                        is_right: condition.about(&subject).holds(seen)?,
                    })
                })
                .collect(),
            Kind::Number { .. } | Kind::First { .. } | Kind::Do { .. } => Ok(Vec::new()),
        }
    }

    /// The unit in which an answer is written; `None` if it is no number.
    pub const fn unit(&self) -> Option<Unit> {
        match &self.kind {
            Kind::Number { quantity, .. } => quantity.unit(),
            Kind::First { .. } => Some(Unit::Count),
            Kind::Choose(_) | Kind::Each { .. } | Kind::Do { .. } => None,
        }
    }

    /// Holds an answer against what the engine finds in the state of the answered step.
    ///
    /// # Errors
    /// What is wrong with the answer or the task, so that nothing can be said.
    pub fn judge(&self, answer: &Answer, state: &PageState, seen: &Seen) -> Result<Judged, String> {
        match (&self.kind, answer) {
            (Kind::Number { quantity, within }, Answer::Text(text)) => {
                let Value::Number(right, unit) = quantity.value(seen)? else {
                    return Err(format!("`{quantity}` is no number"));
                };
                let given = parts_in(text, unit)?;
                let value = Value::Number(right, unit).text();
                Ok(judged(
                    is_near(given, right, *within),
                    &value,
                    *within,
                    &reason(quantity, seen),
                ))
            }
            (
                Kind::First {
                    param,
                    when,
                    within,
                },
                Answer::Text(text),
            ) => {
                let right = first_value(state, param, when)?;
                let given = number_in(text, Unit::Count)?;
                let value = format!(
                    "{param} = {}",
                    Value::Number(right as f64, Unit::Count).text()
                );
                let words = around(state, param, right, when);
                Ok(judged(
                    is_near(given, right as f64, *within),
                    &value,
                    *within,
                    &words,
                ))
            }
            (Kind::Choose(_) | Kind::Each { .. }, Answer::Chosen(chosen)) => {
                if chosen.is_empty() {
                    return Err("choose first".to_owned());
                }
                self.judge_choice(chosen, seen)
            }
            _ => Err("this task has another kind of answer".to_owned()),
        }
    }

    fn judge_choice(&self, chosen: &[usize], seen: &Seen) -> Result<Judged, String> {
        let options = self.choosables(seen)?;
        let is_right = (options.iter().enumerate())
            .all(|(at, option)| option.is_right == chosen.contains(&at));
        let why = self.why_chosen(&options, chosen, seen);
        Ok(judged(is_right, &self.right_labels(&options), 0.0, &why))
    }

    /// The right options by their labels.
    fn right_labels(&self, options: &[Choosable]) -> String {
        let right = options.iter().filter(|option| option.is_right);
        let quoted = right.map(|option| match &self.kind {
            Kind::Each { .. } => format!("`{}`", option.label),
            _ => format!("“{}”", option.label),
        });
        listed(quoted.collect())
    }

    /// Why the chosen options are right or not: what was wrongly chosen comes first, then what was left out.
    fn why_chosen(&self, options: &[Choosable], chosen: &[usize], seen: &Seen) -> String {
        match &self.kind {
            Kind::Choose(choices) => {
                let mut pairs = choices.iter().zip(options);
                let right = pairs.find(|(_, option)| option.is_right);
                right.map_or_else(String::new, |(choice, _)| {
                    reasons_of(&choice.condition, seen)
                })
            }
            Kind::Each { things, condition } => {
                let subjects = things_of(*things, seen)
                    .into_iter()
                    .zip(options)
                    .enumerate();
                let places = |is_chosen: bool, is_right: bool| {
                    let subjects = subjects.clone().filter(move |(at, (_, option))| {
                        chosen.contains(at) == is_chosen && option.is_right == is_right
                    });
                    subjects.map(|(_, ((_, subject), _))| subject)
                };
                let why = |is_chosen, is_right| {
                    let told: Vec<_> = places(is_chosen, is_right).collect();
                    reason_for_things(&told, condition, seen)
                };
                let wrong = join_sentences(&why(true, false), &why(false, true));
                if wrong.is_empty() {
                    why(true, true)
                } else {
                    wrong
                }
            }
            _ => String::new(),
        }
    }

    /// The right answer in a few words: what who gives up is told. `None` where the engine finds none.
    pub fn right_answer(&self, states: &StepStates) -> Option<String> {
        let answered = || states.answered.seen();
        match &self.kind {
            Kind::Number { quantity, .. } => {
                let seen = answered()?;
                let value = quantity.value(&seen).ok()?.text();
                Some(format!("{value}. {}", reason(quantity, &seen)))
            }
            Kind::First { param, when, .. } => {
                let right = first_value(&states.answered, param, when).ok()?;
                let words = around(&states.answered, param, right, when);
                Some(format!("{param} = {right}. {words}"))
            }
            Kind::Choose(_) | Kind::Each { .. } => {
                let seen = answered()?;
                let options = self.choosables(&seen).ok()?;
                let right = (options.iter().enumerate()).filter(|(_, option)| option.is_right);
                let right: Vec<_> = right.map(|(at, _)| at).collect();
                let why = self.why_chosen(&options, &right, &seen);
                Some(join_sentences(
                    &format!("{}.", self.right_labels(&options)),
                    &why,
                ))
            }
            Kind::Do { .. } => {
                let way = self.way(&states.asked)?;
                Some(way_words(&states.asked, &way))
            }
        }
    }

    /// The conditions of a task to do, in the present state of the page; empty for other tasks.
    pub fn wanted(&self, seen: &Seen) -> Vec<Wanted> {
        let Kind::Do { until, .. } = &self.kind else {
            return Vec::new();
        };
        let wanted = until.iter().map(|condition| match condition.holds(seen) {
            Ok(holds) => Wanted {
                words: wanted_words(condition, seen),
                holds,
            },
            Err(problem) => Wanted {
                words: format!("{condition}: {problem}"),
                holds: false,
            },
        });
        let mut wanted: Vec<_> = wanted.collect();
        if seen.has_error {
            wanted.push(Wanted {
                words: "the text has an error, or states a kernel that is not legal".to_owned(),
                holds: false,
            });
        }
        wanted
    }

    /// Whether a task to do is done.
    pub fn is_done(&self, seen: &Seen) -> bool {
        let wanted = self.wanted(seen);
        !wanted.is_empty() && wanted.iter().all(|wanted| wanted.holds)
    }
}

fn wanted_words(condition: &Condition, seen: &Seen) -> String {
    let wanted = sentence_of(condition, seen);
    match (condition, condition.values(seen)) {
        (Condition::Compare { left, .. }, Ok(Some([now, _]))) => {
            format!("{wanted} (now {})", value_words(left.metric, &now))
        }
        _ => wanted,
    }
}

fn judged(is_right: bool, value: &str, within: f64, why: &str) -> Judged {
    let verdict = if is_right {
        "Right:"
    } else {
        "Not quite. The answer is"
    };
    let near = if is_right && within > 0.0 {
        format!(" (anything within {} counts)", within_text(within))
    } else {
        String::new()
    };
    Judged {
        is_right,
        words: join_sentences(&format!("{verdict} {value}{near}."), why),
    }
}

fn is_near(given: f64, right: f64, within: f64) -> bool {
    (given - right).abs() <= within.mul_add(right.abs(), 1e-9 * right.abs())
}

/// The things of a kind, with the names of their options.
fn things_of(things: Things, seen: &Seen) -> Vec<(String, Subject)> {
    let (analysis, graph) = (&seen.analysis, &seen.analysis.graph);
    match things {
        Things::Tensors => (graph.tensors.iter_enumerated())
            .filter(|(_, tensor)| !tensor.is_external())
            .map(|(id, _)| graph.tensor_name(id).to_owned())
            .map(|name| (name.clone(), Subject::Tensor(name)))
            .collect(),
        Things::Kernels => {
            let kernels = analysis
                .fused
                .kernels
                .iter()
                .filter(|kernel| !kernel.is_free);
            let subjects = kernels.map(|kernel| {
                let first = kernel.ops.first().and_then(|&op| graph.ops.get(op));
                Subject::Kernel(first.map_or_else(String::new, |op| op.name.clone()))
            });
            kernel_names(analysis).into_iter().zip(subjects).collect()
        }
    }
}

/// Most kernels of which the reason is told.
const MAX_REASONS: usize = 2;

fn reason_for_things(subjects: &[Subject], condition: &Condition, seen: &Seen) -> String {
    let tensors = subjects.iter().filter_map(|subject| match subject {
        Subject::Tensor(name) => tensor_named(&seen.analysis, name).ok(),
        _ => None,
    });
    let tensors: Vec<TensorId> = tensors.collect();
    if !tensors.is_empty() {
        return of_tensors(&seen.analysis, &tensors);
    }
    let reasons = subjects.iter().take(MAX_REASONS);
    let reasons = reasons.map(|subject| reasons_of(&condition.about(subject), seen));
    reasons.collect::<Vec<_>>().join(" ")
}

/// The reasons of both sides of a condition.
fn reasons_of(condition: &Condition, seen: &Seen) -> String {
    let (left, right) = match condition {
        Condition::OneKernel(names) => return of_ops(names, seen),
        Condition::Compare { left, right, .. } => (left, right),
    };
    let other = match right {
        Operand::Quantity { quantity, .. } => sided(quantity, seen),
        Operand::Value(_) => String::new(),
    };
    join_sentences(&sided(left, seen), &other)
}

/// A quantity with its value and its reason.
fn sided(quantity: &Quantity, seen: &Seen) -> String {
    let Ok(value) = quantity.value(seen) else {
        return String::new();
    };
    let why = reason(quantity, seen);
    if matches!(quantity.metric, Metric::Place) {
        return why;
    }
    let value = value_words(quantity.metric, &value);
    let named = noun(quantity, seen, Naming::Ops);
    join_sentences(&format!("{} is {value}.", capitalized(&named)), &why)
}

/// The left side of a condition at a value of a param and just before it, and what it is held against.
fn around(state: &PageState, param: &str, right: i64, when: &Condition) -> String {
    let Condition::Compare {
        left,
        relation,
        right: limit,
    } = when
    else {
        return String::new();
    };
    let at = |value: i64| {
        let seen = with_param(state, param, value)?.seen()?;
        let is = value_words(left.metric, &left.value(&seen).ok()?);
        let against = operand_words(left.metric, limit, &seen);
        Some((
            format!("at `{param}` = {value}"),
            is,
            noun(left, &seen, Naming::Number),
            against,
        ))
    };
    let Some((from, is, named, against)) = at(right) else {
        return String::new();
    };
    let wanted = match left.unit() {
        Some(_) => format!(", which {} {against}", relation_words(*relation)),
        None => String::new(),
    };
    let words = match value_before(state, param, right).and_then(at) {
        Some((before, was, ..)) => {
            format!("{before} {named} is {was}, {from} it is {is}{wanted}.")
        }
        None => format!("{from} {named} is {is}{wanted}."),
    };
    capitalized(&words)
}
