//! The element type of a result of operands of several types, as PyTorch promotes.

#![allow(clippy::float_cmp, reason = "every bit of a rounded number is meant")]

use crate::interpret_functions::run;
use fuseline_codegen::kernel_code::of_program;
use fuseline_core::json::read_json;
use fuseline_core::model::functions::Function;
use fuseline_core::notation::import::{OpList, program_of_op_list};
use fuseline_core::notation::{parse, print};
use fuseline_core::{Analysis, DType, KernelId, OpId, Options, Policy, analyze_program};
use fuseline_view::present::pytorch::script;
use fuseline_view::present::report::Report;
use std::fmt::Write as _;
use strum::VariantArray;

fn analysis(text: &str) -> Result<Analysis, String> {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let outcome = analyze_program(&parsed.program, &Options::of_policy(Policy::Rules));
    let errors: Vec<String> = (outcome.diagnostics.into_iter())
        .map(|problem| problem.message)
        .collect();
    outcome
        .analysis
        .filter(|_| errors.is_empty())
        .ok_or(errors.join("; "))
}

/// A program of one call with these inputs, which are called a, b and so on.
fn program(inputs: &[&str], call: &str) -> String {
    let mut text = String::new();
    for (name, own) in ["a", "b", "c"].iter().zip(inputs) {
        writeln!(text, "input {name} : {own}").unwrap();
    }
    text + &format!("y = {call}\n")
}

/// The type of its result.
fn type_of(inputs: &[&str], call: &str) -> Result<&'static str, String> {
    let analysis = analysis(&program(inputs, call))?;
    let last = analysis.graph.ops.iter().last().unwrap();
    Ok(last.element_type().unwrap().name())
}

/// `torch.promote_types` of PyTorch 2.11. It promotes no f8 and has no numbers of 4 bits.
#[test]
fn two_types_are_promoted_as_in_pytorch() {
    let ordered = [
        "bool", "i4", "i8", "i32", "i64", "f4", "f8e4m3", "f16", "f32", "f64",
    ];
    for (place, lower) in ordered.iter().enumerate() {
        for higher in &ordered[place..] {
            let (lower, higher): (DType, DType) = (lower.parse().unwrap(), higher.parse().unwrap());
            assert_eq!(lower.promoted(higher), higher);
            assert_eq!(higher.promoted(lower), higher);
        }
    }
    // Neither of two formats of one size holds the other.
    assert_eq!(DType::F16.promoted(DType::Bf16), DType::F32);
    assert_eq!(DType::F8e4m3.promoted(DType::F8e5m2), DType::F32);
    assert_eq!(DType::Bf16.promoted(DType::F8e5m2), DType::Bf16);
    for &own in DType::VARIANTS {
        assert_eq!(own.promoted(own), own);
        for &other in DType::VARIANTS {
            assert_eq!(own.promoted(other), other.promoted(own));
        }
    }
}

