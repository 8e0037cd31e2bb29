//! Text to program and back.

use super::diagnostic::Diagnostic;
use super::program::Program;

/// A text as far as it could be read.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The statements that could be read.
    pub program: Program,
    /// One diagnostic for each line that could not, in text order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a program. Total: any bytes give a program and diagnostics. `O(text)`.
pub fn parse(text: &str) -> Parsed {
    let _ = text;
    Parsed::default()
}

/// Writes a program so that [`parse`] gives the same program again, but for spans.
pub fn print(program: &Program) -> String {
    let _ = program;
    String::new()
}
