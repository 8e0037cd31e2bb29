//! Ops that write into their first operand.

use super::layout::range;
use super::{Task, is_widened, number_of};
use crate::present::pytorch::ScriptError;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::op::Indexing;
use fuseline_core::model::op_type::OpType;

impl Task<'_> {
    /// The statement that makes the result of an op in place the value of `output`. `value` is that
    /// of the same op with a result of its own.
    pub(super) fn in_place(
        &self,
        target: &str,
        output: &str,
        value: &str,
    ) -> Result<String, ScriptError> {
        // A part that is put back is there already.
        if self.graph.tensors[self.graph.output[self.id]].shows_written {
            return Ok(format!("{output} = {target}"));
        }
        if self.function == Function::SliceScatter {
            let Indexing {
                axis, start, step, ..
            } = *self.indexing()?;
            let elements = self.shape(1).and_then(|shape| shape.get(axis).copied());
            let range = range(axis, start, step, elements.ok_or_else(|| self.refuse())?);
            let source = self.operand(1)?;
            return Ok(format!(
                "{target}[{range}] = {source}\n    {output} = {target}"
            ));
        }
        if self.op.op_type == OpType::Opaque && self.writes_itself() {
            return Ok(format!("{output} = {value}"));
        }
        // A method computes in the type of its tensor, and takes that tensor as it is.
        let is_plain = self.natural_dtype() == self.op.element_type()
            && self.operands.first().is_some_and(|own| own == target);
        let method = if is_plain { self.method(target)? } else { None };
        let method = method.unwrap_or_else(|| format!("{target}.copy_({value})"));
        Ok(format!("{output} = {method}"))
    }

    /// Whether the expression of a kernel of a library writes into its first operand, which is then
    /// the tensor, not a copy of it in f32.
    pub(super) fn writes_itself(&self) -> bool {
        self.op.in_place && !is_widened(self.function, self.op.element_type())
    }

    /// The call that computes the function in place; `None` where PyTorch has none.
    fn method(&self, target: &str) -> Result<Option<String>, ScriptError> {
        let name = self.function;
        let others = || self.operands.get(1..).unwrap_or_default().join(", ");
        let named =
            |method: &str, arguments: &str| Ok(Some(format!("{target}.{method}_({arguments})")));
        match (name, self.operands.len()) {
            (Function::Copy, _) => named("copy", self.operand(1)?),
            (Function::Mask, 2) => named("add", &others()),
            (Function::Scale, _) => named("mul", &self.number(AttributeName::Factor)?),
            (Function::Shift, _) => named("add", &self.number(AttributeName::Amount)?),
            (Function::Pow, 1) => named("pow", &self.number(AttributeName::Exponent)?),
            (Function::Tril | Function::Triu, _) => {
                let diagonal = self.call.required_size(AttributeName::Diagonal)?;
                named(name.name(), &diagonal.to_string())
            }
            (Function::Clamp, _) => {
                let bounds = [AttributeName::Min, AttributeName::Max].into_iter();
                let bounds = bounds.filter_map(|bound| {
                    Some(format!("{bound}={}", number_of(self.call.number(bound)?)))
                });
                named("clamp", &bounds.collect::<Vec<_>>().join(", "))
            }
            (Function::Dropout, _) => {
                let p = self.call.required(AttributeName::P)?;
                let call = format!("F.dropout({target}, {p:?}, training=True, inplace=True)");
                Ok(Some(call))
            }
            (
                Function::Silu
                | Function::Selu
                | Function::Mish
                | Function::Hardsigmoid
                | Function::Hardswish,
                _,
            ) => Ok(Some(format!("F.{name}({target}, inplace=True)"))),
            (
                Function::LeakyRelu
                | Function::Elu
                | Function::Gelu
                | Function::GeluErf
                | Function::Softplus
                | Function::LogSigmoid
                | Function::Softsign
                | Function::Maximum
                | Function::Minimum
                | Function::Mask,
                _,
            ) => Ok(None),
            // PyTorch has these in place under the same name.
            _ => named(name.name(), &others()),
        }
    }
}
