//! The decisions of a policy, of which the first few are shown as done.

use super::words::add_with_code;
use crate::core::Graph;
use crate::core::fusion::record::Record;
use crate::markup::Markup;
use crate::present::decisions::decision_text;
use crate::present::names::counted;

/// Decisions that are listed at once: a page of them.
pub const LISTED: usize = 200;

/// How far the replay has come, and what was decided last.
pub fn present(graph: &Graph, record: &Record, step: usize) -> Markup {
    let count = record.decisions.len();
    let mut markup = Markup::new();
    if count == 0 {
        markup.raw("This policy decides nothing: every op runs alone.");
        return markup;
    }
    markup.text(&["Step ", &step.to_string(), " of ", &count.to_string(), ": "].concat());
    match step
        .checked_sub(1)
        .and_then(|last| record.decisions.get(last))
    {
        Some(decision) => add_with_code(&mut markup, &decision_text(graph, decision)),
        None => markup.raw("nothing is decided yet, and every op runs alone"),
    }
    markup.raw(".");
    markup
}

/// Id of the line of a decision, from 1; before the first one that is the first line.
pub fn line_id(step: usize) -> String {
    ["step-", &step.max(1).to_string()].concat()
}

/// The page of decisions around the present one, in order, each with the number of kernels that it leads to where
/// that changes. One line is reached by the tab key. `O(ops + decisions)`.
pub fn list(graph: &Graph, record: &Record, step: usize) -> Markup {
    // Pages stay where they are, so that no line goes away under a pointer or the focus.
    let first = step.saturating_sub(1) / LISTED * LISTED;
    let end = record.decisions.len().min(first + LISTED);
    let kernels = record.kernel_counts(graph);
    let mut markup = Markup::new();
    if first > 0 {
        way_to(&mut markup, "steps-earlier", first);
    }
    for (place, decision) in record.decisions.iter().enumerate().take(end).skip(first) {
        let number = place + 1;
        let (before, after) = (kernels.get(place), kernels.get(number));
        let count = match after {
            Some(&count) if after != before => counted(count, "kernel"),
            _ => String::new(),
        };
        markup.fill(
            r#"<li class="{}"><button type="button" class="link" id="{}" data-step="{}" tabindex="{}" aria-current="{}"><span class="step-number">{}</span> <span class="step-words">"#,
            &[
                match number {
                    _ if number < step => "is-done",
                    _ if number == step => "is-done is-present",
                    _ => "is-to-come",
                },
                &line_id(number),
                &number.to_string(),
                if number == step.max(1) { "0" } else { "-1" },
                if number == step { "step" } else { "false" },
                &number.to_string(),
            ],
        );
        add_with_code(&mut markup, &decision_text(graph, decision));
        markup.fill(
            r#"</span> <span class="step-kernels">{}</span></button></li>"#,
            &[&count],
        );
    }
    if end < record.decisions.len() {
        way_to(&mut markup, "steps-later", end + 1);
    }
    markup
}

/// A line that leads to another page.
fn way_to(markup: &mut Markup, id: &str, step: usize) {
    let number = step.to_string();
    markup.fill(
        r#"<li><button type="button" class="link" id="{}" data-step="{}">{}</button></li>"#,
        &[id, &number, &["To step ", &number].concat()],
    );
}
