//! Share links: reads the one in the address, makes one of what the page shows.

use crate::app::links::{
    MAX_LINK_BYTES, MAX_STATE_BYTES, ShareError, SharedState, fragment_of, packed_in, read_state,
    write_state,
};
use crate::app::state::{Page, Tab};
use crate::browser;
use leptos::prelude::*;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A link that the visitor has followed.
pub struct Link {
    /// The state in it, or why it cannot be read.
    pub state: Result<SharedState, ShareError>,
    /// A short name for it: the same link has the same name.
    pub name: String,
}

impl Link {
    /// The link in the fragment of the address (the part after `#`); `None` when there is no fragment.
    pub async fn in_address() -> Option<Self> {
        loop {
            // `#main` is the target of the skip link.
            let fragment = browser::fragment().filter(|f| f != "main")?;
            let state = unpacked(&fragment).await;
            // The visitor may have followed another link while this one was unpacked.
            if browser::fragment().as_ref() == Some(&fragment) {
                let name = format!("link.{:x}", FxBuildHasher.hash_one(&fragment));
                return Some(Self { state, name });
            }
        }
    }
}

async fn unpacked(fragment: &str) -> Result<SharedState, ShareError> {
    read_state(browser::unpack(&packed_in(fragment)?, MAX_STATE_BYTES).await?)
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

/// The state that a link stores, without text and selection.
pub(super) fn choices(page: Page) -> SharedState {
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

/// Chooses what the state says, all but its text.
pub(super) fn choose(page: Page, choices: SharedState) {
    page.policy.set(choices.policy);
    page.fusion.set(choices.fusion);
    page.conventions.set(choices.conventions);
    page.device.set(choices.device);
    page.is_fused.set(!choices.is_unfused_view);
    let tab = choices.open_tab.and_then(|name| name.parse().ok());
    page.tab.set(tab.unwrap_or_default());
}
