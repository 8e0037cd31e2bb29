//! Shapes of outputs that no function of the notation computes.

use crate::onnx::call::Call;
use crate::onnx::heads::{attention, projected};
use crate::onnx::images;
use crate::onnx::layout::borders;
use crate::onnx::optimizers;
use crate::onnx::signals;
use crate::shapes::{Sizes, broadcast, dimension, with_size};
use crate::size::Size;

/// Operators whose first output has the shape of their first input.
const SAME: &[&str] = &[
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BatchNormalization",
    "Bernoulli",
    "BitCast",
    "BitwiseNot",
    "CausalConvWithState",
    "Celu",
    "Cosh",
    "CumProd",
    "CumSum",
    "DequantizeLinear",
    "Dropout",
    "DynamicQuantizeLinear",
    "EyeLike",
    "FlexAttention",
    "GroupNorm",
    "GroupNormalization",
    "Hardmax",
    "InstanceNormalization",
    "Inverse",
    "IsInf",
    "LRN",
    "LayerNormalization",
    "LogSoftmax",
    "LpNormalization",
    "MeanVarianceNormalization",
    "MoE",
    "QLinearLeakyRelu",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QMoE",
    "QuantizeLinear",
    "RMSNormalization",
    "RandomNormalLike",
    "RandomUniformLike",
    "ReverseSequence",
    "RotaryEmbedding",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "Shrink",
    "SimplifiedLayerNormalization",
    "Sinh",
    "SkipGroupNorm",
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
    "Softmax",
    "Swish",
    "TensorScatter",
    "Trilu",
];

/// Norms that give statistics of their rows, too.
const NORMS: &[&str] = &[
    "LayerNormalization",
    "RMSNormalization",
    "SimplifiedLayerNormalization",
];

/// The shape of an output: what the file states, else what follows.
pub(super) fn output_shape(call: &Call<'_>) -> Option<Sizes> {
    call.output.shape.clone().or_else(|| shape(call))
}

/// The shape of an output of an operator without a function; `None` where it is not known.
pub(super) fn shape(call: &Call<'_>) -> Option<Sizes> {
    let created = created(call).filter(|_| call.output_index == 0);
    if created.is_some() {
        return created;
    }
    let first = call.shape(0)?;
    if call.output_index == 0 && SAME.contains(&call.operator()) {
        return Some(first.to_vec());
    }
    (of_layer(call, first))
        .or_else(|| of_product(call, first))
        .or_else(|| of_elements(call, first))
        .or_else(|| images::shape(call, first))
        .or_else(|| signals::shape(call, first))
        .or_else(|| optimizers::shape(call))
}

/// The outputs of layers of a network.
fn of_layer(call: &Call<'_>, first: &[Size]) -> Option<Sizes> {
    let last = first.len().checked_sub(1);
    match (call.operator(), call.output_index) {
        ("LSTM" | "GRU" | "RNN" | "DynamicQuantizeLSTM", 0..=2) => recurrent(call, first),
        ("Attention", output) if call.is_runtime() => projected(call, first, output),
        ("Attention" | "MultiHeadAttention" | "GroupQueryAttention" | "LinearAttention", _) => {
            attention(call, first)
        }
        ("CausalConvWithState", 1) => {
            let kept = call.shape(1)?.last()?.sub(&Size::from(1))?;
            Some(with_size(first, last?, kept))
        }
        // Statistics of the rows, and of the channels.
        (name, 1 | 2) if NORMS.contains(&name) => {
            let axis = dimension(call.int("axis").unwrap_or(-1), first.len())?;
            let ones = vec![Size::from(1); first.len() - axis];
            Some([first.get(..axis)?, &ones].concat())
        }
        ("SkipLayerNormalization" | "SkipSimplifiedLayerNormalization", 1 | 2) => {
            Some(with_size(first, last?, Size::from(1)))
        }
        ("SkipLayerNormalization" | "SkipSimplifiedLayerNormalization", 3) | ("Dropout", 1) => {
            Some(first.to_vec())
        }
        ("EmbedLayerNormalization", 1) => Some(first.get(..1)?.to_vec()),
        ("EmbedLayerNormalization", _) => {
            let width = call.shape(2)?.last()?.clone();
            Some([first, &[width]].concat())
        }
        ("BatchNormalization", 1..=4) => Some(call.shape(1)?.to_vec()),
        ("NegativeLogLikelihoodLoss" | "SoftmaxCrossEntropyLoss", 0) => {
            Some(match call.word("reduction") {
                Some("none") => call.shape(1)?.to_vec(),
                _ => Vec::new(),
            })
        }
        ("SoftmaxCrossEntropyLoss", 1) => Some(first.to_vec()),
        _ => None,
    }
}

