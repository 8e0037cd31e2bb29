//! Policy `inductor`: its launches against those of torch.compile on an H200, pattern by pattern,
//! and each rule of its recipe.

use crate::inductor_measured::{DEFAULT, TUNED, options};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Code, KernelId, OpId, Options, Outcome, Policy, analyze_program};
use std::fmt::Write as _;

fn analyzed(text: &str, variant: &str) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let outcome = analyze_program(&parsed.program, &options(variant));
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
}

/// Kernels in words, such as `h + y`; recomputed ops are in brackets.
fn kernels_of(text: &str, variant: &str) -> Vec<String> {
    names(&analyzed(text, variant))
}

fn names(analysis: &Analysis) -> Vec<String> {
    let name = |&op: &OpId| analysis.graph.ops[op].name.as_str();
    let groups = analysis.partition.kernels.iter_enumerated();
    groups
        .map(|(kernel, ops)| {
            let own: Vec<&str> = ops.iter().map(name).collect();
            let again: Vec<&str> = analysis.partition.recomputed[kernel]
                .iter()
                .map(name)
                .collect();
            if again.is_empty() {
                own.join(" + ")
            } else {
                format!("{} ({})", own.join(" + "), again.join(" + "))
            }
        })
        .collect()
}

fn kernels(text: &str) -> Vec<String> {
    kernels_of(text, DEFAULT)
}

const HEAD: &str = "input a : f16[64, 256]\ninput b : f16[64, 256]\ninput c : f16[64, 256]\n\
                    input d : f16[64, 256]\ninput e : f16[64, 256]\nweight w : f16[256, 256]\n\
                    weight v : f16[256]\n";

/// Kernels of ops on six matrices and a vector.
fn of(ops: &str) -> Vec<String> {
    kernels(&format!(
        "{HEAD}{ops}\nall = elementwise(a, b, c, d, e, w, v) : f16[3]"
    ))
    .into_iter()
    .filter(|kernel| kernel != "all")
    .collect()
}

#[test]
fn a_pointwise_op_with_two_readers_is_computed_twice() {
    // Two matmuls separate the readers.
    let text = "p = add(a, b)\nq = relu(p)\nm = matmul(q, w)\nn = matmul(m, w)\ny = sub(n, p)";
    assert_eq!(of(text), ["p + q", "m", "n", "y (p)"]);
    let head = "input a : f16[64, 256]\ninput b : f16[64, 256]\nweight w : f16[256, 256]\n";
    let analysis = analyzed(&format!("{head}{text}"), DEFAULT);
    let moved: Vec<(u64, u64)> = analysis
        .fused
        .kernels
        .iter()
        .map(|k| (k.bytes_read, k.bytes_written))
        .collect();
    let (full, weight) = (64 * 256 * 2, 256 * 256 * 2);
    // The last kernel reads a and b again and not p, which is never written.
    assert_eq!(
        moved,
        [
            (2 * full, full),
            (full + weight, full),
            (full + weight, full),
            (3 * full, full)
        ]
    );
    assert_eq!(
        analysis.fused.kernels[KernelId::new(3)].work.vector_flops,
        2 * 64 * 256
    );
}

#[test]
fn a_shared_expression_of_more_than_four_reads_is_a_buffer() {
    let tail = "q = relu(p)\nm = matmul(q, w)\nn = matmul(m, w)\ny = sub(n, p)";
    let four = format!("p1 = add(a, b)\np2 = add(c, d)\np = add(p1, p2)\n{tail}");
    assert_eq!(of(&four), ["p1 + p2 + p + q", "m", "n", "y (p1 + p2 + p)"]);
    let five = format!("p1 = add(a, b)\np2 = add(c, d)\np3 = add(p1, p2)\np = add(p3, e)\n{tail}");
    assert_eq!(of(&five), ["p1 + p2 + p3 + p + q", "m", "n", "y"]);
}

