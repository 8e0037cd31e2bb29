//! One op of the ops table: its fields and buttons.

use super::badge::kernel_class;
use super::op_edit::{Refused, joined_inputs};
use crate::core::model::functions;
use crate::core::model::functions::FUNCTIONS;
use crate::core::model::program::OpStatement;
use crate::core::{KernelId, OpType, Severity};
use crate::markup::{ABSENT, Markup};
use crate::present::words::severity_word;
use crate::views::words::add_with_code;
use std::sync::OnceLock;
use strum::VariantArray;

/// The attribute that carries a row's place.
pub(super) const ROW: &str = "data-op";

/// What a row shows.
pub(super) struct Row<'a> {
    /// The op's place among the statements that could be read.
    pub place: usize,
    /// The statement.
    pub statement: &'a OpStatement,
    /// Its annotation as written.
    pub annotation: &'a str,
    /// Its shape, when it could be resolved.
    pub shape: String,
    /// The kernel that computes it.
    pub kernel: Option<KernelId>,
    /// It is selected, or its kernel.
    pub is_selected: bool,
}

/// Adds the controls of one op.
pub(super) fn add_row(markup: &mut Markup, row: &Row<'_>, refused: &[Refused]) {
    let statement = row.statement;
    let place = row.place.to_string();
    let name = &statement.name().text;
    let selected = if row.is_selected { " is-selected" } else { "" };
    let class = row.kernel.map(kernel_class).unwrap_or_default();
    let number = row.kernel.map_or(String::new(), |k| k.number().to_string());
    markup.fill(
        r#"<tr role="row" class="{}" data-op="{}"><td role="cell" class="op-kernel"><span class="badge" hidden="{}">{}</span></td><td role="cell" class="op-name">"#,
        &[
            &["op-row ", &class, selected].concat(),
            &place,
            if row.kernel.is_some() { ABSENT } else { "" },
            &number,
        ],
    );
    let field = |markup: &mut Markup, part: &str, what: &str, value: &str, placeholder: &str| {
        let refused = (refused.iter()).find(|r| r.is_at(row.place, part) && r.value == value);
        let id = ["op-", &place, "-", part].concat();
        let problem_id = [&id, "-problem"].concat();
        let (is_invalid, described_by, hidden) = match refused {
            Some(_) => ("true", problem_id.as_str(), ABSENT),
            None => ("false", ABSENT, ""),
        };
        markup.fill(
            r#"<input type="text" data-part="{}" id="{}" aria-label="{}" aria-invalid="{}" aria-describedby="{}" placeholder="{}" list="{}" spellcheck="false" autocomplete="off" autocapitalize="off" value="{}"><p class="cell-problem" id="{}" role="alert" hidden="{}">{}</p>"#,
            &[
                part,
                &id,
                &[what, " of ", name].concat(),
                is_invalid,
                described_by,
                placeholder,
                if part == "inputs" { super::ops_table::SUGGESTIONS_ID } else { ABSENT },
                refused.map_or(value, |r| &r.typed),
                &problem_id,
                hidden,
                refused.map_or("", |r| &r.reason),
            ],
        );
    };
    field(markup, "name", "name", name, "name");
    markup.fill(
        r#"</td><td role="cell" class="op-callee"><select data-part="callee" id="{}" aria-label="{}" value="{}">"#,
        &[
            &["op-", &place, "-callee"].concat(),
            &["function of ", name].concat(),
            &statement.callee.text,
        ],
    );
    add_functions(markup, &statement.callee.text);
    markup.raw(r#"</select></td><td role="cell" class="op-actions">"#);
    for (part, what, title, sign) in [
        ("up", "Move up: ", "Move up", "↑"),
        ("down", "Move down: ", "Move down", "↓"),
        ("add", "Add an op after ", "Add an op after", "+"),
        ("remove", "Remove ", "Remove", "×"),
    ] {
        markup.fill(
            r#"<button type="button" class="small-button" data-part="{}" id="{}" aria-label="{}" title="{}">{}</button>"#,
            &[part, &["op-", &place, "-", part].concat(), &[what, name].concat(), title, sign],
        );
    }
    markup.raw(r#"</td><td role="cell" class="op-inputs">"#);
    let inputs = joined_inputs(statement);
    let has_comma = |name: &str| name.contains(',') || name.trim() != name;
    if statement.inputs.iter().any(|i| has_comma(&i.text)) {
        // The joined names could not be taken apart again.
        markup.fill(
            r#"<span title="A name holds a comma: edit the inputs in the text">{}</span>"#,
            &[&inputs],
        );
    } else {
        field(markup, "inputs", "inputs", &inputs, "inputs");
    }
    markup.raw(r#"</td><td role="cell" class="op-type">"#);
    // What was inferred shows through an empty field.
    let (annotation, shape) = (row.annotation, row.shape.as_str());
    let inferred = if shape.is_empty() {
        "type and shape"
    } else {
        shape
    };
    let is_evaluated = !annotation.is_empty() && annotation != shape;
    field(markup, "type", "stated type", annotation, inferred);
    markup.fill(
        r#"<span class="op-shape">{}</span></td><td role="cell" class="op-problems" id="{}" hidden></td></tr>"#,
        &[if is_evaluated { shape } else { "" }, &["op-", &place, "-problems"].concat()],
    );
}

/// Adds what is wrong with an op or assumed about it.
pub(super) fn add_problems(markup: &mut Markup, problems: &[(Severity, String)]) {
    for (severity, text) in problems {
        let word = severity_word(*severity);
        markup.fill(r#"<p class="{}">"#, &[&["is-", word].concat()]);
        add_with_code(markup, &format!("{word}: {text}"));
        markup.raw("</p>");
    }
}

/// The options of all functions: the same in every row, and made of our own table alone.
static FUNCTION_OPTIONS: OnceLock<String> = OnceLock::new();

/// Adds an option for each function, and one for what is called when it is none of them.
fn add_functions(markup: &mut Markup, callee: &str) {
    if functions::find(callee).is_none() && callee.parse::<OpType>().is_err() {
        markup.fill(r#"<option value="{}">{} ?</option>"#, &[callee, callee]);
    }
    markup.raw(FUNCTION_OPTIONS.get_or_init(|| {
        let mut options = Markup::new();
        for &op_type in OpType::VARIANTS {
            let name = op_type.name();
            options.fill(r#"<optgroup label="{}">"#, &[name]);
            if functions::find(name).is_none() {
                options.fill(r#"<option value="{}">{} (any)</option>"#, &[name, name]);
            }
            for f in FUNCTIONS.iter().filter(|f| f.op_type == op_type) {
                let values = [f.name, f.summary, f.name];
                options.fill(r#"<option value="{}" title="{}">{}</option>"#, &values);
            }
            options.raw("</optgroup>");
        }
        options.html().text
    }));
}
