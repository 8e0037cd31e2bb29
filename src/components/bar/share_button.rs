//! The share link.

use super::menu::Menu;
use crate::app::sharing;
use crate::app::state::Page;
use fuseline_browser as browser;
use fuseline_view::page::note::Note;
use fuseline_view::present::compare::policy_words;
use fuseline_view::present::headline::headline;
use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;

/// Copies the link with a note to its reader, or shows it if the clipboard refuses.
#[component]
pub fn ShareButton() -> impl IntoView {
    let page = Page::of_context();
    // Here and not in the panel, so that a note which is half written outlives it.
    let note = RwSignal::new(String::new());
    // A visitor who passes a link on unchanged sees the note that came with it, and sends it,
    // changes it or takes it out.
    Effect::new(move |came: Option<String>| {
        let comes = page
            .origin
            .sender_note
            .get()
            .map_or_else(String::new, |note| note.to_string());
        if came.is_none_or(|came| note.with_untracked(|note| *note == came)) {
            note.set(comes.clone());
        }
        comes
    });
    // The sender wrote it about another program than the link now carries.
    let is_outdated = Memo::new(move |_| {
        let sent = page.origin.sender_note.get();
        sent.is_some_and(|sent| note.with(|note| *note == sent.to_string()))
            && page.differs_from_sent()
    });
    let is_too_long = move || note.with(|note| excess(note) > 0);
    let shown_text = RwSignal::new(None::<String>);
    let is_open = RwSignal::new(false);
    let button = NodeRef::new();
    let share = move |with_result: bool| {
        shown_text.set(None);
        let note = note
            .with_untracked(|note| Note::of(note))
            .filter(|_| !is_outdated.get_untracked());
        let result = with_result.then(|| result_text(page, note.as_ref()));
        browser::spawn(async move {
            let text = match (sharing::link_with_note(page, note).await, result) {
                (Ok(link), Some(result)) => Ok(format!("{result}\n{link}")),
                // A page that is too long for a link still has a result to copy.
                (Err(_), Some(result)) => Ok(result),
                (link, None) => link,
            };
            match text {
                Err(problem) => page.tell_failure(problem),
                Ok(text) if browser::copy(&text).await => {
                    page.tell(if with_result {
                        "Result and link copied."
                    } else {
                        "Link copied. It holds the whole page; nothing is uploaded."
                    });
                    browser::focus(button);
                    is_open.set(false);
                }
                Ok(text) => shown_text.set(Some(text)),
            }
        });
    };
    view! {
        <Menu label="Share" is_at_end=true panel_class="share-menu" is_open button>
            <NoteField note is_outdated />
            <div class="share-actions">
                <button type="button" class="primary" disabled=is_too_long on:click=move |_| share(false)>
                    "Copy link"
                </button>
                <button type="button" disabled=is_too_long on:click=move |_| share(true)>
                    "Copy result and link"
                </button>
            </div>
            {move || shown_text.get().map(|text| view! { <TextField text /> })}
        </Menu>
    }
}

/// What fusion does, in sentences for a chat or a mail, with the note.
fn result_text(page: Page, note: Option<&Note>) -> String {
    let result = untrack(|| {
        let (policy, result) = page
            .analysis
            .with(|analysis| (policy_words(analysis), headline(analysis).sentence()));
        format!("{}, {policy}: {result}", page.program_name())
    });
    match note {
        Some(note) => format!("{result}\n{note}"),
        None => result,
    }
}

/// How many characters a note has too many.
fn excess(note: &str) -> usize {
    note.chars().count().saturating_sub(Note::MAX_CHARS)
}

/// The note, with a count of its characters. A note that is too long is left to the visitor to
/// shorten.
#[component]
fn NoteField(
    note: RwSignal<String>,
    /// Whether it came with a link and the visitor has changed the program since, not the note.
    is_outdated: Memo<bool>,
) -> impl IntoView {
    let field = NodeRef::new();
    let remove = move |_| {
        note.set(String::new());
        browser::focus(field);
    };
    let count = move || {
        let most = Note::MAX_CHARS;
        note.with(|note| match excess(note) {
            0 => format!("{} of {most} characters", note.chars().count()),
            excess => format!("{excess} characters more than {most}: shorten the note"),
        })
    };
    let is_too_long = move || note.with(|note| excess(note) > 0);
    let described_by = move || {
        if is_outdated.get() {
            "share-note-count share-note-outdated"
        } else {
            "share-note-count"
        }
    };
    // The page's keys, such as undo, are those of the field here. Escape closes the menu.
    let keep_keys = move |event: KeyboardEvent| {
        if event.key() != "Escape" {
            event.stop_propagation();
        }
    };
    view! {
        <label for="share-note">"Note to the reader (optional)"</label>
        <textarea
            id="share-note"
            node_ref=field
            rows="4"
            aria-describedby=described_by
            aria-invalid=move || is_too_long().to_string()
            prop:value=note
            on:input:target=move |event| note.set(event.target().value())
            on:keydown=keep_keys
        ></textarea>
        <p id="share-note-count" class="share-note-count" class:is-failure=is_too_long>{count}</p>
        <Show when=move || is_outdated.get()>
            <p id="share-note-outdated">
                "This note came with the link and was written before your changes. A copy carries it only if you edit it. "
                <button type="button" class="link" on:click=remove>"Remove it"</button>
            </p>
        </Show>
    }
}

/// A text in a field, selected, so that the visitor can copy it.
#[component]
fn TextField(text: String) -> impl IntoView {
    let field = NodeRef::<html::Textarea>::new();
    field.on_load(move |element| {
        browser::focus(field);
        element.select();
    });
    view! {
        <label for="share-text">"Copy this:"</label>
        <textarea id="share-text" rows="4" node_ref=field readonly prop:value=text></textarea>
    }
}
