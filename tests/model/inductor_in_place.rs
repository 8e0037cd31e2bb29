//! Copies into inputs of a program, by torch.compile. The counts are those of TorchInductor 2.11.

use crate::inductor_measured::{DEFAULT, options};
use crate::inductor_smallest::{analyzed, check};
use fuseline_core::notation::parse;
use fuseline_core::{Policy, analyze_program};

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

/// A loop over the source writes it into a part of a tensor, so it computes what it writes, and
/// joins what runs over the same elements. Counted with the compiler's own scheduler.
#[test]
fn a_write_into_a_part_computes_its_source() {
    let cache =
        "input kc : bf16[4, 8, 1024, 128]\ninput at : i64[1]\ninput k : bf16[4, 8, 1, 128]\n";
    let with = |ops: &str| format!("{cache}{ops}");
    let start = |ops: &str| with(ops).replace("input at : i64[1]\n", "");
    check(&[
        (
            &with("kk = mul(k, 3)\nkeys = index_copy_(kc, at, kk, axis=2)"),
            1,
        ),
        (
            &with("kk = mul(k, 3)\nkeys = index_copy_(kc, at, kk, axis=2)\nz = relu(kk)"),
            1,
        ),
        (
            &with("m = rms_norm(k)\nkeys = index_copy_(kc, at, m, axis=2)"),
            1,
        ),
        (
            &with("m = rms_norm(k)\nr = mul(m, 3)\nkeys = index_copy_(kc, at, r, axis=2)"),
            1,
        ),
        (
            &with("next = add(at, 1)\nkeys = index_copy_(kc, next, k, axis=2)"),
            1,
        ),
        (
            &start("kk = mul(k, 3)\nkeys = slice_scatter_(kc, kk, axis=2, start=5, end=6)"),
            1,
        ),
        // Two caches of one layer.
        (
            &with(
                "input vc : bf16[4, 8, 1024, 128]\nkk = mul(k, 3)\nv = add(k, 3)\nkeys = index_copy_(kc, at, kk, axis=2)\nvalues = index_copy_(vc, at, v, axis=2)",
            ),
            1,
        ),
        (
            &with(
                "input vc : bf16[4, 8, 1024, 128]\nkeys = index_copy_(kc, at, k, axis=2)\nvalues = index_copy_(vc, at, k, axis=2)",
            ),
            1,
        ),
        // What reads the cache runs over other elements.
        (
            &with("kk = mul(k, 3)\nkeys = index_copy_(kc, at, kk, axis=2)\nz = relu(keys)"),
            2,
        ),
        // Out of place: the cache is copied first, unless nothing else reads it.
        (
            &with("kk = mul(k, 3)\nkeys = index_copy(kc, at, kk, axis=2)"),
            2,
        ),
        (
            &with("z = mul(kc, 3)\nkeys = index_copy(z, at, k, axis=2)"),
            2,
        ),
        // A slice out of place is pointwise over the whole.
        (
            &start("x = mul(kc, 2)\ny = slice_scatter(x, k, axis=2, start=3, end=4)\nz = relu(y)"),
            1,
        ),
    ]);
    let pages = "input pages : bf16[64, 16, 8, 128]\ninput page : i64[4]\ninput off : i64[4]\ninput k : bf16[4, 8, 128]\nkk = mul(k, 2)\n";
    let rows =
        "input w : f32[1024, 128]\ninput ix : i64[64]\ninput s : f32[64, 128]\ng = mul(s, 3)\n";
    check(&[
        (&format!("{pages}p = index_put_(pages, page, off, kk)"), 1),
        // What the norms of a row need is the same loop.
        (
            &format!("{pages}p = index_put_(pages, page, off, kk)\no = sum(kk, axis=-1)"),
            1,
        ),
        (&format!("{rows}y = index_add_(w, ix, g, axis=0)"), 1),
        (
            &format!("{rows}x = mul(w, 2)\ny = index_add(x, ix, g, axis=0)"),
            2,
        ),
        // One write waits for the other.
        (
            &format!("{rows}y = index_put_(w, ix, g)\nz = index_put_(y, ix, s)"),
            2,
        ),
    ]);
}

