//! Copies into inputs of a program, by torch.compile. The counts are those of TorchInductor 2.11.

use crate::inductor_smallest::check;

const STATE: &str = "input st : f32[8192, 64]\n";
const OTHER: &str = "input x : f32[8192, 64]\n";

/// A copy does not read what it overwrites.
#[test]
fn a_copy_shares_nothing_with_what_reads_its_target() {
    let alone = |ops: &str| format!("{STATE}{ops}");
    let with = |ops: &str| format!("{STATE}{OTHER}{ops}");
    check(&[
        (&with("m = relu(st)\nz = copy_(st, x)"), 2),
        (&with("m = relu(st)\ny = mul(x, 2)\nz = copy_(st, y)"), 2),
        (&with("m = softmax(st)\nz = copy_(st, x)"), 2),
        (
            &alone("m = relu(st)\nr = flip(st, axis=1)\nz = copy_(st, r)"),
            3,
        ),
        // A state that moves on by one, and that another op reads, too.
        (
            "input st : bf16[64, 8192, 3]\ninput x : bf16[64, 8192, 1]\nw = relu(st)\ns = slice(st, start=1, end=3, axis=2)\nc = concat(s, x, axis=2)\nz = copy_(st, c)",
            3,
        ),
        // What both read shares a kernel.
        (&with("m = relu(st)\nz = add_(st, x)"), 1),
        (&alone("m = relu(st)\nz = copy_(st, m)"), 1),
        (&with("m = relu(st)\nn = add(m, x)\nz = copy_(st, x)"), 1),
        (&with("z = copy_(st, x)\nm = relu(z)"), 1),
    ]);
}

/// A new state is not written for the ops that the list has after the copy.
#[test]
fn a_copy_that_nothing_reads_is_the_last_kernel() {
    let step = "input st : bf16[64, 16, 128, 128]\ninput g : f32[64, 16, 1, 1]\ninput q : bf16[64, 16, 128, 1]\nn = mul(st, g)\n";
    let copy = "b = cast(n, dtype=bf16)\nz = copy_(st, b)\n";
    let read = "p = mul(n, q)\no = sum(p, axis=2)\n";
    check(&[
        (&format!("{step}{copy}{read}"), 2),
        (&format!("{step}{read}{copy}"), 2),
    ]);
}
