//! The program of a question, as short as paper wants it.

/// A program on paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Its lines.
    Whole(String),
    /// The program of the question before with other sizes: the lines of its params.
    Sizes(String),
    /// The program of the question before.
    Same,
    /// It has so many lines that paper has no room for it.
    OnPage(usize),
}

/// Most lines on paper: with more the questions of a lesson do not fit on two pages.
const MAX_LINES: usize = 28;

impl Listing {
    /// `known` is the program of the question before.
    pub(super) fn new(text: &str, known: Option<&str>) -> Self {
        let lines = printed(text);
        if let Some(known) = known.map(printed) {
            if known == lines {
                return Self::Same;
            }
            let ops = |lines: &[String]| -> Vec<String> {
                let ops = lines.iter().filter(|line| !is_param(line));
                ops.cloned().collect()
            };
            if ops(&known) == ops(&lines) {
                let params = lines.into_iter().filter(|line| is_param(line));
                return Self::Sizes(params.collect::<Vec<_>>().join("\n"));
            }
        }
        if lines.len() > MAX_LINES {
            Self::OnPage(lines.len())
        } else {
            Self::Whole(lines.join("\n"))
        }
    }
}

fn is_param(line: &str) -> bool {
    line.starts_with("param ")
}

/// The lines without empty ones, comments of their own, and the ranges of sliders.
fn printed(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.is_empty() && !line.trim_start().starts_with('#'));
    let lines = lines.map(|line| {
        let value = line.split_once(" in ").filter(|_| is_param(line));
        value.map_or_else(
            || line.to_owned(),
            |(value, range)| {
                let comment = range.split_once('#').map(|(_, comment)| comment);
                comment.map_or_else(|| value.to_owned(), |words| format!("{value}  #{words}"))
            },
        )
    });
    lines.collect()
}
