//! Runs a program: exactly, or kernel by kernel with what each kernel stores rounded to its type.

use super::arithmetic::Arithmetic;
use super::array::Array;
use super::evaluate::{evaluate, function_of};
use super::number::{exactly, in_register, rounded};
use super::task::Task;
use super::{Error, Refused, SHOWN_ELEMENTS, Stored};
use crate::call::Call;
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, KernelId, OpId, TensorId};
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::partition::Partition;
use std::borrow::Cow;
use std::collections::HashMap;

/// A program with its inputs, ready for every kind of run.
pub(super) struct Prepared<'a> {
    pub(super) graph: &'a Graph,
    pub(super) calls: &'a IdVec<OpId, Call>,
    pub(super) seed: u64,
    pub(super) shapes: IdVec<TensorId, Vec<usize>>,
    pub(super) dtypes: IdVec<TensorId, DType>,
    /// The elements of external tensors.
    pub(super) externals: IdVec<TensorId, Option<Vec<f64>>>,
}

/// The elements of each tensor that has a value.
pub(super) type Values = IdVec<TensorId, Option<Vec<f64>>>;

impl Prepared<'_> {
    /// Every op in f64, without any rounding to its type; and the ops that have no value.
    pub(super) fn exact(&self) -> (Values, Vec<Refused>) {
        let graph = self.graph;
        let mut values = self.externals.clone();
        let mut refused = Vec::new();
        for op in graph.ops.ids() {
            let computed = self.compute(
                op,
                |_| Arithmetic::Double,
                |tensor| values[tensor].as_deref(),
            );
            match computed {
                Some(Ok(mut computed)) => {
                    let dtype = self.dtypes[graph.output[op]];
                    for value in &mut computed {
                        *value = exactly(*value, dtype);
                    }
                    values[graph.output[op]] = Some(computed);
                }
                Some(Err(reason)) => refused.push(Refused { op, reason }),
                // The op depends on a refused one, which is in the list already.
                None => {}
            }
        }
        (values, refused)
    }

    /// Runs kernel by kernel: a value stays wide in the registers of its kernel and is rounded
    /// where the kernel stores it.
    pub(super) fn by_kernels(
        &self,
        partition: &Partition,
        exact: &Values,
    ) -> IdVec<TensorId, Option<Stored>> {
        let graph = self.graph;
        let is_stored = stored(graph, partition);
        let mut results: IdVec<TensorId, Option<Stored>> =
            IdVec::from_elem(None, graph.tensors.len());
        let mut memory = self.externals.clone();
        for kernel in partition.kernels.ids() {
            let mut registers: HashMap<TensorId, Vec<f64>> = HashMap::new();
            for op in ops_of(partition, kernel) {
                let computed = self.compute(
                    op,
                    |op| self.arithmetic(op),
                    |tensor| {
                        registers
                            .get(&tensor)
                            .or(memory[tensor].as_ref())
                            .map(Vec::as_slice)
                    },
                );
                let Some(Ok(mut computed)) = computed else {
                    continue;
                };
                let tensor = graph.output[op];
                let dtype = self.dtypes[tensor];
                for value in &mut computed {
                    *value = in_register(*value, dtype);
                }
                if partition.kernel_of[op] == kernel {
                    let stored = || {
                        computed
                            .iter()
                            .map(|&value| rounded(value, dtype))
                            .collect()
                    };
                    let in_memory: Option<Vec<f64>> = is_stored[tensor].then(stored);
                    let seen = in_memory.as_ref().unwrap_or(&computed);
                    results[tensor] = exact[tensor].as_ref().map(|exact| Stored {
                        is_stored: is_stored[tensor],
                        error: Error::between(seen, exact),
                        first: seen.iter().take(SHOWN_ELEMENTS).copied().collect(),
                    });
                    memory[tensor] = in_memory;
                }
                registers.insert(tensor, computed);
            }
        }
        results
    }

    /// f64 if one of the types is f64, and for integers, which f64 holds exactly; else f32.
    fn arithmetic(&self, op: OpId) -> Arithmetic {
        let output = self.dtypes[self.graph.output[op]];
        let is_whole = output.is_integer();
        let mut inputs = self.graph.inputs[op].iter();
        if is_whole
            || output == DType::F64
            || inputs.any(|&tensor| self.dtypes[tensor] == DType::F64)
        {
            Arithmetic::Double
        } else {
            Arithmetic::Single
        }
    }

    /// The elements of an op's output; `None` if an input has no value.
    fn compute<'v>(
        &self,
        op: OpId,
        arithmetic: impl Fn(OpId) -> Arithmetic,
        value_of: impl Fn(TensorId) -> Option<&'v [f64]>,
    ) -> Option<Result<Vec<f64>, EvaluationError>> {
        let graph = self.graph;
        let definition = &graph.ops[op];
        let (call, inputs) = (&self.calls[op], &graph.inputs[op]);
        let function = match function_of(definition) {
            Ok(function) => function,
            Err(reason) => return Some(Err(reason)),
        };
        let arithmetic = arithmetic(op);
        // Matrix units take operands in the element type of the tensor, even those that the kernel
        // has in wider registers.
        let narrows = function.row().op_type == OpType::Matmul && arithmetic == Arithmetic::Single;
        let mut arguments = Vec::with_capacity(inputs.len() + call.literals.len());
        for &tensor in inputs {
            let (values, dtype) = (value_of(tensor)?, self.dtypes[tensor]);
            arguments.push(Array {
                shape: Cow::Borrowed(&self.shapes[tensor]),
                values: if narrows && values.iter().any(|&value| !is_of(value, dtype)) {
                    values.iter().map(|&value| rounded(value, dtype)).collect()
                } else {
                    Cow::Borrowed(values)
                },
            });
        }
        for &(place, literal) in &call.literals {
            arguments.insert(
                place.min(arguments.len()),
                Array {
                    shape: Cow::Borrowed(&[]),
                    values: Cow::Owned(vec![arithmetic.round(literal)]),
                },
            );
        }
        let output = graph.output[op];
        let input_dtypes: Vec<DType> = inputs.iter().map(|&t| self.dtypes[t]).collect();
        let task = Task {
            op: definition,
            call,
            function,
            shape: &self.shapes[output],
            arithmetic,
            seed: self.seed,
            output: &definition.output,
            input_dtypes: &input_dtypes,
            reads_one_tensor: inputs.windows(2).all(|pair| pair[0] == pair[1]),
        };
        Some(evaluate(&task, &arguments))
    }
}

