//! Reads JSON, for the page and for the command line.

use serde::de::DeserializeOwned;

/// Why a text does not hold a value: ``rows[1]: missing field `time_us` at line 14 column 3``.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// The text is not JSON, or holds another value.
    #[error("{}", with_short_path(.0))]
    Value(#[source] serde_path_to_error::Error<serde_json::Error>),
    /// A number that Python's `json` writes and JSON does not have.
    #[error("{path}: {number} is not a JSON number at line {line} column {column}")]
    NumberOfPython {
        /// Where it stands in the value.
        path: String,
        /// The word that stands there.
        number: &'static str,
        /// Its line in the text, from 1.
        line: usize,
        /// Its column, from 1.
        column: usize,
    },
    /// More text behind the value.
    #[error(transparent)]
    End(serde_json::Error),
}

/// Most characters of a path in a message: a deeper place is found by its line and column.
const MAX_PATH_CHARS: usize = 200;

fn with_short_path(problem: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = problem.path().to_string();
    if path.chars().count() > MAX_PATH_CHARS {
        problem.inner().to_string()
    } else {
        problem.to_string()
    }
}

/// White space, or the byte order mark that some editors write at the start of a file.
pub fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Numbers that Python's `json` writes and JSON does not have.
const NUMBERS_OF_PYTHON: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The number of Python's with which `rest` starts.
pub fn number_of_python_at(rest: &[u8]) -> Option<&'static str> {
    let mut words = NUMBERS_OF_PYTHON.into_iter();
    words.find(|word| rest.starts_with(word.as_bytes()))
}

/// The same at a place where a value was expected. The parser is at its first byte, or at the
/// second, behind a sign.
fn number_of_python(text: &str, line: usize, column: usize) -> Option<&'static str> {
    let line = text.lines().nth(line.checked_sub(1)?)?.as_bytes();
    let places = [column.checked_sub(1)?, column.saturating_sub(2)];
    let mut rests = places.into_iter().filter_map(|place| line.get(place..));
    rests.find_map(number_of_python_at)
}

/// The value that `text` holds. `O(text)`.
///
/// # Errors
/// What is wrong and where, in the value and in the text.
pub fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    let text = text.trim_start_matches(is_blank);
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|problem| {
        let (line, column) = (problem.inner().line(), problem.inner().column());
        match number_of_python(text, line, column) {
            Some(number) => JsonError::NumberOfPython {
                path: problem.path().to_string(),
                number,
                line,
                column,
            },
            None => JsonError::Value(problem),
        }
    })?;
    reader.end().map_err(JsonError::End)?;
    Ok(value)
}
