//! A mark of a chart.

use super::chart_state::ChartState;
use crate::picture::charts::scene::{Mark, MarkKey, Reach, Shape};
use leptos::prelude::*;
use leptos::svg;

/// How far beyond a disc the pointer still hits its mark.
const HIT_MARGIN: f64 = 4.0;
/// Least radius in which the pointer hits a disc.
const MIN_HIT_RADIUS: f64 = 9.0;

/// A mark. It is a button with a name if the keyboard can reach it.
#[component]
pub fn MarkView(
    /// The state of the chart.
    chart: ChartState,
    /// The key of the mark.
    key: MarkKey,
    /// Id of the hatch pattern.
    hatch_id: StoredValue<String>,
) -> impl IntoView {
    let mark = Memo::new(move |_| chart.mark(key));
    let shape = move || mark.with(|mark| mark.as_ref().map(|mark| shape_of(mark, hatch_id)));
    let is_selected = move || chart.is_selected(key);
    match key.reach {
        Reach::None => view! {
            <g class=key.class() class:is-selected=is_selected aria-hidden="true">{shape}</g>
        }
        .into_any(),
        Reach::Pointer => view! {
            <g
                class=format!("{} chart-stop", key.class())
                class:is-selected=is_selected
                aria-hidden="true"
                on:click=move |_| chart.press(key)
                on:pointerenter=move |_| chart.point(key)
                on:pointerleave=move |_| chart.point_away()
            >
                {shape}
            </g>
        }
        .into_any(),
        Reach::PointerAndKeyboard => {
            let element = NodeRef::<svg::G>::new();
            chart.register(key, element);
            let name = move || {
                let name = |mark: &Mark| mark.label.as_ref().map(|label| label.name.clone());
                mark.with(|mark| mark.as_ref().and_then(name))
            };
            view! {
                <g
                    node_ref=element
                    class=format!("{} chart-stop", key.class())
                    class:is-selected=is_selected
                    role="button"
                    tabindex=move || if chart.is_tab_stop(key) { "0" } else { "-1" }
                    aria-label=name
                    aria-pressed=move || is_selected().to_string()
                    on:click=move |_| chart.press(key)
                    on:pointerenter=move |_| chart.point(key)
                    on:pointerleave=move |_| chart.point_away()
                    on:focus=move |_| chart.focus(key)
                    on:blur=move |_| chart.blur()
                    on:keydown=move |event| chart.key_down(key, &event)
                >
                    {shape}
                </g>
            }
            .into_any()
        }
    }
}

/// A copy of a mark on top of all others, for emphasis.
#[component]
pub fn RaisedMark(
    /// The state of the chart.
    chart: ChartState,
    /// The key of the mark.
    key: MarkKey,
    /// Id of the hatch pattern.
    hatch_id: StoredValue<String>,
) -> impl IntoView {
    let mark = Memo::new(move |_| chart.mark(key));
    view! {
        <g class=key.class() class:is-selected=move || chart.is_selected(key)>
            {move || mark.with(|mark| mark.as_ref().map(|mark| shape_of(mark, hatch_id)))}
        </g>
    }
}

fn shape_of(mark: &Mark, hatch_id: StoredValue<String>) -> AnyView {
    match mark.shape.clone() {
        Shape::Path { .. } | Shape::Curve { .. } => {
            view! { <path d=mark.shape.path_data() /> }.into_any()
        }
        Shape::Circle {
            center: (x, y),
            radius,
        } => {
            let hit = mark.label.as_ref().map(|_| {
                let radius = (radius + HIT_MARGIN).max(MIN_HIT_RADIUS);
                view! { <circle class="chart-hit" cx=x cy=y r=radius /> }
            });
            view! {
                {hit}
                <circle cx=x cy=y r=radius />
            }
            .into_any()
        }
        Shape::Rect {
            corner: (x, y),
            width,
            height,
        } => {
            let hatch = mark.role.is_hatched().then(|| {
                let fill = hatch_id.with_value(|id| format!("url(#{id})"));
                view! { <rect class="hatch" fill=fill x=x y=y width=width height=height /> }
            });
            view! {
                <rect x=x y=y width=width height=height />
                {hatch}
            }
            .into_any()
        }
        Shape::Text {
            at: (x, y),
            anchor,
            turn_deg,
            text,
        } => {
            let transform = (turn_deg != 0.0).then(|| format!("rotate({turn_deg} {x} {y})"));
            view! {
                <text x=x y=y text-anchor=anchor.name() transform=transform>
                    {text}
                </text>
            }
            .into_any()
        }
    }
}
