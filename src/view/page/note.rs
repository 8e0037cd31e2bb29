//! The note that the sender of a link adds to it.

use std::fmt;

/// One line of plain text, of which nothing is markup and nothing reorders the words around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note(String);

impl Note {
    /// Most characters of a note, as a visitor counts them: Unicode scalar values, not bytes.
    pub const MAX_CHARS: usize = 280;

    /// The first [`Note::MAX_CHARS`] characters of a text as one line; `None` if nothing of it is
    /// visible. `O(text)`.
    pub fn of(text: &str) -> Option<Self> {
        let visible = text.chars().filter(|&c| !is_unseen(c));
        // A line break is a control character, too, but it separates two words.
        let one_line: String = visible
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .filter(|c| !c.is_control())
            .collect();
        let note: String = one_line.trim().chars().take(Self::MAX_CHARS).collect();
        let note = note.trim_end();
        (!note.is_empty()).then(|| Self(note.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a character has no picture of its own but changes the order of others, or hides text
/// from the reader. The joiners U+200C and U+200D stay: scripts and emoji need them.
const fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{200B}' // zero-width space
            | '\u{202A}'..='\u{202E}' // embeddings and overrides
            | '\u{2060}'..='\u{206F}' // word joiner, invisible operators, isolates
            | '\u{FEFF}' // byte order mark
            | '\u{FFF9}'..='\u{FFFB}' // interlinear annotations
            | '\u{E0000}'..='\u{E007F}' // tags
    )
}
