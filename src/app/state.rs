//! The state of the page: the text, what the visitor chose beside it, and what follows from both.
//!
//! The text is the single source of truth: every edit, wherever it is made, is a new text through [`Page::edit`] or
//! its like. [`Page`] is made once at the root and given to all components as context.

mod actions;
mod choices;
mod derived;

pub use choices::{FocusRequest, Notice, OpsView, Selection, Tab, Theme};
pub use derived::{AnalysedText, shared_memo};

use crate::app::history::{History, Origin, Step};
use crate::browser::{self, Later};
use crate::core::analysis::compare::Compared;
use crate::core::fusion::record::Record;
use crate::core::model::options::PAGE_BUDGET_STATES;
use crate::core::notation::Parsed;
use crate::core::{
    Analysis, Conventions, Device, Diagnostic, FusionOptions, OpId, Options, Policy, Program, Span,
    default_device,
};
use crate::present::why::Crossing;
use leptos::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// States that a search looks at while a thumb is dragged, so that a slider's event stays short.
const HURRIED_STATES: usize = 2_000;

/// A pause after which a thumb rests.
const REST: Duration = Duration::from_millis(200);

/// The signals of the page.
#[derive(Clone, Copy)]
pub struct Page {
    /// The op list. Written by [`Page::replace`], undo and redo alone.
    pub text: ReadSignal<String>,
    /// Who decides what fuses.
    pub policy: RwSignal<Policy>,
    /// What the policies may do.
    pub fusion: RwSignal<FusionOptions>,
    /// How bytes are counted.
    pub conventions: RwSignal<Conventions>,
    /// What the kernels run on.
    pub device: RwSignal<Device>,
    /// The fused picture is shown, not the unfused one.
    pub is_fused: RwSignal<bool>,
    /// What is selected.
    pub selection: RwSignal<Selection>,
    /// Colours.
    pub theme: RwSignal<Theme>,
    /// Text or table.
    pub ops_view: RwSignal<OpsView>,
    /// The tab of the panel below the pictures that is open. The others are not mounted.
    pub tab: RwSignal<Tab>,
    /// The example that the text began as.
    pub example: RwSignal<Option<&'static str>>,
    /// The latest message.
    pub notice: RwSignal<Option<Notice>>,
    /// Where the focus shall go, until the component that owns the place has taken it.
    pub focus_request: RwSignal<Option<FocusRequest>>,
    /// How many decisions of the policy are shown; `None` shows what all of them led to.
    pub step: RwSignal<Option<usize>>,
    /// The two ops that the tab on reasons is asked about; `None` until somebody asks or selects an edge.
    pub asked: RwSignal<Option<(OpId, OpId)>>,
    /// The text as read.
    pub parsed: Memo<Arc<Parsed>>,
    /// Everything that is wrong or assumed, in text order.
    pub diagnostics: Memo<Arc<Vec<Diagnostic>>>,
    /// The text has an error, and what is shown is older than it.
    pub is_stale: Memo<bool>,
    /// What the pictures and tables show: the last text without an error.
    pub shown: Memo<Arc<AnalysedText>>,
    /// The numbers of [`Page::shown`].
    pub analysis: Memo<Arc<Analysis>>,
    /// The present text as far as it is understood; `None` when the list of ops itself is broken.
    pub present: Signal<Option<Arc<AnalysedText>>>,
    /// What the policy decided. Costly: computed only while a tab shows it, as the two that follow.
    pub record: Memo<Arc<Record>>,
    /// All policies on what is shown.
    pub compared: Memo<Arc<Vec<Compared>>>,
    /// The edges between the kernels that are shown, dearest first.
    pub crossings: Memo<Arc<Vec<Crossing>>>,
    /// The ops that the last shown decision is about, ascending; none while nobody steps through the decisions.
    pub decided_ops: Memo<Vec<OpId>>,
    /// There is something to undo.
    pub can_undo: Memo<bool>,
    /// There is something to redo.
    pub can_redo: Memo<bool>,
    set_text: WriteSignal<String>,
    history: RwSignal<History>,
    is_hurried: RwSignal<bool>,
    rest: Later,
}

