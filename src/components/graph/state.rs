//! What the graph knows beside the page: its layout, where somebody looks, what has the focus, what is about to be done
//! by hand.

use super::by_hand::Plan;
use super::pointer::Pointers;
use crate::app::state::{FocusRequest, Page, Selection, SetIfChanged, shared_memo};
use crate::browser;
use crate::core::{Analysis, OpId};
use crate::picture::dag::focus::FocusTarget;
use crate::picture::dag::looks::Looks;
use crate::picture::dag::sight::{Sight, is_overview, is_small};
use crate::picture::dag::viewport::{Size, Viewport};
use crate::picture::dag::{DagLayout, Point, Rect, has_same_picture, layout};
use leptos::prelude::*;
use leptos::svg;
use std::sync::Arc;

/// A graph and where its parts lie. Made anew only when names, reads or kernels change.
pub(super) struct Placed {
    /// How many layouts there were before this one.
    pub(super) number: usize,
    /// Names, reads and kernels are those of the layout; sizes may be older than what is shown.
    pub(super) analysis: Arc<Analysis>,
    pub(super) layout: DagLayout,
}

/// A layout for the parts of its picture, which lives as long as they do.
pub(super) type PlacedOnce = StoredValue<Arc<Placed>>;

/// A layout and what the present numbers make of its parts.
struct Shown {
    placed: Arc<Placed>,
    looks: Looks,
}

/// What was chosen for one layout and means nothing for another one.
#[derive(Clone, Copy)]
struct ForLayout<T> {
    number: usize,
    choice: T,
}

/// Where somebody looks.
#[derive(Clone, Copy)]
enum Aim {
    /// At the whole picture.
    Whole,
    /// At a place of it.
    Place {
        viewport: Viewport,
        /// The visitor has moved the picture there, and not what was selected or focused.
        is_by_visitor: bool,
        /// Ops of the graph.
        op_count: usize,
    },
}

/// An op or a kernel by a name that outlives an edit: that of the op or of the kernel's first op.
#[derive(Clone, PartialEq)]
struct Named {
    is_kernel: bool,
    op: String,
}

/// The state of the graph. Small, for each part keeps it several times.
#[derive(Clone, Copy)]
pub(super) struct Graph {
    page: StoredValue<Page>,
    /// Of the page: what is selected.
    pub(super) selection: RwSignal<Selection>,
    /// Of the page: the ops of the decision that somebody has stepped to.
    pub(super) decided_ops: Memo<Vec<OpId>>,
    pub(super) placed: Memo<Arc<Placed>>,
    shown: Memo<Arc<Shown>>,
    /// The element that is drawn on.
    pub(super) canvas: NodeRef<svg::Svg>,
    /// Its size; zero until it is known.
    pub(super) canvas_px: RwSignal<Size>,
    /// `None` looks at where one begins to read.
    aim: RwSignal<Option<ForLayout<Aim>>>,
    pub(super) viewport: Memo<Viewport>,
    /// What is in sight. Of a small graph that is all of it.
    pub(super) sight: Memo<Sight>,
    /// What is in sight is too much or too small to be drawn in full.
    pub(super) is_overview: Memo<bool>,
    /// What the tab key reached last.
    last_stop: RwSignal<Option<Named>>,
    /// What the tab key reaches: the one part with a tab stop.
    pub(super) tab_stop: Memo<FocusTarget>,
    /// What has the focus, of the layout with this number.
    focused: RwSignal<Option<ForLayout<FocusTarget>>>,
    /// Where the focus shall go, until the part has taken it.
    focus_request: RwSignal<Option<FocusTarget>>,
    plan: RwSignal<Option<ForLayout<Plan>>>,
    /// Where on the canvas the pointer drags a kernel to.
    pub(super) dragged_to: RwSignal<Option<Point>>,
    pub(super) pointers: StoredValue<Pointers>,
}

