//! A timer that each call restarts.

use super::now_ms;
use leptos::prelude::*;
use std::time::Duration;

/// Runs the action of the last call after a pause without calls (debounce). Cancelled with the component that made it.
#[derive(Clone, Copy)]
pub struct Later {
    pause: Duration,
    longest_wait: Duration,
    pending: StoredValue<Option<Pending>>,
}

#[derive(Clone, Copy)]
struct Pending {
    timer: TimeoutHandle,
    first_call_ms: f64,
}

impl Later {
    /// A timer that fires after a pause of this length.
    pub fn after(pause: Duration) -> Self {
        let later = Self {
            pause,
            longest_wait: Duration::MAX,
            pending: StoredValue::new(None),
        };
        on_cleanup(move || later.cancel());
        later
    }

    /// The same timer, which also fires this long after the first call when calls do not pause.
    #[must_use]
    pub const fn at_most(self, longest_wait: Duration) -> Self {
        Self {
            longest_wait,
            ..self
        }
    }

    /// Runs `action` after the pause, unless this is called again before.
    pub fn call(self, action: impl FnOnce() + 'static) {
        let now = now_ms();
        let first_call_ms = self
            .cancelled()
            .map_or(now, |pending| pending.first_call_ms);
        let waited = Duration::from_secs_f64((now - first_call_ms).max(0.0) / 1000.0);
        let wait = self.pause.min(self.longest_wait.saturating_sub(waited));
        let fire = move || {
            self.pending.try_set_value(None);
            action();
        };
        let timer = set_timeout_with_handle(fire, wait).ok();
        self.pending.try_set_value(timer.map(|timer| Pending {
            timer,
            first_call_ms,
        }));
    }

    /// Cancels the pending action.
    pub fn cancel(self) {
        self.cancelled();
    }

    /// Cancels the pending action and returns it.
    fn cancelled(self) -> Option<Pending> {
        let pending = self.pending.try_update_value(Option::take).flatten();
        pending.inspect(|pending| pending.timer.clear())
    }
}
