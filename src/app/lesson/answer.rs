//! What is right, and why.

use super::StepStates;
use super::condition::{Condition, Operand};
use super::quantity::{Metric, Quantity, Subject, kernel_names, tensor_named};
use super::reason::{of_ops, of_tensor, reason};
use super::solve::{first_value, value_before, with_param};
use super::state::{PageState, Seen};
use super::task::{Kind, Task, Things};
use super::value::{Unit, Value, number_in, within_text};
use crate::core::model::options::{FusionOptions, Switch};
use crate::present::names::joined;
use strum::VariantArray;

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
                let given = number_in(text, unit)?;
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
        let right = options.iter().filter(|option| option.is_right);
        let right: Vec<_> = right.map(|option| option.label.clone()).collect();
        let is_right = (options.iter().enumerate())
            .all(|(at, option)| option.is_right == chosen.contains(&at));
        let labels = joined(right.into_iter(), [", ", " and "], usize::MAX);
        let why = match &self.kind {
            Kind::Choose(choices) => {
                let right = choices
                    .iter()
                    .zip(&options)
                    .find(|(_, option)| option.is_right);
                right.map_or_else(String::new, |(choice, _)| {
                    reasons_of(&choice.condition, seen)
                })
            }
            Kind::Each { things, condition } => {
                let things = things_of(*things, seen)
                    .into_iter()
                    .zip(&options)
                    .enumerate();
                // What was wrongly chosen or left out is told, else what is right.
                let told: Vec<_> = things
                    .filter(|(at, (_, option))| {
                        if is_right {
                            option.is_right
                        } else {
                            option.is_right != chosen.contains(at)
                        }
                    })
                    .map(|(_, ((_, subject), _))| reason_for_thing(&subject, condition, seen))
                    .take(3)
                    .collect();
                told.join(" ")
            }
            _ => String::new(),
        };
        Ok(judged(is_right, &labels, 0.0, &why))
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
                let options = self.choosables(&seen).ok()?.into_iter();
                let right: Vec<_> = options.filter(|o| o.is_right).map(|o| o.label).collect();
                Some(joined(right.into_iter(), [", ", " and "], usize::MAX))
            }
            Kind::Do { .. } => {
                let way = self.way(&states.asked)?;
                Some(difference(&states.asked, &way))
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

/// What the engine changed to do a task.
fn difference(before: &PageState, after: &PageState) -> String {
    let (shared, changed) = (&before.shared, &after.shared);
    let mut words = Vec::new();
    let lines = shared.text.lines().zip(changed.text.lines());
    words.extend((lines.filter(|(a, b)| a != b)).map(|(_, line)| changed_line(line)));
    if shared.policy != changed.policy {
        words.push(format!("fusion: {}", changed.policy.name()));
    }
    if shared.fusion.objective != changed.fusion.objective {
        words.push(format!("least {}", changed.fusion.objective.name()));
    }
    if shared.device != changed.device {
        words.push(changed.device.name.to_string());
    }
    for &switch in Switch::VARIANTS {
        let is_on = |mut fusion: FusionOptions| *switch.flag(&mut fusion);
        if is_on(shared.fusion) != is_on(changed.fusion) {
            let state = if is_on(changed.fusion) { "on" } else { "off" };
            words.push(format!("{} {state}", switch.name()));
        }
    }
    if shared.conventions.f32_matmul != changed.conventions.f32_matmul {
        words.push(changed.conventions.f32_matmul.name().to_owned());
    }
    joined(words.into_iter(), [", ", " and "], 8)
}

/// A line of the text as it is quoted: without its comment, and of a param its value alone.
fn changed_line(line: &str) -> String {
    let statement = line.split('#').next().unwrap_or(line).trim();
    let shown = match statement.strip_prefix("param ") {
        Some(param) => param.split(" in ").next().unwrap_or(param).trim(),
        None => statement,
    };
    format!("`{shown}`")
}

fn wanted_words(condition: &Condition, seen: &Seen) -> String {
    match condition.values(seen) {
        Ok(Some([now, _])) => format!("{condition}, now {}", now.text()),
        _ => condition.to_string(),
    }
}

fn judged(is_right: bool, value: &str, within: f64, why: &str) -> Judged {
    let verdict = if is_right { "Right" } else { "Not quite" };
    let near = if is_right && within > 0.0 {
        format!(" (anything within {} counts)", within_text(within))
    } else {
        String::new()
    };
    let words = format!("{verdict}: {value}{near}. {why}");
    Judged {
        is_right,
        words: words.trim_end().to_owned(),
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

fn reason_for_thing(subject: &Subject, condition: &Condition, seen: &Seen) -> String {
    if let Subject::Tensor(name) = subject
        && let Ok(tensor) = tensor_named(&seen.analysis, name)
    {
        return of_tensor(&seen.analysis, tensor);
    }
    let Subject::Kernel(name) = subject else {
        return String::new();
    };
    format!("`{name}`: {}", reasons_of(&condition.about(subject), seen))
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
    format!("{} {other}", sided(left, seen)).trim().to_owned()
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
    format!("{quantity} is {}. {why}", value.text())
        .trim_end()
        .to_owned()
}

/// Both sides of a condition at a value of a param and just before it.
fn around(state: &PageState, param: &str, right: i64, when: &Condition) -> String {
    let at = |value: i64| {
        let seen = with_param(state, param, value)?.seen()?;
        let [left, other] = when.values(&seen).ok()??;
        let left_text = left.text();
        Some(match other {
            Value::Word(_) => format!("at {param} = {value} it is {left_text}"),
            Value::Number(..) => {
                format!(
                    "at {param} = {value} it is {left_text} against {}",
                    other.text()
                )
            }
        })
    };
    let before = value_before(state, param, right).and_then(at);
    let told: Vec<_> = before.into_iter().chain(at(right)).collect();
    if told.is_empty() {
        return String::new();
    }
    let mut words = told.join(", ");
    if let Some(first) = words.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    format!("{words}.")
}
