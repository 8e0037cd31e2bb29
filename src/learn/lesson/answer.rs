//! Verdicts on answers, the right answer and its reason.

use super::StepStates;
use super::answer_reason::{around, param_value};
use super::arithmetic::answer_in;
use super::error::{AnswerError, NumberError, ValueError};
use super::prose::quoted;
use super::reason::reason;
use super::solve::first_value;
use super::state::{AnalyzedProgram, PageState};
use super::task::{Task, TaskKind};
use super::value::{FigureValue, Unit, within_text};
use super::way_words::way_words;
use super::wording::join_sentences;
use serde::{Deserialize, Serialize};

/// An answer of a visitor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A number, as written.
    Text(String),
    /// Indices of the chosen options.
    Chosen(Vec<usize>),
}

/// The verdict on an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    pub is_right: bool,
    /// The right answer and its reason; quoted parts are code.
    pub words: String,
    /// The reason of the engine, with which `words` ends: it is in English, whatever the language
    /// of the lesson is. Empty where the lesson gives a reason of its own.
    pub reason: String,
    /// The nudge that a first wrong answer gets instead: where it is wrong and why, but not what is
    /// right. Quoted parts are code. Empty for a right one.
    pub nudge: String,
}

/// A given number beside the right one.
struct Numbers {
    given: f64,
    right: f64,
    /// Tolerance, as a share of the right number.
    within: f64,
}

impl Numbers {
    fn are_near(&self) -> bool {
        is_near(self.given, self.right, self.within)
    }
}

impl Task {
    /// Compares an answer with what the engine finds in the state of the answered step.
    ///
    /// # Errors
    /// What is wrong with the answer or the task, so that there is no verdict.
    pub fn judge(
        &self,
        answer: &Answer,
        state: &PageState,
        analyzed: &AnalyzedProgram,
    ) -> Result<Judged, AnswerError> {
        match (&self.kind, answer) {
            (TaskKind::Number { .. } | TaskKind::First { .. }, Answer::Text(text)) => {
                let numbers = self.numbers(text, state, analyzed)?;
                let nudge = self.nudge(&numbers, analyzed);
                let why = match &self.kind {
                    TaskKind::Number { quantity, .. } => reason(quantity, analyzed),
                    TaskKind::First { param, when, .. } => {
                        // The values of a slider are whole.
                        #[allow(clippy::cast_possible_truncation, reason = "it comes from an i64")]
                        let right = numbers.right as i64;
                        around(state, param, right, when)
                    }
                    _ => String::new(),
                };
                let value = self.number_words(numbers.right);
                Ok(self.judged(&nudge, &value, numbers.within, why, analyzed))
            }
            (TaskKind::Choose(_) | TaskKind::Each { .. }, Answer::Chosen(chosen)) => {
                if chosen.is_empty() {
                    return Err(AnswerError::NothingChosen(self.language));
                }
                self.judge_choice(chosen, analyzed)
            }
            _ => Err(AnswerError::OtherKind(self.language)),
        }
    }

    /// An answer as the page writes it, so that all spellings of one are the same: `134 MB`, the
    /// chosen options.
    ///
    /// # Errors
    /// As [`Self::judge`].
    pub fn answer_words(
        &self,
        answer: &Answer,
        state: &PageState,
        analyzed: &AnalyzedProgram,
    ) -> Result<String, AnswerError> {
        match (&self.kind, answer) {
            (TaskKind::Number { .. } | TaskKind::First { .. }, Answer::Text(text)) => {
                let numbers = self.numbers(text, state, analyzed)?;
                Ok(self.number_words(if numbers.are_near() {
                    numbers.right
                } else {
                    numbers.given
                }))
            }
            (TaskKind::Choose(_) | TaskKind::Each { .. }, Answer::Chosen(chosen)) => {
                let options = self.options(analyzed)?;
                let options = options.iter().enumerate();
                let chosen = options.filter(|(at, _)| chosen.contains(at));
                Ok(self.labels(chosen.map(|(_, option)| option)))
            }
            _ => Err(AnswerError::OtherKind(self.language)),
        }
    }

    /// The number in an answer, and the right one.
    fn numbers(
        &self,
        text: &str,
        state: &PageState,
        analyzed: &AnalyzedProgram,
    ) -> Result<Numbers, AnswerError> {
        match &self.kind {
            TaskKind::Number { quantity, within } => {
                let FigureValue::Number(right, unit) = quantity.value(analyzed)? else {
                    return Err(ValueError::NoNumber(quantity.to_string()).into());
                };
                Ok(self.compared(text, unit, right, *within)?)
            }
            TaskKind::First {
                param,
                when,
                within,
            } => {
                let right = first_value(state, param, when)? as f64;
                Ok(self.compared(text, Unit::Count, right, *within)?)
            }
            TaskKind::Choose(_) | TaskKind::Each { .. } | TaskKind::Do { .. } => {
                Err(AnswerError::OtherKind(self.language))
            }
        }
    }

