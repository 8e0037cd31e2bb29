//! A scene as SVG whose marks can be pointed at, focused, named and selected.
//!
//! A chart is one tab stop: the arrow keys move from mark to mark. When a slider moves, marks keep their
//! elements and only attributes that changed are written.

use crate::picture::scene::{Mark, Role, Scene, Shape};
use crate::platform::Later;
use leptos::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the pointer rests on a mark before its tooltip takes the place of another one.
const TIP_RESTS: Duration = Duration::from_millis(120);
/// How long a tooltip stays once the pointer has left its mark.
const TIP_STAYS: Duration = Duration::from_millis(500);

/// What makes a mark the same one in the next scene: its role, its kernel, its place among those with the
/// same role and kernel, and whether it can be focused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    role: Role,
    kernel: Option<usize>,
    place: usize,
    is_focusable: bool,
}

/// The marks of a scene by their keys.
#[derive(Clone, Debug, PartialEq, Default)]
struct Index {
    in_drawing_order: Vec<Key>,
    in_focus_order: Vec<Key>,
    marks: BTreeMap<Key, usize>,
}

impl Index {
    fn of(scene: &Scene) -> Self {
        let mut is_focusable = vec![false; scene.marks.len()];
        for &mark in &scene.focus_order {
            if let Some(is_focusable) = is_focusable.get_mut(mark) {
                *is_focusable = true;
            }
        }
        let mut seen: BTreeMap<(Role, Option<usize>), usize> = BTreeMap::new();
        let mut index = Self::default();
        for (at, (mark, is_focusable)) in scene.marks.iter().zip(is_focusable).enumerate() {
            let place = seen.entry((mark.role, mark.kernel)).or_default();
            let key = Key {
                role: mark.role,
                kernel: mark.kernel,
                place: *place,
                is_focusable,
            };
            *place += 1;
            index.in_drawing_order.push(key);
            index.marks.insert(key, at);
        }
        index.in_focus_order = scene
            .focus_order
            .iter()
            .filter_map(|&mark| index.in_drawing_order.get(mark).copied())
            .collect();
        index
    }
}

/// What the marks of one chart share.
#[derive(Clone, Copy)]
struct Chart {
    scene: Signal<Scene>,
    index: Memo<Index>,
    selected: Signal<Option<usize>>,
    on_select: Callback<Option<usize>>,
    /// The mark that the tab key reaches.
    stop: Memo<Option<Key>>,
    last_focused: RwSignal<Option<Key>>,
    /// The mark that the keyboard wants focused.
    wanted: RwSignal<Option<Key>>,
    /// The mark whose tooltip shows.
    pointed: RwSignal<Option<Key>>,
    /// Hides the tooltip a moment after the pointer has left, which leaves time to move onto it.
    hide: Later,
    /// Shows another mark's tooltip instead.
    switch: Later,
    hatch: StoredValue<String>,
}

impl Chart {
    fn mark(&self, key: Key) -> Option<Mark> {
        let at = self.index.with(|index| index.marks.get(&key).copied())?;
        self.scene.with(|scene| scene.marks.get(at).cloned())
    }

    /// Selects the mark's kernel, or nothing when it is selected already.
    fn select(&self, key: Key) {
        let is_selected = key.kernel.is_some() && self.selected.get_untracked() == key.kernel;
        self.on_select
            .run(if is_selected { None } else { key.kernel });
    }

    /// Shows a mark's tooltip: at once, or in place of another one when the pointer rests here, so that it can
    /// cross marks on its way to that tooltip.
    fn enter(&self, key: Key) {
        self.hide.cancel();
        if self.pointed.get_untracked().is_none() {
            self.pointed.set(Some(key));
        } else {
            let pointed = self.pointed;
            self.switch.call(move || {
                let _ = pointed.try_set(Some(key));
            });
        }
    }

    /// Hides the tooltip unless the pointer soon gets to it or to another mark.
    fn leave(&self) {
        self.switch.cancel();
        let pointed = self.pointed;
        self.hide.call(move || {
            // The chart may be gone by then.
            let _ = pointed.try_set(None);
        });
    }

    /// Shows this tooltip now, or none, whatever was about to happen.
    fn show(&self, key: Option<Key>) {
        self.hide.cancel();
        self.switch.cancel();
        self.pointed.set(key);
    }

    /// Keeps the tooltip that shows.
    fn stay(&self) {
        self.hide.cancel();
        self.switch.cancel();
    }

