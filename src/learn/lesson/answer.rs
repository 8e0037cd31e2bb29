//! What is right, and why.

use super::StepStates;
use super::answer_reason::{around, param_value, reason_for_things, reasons_of, things_of};
use super::condition::Condition;
use super::reason::reason;
use super::solve::first_value;
use super::state::{PageState, Seen};
use super::task::{Kind, Task};
use super::value::{Unit, Value, number_in, parts_in, within_text};
use super::way_words::way_words;
use super::wording::{join_sentences, sentence_of, value_words};
use fuseline_view::present::names::listed;

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
                    return Err(format!("`{quantity}` is not a number"));
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
                let value = param_value(param, right);
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
                    return Err("choose an answer first".to_owned());
                }
                self.judge_choice(chosen, seen)
            }
            _ => Err("this task takes another kind of answer".to_owned()),
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
            _ => format!("\"{}\"", option.label),
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
                Some(format!("{}. {words}", param_value(param, right)))
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
                words: "the text has no errors and all its kernels are legal".to_owned(),
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
        (Condition::Compare { left, .. }, Ok(Some([now, limit]))) if now != limit => {
            format!("{wanted} (now {})", value_words(left.metric, &now, seen))
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
