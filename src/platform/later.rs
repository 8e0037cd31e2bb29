//! Doing something once it has come to rest.

use crate::value::Value;
use leptos::prelude::{TimeoutHandle, set_timeout_with_handle};
use std::time::Duration;

/// A timer that starts anew with each call; only the last one counts.
#[derive(Clone, Copy)]
pub struct Later {
    pause: Duration,
    pending: Value<Option<TimeoutHandle>>,
}

impl Later {
    /// A timer that fires after a pause of this length.
    pub fn after(pause: Duration) -> Self {
        Self {
            pause,
            pending: Value::new(None),
        }
    }

    /// Does `action` after the pause, unless it is called again before.
    pub fn call(self, action: impl FnOnce() + 'static) {
        self.call_boxed(Box::new(action));
    }

    fn call_boxed(self, action: Box<dyn FnOnce()>) {
        self.cancel();
        let pending = set_timeout_with_handle(action, self.pause).ok();
        self.pending.update_untracked(|last| *last = pending);
    }

    /// Forgets the pending action.
    pub fn cancel(self) {
        if let Some(pending) = self.pending.get_untracked() {
            pending.clear();
        }
    }
}
