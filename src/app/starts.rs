//! Starts that did not finish: a program that stops the page shall not stop every later visit.
//!
//! A mark is stored before a program is shown and removed after its first picture. A mark that is
//! found later belongs to a start that never came so far.

use crate::app::storage_keys::STARTING;
use fuseline_browser as browser;

/// A start that holds the page for longer counts as one that did not finish.
const LONGEST_MS: u64 = 10_000;
/// A younger mark may be of another tab that is about to finish: browsers restore all their tabs at
/// once.
const YOUNGEST_MS: u64 = 3_000;
/// Older marks are removed.
const OLDEST_MS: u64 = 30 * 24 * 3600 * 1000;

/// A program whose first picture is not drawn yet.
#[derive(Clone, Debug)]
pub struct Start {
    name: String,
    began_ms: u64,
    /// When the page first answered.
    answered_ms: Option<u64>,
}

impl Start {
    /// Leaves the mark. `name` is the id of a document or the name of a link.
    pub fn begin(name: &str) -> Self {
        let began_ms = browser::clock_ms();
        // Without storage no later visit opens the program by itself.
        let _ = browser::store(&key(name), &began_ms.to_string());
        Self {
            name: name.to_owned(),
            began_ms,
            answered_ms: None,
        }
    }

    /// The page answers, though its worker may still compute.
    pub fn answer(&mut self) {
        self.answered_ms.get_or_insert_with(browser::clock_ms);
    }

    /// The picture is drawn, or the visitor has left a page that still answered.
    pub fn end(&self) {
        let answered_ms = self.answered_ms.unwrap_or_else(browser::clock_ms);
        if answered_ms.saturating_sub(self.began_ms) < LONGEST_MS {
            browser::forget(&key(&self.name));
        }
    }
}

/// Whether the last start of this document or link did not finish.
pub fn is_unfinished(name: &str) -> bool {
    age_ms(&key(name)).is_some_and(|age| age > YOUNGEST_MS)
}

/// Removes marks of documents and links that were not opened for long.
pub fn forget_old() {
    for key in browser::stored_keys(STARTING) {
        if age_ms(&key).is_none_or(|age| age > OLDEST_MS) {
            browser::forget(&key);
        }
    }
}

fn age_ms(key: &str) -> Option<u64> {
    let began_ms = browser::load(key)?.parse().ok()?;
    Some(browser::clock_ms().saturating_sub(began_ms))
}

fn key(name: &str) -> String {
    format!("{STARTING}{name}")
}
