//! The commands of a presenter, by keys of the page or of the window with the notes.

use fuseline_view::page::view::View;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PresenterCommand {
    /// The answer to the task of the step, then the next step; without a lesson the fused program.
    Next,
    /// The step before; without a lesson the unfused program.
    Previous,
    /// Shows a view or takes it off.
    Toggle(View),
    /// Changes between the unfused and the fused program.
    ToggleFused,
    /// Shows the lesson or takes it off.
    ToggleLesson,
    /// Shows or hides the large pointer.
    TogglePointer,
    /// Makes the screen blank, so that all look at the speaker, or shows it again.
    ToggleBlank,
    /// Opens the window with the notes.
    OpenNotes,
    /// Shows or hides the code that leads a phone to the present state.
    ToggleQrCode,
    /// Goes back to the page.
    End,
}

/// A command, its key and what to call it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub command: PresenterCommand,
    /// Its keys, as events name them. Remote controls send `PageDown`, `PageUp` and `.`.
    pub keys: &'static [&'static str],
    /// Its first key, as it is printed on keyboards.
    pub printed: &'static str,
    /// Its effect, in a word or two.
    pub label: &'static str,
}

/// The commands that are no views.
pub const KEYS: &[Key] = &[
    Key {
        command: PresenterCommand::Previous,
        keys: &["ArrowLeft", "PageUp"],
        printed: "←",
        label: "Back",
    },
    Key {
        command: PresenterCommand::Next,
        keys: &["ArrowRight", "PageDown"],
        printed: "→",
        label: "Next",
    },
    Key {
        command: PresenterCommand::ToggleFused,
        keys: &["f"],
        printed: "F",
        label: "Fused or not",
    },
    Key {
        command: PresenterCommand::ToggleLesson,
        keys: &["t"],
        printed: "T",
        label: "Lesson",
    },
    Key {
        command: PresenterCommand::TogglePointer,
        keys: &["p"],
        printed: "P",
        label: "Pointer",
    },
    Key {
        command: PresenterCommand::ToggleBlank,
        keys: &["b", "."],
        printed: "B",
        label: "Blank",
    },
    Key {
        command: PresenterCommand::OpenNotes,
        keys: &["n"],
        printed: "N",
        label: "Notes",
    },
    Key {
        command: PresenterCommand::ToggleQrCode,
        keys: &["q"],
        printed: "Q",
        label: "QR code",
    },
    Key {
        command: PresenterCommand::End,
        keys: &["Escape"],
        printed: "Esc",
        label: "End",
    },
];

impl PresenterCommand {
    /// The views with their keys: the digits from 1 to 9, then 0.
    pub fn views() -> impl Iterator<Item = (View, &'static str)> {
        const DIGITS: [&str; 10] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"];
        View::VARIANTS.iter().copied().zip(DIGITS)
    }

    /// The command of a key, as its event names it.
    pub fn of_key(key: &str) -> Option<Self> {
        if let Some((view, _)) = Self::views().find(|&(_, digit)| digit == key) {
            return Some(Self::Toggle(view));
        }
        let key = if key.chars().count() == 1 {
            key.to_ascii_lowercase()
        } else {
            key.to_owned()
        };
        let found = KEYS.iter().find(|known| known.keys.contains(&&*key))?;
        Some(found.command)
    }
}
