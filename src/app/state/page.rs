//! The signals of the page.

use super::choices::{FocusRequest, Notice, OpsView, Theme};
use super::drawn::{Charted, Drawing, Fold, charted};
use super::explained::Explained;
use super::memos::unhurried;
use super::pinned::{self, Pinned};
use super::profile::OpenProfile;
use super::selection::{NamedSelection, Selection};
use super::sent::Sent;
use super::set_if_changed::SetIfChanged;
use super::slider::SliderState;
use super::sweeping::Sweeping;
use super::{derived, profile, switching, tabs};
use crate::app::analysed::AnalysedText;
use crate::app::background::Background;
use crate::app::history::History;
use crate::app::jobs::Job;
use crate::app::measured_devices::MeasuredDevices;
use fuseline_browser as browser;
use fuseline_core::analysis::compare::Compared;
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::notation::Parsed;
use fuseline_core::{
    Analysis, Conventions, Device, Diagnostic, Fix, FusionOptions, IdVec, KernelId, OpId, Policy,
    Span, default_device,
};
use fuseline_import::matching::Matching;
use fuseline_learn::puzzle::source::Source;
use fuseline_learn::results::handed_in::HandedIn;
use fuseline_view::page::note::Note;
use fuseline_view::page::tab::Tab;
use fuseline_view::present::badge::{KernelLook, kernel_looks};
use fuseline_view::present::findings::Shown;
use fuseline_view::present::pinned::KernelAgainst;
use fuseline_view::present::steps::Steps;
use fuseline_view::present::why::Asked;
use leptos::prelude::*;
use std::fmt::Display;
use std::sync::Arc;

