//! Loops of ONNX files: written out, as a block that repeats, or one iteration of them.

use crate::onnx::{analysed, converted, statements};
use crate::onnx_files::{Model, attribute_graph, attribute_int, field, ints, node, typed, weight};

/// A body that multiplies its state by `w`; `keeps` is the op that gives the next condition.
fn body(keeps: &str) -> Vec<u8> {
    Model {
        inputs: vec![typed("i i64[]"), typed("go bool[]"), typed("s f32[4, 8]")],
        nodes: vec![
            node(keeps, "go", "goes", &[]),
            node("MatMul", "s w", "p", &[]),
            node("Relu", "p", "t", &[]),
        ],
        outputs: vec![field(1, "goes"), field(1, "t")],
        ..Model::default()
    }
    .graph()
}

fn model(count: &[Vec<u8>], inputs: &[&str], body: &[u8]) -> Model {
    let inputs = [&["x f32[4, 8]"], inputs].concat();
    Model {
        inputs: inputs.iter().map(|input| typed(input)).collect(),
        weights: [&[weight("w", "f32[8, 8]")], count].concat(),
        nodes: vec![node(
            "Loop",
            "count - x",
            "y",
            &[attribute_graph("body", body)],
        )],
        outputs: vec![field(1, "y")],
        ..Model::default()
    }
}

/// The first iteration reads the input, the others the results of each other.
#[test]
fn a_known_number_of_iterations_is_a_block() {
    let text = converted(&model(&[ints("count", &[3])], &[], &body("Identity")).bytes()).text;
    let ops = text.lines().skip_while(|line| !line.starts_with("repeat"));
    let ops: Vec<&str> = ops.map(str::trim).collect();
    assert_eq!(
        ops.join("\n"),
        "repeat 2 with t = t_2 {\np_2 = matmul(t, w)\nt_2 = relu(p_2)\n}",
        "{text}"
    );
}

#[test]
fn of_a_loop_that_the_data_end_one_iteration_counts() {
    let note = "1 loop has a number of iterations known only at run time. \
                Fuseline counts one iteration, so all totals are lower bounds.";
    let open = converted(&model(&[], &["count i64[]"], &body("Identity")).bytes());
    let ended = converted(&model(&[ints("count", &[3])], &[], &body("Not")).bytes());
    for converted in [open, ended] {
        assert!(converted.summary.ends_with(note), "{}", converted.summary);
        let ops = converted.text.lines().filter(|line| line.contains(" = "));
        let ops = ops.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        // An op of unknown shape stands for the other iterations.
        assert_eq!(
            ops.collect::<Vec<_>>().join("\n"),
            "p = matmul(x, w)\ny = relu(p)\nfurther_iterations = opaque(y, name=Loop)"
        );
        assert!(converted.is_incomplete);
        assert!(analysed(&converted.text, None).is_partial());
    }
}

/// Each iteration reads a row and gives one.
#[test]
fn a_scan_reads_rows_and_stacks_them() {
    let body = Model {
        inputs: vec![typed("s f32[8]"), typed("r f32[8]")],
        nodes: vec![node("Add", "s r", "t", &[]), node("Exp", "t", "e", &[])],
        outputs: vec![field(1, "t"), field(1, "e")],
        ..Model::default()
    };
    let scan = node(
        "Scan",
        "s0 x",
        "last y",
        &[
            attribute_graph("body", &body.graph()),
            attribute_int("num_scan_inputs", 1),
        ],
    );
    assert_eq!(
        statements(&["s0 f32[8]", "x f32[2, 8]"], &[], &[scan], "last y"),
        "x_row_slice = slice(x, start=0, end=1, axis=0)\n\
         x_row = reshape(x_row_slice, shape=[8])\n\
         t = add(s0, x_row)\n\
         e = exp(t)\n\
         x_row_2_slice = slice(x, start=1, end=2, axis=0)\n\
         x_row_2 = reshape(x_row_2_slice, shape=[8])\n\
         last = add(t, x_row_2)\n\
         e_2 = exp(last)\n\
         e_stacked_0 = part(e) : f32[1, 8]\n\
         e_stacked_1 = part(e_2) : f32[1, 8]\n\
         y = concat(e_stacked_0, e_stacked_1, axis=0)"
    );
}
