//! A timer that each call restarts.

use super::clock::now_ms;
use super::timers::Timeout;
use leptos::prelude::*;
use std::time::Duration;

/// Runs the action of the last call after a pause without calls (debounce). Cancelled with the
/// component that made it.
#[derive(Clone, Copy)]
pub struct Debounce(StoredValue<Timer>);

struct Timer {
    pause: Duration,
    longest_wait: Duration,
    pending: Option<Pending>,
}

#[derive(Clone, Copy)]
struct Pending {
    timer: Timeout,
    first_call_ms: f64,
}

impl Debounce {
    /// A timer that fires after a pause of this length.
    pub fn after(pause: Duration) -> Self {
        let later = Self(StoredValue::new(Timer {
            pause,
            longest_wait: Duration::MAX,
            pending: None,
        }));
        on_cleanup(move || later.cancel());
        later
    }

    /// This timer, which also fires this long after the first call when calls do not pause.
    #[must_use]
    pub fn at_most(self, longest_wait: Duration) -> Self {
        self.0
            .update_value(|timer| timer.longest_wait = longest_wait);
        self
    }

    /// Runs `action` after the pause, unless this is called again before.
    pub fn call(self, action: impl FnOnce() + 'static) {
        let now = now_ms();
        // After an unmount there is no timer.
        self.0.try_update_value(|timer| {
            let first_call_ms = timer.cancel().map_or(now, |pending| pending.first_call_ms);
            let waited = Duration::from_secs_f64((now - first_call_ms).max(0.0) / 1000.0);
            let wait = timer.pause.min(timer.longest_wait.saturating_sub(waited));
            let fire = move || {
                self.0.try_update_value(|timer| timer.pending = None);
                action();
            };
            let handle = Timeout::start(fire, wait);
            timer.pending = handle.map(|timer| Pending {
                timer,
                first_call_ms,
            });
        });
    }

    /// Cancels the pending action.
    pub fn cancel(self) {
        self.0.try_update_value(Timer::cancel);
    }
}

impl Timer {
    /// Cancels the pending action and returns it.
    fn cancel(&mut self) -> Option<Pending> {
        self.pending.take().inspect(|pending| pending.timer.clear())
    }
}
