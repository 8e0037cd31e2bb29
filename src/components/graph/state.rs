//! The signals of the graph.

use super::aim::{Aim, BeforeReveal, Views};
use super::placed::{ForLayout, GraphRoom, PlacedGraph, TargetName};
use super::plan::{AwaitedMerge, Plan};
use super::pressed::PressedPointers;
use crate::app::puzzling::Puzzling;
use crate::app::stage::is_staged;
use crate::app::state::{Page, Selection, Turn, settled, shared_memo, unhurried};
use fuseline_browser::{self as browser, Debounce, LONG_PRESS};
use fuseline_core::OpId;
use fuseline_view::page::view::View;
use fuseline_view::picture::dag::focus::FocusTarget;
use fuseline_view::picture::dag::looks::Looks;
use fuseline_view::picture::dag::sight::{Sight, are_edges_many, is_overview, is_small};
use fuseline_view::picture::dag::viewport::{Size, Viewport};
use fuseline_view::picture::dag::{Point, Rect};
use fuseline_view::present::manual::Proposal;
use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos::svg;
use std::sync::Arc;

/// The state of the graph. Small, because the closures of each op and kernel hold copies of it.
#[derive(Clone, Copy)]
pub(super) struct Graph {
    page: StoredValue<Page>,
    /// The selection of the page, or the part of the graph that stands for it.
    pub(super) selection: Memo<Selection>,
    /// The ops of the decision that the *Steps* tab shows, or those that stand for them.
    pub(super) decided_ops: Memo<Vec<OpId>>,
    /// The layout.
    pub(super) placed: Memo<Arc<PlacedGraph>>,
    /// The words and line widths in the graph, which depend on sizes.
    looks: ReadSignal<Arc<ForLayout<Looks>>>,
    /// The names in the graph, which follow a moving slider twice a second.
    names: Memo<Arc<ForLayout<Looks>>>,
    /// The `<svg>` element.
    pub(super) canvas: NodeRef<svg::Svg>,
    /// The size of the canvas in the units of the drawing; zero until it is known.
    pub(super) canvas_px: Signal<Size>,
    /// Screen pixels for each unit: more than one before a class.
    unit_px: Signal<f64>,
    /// `None` is the default: the top of the picture at a readable scale.
    pub(super) aim: RwSignal<Option<ForLayout<Aim>>>,
    pub(super) viewport: Memo<Viewport>,
    /// The default viewport.
    pub(super) first_view: Memo<Viewport>,
    /// Whether the default shows a part of the picture only.
    pub(super) is_cut_off: Memo<bool>,
    /// The ops, kernels and edges in view. All of them in a small graph.
    pub(super) sight: Memo<Sight>,
    /// Whether too much is in view, or at too small a scale, to be drawn in full.
    pub(super) is_overview: Memo<bool>,
    /// Whether too many edges are in view to be drawn one by one.
    pub(super) are_edges_many: Memo<bool>,
    /// The op or kernel that had the focus last.
    pub(super) last_focused: RwSignal<Option<TargetName>>,
    /// The only op or kernel that the tab key reaches.
    pub(super) tab_stop: Memo<FocusTarget>,
    /// The op or kernel that has the focus.
    pub(super) focused: RwSignal<Option<ForLayout<FocusTarget>>>,
    /// The op or kernel that shall get the focus, until its component has taken the request.
    pub(super) focus_request: RwSignal<Option<FocusTarget>>,
    plan: RwSignal<Option<ForLayout<Plan>>>,
    /// The plan, if it is for the present layout.
    present_plan: Memo<Option<Plan>>,
    /// The effect of the planned change; `None` while it is not known.
    pub(super) proposal: Memo<Option<Arc<Proposal>>>,
    /// The merge that waits for the unfused kernels.
    pub(super) awaited_merge: RwSignal<Option<AwaitedMerge>>,
    /// Where on the canvas the pointer is that drags a kernel or an op.
    pub(super) dragged_to: RwSignal<Option<Point>>,
    pub(super) pointers: StoredValue<PressedPointers>,
    /// Waits for a finger that stays.
    pub(super) hold: Debounce,
    /// Where the visitor looked before a selection moved the picture.
    pub(super) before_reveal: StoredValue<Option<BeforeReveal>>,
    pub(super) views: StoredValue<Views>,
}

