//! Numbers for inputs and weights. Their scale keeps a network in range, and their kind suits the
//! ops that read them.

use super::number::rounded;
use super::random::Random;
use fuseline_core::cost::work::matmul_k;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::Function;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, OpId, TensorId};
use fuseline_core::model::op::{Op, TensorRole};
use fuseline_core::model::op_type::OpType;

/// The first op that reads a tensor, and the position of the operand.
fn first_reader(graph: &Graph, tensor: TensorId) -> Option<(OpId, usize)> {
    let &op = graph.consumers[tensor].first()?;
    let place = graph.inputs[op].iter().position(|&input| input == tensor)?;
    Some((op, place))
}

/// Shape and element type of an external tensor. If it is not declared, they are those that its
/// readers leave possible, or else those of the output of its first reader.
pub fn type_of(graph: &Graph, tensor: TensorId) -> Option<(Vec<u64>, DType)> {
    let known = graph.operand_shape(tensor);
    let reader = first_reader(graph, tensor).map(|(op, _)| &graph.ops[op]);
    let shape = known.or(reader.map(|op| &*op.shape))?.to_vec();
    let dtype = graph.tensors[tensor].dtype;
    Some((shape, dtype.or(reader.and_then(Op::element_type))?))
}

/// The first `count` elements of an external tensor, rounded to its type, as all runs read them.
pub(super) fn values(
    graph: &Graph,
    tensor: TensorId,
    (shape, dtype): (&[usize], DType),
    seed: u64,
    count: usize,
) -> Vec<f64> {
    let mut random = Random::of(seed, graph.tensor_name(tensor));
    let kind = kind_of(graph, tensor, shape, dtype);
    let drawn = (0..count).map(|_| match kind {
        Kind::Normal { mean, deviation } => mean + deviation * random.normal(),
        Kind::Positive => 0.5 + random.normal().abs(),
        Kind::Index { places } => random.below(places),
        Kind::Small => random.below(16) - 8.0,
        Kind::Coin => random.below(2),
    });
    drawn.map(|value| rounded(value, dtype)).collect()
}

/// The distribution of an external tensor's numbers, chosen so that its readers compute something
/// meaningful.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Normally distributed.
    Normal {
        mean: f64,
        /// Their standard deviation.
        deviation: f64,
    },
    /// Positive numbers, for logarithms, roots and divisors.
    Positive,
    /// Indices of a dimension.
    Index {
        /// The size of the dimension.
        places: u64,
    },
    /// Whole numbers around 0.
    Small,
    /// False or true, equally often.
    Coin,
}

/// The kind of numbers for a tensor of this shape, by its first reader and its operand position
/// there.
pub fn kind_of(graph: &Graph, tensor: TensorId, shape: &[usize], dtype: DType) -> Kind {
    let normal = |mean, deviation| Kind::Normal { mean, deviation };
    let is_weight = graph.tensors[tensor].role == TensorRole::Weight;
    let reader = first_reader(graph, tensor);
    let function = reader.and_then(|(op, _)| graph.ops[op].function);
    let place = reader.map_or(0, |(_, place)| place);
    let operands = reader.map_or(0, |(op, _)| graph.inputs[op].len());
    if dtype == DType::Bool {
        return Kind::Coin;
    }
    if dtype.is_integer() {
        let places = index_places(graph, tensor);
        return places.map_or(Kind::Small, |places| Kind::Index { places });
    }
    match (function, place) {
        (
            Some(
                Function::Log
                | Function::Log2
                | Function::Log1p
                | Function::Sqrt
                | Function::Rsqrt
                | Function::Reciprocal
                | Function::Pow,
            ),
            0,
        )
        | (
            Some(
                Function::Div
                | Function::FloorDivide
                | Function::TruncDivide
                | Function::Remainder
                | Function::Xlogy
                | Function::Dequantize,
            ),
            1,
        )
        | (Some(Function::ScaledMatmul), 2 | 3) => Kind::Positive,
        (Some(Function::BatchNorm), 2) if operands > 3 => Kind::Positive,
        (Some(Function::BatchNorm), 1) if operands > 3 => normal(0.0, 0.1),
        (
            Some(
                Function::LayerNorm
                | Function::RmsNorm
                | Function::GroupNorm
                | Function::BatchNormTrain
                | Function::BatchNorm,
            ),
            1,
        )
        | (Some(Function::BatchNorm), 3) => normal(1.0, 0.1),
        (
            Some(
                Function::Matmul
                | Function::Linear
                | Function::Conv1d
                | Function::Conv2d
                | Function::Convolution,
            )
            | None,
            1,
        ) if is_weight && shape.len() > 1 => {
            let k = reader
                .and_then(|(op, _)| matmul_k(graph, op))
                .unwrap_or(1)
                .max(1);
            normal(0.0, 1.0 / (k as f64).sqrt())
        }
        _ if is_weight && shape.len() < 2 => normal(0.0, 0.1),
        _ => normal(0.0, 1.0),
    }
}

/// The smallest dimension that an index tensor indexes, directly or through ops that only move its
/// elements; `None` if no op uses it as an index. `O(reads that follow)`.
fn index_places(graph: &Graph, tensor: TensorId) -> Option<u64> {
    let mut carriers = vec![tensor];
    let mut is_seen: IdVec<TensorId, bool> = IdVec::from_elem(false, graph.tensors.len());
    let mut fewest: Option<u64> = None;
    while let Some(index) = carriers.pop() {
        if std::mem::replace(&mut is_seen[index], true) {
            continue;
        }
        for &op in &graph.consumers[index] {
            let own = places_of_reader(graph, op, index);
            fewest = [fewest, own].into_iter().flatten().min();
            if moves_elements_of(graph, op, index) {
                carriers.push(graph.output[op]);
            }
        }
    }
    fewest
}

/// The size of the dimension that the op indexes with this tensor; `None` if the op does not use
/// the tensor as an index.
fn places_of_reader(graph: &Graph, op: OpId, index: TensorId) -> Option<u64> {
    let inputs: &[TensorId] = &graph.inputs[op];
    let along_axis = |x| {
        let axis = graph.ops[op].indexing.as_ref()?.axis;
        graph.tensor_shape(x)?.get(axis).copied()
    };
    match (graph.ops[op].function?, inputs) {
        (Function::Embedding, &[own, table]) if own == index => {
            graph.tensor_shape(table)?.first().copied()
        }
        (Function::Gather, &[x, own]) if own == index => along_axis(x),
        (
            Function::Scatter | Function::ScatterAdd | Function::IndexCopy | Function::IndexAdd,
            &[x, own, _],
        ) if own == index => along_axis(x),
        (Function::Index, [x, indices @ ..]) | (Function::IndexPut, [x, indices @ .., _]) => {
            let place = indices.iter().position(|&own| own == index)?;
            graph.tensor_shape(*x)?.get(place).copied()
        }
        (Function::OneHot, _) => graph.ops[op].shape.last().copied(),
        _ => None,
    }
}

/// Whether the elements of the output are elements of this input: views, copies, gathers,
/// casts, and what `where` selects.
fn moves_elements_of(graph: &Graph, op: OpId, input: TensorId) -> bool {
    let function = graph.ops[op].function;
    let inputs = &graph.inputs[op];
    match function {
        Some(Function::Embedding) => inputs.get(1) == Some(&input),
        Some(Function::Gather | Function::Index) => inputs.first() == Some(&input),
        Some(Function::Cast) => true,
        Some(Function::Where) => inputs.first() != Some(&input),
        _ => graph.ops[op].op_type == OpType::Reshape,
    }
}
