//! The table of all policies.

use crate::core::analysis::compare::{Compared, DifferingEdge};
use crate::core::{Analysis, Graph, OpId, OpType, Policy};
use crate::markup::Markup;
use crate::picture::charts::roofline_compare::{marker, role_of};
use crate::picture::charts::scene::Shape;
use crate::present::certificates::certificate_text;
use crate::present::format::{format_bytes, format_change, format_exact};
use crate::present::names::{joined, op_name};
use crate::present::options::policy_summary;
use crate::present::times::total_time_text;

/// Edges that a row names.
const NAMED_EDGES: usize = 3;

/// A row for each policy; `chosen` is the one that the page shows.
pub fn rows(all: &[Compared], chosen: Policy) -> Markup {
    let mut markup = Markup::new();
    for compared in all {
        row(&mut markup, compared, compared.policy == chosen);
    }
    markup
}

fn row(markup: &mut Markup, compared: &Compared, is_chosen: bool) {
    let (analysis, name) = (&compared.analysis, compared.policy.name());
    let fused = &analysis.fused;
    let exact = [&format_exact(fused.traffic.total.into()), " B"].concat();
    let saved = format_change(analysis.savings_pct);
    let certificate = analysis.certificate.as_ref().map(certificate_text);
    let beside = certificate.as_deref().unwrap_or_else(|| {
        // Without this, a proven optimum of kernels that hold one matmul each seems beaten.
        if puts_attention_in_place(analysis) {
            "with attention as one kernel"
        } else if compared.policy == Policy::Manual && is_unstated(analysis) {
            "no kernels stated yet"
        } else {
            ""
        }
    });
    markup.fill(
        // The click reaches the row, which chooses; the button makes the row reachable by keyboard.
        r#"<tr class="{}" data-policy="{}"><td><button type="button" id="{}" aria-pressed="{}" title="{}">{}</button> <small class="quiet">{}</small></td><td class="number">{}</td><td class="number" title="{}">{}</td><td class="number">{}</td><td class="number">{}</td>"#,
        &[
            if is_chosen {
                "policy-row is-selected"
            } else {
                "policy-row"
            },
            name,
            &["compare-", name].concat(),
            if is_chosen { "true" } else { "false" },
            policy_summary(compared.policy),
            name,
            beside,
            &fused.launches.to_string(),
            &exact,
            &format_bytes(fused.traffic.total),
            &saved,
            &total_time_text(fused),
        ],
    );
    let (count, names, all) = differences(&analysis.graph, &compared.differing, is_chosen);
    markup.fill(
        r#"<td class="number">{}</td><td class="op-names" title="{}">{}</td></tr>"#,
        &[&count, &all, &names],
    );
}

/// Whether no op of the text says which kernel it belongs to: by hand there is nothing to compare yet.
fn is_unstated(analysis: &Analysis) -> bool {
    (analysis.graph.ops.iter()).all(|op| op.kernel.is_none())
}

/// Whether the compiler has put a flash kernel in the place of an attention: no other kernel of it holds two matmuls.
fn puts_attention_in_place(analysis: &Analysis) -> bool {
    let is_matmul = |&&op: &&OpId| {
        let op = analysis.graph.ops.get(op);
        op.is_some_and(|op| op.op_type == OpType::Matmul)
    };
    let mut kernels = analysis.fused.kernels.iter();
    analysis.options.policy == Policy::Inductor
        && kernels.any(|kernel| kernel.ops.iter().filter(is_matmul).count() > 1)
}

/// How many edges differ, the first of them, and all of them.
fn differences(
    graph: &Graph,
    edges: &[DifferingEdge],
    is_chosen: bool,
) -> (String, String, String) {
    if is_chosen {
        return ("–".to_owned(), "the chosen one".to_owned(), String::new());
    }
    let edge_text = |edge: &DifferingEdge| {
        let how = if edge.is_fused { "fused" } else { "apart" };
        format!(
            "{} → {} {how}",
            op_name(graph, edge.producer),
            op_name(graph, edge.consumer)
        )
    };
    let separators = ["; ", "; and "];
    let names = joined(edges.iter().map(edge_text), separators, NAMED_EDGES);
    // A tooltip of thousands of lines helps nobody.
    let first = edges.iter().take(NAMED_EDGES * 10).map(edge_text);
    let all = joined(first, separators, usize::MAX);
    (edges.len().to_string(), names, all)
}

/// Which marker stands for which policy.
pub fn legend(all: &[Compared]) -> Markup {
    let mut markup = Markup::new();
    for Compared { policy, .. } in all {
        markup.fill(
            r#"<li><svg class="{}" viewBox="-8 -8 16 16" width="16" height="16" aria-hidden="true">"#,
            &[role_of(*policy).class()],
        );
        match marker(*policy, (0.0, 0.0), 5.5) {
            Shape::Circle { radius, .. } => {
                markup.numbers(r#"<circle r="{}"></circle>"#, &[radius]);
            }
            shape => markup.fill(r#"<path d="{}"></path>"#, &[&shape.path_data()]),
        }
        markup.fill("</svg><span>{}</span></li>", &[policy.name()]);
    }
    markup
}
