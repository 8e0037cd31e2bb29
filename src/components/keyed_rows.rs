//! The memo of a row in a keyed list.

use fuseline_view::present::figure::Explanation;
use leptos::prelude::*;

/// The row of one key of a `<ForEnumerate>`: the item of `rows` at the present `index` of that key.
/// Runs its readers only when the row has changed.
pub(super) fn row_at<T: Clone + PartialEq + Send + Sync + 'static>(
    rows: impl Into<Signal<Vec<T>>>,
    index: ReadSignal<usize>,
    first: T,
) -> Memo<T> {
    let rows = rows.into();
    Memo::new(move |last: Option<&T>| {
        let now = rows.with(|rows| rows.get(index.get()).cloned());
        // A removed row may run once more before it is unmounted.
        now.or_else(|| last.cloned())
            .unwrap_or_else(|| first.clone())
    })
}

/// A row's explanation of one of its numbers.
pub(super) fn explanation_of<T: Send + Sync + 'static>(
    row: Memo<T>,
    number: fn(&T) -> &Explanation,
) -> Signal<Option<Explanation>> {
    Signal::derive(move || row.try_with(|row| number(row).clone()))
}
