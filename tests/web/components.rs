//! Components over a given program: what stands in the document, and what a visitor's events do to
//! the text.

use crate::mounted::{Mounted, mounted, settled};
use fuseline::app::history::Origin;
use fuseline::app::state::{Page, Selection, Tab};
use fuseline::components::bar::fusion_menu::FusionMenu;
use fuseline::components::bar::pickers::PolicyPicker;
use fuseline::components::bar::top_bar::TopBar;
use fuseline::components::charts::enlarged_chart::EnlargedChart;
use fuseline::components::diagnostics::DiagnosticsList;
use fuseline::components::graph::GraphCanvas;
use fuseline::components::headline::Headline;
use fuseline::components::ops::table::OpsTable;
use fuseline::components::results::Results;
use fuseline::components::results::kernels::KernelsTable;
use fuseline::components::results::limits::LimitsView;
use fuseline::components::sliders::Sliders;
use fuseline_core::{Device, KernelId, Objective, OpId, Policy};
use leptos::prelude::*;
use std::cell::Cell;
use std::rc::Rc;
use strum::IntoEnumIterator;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Element, HtmlElement, HtmlSelectElement};

pub(crate) const TEXT: &str = "\
param N = 256 in 64..1024 step 64
input x : f16[N, N]
weight w : f16[N, N]
up: y = matmul(x, w)
act: z = relu(y)
norm: n = softmax(z)
";

/// Mounts a component over a page with this text; gives the page, too.
pub(crate) async fn over<V: IntoView + 'static>(
    text: &'static str,
    view: impl FnOnce(Page) -> V + 'static,
) -> (Mounted, Page) {
    let made = Rc::new(Cell::new(None));
    let kept = made.clone();
    let root = mounted(move || {
        let page = Page::new(text.to_owned());
        provide_context(page);
        EnlargedChart::provide();
        kept.set(Some(page));
        view(page)
    })
    .await;
    let page = made.get().unwrap();
    (root, page)
}

#[wasm_bindgen_test]
async fn the_headline_says_bytes_and_kernels() {
    let (root, page) = over(TEXT, |_| view! { <Headline /> }).await;
    let exact = root
        .one("[title*='read and written']")
        .get_attribute("title");
    // x, w, y | y, z | z, n against x, w, z | z, n, of 256 * 256 * 2 bytes each.
    assert_eq!(
        exact.unwrap(),
        "917,504 B read and written unfused, 655,360 B fused, 262,144 B saved"
    );
    page.edit(TEXT.replace("256", "512"), Origin::Single);
    settled().await;
    let exact = root
        .one("[title*='read and written']")
        .get_attribute("title");
    assert!(exact.unwrap().starts_with("3,670,016 B"));
}

#[wasm_bindgen_test]
async fn the_table_has_a_row_for_each_kernel_and_selects_it() {
    let (root, page) = over(TEXT, |_| view! { <KernelsTable /> }).await;
    assert_eq!(root.texts("tbody .op-names"), ["up + act", "norm"]);
    root.click("tbody tr:nth-child(2) button").await;
    assert_eq!(
        page.selection.get_untracked(),
        Selection::Kernel(KernelId::new(1))
    );
    assert_eq!(root.all("tr.is-selected").len(), 1);
    root.click("tbody tr:nth-child(2) button").await;
    assert_eq!(page.selection.get_untracked(), Selection::Nothing);
}

#[wasm_bindgen_test]
async fn a_row_keeps_its_elements_and_the_focus_while_sizes_change_and_others_come() {
    let (root, page) = over(TEXT, |_| view! { <KernelsTable /> }).await;
    let button = root.one("tbody tr:nth-child(2) button");
    let figures = root.one("tbody tr:nth-child(2) td:nth-child(4)");
    let before = figures.text_content();
    (button.clone().unchecked_into::<HtmlElement>())
        .focus()
        .unwrap();
    page.edit(TEXT.replace("256", "512"), Origin::Single);
    settled().await;
    assert_eq!(document().active_element(), Some(button.clone()));
    assert_ne!(figures.text_content(), before);
    assert!(figures.is_connected());
    // Another row comes before it.
    page.chosen.policy.set(Policy::None);
    settled().await;
    assert_eq!(root.texts("tbody .op-names"), ["up", "act", "norm"]);
    assert_eq!(document().active_element(), Some(button.clone()));
    let name = button.get_attribute("aria-label");
    assert_eq!(name.as_deref(), Some("kernel 3: norm"));
}

