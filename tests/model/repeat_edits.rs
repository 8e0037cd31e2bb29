//! Edits of programs with blocks by table, sliders and pictures, and what is exported of them.

use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::model::program::Program;
use fuseline_core::notation::edit::{
    add_op, move_op, remove_op, rename_op, rename_tensor, set_inputs, set_kernel, set_param,
};
use fuseline_core::notation::import::{self, program_of_op_list};
use fuseline_core::notation::{parse, print};
use fuseline_core::{KernelId, Op, OpId, Options, Outcome, Policy, Span, analyze_program};
use fuseline_view::present::export::OpList;
use fuseline_view::present::manual::{Change, Proposal, propose};
use fuseline_view::present::op_rows::{OpSource, op_rows};

const TEXT: &str = "\
param L = 3 in 1..48
input  x : f16[64, 64]
# the layers
repeat L with x = y {   # each reads the one before
  weight w : f16[64, 64]
  m = matmul(x, w)      # one
  a = relu(m)

  # the sum
  y = add(a, x)
}
z = exp(y)
t = tanh(z)
";

/// The text after `edit`. Asserts that all lines are unchanged except those in `changed` (old,
/// new).
fn edited(edit: impl Fn(&str, &Program) -> String, changed: &[(&str, &str)]) -> String {
    let result = edit(TEXT, &parse(TEXT).program);
    let expected = changed.iter().fold(TEXT.to_owned(), |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text.replace(old, new)
    });
    assert_eq!(result, expected);
    assert_eq!(parse(&result).diagnostics, []);
    result
}

#[test]
fn edits_keep_the_block_around_a_statement() {
    edited(|t, p| set_param(t, p, 0, 12), &[("L = 3", "L = 12")]);
    edited(
        |t, p| rename_tensor(t, p, "x", "in").unwrap(),
        &[
            ("x : f16", "in : f16"),
            ("with x = y", "with in = y"),
            ("matmul(x, w)", "matmul(in, w)"),
            ("add(a, x)", "add(a, in)"),
        ],
    );
    edited(
        |t, p| rename_op(t, p, 2, "out").unwrap(),
        &[
            ("with x = y", "with x = out"),
            ("y = add", "out = add"),
            ("exp(y)", "exp(out)"),
        ],
    );
    edited(
        |t, p| set_inputs(t, p, 2, &["a".to_owned(), "m".to_owned()]),
        &[("add(a, x)", "add(a, m)")],
    );
    edited(
        |t, p| set_kernel(t, p, 1, Some(4)),
        &[("a = relu(m)", "a = relu(m) @kernel 4")],
    );
    edited(
        |t, p| add_op(t, p, Some(1)),
        &[("  a = relu(m)\n", "  a = relu(m)\n  y6 = relu(a)\n")],
    );
    edited(
        |t, p| remove_op(t, p, 1),
        &[("  a = relu(m)\n", ""), ("add(a, x)", "add(m, x)")],
    );
    edited(
        |t, p| move_op(t, p, 4, 3),
        &[("z = exp(y)\nt = tanh(z)", "t = tanh(z)\nz = exp(y)")],
    );
}

#[test]
fn an_op_that_leaves_a_block_takes_what_is_passed_on_along() {
    let text = remove_op(TEXT, &parse(TEXT).program, 2);
    assert_eq!(parse(&text).program.blocks[0].carried[0].from.text, "a");
    assert!(
        text.contains("with x = a {") && text.contains("z = exp(a)"),
        "{text}"
    );
    // Behind the block `x` is that of before it, so no reader there may read it instead.
    let text = "input x : f16[4]\nrepeat 2 with x = y {\nh = relu(x)\ny = exp(h)\n}\nz = tanh(h)\n";
    let removed = remove_op(text, &parse(text).program, 0);
    assert_eq!(
        removed,
        "input x : f16[4]\nrepeat 2 with x = y {\ny = exp(x)\n}\nz = tanh(h)\n"
    );
}

#[test]
fn a_new_op_stands_behind_a_last_block() {
    let text = "input x : f16[4]\nrepeat 2 with x = y {\n  y = exp(x)\n} # end\n";
    let added = add_op(text, &parse(text).program, None);
    assert_eq!(added, text.to_owned() + "y2 = relu(y)\n");
    let program = parse(&added).program;
    assert_eq!(
        (program.blocks[0].ops.clone(), program.ops.len()),
        (0..1, 2)
    );
}

#[test]
fn a_line_of_a_block_shows_its_first_round() {
    let parsed = parse(TEXT);
    let outcome = analyze_program(&parsed.program, &Options::default());
    let analysis = outcome.analysis.unwrap();
    let source = OpSource {
        text: TEXT,
        program: &parsed.program,
        diagnostics: &[],
        fixes: &[],
        analysed: Some((&analysis, &outcome.statement_of_op)),
    };
    let rows = op_rows(source, 100, &[]);
    let shown: Vec<_> = (rows.iter())
        .map(|row| (&*row.name, &*analysis.graph.ops[row.op.unwrap()].name))
        .collect();
    assert_eq!(
        shown,
        [
            ("m", "m.1"),
            ("a", "a.1"),
            ("y", "y.1"),
            ("z", "z"),
            ("t", "t")
        ]
    );
    // Each op leads to its line.
    let last = analysis
        .graph
        .ops
        .ids()
        .find(|&op| analysis.graph.ops[op].name == "y.3");
    let statement = outcome.statement_of_op[last.unwrap()];
    let span: Span = parsed.program.ops[statement].span;
    assert_eq!(span.slice(TEXT), "y = add(a, x)");
}

fn named(outcome: &Outcome, name: &str) -> OpId {
    let ops = &outcome.analysis.as_ref().unwrap().graph.ops;
    ops.ids().find(|&op| ops[op].name == name).unwrap()
}

