//! The page in the frame of another one: the named views, a link to the whole page, and the
//! messages.

use crate::app::embed::{Content, Request, State, View, Views, Wish, message};
use crate::app::history::Origin;
use crate::app::sharing::{self, Carried, Link};
use crate::app::state::Page;
use crate::components::charts::enlarged_chart::EnlargedChart;
use crate::components::charts::{RooflinePanel, TimelinePanel, TrafficPanel};
use crate::components::explanation::ExplanationCard;
use crate::components::graph::GraphPanel;
use crate::components::headline::Headline;
use crate::components::results::kernels::KernelsTable;
use crate::components::sliders::Sliders;
use fuseline_browser::{self as browser, Debounce, Reply};
use fuseline_core::examples::{EMBEDDED, example, example_of};
use fuseline_view::page::links::SharedState;
use leptos::html;
use leptos::prelude::*;
use std::time::Duration;

/// How long after the last change the link to the whole page is updated.
const LINK_PAUSE: Duration = Duration::from_millis(300);

/// The views, in the order of [`View`]. Nothing is read from or written to the browser's storage.
#[component]
pub fn Embedded(
    /// The share link in the address, if there is one.
    link: Option<Link>,
    /// What is shown.
    views: Views,
) -> impl IntoView {
    let page = page_of(link);
    provide_context(page);
    EnlargedChart::provide();
    let Views { shown, problem } = views;
    if let Some(problem) = problem {
        page.tell_failure(problem);
    }
    let names = shown.iter().map(|&view| view.into()).collect();
    exchange_messages(page, names);
    let content = NodeRef::<html::Main>::new();
    let size_px = browser::content_size(content);
    Effect::new(move || {
        let height_px = size_px.get().1.ceil();
        if height_px > 0.0 {
            browser::post_to_parent(&message(None, &Content::Resize { height_px }));
        }
    });
    let problem = move || {
        page.screen
            .notice
            .with(|notice| notice.as_ref().map(|notice| notice.text.clone()))
    };
    let error = move || {
        let has_error = page.checked.has_error.get();
        has_error.then(|| page.checked.shown_in_error.get().sentence())
    };
    let view = |view: View| match view {
        View::Headline => view! { <Headline /> }.into_any(),
        View::Sliders => view! { <Sliders /> }.into_any(),
        View::Graph => view! { <GraphPanel is_embedded=true /> }.into_any(),
        View::Roofline => view! { <RooflinePanel /> }.into_any(),
        View::Timeline => view! { <TimelinePanel /> }.into_any(),
        View::Traffic => view! { <TrafficPanel /> }.into_any(),
        View::Kernels => view! {
            <section class="panel results" aria-labelledby="kernels-title">
                <header class="panel-head"><h2 id="kernels-title">"Kernels"</h2></header>
                <KernelsTable />
            </section>
        }
        .into_any(),
    };
    view! {
        <main class="embedded" node_ref=content>
            <h1 class="sr-only">"Fuseline: " {move || page.program_name()}</h1>
            <div class="notice" role="status">{problem}</div>
            <div class="stale-note" role="status">{error}</div>
            <div
                class="embedded-views charts"
                class:is-stale=page.checked.is_grey
                class:is-unfused=move || !page.chosen.is_fused.get()
            >
                {shown.into_iter().map(view).collect_view()}
            </div>
            <WholePage />
        </main>
        <ExplanationCard />
    }
}

/// A page with the program of the link, else with an example.
fn page_of(link: Option<Link>) -> Page {
    let first = example(EMBEDDED).map_or("", |example| example.text);
    let page = Page::new(first.to_owned());
    match link.map(|link| link.carried) {
        None => page.origin.example.set(Some(EMBEDDED)),
        Some(Ok(Carried::Lesson(_) | Carried::Results(_))) => {
            page.origin.example.set(Some(EMBEDDED));
            page.tell_failure(
                "Lessons and results need the whole page: open its link without “?embed=”.",
            );
        }
        Some(Ok(Carried::Puzzle(source))) => show(page, source.start()),
        Some(Ok(Carried::State(state))) => show(page, *state),
        Some(Err(problem)) => {
            page.origin.example.set(Some(EMBEDDED));
            page.tell_failure(problem.message());
        }
    }
    page
}

fn show(page: Page, state: SharedState) {
    let example = example_of(&state.text).map(|example| example.id);
    page.replace(state.text.clone(), Origin::Single, example, (&state).into());
    if let Some(op) = &state.selected_op {
        page.select_named(op);
    }
    sharing::choose(page, state);
}

/// The link to the whole page with what is shown.
#[component]
fn WholePage() -> impl IntoView {
    let page = Page::of_context();
    let address = RwSignal::new(browser::page_address());
    let later = Debounce::after(LINK_PAUSE);
    Effect::new(move || {
        page.text.track();
        page.chosen.policy.track();
        page.chosen.fusion.track();
        page.chosen.conventions.track();
        page.chosen.device.track();
        page.chosen.is_fused.track();
        page.selection.track();
        later.call(move || {
            browser::spawn(async move {
                // A text that is too long for a link leaves the one before.
                if let Ok(link) = sharing::link(page).await {
                    address.try_set(link);
                }
            });
        });
    });
    view! {
        <p class="embedded-foot">
            <a href=move || address.get() target="_blank" rel="noopener">"Open in Fuseline"</a>
        </p>
    }
}

/// Answers messages, and sends each change to the page around.
fn exchange_messages(page: Page, views: Vec<&'static str>) {
    let state = move || {
        let [is_fused, is_computing] =
            [page.chosen.is_fused.get(), page.checked.is_computing.get()];
        let (parsed, analysis, diagnostics) = (
            page.parsed.get(),
            page.analysis.get(),
            page.checked.diagnostics.get(),
        );
        let state = page.text.with(|text| {
            State::new(
                text,
                &parsed,
                &diagnostics,
                &analysis,
                [is_fused, is_computing],
            )
        });
        Content::Change(Box::new(state))
    };
    browser::on_message(move |received, reply| {
        let Some(request) = Request::read(received) else {
            return;
        };
        match request.wish.clone() {
            Err(problem) => reply.send(&request.answer(&Content::of_error(&problem))),
            Ok(Wish::Get) => send_analysis(page, request, reply),
            Ok(Wish::Set(settings)) => {
                let change = page.text.with_untracked(|text| settings.change(text));
                let content = match change {
                    Err(problem) => Content::of_error(&problem),
                    Ok(change) => {
                        if let Some(text) = change.text {
                            page.open(text);
                        }
                        page.choose(|choices| {
                            if let Some(device) = change.device {
                                choices.device.clone_from(device);
                            }
                            choices.policy = change.policy.unwrap_or(choices.policy);
                            choices.is_fused = change.is_fused.unwrap_or(choices.is_fused);
                        });
                        untrack(state)
                    }
                };
                reply.send(&request.answer(&content));
            }
        }
    });
    browser::post_to_parent(&message(None, &Content::Ready { views }));
    Effect::watch(
        state,
        |content, _, _| browser::post_to_parent(&message(None, content)),
        true,
    );
}

fn send_analysis(page: Page, request: Request, reply: Reply) {
    page.report(move |json| {
        let analysis = json.and_then(|json| serde_json::from_str(json).ok());
        let content = match analysis {
            Some(analysis) => Content::Analysis { analysis },
            None => Content::Error {
                message:
                    "The analysis was stopped, or the program has changed meanwhile. Ask again."
                        .to_owned(),
            },
        };
        reply.send(&request.answer(&content));
    });
}
