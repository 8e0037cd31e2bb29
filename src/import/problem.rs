//! Why a file could not be read.

use std::fmt;

/// What stopped the reading of a file, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    text: String,
}

impl Problem {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { text: what.into() }
    }

    /// With the place in the file where reading stopped.
    pub(crate) fn at_byte(byte: u64, what: &str) -> Self {
        Self::new(format!("at byte {byte}, {what}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
