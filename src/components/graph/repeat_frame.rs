//! The frames of repeats: the graph shows one iteration, and the tag says how many there are.

use super::placed::StoredGraph;
use super::state::Graph;
use fuseline_view::picture::dag::Point;
use fuseline_view::picture::dag::frames::{Frame, ROUND};
use fuseline_view::picture::dag::metrics::MARK_HALF;
use fuseline_view::picture::dag::repeats::Repeat;
use leptos::prelude::*;

/// The borders, under everything else.
#[component]
pub(super) fn RepeatFrames(placed: StoredGraph) -> impl IntoView {
    let frame = |frame: &Frame| {
        let parts = frame.parts.iter().map(|part| {
            view! { <rect class="dag-repeat-ground" x=part.x y=part.y width=part.width height=part.height rx="16"></rect> }
        });
        view! {
            <g class="dag-repeat" aria-hidden="true">
                {parts.collect_view()}
                <path class="dag-repeat-border" d=frame.path()></path>
            </g>
        }
    };
    placed.with_value(|placed| placed.layout.frames.iter().map(frame).collect_view())
}

/// The tags, which unfold all iterations, and the marks on the borders.
#[component]
pub(super) fn RepeatTags(graph: Graph, placed: StoredGraph) -> impl IntoView {
    let placed = placed.get_value();
    let layout = &placed.layout;
    let tag = |(frame, run): (&Frame, &Repeat)| {
        let (frame, run) = (frame.clone(), run.clone());
        view! { <RepeatTag graph number=placed.number frame run /> }
    };
    let tags = layout.frames.iter().zip(layout.repeats.runs()).map(tag);
    tags.collect_view()
}

#[component]
fn RepeatTag(
    graph: Graph,
    /// The number of the layout.
    number: usize,
    frame: Frame,
    run: Repeat,
) -> impl IntoView {
    let first = run.first;
    let look = graph.look(number, move |looks| looks.repeat(&run));
    let name = move || look.with(|look| look.name.clone());
    let page = graph.page();
    let mark = |words: &'static str| {
        move |at: &Point| {
            view! {
                <g class="dag-repeat-mark" transform=format!("translate({:.1} {:.1})", at.x, at.y)>
                    <title>{words}</title>
                    <circle r=MARK_HALF></circle>
                    <path d=ROUND></path>
                </g>
            }
        }
    };
    let entries = frame.entries.iter().map(mark(
        "from the iteration before; in the first iteration, from above",
    ));
    let exits = frame.exits.iter().map(mark(
        "to the next iteration; from the last iteration, to below",
    ));
    let (tag, middle) = (frame.tag, frame.tag.center());
    view! {
        <g aria-hidden="true">{entries.collect_view()} {exits.collect_view()}</g>
        <g class="dag-repeat-tag">
        <g
            role="button"
            tabindex="0"
            aria-expanded="false"
            aria-label=name
            on:click=move |event| {
                event.stop_propagation();
                if !graph.was_dragged() {
                    page.pictures.drawing.toggle_fold();
                }
            }
            on:focus=move |_| graph.on_tag_focus(first, tag)
            on:blur=move |_| graph.on_blur(number)
            on:keydown=move |event| {
                if event.ctrl_key() || event.meta_key() {
                    return;
                }
                // The other keys of the graph are about ops and kernels.
                event.stop_propagation();
                if event.key() == "Enter" || event.key() == " " {
                    event.prevent_default();
                    page.pictures.drawing.toggle_fold();
                }
            }
        >
            <title>{name}</title>
            <rect x=tag.x y=tag.y width=tag.width height=tag.height rx=tag.height / 2.0></rect>
        </g>
        <g class="dag-repeat-words" aria-hidden="true">
            <path d=format!("M{:.1} {:.1}h8m-4 -4v8", tag.x + 11.0, middle.y)></path>
            <text x=tag.x + 28.0 y=middle.y + 4.5>
                <tspan class="dag-function">{move || look.with(|look| look.count.clone())}</tspan>
                <tspan class="dag-label" dx="7">{move || look.with(|look| look.bytes.clone())}</tspan>
            </text>
        </g>
        </g>
    }
}
