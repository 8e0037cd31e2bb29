//! What the page asks about a program. It answers at once about a small one, and has its worker
//! answer about a large one: both run the same [`Query`] on an [`AnalysedText`].

use super::analysed::{AnalysedText, AnalysisInput, PlacedPlan};
use crate::STYLE_SHEETS;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::sweep::{self, sweep};
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::{KernelId, OpId, Plan, Policy, TextEdit, edited, plan};
use fuseline_view::picture::dag::Folding;
use fuseline_view::picture::export::{HandoutPictures, Pictured};
use fuseline_view::present::advice::{AdviceRow, advice_rows};
use fuseline_view::present::fusion_limit::fusion_limit_text;
use fuseline_view::present::manual::{Change, Proposal, propose};
use fuseline_view::present::merges::{Offer, merge_offers};
use fuseline_view::present::on_devices::{DeviceRow, all_devices};
use fuseline_view::present::report::{self, with_schema};
use fuseline_view::present::steps;
use fuseline_view::present::tables::{self, TableKind};
use fuseline_view::present::verdict::VerdictText;
use fuseline_view::present::why::{EdgeOps, EdgeOrder, EdgeRows};
use std::sync::Arc;
use strum::IntoStaticStr;

/// Something to compute about a text under certain choices.
pub trait Query: Copy + Into<Task> {
    /// What is computed.
    type Answer;

    /// Computes the answer, and reports to `at` how far it is.
    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> Self::Answer;

    /// Everything that the answer depends on. The more texts and choices share it, the more often
    /// the answer is known already.
    fn input(self, of: &AnalysedText) -> AnalysisInput {
        of.input()
    }
}

/// How far a query is.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    BorshSerialize,
    BorshDeserialize,
    IntoStaticStr,
)]
pub enum Stage {
    /// It parses the text.
    #[strum(serialize = "reading the text")]
    Reading,
    /// From the ops to the graph and its kernels.
    #[strum(serialize = "choosing kernels")]
    Fusing,
    /// The picture of the kernels.
    #[strum(serialize = "placing boxes and edges")]
    Placing,
    /// It analyses one size after another.
    #[strum(serialize = "trying sizes")]
    Sweeping,
    /// What each merge would save.
    #[strum(serialize = "pricing edges")]
    Pricing,
    /// The figures as JSON.
    #[strum(serialize = "writing the file")]
    Writing,
}

/// A query that travels to the worker, and whose answer comes back.
pub trait Asked: Query {
    /// The answer to such a query; `None` for that to another kind.
    fn of(answer: &Answer) -> Option<Arc<Self::Answer>>;
}

/// Makes all queries one type that can be sent, and their answers another one.
macro_rules! queries {
    ($($query:ident),* $(,)?) => {
        /// Any of the queries.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
        pub enum Task {
            $(#[doc = concat!("See [`", stringify!($query), "`].")] $query($query),)*
        }

        /// The answer to any of the queries.
        #[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
        pub enum Answer {
            $(
                #[doc = concat!("To [`", stringify!($query), "`].")]
                $query(Arc<<$query as Query>::Answer>),
            )*
        }

        impl Task {
            /// As [`Query::run`].
            pub fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> Answer {
                match self {
                    $(Self::$query(query) => Answer::$query(Arc::new(query.run(of, at))),)*
                }
            }
        }

        $(
            impl From<$query> for Task {
                fn from(query: $query) -> Self {
                    Self::$query(query)
                }
            }

            impl Asked for $query {
                fn of(answer: &Answer) -> Option<Arc<Self::Answer>> {
                    match answer {
                        Answer::$query(answer) => Some(answer.clone()),
                        _ => None,
                    }
                }
            }
        )*
    };
}

queries!(
    Picture,
    PlanUnder,
    Steps,
    Sweep,
    Edges,
    WhySeparate,
    Advice,
    OnDevices,
    FusionLimit,
    Effect,
    Merges,
    Report,
    Table,
    Handout,
);

/// The kernels, and where they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Picture {
    /// What the picture leaves out.
    pub folding: Folding,
}

impl Query for Picture {
    type Answer = PlacedPlan;

    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> PlacedPlan {
        let plan = of.plan().clone();
        at(Stage::Placing);
        let layout = Some(of.layout_under(self.folding).clone());
        PlacedPlan { plan, layout }
    }
}

/// The kernels under another policy, to compare policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct PlanUnder {
    /// The other policy.
    pub policy: Policy,
}

impl Query for PlanUnder {
    type Answer = Plan;

    fn run(self, of: &AnalysedText, _: &mut dyn FnMut(Stage)) -> Plan {
        plan(of.graph(), &of.options.under(self.policy))
    }

    /// Leaves out the chosen policy and the shown step, on which the answer does not depend.
    fn input(self, of: &AnalysedText) -> AnalysisInput {
        AnalysisInput {
            text: of.text.clone(),
            options: of.options.under(self.policy),
            step: None,
        }
    }
}

/// The decisions of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Steps;

