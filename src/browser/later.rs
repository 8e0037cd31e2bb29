//! A timer that each call restarts.

use leptos::prelude::*;
use std::time::Duration;

/// Runs the action of the last call after a pause without calls (debounce). Cancelled with the component that made it.
#[derive(Clone, Copy)]
pub struct Later {
    pause: Duration,
    pending: StoredValue<Option<TimeoutHandle>>,
}

impl Later {
    /// A timer that fires after a pause of this length.
    pub fn after(pause: Duration) -> Self {
        let later = Self {
            pause,
            pending: StoredValue::new(None),
        };
        on_cleanup(move || later.cancel());
        later
    }

    /// Runs `action` after the pause, unless this is called again before.
    pub fn call(self, action: impl FnOnce() + 'static) {
        self.cancel();
        self.pending
            .try_set_value(set_timeout_with_handle(action, self.pause).ok());
    }

    /// Cancels the pending action.
    pub fn cancel(self) {
        if let Some(pending) = self.pending.try_get_value().flatten() {
            pending.clear();
        }
    }
}
