//! Figures of a page's state, as lessons name them: `unfused bytes`, `intensity of kernel softmax`.

use super::error::{ReadError, ValueError};
use super::state::{AnalyzedProgram, tensor_named};
use super::value::{FigureValue, Unit};
use fuseline_core::{Analysis, OpId, Policy};
use fuseline_view::present::names::op_names;
use fuseline_view::present::quantity::{Figure, Kind, Quantity, Run, Subject, Values};
use std::fmt;
use std::sync::Arc;

/// A quantity, the kernels in which it is measured, and its subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFigure {
    pub quantity: Quantity,
    pub kernels: Kernels,
    pub subject: NamedSubject,
}

/// The kernels in which a quantity is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// The kernels of the chosen policy.
    Shown,
    /// One for each op.
    Unfused,
    /// The kernels of another policy.
    Under(Policy),
}

/// The subject of a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedSubject {
    /// The whole program, or the device.
    Program,
    /// The kernel that computes the op of this name.
    Kernel(String),
    /// This op alone.
    Op(String),
    Tensor(String),
    Param(String),
}

impl NamedFigure {
    /// Reads a quantity.
    ///
    /// # Errors
    /// What is wrong, and what may stand there.
    pub fn parse(text: &str) -> Result<Self, ReadError> {
        let mut rest = text.trim();
        let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let kernels = match first {
            "unfused" => Kernels::Unfused,
            _ => match first.parse::<Policy>() {
                Ok(policy) if !after.is_empty() => Kernels::Under(policy),
                _ => Kernels::Shown,
            },
        };
        if kernels != Kernels::Shown {
            rest = after.trim();
        }
        let (quantity, of) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let known = Quantity::with_id(quantity).filter(|&known| is_nameable(known));
        let quantity = known.ok_or_else(|| ReadError::NoQuantity(quantity.to_owned()))?;
        Ok(Self {
            quantity,
            kernels,
            subject: NamedSubject::parse(of.trim())?,
        })
    }

    /// The unit of its number; `None` if it is a word.
    pub const fn unit(&self) -> Option<Unit> {
        self.quantity.unit()
    }

    /// Its value.
    ///
    /// # Errors
    /// Why it has none.
    pub fn value(&self, analyzed: &AnalyzedProgram) -> Result<FigureValue, ValueError> {
        let analysis = &self.analysis(analyzed);
        let run = match self.kernels {
            Kernels::Unfused => Run::Unfused,
            Kernels::Shown | Kernels::Under(_) => Run::Fused,
        };
        let of = match &self.subject {
            NamedSubject::Program => Subject::Program,
            NamedSubject::Kernel(name) => {
                let op = op_named(analysis, name)?;
                let kernel = analysis.partition.kernel_of.get(op);
                let of = kernel.and_then(|&kernel| Subject::kernel(analysis, kernel));
                of.ok_or_else(|| self.lacks_value())?
            }
            NamedSubject::Op(name) => Subject::Op(op_named(analysis, name)?),
            NamedSubject::Tensor(name) => Subject::Tensor(
                tensor_named(&analysis.graph, name)
                    .ok_or_else(|| ValueError::NoTensor(name.clone()))?,
            ),
            NamedSubject::Param(name) => {
                let params = &analyzed.program().params;
                let param = params.iter().find(|param| param.name.text == *name);
                let param = param.ok_or_else(|| ValueError::NoParam(name.clone()))?;
                let is_value = self.quantity == Quantity::Param;
                let value = FigureValue::Number(param.value as f64, Unit::Count);
                return is_value.then_some(value).ok_or_else(|| self.lacks_value());
            }
        };
        // What kernels need of the device is that of the kernels of *no fusion*, which run as fused
        // ones do.
        let run = if is_of_launch(self.quantity) {
            Run::Fused
        } else {
            run
        };
        let figure = Figure {
            quantity: self.quantity,
            run,
            of,
        };
        let value = Values::new(analysis).of(figure);
        let value = value.map(|value| FigureValue::of(value, self.quantity));
        value.ok_or_else(|| self.lacks_value())
    }

    fn lacks_value(&self) -> ValueError {
        ValueError::NoValue(self.to_string())
    }

    /// The analysis whose kernels are meant.
    pub(super) fn analysis(&self, analyzed: &AnalyzedProgram) -> Arc<Analysis> {
        match self.kernels {
            Kernels::Under(policy) => analyzed.under(policy),
            // The comparison of a kernel with its ops one by one knows bytes and times only.
            Kernels::Unfused if is_of_launch(self.quantity) => analyzed.under(Policy::None),
            Kernels::Shown | Kernels::Unfused => analyzed.analysis.clone(),
        }
    }
}

impl fmt::Display for NamedFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kernels {
            Kernels::Shown => {}
            Kernels::Unfused => f.write_str("unfused ")?,
            Kernels::Under(policy) => write!(f, "{} ", policy.name())?,
        }
        f.write_str(self.quantity.id())?;
        match &self.subject {
            NamedSubject::Program => Ok(()),
            NamedSubject::Kernel(name) => write!(f, " of kernel {name}"),
            NamedSubject::Op(name) => write!(f, " of op {name}"),
            NamedSubject::Tensor(name) => write!(f, " of tensor {name}"),
            NamedSubject::Param(name) => write!(f, " of param {name}"),
        }
    }
}

impl NamedSubject {
    fn parse(text: &str) -> Result<Self, ReadError> {
        if text.is_empty() {
            return Ok(Self::Program);
        }
        let help = || ReadError::NoSubject(text.to_owned());
        let named = text
            .strip_prefix("of ")
            .and_then(|of| of.trim().split_once(char::is_whitespace));
        let (kind, name) = named.ok_or_else(help)?;
        let name = name.trim().to_owned();
        match kind {
            "kernel" => Ok(Self::Kernel(name)),
            "op" => Ok(Self::Op(name)),
            "tensor" => Ok(Self::Tensor(name)),
            "param" => Ok(Self::Param(name)),
            _ => Err(help()),
        }
    }
}

/// Whether a lesson can name what the quantity is of: not a tensor at one kernel, nor a policy
/// beside the chosen one.
pub(super) const fn is_nameable(of: Quantity) -> bool {
    !matches!(of, Quantity::BytesVanished | Quantity::Differing)
}

/// Whether it is what kernels ask of the device.
pub(super) fn is_of_launch(quantity: Quantity) -> bool {
    quantity.kind() == Kind::Launch
        || matches!(quantity, Quantity::DramReads | Quantity::Recomputed)
}

pub(super) fn op_named(analysis: &Analysis, name: &str) -> Result<OpId, ValueError> {
    let op = analysis.graph.op_named(name);
    op.ok_or_else(|| ValueError::NoOp(name.to_owned()))
}

/// The launched kernels of an analysis by the names of their ops.
pub(super) fn kernel_names(analysis: &Analysis) -> Vec<String> {
    let kernels = analysis.fused.kernels.iter();
    kernels
        .filter(|kernel| !kernel.is_free)
        .map(|kernel| op_names(&analysis.graph, &kernel.ops))
        .collect()
}
