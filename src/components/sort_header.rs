//! The head of a column by which a table can be sorted.

use leptos::prelude::*;

/// Which rows come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The smallest, or the first of the alphabet.
    Ascending,
    /// The largest.
    Descending,
}

impl Direction {
    const fn name(self) -> &'static str {
        match self {
            Self::Ascending => "ascending",
            Self::Descending => "descending",
        }
    }

    const fn arrow(self) -> &'static str {
        match self {
            Self::Ascending => "↑",
            Self::Descending => "↓",
        }
    }
}

/// The head of a column with a button that sorts the rows by it.
#[component]
pub fn SortHeader(
    /// How the rows are sorted by this column.
    direction: Direction,
    /// Whether the rows are sorted by this column.
    #[prop(into)]
    is_sorted: Signal<bool>,
    /// Sorts the rows by this column.
    sort: impl Fn() + Send + Sync + 'static,
    /// Whether the column holds numbers.
    #[prop(optional)]
    is_number: bool,
    /// What the column holds, at length.
    #[prop(optional, into)]
    title: TextProp,
    /// What the column holds.
    children: Children,
) -> impl IntoView {
    view! {
        <th
            scope="col"
            class="sortable"
            class:number=is_number
            aria-sort=move || is_sorted.get().then(|| direction.name())
        >
            <button type="button" class="link" title=move || title.get() on:click=move |_| sort()>
                {children()}
                <span class="sort-arrow" class:is-sorted=is_sorted aria-hidden="true">
                    {direction.arrow()}
                </span>
            </button>
        </th>
    }
}