impl Graph {
    /// The state of a graph that nobody has touched.
    pub(super) fn new(page: Page) -> Self {
        let placed = shared_memo(move |last| place(&page.analysis.get(), last));
        let shown = shared_memo(move |_| {
            Arc::new(Shown {
                placed: placed.get(),
                looks: Looks::new(page.analysis.get(), page.is_fused.get()),
            })
        });
        let canvas_px = RwSignal::new((0.0, 0.0));
        let aim = RwSignal::new(None);
        let viewport = Memo::new(move |_| {
            let (placed, canvas) = (placed.get(), canvas_px.get());
            let picture = (placed.layout.width, placed.layout.height);
            let is_stepping = page.step.get().is_some();
            match aim.get().and_then(|aim| aim_at(aim, &placed, is_stepping)) {
                Some(Aim::Whole) => Viewport::fit(picture, canvas),
                Some(Aim::Place { viewport, .. }) => viewport,
                None => Viewport::first(picture, canvas),
            }
        });
        let is_small = Memo::new(move |_| placed.with(|placed| is_small(placed.layout.ops.len())));
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
        let last_stop = RwSignal::new(None);
        let tab_stop = Memo::new(move |_| {
            let named = last_stop
                .get()
                .as_ref()
                .and_then(|named| find(named, &placed.get()));
            named.unwrap_or(FocusTarget::Op(OpId::new(0)))
        });
        let graph = Self {
            page: StoredValue::new(page),
            selection: page.selection,
            decided_ops: page.decided_ops,
            placed,
            shown,
            canvas: NodeRef::new(),
            canvas_px,
            aim,
            viewport,
            sight,
            is_overview,
            last_stop,
            tab_stop,
            focused: RwSignal::new(None),
            focus_request: RwSignal::new(None),
            plan: RwSignal::new(None),
            dragged_to: RwSignal::new(None),
            pointers: StoredValue::new(Pointers::default()),
        };
        graph.keep_focus();
        graph.take_requests();
        graph.show_selections();
        graph
    }

    /// The page that the graph is on.
    pub(super) fn page(self) -> Page {
        self.page.get_value()
    }

    /// A new layout replaces all parts. What had the focus has it again, or what stands for it.
    fn keep_focus(self) {
        Effect::new(move || {
            let number = self.placed.with(|placed| placed.number);
            let focused = self.focused.get_untracked();
            if focused.is_some_and(|focused| focused.number != number) {
                self.focused.set(None);
                let last = self.last_stop.get_untracked();
                let same = self
                    .placed
                    .with_untracked(|placed| find(last.as_ref()?, placed));
                let same = same.or_else(|| self.selected_kernel());
                self.focus_or_canvas(same);
            }
        });
    }

    /// Takes the focus when another component gives it.
    fn take_requests(self) {
        Effect::new(move || {
            let target = match self.page().focus_request.get() {
                Some(FocusRequest::GraphKernel(kernel)) => Some(FocusTarget::Kernel(kernel)),
                Some(FocusRequest::Graph) => {
                    let last = self.last_stop.get_untracked();
                    self.selected_part()
                        .or(last.map(|_| self.tab_stop.get_untracked()))
                }
                _ => return,
            };
            self.page().focus_request.set(None);
            self.focus_or_canvas(target);
        });
    }

    /// What is selected elsewhere comes into sight, an edge with both ends.
    fn show_selections(self) {
        let is_canvas_known = Memo::new(move |_| self.canvas_px.get().0 > 0.0);
        Effect::new(move || {
            let (placed, selection) = (self.placed.get(), self.selection.get());
            let ends = match selection {
                Selection::Nothing => return,
                Selection::Op(op) => [FocusTarget::Op(op); 2],
                Selection::Edge { producer, consumer } => [producer, consumer].map(FocusTarget::Op),
                Selection::Kernel(kernel) => [FocusTarget::Kernel(kernel); 2],
            };
            let (viewport, canvas) = untrack(|| (self.viewport.get(), self.canvas_px.get()));
            let rects = ends.map(|end| placed.layout.rect_of(end));
            if let ([Some(first), Some(last)], true) = (rects, is_canvas_known.get())
                && !(viewport.shows(first.center(), canvas)
                    && viewport.shows(last.center(), canvas))
            {
                self.reveal(viewport.revealing(first.with(&last), canvas));
            }
        });
    }

