//! The output shape of each function, and the inputs that it refuses.

use crate::resolve::{ops, resolved};
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::{Code, DType, OpType};
use std::collections::BTreeSet;
use strum::VariantArray;

/// Declarations for the calls below.
const HEAD: &str = "input v : f16[6]
input m : f16[8, 6]
input n : f16[6, 5]
input t : f16[5, 6]
input r : f16[8, 1]
input q : f16[3, 8, 6]
input u : f16[2, 1, 6, 4]
input i : f16[2, 6, 9, 7]
input s : f16[]
input f : f16[4, 6, 3, 3]
input g : f16[4, 2, 3, 1]
input b4 : f16[4]
input c6 : f16[6]
input b5 : f16[5]
input e : i64[2, 3]
input j : i64[8, 4]
input w : f16[2, 2, 6, 4]
input p : f16[8, 4]
input l : i64[3]
input n2 : f16[3, 6]
input k3 : f16[4, 8, 3]
";

/// A call and its output shape.
#[rustfmt::skip]
const SHAPES: &[(&str, &[u64])] = &[
    ("add(m, m)", &[8, 6]),
    ("add(m, v)", &[8, 6]),
    ("add(v, m)", &[8, 6]),
    ("sub(m, r)", &[8, 6]),
    ("mul(r, v)", &[8, 6]),
    ("div(m, s)", &[8, 6]),
    ("maximum(q, m)", &[3, 8, 6]),
    ("minimum(m, q)", &[3, 8, 6]),
    ("pow(m, v)", &[8, 6]),
    ("pow(m, exponent=2)", &[8, 6]),
    ("neg(m)", &[8, 6]),
    ("abs(s)", &[]),
    ("square(q)", &[3, 8, 6]),
    ("relu(m)", &[8, 6]),
    ("gelu(m)", &[8, 6]),
    ("silu(m)", &[8, 6]),
    ("sigmoid(m)", &[8, 6]),
    ("tanh(m)", &[8, 6]),
    ("exp(m)", &[8, 6]),
    ("log(m)", &[8, 6]),
    ("erf(m)", &[8, 6]),
    ("sqrt(m)", &[8, 6]),
    ("rsqrt(m)", &[8, 6]),
    ("reciprocal(m)", &[8, 6]),
    ("scale(m)", &[8, 6]),
    ("shift(m, amount=1e-5)", &[8, 6]),
    ("scale(m, factor=0.125)", &[8, 6]),
    ("scale(m, factor=1/8)", &[8, 6]),
    ("mask(q, m)", &[3, 8, 6]),
    ("mask(q)", &[3, 8, 6]),
    ("dropout(m, p=0.1)", &[8, 6]),
    ("cast(m, dtype=f32)", &[8, 6]),
    ("where(m, r, q)", &[3, 8, 6]),
    ("clamp(m, min=0, max=6)", &[8, 6]),
    ("batch_norm(i, c6, c6)", &[2, 6, 9, 7]),
    ("batch_norm(m, c6, c6)", &[8, 6]),
    ("sum(q)", &[3, 8, 1]),
    ("sum(q, axis=0)", &[1, 8, 6]),
    ("sum(q, axis=-2, keepdim=false)", &[3, 6]),
    ("sum(q, axis=[0, -1])", &[1, 8, 1]),
    ("sum(q, axis=[0, 1, 2], keepdim=false)", &[]),
    ("sum(s)", &[]),
    ("mean(i, axis=[2, 3], keepdim=true)", &[2, 6, 1, 1]),
    ("max(m)", &[8, 1]),
    ("min(m, axis=0)", &[1, 6]),
    ("var(m)", &[8, 1]),
    ("softmax(q)", &[3, 8, 6]),
    ("softmax(q, axis=1)", &[3, 8, 6]),
    ("log_softmax(m)", &[8, 6]),
    ("layer_norm(m)", &[8, 6]),
    ("layer_norm(m, v, v, eps=0.00001)", &[8, 6]),
    ("rms_norm(q, v)", &[3, 8, 6]),
    ("l2_norm(m, axis=0)", &[8, 6]),
    ("max_pool2d(i, kernel=3)", &[2, 6, 3, 2]),
    ("max_pool2d(i, kernel=3, stride=2, padding=1)", &[2, 6, 5, 4]),
    ("avg_pool2d(i, kernel=[9, 7])", &[2, 6, 1, 1]),
    ("dequantize(m, r)", &[8, 6]),
    ("dequantize(q, v, r)", &[3, 8, 6]),
    ("scaled_matmul(m, n, r, s)", &[8, 5]),
    ("scaled_matmul(q, t, s, s, transpose_b=true)", &[3, 8, 5]),
    ("scaled_matmul(m, n, r, s, b5)", &[8, 5]),
    ("matmul(m, n)", &[8, 5]),
    ("matmul(m, t, transpose_b=true)", &[8, 5]),
    ("matmul(n, t, transpose_a=true, transpose_b=true)", &[5, 5]),
    ("matmul(q, n)", &[3, 8, 5]),
    ("matmul(t, u)", &[2, 1, 5, 4]),
    ("matmul(q, u)", &[2, 3, 8, 4]),
    ("linear(m, t)", &[8, 5]),
    ("linear(q, t, b5)", &[3, 8, 5]),
    ("linear(v, t)", &[5]),
    ("conv1d(q, k3)", &[3, 4, 4]),
    ("conv1d(q, k3, b4, stride=2, padding=1)", &[3, 4, 3]),
    ("conv2d(i, f)", &[2, 4, 7, 5]),
    ("conv2d(i, f, b4, padding=1)", &[2, 4, 9, 7]),
    ("conv2d(i, f, stride=[2, 3], padding=[1, 0])", &[2, 4, 5, 2]),
    ("conv2d(i, f, dilation=3, padding=1)", &[2, 4, 5, 3]),
    ("reshape(m) : f16[2, 24]", &[2, 24]),
    ("reshape(m, shape=[3, -1])", &[3, 16]),
    ("reshape(m, shape=[48])", &[48]),
    ("reshape(s, shape=[1, 1])", &[1, 1]),
    ("bitcast(m, dtype=bf16)", &[8, 6]),
    ("sdpa(q, q, q, causal=true)", &[3, 8, 6]),
    ("sdpa(t, m, m)", &[5, 6]),
    ("sdpa(m, t, t, r, scale=1/2)", &[8, 6]),
    ("sdpa(w, u, u, enable_gqa=true)", &[2, 2, 6, 4]),
    ("group_norm(i, c6, c6, groups=3)", &[2, 6, 9, 7]),
    ("adaptive_avg_pool2d(i, size=1)", &[2, 6, 1, 1]),
    ("adaptive_max_pool2d(i, size=[4, 7])", &[2, 6, 4, 7]),
    ("interpolate(i, times=2)", &[2, 6, 18, 14]),
    ("interpolate(i, size=[5, 8], mode=bilinear)", &[2, 6, 5, 8]),
    ("interpolate_bilinear(i, times=[1, 2], align_corners=true)", &[2, 6, 9, 14]),
    ("flip(q, axis=[0, -1])", &[3, 8, 6]),
    ("roll(q, shift=-2, axis=0)", &[3, 8, 6]),
    ("one_hot(e, classes=4)", &[2, 3, 4]),
    ("index(m, e)", &[2, 3, 6]),
    ("index(q, e, e)", &[2, 3, 6]),
    ("topk(m, count=2)", &[8, 2]),
    ("topk_indices(q, count=3, axis=1)", &[3, 3, 6]),
    ("sort(m, descending=true)", &[8, 6]),
    ("argsort(q, axis=0)", &[3, 8, 6]),
    ("scatter(m, j, p, axis=1)", &[8, 6]),
    ("scatter_add(m, j, p, axis=1)", &[8, 6]),
    ("index_copy(m, l, n2, axis=0)", &[8, 6]),
    ("index_add(m, l, n2, axis=0)", &[8, 6]),
    ("index_put(m, l, n2)", &[8, 6]),
    ("index_put(m, l, s)", &[8, 6]),
    ("index_put(q, l, l, n2)", &[3, 8, 6]),
    ("slice_scatter(m, n2, start=2, end=5, axis=0)", &[8, 6]),
    ("slice_scatter(m, n2, start=-6, step=2, axis=0)", &[8, 6]),
    ("copy(m, r)", &[8, 6]),
    ("rearrange(m, r) : f16[5]", &[5]),
    ("part(m) : f16[8, 2]", &[8, 2]),
    ("convolution(i, f, k=54) : f16[2, 4, 18, 14]", &[2, 4, 18, 14]),
    ("opaque(m, r, name=aten.fft_rfft, flops=96) : f16[8, 4]", &[8, 4]),
    ("contiguous(q)", &[3, 8, 6]),
    ("contiguous(q, shape=[24, 6])", &[24, 6]),
    ("contiguous(q) : f16[24, 6]", &[24, 6]),
    ("transpose(q)", &[3, 6, 8]),
    ("transpose(q, perm=[2, 0, 1])", &[6, 3, 8]),
    ("transpose(q, perm=[-1, -2, -3])", &[6, 8, 3]),
    ("split(m, parts=3)", &[8, 2]),
    ("split(m, parts=2, index=1, axis=0)", &[4, 6]),
    ("concat(m, m, r)", &[8, 13]),
    ("concat(t, m, axis=0)", &[13, 6]),
    ("slice(m, start=2, end=5)", &[8, 3]),
    ("slice(m, start=-2)", &[8, 2]),
    ("slice(m, end=-1, axis=0)", &[7, 6]),
    ("slice(m, step=2)", &[8, 3]),
    ("slice(m, start=1, end=6, step=2, axis=0)", &[3, 6]),
    ("slice(m, start=1, end=8, step=3, axis=0)", &[3, 6]),
    ("lt(m, v)", &[8, 6]),
    ("le(m, 0)", &[8, 6]),
    ("gt(0.5, m)", &[8, 6]),
    ("ge(q, m)", &[3, 8, 6]),
    ("eq(m, -1)", &[8, 6]),
    ("ne(m, r)", &[8, 6]),
    ("logical_and(m, v)", &[8, 6]),
    ("logical_or(m, v)", &[8, 6]),
    ("logical_xor(m, v)", &[8, 6]),
    ("logical_not(m)", &[8, 6]),
    ("div(m, 8)", &[8, 6]),
    ("sub(1, v)", &[6]),
    ("where(m, v, -inf)", &[8, 6]),
    ("where(m, inf, v)", &[8, 6]),
    ("where(m, 0, q)", &[3, 8, 6]),
    ("gelu(m, approximate=tanh)", &[8, 6]),
    ("gelu(m, approximate=none)", &[8, 6]),
    ("gelu_erf(m)", &[8, 6]),
    ("sin(m)", &[8, 6]),
    ("cos(m)", &[8, 6]),
    ("round(m)", &[8, 6]),
    ("floor(m)", &[8, 6]),
    ("rotary(q, m, m)", &[3, 8, 6]),
    ("sign(m)", &[8, 6]),
    ("isnan(m)", &[8, 6]),
    ("isinf(m)", &[8, 6]),
    ("leaky_relu(m)", &[8, 6]),
    ("elu(m)", &[8, 6]),
    ("selu(m)", &[8, 6]),
    ("softplus(m)", &[8, 6]),
    ("mish(m)", &[8, 6]),
    ("hardsigmoid(m)", &[8, 6]),
    ("hardswish(m)", &[8, 6]),
    ("softsign(m)", &[8, 6]),
    ("exp2(m)", &[8, 6]),
    ("expm1(m)", &[8, 6]),
    ("log2(m)", &[8, 6]),
    ("log1p(m)", &[8, 6]),
    ("tan(m)", &[8, 6]),
    ("ceil(m)", &[8, 6]),
    ("trunc(m)", &[8, 6]),
    ("floor_divide(m, v)", &[8, 6]),
    ("trunc_divide(m, v)", &[8, 6]),
    ("xlogy(m, v)", &[8, 6]),
    ("log_sigmoid(m)", &[8, 6]),
    ("logaddexp(m, v)", &[8, 6]),
    ("remainder(m, 3)", &[8, 6]),
    ("prod(m)", &[8, 1]),
    ("any(m, keepdim=false)", &[8]),
    ("all(m, axis=0)", &[1, 6]),
    ("argmax(q, axis=1, keepdim=false)", &[3, 6]),
    ("argmin(m)", &[8, 1]),
    ("tril(m)", &[8, 6]),
    ("triu(m, diagonal=-1)", &[8, 6]),
    ("full(value=1) : f16[8, 6]", &[8, 6]),
    ("arange() : f16[6]", &[6]),
    ("batch_norm(i, c6, c6, c6, c6)", &[2, 6, 9, 7]),
    ("batch_norm(i, c6, c6, training=true)", &[2, 6, 9, 7]),
    ("batch_norm_train(i)", &[2, 6, 9, 7]),
    ("cumsum(m, axis=0)", &[8, 6]),
    ("expand(r, shape=[8, 6])", &[8, 6]),
    ("expand(r, shape=[3, -1, 4])", &[3, 8, 4]),
    ("expand(r) : f16[8, 6]", &[8, 6]),
    ("repeat(m, times=[2, 1])", &[16, 6]),
    ("repeat(v, times=[3, 2])", &[3, 12]),
    ("repeat_interleave(m, times=3)", &[8, 18]),
    ("repeat_interleave(q, times=2, axis=0)", &[6, 8, 6]),
    ("embedding(e, m)", &[2, 3, 6]),
    ("gather(m, j)", &[8, 4]),
    ("pad(m, pad=[1, 2])", &[8, 9]),
    ("pad(i, pad=[0, 1, 2, 3])", &[2, 6, 14, 8]),
];

