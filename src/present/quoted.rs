//! Sentences for people, in which `backquotes` stand for code.

/// A part of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Plain words.
    Words(&'a str),
    /// What stands between two quotes, such as the name of an op.
    Code(&'a str),
}

/// The parts of a sentence, in order, without the quotes.
///
/// ```
/// use fuseline::present::quoted::{Part, parts};
/// let sentence: Vec<_> = parts("`up` starts a kernel").collect();
/// assert_eq!(sentence, [Part::Code("up"), Part::Words(" starts a kernel")]);
/// ```
pub fn parts(sentence: &str) -> impl Iterator<Item = Part<'_>> {
    let parts = sentence.split('`').enumerate();
    parts.filter_map(|(place, part)| match place % 2 {
        // Every second part stands between two quotes.
        1 => Some(Part::Code(part)),
        _ => (!part.is_empty()).then_some(Part::Words(part)),
    })
}