    fn selected_part(self) -> Option<FocusTarget> {
        match self.selection.get_untracked() {
            Selection::Op(op) => Some(FocusTarget::Op(op)),
            _ => self.selected_kernel(),
        }
    }

    fn selected_kernel(self) -> Option<FocusTarget> {
        untrack(|| self.page().selected_kernel()).map(FocusTarget::Kernel)
    }

    /// What the present numbers make of a part of the layout with this number; tracked. `None` while the part is about
    /// to leave the page, because there is another layout.
    pub(super) fn with_looks<T>(self, number: usize, of: impl FnOnce(&Looks) -> T) -> Option<T> {
        (self.shown).with(|shown| (shown.placed.number == number).then(|| of(&shown.looks)))
    }

    /// The same for what is shown in several places, which wakes only those that show it, and only when it changes.
    pub(super) fn look<T>(
        self,
        number: usize,
        of: impl Fn(&Looks) -> T + Send + Sync + 'static,
    ) -> Memo<T>
    where
        T: Clone + Default + PartialEq + Send + Sync + 'static,
    {
        Memo::new(move |last: Option<&T>| {
            let now = self.with_looks(number, &of);
            now.or_else(|| last.cloned()).unwrap_or_default()
        })
    }

    /// Whether an op or a kernel is selected, or one end of an edge that is; tracked.
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

    /// Selects a part, or no longer.
    pub(super) fn toggle(self, target: FocusTarget) {
        self.page().toggle(match target {
            FocusTarget::Op(op) => Selection::Op(op),
            FocusTarget::Kernel(kernel) => Selection::Kernel(kernel),
        });
    }

    /// The tab key reaches one part of the picture; tracked.
    pub(super) fn tab_index(self, target: FocusTarget) -> &'static str {
        if self.tab_stop.get() == target {
            "0"
        } else {
            "-1"
        }
    }

    /// Gives the focus to a part, wherever it lies: it comes into the page and takes it.
    pub(super) fn focus(self, target: FocusTarget) {
        if self
            .placed
            .with_untracked(|placed| placed.layout.rect_of(target))
            .is_some()
        {
            self.remember_stop(target);
            self.focus_request.set(Some(target));
        }
    }

    fn focus_or_canvas(self, target: Option<FocusTarget>) {
        match (target, self.canvas.get_untracked()) {
            (Some(target), _) => self.focus(target),
            (None, Some(canvas)) => browser::focus_in_place(&canvas),
            (None, None) => {}
        }
    }

    /// The part takes the focus when it is asked for.
    pub(super) fn take_focus(self, target: FocusTarget, node: NodeRef<svg::G>) {
        Effect::new(move || {
            if self.focus_request.get() == Some(target)
                && let Some(part) = node.get()
            {
                self.focus_request.set(None);
                browser::focus_in_place(&part);
            }
        });
    }

    /// A part of a layout has got the focus, and is seen.
    pub(super) fn on_focus(self, target: FocusTarget) {
        let (number, rect) = self
            .placed
            .with_untracked(|placed| (placed.number, placed.layout.rect_of(target)));
        self.focused.set(Some(ForLayout {
            number,
            choice: target,
        }));
        self.remember_stop(target);
        if let Some(rect) = rect {
            let (viewport, canvas) = (
                self.viewport.get_untracked(),
                self.canvas_px.get_untracked(),
            );
            self.reveal(viewport.revealing(rect, canvas));
        }
    }

    /// A part of the layout with this number has lost the focus: to something else, or because the layout is gone.
    pub(super) fn on_blur(self, number: usize) {
        if self.placed.with_untracked(|placed| placed.number) == number {
            self.focused.set(None);
        }
    }

    fn remember_stop(self, target: FocusTarget) {
        let named = self.placed.with_untracked(|placed| name(target, placed));
        self.last_stop.set_if_changed(named);
    }

    /// Moves the picture to what is selected or focused.
    fn reveal(self, viewport: Viewport) {
        let aim = untrack(|| self.present_aim());
        let is_by_visitor = matches!(
            aim,
            Some(Aim::Place {
                is_by_visitor: true,
                ..
            })
        );
        self.aim_at_place(viewport, is_by_visitor);
    }

    /// Moves the picture as the visitor asks.
    pub(super) fn move_to(self, viewport: Viewport) {
        let picture = self.picture_px();
        let viewport = viewport.kept_in_sight(picture, self.canvas_px.get_untracked());
        self.aim_at_place(viewport, true);
    }

    /// Shows all of the picture.
    pub(super) fn fit(self) {
        self.aim_at(Aim::Whole);
    }

    fn aim_at_place(self, viewport: Viewport, is_by_visitor: bool) {
        self.aim_at(Aim::Place {
            viewport,
            is_by_visitor,
            op_count: self.placed.with_untracked(|placed| placed.layout.ops.len()),
        });
    }

    fn aim_at(self, aim: Aim) {
        let number = self.placed.with_untracked(|placed| placed.number);
        self.aim.set(Some(ForLayout {
            number,
            choice: aim,
        }));
    }

    fn present_aim(self) -> Option<Aim> {
        let is_stepping = self.page().step.get().is_some();
        aim_at(self.aim.get()?, &self.placed.get(), is_stepping)
    }

    /// Zooms by a factor round a point of the canvas; round its middle when there is none.
    pub(super) fn zoom(self, factor: f64, at: Option<Point>) {
        let (width, height) = self.canvas_px.get_untracked();
        let at = at.unwrap_or(Point::new(width / 2.0, height / 2.0));
        self.move_to(self.viewport.get_untracked().zoomed(factor, at));
    }

    fn picture_px(self) -> Size {
        (self.placed).with_untracked(|placed| (placed.layout.width, placed.layout.height))
    }

    /// What is about to be done by hand; tracked.
    pub(super) fn plan(self) -> Option<Plan> {
        let number = self.placed.with(|placed| placed.number);
        let plan = self.plan.get()?;
        (plan.number == number).then_some(plan.choice)
    }

    /// Plans something for the kernels that are shown, or nothing any longer.
    pub(super) fn set_plan(self, plan: Option<Plan>) {
        let number = self.placed.with_untracked(|placed| placed.number);
        self.plan
            .set(plan.map(|choice| ForLayout { number, choice }));
    }
}