impl Page {
    /// The state of a page that starts with `text` and the default choices.
    pub fn new(text: String) -> Self {
        let (text, set_text) = signal(text);
        let policy = RwSignal::new(Policy::default());
        let conventions = RwSignal::new(Conventions::default());
        let device = RwSignal::new(default_device().clone());
        let fusion = RwSignal::new(FusionOptions::default());
        let is_hurried = RwSignal::new(false);
        let step = RwSignal::new(None);
        let history = RwSignal::new(History::default());
        let options = Memo::new(move |_| {
            let mut options = Options {
                policy: policy.get(),
                fusion: fusion.get(),
                conventions: conventions.get(),
                device: device.get(),
            };
            options.fusion.budget_states = PAGE_BUDGET_STATES;
            if options.policy == Policy::Optimal && is_hurried.get() {
                options.fusion.budget_states = HURRIED_STATES;
            }
            options
        });
        let parsed = derived::parsed(text);
        let understood = derived::understood(parsed, options);
        let diagnostics = derived::diagnostics(parsed, understood);
        let is_stale = derived::is_stale(diagnostics);
        let last_good = derived::last_good(understood, is_stale, options);
        let record = derived::record_of(last_good);
        let shown = derived::shown(last_good, record, step);
        let analysis = derived::analysis(shown);
        Self {
            text,
            policy,
            fusion,
            conventions,
            device,
            is_fused: RwSignal::new(true),
            selection: RwSignal::new(Selection::Nothing),
            theme: RwSignal::new(Theme::default()),
            ops_view: RwSignal::new(OpsView::default()),
            tab: RwSignal::new(Tab::default()),
            example: RwSignal::new(None),
            notice: RwSignal::new(None),
            focus_request: RwSignal::new(None),
            step,
            asked: RwSignal::new(None),
            parsed,
            diagnostics,
            is_stale,
            shown,
            analysis,
            present: derived::present(understood, is_stale, shown),
            record,
            compared: derived::compared(analysis),
            crossings: derived::crossings(analysis),
            decided_ops: derived::decided_ops(record, step),
            can_undo: Memo::new(move |_| history.with(History::can_undo)),
            can_redo: Memo::new(move |_| history.with(History::can_redo)),
            set_text,
            history,
            is_hurried,
            rest: Later::after(REST),
        }
    }

    /// The page that the root gives to all components.
    pub fn of_context() -> Self {
        expect_context()
    }

    /// Says that a thumb is being dragged: until it rests, a search gets by with few states.
    pub fn hurry(self) {
        self.is_hurried.set_if_changed(true);
        self.rest
            .call(move || self.is_hurried.set_if_changed(false));
    }

    /// Replaces the text. Edits of one origin that follow each other closely are one step back.
    pub fn edit(self, text: String, origin: Origin) {
        self.replace(text, origin, self.example.get_untracked(), None);
    }

    /// The same for a text that began as `example`, or that goes with a policy. Whether it is another text than before.
    pub fn replace(
        self,
        text: String,
        origin: Origin,
        example: Option<&'static str>,
        policy: Option<Policy>,
    ) -> bool {
        let mut before = self.present();
        let is_changed = before.text != text;
        if is_changed {
            if policy.is_none() || policy == before.policy {
                before.policy = None;
            }
            self.history
                .update(|history| history.record(before, origin, browser::now_ms()));
        }
        self.put(Step {
            text,
            example,
            policy,
        });
        is_changed
    }

    /// Replaces the text by a program that stands for itself. Without marks `manual` would leave all its ops
    /// alone, so it gives way to the default.
    pub fn open(self, text: String, example: Option<&'static str>) -> bool {
        let is_manual = self.policy.get_untracked() == Policy::Manual;
        let policy = (is_manual && !text.contains("@kernel")).then(Policy::default);
        self.replace(text, Origin::Single, example, policy)
    }