/// The signals of the page.
#[derive(Clone, Copy)]
pub struct Page {
    /// The op list. Only [`Page::replace`], undo and redo write it and the choices beside it.
    pub text: ReadSignal<String>,
    /// Who decides what fuses.
    pub policy: RwSignal<Policy>,
    /// The policy before *no fusion*, which *Fused* goes back to.
    pub(super) fusing_policy: RwSignal<Policy>,
    /// Options of the policies.
    pub fusion: RwSignal<FusionOptions>,
    /// How bytes are counted.
    pub conventions: RwSignal<Conventions>,
    /// The device that the kernels run on.
    pub device: RwSignal<Device>,
    /// GPUs that the visitor measured, or that came with a link.
    pub measured_devices: RwSignal<MeasuredDevices>,
    /// Whether the graph is shown fused.
    pub is_fused: RwSignal<bool>,
    /// What is selected. Edits move ids; the selection stays on the op of the same name. Written by [`Page::select`].
    pub selection: Memo<Selection>,
    /// The page's colours.
    pub theme: RwSignal<Theme>,
    /// Whether the op list is shown as text or as a table.
    pub ops_view: RwSignal<OpsView>,
    /// Whether the pane of the op list is open, and not folded to its tab.
    pub is_ops_open: RwSignal<bool>,
    /// Whether the lessons have the page: the open lesson or puzzle, else their lists.
    pub is_learning: RwSignal<bool>,
    /// The open tab of the panel below the pictures.
    pub tab: RwSignal<Tab>,
    /// Measured patterns of the visitor's own, until the page is left.
    pub own_calibrations: RwSignal<Option<Arc<Calibrations>>>,
    /// The example that the text started from.
    pub example: RwSignal<Option<&'static str>>,
    /// The puzzle whose kernels the visitor makes.
    pub puzzle: RwSignal<Option<Source>>,
    /// As in [`Choices`](crate::app::history::Choices); [`Page::moves`] knows the start, too.
    pub(super) moves: RwSignal<Option<usize>>,
    /// The note that came with the link, until another program is opened.
    pub sender_note: RwSignal<Option<Note>>,
    /// The link that was opened.
    pub sent: RwSignal<Sent>,
    /// Results of students that a link or a file brought, until the class takes them.
    pub handed_in: RwSignal<Vec<HandedIn>>,
    /// The latest message.
    pub notice: RwSignal<Option<Notice>>,
    /// Whether the browser has refused to store the visitor's text.
    pub is_unsaved: RwSignal<bool>,
    /// The element that shall get the focus, until its component has taken the request.
    pub focus_request: RwSignal<Option<FocusRequest>>,
    /// The number of decisions of the policy after which the kernels are shown; `None` is after all.
    pub step: RwSignal<Option<usize>>,
    /// The two ops that the *Why not* tab explains; `None` until the visitor chooses two or selects an edge.
    pub asked: RwSignal<Option<Asked>>,
    /// The parsed text.
    pub parsed: Memo<Arc<Parsed>>,
    /// All errors, warnings and notes, in text order.
    pub diagnostics: Memo<Arc<Vec<Diagnostic>>>,
    /// For each of them the corrections that hold in the text; while a slider is dragged, those from before.
    pub fixes: Memo<Arc<Vec<Vec<Fix>>>>,
    /// Whether the text has an error.
    pub has_error: Memo<bool>,
    /// What is shown while the text has an error.
    pub shown_in_error: Memo<Shown>,
    /// Whether the worker has not understood the text yet.
    pub is_computing: Memo<bool>,
    /// Whether an older analysis is shown, because the text has an error or is not understood yet.
    pub is_stale: Memo<bool>,
    /// Whether it is drawn in grey, to show that. Not for the moment that an event of a slider takes.
    pub is_grey: Memo<bool>,
    /// What computes about a large program, without holding the page.
    pub worker: Background,
    /// Whether the worker has to answer before the kernels of the present step are shown.
    pub is_step_awaited: Memo<bool>,
    /// The last text without an error that is understood, and its analysis, which pictures and tables show.
    pub shown: Memo<Arc<AnalysedText>>,
    /// The analysis of [`Page::shown`].
    pub analysis: Memo<Arc<Analysis>>,
    /// Where [`Page::shown`] is drawn.
    pub drawing: Drawing,
    /// What the charts draw of [`Page::shown`].
    pub charted: Memo<Arc<Charted>>,
    /// How each kernel of [`Page::analysis`] is told from the others.
    pub kernel_looks: Memo<IdVec<KernelId, KernelLook>>,
    /// The present text, of which only the valid statements are analysed; `None` when no analysis is possible.
    pub present: Signal<Option<Arc<AnalysedText>>>,
    /// The decisions of the policy; `None` while the worker computes them. Costly, like the next memo: each is computed
    /// only while something reads it.
    pub steps: Memo<Option<Arc<Steps>>>,
    /// Every policy on the shown graph; fewer while the worker computes them.
    pub compared: Memo<Arc<Vec<Compared>>>,
    /// What the *Sweep* tab shows.
    pub sweep: Sweeping,
    /// The ops of the last shown decision, ascending; none while the *Steps* tab is closed.
    pub decided_ops: Memo<Vec<OpId>>,
    /// The state with which the present one is compared.
    pub pinned: RwSignal<Option<Arc<Pinned>>>,
    /// Each kernel of [`Page::analysis`] against the pinned state; `None` while nothing is pinned.
    pub kernels_against: Memo<Option<Arc<IdVec<KernelId, KernelAgainst>>>>,
    /// A measurement of the visitor's own.
    pub profile: RwSignal<Option<Arc<OpenProfile>>>,
    /// Its kernels beside those of [`Page::analysis`]; `None` without a measurement.
    pub matching: Memo<Option<Arc<Matching>>>,
    /// Whether there is a step to undo.
    pub can_undo: Memo<bool>,
    /// Whether there is a step to redo.
    pub can_redo: Memo<bool>,
    pub(super) selected: RwSignal<NamedSelection>,
    pub(super) set_text: WriteSignal<String>,
    pub(super) history: RwSignal<History>,
    /// Whether a slider moves or is held.
    pub slider: SliderState,
    /// Whether the pictures go over from some kernels to others, in a small graph.
    pub is_switching: RwSignal<bool>,
    /// Whether the page is being printed.
    pub is_printing: ReadSignal<bool>,
    /// Whether the handout is shown.
    pub is_handout_open: RwSignal<bool>,
    /// The number that explains itself.
    pub explained: RwSignal<Option<Explained>, LocalStorage>,
}

