//! The op list: the text editor and the table.

use crate::components::{TEXT, over};
use crate::mounted::{Mounted, drawn, settled};
use fuseline::app::history::Origin;
use fuseline::app::state::{FocusRequest, OpsView, Page, Selection};
use fuseline::components::ops::Ops;
use fuseline::components::ops::editor::Editor;
use fuseline::components::ops::table::OpsTable;
use fuseline_core::{KernelId, OpId, Span};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Element, HtmlElement, HtmlTextAreaElement};

fn focused_label() -> Option<String> {
    document().active_element()?.get_attribute("aria-label")
}

fn labelled(root: &Mounted, label: &str) -> Element {
    root.one(&format!("[aria-label='{label}']"))
}

async fn table(text: &'static str) -> (Mounted, Page) {
    over(text, |_| view! { <OpsTable /> }).await
}

async fn editor(text: &'static str) -> (Mounted, Page, HtmlTextAreaElement) {
    let (root, page) = over(text, |_| view! { <Editor /> }).await;
    let area = root.one("textarea").unchecked_into();
    (root, page, area)
}

/// What is selected in a text area.
fn selected(area: &HtmlTextAreaElement) -> (u32, u32) {
    let place = |place: Result<Option<u32>, _>| place.unwrap().unwrap();
    (place(area.selection_start()), place(area.selection_end()))
}

#[wasm_bindgen_test]
async fn a_text_that_is_not_typed_comes_with_its_caret_at_once() {
    let (root, page, area) = editor(TEXT).await;
    assert_eq!(area.value(), TEXT);
    page.edit(TEXT.replace("relu", "gelu"), Origin::Single);
    settled().await;
    root.focus("textarea").await;
    area.set_selection_range(0, 0).unwrap();
    assert!(page.undo());
    // No frame goes by.
    settled().await;
    assert_eq!(area.value(), TEXT);
    let end = u32::try_from(TEXT.find("elu").unwrap()).unwrap();
    assert_eq!(selected(&area), (end, end));
    // What is selected now stays selected.
    area.select();
    drawn().await;
    assert_eq!(selected(&area), (0, area.value().len().try_into().unwrap()));
}

#[wasm_bindgen_test]
async fn typing_leaves_the_caret_alone_and_changes_one_line() {
    let (root, page, area) = editor(TEXT).await;
    let lines = root.all(".line");
    assert_eq!(root.texts(".line").join("\n"), TEXT);
    root.focus("textarea").await;
    area.set_value(&TEXT.replace("relu", "reluu"));
    area.set_selection_range(3, 5).unwrap();
    root.fire("textarea", "input").await;
    assert_eq!(page.text.get_untracked(), TEXT.replace("relu", "reluu"));
    assert_eq!(selected(&area), (3, 5));
    assert_eq!(area.get_attribute("aria-invalid").as_deref(), Some("true"));
    let now = root.all(".line");
    let changed: Vec<_> = (0..lines.len())
        .filter(|&at| lines[at] != now[at])
        .collect();
    assert_eq!(changed, [4]);
    assert!(now[4].class_list().contains("has-error"));
    assert_eq!(root.texts(".squiggle"), ["reluu"]);
}

#[wasm_bindgen_test]
async fn a_new_line_leaves_all_others_their_elements() {
    let (root, page, _) = editor(TEXT).await;
    let lines = root.all(".line");
    page.edit(TEXT.replace("up:", "# first\nup:"), Origin::Single);
    settled().await;
    let now = root.all(".line");
    assert_eq!(now.len(), lines.len() + 1);
    assert_eq!((&now[..3], &now[4..]), (&lines[..3], &lines[3..]));
}

#[wasm_bindgen_test]
async fn of_a_long_text_some_lines_are_in_the_page_and_a_place_far_down_is_shown_on_request() {
    let lines: Vec<_> = (0..3_000).map(|at| format!("# line {at}")).collect();
    let text: &'static str = String::leak(lines.join("\n"));
    let (root, page, area) = editor(text).await;
    let scroller: HtmlElement = root.one(".editor").unchecked_into();
    scroller.style().set_property("height", "200px").unwrap();
    scroller.style().set_property("overflow", "auto").unwrap();
    root.one("pre")
        .unchecked_ref::<HtmlElement>()
        .style()
        .set_property("--code-line", "20px")
        .unwrap();
    assert_eq!(root.all(".line").len(), 400);
    assert_eq!(root.texts(".line")[0], "# line 0");
    let start = text.find("# line 2500").unwrap();
    page.screen
        .focus_request
        .set(Some(FocusRequest::Text(Span::new(start, start + 11))));
    drawn().await;
    assert_eq!(page.screen.focus_request.get_untracked(), None);
    assert_eq!(document().active_element().as_ref(), Some(area.as_ref()));
    assert_eq!(
        selected(&area),
        (start.try_into().unwrap(), (start + 11).try_into().unwrap())
    );
    assert!(scroller.scroll_top() > 40_000, "{}", scroller.scroll_top());
    let shown = root.texts(".line");
    assert_eq!(shown.len(), 400);
    assert!(
        shown.contains(&"# line 2500".to_owned()),
        "{} to {}",
        shown[0],
        shown[399]
    );
}