/// Only the part is written, and the source only if something else reads it.
#[test]
fn a_kernel_that_writes_a_part_moves_only_the_part() {
    let text = "input kc : bf16[4, 8, 1024, 128]\ninput at : i64[1]\ninput k : bf16[4, 8, 1, 128]\nm = rms_norm(k)\nkeys = index_copy_(kc, at, m, axis=2)";
    let outcome = analyze_program(&parse(text).program, &options(DEFAULT));
    let analysis = outcome.analysis.unwrap();
    let part = 4 * 8 * 128 * 2;
    assert_eq!(analysis.fused.traffic.bytes_written, part);
    assert_eq!(analysis.fused.traffic.bytes_read, part + 8);
}

/// Only what is no view of an input is overwritten: a view is copied, and copied back by a kernel
/// that what else reads the whole may join.
#[test]
fn a_write_through_a_view_of_an_input_runs_on_a_copy() {
    let paged = "input kc : bf16[64, 16, 2, 32]\ninput k : bf16[4, 2, 32]\ninput slot : i64[4]\nv = reshape(kc) : bf16[1024, 2, 32]\nw = index_copy_(v, slot, k, axis=0)\n";
    let turned = "input kc : bf16[4, 256, 2, 32]\ninput k : bf16[4, 2, 2, 32]\ninput at : i64[2]\nv = transpose(kc, perm=[0, 2, 1, 3])\nw = index_copy_(v, at, k, axis=2)\n";
    check(&[
        (paged, 3),
        (
            &format!("{paged}r = reshape(w) : bf16[64, 16, 2, 32]\ny = mul(r, 2)"),
            3,
        ),
        (
            &format!("{turned}r = transpose(w, perm=[0, 2, 1, 3])\ny = mul(r, 2)"),
            3,
        ),
    ]);
    // `pages[page, :, slot] = k` is no view.
    check(&[(
        "input pages : bf16[8, 4, 16, 8]\ninput page : i64[3]\ninput slot : i64[3]\ninput k : bf16[3, 4, 8]\nv = transpose(pages, perm=[0, 2, 1, 3])\nw = index_put_(v, page, slot, k)",
        1,
    )]);
    let outcome = analyze_program(&parse(paged).program, &options(DEFAULT));
    let traffic = outcome.analysis.unwrap().fused.traffic;
    let (cache, part) = (64 * 16 * 2 * 32 * 2, 4 * 2 * 32 * 2);
    assert_eq!(traffic.bytes_read, 2 * cache + part + 4 * 8);
    assert_eq!(traffic.bytes_written, 2 * cache + part);
}

/// Putting a part back is no launch where the kernel that computes the part writes it there.
#[test]
fn a_part_is_put_back_by_the_kernel_that_computes_it() {
    let cache = "input kc : bf16[4, 256, 64]\ninput k : bf16[4, 8, 64]\n";
    let with = |ops: &str| format!("{cache}{ops}");
    let changed = "a = slice(kc, start=0, end=8, axis=1)\nm = mul_(a, k)\nw = slice_scatter_(kc, m, start=0, end=8, axis=1)\n";
    let moved = "a = slice(kc, start=0, end=8, axis=1)\nb = slice(kc, start=16, end=24, axis=1)\nc = mul(b, k)\nm = add_(a, c)\nw = slice_scatter_(kc, m, start=0, end=8, axis=1)\n";
    let part = "a = slice(kc, start=2, end=3, axis=0)\ns = slice(k, start=2, end=3, axis=0)\np = slice_scatter_(a, s, start=4, end=12, axis=1)\nw = slice_scatter_(kc, p, start=2, end=3, axis=0)\n";
    check(&[
        (&with(&format!("{changed}y = relu(w)")), 2),
        (&with(&format!("{changed}y = relu(m)")), 1),
        // Another part is read, so it is computed first.
        (&with(&format!("{moved}y = relu(w)")), 3),
        // A part of a part.
        (&with(&format!("{part}y = relu(w)")), 2),
        // A part of a part of a part.
        (
            "input kc : bf16[4, 256, 8, 64]\ninput k : bf16[2, 3, 2, 64]\na = slice(kc, start=1, end=3, axis=0)\nb = slice(a, start=10, end=13, axis=1)\nc = slice_scatter_(b, k, start=4, end=6, axis=2)\nd = slice_scatter_(a, c, start=10, end=13, axis=1)\ne = slice_scatter_(kc, d, start=1, end=3, axis=0)",
            1,
        ),
        // What reads the part at the same index computes it, too.
        (
            &with(
                "w = slice_scatter_(kc, k, start=0, end=8, axis=1)\na = slice(w, start=0, end=8, axis=1)\ny = mul(a, 2)",
            ),
            1,
        ),
    ]);
}

