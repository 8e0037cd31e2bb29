//! The graph of a program of equal blocks: folded, unfolded, and searched by name.

use crate::components::over;
use crate::mounted::{Mounted, settled};
use fuseline::app::state::{Page, Selection};
use fuseline::components::graph::{GraphCanvas, GraphPanel};
use fuseline::components::inspector::Inspector;
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

const BLOCKS: usize = 16;

/// One op, blocks of five, and one more.
fn text() -> &'static str {
    use std::fmt::Write as _;
    let mut text = "input t : f16[64, 32]\nx0 = tanh(t)\n".to_owned();
    for block in 1..=BLOCKS {
        let before = block - 1;
        write!(
            text,
            "weight w{block} : f16[32, 32]
n{block} = layer_norm(x{before})
m{block} = matmul(n{block}, w{block})
g{block} = gelu(m{block})
d{block} = dropout(g{block})
x{block} = add(d{block}, x{before})
"
        )
        .unwrap();
    }
    writeln!(text, "y = softmax(x{BLOCKS})").unwrap();
    text.leak()
}

fn select_op(page: Page, name: &str) {
    let op = page.analysis.with_untracked(|a| a.graph.op_named(name));
    page.select(Selection::Op(op.unwrap()));
}

fn selected_name(page: Page) -> String {
    match page.selection.get_untracked() {
        Selection::Op(op) => page
            .analysis
            .with_untracked(|a| a.graph.ops[op].name.clone()),
        Selection::Tensor(tensor) => page
            .analysis
            .with_untracked(|a| a.graph.tensor_name(tensor).to_owned()),
        other => panic!("{other:?}"),
    }
}

fn op_count(root: &Mounted) -> usize {
    root.all(".dag-op").len()
}

#[wasm_bindgen_test]
async fn one_round_is_shown_and_its_tag_unfolds_all() {
    let (root, _) = over(text(), |_| view! { <GraphCanvas /> }).await;
    assert_eq!(op_count(&root), 7);
    let tag = root.one(".dag-repeat-tag [role]");
    assert_eq!(tag.get_attribute("aria-expanded").unwrap(), "false");
    let name = tag.get_attribute("aria-label").unwrap();
    assert!(name.starts_with("16 equal iterations"), "{name}");
    assert_eq!(root.texts(".dag-repeat-words .dag-function"), ["× 16"]);
    root.press(".dag-repeat-tag [role]", "Enter").await;
    assert_eq!(op_count(&root), 5 * BLOCKS + 2);
    assert!(root.all(".dag-repeat-tag").is_empty());
    let button = root.one(".dag-fold");
    assert_eq!(button.text_content().unwrap(), "Fold");
    assert_eq!(button.get_attribute("aria-expanded").unwrap(), "true");
    root.click(".dag-fold").await;
    assert_eq!(op_count(&root), 7);
    root.click(".dag-repeat-tag [role]").await;
    assert_eq!(op_count(&root), 5 * BLOCKS + 2);
}

#[wasm_bindgen_test]
async fn what_is_hidden_is_selected_by_its_equal() {
    let (root, page) = over(text(), |_| view! { <GraphCanvas /> <Inspector /> }).await;
    select_op(page, "g9");
    settled().await;
    let selected = root.one(".dag-op-box.is-selected");
    let name = selected.get_attribute("aria-label").unwrap();
    assert!(name.starts_with("g1,"), "{name}");
    assert_eq!(selected_name(page), "g9");
    page.toggle(page.selection.get_untracked());
    settled().await;
    let card = root.one(".inspector").text_content().unwrap();
    assert!(card.contains("Iteration 9 of 16"), "{card}");
}

#[wasm_bindgen_test]
async fn a_slider_moves_the_figures_of_the_tag_and_nothing_else() {
    let text = text().replace("[64, 32]", "[S, 32]");
    let text = format!("param S = 64 in 32..128 step 32\n{text}");
    let (root, page) = over(text.clone().leak(), |_| view! { <GraphCanvas /> }).await;
    let bytes = root.one(".dag-repeat-tag").text_content().unwrap();
    let boxes = || {
        root.one(".dag-parts")
            .query_selector_all("rect")
            .unwrap()
            .length()
    };
    let count = boxes();
    page.edit(
        text.replace("S = 64", "S = 128"),
        fuseline::app::history::Origin::Single,
    );
    settled().await;
    assert_ne!(root.one(".dag-repeat-tag").text_content().unwrap(), bytes);
    assert_eq!(boxes(), count);
}

#[wasm_bindgen_test]
async fn a_small_program_has_no_tag_no_button_and_no_field() {
    let (root, _) = over(crate::components::TEXT, |_| view! { <GraphPanel /> }).await;
    assert!(root.all(".dag-repeat-tag, .graph-search").is_empty());
    assert!(root.one(".dag-fold").has_attribute("hidden"));
}

#[wasm_bindgen_test]
async fn names_are_found_and_stepped_through() {
    let (root, page) = over(text(), |_| view! { <GraphPanel /> }).await;
    let field = ".graph-search input";
    let place = || root.one(".graph-search-place").text_content().unwrap();
    root.enter(field, "matmul", &["input"]).await;
    assert_eq!(
        (place(), selected_name(page)),
        ("1 of 16".to_owned(), "m1".to_owned())
    );
    root.press(field, "Enter").await;
    assert_eq!(
        (place(), selected_name(page)),
        ("2 of 16".to_owned(), "m2".to_owned())
    );
    // The shown equal of a hidden match.
    let selected = root.one(".dag-op-box.is-selected");
    assert!(
        selected
            .get_attribute("aria-label")
            .unwrap()
            .starts_with("m1,")
    );
    root.click(".graph-search [aria-label='Previous match']")
        .await;
    root.click(".graph-search [aria-label='Previous match']")
        .await;
    assert_eq!(
        (place(), selected_name(page)),
        ("16 of 16".to_owned(), "m16".to_owned())
    );
    root.enter(field, "W3", &["input"]).await;
    assert_eq!(
        (place(), selected_name(page)),
        ("1 of 1".to_owned(), "w3".to_owned())
    );
    assert_eq!(root.all(".dag-pill.is-selected").len(), 1);
    root.enter(field, "no such thing", &["input"]).await;
    assert_eq!(place(), "no match");
    root.press(field, "Escape").await;
    assert_eq!((place(), root.value(field)), (String::new(), String::new()));
    assert_eq!(page.selection.get_untracked(), Selection::Nothing);
}
