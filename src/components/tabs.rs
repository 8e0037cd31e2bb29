//! A row of tabs.

use fuseline_browser as browser;
use leptos::either::Either;
use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use strum::IntoEnumIterator;

/// A tab for each value of `T`, opened by pointer or arrow keys. The caller shows the panel, with
/// [`panel_id`] as its id and [`tab_id`] in `aria-labelledby`.
#[component]
pub fn TabList<T>(
    /// The value whose panel is shown.
    open: RwSignal<T>,
    /// The label of a tab.
    label: fn(T) -> &'static str,
    /// The title of the group of a tab. Without it no tab has one.
    #[prop(optional)]
    group: Option<fn(T) -> &'static str>,
    /// Id of the heading that names the tabs.
    labelled_by: &'static str,
) -> impl IntoView
where
    T: IntoEnumIterator + Into<&'static str> + Copy + PartialEq + Send + Sync + 'static,
{
    let tabs: Vec<_> = (T::iter())
        .map(|tab| (tab, NodeRef::<html::Button>::new()))
        .collect();
    let buttons = StoredValue::new(tabs.clone());
    let button_of = move |tab: T| {
        buttons.with_value(|buttons| {
            let button = buttons.iter().find(|(value, _)| *value == tab);
            button.map(|(_, button)| *button)
        })
    };
    let row = NodeRef::<html::Div>::new();
    // A row that is wider than a phone scrolls. The page opens tabs, too, as for a measurement that
    // was dropped.
    Effect::new(move || {
        let button = button_of(open.get()).and_then(|button| button.get());
        if let (Some(row), Some(button)) = (row.get(), button) {
            browser::reveal_in(&row, &button);
        }
    });
    let choose = move |tab: T| {
        open.set(tab);
        // A key opens another tab than the focused one, and some browsers do not focus a clicked
        // button.
        if let Some(button) = button_of(tab) {
            browser::focus(button);
        }
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
        // Keeps the page from scrolling.
        event.prevent_default();
        if let Some(tab) = all.get(next) {
            choose(*tab);
        }
    };
    let button = move |(tab, node): (T, NodeRef<html::Button>)| {
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
    };
    let title_of = move |tab: T| group.map(|group| group(tab));
    let groups = tabs.chunk_by(|(a, _), (b, _)| title_of(*a) == title_of(*b));
    let groups = groups.map(|tabs| {
        let buttons = tabs.iter().copied().map(button).collect_view();
        match tabs.first().and_then(|(tab, _)| title_of(*tab)) {
            None => Either::Left(buttons),
            // A list of tabs holds nothing else for a screen reader.
            Some(title) => Either::Right(view! {
                <div class="tab-group" role="presentation">
                    <span class="tab-group-title" aria-hidden="true">{title}</span>
                    <div role="presentation">{buttons}</div>
                </div>
            }),
        }
    });
    view! {
        <div class="tabs" role="tablist" node_ref=row aria-labelledby=labelled_by on:keydown=press>
            {groups.collect_view()}
        </div>
    }
}

pub fn tab_id(value: impl Into<&'static str>) -> String {
    format!("tab-{}", value.into())
}

pub fn panel_id(value: impl Into<&'static str>) -> String {
    format!("panel-{}", value.into())
}
