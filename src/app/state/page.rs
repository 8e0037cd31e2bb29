//! All signals of the page.

use super::against::Against;
use super::checked::Checked;
use super::choices::{FocusRequest, Notice, OpsView};
use super::chosen::Chosen;
use super::derived;
use super::drawn::Fold;
use super::memos::unhurried;
use super::origin::ProgramOrigin;
use super::pictures::Pictures;
use super::questions::Questions;
use super::screen::Screen;
use super::selection::{NamedSelection, Selection};
use super::set_if_changed::SetIfChanged;
use super::slider::SliderState;
use super::stepping::Stepping;
use super::understanding::Understanding;
use crate::app::analysed::AnalysedText;
use crate::app::background::Background;
use crate::app::history::History;
use fuseline_browser as browser;
use fuseline_core::notation::Parsed;
use fuseline_core::{Analysis, KernelId, OpId, Span};
use leptos::prelude::*;
use std::fmt::Display;
use std::sync::Arc;

/// The signals of the page: what most components need, and the rest by what it is for.
#[derive(Clone, Copy)]
pub struct Page {
    /// The op list. Only [`Page::replace`], undo and redo write it and the choices beside it.
    pub text: ReadSignal<String>,
    /// The parsed text.
    pub parsed: Memo<Arc<Parsed>>,
    /// The present text, of which only the valid statements are analysed; `None` when no analysis
    /// is possible.
    pub present: Signal<Option<Arc<AnalysedText>>>,
    /// The last text without an error that is understood, and its analysis, which pictures and
    /// tables show.
    pub shown: Memo<Arc<AnalysedText>>,
    /// The analysis of [`Page::shown`].
    pub analysis: Memo<Arc<Analysis>>,
    /// What is selected. Edits move ids; the selection stays on the op of the same name. Written by
    /// [`Page::select`].
    pub selection: Memo<Selection>,
    /// Whether a slider moves or is held.
    pub slider: SliderState,
    /// What the visitor chose beside the text.
    pub chosen: Chosen,
    /// Where the program comes from.
    pub origin: ProgramOrigin,
    /// What is open on the screen.
    pub screen: Screen,
    /// What is wrong with the text, and whether it is understood.
    pub checked: Checked,
    /// What pictures draw.
    pub pictures: Pictures,
    /// The decisions that led to the kernels, one by one.
    pub stepping: Stepping,
    /// What single tabs show.
    pub questions: Questions,
    /// What the shown kernels are compared with.
    pub against: Against,
    /// What computes about a large program, without holding the page.
    pub worker: Background,
    /// Whether there is a step to undo.
    pub can_undo: Memo<bool>,
    /// Whether there is a step to redo.
    pub can_redo: Memo<bool>,
    pub(super) selected: RwSignal<NamedSelection>,
    pub(super) set_text: WriteSignal<String>,
    pub(super) history: RwSignal<History>,
}

impl Page {
    /// The state of a page with `text` and the default choices.
    pub fn new(text: String) -> Self {
        let (text, set_text) = signal(text);
        let slider = SliderState::new();
        let chosen = Chosen::new();
        let screen = Screen::new();
        let history = RwSignal::new(History::default());
        let worker = Background::start();
        let parsed = derived::parsed(text);
        let shared_text = derived::shared_text(text);
        let fold = Fold::new(move || screen.plays_puzzle() && chosen.is_fused.get());
        let folding = fold.folding;
        let present_text = derived::present_text(shared_text, parsed, chosen.options(slider));
        let Understanding {
            understood,
            is_computing,
        } = Understanding::new(present_text, folding, worker);
        let diagnostics = derived::diagnostics(parsed, understood, is_computing);
        let last_good = derived::last_good(
            present_text,
            understood,
            diagnostics,
            is_computing,
            folding,
            worker,
        );
        let fixes = derived::fixes(shared_text, diagnostics, slider);
        let checked = Checked::new(diagnostics, fixes, is_computing, last_good, worker);
        let (stepping, shown) = Stepping::new(last_good, folding, worker);
        let analysis = derived::analysis(shown);
        let against = Against::new(analysis, slider);
        let selected = RwSignal::new(NamedSelection::default());
        Self {
            text,
            parsed,
            present: derived::present(understood, checked.has_error, is_computing, shown),
            shown,
            analysis,
            selection: derived::selection(selected, analysis),
            slider,
            chosen,
            origin: ProgramOrigin::default(),
            screen,
            checked,
            pictures: Pictures::new(shown, fold, against.matching, chosen.is_fused, slider),
            stepping,
            questions: Questions::new(shown, slider, worker),
            against,
            worker,
            can_undo: Memo::new(move |_| history.with(History::can_undo)),
            can_redo: Memo::new(move |_| history.with(History::can_redo)),
            selected,
            set_text,
            history,
        }
    }

    /// The page in the context, which the root provides.
    pub fn of_context() -> Self {
        expect_context()
    }

    /// The same page for figures that are read and not watched: its analysis follows a moving
    /// slider twice a second.
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
                    self.screen.focus_request.set(Some(FocusRequest::Graph));
                }
            });
        }
    }

    /// Opens the pane of the op list on this view.
    pub fn show_ops(self, view: OpsView) {
        self.screen.is_ops_open.set_if_changed(true);
        self.screen.ops_view.set_if_changed(view);
    }

    /// Selects this part of the text in the editor.
    pub fn show_in_text(self, span: Span) {
        self.show_ops(OpsView::Text);
        self.screen
            .focus_request
            .set(Some(FocusRequest::Text(span)));
    }

    /// The kernel that is selected, itself or through one of its ops. Tracked.
    pub fn selected_kernel(self) -> Option<KernelId> {
        let selection = self.selection.get();
        self.analysis.with(|analysis| selection.kernel(analysis))
    }

    /// The CSS classes of whatever belongs to a kernel. Tracked.
    pub fn kernel_class(self, kernel: KernelId) -> String {
        let look = self
            .pictures
            .kernel_looks
            .with(|looks| looks.get(kernel).copied());
        look.unwrap_or_default().class()
    }

    /// Copies a text and says `copied`; where the browser refuses, `refused`.
    pub async fn copy(self, text: &str, copied: &str, refused: &str) {
        if browser::copy(text).await {
            self.tell(copied);
        } else {
            self.tell_failure(refused);
        }
    }

    /// Shows a message.
    pub fn tell(self, text: impl Into<String>) {
        self.screen.notice.set(Some(Notice {
            text: text.into(),
            is_failure: false,
            action: None,
        }));
    }

    /// Shows a message about a failure.
    pub fn tell_failure(self, problem: impl Display) {
        self.screen.notice.set(Some(Notice {
            text: problem.to_string(),
            is_failure: true,
            action: None,
        }));
    }

    /// Where a shown op is in the text; `None` while the text has an error, because then spans are
    /// those of an older text.
    pub fn span_of_op(self, op: OpId) -> Option<Span> {
        let shown = self.shown.get();
        let statement = *shown.statement_of_op().get(op)?;
        let span = shown.program().ops.get(statement)?.span;
        (!self.checked.is_stale.get()).then_some(span)
    }
}
