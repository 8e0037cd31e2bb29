//! Edits of the text: each changes what it must and no other byte.

use fuseline_core::model::program::Program;
use fuseline_core::notation::edit::{
    add_declaration, add_op, main_dtype, move_op, paste_lines, remove_declaration, remove_op,
    rename_op, rename_tensor, set_annotation, set_callee, set_declared_type, set_dtype, set_inputs,
    set_param, set_role,
};
use fuseline_core::notation::parse;
use fuseline_core::{Code, DType, Span, TensorRole};

const TEXT: &str = "\
# a block
param S = 2048 in 128..16384 step 128   # rows
input  x : f16[S, 64]  # not `x1`
weight w : f16[64, 64]
this line is broken
up: y1 = matmul(x, w)       # one
    y2 = add( y1 , b )      # two

    # the third
    y3 = elementwise(y2, k=(S)) : f32[S, 64]
    y4 = matmul(y3, w,
                transpose_b=true, # as it is
        ) : f16[S, 64]
";

/// The text after `edit`. Asserts that all lines are unchanged except those in `changed` (old,
/// new).
fn edited(edit: impl Fn(&str, &Program) -> String, changed: &[(&str, &str)]) -> String {
    let program = parse(TEXT).program;
    let result = edit(TEXT, &program);
    let expected = changed.iter().fold(TEXT.to_owned(), |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text.replace(old, new)
    });
    assert_eq!(result, expected);
    assert_eq!(parse(&result).diagnostics.len(), 1, "only the broken line");
    result
}

#[test]
fn a_tensor_is_declared_changed_and_removed() {
    let weight = "weight w : f16[64, 64]\n";
    edited(
        |text, program| set_role(text, program, 1, TensorRole::Input),
        &[("weight w :", "input w :")],
    );
    edited(
        |text, program| set_role(text, program, 0, TensorRole::Weight),
        &[("input  x", "weight  x")],
    );
    edited(
        |text, program| set_declared_type(text, program, 0, "f32[2*S, 64]"),
        &[("x : f16[S, 64]  #", "x : f32[2*S, 64]  #")],
    );
    let added = edited(
        add_declaration,
        &[(
            weight,
            "weight w : f16[64, 64]\ninput x3 : f16[1024, 1024]\n",
        )],
    );
    let program = parse(&added).program;
    assert_eq!(remove_declaration(&added, &program, 2), TEXT);
    edited(
        |text, program| remove_declaration(text, program, 1),
        &[(weight, "")],
    );
    for unchanged in [
        remove_declaration(TEXT, &parse(TEXT).program, 2),
        set_role(TEXT, &parse(TEXT).program, 2, TensorRole::Input),
        set_declared_type(TEXT, &parse(TEXT).program, 2, "f16[1]"),
    ] {
        assert_eq!(unchanged, TEXT);
    }
}

#[test]
fn the_first_declaration_goes_below_the_params_or_to_the_start() {
    for (text, declared) in [
        ("", "input x1 : f16[1024, 1024]\n"),
        (
            "y = relu(x1)\n",
            "input x2 : f16[1024, 1024]\ny = relu(x1)\n",
        ),
        (
            "repeat 2 with x = y {\n  weight w : f16[8]\n  y = add(x, w)\n}\n",
            "input x2 : f16[1024, 1024]\nrepeat 2 with x = y {\n  weight w : f16[8]\n  y = add(x, w)\n}\n",
        ),
        (
            "param S = 8\ny = cast(x, dtype=f32) : f32[S]\n",
            "param S = 8\ninput x1 : f32[1024, 1024]\ny = cast(x, dtype=f32) : f32[S]\n",
        ),
    ] {
        assert_eq!(add_declaration(text, &parse(text).program), declared);
    }
}