#[wasm_bindgen_test]
async fn the_selection_stays_on_the_op_of_the_same_name() {
    let (root, page) = over(TEXT, |_| view! { <KernelsTable /> }).await;
    let edit = async |text: String| {
        page.edit(text, Origin::Single);
        settled().await;
        page.selection.get_untracked()
    };
    // `act` is the second op.
    let before_up = TEXT.replace("up: y = matmul(x", "first = exp(x)\nup: y = matmul(first");
    page.select(Selection::Op(OpId::new(1)));
    assert_eq!(edit(before_up.clone()).await, Selection::Op(OpId::new(2)));
    assert_eq!(
        edit(TEXT.replace("act:", "other:")).await,
        Selection::Nothing
    );
    edit(TEXT.to_owned()).await;
    page.select(Selection::Kernel(KernelId::new(1)));
    let selected = edit(before_up).await;
    assert_eq!(selected, Selection::Kernel(KernelId::new(2)));
    assert_eq!(root.texts("tr.is-selected .op-names"), ["norm"]);
    // Two selected ops stay an edge while sizes change.
    let edge = Selection::Edge {
        producer: OpId::new(1),
        consumer: OpId::new(2),
    };
    page.select(edge);
    assert_eq!(
        edit(page.text.get_untracked().replace("256", "320")).await,
        edge
    );
}

#[wasm_bindgen_test]
async fn limits_follow_the_selection_and_the_device() {
    let (root, page) = over(TEXT, |_| view! { <LimitsView /> }).await;
    assert_eq!(root.texts("tbody .op-names"), ["up + act", "norm"]);
    page.select(Selection::Op(OpId::new(2)));
    settled().await;
    let pressed = root.one("tbody button[aria-pressed=true]");
    let name = pressed.get_attribute("aria-label").unwrap();
    assert_eq!(name, "limits of kernel 2: norm");
    assert_eq!(root.all("tr.is-selected").len(), 1);
    page.chosen
        .device
        .set(Device::custom(1e12, 1e13, 1e14, 2e-6));
    settled().await;
    assert!(root.all("table").is_empty());
    assert!(
        root.texts("p")
            .iter()
            .any(|text| text.contains("is unknown"))
    );
}

#[wasm_bindgen_test]
async fn a_tab_that_is_not_open_is_not_mounted() {
    let (root, page) = over(TEXT, |_| view! { <Results /> }).await;
    for tab in Tab::iter() {
        page.screen.tab.set(tab);
        settled().await;
        assert_eq!(root.all("[role=tabpanel]").len(), 1);
        let open = root.one("[role=tab][aria-selected=true]");
        assert_eq!(open.text_content().as_deref(), Some(tab.label()));
        assert_eq!(
            root.all("[role=tab][tabindex='0']"),
            std::slice::from_ref(&open)
        );
        let panel = root.one("[role=tabpanel]");
        assert_eq!(open.get_attribute("aria-controls"), Some(panel.id()));
        assert_eq!(panel.get_attribute("aria-labelledby"), Some(open.id()));
        assert_eq!(
            page.stepping.step.get_untracked().is_some(),
            tab == Tab::Steps
        );
    }
}

#[wasm_bindgen_test]
async fn a_slider_edits_the_param_in_the_text() {
    let (root, page) = over(TEXT, |_| view! { <Sliders /> }).await;
    root.enter("input[type=range]", "512", &["input"]).await;
    assert_eq!(page.text.get_untracked(), TEXT.replace("256", "512"));
    assert_eq!(root.value("[role=spinbutton]"), "512");
    root.enter("[role=spinbutton]", "4096", &["input", "change"])
        .await;
    assert_eq!(root.value("input[type=range]"), "512");
    assert_eq!(root.value("[role=spinbutton]"), "512");
    assert!(root.texts(".slider-problem")[0].contains("4,096 is outside"));
    root.enter("[role=spinbutton]", "1k", &["input", "change"])
        .await;
    assert_eq!(root.value("input[type=range]"), "1024");
    assert_eq!(root.texts(".slider-problem")[0], "");
    // One series of edits is one step back.
    assert!(page.undo());
    assert_eq!(page.text.get_untracked(), TEXT);
}

#[wasm_bindgen_test]
async fn a_slider_stays_the_same_element_while_its_param_changes_and_moves() {
    let (root, page) = over(TEXT, |_| view! { <Sliders /> }).await;
    let thumb = root.one("input[type=range]");
    let focused: HtmlElement = thumb.clone().unchecked_into();
    focused.focus().unwrap();
    let other = TEXT.replace("256 in 64..1024 step 64", "4096 in 1024..8192 step 1024");
    page.edit(format!("param M = 7\n{other}"), Origin::Single);
    settled().await;
    assert_eq!(root.texts("label"), ["M", "N"]);
    assert_eq!(root.one("input[type=range]"), thumb);
    assert_eq!(document().active_element(), Some(thumb));
    // The value takes the range that came with it.
    assert_eq!(root.value("input[type=range]"), "4096");
    assert_eq!(root.all("[role=spinbutton]").len(), 2);
    root.enter("input[type=range]", "5120", &["input"]).await;
    assert!(page.text.get_untracked().contains("param N = 5120 in"));
}

