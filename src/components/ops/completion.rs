//! The list of completions at the caret of the text area.
//!
//! The text area keeps the focus: screen readers follow the list by `aria-activedescendant`, and
//! keys that do not choose from it write into the text.

use crate::app::history::Origin;
use crate::app::state::{Page, SetIfChanged};
use crate::components::announcer::Announcer;
use fuseline_browser::reveal_in;
use fuseline_core::{Completion, complete, edited};
use fuseline_view::picture::code::{column_of, line_of};
use leptos::ev::KeyboardEvent;
use leptos::html::Ul;
use leptos::prelude::*;

/// The id of the list, for `aria-controls`.
pub(super) const LIST_ID: &str = "completions";

/// Letters after which the list opens by itself.
const LETTERS: usize = 2;

/// The completions at the caret.
#[derive(Clone, Copy)]
pub struct Completions {
    page: Page,
    /// The list; empty while it is closed.
    items: RwSignal<Vec<Completion>>,
    /// The one that Enter takes; none until an arrow key chooses.
    chosen: RwSignal<Option<usize>>,
}

impl Completions {
    pub(super) fn new(page: Page) -> Self {
        Self {
            page,
            items: RwSignal::new(Vec::new()),
            chosen: RwSignal::new(None),
        }
    }

    /// Whether the list is open. Tracked.
    pub(super) fn is_open(self) -> bool {
        self.items.with(|items| !items.is_empty())
    }

    /// The id of the chosen option. Tracked.
    pub(super) fn active_id(self) -> Option<String> {
        self.chosen.get().map(option_id)
    }

    /// Closes the list.
    pub(super) fn close(self) {
        if !self.items.with_untracked(Vec::is_empty) {
            self.items.set(Vec::new());
        }
        self.chosen.set_if_changed(None);
    }

    /// Opens the list at a byte of the text, if anything may be written there.
    pub(super) fn open(self, caret: usize) {
        self.chosen.set_if_changed(None);
        let items = self.page.text.with_untracked(|text| complete(text, caret));
        self.items.set(items);
    }

    /// Follows the typing: the list opens behind the first letters of a word, and closes where no
    /// word is.
    pub(super) fn typed(self, caret: usize) {
        let is_in_word = self.page.text.with_untracked(|text| {
            let before = text.get(..caret).unwrap_or_default().chars().rev();
            let is_of_word = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '.');
            before.take_while(is_of_word).take(LETTERS).count() == LETTERS
        });
        if is_in_word {
            self.open(caret);
        } else {
            self.close();
        }
    }

    /// Handles a key of the text area at a byte of the text, if it is for the list.
    pub(super) fn press(self, event: &KeyboardEvent, caret: usize) {
        if event.is_composing() {
            return;
        }
        let is_plain = !(event.ctrl_key() || event.meta_key() || event.alt_key());
        if event.ctrl_key() && event.key() == " " {
            event.prevent_default();
            self.open(caret);
            return;
        }
        let count = self.items.with_untracked(Vec::len);
        if count == 0 {
            return;
        }
        let chosen = self.chosen.get_untracked();
        match event.key().as_str() {
            "ArrowDown" if is_plain => self
                .chosen
                .set(Some(chosen.map_or(0, |at| (at + 1) % count))),
            "ArrowUp" if is_plain => {
                let last = count - 1;
                self.chosen.set(Some(
                    chosen.map_or(last, |at| at.checked_sub(1).unwrap_or(last)),
                ));
            }
            "Tab" if is_plain && !event.shift_key() => self.take(chosen.unwrap_or(0)),
            "Enter" if is_plain && chosen.is_some() => self.take(chosen.unwrap_or(0)),
            // The page would drop the selection.
            "Escape" => {
                event.stop_propagation();
                self.close();
            }
            key => {
                // What writes or erases is followed by an input event, which opens the list anew.
                let is_caret_key = matches!(
                    key,
                    "Enter" | "ArrowLeft" | "ArrowRight" | "Home" | "End" | "PageUp" | "PageDown"
                );
                if is_caret_key || !is_plain && !matches!(key, "Control" | "Meta" | "Alt" | "Shift")
                {
                    self.close();
                }
                return;
            }
        }
        event.prevent_default();
    }

    /// Writes a completion into the text.
    fn take(self, index: usize) {
        let chosen = self.items.with_untracked(|items| items.get(index).cloned());
        self.close();
        let taken = |text: &String| edited(text, &[chosen?.edit]);
        let text = self.page.text.with_untracked(taken);
        if let Some(text) = text {
            self.page.edit(text, Origin::Single);
        }
    }
}

fn option_id(index: usize) -> String {
    format!("completion-{index}")
}

/// The open list, below the word that it completes, or above it in the lower half of the editor.
#[component]
pub fn CompletionList(
    completions: Completions,
    /// Whether a line of the text, from 0, is in the lower half of the editor.
    is_low: Callback<usize, bool>,
) -> impl IntoView {
    let Completions {
        page,
        items,
        chosen,
    } = completions;
    let list = NodeRef::<Ul>::new();
    let line_and_column = move || {
        items.with(|items| {
            let start = items.first()?.edit.span.start;
            page.text
                .with_untracked(|text| Some((line_of(text, start), column_of(text, start))))
        })
    };
    let is_above = move || line_and_column().is_some_and(|(line, _)| is_low.run(line));
    let top = move || {
        let (line, _) = line_and_column().unwrap_or_default();
        let line = if is_above() { line } else { line + 1 };
        format!("calc(var(--code-line) * {line} + var(--space-1))")
    };
    let column = move || {
        line_and_column()
            .map_or(0, |(_, column)| column)
            .to_string()
    };
    Effect::new(move || {
        if let (Some(chosen), Some(list)) = (chosen.get(), list.get())
            && let Some(option) = u32::try_from(chosen)
                .ok()
                .and_then(|at| list.children().item(at))
        {
            reveal_in(&list, &option);
        }
    });
    let option = move |(index, completion): (usize, Completion)| {
        view! {
            <li
                id=option_id(index)
                role="option"
                class="completion"
                aria-selected=move || (chosen.get() == Some(index)).to_string()
                // The text area keeps the focus.
                on:mousedown=|event| event.prevent_default()
                on:click=move |_| completions.take(index)
            >
                <span class="completion-label">{completion.label}</span>
                <span class="completion-kind">{completion.kind.name()}</span>
                <span class="completion-detail">{completion.detail}</span>
            </li>
        }
    };
    let spoken = Memo::new(move |_| match items.with(Vec::len) {
        0 => String::new(),
        1 => "1 completion. Down chooses it.".to_owned(),
        count => format!("{count} completions. Up and Down choose one."),
    });
    view! {
        <Show when=move || completions.is_open()>
            <ul
                class="completions"
                class:is-above=is_above
                node_ref=list
                id=LIST_ID
                role="listbox"
                aria-label="Completions"
                style:top=top
                style=("--column", column)
            >
                {move || items.get().into_iter().enumerate().map(option).collect_view()}
            </ul>
        </Show>
        <Announcer text=spoken />
    }
}