/// The compiler computes all values of a tensor but the last without overwriting it. Of two writes
/// into parts, each is pointwise over the whole, which is copied back at the end.
#[test]
fn two_writes_into_parts_of_one_tensor_compute_the_whole() {
    let cache = "input kc : bf16[4, 256, 64]\ninput k : bf16[4, 8, 64]\n";
    let with = |ops: &str| format!("{cache}{ops}");
    let indexed = |ops: &str| format!("{cache}input at : i64[8]\n{ops}");
    let one = "a = mul(k, 2)\nv = slice_scatter_(kc, a, start=0, end=8, axis=1)\n";
    let two = format!("{one}b = mul(k, 3)\nw = slice_scatter_(v, b, start=8, end=16, axis=1)\n");
    let product = "input q : bf16[4, 16, 64]\n";
    // Another row of a cache, in two parts of its columns: the whole is read at two indices.
    let row = "input kc : bf16[4, 256, 96]\ninput c : bf16[4, 1, 64]\ninput p : bf16[4, 1, 32]\na = slice(kc, start=3, end=4, axis=1)\nb = slice_scatter_(a, c, start=0, end=64, axis=2)\nv = slice_scatter_(kc, b, start=3, end=4, axis=1)\nd = slice(v, start=3, end=4, axis=1)\ne = slice_scatter_(d, p, start=64, end=96, axis=2)\nw = slice_scatter_(v, e, start=3, end=4, axis=1)\ny = mul(w, 2)";
    let halves = "input kc : bf16[2, 4, 256, 64]\ninput k : bf16[4, 8, 64]\ninput at : i64[8]\na = slice(kc, start=0, end=1, axis=0)\nb = reshape(a) : bf16[4, 256, 64]\nc = index_copy_(b, at, k, axis=1)\nd = reshape(c) : bf16[1, 4, 256, 64]\nv = slice_scatter_(kc, d, start=0, end=1, axis=0)\ne = slice(v, start=1, end=2, axis=0)\nf = reshape(e) : bf16[4, 256, 64]\ng = index_copy_(f, at, k, axis=1)\nh = reshape(g) : bf16[1, 4, 256, 64]\nw = slice_scatter_(v, h, start=1, end=2, axis=0)\ny = relu(w)";
    check(&[
        (&with(&two), 1),
        (&with(&format!("{two}y = mul(w, 2)")), 1),
        (&with(&format!("{two}y = sum(w, axis=-1)")), 1),
        (&with(&format!("r = sum(kc, axis=-1)\n{two}")), 1),
        (
            &with(&format!(
                "{two}c = slice(w, start=0, end=16, axis=1)\ny = relu(c)"
            )),
            2,
        ),
        (
            &with(&format!(
                "{product}{two}t = transpose(w, perm=[0, 2, 1])\ny = matmul(q, t)"
            )),
            2,
        ),
        (row, 2),
        (halves, 5),
        // Any op in place makes a value where another one goes on with it.
        (
            &with("x = mul_(kc, 2)\nw = slice_scatter_(x, k, start=0, end=8, axis=1)\ny = relu(w)"),
            1,
        ),
        (&with(&format!("{one}x = mul_(v, 2)\ny = relu(x)")), 1),
        (
            &indexed(&format!(
                "{one}x = index_copy_(v, at, k, axis=1)\ny = relu(x)"
            )),
            3,
        ),
        (
            &indexed(
                "v = index_copy_(kc, at, k, axis=1)\nw = slice_scatter_(v, k, start=0, end=8, axis=1)\ny = relu(w)",
            ),
            2,
        ),
        // Nothing of the caller's is overwritten.
        (
            &with("x = relu(kc)\nw = slice_scatter_(x, k, start=0, end=8, axis=1)\ny = mul(w, 2)"),
            1,
        ),
    ]);
    let bytes = |text: &str| {
        let outcome = analyze_program(&parse(text).program, &options(DEFAULT));
        let traffic = outcome.analysis.unwrap().fused.traffic;
        (traffic.bytes_read, traffic.bytes_written)
    };
    let (cache, part) = (4 * 256 * 64 * 2, 4 * 8 * 64 * 2);
    let read = with(&format!("{two}y = mul(w, 2)"));
    assert_eq!(bytes(&read), (cache + part, 2 * cache));
    // Of the value before the copy, a reader computes the part that it takes.
    let taken = with(&format!(
        "{two}c = slice(w, start=0, end=16, axis=1)\ny = relu(c)"
    ));
    assert_eq!(
        bytes(&taken),
        (cache + 2 * part + 2 * part, cache + 2 * part)
    );
    // What is read and computed at two indices is a buffer, which is copied.
    let (cache, row_bytes) = (4 * 256 * 96 * 2, 4 * 96 * 2);
    assert_eq!(bytes(row), (2 * cache + row_bytes, 3 * cache));
}

