//! Checks a lesson with the engine: every figure has a value, every task a right answer.

use super::answer::is_near;
use super::condition::Condition;
use super::error::ValueError;
use super::prose::{ProsePart, figures};
use super::solve::{first_value, value_before};
use super::state::{AnalyzedProgram, PageState};
use super::task::{Task, TaskKind};
use super::value::FigureValue;
use super::{Lesson, LessonStep, MAX_WORDS, Problem, StepStates};

/// The problems that appear when the engine runs the steps of a lesson. Takes an analysis a step,
/// and a search for each task to do.
pub fn check(lesson: &Lesson) -> Vec<Problem> {
    let mut problems = Vec::new();
    let states = lesson.states(&mut problems);
    for (step, states) in lesson.steps.iter().zip(&states) {
        check_step(step, states, &mut problems);
    }
    problems.sort_by_key(|problem| problem.line);
    problems
}

fn check_step(step: &LessonStep, states: &StepStates, problems: &mut Vec<Problem>) {
    let words = step.word_count();
    if words > MAX_WORDS {
        problems.push(Problem::new(
            step.line,
            format!("the step has {words} words of prose"),
            format!("a step has at most {MAX_WORDS}: shorten it, or split it in two"),
        ));
    }
    let (Some(asked), Some(answered)) = (shown(&states.asked), shown(&states.answered)) else {
        problems.push(Problem::new(
            step.line,
            "the step shows no program",
            "add a block `fuse` with ops, or `example: transformer` in a block `page`",
        ));
        return;
    };
    check_figures(&step.before, &asked, problems);
    check_figures(&step.after, &answered, problems);
    check_figures(&step.notes, &answered, problems);
    if let Some(task) = &step.task {
        for line in [&task.ask, &task.hint] {
            check_figures(&[ProsePart::Paragraph(line.clone())], &asked, problems);
        }
        check_figures(
            &[ProsePart::Paragraph(task.why.clone())],
            &answered,
            problems,
        );
    }
    if let Some(task) = &step.task
        && let Err((line, what, mend)) = check_task(task, states, &asked, &answered)
    {
        problems.push(Problem::new(line, what, mend));
    }
}

/// The analysed program of a state; `None` if it has no op.
fn shown(state: &PageState) -> Option<AnalyzedProgram> {
    let analyzed = state.analyzed()?;
    (!analyzed.analysis.graph.ops.is_empty()).then_some(analyzed)
}

fn check_figures(parts: &[ProsePart], analyzed: &AnalyzedProgram, problems: &mut Vec<Problem>) {
    for figure in figures(parts) {
        if let Err(what) = figure.text(analyzed) {
            problems.push(Problem::new(
                figure.line,
                what.to_string(),
                "use a name from the program of this step",
            ));
        }
    }
}

type Wrong = (usize, String, String);

fn check_task(
    task: &Task,
    states: &StepStates,
    asked: &AnalyzedProgram,
    answered: &AnalyzedProgram,
) -> Result<(), Wrong> {
    let mend = |mend: &str| mend.to_owned();
    let wrong = |what: ValueError| {
        (
            task.line,
            what.to_string(),
            mend("use a name from the program of this step"),
        )
    };
    match &task.kind {
        TaskKind::Number { quantity, within } => match quantity.value(answered).map_err(wrong)? {
            FigureValue::Number(right, _) => check_mistakes(task, right, *within, answered),
            FigureValue::Word(_) => Ok(()),
        },
        TaskKind::First {
            param,
            when,
            within,
        } => {
            let first = first_value(&states.answered, param, when).map_err(wrong)?;
            is_ever_false(&states.answered, param, first, when, task.line)?;
            check_mistakes(task, first as f64, *within, answered)
        }
        TaskKind::Choose(_) | TaskKind::Each { .. } => {
            let options = task.options(answered).map_err(wrong)?;
            match options.iter().filter(|option| option.is_right).count() {
                0 => Err((
                    task.line,
                    mend("no option is right"),
                    mend("add one whose condition holds in this state, or change the state"),
                )),
                right if right == options.len() => Err((
                    task.line,
                    mend("all options are right"),
                    mend("add one whose condition does not hold in this state"),
                )),
                _ => Ok(()),
            }
        }
        TaskKind::Do { until, .. } => {
            for condition in until {
                condition.holds(asked).map_err(wrong)?;
            }
            if task.is_done(asked) {
                return Err((
                    task.line,
                    mend("the task is done before the visitor does anything"),
                    mend("change the state of the step, or the conditions"),
                ));
            }
            match task.way(&states.asked) {
                Some(_) => Ok(()),
                None => Err((
                    task.line,
                    mend("the engine finds no way to do the task"),
                    mend("ask for less, or change `by:`"),
                )),
            }
        }
    }
}

/// A mistake must be wrong, and no other one.
fn check_mistakes(
    task: &Task,
    right: f64,
    within: f64,
    analyzed: &AnalyzedProgram,
) -> Result<(), Wrong> {
    for (at, mistake) in task.mistakes.iter().enumerate() {
        let wrong = |what: String, mend: &str| (mistake.line, what, mend.to_owned());
        let value = mistake
            .value(right, analyzed)
            .map_err(|what| wrong(what.to_string(), "use a name from the program of this step"))?;
        if is_near(value, right, within) {
            return Err(wrong(
                format!("the mistake `{mistake}` is the right answer"),
                "write a number that is wrong in this state",
            ));
        }
        let mut before = task.mistakes.iter().take(at);
        if before.any(|other| other.is_made_by(value, right, analyzed)) {
            return Err(wrong(
                format!("another mistake is as large as `{mistake}`"),
                "leave one of them out, or tell both with one nudge",
            ));
        }
    }
    Ok(())
}

/// A condition that holds everywhere has no first value to find.
fn is_ever_false(
    state: &PageState,
    param: &str,
    first: i64,
    when: &Condition,
    line: usize,
) -> Result<(), Wrong> {
    match value_before(state, param, first) {
        Some(_) => Ok(()),
        None => Err((
            line,
            format!("`{when}` holds at every {param}"),
            "ask for a condition that does not hold at the smallest value".to_owned(),
        )),
    }
}
