//! Functions of single elements.

use super::super::{shape_of, torch_dtype};
use super::{Task, literal, number_of};
use crate::present::pytorch::ScriptError;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::{AttributeName, Function};

impl Task<'_> {
    pub(super) fn elementwise(&self) -> Result<String, ScriptError> {
        let name = self.function;
        let binary = |sign: &str| Ok(format!("{} {sign} {}", self.operand(0)?, self.operand(1)?));
        let called = |function: &str| Ok(format!("{function}({})", self.operands.join(", ")));
        let x = || self.operand(0);
        let shape = shape_of(&self.op.shape);
        match (name, self.operands.len()) {
            (Function::Mask, 1) => self.causal(),
            (Function::Dequantize, _) => self.dequantized(),
            (Function::Add | Function::Mask, _) => binary("+"),
            (Function::Sub, _) => binary("-"),
            (Function::Mul, _) => binary("*"),
            (Function::Div, _) => binary("/"),
            (Function::TruncDivide, _) => Ok(format!(
                "torch.div({}, {}, rounding_mode=\"trunc\")",
                self.operand(0)?,
                self.operand(1)?
            )),
            (Function::Pow, 1) => Ok(format!(
                "{} ** {}",
                x()?,
                self.number(AttributeName::Exponent)?
            )),
            (Function::Pow, _) => binary("**"),
            (Function::Lt, _) => binary("<"),
            (Function::Le, _) => binary("<="),
            (Function::Gt, _) => binary(">"),
            (Function::Ge, _) => binary(">="),
            (Function::Eq, _) => binary("=="),
            (Function::Ne, _) => binary("!="),
            (Function::Maximum | Function::Minimum, _) => self.bounded(),
            (Function::Neg, _) => Ok(format!("-{}", x()?)),
            (Function::LeakyRelu, _) => {
                let slope = self.call.required(AttributeName::Slope)?;
                Ok(format!("F.leaky_relu({}, {slope:?})", x()?))
            }
            (Function::Elu, _) => {
                let alpha = self.call.required(AttributeName::Alpha)?;
                Ok(format!("F.elu({}, {alpha:?})", x()?))
            }
            (Function::Gelu, _) => Ok(format!("F.gelu({}, approximate=\"tanh\")", x()?)),
            (Function::GeluErf, _) => called("F.gelu"),
            (Function::Scale, _) => Ok(format!(
                "{} * {}",
                x()?,
                self.number(AttributeName::Factor)?
            )),
            (Function::Shift, _) => Ok(format!(
                "{} + {}",
                x()?,
                self.number(AttributeName::Amount)?
            )),
            (Function::Tril | Function::Triu, _) => {
                let diagonal = self.call.required_size(AttributeName::Diagonal)?;
                Ok(format!("torch.{name}({}, {diagonal})", x()?))
            }
            (Function::Full, _) => {
                let dtype = torch_dtype(self.op.element_type().unwrap_or(DType::F32));
                let value = number_of(self.call.required(AttributeName::Value)?);
                Ok(format!(
                    "torch.full({shape}, {value}, dtype={dtype}, device=DEVICE)"
                ))
            }
            (Function::Arange, _) => self.range(),
            (Function::Copy, _) => Ok(format!(
                "torch.empty_like({}).copy_({})",
                x()?,
                self.operand(1)?
            )),
            (Function::Dropout, _) => {
                let p = self.call.required(AttributeName::P)?;
                Ok(format!("F.dropout({}, {p:?}, training=True)", x()?))
            }
            (Function::Cast, _) => Ok(format!(
                "{}.to({})",
                x()?,
                torch_dtype(self.op.element_type().unwrap_or(DType::F32))
            )),
            (Function::Clamp, _) => self.clamped(),
            (Function::Rotary, _) => {
                let (x, cos, sin) = (x()?, self.operand(1)?, self.operand(2)?);
                let half = self.op.shape.last().map_or(0, |size| size / 2);
                Ok(format!(
                    "{x} * {cos} + torch.cat((-{x}[..., {half}:], {x}[..., :{half}]), -1) * {sin}"
                ))
            }
            (Function::BatchNorm, 3) => {
                let of_channel = self.of_channel();
                Ok(format!(
                    "{} * {}.view({of_channel}) + {}.view({of_channel})",
                    x()?,
                    self.operand(1)?,
                    self.operand(2)?
                ))
            }
            (Function::BatchNorm, _) => {
                let eps = self.call.required(AttributeName::Eps)?;
                Ok(format!(
                    "F.batch_norm({}, eps={eps:?})",
                    self.operands.join(", ")
                ))
            }
            (Function::LogSigmoid, _) => called("F.logsigmoid"),
            // PyTorch takes two tensors.
            (Function::Logaddexp, _) if !self.call.literals.is_empty() => Err(self.refuse()),
            _ => {
                let is_module = self.function.row().module.is_some();
                let package = if is_module { "F" } else { "torch" };
                called(&format!("{package}.{name}"))
            }
        }
    }

    /// Elements between two bounds, or on one side of one.
    fn clamped(&self) -> Result<String, ScriptError> {
        let bounds = [AttributeName::Min, AttributeName::Max].into_iter();
        let bounds = bounds.filter_map(|bound| {
            let value = literal(self.call.number(bound)?, self.of_integers);
            Some(format!(", {bound}={value}"))
        });
        let bounds: String = bounds.collect();
        Ok(format!("torch.clamp({}{bounds})", self.operand(0)?))
    }

    /// Integers of equal distance.
    fn range(&self) -> Result<String, ScriptError> {
        let shape = shape_of(&self.op.shape);
        let dtype = torch_dtype(self.op.element_type().unwrap_or(DType::I64));
        let count: u64 = self.op.shape.iter().product();
        let start = self.call.required_size(AttributeName::Start)?;
        let step = self.call.required_size(AttributeName::Step)?;
        let range = if (start, step) == (0, 1) {
            count.to_string()
        } else {
            let steps = i64::try_from(count).ok();
            let steps = steps.and_then(|count| count.checked_mul(step));
            let end = steps.and_then(|steps| start.checked_add(steps));
            // PyTorch has no range of equal numbers.
            let end = end.filter(|_| step != 0).ok_or_else(|| self.refuse())?;
            format!("{start}, {end}, {step}")
        };
        Ok(format!(
            "torch.arange({range}, dtype={dtype}, device=DEVICE).reshape({shape})"
        ))
    }

    /// The shape of a value for each channel: `-1, 1, 1`, with a 1 for each dimension after the
    /// channels.
    fn of_channel(&self) -> String {
        let behind = self.op.shape.len().saturating_sub(2);
        format!("-1{}", ", 1".repeat(behind))
    }

    /// A causal mask: minus infinity above the diagonal. The last row sees all columns.
    fn causal(&self) -> Result<String, ScriptError> {
        let x = self.operand(0)?;
        let (rows, columns) = match self.op.shape[..] {
            [.., rows, columns] => (rows, columns),
            [columns] => (1, columns),
            [] => (1, 1),
        };
        let diagonal = columns.saturating_sub(rows) + 1;
        Ok(format!(
            "{x}.masked_fill(torch.ones({rows}, {columns}, dtype=torch.bool, device=DEVICE).triu({diagonal}), float(\"-inf\"))"
        ))
    }

    /// The larger or the smaller of two operands, one of which may be a number.
    fn bounded(&self) -> Result<String, ScriptError> {
        let name = self.function;
        let bound = if name == Function::Maximum {
            "min"
        } else {
            "max"
        };
        match (&self.operands[..], &self.call.literals[..]) {
            ([a, b], []) => Ok(format!("torch.{name}({a}, {b})")),
            ([a, b], [(place, _)]) => {
                let (x, number) = if *place == 0 { (b, a) } else { (a, b) };
                Ok(format!("torch.clamp({x}, {bound}={number})"))
            }
            _ => Err(self.refuse()),
        }
    }
}
