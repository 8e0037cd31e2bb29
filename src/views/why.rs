//! Why edges are not fused, and what fusing each would save.

use super::words::add_with_code;
use crate::core::analysis::why::{Edge, Price, Verdict};
use crate::core::fusion::reason::Reason;
use crate::core::sorting::{rank_of_float, sort_by_rank};
use crate::core::{Analysis, Graph, Objective, OpId};
use crate::markup::Markup;
use crate::present::format::{format_bytes, format_seconds};
use crate::present::names::op_name;
use crate::present::reasons::{reason_text, verdict_sentence};

/// Two ops that are asked about.
pub type Pair = (OpId, OpId);

/// An edge between two kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The op that writes the tensor, and the one that reads it.
    pub ops: Pair,
    /// Why it crosses.
    pub reason: Reason,
    /// What fusing it alone would save.
    pub price: Price,
}

/// The edges between kernels, dearest first in what the policy makes small.
pub fn crossings(edges: Vec<Edge>, objective: Objective) -> Vec<Crossing> {
    let mut crossings: Vec<Crossing> = edges
        .into_iter()
        .filter_map(|edge| match edge.verdict {
            Verdict::Fused => None,
            Verdict::Apart { reason, price } => Some(Crossing {
                ops: (edge.producer, edge.consumer),
                reason,
                price,
            }),
        })
        .collect();
    sort_by_rank(&mut crossings, |crossing| {
        let time = rank_of_float(-crossing.price.saved_s);
        let bytes = -crossing.price.saved_bytes;
        match objective {
            Objective::Bytes => (bytes, time, 0),
            Objective::Time => (time, bytes, 0),
        }
    });
    crossings
}

/// A row for each edge.
pub fn rows(graph: &Graph, crossings: &[Crossing], selected: Option<Pair>) -> Markup {
    let mut markup = Markup::new();
    for crossing in crossings {
        row(&mut markup, graph, crossing, selected == Some(crossing.ops));
    }
    if crossings.is_empty() {
        markup.raw(r#"<tr><td colspan="4" class="quiet">No tensor goes from one kernel to another.</td></tr>"#);
    }
    markup
}

/// Id of the button of an edge.
pub fn edge_id((producer, consumer): Pair) -> String {
    ["why-", &producer.to_string(), "-", &consumer.to_string()].concat()
}

fn row(markup: &mut Markup, graph: &Graph, crossing: &Crossing, is_selected: bool) {
    let (producer, consumer) = crossing.ops;
    let class = if is_selected {
        "why-row is-selected"
    } else {
        "why-row"
    };
    markup.fill(
        // The click reaches the row, which chooses; the button makes the row reachable by keyboard.
        r#"<tr class="{}" data-producer="{}" data-consumer="{}"><td><button type="button" class="link" id="{}" aria-pressed="{}">{}</button></td><td class="number">{}</td><td class="number">{}</td><td class="why-reason">"#,
        &[
            class,
            &producer.to_string(),
            &consumer.to_string(),
            &edge_id(crossing.ops),
            if is_selected { "true" } else { "false" },
            &[op_name(graph, producer), " → ", op_name(graph, consumer)].concat(),
            &saved_bytes(crossing.price),
            &saved_time(crossing.price),
        ],
    );
    add_with_code(markup, &reason_text(graph, &crossing.reason));
    markup.raw("</td></tr>");
}

fn saved_bytes(price: Price) -> String {
    let sign = if price.saved_bytes < 0 { "−" } else { "" };
    [sign, &format_bytes(price.saved_bytes.unsigned_abs())].concat()
}

fn saved_time(price: Price) -> String {
    let sign = if price.saved_s < 0.0 { "−" } else { "" };
    [sign, &format_seconds(price.saved_s.abs())].concat()
}

/// Two lists of all ops.
pub fn pickers(graph: &Graph, (first, second): Pair) -> Markup {
    let mut markup = Markup::new();
    markup.raw("<span>Why is</span> ");
    picker(&mut markup, graph, ("why-first", "one op"), first);
    markup.raw(" <span>not with</span> ");
    picker(&mut markup, graph, ("why-second", "another op"), second);
    markup.raw("<span>?</span>");
    markup
}

fn picker(markup: &mut Markup, graph: &Graph, (id, name): (&str, &str), chosen: OpId) {
    markup.fill(
        r#"<select id="{}" aria-label="{}" value="{}">"#,
        &[id, name, &chosen.to_string()],
    );
    for (op, of) in graph.ops.iter().enumerate() {
        markup.fill(
            r#"<option value="{}">{}</option>"#,
            &[&op.to_string(), &of.name],
        );
    }
    markup.raw("</select>");
}

/// What became of two ops.
pub fn answer(analysis: &Analysis, (first, second): Pair, verdict: &Verdict) -> Markup {
    let mut markup = Markup::new();
    if first == second {
        markup.raw("It is one op. Choose another.");
    } else {
        add_with_code(&mut markup, &verdict_sentence(&analysis.graph, verdict));
    }
    markup
}
