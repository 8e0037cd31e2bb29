//! Exports that can be opened again.

use crate::core::model::program::{Attribute, AttributeValue, ExprKind, Program};
use crate::core::resolve::attributes_in_numbers;
use crate::core::{Graph, IdVec, Op, OpId, TensorDecl};
use serde::Serialize;
use serde_json::{Map, Value};

/// The ops of a graph with the declarations of their external tensors, in the form that
/// [`crate::core::notation::import::OpList`] reads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpList {
    ops: Vec<Call>,
    tensors: Vec<TensorDecl>,
}

/// An op and the attributes of its statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Call {
    #[serde(flatten)]
    op: Op,
    #[serde(skip_serializing_if = "Map::is_empty")]
    attributes: Map<String, Value>,
}

impl OpList {
    /// The ops of a graph, without attributes.
    pub fn new(graph: &Graph) -> Self {
        let declared = (graph.tensors.iter_enumerated()).filter_map(|(id, tensor)| {
            Some(TensorDecl {
                name: graph.tensor_name(id).to_owned(),
                shape: (tensor.is_external())
                    .then(|| graph.tensor_shape(id))??
                    .to_vec(),
                bytes_per_element: tensor.bytes_per_element?,
                role: tensor.role,
                dtype: tensor.dtype,
            })
        });
        let call = |op: &Op| Call {
            op: op.clone(),
            attributes: Map::new(),
        };
        Self {
            ops: graph.ops.iter().map(call).collect(),
            tensors: declared.collect(),
        }
    }

    /// With the attributes of the calls in `program`, so that opening the list gives the same kernels and bytes.
    /// `statement_of_op` gives for each op its statement there.
    #[must_use]
    pub fn with_attributes(
        mut self,
        program: &Program,
        statement_of_op: &IdVec<OpId, usize>,
    ) -> Self {
        let attributes = attributes_in_numbers(program, statement_of_op.iter().copied());
        for (call, attributes) in self.ops.iter_mut().zip(attributes) {
            call.attributes = in_json(attributes);
        }
        self
    }
}

fn in_json(attributes: Vec<Attribute>) -> Map<String, Value> {
    let number = |kind: &ExprKind| match kind {
        ExprKind::Int(value) => Value::from(*value),
        _ => Value::Null,
    };
    let value = |value: AttributeValue| match value {
        AttributeValue::Size(size) => number(&size.kind),
        AttributeValue::Sizes(sizes) => sizes.iter().map(|size| number(&size.kind)).collect(),
        AttributeValue::Number(text) => text.parse::<f64>().map_or(Value::Null, Value::from),
        AttributeValue::Word(word) => match word.parse::<bool>() {
            Ok(flag) => Value::from(flag),
            Err(_) => Value::from(word),
        },
    };
    let fields = attributes.into_iter();
    fields
        .map(|attribute| (attribute.name.text, value(attribute.value)))
        .collect()
}