#[wasm_bindgen_test]
async fn the_options_of_a_policy_show_what_is_chosen() {
    let (root, page) = over(TEXT, |page| {
        page.chosen.policy.set(Policy::Optimal);
        page.chosen.fusion.update(|fusion| {
            fusion.objective = Objective::Time;
            fusion.after_reductions = false;
        });
        page.chosen
            .device
            .update(|device| *device = device.clone().with_launch_s(7.5e-6));
        view! { <FusionMenu /> }
    })
    .await;
    assert!(
        root.all(".menu-panel").is_empty(),
        "closed menus hold nothing"
    );
    root.click(".menu > summary").await;
    let checked = || {
        let labels = root.all(".menu-panel label").into_iter();
        let checked = labels.filter(|label| label.query_selector(":checked").unwrap().is_some());
        let name = |label: Element| {
            label
                .query_selector("span")
                .unwrap()?
                .first_child()?
                .text_content()
        };
        checked.filter_map(name).collect::<Vec<_>>()
    };
    assert_eq!(
        checked(),
        ["time (lower bound)", "fused attention where it pays"]
    );
    assert_eq!(root.value(".menu-panel input[type=range]"), "7.5");
    root.click(".menu-panel .link").await;
    assert_eq!(root.value(".menu-panel input[type=range]"), "2");
    assert!(root.all(".menu-panel .link").is_empty());
    page.chosen
        .fusion
        .update(|fusion| fusion.after_reductions = true);
    settled().await;
    assert_eq!(
        checked(),
        [
            "time (lower bound)",
            "ops after reductions",
            "fused attention where it pays"
        ]
    );
    page.chosen.policy.set(Policy::Rules);
    settled().await;
    assert_eq!(
        root.texts(".menu-panel label"),
        [
            "fused attentionMatmul, softmax and matmul run as one kernel in tiles, and the scores stay on chip."
        ]
    );
}

#[wasm_bindgen_test]
async fn pickers_show_what_holds() {
    let (root, page) = over(TEXT, |_| {
        view! {
            <TopBar />
            <PolicyPicker />
        }
    })
    .await;
    let values = || -> Vec<String> {
        let selects = root.all("select").into_iter();
        selects
            .map(|select| select.unchecked_into::<HtmlSelectElement>().value())
            .collect()
    };
    assert_eq!(values(), ["", "a100-80", "f16", "rules"]);
    page.origin.example.set(Some("diamond"));
    page.chosen.policy.set(Policy::Optimal);
    page.edit(TEXT.replace("f16", "bf16"), Origin::Single);
    settled().await;
    assert_eq!(values(), ["diamond", "a100-80", "bf16", "optimal"]);
}

#[wasm_bindgen_test]
async fn a_finding_names_its_place_and_its_mend() {
    let (root, page) = over(TEXT, |_| view! { <DiagnosticsList /> }).await;
    assert!(root.all("li").is_empty());
    page.edit(TEXT.replace("relu", "reluu"), Origin::Single);
    settled().await;
    let findings = root.texts("li");
    assert!(
        findings[0].contains("5:10") && findings[0].contains("reluu"),
        "{findings:?}"
    );
}

#[wasm_bindgen_test]
async fn the_graph_keeps_its_places_when_sizes_change_and_when_it_is_switched() {
    let (root, page) = over(TEXT, |_| view! { <GraphCanvas /> }).await;
    let places = |root: &Mounted| -> Vec<_> {
        let rects = root.all(".dag-op rect");
        rects
            .iter()
            .map(|r| (r.get_attribute("x"), r.get_attribute("y")))
            .collect()
    };
    let before = places(&root);
    assert_eq!(before.len(), 3);
    assert_eq!(
        root.all(".dag-edge:not(.is-dram)").len(),
        1,
        "only y stays on chip"
    );
    page.chosen.is_fused.set(false);
    page.edit(TEXT.replace("256", "512"), Origin::Single);
    settled().await;
    assert_eq!(root.all(".dag-edge:not(.is-dram)").len(), 0);
    assert_eq!(places(&root), before);
}

#[wasm_bindgen_test]
async fn names_stay_text() {
    let hostile = "input x : f16[8]\n`<img src=x onerror=alert(1)>`: y = relu(x)\n";
    let (root, _) = over(hostile, |_| {
        view! { <KernelsTable /> <OpsTable /> <DiagnosticsList /> }
    })
    .await;
    assert_eq!(
        root.texts("tbody .op-names"),
        ["<img src=x onerror=alert(1)>"]
    );
    assert!(root.all("img").is_empty());
}
