//! Operators with two results, each of which is an op of the notation.

use super::{Task, four_bits, torch_dtype};
use crate::present::pytorch::ScriptError;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::OpId;

/// The first and the second result of an operator, one of which is this op, if one statement gives
/// both. Elements of 4 bits are packed in a statement for each.
pub(super) fn results_of_one_call(graph: &Graph, op: OpId) -> Option<(OpId, OpId)> {
    let first = graph.results.first(op).unwrap_or(op);
    let second = graph.results.second(first)?;
    let is_packed = |op: OpId| four_bits::is_of(graph.ops[op].element_type());
    (!is_packed(first) && !is_packed(second)).then_some((first, second))
}

impl Task<'_> {
    /// The call that gives both results of the operator.
    pub(super) fn results(&self) -> Result<String, ScriptError> {
        let x = self.operand(0)?;
        match self.function {
            Function::Topk | Function::TopkIndices => {
                let axis = self.indexing()?.axis;
                let count = self.op.shape.get(axis).ok_or_else(|| self.refuse())?;
                Ok(format!("torch.topk({x}, {count}, {axis})"))
            }
            Function::Sort | Function::Argsort => {
                let axis = self.call.required_size(AttributeName::Axis)?;
                let descending = if self.call.is_set(AttributeName::Descending) {
                    ", descending=True"
                } else {
                    ""
                };
                Ok(format!(
                    "torch.sort({x}, dim={axis}{descending}, stable=True)"
                ))
            }
            Function::Max | Function::Argmax | Function::Min | Function::Argmin => {
                let &[axis] = &self.axes()[..] else {
                    return Err(self.refuse());
                };
                let is_largest = matches!(self.function, Function::Max | Function::Argmax);
                let name = if is_largest { "max" } else { "min" };
                Ok(format!("torch.{name}({x}, {axis}{})", self.keepdim()))
            }
            _ => Err(self.refuse()),
        }
    }

    /// The statement that gives the output of this op and that of `second`.
    pub(super) fn both_results(&self, second: OpId) -> Result<String, ScriptError> {
        let call = self.results()?;
        let own = self.names.of_tensor(self.graph.output[self.id]);
        let other = self.names.of_tensor(self.graph.output[second]);
        let operator = self.function.results_of_operator();
        let is_first = operator.is_some_and(|[first, _]| first == self.function);
        let (values, indices) = if is_first { (own, other) } else { (other, own) };
        let mut lines = vec![format!("{values}, {indices} = {call}")];
        for op in [self.id, second] {
            let definition = &self.graph.ops[op];
            let function = definition.function.unwrap_or(self.function);
            let natural = function.result_type(&self.argument_types());
            let dtype = definition.element_type();
            if let Some(dtype) = dtype.filter(|_| dtype != natural) {
                let name = self.names.of_tensor(self.graph.output[op]);
                lines.push(format!("{name} = {name}.to({})", torch_dtype(dtype)));
            }
        }
        Ok(lines.join("\n    "))
    }
}
