//! Shapes of outputs that no function of the notation computes, and the FLOPs of their products.

use crate::onnx::call::Call;
use crate::onnx::layout::borders;
use crate::onnx::proto::element_type;
use crate::onnx::quantized::{dequantized_type, quantized_type};
use crate::onnx::windows::window_shape;
use crate::shapes::{Sizes, broadcast, dimension, elements, with_size};
use crate::size::Size;
use fuseline_core::model::dtype::DType;

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
    "BitwiseNot",
    "Celu",
    "Cosh",
    "CumSum",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "EyeLike",
    "GroupNormalization",
    "Hardmax",
    "InstanceNormalization",
    "LRN",
    "LayerNormalization",
    "LogSoftmax",
    "LpNormalization",
    "MeanVarianceNormalization",
    "QuantizeLinear",
    "RMSNormalization",
    "RandomNormalLike",
    "RandomUniformLike",
    "ReverseSequence",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Shrink",
    "SimplifiedLayerNormalization",
    "Sinh",
    "Softmax",
    "Swish",
    "Trilu",
];

/// The shape of an output of an operator without a function; `None` where it is not known.
pub(super) fn shape(call: &Call<'_>) -> Option<Sizes> {
    let first = call.shape(0)?;
    match (call.operator(), call.output_index) {
        ("LSTM" | "GRU" | "RNN" | "DynamicQuantizeLSTM", 0..=2) => recurrent(call, first),
        ("Conv" | "ConvInteger" | "QLinearConv", 0) => {
            let channels = call.shape(call.second_operand())?.first()?.clone();
            window_shape(call)
                .map(|image| [first.get(..1).unwrap_or_default(), &[channels], &image].concat())
        }
        ("MaxPool" | "AveragePool" | "LpPool", 0 | 1) => {
            window_shape(call).map(|image| [first.get(..2).unwrap_or_default(), &image].concat())
        }
        ("ConvTranspose", 0) => transposed(call, first),
        ("DynamicQuantizeLinear", 1 | 2) => Some(Vec::new()),
        ("BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "BitShift", 0) => {
            Some(broadcast(first, call.shape(1)?))
        }
        ("GridSample", 0) => {
            let (_, grid) = call.shape(1)?.split_last()?;
            Some([first.get(..2)?, grid.get(1..)?].concat())
        }
        ("OneHot", 0) => {
            let depth = call.sizes(1)?.into_iter().next()?;
            let rank = first.len() + 1;
            let axis = dimension(call.int("axis").unwrap_or(-1), rank)?;
            let mut shape = first.to_vec();
            shape.insert(axis, depth);
            Some(shape)
        }
        // Statistics of the rows, and of the channels.
        ("LayerNormalization" | "RMSNormalization" | "SimplifiedLayerNormalization", 1 | 2) => {
            let axis = dimension(call.int("axis").unwrap_or(-1), first.len())?;
            let ones = vec![Size::from(1); first.len() - axis];
            Some([first.get(..axis)?, &ones].concat())
        }
        ("BatchNormalization", 1..=4) => Some(call.shape(1)?.to_vec()),
        ("MatMulInteger" | "QLinearMatMul", 0) => {
            let (a, b) = (first, call.shape(call.second_operand())?);
            let (rows, columns) = (a.len().checked_sub(2)?, b.len().checked_sub(2)?);
            let batch = broadcast(a.get(..rows)?, b.get(..columns)?);
            Some([batch.as_slice(), a.get(rows..=rows)?, b.get(columns + 1..)?].concat())
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
        ("MatMulNBits", 0) => Some(with_size(
            first,
            first.len().checked_sub(1)?,
            Size::from(call.int("N")?),
        )),
        (name, 0) if SAME.contains(&name) => Some(first.to_vec()),
        _ => None,
    }
}

/// The FLOPs of the products of such an operator; `None` where none are known.
pub(super) fn flops(call: &Call<'_>) -> Option<Size> {
    let first = call.shape(0)?;
    let weight = |index: usize| elements(call.shape(index)?);
    let times = match call.operator() {
        // Each step multiplies by both weights, of all directions.
        "LSTM" | "GRU" | "RNN" | "DynamicQuantizeLSTM" if first.len() == 3 => {
            elements(first.get(..2)?)?.mul(&weight(1)?.add(&weight(2)?)?)?
        }
        "Conv" | "ConvInteger" | "QLinearConv" => {
            let image = elements(&window_shape(call)?)?;
            weight(call.second_operand())?
                .mul(first.first()?)?
                .mul(&image)?
        }
        // Each input element is multiplied by all weights of its channel.
        "ConvTranspose" => weight(1)?
            .mul(first.first()?)?
            .mul(&elements(first.get(2..)?)?)?,
        "MatMulInteger" | "QLinearMatMul" => elements(&shape(call)?)?.mul(first.last()?)?,
        "MatMulNBits" => elements(first)?.mul(&Size::from(call.int("N")?))?,
        _ => return None,
    };
    times.mul(&Size::from(2))
}

/// The element type of an output; `None` where it is that of the first input.
pub(super) fn dtype(call: &Call<'_>) -> Option<DType> {
    Some(match (call.operator(), call.output_index) {
        ("DynamicQuantizeLinear", 0 | 2) => DType::I8,
        ("DynamicQuantizeLinear", 1) => DType::F32,
        ("ConvInteger" | "MatMulInteger", 0) => DType::I32,
        ("QuantizeLinear", 0) => element_type(quantized_type(call))?,
        ("DequantizeLinear", 0) => dequantized_type(call)?,
        ("MaxPool", 1) => DType::I64,
        ("OneHot", 0) => call.input(2)?.dtype?,
        _ => return None,
    })
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

fn transposed(call: &Call<'_>, x: &[Size]) -> Option<Sizes> {
    let weight = call.shape(1)?;
    let groups = Size::from(call.int("group").unwrap_or(1));
    let channels = weight.get(1)?.mul(&groups)?;
    let image = x.get(2..)?;
    let of = |name: &str, index: usize, default: i64| match call.ints(name) {
        Some(list) => list.get(index).copied(),
        None => Some(default),
    };
    let stated = call.ints("output_shape");
    let size = |(index, size): (usize, &Size)| {
        if let Some(stated) = stated {
            return stated.get(index).map(|&size| Size::from(size));
        }
        let stride = of("strides", index, 1)?;
        if matches!(call.word("auto_pad"), Some("SAME_UPPER" | "SAME_LOWER")) {
            return size.mul(&Size::from(stride));
        }
        let reach = weight
            .get(index + 2)?
            .as_int()?
            .checked_sub(1)?
            .checked_mul(of("dilations", index, 1)?)?;
        let pads = of("pads", index, 0)?.checked_add(of("pads", index + image.len(), 0)?)?;
        let more = reach
            .checked_add(1)?
            .checked_add(of("output_padding", index, 0)?)?
            .checked_sub(pads)?;
        size.sub(&Size::from(1))?
            .mul(&Size::from(stride))?
            .add(&Size::from(more))
    };
    let image: Sizes = image.iter().enumerate().map(size).collect::<Option<_>>()?;
    Some([x.get(..1)?, &[channels], &image].concat())
}
