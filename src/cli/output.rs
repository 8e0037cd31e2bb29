//! Standard output and standard error: the only place that writes to them.
//!
//! Control characters other than newlines are escaped, because names and file names may contain
//! sequences that a terminal obeys.

use crate::failure::Failed;
use fuseline_core::notation::spelling::printable;
use fuseline_view::present::report::with_schema;
use serde::Serialize;
use std::io::{self, ErrorKind, Write, stderr, stdout};

/// What `--json` prints.
pub(super) fn json(report: &impl Serialize) -> Result<String, Failed> {
    Ok(with_schema(report).map_err(Failed::command)? + "\n")
}

/// Prints a result on standard output.
pub(super) fn print(text: &str) -> Result<(), Failed> {
    match write(stdout().lock(), text) {
        // A closed pipe is no failure: the reader needs no more.
        Err(problem) if problem.kind() != ErrorKind::BrokenPipe => Err(Failed::command(format!(
            "the result cannot be written: {problem}"
        ))),
        _ => Ok(()),
    }
}

/// Prints problems on standard error. If that fails, the result still counts.
pub(super) fn tell(text: &str) {
    let _ = write(stderr().lock(), text);
}

fn write(mut to: impl Write, text: &str) -> io::Result<()> {
    let lines: Vec<_> = text.split('\n').map(printable).collect();
    to.write_all(lines.join("\n").as_bytes())?;
    to.flush()
}
