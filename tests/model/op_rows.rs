//! The rows of the table of ops, and what is typed into their fields.

use fuseline::app::op_edit::{OpField, TensorField, with_field, with_tensor_field};
use fuseline_core::fixes::sound_fixes;
use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use fuseline_core::{KernelId, OpType, Options, Severity, TensorRole, analyze_program};
use fuseline_view::present::op_rows::{OpRow, OpSource, function_options, is_callable, op_rows};
use fuseline_view::present::tensor_rows::{TensorRow, tensor_rows};
use fuseline_view::present::words::with_hint;
use strum::VariantArray;

const TEXT: &str = "\
param N = 64 in 8..128
input x : f16[N, 8]
up:   y = add(x, b) : f16[N, 8]
      z = relu(y)
last: q = exp(z) : f16[64, 8]
";

fn rows_after(text: &str, before: &[OpRow]) -> Vec<OpRow> {
    let parsed = parse(text);
    let outcome = analyze_program(&parsed.program, &Options::default());
    let diagnostics = [parsed.diagnostics.clone(), outcome.diagnostics].concat();
    let analysis = outcome.analysis.as_ref();
    let source = OpSource {
        text,
        program: &parsed.program,
        diagnostics: &diagnostics,
        fixes: &sound_fixes(text, &diagnostics),
        analysed: analysis.map(|analysis| (analysis, &outcome.statement_of_op)),
    };
    op_rows(source, 60, before)
}

fn rows(text: &str) -> Vec<OpRow> {
    rows_after(text, &[])
}

fn ids(rows: &[OpRow]) -> Vec<(&str, usize)> {
    rows.iter().map(|row| (&*row.name, row.id)).collect()
}

#[test]
fn a_row_says_what_the_text_states_and_what_follows_from_it() {
    let rows = rows(TEXT);
    assert_eq!(ids(&rows), [("up", 0), ("z", 1), ("last", 2)]);
    let [up, z, last] = &rows[..] else { panic!() };
    assert_eq!((&*up.callee, &*up.inputs), ("add", "x, b"));
    assert_eq!((&*up.stated_type, &*up.shape), ("f16[N, 8]", "f16[64, 8]"));
    assert_eq!(up.evaluated_type(), Some("f16[64, 8]"));
    assert_eq!((&*z.stated_type, &*z.shape), ("", "f16[64, 8]"));
    assert_eq!(z.evaluated_type(), None);
    assert_eq!(last.evaluated_type(), None);
    assert!(
        rows.iter()
            .all(|row| row.op.is_some() && row.kernel == Some(KernelId::new(0)))
    );
    let [problem] = &up.problems[..] else {
        panic!("{up:?}")
    };
    assert_eq!(problem.severity, Severity::Warning);
    assert!(
        problem.text.contains("`b`") && problem.text.contains("input b"),
        "{problem:?}"
    );
    assert!(problem.fixes[0].label.contains("input b"), "{problem:?}");
    assert!(z.problems.is_empty());
}

#[test]
fn what_cannot_be_understood_has_a_row_without_numbers() {
    let rows = rows(&TEXT.replace("relu(y)", "reluu(y)"));
    assert_eq!(rows.len(), 3);
    let [_, z, last] = &rows[..] else { panic!() };
    assert_eq!((z.op, z.kernel, &*z.shape), (None, None, ""));
    assert_eq!(z.problems[0].severity, Severity::Error);
    assert_eq!((last.op, &*last.stated_type), (None, "f16[64, 8]"));
    assert_eq!(last.evaluated_type(), None);
}

#[test]
fn only_so_many_rows_are_made() {
    let parsed = parse(TEXT);
    let source = OpSource {
        text: TEXT,
        program: &parsed.program,
        diagnostics: &[],
        fixes: &[],
        analysed: None,
    };
    let first: Vec<_> = op_rows(source, 2, &[]);
    assert_eq!(ids(&first), [("up", 0), ("z", 1)]);
}

#[test]
fn a_name_with_a_comma_makes_inputs_inseparable() {
    let rows = rows("input `a,b` : f16[8]\ny = relu(`a,b`)\nz = relu(y)\n");
    assert_eq!(rows[0].inputs, "a,b");
    assert!(!rows[0].has_separable_inputs);
    assert!(rows[1].has_separable_inputs);
}

#[test]
fn a_row_keeps_its_id_while_ops_come_go_move_and_are_renamed() {
    let mut rows = rows(TEXT);
    let mut after = |text: &str, expected: &[(&str, usize)]| {
        rows = rows_after(text, &rows);
        assert_eq!(ids(&rows), expected);
    };
    let first = "first: p = exp(x)\n";
    after(
        &format!("{first}{TEXT}"),
        &[("first", 3), ("up", 0), ("z", 1), ("last", 2)],
    );
    after(
        &format!("{TEXT}{first}"),
        &[("up", 0), ("z", 1), ("last", 2), ("first", 3)],
    );
    after(TEXT, &[("up", 0), ("z", 1), ("last", 2)]);
    after(
        &TEXT.replace("up:", "down:"),
        &[("down", 0), ("z", 1), ("last", 2)],
    );
    after(
        &TEXT.replace("      z = relu(y)\n", ""),
        &[("up", 0), ("last", 2)],
    );
    after("", &[]);
}

