//! Ops that move elements and compute nothing.

use super::super::{shape_of, torch_dtype};
use super::{Task, number_of};
use crate::present::pytorch::ScriptError;
use fuseline_codegen::evaluation_error::EvaluationError;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::op::Indexing;
use fuseline_core::model::operand_parts::{Heads, heads_between};

impl Task<'_> {
    pub(super) fn layout(&self) -> Result<String, ScriptError> {
        let name = self.function;
        let x = self.operand(0)?;
        let shape = shape_of(&self.op.shape);
        match name {
            Function::Reshape => Ok(format!("{x}.reshape({shape})")),
            Function::Bitcast => Ok(format!(
                "{x}.view({})",
                torch_dtype(self.op.element_type().unwrap_or(DType::F32))
            )),
            Function::Contiguous => Ok(format!("{x}.reshape({shape}).contiguous()")),
            Function::Rearrange => self.rearranged(),
            Function::Transpose => {
                let perm: Vec<String> =
                    self.indexing()?.perm.iter().map(usize::to_string).collect();
                Ok(format!("{x}.permute({})", perm.join(", ")))
            }
            Function::Split | Function::Slice => {
                let Indexing {
                    axis, start, step, ..
                } = *self.indexing()?;
                let &size = self.op.shape.get(axis).ok_or_else(|| self.refuse())?;
                Ok(format!("{x}[{}]", range(axis, start, step, size)))
            }
            Function::Concat => {
                let axis = self.indexing()?.axis;
                Ok(format!("torch.cat(({}), {axis})", self.operands.join(", ")))
            }
            Function::Expand if self.op.keeps_sizes => {
                let own = self.shape(0).ok_or_else(|| self.refuse())?;
                let added = self.op.shape.len().saturating_sub(own.len());
                let own = std::iter::repeat_n(None, added).chain(own.iter().map(Some));
                let sizes = own.zip(&self.op.shape).map(|(own, size)| {
                    if own == Some(size) {
                        "-1".to_owned()
                    } else {
                        size.to_string()
                    }
                });
                let sizes: Vec<String> = sizes.collect();
                Ok(format!("{x}.expand({})", sizes.join(", ")))
            }
            Function::Expand => Ok(format!("{x}.expand({shape})")),
            Function::Repeat => {
                let own = self.shape(0).ok_or_else(|| self.refuse())?;
                let added = self.op.shape.len().saturating_sub(own.len());
                let own = std::iter::repeat_n(&1, added).chain(own);
                let times: Vec<u64> = (self.op.shape.iter().zip(own))
                    .map(|(size, own)| size / own.max(&1))
                    .collect();
                Ok(format!("{x}.repeat({})", shape_of(&times)))
            }
            Function::RepeatInterleave => {
                let own = self.shape(0).ok_or_else(|| self.refuse())?;
                let sizes = own.iter().zip(&self.op.shape);
                let axis = sizes.clone().position(|(own, size)| own != size);
                let axis = axis.unwrap_or(own.len().saturating_sub(1));
                let times = self.op.shape.get(axis).zip(own.get(axis));
                let times = times.map_or(1, |(size, own)| size / own.max(&1));
                Ok(format!("{x}.repeat_interleave({times}, dim={axis})"))
            }
            Function::Embedding => Ok(format!("F.embedding({x}, {})", self.operand(1)?)),
            Function::Gather => {
                let axis = self.indexing()?.axis;
                Ok(format!("torch.gather({x}, {axis}, {})", self.operand(1)?))
            }
            Function::Index => {
                let indices = self.operands.get(1..).unwrap_or_default();
                Ok(format!("{x}[{}]", indices.join(", ")))
            }
            Function::OneHot => {
                let classes = self.op.shape.last().ok_or_else(|| self.refuse())?;
                Ok(format!("F.one_hot({x}, {classes})"))
            }
            Function::Flip => {
                let axes = self
                    .call
                    .sizes(AttributeName::Axis)
                    .ok_or_else(|| self.refuse())?;
                let axes: Vec<String> = axes.iter().map(i64::to_string).collect();
                Ok(format!("{x}.flip({})", axes.join(", ")))
            }
            Function::Roll => {
                let shift = self
                    .call
                    .size(AttributeName::Shift)
                    .ok_or_else(|| self.refuse())?;
                Ok(format!("{x}.roll({shift}, {})", self.indexing()?.axis))
            }
            Function::Interpolate | Function::InterpolateBilinear => {
                let size = self.op.shape.get(2..).ok_or_else(|| self.refuse())?;
                let mode = if name == Function::Interpolate {
                    "nearest"
                } else {
                    "bilinear"
                };
                let aligns = self.call.is_set(AttributeName::AlignCorners);
                let corners = if aligns { ", align_corners=True" } else { "" };
                let size = shape_of(size);
                Ok(format!(
                    "F.interpolate({x}, {size}, mode=\"{mode}\"{corners})"
                ))
            }
            Function::Pad => {
                let border = self
                    .call
                    .sizes(AttributeName::Pad)
                    .ok_or_else(|| self.refuse())?;
                let border: Vec<String> = border.iter().map(i64::to_string).collect();
                let value = self.call.required(AttributeName::Value)?;
                let value = if value == 0.0 {
                    String::new()
                } else {
                    format!(", value={}", number_of(value))
                };
                Ok(format!("F.pad({x}, ({}){value})", border.join(", ")))
            }
            _ => Err(self.refuse()),
        }
    }

    /// Columns split over heads, or heads merged into columns.
    fn rearranged(&self) -> Result<String, ScriptError> {
        let shape = shape_of(&self.op.shape);
        let [x] = &self.operands[..] else {
            return Err(EvaluationError::UnknownOrder.into());
        };
        let own = self.shape(0).ok_or_else(|| self.refuse())?;
        let moved = heads_between(own, &self.op.shape);
        let (moved, heads) = moved.ok_or(EvaluationError::UnknownOrder)?;
        // Rows stand before the heads, or behind them.
        let before = heads.len() + 2;
        match moved {
            Heads::Split => {
                let [outer @ .., rows, d] = &self.op.shape[..] else {
                    return Err(self.refuse());
                };
                let batch = outer.get(..outer.len() - heads.len()).unwrap_or_default();
                let split = [batch, &[*rows], heads, &[*d]].concat();
                let split = shape_of(&split);
                Ok(format!("{x}.reshape({split}).movedim(-{before}, -2)"))
            }
            Heads::Joined => Ok(format!("{x}.movedim(-2, -{before}).reshape({shape})")),
        }
    }
}

/// The index of every `step`-th of so many elements along an axis, from `start` on.
pub(super) fn range(axis: usize, start: u64, step: u64, elements: u64) -> String {
    let end = start + elements.saturating_sub(1) * step + 1;
    let before = ":, ".repeat(axis);
    match step {
        1 => format!("{before}{start}:{end}"),
        step => format!("{before}{start}:{end}:{step}"),
    }
}
