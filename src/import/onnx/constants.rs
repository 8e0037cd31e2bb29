//! Tensors that do not depend on the inputs of a model.

use crate::constant::Scalar;
use crate::onnx::call::Call;
use crate::onnx::fold::folded;
use crate::onnx::proto::element_type;
use crate::onnx::words::element;
use crate::size::Size;
use crate::writer::Known;
use fuseline_core::model::dtype::DType;

/// A tensor that does not depend on the inputs: of known numbers, or a weight that a node holds.
pub(super) fn constant(call: &Call<'_>) -> Option<Known> {
    let name = call.output.name.clone();
    if let Some(value) = folded(call) {
        let sizes = value.shape.iter();
        let sizes = sizes.map(|&size| Size::from(i64::try_from(size).unwrap_or(i64::MAX)));
        let is_float = matches!(value.elements.first(), Some(Scalar::Float(_)));
        let held = call.tensor("value");
        let held = held.and_then(|value| element_type(value.data_type));
        let typed = element(call).and_then(|name| name.parse().ok()).or(held);
        return Some(Known {
            name,
            dtype: typed.or(Some(if is_float { DType::F32 } else { DType::I64 })),
            shape: Some(sizes.collect()),
            value: Some(value),
            is_fixed: call.is_fixed.get(),
        });
    }
    let held = call
        .tensor("value")
        .filter(|_| call.operator() == "Constant")?;
    Some(Known {
        name,
        dtype: element_type(held.data_type),
        shape: Some(held.dims.iter().map(|&dim| Size::from(dim)).collect()),
        ..Known::default()
    })
}
