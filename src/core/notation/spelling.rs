//! Names in messages: shortening, and the nearest known name for a misspelt one.

use crate::model::dtype::DType;
use std::borrow::Cow;
use std::fmt::Write as _;
use strsim::osa_distance;
use strum::VariantArray;

/// Longest name that a message shows in full, in characters.
const SHOWN: usize = 40;

/// `text`, cut to the length that messages show.
pub fn shortened(text: &str) -> String {
    first_chars(text, SHOWN)
}

/// `text`, cut after `most` characters, on one line.
pub fn first_chars(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", printable(text.get(..end).unwrap_or(""))),
        None => printable(text).into_owned(),
    }
}

/// `text` with control characters as JSON escapes them: a terminal would obey them, and a page does
/// not display them.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => printable.push_str("\\n"),
            '\r' => printable.push_str("\\r"),
            '\t' => printable.push_str("\\t"),
            _ if c.is_control() => {
                // Writing to a `String` cannot fail.
                let _ = write!(printable, "\\u{:04x}", u32::from(c));
            }
            _ => printable.push(c),
        }
    }
    Cow::Owned(printable)
}

/// A name as a message shows it.
pub fn quoted(name: &str) -> String {
    format!("`{}`", shortened(name))
}

/// The element type that an unknown `name` most likely means.
pub(super) fn nearest_dtype(name: &str) -> DType {
    let name = shortened(name);
    DType::named(&name).unwrap_or_else(|| {
        let name = name.to_lowercase();
        let distance = |dtype: &DType| osa_distance(&name, dtype.name());
        DType::VARIANTS
            .iter()
            .copied()
            .min_by_key(distance)
            .unwrap_or(DType::F32)
    })
}

/// The candidate within one or two edits of `name` (two letters swapped are one), the nearest
/// first; on a tie the first in order.
///
/// Considers the first 500 candidates only, so that a text with thousands of errors stays fast.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const CANDIDATES: usize = 500;
    // An edit of a short name changes most of it.
    let limit = match name.len() {
        0 | 1 => return None,
        2 | 3 => 1,
        4..=SHOWN => 2,
        _ => return None,
    };
    candidates
        .take(CANDIDATES)
        .filter(|known| known.len().abs_diff(name.len()) <= limit)
        .map(|known| (osa_distance(name, known), known))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, known)| known)
}