#[test]
fn params_that_shall_divide_follow() {
    let text = "param H = 768\nparam heads = 96 in 1..128 dividing H\nparam kv = 48 in 1..128 dividing heads\n";
    let program = parse(text).program;
    let values = |place, value| -> Vec<i64> {
        let edited = set_param(text, &program, place, value);
        parse(&edited)
            .program
            .params
            .iter()
            .map(|param| param.value)
            .collect()
    };
    // 96 is as near to 64 as to 128, and the smaller one counts.
    assert_eq!(values(0, 1024), [1024, 64, 32]);
    assert_eq!(values(1, 32), [768, 32, 32]);
    // What was written by hand, against the range, stays.
    let unfit = "param S = 8\nparam H = 768\nparam heads = 100 in 1..128 dividing H\n";
    let program_of_unfit = parse(unfit).program;
    let edited = set_param(unfit, &program_of_unfit, 1, 1024);
    assert!(edited.contains("heads = 100"), "{edited}");
    // What is set stays, even where it does not divide.
    assert_eq!(values(1, 80), [768, 80, 40]);
    assert_eq!(values(2, 5), [768, 96, 5]);
}

#[test]
fn set_param_writes_the_value() {
    edited(|t, p| set_param(t, p, 0, 512), &[("= 2048", "= 512")]);
    edited(|t, p| set_param(t, p, 1, 512), &[]);
}

#[test]
fn set_dtype_writes_the_most_frequent_one() {
    assert_eq!(main_dtype(&parse(TEXT).program), Some(DType::F16));
    edited(
        |t, p| set_dtype(t, p, DType::Bf16),
        &[
            ("x : f16[", "x : bf16["),
            ("w : f16[", "w : bf16["),
            (") : f16[", ") : bf16["),
        ],
    );
    assert_eq!(main_dtype(&parse("y = relu(x)").program), None);
    let tie = parse("input a : f8[1]\ninput b : f32[1]").program;
    assert_eq!(main_dtype(&tie), Some(DType::F8e4m3));
}

#[test]
fn add_op_reads_the_op_before_it() {
    edited(
        |t, p| add_op(t, p, Some(0)),
        &[("# one\n", "# one\n    y5 = relu(y1)\n")],
    );
    edited(
        |t, p| add_op(t, p, None),
        &[(") : f16[S, 64]\n", ") : f16[S, 64]\n    y5 = relu(y4)\n")],
    );
    edited(|t, p| add_op(t, p, Some(99)), &[]);
}

#[test]
fn add_op_starts_a_program() {
    let add = |text: &str| add_op(text, &parse(text).program, None);
    assert_eq!(add(""), "input x1 : f16[1024, 1024]\ny1 = relu(x1)\n");
    assert_eq!(
        add("# y1, x1\ny1 = = x1"),
        "# y1, x1\ny1 = = x1\ninput x2 : f16[1024, 1024]\ny2 = relu(x2)\n"
    );
    assert_eq!(
        add("weight `a b` : f16[4]"),
        "weight `a b` : f16[4]\ny1 = relu(`a b`)\n"
    );
    assert_eq!(
        add("\ty = relu(x)\r\n# end\r\n"),
        "\ty = relu(x)\r\n\ty2 = relu(y)\r\n# end\r\n"
    );
    assert_eq!(add("y = relu(x)"), "y = relu(x)\ny2 = relu(y)");
}

#[test]
fn remove_op_rewires_readers_where_the_shape_passes() {
    edited(
        |t, p| remove_op(t, p, 2),
        &[
            ("    y3 = elementwise(y2, k=(S)) : f32[S, 64]\n", ""),
            ("matmul(y3, w,", "matmul(y2, w,"),
        ],
    );
    edited(
        |t, p| remove_op(t, p, 0),
        &[("up: y1 = matmul(x, w)       # one\n", "")],
    );
    edited(
        |t, p| remove_op(t, p, 3),
        &[(
            "    y4 = matmul(y3, w,\n                transpose_b=true, # as it is\n        ) : f16[S, 64]\n",
            "",
        )],
    );
    edited(|t, p| remove_op(t, p, 4), &[]);
}