    /// The marks that are drawn once more on top: those of the selected kernel, then of the one pointed at.
    fn raised(&self) -> Vec<Key> {
        let selected = self.selected.get();
        let pointed = self.pointed.get().and_then(|key| key.kernel);
        self.index.with(|index| {
            let of = |kernel: Option<usize>| {
                let keys = index.in_drawing_order.iter().copied();
                keys.filter(move |key| {
                    kernel.is_some() && key.kernel == kernel && key.role.is_raised()
                })
            };
            let below = if selected == pointed { None } else { selected };
            of(below).chain(of(pointed)).collect()
        })
    }

    /// Moves the focus as a key says; whether the key was one of ours.
    fn press(&self, key: Key, name: &str) -> bool {
        let order = self
            .index
            .with_untracked(|index| index.in_focus_order.clone());
        let Some(here) = order.iter().position(|&other| other == key) else {
            return false;
        };
        let target = match name {
            "ArrowRight" | "ArrowDown" => (here + 1) % order.len(),
            "ArrowLeft" | "ArrowUp" => (here + order.len() - 1) % order.len(),
            "Home" => 0,
            "End" => order.len() - 1,
            "Enter" | " " => {
                self.select(key);
                return true;
            }
            "Escape" if self.pointed.get_untracked().is_some() => {
                self.show(None);
                return true;
            }
            _ => return false,
        };
        self.wanted.set(order.get(target).copied());
        true
    }
}

/// Shows a scene.
///
/// `id` is unique on the page. `selected` is the selected fused kernel, `on_select` is told of the kernel that a
/// visitor picks here, or of `None` when they pick the selected one again. The picture fills its container's
/// width, so the caller chooses a scene of about that many units.
#[component]
pub fn SceneView(
    /// Unique on the page.
    id: &'static str,
    /// What to show.
    #[prop(into)]
    scene: Signal<Scene>,
    /// The selected fused kernel.
    #[prop(into)]
    selected: Signal<Option<usize>>,
    /// Told of the kernel that a visitor picks.
    #[prop(into)]
    on_select: Callback<Option<usize>>,
) -> impl IntoView {
    let index = Memo::new(move |_| scene.with(Index::of));
    let last_focused = RwSignal::new(None::<Key>);
    let stop = Memo::new(move |_| {
        let last = last_focused.get();
        index.with(|index| {
            last.filter(|key| index.marks.contains_key(key))
                .or_else(|| index.in_focus_order.first().copied())
        })
    });
    let chart = Chart {
        scene,
        index,
        selected,
        on_select,
        stop,
        last_focused,
        wanted: RwSignal::new(None),
        pointed: RwSignal::new(None),
        hide: Later::after(TIP_STAYS),
        switch: Later::after(TIP_RESTS),
        hatch: StoredValue::new(format!("{id}-hatch")),
    };
    // A tooltip is dismissed from wherever the focus is.
    let escape = window_event_listener(leptos::ev::keydown, move |event| {
        if event.key() == "Escape" && chart.pointed.get_untracked().is_some() {
            chart.show(None);
        }
    });
    on_cleanup(move || escape.remove());
    let raised = Memo::new(move |_| chart.raised());
    let view_box = move || scene.with(|s| format!("0 0 {} {}", s.width, s.height));
    let title = Memo::new(move |_| scene.with(|s| s.title.clone()));
    let description = Memo::new(move |_| scene.with(|s| s.description.clone()));
    view! {
        <div class="chart-box">
            <svg
                class="chart"
                class:has-selection=move || selected.get().is_some()
                viewBox=view_box
                role="group"
                aria-label=title
                aria-describedby=format!("{id}-description")
            >
                <defs>
                    <pattern
                        id=format!("{id}-hatch")
                        width="5"
                        height="5"
                        patternUnits="userSpaceOnUse"
                        patternTransform="rotate(45)"
                    >
                        <rect class="hatch-line" width="2" height="5"></rect>
                    </pattern>
                </defs>
                <For
                    each=move || index.with(|index| index.in_drawing_order.clone())
                    key=|key| *key
                    children=move |key| mark_view(chart, key)
                />
                <g class="chart-raised" aria-hidden="true">
                    <For
                        each=move || raised.get()
                        key=|key| *key
                        children=move |key| raised_view(chart, key)
                    />
                </g>
            </svg>
            <p class="sr-only" id=format!("{id}-description")>
                {description}
            </p>
            <Tooltip chart />
        </div>
    }
}

