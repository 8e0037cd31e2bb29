//! Opens a file, or one of the texts that the browser keeps, and shows how a PyTorch model becomes
//! one.

use crate::app::documents::{MAX_OWN, Stored};
use crate::app::session::Session;
use crate::app::state::Page;
use crate::components::bar::menu::Menu;
use crate::components::open_file::open_file;
use crate::components::ops::from_pytorch::FromPytorch;
use fuseline_browser::{self as browser, date_and_time};
use fuseline_view::present::names::title;
use leptos::prelude::*;
use leptos::{ev, html};

/// A menu with files, the texts that the browser keeps, and the way from PyTorch.
#[component]
pub fn OpenMenu() -> impl IntoView {
    let is_open = RwSignal::new(false);
    let button = NodeRef::<html::Summary>::new();
    let is_dialog_open = Page::of_context().screen.is_from_pytorch_open;
    let show_script = move |_| {
        // The dialog gives the focus back to what has it now.
        browser::focus(button);
        is_open.set(false);
        is_dialog_open.set(true);
    };
    view! {
        <Menu label="Open" is_at_end=true panel_class="menu-list open-menu" is_open button>
            <FileButton is_open />
            <button type="button" aria-haspopup="dialog" on:click=show_script>
                "A PyTorch model… "<small>"one Python file writes it in this notation"</small>
            </button>
            <Texts is_open />
        </Menu>
        <FromPytorch is_open=is_dialog_open />
    }
}

#[component]
fn FileButton(is_open: RwSignal<bool>) -> impl IntoView {
    let page = Page::of_context();
    let choose = move |event: ev::Event| {
        if let Some(file) = browser::chosen_file(&event) {
            page.keep_focus();
            is_open.set(false);
            open_file(page, file);
        }
    };
    view! {
        <label class="button open-button">
            <input
                type="file"
                class="sr-only"
                accept=".fuse,.txt,.json,.py,.onnx,.pt2,.csv,.log,.gz,text/plain,text/csv,application/json"
                on:change=choose
            />
            <span>"A file…"</span>
            <small>"notation, an ONNX model, a .pt2 from torch.export, Model Explorer JSON, a JSON list of ops, Op(...) lines, or a measurement of this program"</small>
        </label>
    }
}

/// The visitor's own texts. Mounted when the menu opens, so that it lists what is stored then.
#[component]
fn Texts(is_open: RwSignal<bool>) -> impl IntoView {
    let session = Session::of_context();
    let texts = RwSignal::new(session.other_texts());
    let row = move |(id, document): Stored| {
        let opened = id.clone();
        let open = move |_| {
            session.page.keep_focus();
            is_open.set(false);
            session.open_document(&opened);
        };
        let title = title(&document.text).to_owned();
        let remove_label = format!("Remove {title}");
        let remove = move |_| {
            session.page.keep_focus();
            session.forget(&id);
            texts.update(|texts| texts.retain(|(other, _)| *other != id));
        };
        view! {
            <li>
                <button type="button" on:click=open>
                    <span class="text-title">{title}</span>
                    <small>{date_and_time(document.changed_ms)}</small>
                </button>
                <button type="button" class="icon-button" aria-label=remove_label on:click=remove>
                    <span aria-hidden="true">"×"</span>
                </button>
            </li>
        }
    };
    view! {
        <p id="own-texts">{format!("Your last {MAX_OWN} texts, kept in this browser alone")}</p>
        <Show
            when=move || texts.with(|texts| !texts.is_empty())
            fallback=|| view! { <p>"None but the one that is open"</p> }
        >
            <ul aria-labelledby="own-texts">
                <For each=move || texts.get() key=|(id, _)| id.clone() children=row />
            </ul>
        </Show>
    }
}
