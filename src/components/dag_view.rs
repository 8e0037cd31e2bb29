//! The graph of the program as SVG: ops in the panels of their kernels, edges through memory drawn wide, edges on chip
//! thin.
//!
//! What depends on names and groups is drawn once (`dag_parts`); numbers, selection and focus only rewrite
//! texts, widths and classes in it (`dag_updates`), so a slider moves nothing and costs little. What pointers
//! and keys do is in `dag_moves`.

use crate::app::state::{FocusRequest, Page, Selection};
use crate::browser;
use crate::browser::{Later, listen, set_attribute, set_class, set_flag};
use crate::components::dag_merge::Plan;
use crate::components::dag_parts::{picture, stop_id};
use crate::components::dag_updates::{write_decided, write_looks, write_selection, write_stop};
use crate::core::{Analysis, OpId};
use crate::picture::dag::looks::{Looks, looks};
use crate::picture::dag::steps::FocusTarget as Stop;
use crate::picture::dag::viewport::{Size, Viewport};
use crate::picture::dag::{DagLayout, Point, Rect, has_same_picture, layout};
use leptos::prelude::*;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Ids of the frame, of the canvas in it, and of all parts of the picture.
const FRAME_ID: &str = "dag-frame";
pub(super) const CANVAS_ID: &str = "dag-canvas";
const PARTS_ID: &str = "dag-parts";
/// Ops up to which the switch is animated; a browser takes seconds over thousands of transitions.
const ANIMATED_OPS: usize = 200;
/// How long the switch between fused and unfused may move things.
const SWITCH: Duration = Duration::from_millis(400);

/// The state of the picture. Pictures have no signals of their own: whoever changes something writes it.
pub(super) struct Dag {
    pub(super) page: Page,
    pub(super) drawn: RefCell<Option<Rc<Drawn>>>,
    /// What the tab key reaches.
    pub(super) stop: Cell<Stop>,
    pub(super) viewport: Cell<Viewport>,
    pub(super) canvas: Cell<Size>,
    /// The visitor has moved the picture, so that only a new graph brings it back.
    pub(super) is_moved: Cell<bool>,
    pub(super) pointers: RefCell<Vec<(i32, Point)>>,
    pub(super) is_dragged: Cell<bool>,
    /// The kernel whose panel was pressed.
    pub(super) grabbed: Cell<Option<usize>>,
    /// What is about to be done by hand.
    pub(super) plan: RefCell<Option<Plan>>,
}

/// What stands in the page.
pub(super) struct Drawn {
    /// Made anew only when names, reads or groups change.
    pub(super) placed: Rc<Placed>,
    /// What the looks come from.
    analysis: Arc<Analysis>,
    is_fused: bool,
    looks: Rc<Looks>,
    selection: Selection,
    /// The ops that are marked as decided.
    decided: Vec<OpId>,
}

