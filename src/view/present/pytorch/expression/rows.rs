//! Reductions, normalizations and pools.

use super::super::shape_of;
use super::Task;
use crate::present::pytorch::ScriptError;
use fuseline_core::model::functions::{AttributeName, Function, ShapeRule};

impl Task<'_> {
    /// The dimensions that are reduced.
    pub(super) fn axes(&self) -> Vec<usize> {
        // PyTorch treats a tensor without dimensions as if it had one.
        let rank = self.shape(0).map_or(1, |shape| shape.len().max(1));
        self.op.reduced_axes(rank)
    }

    pub(super) fn keepdim(&self) -> &'static str {
        let keeps = self
            .shape(0)
            .is_some_and(|shape| shape.len() == self.op.shape.len());
        if keeps { ", keepdim=True" } else { "" }
    }

    pub(super) fn reduction(&self) -> Result<String, ScriptError> {
        let name = self.function;
        let x = self.operand(0)?;
        let axes = self.axes();
        let keepdim = self.keepdim();
        let dims: Vec<String> = axes.iter().map(usize::to_string).collect();
        let dims = match &dims[..] {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        let eps = || self.call.required(AttributeName::Eps);
        let factors = self.operands.get(1..).unwrap_or_default();
        let normalized = || {
            let sizes: Vec<u64> = (axes.iter())
                .filter_map(|&axis| self.shape(0)?.get(axis).copied())
                .collect();
            shape_of(&sizes)
        };
        match name {
            Function::Argmax | Function::Argmin => match &axes[..] {
                [only] => Ok(format!("{x}.{name}({only}{keepdim})")),
                _ => Err(self.refuse()),
            },
            // `prod` reduces one dimension at a time. The last one goes first, so that the indices
            // of those before it stay valid.
            Function::Prod => {
                let along = axes.iter().rev();
                let products = along.map(|axis| format!(".prod({axis}{keepdim})"));
                Ok(format!("{x}{}", products.collect::<Vec<_>>().concat()))
            }
            // Only a call without dimensions is one that the compiler may reduce in two steps.
            Function::Max | Function::Min
                if keepdim.is_empty()
                    && self.shape(0).is_some_and(|all| all.len() == axes.len()) =>
            {
                Ok(format!("{x}.a{name}()"))
            }
            Function::Max | Function::Min => Ok(format!("{x}.a{name}({dims}{keepdim})")),
            Function::L2Norm => Ok(format!("F.normalize({x}, dim={dims}, eps={:?})", eps()?)),
            Function::LayerNorm => {
                let inputs = [&[x.to_owned(), normalized()], factors].concat();
                let eps = eps()?;
                Ok(format!("F.layer_norm({}, eps={eps:?})", inputs.join(", ")))
            }
            Function::RmsNorm => {
                let weight = factors.first().map_or(String::new(), |w| format!(", {w}"));
                let bias = factors.get(1).map_or(String::new(), |b| format!(" + {b}"));
                Ok(format!(
                    "F.rms_norm({x}, {}{weight}, eps={:?}){bias}",
                    normalized(),
                    eps()?
                ))
            }
            Function::BatchNormTrain => {
                let none = "None".to_owned();
                let inputs = [&[x.to_owned(), none.clone(), none], factors].concat();
                let (inputs, eps) = (inputs.join(", "), eps()?);
                Ok(format!(
                    "F.batch_norm({inputs}, training=True, eps={eps:?})"
                ))
            }
            Function::GroupNorm => {
                let groups = self.call.required_size(AttributeName::Groups)?;
                let inputs = [&[x.to_owned(), groups.to_string()], factors].concat();
                let eps = eps()?;
                Ok(format!("F.group_norm({}, eps={eps:?})", inputs.join(", ")))
            }
            Function::AdaptiveAvgPool2d | Function::AdaptiveMaxPool2d => {
                let size = self.op.shape.get(2..).ok_or_else(|| self.refuse())?;
                Ok(format!("F.{name}({x}, {})", shape_of(size)))
            }
            Function::MaxPool2d | Function::AvgPool2d => {
                let window = self.indexing()?.window.ok_or_else(|| self.refuse())?;
                let [size, stride, padding] =
                    [window.size, window.stride, window.padding].map(|pair| shape_of(&pair));
                Ok(format!("F.{name}({x}, {size}, {stride}, {padding})"))
            }
            // PyTorch has these reductions under the same name.
            _ if name.row().shape_rule == ShapeRule::Reduce => {
                Ok(format!("{x}.{name}({dims}{keepdim})"))
            }
            _ if name.row().module.is_some() => Ok(format!("F.{name}({x}, {dims})")),
            _ => Ok(format!("{x}.{name}({dims})")),
        }
    }
}
