//! Tensors of 4 bits, which PyTorch lacks. A script keeps two elements in each byte of a `uint8`
//! tensor and computes with the numbers that they hold, so that its kernels move half a byte for
//! each.

use super::{ScriptError, shape_of};
use fuseline_codegen::interpret::external_type;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::element_size::ElementSize;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{OpId, TensorId};
use std::fmt::Write as _;

/// The functions of Python that pack and unpack.
const FUNCTIONS: &str = include_str!("four_bits.py");

/// What the template does with the results of two variants.
const COMPARED: &str = "zip(outputs, expected)";

/// Whether a type has two elements in a byte.
pub(super) fn is_of(dtype: Option<DType>) -> bool {
    dtype.is_some_and(|dtype| dtype.size() == ElementSize::HALF_BYTE)
}

/// The function that gives the values of packed elements.
fn unpack(dtype: DType) -> &'static str {
    if dtype.is_integer() { "int4" } else { "float4" }
}

/// Values in the bytes of a tensor of this type.
pub(super) fn packed(dtype: DType, values: &str) -> String {
    format!("packed_{}({values})", unpack(dtype))
}

/// Whether the script has the elements of a tensor of 4 bits in bytes: those of inputs, of results,
/// and of what an op writes to memory. A view of the others has the values.
pub(super) fn is_packed(graph: &Graph, tensor: TensorId) -> bool {
    graph.tensors[tensor].producer.is_none_or(|op| {
        let own = &graph.ops[op];
        let is_view = own.function.is_some_and(|function| function.row().is_view);
        !is_view || own.is_output || graph.successors[op].is_empty()
    })
}

/// The values of a tensor of 4 bits, which has this name in the script.
///
/// # Errors
/// If its shape is unknown.
pub(super) fn values(graph: &Graph, tensor: TensorId, name: &str) -> Result<String, ScriptError> {
    if !is_packed(graph, tensor) {
        return Ok(name.to_owned());
    }
    let known = match graph.tensors[tensor].producer {
        Some(op) => graph.ops[op]
            .element_type()
            .map(|dtype| (graph.ops[op].shape.clone(), dtype)),
        None => external_type(graph, tensor),
    };
    let (shape, dtype) = known.ok_or(ScriptError::UnknownInput)?;
    Ok(format!("{}({name}, {})", unpack(dtype), shape_of(&shape)))
}

/// The shape of the bytes of a tensor.
pub(super) fn shape_of_bytes(shape: &[u64]) -> String {
    shape_of(&[shape.iter().product::<u64>().div_ceil(2)])
}

/// The script, with what it needs for tensors of 4 bits. `results` are the ops whose values it
/// returns.
pub(super) fn completed(script: &str, graph: &Graph, results: &[OpId]) -> String {
    let mut dtypes = graph.tensors.iter().map(|tensor| tensor.dtype);
    if !dtypes.any(is_of) {
        return script.replace("__FOUR_BITS__", "");
    }
    let mut functions = format!("{FUNCTIONS}\n\n");
    if !results
        .iter()
        .any(|&op| is_of(graph.ops[op].element_type()))
    {
        return script.replace("__FOUR_BITS__", &functions);
    }
    let decoded = results
        .iter()
        .map(|&op| match graph.ops[op].element_type() {
            own @ Some(dtype) if is_of(own) => {
                format!("({}, {})", unpack(dtype), shape_of(&graph.ops[op].shape))
            }
            _ => "(None, None)".to_owned(),
        });
    let decoded: Vec<String> = decoded.collect();
    // Writing to a `String` cannot fail.
    let _ = write!(
        functions,
        "def numbers(results):\n    \"\"\"The results, those of 4 bits as the values that they hold.\"\"\"\n    decoded = ({},)\n    return [unpack(own, shape) if unpack else own for own, (unpack, shape) in zip(results, decoded)]\n\n\n",
        decoded.join(", ")
    );
    script
        .replace(COMPARED, "zip(numbers(outputs), numbers(expected))")
        .replace("__FOUR_BITS__", &functions)
}
