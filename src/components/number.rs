//! A number that explains itself: a press tells its formula with the figures of the program.

use crate::app::state::{Page, Told};
use crate::browser;
use crate::present::figure::Explanation;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use std::collections::BTreeSet;

/// The numbers of a table. One of them is a tab stop, and the arrow keys lead to the others.
#[derive(Clone, Copy)]
pub struct NumberTable {
    /// Those on the page, counted as they came.
    mounted: RwSignal<BTreeSet<usize>>,
    /// The one that had the focus last.
    at: RwSignal<Option<usize>>,
    is_stop: StoredValue<Selector<Option<usize>>>,
}

impl NumberTable {
    /// Makes the numbers of this view those of a table. Tables beside each other each stand in a `<Provider>` of their own.
    pub fn provide() {
        provide_context(Self::empty());
    }

    /// A table without numbers. The one that had the focus last is the tab stop, else the first one.
    pub fn empty() -> Self {
        let (mounted, at) = (RwSignal::new(BTreeSet::new()), RwSignal::new(None));
        let stop = Memo::new(move |_| {
            mounted.with(|mounted| {
                let last = at.get().filter(|number| mounted.contains(number));
                last.or_else(|| mounted.first().copied())
            })
        });
        Self {
            mounted,
            at,
            is_stop: StoredValue::new(Selector::new(move || stop.get())),
        }
    }

    /// Counts a number of the table until it is unmounted.
    fn mount(self) -> usize {
        let number = self.mounted.try_update(|mounted| {
            let number = mounted.last().map_or(0, |last| last + 1);
            mounted.insert(number);
            number
        });
        let number = number.unwrap_or_default();
        on_cleanup(move || {
            // The whole table may be gone.
            self.mounted.try_update(|mounted| mounted.remove(&number));
            self.is_stop
                .try_with_value(|is_stop| is_stop.remove(&Some(number)));
        });
        number
    }
}

/// The arrow keys between the numbers of a table.
pub fn step_between_numbers(event: &KeyboardEvent) {
    browser::step_in_table(event, "button.explains");
}

/// A number that explains itself. Elsewhere than in a [`NumberTable`] each is a tab stop.
#[component]
pub fn Number(
    /// What is told about it.
    #[prop(into)]
    told: Told,
    /// The number as it is shown.
    children: Children,
) -> impl IntoView {
    let page = Page::of_context();
    let in_table = use_context::<NumberTable>().map(|table| (table, table.mount()));
    let is_stop = move || {
        in_table.is_none_or(|(table, number)| {
            let is_stop = |is_stop: &Selector<_>| is_stop.selected(&Some(number));
            table.is_stop.with_value(is_stop)
        })
    };
    view! {
        <button
            type="button"
            class="explains"
            aria-haspopup="dialog"
            tabindex=move || if is_stop() { "0" } else { "-1" }
            on:focus=move |_| {
                if let Some((table, number)) = in_table {
                    table.at.set(Some(number));
                }
            }
            on:click=move |event| {
                // The row does not take it as a press on itself.
                event.stop_propagation();
                page.explain(told, &event);
            }
        >
            {children()}
        </button>
    }
}

/// A number that its view explains, as it is told.
#[component]
pub fn OwnNumber(
    /// What is told about it.
    #[prop(into)]
    told: Signal<Option<Explanation>>,
) -> impl IntoView {
    let value = move || told.with(|told| told.as_ref().map(|told| told.value.clone()));
    view! { <Number told=Told::Own(told)>{value}</Number> }
}
