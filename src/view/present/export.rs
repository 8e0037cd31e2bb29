//! Exports that can be opened again.

use fuseline_core::model::functions::AttributeName;
use fuseline_core::model::program::{Attribute, AttributeValue, ExprKind, Literal, Program};
use fuseline_core::resolve::attributes_in_numbers;
use fuseline_core::{Graph, IdVec, Op, OpId, TensorDecl};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// The ops of a graph with the declarations of their external tensors, in the form that
/// [`fuseline_core::notation::import::OpList`] reads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpList {
    ops: Vec<Call>,
    tensors: Vec<TensorDecl>,
}

/// An op with the attributes and numbers of its statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Call {
    #[serde(flatten)]
    op: Op,
    #[serde(skip_serializing_if = "Map::is_empty")]
    attributes: Map<String, Value>,
    /// Numbers among the inputs, by position.
    #[serde(skip_serializing_if = "Map::is_empty")]
    literals: Map<String, Value>,
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
        let marks = unique_marks(graph);
        let call = |(op, kernel): (&Op, Option<u32>)| Call {
            op: Op {
                kernel,
                ..op.clone()
            },
            attributes: Map::new(),
            literals: Map::new(),
        };
        Self {
            ops: graph.ops.iter().zip(marks).map(call).collect(),
            tensors: declared.collect(),
        }
    }

    /// Each op as JSON, in the order of the graph.
    pub(crate) fn op_texts(&self) -> impl Iterator<Item = String> + '_ {
        // Values with keys of text can always be written.
        let texts = self.ops.iter();
        texts.map(|call| serde_json::to_string(call).unwrap_or_default())
    }

    /// With the attributes of the calls in `program`, so that opening the list gives the same
    /// kernels and bytes. `statement_of_op` gives for each op its statement there.
    #[must_use]
    pub fn with_attributes(
        mut self,
        program: &Program,
        statement_of_op: &IdVec<OpId, usize>,
    ) -> Self {
        let attributes = attributes_in_numbers(program, statement_of_op.iter().copied());
        for (call, mut attributes) in self.ops.iter_mut().zip(attributes) {
            // The name of the function already says which variant the attributes chose.
            let function = call.op.function;
            attributes.retain(|attribute| {
                function.is_none_or(|function| {
                    let known = AttributeName::from_name(&attribute.name.text);
                    known.is_some_and(|known| function.row().attributes.contains(&known))
                })
            });
            call.attributes = in_json(attributes);
        }
        let statements = statement_of_op.iter().map(|&place| program.ops.get(place));
        for (call, statement) in self.ops.iter_mut().zip(statements) {
            let literals = statement.map_or(&[][..], |statement| &statement.literals);
            let literal = |l: &Literal| (l.place.to_string(), Value::from(l.text.as_str()));
            call.literals = literals.iter().map(literal).collect();
        }
        self
    }
}

/// The kernel marks of the ops as numbers that distinguish all kernels, because a list has no
/// iterations that limit a mark. A mark keeps its number unless an earlier kernel has it.
fn unique_marks(graph: &Graph) -> impl Iterator<Item = Option<u32>> {
    let mut used: HashSet<u32> = graph.ops.iter().filter_map(|op| op.kernel).collect();
    let outside =
        (graph.ops.iter()).filter_map(|op| op.mark().filter(|&(iteration, _)| iteration == 0));
    let mut owners: HashMap<u32, (u32, u32)> = outside.map(|mark| (mark.1, mark)).collect();
    let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
    // There are more numbers than ops.
    let mut free = 1..;
    graph.ops.iter().map(move |op| {
        let mark = op.mark()?;
        let number = numbers.entry(mark).or_insert_with(|| {
            if *owners.entry(mark.1).or_insert(mark) == mark {
                return mark.1;
            }
            free.find(|&number| used.insert(number)).unwrap_or(mark.1)
        });
        Some(*number)
    })
}

fn in_json(attributes: Vec<Attribute>) -> Map<String, Value> {
    let number = |kind: &ExprKind| match kind {
        ExprKind::Int(value) => Value::from(*value),
        _ => Value::Null,
    };
    let value = |value: AttributeValue| match value {
        AttributeValue::Size(size) => number(&size.kind),
        AttributeValue::Sizes(sizes) => sizes.iter().map(|size| number(&size.kind)).collect(),
        AttributeValue::Number(text) => match text.parse::<f64>() {
            // JSON has no infinity.
            Ok(number) if number.is_infinite() => Value::from(text.as_str()),
            number => number.map_or(Value::Null, Value::from),
        },
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
