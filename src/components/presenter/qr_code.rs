//! The link to what is presented, for phones.

use crate::app::learning::Learning;
use crate::app::presenting::Presenting;
use crate::app::sharing::{self, lesson_link};
use crate::app::state::Page;
use crate::components::dialog::Dialog;
use fuseline_browser as browser;
use fuseline_learn::language::Language;
use fuseline_learn::presenter::command::PresenterCommand;
use fuseline_learn::presenter::qr::{Code, is_of_this_machine};
use leptos::ev;
use leptos::prelude::*;

/// A link as a code, and as text below it; or why there is none.
#[component]
pub fn QrCode(
    /// The link, or the problem.
    link: Result<String, String>,
    /// The language of the words around it.
    #[prop(default = Language::English)]
    words: Language,
) -> impl IntoView {
    let code = link.and_then(|link| match Code::of(&link) {
        Ok(code) => Ok((code, link)),
        Err(too_long) => Err(too_long.to_string()),
    });
    match code {
        Ok((code, link)) => {
            let hint = is_of_this_machine(&link).then(|| {
                view! { <p>{words.only_this_machine()}</p> }
            });
            let side = code.side;
            view! {
                <svg class="qr-code" viewBox=format!("0 0 {side} {side}") role="img" aria-label=words.qr_code()>
                    <rect width=side height=side></rect>
                    <path d=code.path></path>
                </svg>
                <p class="qr-link">{link}</p>
                {hint}
            }
            .into_any()
        }
        Err(problem) => view! { <p>{problem}</p> }.into_any(),
    }
}

/// A dialog with the QR code, large, and the link below it.
#[component]
pub fn QrCodeDialog(presenting: Presenting) -> impl IntoView {
    let page = Page::of_context();
    let learning = Learning::of_context();
    let link = RwSignal::new(None::<Result<String, String>>);
    Effect::new(move || {
        if !presenting.is_qr_shown.get() {
            return;
        }
        link.set(None);
        let open = learning.filter(|_| presenting.has_lesson.get_untracked());
        let open = open.and_then(|learning| {
            Some((
                learning.open.get_untracked()?,
                learning.step.get_untracked(),
            ))
        });
        browser::spawn(async move {
            let result = match open {
                Some((open, step)) => lesson_link(&open, step).await,
                None => sharing::link(page).await,
            };
            link.set(Some(result.map_err(str::to_owned)));
        });
    });
    let close = move || presenting.is_qr_shown.set(false);
    // Any press, and any key that would go on, takes it away first.
    let key = move |event: ev::KeyboardEvent| {
        if event.key() != "Escape" && PresenterCommand::of_key(&event.key()).is_some() {
            event.prevent_default();
            close();
        }
    };
    view! {
        <Dialog
            class="qr-dialog"
            label="QR code"
            is_open=presenting.is_qr_shown
            on_close=close
            on_key=Callback::new(key)
            on:click=move |_| close()
        >
            {move || link.get().map(|link| view! { <QrCode link /> })}
            <button type="button" class="button">"Close"</button>
        </Dialog>
    }
}