/// Keeps the old layout as long as only sizes have changed.
fn place(analysis: &Arc<Analysis>, last: Option<&Arc<Placed>>) -> Arc<Placed> {
    if let Some(last) = last {
        let before = (&last.analysis.graph, &last.analysis.partition);
        if has_same_picture(before, (&analysis.graph, &analysis.partition)) {
            return last.clone();
        }
    }
    Arc::new(Placed {
        number: last.map_or(0, |last| last.number + 1),
        analysis: analysis.clone(),
        layout: layout(&analysis.graph, &analysis.partition),
    })
}

/// An aim as far as it holds for `placed`: who steps through decisions keeps looking where they have moved the picture.
fn aim_at(aim: ForLayout<Aim>, placed: &Placed, is_stepping: bool) -> Option<Aim> {
    let is_kept = match aim.choice {
        Aim::Place {
            is_by_visitor,
            op_count,
            ..
        } => is_stepping && is_by_visitor && op_count == placed.layout.ops.len(),
        Aim::Whole => false,
    };
    (aim.number == placed.number || is_kept).then_some(aim.choice)
}

fn name(target: FocusTarget, placed: &Placed) -> Option<Named> {
    let (is_kernel, op): (bool, OpId) = match target {
        FocusTarget::Op(op) => (false, op),
        FocusTarget::Kernel(kernel) => (
            true,
            *placed.analysis.partition.kernels.get(kernel)?.first()?,
        ),
    };
    let op = placed.analysis.graph.ops.get(op)?.name.clone();
    Some(Named { is_kernel, op })
}

fn find(named: &Named, placed: &Placed) -> Option<FocusTarget> {
    let op = placed.analysis.graph.op_named(&named.op)?;
    if named.is_kernel {
        let kernel = placed.analysis.partition.kernel_of.get(op).copied();
        kernel.map(FocusTarget::Kernel)
    } else {
        Some(FocusTarget::Op(op))
    }
}