#[wasm_bindgen_test]
async fn the_lines_of_what_is_selected_are_marked_and_the_caret_selects() {
    let (root, page, area) = editor(TEXT).await;
    page.select(Selection::Kernel(KernelId::new(0)));
    settled().await;
    assert_eq!(
        root.texts(".code-band"),
        ["up: y = matmul(x, w)", "act: z = relu(y)"]
    );
    let place = u32::try_from(TEXT.find("softmax").unwrap()).unwrap();
    area.set_selection_range(place, place).unwrap();
    root.click("textarea").await;
    assert_eq!(root.texts(".code-band"), ["norm: n = softmax(z)"]);
    assert_eq!(page.selection.get_untracked(), Selection::Op(OpId::new(2)));
    area.set_selection_range(0, 0).unwrap();
    root.fire("textarea", "keyup").await;
    assert!(root.all(".code-band").is_empty());
}

#[wasm_bindgen_test]
async fn the_table_is_mounted_while_it_is_open_and_the_text_area_stays() {
    let (root, page) = over(TEXT, |_| view! { <Ops /> }).await;
    let area: HtmlTextAreaElement = root.one("textarea").unchecked_into();
    area.set_selection_range(3, 5).unwrap();
    assert!(root.all("table").is_empty());
    page.screen.ops_view.set(OpsView::Table);
    settled().await;
    assert_eq!(root.all(".op-rows > table tbody tr").len(), 3);
    assert!(
        root.all(".line").is_empty(),
        "lines that are not seen are not in the page"
    );
    page.edit(TEXT.replace("relu", "gelu"), Origin::Single);
    page.screen.ops_view.set(OpsView::Text);
    settled().await;
    assert!(root.all("table").is_empty());
    assert_eq!(root.one("textarea"), **area);
    assert_eq!(root.texts(".line").join("\n"), TEXT.replace("relu", "gelu"));
}

#[wasm_bindgen_test]
async fn the_ops_table_edits_the_text() {
    let (root, page) = table(TEXT).await;
    assert_eq!(root.all(".op-rows > table tbody tr").len(), 3);
    root.enter("[aria-label='name of act']", "first", &["input", "change"])
        .await;
    assert!(page.text.get_untracked().contains("first: z = relu(y)"));
    let function = "[aria-label='function of first']";
    assert_eq!(root.value(function), "relu");
    // A picker has its options when somebody reaches it.
    assert_eq!(root.all(&format!("{function} option")).len(), 1);
    root.focus(function).await;
    assert_eq!(root.value(function), "relu");
    root.choose(function, "gelu").await;
    assert!(page.text.get_untracked().contains("first: z = gelu(y)"));
    root.click("[aria-label='Remove norm']").await;
    assert!(!page.text.get_untracked().contains("softmax"));
    assert_eq!(root.all(".op-rows > table tbody tr").len(), 2);
}

#[wasm_bindgen_test]
async fn a_row_keeps_its_elements_and_the_focus_while_values_change_and_others_come() {
    let (root, page) = table(TEXT).await;
    let field = root.focus("[aria-label='name of norm']").await;
    let shape = labelled(&root, "stated type of norm");
    let shown = |element: &Element| element.get_attribute("placeholder").unwrap();
    assert_eq!(shown(&shape), "f16[256, 256]");
    page.edit(TEXT.replace("256", "512"), Origin::Single);
    settled().await;
    assert_eq!(shown(&shape), "f16[512, 512]");
    let before_up = TEXT.replace("up: y = matmul(x", "a = exp(x)\nup: y = matmul(a");
    page.edit(before_up, Origin::Single);
    settled().await;
    assert_eq!(root.all(".op-rows > table tbody tr").len(), 4);
    assert_eq!(root.texts("tbody .badge"), ["1", "2", "2", "3"]);
    assert_eq!(document().active_element(), Some(field.clone()));
    // Renamed it is the same op.
    root.enter("[aria-label='name of norm']", "soft", &["input", "change"])
        .await;
    assert_eq!(focused_label().as_deref(), Some("name of soft"));
    assert!(page.text.get_untracked().contains("soft: n = softmax(z)"));
    assert_eq!(document().active_element(), Some(field));
}

