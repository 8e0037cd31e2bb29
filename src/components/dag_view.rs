//! The graph of the program as SVG: ops in the panels of their kernels, loud edges through memory, quiet
//! ones on chip.
//!
//! What depends on names and groups is drawn once (`dag_parts`); numbers, selection and focus only rewrite
//! texts, widths and classes in it (`dag_updates`), so a slider moves nothing and costs little.

use super::dag_parts::{picture, stop_id, stop_of_id};
use super::dag_updates::{write_looks, write_selection, write_stop};
use crate::core::Analysis;
use crate::picture::dag::looks::{Looks, looks};
use crate::picture::dag::steps::{Stop, step};
use crate::picture::dag::viewport::{Size, Viewport};
use crate::picture::dag::{DagLayout, Point, Rect, has_same_picture, layout};
use crate::platform;
use crate::state::{Page, Selection};
use leptos::ev;
use leptos::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Ids of the frame and of the canvas in it.
const FRAME_ID: &str = "dag-frame";
const CANVAS_ID: &str = "dag-canvas";
/// A press that moves farther than this is a drag and no click, in pixels.
const DRAG_PX: f64 = 4.0;
/// One step of the zoom buttons and keys.
const ZOOM_STEP: f64 = 1.25;
/// One step of the arrow keys on the canvas, in pixels.
const PAN_PX: f64 = 60.0;
/// Ops up to which the switch is animated; a browser takes seconds over thousands of transitions.
const ANIMATED_OPS: usize = 200;
/// How long the switch between fused and unfused may move things.
const SWITCH: Duration = Duration::from_millis(400);

/// A graph and where it lies, made anew only when names, reads or groups change.
struct Placed {
    analysis: Arc<Analysis>,
    layout: DagLayout,
}

/// The state of the picture.
#[derive(Clone, Copy)]
struct Dag {
    placed: Memo<Arc<Placed>>,
    looks: Memo<Arc<Looks>>,
    /// Told whenever all parts were drawn anew, without selection and focus.
    drawn: Trigger,
    selection: RwSignal<Selection>,
    /// What the tab key reaches.
    stop: RwSignal<Stop>,
    viewport: RwSignal<Viewport>,
    canvas: RwSignal<Size>,
    /// The visitor has moved the picture, so that only a new graph brings it back.
    is_moved: RwSignal<bool>,
    pointers: StoredValue<Vec<(i32, Point)>>,
    is_dragged: StoredValue<bool>,
}

