//! A signal that wakes no reader for an equal value.

use leptos::prelude::*;

/// Writes a signal only when the value differs, so that no subscriber runs for an equal value.
pub trait SetIfChanged<T> {
    /// Sets the signal unless its value equals `value`.
    fn set_if_changed(&self, value: T);
}

impl<T: PartialEq + Send + Sync + 'static> SetIfChanged<T> for RwSignal<T> {
    fn set_if_changed(&self, value: T) {
        self.maybe_update(|present| {
            let is_changed = *present != value;
            if is_changed {
                *present = value;
            }
            is_changed
        });
    }
}
