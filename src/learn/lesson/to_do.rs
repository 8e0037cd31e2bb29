//! Whether a task to do is done, and what it still wants of the page.

use super::StepStates;
use super::answer::Judged;
use super::answer_reason::{param_value, reasons_of};
use super::condition::Condition;
use super::solve::Border;
use super::state::{AnalyzedProgram, PageState};
use super::task::{SolveBy, Task, TaskKind};
use super::wording::{clause_of, value_words};
use fuseline_view::present::words::{capitalized, uncapitalized};

/// A condition of a task to do, in the present state of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The goal beside the present value.
    pub words: String,
    pub holds: bool,
    /// Whether the visitor has to reach it; otherwise it held from the beginning.
    pub is_goal: bool,
}

impl Task {
    /// The note after the engine's own solution of a task, with quoted parts as code: up to which
    /// size other answers are right, too, or that there are others. A few analyses.
    pub fn other_ways(&self, states: &StepStates) -> Option<String> {
        let TaskKind::Do { by, .. } = &self.kind else {
            return None;
        };
        let border = match by {
            SolveBy::Param(param) => self.border(&states.asked, param),
            SolveBy::Merge | SolveBy::Choices => None,
        };
        Some(border.unwrap_or_else(|| self.language.one_way_of_several().to_owned()))
    }

    fn border(&self, asked: &PageState, param: &str) -> Option<String> {
        let words = |value: i64| param_value(param, value as f64);
        let Border {
            first,
            last,
            beyond,
        } = self.border_of(asked, param)?;
        Some(match beyond {
            None if first == last => return None,
            None => self.language.holds_to_the_end(&words(last)),
            Some(beyond) if first == last => self.language.holds_alone(&words(beyond)),
            Some(beyond) => self.language.holds_until(&words(last), &words(beyond)),
        })
    }

    /// The conditions of a task to do, in the present state of the page; empty for other tasks.
    /// `asked` is the page at the beginning of the step: what held there is no goal, and is listed
    /// only once it no longer holds.
    pub fn wanted(&self, analyzed: &AnalyzedProgram, asked: &AnalyzedProgram) -> Vec<Wanted> {
        let TaskKind::Do { until, .. } = &self.kind else {
            return Vec::new();
        };
        let wanted = until
            .iter()
            .map(|condition| match condition.holds(analyzed) {
                Ok(holds) => Wanted {
                    words: self.wanted_words(condition, analyzed, holds),
                    holds,
                    is_goal: !holds || condition.holds(asked) != Ok(true),
                },
                Err(problem) => Wanted {
                    words: format!("{condition}: {problem}."),
                    holds: false,
                    is_goal: true,
                },
            });
        let mut wanted: Vec<_> = wanted.collect();
        if analyzed.has_error {
            wanted.push(Wanted {
                words: self.language.goal_legal().to_owned(),
                holds: false,
                is_goal: true,
            });
        }
        wanted
    }

    /// The sentence about a task to do that is done: at which value, and why the page fulfilled it
    /// there. It stays true when the page changes later. Choices that the task asks for by name
    /// need no reason.
    pub fn done_words(&self, analyzed: &AnalyzedProgram) -> String {
        self.done(analyzed)
            .map_or_else(String::new, |judged| judged.words)
    }

    /// The judgement of a task to do that is done; `None` for other tasks.
    pub fn done(&self, analyzed: &AnalyzedProgram) -> Option<Judged> {
        let TaskKind::Do { until, by } = &self.kind else {
            return None;
        };
        let at = match by {
            SolveBy::Param(name) => (analyzed.program().params.iter())
                .find(|param| param.name.text == *name)
                .map(|param| param_value(name, param.value as f64)),
            SolveBy::Merge | SolveBy::Choices => None,
        };
        let reasons = until.iter().filter(|condition| !condition.is_choice());
        let reasons: Vec<_> = reasons.map(|c| reasons_of(c, analyzed)).collect();
        let reason = uncapitalized(&reasons.join(" "));
        let language = self.language;
        let words = match (at, reason.is_empty()) {
            (None, true) => language.reached().to_owned(),
            (None, false) => language.reached_for(&reason),
            (Some(at), true) => language.reached_at(&at),
            (Some(at), false) => language.reached_at_for(&at, &reason),
        };
        Some(Judged {
            is_right: true,
            words,
            reason,
            nudge: String::new(),
        })
    }

    /// Whether a task to do is done.
    pub fn is_done(&self, analyzed: &AnalyzedProgram) -> bool {
        let wanted = self.wanted(analyzed, analyzed);
        !wanted.is_empty() && wanted.iter().all(|wanted| wanted.holds)
    }

    /// `Goal: kernel 1 is memory-bound. Now: compute-bound.`, or what holds already.
    fn wanted_words(
        &self,
        condition: &Condition,
        analyzed: &AnalyzedProgram,
        holds: bool,
    ) -> String {
        let wanted = clause_of(condition, analyzed);
        if holds {
            return format!("{}.", capitalized(&wanted));
        }
        match (condition, condition.values(analyzed)) {
            (Condition::Compare { left, .. }, Ok(Some([now, _]))) => {
                let now = value_words(left.quantity, &now, analyzed);
                self.language.goal_now(&wanted, &now)
            }
            _ => self.language.goal(&wanted),
        }
    }
}
