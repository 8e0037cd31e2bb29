//! Help while writing: completions and corrections.

use crate::components::over;
use crate::mounted::{Mounted, drawn, settled};
use fuseline::app::history::Origin;
use fuseline::app::state::Page;
use fuseline::components::diagnostics::DiagnosticsList;
use fuseline::components::ops::editor::Editor;
use fuseline::components::ops::table::OpsTable;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::HtmlTextAreaElement;

const HEAD: &str = "input x : f16[8, 6]\n";

async fn editor(text: &'static str) -> (Mounted, Page) {
    over(text, |_| view! { <Editor /> }).await
}

/// Writes as typing would, with the caret at the end.
async fn write(root: &Mounted, text: &str) {
    let area: HtmlTextAreaElement = root.focus("textarea").await.unchecked_into();
    area.set_value(text);
    let end = u32::try_from(text.encode_utf16().count()).unwrap();
    area.set_selection_range(end, end).unwrap();
    root.fire("textarea", "input").await;
}

fn options(root: &Mounted) -> Vec<String> {
    root.texts("[role=option] .completion-label")
}

#[wasm_bindgen_test]
async fn two_letters_open_the_list_and_the_arrows_choose_from_it() {
    let (root, page) = editor(HEAD).await;
    write(&root, &format!("{HEAD}y = s")).await;
    assert_eq!(options(&root), [""; 0]);
    write(&root, &format!("{HEAD}y = soft")).await;
    assert_eq!(options(&root)[..2], ["softmax", "softplus"]);
    let area = root.one("textarea");
    assert_eq!(
        area.get_attribute("aria-controls").as_deref(),
        Some("completions")
    );
    assert_eq!(area.get_attribute("aria-activedescendant"), None);
    assert!(!root.press("textarea", "ArrowDown").await);
    let active = area.get_attribute("aria-activedescendant").unwrap();
    assert_eq!(
        root.one(&format!("#{active}"))
            .get_attribute("aria-selected")
            .as_deref(),
        Some("true")
    );
    assert!(
        !root.press("textarea", "ArrowUp").await,
        "from the first to the last"
    );
    assert!(!root.press("textarea", "ArrowDown").await);
    assert!(!root.press("textarea", "Enter").await);
    assert_eq!(page.text.get_untracked(), format!("{HEAD}y = softmax("));
    assert_eq!(root.value("textarea"), page.text.get_untracked());
    assert_eq!(options(&root), [""; 0]);
    assert!(page.undo());
    assert_eq!(page.text.get_untracked(), format!("{HEAD}y = soft"));
}

#[wasm_bindgen_test]
async fn enter_and_tab_are_the_browsers_unless_the_list_is_asked() {
    let (root, page) = editor(HEAD).await;
    let text = format!("{HEAD}y = soft");
    write(&root, &text).await;
    assert!(root.press("textarea", "Enter").await, "nothing is chosen");
    assert_eq!(
        (options(&root), page.text.get_untracked()),
        (Vec::new(), text.clone())
    );
    assert!(root.press("textarea", "Tab").await, "the list is closed");
    write(&root, &text).await;
    assert!(!root.press("textarea", "Escape").await);
    assert_eq!(options(&root), [""; 0]);
    assert!(!root.press_with_control("textarea", " ").await);
    assert!(!options(&root).is_empty());
    assert!(!root.press("textarea", "Tab").await, "takes the first");
    assert_eq!(page.text.get_untracked(), format!("{HEAD}y = softmax("));
    // A comment is the visitor's.
    write(&root, "# soft").await;
    assert_eq!(options(&root), [""; 0]);
}

#[wasm_bindgen_test]
async fn a_tap_writes_a_completion_and_a_lost_focus_closes_the_list() {
    let (root, page) = editor(HEAD).await;
    write(&root, &format!("{HEAD}y = soft")).await;
    root.click("[role=option]").await;
    assert_eq!(page.text.get_untracked(), format!("{HEAD}y = softmax("));
    write(&root, &format!("{HEAD}y = soft")).await;
    root.fire("textarea", "blur").await;
    assert_eq!(options(&root), [""; 0]);
}