/// Shows the page's graph, fused or op by op; nothing but looks differs between the two.
///
/// Fills its container. Drags pan, pinches and the wheel with Ctrl or Command zoom, the plain wheel scrolls
/// the page. The picture is one tab stop beside the canvas: arrow keys follow edges.
#[component]
pub fn DagView(
    /// The page whose graph is shown.
    page: Page,
) -> impl IntoView {
    let (analysis, is_fused, selection) = (page.analysis, page.is_fused, page.selection);
    let placed = Memo::new_owning(move |old: Option<Arc<Placed>>| place(analysis.get(), old));
    let looks = Memo::new(move |_| {
        let layout = placed.get();
        analysis.with(|a| Arc::new(looks(a, &layout.layout, is_fused.get())))
    });
    let dag = Dag {
        placed,
        looks,
        drawn: Trigger::new(),
        selection,
        stop: RwSignal::new(Stop::Op(0)),
        viewport: RwSignal::new(Viewport::IDENTITY),
        canvas: RwSignal::new((0.0, 0.0)),
        is_moved: RwSignal::new(false),
        pointers: StoredValue::new(Vec::new()),
        is_dragged: StoredValue::new(false),
    };
    platform::observe_size(FRAME_ID, move |width, height| {
        // A page that is gone has no canvas to measure.
        let _ = dag.canvas.try_set((width, height));
    });
    Effect::new(move |shown: Option<usize>| dag.bring_back(shown));
    Effect::new(move |_| dag.show_selected());
    // The next three write into what `picture` has drawn, so they follow it.
    Effect::new(move |before: Option<Arc<Looks>>| {
        let now = dag.looks.get();
        if let Some(before) = before {
            dag.placed
                .with_untracked(|p| write_looks(&p.layout, &before, &now));
        }
        now
    });
    Effect::new(move |before: Option<Selection>| {
        let now = dag.selection.get();
        dag.drawn.track();
        dag.placed.with_untracked(|p| {
            let before = before.unwrap_or_default();
            write_selection(&p.layout, &p.analysis.partition, before, now);
        });
        now
    });
    Effect::new(move |before: Option<Stop>| {
        dag.drawn.track();
        let now = dag.stop.get();
        write_stop(before.unwrap_or(now), now);
        now
    });
    let is_switching = switching(is_fused, placed);
    let name = Memo::new(move |_| {
        placed.with(|p| {
            let (ops, kernels) = (p.layout.ops.len(), p.layout.panels.len());
            format!("graph of {ops} operations in {kernels} kernels")
        })
    });
    let is_empty = Memo::new(move |_| placed.with(|p| p.layout.ops.is_empty()));
    view! {
        <div class="dag-frame" id=FRAME_ID>
            <svg
                id=CANVAS_ID
                class="dag"
                class:is-unfused=move || !is_fused.get()
                class:is-switching=is_switching
                class:has-selection=move || selection.get() != Selection::Nothing
                role="group"
                aria-label=name
                aria-describedby="dag-help"
                tabindex="0"
                on:wheel=move |event| dag.wheel(&event)
                on:pointerdown=move |event| dag.press(&event)
                on:pointermove=move |event| dag.drag(&event)
                on:pointerup=move |event| dag.lift(&event)
                on:pointercancel=move |event| dag.lift(&event)
                on:click=move |event| dag.click(&event)
                on:focusin=move |event| if let Some(stop) = stop_at(&event) { dag.focused(stop) }
                on:keydown=move |event| dag.key(&event)
            >
                <g transform=move || dag.viewport.with(Viewport::transform)>
                    {move || dag.draw()}
                </g>
            </svg>
            <Show when=move || is_empty.get()>
                <p class="dag-empty">"No operations yet."</p>
            </Show>
            <ul class="dag-legend">
                <li><svg width="22" height="8" aria-hidden="true"><path class="dag-loud" stroke-width="4" d="M1 4H21"></path></svg>"through memory"</li>
                <li><svg width="22" height="8" aria-hidden="true"><path class="dag-quiet" d="M1 4H21"></path></svg>"stays on chip"</li>
            </ul>
            <div class="dag-tools" role="group" aria-label="Zoom">
                <button type="button" aria-label="Zoom in" title="Zoom in (+)" on:click=move |_| dag.zoom(ZOOM_STEP)>"+"</button>
                <button type="button" aria-label="Zoom out" title="Zoom out (−)" on:click=move |_| dag.zoom(1.0 / ZOOM_STEP)>"−"</button>
                <button type="button" title="Show the whole graph (0)" on:click=move |_| dag.fit()>"Fit"</button>
            </div>
            <p class="sr-only" id="dag-help">
                "Arrow keys follow the edges from operation to operation, Page Up and Page Down go from kernel to kernel, Enter selects. Plus, minus and 0 zoom. On the graph itself arrow keys move it."
            </p>
        </div>
    }
}

/// Keeps the old picture as long as only sizes have changed.
fn place(analysis: Arc<Analysis>, old: Option<Arc<Placed>>) -> (Arc<Placed>, bool) {
    if let Some(old) = old {
        let before = (&old.analysis.graph, &old.analysis.partition);
        if has_same_picture(before, (&analysis.graph, &analysis.partition)) {
            return (old, false);
        }
    }
    let layout = layout(&analysis.graph, &analysis.partition);
    (Arc::new(Placed { analysis, layout }), true)
}

/// Whether the switch was thrown just now: only then may edges move.
fn switching(is_fused: RwSignal<bool>, placed: Memo<Arc<Placed>>) -> RwSignal<bool> {
    let is_switching = RwSignal::new(false);
    let latest = StoredValue::new(0_u32);
    Effect::new(move |before: Option<bool>| {
        let now = is_fused.get();
        let is_small = placed.with_untracked(|p| p.layout.ops.len() <= ANIMATED_OPS);
        if is_small && before.is_some_and(|before| before != now) {
            is_switching.set(true);
            latest.update_value(|n| *n = n.wrapping_add(1));
            let own = latest.get_value();
            set_timeout(
                move || {
                    // A later throw of the switch ends it later; a closed page has none to end.
                    if latest.try_get_value() == Some(own) {
                        is_switching.set(false);
                    }
                },
                SWITCH,
            );
        }
        now
    });
    is_switching
}