#[allow(clippy::float_cmp, reason = "a value either is one of the type or not")]
fn is_of(value: f64, dtype: DType) -> bool {
    value.is_nan() || rounded(value, dtype) == value
}

/// The ops that a kernel computes, its own and the recomputed ones, in execution order.
pub(crate) fn ops_of(partition: &Partition, kernel: KernelId) -> Vec<OpId> {
    let mut ops = partition.kernels[kernel].to_vec();
    if let Some(again) = partition.recomputed.get(kernel) {
        ops.extend_from_slice(again);
        ops.sort_unstable();
        ops.dedup();
    }
    ops
}

/// Whether each tensor is stored by its kernel: the tensor is a result of the program, or a kernel
/// that does not compute it reads it.
pub(crate) fn stored(graph: &Graph, partition: &Partition) -> IdVec<TensorId, bool> {
    let tensors = graph.tensors.ids();
    let mut is_stored: IdVec<TensorId, bool> =
        tensors.map(|tensor| graph.is_final(tensor)).collect();
    for kernel in partition.kernels.ids() {
        let ops = ops_of(partition, kernel);
        for &op in &ops {
            for &tensor in &graph.inputs[op] {
                let producer = graph.tensors[tensor].producer;
                if producer.is_some_and(|producer| ops.binary_search(&producer).is_err()) {
                    is_stored[tensor] = true;
                }
            }
        }
    }
    is_stored
}
