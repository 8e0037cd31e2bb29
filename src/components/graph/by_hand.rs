//! Merging two kernels of the graph, by dragging one onto the other or by keys, and cutting before an op.
//!
//! While a plan waits for a partner or for a second key, a live region over the graph says what it would bring.

use super::state::Graph;
use crate::app::state::{FocusRequest, SetIfChanged};
use crate::core::{KernelId, OpId};
use crate::picture::dag::Point;
use crate::picture::dag::focus::FocusTarget;
use crate::present::manual::{Change, Proposal};
use leptos::prelude::*;

/// What is about to be done by hand.
#[derive(Clone)]
pub(super) enum Plan {
    /// A kernel looks for a partner.
    Merge {
        /// The kernel.
        from: KernelId,
        /// The partner that is looked at, and what merging would bring.
        with: Option<(KernelId, Proposal)>,
    },
    /// A cut before this op waits for a second key.
    Cut(OpId, Proposal),
}

impl Plan {
    /// What the live region says.
    fn status(&self) -> String {
        match self {
            Self::Merge { from, with: None } => format!(
                "Kernel {} looks for a partner: choose it with the arrow keys or Tab. Enter merges, Escape leaves.",
                from.number()
            ),
            Self::Cut(_, proposal) if proposal.text.is_some() => {
                format!(
                    "{} Press x again to cut, Escape to leave it.",
                    proposal.words
                )
            }
            Self::Merge {
                with: Some((_, proposal)),
                ..
            }
            | Self::Cut(_, proposal) => proposal.words.clone(),
        }
    }
}

/// What a kernel is in a planned merge.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanRole {
    /// It looks for a partner.
    Merging,
    /// Merging with it is possible.
    Partner,
    /// Merging with it is not possible.
    Refused,
}

impl Graph {
    /// What the live region says; tracked.
    pub(super) fn status(self) -> String {
        self.plan().as_ref().map_or_else(String::new, Plan::status)
    }

    /// The kernels of a planned merge; tracked.
    pub(super) fn merged_kernels(self) -> Vec<KernelId> {
        match self.plan() {
            Some(Plan::Merge { from, with }) => {
                let partner = with.map(|(kernel, _)| kernel);
                [Some(from), partner].into_iter().flatten().collect()
            }
            _ => Vec::new(),
        }
    }

    /// What a kernel is in the planned merge; tracked.
    pub(super) fn role_in_plan(self, kernel: KernelId) -> Option<PlanRole> {
        match self.plan()? {
            Plan::Merge { from, .. } if from == kernel => Some(PlanRole::Merging),
            Plan::Merge {
                with: Some((partner, proposal)),
                ..
            } if partner == kernel => Some(if proposal.text.is_some() {
                PlanRole::Partner
            } else {
                PlanRole::Refused
            }),
            _ => None,
        }
    }

    /// The line from a kernel that is dragged to the pointer, as path data; tracked.
    pub(super) fn merge_line(self) -> String {
        let (Some(Plan::Merge { from, .. }), Some(to)) = (self.plan(), self.dragged_to.get())
        else {
            return String::new();
        };
        let panel = self
            .placed
            .with(|placed| placed.layout.rect_of(FocusTarget::Kernel(from)));
        panel.map_or_else(String::new, |panel| {
            let start = self.viewport.get().on_canvas(panel.center());
            format!("M{:.0} {:.0}L{:.0} {:.0}", start.x, start.y, to.x, to.y)
        })
    }

    /// Begins to look for a partner.
    pub(super) fn begin_merge(self, from: KernelId) {
        self.page().is_fused.set_if_changed(true);
        self.set_plan(Some(Plan::Merge { from, with: None }));
    }

    /// Looks at a partner, or at none.
    pub(super) fn consider(self, partner: Option<KernelId>) {
        let Some(Plan::Merge { from, with }) = self.plan_now() else {
            return;
        };
        let partner = partner.filter(|&kernel| kernel != from);
        if with.map(|(kernel, _)| kernel) != partner {
            let with =
                partner.map(|kernel| (kernel, self.page().proposal(Change::Merge(from, kernel))));
            self.set_plan(Some(Plan::Merge { from, with }));
        }
    }

    /// Does what was planned. What is not possible stays planned.
    pub(super) fn finish_plan(self) {
        let (op, proposal) = match self.plan_now() {
            Some(Plan::Cut(op, proposal)) => (Some(op), proposal),
            Some(Plan::Merge {
                from,
                with: Some((_, proposal)),
            }) => (self.first_op(from), proposal),
            _ => return,
        };
        if proposal.text.is_some()
            && let Some(op) = op
        {
            self.leave_plan();
            self.page().apply(&proposal, op, FocusRequest::GraphKernel);
        }
    }

