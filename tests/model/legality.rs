//! Whether the rows of a kernel fit on chip, compared with all ways to schedule its passes.

use crate::ids::ops_of_set;
use crate::random_graph::{fusable_ops, small_device};
use fuseline_core::analysis::limits::limits;
use fuseline_core::fusion::legality;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, FusionOptions, Graph, OpId, OpType, Options, Policy, TensorId, analyze_program,
    build_graph,
};
use proptest::prelude::*;

fn optimum(text: &str) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    let options = Options::of_policy(Policy::Optimal);
    analyze_program(&parsed.program, &options).analysis.unwrap()
}

/// Why the whole program cannot be one kernel.
fn whole(text: &str) -> Result<(), Reason> {
    let analysis = optimum(text);
    let ops: Vec<OpId> = analysis.graph.ops.ids().collect();
    legality::check(&analysis.graph, &analysis.options, &ops)
}

/// Elements of a row that no block holds in f32.
const LONG: usize = 1 << 20;

/// Full-width values that the whole program keeps as one kernel, of rows of [`LONG`] elements.
fn row_values(text: &str) -> usize {
    match whole(text) {
        Ok(()) => {
            let limits = limits(&optimum(text)).unwrap();
            assert_eq!(limits.len(), 1, "{text}");
            usize::try_from(limits.iter().next().unwrap().on_chip_bytes).unwrap() / (4 * LONG)
        }
        Err(Reason::OnChip { values, .. }) => values,
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn a_value_that_lives_across_a_reduction_waits_on_chip() {
    let x = "input x : f32[16, 1048576]\n";
    for (program, values) in [
        // `e` is kept, or `x` if `e` is computed after the sum.
        ("e = exp(x)\nr = sum(x)\ny = mul(e, r)\n", 1),
        ("r = sum(x)\ny = mul(x, r)\n", 1),
        // One sum of two rows is kept instead of both rows.
        (
            "a = relu(x)\nb = exp(x)\nr = sum(a)\nt = sum(b)\nc = add(a, b)\ny = mul(c, r)\nz = mul(y, t)\n",
            1,
        ),
        // Both rows are needed.
        (
            "a = relu(x)\nb = exp(x)\nr = sum(a)\nt = sum(b)\nc = mul(a, r)\nd = mul(b, t)\ny = add(c, d)\n",
            2,
        ),
        // Softmax reads its row again.
        ("e = exp(x)\ns = softmax(e)\n", 1),
        ("s = softmax(x)\ny = add(s, x)\n", 1),
        // One pass computes both sums, so no row is kept.
        ("r = sum(x)\ne = exp(x)\nt = sum(e)\ny = add(r, t)\n", 0),
        // `z` is read once, after the sum.
        ("input z : f32[16, 1048576]\nr = sum(x)\ny = mul(z, r)\n", 0),
    ] {
        assert_eq!(row_values(&[x, program].concat()), values, "{program}");
    }
}

/// A norm multiplies by its weight after it has reduced the row, which the weight is as long as.
#[test]
fn a_weight_of_one_row_waits_for_the_norm() {
    let inputs = "input x : f32[1, 1048576]\ninput w : f32[1048576]\ninput b : f32[1048576]\n";
    for (program, values) in [
        // The sum has read `w` before, so both wait.
        (
            "e = mul(x, w)\nr = sum(e)\ny = layer_norm(x, w)\nz = add(y, r)\n",
            2,
        ),
        (
            "e = mul(x, w)\nr = sum(e)\ny = layer_norm(x, w, b)\nz = add(y, r)\n",
            2,
        ),
        // What is computed for the weight alone is computed when the norm needs it.
        ("g = mul(w, b)\ny = layer_norm(x, g)\nz = relu(y)\n", 1),
    ] {
        assert_eq!(row_values(&[inputs, program].concat()), values, "{program}");
    }
}

/// An undeclared input is as large as its reader's output, in bytes and on chip.
#[test]
fn what_nothing_declares_waits_on_chip_as_what_is_declared() {
    let program = "s = softmax(x) : f32[16, 1048576]\nt = softmax(z) : f32[16, 1048576]\n\
                   y = add(s, t)\n";
    let rows_kept = |text: &str| {
        let program = parse(text).program;
        let options = Options::of_policy(Policy::Optimal);
        let analysis = analyze_program(&program, &options).analysis.unwrap();
        let ops: Vec<OpId> = analysis.graph.ops.ids().collect();
        match legality::check(&analysis.graph, &analysis.options, &ops) {
            Err(Reason::OnChip { values, .. }) => (values, analysis.partition.kernels.len()),
            other => panic!("{other:?}"),
        }
    };
    let inputs = "input x : f32[16, 1048576]\ninput z : f32[16, 1048576]\n";
    assert_eq!(rows_kept(&[inputs, program].concat()), (2, 2));
    assert_eq!(rows_kept(program), (2, 2));
}

/// The limits and the legality count the same rows. One row may be too long for the chip, as that
/// of a softmax alone may be.
#[test]
fn the_optimum_keeps_at_most_one_row_that_does_not_fit() {
    for program in [
        "e = exp(x)\nr = sum(x)\ny = mul(e, r)\n",
        "e = exp(x)\ns = softmax(e)\ny = relu(s)\n",
        "r = sum(x)\nl = sub(x, r)\nq = square(l)\nv = mean(q)\ny = mul(l, v)\n",
        "a = relu(x)\nb = exp(x)\nr = sum(a)\nt = sum(b)\nc = mul(a, r)\nd = mul(b, t)\ny = add(c, d)\n",
    ] {
        let analysis = optimum(&["input x : f32[16, 1048576]\n", program].concat());
        let limits = limits(&analysis).unwrap();
        for (kernel, limits) in analysis.fused.kernels.iter().zip(limits) {
            let most = limits.on_chip_available_bytes.max(4 * LONG as u64);
            assert!(limits.on_chip_bytes <= most, "{program}: {kernel:?}");
        }
    }
}

/// Heads and the one token of a decoding step swap places: no element moves, as long as there is
/// one token.
#[test]
fn a_transpose_of_dimensions_of_size_1_moves_no_elements() {
    for (shape, perm, is_legal) in [
        ("8, 1, 32, 128", "0, 2, 1, 3", true),
        ("8, 2, 32, 128", "0, 2, 1, 3", false),
        ("8, 1, 32, 128", "1, 0, 2, 3", true),
        ("1, 1, 32, 128", "2, 0, 3, 1", true),
        ("8, 1, 32, 128", "0, 1, 3, 2", false),
        ("8, 1, 32, 128", "1, 2, 0, 3", false),
    ] {
        let found = whole(&format!(
            "input x : f16[{shape}]\nn = rms_norm(x)\nt = transpose(n, perm=[{perm}])\ny = relu(t)\n"
        ));
        let is_refused = matches!(found, Err(Reason::MixesRows { .. }));
        assert_eq!(
            (found.is_ok(), is_refused),
            (is_legal, !is_legal),
            "[{shape}] by [{perm}]"
        );
    }
}

/// Each row that the kernel reduces has the elements of one row that it loads, or of several that
/// no other block needs.
#[test]
fn elements_move_as_the_kernel_loads_them() {
    for (program, is_legal) in [
        // The loss of a language model, whose last position has no target.
        (
            "s = slice(x, end=7, axis=1)\nc = contiguous(s)\nr = reshape(c, shape=[14, 16])\n\
             l = log_softmax(r)\ny = neg(l)\n",
            true,
        ),
        (
            "u = cast(x, dtype=f32)\ns = slice(u, end=7, axis=1)\nl = softmax(s)\ny = neg(l)\n",
            true,
        ),
        (
            "u = relu(x)\nt = transpose(u)\ns = softmax(t)\ny = add(s, t)\n",
            true,
        ),
        (
            "a = slice(x, end=7, axis=1)\nb = slice(a, end=7, axis=2)\ns = softmax(b)\ny = neg(s)\n",
            true,
        ),
        (
            "s = softmax(x)\nc = contiguous(s)\nm = max(c)\ny = sub(c, m)\n",
            true,
        ),
        // The order that is loaded is needed as well.
        (
            "u = relu(x)\nf = flip(u, axis=1)\ns = softmax(f)\ny = add(s, u)\n",
            false,
        ),
        (
            "f = flip(x, axis=1)\ns = softmax(f)\ny = add(s, x)\n",
            false,
        ),
        (
            "f = flip(x, axis=1)\ny = add(f, x)\nr = sum(y)\nz = mul(y, r)\n",
            false,
        ),
        // The rows have been reduced before they move.
        ("s = softmax(x)\nf = flip(s, axis=1)\nr = sum(f)\n", false),
        (
            "s = softmax(x)\nc = slice(s, end=7, axis=1)\nr = sum(c)\n",
            false,
        ),
        // Nothing is computed twice.
        (
            "c = concat(x, x, axis=1)\ns = softmax(c)\ny = neg(s)\n",
            true,
        ),
        (
            "u = relu(x)\nc = concat(u, u, axis=1)\ns = softmax(c)\ny = neg(s)\n",
            false,
        ),
        (
            "u = relu(x)\nc = repeat(u, times=[1, 2, 1])\ns = softmax(c)\ny = neg(s)\n",
            false,
        ),
        // Unless nothing comes after the one reduction, as under the textbook rules.
        ("f = flip(x, axis=1)\ny = add(f, x)\nr = sum(y)\n", true),
        ("u = relu(x)\nc = concat(u, u, axis=1)\nr = sum(c)\n", true),
        (
            "u = relu(x)\nc = repeat(u, times=[1, 2, 1])\nr = sum(c)\n",
            true,
        ),
        (
            "f = flip(x, axis=1)\ny = add(f, x)\nr = sum(y)\nm = max(y)\n",
            false,
        ),
    ] {
        let found = whole(&["input x : f16[2, 8, 16]\n", program].concat());
        assert_eq!(found.is_ok(), is_legal, "{program}{found:?}");
    }
}

/// Squares, so that numbers of elements do not distinguish rows from columns.
#[test]
fn rows_are_the_same_elements_and_not_only_as_many() {
    for (program, is_legal) in [
        ("s = softmax(x)\nt = transpose(s)\ny = add(s, t)\n", false),
        ("t = transpose(x)\ns = softmax(t)\ny = add(s, x)\n", false),
        ("s = softmax(x)\nu = relu(s)\nt = transpose(u)\n", true),
        ("t = transpose(x)\ns = softmax(t)\ny = relu(s)\n", true),
        (
            "s = softmax(x)\nu = reshape(s, shape=[4096])\ny = relu(u)\n",
            true,
        ),
        ("s = softmax(x, axis=0)\nr = sum(s)\n", false),
        ("s = softmax(x, axis=0)\nr = sum(s, axis=0)\n", true),
        (
            "s = softmax(x, axis=-2)\nr = sum(s, axis=0, keepdim=false)\n",
            true,
        ),
        ("m = max(x)\ny = sub(x, m)\n", true),
        ("m = max(x, axis=0)\ny = sub(x, m)\n", true),
        ("m = max(x, axis=0, keepdim=false)\ny = sub(x, m)\n", true),
        ("m = max(x, keepdim=false)\ny = sub(x, m)\n", false),
        ("m = max(x, axis=0)\ny = mean(x)\nz = mul(m, y)\n", false),
        ("m = max(x)\nt = transpose(m)\ny = sub(x, t)\n", false),
        (
            "weight g : f16[64]\nh = relu(g)\ny = add(x, h)\nr = sum(y)\nz = mul(y, r)\n",
            false,
        ),
        // Each block computes `h` again, as a kernel of `h` and `y` alone does.
        (
            "weight g : f16[64]\nh = relu(g)\ny = add(x, h)\nr = sum(y)\n",
            true,
        ),
        ("weight g : f16[64]\ny = add(x, g)\nr = sum(y)\n", true),
        (
            "m = max(x, axis=[0, 1])\ny = sub(x, m)\nt = transpose(y)\nz = add(t, y)\n",
            true,
        ),
    ] {
        let found = whole(&["input x : f16[64, 64]\n", program].concat());
        assert_eq!(found.is_ok(), is_legal, "{program}{found:?}");
    }
    for (program, is_legal) in [
        ("m = mean(x, axis=[0, 2])\ny = sub(x, m)\n", true),
        (
            "m = mean(x, axis=[0, 2])\nv = mean(x, axis=[0, 1])\ny = mul(x, x)\n",
            false,
        ),
        (
            "m = mean(x, axis=[0, 2])\nv = mean(x, axis=[1, 2])\ny = mul(x, x)\n",
            false,
        ),
        (
            "m = mean(x, axis=[0, 2], keepdim=false)\ny = batch_norm(x, m, m)\n",
            true,
        ),
        (
            "m = mean(x, axis=[1, 2], keepdim=false)\ny = batch_norm(x, m, m)\n",
            false,
        ),
        ("m = mean(x, axis=[1, 2])\nv = softmax(x)\n", false),
        (
            "u = reshape(x, shape=[4096, 64])\nm = mean(u)\nv = softmax(x)\n",
            true,
        ),
    ] {
        let found = whole(&["input x : f16[64, 64, 64]\n", program].concat());
        let found = found.or_else(|reason| match reason {
            Reason::NotConnected { .. } => Ok(()),
            other => Err(other),
        });
        assert_eq!(found.is_ok(), is_legal, "{program}{found:?}");
    }
}

/// The smallest number of rows kept on chip, over all assignments of ops to passes.
fn fewest_rows(graph: &Graph, ops: &[OpId], passes: &mut Vec<usize>, full: u64) -> usize {
    let is_reduction = |op: OpId| graph.ops[op].op_type == OpType::Reduction;
    let elements = |op: OpId| graph.ops[op].shape.iter().product::<u64>();
    let most = ops.iter().filter(|&&op| is_reduction(op)).count();
    let Some(&op) = ops.get(passes.len()) else {
        return (0..=most)
            .map(|ended| {
                let waits = |&&tensor: &&TensorId| {
                    let (mut first, mut last) = (usize::MAX, 0);
                    for (&op, &pass) in ops.iter().zip(passes.iter()) {
                        let gives_rows = is_reduction(op) && elements(op) == full;
                        if graph.inputs[op].contains(&tensor) {
                            first = first.min(pass);
                            last = last.max(pass);
                        }
                        if gives_rows && graph.inputs[op][0] == tensor {
                            last = last.max(pass + 1);
                        }
                        if graph.output[op] == tensor {
                            first = first.min(pass + usize::from(gives_rows));
                        }
                    }
                    first <= ended && ended < last
                };
                let rows: Vec<TensorId> = (graph.tensors.ids())
                    .filter(|&tensor| graph.tensors[tensor].elements() == Some(full))
                    .collect();
                rows.iter().filter(waits).count()
            })
            .max()
            .unwrap_or(0);
    };
    let before = ops.iter().zip(passes.iter());
    let earliest = before
        .filter(|(before, _)| graph.predecessors[op].contains(before))
        .map(|(&before, &pass)| pass + usize::from(is_reduction(before)))
        .max()
        .unwrap_or(0);
    let mut fewest = usize::MAX;
    for pass in earliest..=most {
        passes.push(pass);
        fewest = fewest.min(fewest_rows(graph, ops, passes, full));
        passes.pop();
    }
    fewest
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_kernel_keeps_more_rows_than_fit((ops, externals) in fusable_ops(2..=6), rows in 0_u64..3) {
        const WIDTH: u64 = 10;
        let graph = build_graph(&ops, &externals).unwrap();
        let options = Options {
            fusion: FusionOptions { horizontal: true, ..FusionOptions::default() },
            device: small_device(rows * WIDTH * 4),
            ..Options::of_policy(Policy::Optimal)
        };
        for set in 1_usize..1 << ops.len() {
            let ops = ops_of_set(set);
            let reduces = |&op: &OpId| {
                let input = graph.tensors[graph.inputs[op][0]].elements();
                graph.ops[op].op_type == OpType::Reduction && input == Some(60)
            };
            if ops.len() < 2 || !ops.iter().any(reduces) {
                continue;
            }
            let fewest = |graph| fewest_rows(graph, &ops, &mut Vec::new(), 60) as u64;
            match legality::check(&graph, &options, &ops) {
                Ok(()) => prop_assert!(fewest(&graph) <= rows.max(1), "{ops:?}"),
                Err(Reason::OnChip { values, .. }) => {
                    let values = values as u64;
                    prop_assert!(values > rows.max(1) && values >= fewest(&graph));
                }
                Err(_) => {}
            }
        }
    }
}
