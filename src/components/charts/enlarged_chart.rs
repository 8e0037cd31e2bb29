//! Whether a chart is shown enlarged.

use crate::app::state::SetIfChanged;
use leptos::prelude::*;

/// Whether a chart is shown enlarged, in a dialog over everything else on the page.
#[derive(Clone, Copy)]
pub struct EnlargedChart(pub(super) RwSignal<bool>);

impl EnlargedChart {
    /// Provides the state to all components below the caller: no chart is enlarged.
    pub fn provide() {
        provide_context(Self(RwSignal::new(false)));
    }

    /// The state in the context, which the root provides.
    pub fn of_context() -> Self {
        expect_context()
    }

    /// Whether a chart is enlarged. Tracked.
    pub fn is_shown(self) -> bool {
        self.0.get()
    }

    /// Closes the dialog of the chart, before something beside it is shown.
    pub fn close(self) {
        self.0.set_if_changed(false);
    }
}
