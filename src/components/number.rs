//! A number that explains itself: a press tells its formula with the figures of the program.

use crate::app::state::Page;
use crate::browser;
use crate::present::figure::Figure;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

/// The numbers of a table. One of them is a tab stop, and the arrow keys lead to the others.
#[derive(Clone, Copy)]
pub struct NumberTable {
    /// The number that had the focus last.
    at: RwSignal<Option<Figure>>,
    is_stop: StoredValue<Selector<Option<Figure>>>,
}

impl NumberTable {
    /// Makes the numbers below it those of a table. The one that had the focus last is the tab stop while it `is_listed`, else
    /// the `first` one.
    pub fn provide(
        first: impl Fn() -> Option<Figure> + Send + Sync + 'static,
        is_listed: impl Fn(Figure) -> bool + Send + Sync + 'static,
    ) {
        let at = RwSignal::new(None);
        let stop = Memo::new(move |_| {
            let listed = at.get().filter(|&figure| is_listed(figure));
            listed.or_else(&first)
        });
        provide_context(Self {
            at,
            is_stop: StoredValue::new(Selector::new(move || stop.get())),
        });
    }

    fn is_stop(self, figure: Figure) -> bool {
        self.is_stop
            .with_value(|is_stop| is_stop.selected(&Some(figure)))
    }
}

/// The arrow keys between the numbers of a table.
pub fn step_between_numbers(event: &KeyboardEvent) {
    browser::step_in_table(event, "button.explains");
}

/// A number that explains itself. Elsewhere than in a [`NumberTable`] each is a tab stop.
#[component]
pub fn Number(
    /// Which number.
    figure: Figure,
    /// The number as it is shown.
    children: Children,
) -> impl IntoView {
    let page = Page::of_context();
    let table = use_context::<NumberTable>();
    let tabindex = move || match table {
        Some(table) if !table.is_stop(figure) => "-1",
        _ => "0",
    };
    view! {
        <button
            type="button"
            class="explains"
            aria-haspopup="dialog"
            tabindex=tabindex
            on:focus=move |_| {
                if let Some(table) = table {
                    table.at.set(Some(figure));
                }
            }
            on:click=move |event| {
                // The row does not take it as a press on itself.
                event.stop_propagation();
                page.explain(figure, &event);
            }
        >
            {children()}
        </button>
    }
}
