//! The memo of a row in a keyed list.

use leptos::prelude::*;

/// The row of one key of a `<ForEnumerate>`: what stands in `rows` at the place where that key is now. Equal rows wake
/// nothing.
pub(super) fn row_at<T: Clone + PartialEq + Send + Sync + 'static>(
    rows: Memo<Vec<T>>,
    place: ReadSignal<usize>,
    first: T,
) -> Memo<T> {
    Memo::new(move |last: Option<&T>| {
        let now = rows.with(|rows| rows.get(place.get()).cloned());
        // A row that goes wakes once more before it is taken away.
        now.or_else(|| last.cloned())
            .unwrap_or_else(|| first.clone())
    })
}
