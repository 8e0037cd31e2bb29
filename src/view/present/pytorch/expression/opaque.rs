//! Kernels of libraries, and unknown operators.

use super::{Task, number_of};
use crate::present::pytorch::ScriptError;
use fuseline_codegen::interpret::unknown_operator;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::op::Indexing;

impl Task<'_> {
    pub(super) fn opaque(&self) -> Result<String, ScriptError> {
        let name = self.function;
        match name {
            Function::Opaque => Err(unknown_operator(self.op).into()),
            Function::Sdpa => self.attention(),
            Function::Topk | Function::Sort => Ok(format!("{}[0]", self.results()?)),
            Function::TopkIndices | Function::Argsort => Ok(format!("{}[1]", self.results()?)),
            Function::Scatter | Function::ScatterAdd | Function::IndexCopy | Function::IndexAdd => {
                let axis = self.indexing()?.axis;
                let [x, index, source] = &self.operands[..] else {
                    return Err(self.refuse());
                };
                Ok(if self.writes_itself() {
                    format!("{x}.{name}_({axis}, {index}, {source})")
                } else {
                    format!("torch.{name}({x}, {axis}, {index}, {source})")
                })
            }
            Function::IndexPut => {
                let [x, indices @ .., source] = &self.operands[..] else {
                    return Err(self.refuse());
                };
                let end = if self.writes_itself() { "_" } else { "" };
                let indices = indices.join(", ");
                Ok(format!("{x}.index_put{end}(({indices},), {source})"))
            }
            Function::SliceScatter => {
                let (x, source) = (self.operand(0)?, self.operand(1)?);
                let Indexing {
                    axis, start, step, ..
                } = *self.indexing()?;
                let count = self.shape(1).and_then(|shape| shape.get(axis).copied());
                let last = count.ok_or_else(|| self.refuse())?.saturating_sub(1);
                let end = start + last * step + 1;
                Ok(format!(
                    "torch.slice_scatter({x}, {source}, {axis}, {start}, {end}, {step})"
                ))
            }
            _ => Err(self.refuse()),
        }
    }

    fn attention(&self) -> Result<String, ScriptError> {
        let factors: Vec<String> = (0..3)
            .map(|place| self.factor(place))
            .collect::<Result<_, _>>()?;
        let is_causal = self.call.is_set(AttributeName::Causal);
        let mask = match self.operands.get(3) {
            // PyTorch takes a mask or `is_causal`, not both.
            Some(_) if is_causal => return Err(self.refuse()),
            Some(_) if self.dtype(3) == Some(DType::Bool) => {
                format!(", {}", self.operand(3)?)
            }
            Some(_) => format!(", {}", self.factor(3)?),
            None if is_causal => ", is_causal=True".to_owned(),
            None => String::new(),
        };
        let scale = self.call.number(AttributeName::Scale);
        let scale = scale.map_or(String::new(), |scale| {
            format!(", scale={}", number_of(scale))
        });
        let is_grouped = self.call.is_set(AttributeName::EnableGqa);
        let grouped = if is_grouped { ", enable_gqa=True" } else { "" };
        Ok(format!(
            "F.scaled_dot_product_attention({}{mask}{scale}{grouped})",
            factors.join(", ")
        ))
    }
}