#[test]
fn every_function_gives_its_shape() {
    let mut called = BTreeSet::new();
    for (call, shape) in SHAPES {
        // An op that reads every tensor, so that there are no notes about unused ones.
        let text = format!(
            "{HEAD}y = {call}\nall = elementwise(v, m, n, t, r, q, u, i, s, f, g, b4, c6, b5, e, j, w, p, l, n2, k3) : f16[1]"
        );
        assert_eq!(ops(&text)[0].shape, *shape, "{call}");
        called.extend(call.split('(').next());
    }
    let table: BTreeSet<&str> = Function::VARIANTS.iter().map(|f| f.name()).collect();
    assert_eq!(called, table);
}

/// An annotation equal to the inferred shape changes nothing; any other one is an error.
#[test]
fn an_annotation_is_checked() {
    for (call, shape) in SHAPES {
        let call = call.split(" : ").next().unwrap();
        let name = call.split('(').next().unwrap();
        let result = Function::from_name(name).and_then(|f| f.row().result_dtype);
        let dtype = match name {
            "cast" => "f32",
            "bitcast" => "bf16",
            _ => result.map_or("f16", DType::name),
        };
        let text = |shape: &[u64]| format!("{HEAD}y = {call} : {dtype}{shape:?}");
        assert!(!resolved(&text(shape)).ops.is_empty(), "{call}");
        if matches!(
            name,
            "rearrange" | "part" | "full" | "arange" | "convolution" | "opaque"
        ) {
            // Its shape is the annotation.
            continue;
        }
        let mut wrong = shape.to_vec();
        wrong.push(7);
        let found = resolved(&text(&wrong));
        let takes_any = matches!(name, "reshape" | "contiguous" | "expand");
        let code = if takes_any && !call.contains("shape=") {
            Code::ShapeMismatch
        } else {
            Code::AnnotationMismatch
        };
        assert!(
            found.ops.is_empty() && found.diagnostics.iter().any(|d| d.code == code),
            "{call}"
        );
    }
}