#[test]
fn each_function_is_offered_once_under_its_op_type() {
    let groups = function_options();
    let types: Vec<&str> = OpType::VARIANTS.iter().map(|t| t.name()).collect();
    assert_eq!(
        groups.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        types
    );
    let names: Vec<&str> = (groups.iter())
        .flat_map(|(_, options)| options.iter().map(|option| option.name))
        .collect();
    for function in Function::VARIANTS {
        assert_eq!(
            names
                .iter()
                .filter(|&&name| name == function.name())
                .count(),
            1
        );
    }
    for op_type in types {
        assert_eq!(names.iter().filter(|&&name| name == op_type).count(), 1);
    }
    assert!(names.iter().all(|name| is_callable(name)));
    assert!(!is_callable("gellu"));
}

#[test]
fn what_is_typed_is_taken_over() {
    let parsed = parse(TEXT);
    let typed = |op, field, typed| with_field(TEXT, &parsed, op, field, typed);
    for (op, field, what, old, new) in [
        (0, OpField::Name, " first ", "up:  ", "first:  "),
        (0, OpField::Inputs, "b,,x ", "(x, b)", "(b, x)"),
        (2, OpField::Type, ": f32[64, 8]", "f16[64, 8]", "f32[64, 8]"),
        (2, OpField::Type, "", " : f16[64, 8]", ""),
    ] {
        assert_eq!(typed(op, field, what), Ok(TEXT.replace(old, new)), "{what}");
    }
    let renamed = typed(1, OpField::Name, "act").unwrap();
    assert!(renamed.contains("act = relu(y)") && renamed.contains("exp(act)"));
}

#[test]
fn what_cannot_be_read_or_is_taken_is_refused_with_the_reason() {
    let parsed = parse(TEXT);
    let refused =
        |field, typed| with_hint(&with_field(TEXT, &parsed, 0, field, typed).unwrap_err());
    assert!(refused(OpField::Name, "last").contains("last"));
    assert!(refused(OpField::Name, "").contains("name"));
    assert!(refused(OpField::Type, "f16[N").contains(']'));
    assert!(refused(OpField::Type, "f17[N]").contains("f17"));
}

#[test]
fn what_is_typed_about_a_tensor_is_taken_over_or_refused() {
    let text = "input x : f16[8]\nweight w : f16[8]\ny = add(x, w)\n";
    let parsed = parse(text);
    let typed = |place, field, typed| with_tensor_field(text, &parsed, place, field, typed);
    assert_eq!(
        typed(1, TensorField::Name, " scale "),
        Ok(text
            .replace("weight w", "weight scale")
            .replace("(x, w)", "(x, scale)"))
    );
    assert_eq!(
        typed(0, TensorField::Type, ": bf16[2*4]"),
        Ok(text.replace("x : f16[8]", "x : bf16[2*4]"))
    );
    for (field, what, reason) in [
        (TensorField::Name, "w", "another tensor"),
        (TensorField::Name, "y", "already writes"),
        (TensorField::Name, "", "name"),
        (TensorField::Type, "", "element type"),
        (TensorField::Type, "f17[8]", "f17"),
    ] {
        let refused = with_hint(&typed(0, field, what).unwrap_err());
        assert!(refused.contains(reason), "{what}: {refused}");
    }
}

#[test]
fn a_tensor_keeps_its_row_while_it_is_renamed() {
    let rows = |text: &str, before: &[TensorRow]| {
        let program = parse(text).program;
        let outcome = analyze_program(&program, &Options::default());
        let source = OpSource {
            text,
            program: &program,
            diagnostics: &outcome.diagnostics,
            fixes: &[],
            analysed: None,
        };
        tensor_rows(source, 10, before)
    };
    let before = rows(
        "input x : f16[8]\nweight w : f16[ 8 ]\ny = add(x, w)\n",
        &[],
    );
    let shown: Vec<_> = (before.iter())
        .map(|row| (&*row.name, row.role, &*row.stated_type))
        .collect();
    assert_eq!(
        shown,
        [
            ("x", TensorRole::Input, "f16[8]"),
            ("w", TensorRole::Weight, "f16[ 8 ]")
        ]
    );
    let after = rows(
        "input x : f16[8]\nweight w2 : f16[8]\ninput z : f16[8]\ny = add(x, w2)\n",
        &before,
    );
    let ids: Vec<_> = after.iter().map(|row| row.id).collect();
    assert_eq!(ids, [before[0].id, before[1].id, 2]);
    let wrong = rows("input x : f16[8]\nweight w : f16[Q]\ny = add(x, w)\n", &[]);
    assert!(
        wrong[0].problems.is_empty() && wrong[1].problems[0].text.contains("`Q`"),
        "{wrong:?}"
    );
}
