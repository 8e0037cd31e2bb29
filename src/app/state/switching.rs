//! Whether the pictures move from some kernels to others.

use super::set_if_changed::SetIfChanged;
use super::slider::SliderState;
use crate::app::analysed::AnalysedText;
use fuseline_browser::Debounce;
use fuseline_view::picture::dag::motion::can_move;
use leptos::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Duration of the movement, with some reserve.
const SWITCH_TIME: Duration = Duration::from_millis(350);

/// Whether the view went from fused to unfused or back, or the ops came into other kernels, less
/// than [`SWITCH_TIME`] ago. Not while a slider is held: there everything takes effect at once. A
/// signal and not a memo, because a timer resets it.
pub(super) fn is_switching(
    shown: Memo<Arc<AnalysedText>>,
    is_fused: RwSignal<bool>,
    slider: SliderState,
) -> RwSignal<bool> {
    let is_switching = RwSignal::new(false);
    let end = Debounce::after(SWITCH_TIME);
    Effect::new(move |before: Option<Pictured>| {
        let now = (is_fused.get(), shown.get());
        if before.is_some_and(|before| differs(&before, &now)) && !untrack(move || slider.is_held())
        {
            is_switching.set_if_changed(true);
            end.call(move || is_switching.set(false));
        }
        now
    });
    is_switching
}

/// Whether the graph is shown fused, and what it shows.
type Pictured = (bool, Arc<AnalysedText>);

/// Whether one picture can move into the other and looks different.
fn differs((was_fused, before): &Pictured, (is_fused, now): &Pictured) -> bool {
    let (before, now) = (before.analysis(), now.analysis());
    let has_moved = before.partition.kernel_of != now.partition.kernel_of;
    can_move(before, now) && (has_moved || was_fused != is_fused)
}
