//! What a visitor does with the text and the shown kernels.

use crate::app::history::{Origin, end_of_change};
use crate::app::state::choices::{FocusRequest, Notice, NoticeAction, OpsView};
use crate::app::state::page::Page;
use crate::app::state::selection::{NamedSelection, Selection};
use crate::app::state::set_if_changed::SetIfChanged;
use fuseline_browser as browser;
use fuseline_core::analysis::advice::Advice;
use fuseline_core::analysis::launches::Launcher;
use fuseline_core::fusion::decision_trace::Decision;
use fuseline_core::notation::edit::set_param;
use fuseline_core::{Analysis, F32Matmul, Fix, KernelId, OpId, Policy, Span};
use fuseline_learn::lesson::state::{Mark, Marked};
use fuseline_view::page::tab::Tab;
use fuseline_view::present::advice::done_words;
use fuseline_view::present::findings::fixes_on_line;
use fuseline_view::present::manual::Change;
use fuseline_view::present::why::{Asked, EdgeOps};
use leptos::prelude::*;

impl Page {
    /// Offers the text as a file.
    pub fn save_text(self) {
        self.text
            .with_untracked(|text| browser::download("fuseline.fuse", "text/plain", text));
    }

    /// Corrects the text, unless a slider has just moved: then the fix is for an older one. The
    /// button that did it may be gone then: by key, the focus goes where the text has changed.
    pub fn correct(self, fix: &Fix, is_by_key: bool) {
        if untrack(|| self.slider.is_dragging()) {
            return;
        }
        let corrected = self.text.with_untracked(|text| fix.applied(text));
        let Some(corrected) = corrected else {
            return;
        };
        let end = self
            .text
            .with_untracked(|text| end_of_change(text, &corrected));
        self.edit(corrected, Origin::Single);
        if !is_by_key {
            return;
        }
        match self.screen.ops_view.get_untracked() {
            OpsView::Text => self.show_in_text(Span::new(end, end)),
            OpsView::Table | OpsView::Functions => self.keep_focus(),
        }
    }

    /// Makes the first correction on the line of a byte of the text, or says that there is none.
    pub fn correct_line(self, byte: usize) {
        let text = self.text.read_untracked();
        let (all, fixes) = (
            self.checked.diagnostics.get_untracked(),
            self.checked.fixes.get_untracked(),
        );
        let fix = fixes_on_line(&all, &fixes, &text, byte).first().cloned();
        drop(text);
        match fix {
            Some(fix) => self.correct(&fix, true),
            None => self.tell("This line has no correction to apply."),
        }
    }

    /// A pointer presses a slider.
    pub fn press_slider(self) {
        self.slider.press();
        self.hold_step();
    }

    /// The pointer leaves a slider.
    pub fn release_slider(self) {
        self.slider.release();
        self.release_step();
    }

    /// Sets the param of this name, as one step of undo.
    pub fn set_param(self, name: &str, value: i64) {
        self.seal();
        self.change(Origin::Param(name.to_owned()), |text, program| {
            let index = program.params.iter().position(|p| p.name.text == name);
            index.map_or_else(
                || text.to_owned(),
                |index| set_param(text, program, index, value),
            )
        });
        self.seal();
    }

    /// Selects `selection`. The *Why not* tab explains a selected edge.
    pub fn select(self, selection: Selection) {
        self.select_and(selection, false);
    }

    /// Chooses the two ops that the *Why not* tab explains.
    pub fn ask_about(self, ops: EdgeOps) {
        let asked = (self.analysis).with_untracked(|analysis| Asked::about(analysis, ops));
        self.questions.asked.set_if_changed(Some(asked));
    }

    fn select_and(self, selection: Selection, is_inspected: bool) {
        if let Selection::Edge { producer, consumer } = selection {
            self.ask_about((producer, consumer));
        }
        let mut named =
            (self.analysis).with_untracked(|analysis| NamedSelection::new(selection, analysis));
        named.is_inspected = is_inspected;
        self.selected.set_if_changed(named);
    }

    /// Selects the kernel that computes an op, also after the next change of the kernels.
    pub(super) fn select_kernel_of(self, op: OpId) {
        let named = self.analysis.with_untracked(|analysis| {
            let &kernel = analysis.partition.kernel_of.get(op)?;
            Some(NamedSelection::kernel_of(
                kernel,
                &analysis.graph.ops.get(op)?.name,
            ))
        });
        self.selected.set_if_changed(named.unwrap_or_default());
    }

    /// Selects what a lesson marks, if the program has it.
    pub fn select_mark(self, mark: Option<&Mark>) {
        let named = match mark {
            None => NamedSelection::default(),
            Some(Mark::Op(name)) => NamedSelection::of_op(name),
            Some(Mark::Kernel(name)) => NamedSelection::kernel_of(KernelId::default(), name),
            Some(mark) => {
                let found = self.analysis.with_untracked(|analysis| mark.ids(analysis));
                match found {
                    Some(Marked::Edge(producer, consumer)) => {
                        return self.select(Selection::Edge { producer, consumer });
                    }
                    Some(Marked::Tensor(tensor)) => return self.select(Selection::Tensor(tensor)),
                    None => NamedSelection::default(),
                }
            }
        };
        self.selected.set_if_changed(named);
    }