#[test]
fn remove_op_rewires_a_reader_that_names_it_twice() {
    let text = "a = elementwise(x) : f16[4]\nb = elementwise(a, a) : f16[4]\n";
    let program = parse(text).program;
    assert_eq!(
        remove_op(text, &program, 0),
        "b = elementwise(x, x) : f16[4]\n"
    );
}

#[test]
fn move_op_moves_whole_statements() {
    let order = |text: &str| -> Vec<String> {
        (parse(text).program.ops.into_iter())
            .map(|op| op.output.text)
            .collect()
    };
    let program = parse(TEXT).program;
    for from in 0..4 {
        for to in 0..6 {
            let mut expected = order(TEXT);
            let name = expected.remove(from);
            expected.insert(to.min(3), name);
            let moved = move_op(TEXT, &program, from, to);
            assert_eq!(order(&moved), expected);
            let sorted = |text: &str| {
                let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
                lines.sort();
                lines
            };
            assert_eq!(sorted(&moved), sorted(TEXT));
        }
    }
    assert_eq!(
        move_op(
            "a = f(x)\nb = f(x)",
            &parse("a = f(x)\nb = f(x)").program,
            1,
            0
        ),
        "b = f(x)\na = f(x)"
    );
}

#[test]
fn rename_op_renames_label_or_tensor() {
    let rename =
        |op, name: &'static str| move |t: &str, p: &Program| rename_op(t, p, op, name).unwrap();
    edited(rename(0, "ffn_up"), &[("up: ", "ffn_up: ")]);
    edited(
        rename(1, "a tensor"),
        &[
            ("y2 = add", "`a tensor` = add"),
            ("(y2, k", "(`a tensor`, k"),
        ],
    );
    edited(rename(1, "y2"), &[]);
    // Labels and tensors may have the same name.
    edited(rename(0, "x"), &[("up: ", "x: ")]);
    let twice = "y: y = relu(x)\nz = relu(y)";
    assert_eq!(
        rename_op(twice, &parse(twice).program, 0, "a").unwrap(),
        "a = relu(x)\nz = relu(a)"
    );
}

#[test]
fn rename_tensor_follows_every_mention() {
    edited(
        |t, p| rename_tensor(t, p, "w", "weights").unwrap(),
        &[
            ("weight w ", "weight weights "),
            ("(x, w)", "(x, weights)"),
            ("(y3, w,", "(y3, weights,"),
        ],
    );
    edited(
        |t, p| rename_tensor(t, p, "b", "bias").unwrap(),
        &[("y1 , b )", "y1 , bias )")],
    );
    edited(|t, p| rename_tensor(t, p, "nothing", "bias").unwrap(), &[]);
}

#[test]
fn taken_names_are_refused() {
    let program = parse(TEXT).program;
    let code = |op, name: &str| rename_op(TEXT, &program, op, name).unwrap_err().code;
    assert_eq!(code(0, "y2"), Code::DuplicateOpName);
    assert_eq!(code(1, "up"), Code::DuplicateOpName);
    assert_eq!(code(1, "y3"), Code::DuplicateOutput);
    assert_eq!(code(1, "x"), Code::DuplicateDeclaration);
    assert_eq!(code(1, "b"), Code::DuplicateDeclaration);
    assert_eq!(code(1, ""), Code::Syntax);
    assert_eq!(code(0, ""), Code::Syntax);
    let refused = rename_tensor(TEXT, &program, "x", "y1").unwrap_err();
    assert_eq!(refused.message, "another op already writes `y1`");
}

#[test]
fn set_callee_keeps_the_arguments() {
    edited(
        |t, p| set_callee(t, p, 1, "mul"),
        &[("= add( y1", "= mul( y1")],
    );
}

