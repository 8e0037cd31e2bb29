//! Merging two kernels by hand, by dragging one onto the other or by keys, and cutting a kernel
//! before an op.
//!
//! While a plan waits for a partner or for a second key, a live region over the graph shows its
//! effect.

use super::plan::{AwaitedMerge, MergeRole, Plan};
use super::state::Graph;
use crate::app::state::{FocusRequest, SetIfChanged};
use fuseline_core::{KernelId, OpId, Policy};
use fuseline_view::picture::dag::Point;
use fuseline_view::picture::dag::focus::FocusTarget;
use fuseline_view::present::manual::{Change, producer_beside};
use leptos::prelude::*;

impl Graph {
    /// The line from what is dragged to the pointer, as path data. Tracked.
    pub(super) fn merge_line(self) -> String {
        let from = self.plan().and_then(|plan| plan.merged()[0]);
        let (Some(from), Some(to)) = (from, self.dragged_to.get()) else {
            return String::new();
        };
        let rect = self.placed.with(|placed| placed.layout.rect_of(from));
        rect.map_or_else(String::new, |rect| {
            let start = self.viewport.get().on_canvas(rect.center());
            format!("M{:.0} {:.0}L{:.0} {:.0}", start.x, start.y, to.x, to.y)
        })
    }

    /// Plans a merge of this kernel with a partner that is still to be chosen.
    fn begin_merge(self, from: KernelId) {
        self.set_plan(Some(Plan::Merge { from, with: None }));
    }

    /// Plans a merge by keys. `false` if there is no such kernel.
    fn begin_merge_by_key(self, target: FocusTarget) -> bool {
        match target {
            FocusTarget::Op(from) if !self.page().chosen.is_fused.get_untracked() => {
                self.start_unfused(AwaitedMerge { from, with: None });
            }
            _ => {
                let Some(kernel) = self.kernel_of(target) else {
                    return false;
                };
                self.begin_merge(kernel);
                self.focus(FocusTarget::Kernel(kernel));
            }
        }
        true
    }

    /// Plans a merge of what the pointer begins to drag.
    pub(super) fn begin_drag(self, part: FocusTarget) {
        match part {
            FocusTarget::Op(from) if !self.page().chosen.is_fused.get_untracked() => {
                self.set_plan(Some(Plan::MergeUnfused { from, with: None }));
            }
            _ => {
                if let Some(kernel) = self.kernel_of(part) {
                    self.begin_merge(kernel);
                }
            }
        }
    }

    /// Shows the boxes of the unfused kernels for a merge. Of a large program the worker computes
    /// them first.
    fn start_unfused(self, merge: AwaitedMerge) {
        self.page().choose_policy(Policy::None);
        self.awaited_merge.set(Some(merge));
    }

    /// Goes on with a merge as soon as the unfused kernels are shown, unless the visitor has chosen
    /// other ones by then.
    pub(super) fn merge_when_unfused(self) {
        Effect::new(move || {
            let Some(AwaitedMerge { from, with }) = self.awaited_merge.get() else {
                return;
            };
            let page = self.page();
            let is_wanted = page.chosen.is_fused.get() && page.chosen.policy.get() == Policy::None;
            let is_shown =
                (self.placed).with(|placed| placed.analysis.options.policy == Policy::None);
            if is_wanted && !is_shown {
                return;
            }
            self.awaited_merge.set(None);
            if !is_wanted {
                return;
            }
            let kernel_of = |op| self.kernel_of(FocusTarget::Op(op));
            match (kernel_of(from), with.map(kernel_of)) {
                (Some(from), None) => {
                    self.begin_merge(from);
                    self.focus(FocusTarget::Kernel(from));
                }
                (Some(from), Some(Some(with))) => {
                    page.make(Change::Merge(from, with), FocusRequest::GraphKernel);
                }
                _ => {}
            }
        });
    }

    /// The role of a kernel or an op in the planned merge. Tracked.
    pub(super) fn merge_role(self, target: FocusTarget) -> Option<MergeRole> {
        let is_possible =
            || (self.proposal).with(|proposal| Some(proposal.as_ref()?.text.is_some()));
        self.plan()?.role_of(target, is_possible)
    }

    /// Changes the partner of the planned merge.
    pub(super) fn set_partner(self, partner: Option<KernelId>) {
        let Some(Plan::Merge { from, with }) = self.plan_now() else {
            return;
        };
        let partner = partner.filter(|&kernel| kernel != from);
        if with != partner {
            let with = partner;
            self.set_plan(Some(Plan::Merge { from, with }));
        }
    }