/// The types of the results of PyTorch 2.11. It refuses f8 beside another float and a condition
/// that is no bool; the types of 4 bits are not its own.
#[rustfmt::skip]
const PROMOTED: &[(&[&str], &str, &str)] = &[
    (&["bf16[64, 4096]", "f32[64, 1]"], "mul(a, b)", "f32"),
    (&["f32[64, 1]", "bf16[64, 4096]"], "mul(a, b)", "f32"),
    (&["bool[64, 4096]", "bf16[64, 4096]"], "mul(a, b)", "bf16"),
    (&["bf16[64, 4096]", "bool[64, 4096]"], "mul(a, b)", "bf16"),
    (&["i64[64, 4096]", "bf16[64, 4096]"], "add(a, b)", "bf16"),
    (&["i8[64]", "i32[64]"], "maximum(a, b)", "i32"),
    (&["f16[64]", "bf16[64]"], "sub(a, b)", "f32"),
    (&["f64[64]", "f32[64]"], "div(a, b)", "f64"),
    (&["f8[64]", "bf16[64]"], "mul(a, b)", "bf16"),
    // A tensor without dimensions counts only if its category is higher.
    (&["bf16[64]", "f32[]"], "mul(a, b)", "bf16"),
    (&["f64[]", "f16[64]"], "mul(a, b)", "f16"),
    (&["i8[64]", "i64[]"], "mul(a, b)", "i8"),
    (&["i64[64]", "f16[]"], "mul(a, b)", "f16"),
    (&["bool[64]", "i32[]"], "mul(a, b)", "i32"),
    (&["bf16[]", "f32[]"], "mul(a, b)", "f32"),
    (&["bf16[1]", "f32[1]"], "mul(a, b)", "f32"),
    // So does a number, whose type is f32 or i64.
    (&["f16[64]"], "mul(a, 0.5)", "f16"),
    (&["i32[64]"], "mul(a, 2)", "i32"),
    (&["i32[64]"], "mul(a, 0.5)", "f32"),
    (&["i32[64]"], "sub(1e3, a)", "f32"),
    (&["bool[64]"], "add(a, 1)", "i64"),
    (&["f16[]"], "add(a, 1e3)", "f16"),
    // The condition of a choice does not count, nor do operands of a comparison.
    (&["bool[64]", "bf16[64]", "f32[64]"], "where(a, b, c)", "f32"),
    (&["bool[64]", "i64[64]", "bf16[64]"], "where(a, b, c)", "bf16"),
    (&["bool[64]", "bf16[64]"], "where(a, b, -inf)", "bf16"),
    (&["bool[64]", "bf16[64]"], "where(a, 0, b)", "bf16"),
    (&["f64[64]", "bf16[64]", "f32[64]"], "where(a, b, c)", "f32"),
    (&["bf16[64]", "f32[64]"], "lt(a, b)", "bool"),
    (&["bf16[4, 64]", "f32[4, 64]"], "mask(a, b)", "f32"),
    (&["bf16[4, 64]", "f32[4, 64]", "f32[4, 64]"], "rotary(a, b, c)", "f32"),
    (&["bf16[4, 64]", "f32[4, 64]"], "concat(a, b)", "f32"),
    // Functions whose type does not depend on all operands.
    (&["bf16[64]", "f32[64]"], "copy(a, b)", "bf16"),
    (&["i4[64, 64]", "bf16[64]"], "dequantize(a, b)", "bf16"),
    (&["i64[64]", "bf16[64, 4]"], "embedding(a, b)", "bf16"),
    (&["bf16[4, 64]", "f32[64]", "f32[64]"], "layer_norm(a, b, c)", "bf16"),
    (&["bf16[4, 8, 4, 4]", "f32[8]", "f32[8]"], "batch_norm(a, b, c)", "bf16"),
    // In place, a tensor keeps its type.
    (&["bf16[64]", "f32[64]"], "add_(a, b)", "bf16"),
    (&["f32[64]", "bf16[64]"], "add_(a, b)", "f32"),
    (&["bf16[64, 4]", "i64[2]", "bf16[64, 2]"], "index_copy_(a, b, c, axis=1)", "bf16"),
    // Functions with fractions as their values give f32 of integers.
    (&["i64[64]"], "exp(a)", "f32"),
    (&["bool[64]"], "sum(a)", "i64"),
    (&["bool[64]"], "prod(a)", "i64"),
    (&["bool[64]"], "cumsum(a)", "i64"),
    (&["bool[64]"], "sigmoid(a)", "f32"),
    (&["i32[64]"], "softsign(a)", "f32"),
    (&["f16[64]"], "rsqrt(a)", "f16"),
    (&["i64[64]"], "relu(a)", "i64"),
    (&["i64[64]", "i64[64]"], "div(a, b)", "f32"),
    (&["bool[64]", "i8[]"], "div(a, b)", "f32"),
    (&["i64[64]"], "xlogy(a, a)", "f32"),
    (&["bool[64]", "i8[64]"], "logaddexp(a, b)", "f32"),
    (&["f16[64]", "f32[]"], "xlogy(a, b)", "f16"),
    (&["i32[64]"], "div(a, 2)", "f32"),
    (&["i32[64]"], "div(2, a)", "f32"),
    (&["i8[64]", "f16[]"], "div(a, b)", "f16"),
    (&["i64[64]", "i64[64]"], "trunc_divide(a, b)", "i64"),
    (&["i64[64]"], "floor_divide(a, 2)", "i64"),
    (&["i64[64]"], "floor_divide(a, 2.0)", "f32"),
    (&["bool[64]"], "remainder(a, 2)", "i64"),
    // Sums and products of integers and truth values are i64.
    (&["i8[4, 64]"], "sum(a)", "i64"),
    (&["i32[64]"], "sum(a, keepdim=false)", "i64"),
    (&["i8[64]"], "prod(a)", "i64"),
    (&["i32[64]"], "cumsum(a)", "i64"),
    (&["f16[64]"], "sum(a)", "f16"),
    (&["i8[64]"], "max(a)", "i8"),
    // A number in an attribute is an operand.
    (&["i64[64]"], "clamp(a, min=0.5)", "f32"),
    (&["i64[64]"], "clamp(a, min=0, max=1.5)", "f32"),
    (&["i32[64]"], "clamp(a, min=0, max=9)", "i32"),
    (&["bool[64]"], "clamp(a, min=0)", "i64"),
    (&["f16[64]"], "clamp(a, min=0.5)", "f16"),
    (&["bool[64]"], "scale(a, factor=2)", "i64"),
    (&["bool[64]"], "scale(a, factor=0.5)", "f32"),
    (&["i8[64]"], "scale(a, factor=2)", "i8"),
    (&["i8[64]"], "scale(a, factor=1/2)", "f32"),
    (&["i8[64]"], "scale(a, factor=4/2)", "f32"),
    (&["bf16[64]"], "scale(a, factor=1/2)", "bf16"),
    (&["i64[64]"], "shift(a, amount=-3)", "i64"),
    (&["i64[64]"], "shift(a, amount=-0.5)", "f32"),
    (&["bool[64]"], "shift(a, amount=1)", "i64"),
    (&["i8[64]"], "pow(a, exponent=2)", "i8"),
    (&["i8[64]"], "pow(a, exponent=2.0)", "f32"),
    (&["bool[64]"], "pow(a, exponent=2)", "i64"),
    (&["bool[64]"], "square(a)", "i64"),
    (&["i8[64]"], "square(a)", "i8"),
    (&["f16[64]"], "square(a)", "f16"),
    (&["bool[64]"], "sign(a)", "bool"),
    (&["i64[64]"], "scale_(a, factor=0.5)", "i64"),
];

