//! Reductions over several channels at once, by torch.compile. The counts are those of
//! TorchInductor 2.11.

use crate::inductor_smallest::check;

/// The elements of a group norm run over channels, its statistics over groups, so what the elements
/// write is not read by the same index.
#[test]
fn statistics_of_a_group_norm_do_not_fuse_with_what_writes_their_input() {
    let norm = |activation: &str| {
        format!(
            "input x : bf16[8, 128, 32, 32]\nweight w : bf16[128]\nweight c : bf16[128]\ng = group_norm(x, w, c, groups=32)\n{activation}"
        )
    };
    check(&[
        // Five tensors are read, so the first norm is written for its two readers.
        (&norm("y = group_norm(g, groups=16)"), 4),
        (&norm("y = group_norm(g, w, c, groups=32)"), 4),
        (&norm("r = relu(g)\ny = group_norm(r, groups=16)"), 4),
        // Four tensors are not enough: both readers compute the norm again.
        (
            "input x : bf16[8, 128, 32, 32]\nweight w : bf16[128]\ng = group_norm(x, w, w, groups=32)\nr = relu(g)\ny = group_norm(r, groups=16)",
            3,
        ),
    ]);
}

/// A piece of a row of several channels begins within a channel, so a value of each channel of each
/// row is read across the pieces, which are cut again.
#[test]
fn pieces_of_rows_that_read_a_value_of_each_channel_are_cut_again() {
    let norm = |image: &str, values: &str, norm: &str| {
        format!("input x : {image}\ninput e : {values}\na = add(x, e)\ny = {norm}")
    };
    check(&[
        (
            &norm(
                "bf16[2, 320, 64, 64]",
                "bf16[2, 320, 1, 1]",
                "group_norm(a, groups=32)",
            ),
            4,
        ),
        // The values of all rows are the same.
        (
            &norm(
                "bf16[2, 320, 64, 64]",
                "bf16[320, 1, 1]",
                "group_norm(a, groups=32)",
            ),
            3,
        ),
        (
            &norm(
                "bf16[4, 256, 32, 32]",
                "bf16[4, 256, 1, 1]",
                "group_norm(a, groups=1)",
            ),
            4,
        ),
        (
            &norm(
                "bf16[16, 64, 64, 64]",
                "bf16[16, 64, 1, 1]",
                "batch_norm(a, training=true)",
            ),
            4,
        ),
        (
            &norm("f32[32, 30, 1000]", "f32[32, 30, 1]", "sum(a, axis=[1, 2])"),
            3,
        ),
        // A remainder of the place in a row does not depend on the piece.
        (
            &norm(
                "f32[32, 64, 1024]",
                "f32[32, 1, 1024]",
                "sum(a, axis=[1, 2])",
            ),
            2,
        ),
    ]);
}