impl Page {
    /// The state of a page with `text` and the default choices.
    pub fn new(text: String) -> Self {
        let (text, set_text) = signal(text);
        let policy = RwSignal::new(Policy::default());
        let conventions = RwSignal::new(Conventions::default());
        let device = RwSignal::new(default_device().clone());
        let fusion = RwSignal::new(FusionOptions::default());
        let own_calibrations = RwSignal::new(None);
        let slider = SliderState::new();
        let step = RwSignal::new(None);
        let history = RwSignal::new(History::default());
        let options = derived::options(
            policy,
            fusion,
            conventions,
            device,
            own_calibrations,
            slider,
        );
        let worker = Background::start();
        let parsed = derived::parsed(text);
        let shared_text = derived::shared_text(text);
        let is_learning = RwSignal::new(false);
        let puzzle = RwSignal::new(None);
        let is_fused = RwSignal::new(true);
        let fold =
            Fold::new(move || is_learning.get() && puzzle.with(Option::is_some) && is_fused.get());
        let folding = fold.folding;
        let present_text = derived::present_text(shared_text, parsed, options);
        let wanted_picture = derived::wanted_picture(present_text, folding);
        let by_worker = derived::understood_by_worker(present_text, wanted_picture, worker);
        let is_computing = Memo::new(move |_| {
            wanted_picture.with(Option::is_some) && by_worker.with(Option::is_none)
        });
        let understood = derived::understood(present_text, by_worker, is_computing);
        let diagnostics = derived::diagnostics(parsed, understood, is_computing);
        let has_error = derived::has_error(diagnostics);
        let fixes = derived::fixes(shared_text, diagnostics, slider);
        let last_good = derived::last_good(
            present_text,
            understood,
            diagnostics,
            is_computing,
            folding,
            worker,
        );
        let steps = tabs::steps_of(last_good, worker);
        let shown = derived::shown(last_good, steps, step, folding, worker);
        let steps = tabs::of_shown(steps, last_good, shown);
        let analysis = derived::analysis(shown);
        let drawing = Drawing::new(shown, fold);
        clear_when_quick(worker, wanted_picture);
        let pinned_state = RwSignal::new(None);
        let opened = RwSignal::new(None);
        let matching = profile::matching(opened, analysis, move || slider.is_held());
        let selected = RwSignal::new(NamedSelection::default());
        let selection = derived::selection(selected, analysis);
        Self {
            text,
            worker,
            policy,
            fusing_policy: RwSignal::new(Policy::default()),
            fusion,
            conventions,
            device,
            measured_devices: RwSignal::new(MeasuredDevices::new()),
            own_calibrations,
            is_fused,
            is_switching: switching::is_switching(shown, is_fused, slider),
            is_printing: browser::is_printing(),
            is_handout_open: RwSignal::new(false),
            explained: RwSignal::new_local(None),
            selection,
            selected,
            theme: RwSignal::new(Theme::default()),
            ops_view: RwSignal::new(OpsView::default()),
            is_ops_open: RwSignal::new(true),
            is_learning,
            tab: RwSignal::new(Tab::default()),
            example: RwSignal::new(None),
            puzzle,
            moves: RwSignal::new(None),
            sender_note: RwSignal::new(None),
            handed_in: RwSignal::default(),
            sent: RwSignal::default(),
            notice: RwSignal::new(None),
            is_unsaved: RwSignal::new(false),
            focus_request: RwSignal::new(None),
            step,
            asked: RwSignal::new(None),
            parsed,
            diagnostics,
            fixes,
            has_error,
            shown_in_error: derived::shown_in_error(last_good),
            is_computing,
            is_stale: Memo::new(move |_| has_error.get() || is_computing.get()),
            is_grey: Memo::new(move |_| {
                has_error.get() || is_computing.get() && worker.takes_long.get()
            }),
            is_step_awaited: tabs::is_step_awaited(step, steps, shown),
            shown,
            analysis,
            drawing,
            charted: charted(shown, drawing, matching),
            kernel_looks: Memo::new(move |_| {
                analysis.with(|analysis| kernel_looks(&analysis.partition))
            }),
            present: derived::present(understood, has_error, is_computing, shown),
            steps,
            compared: tabs::compared(shown, slider, worker),
            sweep: Sweeping::new(shown, worker),
            pinned: pinned_state,
            kernels_against: pinned::kernels_against_pinned(pinned_state, analysis),
            profile: opened,
            matching,
            decided_ops: tabs::decided_ops(steps, step),
            can_undo: Memo::new(move |_| history.with(History::can_undo)),
            can_redo: Memo::new(move |_| history.with(History::can_redo)),
            set_text,
            history,
            slider,
        }
    }