    /// The text with its example and the policy.
    fn present(self) -> Step {
        Step {
            text: self.text.get_untracked(),
            example: self.example.get_untracked(),
            policy: Some(self.policy.get_untracked()),
        }
    }

    /// Replaces the text by `change(text, program)`, as one step of `origin`.
    pub fn change(self, origin: Origin, change: impl FnOnce(&str, &Program) -> String) {
        let text = self
            .text
            .with_untracked(|text| self.parsed.with_untracked(|p| change(text, &p.program)));
        self.edit(text, origin);
    }

    /// Ends a series of edits, so that the next one is a step of its own.
    pub fn seal(self) {
        self.history.update(History::seal);
    }

    /// One step back. `false` when there is none.
    pub fn undo(self) -> bool {
        self.travel(History::undo)
    }

    /// One step forward again. `false` when there is none.
    pub fn redo(self) -> bool {
        self.travel(History::redo)
    }

    fn travel(self, step: fn(&mut History, Step) -> Option<Step>) -> bool {
        let present = self.present();
        let step = self
            .history
            .try_update(|history| step(history, present))
            .flatten();
        let is_changed = step.is_some();
        if let Some(step) = step {
            self.put(step);
            self.keep_focus();
        }
        is_changed
    }

    /// For when what has the focus may be about to leave the page: the graph takes the focus then.
    pub fn keep_focus(self) {
        if browser::has_focus() {
            // Views follow the signals after this.
            browser::next_frame(move || {
                if !browser::has_focus() {
                    self.focus_request.set(Some(FocusRequest::Graph));
                }
            });
        }
    }

    /// Shows a place of the text in the editor.
    pub fn show_in_text(self, span: Span) {
        self.ops_view.set_if_changed(OpsView::Text);
        self.focus_request.set(Some(FocusRequest::Text(span)));
    }

    fn put(self, step: Step) {
        self.example.set_if_changed(step.example);
        if let Some(policy) = step.policy {
            if policy == Policy::Manual && self.step.get_untracked().is_some() {
                // What was done by hand is to be seen, and not how it came about.
                self.step.set_if_changed(Some(usize::MAX));
            }
            self.policy.set_if_changed(policy);
        }
        if self.text.with_untracked(|text| *text != step.text) {
            browser::remember_text(&step.text);
            self.set_text.set(step.text);
            // It told about another text, and its undo would take back another edit.
            self.notice.set_if_changed(None);
        }
    }

    /// The kernel that is selected, itself or through one of its ops; tracked.
    pub fn selected_kernel(self) -> Option<usize> {
        let selection = self.selection.get();
        self.analysis.with(|analysis| selection.kernel(analysis))
    }

    /// Tells the visitor something.
    pub fn tell(self, text: impl Into<String>) {
        self.notice.set(Some(Notice {
            text: text.into(),
            is_failure: false,
            offers_undo: false,
        }));
    }

    /// Tells the visitor that something failed.
    pub fn tell_failure(self, text: impl Into<String>) {
        self.notice.set(Some(Notice {
            text: text.into(),
            is_failure: true,
            offers_undo: false,
        }));
    }

    /// The place in the text of a shown op; `None` when what is shown is older than the text.
    pub fn span_of_op(self, op: OpId) -> Option<Span> {
        let shown = self.shown.get();
        let statement = *shown.statement_of_op.get(op)?;
        let span = shown.parsed.program.ops.get(statement)?.span;
        (!self.is_stale.get()).then_some(span)
    }
}

/// Writing a signal only when that changes it, so that nothing wakes for an equal value.
pub trait SetIfChanged<T> {
    /// Sets the signal unless its value equals `value`.
    fn set_if_changed(&self, value: T);
}

impl<T: PartialEq + Send + Sync + 'static> SetIfChanged<T> for RwSignal<T> {
    fn set_if_changed(&self, value: T) {
        self.maybe_update(|present| {
            let is_changed = *present != value;
            if is_changed {
                *present = value;
            }
            is_changed
        });
    }
}
