//! `fuseline script FILE`: a program as a script of PyTorch.

use super::output::{print, tell};
use super::{Analysed, Failed};
use crate::present::pytorch::{refusal, script};

/// Prints the script, or what of the program PyTorch cannot run.
pub(super) fn script_of(analysed: &Analysed) -> Result<(), Failed> {
    let Analysed {
        file,
        parsed,
        analysis,
        statement_of_op,
        ..
    } = analysed;
    match script(file, &parsed.program, analysis, statement_of_op) {
        Ok(text) => print(&text),
        Err(unwritable) => {
            tell(&format!("error: {file}: {}\n", refusal(&unwritable)));
            Err(Failed)
        }
    }
}