/// A kernel that copies a tensor back and computes with it reads it once.
#[test]
fn a_copy_back_shares_what_a_reader_reads() {
    let paged = "input kc : bf16[64, 16, 2, 32]\ninput k : bf16[4, 2, 32]\ninput slot : i64[4]\nv = reshape(kc) : bf16[1024, 2, 32]\nw = index_copy_(v, slot, k, axis=0)\nr = reshape(w) : bf16[64, 16, 2, 32]\ny = mul(r, 2)";
    let outcome = analyze_program(&parse(paged).program, &options(DEFAULT));
    let traffic = outcome.analysis.unwrap().fused.traffic;
    let (cache, part) = (64 * 16 * 2 * 32 * 2, 4 * 2 * 32 * 2);
    assert_eq!(traffic.bytes_read, 2 * cache + part + 4 * 8);
    assert_eq!(traffic.bytes_written, 3 * cache + part);
}

#[test]
fn writes_into_copies_of_two_caches_keep_their_memory_apart() {
    let paged = |tokens: u64| {
        format!(
            "input kc : bf16[4096, 16, 2, 32]\ninput vc : bf16[4096, 16, 2, 32]\ninput k : bf16[{tokens}, 2, 32]\n\
             input v : bf16[{tokens}, 2, 32]\ninput s : i64[{tokens}]\nkf = reshape(kc, shape=[65536, 2, 32])\n\
             kw = index_copy_(kf, s, k, axis=0)\nvf = reshape(vc, shape=[65536, 2, 32])\nvw = index_copy_(vf, s, v, axis=0)"
        )
    };
    // Each cache is copied, written and copied back. The two writes share the slots alone.
    check(&[(&paged(4), 6), (&paged(256), 6)]);
}

#[test]
fn what_is_copied_into_a_slice_is_written_first_if_it_reads_several() {
    // Rotated keys go into a static cache by heads, and the queries lie by heads, too.
    let prefill = |rest: &str| {
        format!(
            "input q : bf16[2, 128, 8, 48]\ninput k : bf16[2, 128, 8, 48]\ninput c : bf16[48]\ninput kc : bf16[2, 8, 256, 48]\n\
             r = mul(k, c)\nt = transpose(r, perm=[0, 2, 1, 3])\nw = slice_scatter_(kc, t, start=0, end=128, axis=2)\n\
             s = mul(q, c)\nu = transpose(s, perm=[0, 2, 1, 3])\n{rest}"
        )
    };
    let product = "part = slice(w, start=0, end=128, axis=2)\nv = transpose(part, perm=[0, 1, 3, 2])\ny = matmul(u, v)";
    check(&[
        (&prefill(product), 3),
        (&prefill("y = mul(u, 1.5)"), 1),
        (&prefill("y = contiguous(u)"), 2),
    ]);
}