/// The proposal of a change of the kernels of `policy`.
fn proposal(text: &str, policy: Policy, change: impl Fn(&Outcome) -> Change) -> Proposal {
    let parsed = parse(text);
    let outcome = analyze_program(&parsed.program, &Options::of_policy(policy));
    let analysis = outcome.analysis.as_ref().unwrap();
    let statements = &outcome.statement_of_op;
    propose(
        change(&outcome),
        KernelsInText {
            text,
            program: &parsed.program,
            analysis,
            statement_of_op: statements,
        },
    )
}

fn kernel_names(text: &str) -> Vec<String> {
    let options = Options::of_policy(Policy::Manual);
    let analysis = analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap();
    let names = |ops: &[OpId]| {
        let names: Vec<&str> = ops
            .iter()
            .map(|&op| &*analysis.graph.ops[op].name)
            .collect();
        names.join(" ")
    };
    (analysis.fused.kernels.iter())
        .map(|kernel| names(&kernel.ops))
        .collect()
}

#[test]
fn a_change_by_hand_is_one_of_every_round() {
    let cut = proposal(TEXT, Policy::Rules, |outcome| Change::Cut {
        producer: named(outcome, "a.2"),
        consumer: named(outcome, "y.2"),
    });
    let text = cut.text.unwrap();
    // By the rules the last round's sum takes along what follows the block.
    let told = "Cut before y.2 in every iteration, cut where iterations end: costs ";
    assert!(cut.done.starts_with(told), "{}", cut.done);
    assert_eq!(
        kernel_names(&text),
        ["m.1 a.1", "y.1", "m.2 a.2", "y.2", "m.3 a.3", "y.3", "z t"]
    );
    assert_eq!(
        text,
        TEXT.replace("matmul(x, w)", "matmul(x, w) @kernel 1")
            .replace("relu(m)", "relu(m) @kernel 1")
            .replace("exp(y)", "exp(y) @kernel 7")
            .replace("tanh(z)", "tanh(z) @kernel 7")
    );
    let merge = |[a, b]: [&str; 2]| {
        let [a, b] = [a.to_owned(), b.to_owned()];
        proposal(&text, Policy::Manual, move |outcome| {
            let partition = &outcome.analysis.as_ref().unwrap().partition;
            let kernel = |name| partition.kernel_of[named(outcome, name)];
            Change::Merge(kernel(&a), kernel(&b))
        })
    };
    let merged = merge(["a.3", "y.3"]);
    assert!(
        merged.words.contains("in every iteration saves"),
        "{}",
        merged.words
    );
    assert_eq!(
        kernel_names(&merged.text.unwrap()),
        ["m.1 a.1 y.1", "m.2 a.2 y.2", "m.3 a.3 y.3", "z t"]
    );
    let across = merge(["y.3", "z"]);
    assert_eq!(
        (across.text, &*across.words),
        (
            None,
            "Merging kernels 6 and 7 is not possible: y.3 and z would share a kernel across iterations, but a kernel mark applies within one iteration."
        )
    );
}

#[test]
fn rounds_with_different_kernels_are_not_changed_by_hand() {
    // Behind the block two ops read what the last round writes in between.
    let text =
        "input x : f16[4, 4]\nrepeat 2 with x = c {\nd = relu(x)\nc = exp(d)\n}\nz = add(c, d)\n";
    let refused = proposal(text, Policy::Rules, |outcome| Change::Cut {
        producer: named(outcome, "d.1"),
        consumer: named(outcome, "c.1"),
    });
    assert_eq!(
        (refused.text, &*refused.words),
        (
            None,
            "Cutting before c.1 is not possible: the kernels of c.1 and c.2 differ, but a kernel mark applies to every iteration."
        )
    );
}

#[test]
fn what_is_exported_is_written_out_and_has_the_same_kernels() {
    let marked = TEXT
        .replace("matmul(x, w)", "matmul(x, w) @kernel 2")
        .replace("relu(m)", "relu(m) @kernel 2")
        .replace("exp(y)", "exp(y) @kernel 2")
        .replace("tanh(z)", "tanh(z) @kernel 2");
    let options = Options::of_policy(Policy::Manual);
    let program = parse(&marked).program;
    let outcome = analyze_program(&program, &options);
    let before = outcome.analysis.unwrap();
    let list = OpList::new(&before.graph).with_attributes(&program, &outcome.statement_of_op);
    let list: import::OpList =
        serde_json::from_value(serde_json::to_value(&list).unwrap()).unwrap();
    let opened = print(&program_of_op_list(&list).program);
    let after = analyze_program(&parse(&opened).program, &options)
        .analysis
        .unwrap();
    let unmarked = |ops: &[Op]| -> Vec<Op> {
        let unmark = |op: &Op| Op {
            kernel: None,
            mark_iteration: 0,
            ..op.clone()
        };
        ops.iter().map(unmark).collect()
    };
    assert_eq!(
        unmarked(after.graph.ops.as_slice()),
        unmarked(before.graph.ops.as_slice()),
        "{opened}"
    );
    assert_eq!(after.partition, before.partition, "{opened}");
    assert_eq!(after.fused, before.fused);
    let marks: Vec<u32> = after.graph.ops.iter().filter_map(|op| op.kernel).collect();
    assert_eq!(marks, [1, 1, 3, 3, 4, 4, 2, 2]);
    let kernel_of = |name: &str| {
        let ops = &after.graph.ops;
        after.partition.kernel_of[ops.ids().find(|&op| ops[op].name == name).unwrap()]
    };
    assert_eq!(
        (kernel_of("m.1"), kernel_of("a.1")),
        (KernelId::new(0), KernelId::new(0))
    );
}