impl Query for Steps {
    type Answer = steps::Steps;

    fn run(self, of: &AnalysedText, _: &mut dyn FnMut(Stage)) -> steps::Steps {
        steps::Steps::new(of.graph(), of.trace())
    }
}

/// Every policy at many values of a param; `None` where the param has no two values at which the
/// program can be analysed.
///
/// The worker answers about a small program, too: an event of another slider would take some
/// hundred analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Sweep {
    /// The index of the param among those of the text.
    pub param: usize,
}

impl Query for Sweep {
    type Answer = Option<Arc<sweep::Sweep>>;

    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> Option<Arc<sweep::Sweep>> {
        at(Stage::Sweeping);
        sweep(of.program(), self.param, &of.options).map(Arc::new)
    }

    /// Leaves out the present value of the param, unless the range of some param depends on another
    /// one, so that its slider needs no new answer.
    fn input(self, of: &AnalysedText) -> AnalysisInput {
        let params = &of.program().params;
        let mut ranges = params.iter().filter_map(|p| p.range.as_ref());
        let some_follow = ranges.any(|range| range.dividing.is_some());
        let swept = params.get(self.param).filter(|_| !some_follow);
        let edit = swept.and_then(|param| {
            let least = param.range.as_ref()?.min;
            Some(TextEdit::replace(param.value_span, least.to_string()))
        });
        let same_for_all = edit.and_then(|edit| edited(&of.text, &[edit]));
        let mut options = of.options.clone();
        options.fusion.budget_states = PAGE_BUDGET_STATES;
        AnalysisInput {
            text: same_for_all.map_or_else(|| of.text.clone(), Into::into),
            options,
            step: None,
        }
    }
}

/// The first edges between kernels, and the selected one wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Edges {
    pub order: EdgeOrder,
    /// How many of them.
    pub max_rows: usize,
    /// The selected edge, which is included whatever its rank.
    pub selected: Option<EdgeOps>,
}

impl Query for Edges {
    type Answer = EdgeRows;

    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> EdgeRows {
        of.analysis();
        at(Stage::Pricing);
        (of.why_not()).rows(self.order, self.max_rows, self.selected)
    }
}

/// Why two ops are not fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct WhySeparate(pub OpId, pub OpId);

impl Query for WhySeparate {
    type Answer = VerdictText;

    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> VerdictText {
        of.analysis();
        at(Stage::Pricing);
        of.why_not().answer(self.0, self.1)
    }
}

/// What would save time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Advice;

impl Query for Advice {
    type Answer = Vec<AdviceRow>;

    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> Vec<AdviceRow> {
        of.analysis();
        at(Stage::Pricing);
        advice_rows(of.by_hand())
    }
}

/// The program on every device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct OnDevices;

impl Query for OnDevices {
    type Answer = Vec<DeviceRow>;

    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> Vec<DeviceRow> {
        let analysis = of.analysis();
        at(Stage::Fusing);
        all_devices(analysis)
    }
}

/// What fusion can save at most, in a sentence; empty where nothing can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct FusionLimit;

impl Query for FusionLimit {
    type Answer = String;

    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> String {
        let analysis = of.analysis();
        at(Stage::Pricing);
        fusion_limit_text(analysis)
    }
}

/// The effect of a change by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Effect(pub Change);

impl Query for Effect {
    type Answer = Proposal;

    fn run(self, of: &AnalysedText, _: &mut dyn FnMut(Stage)) -> Proposal {
        propose(self.0, of.by_hand())
    }
}

/// The merges of a kernel with its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Merges(pub KernelId);

impl Query for Merges {
    type Answer = Vec<Offer>;

    fn run(self, of: &AnalysedText, _: &mut dyn FnMut(Stage)) -> Vec<Offer> {
        merge_offers(self.0, of.by_hand())
    }
}

/// The analysis by names as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Report;

impl Query for Report {
    type Answer = String;

    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> String {
        let analysis = of.analysis();
        at(Stage::Writing);
        let report = report::Report::new(analysis, of.diagnostics(), &of.text)
            .with_attributes(of.program(), of.statement_of_op());
        with_schema(&report).unwrap_or_default()
    }
}

/// A table as CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Table(pub TableKind);

impl Query for Table {
    type Answer = String;

    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> String {
        of.analysis();
        at(Stage::Writing);
        tables::Table::new(self.0, of.by_hand()).csv()
    }
}

/// The pictures of the handout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Handout {
    /// Whether the kernels are shown fused, or every op is separate.
    pub is_fused: bool,
    /// What the picture leaves out.
    pub folding: Folding,
}

impl Query for Handout {
    type Answer = HandoutPictures;

    fn run(self, of: &AnalysedText, at: &mut dyn FnMut(Stage)) -> HandoutPictures {
        let analysis = of.analysis();
        at(Stage::Placing);
        let pictured = Pictured {
            analysis,
            layout: of.layout_under(self.folding),
            is_fused: self.is_fused,
        };
        pictured.handout(STYLE_SHEETS)
    }
}