    /// Makes the planned change. A plan that is not possible stays.
    pub(super) fn finish_plan(self) {
        let is_refused = self.proposal.with_untracked(|proposal| {
            (proposal.as_ref()).is_some_and(|proposal| proposal.text.is_none())
        });
        if !is_refused {
            self.make_planned();
        }
    }

    /// Makes the planned change, or says why that is not possible. Ends the plan, unless something
    /// is still to be chosen.
    fn make_planned(self) {
        let Some(plan) = self.plan_now() else {
            return;
        };
        if let Plan::MergeUnfused {
            from,
            with: Some(with),
        } = plan
        {
            let with = Some(with);
            self.drop_plan();
            self.start_unfused(AwaitedMerge { from, with });
        }
        if let Some(change) = plan.change() {
            self.drop_plan();
            self.page().make(change, FocusRequest::GraphKernel);
        }
    }

    pub(super) fn drop_plan(self) {
        self.dragged_to.set_if_changed(None);
        self.set_plan(None);
    }

    /// Plans a cut between an op and the one before it in its kernel.
    fn plan_cut(self, before: OpId) {
        let producer =
            (self.page().analysis).with_untracked(|analysis| producer_beside(analysis, before));
        self.set_plan(Some(Plan::Cut { before, producer }));
    }

    /// The pointer drags a kernel or an op to a point of the canvas.
    pub(super) fn drag_part(self, at: Point) {
        let in_picture = self.viewport.get_untracked().in_picture(at);
        if let Some(Plan::MergeUnfused { from, with: before }) = self.plan_now() {
            let under = (self.placed).with_untracked(|placed| placed.layout.target_at(in_picture));
            let with = match under {
                Some(FocusTarget::Op(op)) if op != from => Some(op),
                _ => None,
            };
            if with != before {
                self.set_plan(Some(Plan::MergeUnfused { from, with }));
            }
        } else {
            let under = (self.placed).with_untracked(|placed| placed.layout.kernel_at(in_picture));
            self.set_partner(under);
        }
        self.dragged_to.set(Some(at));
    }

    /// The pointer drops what it drags: merges, or says why that is not possible.
    pub(super) fn drop_part(self) {
        self.make_planned();
        self.drop_plan();
    }

    /// Handles a key that starts, changes or ends a plan. `false` if it does none of these.
    pub(super) fn plan_key(self, key: &str, is_shifted: bool, target: Option<FocusTarget>) -> bool {
        match (self.plan_now(), key) {
            (None, "m" | "M") => {
                return target.is_some_and(|target| self.begin_merge_by_key(target));
            }
            (None, "x" | "X") => match target {
                Some(FocusTarget::Op(op)) => self.plan_cut(op),
                _ => return false,
            },
            (None, _) => return false,
            (Some(Plan::Merge { from, .. }), "Escape") => {
                self.drop_plan();
                self.focus(FocusTarget::Kernel(from));
            }
            (Some(Plan::Merge { .. }), "Enter" | " ")
            | (Some(Plan::Cut { .. }), "x" | "X" | "Enter") => self.finish_plan(),
            (Some(Plan::Merge { from, with }), _) => {
                let present = with.unwrap_or(from);
                let is_back = match key {
                    "ArrowRight" | "ArrowDown" | "PageDown" => false,
                    "ArrowLeft" | "ArrowUp" | "PageUp" => true,
                    "Tab" => is_shifted,
                    _ => return true,
                };
                if let Some(next) = self.next_partner(from, present, is_back) {
                    self.set_partner(Some(next));
                    self.focus(FocusTarget::Kernel(next));
                }
            }
            (Some(Plan::Cut { .. } | Plan::MergeUnfused { .. }), _) => {
                self.drop_plan();
                return key == "Escape";
            }
        }
        true
    }

    /// The plan. Untracked.
    pub(super) fn plan_now(self) -> Option<Plan> {
        untrack(|| self.plan())
    }

    fn kernel_of(self, target: FocusTarget) -> Option<KernelId> {
        match target {
            FocusTarget::Kernel(kernel) => Some(kernel),
            FocusTarget::Op(op) => (self.placed)
                .with_untracked(|placed| placed.analysis.partition.kernel_of.get(op).copied()),
        }
    }

    /// The kernel after or before `present`, cyclically, that is not `from`.
    fn next_partner(self, from: KernelId, present: KernelId, is_back: bool) -> Option<KernelId> {
        self.placed.with_untracked(|placed| {
            let layout = &placed.layout;
            let after = |kernel| {
                let beside = layout.kernel_beside(kernel, is_back);
                beside.or_else(|| layout.kernel_at_end(!is_back))
            };
            let next = after(present)?;
            let next = if next == from { after(next)? } else { next };
            (next != from).then_some(next)
        })
    }
}
