//! The tabs below the pictures.

use crate::components::{TEXT, over};
use crate::mounted::{Mounted, drawn, mounted, settled};
use fuseline::app::history::Origin;
use fuseline::app::state::{FocusRequest, Selection, Tab};
use fuseline::components::graph::GraphCanvas;
use fuseline::components::results::Results;
use fuseline::components::results::compare::ComparePanel;
use fuseline::components::results::kernel_details::KernelDetailsPanel;
use fuseline::components::results::kernels::KernelsTable;
use fuseline::components::results::online_softmax::OnlineSoftmax;
use fuseline::components::results::tiling::TilingView;
use fuseline::components::results::why::WhyPanel;
use fuseline_core::{Device, KernelId, Objective, OpId, Policy, device};
use fuseline_view::present::tiling::TilingChoice;
use leptos::prelude::*;
use std::sync::Arc;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Element, HtmlElement, HtmlSelectElement};

fn focus(element: &Element) {
    element.unchecked_ref::<HtmlElement>().focus().unwrap();
}

fn focused_label() -> Option<String> {
    document().active_element()?.get_attribute("aria-label")
}

fn text(element: &Element) -> String {
    element.text_content().unwrap_or_default()
}

/// The edge that each row of the tab on reasons names.
fn edges(root: &Mounted) -> Vec<String> {
    root.texts("tbody button.link")
}

#[wasm_bindgen_test]
async fn a_button_says_what_its_cut_would_bring_and_cuts() {
    let (root, page) = over(TEXT, |_| view! { <KernelsTable /> <KernelDetailsPanel /> }).await;
    assert!(root.all(".cuts button").is_empty());
    page.select(Selection::Kernel(KernelId::new(0)));
    settled().await;
    assert_eq!(text(&root.one(".details-title")).trim(), "1 up + act");
    let cut = root.one(".cuts button");
    focus(&cut);
    settled().await;
    let status = root.one("[role=status]");
    assert!(text(&status).starts_with("Cutting before act costs 262 kB"));
    // While the focus stays, the words follow the sizes.
    page.edit(TEXT.replace("256", "512"), Origin::Single);
    settled().await;
    assert!(text(&status).starts_with("Cutting before act costs 1.05 MB"));
    assert_eq!(document().active_element(), Some(cut));
    root.click(".cuts button").await;
    assert_eq!(root.texts("tbody .op-names"), ["up", "act", "norm"]);
    assert_eq!(page.chosen.policy.get_untracked(), Policy::Manual);
    assert_eq!(
        page.selection.get_untracked(),
        Selection::Kernel(KernelId::new(1))
    );
    assert_eq!(focused_label().as_deref(), Some("kernel 2: act"));
    assert_eq!(page.screen.focus_request.get_untracked(), None);
}

#[wasm_bindgen_test]
async fn a_kernel_that_is_not_listed_takes_no_focus_later() {
    let ops: Vec<_> = (0..150).map(|at| format!("y{at} = relu(x)")).collect();
    let text: &'static str = String::leak(format!("input x : f16[64]\n{}", ops.join("\n")));
    let (root, page) = over(text, |_| view! { <KernelsTable /> }).await;
    for kernel in [20, 120].map(KernelId::new) {
        page.select(Selection::Kernel(kernel));
        page.screen
            .focus_request
            .set(Some(FocusRequest::KernelButton(kernel)));
        settled().await;
        assert_eq!(page.screen.focus_request.get_untracked(), None);
        assert_eq!(focused_label().as_deref(), Some("kernel 21: y20"));
    }
    root.click(".more").await;
    assert_eq!(focused_label().as_deref(), Some("kernel 21: y20"));
}

#[wasm_bindgen_test]
async fn the_policies_stand_side_by_side_and_on_one_roofline_when_asked() {
    let [is_drawn, are_devices_shown] = [RwSignal::new(false), RwSignal::new(false)];
    let ranked_by = RwSignal::new(Objective::Bytes);
    let (root, page) = over(
        TEXT,
        move |_| view! { <ComparePanel is_drawn are_devices_shown ranked_by /> },
    )
    .await;
    // Three of them keep one tensor on chip. No kernel is stated, so *manual* has no row.
    assert_eq!(
        root.texts("tbody button[aria-pressed]"),
        [
            "textbook rules",
            "torch.compile",
            "fewest bytes",
            "no fusion"
        ]
    );
    assert!(root.all("svg").is_empty());
    root.click("tbody tr:nth-child(3)").await;
    assert_eq!(page.chosen.policy.get_untracked(), Policy::Optimal);
    assert_eq!(text(&root.one("[aria-pressed=true]")), "fewest bytes");
    assert_eq!(
        text(&root.one("tr.is-selected .op-names")),
        "the chosen policy"
    );
    is_drawn.set(true);
    drawn().await;
    assert_eq!(
        root.texts(".legend li"),
        [
            "no fusion",
            "textbook rules",
            "torch.compile",
            "fewest bytes"
        ]
    );
    assert!(!root.all(".policies-roofline [role=button]").is_empty());
}

