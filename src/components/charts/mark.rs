//! A mark of a chart.

use super::chart_state::{ChartState, ShownMark};
use fuseline_view::picture::charts::scene::{Mark, MarkKey, Reach, Shape};
use leptos::prelude::*;
use leptos::svg;

/// How far beyond a disc the pointer still hits its mark.
const HIT_MARGIN: f64 = 4.0;
/// Least radius in which the pointer hits a disc.
const MIN_HIT_RADIUS: f64 = 9.0;

/// A mark. It is a button with a name if the keyboard can reach it.
#[component]
pub fn MarkView(
    chart: ChartState,
    key: MarkKey,
    /// Id of the hatch pattern.
    hatch_id: StoredValue<String>,
) -> impl IntoView {
    let ShownMark { mark, name } = chart.mark(key)?;
    let shape = view! { <ShapeView mark hatch_id /> };
    let is_selected = move || chart.is_selected(key);
    Some(match key.reach {
        Reach::None => view! {
            <g class=key.class() class:is-selected=is_selected aria-hidden="true">{shape}</g>
        }
        .into_any(),
        Reach::Pointer => view! {
            <g
                class=format!("{} chart-stop", key.class())
                class:is-selected=is_selected
                aria-hidden="true"
                on:click=move |_| chart.click(key)
                on:pointerenter=move |event| chart.point(key, &event)
                on:pointerleave=move |event| chart.point_away(&event)
            >
                {shape}
            </g>
        }
        .into_any(),
        Reach::PointerAndKeyboard => {
            let element = NodeRef::<svg::G>::new();
            chart.register(key, element);
            view! {
                <g
                    node_ref=element
                    class=format!("{} chart-stop", key.class())
                    class:is-selected=is_selected
                    role="button"
                    tabindex=move || if chart.is_tab_stop(key) { "0" } else { "-1" }
                    aria-label=name
                    aria-pressed=move || chart.is_pressed(key).to_string()
                    on:click=move |_| chart.click(key)
                    on:pointerenter=move |event| chart.point(key, &event)
                    on:pointerleave=move |event| chart.point_away(&event)
                    on:focus=move |_| chart.focus(key)
                    on:blur=move |_| chart.blur()
                    on:keydown=move |event| chart.key_down(key, &event)
                >
                    {shape}
                </g>
            }
            .into_any()
        }
    })
}

/// A copy of a mark on top of all others, for emphasis.
#[component]
pub fn RaisedMark(
    chart: ChartState,
    key: MarkKey,
    /// Id of the hatch pattern.
    hatch_id: StoredValue<String>,
) -> impl IntoView {
    let ShownMark { mark, .. } = chart.mark(key)?;
    Some(view! {
        <g class=key.class() class:is-selected=move || chart.is_selected(key)>
            <ShapeView mark hatch_id />
        </g>
    })
}

/// The elements of a mark. Each attribute follows the mark by itself, so that a slider changes few
/// of them.
#[component]
fn ShapeView(
    /// The mark. Its shapes are all texts or all outlines.
    mark: ArcRwSignal<Mark>,
    /// Id of the hatch pattern.
    hatch_id: StoredValue<String>,
) -> impl IntoView {
    let attribute = |of: fn(&Shape) -> String| {
        let mark = mark.clone();
        move || mark.with(|mark| of(&mark.shape))
    };
    let has = |property: fn(&Mark) -> bool| mark.with_untracked(property);
    if has(|mark| matches!(mark.shape, Shape::Text { .. })) {
        return view! {
            <text transform=attribute(text_transform) text-anchor=attribute(text_anchor)>
                {attribute(text)}
            </text>
        }
        .into_any();
    }
    let hit = has(|mark| mark.label.is_some() && matches!(mark.shape, Shape::Circle { .. }))
        .then(|| view! { <path class="chart-hit" d=attribute(hit_data)></path> });
    let hatch = has(|mark| mark.role.is_hatched()).then(|| {
        let fill = hatch_id.with_value(|id| format!("url(#{id})"));
        view! { <path class="hatch" fill=fill d=attribute(Shape::path_data)></path> }
    });
    view! {
        {hit}
        <path d=attribute(Shape::path_data)></path>
        {hatch}
    }
    .into_any()
}

/// The outline in which the pointer hits a shape: a disc is enlarged.
fn hit_data(shape: &Shape) -> String {
    match *shape {
        Shape::Circle { center, radius } => {
            let radius = (radius + HIT_MARGIN).max(MIN_HIT_RADIUS);
            Shape::Circle { center, radius }.path_data()
        }
        _ => shape.path_data(),
    }
}

/// Puts a text at its place.
fn text_transform(shape: &Shape) -> String {
    let &Shape::Text {
        at: (x, y),
        turn_deg,
        ..
    } = shape
    else {
        return String::new();
    };
    let turn = if turn_deg == 0.0 {
        String::new()
    } else {
        format!(" rotate({turn_deg})")
    };
    format!("translate({x} {y}){turn}")
}

fn text_anchor(shape: &Shape) -> String {
    let Shape::Text { anchor, .. } = shape else {
        return String::new();
    };
    anchor.name().to_owned()
}

fn text(shape: &Shape) -> String {
    let Shape::Text { text, .. } = shape else {
        return String::new();
    };
    text.clone()
}
