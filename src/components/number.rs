//! A number that explains itself: a press shows its formula with the figures of the program.

use crate::app::state::{ExplanationOf, Page};
use fuseline_browser as browser;
use fuseline_view::present::figure::{Explanation, Part};
use fuseline_view::present::quantity::Figure;
use leptos::context::Provider;
use leptos::either::Either;
use leptos::prelude::*;
use std::collections::BTreeSet;

/// The numbers of a table. One of them is a tab stop.
#[derive(Clone, Copy)]
struct Numbers {
    /// The mounted numbers, counted in the order in which they were mounted.
    mounted: RwSignal<BTreeSet<usize>>,
    /// The number that had the focus last.
    at: RwSignal<Option<usize>>,
    is_stop: StoredValue<Selector<Option<usize>>>,
}

impl Numbers {
    fn new() -> Self {
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

/// A table of numbers. The one that had the focus last is the tab stop, else the first one; the
/// arrow keys lead to the others.
#[component]
pub fn NumberTable(#[prop(optional)] class: &'static str, children: Children) -> impl IntoView {
    let step = |event| browser::step_in_table(&event, "button.explains");
    view! {
        <Provider value=Numbers::new()>
            <table class=(!class.is_empty()).then_some(class) on:keydown=step>
                {children()}
            </table>
        </Provider>
    }
}

/// A number that explains itself. Elsewhere than in a [`NumberTable`] each is a tab stop.
#[component]
pub fn Number(
    #[prop(into)] explanation: ExplanationOf,
    /// The number as it is shown.
    children: Children,
) -> impl IntoView {
    let page = Page::of_context();
    let in_table = use_context::<Numbers>().map(|table| (table, table.mount()));
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
                // The row must not take this as a press on itself.
                event.stop_propagation();
                page.explain(explanation, &event);
            }
        >
            {children()}
        </button>
    }
}

/// Words with numbers in them. The words may change, but each number keeps its explanation.
#[component]
pub fn Parts(#[prop(into)] parts: Signal<Vec<Part>>) -> impl IntoView {
    let figures = Memo::new(move |_| {
        parts.with(|parts| parts.iter().map(|part| part.figure).collect::<Vec<_>>())
    });
    let part = move |(index, figure): (usize, Option<Figure>)| {
        let text = move || parts.with(|parts| Some(parts.get(index)?.text.clone()));
        match figure {
            Some(figure) => Either::Left(view! { <Number explanation=figure>{text}</Number> }),
            None => Either::Right(text),
        }
    };
    move || {
        figures
            .get()
            .into_iter()
            .enumerate()
            .map(part)
            .collect_view()
    }
}

/// A number that its view explains, as the explanation gives it.
#[component]
pub fn OwnNumber(#[prop(into)] explanation: Signal<Option<Explanation>>) -> impl IntoView {
    let value = move || {
        explanation.with(|explanation| {
            explanation
                .as_ref()
                .map(|explanation| explanation.value.clone())
        })
    };
    view! { <Number explanation=ExplanationOf::Own(explanation)>{value}</Number> }
}
