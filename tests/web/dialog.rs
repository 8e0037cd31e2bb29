//! A dialog over the page: what closes it, and where the focus goes.

use crate::mounted::{Mounted, drawn, mounted};
use fuseline::components::dialog::Dialog;
use leptos::prelude::*;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::HtmlElement;

/// Mounts a button, and a dialog that the signal opens.
async fn over_a_button() -> (Mounted, RwSignal<bool>) {
    let signal = Rc::new(Cell::new(None));
    let given = signal.clone();
    let root = mounted(move || {
        let is_open = RwSignal::new(false);
        given.set(Some(is_open));
        view! {
            <button id="opener" on:click=move |_| is_open.set(true)>"Open"</button>
            <Dialog
                class="test"
                label="A dialog"
                is_open
                on_close=move || is_open.set(false)
                is_light_dismissed=true
            >
                <p>"Content"</p>
                <button id="close" on:click=move |_| is_open.set(false)>"Close"</button>
            </Dialog>
        }
    })
    .await;
    let is_open = signal.get().unwrap();
    (root, is_open)
}

async fn open(root: &Mounted) {
    let opener: HtmlElement = root.one("#opener").unchecked_into();
    opener.focus().unwrap();
    opener.click();
    drawn().await;
    assert!(root.one("dialog").has_attribute("open"));
    assert_eq!(document().active_element(), Some(root.one("#close")));
}

fn assert_closed(root: &Mounted, is_open: RwSignal<bool>) {
    assert!(!root.one("dialog").has_attribute("open"));
    assert!(!is_open.get_untracked());
    assert_eq!(document().active_element(), Some(root.one("#opener")));
}

#[wasm_bindgen_test]
async fn a_dialog_gives_the_focus_back_however_it_is_closed() {
    let (root, is_open) = over_a_button().await;
    assert!(!root.one("dialog").has_attribute("open"));
    open(&root).await;
    root.press_button("#close").await;
    drawn().await;
    assert_closed(&root, is_open);
    // A press on the backdrop has the dialog as its target.
    open(&root).await;
    root.click("dialog").await;
    drawn().await;
    assert_closed(&root, is_open);
}

#[wasm_bindgen_test]
async fn a_press_in_a_dialog_leaves_it_open() {
    let (root, is_open) = over_a_button().await;
    open(&root).await;
    root.click("dialog p").await;
    drawn().await;
    assert!(is_open.get_untracked());
    assert!(root.one("dialog").has_attribute("open"));
}

#[wasm_bindgen_test]
async fn keys_in_a_dialog_do_nothing_to_the_page() {
    let (root, _) = over_a_button().await;
    open(&root).await;
    let reaches_page = Rc::new(Cell::new(false));
    let has_reached = reaches_page.clone();
    let listener = window_event_listener(leptos::ev::keydown, move |_| has_reached.set(true));
    root.press("#close", "Escape").await;
    assert!(!reaches_page.get());
    root.press("#opener", "Escape").await;
    assert!(reaches_page.get());
    listener.remove();
}