impl Graph {
    /// The state of the graph of a page. `canvas_px` is the size of the canvas, on which paper
    /// shows the whole picture, in units of `unit_px` screen pixels.
    pub(super) fn new(page: Page, canvas_px: Signal<Size>, unit_px: Signal<f64>) -> Self {
        let placed = placed_in(page, canvas_px);
        let selection =
            Memo::new(move |_| placed.with(|placed| placed.shown(page.selection.get())));
        let decided_ops = Memo::new(move |_| {
            let shown = |&op: &OpId| placed.with(|placed| placed.layout.shown_op(op));
            (page.stepping.decided_ops).with(|ops| ops.iter().map(shown).collect::<Vec<_>>())
        });
        let looks = shared_memo(move |last: Option<&Arc<ForLayout<Looks>>>| {
            let number = placed.with(|placed| placed.number);
            if let Some(last) = last.filter(|last| last.number == number)
                && page.slider.is_waiting(Turn::Graph)
            {
                return last.clone();
            }
            Arc::new(ForLayout {
                number,
                value: Looks::new(page.analysis.get(), page.chosen.is_fused.get()),
            })
        });
        let names = unhurried(looks, move || page.slider.is_dragging());
        let looks = settled(looks);
        let aim = RwSignal::new(None::<ForLayout<Aim>>);
        let first_view = first_view(page, placed, canvas_px);
        let viewport = Memo::new(move |_| {
            let (placed, canvas) = (placed.get(), canvas_px.get());
            let picture = placed.layout.size();
            if page.screen.is_printing.get() {
                return Viewport::whole(picture, canvas);
            }
            let is_stepping = page.stepping.step.get().is_some();
            match aim
                .get()
                .and_then(|aim| aim.valid_for(&placed, is_stepping))
            {
                Some(Aim::Whole { .. }) => Viewport::whole(picture, canvas),
                Some(Aim::Part { viewport, .. }) => viewport,
                None => first_view.get(),
            }
        });
        let is_cut_off = Memo::new(move |_| {
            let size = placed.with(|placed| placed.layout.size());
            first_view.get() != Viewport::whole(size, canvas_px.get())
        });
        let is_small = Memo::new(move |_| placed.with(|placed| is_small(placed.shown_ops)));
        let region = Memo::new(move |_| {
            (!is_small.get()).then(|| {
                let (width, height) = canvas_px.get();
                if width > 0.0 && height > 0.0 {
                    viewport.get().region((width, height))
                } else {
                    Rect::default()
                }
            })
        });
        let sight =
            Memo::new(move |_| placed.with(|placed| Sight::of(&placed.layout, region.get())));
        let is_overview = Memo::new(move |_| {
            let ops_in_sight = sight.with(|sight| sight.ops.len());
            !is_small.get() && is_overview(ops_in_sight, viewport.get().scale)
        });
        let are_edges_many = Memo::new(move |_| {
            is_overview.get() || sight.with(|sight| are_edges_many(sight.edges.len()))
        });
        let last_focused = RwSignal::new(None::<TargetName>);
        let tab_stop = Memo::new(move |_| {
            let last = last_focused.get();
            let target = last.and_then(|name| placed.with(|placed| placed.target_named(&name)));
            target.unwrap_or(FocusTarget::Op(OpId::new(0)))
        });
        let plan = RwSignal::new(None::<ForLayout<Plan>>);
        let present_plan = Memo::new(move |_| {
            let number = placed.with(|placed| placed.number);
            let plan = plan.get()?;
            (plan.number == number).then_some(plan.value)
        });
        let proposal = Memo::new(move |_| page.proposal(present_plan.get()?.change()?));
        Self {
            page: StoredValue::new(page),
            selection,
            decided_ops,
            placed,
            looks,
            names,
            canvas: NodeRef::new(),
            canvas_px,
            unit_px,
            aim,
            viewport,
            first_view,
            is_cut_off,
            sight,
            is_overview,
            are_edges_many,
            last_focused,
            tab_stop,
            focused: RwSignal::new(None),
            focus_request: RwSignal::new(None),
            plan,
            present_plan,
            proposal,
            awaited_merge: RwSignal::new(None),
            dragged_to: RwSignal::new(None),
            pointers: StoredValue::new(PressedPointers::default()),
            hold: Debounce::after(LONG_PRESS),
            before_reveal: StoredValue::new(None),
            views: StoredValue::new(Views::default()),
        }
    }

    pub(super) fn page(self) -> Page {
        self.page.get_value()
    }

    /// Where on the canvas a pointer is, in its units; `None` before it is mounted. Untracked.
    pub(super) fn point_of(self, event: &MouseEvent) -> Option<Point> {
        let canvas = self.canvas.get_untracked()?;
        let (x, y) = browser::point_on(&canvas, event.client_x().into(), event.client_y().into());
        let unit_px = self.unit_px.get_untracked();
        Some(Point::new(x / unit_px, y / unit_px))
    }

