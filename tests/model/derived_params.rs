//! Params that follow from others: `param D = H / heads`.

use fuseline_codegen::call::calls;
use fuseline_core::notation::edit::set_param;
use fuseline_core::notation::{parse, print};
use fuseline_core::resolve::resolve;
use fuseline_core::{Code, Options, analyze_program};

const TEXT: &str = "\
param H     = 1024 in 64..8192 step 64
param heads = 16 in 1..128 dividing H
param D = H/heads
param twice = 2*D
input x : f16[heads, D]
y = reshape(x) : f16[H]
z = slice(x, end=D, axis=1)
w = scale(x, factor=1/D)
v = full() : f16[twice]
";

fn shapes(text: &str) -> Vec<Vec<u64>> {
    let resolved = resolve(&parse(text).program);
    assert_eq!(resolved.diagnostics, []);
    resolved.ops.iter().map(|op| op.shape.clone()).collect()
}

#[test]
fn sizes_follow_from_other_params() {
    let expected = [vec![1024], vec![16, 64], vec![16, 64], vec![128]];
    assert_eq!(shapes(TEXT), expected);
    assert_eq!(parse(TEXT).diagnostics, []);
    assert_eq!(
        print(&parse(TEXT).program).lines().count(),
        TEXT.lines().count()
    );
    let printed = print(&parse(TEXT).program);
    assert_eq!(shapes(&printed), expected);
    assert_eq!(print(&parse(&printed).program), printed);
    // A factor may be no size: 1/64.
    let outcome = analyze_program(&parse(TEXT).program, &Options::default());
    assert!(outcome.analysis.is_some(), "{:?}", outcome.diagnostics);
    let calls = calls(&parse(TEXT).program, &outcome.statement_of_op);
    let factors = calls
        .iter()
        .filter_map(|call| call.number(fuseline_core::model::functions::AttributeName::Factor));
    assert!(factors.collect::<Vec<f64>>().contains(&(1.0 / 64.0)));
}

/// A slider sets the params alone, and what follows from them moves along.
#[test]
fn a_slider_moves_what_follows() {
    let program = parse(TEXT).program;
    let names: Vec<&str> = program
        .params
        .iter()
        .map(|param| &*param.name.text)
        .collect();
    assert_eq!(names, ["H", "heads"]);
    let moved = set_param(TEXT, &program, 0, 2048);
    assert_eq!(
        shapes(&moved),
        [vec![2048], vec![16, 128], vec![16, 128], vec![256]]
    );
}

#[test]
fn what_has_no_size_gets_one_error() {
    for (line, code, message) in [
        (
            "param D = H / 3",
            Code::InexactDivision,
            "`H/3` is 1024 / 3, which leaves a remainder of 1",
        ),
        (
            "param D = H - 1024",
            Code::NonPositiveSize,
            "`H - 1024` is 0",
        ),
        (
            "param D = G / 2",
            Code::UnknownParam,
            "no param is called `G`",
        ),
        (
            "param D = D + 1",
            Code::UnknownParam,
            "`D` is not computed before this line",
        ),
        (
            "param D = E\nparam E = H",
            Code::UnknownParam,
            "`E` is not computed before this line",
        ),
        ("param D = H\nparam D = H", Code::DuplicateDeclaration, ""),
        (
            "param D = 2*H in 1..64",
            Code::Syntax,
            "`D` follows from other params, so it has no range",
        ),
    ] {
        let text = format!("param H = 1024\n{line}\ninput x : f16[D, D]\ny = relu(x)\n");
        let parsed = parse(&text);
        let all = [parsed.diagnostics, resolve(&parsed.program).diagnostics].concat();
        let [problem] = &all[..] else {
            panic!("{line}: {all:#?}");
        };
        assert_eq!(problem.code, code, "{line}");
        assert!(
            problem.message.contains(message),
            "{line}: {}",
            problem.message
        );
    }
}