/// An invalid call, its code and its message.
#[rustfmt::skip]
const REFUSED: &[(&str, Code, &str)] = &[
    ("add(m, n)", Code::ShapeMismatch, "`n` f16[6, 5] does not broadcast with `m` f16[8, 6]"),
    ("rotary(n, n, n)", Code::ShapeMismatch, "the last dimension of `n` f16[6, 5] has no two halves"),
    ("where(m, r, n)", Code::ShapeMismatch, "`n` f16[6, 5] does not broadcast with `m` f16[8, 6]"),
    ("mask(m, q)", Code::ShapeMismatch, "`q` f16[3, 8, 6] does not broadcast into `m` f16[8, 6]"),
    ("layer_norm(m, b5)", Code::ShapeMismatch, "`b5` f16[5] does not broadcast into `m` f16[8, 6]"),
    ("scaled_matmul(m, n, r, s, b4)", Code::ShapeMismatch, "the bias `b4` f16[4] must be [5]"),
    ("batch_norm(i, b4, c6)", Code::ShapeMismatch, "`b4` f16[4] must hold one value for each channel of `i` f16[2, 6, 9, 7]"),
    ("batch_norm(v, v, v)", Code::ShapeMismatch, "`v` f16[6] has no channels"),
    ("group_norm(i, groups=4)", Code::UnknownAttribute, "`groups` is 4, which does not divide 6 channels"),
    ("sdpa(v, m, m)", Code::ShapeMismatch, "`v` f16[6] does not contain matrices"),
    ("sdpa(m, n, n)", Code::ShapeMismatch, "the rows of `n` f16[6, 5] and `m` f16[8, 6] differ in length"),
    ("sdpa(m, m, t)", Code::ShapeMismatch, "`t` f16[5, 6] and `m` f16[8, 6] differ in their number of rows"),
    ("sdpa(q, m, m)", Code::ShapeMismatch, "`m` f16[8, 6] and `q` f16[3, 8, 6] differ in their number of heads"),
    ("sdpa(m, t, t, n)", Code::ShapeMismatch, "`n` f16[6, 5] does not broadcast into `the scores` f32[8, 5]"),
    ("adaptive_avg_pool2d(i)", Code::MissingShape, "an adaptive pool needs the size of its result"),
    ("adaptive_avg_pool2d(m, size=2)", Code::ShapeMismatch, "`m` f16[8, 6] is not a batch of images"),
    ("interpolate(i)", Code::MissingShape, "give either `size` or `times`"),
    ("interpolate(i, size=4, times=2)", Code::MissingShape, "give either `size` or `times`"),
    ("interpolate(i, times=2, mode=cubic)", Code::UnknownAttribute, "`mode` takes nearest or bilinear"),
    ("interpolate(i, times=2, align_corners=true)", Code::UnknownAttribute, "`align_corners` needs `mode=bilinear`"),
    ("flip(m, axis=2)", Code::UnknownAttribute, "`axis` is 2, but `m` f16[8, 6] has 2 dimensions"),
    ("roll(m)", Code::MissingShape, "`roll` needs the distance that elements move"),
    ("one_hot(e)", Code::MissingShape, "`one_hot` needs `classes`"),
    ("one_hot(m, classes=2)", Code::ShapeMismatch, "`m` f16[8, 6] is not an index"),
    ("index(v, e, e)", Code::ShapeMismatch, "`v` f16[6] has fewer dimensions than there are indices"),
    ("topk(m)", Code::MissingShape, "`topk` needs `count`"),
    ("topk(m, count=7)", Code::UnknownAttribute, "`count` is 7"),
    ("scatter(m, j, m)", Code::ShapeMismatch, "`m` f16[8, 6] has another shape than `j` i64[8, 4]"),
    ("index_add(m, e, m)", Code::ShapeMismatch, "`e` i64[2, 3] is not a list of indices"),
    ("index_put(m, l, p)", Code::ShapeMismatch, "`p` f16[8, 4] does not broadcast into `m` f16[3, 6]"),
    ("slice_scatter(m, n2, start=2, axis=0)", Code::ShapeMismatch, "`n2` f16[3, 6] has another shape than the range of `m` f16[8, 6], [6, 6]"),
    ("copy(r, m)", Code::ShapeMismatch, "`m` f16[8, 6] does not broadcast into `r` f16[8, 1]"),
    ("index_copy(m, l, n, axis=0)", Code::ShapeMismatch, "`n` f16[6, 5] needs a slice of `m` f16[8, 6] along axis 0 for each element of `l` i64[3]"),
    ("sum(m, axis=2)", Code::UnknownAttribute, "`axis` is 2, but `m` f16[8, 6] has 2 dimensions"),
    ("softmax(m, axis=-3)", Code::UnknownAttribute, "`axis` is -3, but `m` f16[8, 6] has 2 dimensions"),
    ("softmax(m, axis=[0, 1])", Code::UnknownAttribute, "`axis` must be one dimension here"),
    ("sum(s, axis=0)", Code::UnknownAttribute, "`axis` is 0, but `s` f16[] has 0 dimensions"),
    ("matmul(m, t)", Code::ShapeMismatch, "`m` f16[8, 6] and `t` f16[5, 6] do not multiply: K is 6 on the left and 5 on the right"),
    ("matmul(m, v)", Code::ShapeMismatch, "`v` f16[6] is not a matrix"),
    ("matmul(q, i, transpose_a=true)", Code::ShapeMismatch, "`q` f16[3, 8, 6] and `i` f16[2, 6, 9, 7] do not multiply: K is 8 on the left and 9 on the right"),
    ("matmul(q, q, k=0) : f16[1]", Code::NonPositiveSize, "`k` is 0"),
    ("matmul(q, q, k=4)", Code::MissingShape, "`matmul` with `k=` needs a shape"),
    ("linear(m, n)", Code::ShapeMismatch, "`m` f16[8, 6] has 6 features, but `n` f16[6, 5] takes 5"),
    ("linear(m, t, b4)", Code::ShapeMismatch, "the bias `b4` f16[4] must be [5]"),
    ("linear(s, t)", Code::ShapeMismatch, "`s` f16[] is a scalar"),
    ("linear(m, v)", Code::ShapeMismatch, "`v` f16[6] is not a matrix"),
    ("conv1d(m, k3)", Code::ShapeMismatch, "`m` f16[8, 6] is not a batch of sequences"),
    ("conv1d(q, m)", Code::ShapeMismatch, "`m` f16[8, 6] is not a convolution weight"),
    ("conv2d(m, f)", Code::ShapeMismatch, "`m` f16[8, 6] is not a batch of images"),
    ("conv2d(i, m)", Code::ShapeMismatch, "`m` f16[8, 6] is not a convolution weight"),
    ("conv2d(i, g)", Code::ShapeMismatch, "`i` f16[2, 6, 9, 7] has 6 channels in 1 group, but `g` f16[4, 2, 3, 1] takes 2"),
    ("conv2d(i, g, groups=3)", Code::UnknownAttribute, "`groups` is 3, which does not divide 6 input and 4 output channels"),
    ("conv2d(i, f, b5)", Code::ShapeMismatch, "the bias `b5` f16[5] must be [4]"),
    ("conv2d(i, f, stride=0)", Code::UnknownAttribute, "`stride` must be at least 1"),
    ("conv2d(i, f, stride=[1, 1, 1])", Code::UnknownAttribute, "`stride` takes one number or [height, width]"),
    ("conv2d(i, f, dilation=4)", Code::ShapeMismatch, "a window of 3 does not fit in 7 of `i` f16[2, 6, 9, 7]"),
    ("max_pool2d(i)", Code::MissingShape, "`max_pool2d` needs the size of its window"),
    ("max_pool2d(i, kernel=10)", Code::ShapeMismatch, "a window of 10 does not fit in 9 of `i` f16[2, 6, 9, 7]"),
    ("avg_pool2d(i, kernel=2, padding=9223372036854775807)", Code::Overflow, "a size in `avg_pool2d` exceeds 2^63"),
    ("rearrange(m, r)", Code::MissingShape, "this op needs its shape"),
    ("bitcast(m)", Code::MissingShape, "a bitcast needs the element type to cast to"),
    ("bitcast(m, dtype=i8)", Code::ShapeMismatch, "a bitcast keeps the size of an element, but f16 and i8 have different sizes"),
    ("reshape(m)", Code::MissingShape, "a reshape needs its new shape"),
    ("reshape(m, shape=[5, 9])", Code::ShapeMismatch, "`m` f16[8, 6] holds 48 elements, but [5, 9] holds 45"),
    ("reshape(m, shape=[5, -1])", Code::InexactDivision, "the -1 in `shape` is 48 / 5, which leaves a remainder"),
    ("reshape(m, shape=[-1, -1])", Code::NonPositiveSize, "a size of -1 in `shape`"),
    ("reshape(m, shape=[0])", Code::NonPositiveSize, "a size of 0 in `shape`"),
    ("reshape(m, shape=6)", Code::UnknownAttribute, "`shape` takes a list such as [0, 2, 1]"),
    ("transpose(v)", Code::ShapeMismatch, "`v` f16[6] has no two dimensions to swap"),
    ("transpose(q, perm=[0, 1])", Code::UnknownAttribute, "`perm` must name each dimension of `q` f16[3, 8, 6] once"),
    ("transpose(q, perm=[0, 0, 1])", Code::UnknownAttribute, "`perm` must name each dimension of `q` f16[3, 8, 6] once"),
    ("transpose(q, perm=[0, 1, 3])", Code::UnknownAttribute, "`perm` is 3, but `q` f16[3, 8, 6] has 3 dimensions"),
    ("split(m)", Code::MissingShape, "`split` needs the number of pieces"),
    ("split(m, parts=0)", Code::UnknownAttribute, "`parts` is 0"),
    ("split(m, parts=4)", Code::InexactDivision, "`m` f16[8, 6] does not split into 4 equal pieces: 6 / 4 leaves a remainder of 2"),
    ("split(m, parts=2, index=2)", Code::UnknownAttribute, "`index` is 2, but there are 2 pieces"),
    ("split(s, parts=1)", Code::ShapeMismatch, "`s` f16[] is a scalar and has no dimension"),
    ("concat(m, n)", Code::ShapeMismatch, "`n` f16[6, 5] and `m` f16[8, 6] do not line up along axis 1"),
    ("concat(m, v, axis=0)", Code::ShapeMismatch, "`v` f16[6] and `m` f16[8, 6] do not line up along axis 0"),
    ("slice(m, start=4, end=4)", Code::NonPositiveSize, "the slice from 4 to 4 is empty"),
    ("slice(m, end=7)", Code::UnknownAttribute, "`end` is 7, but `m` f16[8, 6] has 6 along axis 1"),
    ("slice(m, start=-7)", Code::UnknownAttribute, "`start` is -7, but `m` f16[8, 6] has 6 along axis 1"),
    ("cast(m)", Code::MissingShape, "a cast needs the element type to cast to"),
    ("cast(m, dtype=f17)", Code::UnknownAttribute, "`dtype` takes an element type such as f32"),
    ("sum(m, keepdim=1)", Code::UnknownAttribute, "`keepdim` takes true or false"),
    ("sum(m, axis=0.5)", Code::UnknownAttribute, "`axis` takes an integer or a list such as [1, 2]"),
    ("matmul(m, n, k=true) : f16[1]", Code::UnknownParam, "no param is called `true`"),
    ("scale(m, factor=Z/2)", Code::UnknownParam, "no param is called `Z`"),
    ("slice(m, step=0)", Code::UnknownAttribute, "`step` is 0"),
    ("relu(3)", Code::WrongInputCount, "`relu` takes no number as an input"),
    ("matmul(m, 3)", Code::WrongInputCount, "`matmul` takes no number as an input"),
    ("add(m, 3, 4)", Code::WrongInputCount, "`add` takes 2 inputs, not 3"),
    ("add(3, 4)", Code::WrongInputCount, "`add` has only numbers as inputs, which have no type"),
    ("where(1, m, v)", Code::WrongInputCount, "the first input of `where` is a number"),
    ("where(m, 1, 0)", Code::WrongInputCount, "`where` has only numbers as inputs, which have no type"),
    ("gelu(m, approximate=erf)", Code::UnknownAttribute, "`approximate` takes tanh or none"),
    ("batch_norm(i, c6, c6, c6, training=true)", Code::WrongInputCount, "`batch_norm` takes 1 to 3 inputs, not 4"),
    ("full(value=1)", Code::MissingShape, "this op needs its shape"),
    ("expand(m, shape=[8, 12])", Code::ShapeMismatch, "`m` f16[8, 6] does not expand to [8, 12]"),
    ("expand(m, shape=[-1, 8, 6])", Code::UnknownAttribute, "`shape` holds a size below 1"),
    ("expand(m)", Code::MissingShape, "an expand needs its new shape"),
    ("repeat(m)", Code::MissingShape, "the number of repetitions is missing"),
    ("repeat(m, times=2)", Code::UnknownAttribute, "`times` has fewer numbers than `m` f16[8, 6] has dimensions"),
    ("repeat(m, times=[0, 1])", Code::UnknownAttribute, "`times` is 0"),
    ("repeat_interleave(m, times=[1, 2])", Code::UnknownAttribute, "`times` must be one number here"),
    ("embedding(m, n)", Code::ShapeMismatch, "`m` f16[8, 6] is not an index"),
    ("embedding(e, v)", Code::ShapeMismatch, "`v` f16[6] is not a table of rows"),
    ("gather(n, j)", Code::ShapeMismatch, "`j` i64[8, 4] does not index `n` f16[6, 5] along axis 1"),
    ("pad(m)", Code::MissingShape, "`pad` needs the width of its border"),
    ("pad(m, pad=[1])", Code::UnknownAttribute, "`pad` has 1 numbers for `m` f16[8, 6]"),
    ("pad(m, pad=[1, -1])", Code::UnknownAttribute, "`pad` holds a number below 0"),
];

