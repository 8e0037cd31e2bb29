//! Reads JSON, for the page and for the command line.

use serde::de::DeserializeOwned;

/// White space, or the byte order mark that some editors write at the start of a file.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// The value that `text` holds. `O(text)`.
///
/// # Errors
/// What is wrong and where, in the value and in the text: ``rows[1]: missing field `time_us` at line 14 column 3``.
///
/// ```
/// use fuseline::core::json::read_json;
/// assert_eq!(read_json::<Vec<u8>>("[1, 2]"), Ok(vec![1, 2]));
/// let problem = read_json::<Vec<u8>>("[1, 256]").unwrap_err();
/// assert_eq!(problem, "[1]: invalid value: integer `256`, expected u8 at line 1 column 7");
/// ```
pub fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let text = text.trim_start_matches(is_blank);
    let mut reader = serde_json::Deserializer::from_str(text);
    let value =
        serde_path_to_error::deserialize(&mut reader).map_err(|problem| problem.to_string())?;
    reader.end().map_err(|problem| problem.to_string())?;
    Ok(value)
}
