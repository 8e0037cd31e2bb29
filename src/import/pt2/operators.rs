//! The table of `ATen` operators: what each of them is in the notation.
//!
//! In a line, `{self}` is the argument of that name in the operator's schema. An operator that
//! writes in place has the row of the one that does not.

use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::Call;
use crate::pt2::{
    attention, class_losses, convolutions, elementwise, indexing, indices, layout, losses, pieces,
    products, reductions,
};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What an output of an operator is.
pub(super) enum Rule {
    /// Lines of the notation, the last of which writes `{y}`.
    Lines(Cast, &'static [&'static str]),
    /// A rule that depends on the arguments.
    By(fn(&Call<'_>) -> Option<Becomes>),
}

/// A row of the table.
pub(super) struct Operator {
    /// Its names, some with an overload.
    names: &'static [&'static str],
    /// The rule of each output. Further outputs have the last rule if `is_list`, else they are
    /// opaque.
    pub(super) outputs: &'static [Rule],
    /// Whether it gives any number of outputs of the same kind.
    pub(super) is_list: bool,
}

const fn row(names: &'static [&'static str], outputs: &'static [Rule]) -> Operator {
    Operator {
        names,
        outputs,
        is_list: false,
    }
}

const fn list(names: &'static [&'static str], outputs: &'static [Rule]) -> Operator {
    Operator {
        names,
        outputs,
        is_list: true,
    }
}

/// The rows by the names of their operators. Reading a model asks once for each node.
static BY_NAME: LazyLock<HashMap<&str, &Operator>> = LazyLock::new(|| {
    let rows = OPERATORS.iter();
    let named = rows.flat_map(|row| row.names.iter().map(move |&name| (name, row)));
    named.collect()
});

/// The row of an operator of `ATen`, with this overload before all others.
pub(super) fn find(name: &str, overload: &str) -> Option<&'static Operator> {
    let with_overload = BY_NAME.get(format!("{name}.{overload}").as_str());
    with_overload.or_else(|| BY_NAME.get(name)).copied()
}

use Cast::{Bool, None as Own, Result as Typed, Widest};
use Rule::{By, Lines};