/// The outputs of matrix products.
fn of_product(call: &Call<'_>, first: &[Size]) -> Option<Sizes> {
    match (call.operator(), call.output_index) {
        (
            "MatMul"
            | "MatMulInteger"
            | "QLinearMatMul"
            | "MatMulIntegerToFloat"
            | "DynamicQuantizeMatMul",
            0,
        ) => product(first, call.shape(call.second_operand())?),
        ("QGemm" | "Gemm", 0) => {
            let b = call.shape(call.second_operand())?;
            let side = |shape: &[Size], flag: &str, plain: usize| {
                let turned = call.int(flag).unwrap_or(0) != 0;
                shape.get(if turned { 1 - plain } else { plain }).cloned()
            };
            Some(vec![side(first, "transA", 0)?, side(b, "transB", 1)?])
        }
        ("MatMulNBits" | "MatMulBnb4", 0) => Some(with_size(
            first,
            first.len().checked_sub(1)?,
            Size::from(call.int("N")?),
        )),
        ("Det", 0) => Some(first.get(..first.len().checked_sub(2)?)?.to_vec()),
        _ => None,
    }
}

/// The outputs of operators on single elements, along axes, and of those that move elements.
fn of_elements(call: &Call<'_>, first: &[Size]) -> Option<Sizes> {
    match (call.operator(), call.output_index) {
        ("DynamicQuantizeLinear", 1 | 2) => Some(Vec::new()),
        ("BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "BitShift" | "Mod", 0) => {
            Some(broadcast(first, call.shape(1)?))
        }
        ("QLinearAdd" | "QLinearMul", 0) => Some(broadcast(first, call.shape(3)?)),
        ("QLinearConcat", 0) => {
            let axis = dimension(call.int("axis")?, call.rank(2)?)?;
            let mut shape = call.shape(2)?.to_vec();
            for index in (5..call.input_count()).step_by(3) {
                let own = shape.get_mut(axis)?;
                *own = own.add(call.shape(index)?.get(axis)?)?;
            }
            Some(shape)
        }
        ("OneHot", 0) => {
            let depth = call.sizes(1)?.into_iter().next()?;
            let rank = first.len() + 1;
            let axis = dimension(call.int("axis").unwrap_or(-1), rank)?;
            let mut shape = first.to_vec();
            shape.insert(axis, depth);
            Some(shape)
        }
        ("Pad", 0) => {
            let mut shape = first.to_vec();
            let borders = borders(call)?;
            for (size, border) in shape.iter_mut().rev().zip(borders.chunks(2)) {
                for &added in border {
                    *size = size.add(&Size::from(added))?;
                }
            }
            Some(shape)
        }
        ("Multinomial", 0) => {
            let count = Size::from(call.int("sample_size").unwrap_or(1));
            Some(vec![first.first()?.clone(), count])
        }
        ("TopK", 0 | 1) => {
            let axis = dimension(call.int("axis").unwrap_or(-1), first.len())?;
            let count = match call.int("k") {
                Some(count) => Size::from(count),
                None => call.sizes(1)?.into_iter().next()?,
            };
            Some(with_size(first, axis, count))
        }
        ("GatherND", 0) => {
            let (length, positions) = call.shape(1)?.split_last()?;
            let batch = usize::try_from(call.int("batch_dims").unwrap_or(0)).ok()?;
            let from = batch.checked_add(usize::try_from(length.as_int()?).ok()?)?;
            Some([positions, first.get(from..)?].concat())
        }
        (name, 0) if name.starts_with("Reduce") || name.starts_with("Arg") => reduced(call, first),
        _ => None,
    }
}

