//! What the page knows: the text, and what the visitor chose beside it.
//!
//! The text is the single source of truth. Everything that follows from it is computed at the root
//! ([`crate::derived::Derived`]); every edit, wherever it is made, is a new text through [`Page::edit`].

use crate::app::history::{History, Origin, Step};
use crate::core::fusion::record::Record;
use crate::core::model::options::PAGE_BUDGET_STATES;
use crate::core::notation::Parsed;
use crate::core::{
    Analysis, Conventions, Device, Diagnostic, FusionOptions, OpId, Options, Policy, Program,
    Severity, Span, default_device,
};
use crate::derived::{All, IsStale, Part, Shown, Understood};
use crate::platform::{self, Later};
use crate::value::Value;
use std::time::Duration;

/// What is selected, in all views at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Nothing.
    #[default]
    Nothing,
    /// One op of the analysed graph.
    Op(OpId),
    /// One fused kernel, by its place in the analysis (0-based; people see it 1-based).
    Kernel(usize),
    /// A tensor on its way from one op to another.
    Edge {
        /// The op that writes it.
        producer: OpId,
        /// The op that reads it.
        consumer: OpId,
    },
}

impl Selection {
    /// The fused kernel that is selected, itself or through one of its ops.
    pub fn kernel(self, analysis: &Analysis) -> Option<usize> {
        match self {
            Self::Nothing | Self::Edge { .. } => None,
            Self::Op(op) => analysis.partition.group_of.get(op).copied(),
            Self::Kernel(kernel) => (kernel < analysis.fused.kernels.len()).then_some(kernel),
        }
    }
}

/// The page's colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system says.
    #[default]
    Auto,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Theme {
    /// All three, in the order of the button.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Light, Self::Dark];

    /// The word for storage and for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// How the op list is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpsView {
    /// As text.
    #[default]
    Text,
    /// As a table with form controls.
    Table,
}

/// What the panel below the pictures shows. Only the open tab computes anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// The kernels with their figures.
    #[default]
    Kernels,
    /// All policies side by side.
    Compare,
    /// Why edges are not fused.
    Why,
    /// The decisions of the policy, one by one.
    Steps,
    /// What each kernel asks of the device.
    Limits,
    /// Attention as one kernel.
    Attention,
    /// The model against a real GPU.
    Measured,
}

impl Tab {
    /// All tabs, in their order.
    pub const ALL: [Self; 7] = [
        Self::Kernels,
        Self::Compare,
        Self::Why,
        Self::Steps,
        Self::Limits,
        Self::Attention,
        Self::Measured,
    ];

    /// The names for links, storage and the ids of the elements, in the order of [`Tab::ALL`].
    pub const NAMES: [&'static str; 7] = [
        "kernels",
        "compare",
        "why",
        "steps",
        "limits",
        "attention",
        "measured",
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.get(self.place()).copied().unwrap_or_default()
    }

    /// The tab of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let place = Self::NAMES.into_iter().position(|n| n == name)?;
        Self::ALL.get(place).copied()
    }

    /// Its place in [`Tab::ALL`].
    pub const fn place(self) -> usize {
        self as usize
    }
}

/// Something to tell the visitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// One or two sentences.
    pub text: String,
    /// A failure and not news.
    pub is_failure: bool,
    /// The last edit can be taken back from here.
    pub offers_undo: bool,
}

/// States that a search looks at while a thumb is dragged, so that a slider's event stays short.
const HURRIED_STATES: usize = 2_000;

/// A pause after which a thumb rests.
const REST: Duration = Duration::from_millis(200);

/// All values of the page, made once at the root.
#[derive(Clone, Copy)]
pub struct Page {
    /// The op list. Written by [`Page::replace`], undo and redo alone.
    pub text: Value<String>,
    /// Who decides what fuses.
    pub policy: Value<Policy>,
    /// What the policies may do.
    pub fusion: Value<FusionOptions>,
    /// How bytes are counted.
    pub conventions: Value<Conventions>,
    /// What the kernels run on.
    pub device: Value<Device>,
    /// The fused picture is shown, not the unfused one.
    pub is_fused: Value<bool>,
    /// What is selected.
    pub selection: Value<Selection>,
    /// Colours.
    pub theme: Value<Theme>,
    /// Text or table.
    pub ops_view: Value<OpsView>,
    /// What the panel below the pictures shows.
    pub tab: Value<Tab>,
    /// The example that the text began as.
    pub example: Value<Option<&'static str>>,
    /// The latest message.
    pub notice: Value<Option<Notice>>,
    /// The text as read.
    pub parsed: Part<Parsed>,
    /// What the text comes to.
    pub outcome: Part<Understood>,
    /// Everything that is wrong or assumed, in text order.
    pub diagnostics: Part<Vec<Diagnostic>>,
    /// What the pictures and tables show.
    pub shown: Part<Shown>,
    /// Its numbers.
    pub analysis: Part<Analysis>,
    /// What the policy decided, while somebody steps through it.
    pub record: Part<Record>,
    /// How many of its decisions are shown; `None` shows what they led to.
    pub step: Value<Option<usize>>,
    /// Whether they are older than the text.
    pub is_stale: IsStale,
    /// There is something to undo.
    pub can_undo: Value<bool>,
    /// There is something to redo.
    pub can_redo: Value<bool>,
    history: Value<History>,
    is_hurried: Value<bool>,
    rest: Later,
}