/// One slot for each sequence of a batch, `cache[batch, :, slots] = k`: the write indexes a
/// transposed cache, and the product after it reads the cache itself.
#[test]
fn what_is_written_in_place_lies_as_its_memory() {
    let text = "input q : bf16[16, 8, 2, 128]\ninput k : bf16[16, 8, 128]\ninput kc : bf16[16, 8, 4096, 128]\n\
                input at : i64[16]\nb = arange() : i64[16]\nt = transpose(kc, perm=[0, 2, 1, 3])\n\
                w = index_put_(t, b, at, k)\nc = transpose(w, perm=[0, 2, 1, 3])\n\
                ct = transpose(c, perm=[0, 1, 3, 2])\ny = matmul(q, ct)\n";
    check(&[(text, 2)]);
    for policy in [Policy::None, Policy::Inductor] {
        let mut options = options(DEFAULT);
        options.policy = policy;
        let analysis = analyze_program(&parse(text).program, &options)
            .analysis
            .unwrap();
        let product = analysis.fused.kernels.iter().last().unwrap();
        let cache_bytes = 16 * 8 * 4096 * 128 * 2;
        let q_bytes = 16 * 8 * 2 * 128 * 2;
        assert_eq!(product.bytes_read, cache_bytes + q_bytes, "{policy:?}");
    }
}

/// The compiler looks through a write at indices as through a view when it asks whether only
/// pointwise ops read a concatenation. Then the write computes norm, rotation and concatenation.
#[test]
fn a_write_at_indices_computes_a_concatenation_whose_readers_are_pointwise() {
    let list = |rest: &str| {
        format!(
            "input k : bf16[8, 1, 8, 128]\ninput kc : bf16[8, 8, 2048, 128]\ninput at : i64[1]\n\
             input c : bf16[8, 1, 1, 64]\nn = rms_norm(k)\n\
             l = split(n, parts=2, index=0, axis=3)\nr = split(n, parts=2, index=1, axis=3)\n\
             a = mul(l, c)\nb = mul(r, c)\ncat = concat(a, b, axis=3)\n\
             t = transpose(cat, perm=[0, 2, 1, 3])\nkeys = index_copy_(kc, at, t, axis=2)\n{rest}"
        )
    };
    let broadcast = "input q : bf16[8, 8, 4, 128]\nh = reshape(q, shape=[8, 8, 4, 1, 128])\nu = reshape(keys, shape=[8, 8, 1, 2048, 128])\n\
                     v = transpose(u, perm=[0, 1, 2, 4, 3])\ny = matmul(h, v)";
    check(&[
        (&list(""), 1),
        (&list("y = relu(keys)"), 2),
        (&list("y = softmax(keys)"), 2),
        // The copy of keys that are broadcast to the heads is pointwise.
        (&list(broadcast), 3),
        (
            &list("input q : bf16[8, 8, 4, 128]\ny = matmul(q, keys, transpose_b=true)"),
            4,
        ),
    ]);
}

/// The compiler computes a momentum in each of its readers, and copies it back at the end.
#[test]
fn what_an_elementwise_op_changes_in_place_is_computed_in_each_reader() {
    let changed = "input m : f32[4096, 4096]\ninput g : f32[4096, 4096]\na = mul_(m, 0.9)\nb = add_(a, g)\ns = square(b)\nn = sum(s, axis=[0, 1])\n";
    let bytes = 4096 * 4096 * 4;
    let launches = |text: &str| {
        let fused = analyzed(text).fused;
        (fused.launches, fused.traffic.total / bytes)
    };
    // Both inputs are read for the sum, and again to write one of them.
    assert_eq!(launches(changed), (3, 5));
    let scaled =
        format!("{changed}r = sqrt(n)\nu = div(b, r)\ninput p : f32[4096, 4096]\nq = sub_(p, u)");
    assert_eq!(launches(&scaled), (3, 7));
    // One kernel reads it and writes it.
    let alone = "input m : f32[4096, 4096]\ninput g : f32[4096, 4096]\nb = add_(m, g)\ny = relu(b)";
    assert_eq!(launches(alone), (1, 4));
}
