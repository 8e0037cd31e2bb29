//! Charts: marks that keep their elements, the focus and the tooltip, and nothing of what is not
//! shown.

use crate::components::{TEXT, over};
use crate::mounted::{Mounted, drawn, mounted, settled};
use fuseline::app::history::Origin;
use fuseline::app::state::{Page, Selection};
use fuseline::components::charts::{Chart, Charts, SceneView};
use fuseline_core::{KernelId, Options, analyze_program, notation};
use fuseline_view::picture::charts::scene::Scene;
use fuseline_view::picture::charts::traffic_bars;
use leptos::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::Element;

const ROOFLINE: &str = "[aria-labelledby=roofline-title]";
const TRAFFIC: &str = "[aria-labelledby=traffic-title]";

async fn charts() -> (Mounted, Page) {
    let (root, page) = over(TEXT, |_| view! { <Charts /> }).await;
    drawn().await;
    (root, page)
}

fn scene_of(text: &str) -> Arc<Scene> {
    let outcome = analyze_program(&notation::parse(text).program, &Options::default());
    Arc::new(traffic_bars::scene(
        &outcome.analysis.unwrap(),
        (400.0, 150.0),
        None,
    ))
}

fn name_of(element: &Element) -> String {
    element.get_attribute("aria-label").unwrap_or_default()
}

fn focused() -> Element {
    document().active_element().unwrap()
}

#[wasm_bindgen_test]
async fn a_chart_shows_each_mark_and_names_those_that_can_be_focused() {
    let scene = scene_of(TEXT);
    let shown = scene.clone();
    let root =
        mounted(move || view! { <SceneView id="chart" scene=Signal::stored(shown) /> }).await;
    let marks = root.all("svg > g:first-of-type > g");
    assert_eq!(marks.len(), scene.marks.len());
    let names: Vec<_> = root.all("svg [role=button]").iter().map(name_of).collect();
    let expected = scene.focus_order.iter().map(|&mark| {
        let label = scene.marks[mark].label.as_ref().unwrap();
        label.name.clone()
    });
    assert_eq!(names, expected.collect::<Vec<_>>());
    assert_eq!(root.all("svg [tabindex='0']").len(), 1);
}

#[wasm_bindgen_test]
async fn a_mark_selects_its_kernel_and_shows_that_it_is_selected() {
    let (root, page) = charts().await;
    root.click(&format!("{ROOFLINE} [role=button][aria-label^='kernel 2']"))
        .await;
    assert_eq!(
        page.selection.get_untracked(),
        Selection::Kernel(KernelId::new(1))
    );
    assert!(!root.all(".chart-raised > g").is_empty());
    let pressed = root.all("[aria-pressed=true]");
    assert!(
        pressed
            .iter()
            .all(|mark| name_of(mark).contains("kernel 2"))
    );
    for chart in [ROOFLINE, TRAFFIC] {
        assert!(!root.all(&format!("{chart} [aria-pressed=true]")).is_empty());
    }
    page.select(Selection::Nothing);
    settled().await;
    assert!(
        root.all("[aria-pressed=true], .is-selected, .chart-raised > g")
            .is_empty()
    );
}