#[test]
fn what_does_not_fit_is_refused_with_its_figures() {
    for (call, code, message) in REFUSED {
        let found = resolved(&format!("y = {call}\n{HEAD}"));
        let errors: Vec<_> = found
            .diagnostics
            .iter()
            .filter(|d| d.op == Some(0))
            .collect();
        let [problem] = errors[..] else {
            panic!("{call}: {errors:?}")
        };
        assert_eq!(
            (problem.code, problem.message.as_str()),
            (*code, *message),
            "{call}"
        );
        assert!(problem.hint.is_some() && problem.span.is_some(), "{call}");
    }
}

#[test]
fn every_row_is_consistent() {
    for function in Function::VARIANTS {
        let f = function.row();
        assert_eq!(Function::from_name(function.name()), Some(*function));
        assert!(f.min_inputs <= f.max_inputs, "{function}");
        assert!(!f.summary.is_empty() && !f.flops_source.is_empty());
        let is_counted = match f.op_type {
            OpType::Elementwise | OpType::Reduction => {
                f.max_inputs > 0 && *function != Function::Copy
            }
            OpType::Matmul => false,
            // Most move elements only, and a library's kernel may count otherwise.
            OpType::Reshape | OpType::Opaque => f.flops_per_element > 0,
        };
        assert_eq!(f.flops_per_element > 0, is_counted, "{function}");
    }
    for attribute in AttributeName::VARIANTS {
        let takes = |function: &Function| function.row().attributes.contains(attribute);
        assert!(Function::VARIANTS.iter().any(takes), "{attribute}");
    }
}

#[test]
fn flops_of_an_element() {
    let flops = |name| Function::from_name(name).map(|f| f.row().flops_per_element);
    for (name, count) in [
        ("add", 1),
        ("relu", 1),
        ("gelu", 8),
        ("sum", 1),
        ("max", 1),
        ("softmax", 5),
        ("layer_norm", 8),
    ] {
        assert_eq!(flops(name), Some(count), "{name}");
    }
    assert_eq!(flops("no_such_function"), None);
}
