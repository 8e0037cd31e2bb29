//! Finding ops and tensors by name.

use fuseline_core::Options;
use fuseline_core::analyze_program;
use fuseline_core::notation::parse;
use fuseline_view::present::search::{Found, found, position_words};

const TEXT: &str = "input x : f16[8, 8]
weight W_up : f16[8, 8]
weight w_down : f16[8, 8]
up: h = matmul(x, W_up)
act = gelu(h)
down: y = matmul(act, w_down)
z = add(y, x)";

fn names(query: &str) -> Vec<String> {
    let analysis = analyze_program(&parse(TEXT).program, &Options::default())
        .analysis
        .unwrap();
    let graph = &analysis.graph;
    let name = |what: &Found| match *what {
        Found::Op(op) => graph.ops[op].name.clone(),
        Found::Tensor(tensor) => graph.tensor_name(tensor).to_owned(),
    };
    found(graph, query).iter().map(name).collect()
}

#[test]
fn names_functions_outputs_and_tensors_are_found_in_execution_order() {
    assert_eq!(names("matmul"), ["up", "down"], "functions");
    assert_eq!(
        names("w_"),
        ["W_up", "w_down"],
        "tensors from outside, each once"
    );
    assert_eq!(
        names("a"),
        ["up", "act", "down", "z"],
        "names and functions"
    );
    assert_eq!(names("nothing of the kind"), [""; 0]);
    assert_eq!(names("  "), [""; 0]);
}

#[test]
fn case_does_not_matter_and_whole_names_come_first() {
    assert_eq!(names("w_UP"), ["W_up"]);
    assert_eq!(names("up"), ["up", "W_up"]);
    assert_eq!(names("Y"), ["down"], "an op is found by its output");
    assert_eq!(names(" down "), ["down", "w_down"]);
}

#[test]
fn the_place_is_told() {
    assert_eq!(position_words(0, 0), "no match");
    assert_eq!(position_words(2, 17), "3 of 17");
    assert_eq!(position_words(999, 2_448), "1,000 of 2,448");
    assert_eq!(position_words(6, 3), "3 of 3", "an edit has left fewer");
}
