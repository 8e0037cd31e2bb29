//! The title of the document: the sentence that leads the page.

use super::state::Page;
use fuseline_browser::{Debounce, set_title};
use fuseline_view::present::claim::page_title;
use leptos::prelude::*;
use std::time::Duration;

/// The title follows when nothing has changed for this long: it is not read while a slider moves.
const PAUSE: Duration = Duration::from_millis(300);

/// Keeps the title as the headline is.
pub fn follow(page: Page) {
    let later = Debounce::after(PAUSE);
    Effect::new(move || {
        page.analysis.track();
        page.chosen.is_fused.track();
        later.call(move || {
            let is_fused = page.chosen.is_fused.get_untracked();
            page.analysis
                .with_untracked(|analysis| set_title(&page_title(analysis, is_fused)));
        });
    });
}