    /// Plans nothing any longer.
    pub(super) fn leave_plan(self) {
        self.dragged_to.set_if_changed(None);
        self.set_plan(None);
    }

    /// Plans a cut between an op and the one before it in its kernel.
    fn plan_cut(self, op: OpId) {
        let analysis = self.page().analysis.get_untracked();
        let partition = &analysis.partition;
        let kernel = partition.kernel_of.get(op);
        let mut producers = analysis.graph.predecessors.get(op).into_iter().flatten();
        let producer = producers.find(|&&producer| partition.kernel_of.get(producer) == kernel);
        let planned = match producer {
            Some(&producer) => {
                let change = Change::Cut {
                    producer,
                    consumer: op,
                };
                self.page().proposal(change)
            }
            None => Proposal {
                words: "Nothing comes before it in its kernel, so there is nothing to cut."
                    .to_owned(),
                done: String::new(),
                text: None,
            },
        };
        self.set_plan(Some(Plan::Cut(op, planned)));
    }

    /// The pointer drags a kernel; `at` is on the canvas.
    pub(super) fn drag_kernel(self, at: Point) {
        let in_picture = self.viewport.get_untracked().in_picture(at);
        let under = self
            .placed
            .with_untracked(|placed| placed.layout.kernel_at(in_picture));
        self.consider(under);
        self.dragged_to.set(Some(at));
    }

    /// The pointer lets the kernel go: merges where that is possible, else leaves it as it was, with the reason.
    pub(super) fn drop_kernel(self) {
        let plan = self.plan_now();
        self.finish_plan();
        self.leave_plan();
        if let Some(Plan::Merge {
            with: Some((_, proposal)),
            ..
        }) = plan
            && proposal.text.is_none()
        {
            self.page().tell_failure(proposal.words);
        }
    }

    /// A key while something is planned, or that begins a plan; whether it was one of these.
    pub(super) fn plan_key(self, key: &str, is_shifted: bool, target: Option<FocusTarget>) -> bool {
        match (self.plan_now(), key) {
            (None, "m" | "M") => {
                let Some(kernel) = target.and_then(|target| self.kernel_of(target)) else {
                    return false;
                };
                self.begin_merge(kernel);
                self.focus(FocusTarget::Kernel(kernel));
            }
            (None, "x" | "X") => match target {
                Some(FocusTarget::Op(op)) => self.plan_cut(op),
                _ => return false,
            },
            (None, _) => return false,
            (Some(Plan::Merge { from, .. }), "Escape") => {
                self.leave_plan();
                self.focus(FocusTarget::Kernel(from));
            }
            (Some(Plan::Merge { .. }), "Enter" | " ")
            | (Some(Plan::Cut(..)), "x" | "X" | "Enter") => self.finish_plan(),
            (Some(Plan::Merge { from, with }), _) => {
                let present = with.map_or(from, |(kernel, _)| kernel);
                let is_back = match key {
                    "ArrowRight" | "ArrowDown" | "PageDown" => false,
                    "ArrowLeft" | "ArrowUp" | "PageUp" => true,
                    "Tab" => is_shifted,
                    _ => return true,
                };
                if let Some(next) = self.next_partner(from, present, is_back) {
                    self.consider(Some(next));
                    self.focus(FocusTarget::Kernel(next));
                }
            }
            (Some(Plan::Cut(..)), _) => {
                self.leave_plan();
                return key == "Escape";
            }
        }
        true
    }

    pub(super) fn plan_now(self) -> Option<Plan> {
        untrack(|| self.plan())
    }

    fn first_op(self, kernel: KernelId) -> Option<OpId> {
        (self.placed).with_untracked(|placed| {
            placed
                .analysis
                .partition
                .kernels
                .get(kernel)?
                .first()
                .copied()
        })
    }

    fn kernel_of(self, target: FocusTarget) -> Option<KernelId> {
        match target {
            FocusTarget::Kernel(kernel) => Some(kernel),
            FocusTarget::Op(op) => (self.placed)
                .with_untracked(|placed| placed.analysis.partition.kernel_of.get(op).copied()),
        }
    }

    /// The kernel after or before `present`, round the end, that is not `from`.
    fn next_partner(self, from: KernelId, present: KernelId, is_back: bool) -> Option<KernelId> {
        let count = self
            .placed
            .with_untracked(|placed| placed.layout.panels.len());
        let step = if is_back { count - 1 } else { 1 };
        let after = |kernel: KernelId| KernelId::new((kernel.index() + step) % count);
        let next = after(present);
        let next = if next == from { after(next) } else { next };
        (next != from).then_some(next)
    }
}
