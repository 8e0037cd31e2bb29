//! Reads the arguments of a printed call.

use crate::pt2::schema::{Argument, Whole};

/// What a name in a graph stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Tensor,
    /// A whole number that is computed from sizes.
    Size,
}

/// The parts of a list that commas separate, without those in quotation marks or brackets.
/// `O(text)`.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if let Some(open) = quote {
            if c == open && !is_escaped {
                quote = None;
            }
            is_escaped = c == '\\' && !is_escaped;
            continue;
        }
        match c {
            '\'' | '"' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default().trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default().trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The name and the text of `dim = -1`; no name for a value that stands alone.
pub(super) fn keyed(part: &str) -> (Option<&str>, &str) {
    match part.split_once(" = ") {
        Some((key, value)) if is_name(key) => (Some(key), value),
        _ => (None, part),
    }
}

pub(super) fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c == '_' || c.is_alphanumeric())
}

/// The argument that a text is. Lists in lists are none that the lowering reads.
pub(super) fn value(text: &str, named: &dyn Fn(&str) -> Option<(Named, String)>) -> Argument {
    let list = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let list = list.or_else(|| {
        let rest = text.strip_prefix('(')?;
        rest.strip_suffix(')')
    });
    match list {
        Some(list) => list_of(&parts(list), named),
        None => single(text, named),
    }
}

fn single(text: &str, named: &dyn Fn(&str) -> Option<(Named, String)>) -> Argument {
    match text {
        "None" => return Argument::None,
        "True" => return Argument::Bool(true),
        "False" => return Argument::Bool(false),
        _ => {}
    }
    for quote in ['\'', '"'] {
        let inner = text.strip_prefix(quote);
        if let Some(inner) = inner.and_then(|rest| rest.strip_suffix(quote)) {
            return Argument::Text(inner.to_owned());
        }
    }
    if let Ok(whole) = text.parse() {
        return Argument::Int(Whole::AsInt(whole));
    }
    // A tensor may be called `inf`.
    match named(text) {
        Some((Named::Tensor, name)) => Argument::Tensor(name),
        Some((Named::Size, name)) => Argument::Int(Whole::AsName(name)),
        None => text.parse().map_or(Argument::Other, Argument::Float),
    }
}

fn list_of(parts: &[&str], named: &dyn Fn(&str) -> Option<(Named, String)>) -> Argument {
    let mut tensors = Vec::new();
    let mut wholes = Vec::new();
    for part in parts {
        match single(part, named) {
            Argument::Tensor(name) => tensors.push(Some(name)),
            Argument::None => tensors.push(None),
            Argument::Int(whole) => wholes.push(whole),
            _ => return Argument::Other,
        }
    }
    match (tensors.is_empty(), wholes.is_empty()) {
        (true, _) => Argument::Ints(wholes),
        (false, true) => Argument::Tensors(tensors),
        (false, false) => Argument::Other,
    }
}
