//! Whether the pictures go over from some kernels to others.

use super::analysed::AnalysedText;
use super::hold::Hold;
use super::page::SetIfChanged;
use crate::browser::Later;
use crate::core::{IdVec, KernelId, OpId};
use leptos::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Up to this many ops what changes travels. Thousands of moving elements take seconds.
pub const MOVING_OPS: usize = 200;
/// Duration of the movement, with some reserve.
const SWITCH_TIME: Duration = Duration::from_millis(350);

/// Whether the view went from fused to unfused or back, or the ops came into other kernels, less than [`SWITCH_TIME`] ago. Not
/// while a slider is held: there everything takes effect at once. A signal and not a memo, because a timer resets it.
pub(super) fn is_switching(
    shown: Memo<Arc<AnalysedText>>,
    is_fused: RwSignal<bool>,
    hold: Hold,
) -> RwSignal<bool> {
    let is_switching = RwSignal::new(false);
    let end = Later::after(SWITCH_TIME);
    let kernels = Memo::new(move |_| {
        shown.with(|shown| {
            let kernel_of = &shown.analysis.partition.kernel_of;
            (kernel_of.len() <= MOVING_OPS).then(|| kernel_of.clone())
        })
    });
    Effect::new(move |before: Option<Pictured>| {
        let now = (is_fused.get(), kernels.get());
        if before.is_some_and(|before| travels(&before, &now)) && !untrack(move || hold.is_held()) {
            is_switching.set_if_changed(true);
            end.call(move || is_switching.set(false));
        }
        now
    });
    is_switching
}

/// Whether the graph is shown fused, and the kernel of each op; `None` for too many ops.
type Pictured = (bool, Option<IdVec<OpId, KernelId>>);

/// Whether two pictures are of the same ops and differ.
fn travels((was_fused, before): &Pictured, (is_fused, now): &Pictured) -> bool {
    before
        .as_ref()
        .zip(now.as_ref())
        .is_some_and(|(before, now)| {
            before.len() == now.len() && (before != now || was_fused != is_fused)
        })
}