#[test]
fn a_shared_expression_of_more_than_thirty_operations_is_a_buffer() {
    let chain = |length: usize| {
        let mut text = "g0 = gelu(a)\n".to_owned();
        for step in 1..length {
            writeln!(text, "g{step} = gelu(g{})", step - 1).unwrap();
        }
        let last = length - 1;
        text + &format!(
            "q = relu(g{last})\nm = matmul(q, w)\nn = matmul(m, w)\ny = sub(n, g{last})"
        )
    };
    // GELU in 16 bits has eleven values and four constants.
    assert_eq!(of(&chain(2)), ["g0 + g1 + q", "m", "n", "y (g0 + g1)"]);
    assert_eq!(of(&chain(3)), ["g0 + g1 + g2 + q", "m", "n", "y"]);
}

#[test]
fn pointwise_ops_and_reductions_of_the_same_rows_share_a_kernel() {
    let norm = "s = sum(a)\nd1 = div(a, s)\ne1 = exp(d1)\nm = max(e1)\ny = sub(e1, m)";
    assert_eq!(of(norm), ["s + d1 + e1 + m + y"]);
}

#[test]
fn reductions_of_other_rows_stay_apart() {
    // Rows and columns of a square: equal in number and size, but different elements.
    let square = "input x : f16[64, 64]\nr = sum(x)\nc = sum(x, axis=0)";
    assert_eq!(kernels(square), ["r", "c"]);
    assert_eq!(
        kernels("input x : f16[64, 64]\nr = sum(x)\nc = max(x)"),
        ["r + c"]
    );
    // The same for norms, and for a value per row that is read along the columns.
    let square = |ops: &str| kernels(&["input x : f16[64, 64]\n", ops].concat());
    assert_eq!(square("s = softmax(x, axis=0)\ny = sum(s)"), ["s", "y (s)"]);
    assert_eq!(
        square("s = softmax(x, axis=0)\ny = sum(s, axis=0)"),
        ["s + y"]
    );
    assert_eq!(
        square("m = max(x, keepdim=false)\ny = sub(x, m)"),
        ["m", "y"]
    );
    assert_eq!(square("m = max(x)\ny = sub(x, m)"), ["m + y"]);
    assert_eq!(
        square("m = max(x, axis=0, keepdim=false)\nr = relu(m)\ny = sub(x, r)"),
        ["m + r + y"]
    );
}

#[test]
fn what_is_read_by_another_index_stays_apart() {
    // The loops of a pointwise op are put into the order of what it reads, as measured; those of a
    // library call are not.
    let text = "r = softmax(a)\nm = matmul(r, w)\nt = transpose(r)\ny = relu(t)";
    assert_eq!(of(text), ["r + t + y", "m"]);
    assert_eq!(
        of("m = matmul(a, w)\nt = transpose(m)\ny = relu(t)"),
        ["m + t", "y"]
    );
    // The elements of a norm are a pointwise op after its row values, which is inlined like any
    // other.
    let text = "r = softmax(a)\nt = transpose(r)\ny = relu(t)";
    assert_eq!(of(text), ["r + t + y"]);
    // A pointwise op is inlined through the view.
    assert_eq!(
        of("r = relu(a)\nt = transpose(r)\ny = exp(t)"),
        ["r + t + y"]
    );
    // Other rows: the row of an element is a division, as measured.
    assert_eq!(
        of("r = softmax(a)\nt = reshape(r, shape=[128, 128])\ny = relu(t)"),
        ["r", "t + y (r)"]
    );
}

#[test]
fn kernels_that_share_an_input_join() {
    assert_eq!(of("y = relu(a)\nz = exp(a)"), ["y + z"]);
    assert_eq!(of("y = relu(a)\nz = exp(b)"), ["y", "z"]);
    // Of another size.
    assert_eq!(
        of("y = relu(a)\nh = slice(a, end=32, axis=0)\nz = exp(h)"),
        ["y", "h + z"]
    );
}