/// A graph and where it lies.
pub(super) struct Placed {
    pub(super) analysis: Arc<Analysis>,
    pub(super) layout: DagLayout,
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
    let dag = Rc::new(Dag {
        page,
        drawn: RefCell::default(),
        stop: Cell::new(Stop::Op(0)),
        viewport: Cell::new(Viewport::IDENTITY),
        canvas: Cell::new((0.0, 0.0)),
        is_moved: Cell::new(false),
        pointers: RefCell::default(),
        is_dragged: Cell::new(false),
        grabbed: Cell::new(None),
        plan: RefCell::default(),
    });
    let drawing = dag.clone();
    let end_of_switch = Later::after(SWITCH);
    Effect::new(move || drawing.draw(end_of_switch));
    let focused = dag.clone();
    Effect::new(move || {
        if page.focus_request.get() == Some(FocusRequest::Graph) {
            page.focus_request.set(None);
            untrack(|| focused.focus_selected());
        }
    });
    let resized = dag.clone();
    browser::observe_size(FRAME_ID, move |width, height| {
        resized.canvas.set((width, height));
        if !resized.is_moved.get() {
            resized.show_first();
        }
    });
    listen(
        FRAME_ID,
        &[
            "wheel",
            "pointerdown",
            "pointermove",
            "pointerup",
            "pointercancel",
            "click",
            "focusin",
            "keydown",
        ],
        move |event| dag.hear(event),
    );
    view! {
        <div class="dag-frame" id="dag-frame">
            <svg id="dag-canvas" class="dag" role="group" aria-describedby="dag-help" tabindex="0"><g id="dag-parts"></g><path id="dag-merge-line" class="dag-merge-line" aria-hidden="true"></path></svg>
            <p class="dag-status" id="dag-status" role="status" aria-live="polite"></p>
            <p class="dag-empty" id="dag-empty" hidden>"No operations yet."</p>
            <div class="dag-tools" role="group" aria-label="Zoom">
                <button type="button" id="dag-zoom-in" aria-label="Zoom in" title="Zoom in (+)">"+"</button>
                <button type="button" id="dag-zoom-out" aria-label="Zoom out" title="Zoom out (−)">"−"</button>
                <button type="button" id="dag-fit" title="Show the whole graph (0)">"Fit"</button>
            </div>
            <p class="sr-only" id="dag-help">
                "Arrow keys follow the edges from operation to operation, Page Up and Page Down go from kernel to kernel, Enter selects. Plus, minus and 0 zoom. M merges a kernel with another one, X cuts its kernel before an operation. On the graph itself arrow keys move it."
            </p>
        </div>
    }
}

impl Dag {
    /// Brings the picture up to date with the page, writing what has changed.
    fn draw(&self, end_of_switch: Later) {
        let analysis = self.page.analysis.get();
        let is_fused = self.page.is_fused.get();
        let selection = self.page.selection.get();
        let decided = self.page.decided_ops.get();
        let before = self.drawn.borrow().clone();
        let old = before.as_ref().map(|b| b.placed.clone());
        let ops_before = old.as_ref().map(|old| old.layout.ops.len());
        let (placed, is_new) = place(&analysis, old);
        let has_same_looks = |b: &&Rc<Drawn>| {
            !is_new && b.is_fused == is_fused && Arc::ptr_eq(&b.analysis, &analysis)
        };
        let looks = match before.as_ref().filter(has_same_looks) {
            Some(same) => same.looks.clone(),
            None => Rc::new(looks(&analysis, &placed.layout, is_fused)),
        };
        let selected_before = if let Some(before) = before.as_ref().filter(|_| !is_new) {
            if before.is_fused != is_fused && placed.layout.ops.len() <= ANIMATED_OPS {
                // Only now may edges move.
                set_class(CANVAS_ID, "is-switching", true);
                end_of_switch.call(|| set_class(CANVAS_ID, "is-switching", false));
            }
            if !Rc::ptr_eq(&before.looks, &looks) {
                write_looks(&placed.layout, &before.looks, &looks);
            }
            before.selection
        } else {
            write_parts(&placed, &looks);
            Selection::Nothing
        };
        set_class(CANVAS_ID, "is-unfused", !is_fused);
        set_class(CANVAS_ID, "has-selection", selection != Selection::Nothing);
        let placed_ops = placed.layout.ops.len();
        let partition = &placed.analysis.partition;
        if selected_before != selection {
            write_selection(&placed.layout, partition, selected_before, selection);
        }
        let marked = before.filter(|_| !is_new).map(|b| b.decided.clone());
        write_decided(&marked.unwrap_or_default(), &decided);
        *self.drawn.borrow_mut() = Some(Rc::new(Drawn {
            placed,
            analysis,
            is_fused,
            looks,
            selection,
            decided,
        }));
        if is_new {
            // Kernels have other numbers now.
            self.leave_plan();
            if self.rect(self.stop.get()).is_none() {
                self.stop.set(Stop::Op(0));
            }
            write_stop(self.stop.get(), self.stop.get());
            // Somebody who steps through decisions keeps looking where they look.
            let is_stepping =
                self.page.step.get_untracked().is_some() && ops_before == Some(placed_ops);
            if !is_stepping || !self.is_moved.get() {
                self.show_first();
            }
        }
        if selected_before != selection {
            self.show_selected(selection);
        }
        if let Some(FocusRequest::GraphKernel(kernel)) = self.page.focus_request.get() {
            browser::focus_in_place(&stop_id(Stop::Kernel(kernel)));
            self.page.focus_request.set(None);
        }
    }