#[wasm_bindgen_test]
async fn the_focus_goes_where_the_op_goes() {
    let (root, page) = table(TEXT).await;
    let press = async |label: &str| {
        root.focus(&format!("[aria-label='{label}']")).await;
        root.click(&format!("[aria-label='{label}']")).await;
        focused_label().unwrap_or_default()
    };
    let row = labelled(&root, "name of act").closest("tr").unwrap();
    assert_eq!(press("Move up: act").await, "Move up: act");
    assert_eq!(root.one(".op-rows > table tbody tr"), row.clone().unwrap());
    assert_eq!(press("Move up: act").await, "Move up: act");
    assert_eq!(press("Move down: act").await, "Move down: act");
    assert_eq!(
        root.one(".op-rows > table tbody tr:nth-child(2)"),
        row.unwrap()
    );
    assert_eq!(press("Add an op after act").await, "name of y4");
    assert_eq!(press("Remove y4").await, "Remove norm");
    assert_eq!(press("Remove norm").await, "Remove act");
    assert_eq!(press("Remove act").await, "Remove up");
    root.click("[aria-label='Remove up']").await;
    assert!(root.all(".op-rows > table tbody tr").is_empty());
    let focused = document().active_element().unwrap();
    assert_eq!(focused.text_content().as_deref(), Some("Add an op"));
    root.click(".op-rows > .op-table-end button").await;
    assert_eq!(focused_label().as_deref(), Some("name of y1"));
    assert!(page.text.get_untracked().contains("y1 = relu(x)"));
}

#[wasm_bindgen_test]
async fn what_is_refused_stays_with_the_reason_until_the_text_states_something_else() {
    let (root, page) = table(TEXT).await;
    let name = "[aria-label='name of act']";
    root.enter(name, "up", &["input", "change"]).await;
    assert_eq!(root.value(name), "up");
    assert_eq!(page.text.get_untracked(), TEXT);
    let problem = root.one(".op-name [role=alert]:not([hidden])");
    assert!(problem.text_content().unwrap().contains("up"));
    let described_by = root.one(name).get_attribute("aria-describedby");
    assert_eq!(described_by, Some(problem.id()));
    assert_eq!(
        root.one(name).get_attribute("aria-invalid").as_deref(),
        Some("true")
    );
    page.edit(TEXT.replace("act:", "other:"), Origin::Single);
    settled().await;
    assert_eq!(root.value("[aria-label='name of other']"), "other");
    assert!(root.all("[role=alert]:not([hidden])").is_empty());
    // Typed in another way than it is written.
    root.enter("[aria-label='inputs of up']", " x,w ", &["input", "change"])
        .await;
    assert_eq!(root.value("[aria-label='inputs of up']"), "x, w");
}

#[wasm_bindgen_test]
async fn tensors_are_suggested_behind_what_is_typed() {
    let (root, _page) = table(TEXT).await;
    assert!(root.all("datalist option").is_empty());
    root.focus("[aria-label='inputs of up']").await;
    root.enter("[aria-label='inputs of up']", "x, ", &["input"])
        .await;
    let options = root.all("datalist option");
    let values: Vec<_> = options
        .iter()
        .filter_map(|o| o.get_attribute("value"))
        .collect();
    assert_eq!(values, ["x, x", "x, w", "x, y", "x, z", "x, n"]);
    let list = root
        .one("[aria-label='inputs of up']")
        .get_attribute("list");
    assert_eq!(list, Some(root.one("datalist").id()));
}

#[wasm_bindgen_test]
async fn a_row_selects_its_op_and_problems_stand_in_it() {
    let (root, page) = table("input x : f16[8]\na = relu(x)\nb = add(a, c) : f16[8]\n").await;
    root.focus("[aria-label='inputs of b']").await;
    assert_eq!(page.selection.get_untracked(), Selection::Op(OpId::new(1)));
    assert_eq!(root.all("tr.is-selected").len(), 1);
    let problems = root.texts("tr.is-selected .op-problems .is-warning code");
    assert!(problems.contains(&"c".to_owned()), "{problems:?}");
    page.select(Selection::Kernel(KernelId::new(0)));
    settled().await;
    assert_eq!(root.all("tr.is-selected").len(), 2);
}

#[wasm_bindgen_test]
async fn names_in_the_table_stay_text() {
    let names = ["<img src=x onerror=alert(1)>", "{}", "\"><b>", "&amp;"];
    let ops: Vec<_> = names
        .iter()
        .map(|name| format!("`{name}` = `{name}`(x)\n"))
        .collect();
    let text: &'static str = String::leak(format!("input x : f16[8]\n{}", ops.concat()));
    let (root, _) = table(text).await;
    assert!(root.all("img, b").is_empty());
    for (at, name) in names.iter().enumerate() {
        let row = format!(".op-rows > table tbody tr:nth-child({})", at + 1);
        assert_eq!(root.value(&format!("{row} .op-name input")), *name);
        assert_eq!(root.value(&format!("{row} select")), *name);
        assert_eq!(root.texts(&format!("{row} option"))[0], format!("{name} ?"));
    }
}