#[test]
fn a_matmul_takes_what_is_added_and_nothing_else() {
    assert_eq!(of("h = matmul(a, w)\ny = add(h, v)"), ["h + y"]);
    assert_eq!(
        of("h = matmul(a, w)\ny = add(v, h)\nz = sum(y)"),
        ["h + y", "z"]
    );
    // The bias is fused into pointwise readers instead.
    assert_eq!(
        of("h = matmul(a, w)\ny = add(h, v)\nz = relu(y)"),
        ["h", "y + z"]
    );
    // A norm of 16 bits converts its input first, and the add is fused with that; one of 32 bits
    // does not.
    for (norm, is_always) in [
        ("layer_norm", false),
        ("softmax", false),
        ("rms_norm", true),
        ("l2_norm", true),
    ] {
        let program = |dtype: &str| {
            format!(
                "input x : {dtype}[64, 128]\ninput r : {dtype}[64, 64]\nweight w : {dtype}[128, 64]\n\
                 h = matmul(x, w)\ny = add(h, r)\nz = {norm}(y)"
            )
        };
        assert_eq!(kernels(&program("bf16")), ["h", "y + z"], "{norm}");
        let (in_call, behind) = (vec!["h + y", "z"], vec!["h", "y + z"]);
        let wide = if is_always { behind } else { in_call };
        assert_eq!(kernels(&program("f32")), wide, "{norm}");
    }
    assert_eq!(
        of("h = matmul(a, w)\ny = add(v, h)\nz = concat(y, y)"),
        ["h", "y + z"]
    );
    // Only copies of one tensor are a broadcast, which is pointwise.
    assert_eq!(
        of("h = matmul(a, w)\ny = add(v, h)\nz = concat(y, b)"),
        ["h + y", "z"]
    );
    // The call takes a residual, even one that is computed, but no difference.
    assert_eq!(of("h = matmul(a, w)\ny = add(h, b)"), ["h + y"]);
    assert_eq!(
        of("r = relu(b)\nh = matmul(a, w)\ny = add(h, r)"),
        ["r", "h + y"]
    );
    assert_eq!(of("h = matmul(a, w)\ny = sub(h, b)"), ["h", "y"]);
    // A product with another reader is needed without it.
    assert_eq!(
        of("h = matmul(a, w)\ny = add(h, v)\nz = sum(h)"),
        ["h", "y + z"]
    );
}

#[test]
fn a_tuned_matmul_takes_an_epilogue_but_no_reduction_and_no_prologue() {
    let tuned = |ops: &str| {
        let text = format!("{HEAD}{ops}\nall = elementwise(a, b, c, d, e, w, v) : f16[3]");
        let kernels = kernels_of(&text, TUNED).into_iter();
        kernels.filter(|kernel| kernel != "all").collect::<Vec<_>>()
    };
    assert_eq!(
        tuned("h = matmul(a, w)\ny = add(h, b)\nz = gelu(y)"),
        ["h + y + z"]
    );
    assert_eq!(tuned("h = matmul(a, w)\ny = softmax(h)"), ["h", "y"]);
    assert_eq!(tuned("r = relu(a)\nh = matmul(r, w)"), ["r", "h"]);
    let image = "input x : f16[2, 8, 16, 16]\nweight f : f16[8, 8, 3, 3]\nc = conv2d(x, f, padding=1)\ny = relu(c)";
    assert_eq!(kernels_of(image, TUNED), ["c", "y"]);
}

#[test]
fn a_pool_reads_a_buffer_unless_its_input_is_cheap() {
    let pool = |ops: &str| {
        kernels(&format!(
            "input x : f16[2, 8, 16, 16]\nweight s : f16[8, 1, 1]\n{ops}\ny = max_pool2d(p, kernel=2)"
        ))
    };
    assert_eq!(pool("p = mul(x, s)"), ["p", "y"]);
    assert_eq!(
        pool("p = relu(x)\nuse = elementwise(s) : f16[1]"),
        ["use", "p + y"]
    );
}

fn attention(rank: usize, between: &str) -> Vec<String> {
    let front = if rank == 4 { "2, 4" } else { "8" };
    let bias = if between.contains("bias") {
        "input bias : f16[64, 64]\n"
    } else {
        ""
    };
    kernels(&format!(
        "input q : f16[{front}, 64, 32]\ninput k : f16[{front}, 64, 32]\ninput v : f16[{front}, 64, 32]\n{bias}\
         s = matmul(q, k, transpose_b=true)\n{between}o = matmul(p, v)"
    ))
}