impl Page {
    /// The state of a page that starts with `text` and the default choices.
    pub fn new(text: String) -> Self {
        let text = Value::new(text);
        let policy = Value::new(Policy::default());
        let conventions = Value::new(Conventions::default());
        let device = Value::new(default_device().clone());
        let fusion = Value::new(FusionOptions::default());
        let is_hurried = Value::new(false);
        let step = Value::new(None);
        let all = All::new(text, step, move || {
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
        Self {
            text,
            policy,
            fusion,
            conventions,
            device,
            is_fused: Value::new(true),
            selection: Value::new(Selection::Nothing),
            theme: Value::new(Theme::default()),
            ops_view: Value::new(OpsView::default()),
            tab: Value::new(Tab::default()),
            example: Value::new(None),
            notice: Value::new(None),
            parsed: Part::new(all, |all| &all.parsed),
            outcome: Part::new(all, |all| &all.outcome),
            diagnostics: Part::new(all, |all| &all.diagnostics),
            shown: Part::new(all, |all| &all.shown),
            analysis: Part::new(all, |all| &all.shown.analysis),
            record: Part::new(all, |all| &all.record),
            step,
            is_stale: IsStale(all),
            can_undo: Value::new(false),
            can_redo: Value::new(false),
            history: Value::new(History::default()),
            is_hurried,
            rest: Later::after(REST),
        }
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
                .update_untracked(|history| history.record(before, origin, platform::now_ms()));
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

    /// Whether this tab is open; whoever asks here follows it.
    pub fn is_open(self, tab: Tab) -> bool {
        self.tab.get() == tab
    }

    /// Ends a series of edits, so that the next one is a step of its own.
    pub fn seal(self) {
        self.history.update_untracked(History::seal);
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
        let step = self.history.update_untracked(|h| step(h, present));
        let is_changed = step.is_some();
        if let Some(step) = step {
            self.put(step);
            self.keep_focus();
        }
        is_changed
    }

    /// When what has the focus is about to leave the page, the focus goes to what stands for it then: the kernel
    /// that is selected, else what has its id, else the graph.
    pub fn keep_focus(self) {
        let Some(id) = platform::focused_id() else {
            return;
        };
        platform::next_frame(move || {
            if platform::focused_id().is_some() {
                return;
            }
            let selection = self.selection.get_untracked();
            let kernel = (self.analysis).with_untracked(|analysis| selection.kernel(analysis));
            let kernel = kernel.map(|kernel| ["dag-kernel-", &kernel.to_string()].concat());
            let is_op = id.starts_with("dag-op-");
            let _ = kernel.is_some_and(|kernel| !is_op && platform::focus_in_place(&kernel))
                || platform::focus_in_place(&id)
                || platform::focus_in_place("dag-canvas");
        });
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
            platform::remember_text(&step.text);
            self.text.set(step.text);
            // It told about another text, and its undo would take back another edit.
            if self.notice.with_untracked(Option::is_some) {
                self.notice.set(None);
            }
        }
        self.history.with_untracked(|history| {
            self.can_undo.set_if_changed(history.can_undo());
            self.can_redo.set_if_changed(history.can_redo());
        });
    }

    /// Selects `selection`, or nothing when it is selected already.
    pub fn toggle(self, selection: Selection) {
        let is_selected = self.selection.get_untracked() == selection;
        self.selection.set(if is_selected {
            Selection::Nothing
        } else {
            selection
        });
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

    /// The worst that the diagnostics say, and how often.
    pub fn worst(self) -> Option<(Severity, usize)> {
        self.diagnostics.with(|all| {
            let worst = all.iter().map(|d| d.severity).max()?;
            Some((worst, all.iter().filter(|d| d.severity == worst).count()))
        })
    }
}
