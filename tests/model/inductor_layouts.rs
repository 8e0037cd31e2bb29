//! In which order of dimensions torch.compile writes a pointwise result, and when. The counts are
//! those of TorchInductor 2.11.

use crate::inductor_smallest::check;

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
