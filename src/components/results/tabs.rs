//! A row of tabs, of which one is open.

use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use strum::IntoEnumIterator;

/// Buttons for all values of `T`, of which `open` is chosen by pointer or arrow keys. The panel of a value has the
/// id [`panel_id`] and is named by the button, whose id is [`tab_id`].
#[component]
pub fn TabList<T>(
    /// The value whose panel shows.
    open: RwSignal<T>,
    /// What the button of a value says.
    label: fn(T) -> &'static str,
    /// Id of the heading that names the row.
    labelled_by: &'static str,
) -> impl IntoView
where
    T: IntoEnumIterator + Into<&'static str> + Copy + PartialEq + Send + Sync + 'static,
{
    let tabs: Vec<_> = (T::iter())
        .map(|tab| (tab, NodeRef::<html::Button>::new()))
        .collect();
    let buttons = StoredValue::new(tabs.clone());
    let choose = move |tab: T| {
        open.set(tab);
        // A click gives no focus to a button in every browser, and a key moves it to another one.
        buttons.with_value(|buttons| {
            let chosen = buttons.iter().find(|(value, _)| *value == tab);
            if let Some(button) = chosen.and_then(|(_, button)| button.get_untracked()) {
                // An element in the page takes the focus.
                let _ = button.focus();
            }
        });
    };
    let press = move |event: KeyboardEvent| {
        let all: Vec<T> = T::iter().collect();
        let Some(at) = all.iter().position(|tab| *tab == open.get_untracked()) else {
            return;
        };
        let next = match event.key().as_str() {
            "ArrowRight" => (at + 1) % all.len(),
            "ArrowLeft" => (at + all.len() - 1) % all.len(),
            "Home" => 0,
            "End" => all.len() - 1,
            _ => return,
        };
        // The arrows would scroll the page.
        event.prevent_default();
        if let Some(tab) = all.get(next) {
            choose(*tab);
        }
    };
    let buttons = tabs.into_iter().map(|(tab, node)| {
        let is_open = move || open.get() == tab;
        view! {
            <button
                type="button"
                role="tab"
                node_ref=node
                id=tab_id(tab)
                aria-selected=move || is_open().to_string()
                aria-controls=move || is_open().then(|| panel_id(tab))
                tabindex=move || if is_open() { "0" } else { "-1" }
                on:click=move |_| choose(tab)
            >
                {label(tab)}
            </button>
        }
    });
    view! {
        <div class="tabs" role="tablist" aria-labelledby=labelled_by on:keydown=press>
            {buttons.collect_view()}
        </div>
    }
}

/// Id of the tab of a value.
pub fn tab_id(value: impl Into<&'static str>) -> String {
    format!("tab-{}", value.into())
}

/// Id of the panel of a value.
pub fn panel_id(value: impl Into<&'static str>) -> String {
    format!("panel-{}", value.into())
}