    pub(super) fn rect(&self, stop: Stop) -> Option<Rect> {
        let drawn = self.drawn.borrow().clone()?;
        let layout = &drawn.placed.layout;
        match stop {
            Stop::Op(op) => layout.ops.get(op).map(|o| o.rect),
            Stop::Kernel(kernel) => layout.panels.get(kernel).copied(),
        }
    }

    pub(super) fn picture(&self) -> Size {
        let drawn = self.drawn.borrow();
        (drawn.as_ref()).map_or((0.0, 0.0), |d| {
            (d.placed.layout.width, d.placed.layout.height)
        })
    }

    pub(super) fn set_viewport(&self, viewport: Viewport) {
        self.viewport.set(viewport);
        set_attribute(PARTS_ID, "transform", &viewport.transform());
    }

    /// Gives the focus to what is selected, else to the canvas.
    fn focus_selected(&self) {
        let stop = match self.page.selection.get() {
            Selection::Op(op) => Stop::Op(op),
            _ => (self.page.selected_kernel()).map_or(self.stop.get(), Stop::Kernel),
        };
        let _ = browser::focus_in_place(&stop_id(stop)) || browser::focus_in_place(CANVAS_ID);
    }

    /// Goes to the first view of the graph.
    fn show_first(&self) {
        let canvas = self.canvas.get();
        if canvas.0 > 0.0 && canvas.1 > 0.0 {
            self.is_moved.set(false);
            self.set_viewport(Viewport::first(self.picture(), canvas));
        }
    }

    /// A selection that was made elsewhere comes into sight, an edge with both ends.
    fn show_selected(&self, selection: Selection) {
        let (first, last) = match selection {
            Selection::Nothing => return,
            Selection::Op(op) => (Stop::Op(op), Stop::Op(op)),
            Selection::Edge { producer, consumer } => (Stop::Op(producer), Stop::Op(consumer)),
            Selection::Kernel(kernel) => (Stop::Kernel(kernel), Stop::Kernel(kernel)),
        };
        let (viewport, canvas) = (self.viewport.get(), self.canvas.get());
        if let (Some(first), Some(last)) = (self.rect(first), self.rect(last))
            && canvas.0 > 0.0
            && !(viewport.shows(first.center(), canvas) && viewport.shows(last.center(), canvas))
        {
            self.set_viewport(viewport.revealing(first.with(&last), canvas));
        }
    }
}

fn write_parts(placed: &Placed, looks: &Looks) {
    let layout = &placed.layout;
    browser::write_markup(PARTS_ID, &picture(&placed.analysis, layout, looks));
    let (ops, kernels) = (layout.ops.len(), layout.panels.len());
    let name = [
        "graph of ",
        &ops.to_string(),
        " operations in ",
        &kernels.to_string(),
        " kernels",
    ];
    set_attribute(CANVAS_ID, "aria-label", &name.concat());
    set_flag("dag-empty", "hidden", ops > 0);
}

/// Keeps the old picture as long as only sizes have changed.
fn place(analysis: &Arc<Analysis>, old: Option<Rc<Placed>>) -> (Rc<Placed>, bool) {
    if let Some(old) = old {
        let before = (&old.analysis.graph, &old.analysis.partition);
        if has_same_picture(before, (&analysis.graph, &analysis.partition)) {
            return (old, false);
        }
    }
    let layout = layout(&analysis.graph, &analysis.partition);
    let analysis = analysis.clone();
    (Rc::new(Placed { analysis, layout }), true)
}