#[wasm_bindgen_test]
async fn marks_keep_their_elements_the_focus_and_the_tooltip_while_sizes_change() {
    let (root, page) = charts().await;
    let before = root.all("svg.chart *");
    let mark = root
        .focus(&format!("{ROOFLINE} [role=button][aria-label^='kernel 2']"))
        .await;
    let (name, tip) = (name_of(&mark), root.texts(".chart-tip"));
    assert_eq!(tip.len(), 1);
    page.edit(TEXT.replace("256", "320"), Origin::Single);
    settled().await;
    assert_ne!(name_of(&mark), name);
    assert_ne!(root.texts(".chart-tip"), tip);
    assert_eq!(focused(), mark);
    let after = root.all("svg.chart *");
    // A scale that changes has other ticks.
    let ticks = ".mark-mesh, .mark-axis, .mark-axis-text";
    let is_tick = |element: &&Element| element.closest(ticks).unwrap().is_some();
    let lost = before.iter().filter(|element| !after.contains(element));
    let lost: Vec<_> = lost.filter(|element| !is_tick(element)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[wasm_bindgen_test]
async fn the_focus_stays_in_the_chart_when_its_mark_goes() {
    let (root, page) = charts().await;
    let mark = root
        .focus(&format!("{TRAFFIC} [role=button][aria-label^='kernel 2']"))
        .await;
    assert!(name_of(&mark).contains("kernel 2"));
    page.edit(TEXT.replace("norm: n = softmax(z)\n", ""), Origin::Single);
    settled().await;
    assert!(
        name_of(&focused()).contains("kernel 1"),
        "{}",
        name_of(&focused())
    );
    assert_eq!(root.all(&format!("{TRAFFIC} [tabindex='0']")), [focused()]);
    // A mark that comes before others takes nothing from them.
    page.edit(TEXT.to_owned(), Origin::Single);
    settled().await;
    assert!(name_of(&focused()).contains("kernel 1"));
}

#[wasm_bindgen_test]
async fn a_chart_that_is_not_laid_out_draws_nothing() {
    static DRAWN: AtomicUsize = AtomicUsize::new(0);
    let text = RwSignal::new(TEXT.to_owned());
    let draw = move |(_width, _): (f64, _)| {
        DRAWN.fetch_add(1, Ordering::Relaxed);
        Scene::clone(&scene_of(&text.get()))
    };
    let is_shown = RwSignal::new(false);
    let root = mounted(move || {
        view! {
            <div hidden=move || !is_shown.get()>
                <Chart id="chart" draw />
            </div>
        }
    })
    .await;
    let follow = async |size: &str| {
        text.set(TEXT.replace("256", size));
        drawn().await;
        (
            root.all("svg, .chart-box").len(),
            DRAWN.load(Ordering::Relaxed),
        )
    };
    assert_eq!(follow("320").await, (0, 0));
    is_shown.set(true);
    drawn().await;
    let name = name_of(&root.one("[role=button]"));
    // The picture may bring a scroll bar, and with it another width.
    let shown = DRAWN.load(Ordering::Relaxed);
    assert_eq!(follow("384").await, (2, shown + 1));
    assert_ne!(name_of(&root.one("[role=button]")), name);
    is_shown.set(false);
    drawn().await;
    assert_eq!(follow("448").await, (0, shown + 1));
    root.set_hidden(true).await;
    is_shown.set(true);
    assert_eq!(follow("512").await, (0, shown + 1), "hidden further up");
    root.set_hidden(false).await;
    assert_eq!(follow("576").await.0, 2);
}

#[wasm_bindgen_test]
async fn the_bars_by_kernel_are_there_while_they_are_open() {
    let (root, page) = charts().await;
    let elements = || root.all(".by-kernel *").len();
    assert_eq!(elements(), 1, "the summary alone");
    page.edit(TEXT.replace("256", "320"), Origin::Single);
    drawn().await;
    assert_eq!(elements(), 1);
    root.one(".by-kernel").set_attribute("open", "").unwrap();
    drawn().await;
    // Read and written, before and after, of two kernels.
    assert_eq!(root.all(".by-kernel [role=button]").len(), 8);
    root.one(".by-kernel").remove_attribute("open").unwrap();
    drawn().await;
    assert_eq!(elements(), 1);
}

#[wasm_bindgen_test]
async fn a_tooltip_shows_what_is_pointed_at_until_escape() {
    let (root, _) = charts().await;
    let mark = format!("{TRAFFIC} [role=button]");
    assert!(root.all(".chart-tip").is_empty());
    root.point_at(&mark).await;
    let tip = root.texts(".chart-tip dd").concat();
    let label = name_of(&root.one(&mark));
    assert!(
        tip.contains("kB") && label.contains("kB"),
        "{tip} of {label}"
    );
    root.press("summary", "Escape").await;
    assert!(root.all(".chart-tip").is_empty());
}
