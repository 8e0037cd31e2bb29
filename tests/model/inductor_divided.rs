//! Indices with divisions under torch.compile's policy: launches and bytes are those of
//! `TorchInductor` 2.11, by its own lowering, scheduler and code.

use crate::inductor_smallest::analyzed;

const PRODUCTS: &str = "\
input a : f32[2, 32, 128]
input b : f32[2, 32, 128]
weight w : f32[128, 128]
weight u : f32[64, 128]
Q = linear(a, w)
K = linear(b, u)
qh = reshape(Q) : f32[2, 32, 4, 32]
q = transpose(qh, perm=[0, 2, 1, 3])
kh = reshape(K) : f32[2, 32, 2, 32]
k = transpose(kh, perm=[0, 2, 1, 3])
";

/// The rotary embedding of a tensor by `c` and `s`, as `NAMEo`.
fn rotary(name: &str) -> String {
    "Xm = mul(X, c)\nXa = slice(X, start=0, end=16, axis=3)\nXb = slice(X, start=16, end=32, axis=3)\nXn = neg(Xb)\nXt = concat(Xn, Xa, axis=3)\nXs = mul(Xt, s)\nXo = add(Xm, Xs)\n"
        .replace('X', name)
}

/// Queries, and the keys of grouped heads for each query head, read the frequencies twice in each
/// row: loops over four and over five dimensions, which are equal where neighbours are one loop.
#[test]
fn rotary_embeddings_of_grouped_heads_share_their_frequencies() {
    let frequencies = "weight f : f32[16]\nat = arange() : i64[32]\nr = reshape(at) : i64[1, 32, 1]\np = cast(r, dtype=f32)\ng = reshape(f) : f32[1, 1, 16]\nh = mul(p, g)\ne = concat(h, h, axis=2)\nc0 = cos(e)\ns0 = sin(e)\nc = reshape(c0) : f32[1, 1, 32, 32]\ns = reshape(s0) : f32[1, 1, 32, 32]\n";
    let repeated = "ke = reshape(ko) : f32[2, 2, 1, 32, 32]\nkx = expand(ke) : f32[2, 2, 2, 32, 32]\nkc = contiguous(kx)\nkf = reshape(kc) : f32[2, 4, 32, 32]\nkd = transpose(kf, perm=[0, 1, 3, 2])\ny = matmul(qo, kd)\n";
    let text = [PRODUCTS, frequencies, &rotary("q"), &rotary("k"), repeated].concat();
    let fused = analyzed(&text).fused;
    assert_eq!((fused.launches, fused.traffic.total), (4, 426_048));
}

/// Only a part of each head is turned. Queries and keys share 8 frequencies, too few for one
/// kernel, which would keep both products in memory.
#[test]
fn what_a_divided_index_reads_is_counted_once_for_each_row() {
    let text = "\
input a : f32[2, 32, 64]
weight w : f32[128, 64]
weight u : f32[128, 64]
Q = linear(a, w)
K = linear(a, u)
weight f : f32[8]
qh = reshape(Q) : f32[2, 32, 4, 32]
kh = reshape(K) : f32[2, 32, 4, 32]
e = concat(f, f, axis=0)
c = cos(e)
qa = slice(qh, start=0, end=16, axis=3)
qb = slice(qh, start=16, end=32, axis=3)
ka = slice(kh, start=0, end=16, axis=3)
kb = slice(kh, start=16, end=32, axis=3)
qm = mul(qa, c)
km = mul(ka, c)
q = concat(qm, qb, axis=3)
k = concat(km, kb, axis=3)
output q
output k
";
    assert_eq!(analyzed(text).fused.launches, 4);
}
