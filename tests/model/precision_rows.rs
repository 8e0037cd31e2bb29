//! What is told about a run in numbers.

use crate::interpret_functions::run;
use fuseline_codegen::interpret::Setup;
use fuseline_core::examples::example;
use fuseline_core::notation::parse;
use fuseline_core::{Options, Policy, TensorId, analyze_program};
use fuseline_view::present::precision::{
    number_rows, precision_row_count, precision_rows, precision_sentence, roundings, run_notes,
};

const TEXT: &str = "input x : f16[1, 2]\nweight w : f16[2, 1]\nweight b : f16[1]\n\
                    y = matmul(x, w)\nbiased = add(y, b)\nout = relu(biased)";
const GIVEN: &[(&str, &[f64])] = &[("x", &[2048.0, 1.0]), ("w", &[1.0, 1.0]), ("b", &[1.5])];

#[test]
fn a_row_says_where_a_tensor_is_rounded_and_what_that_costs() {
    let text = TEXT;
    let options = Options::of_policy(Policy::Rules);
    let ran = run(text, GIVEN, &options);
    let partition = analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap()
        .partition;
    let rows = precision_rows(&ran, &partition, 10);
    assert_eq!(precision_row_count(&ran), 3);
    let cells: Vec<[&str; 5]> = (rows.iter())
        .map(|row| {
            [
                &*row.name,
                &*row.fused,
                &*row.unfused_error.value,
                &*row.fused_error.value,
                &*row.ratio.value,
            ]
        })
        .collect();
    assert_eq!(
        cells,
        [
            ["y", "kept in f32", "4.88e−4", "0", "exact when fused"],
            // 2050.5 unfused: 2048 + 1.5 becomes 2050; fused it is 2050.5 until it is stored.
            ["biased", "kept in f32", "2.44e−4", "0", "exact when fused"],
            ["out", "stored in f16", "2.44e−4", "2.44e−4", "1.00×"],
        ]
    );
    assert_eq!(rows[0].largest, "largest difference 1 unfused, 0 fused");
    assert_eq!(
        precision_sentence(&ran),
        "The error of the result `out` is the same when fused: 2.44e−4 unfused, 2.44e−4 fused."
    );
    assert_eq!(
        roundings(&ran, &partition, 10),
        ["Kernel 1 rounds `out` to f16 and keeps `y`, `biased` unrounded."]
    );
    let y = number_rows(&ran, ran.tensor_named("y").unwrap());
    assert_eq!(
        (&*y[0].exact.value, &*y[0].unfused.value, &*y[0].fused.value),
        ("2,049", "2,048", "2,049")
    );
    assert_eq!(number_rows(&ran, TensorId::new(99)), []);
}

/// Fused attention keeps the probabilities on chip, but matrix units take them in the type of the
/// tensor.
#[test]
fn what_a_matmul_reads_on_chip_is_rounded_for_it() {
    let text = example("sdpa_flash").unwrap().text;
    let options = Options::of_policy(Policy::Inductor);
    let ran = run(text, &[], &options);
    let outcome = analyze_program(&parse(text).program, &options);
    let partition = outcome.analysis.unwrap().partition;
    assert_eq!(
        roundings(&ran, &partition, 10),
        [
            "Kernel 1 rounds `out` to bf16, keeps `scores`, `scaled` unrounded and rounds `probs` to bf16 for the matmul alone."
        ]
    );
    let rows = precision_rows(&ran, &partition, 10);
    let fused: Vec<[&str; 2]> = (rows.iter()).map(|row| [&*row.name, &*row.fused]).collect();
    assert_eq!(
        fused,
        [
            ["scores", "kept in f32"],
            ["scaled", "kept in f32"],
            ["probs", "kept in f32, bf16 for the matmul"],
            ["out", "stored in bf16"],
        ]
    );
}

#[test]
fn overflow_and_missing_values_are_told() {
    let text = "input x : f16[1, 2]\npower = exp(x)\ntotal = sum(power)\ny = div(power, total)";
    let options = Options::of_policy(Policy::Inductor);
    let ran = run(text, &[("x", &[12.0, 0.0])], &options);
    assert!(precision_sentence(&ran).starts_with(
        "The result `y` overflows when each op stores its output. Fused, its error is "
    ));
    let partition = analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap()
        .partition;
    let rows = precision_rows(&ran, &partition, 1);
    assert_eq!(
        (&*rows[0].unfused_error.value, &*rows[0].ratio.value),
        ("1 of 2 overflow", "no overflow when fused")
    );
    assert_eq!(
        number_rows(&ran, ran.tensor_named("power").unwrap())[0]
            .unfused
            .value,
        "∞"
    );
    let ran = run(
        "input x : f16[2]\ny = elementwise(x) : f16[2]",
        &[],
        &Options::default(),
    );
    assert_eq!(
        precision_sentence(&ran),
        "No result of the program has a value."
    );
    let notes = run_notes(&ran, &Setup::default());
    assert_eq!(
        notes[1],
        "`y` has no value: `elementwise` does not say what it computes: use a function such as `relu`."
    );
}
