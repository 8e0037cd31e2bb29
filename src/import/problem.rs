//! Why a file could not be read.

/// What stopped the reading of a file, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Problem {
    text: String,
}

impl Problem {
    /// A problem, as the end of a sentence without its period.
    pub fn new(what: impl Into<String>) -> Self {
        Self { text: what.into() }
    }

    /// A problem at the byte of the file where reading stopped.
    pub(crate) fn at_byte(byte: u64, what: &str) -> Self {
        Self::new(format!("at byte {byte}, {what}"))
    }
}