#[test]
fn a_result_has_the_type_to_which_its_operands_are_promoted() {
    for (inputs, call, expected) in PROMOTED {
        assert_eq!(type_of(inputs, call), Ok(*expected), "{inputs:?} {call}");
    }
}

/// Through a list of ops in JSON, each of which states its type.
#[test]
fn a_list_of_ops_keeps_functions_and_types() {
    for (inputs, call, expected) in PROMOTED {
        let text = program(inputs, call);
        let before = analysis(&text).unwrap();
        let report = serde_json::to_string(&Report::new(&before, &[], &text)).unwrap();
        let read = program_of_op_list(&read_json::<OpList>(&report).unwrap());
        let op = &before.graph.ops[OpId::new(0)];
        let has_operands = |function: Function| !function.operand_attributes().is_empty();
        // A list has no numbers among its inputs, and of its attributes none that is an operand.
        if op.literals.is_empty() && !op.function.is_some_and(has_operands) {
            assert_eq!(read.diagnostics, [], "{text}");
            let after = analysis(&print(&read.program)).unwrap();
            let [op, own] = [&before, &after].map(|own| &own.graph.ops[OpId::new(0)]);
            assert_eq!(
                (op.function, op.in_place),
                (own.function, own.in_place),
                "{text}"
            );
            assert_eq!(own.dtype.unwrap().name(), *expected, "{text}");
        }
    }
    let list = r#"{"tensors": {"x": {"shape": [4], "dtype": "bf16", "role": "input"}, "s": {"shape": [4], "dtype": "f32", "role": "input"}},
        "ops": [{"name": "y", "op_type": "elementwise", "function": "mul", "inputs": ["x", "s"], "output": "y", "shape": [4], "dtype": "bf16"}]}"#;
    let read = program_of_op_list(&read_json::<OpList>(list).unwrap());
    let [warning] = &read.diagnostics[..] else {
        panic!("{:?}", read.diagnostics)
    };
    let expected = "`y`: the element types do not fit `mul`, so the op counts as any elementwise";
    assert_eq!(warning.message, expected);
}

