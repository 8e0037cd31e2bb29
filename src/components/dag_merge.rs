//! Merging two kernels of the graph, by dragging one onto the other or by keys, and cutting before an op.
//!
//! While a partner is looked for, what it would bring stands in a live region over the graph.

use super::dag_parts::stop_id;
use super::dag_view::{CANVAS_ID, Dag};
use crate::app::state::{FocusRequest, SetIfChanged};
use crate::browser::{self, set_attribute, set_class, set_text};
use crate::core::OpId;
use crate::picture::dag::Point;
use crate::picture::dag::steps::FocusTarget as Stop;
use crate::present::manual::{Change, Proposal};
use leptos::prelude::*;

const STATUS_ID: &str = "dag-status";
const LINE_ID: &str = "dag-merge-line";

/// What is about to be done by hand.
#[derive(Clone)]
pub(super) enum Plan {
    /// A kernel looks for a partner.
    Merge {
        /// The kernel.
        from: usize,
        /// The partner that is looked at, and what merging would bring.
        with: Option<(usize, Proposal)>,
    },
    /// A cut before this op waits for a second key.
    Cut(OpId, Proposal),
}

impl Dag {
    /// Begins to look for a partner.
    pub(super) fn begin_merge(&self, from: usize) {
        self.leave_plan();
        self.page.is_fused.set_if_changed(true);
        set_class(&stop_id(Stop::Kernel(from)), "is-merging", true);
        *self.plan.borrow_mut() = Some(Plan::Merge { from, with: None });
        let number = (from + 1).to_string();
        say(&[
            "Kernel ",
            &number,
            " looks for a partner: choose it with the arrow keys or Tab. Enter merges, Escape leaves.",
        ]
        .concat());
    }

    /// Looks at a partner, or at none.
    pub(super) fn consider(&self, partner: Option<usize>) {
        let Some(Plan::Merge { from, with }) = self.plan.borrow().clone() else {
            return;
        };
        let before = with.map(|(kernel, _)| kernel);
        let partner = partner.filter(|&kernel| kernel != from);
        if before == partner {
            return;
        }
        if let Some(kernel) = before {
            mark_partner(kernel, None);
        }
        let with = partner.map(|kernel| {
            let proposal = self.page.proposal(Change::Merge(from, kernel));
            mark_partner(kernel, Some(&proposal));
            say(&proposal.words);
            (kernel, proposal)
        });
        if with.is_none() {
            say(&["Kernel ", &(from + 1).to_string(), " looks for a partner."].concat());
        }
        *self.plan.borrow_mut() = Some(Plan::Merge { from, with });
    }

    /// Does what was planned; what may not be is said and stays planned.
    pub(super) fn finish_plan(&self) {
        let Some(plan) = self.plan.borrow().clone() else {
            return;
        };
        let (op, proposal) = match plan {
            Plan::Cut(op, proposal) => (Some(op), proposal),
            Plan::Merge { with: None, .. } => return,
            Plan::Merge {
                from,
                with: Some((_, proposal)),
            } => (self.first_op(from), proposal),
        };
        if proposal.text.is_some()
            && let Some(op) = op
        {
            self.leave_plan();
            self.page.apply(&proposal, op, FocusRequest::GraphKernel);
        }
    }

    fn first_op(&self, kernel: usize) -> Option<OpId> {
        let drawn = self.drawn.borrow().clone()?;
        let groups = &drawn.placed.analysis.partition.groups;
        groups.get(kernel)?.first().copied()
    }

    /// Plans nothing any longer.
    pub(super) fn leave_plan(&self) {
        let plan = self.plan.borrow_mut().take();
        if let Some(Plan::Merge { from, with }) = &plan {
            set_class(&stop_id(Stop::Kernel(*from)), "is-merging", false);
            if let Some((kernel, _)) = with {
                mark_partner(*kernel, None);
            }
        }
        if plan.is_some() {
            set_attribute(LINE_ID, "d", "");
            say("");
        }
    }