#[wasm_bindgen_test]
async fn what_a_tab_has_computed_is_kept_while_it_is_closed() {
    let (_root, page) = over(TEXT, |_| view! { <Results /> }).await;
    let open = async |tab| {
        page.screen.tab.set(tab);
        settled().await;
    };
    open(Tab::Compare).await;
    let compared = page.questions.compared.get_untracked();
    open(Tab::Why).await;
    let shown = page.shown.get_untracked();
    open(Tab::Steps).await;
    let steps = page.stepping.steps.get_untracked().unwrap();
    open(Tab::Kernels).await;
    assert!(Arc::ptr_eq(
        &compared,
        &page.questions.compared.get_untracked()
    ));
    assert!(std::ptr::eq(
        shown.why_not(),
        page.shown.get_untracked().why_not()
    ));
    assert!(Arc::ptr_eq(
        &steps,
        &page.stepping.steps.get_untracked().unwrap()
    ));
    page.edit(TEXT.replace("256", "512"), Origin::Single);
    assert!(!Arc::ptr_eq(
        &compared,
        &page.questions.compared.get_untracked()
    ));
}

const LAYER: &str = "\
input x : f16[4096, 4096]
weight w : f16[4096, 4096]
up: y = matmul(x, w)
act: z = relu(y)
norm: n = softmax(z)
";

#[wasm_bindgen_test]
async fn a_dragged_tile_changes_its_figures_and_refuses_what_needs_whole_rows() {
    let (root, page) = over(LAYER, |page| {
        page.chosen.device.set(device("h200").unwrap().clone());
        let choice = RwSignal::new(TilingChoice::default());
        view! { <TilingView choice /> }
    })
    .await;
    drawn().await;
    let tiles = || root.texts(".tiling-figures td")[0].clone();
    assert_eq!(tiles(), "16 × 32 = 512");
    assert!(!root.all(".mark-tile-frame").is_empty());
    let button = root.one("button");
    assert_eq!(
        button.get_attribute("aria-disabled").as_deref(),
        Some("true")
    );
    root.enter("#tile-bm", "3", &["input"]).await;
    assert_eq!(tiles(), "32 × 32 = 1,024");
    assert_eq!(
        root.one("#tile-bm")
            .get_attribute("aria-valuetext")
            .as_deref(),
        Some("128")
    );
    let follows = root.texts(".tiling-followers li");
    assert!(follows[0].starts_with("act can join."), "{follows:?}");
    assert!(
        follows[1].starts_with(
            "norm cannot join. norm needs all 4,096 columns of a row, and this tile has 128."
        ),
        "{follows:?}"
    );
    assert_eq!(root.all(".tiling-followers .is-refused").len(), 1);
    root.click("button").await;
    assert_eq!(tiles(), "16 × 32 = 512");
    page.chosen
        .device
        .set(Device::custom(1e12, 1e13, 1e14, 2e-6));
    settled().await;
    assert!(root.all(".tiling").is_empty());
    assert!(root.texts("p")[0].contains("is unknown"));
}

#[wasm_bindgen_test]
async fn a_row_of_reasons_selects_its_edge_and_is_asked_about() {
    let (root, page) = over(TEXT, |page| {
        page.chosen.policy.set(Policy::None);
        let chosen_order = RwSignal::new(None);
        view! { <WhyPanel chosen_order /> }
    })
    .await;
    let chosen = |place: usize| -> String {
        let select: HtmlSelectElement = root.all("select")[place].clone().unchecked_into();
        text(&select.selected_options().item(0).unwrap())
    };
    let mut all = edges(&root);
    let dearest = format!("{} → {}", chosen(0), chosen(1));
    assert_eq!(all[0], dearest, "nobody has asked yet");
    all.sort();
    assert_eq!(all, ["act → norm", "up → act"]);
    let answer = text(&root.one("[role=status]"));
    assert!(answer.starts_with("Separate: this kernel is legal, but the policy does not try it"));
    page.inspect_output(OpId::new(1));
    settled().await;
    assert_eq!(text(&root.one("[aria-pressed=true]")), "act → norm");
    assert_eq!([chosen(0), chosen(1)], ["act", "norm"]);
    root.click("[aria-pressed=true]").await;
    assert_eq!(page.selection.get_untracked(), Selection::Nothing);
    root.choose("select[aria-label='one op']", "2").await;
    assert_eq!(
        text(&root.one("[role=status]")),
        "It is one op. Choose another."
    );
    // An op that goes takes its place in the lists along, and the question about it: the first row
    // is asked.
    page.edit(TEXT.replace("norm: n = softmax(z)\n", ""), Origin::Single);
    settled().await;
    assert_eq!([chosen(0), chosen(1)], ["up", "act"]);
    assert_eq!(root.all("select[aria-label='one op'] option").len(), 2);
}

