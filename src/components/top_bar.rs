//! The bar at the top: what is analysed, under which choices, and what can be done with it.

use super::bar_choices::{add_choices, choose};
use super::device_figures::{FIGURES_ID, figures, set_custom_figure};
use super::editor::follow_change;
use super::export_menu::{export_analysis, export_ops, export_text};
use super::fusion_options;
use super::share_button::{FIELD_ID, SLOT_ID, share};
use crate::app::state::{Page, Theme};
use crate::browser::{self, Event, Place};
use crate::markup::{ABSENT, Markup};
use leptos::prelude::*;

const BAR_ID: &str = "top-bar";

/// Pickers, undo and redo, share, export and theme.
#[component]
pub fn TopBar(
    /// The page that is steered.
    page: Page,
) -> impl IntoView {
    let mut bar = Place::new(BAR_ID);
    Effect::new(move || {
        bar.show(markup(page));
    });
    let mut device = Place::new(FIGURES_ID);
    Effect::new(move || {
        device.show(page.device.with(figures));
    });
    fusion_options::follow(page);
    browser::listen(BAR_ID, &["click", "change", "input"], move |event| {
        if browser::closest_id(event, fusion_options::SELECTOR).is_some() {
            fusion_options::hear(page, event);
        } else if event.type_() == "change" {
            change(page, event);
        } else if event.type_() == "click"
            && let Some(button) = browser::closest_id(event, "button")
        {
            press(page, &button);
        }
    });
    view! { <header class="top-bar" id="top-bar"></header> }
}

fn markup(page: Page) -> Markup {
    let mut bar = Markup::new();
    bar.raw(r#"<h1>Fuseline</h1><div class="bar-choices">"#);
    add_choices(&mut bar, page);
    // Disabled in fact, it would lose the focus with the last step.
    let disabled_unless = |can: Memo<bool>| if can.get() { ABSENT } else { "true" };
    bar.fill(
        r#"</div><div class="bar-end"><button type="button" class="icon-button" id="bar-undo" title="Undo (Ctrl+Z)" aria-label="Undo" aria-keyshortcuts="Control+Z" aria-disabled="{}"><span aria-hidden="true">↶</span></button><button type="button" class="icon-button" id="bar-redo" title="Redo (Ctrl+Shift+Z)" aria-label="Redo" aria-keyshortcuts="Control+Shift+Z Control+Y" aria-disabled="{}"><span aria-hidden="true">↷</span></button>"#,
        &[disabled_unless(page.can_undo), disabled_unless(page.can_redo)],
    );
    bar.fill(
        r#"<button type="button" id="bar-share">Share</button><div class="share-field" id="{}" hidden><label for="{}">Copy this link:</label><input type="text" id="{}" readonly><button type="button" id="bar-shared">Done</button></div>"#,
        &[SLOT_ID, FIELD_ID, FIELD_ID],
    );
    bar.raw(r#"<details class="menu at-end"><summary class="button">Export</summary><div class="menu-panel menu-list"><button type="button" id="export-text">Text <small>the notation, as it stands</small></button><button type="button" id="export-analysis">Analysis <small>JSON, every number</small></button><button type="button" id="export-ops">Op list <small>JSON, shapes resolved</small></button></div></details>"#);
    let theme = page.theme.get();
    let sign = match theme {
        Theme::Auto => "◐",
        Theme::Light => "☀",
        Theme::Dark => "☾",
    };
    let title = ["Colours: ", theme.into()].concat();
    bar.fill(
        r#"<button type="button" class="icon-button" id="bar-theme" title="{}" aria-label="{}"><span aria-hidden="true">{}</span></button></div>"#,
        &[&title, &[&title, ". Change"].concat(), sign],
    );
    bar
}

fn change(page: Page, event: &Event) {
    let Some(id) = browser::closest_id(event, "input, select") else {
        return;
    };
    if let Some(place) = browser::closest_number(event, "data-figure") {
        set_custom_figure(page, place, event);
    } else if id != FIELD_ID {
        choose(page, &id, event);
    }
}

fn press(page: Page, button: &str) {
    match button {
        "bar-undo" => step(page, Page::undo),
        "bar-redo" => step(page, Page::redo),
        "bar-share" => share(page),
        "bar-shared" => browser::set_flag(SLOT_ID, "hidden", true),
        "export-text" => export_text(page),
        "export-analysis" => export_analysis(page),
        "export-ops" => export_ops(page),
        "bar-theme" => page.theme.set(match page.theme.get_untracked() {
            Theme::Auto => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::Auto,
        }),
        _ => {}
    }
}

fn step(page: Page, step: fn(Page) -> bool) {
    let before = page.text.get_untracked();
    if step(page) {
        follow_change(page, &before);
    }
}
