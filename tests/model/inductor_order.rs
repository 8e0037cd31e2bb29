//! Policy `inductor`: kernels come in an order in which they can run.

use crate::random_graph::{fusable_ops, ops};
use crate::why::under;
use fuseline_core::model::functions::Function;
use fuseline_core::{
    Graph, Op, OpType, Options, Partition, Policy, TensorDecl, build_graph, device, plan,
};
use proptest::prelude::*;

/// An op of which a kernel reads the result, computed neither by the kernel nor by an earlier one.
fn too_late(graph: &Graph, partition: &Partition) -> Option<String> {
    partition.kernels.ids().find_map(|kernel| {
        let own = partition.kernels[kernel].iter();
        let mut computed = own.chain(&partition.recomputed[kernel]);
        computed.find_map(|&op| {
            let is_late = |&before: &_| {
                !partition.computes(kernel, before) && partition.kernel_of[before] > kernel
            };
            let late = graph.predecessors[op].iter().copied().find(is_late)?;
            let [op, late] = [op, late].map(|op| &graph.ops[op].name);
            Some(format!(
                "kernel {} runs {op} before {late}",
                kernel.number()
            ))
        })
    })
}

fn check(ops: &[Op], externals: &[TensorDecl], options: &Options) -> Option<String> {
    let graph = build_graph(ops, externals).unwrap();
    too_late(&graph, &plan(&graph, options).partition)
}

/// The row values of a short norm are found from its first input; what else it reads may come
/// later.
#[test]
fn row_values_do_not_run_before_what_their_norm_reads_beside_them() {
    let reduction =
        |inputs: &[&str], output: &str| Op::new(output, OpType::Reduction, inputs, output, &[5], 1);
    let ops = [
        reduction(&["a", "b"], "t0"),
        reduction(&["c", "t0"], "t1"),
        reduction(&["d", "t1"], "t2"),
    ];
    assert_eq!(check(&ops, &[], &under(Policy::Inductor)), None);
}

/// `t8` reads the view `t1` from a buffer, because `t6` shows the same buffer as a result; before
/// that, `t2` has computed the view in its own kernel, which comes later.
#[test]
fn a_view_of_a_buffer_does_not_run_after_who_reads_it_there() {
    let op =
        |op_type, input: &str, output: &str| Op::new(output, op_type, &[input], output, &[1], 1);
    let (of_elements, view) = (OpType::Elementwise, OpType::Reshape);
    let ops = [
        op(of_elements, "x0", "t0"),
        op(view, "t0", "t1"),
        op(of_elements, "t1", "t2"),
        op(of_elements, "x0", "t3"),
        op(of_elements, "x0", "t4"),
        op(of_elements, "x0", "t5"),
        op(view, "t0", "t6"),
        op(of_elements, "t2", "t7"),
        op(of_elements, "t1", "t8"),
        op(of_elements, "x0", "t9"),
        op(of_elements, "t7", "t10"),
    ];
    for max_autotune in [false, true] {
        let mut options = under(Policy::Inductor);
        options.device = device("h200").unwrap().clone();
        options.fusion.max_autotune = max_autotune;
        assert_eq!(check(&ops, &[], &options), None);
    }
}

/// Mostly reductions of rows so short that they are written out, of inputs that fit.
fn short_rows() -> impl Strategy<Value = Vec<Op>> {
    let op = (
        prop::sample::select(vec![
            OpType::Reduction,
            OpType::Reduction,
            OpType::Elementwise,
        ]),
        prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        prop::sample::select(vec![
            None,
            Some(Function::Softmax),
            Some(Function::LayerNorm),
            Some(Function::RmsNorm),
        ]),
    );
    (2_u64..10, 1_u64..4, prop::collection::vec(op, 1..=10)).prop_map(|(width, rows, drawn)| {
        let mut names: Vec<String> = (0..4).map(|i| format!("x{i}")).collect();
        let mut ops = Vec::new();
        for (index, (op_type, picks, function)) in drawn.into_iter().enumerate() {
            let inputs: Vec<&str> = picks.iter().map(|pick| pick.get(&names).as_str()).collect();
            let name = format!("t{index}");
            let mut op = Op::new(&name, op_type, &inputs, &name, &[rows, width], 2);
            op.function = function.filter(|_| op_type == OpType::Reduction);
            ops.push(op);
            names.push(name);
        }
        ops
    })
}

fn options() -> impl Strategy<Value = Options> {
    let ids = prop::sample::select(vec!["h200", "a100-80", "tpu-v4"]);
    (ids, any::<bool>()).prop_map(|(id, max_autotune)| {
        let mut options = under(Policy::Inductor);
        options.device = device(id).unwrap().clone();
        options.fusion.max_autotune = max_autotune;
        options
    })
}

