//! The line below the bar: what to watch for, what has just happened, or that the pictures are old.

use super::editor::go_to;
use crate::app::state::{Notice, Page};
use crate::browser::{self, Later, Place, listen};
use crate::core::Severity;
use crate::core::examples::example;
use crate::markup::Markup;
use leptos::prelude::*;
use std::time::Duration;

/// How long good news stay.
const NEWS: Duration = Duration::from_secs(8);

/// One line that is always there, so that nothing below it moves.
#[component]
pub fn Strip(
    /// The page that it speaks of.
    page: Page,
) -> impl IntoView {
    let later = Later::after(NEWS);
    let (mut news, mut standing) = (Place::new("notice"), Place::new("strip-standing"));
    Effect::new(move || {
        let notice = page.notice.get();
        later.cancel();
        if (notice.as_ref()).is_some_and(|n| !n.is_failure && !n.offers_undo) {
            later.call(move || page.notice.set(None));
        }
        news.show(notice.as_ref().map_or_else(Markup::new, notice_markup));
        standing.show(if notice.is_some() {
            Markup::new()
        } else {
            standing_markup(page)
        });
    });
    listen(
        "strip",
        &["click"],
        move |event| match browser::closest_id(event, "button").as_deref() {
            Some("notice-undo") => {
                page.undo();
            }
            Some("notice-dismiss") => {
                page.keep_focus();
                page.notice.set(None);
            }
            Some("show-error") => show_error(page),
            _ => {}
        },
    );
    view! {
        <div class="strip" id="strip">
            // The live region stands always; what is put into it later is read out.
            <div class="notice" id="notice" role="status" aria-live="polite"></div>
            <div class="strip-standing" id="strip-standing"></div>
        </div>
    }
}

fn notice_markup(notice: &Notice) -> Markup {
    let mut markup = Markup::new();
    let class = if notice.is_failure { "is-failure" } else { "" };
    markup.fill(r#"<p class="{}"><span>{}</span>"#, &[class, &notice.text]);
    if notice.offers_undo {
        markup.raw(r#"<button type="button" id="notice-undo">Undo</button>"#);
    }
    markup.raw(r#"<button type="button" class="icon-button" id="notice-dismiss" aria-label="Dismiss"><span aria-hidden="true">×</span></button></p>"#);
    markup
}

fn standing_markup(page: Page) -> Markup {
    let mut markup = Markup::new();
    if page.is_stale.get() {
        markup.raw(r#"<p class="stale-note"><span>The text has an error. Everything else shows the last text without one.</span><button type="button" id="show-error">Show the error</button></p>"#);
    } else if let Some(example) = page.example.get().and_then(example) {
        markup.fill(
            r#"<p><span class="strip-label">Watch for </span><span>{}</span></p>"#,
            &[example.watch],
        );
    }
    markup
}

fn show_error(page: Page) {
    let span = page.diagnostics.with_untracked(|all| {
        let mut all = all.iter();
        all.find(|d| d.severity == Severity::Error)?.span
    });
    if let Some(span) = span {
        go_to(page, span);
    }
}
