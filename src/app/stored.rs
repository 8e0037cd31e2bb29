//! The documents in the browser's storage, each under a key of its own, and progress.

use crate::app::documents::{Document, Stored};
use crate::app::storage_keys::DOCUMENT;
use fuseline_browser as browser;
use fuseline_core::examples::{example, example_of};
use fuseline_view::page::links::{SharedState, read_state};
use leptos::prelude::*;

/// Stores a value under a key of its own whenever it changes. Where storage refuses, the next visit
/// begins anew.
pub(super) fn follow<T: Send + Sync + 'static>(
    key: &'static str,
    value: RwSignal<T>,
    write: fn(&T) -> String,
) {
    Effect::watch(
        move || value.with(write),
        move |written, _, _| {
            let _ = browser::store(key, written);
        },
        false,
    );
}

/// All documents, in no order.
pub(super) fn documents() -> Vec<Stored> {
    let keys = browser::stored_keys(DOCUMENT).into_iter();
    keys.filter_map(|key| {
        let id = key.strip_prefix(DOCUMENT)?;
        Some((id.to_owned(), document(id)?))
    })
    .collect()
}

/// The document of this id. `None` where there is none, or something else has written there.
pub(super) fn document(id: &str) -> Option<Document> {
    serde_json::from_str(&browser::load(&key(id))?).ok()
}

/// Stores a document, and says whether the browser took it.
pub(super) fn store(id: &str, document: &Document) -> bool {
    serde_json::to_string(document).is_ok_and(|json| browser::store(&key(id), &json))
}

/// Removes a document for good.
pub(super) fn forget(id: &str) {
    browser::forget(&key(id));
}

fn key(id: &str) -> String {
    format!("{DOCUMENT}{id}")
}

impl Document {
    /// Its text with what was chosen for it.
    pub(super) fn state(&self) -> SharedState {
        SharedState {
            text: self.text.clone(),
            ..read_state(self.choices.clone().into()).unwrap_or_default()
        }
    }

    /// The id of the example that it started from.
    pub(super) fn example(&self) -> Option<&'static str> {
        let stored = self.example.as_deref().and_then(example);
        stored.or_else(|| example_of(&self.text)).map(|e| e.id)
    }
}