/// PyTorch 2.11 gives these expressions the type of the result itself.
#[test]
fn a_script_casts_no_result_that_has_its_type() {
    for (inputs, call, expected) in PROMOTED {
        // PyTorch calculates nothing in f8 and in 4 bits, and takes only conditions of truths. The
        // script writes whole numbers without a point.
        let is_own = (inputs.iter()).any(|own| own.starts_with("f8") || own.starts_with("i4"))
            || call.starts_with("where") && !inputs[0].starts_with("bool")
            || ["4/2", ".0", "1e3"]
                .iter()
                .any(|number| call.contains(number))
            || call.contains("_(");
        if is_own {
            continue;
        }
        let text = program(inputs, call);
        let program = parse(&text).program;
        let outcome = analyze_program(&program, &Options::default());
        let analysis = outcome.analysis.unwrap();
        let written = script("a program", &program, &analysis, &outcome.statement_of_op).unwrap();
        let line = written.lines().find(|line| line.starts_with("    y = "));
        let line = line.unwrap();
        assert!(
            !line.contains(".to("),
            "{inputs:?} {call}: {line} for {expected}"
        );
    }
}

#[test]
fn a_stated_type_is_the_promoted_one() {
    let scaled = |stated: &str| {
        type_of(
            &["bf16[64, 4096]", "f32[64, 1]"],
            &format!("div(a, b) : {stated}[64, 4096]"),
        )
    };
    assert_eq!(scaled("f32"), Ok("f32"));
    for wrong in ["bf16", "f64", "i64"] {
        let message = scaled(wrong).unwrap_err();
        assert_eq!(
            message,
            format!("`y` is annotated as {wrong}, but `div` gives f32")
        );
    }
}

/// The operand without a declaration has whatever type gives the stated one.
#[test]
fn an_undeclared_operand_may_promote_the_result() {
    for stated in ["bf16", "f32"] {
        let text = format!("input a : bf16[64]\ny = add(a, b) : {stated}[64]\n");
        let outcome = analyze_program(&parse(&text).program, &Options::default());
        let [warning] = &outcome.diagnostics[..] else {
            panic!("{:?}", outcome.diagnostics)
        };
        let proposed = warning.fixes.first().map(|fix| fix.label.clone());
        assert_eq!(proposed, Some(format!("Declare `input b : {stated}[64]`")));
    }
    let text = "input a : f32[64]\ny = add(a, b) : bf16[64]\n";
    let outcome = analyze_program(&parse(text).program, &Options::default());
    let messages = outcome.diagnostics.iter().map(|own| own.message.clone());
    let expected = "`y` is annotated as bf16, but `add` gives f32";
    assert!(
        messages.into_iter().any(|own| own == expected),
        "{:?}",
        outcome.diagnostics
    );
}