#[wasm_bindgen_test]
async fn the_graph_marks_the_ops_of_the_present_decision_at_once() {
    let (root, page) = over(TEXT, |_| view! { <GraphCanvas /> <Results /> }).await;
    let marked = |root: &Mounted| -> Vec<_> {
        let ops = root.all(".dag .is-decided").into_iter();
        let name = |op: Element| op.get_attribute("aria-label").unwrap_or_default();
        ops.map(|op| name(op).split(',').next().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(marked(&root), [""; 0]);
    page.screen.tab.set(Tab::Steps);
    settled().await;
    let press = async |name: &str| root.click(&format!("[aria-label='{name}']")).await;
    press("First step").await;
    assert_eq!(marked(&root), [""; 0]);
    press("Step forward").await;
    assert_eq!(marked(&root), ["up"]);
    press("Step forward").await;
    assert_eq!(marked(&root), ["up", "act"]);
    assert_eq!(
        page.selection.get_untracked(),
        Selection::Edge {
            producer: OpId::new(0),
            consumer: OpId::new(1)
        }
    );
    // What changes the kernels draws the graph anew.
    press("Step back").await;
    assert_eq!(marked(&root), ["up"]);
    page.screen.tab.set(Tab::Kernels);
    settled().await;
    assert_eq!(marked(&root), [""; 0]);
}

#[wasm_bindgen_test]
async fn steps_are_made_by_keys_and_the_line_keeps_the_focus() {
    let (root, page) = over(TEXT, |page| {
        page.screen.tab.set(Tab::Steps);
        view! { <Results /> }
    })
    .await;
    let count = root.all("ol li").len();
    let present = || root.texts("[aria-current=step] .step-number");
    assert_eq!(present(), [count.to_string()]);
    assert_eq!(
        root.one("input[type=range]").get_attribute("max"),
        Some(count.to_string())
    );
    assert_eq!(root.value("input[type=range]"), count.to_string());
    focus(&root.one("ol [tabindex='0']"));
    root.press("ol [tabindex='0']", "Home").await;
    assert_eq!(page.stepping.step.get_untracked(), Some(0));
    assert_eq!(root.all("[aria-current=step]").len(), 0);
    // Before the first step the first line is reached.
    assert_eq!(
        document().active_element(),
        Some(root.one("ol li:first-child button"))
    );
    root.press("ol li:first-child button", "ArrowDown").await;
    root.press("ol li:first-child button", "ArrowDown").await;
    assert_eq!(present(), ["2"]);
    assert_eq!(
        document().active_element(),
        Some(root.one("ol li:nth-child(2) button"))
    );
    assert_eq!(root.value("input[type=range]"), "2");
    // A longer record: the slider's end and its place go together.
    root.click("[aria-label='Last step']").await;
    page.edit(
        format!("{TEXT}a = relu(n)\nb = relu(a)\nc = relu(b)\n"),
        Origin::Single,
    );
    root.click("[aria-label='Last step']").await;
    assert_eq!(
        root.value("input[type=range]"),
        root.all("ol li").len().to_string()
    );
    assert!(root.all("ol li").len() > count);
}

#[wasm_bindgen_test]
async fn names_in_the_tabs_stay_text() {
    let hostile =
        "input x : f16[8, 8]\n`<img src=x onerror=alert(1)>`: y = softmax(x)\n`<b>`: z = gelu(y)\n";
    let (root, page) = over(hostile, |page| {
        page.chosen.policy.set(Policy::None);
        page.select(Selection::Kernel(KernelId::new(0)));
        view! { <Results /> }
    })
    .await;
    for tab in [Tab::Kernels, Tab::Compare, Tab::Why, Tab::Steps] {
        if tab == Tab::Steps {
            page.chosen.policy.set(Policy::Rules);
        }
        page.screen.tab.set(tab);
        settled().await;
        assert!(
            text(&root.one("[role=tabpanel]")).contains("<img src=x"),
            "{tab:?}"
        );
        assert!(root.all("img, b").is_empty(), "{tab:?}");
    }
}

#[wasm_bindgen_test]
async fn a_row_goes_step_by_step_and_marks_where_its_sum_is_rescaled() {
    let root = mounted(|| view! { <OnlineSoftmax /> }).await;
    let formulas = || root.texts(".softmax-formulas li");
    let [previous, next] = ["nth-of-type(2)", "nth-of-type(3)"].map(|n| format!("button:{n}"));
    assert!(formulas().is_empty());
    assert_eq!(
        root.one(&previous)
            .get_attribute("aria-disabled")
            .as_deref(),
        Some("true")
    );
    root.click(&next).await;
    assert!(root.all(".is-rescaling").is_empty());
    root.click(&next).await;
    assert_eq!(formulas()[0], "m = max(1, 3) = 3");
    assert_eq!(root.all(".is-rescaling").len(), 2);
    assert_eq!(root.all(".softmax-row input").len(), 8);
    // A larger first number: 3 leaves the maximum.
    root.enter(".softmax-row input", "4", &["change"]).await;
    assert_eq!(formulas()[0], "m = max(4, 3) = 4");
    assert!(root.all(".is-rescaling").is_empty());
    root.enter(".softmax-row input", "none", &["change"]).await;
    assert_eq!(root.value(".softmax-row input"), "4");
    root.click(&previous).await;
    assert_eq!(formulas()[0], "m = max(−∞, 4) = 4");
    // Another way starts anew.
    root.enter("label:first-of-type input[type=radio]", "on", &["change"])
        .await;
    assert!(formulas().is_empty());
}
