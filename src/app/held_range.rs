//! What a program may come to while one of its sliders is held.

use crate::app::jobs::{is_quick, parse_if_short};
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::edit::set_param;
use fuseline_core::{Options, Policy, Program, analyze_program};

/// The most bytes that a program moves op by op at the ends of a slider, `ends`, of its param at this index. An end where it
/// has an error or is costly to analyse does not count; `None` if neither does. Two analyses.
pub fn most_bytes(
    text: &str,
    program: &Program,
    param: usize,
    ends: [i64; 2],
    options: &Options,
) -> Option<u64> {
    let options = Options {
        policy: Policy::None,
        ..options.clone()
    };
    let bytes_at = |value: i64| {
        let program = parse_if_short(&set_param(text, program, param, value)).program;
        let outcome = is_quick(&program).then(|| analyze_program(&program, &options))?;
        let analysis = (outcome.analysis).filter(|_| !has_errors(&outcome.diagnostics))?;
        Some(analysis.unfused.traffic.total)
    };
    ends.into_iter().filter_map(bytes_at).max()
}