/// The shape after a reduction.
fn reduced(call: &Call<'_>, first: &[Size]) -> Option<Sizes> {
    let axes = if call.operator().starts_with("Arg") {
        vec![dimension(call.int("axis").unwrap_or(0), first.len())?]
    } else if call.has(1) || call.ints("axes").is_some() {
        call.axes(1, first.len())?
    } else if call.int("noop_with_empty_axes").unwrap_or(0) != 0 {
        return Some(first.to_vec());
    } else {
        (0..first.len()).collect()
    };
    let keeps = call.int("keepdims").unwrap_or(1) != 0;
    let sizes = first.iter().enumerate();
    let sizes = sizes.filter_map(|(at, size)| {
        if axes.contains(&at) {
            keeps.then(|| Size::from(1))
        } else {
            Some(size.clone())
        }
    });
    Some(sizes.collect())
}

/// The shape of a tensor that is not computed from the elements of another.
fn created(call: &Call<'_>) -> Option<Sizes> {
    match call.operator() {
        "RandomNormal" | "RandomUniform" => {
            let shape = call.ints("shape")?.iter();
            Some(shape.map(|&size| Size::from(size)).collect())
        }
        "ConstantOfShape" | "HannWindow" | "HammingWindow" | "BlackmanWindow" => call.sizes(0),
        "MelWeightMatrix" => {
            let bins = call.sizes(0)?.into_iter().next()?;
            let length = call.fixed(call.sizes(1)?.first()?)?;
            Some(vec![Size::from(length / 2 + 1), bins])
        }
        "Range" => signals::range(call),
        "AffineGrid" => images::grid(call),
        _ => None,
    }
}

/// The shape of a matrix product, where vectors lose the dimension that makes them matrices.
fn product(a: &[Size], b: &[Size]) -> Option<Sizes> {
    let (rows, columns) = match (a, b) {
        ([_], [_]) => return Some(Vec::new()),
        (_, [_]) => return Some(a.get(..a.len() - 1)?.to_vec()),
        ([_], _) => {
            let outer = b.get(..b.len().checked_sub(2)?)?;
            return Some([outer, std::slice::from_ref(b.last()?)].concat());
        }
        _ => (a.len().checked_sub(2)?, b.len().checked_sub(2)?),
    };
    let batch = broadcast(a.get(..rows)?, b.get(..columns)?);
    Some([batch.as_slice(), a.get(rows..=rows)?, b.get(columns + 1..)?].concat())
}

/// The outputs of a recurrent layer: what each step gives, and what the last one leaves.
fn recurrent(call: &Call<'_>, x: &[Size]) -> Option<Sizes> {
    let [outer, inner, _] = x else { return None };
    let is_batch_first = call.int("layout") == Some(1);
    let batch = if is_batch_first { outer } else { inner };
    let directions = call.shape(1)?.first()?.clone();
    let hidden = match call.int("hidden_size") {
        Some(size) => Size::from(size),
        None => call.shape(2)?.last()?.clone(),
    };
    let rest = [directions, batch.clone(), hidden];
    let [directions, batch, hidden] = rest;
    Some(match (call.output_index, is_batch_first) {
        (0, false) => vec![outer.clone(), directions, batch, hidden],
        (0, true) => vec![batch, inner.clone(), directions, hidden],
        (_, false) => vec![directions, batch, hidden],
        (_, true) => vec![batch, directions, hidden],
    })
}
