//! A file that was read and analysed.

use crate::commands::ProgramFile;
use crate::complaint::complain;
use crate::failure::Failed;
use crate::input::{Source, read_source_at, set_param};
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::Parsed;
use fuseline_core::{Analysis, Diagnostic, IdVec, OpId, Options, analyze_program};
use fuseline_view::present::reasons::all_diagnostics;
use fuseline_view::present::report::Report;
use std::sync::Arc;

/// A file without an error, and its analysis.
pub(super) struct Analysed {
    /// The name of the file.
    pub(super) file: String,
    pub(super) text: String,
    pub(super) parsed: Parsed,
    pub(super) analysis: Arc<Analysis>,
    pub(super) statement_of_op: IdVec<OpId, usize>,
    /// Warnings and notes.
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Analysed {
    pub(super) fn report(&self) -> Report {
        Report::new(&self.analysis, &self.diagnostics, &self.text)
            .with_attributes(&self.parsed.program, &self.statement_of_op)
    }
}

/// Reads and analyses a file. Prints its warnings and notes.
pub(super) fn read_and_complain(
    program: &ProgramFile,
    options: &Options,
) -> Result<Analysed, Failed> {
    let analysed = read_file(program, options)?;
    complain(&analysed.file, &analysed.text, &analysed.diagnostics);
    Ok(analysed)
}

pub(super) fn read_file(program: &ProgramFile, options: &Options) -> Result<Analysed, Failed> {
    let ProgramFile { file, assignments } = program;
    analysed(read_source_at(file, assignments)?, assignments, options)
}

/// The analysis of what was read, after the params have got these values.
pub(super) fn analysed(
    source: Source,
    assignments: &[(String, i64)],
    options: &Options,
) -> Result<Analysed, Failed> {
    let Source {
        name: file,
        text,
        mut parsed,
    } = source;
    for (name, value) in assignments {
        set_param(&mut parsed, name, *value)?;
    }
    let outcome = analyze_program(&parsed.program, options);
    let diagnostics = all_diagnostics(&parsed, &outcome);
    match outcome.analysis {
        Some(analysis) if !has_errors(&diagnostics) => Ok(Analysed {
            file,
            text,
            parsed,
            analysis: Arc::new(analysis),
            statement_of_op: outcome.statement_of_op,
            diagnostics,
        }),
        _ => Err(Failed::Text {
            file,
            text,
            diagnostics,
        }),
    }
}
