//! Reductions, normalizations and pools.

use super::super::shape_of;
use super::Task;
use crate::present::pytorch::ScriptError;

impl Task<'_> {
    /// The dimensions that are reduced.
    fn axes(&self) -> Vec<usize> {
        // PyTorch counts a dimension of a tensor without any.
        let rank = self.shape(0).map_or(1, |shape| shape.len().max(1));
        self.op.reduced_axes(rank)
    }

    pub(super) fn reduction(&self) -> Result<String, ScriptError> {
        let name = self.function.name;
        let x = self.operand(0)?;
        let axes = self.axes();
        let keeps = self
            .shape(0)
            .is_some_and(|shape| shape.len() == self.op.shape.len());
        let keepdim = if keeps { ", keepdim=True" } else { "" };
        let dims: Vec<String> = axes.iter().map(usize::to_string).collect();
        let dims = match &dims[..] {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        let eps = |default: f64| self.call.number("eps").unwrap_or(default);
        let factors = self.operands.get(1..).unwrap_or_default();
        let normalized = || {
            let sizes: Vec<u64> = (axes.iter())
                .filter_map(|&axis| self.shape(0)?.get(axis).copied())
                .collect();
            shape_of(&sizes)
        };
        match name {
            "sum" | "mean" | "var" | "any" | "all" => Ok(format!("{x}.{name}({dims}{keepdim})")),
            "argmax" | "argmin" => match &axes[..] {
                [only] => Ok(format!("{x}.{name}({only}{keepdim})")),
                _ => Err(self.refuse()),
            },
            // PyTorch multiplies along one dimension at a time; the last one first, so that those before it stay.
            "prod" => {
                let along = axes.iter().rev();
                let products = along.map(|axis| format!(".prod({axis}{keepdim})"));
                Ok(format!("{x}{}", products.collect::<Vec<_>>().concat()))
            }
            "max" | "min" => Ok(format!("{x}.a{name}({dims}{keepdim})")),
            "softmax" | "log_softmax" => Ok(format!("F.{name}({x}, {dims})")),
            "cumsum" => Ok(format!("{x}.cumsum({dims})")),
            "l2_norm" => Ok(format!(
                "F.normalize({x}, dim={dims}, eps={:?})",
                eps(1e-12)
            )),
            "layer_norm" => {
                let inputs = [&[x.to_owned(), normalized()], factors].concat();
                let eps = eps(1e-5);
                Ok(format!("F.layer_norm({}, eps={eps:?})", inputs.join(", ")))
            }
            "rms_norm" => {
                let weight = factors.first().map_or(String::new(), |w| format!(", {w}"));
                let bias = factors.get(1).map_or(String::new(), |b| format!(" + {b}"));
                Ok(format!(
                    "F.rms_norm({x}, {}{weight}, eps={:?}){bias}",
                    normalized(),
                    eps(1e-6)
                ))
            }
            "batch_norm_train" => {
                let none = "None".to_owned();
                let inputs = [&[x.to_owned(), none.clone(), none], factors].concat();
                let (inputs, eps) = (inputs.join(", "), eps(1e-5));
                Ok(format!(
                    "F.batch_norm({inputs}, training=True, eps={eps:?})"
                ))
            }
            "group_norm" => {
                let groups = self.call.size("groups").unwrap_or(1);
                let inputs = [&[x.to_owned(), groups.to_string()], factors].concat();
                let eps = eps(1e-5);
                Ok(format!("F.group_norm({}, eps={eps:?})", inputs.join(", ")))
            }
            "adaptive_avg_pool2d" | "adaptive_max_pool2d" => {
                let size = self.op.shape.get(2..).ok_or_else(|| self.refuse())?;
                Ok(format!("F.{name}({x}, {})", shape_of(size)))
            }
            "max_pool2d" | "avg_pool2d" => {
                let window = self.indexing()?.window.ok_or_else(|| self.refuse())?;
                let [size, stride, padding] =
                    [window.size, window.stride, window.padding].map(|pair| shape_of(&pair));
                Ok(format!("F.{name}({x}, {size}, {stride}, {padding})"))
            }
            _ => Err(self.refuse()),
        }
    }
}
