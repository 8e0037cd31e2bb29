//! The tooltip of a chart: the label of the mark under the pointer or with the focus. For screen
//! readers the label is the name of the mark.

use super::chart_state::ChartState;
use fuseline_browser::{is_on, on_window};
use fuseline_view::picture::charts::scene::{Label, Mark, Point, Role, Scene, Shape};
use leptos::ev;
use leptos::prelude::*;
use std::sync::Arc;

/// The tooltip. Mounted while it shows.
#[component]
pub fn Tip(
    chart: ChartState,
    /// The picture.
    scene: Signal<Arc<Scene>>,
) -> impl IntoView {
    let tip = Memo::new(move |_| {
        let mark = chart.mark(chart.pointed.get()?)?.mark.get();
        scene.with(|scene| TipContent::of(mark, scene))
    });
    view! {
        <Show when=move || tip.with(Option::is_some)>
            <TipBox chart tip />
        </Show>
    }
}

#[component]
fn TipBox(
    chart: ChartState,
    /// What the tooltip shows.
    tip: Memo<Option<TipContent>>,
) -> impl IntoView {
    // On the window, so that Escape works wherever the focus is.
    on_window(ev::keydown, move |event| {
        if event.key() == "Escape" {
            chart.hide_tip();
        }
    });
    // A finger points at nothing once it is lifted, so a tooltip that it has opened stays until it
    // presses elsewhere.
    on_window(ev::pointerdown, move |event| {
        if event.pointer_type() == "touch" && !is_on(&event, ".chart-stop, .chart-tip") {
            chart.hide_tip();
        }
    });
    let style =
        move |part: fn(&TipContent) -> String| move || tip.with(|tip| tip.as_ref().map(part));
    let label = move || tip.with(|tip| tip.as_ref().map(|tip| label_view(&tip.label)));
    view! {
        <div
            class="chart-tip"
            aria-hidden="true"
            style:left=style(|tip| format!("{}%", tip.left_percent))
            style:top=style(|tip| format!("{}%", tip.top_percent))
            style:transform=style(TipContent::transform)
            on:pointerenter=move |_| chart.keep_tip()
            on:pointerleave=move |event| chart.point_away(&event)
        >
            {label}
        </div>
    }
}

fn label_view(label: &Label) -> impl IntoView + use<> {
    let facts = label.facts.iter().map(|(what, how_much)| {
        view! {
            <dt>{*what}</dt>
            <dd>{how_much.clone()}</dd>
        }
    });
    let facts = facts.collect_view();
    view! {
        <p class="chart-tip-heading">{label.heading.clone()}</p>
        <dl>{facts}</dl>
    }
}

/// The content of a tooltip, and its place in the chart.
#[derive(Clone, PartialEq)]
struct TipContent {
    label: Label,
    role: Role,
    left_percent: f64,
    top_percent: f64,
}

impl TipContent {
    fn of(mark: Mark, scene: &Scene) -> Option<Self> {
        let (x, y) = place_of(&mark.shape);
        Some(Self {
            label: mark.label?,
            role: mark.role,
            left_percent: x / scene.width.max(1.0) * 100.0,
            top_percent: y / scene.height.max(1.0) * 100.0,
        })
    }

    /// Puts the tooltip above or below its mark, where there is more space, and shifts it so that
    /// it stays over the chart.
    fn transform(&self) -> String {
        let down = if self.top_percent < 50.0 {
            distance_below(self.role)
        } else {
            "calc(-100% - 14px)"
        };
        format!("translate(-{}%, {down})", self.left_percent)
    }
}

/// Distance from a mark to a tooltip below it. A point and its number have labels below them that
/// must stay visible.
const fn distance_below(role: Role) -> &'static str {
    match role {
        Role::NumberPlate => "46px",
        Role::SolidPoint | Role::HollowPoint => "34px",
        _ => "14px",
    }
}

/// The point of a mark at which its tooltip is.
fn place_of(shape: &Shape) -> Point {
    match shape {
        Shape::Circle { center, .. } => *center,
        Shape::Rect {
            corner,
            width,
            height,
        } => (corner.0 + width / 2.0, corner.1 + height / 2.0),
        Shape::Text { at, .. } => *at,
        Shape::Path { points, .. } => points.first().copied().unwrap_or_default(),
        Shape::Curve { ends, .. } => ends[0],
    }
}
