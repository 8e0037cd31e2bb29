//! Whether a chart is shown enlarged.

use crate::app::state::SetIfChanged;
use leptos::prelude::*;

/// Whether a chart is shown enlarged, in a dialog over everything else on the page.
#[derive(Clone, Copy)]
pub struct EnlargedChart(pub(super) RwSignal<bool>);

impl EnlargedChart {
    /// For all components below the caller: none is.
    pub fn provide() {
        provide_context(Self(RwSignal::new(false)));
    }

    /// That of the page.
    pub fn of_context() -> Self {
        expect_context()
    }

    /// Whether one is. Tracked.
    pub fn is_shown(self) -> bool {
        self.0.get()
    }

    /// Closes its dialog, before something beside it is shown.
    pub fn close(self) {
        self.0.set_if_changed(false);
    }
}