/// One mark: its shape alone, or a named element around it when it can be focused.
fn mark_view(chart: Chart, key: Key) -> AnyView {
    let mark = Memo::new(move |_| chart.mark(key));
    let Some(first) = mark.get_untracked() else {
        return ().into_any();
    };
    let class = first.class();
    let is_selected = move || key.kernel.is_some() && chart.selected.get() == key.kernel;
    let shape = shape_view(chart, mark, &first);
    if !key.is_focusable && first.label.is_some() {
        // A second place to point at what the keyboard reaches elsewhere.
        return view! {
            <g
                class=class
                class:chart-stop=true
                class:is-selected=is_selected
                aria-hidden="true"
                on:click=move |_| chart.select(key)
                on:pointerenter=move |_| chart.enter(key)
                on:pointerleave=move |_| chart.leave()
            >
                {shape}
            </g>
        }
        .into_any();
    }
    if !key.is_focusable {
        return view! {
            <g class=class class:is-selected=is_selected aria-hidden="true">
                {shape}
            </g>
        }
        .into_any();
    }
    let element = NodeRef::<leptos::svg::G>::new();
    Effect::new(move |_| {
        if chart.wanted.get() == Some(key)
            && let Some(element) = element.get()
        {
            // A mark that has just left the page has no focus to take.
            let _ = element.focus();
        }
    });
    let name = move || {
        mark.with(|mark| {
            let label = mark.as_ref().and_then(|mark| mark.label.as_ref());
            label.map(|label| label.name.clone()).unwrap_or_default()
        })
    };
    view! {
        <g
            node_ref=element
            class=class
            class:chart-stop=true
            class:is-selected=is_selected
            role="button"
            tabindex=move || if chart.stop.get() == Some(key) { "0" } else { "-1" }
            aria-label=name
            aria-pressed=move || if is_selected() { "true" } else { "false" }
            on:click=move |_| chart.select(key)
            on:pointerenter=move |_| chart.enter(key)
            on:pointerleave=move |_| chart.leave()
            on:focus=move |_| {
                chart.last_focused.set(Some(key));
                chart.show(Some(key));
            }
            on:blur=move |_| {
                chart.wanted.set(None);
                chart.show(None);
            }
            on:keydown=move |event| {
                if chart.press(key, &event.key()) {
                    event.prevent_default();
                    event.stop_propagation();
                }
            }
        >
            {shape}
        </g>
    }
    .into_any()
}

/// A mark once more, to look at only: moving the mark itself to the front would take its focus away.
fn raised_view(chart: Chart, key: Key) -> AnyView {
    let mark = Memo::new(move |_| chart.mark(key));
    let Some(first) = mark.get_untracked() else {
        return ().into_any();
    };
    let is_selected = move || key.kernel.is_some() && chart.selected.get() == key.kernel;
    let shape = shape_view(chart, mark, &first);
    view! {
        <g class=first.class() class:is-selected=is_selected>
            {shape}
        </g>
    }
    .into_any()
}

/// The element of a shape; its attributes follow the mark.
fn shape_view(chart: Chart, mark: Memo<Option<Mark>>, first: &Mark) -> AnyView {
    let number = move |part: fn(&Shape) -> f64| {
        move || mark.with(|mark| mark.as_ref().map_or(0.0, |mark| part(&mark.shape)))
    };
    match &first.shape {
        Shape::Path { .. } | Shape::Curve { .. } => {
            let data = move || mark.with(|mark| mark.as_ref().map(|mark| mark.shape.path_data()));
            view! { <path d=data></path> }.into_any()
        }
        Shape::Circle { .. } => {
            let is_stop = first.label.is_some();
            let hit = is_stop.then(|| {
                view! {
                    <circle
                        class="chart-hit"
                        cx=number(x_of)
                        cy=number(y_of)
                        r=number(|shape| (width_of(shape) + 4.0).max(9.0))
                    ></circle>
                }
            });
            view! {
                {hit}
                <circle cx=number(x_of) cy=number(y_of) r=number(width_of)></circle>
            }
            .into_any()
        }
        Shape::Rect { .. } => {
            let rect = move |class, fill| {
                view! {
                    <rect
                        class=class
                        fill=fill
                        x=number(x_of)
                        y=number(y_of)
                        width=number(width_of)
                        height=number(height_of)
                    ></rect>
                }
            };
            let hatch = first
                .role
                .is_hatched()
                .then(|| rect("hatch", Some(format!("url(#{})", chart.hatch.get_value()))));
            view! {
                {rect("", None)}
                {hatch}
            }
            .into_any()
        }
        Shape::Text { .. } => {
            let anchor = move || {
                mark.with(|mark| match mark.as_ref().map(|mark| &mark.shape) {
                    Some(Shape::Text { anchor, .. }) => anchor.name(),
                    _ => "start",
                })
            };
            let turn = move || {
                mark.with(|mark| match mark.as_ref().map(|mark| &mark.shape) {
                    Some(Shape::Text { at, turn_deg, .. }) if *turn_deg != 0.0 => {
                        Some(format!("rotate({turn_deg} {} {})", at.0, at.1))
                    }
                    _ => None,
                })
            };
            let words = move || {
                mark.with(|mark| match mark.as_ref().map(|mark| &mark.shape) {
                    Some(Shape::Text { text, .. }) => text.clone(),
                    _ => String::new(),
                })
            };
            view! {
                <text
                    x=number(x_of)
                    y=number(y_of)
                    text-anchor=anchor
                    transform=turn
                >
                    {words}
                </text>
            }
            .into_any()
        }
    }
}