/// All operators that are understood, by kind.
#[rustfmt::skip]
static OPERATORS: &[Operator] = &[
    // One input.
    row(&["abs", "ceil", "cos", "erf", "special_erf", "exp", "exp2", "expm1", "floor", "hardsigmoid", "hardswish", "log", "log1p", "log2", "mish", "neg", "reciprocal", "relu", "rsqrt", "selu", "sigmoid", "sign", "silu", "sin", "sqrt", "square", "tan", "tanh", "trunc"], &[Lines(Typed, &["{y} = {function}({self})"])]),
    row(&["round"], &[By(elementwise::round)]),
    row(&["isnan", "isinf"], &[Lines(Own, &["{y} = {function}({self})"])]),
    row(&["logical_not"], &[Lines(Bool, &["{y} = logical_not({self})"])]),
    row(&["gelu"], &[Lines(Own, &["{y} = gelu({self}, approximate={approximate=none})"])]),
    row(&["leaky_relu"], &[Lines(Own, &["{y} = leaky_relu({self}, slope={negative_slope=0.01})"])]),
    row(&["elu"], &[By(elementwise::elu)]),
    row(&["log_sigmoid"], &[Lines(Own, &["{y} = log_sigmoid({self})"])]),
    row(&["softplus"], &[By(elementwise::softplus)]),
    row(&["glu"], &[Lines(Own, &["{y}_left = split({self}, parts=2, index=0, axis={dim=-1})", "{y}_right = split({self}, parts=2, index=1, axis={dim=-1})", "{y}_gate = sigmoid({y}_right)", "{y} = mul({y}_left, {y}_gate)"])]),
    row(&["relu6", "hardtanh"], &[Lines(Typed, &["{y} = clamp({self}{bounds})"])]),
    row(&["clamp", "clip", "clamp_min", "clamp_max"], &[By(elementwise::clamp)]),
    row(&["dropout", "native_dropout", "feature_dropout", "alpha_dropout"], &[By(elementwise::dropout)]),
    row(&["to", "_to_copy", "type_as", "alias", "detach", "lift", "lift_fresh", "lift_fresh_copy", "positive", "resolve_conj", "resolve_neg"], &[By(elementwise::same)]),
    row(&["copy"], &[By(elementwise::copy)]),
    row(&["clone", "contiguous"], &[By(layout::clone)]),
    row(&["tril", "triu"], &[Lines(Own, &["{y} = {function}({self}, diagonal={diagonal=0})"])]),
    // Two inputs, broadcast.
    row(&["add"], &[By(elementwise::add)]),
    row(&["sub", "subtract"], &[By(elementwise::sub)]),
    row(&["mul", "multiply"], &[By(elementwise::mul)]),
    row(&["div", "divide", "true_divide"], &[By(elementwise::div)]),
    row(&["rsub"], &[By(elementwise::rsub)]),
    row(&["pow"], &[By(elementwise::pow)]),
    row(&["remainder", "floor_divide", "maximum", "minimum"], &[Lines(Typed, &["{y} = {function}({self}, {other})"])]),
    row(&["xlogy", "special_xlogy", "logaddexp"], &[Lines(Typed, &["{y} = {function}({self}, {other})"])]),
    row(&["max.other"], &[Lines(Typed, &["{y} = maximum({self}, {other})"])]),
    row(&["min.other"], &[Lines(Typed, &["{y} = minimum({self}, {other})"])]),
    row(&["eq", "ne", "lt", "le", "gt", "ge"], &[Lines(Widest, &["{y} = {function}({self}, {other})"])]),
    row(&["logical_and", "logical_or", "logical_xor"], &[Lines(Bool, &["{y} = {function}({self}, {other})"])]),
    row(&["__lshift__", "__rshift__", "bitwise_left_shift", "bitwise_right_shift"], &[By(elementwise::shift)]),
    row(&["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "__and__", "__or__", "__xor__"], &[By(elementwise::bitwise)]),
    row(&["addcmul", "addcdiv"], &[By(elementwise::add_product)]),
    row(&["where.self", "where.ScalarOther", "where.ScalarSelf"], &[Lines(Typed, &["{y} = where({condition}, {self}, {other})"])]),
    row(&["masked_fill"], &[Lines(Own, &["{y} = where({mask}, {value}, {self})"])]),
    // Functions of elements that the notation has no name for.
    row(&["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bernoulli", "copysign", "cosh", "digamma", "erfc", "erfinv", "fmax", "fmin", "fmod", "frac", "gelu_backward", "heaviside", "hypot", "i0", "igamma", "igammac", "isfinite", "isneginf", "isposinf", "ldexp", "lgamma", "log10", "logaddexp2", "logit", "nan_to_num", "nextafter", "polygamma", "signbit", "sinc", "sinh", "special_bessel_j0", "special_bessel_j1", "special_i0e", "special_i1", "special_i1e", "special_ndtri", "special_zeta", "threshold"], &[Lines(Own, &["{y} = elementwise({tensors})"])]),
    row(&["max_pool2d_with_indices_backward", "avg_pool2d_backward", "_adaptive_avg_pool2d_backward", "grid_sampler_2d", "grid_sampler_3d", "im2col", "unfold"], &[Lines(Own, &["{y} = elementwise({tensors})"])]),
    // Along axes.
    row(&["sum", "mean", "amax", "amin", "prod", "any", "all"], &[By(reductions::sum)]),
    row(&["var", "std"], &[By(reductions::spread)]),
    row(&["var_mean", "std_mean"], &[By(reductions::spread), Lines(Typed, &["{y} = mean({self}, {reduced})"])]),
    row(&["linalg_vector_norm", "norm"], &[By(reductions::norm)]),
    row(&["_weight_norm", "_weight_norm_interface"], &[By(reductions::weight_norm)]),
    row(&["max", "min"], &[By(reductions::extreme), By(reductions::extreme)]),
    row(&["argmax", "argmin"], &[By(reductions::extreme)]),
    row(&["softmax", "_softmax"], &[Lines(Typed, &["{y} = softmax({self}, axis={dim=-1})"])]),
    row(&["log_softmax", "_log_softmax"], &[Lines(Typed, &["{y} = log_softmax({self}, axis={dim=-1})"])]),
    row(&["cumprod", "logcumsumexp", "col2im"], &[Lines(Own, &["{y} = reduction({self})"])]),
    row(&["cummax", "cummin"], &[By(reductions::scan), By(reductions::scan)]),
    row(&["cumsum"], &[By(reductions::cumsum)]),
    row(&["layer_norm"], &[By(reductions::layer_norm)]),
    row(&["native_layer_norm"], &[By(reductions::layer_norm), By(reductions::row_mean), By(reductions::row_scale)]),
    row(&["rms_norm", "_fused_rms_norm"], &[By(reductions::rms_norm)]),
    row(&["group_norm", "native_group_norm", "instance_norm"], &[By(reductions::group_norm)]),
    row(&["batch_norm", "_native_batch_norm_legit_no_training"], &[By(reductions::batch_norm)]),
    row(&["native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit_functional", "_native_batch_norm_legit"], &[By(reductions::batch_norm), By(reductions::batch_mean), By(reductions::batch_scale), By(reductions::running_mean), By(reductions::running_variance)]),
    // Products.
    row(&["linear"], &[Lines(Typed, &["{y} = linear({input}, {weight}, {bias?})"])]),
    row(&["mm", "bmm", "matmul", "mv", "dot"], &[By(products::matmul)]),
    row(&["einsum"], &[By(products::einsum)]),
    row(&["addmm", "baddbmm"], &[By(products::add_matmul)]),
    row(&["_grouped_mm", "transformers.grouped_mm_fallback"], &[By(products::grouped_matmul)]),
    row(&["_int_mm"], &[By(products::integer_matmul)]),
    row(&["_scaled_mm", "_scaled_mm_v2"], &[By(products::scaled_matmul)]),
    row(&["scaled_dot_product_attention", "_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_attention_math"], &[By(attention::attention)]),
    row(&["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input", "convolution", "_convolution"], &[By(convolutions::convolution)]),
    row(&["max_pool2d", "max_pool3d", "avg_pool2d", "avg_pool3d"], &[By(convolutions::pool)]),
    row(&["max_pool2d_with_indices", "max_pool3d_with_indices"], &[By(convolutions::pool), By(convolutions::pool)]),
    row(&["adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool3d"], &[By(convolutions::adaptive_pool)]),
    row(&["adaptive_max_pool2d", "adaptive_max_pool3d"], &[By(convolutions::adaptive_pool), By(convolutions::adaptive_pool)]),
    row(&["upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"], &[By(convolutions::interpolate)]),
    row(&["convolution_backward"], &[By(convolutions::gradient), By(convolutions::gradient), By(convolutions::gradient)]),
    // Layers over many steps, whose decompositions write each step.
    row(&["lstm", "gru", "rnn_tanh", "rnn_relu"], &[]),
    // Losses and distances.
    row(&["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"], &[By(losses::of_difference)]),
    row(&["binary_cross_entropy_with_logits"], &[By(losses::of_odds)]),
    row(&["kl_div"], &[By(losses::divergence)]),
    row(&["cross_entropy_loss", "nll_loss", "nll_loss_nd"], &[By(class_losses::cross_entropy)]),
    row(&["cdist"], &[By(losses::distances)]),
    row(&["logsumexp"], &[By(losses::log_sum_exp)]),
    // Other shapes of the same elements.
    row(&["view.dtype"], &[By(layout::bitcast)]),
    row(&["view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "flatten", "unflatten", "view_as", "reshape_as"], &[By(layout::reshape)]),
    row(&["permute", "transpose", "t", "numpy_T", "mT", "swapaxes", "swapdims"], &[By(layout::transpose)]),
    row(&["expand", "expand_as", "broadcast_to"], &[By(layout::expand)]),
    list(&["broadcast_tensors"], &[By(layout::broadcast)]),
    row(&["as_strided"], &[By(layout::as_strided)]),
    row(&["diagonal"], &[By(layout::diagonal)]),
    row(&["trace"], &[By(layout::trace)]),
    row(&["diff"], &[By(pieces::diff)]),
    row(&["slice", "narrow"], &[By(pieces::slice)]),
    row(&["select"], &[By(pieces::select)]),
    list(&["split", "split_with_sizes", "chunk", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk", "tensor_split"], &[By(pieces::split)]),
    list(&["unbind"], &[By(pieces::unbind)]),
    row(&["cat", "concat", "stack"], &[By(pieces::concat)]),
    row(&["repeat", "tile"], &[By(pieces::repeat)]),
    row(&["repeat_interleave.self_int"], &[By(pieces::repeat_interleave)]),
    row(&["constant_pad_nd", "pad", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d", "replication_pad3d"], &[By(pieces::pad)]),
    row(&["flip"], &[Lines(Own, &["{y} = flip({self}, axis={dims=0})"])]),
    row(&["roll"], &[By(layout::roll)]),
    row(&["pixel_shuffle", "pixel_unshuffle", "channel_shuffle"], &[By(layout::shuffle)]),
    // Indices.
    row(&["embedding"], &[Lines(Own, &["{y} = embedding({indices}, {weight})"])]),
    row(&["embedding_bag", "_embedding_bag", "_embedding_bag_forward_only"], &[By(indices::embedding_bag)]),
    row(&["one_hot"], &[By(losses::one_hot)]),
    row(&["gather"], &[Lines(Own, &["{y} = gather({self}, {index}, axis={dim=0})"])]),
    row(&["index_select"], &[By(indices::index_select)]),
    row(&["index.Tensor"], &[By(indexing::index)]),
    row(&["index_put", "_unsafe_index_put", "_index_put_impl"], &[By(indexing::index_put)]),
    row(&["slice_scatter", "select_scatter"], &[By(indexing::slice_scatter)]),
    row(&["histc"], &[By(indices::histogram)]),
    row(&["scatter.src", "scatter.value", "scatter_add", "index_add", "index_copy"], &[By(indices::scatter)]),
    row(&["topk"], &[By(indices::top), By(indices::top)]),
    row(&["sort"], &[By(indices::sort), By(indices::sort)]),
    row(&["argsort"], &[By(indices::sort)]),
    // Created tensors.
    row(&["full", "full_like", "new_full", "scalar_tensor", "ones", "zeros", "ones_like", "zeros_like", "new_ones", "new_zeros", "empty", "empty_like", "new_empty", "empty_permuted", "empty_strided", "new_empty_strided", "fill", "zero"], &[By(elementwise::full)]),
    row(&["rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "normal_functional", "uniform"], &[By(elementwise::full)]),
    row(&["arange"], &[By(elementwise::arange)]),
];