#[test]
fn attention_becomes_one_kernel_where_a_pattern_fits() {
    assert_eq!(attention(3, "p = softmax(s)\n"), ["s + p + o"]);
    assert_eq!(
        attention(3, "c = scale(s, factor=0.1)\np = softmax(c)\n"),
        ["s", "c + p", "o"]
    );
    assert_eq!(attention(4, "p = softmax(s)\n"), ["s", "p", "o"]);
    assert_eq!(
        attention(4, "c = scale(s, factor=0.1)\np = softmax(c)\n"),
        ["s + c + p + o"]
    );
    let dropped = "c = scale(s, factor=0.1)\nw = softmax(c)\np = dropout(w, p=0.1)\n";
    assert_eq!(attention(4, dropped), ["s + c + w + p + o"]);
    // A mask is added only to scores that were divided by the root of the head size, and never
    // causal.
    let masked = |scale: &str, mask: &str| {
        let steps = format!("c = {scale}\nm = {mask}\np = softmax(m)\n");
        attention(4, &steps).len()
    };
    assert_eq!(masked("div(s, 5.656854249)", "add(c, bias)"), 1);
    assert_eq!(masked("div(s, 8)", "add(c, bias)"), 3);
    assert_eq!(masked("scale(s, factor=0.1)", "add(c, bias)"), 3);
    assert_eq!(masked("div(s, 5.656854249)", "mask(c)"), 3);
    // Mask before scale, or another reader: no pattern.
    let other = "m = mask(s)\nc = scale(m, factor=0.1)\np = softmax(c)\n";
    assert_eq!(attention(4, other), ["s", "m + c + p", "o"]);
    let seen = "c = scale(s, factor=0.1)\np = softmax(c)\nz = relu(c)\n";
    assert_eq!(attention(4, seen), ["s", "c + p + z", "o"]);
}

#[test]
fn a_pattern_wants_the_softmax_and_the_product_with_v_over_the_keys() {
    assert_eq!(attention(3, "p = softmax(s, axis=-1)\n"), ["s + p + o"]);
    assert_eq!(attention(3, "p = softmax(s, axis=-2)\n"), ["s", "p", "o"]);
    let text = "input q : f16[8, 64, 64]\ns = matmul(q, q)\np = softmax(s)\no = matmul(p, q, transpose_a=true)";
    assert_eq!(kernels(text), ["s", "p", "o"]);
}

#[test]
fn attention_over_attention_is_found_once() {
    let text = "input q : f16[8, 64, 64]\ns = matmul(q, q)\np = softmax(s)\no = matmul(p, q)\nr = softmax(o)\ny = matmul(r, q)";
    assert_eq!(kernels(text), ["s + p + o", "r", "y"]);
}

#[test]
fn a_kernel_holds_at_most_sixty_four_nodes() {
    // Each softmax is a node; all read one input.
    let mut text = "input x : f16[8, 16]\n".to_owned();
    for op in 0..100 {
        writeln!(text, "y{op} = softmax(x)").unwrap();
    }
    let sizes: Vec<usize> = analyzed(&text, DEFAULT)
        .partition
        .kernels
        .iter()
        .map(<[OpId]>::len)
        .collect();
    assert_eq!(sizes.iter().sum::<usize>(), 100);
    assert!(
        sizes.len() >= 2 && sizes.iter().all(|&size| size <= 64),
        "{sizes:?}"
    );
}

/// Two convex kernels that would depend on each other: the result of every fusion must be acyclic.
#[test]
fn no_fusion_makes_a_cycle() {
    let text = "input x : f16[8, 16]\na1 = softmax(x)\nm1 = matmul(a1, w)\nb1 = softmax(m1)\n\
                weight w : f16[16, 16]\nb2 = softmax(x)\ny = add(b1, b2)";
    let groups = kernels(text);
    // b2 shares x with a1 and its result with b1, but there is a matmul between a1 and b1.
    assert_eq!(groups.len(), 3);
    assert!(groups.contains(&"m1".to_owned()), "{groups:?}");
}

#[test]
fn long_chains_of_views_and_wide_concats_stay_cheap() {
    let mut text = "input x0 : f16[8, 16]\n".to_owned();
    for op in 1..3000 {
        let shape = if op % 2 == 0 { "8, 16" } else { "16, 8" };
        writeln!(text, "x{op} = reshape(x{}, shape=[{shape}])", op - 1).unwrap();
    }
    text += "y = relu(x2999)\n";
    let names: Vec<String> = (0..3000).map(|op| format!("x{op}")).collect();
    writeln!(text, "z = rearrange({}) : f16[8, 16]", names.join(", ")).unwrap();
    let analysis = analyzed(&text, DEFAULT);
    let members: usize = analysis.partition.kernels.iter().map(<[OpId]>::len).sum();
    assert_eq!(members, 3001);
}

