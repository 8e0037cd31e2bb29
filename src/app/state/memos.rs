//! Memos of values that are costly to compare.

use crate::app::background::Background;
use crate::app::jobs::Job;
use crate::app::queries::Asked;
use fuseline_browser as browser;
use leptos::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// How far a figure lags behind a moving slider: long enough to be read.
const LAG: Duration = Duration::from_millis(500);

/// A memo of a value that is costly to compare: it compares pointers, not contents. `compute` gets
/// the last value; it returns the same `Arc` to say that nothing changed.
pub fn shared_memo<T: Send + Sync + 'static>(
    compute: impl Fn(Option<&Arc<T>>) -> Arc<T> + Send + Sync + 'static,
) -> Memo<Arc<T>> {
    Memo::new_with_compare(compute, |before, now| match (before, now) {
        (Some(before), Some(now)) => !Arc::ptr_eq(before, now),
        _ => true,
    })
}

/// A [`shared_memo`] of a value that may be missing.
pub(super) fn shared_option<T: Send + Sync + 'static>(
    compute: impl Fn() -> Option<Arc<T>> + Send + Sync + 'static,
) -> Memo<Option<Arc<T>>> {
    Memo::new_with_compare(
        move |_| compute(),
        |before, now| match (before, now) {
            (Some(Some(before)), Some(Some(now))) => !Arc::ptr_eq(before, now),
            (Some(None), Some(None)) => false,
            _ => true,
        },
    )
}

/// `source` as a signal, which is set in a microtask after each change.
///
/// For what has many dependents: Leptos marks the dependents of a memo, and theirs, once for each
/// path by which a change may reach it. The 200 marks of the charts with their attributes were
/// marked 100,000 times per slider event.
pub fn settled<T: Clone + Send + Sync + 'static>(source: impl Into<Signal<T>>) -> ReadSignal<T> {
    let source = source.into();
    let (value, set_value) = signal(source.get_untracked());
    let follow = RenderEffect::new(move |is_later: Option<()>| {
        let now = source.get();
        if is_later.is_some() {
            set_value.set(now);
        }
    });
    // It lives as long as what reads the value.
    StoredValue::new_local(follow);
    value
}

/// `source`, read only twice a second while `is_moving` says that a slider moves.
///
/// For values that are read and not watched: digits that change in each frame cannot be read, and
/// the pictures need that time.
pub fn unhurried<T: Send + Sync + 'static>(
    source: impl Into<Signal<Arc<T>>>,
    is_moving: impl Fn() -> bool + Copy + Send + Sync + 'static,
) -> Memo<Arc<T>> {
    let source = source.into();
    let (lagging, set_lagging) = signal(source.get_untracked());
    let is_awaited = StoredValue::new(false);
    let follow = RenderEffect::new(move |_| {
        let now = source.get();
        if !untrack(is_moving) {
            set_lagging.set(now);
        } else if !is_awaited.get_value() {
            is_awaited.set_value(true);
            let catch_up = move || {
                // Does nothing where the page is gone by then.
                is_awaited.try_set_value(false);
                if let Some(now) = source.try_get_untracked() {
                    set_lagging.try_set(now);
                }
            };
            browser::after(LAG, catch_up);
        }
    });
    // It lives as long as what reads the value.
    StoredValue::new_local(follow);
    shared_memo(move |_| {
        if is_moving() {
            lagging.get()
        } else {
            source.get()
        }
    })
}

/// The worker's answer to a job of such a query; `None` without a job, and until it is answered.
pub(super) fn answered<Q: Asked<Answer: Send + Sync + 'static>>(
    job: Memo<Option<Job>>,
    worker: Background,
) -> Memo<Option<Arc<Q::Answer>>> {
    shared_option(move || job.with(|job| worker.answer::<Q>(job.as_ref()?)))
}

/// `source` in a task of its own, so that the page answers its visitor between computing and
/// showing the value; `None` until then.
pub(super) fn in_next_task<T: Send + Sync + 'static>(
    source: Memo<Option<Arc<T>>>,
) -> Memo<Option<Arc<T>>> {
    let released = RwSignal::new(None);
    shared_option(move || {
        let value = source.get()?;
        let is_released = released.with(|released: &Option<Arc<T>>| {
            (released.as_ref()).is_some_and(|released| Arc::ptr_eq(released, &value))
        });
        if !is_released {
            let value = value.clone();
            // Does nothing where the page is gone by then.
            browser::next_task(move || drop(released.try_set(Some(value))));
        }
        is_released.then_some(value)
    })
}
