//! Fills the lines of the table of operators for a node.

use crate::core::onnx::call::Call;
use crate::core::onnx::words::word;

/// The lines of a rule for a node, with `output` as its output; `None` where the node is not of a form that the notation has.
pub(super) fn filled(lines: &[&str], call: &Call<'_>, output: &str) -> Option<String> {
    let mut text = String::new();
    for line in lines {
        // A word may stand for text with further words.
        let line = fill(line, call, output)?;
        text.push_str(&fill(&line, call, output)?);
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    Some(text)
}

fn fill(line: &str, call: &Call<'_>, output: &str) -> Option<String> {
    let mut text = String::with_capacity(line.len() + 32);
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        let (inner, after) = after.split_once('}')?;
        text.push_str(before);
        rest = after;
        match inner.split_once('=') {
            Some((attribute, default)) => {
                let value = call.attribute_text(attribute);
                text.push_str(value.as_deref().unwrap_or(default));
            }
            None if inner == "y" => text.push_str(output),
            None => match inner.strip_suffix('?') {
                Some(place) => match call.input(place.parse().ok()?) {
                    Some(input) => text.push_str(&input.name),
                    None => text.truncate(text.trim_end_matches(", ").len()),
                },
                None => text.push_str(&given(inner, call)?),
            },
        }
    }
    text.push_str(rest);
    Some(text)
}

fn given(inner: &str, call: &Call<'_>) -> Option<String> {
    if let Some(place) = inner.strip_prefix('#') {
        return call.number_text(place.parse().ok()?);
    }
    match inner.parse() {
        Ok(place) => call.input(place).map(|input| input.name.clone()),
        Err(_) => word(inner, call),
    }
}
