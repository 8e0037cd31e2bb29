//! Exports: pictures, tables, and the program as data.

use super::menu::Menu;
use crate::app::state::{Page, PictureForm};
use fuseline_browser::download;
use fuseline_view::picture::export::PictureKind;
use fuseline_view::present::export::OpList;
use fuseline_view::present::graph_file::{dot, model_explorer};
use fuseline_view::present::tables::TableKind;
use leptos::prelude::*;
use serde::Serialize;
use strum::VariantArray;

/// Saves what is shown as a file, in the form that is chosen.
#[component]
pub fn ExportMenu() -> impl IntoView {
    let page = Page::of_context();
    let picture = move |kind: PictureKind| {
        let form = move |form: PictureForm| {
            let name = format!("{} as {}", kind.label(), form.label());
            view! {
                <button type="button" aria-label=name on:click=move |_| page.save_picture(kind, form)>{form.label()}</button>
            }
        };
        view! {
            <li><span>{kind.label()}</span> {form(PictureForm::Svg)} {form(PictureForm::Png)}</li>
        }
    };
    let table = move |kind: TableKind| {
        view! {
            <button type="button" aria-label=format!("{} as CSV", kind.label()) on:click=move |_| page.save_table(kind)>
                {kind.label()}
            </button>
        }
    };
    let is_pinned = move || page.against.pinned.with(Option::is_some);
    view! {
        <Menu label="Export" is_at_end=true closes_on_choice=true panel_class="export-menu">
            <section aria-labelledby="export-pictures">
                <h2 id="export-pictures">"Pictures"</h2>
                <ul class="export-pictures">
                    {PictureKind::VARIANTS.iter().copied().map(picture).collect_view()}
                </ul>
                <div class="menu-list">
                    <button type="button" on:click=move |_| page.screen.is_handout_open.set(true)>
                        "Handout "<small>"two pages to print"</small>
                    </button>
                </div>
            </section>
            <section aria-labelledby="export-tables">
                <h2 id="export-tables">"Tables as CSV"</h2>
                <div class="export-tables">
                    {TableKind::VARIANTS.iter().copied().map(table).collect_view()}
                    <Show when=is_pinned>
                        <button
                            type="button"
                            aria-label="Pinned and present kernels as CSV"
                            on:click=move |_| page.save_pinned()
                        >
                            "Pinned and present"
                        </button>
                    </Show>
                </div>
            </section>
            <section aria-labelledby="export-data">
                <h2 id="export-data">"Data"</h2>
                <DataExports />
            </section>
        </Menu>
    }
}

/// The program, its analysis and its graph for other programs.
#[component]
fn DataExports() -> impl IntoView {
    let page = Page::of_context();
    let export_analysis = move |_| {
        page.report(move |json| match json {
            Some(json) => download("fuseline-analysis.json", "application/json", json),
            None => page.tell_failure("The analysis was not saved: the work was stopped."),
        });
    };
    let export_ops = move |_| {
        let shown = page.shown.get_untracked();
        let list =
            OpList::new(shown.graph()).with_attributes(shown.program(), shown.statement_of_op());
        save(page, "fuseline-ops.json", &list);
    };
    let export_dot = move |_| {
        let name = untrack(|| page.program_name());
        let text = page
            .analysis
            .with_untracked(|analysis| dot(&name, analysis));
        download("fuseline-graph.dot", "text/vnd.graphviz", &text);
    };
    let export_model_explorer = move |_| {
        let name = untrack(|| page.program_name());
        let shown = page.shown.get_untracked();
        let list =
            OpList::new(shown.graph()).with_attributes(shown.program(), shown.statement_of_op());
        let graph = page
            .analysis
            .with_untracked(|analysis| model_explorer(&name, analysis, &list));
        save(page, "fuseline-graph.json", &graph);
    };
    view! {
        <div class="menu-list">
            <button type="button" on:click=move |_| page.save_text()>
                "Text "<small>"the notation, as it stands"</small>
            </button>
            <button type="button" on:click=export_analysis>
                "Analysis "<small>"JSON, every number"</small>
            </button>
            <button type="button" on:click=export_ops>
                "Op list "<small>"JSON, shapes resolved"</small>
            </button>
            <button type="button" on:click=export_dot>
                "Graph for Graphviz "<small>"DOT, a cluster for each kernel"</small>
            </button>
            <button type="button" on:click=export_model_explorer>
                "Graph for Model Explorer "<small>"JSON, a layer for each kernel"</small>
            </button>
            <button type="button" on:click=move |_| page.save_script()>
                "PyTorch script "<small>"eager and compiled, checked and timed on your GPU"</small>
            </button>
            <a class="button" href="./embed.html" target="_blank" rel="noopener">
                "On a page of your own "<small>"how to embed the graph and the charts"</small>
            </a>
        </div>
    }
}

fn save(page: Page, name: &str, content: &impl Serialize) {
    match serde_json::to_string_pretty(content) {
        Ok(json) => download(name, "application/json", &json),
        Err(problem) => page.tell_failure(format!("This cannot be written as JSON: {problem}.")),
    }
}
