//! The reference of the functions.

use fuseline_core::model::functions::Function;
use fuseline_core::notation;
use fuseline_view::present::functions::function_rows;
use strum::VariantArray;

#[test]
fn every_function_is_described() {
    let rows = function_rows("");
    assert_eq!(rows.len(), Function::VARIANTS.len());
    for (row, function) in rows.iter().zip(Function::VARIANTS) {
        assert_eq!(row.name, function.name());
        assert_eq!(
            row.attributes.len(),
            function.row().attributes.len(),
            "{}",
            row.name
        );
        assert!(
            !row.shape.is_empty() && !row.flops_source.is_empty(),
            "{}",
            row.name
        );
    }
}

#[test]
fn a_function_says_how_it_is_called_and_what_it_costs() {
    let row = |name| {
        function_rows(name)
            .into_iter()
            .find(|row| row.name == name)
            .unwrap()
    };
    for (name, signature, flops) in [
        (
            "gelu",
            "gelu(x, [approximate])",
            "8 for each element of the result",
        ),
        (
            "softmax",
            "softmax(x, [axis])",
            "5 for each element of the input",
        ),
        ("linear", "linear(x, weight, [bias])", ""),
        ("concat", "concat(a, b, …, [axis])", ""),
        (
            "where",
            "where(condition, a, b)",
            "1 for each element of the result",
        ),
        (
            "pow",
            "pow(a, [b], [exponent])",
            "3 for each element of the result",
        ),
    ] {
        let row = row(name);
        assert_eq!([&*row.signature, &*row.flops], [signature, flops]);
    }
}

/// The inputs of each signature, without those in brackets, are a call that can be read.
#[test]
fn every_signature_is_a_call() {
    for row in function_rows("") {
        let open = row.signature.find('(').unwrap();
        let inputs = row.signature[open + 1..].trim_end_matches(')').split(", ");
        let needed: Vec<&str> = inputs
            .filter(|input| !input.is_empty() && !input.starts_with('[') && *input != "…")
            .collect();
        let parsed = notation::parse(&format!("y = {}({})\n", row.name, needed.join(", ")));
        assert!(
            parsed.diagnostics.is_empty(),
            "{}: {:?}",
            row.signature,
            parsed.diagnostics
        );
        assert_eq!(
            parsed.program.ops[0].inputs.len(),
            needed.len(),
            "{}",
            row.signature
        );
    }
}

#[test]
fn functions_are_found_by_name_first_and_then_by_what_they_do() {
    let names =
        |wanted| -> Vec<&str> { function_rows(wanted).iter().map(|row| row.name).collect() };
    assert_eq!(names("SoftMax")[0], "softmax");
    assert!(names("swish").contains(&"silu"));
    assert!(names("matmul").contains(&"linear"), "by op type");
    assert!(names("no such thing").is_empty());
}
