//! The page as a whole.

use crate::app::session;
use crate::app::state::{Page, Selection, Theme};
use crate::browser::{self, event_as, listen_to_window, set_class};
use crate::components::charts::Charts;
use crate::components::editor::follow_change;
use crate::components::graph::GraphPanel;
use crate::components::headline::Headline;
use crate::components::ops::Ops;
use crate::components::results::Results;
use crate::components::sliders::Sliders;
use crate::components::strip::Strip;
use crate::components::top_bar::TopBar;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

/// Ids of the panels that turn grey while they are older than the text.
const STALE_PANELS: [&str; 3] = ["headline", "charts", "graph-slot"];

/// Everything on the page.
#[component]
pub fn App(
    /// What the address carried.
    carried: Option<session::Carried>,
) -> impl IntoView {
    let page = session::open(carried);
    provide_context(page);
    session::keep(page);
    session::follow_selection(page);
    Effect::new(move || {
        let theme = page.theme.get();
        browser::set_root_attribute("data-theme", (theme != Theme::Auto).then(|| theme.into()));
    });
    Effect::new(move || {
        let is_stale = page.is_stale.get();
        for id in STALE_PANELS {
            set_class(id, "is-stale", is_stale);
        }
    });
    listen_to_window(&["keydown", "pointerdown"], move |event| {
        match event_as::<KeyboardEvent>(event) {
            Some(key) => press(page, &key),
            None => browser::close_menus(Some(event)),
        }
    });
    view! {
        <a class="skip-link" href="#main">"Skip to the result"</a>
        <TopBar page />
        <main id="main" class="page" tabindex="-1">
            <Strip page />
            <Headline page />
            <div class="workbench">
                <Sliders page />
                <GraphPanel page />
                <Charts page />
                <Ops page />
            </div>
            <Results />
        </main>
    }
}

/// The keys that work everywhere. A field with words of its own to take back stops its keys before.
fn press(page: Page, event: &KeyboardEvent) {
    if event.key() == "Escape" {
        browser::close_menus(None);
        if !browser::has_focus_in_text_field() {
            page.selection.set(Selection::Nothing);
        }
        return;
    }
    if !(event.ctrl_key() || event.meta_key()) || event.alt_key() {
        return;
    }
    let step = match (event.key().to_ascii_lowercase().as_str(), event.shift_key()) {
        ("z", false) => Page::undo,
        ("z", true) | ("y", false) => Page::redo,
        ("enter", false) => {
            event.prevent_default();
            page.is_fused.update(|is_fused| *is_fused = !*is_fused);
            return;
        }
        _ => return,
    };
    event.prevent_default();
    let before = page.text.get_untracked();
    if step(page) {
        follow_change(page, &before);
    }
}