fn x_of(shape: &Shape) -> f64 {
    match shape {
        Shape::Circle { center, .. } => center.0,
        Shape::Rect { corner, .. } => corner.0,
        Shape::Text { at, .. } => at.0,
        Shape::Path { points, .. } => points.first().map_or(0.0, |point| point.0),
        Shape::Curve { ends, .. } => ends[0].0,
    }
}

fn y_of(shape: &Shape) -> f64 {
    match shape {
        Shape::Circle { center, .. } => center.1,
        Shape::Rect { corner, .. } => corner.1,
        Shape::Text { at, .. } => at.1,
        Shape::Path { points, .. } => points.first().map_or(0.0, |point| point.1),
        Shape::Curve { ends, .. } => ends[0].1,
    }
}

/// The radius of a disc.
fn width_of(shape: &Shape) -> f64 {
    match shape {
        Shape::Circle { radius, .. } => *radius,
        Shape::Rect { width, .. } => *width,
        Shape::Text { .. } | Shape::Path { .. } | Shape::Curve { .. } => 0.0,
    }
}

fn height_of(shape: &Shape) -> f64 {
    match shape {
        Shape::Rect { height, .. } => *height,
        _ => 0.0,
    }
}

/// A tooltip and where it points, in percent of the frame.
#[derive(Clone, PartialEq)]
struct Tip {
    heading: String,
    facts: Vec<(&'static str, String)>,
    left_pct: f64,
    top_pct: f64,
    /// How far below its mark it starts.
    drop_px: f64,
}

impl Tip {
    fn of(scene: &Scene, mark: &Mark) -> Option<Self> {
        let label = mark.label.as_ref()?;
        let (width, height) = (scene.width.max(1.0), scene.height.max(1.0));
        let is_rect = matches!(mark.shape, Shape::Rect { .. });
        let middle = if is_rect {
            width_of(&mark.shape) / 2.0
        } else {
            0.0
        };
        // What hangs below a point and its number stays in sight.
        let drop_px = match mark.role {
            Role::NumberPlate => 46.0,
            Role::SolidPoint | Role::HollowPoint => 34.0,
            _ => 14.0,
        };
        Some(Self {
            drop_px,
            heading: label.heading.clone(),
            facts: label.facts.clone(),
            left_pct: (x_of(&mark.shape) + middle) / width * 100.0,
            top_pct: (y_of(&mark.shape) + height_of(&mark.shape) / 2.0) / height * 100.0,
        })
    }
}

/// The label of the mark that is pointed at or focused. Screen readers get it as the mark's name.
#[component]
fn Tooltip(chart: Chart) -> impl IntoView {
    let tip = Memo::new(move |_| {
        let mark = chart.mark(chart.pointed.get()?)?;
        chart.scene.with(|scene| Tip::of(scene, &mark))
    });
    let fact = |(what, how_much): (&'static str, String)| {
        view! {
            <dt>{what}</dt>
            <dd>{how_much}</dd>
        }
    };
    let show = move |tip: Tip| {
        // Above or below its mark, where there is more room, and shifted so that it stays over the chart.
        let lift = if tip.top_pct < 50.0 {
            format!("{}px", tip.drop_px)
        } else {
            "calc(-100% - 14px)".to_owned()
        };
        view! {
            <div
                class="chart-tip"
                aria-hidden="true"
                on:pointerenter=move |_| chart.stay()
                on:pointerleave=move |_| chart.leave()
                style:left=format!("{:.2}%", tip.left_pct)
                style:top=format!("{:.2}%", tip.top_pct)
                style:transform=format!("translate(-{:.0}%, {lift})", tip.left_pct)
            >
                <p class="chart-tip-heading">{tip.heading}</p>
                <dl>{tip.facts.into_iter().map(fact).collect_view()}</dl>
            </div>
        }
    };
    move || tip.get().map(show)
}