#[test]
fn set_inputs_writes_what_differs() {
    let set = |op, names: &'static [&'static str]| {
        let names: Vec<String> = names.iter().map(|&n| n.to_owned()).collect();
        move |t: &str, p: &Program| set_inputs(t, p, op, &names)
    };
    edited(set(1, &["y1", "c"]), &[("y1 , b )", "y1 , c )")]);
    edited(set(1, &["y1", "b", "c"]), &[("y1 , b )", "y1 , b, c )")]);
    edited(set(1, &["y1"]), &[("( y1 , b )", "(y1)")]);
    edited(set(1, &[]), &[("( y1 , b )", "()")]);
    edited(set(2, &["y2", "a b"]), &[("(y2, k", "(y2, `a b`, k")]);
    edited(set(2, &[]), &[("(y2, k", "(k")]);
    edited(
        set(3, &["y3"]),
        &[("(y3, w,\n                transpose", "(y3, transpose")],
    );
    let empty = "y = f(k=1)";
    let filled = set_inputs(empty, &parse(empty).program, 0, &["x".to_owned()]);
    assert_eq!(filled, "y = f(x, k=1)");
    let comma = "y = f(x,)";
    assert_eq!(set_inputs(comma, &parse(comma).program, 0, &[]), "y = f()");
}

#[test]
fn set_annotation_states_a_type_or_none() {
    edited(
        |t, p| set_annotation(t, p, 1, Some("f32[S,\n64]")),
        &[("y1 , b )", "y1 , b ) : f32[S, 64]")],
    );
    edited(
        |t, p| set_annotation(t, p, 2, Some("f8[S]")),
        &[("f32[S, 64]", "f8[S]")],
    );
    edited(
        |t, p| set_annotation(t, p, 3, None),
        &[(") : f16[S, 64]\n", ")\n")],
    );
    edited(|t, p| set_annotation(t, p, 0, None), &[]);
}

#[test]
fn a_program_of_another_text_breaks_nothing() {
    let program = parse(TEXT).program;
    for text in ["", "é", "y = relu(x)"] {
        set_param(text, &program, 0, 1);
        set_dtype(text, &program, DType::F8e4m3);
        add_op(text, &program, None);
        for op in 0..4 {
            remove_op(text, &program, op);
            move_op(text, &program, op, 3 - op);
            set_inputs(text, &program, op, &[]);
            set_annotation(text, &program, op, None);
            let _ = rename_op(text, &program, op, "new");
        }
    }
}

#[test]
fn pasted_lines_share_no_line_with_what_was_there() {
    let ops = "p = relu(x)\nq = exp(p)\n";
    let pasted = |text, start, end| paste_lines(text, Span::new(start, end), ops);
    // Without a selection: below the line, on an empty line, in an empty text, beyond the end.
    assert_eq!(pasted("a\nb\n", 0, 0), format!("a\n{ops}b\n"));
    assert_eq!(pasted("a\r\nb", 1, 1), "a\np = relu(x)\nq = exp(p)\r\nb");
    assert_eq!(pasted("a\n\nb", 2, 2), format!("a\n{ops}b"));
    assert_eq!(pasted("a\nb\n", 4, 4), format!("a\nb\n{ops}"));
    assert_eq!(pasted("a", 1, 1), format!("a\n{ops}"));
    assert_eq!(pasted(" \n", 0, 0), ops);
    assert_eq!(pasted("a", 9, 9), format!("a\n{ops}"));
    // A selection is replaced, whole lines or parts of them.
    assert_eq!(pasted("a\nb\nc", 2, 4), format!("a\n{ops}c"));
    assert_eq!(pasted("aa\nbb", 1, 4), format!("a\n{ops}b"));
    assert_eq!(pasted("a\nb\n", 0, 3), ops);
}

#[test]
fn a_param_that_divides_another_follows_it() {
    use fuseline_core::notation::{edit::set_param, parse};
    let text = "param H = 768 in 128..8192 # wide\nparam heads = 96 in 8..128 dividing H";
    let edited = set_param(text, &parse(text).program, 0, 1024);
    assert_eq!(
        edited,
        "param H = 1024 in 128..8192 # wide\nparam heads = 64 in 8..128 dividing H"
    );
}
