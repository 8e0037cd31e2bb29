//! `fuseline lesson FILE`: the errors in a lesson, and its right answers.

use super::failure::Failed;
use super::output::{print, tell};
use fuseline_learn::lesson::check::check;
use fuseline_learn::lesson::{Lesson, Problem, read};
use std::fmt::Write as _;
use std::path::Path;

/// Prints the steps of a lesson with the right answers, and its problems. Fails if it has any.
pub(super) fn check_file(file: &Path) -> Result<(), Failed> {
    let bytes = std::fs::read(file).map_err(|problem| Failed::file(file, problem))?;
    let text = String::from_utf8_lossy(&bytes);
    let (lesson, mut problems) = read(&text);
    problems.extend(check(&lesson));
    print(&steps(&lesson))?;
    if problems.is_empty() {
        return Ok(());
    }
    let name = file.display();
    for Problem { line, what, mend } in &problems {
        tell(&format!("{name}:{line}: {what}\n    {mend}\n"));
    }
    Err(Failed::Reported)
}

fn steps(lesson: &Lesson) -> String {
    let mut lines = format!("{}\n", lesson.title);
    let states = lesson.states(&mut Vec::new());
    for ((step, states), number) in lesson.steps.iter().zip(&states).zip(1..) {
        let answer = step
            .task
            .as_ref()
            .and_then(|task| task.right_answer(states));
        let answer = answer.map_or_else(String::new, |answer| format!("\n     {answer}"));
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{number:>3}. {}{answer}", step.title);
    }
    lines
}
