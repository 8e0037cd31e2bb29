//! `fuseline script FILE`: a program as a script of PyTorch.

use super::failure::Failed;
use super::output::print;
use crate::analysed::Analysed;
use fuseline_view::present::pytorch::{refusal, script};
use std::path::Path;

/// Prints the script, or what in the program PyTorch cannot run.
///
/// The title of the script is the name of the file without folder and extension.
pub(super) fn script_of(analysed: &Analysed) -> Result<(), Failed> {
    let Analysed {
        file,
        parsed,
        analysis,
        statement_of_op,
        ..
    } = analysed;
    let name = Path::new(file).file_stem().unwrap_or_default();
    let name = name.to_string_lossy();
    match script(&name, &parsed.program, analysis, statement_of_op) {
        Ok(text) => print(&text),
        Err(unwritable) => Err(Failed::command(format!("{file}: {}", refusal(&unwritable)))),
    }
}
