//! Documents: the programs that a visitor has worked on, as the browser keeps them.
//!
//! Each program is a document of its own, so that a link, an example or another tab never
//! overwrites a text. A tab has one document open; a change that leaves little of the text begins
//! another.

use crate::app::history::keeps_little;
use fuseline_core::examples::example_of;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Number of own texts that are kept.
pub const MAX_OWN: usize = 10;
/// Number of examples and links that are kept, for *Back*, and as many steps of lessons beside
/// them: a long lesson leaves the program that the visitor came from.
const MAX_OTHERS: usize = 5;

/// A stored program with what the visitor chose for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// When its text was last edited or opened, in milliseconds since 1970. Distinguishes versions
    /// of one document.
    pub changed_ms: u64,
    /// The example that the text started from.
    pub example: Option<String>,
    /// Whether the visitor wrote or edited the text, beyond the sliders of an example or a link.
    pub is_own: bool,
    /// Whether it is a step of a lesson, whose edits are exercises and no text of the visitor's
    /// own.
    #[serde(default)]
    pub is_exercise: bool,
    /// The step of a lesson of the page whose program it is, as a link names it: *Back* leads to
    /// the lesson.
    #[serde(default)]
    pub lesson: Option<String>,
    /// Policy, device and the like: the header of a link.
    pub choices: String,
    pub text: String,
}

/// A document and its id.
pub type Stored = (String, Document);

/// The document that a plain visit opens: the one that was changed last.
pub fn newest(documents: &[Stored]) -> Option<&Stored> {
    documents
        .iter()
        .max_by_key(|(_, document)| document.changed_ms)
}

/// The own texts, the latest first.
pub fn own_texts(documents: &[Stored]) -> Vec<&Stored> {
    let mut own = latest_first(documents);
    own.retain(|(_, document)| document.is_own);
    own
}

/// The ids of the documents that are no longer kept.
pub fn outdated(documents: &[Stored]) -> Vec<String> {
    let documents = latest_first(documents).into_iter();
    let (own, others): (Vec<_>, Vec<_>) = documents.partition(|(_, document)| document.is_own);
    let (exercises, opened): (Vec<_>, Vec<_>) =
        (others.into_iter()).partition(|(_, document)| document.is_exercise);
    let beyond = (own.into_iter().skip(MAX_OWN))
        .chain(opened.into_iter().skip(MAX_OTHERS))
        .chain(exercises.into_iter().skip(MAX_OTHERS));
    beyond.map(|(id, _)| id.clone()).collect()
}

fn latest_first(documents: &[Stored]) -> Vec<&Stored> {
    let mut documents: Vec<_> = documents.iter().collect();
    documents.sort_by_key(|(_, document)| Reverse(document.changed_ms));
    documents
}

/// The document that a tab has open.
#[derive(Clone, Debug)]
pub struct OpenDocument {
    /// Its id in storage.
    pub id: String,
    /// The text when the document was last looked at.
    text: String,
    /// The text of the example or link that it began as; `None` once the visitor has made it their
    /// own.
    began_as: Option<String>,
    /// `changed_ms` of the version that this tab read or wrote last; `None` before the first.
    stored_ms: Option<u64>,
    /// Whether the text has changed since then.
    is_changed: bool,
    /// As [`Document::is_exercise`].
    is_exercise: bool,
    /// As [`Document::lesson`].
    pub lesson: Option<String>,
}

/// What a tab does with its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storing {
    /// Writes it under its id.
    Write,
    /// Writes it under a new id, because another tab has written the stored one.
    Fork,
    /// Leaves the newer version of another tab.
    Leave,
}

impl OpenDocument {
    /// A document that is not stored yet. `is_link` if the text is that of a link.
    pub fn new(id: String, text: &str, is_link: bool) -> Self {
        let is_known = is_link || example_of(text).is_some();
        Self {
            id,
            text: text.to_owned(),
            began_as: is_known.then(|| text.to_owned()),
            stored_ms: None,
            is_changed: true,
            is_exercise: false,
            lesson: None,
        }
    }

    /// The program of a step of a lesson.
    pub fn exercise(id: String, text: &str) -> Self {
        Self {
            is_exercise: true,
            ..Self::new(id, text, true)
        }
    }

    pub fn stored(id: &str, document: &Document) -> Self {
        Self {
            id: id.to_owned(),
            text: document.text.clone(),
            began_as: (!document.is_own).then(|| document.text.clone()),
            stored_ms: Some(document.changed_ms),
            is_changed: false,
            is_exercise: document.is_exercise,
            lesson: document.lesson.clone(),
        }
    }

    /// The same document, which a plain visit opens from now on: it was opened last.
    #[must_use]
    pub fn opened_again(self) -> Self {
        Self {
            is_changed: true,
            ..self
        }
    }

    /// Whether the text is the visitor's own.
    pub const fn is_own(&self) -> bool {
        self.began_as.is_none()
    }

    /// Whether it is a step of a lesson.
    pub const fn is_exercise(&self) -> bool {
        self.is_exercise
    }

    /// The text when the document was last looked at.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a change to `text` replaces the program, and so begins another document.
    pub fn is_replaced_by(&self, text: &str) -> bool {
        self.text != text && keeps_little(&self.text, text)
    }

    /// Takes the present text.
    pub fn follow(&mut self, text: &str) {
        if self.text == text {
            return;
        }
        text.clone_into(&mut self.text);
        self.is_changed = true;
        if let Some(origin) = &self.began_as
            && !self.is_exercise
            && differs_beyond_sliders(origin, text)
        {
            self.began_as = None;
        }
    }

    /// What to do, given `changed_ms` of the stored version.
    pub fn storing(&self, in_storage_ms: Option<u64>) -> Storing {
        match in_storage_ms {
            stored_ms if stored_ms == self.stored_ms => Storing::Write,
            _ if !self.is_changed => Storing::Leave,
            Some(_) => Storing::Fork,
            None => Storing::Write,
        }
    }

    /// The time of the version that is written now: a change of the choices alone is no newer text.
    pub fn time_ms(&self, now_ms: u64) -> u64 {
        self.stored_ms
            .filter(|_| !self.is_changed)
            .unwrap_or(now_ms)
    }

    /// The version of this time is in storage.
    pub const fn was_stored(&mut self, changed_ms: u64) {
        self.stored_ms = Some(changed_ms);
        self.is_changed = false;
    }
}

/// Whether two texts differ in more than the values of params.
fn differs_beyond_sliders(before: &str, after: &str) -> bool {
    let is_same = |(b, a): (&str, &str)| {
        let name = param_name(b);
        b == a || (name.is_some() && name == param_name(a))
    };
    before.lines().count() != after.lines().count()
        || !before.lines().zip(after.lines()).all(is_same)
}

/// The name of the param that a line declares.
fn param_name(line: &str) -> Option<&str> {
    line.strip_prefix("param ")?.split('=').next()
}