    /// Selects the op of this name, if the program has one.
    pub fn select_named(self, name: &str) {
        self.selected.set_if_changed(NamedSelection::of_op(name));
    }

    /// Selects `selection` and opens its card, or selects nothing if its card is open already.
    pub fn toggle(self, selection: Selection) {
        let is_selected = self.selection.get_untracked() == selection;
        if is_selected && (self.selected).with_untracked(|named| named.is_inspected) {
            self.select(Selection::Nothing);
        } else {
            self.inspect(selection);
        }
    }

    /// Selects `selection` and opens its card.
    fn inspect(self, selection: Selection) {
        self.select_and(selection, true);
    }

    /// What the visitor has clicked and wants to know about. Tracked.
    pub fn inspected(self) -> Selection {
        if self.selected.with(|named| named.is_inspected) {
            self.selection.get()
        } else {
            Selection::Nothing
        }
    }

    /// Opens the card of the edge from `producer` to its first reader in another kernel, else that
    /// of the op.
    pub fn inspect_output(self, producer: OpId) {
        let reader = self.analysis.with_untracked(|analysis| {
            let partition = &analysis.partition;
            let mut readers = analysis.graph.successors.get(producer)?.iter().copied();
            readers.find(|&reader| {
                let kernel = partition.kernel_of.get(reader);
                kernel.is_some_and(|&kernel| !partition.computes(kernel, producer))
            })
        });
        match reader {
            Some(consumer) => self.inspect(Selection::Edge { producer, consumer }),
            None => self.inspect(Selection::Op(producer)),
        }
    }

    /// Shows the kernels after the first `step` decisions of the policy, and selects what the last
    /// of them is about.
    pub fn show_step(self, step: usize) {
        self.choose(|choices| choices.is_fused = true);
        self.stepping.step.set_if_changed(Some(step));
        let analysis = self.analysis.get_untracked();
        let decision = self
            .stepping
            .steps
            .with_untracked(|steps| steps.as_ref()?.last_decision(step));
        match decided(&analysis, decision) {
            Decided::Selection(selection) => self.select(selection),
            Decided::KernelOf(op) => self.select_kernel_of(op),
        }
    }

    /// Does what an advice says, as one step of undo. A CUDA graph changes no kernel: the timeline
    /// shows it.
    pub fn follow(self, advice: Advice) {
        match advice {
            Advice::Merge(a, b) => self.make(Change::MergeOnTop(a, b), FocusRequest::GraphKernel),
            Advice::CudaGraph => {
                self.screen.launcher.set(Launcher::CudaGraph);
                self.screen.tab.set(Tab::Profiler);
            }
            Advice::Compile => self.choose(|choices| choices.policy = Policy::Inductor),
            Advice::Attention => self.choose(|choices| choices.fusion.attention = true),
            Advice::MaxAutotune => self.choose(|choices| choices.fusion.max_autotune = true),
            Advice::Tf32 => {
                self.choose(|choices| choices.conventions.f32_matmul = F32Matmul::Tf32);
            }
            Advice::JoinProducts(_)
            | Advice::F8Products
            | Advice::Int8Weights
            | Advice::LargerBatch { .. } => self.change(Origin::Single, |text, program| {
                (advice.text(text, program)).unwrap_or_else(|| text.to_owned())
            }),
        }
        if let Some(text) = done_words(advice) {
            self.screen.notice.set(Some(Notice {
                text,
                is_failure: false,
                action: Some(NoticeAction::Undo),
            }));
        }
    }
}

/// What a decision is about.
enum Decided {
    /// An edge, an op, or nothing.
    Selection(Selection),
    /// The kernel that computes this op after the decision.
    KernelOf(OpId),
}

/// What a decision is about; nothing before the first.
fn decided(analysis: &Analysis, decision: Option<Decision>) -> Decided {
    let nothing = Decided::Selection(Selection::Nothing);
    let mut ops = match decision {
        // Without the op that the reason names.
        Some(Decision::Refused { ops, .. }) => ops,
        Some(decision) => decision.ops(),
        None => return nothing,
    };
    // A producer comes before its consumer.
    ops.sort_unstable();
    match ops[..] {
        [] => nothing,
        [op] => Decided::Selection(Selection::Op(op)),
        [producer, consumer, ..] => {
            let readers = analysis.graph.successors.get(producer);
            let kernel = |op: OpId| analysis.partition.kernel_of.get(op);
            if ops.len() == 2 && readers.is_some_and(|readers| readers.contains(&consumer)) {
                Decided::Selection(Selection::Edge { producer, consumer })
            } else if kernel(producer) == kernel(consumer) {
                Decided::KernelOf(producer)
            } else {
                Decided::Selection(Selection::Op(producer))
            }
        }
    }
}