    /// Number of the present layout. Untracked.
    pub(super) fn layout_number(self) -> usize {
        self.placed.with_untracked(|placed| placed.number)
    }

    /// `value` for the present layout.
    pub(super) fn for_layout<T>(self, value: T) -> ForLayout<T> {
        let number = self.layout_number();
        ForLayout { number, value }
    }

    /// The words or widths of a part of the layout with this number; the last ones when there is
    /// another layout already, so that the part is about to be unmounted.
    pub(super) fn look<T>(
        self,
        number: usize,
        of: impl Fn(&Looks) -> T + Send + Sync + 'static,
    ) -> Memo<T>
    where
        T: Clone + Default + PartialEq + Send + Sync + 'static,
    {
        look_in(self.looks, number, of)
    }

    /// The name of a part, which screen readers speak and a tooltip shows; as [`Graph::look`].
    pub(super) fn name(
        self,
        number: usize,
        of: impl Fn(&Looks) -> String + Send + Sync + 'static,
    ) -> Memo<String> {
        look_in(self.names, number, of)
    }

    /// Whether an op or a kernel is selected, or is an end of the selected edge. Tracked.
    pub(super) fn is_selected(self, target: FocusTarget) -> bool {
        match (self.selection.get(), target) {
            (Selection::Op(selected), FocusTarget::Op(op)) => selected == op,
            (Selection::Edge { producer, consumer }, FocusTarget::Op(op)) => {
                producer == op || consumer == op
            }
            (Selection::Kernel(selected), FocusTarget::Kernel(kernel)) => selected == kernel,
            _ => false,
        }
    }

    /// Selects an op or a kernel, or nothing if it is selected already.
    pub(super) fn toggle(self, target: FocusTarget) {
        self.page().toggle(match target {
            FocusTarget::Op(op) => Selection::Op(op),
            FocusTarget::Kernel(kernel) => Selection::Kernel(kernel),
        });
    }

    /// The plan, if it is for the present layout. Tracked.
    pub(super) fn plan(self) -> Option<Plan> {
        self.present_plan.get()
    }

    /// Sets the plan for the present layout.
    pub(super) fn set_plan(self, plan: Option<Plan>) {
        self.plan.set(plan.map(|plan| self.for_layout(plan)));
    }
}

/// What the graph stands in. Tracked.
fn room(page: Page) -> impl Fn() -> GraphRoom + Copy + Send + Sync {
    let is_staged = is_staged(View::Graph);
    let puzzling = Puzzling::of_context();
    let has_hint = move || puzzling.is_some_and(Puzzling::has_hints);
    move || match (is_staged(), page.screen.puzzle.with(Option::is_some)) {
        (true, true) => GraphRoom::Page {
            has_hint: has_hint(),
        },
        // Where a finger moves it, its type stays legible.
        (true, false) if !browser::shows_sheets() => GraphRoom::Step,
        _ => GraphRoom::Pane,
    }
}

/// The layout in columns that the canvas has room for.
fn placed_in(page: Page, canvas_px: Signal<Size>) -> Memo<Arc<PlacedGraph>> {
    let room = room(page);
    shared_memo(move |last| {
        PlacedGraph::of(page.pictures.drawing.get(), canvas_px.get(), room(), last)
    })
}

/// Where the picture is by default.
fn first_view(
    page: Page,
    placed: Memo<Arc<PlacedGraph>>,
    canvas_px: Signal<Size>,
) -> Memo<Viewport> {
    let room = room(page);
    Memo::new(move |_| {
        placed.with(|placed| {
            let (layout, canvas) = (&placed.layout, canvas_px.get());
            let fit = match room() {
                GraphRoom::Step => Viewport::fit_staged,
                // Its type stays legible where kernels are dragged.
                GraphRoom::Pane | GraphRoom::Page { .. } => Viewport::fit,
            };
            fit(layout.size(), layout.start_x(canvas.0), canvas)
        })
    })
}

fn look_in<T>(
    looks: impl Into<Signal<Arc<ForLayout<Looks>>>>,
    number: usize,
    of: impl Fn(&Looks) -> T + Send + Sync + 'static,
) -> Memo<T>
where
    T: Clone + Default + PartialEq + Send + Sync + 'static,
{
    let looks = looks.into();
    Memo::new(move |last: Option<&T>| {
        let now = looks.with(|looks| (looks.number == number).then(|| of(&looks.value)));
        now.or_else(|| last.cloned()).unwrap_or_default()
    })
}
