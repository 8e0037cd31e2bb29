//! In which order of dimensions torch.compile writes a pointwise result, and when. The counts are
//! those of TorchInductor 2.11.

use crate::inductor_smallest::{analyzed, check};

/// `x` lies by channels, all others by tokens.
const INPUTS: &str = "input x : bf16[8, 1024, 512]\ninput a : bf16[8, 512, 1024]\nt = transpose(x, perm=[0, 2, 1]) : bf16[8, 512, 1024]\n";

fn with_inputs(rest: &str) -> String {
    format!("{INPUTS}{rest}")
}

#[test]
fn a_result_lies_in_the_order_of_most_of_its_reads() {
    let channels = "input b : bf16[8, 1024, 512]\ninput c : bf16[8, 1024, 512]\ninput d : bf16[8, 512, 1024]\ntb = transpose(b, perm=[0, 2, 1])\ntc = transpose(c, perm=[0, 2, 1])\n";
    let sum = |terms: &str| with_inputs(&format!("{channels}{terms}\ny = softmax(s)"));
    check(&[
        // Four of five reads are by tokens, so the sum is written by tokens, beside a norm of rows.
        (
            "input x : f32[1, 256, 1500]\ninput a : f32[1, 1500, 256]\ninput b : f32[1, 1500, 256]\ninput c : f32[1, 1500, 256]\ninput d : f32[1, 1500, 256]\nt = transpose(x, perm=[0, 2, 1])\ns1 = add(t, a)\ns2 = add(s1, b)\ns3 = add(s2, c)\ns = add(s3, d)\nn = layer_norm(s)",
            1,
        ),
        // Three of five are by channels, across which a softmax is split.
        (
            &sum("s1 = add(a, d)\ns2 = add(s1, t)\ns3 = add(s2, tb)\ns = add(s3, tc)"),
            6,
        ),
    ]);
}

#[test]
fn what_a_library_reads_as_a_matrix_lies_by_rows() {
    check(&[
        (
            &with_inputs(
                "weight w : bf16[1024, 1024]\ns = add(t, a)\nr = relu(s)\nm = matmul(r, w)\nz = add(m, r)\ny = layer_norm(z)",
            ),
            3,
        ),
        // A batch of products takes the sum as it lies, by most of its reads or, of two, by rows.
        (
            &with_inputs(
                "weight w : bf16[8, 1024, 1024]\ns = add(t, a)\np = softmax(s)\ny = matmul(s, w)",
            ),
            2,
        ),
        (
            &with_inputs(
                "weight w : bf16[8, 1024, 1024]\ns = add(t, a)\np = softmax(s)\ny = matmul(p, w)",
            ),
            6,
        ),
    ]);
}

#[test]
fn a_reduction_writes_its_rows_in_the_order_of_its_reads() {
    // Of `[128, 1000]` values the 1000 lie across in memory, as in the input: a sum over them is
    // split as one of columns.
    check(&[(
        "input x : f16[24, 1000, 128]\nt = transpose(x, perm=[0, 2, 1])\nm = max(t, axis=0)\nd = mul(m, 1)\ns = sum(d, axis=2)\ny = sub(d, s)",
        4,
    )]);
}

#[test]
fn a_looked_up_row_is_the_same_only_in_loops_of_the_same_order() {
    check(&[
        (
            "input table : f16[768, 768]\ninput at : i64[100]\ne = embedding(at, table)\nm = max(e, axis=0)\ny = log1p(e)",
            2,
        ),
        (
            "input table : f16[768, 768]\ninput at : i64[100]\ne = embedding(at, table)\nm = max(e, axis=1)\ny = log1p(e)",
            1,
        ),
    ]);
}

#[test]
fn a_piece_lies_as_its_concatenation_does() {
    check(&[(
        "input x : bf16[1024, 1000]\nt = transpose(x, perm=[1, 0])\nq = square(t)\nr = reshape(t, shape=[8, 125, 1024])\nn = layer_norm(r)\nz = concat(n, r, axis=0)",
        4,
    )]);
}

#[test]
fn what_lies_in_the_same_place_of_as_large_a_tensor_has_the_same_index() {
    // Naive MLA: the rotated parts of Q and of K lie behind others, of which K's is shared by all
    // heads. Both read the angles by one index.
    let rotated = |name: &str, heads: usize| {
        format!(
            "{name}r = reshape({name}f, shape=[4, 1, {heads}, 8, 2])\n{name}a = slice({name}r, start=0, end=1, axis=4)\n\
             {name}b = slice({name}r, start=1, end=2, axis=4)\n{name}u = mul({name}a, cos)\n{name}v = mul({name}b, sin)\n\
             {name}w = sub({name}u, {name}v)\n{name}c = concat({name}w, {name}u, axis=4)\n\
             {name}e = reshape({name}c, shape=[4, 1, {heads}, 16])\n"
        )
    };
    let text = format!(
        "input q : f32[4, 1, 8, 48]\ninput kn : f32[4, 1, 8, 32]\ninput kf : f32[4, 1, 1, 16]\n\
         input cos : f32[1, 1, 1, 8, 1]\ninput sin : f32[1, 1, 1, 8, 1]\n\
         qn = slice(q, start=0, end=32, axis=3)\nqf = slice(q, start=32, end=48, axis=3)\n{}{}\
         ke2 = expand(ke, shape=[4, 1, 8, 16])\nqq = concat(qn, qe, axis=3)\nkk = concat(kn, ke2, axis=3)",
        rotated("q", 8),
        rotated("k", 1)
    );
    check(&[(&text, 1)]);
}

#[test]
fn tiles_are_those_of_the_ordered_loops() {
    check(&[
        // Both reads are by rows, so the loops are, and the copy is written by columns in the
        // kernel of the statistics.
        (
            "input a : f32[256, 32]\ninput b : f32[256, 32]\ns = add(a, b)\nn = layer_norm(s)\nt = transpose(n, perm=[1, 0])\nc = contiguous(t)",
            1,
        ),
        (
            "input a : f32[4, 256, 48]\nn = softmax(a)\nt = transpose(n, perm=[0, 2, 1])\nc = contiguous(t)",
            1,
        ),
    ]);
}

/// Weights that are scaled by blocks and cut into heads: the compiler does not see that the
/// elements keep their order, so each product reads a copy of its part.
#[test]
fn each_part_behind_a_reshape_that_cuts_and_joins_is_copied() {
    let weights = "weight w : f8e4m3[32, 128, 4, 128]\nweight s : bf16[32, 1, 4, 1]\nb = cast(w, dtype=bf16)\nd = mul(b, s)\nh = reshape(d) : bf16[16, 256, 512]\nk = slice(h, axis=1, start=0, end=128)\ninput q : bf16[16, 4, 128]\ny = matmul(q, k)";
    let two = format!(
        "{weights}\nv = slice(h, axis=1, start=128, end=256)\nt = transpose(v, perm=[0, 2, 1])\ninput o : bf16[16, 4, 512]\nz = matmul(o, t)"
    );
    check(&[(weights, 3), (&two, 5)]);
    // The kernel of all weights, two copies, and two products, by the compiler's own count.
    assert_eq!(analyzed(&two).fused.traffic.total, 19_038_464);
}
