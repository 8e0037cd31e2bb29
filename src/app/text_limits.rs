//! How large a text may be: for an answer at once, and at all.

use fuseline_core::notation::Parsed;
use fuseline_core::resolve::ops_and_reads;
use fuseline_core::{Code, Diagnostic, Program, notation};
use fuseline_view::present::format::format_exact;

/// Ops and reads of a program up to which the page computes everything itself, at once.
///
/// Of the families of `cargo bench --bench core` the slowest, each op reading all before it, needs
/// some 80 ms for a policy and 30 ms for the layout at this size; chains and models need a tenth of
/// that.
pub const QUICK_OPS_AND_READS: usize = 4_000;

/// Whether the page computes everything about a program itself. Costly programs are computed by the
/// worker.
pub fn is_quick(program: &Program) -> bool {
    ops_and_reads(program) <= QUICK_OPS_AND_READS
}

/// Longest text that the page analyses: some 20,000 ops. A longer one stays in the editor and in
/// the storage.
pub const MAX_ANALYSED_BYTES: usize = 1_000_000;

/// The parsed text, or that it is longer than [`MAX_ANALYSED_BYTES`].
pub fn parse_if_short(text: &str) -> Parsed {
    if text.len() <= MAX_ANALYSED_BYTES {
        return notation::parse(text);
    }
    let [size, limit] = [text.len(), MAX_ANALYSED_BYTES].map(|bytes| format_exact(bytes as u128));
    let problem = format!("the text has {size} bytes, and the limit of the page is {limit}");
    let diagnostic = Diagnostic::error(Code::TooLong, problem)
        .hint("split the program, or use the command line, which has no limit");
    Parsed {
        diagnostics: vec![diagnostic],
        ..Parsed::default()
    }
}
