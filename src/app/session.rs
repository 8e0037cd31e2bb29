//! What outlives a visit: the browser's storage, and share links.

use crate::app::history::Origin;
use crate::app::links::{
    MAX_LINK_BYTES, MAX_STATE_BYTES, ShareError, SharedState, fragment_of, packed_in, read_state,
    write_state,
};
use crate::app::state::{Notice, Page, Selection, Tab};
use crate::browser::{self, Later};
use crate::core::examples::{EXAMPLES, START, example};
use leptos::ev;
use leptos::prelude::*;
use std::time::Duration;

const TEXT: &str = "fuseline.text";
const CHOICES: &str = "fuseline.choices";
const EXAMPLE: &str = "fuseline.example";
const THEME: &str = "fuseline.theme";
const OPS_VIEW: &str = "fuseline.ops-view";
/// The visitor's own text from before a link replaced it.
const REPLACED: &str = "fuseline.replaced-text";

/// Changes are stored after a pause of this length.
const PAUSE: Duration = Duration::from_millis(300);

/// The state in a share link, or why it cannot be read.
pub type LinkState = Result<SharedState, ShareError>;

/// The state in the fragment of the address (the part after `#`); `None` when there is no fragment.
pub async fn state_in_address() -> Option<LinkState> {
    loop {
        // `#main` is the target of the skip link.
        let fragment = browser::fragment().filter(|f| f != "main")?;
        let state = unpacked(&fragment).await;
        // The visitor may have followed another link while this one was unpacked.
        if browser::fragment().as_ref() == Some(&fragment) {
            return Some(state);
        }
    }
}

async fn unpacked(fragment: &str) -> LinkState {
    read_state(browser::unpack(&packed_in(fragment)?, MAX_STATE_BYTES).await?)
}

/// The page as the visitor left it, or with the first example; then with the state of the link, if there is one.
pub fn open(link: Option<LinkState>) -> Page {
    let stored = browser::load(TEXT);
    let is_new = stored.is_none();
    let page =
        Page::new(stored.unwrap_or_else(|| example(START).map_or("", |e| e.text).to_owned()));
    page.text
        .with_untracked(|text| browser::remember_text(text));
    let started_as = browser::load(EXAMPLE);
    let started_as = if is_new {
        Some(START)
    } else {
        started_as.as_deref()
    };
    page.example.set(started_as.and_then(example).map(|e| e.id));
    if let Some(Ok(choices)) = browser::load(CHOICES).map(|c| read_state(c.into())) {
        apply_choices(page, choices);
    }
    let theme = browser::load(THEME).and_then(|name| name.parse().ok());
    page.theme.set(theme.unwrap_or_default());
    let view = browser::load(OPS_VIEW).and_then(|name| name.parse().ok());
    page.ops_view.set(view.unwrap_or_default());
    if let Some(link) = link {
        open_link(page, link);
    }
    page
}

/// Shows the state of a link. A broken link changes nothing.
fn open_link(page: Page, link: LinkState) {
    match link {
        Ok(state) => {
            let own = page.text.get_untracked();
            let is_other = own != state.text;
            let is_an_example = EXAMPLES.iter().any(|e| e.text == own);
            let example = EXAMPLES.iter().find(|e| e.text == state.text);
            page.replace(
                state.text.clone(),
                Origin::Single,
                example.map(|e| e.id),
                Some(state.policy),
            );
            let selected = state.selected_op.clone();
            apply_choices(page, state);
            if let Some(name) = selected {
                let op = page.analysis.with_untracked(|a| a.graph.op_named(&name));
                page.select(op.map_or(Selection::Nothing, Selection::Op));
            }
            if is_other && !is_an_example {
                browser::store(REPLACED, &own);
                page.notice.set(Some(Notice {
                    text: "Opened from a link. Your own text is one step back.".to_owned(),
                    is_failure: false,
                    offers_undo: true,
                }));
            }
            browser::clear_fragment();
            store(page);
        }
        Err(problem) => page.tell_failure(problem.message()),
    }
}

/// Stores the text and the choices when they have not changed for [`PAUSE`], and when the page is left.
pub fn keep(page: Page) {
    let later = Later::after(PAUSE);
    Effect::watch(
        move || {
            page.text.track();
            page.policy.track();
            page.fusion.track();
            page.conventions.track();
            page.device.track();
            page.is_fused.track();
            page.theme.track();
            page.ops_view.track();
            page.tab.track();
            page.example.track();
        },
        move |(), _, _| later.call(move || store(page)),
        false,
    );
    browser::on_window(ev::pagehide, move |_| store(page));
}

/// Opens a link that is followed while the page is open.
pub fn follow_links(page: Page) {
    browser::on_window(ev::hashchange, move |_| {
        browser::spawn(async move {
            if let Some(link) = state_in_address().await {
                open_link(page, link);
            }
        });
    });
}

/// A link to what the page shows.
///
/// # Errors
/// A sentence for the visitor when the text is too long for a link, or the browser cannot pack it.
pub async fn link(page: Page) -> Result<String, &'static str> {
    let fragment = packed(&shown(page))
        .await
        .map_err(|problem| match problem {
            ShareError::Unsupported => {
                "This browser is too old to make links. Export the text as a file instead."
            }
            _ => "The text is too long for a link. Export it as a file instead.",
        })?;
    Ok(format!("{}#{fragment}", browser::address()))
}

async fn packed(state: &SharedState) -> Result<String, ShareError> {
    let written = write_state(state)?.into_bytes();
    fragment_of(&browser::pack(written, MAX_LINK_BYTES).await?)
}

/// The state that a link stores.
fn shown(page: Page) -> SharedState {
    let mut state = choices(page);
    state.text = page.text.get_untracked();
    let selection = page.selection.get_untracked();
    state.selected_op =
        (page.analysis).with_untracked(|analysis| selection.op_name(analysis).map(str::to_owned));
    state
}

/// Storage may be full or forbidden; then the page works without it.
fn store(page: Page) {
    page.text.with_untracked(|text| browser::store(TEXT, text));
    if let Ok(choices) = write_state(&choices(page)) {
        browser::store(CHOICES, &choices);
    }
    browser::store(EXAMPLE, page.example.get_untracked().unwrap_or(""));
    browser::store(THEME, page.theme.get_untracked().into());
    browser::store(OPS_VIEW, page.ops_view.get_untracked().into());
}

/// The state that a link stores, without text and selection.
fn choices(page: Page) -> SharedState {
    SharedState {
        text: String::new(),
        policy: page.policy.get_untracked(),
        fusion: page.fusion.get_untracked(),
        conventions: page.conventions.get_untracked(),
        device: page.device.get_untracked(),
        is_unfused_view: !page.is_fused.get_untracked(),
        selected_op: None,
        open_tab: Some(page.tab.get_untracked())
            .filter(|&tab| tab != Tab::default())
            .map(|tab| <&str>::from(tab).to_owned()),
    }
}

fn apply_choices(page: Page, choices: SharedState) {
    page.policy.set(choices.policy);
    page.fusion.set(choices.fusion);
    page.conventions.set(choices.conventions);
    page.device.set(choices.device);
    page.is_fused.set(!choices.is_unfused_view);
    let tab = choices.open_tab.and_then(|name| name.parse().ok());
    page.tab.set(tab.unwrap_or_default());
}
