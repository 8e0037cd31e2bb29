//! The present page as the engine of lessons and puzzles sees it.

use crate::app::state::Page;
use fuseline_learn::lesson::state::AnalyzedProgram;
use leptos::prelude::*;

/// What the engine sees on the present page. Tracked.
pub(super) fn present_seen(page: Page) -> Option<AnalyzedProgram> {
    let shown = page.present.get()?;
    let is_refused = !shown.analysis().refused.is_empty();
    Some(AnalyzedProgram {
        text: shown.text.clone(),
        parsed: shown.parsed.clone(),
        analysis: shown.analysis().clone(),
        statement_of_op: shown.statement_of_op().clone(),
        has_error: shown.has_error() || is_refused,
    })
}
