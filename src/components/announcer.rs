//! Telling screen readers of a change, once it has come to rest.

use crate::browser::{Later, set_text};
use std::time::Duration;

/// A pause after which what changes is read out.
const QUIET: Duration = Duration::from_millis(900);

/// Speaks through the live region of its id.
pub struct Announcer {
    id: &'static str,
    later: Later,
    last: Option<String>,
}

impl Announcer {
    /// The voice of the element of this id, which has `role="status"` and holds nothing else.
    pub fn new(id: &'static str) -> Self {
        Self {
            id,
            later: Later::after(QUIET),
            last: None,
        }
    }

    /// Says `text` after a pause, unless it is the first one, which a visitor meets on the page, or was said last.
    pub fn say(&mut self, text: String) {
        let is_news = self.last.as_ref().is_some_and(|last| *last != text);
        if is_news {
            let (id, spoken) = (self.id, text.clone());
            self.later.call(move || set_text(id, &spoken));
        }
        self.last = Some(text);
    }
}
