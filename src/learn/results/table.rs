//! The results of a class as a table to take away.

use super::check::{Cell, Standing};
use super::class::{Class, PuzzleColumn, QuestionColumn, Solved};
use fuseline_view::present::tables::Table;

/// The columns of a lesson, as a class answered it.
#[derive(Clone, Debug, PartialEq)]
pub struct LessonColumns {
    pub id: String,
    pub title: String,
    /// A column for each question.
    pub columns: Vec<QuestionColumn>,
}

/// A row for each question that a student tried and each puzzle, with the verdicts of the engine.
pub fn table(class: &Class, lessons: &[LessonColumns], puzzles: &[PuzzleColumn]) -> Table {
    let names = class.names();
    let mut rows = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let name = in_spreadsheet(name);
        for lesson in lessons {
            let cells = lesson.columns.iter();
            let cells = cells.filter_map(|column| Some((column, column.cells.get(at)?)));
            let tried = cells.filter(|(_, cell)| cell.standing != Standing::Untouched);
            rows.extend(tried.map(|(column, cell)| {
                let Cell {
                    standing,
                    tries,
                    took_s,
                    first,
                } = cell;
                vec![
                    name.clone(),
                    lesson.title.clone(),
                    (column.step + 1).to_string(),
                    column.title.clone(),
                    standing_words(standing),
                    tries.to_string(),
                    // A spreadsheet shows marks of code and quotes as they are.
                    first.replace(['`', '"'], ""),
                    took_s.to_string(),
                    String::new(),
                    String::new(),
                ]
            }));
        }
        for puzzle in puzzles {
            if let Some(Some(solved)) = puzzle.cells.get(at) {
                let (words, above, moves) = match solved {
                    Solved::Graded { graded, moves } => (
                        if graded.is_solved() {
                            "at par"
                        } else {
                            "above par"
                        }
                        .to_owned(),
                        format!("{:.1}", graded.above_pct),
                        moves.to_string(),
                    ),
                    Solved::Refused(why) => {
                        (format!("not counted: {why}"), String::new(), String::new())
                    }
                };
                let empty = String::new;
                rows.push(vec![
                    name.clone(),
                    format!("Puzzle: {}", puzzle.title),
                    empty(),
                    empty(),
                    words,
                    empty(),
                    empty(),
                    empty(),
                    above,
                    moves,
                ]);
            }
        }
    }
    Table {
        head: vec![
            "student",
            "lesson or puzzle",
            "step",
            "question",
            "result",
            "tries",
            "first answer",
            "time to the last answer (s)",
            "above par (%)",
            "moves",
        ],
        rows,
    }
}

/// A name as text: a spreadsheet would take one that begins so as a formula.
fn in_spreadsheet(name: &str) -> String {
    if name.starts_with(['=', '+', '-', '@']) {
        format!("'{name}")
    } else {
        name.to_owned()
    }
}

/// How a student stands at a question, in words.
pub fn standing_words(standing: &Standing) -> String {
    match standing {
        Standing::Untouched => "not tried".to_owned(),
        Standing::Open => "one wrong answer so far".to_owned(),
        Standing::Ended(outcome) => outcome.words().to_owned(),
        Standing::Refused(why) => format!("not counted: {why}"),
    }
}