#[wasm_bindgen_test]
async fn a_key_corrects_the_line_of_the_caret() {
    let (root, page) = editor("input x : f16[8, 6]\ny = reluu(x)\n").await;
    let area: HtmlTextAreaElement = root.focus("textarea").await.unchecked_into();
    area.set_selection_range(0, 0).unwrap();
    assert!(!root.press_with_control("textarea", ".").await);
    assert_eq!(
        page.text.get_untracked(),
        "input x : f16[8, 6]\ny = reluu(x)\n"
    );
    assert!(
        page.screen.notice.get_untracked().is_some(),
        "there is none on the first line"
    );
    area.set_selection_range(22, 22).unwrap();
    root.press_with_control("textarea", ".").await;
    assert_eq!(
        page.text.get_untracked(),
        "input x : f16[8, 6]\ny = relu(x)\n"
    );
    assert!(page.undo());
    settled().await;
    assert_eq!(
        page.text.get_untracked(),
        "input x : f16[8, 6]\ny = reluu(x)\n"
    );
    // The button at the line does the same.
    area.set_selection_range(22, 22).unwrap();
    root.fire("textarea", "keyup").await;
    assert_eq!(root.texts(".line-fixes button"), ["Write relu"]);
    root.press_button(".line-fixes button").await;
    assert_eq!(
        page.text.get_untracked(),
        "input x : f16[8, 6]\ny = relu(x)\n"
    );
    assert_eq!(root.texts(".line-fixes button"), [""; 0]);
}

#[wasm_bindgen_test]
async fn each_problem_has_its_corrections_as_buttons() {
    let text = "input x : f16[8, 6]\ny = softmax(x, axs=0)\n";
    let (list, page) = over(text, |_| view! { <DiagnosticsList /> }).await;
    assert_eq!(list.texts("button.fix"), ["Write axis", "Remove axs"]);
    list.press_button("button.fix").await;
    assert_eq!(
        page.text.get_untracked(),
        "input x : f16[8, 6]\ny = softmax(x, axis=0)\n"
    );
    assert_eq!(list.texts("button.fix"), [""; 0]);
    let (table, page) = over(text, |_| view! { <OpsTable /> }).await;
    assert_eq!(table.texts("button.fix"), ["Write axis", "Remove axs"]);
    table.press_button("button.fix + button.fix").await;
    assert_eq!(
        page.text.get_untracked(),
        "input x : f16[8, 6]\ny = softmax(x)\n"
    );
}

#[wasm_bindgen_test]
async fn completions_close_when_something_else_edits_the_text() {
    let (root, page) = editor(HEAD).await;
    write(&root, &format!("{HEAD}y = soft")).await;
    assert!(!options(&root).is_empty());
    // A press on a correction leaves the focus where it is.
    page.edit(format!("# first\n{HEAD}y = soft"), Origin::Single);
    settled().await;
    assert_eq!(options(&root), [""; 0]);
}

#[wasm_bindgen_test]
async fn while_a_slider_is_dragged_the_fixes_from_before_stay_and_are_not_made() {
    let text = "param N = 8 in 1..64\ny = relu(x) : f16[N, N]\n";
    let (root, page) = over(text, |_| view! { <DiagnosticsList /> }).await;
    let declares = |size: u32| [format!("Declare input x : f16[{size}, {size}]")];
    assert_eq!(root.texts(".fix"), declares(8));
    page.slider.drag();
    let dragged = text.replace("= 8", "= 16");
    page.edit(dragged.clone(), Origin::Param("N".to_owned()));
    settled().await;
    assert_eq!(root.texts(".fix"), declares(8));
    root.press_button(".fix").await;
    assert_eq!(page.text.get_untracked(), dragged);
    // The slider rests for 200 ms.
    for _ in 0..60 {
        drawn().await;
    }
    assert_eq!(root.texts(".fix"), declares(16));
    root.press_button(".fix").await;
    assert!(page.text.get_untracked().contains("input x : f16[16, 16]"));
}
