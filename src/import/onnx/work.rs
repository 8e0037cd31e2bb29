//! FLOPs of operators that no function of the notation computes: those of products on the matrix
//! units, others on the vector units.

use crate::onnx::call::Call;
use crate::onnx::experts::quantized_multiplications;
use crate::onnx::heads::{projected, scored, shape_of_state};
use crate::onnx::images;
use crate::onnx::optimizers;
use crate::onnx::results::shape;
use crate::onnx::signals;
use crate::onnx::windows::window_shape;
use crate::opaque::Flops;
use crate::shapes::elements;
use crate::size::Size;

/// The FLOPs of such an operator; `None` where none are known.
pub(super) fn flops(call: &Call<'_>) -> Option<Flops> {
    let first = call.shape(0)?;
    let weight = |index: usize| elements(call.shape(index)?);
    let all = || elements(first);
    let times = |by: i64| all()?.mul(&Size::from(by)).map(Flops::vector);
    let nothing = || Some(Flops::vector(Size::from(0)));
    let multiplications = match call.operator() {
        // Each step multiplies by both weights, of all directions.
        "LSTM" | "GRU" | "RNN" | "DynamicQuantizeLSTM" if first.len() == 3 => {
            elements(first.get(..2)?)?.mul(&weight(1)?.add(&weight(2)?)?)?
        }
        "Conv" | "ConvInteger" | "QLinearConv" | "FusedConv" => {
            let image = elements(&window_shape(call)?)?;
            weight(call.second_operand())?
                .mul(first.first()?)?
                .mul(&image)?
        }
        "NhwcConv" | "NhwcFusedConv" | "DeformConv" => {
            let output = shape(call)?;
            let outer = elements(output.get(..output.len().checked_sub(1)?)?)?;
            let (image, weights) = if call.operator() == "DeformConv" {
                (elements(output.get(2..)?)?.mul(first.first()?)?, weight(1)?)
            } else {
                (outer, weight(1)?)
            };
            weights.mul(&image)?
        }
        // Each input element is multiplied by all weights of its channel.
        "ConvTranspose" | "ConvTransposeWithDynamicPads" => weight(1)?
            .mul(first.first()?)?
            .mul(&elements(first.get(2..)?)?)?,
        "CausalConvWithState" => all()?.mul(call.shape(1)?.last()?)?,
        "MatMul"
        | "MatMulInteger"
        | "QLinearMatMul"
        | "MatMulIntegerToFloat"
        | "DynamicQuantizeMatMul" => elements(&shape(call)?)?.mul(first.last()?)?,
        "QMoE" => quantized_multiplications(call)?,
        "MatMulNBits" | "MatMulBnb4" => all()?.mul(&Size::from(call.int("N")?))?,
        "Attention" if call.is_runtime() => {
            let [batch, tokens, _] = first else {
                return None;
            };
            let weights = weight(1)?.mul(batch)?.mul(tokens)?;
            let keys = projected(call, first, 1)?.get(3)?.clone();
            let width = projected(call, first, 0)?.last()?.mul(&Size::from(2))?;
            weights.add(&elements(&[batch.clone(), tokens.clone(), keys, width])?)?
        }
        "Attention" | "MultiHeadAttention" | "GroupQueryAttention" | "FlexAttention" => {
            scored(call, first)?
        }
        "LinearAttention" => {
            // Each step updates the state of each head, and reads it.
            let state = shape_of_state(call)?;
            let tokens = first.get(1)?;
            elements(&state)?.mul(tokens)?.mul(&Size::from(2))?
        }
        "LRN" => return times(call.int("size")?.checked_add(7)?),
        "LayerNormalization" | "SkipLayerNormalization" | "GroupNorm" | "SkipGroupNorm" => {
            return times(8);
        }
        "BatchNormalization" | "DynamicQuantizeLinear" => return times(6),
        "RMSNormalization"
        | "SimplifiedLayerNormalization"
        | "SkipSimplifiedLayerNormalization" => return times(4),
        // Before version 13 several dimensions are one row.
        "Softmax" | "LogSoftmax" => return times(5),
        "CumSum" | "CumProd" | "Hardmax" | "MaxPool" | "AveragePool" | "TopK" | "Unique"
        | "Binarizer" => return times(1),
        "LpPool" | "ReduceSumSquare" | "ReduceL2" | "ReduceL1" | "ReduceLogSumExp"
        | "ReduceLogSum" => return times(2),
        name if name.starts_with("Reduce") || name.starts_with("Arg") => return times(1),
        "ScatterND" | "ScatterElements" | "Scatter" => {
            let adds = call.word("reduction").is_some_and(|word| word != "none");
            return if adds {
                weight(2).map(Flops::vector)
            } else {
                nothing()
            };
        }
        "ReverseSequence"
        | "QLinearConcat"
        | "TensorScatter"
        | "Pad"
        | "Compress"
        | "NonZero"
        | "Col2Im"
        | "MaxUnpool"
        | "CenterCropPad"
        | "Reshape"
        | "Expand"
        | "Tile"
        | "Slice"
        | "Gather"
        | "GatherND"
        | "GatherElements"
        | "OneHot"
        | "Split"
        | "Concat"
        | "Trilu"
        | "Transpose"
        | "ConstantOfShape"
        | "Range"
        | "ArrayFeatureExtractor"
        | "GatherBlockQuantized" => return nothing(),
        _ => {
            let flops = images::flops(call, first)
                .or_else(|| signals::flops(call, first))
                .or_else(|| optimizers::flops(call));
            return flops.map(Flops::vector);
        }
    };
    multiplications.mul(&Size::from(2)).map(Flops::matrix)
}
