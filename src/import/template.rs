//! Fills the lines of a table of operators.
//!
//! In a line, `{y}` is the output, `{alpha=0.01}` an attribute with its default, `{bias?}` an input
//! that may be left out, together with the comma before it. Any other word in braces is the
//! importer's own.

/// What the blanks of the lines stand for.
pub(crate) trait Blanks {
    /// An attribute as the notation writes it; `None` where it is not stated.
    fn attribute(&self, name: &str) -> Option<String>;

    /// The tensor of an input; `None` where it is left out.
    fn input(&self, name: &str) -> Option<String>;

    /// Any other word, which may stand for text with further blanks; `None` where the operator is
    /// not of a form that the notation has.
    fn word(&self, name: &str) -> Option<String>;
}

/// The lines with `output` as their output; `None` where a word has no answer.
pub(crate) fn filled(lines: &[&str], blanks: &impl Blanks, output: &str) -> Option<String> {
    let mut text = String::new();
    for line in lines {
        let line = fill(line, blanks, output)?;
        text.push_str(&fill(&line, blanks, output)?);
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    Some(text)
}

fn fill(line: &str, blanks: &impl Blanks, output: &str) -> Option<String> {
    let mut text = String::with_capacity(line.len() + 32);
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        let (inner, after) = after.split_once('}')?;
        text.push_str(before);
        rest = after;
        match inner.split_once('=') {
            Some((attribute, default)) => {
                let value = blanks.attribute(attribute);
                text.push_str(value.as_deref().unwrap_or(default));
            }
            None if inner == "y" => text.push_str(output),
            None => match inner.strip_suffix('?') {
                Some(name) => match blanks.input(name) {
                    Some(input) => text.push_str(&input),
                    None => text.truncate(text.trim_end_matches(", ").len()),
                },
                None => text.push_str(&blanks.word(inner)?),
            },
        }
    }
    text.push_str(rest);
    Some(text)
}
