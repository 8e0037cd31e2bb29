//! Element types of outputs that no input gives.

use crate::onnx::call::Call;
use crate::onnx::proto::element_type;
use crate::onnx::quantized::{dequantized_type, quantized_type};
use fuseline_core::model::dtype::DType;

/// The element type of an output; `None` where it is that of the first input.
pub(super) fn dtype(call: &Call<'_>) -> Option<DType> {
    let stated = |name: &str| {
        let number = call.int(name).filter(|&number| number != 0)?;
        element_type(i32::try_from(number).ok()?)
    };
    Some(match (call.operator(), call.output_index) {
        ("DynamicQuantizeLinear", 0 | 2) => DType::I8,
        ("DynamicQuantizeLinear" | "DynamicQuantizeMatMul", _) => DType::F32,
        ("ConvInteger" | "MatMulInteger", 0) | ("EmbedLayerNormalization", 1) => DType::I32,
        ("QuantizeLinear", 0) => element_type(quantized_type(call))?,
        ("DequantizeLinear", 0) => dequantized_type(call)?,
        ("MaxPool" | "TopK", 1)
        | ("Unique", 1..)
        | ("NonZero" | "NonMaxSuppression" | "ArgMax" | "ArgMin", 0) => DType::I64,
        ("Dropout", 1) | ("IsInf", 0) => DType::Bool,
        (
            "MatMulIntegerToFloat"
            | "OneHot"
            | "EmbedLayerNormalization"
            | "GatherBlockQuantized"
            | "QLinearConcat",
            _,
        ) => call.input(2)?.dtype?,
        ("QGemm", 0) if !call.has(7) => call.input(1)?.dtype?,
        ("QLinearMatMul" | "QLinearConv" | "QGemm", 0) => {
            let zero = if call.operator() == "QGemm" { 8 } else { 7 };
            call.input(zero).or(call.input(0))?.dtype?
        }
        ("BitCast", 0) => stated("to")?,
        ("Multinomial", 0) => stated("dtype").unwrap_or(DType::I32),
        ("Bernoulli" | "RandomNormalLike" | "RandomUniformLike" | "EyeLike", 0) => stated("dtype")?,
        ("RandomNormal" | "RandomUniform", 0) => stated("dtype").unwrap_or(DType::F32),
        ("HannWindow" | "HammingWindow" | "BlackmanWindow" | "MelWeightMatrix", 0) => {
            stated("output_datatype").unwrap_or(DType::F32)
        }
        _ => return None,
    })
}
