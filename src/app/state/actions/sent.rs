//! Compares the page with the link that it was opened from.

use crate::app::history::Choices;
use crate::app::state::origin::Sent;
use crate::app::state::page::Page;
use fuseline_browser as browser;
use fuseline_view::page::note::Note;
use leptos::prelude::*;

impl Page {
    /// Whether text, policy, options, conventions or device are no longer those of the link that
    /// was opened. Tracked.
    pub fn differs_from_sent(self) -> bool {
        self.origin.sent.with(|sent| {
            sent.link.as_ref().is_some_and(|sent| {
                let now = Choices {
                    policy: self.chosen.policy.get(),
                    fusion: self.chosen.fusion.get(),
                    conventions: self.chosen.conventions.get(),
                    device: self.chosen.device.get(),
                    ..sent.choices.clone()
                };
                now != sent.choices || self.text.with(|text| *text != sent.text)
            })
        })
    }

    /// What stands before the sender's note. Tracked.
    pub fn note_label(self) -> &'static str {
        if self.differs_from_sent() {
            "Note before changes: "
        } else {
            "Note from the sender: "
        }
    }

    /// The sender's note, unless the visitor has hidden it. Tracked.
    pub fn shown_note(self) -> Option<Note> {
        self.origin
            .sender_note
            .get()
            .filter(|_| !self.origin.sent.with(|sent| sent.is_note_hidden))
    }

    /// The sender's note as a reload brings it back: while the page shows what it is about.
    pub fn kept_note(self) -> Option<Note> {
        untrack(|| self.shown_note().filter(|_| !self.differs_from_sent()))
    }

    /// What the page shows counts as what a link opened, where it has the note of one or its
    /// address is the link.
    pub fn resume_sent(self) {
        if self.origin.sender_note.with_untracked(Option::is_some) || browser::fragment().is_some()
        {
            self.origin.sent.set(Sent {
                link: Some(self.present_step()),
                is_note_hidden: false,
            });
        }
    }
}