/// The op or kernel at which an event happened.
fn stop_at(event: &ev::Event) -> Option<Stop> {
    stop_of_id(&platform::closest_id(event, ".dag-op-box, .dag-kernel")?)
}

impl Dag {
    /// The parts of the picture with the numbers of now.
    fn draw(self) -> impl IntoView + use<> {
        let placed = self.placed.get();
        let looks = self.looks.get_untracked();
        // Heard when the parts stand in the page.
        self.drawn.notify();
        picture(&placed.analysis, &placed.layout, &looks)
    }

    /// Selects what was clicked or entered, or nothing when it is selected already.
    fn choose(self, wish: Selection) {
        let is_chosen = self.selection.get_untracked() == wish;
        self.selection
            .set(if is_chosen { Selection::Nothing } else { wish });
    }

    /// A click selects a part, or on the background nothing.
    fn click(self, event: &ev::MouseEvent) {
        if self.is_dragged.get_value() {
            return;
        }
        match stop_at(event) {
            Some(stop) => self.choose(selection_of(stop)),
            None => self.selection.set(Selection::Nothing),
        }
    }

    /// A key on a part: along the edges, or a choice. Whether it was one of these.
    fn key_on(self, key: &str, stop: Stop) -> bool {
        if key == "Enter" || key == " " {
            self.choose(selection_of(stop));
            return true;
        }
        let placed = self.placed.get_untracked();
        let (graph, partition) = (&placed.analysis.graph, &placed.analysis.partition);
        match step(graph, partition, &placed.layout, stop, key) {
            Some(next) => {
                platform::focus_in_place(&stop_id(next));
                true
            }
            // An arrow at the end of the graph moves neither canvas nor page.
            None => key.starts_with("Arrow") || key.starts_with("Page"),
        }
    }

    /// What has the focus is seen.
    fn focused(self, stop: Stop) {
        self.stop.set(stop);
        if let Some(rect) = self.rect(stop) {
            let canvas = self.canvas.get_untracked();
            self.viewport.update(|v| *v = v.revealing(rect, canvas));
        }
    }

    fn rect(self, stop: Stop) -> Option<Rect> {
        self.placed.with_untracked(|p| match stop {
            Stop::Op(op) => p.layout.ops.get(op).map(|o| o.rect),
            Stop::Kernel(kernel) => p.layout.panels.get(kernel).copied(),
        })
    }

    fn picture(self) -> Size {
        self.placed
            .with_untracked(|p| (p.layout.width, p.layout.height))
    }

    /// Starts a new graph at its first view, and keeps an unmoved one in it while the canvas changes.
    fn bring_back(self, shown: Option<usize>) -> usize {
        let placed = self.placed.get();
        let canvas = self.canvas.get();
        let here = Arc::as_ptr(&placed) as usize;
        if canvas.0 <= 0.0 || canvas.1 <= 0.0 {
            return shown.unwrap_or(0);
        }
        let is_new = shown != Some(here);
        if is_new || !self.is_moved.get_untracked() {
            self.is_moved.set(false);
            self.viewport.set(Viewport::first(self.picture(), canvas));
        }
        if is_new && self.rect(self.stop.get_untracked()).is_none() {
            self.stop.set(Stop::Op(0));
        }
        here
    }

    /// A selection that was made elsewhere comes into sight.
    fn show_selected(self) {
        let rect = match self.selection.get() {
            Selection::Nothing => None,
            Selection::Op(op) => self.rect(Stop::Op(op)),
            Selection::Kernel(kernel) => self.rect(Stop::Kernel(kernel)),
        };
        let canvas = self.canvas.get_untracked();
        if let Some(rect) = rect
            && canvas.0 > 0.0
            && !self.viewport.get_untracked().shows(rect.center(), canvas)
        {
            self.viewport.update(|v| *v = v.revealing(rect, canvas));
        }
    }

    fn fit(self) {
        let canvas = self.canvas.get_untracked();
        self.viewport.set(Viewport::fit(self.picture(), canvas));
        self.is_moved.set(false);
    }

    fn zoom(self, factor: f64) {
        let (width, height) = self.canvas.get_untracked();
        self.zoom_at(factor, Point::new(width / 2.0, height / 2.0));
    }

    fn zoom_at(self, factor: f64, at: Point) {
        self.move_to(self.viewport.get_untracked().zoomed(factor, at));
    }