    /// The number in an answer, beside the right one in the same unit.
    fn compared(
        &self,
        text: &str,
        unit: Unit,
        right: f64,
        within: f64,
    ) -> Result<Numbers, NumberError> {
        let is_right = |given: f64| is_near(given, right, within);
        Ok(Numbers {
            given: answer_in(text, unit, self.language, is_right)?,
            right,
            within,
        })
    }

    /// A number that is asked for, as the page writes it.
    fn number_words(&self, number: f64) -> String {
        match &self.kind {
            TaskKind::First { param, .. } => param_value(param, number),
            kind => FigureValue::Number(number, kind.unit().unwrap_or(Unit::Count)).text(),
        }
    }

    /// The nudge for a first wrong number: that of its mistake, else on which side it is wrong.
    /// Empty for a right one.
    fn nudge(&self, numbers: &Numbers, analyzed: &AnalyzedProgram) -> String {
        if numbers.are_near() {
            return String::new();
        }
        let Numbers { given, right, .. } = *numbers;
        let mut mistakes = self.mistakes.iter();
        let mistake = mistakes.find(|mistake| mistake.is_made_by(given, right, analyzed));
        let side = if given < right {
            self.language.larger()
        } else {
            self.language.smaller()
        };
        mistake.map_or(side, |mistake| &mistake.nudge).to_owned()
    }

    /// The right answer in a few words, for a visitor who gives up. `None` where the engine finds
    /// none.
    pub fn right_answer(&self, states: &StepStates) -> Option<String> {
        Some(self.given_up(states)?.words)
    }

    /// The right answer, which the visitor did not give. `None` where the engine finds none.
    pub fn given_up(&self, states: &StepStates) -> Option<Judged> {
        let (words, reason) = if let TaskKind::Do { .. } = self.kind {
            let way = way_words(&states.asked, &self.way(&states.asked)?);
            (way.clone(), way)
        } else {
            let analyzed = states.answered.analyzed()?;
            let (answer, reason) = self.answer_and_reason(&states.answered, &analyzed)?;
            self.with_reason(&answer, reason, &analyzed)
        };
        Some(Judged {
            is_right: false,
            words,
            reason,
            nudge: String::new(),
        })
    }

    /// The right answer as a sentence, with the engine's reason; `None` for a task to do.
    fn answer_and_reason(
        &self,
        state: &PageState,
        analyzed: &AnalyzedProgram,
    ) -> Option<(String, String)> {
        match &self.kind {
            TaskKind::Number { quantity, .. } => {
                let value = quantity.value(analyzed).ok()?.text();
                Some((format!("{value}."), reason(quantity, analyzed)))
            }
            TaskKind::First { param, when, .. } => {
                let right = first_value(state, param, when).ok()?;
                let words = around(state, param, right, when);
                Some((format!("{}.", param_value(param, right as f64)), words))
            }
            TaskKind::Choose(_) | TaskKind::Each { .. } => {
                let options = self.options(analyzed).ok()?;
                let right = (options.iter().enumerate()).filter(|(_, option)| option.is_right);
                let right: Vec<_> = right.map(|(at, _)| at).collect();
                let why = self.why_chosen(&options, &right, analyzed);
                Some((format!("{}.", self.right_labels(&options)), why))
            }
            TaskKind::Do { .. } => None,
        }
    }

    /// A verdict with its nudge. An empty nudge means that the answer is right.
    pub(super) fn judged(
        &self,
        nudge: &str,
        value: &str,
        within: f64,
        reason: String,
        analyzed: &AnalyzedProgram,
    ) -> Judged {
        let language = self.language;
        let (is_right, verdict) = match (nudge.is_empty(), within > 0.0) {
            (false, _) => (false, language.wrong(value)),
            (true, false) => (true, language.right(value)),
            (true, true) => (true, language.right_within(value, &within_text(within))),
        };
        let (words, reason) = self.with_reason(&verdict, reason, analyzed);
        Judged {
            is_right,
            words,
            reason,
            nudge: nudge.to_owned(),
        }
    }

    /// A verdict with its reason, and the reason of the engine in it: that of the lesson stands in
    /// its place.
    fn with_reason(
        &self,
        verdict: &str,
        reason: String,
        analyzed: &AnalyzedProgram,
    ) -> (String, String) {
        if self.why.is_empty() {
            return (join_sentences(verdict, &reason), reason);
        }
        let own = quoted(&self.why, analyzed);
        (join_sentences(verdict, &own), String::new())
    }
}

/// Whether a number counts as the right one.
pub(super) fn is_near(given: f64, right: f64, within: f64) -> bool {
    (given - right).abs() <= within.mul_add(right.abs(), 1e-9 * right.abs())
}
