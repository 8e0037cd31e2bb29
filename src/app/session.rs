//! What the page starts with and what it leaves behind: the visitor's storage, and links.

use crate::app::history::Origin;
use crate::app::links::{
    MAX_LINK_BYTES, MAX_STATE_BYTES, ShareError, SharedState, fragment_of, packed_in, read_state,
    write_state,
};
use crate::app::state::{Notice, OpsView, Page, Selection, Tab, Theme};
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

/// A pause in the edits after which they are stored.
const PAUSE: Duration = Duration::from_millis(300);

/// What the address carried, unpacked.
pub type Carried = Result<SharedState, ShareError>;

/// What the address carries behind `#`, unpacked; `None` when there is nothing.
pub async fn carried() -> Option<Carried> {
    loop {
        // The skip link and other places in the page are no state.
        let fragment = browser::fragment().filter(|f| f != "main")?;
        let state = unpacked(&fragment).await;
        // Another link may have been followed meanwhile.
        if browser::fragment().as_ref() == Some(&fragment) {
            return Some(state);
        }
    }
}

async fn unpacked(fragment: &str) -> Carried {
    read_state(browser::unpack(&packed_in(fragment)?, MAX_STATE_BYTES).await?)
}

/// The page as the visitor left it, or with the first example; then what the address carried.
pub fn open(carried: Option<Carried>) -> Page {
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
    if let Some(theme) = browser::load(THEME)
        && let Ok(theme) = theme.parse::<Theme>()
    {
        page.theme.set(theme);
    }
    if let Some(view) = browser::load(OPS_VIEW)
        && let Ok(view) = view.parse::<OpsView>()
    {
        page.ops_view.set(view);
    }
    if let Some(carried) = carried {
        open_link(page, carried);
    }
    page
}

/// Shows what a link carried. A broken one leaves the page as it is.
fn open_link(page: Page, carried: Carried) {
    match carried {
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
                page.selection
                    .set(op.map_or(Selection::Nothing, Selection::Op));
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

/// Stores the text and the choices whenever they have come to rest, and when the page is left.
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
            if let Some(carried) = carried().await {
                open_link(page, carried);
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

/// All that a link carries.
fn shown(page: Page) -> SharedState {
    let mut state = choices(page);
    state.text = page.text.get_untracked();
    state.selected_op = page.analysis.with_untracked(|analysis| {
        let op = match page.selection.get_untracked() {
            Selection::Nothing => None,
            Selection::Op(op) | Selection::Edge { producer: op, .. } => Some(op),
            Selection::Kernel(kernel) => analysis.fused.kernels.get(kernel)?.ops.first().copied(),
        };
        Some(analysis.graph.ops.get(op?)?.name.clone())
    });
    state
}

/// Storage may refuse; then the page works on without it.
fn store(page: Page) {
    page.text.with_untracked(|text| browser::store(TEXT, text));
    if let Ok(choices) = write_state(&choices(page)) {
        browser::store(CHOICES, &choices);
    }
    browser::store(EXAMPLE, page.example.get_untracked().unwrap_or(""));
    browser::store(THEME, page.theme.get_untracked().into());
    browser::store(OPS_VIEW, page.ops_view.get_untracked().into());
}

/// All choices that links carry, without the text.
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

/// Keeps the selection on what it stands for while edits move ids: by the op's name, else on nothing.
pub fn follow_selection(page: Page) {
    let name_of = move |selection: Selection| {
        page.analysis.with(|analysis| {
            let op = match selection {
                Selection::Nothing => return None,
                Selection::Op(op) | Selection::Edge { producer: op, .. } => op,
                Selection::Kernel(kernel) => *analysis.fused.kernels.get(kernel)?.ops.first()?,
            };
            Some(analysis.graph.ops.get(op)?.name.clone())
        })
    };
    let (mut last, mut last_name) = (Selection::Nothing, None);
    Effect::new(move || {
        let mut selection = page.selection.get();
        let mut name = name_of(selection);
        if let Some(moved) = last_name.take()
            && selection == last
            && name.as_ref() != Some(&moved)
        {
            // The ids have moved under the selection.
            let found = page.analysis.with(|analysis| {
                let op = analysis.graph.op_named(&moved)?;
                Some(match selection {
                    Selection::Kernel(_) => {
                        Selection::Kernel(*analysis.partition.group_of.get(op)?)
                    }
                    _ => Selection::Op(op),
                })
            });
            selection = found.unwrap_or_default();
            page.selection.set(selection);
            name = name_of(selection);
        }
        (last, last_name) = (selection, name);
    });
}