    fn move_to(self, viewport: Viewport) {
        let kept = viewport.kept_in_sight(self.picture(), self.canvas.get_untracked());
        self.viewport.set(kept);
        self.is_moved.set(true);
    }

    fn wheel(self, event: &ev::WheelEvent) {
        // A plain wheel belongs to the page.
        if !(event.ctrl_key() || event.meta_key()) {
            return;
        }
        event.prevent_default();
        let lines = if event.delta_mode() == 0 { 1.0 } else { 24.0 };
        let delta = (event.delta_y() * lines).clamp(-240.0, 240.0);
        let at = (f64::from(event.client_x()), f64::from(event.client_y()));
        if let Some((x, y)) = platform::point_in(CANVAS_ID, at.0, at.1) {
            self.zoom_at((-delta * 0.004).exp(), Point::new(x, y));
        }
    }

    fn press(self, event: &ev::PointerEvent) {
        if event.button() != 0 {
            return;
        }
        let at = client_point(event);
        self.pointers.update_value(|pointers| {
            if pointers.is_empty() {
                self.is_dragged.set_value(false);
            }
            pointers.push((event.pointer_id(), at));
        });
    }

    fn drag(self, event: &ev::PointerEvent) {
        let (now, id) = (client_point(event), event.pointer_id());
        let pointers = self.pointers.get_value();
        let Some(&(_, before)) = pointers.iter().find(|p| p.0 == id) else {
            return;
        };
        if !self.is_dragged.get_value() {
            if (now.x - before.x).hypot(now.y - before.y) < DRAG_PX {
                return;
            }
            self.is_dragged.set_value(true);
            for &(pointer, _) in &pointers {
                platform::capture_pointer(CANVAS_ID, pointer);
            }
        }
        let mut viewport = self.viewport.get_untracked();
        match pointers.iter().find(|p| p.0 != id) {
            None => viewport = viewport.panned(now.x - before.x, now.y - before.y),
            Some(&(_, other)) => {
                // Two fingers: each moves the picture by half, their distance is the zoom.
                let length = |p: Point| (p.x - other.x).hypot(p.y - other.y).max(1.0);
                let middle = (f64::midpoint(now.x, other.x), f64::midpoint(now.y, other.y));
                if let Some((x, y)) = platform::point_in(CANVAS_ID, middle.0, middle.1) {
                    viewport = viewport
                        .panned((now.x - before.x) / 2.0, (now.y - before.y) / 2.0)
                        .zoomed(length(now) / length(before), Point::new(x, y));
                }
            }
        }
        self.move_to(viewport);
        self.pointers.update_value(|pointers| {
            if let Some(pointer) = pointers.iter_mut().find(|p| p.0 == id) {
                pointer.1 = now;
            }
        });
    }

    fn lift(self, event: &ev::PointerEvent) {
        let id = event.pointer_id();
        self.pointers
            .update_value(|pointers| pointers.retain(|p| p.0 != id));
    }

    /// Keys of the canvas; zoom keys also work on its parts.
    fn key(self, event: &ev::KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let on_canvas = platform::is_target(event, CANVAS_ID);
        if let Some(stop) = stop_at(event)
            && self.key_on(&event.key(), stop)
        {
            event.prevent_default();
            return;
        }
        let pan = |dx, dy| self.move_to(self.viewport.get_untracked().panned(dx, dy));
        match event.key().as_str() {
            "+" | "=" => self.zoom(ZOOM_STEP),
            "-" | "_" => self.zoom(1.0 / ZOOM_STEP),
            "0" => self.fit(),
            "Escape" if self.selection.get_untracked() != Selection::Nothing => {
                self.selection.set(Selection::Nothing);
            }
            "ArrowLeft" if on_canvas => pan(PAN_PX, 0.0),
            "ArrowRight" if on_canvas => pan(-PAN_PX, 0.0),
            "ArrowUp" if on_canvas => pan(0.0, PAN_PX),
            "ArrowDown" if on_canvas => pan(0.0, -PAN_PX),
            _ => return,
        }
        event.prevent_default();
    }
}

const fn selection_of(stop: Stop) -> Selection {
    match stop {
        Stop::Op(op) => Selection::Op(op),
        Stop::Kernel(kernel) => Selection::Kernel(kernel),
    }
}

fn client_point(event: &ev::PointerEvent) -> Point {
    Point::new(f64::from(event.client_x()), f64::from(event.client_y()))
}