/// The compiler reads an image again in each kernel that uses a smaller one made of it.
fn image_read_by(readers: std::ops::Range<u64>, rows: u64) -> Outcome {
    let mut text = format!(
        "input big : f16[1, 1, {rows}, 1048576]\ns = interpolate(big, size=[1, 1048576])\n"
    );
    for i in readers {
        let _ = writeln!(
            text,
            "input x{i} : f16[1, 1, {i}, 1048576]\ny{i} = add(s, x{i})"
        );
    }
    let parsed = parse(&text);
    analyze_program(&parsed.program, &Options::of_policy(Policy::Inductor))
}

#[test]
fn kernels_that_compute_again_may_move_more_and_say_so() {
    let analysis = image_read_by(2..4, 1024).analysis.unwrap();
    let (before, after) = (analysis.unfused.traffic, analysis.fused.traffic);
    assert!(after.total > before.total, "{after:?}");
    assert_eq!(
        i128::from(after.saved_by_fusion),
        i128::from(before.total) - i128::from(after.total)
    );
    assert!(analysis.savings_pct < -90.0, "{}", analysis.savings_pct);
}

/// Unfused, both move less than 2^63 bytes. Fused, ten kernels read a third of that, or more than
/// 2^64.
#[test]
fn sums_of_what_is_read_again_are_exact_or_refused() {
    const ROW_BYTES: u64 = 2 << 20;
    let analysis = image_read_by(2..12, 1 << 37).analysis.unwrap();
    let traffic = analysis.fused.traffic;
    let of_readers = (2..12).sum::<u64>() * ROW_BYTES;
    assert_eq!(traffic.bytes_read, 10 * (ROW_BYTES << 37) + of_readers);
    assert_eq!(traffic.bytes_written, of_readers);
    let unfused = analysis.unfused.traffic.total.cast_signed();
    assert_eq!(
        traffic.saved_by_fusion,
        unfused - traffic.total.cast_signed()
    );

    let refused = image_read_by(2..12, 1 << 40);
    assert_eq!(refused.analysis, None);
    let [problem] = &refused.diagnostics[..] else {
        panic!("{:?}", refused.diagnostics);
    };
    assert_eq!((problem.code, problem.op), (Code::Overflow, Some(0)));
    assert_eq!(
        problem.message,
        "the bytes of 11 kernels exceed 2^63 if each kernel recomputes all ops"
    );
}

#[test]
fn a_flash_kernel_writes_its_result_by_token() {
    // Seen on an H100 with torch 2.11: the heads of a token lie side by side in Q, and so they do
    // in the result.
    let head = "input x : f16[128, 512]\ninput k : f16[8, 128, 64]\ninput v : f16[8, 128, 64]\nweight w : f16[512, 512]\n\
                q_rows = matmul(x, w)\nheads = reshape(q_rows, shape=[128, 8, 64])\n\
                by_head = transpose(heads, perm=[1, 0, 2])\n\
                s = matmul(by_head, k, transpose_b=true)\np = softmax(s)\no = matmul(p, v)\n";
    let mut options = options(DEFAULT);
    for (copies, kernel) in [
        ("m = contiguous(o) : f16[128, 512]", "s + p + o + m"),
        (
            "t = transpose(o, perm=[1, 0, 2])\nc = contiguous(t)\nm = reshape(c, shape=[128, 512])",
            "s + p + o + t + c + m",
        ),
    ] {
        let text = format!("{head}{copies}\ny = matmul(m, w)");
        // The option finds attention, or a mark on all of its ops states it.
        let mut stated = text.clone();
        for op in ["softmax(s)", "matmul(p, v)", "transpose_b=true)"] {
            stated = stated.replace(op, &format!("{op} @kernel 1"));
        }
        for (text, attention) in [(text, true), (stated, false)] {
            options.fusion.attention = attention;
            let program = parse(&text).program;
            let kernels = names(&analyze_program(&program, &options).analysis.unwrap());
            assert!(kernels.iter().any(|name| name == kernel), "{kernels:?}");
        }
    }
}