/// The copies for the heads read a key that is written, unless little computes it. Counted with the
/// compiler's own scheduler.
#[test]
fn an_operand_that_is_broadcast_to_the_heads_is_written_before_its_copies() {
    let key = "input q : bf16[2, 8, 128, 16]\ninput k : bf16[2, 1, 128, 16]\ninput c : bf16[128, 16]\ninput s : bf16[128, 16]\n";
    let product = "t = transpose(r, perm=[0, 1, 3, 2])\nm = matmul(q, t)";
    let turned = "a = slice(k, start=0, end=8, axis=3)\nb = slice(k, start=8, end=16, axis=3)\nn = neg(b)\nd = concat(n, a, axis=3)\nx = mul(k, c)\ny = mul(d, s)\nr = add(x, y)\n";
    let light = "x = mul(k, c)\nr = add(x, s)\n";
    // The copies for two products compute what both read, in one kernel if it is pointwise.
    let of_two = "input q : bf16[4, 8, 1, 64]\ninput k : bf16[4, 256, 64]\n";
    let products = "u = reshape(r) : bf16[4, 1, 256, 64]\nt = transpose(u, perm=[0, 1, 3, 2])\nm = matmul(q, t)\np = softmax(m)\nw = reshape(r) : bf16[4, 1, 256, 64]\ny = matmul(p, w)";
    let one_more = products.replace("256", "257");
    let one_head = |text: &str| text.replace("[2, 8, 128, 16]", "[2, 1, 128, 16]");
    crate::inductor_smallest::check(&[
        (&format!("{key}{turned}{product}"), 3),
        (&format!("{key}{light}{product}"), 2),
        (&one_head(&format!("{key}{turned}{product}")), 2),
        (&format!("{of_two}r = silu(k)\n{products}"), 4),
        (
            &format!("{of_two}input x : bf16[4, 1, 64]\nr = concat(k, x, axis=1)\n{one_more}"),
            5,
        ),
    ]);
}

/// A library reads a copy of an operand that is broadcast. The copy is pointwise, so it computes a
/// concatenation whose pieces are computed, too. Counted with the compiler's own scheduler.
#[test]
fn a_copy_for_a_library_computes_a_concatenation() {
    let cache =
        "input q : bf16[4, 8, 1, 64]\ninput cache : bf16[4, 256, 64]\ninput x : bf16[4, 1, 64]\n";
    let read = "r = concat(cache, n, axis=1)\nu = reshape(r) : bf16[4, 1, 257, 64]\nt = transpose(u, perm=[0, 1, 3, 2])\nm = matmul(q, t)\n";
    let normed = format!("{cache}input g : bf16[64]\nn = rms_norm(x, g)\n{read}");
    crate::inductor_smallest::check(&[
        (&normed, 3),
        (&format!("{normed}p = softmax(m)\ny = matmul(p, u)"), 5),
        (&format!("{normed}z = relu(r)"), 4),
        (
            &format!("{cache}input w : bf16[64, 64]\nn = matmul(x, w)\n{read}"),
            3,
        ),
        // Of one head, the library reads the concatenation itself.
        (&normed.replace("[4, 8, 1, 64]", "[4, 1, 1, 64]"), 3),
    ]);
}

/// Elements that are repeated along a dimension are found by a division, which equals the same
/// division in the same loops. Counted with the compiler's own scheduler.
#[test]
fn pages_that_are_gathered_by_one_table_and_repeated_share_a_kernel() {
    let pages = "input q : bf16[4, 8, 1, 32]\ninput kc : bf16[64, 16, 2, 32]\ninput vc : bf16[64, 16, 2, 32]\ninput table : i64[4, 16]\n";
    let repeated = |of: &str, to: &str| {
        format!(
            "i{to} = index({of}, table)\nr{to} = reshape(i{to}) : bf16[4, 256, 2, 32]\nt{to} = transpose(r{to}, perm=[0, 2, 1, 3])\n{to} = repeat_interleave(t{to}, times=4, axis=1)\n"
        )
    };
    let both = format!("{pages}{}{}", repeated("kc", "k"), repeated("vc", "v"));
    let rows = "input a : bf16[4, 2, 64]\nr = repeat_interleave(a, times=4, axis=1)\n";
    crate::inductor_smallest::check(&[
        (
            &format!(
                "{both}t = transpose(k, perm=[0, 1, 3, 2])\nm = matmul(q, t)\np = softmax(m)\ny = matmul(p, v)"
            ),
            4,
        ),
        (&format!("{rows}z = sum(r, axis=-1)"), 1),
        // What is repeated and what is not are read by different indices.
        (&format!("{rows}z = sum(a, axis=-1)"), 2),
    ]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernels_of_any_graph_can_run_in_order((ops, externals) in ops(20), options in options()) {
        prop_assert_eq!(check(&ops, &externals, &options), None);
    }

    #[test]
    fn kernels_of_fusable_ops_can_run_in_order((ops, externals) in fusable_ops(1..=24), options in options()) {
        prop_assert_eq!(check(&ops, &externals, &options), None);
    }

    #[test]
    fn kernels_of_short_rows_can_run_in_order(ops in short_rows(), options in options()) {
        prop_assert_eq!(check(&ops, &[], &options), None);
    }
}
