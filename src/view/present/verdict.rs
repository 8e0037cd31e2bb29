//! The verdict about two ops: whether they run as one kernel, else why not and at what price.

use crate::present::format::{format_bytes, format_seconds};
use crate::present::names::quoted_op;
use crate::present::reasons::{in_execution_order, reason_between};
use crate::present::saved::Saved;
use crate::present::times::TimeKind;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::why::{Price, Verdict};
use fuseline_core::fusion::reason::Reason;
use fuseline_core::{Analysis, OpId};

/// A verdict in a sentence or two.
#[derive(Clone, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct VerdictText {
    /// Its parts, in order; a number is a part of its own.
    pub parts: Vec<VerdictPart>,
    /// The costs behind its numbers.
    pub price: Option<Price>,
}

#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct VerdictPart {
    /// Its words; quoted parts are code.
    pub text: String,
    /// What the number is a saving of; `None` for words.
    pub saved: Option<Saved>,
}

impl VerdictText {
    /// Words without a number.
    pub fn words(text: impl Into<String>) -> Self {
        let mut verdict = Self::default();
        verdict.push(text, None);
        verdict
    }

    pub fn text(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect()
    }

    /// Adds words without a number.
    pub(super) fn add(&mut self, text: String) {
        self.push(text, None);
    }

    fn push(&mut self, text: impl Into<String>, saved: Option<Saved>) {
        let text = text.into();
        self.parts.push(VerdictPart { text, saved });
    }
}

/// The verdict about two ops in words.
pub fn verdict_text(analysis: &Analysis, ops: [OpId; 2], verdict: &Verdict) -> VerdictText {
    let graph = &analysis.graph;
    let Verdict::Separate { reason, price } = verdict else {
        return VerdictText::words("They run in one kernel.");
    };
    let why = reason_between(graph, reason, ops);
    // A kernel that cannot run, or whose ops share nothing, has no meaningful price.
    if let Reason::Cycle { .. } | Reason::NotConnected { .. } = reason {
        return VerdictText::words(format!("Separate: {why}."));
    }
    let verb = |is_saved: bool| if is_saved { "save" } else { "cost" };
    let bytes = price.saved_bytes();
    let saves_bytes = bytes >= 0;
    let mut text = VerdictText::words(format!(
        "Separate: {why}. One kernel instead would {} ",
        verb(saves_bytes)
    ));
    text.price = Some(*price);
    text.push(format_bytes(bytes.unsigned_abs()), Some(Saved::Bytes));
    let Some(saved_s) = price.time_s() else {
        let [first, second] = in_execution_order(ops).map(|op| quoted_op(graph, op));
        text.push(
            format!(". Its time is unknown: no kernel modelled here runs {first} and {second}."),
            None,
        );
        return text;
    };
    let saves_time = saved_s >= 0.0;
    let joint = match (saves_bytes, saves_time) {
        (true, false) | (false, true) => format!(" but {} ", verb(saves_time)),
        _ => " and ".to_owned(),
    };
    text.push(joint, None);
    text.push(format_seconds(saved_s.abs()), Some(Saved::Time));
    text.push(format!(" {}.", time_scope(analysis)), None);
    text
}

/// What a saved time is a part of, as the end of a phrase.
pub fn time_scope(analysis: &Analysis) -> &'static str {
    match TimeKind::of(analysis) {
        TimeKind::Predicted => "of the predicted time",
        TimeKind::LowerBound => "of the lower bound",
    }
}