    /// The pointer drags the kernel that it has grabbed; `at` is in the window.
    pub(super) fn drag_kernel(&self, at: Point) {
        let Some(Plan::Merge { from, .. }) = self.plan.borrow().clone() else {
            return;
        };
        let Some((x, y)) = browser::point_in(CANVAS_ID, at.x, at.y) else {
            return;
        };
        let viewport = self.viewport.get();
        let in_picture = Point::new(
            (x - viewport.x) / viewport.scale,
            (y - viewport.y) / viewport.scale,
        );
        let under = self.drawn.borrow().as_ref().and_then(|drawn| {
            let mut panels = drawn.placed.layout.panels.iter();
            panels.position(|panel| panel.holds(in_picture))
        });
        self.consider(under);
        if let Some(panel) = self.rect(Stop::Kernel(from)) {
            let middle = panel.center();
            let place = |value: f64| value.round().to_string();
            let line = [
                "M",
                &place(middle.x * viewport.scale + viewport.x),
                " ",
                &place(middle.y * viewport.scale + viewport.y),
                "L",
                &place(x),
                " ",
                &place(y),
            ];
            set_attribute(LINE_ID, "d", &line.concat());
        }
    }

    /// The pointer lets the kernel go: merges where that may be, else leaves it as it was, with the reason.
    pub(super) fn drop_kernel(&self) {
        let plan = self.plan.borrow().clone();
        let Some(Plan::Merge { with, .. }) = plan else {
            return;
        };
        self.finish_plan();
        self.leave_plan();
        if let Some((_, refused)) = with.filter(|(_, proposal)| proposal.text.is_none()) {
            self.page.tell_failure(refused.words);
        }
    }

    /// A key while something is planned, or that begins a plan; whether it was one of these.
    pub(super) fn plan_key(&self, key: &str, is_shifted: bool, stop: Option<Stop>) -> bool {
        let plan = self.plan.borrow().clone();
        match (plan, key) {
            (None, "m" | "M") => {
                let Some(kernel) = stop.and_then(|stop| self.kernel_of(stop)) else {
                    return false;
                };
                self.begin_merge(kernel);
                browser::focus_in_place(&stop_id(Stop::Kernel(kernel)));
            }
            (None, "x" | "X") => match stop {
                Some(Stop::Op(op)) => self.plan_cut(op),
                _ => return false,
            },
            (None, _) => return false,
            (Some(Plan::Merge { from, .. }), "Escape") => {
                self.leave_plan();
                browser::focus_in_place(&stop_id(Stop::Kernel(from)));
            }
            (Some(Plan::Merge { .. }), "Enter" | " ")
            | (Some(Plan::Cut(..)), "x" | "X" | "Enter") => {
                self.finish_plan();
            }
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
                    browser::focus_in_place(&stop_id(Stop::Kernel(next)));
                }
            }
            (Some(Plan::Cut(..)), _) => {
                self.leave_plan();
                return key == "Escape";
            }
        }
        true
    }

    fn plan_cut(&self, op: OpId) {
        let analysis = self.page.analysis.get_untracked();
        let partition = &analysis.partition;
        let kernel = partition.group_of.get(op);
        let mut producers = analysis.graph.predecessors.get(op).into_iter().flatten();
        let producer = producers.find(|&&producer| partition.group_of.get(producer) == kernel);
        let Some(&producer) = producer else {
            say("Nothing comes before it in its kernel, so there is nothing to cut.");
            return;
        };
        let planned = self.page.proposal(Change::Cut {
            producer,
            consumer: op,
        });
        let hint = if planned.text.is_some() {
            " Press x again to cut, Escape to leave it."
        } else {
            ""
        };
        say(&[&planned.words, hint].concat());
        *self.plan.borrow_mut() = Some(Plan::Cut(op, planned));
    }

    fn kernel_of(&self, stop: Stop) -> Option<usize> {
        match stop {
            Stop::Kernel(kernel) => Some(kernel),
            Stop::Op(op) => {
                let drawn = self.drawn.borrow().clone()?;
                let group_of = &drawn.placed.analysis.partition.group_of;
                group_of.get(op).copied()
            }
        }
    }

    /// The kernel after or before `present`, round the end, that is not `from`.
    fn next_partner(&self, from: usize, present: usize, is_back: bool) -> Option<usize> {
        let drawn = self.drawn.borrow().clone()?;
        let count = drawn.placed.layout.panels.len();
        let step = if is_back { count - 1 } else { 1 };
        let next = (present + step) % count;
        let next = if next == from {
            (next + step) % count
        } else {
            next
        };
        (next != from).then_some(next)
    }
}

fn say(words: &str) {
    set_text(STATUS_ID, words);
}

fn mark_partner(kernel: usize, proposal: Option<&Proposal>) {
    let id = stop_id(Stop::Kernel(kernel));
    let is_allowed = proposal.map(|proposal| proposal.text.is_some());
    set_class(&id, "is-partner", is_allowed == Some(true));
    set_class(&id, "is-refused", is_allowed == Some(false));
}