    /// The page in the context, which the root provides.
    pub fn of_context() -> Self {
        expect_context()
    }

    /// The same page for figures that are read and not watched: its analysis follows a moving slider twice a second.
    #[must_use]
    pub fn unhurried(self) -> Self {
        Self {
            analysis: unhurried(self.analysis, move || self.slider.is_dragging()),
            ..self
        }
    }

    /// Called when the focused element may be removed: if it is, the graph takes the focus.
    pub fn keep_focus(self) {
        if browser::has_focus() {
            // The views change after this handler.
            browser::next_frame(move || {
                if !browser::has_focus() {
                    self.focus_request.set(Some(FocusRequest::Graph));
                }
            });
        }
    }

    /// Opens the pane of the op list on this view.
    pub fn show_ops(self, view: OpsView) {
        self.is_ops_open.set_if_changed(true);
        self.ops_view.set_if_changed(view);
    }

    /// Selects this part of the text in the editor.
    pub fn show_in_text(self, span: Span) {
        self.show_ops(OpsView::Text);
        self.focus_request.set(Some(FocusRequest::Text(span)));
    }

    /// The kernel that is selected, itself or through one of its ops. Tracked.
    pub fn selected_kernel(self) -> Option<KernelId> {
        let selection = self.selection.get();
        self.analysis.with(|analysis| selection.kernel(analysis))
    }

    /// The CSS classes of whatever belongs to a kernel. Tracked.
    pub fn kernel_class(self, kernel: KernelId) -> String {
        let look = self.kernel_looks.with(|looks| looks.get(kernel).copied());
        look.unwrap_or_default().class()
    }

    /// Shows a message.
    pub fn tell(self, text: impl Into<String>) {
        self.notice.set(Some(Notice {
            text: text.into(),
            is_failure: false,
            action: None,
        }));
    }

    /// Shows a message about a failure.
    pub fn tell_failure(self, problem: impl Display) {
        self.notice.set(Some(Notice {
            text: problem.to_string(),
            is_failure: true,
            action: None,
        }));
    }

    /// Where a shown op is in the text; `None` while the text has an error, because then spans are those of an older text.
    pub fn span_of_op(self, op: OpId) -> Option<Span> {
        let shown = self.shown.get();
        let statement = *shown.statement_of_op().get(op)?;
        let span = shown.program().ops.get(statement)?.span;
        (!self.is_stale.get()).then_some(span)
    }
}

/// Ends the work for a large program when a small one follows it.
fn clear_when_quick(worker: Background, wanted_picture: Memo<Option<Job>>) {
    let is_quick_text = Memo::new(move |_| wanted_picture.with(Option::is_none));
    Effect::watch(
        move || is_quick_text.get(),
        move |&is_quick_text, _, _| {
            if is_quick_text {
                worker.clear();
            }
        },
        false,
    );
}