/// A proposal keeps the types of all readers.
#[test]
fn a_proposed_type_changes_no_result() {
    let proposed = |text: &str| {
        let outcome = analyze_program(&parse(text).program, &Options::default());
        let mut labels = outcome.diagnostics.iter().flat_map(|own| &own.fixes);
        labels.find_map(|fix| fix.label.strip_prefix("Declare `").map(str::to_owned))
    };
    // `b` may be as wide as bf16 for both readers.
    let text = "input a : bf16[64]\ninput w : f32[64]\ny = add(w, b) : f32[64]\nz = mul(a, b) : bf16[64]\n";
    assert_eq!(proposed(text).as_deref(), Some("input b : bf16[64]`"));
    // It would have to be f32 for one and not for the other.
    let text = "input a : bf16[64]\ny = add(a, b) : f32[64]\nz = mul(a, b) : bf16[64]\n";
    assert_eq!(proposed(text), None);
}

/// A bf16 holds 1 and not 1 + 2^-12.
#[test]
fn bytes_values_and_code_follow_the_promoted_type() {
    let text = "input x : bf16[1, 64]\ninput s : f32[1, 1]\ny = mul(x, s)\n";
    let analysis = analysis(text).unwrap();
    assert_eq!(analysis.fused.traffic.bytes_written, 64 * 4);
    let given = [("x", &[1.0; 64][..]), ("s", &[1.0 + 0.5_f64.powi(12)])];
    let ran = run(text, &given, &analysis.options);
    let y = ran.tensor_named("y").unwrap();
    let stored = &ran.tensors[y].as_ref().unwrap().fused;
    assert_eq!(stored.first[0], 1.0 + 0.5_f64.powi(12));
    assert_eq!(stored.error.max_abs, 0.0);
    let program = parse(text).program;
    let outcome = analyze_program(&program, &analysis.options);
    let written = script("a program", &program, &analysis, &outcome.statement_of_op).unwrap();
    assert!(written.contains("y = x * s\n"), "{written}");
    let (statements, partition) = (&outcome.statement_of_op, &analysis.partition);
    let kernels = of_program(&program, &analysis.graph, statements, partition, false);
    let kernel = kernels[KernelId::new(0)]
        .as_ref()
        .unwrap()
        .as_ref()
        .unwrap();
    let types: Vec<DType> = kernel.arguments.iter().map(|own| own.dtype).collect();
    assert_eq!(types, [DType::Bf16, DType::F32, DType::F32]);
}

/// PyTorch 2.11 refuses integers here, on a CPU, but for bilinear interpolation of bytes. `exp`,
/// `sigmoid`, `tanh`, `softsign` and the like give floats, `relu` integers.
#[test]
fn functions_of_floats_refuse_integers() {
    let refuse = "gelu gelu_erf silu leaky_relu elu selu softplus log_sigmoid mish hardsigmoid hardswish \
                  dropout mean var softmax log_softmax layer_norm rms_norm l2_norm group_norm batch_norm_train \
                  adaptive_avg_pool2d adaptive_max_pool2d interpolate_bilinear";
    let of_one = Function::VARIANTS.iter().filter(|own| {
        let row = own.row();
        row.min_inputs == 1 && own.input_dtype(0).is_none()
    });
    let of_one = of_one.map(|own| {
        let name = own.name();
        match name {
            "interpolate" | "interpolate_bilinear" => (name, format!("{name}(a, times=2)")),
            _ => (name, format!("{name}(a)")),
        }
    });
    for (name, call) in of_one {
        for dtype in ["i64", "i8", "bool"] {
            let found = type_of(&[&format!("{dtype}[2, 4, 6, 8]")], &call);
            let is_refused = found.is_err_and(|message| message.contains("takes floats"));
            let is_listed = refuse.split(' ').any(|own| own == name);
            assert_eq!(is_refused, is_listed, "{call} of {dtype}");
        }
    }
    let mask = ["f16[1, 8, 6]", "f16[1, 8, 6]", "bool[8, 8]"];
    assert_eq!(type_of(&mask, "sdpa(a, b, b, c)"), Ok("f16"));
}
