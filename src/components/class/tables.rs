//! Students by questions, and students by puzzles.

use super::questions::Questions;
use super::standings::{Counted, STANDINGS};
use crate::app::classroom::Classroom;
use crate::app::learning::Learning;
use fuseline_learn::lesson::library::listed;
use fuseline_learn::lesson::progress::StepOutcome;
use fuseline_learn::results::check::{Cell, Standing};
use fuseline_learn::results::class::{PuzzleColumn, Solved};
use fuseline_learn::results::table::{LessonColumns, standing_words};
use fuseline_view::present::format::format_percent;
use fuseline_view::present::names::counted;
use leptos::prelude::*;
use std::sync::Arc;

/// The name of a student, and the earlier student with the same results, if there is one.
pub(super) type Named = (String, Option<usize>);

/// A lesson: a row for each student who answered in it, a column for each question.
pub(super) fn lesson_table(
    classroom: Classroom,
    learning: &Learning,
    lessons: &Arc<Vec<LessonColumns>>,
    at: usize,
    named: &[Named],
) -> AnyView {
    let learning = *learning;
    let Some(lesson) = lessons.get(at) else {
        return ().into_any();
    };
    // A lesson of the teacher's own is not in the list of the page.
    let listed = listed(&lesson.id);
    let heads = lesson.columns.iter().map(|column| {
        let step = column.step;
        let title = column.full_title();
        let number = step + 1;
        match listed {
            Some(listed) => view! {
                <th scope="col">
                    <button type="button" class="link-button" title=title.clone() aria-label=title on:click=move |_| learning.open_listed(listed.id, step)>{number}</button>
                </th>
            }
            .into_any(),
            None => view! { <th scope="col" title=title>{number}</th> }.into_any(),
        }
    });
    let name_of = |at: usize| named.get(at).map_or("", |(name, _)| name.as_str());
    let rows = by_name(named).filter_map(|(student, (name, copy))| {
        let cells: Vec<_> = (lesson.columns.iter())
            .filter_map(|column| column.cells.get(student))
            .collect();
        let is_there = cells
            .iter()
            .any(|cell| cell.standing != Standing::Untouched);
        let copy = copy.map(|of| format!("the same answers and seconds as {}", name_of(of)));
        is_there.then(|| {
            let cells = cells.into_iter().map(cell);
            view! {
                <tr>
                    <th scope="row">{name.clone()} {copy.map(|copy| view! { " " <small>{copy}</small> })}</th>
                    {cells.collect_view()}
                    <td>
                        <button type="button" class="link-button" aria-label=format!("Remove {name}") disabled=classroom.is_checking on:click=move |_| classroom.remove(student)>"Remove"</button>
                    </td>
                </tr>
            }
        })
    });
    let count = |(title, is_so): Counted| {
        let cells = lesson.columns.iter().map(|column| {
            let count = column.count(is_so);
            view! { <td>{(count > 0).then_some(count)}</td> }
        });
        view! { <tr><th scope="row">{title}</th>{cells.collect_view()}<td></td></tr> }
    };
    view! {
        <section class="class-lesson">
            <h4>{lesson.title.clone()}</h4>
            <Questions listed title=lesson.title.clone() columns=lesson.columns.clone() />
            <div class="class-scroll" tabindex="0" role="region" aria-label=format!("Students by questions: {}", lesson.title)>
                <table class="class-table">
                    <thead><tr><th scope="col">"Student"</th>{heads.collect_view()}<th><span class="sr-only">"Remove"</span></th></tr></thead>
                    <tbody class="class-counts">
                        {STANDINGS.map(count).collect_view()}
                    </tbody>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

/// The students with their positions in the class, in the order in which a list is read out.
fn by_name(named: &[Named]) -> impl Iterator<Item = (usize, &Named)> {
    let mut students: Vec<_> = named.iter().enumerate().collect();
    students.sort_by_cached_key(|(_, (name, _))| name.to_lowercase());
    students.into_iter()
}

fn cell(cell: &Cell) -> impl IntoView + use<> {
    let (mark, class) = match &cell.standing {
        Standing::Untouched => ("", ""),
        Standing::Open => ("…", "is-open"),
        Standing::Ended(StepOutcome::Right) => ("✓", "is-right"),
        Standing::Ended(StepOutcome::Nudged) => ("✓", "is-nudged"),
        Standing::Ended(StepOutcome::Shown) => ("→", "is-shown"),
        Standing::Ended(StepOutcome::Skipped) => ("–", "is-skipped"),
        Standing::Refused(_) => ("!", "is-refused"),
    };
    let tries = (cell.tries > 1).then_some(cell.tries);
    let mut words = standing_words(&cell.standing);
    if cell.tries > 0 {
        words = format!(
            "{words}, tries: {}, after {} s, first: {}",
            cell.tries,
            cell.took_s,
            cell.first.replace('`', "")
        );
    }
    let words = (cell.standing != Standing::Untouched).then_some(words);
    view! {
        <td class=class title=words>
            <span aria-hidden="true">{mark}{tries.map(|tries| view! { <sub>{tries}</sub> })}</span>
            <span class="sr-only">{words.clone()}</span>
        </td>
    }
}

/// A row for each student who tried a puzzle, a column for each puzzle.
pub(super) fn puzzle_table(puzzles: &[PuzzleColumn], named: &[Named]) -> impl IntoView + use<> {
    let heads = puzzles.iter();
    let heads = heads.map(|puzzle| view! { <th scope="col">{puzzle.title.clone()}</th> });
    let rows = by_name(named).filter_map(|(student, (name, _))| {
        let cells: Vec<_> = (puzzles.iter())
            .map(|puzzle| puzzle.cells.get(student).and_then(Option::as_ref))
            .collect();
        cells.iter().any(Option::is_some).then(|| {
            let cells = cells.into_iter().map(solved);
            view! { <tr><th scope="row">{name.clone()}</th>{cells.collect_view()}</tr> }
        })
    });
    view! {
        <section class="class-lesson">
            <h4>"Puzzles"</h4>
            <div class="class-scroll" tabindex="0" role="region" aria-label="Students by puzzles">
                <table class="class-table is-puzzles">
                    <thead><tr><th scope="col">"Student"</th>{heads.collect_view()}</tr></thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
}

fn solved(solved: Option<&Solved>) -> impl IntoView + use<> {
    let (class, words, title) = match solved {
        None => ("", String::new(), None),
        Some(Solved::Graded { graded, moves }) if graded.is_solved() => (
            "is-right",
            format!("✓ {}", counted(*moves, "move")),
            Some("at par".to_owned()),
        ),
        Some(Solved::Graded { graded, .. }) => (
            "is-nudged",
            format!("{} above par", format_percent(graded.above_pct)),
            None,
        ),
        Some(Solved::Refused(why)) => ("is-refused", "! not counted".to_owned(), Some(why.clone())),
    };
    view! { <td class=class title=title>{words}</td> }
}
