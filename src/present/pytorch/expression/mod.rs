//! One op as an expression of PyTorch. The meaning of each function is that of `core::interpret`.

mod elementwise;
mod layout;
mod opaque;
mod products;
mod rows;

use super::names::Names;
use super::torch_dtype;
use crate::core::interpret::{Call, function_of};
use crate::core::model::dtype::DType;
use crate::core::model::functions::Function;
use crate::core::model::graph::Graph;
use crate::core::model::ids::OpId;
use crate::core::model::op::{Indexing, Op};
use crate::core::model::op_type::OpType;

/// An op and what its value depends on.
struct Task<'a> {
    graph: &'a Graph,
    id: OpId,
    op: &'a Op,
    function: &'static Function,
    call: &'a Call,
    /// Its operands in their order, numbers among them as they are written.
    operands: Vec<String>,
}

/// The value of an op, of the element type of its output.
///
/// # Errors
/// Why PyTorch has no such op, as a clause about it.
pub(super) fn expression(
    graph: &Graph,
    names: &Names,
    id: OpId,
    call: &Call,
) -> Result<String, String> {
    let op = &graph.ops[id];
    let mut operands: Vec<String> = (graph.inputs[id].iter())
        .map(|&tensor| names.of_tensor(tensor).to_owned())
        .collect();
    for &(place, number) in &call.literals {
        operands.insert(place.min(operands.len()), number_of(number));
    }
    let task = Task {
        graph,
        id,
        op,
        function: function_of(op)?,
        call,
        operands,
    };
    let value = match task.function.op_type {
        OpType::Elementwise => task.elementwise(),
        OpType::Reduction => task.reduction(),
        OpType::Matmul => task.product(),
        OpType::Reshape => task.layout(),
        OpType::Opaque => task.opaque(),
    }?;
    task.of_type(value)
}

/// A number of Python.
fn number_of(value: f64) -> String {
    if value.is_finite() {
        format!("{value:?}")
    } else if value.is_nan() {
        "float(\"nan\")".to_owned()
    } else {
        format!("float(\"{}inf\")", if value < 0.0 { "-" } else { "" })
    }
}

impl Task<'_> {
    fn refuse(&self) -> String {
        format!("a script knows no `{}` of these shapes", self.function.name)
    }

    fn operand(&self, place: usize) -> Result<&str, String> {
        self.operands
            .get(place)
            .map(String::as_str)
            .ok_or_else(|| self.refuse())
    }

    fn shape(&self, place: usize) -> Option<&[u64]> {
        let &tensor = self.graph.inputs[self.id].get(place)?;
        self.graph.operand_shape(tensor)
    }

    fn dtype(&self, place: usize) -> Option<DType> {
        let &tensor = self.graph.inputs[self.id].get(place)?;
        self.graph.tensors[tensor].dtype
    }

    /// The type that PyTorch gives the value without a word; `None` where that is not known.
    fn natural_dtype(&self) -> Option<DType> {
        if let Some(dtype) = self.function.result_dtype() {
            return Some(dtype);
        }
        match self.function.name {
            "cast" | "full" | "arange" => self.op.dtype,
            "where" => promoted(self.dtype(1), self.dtype(2)),
            "embedding" => self.dtype(1),
            "matmul" | "linear" | "conv1d" | "conv2d" | "sdpa" => self.op.element_type(),
            _ if self.function.op_type == OpType::Elementwise => {
                let places = 1..self.graph.inputs[self.id].len();
                places.fold(self.dtype(0), |dtype, place| {
                    promoted(dtype, self.dtype(place))
                })
            }
            _ => self.dtype(0),
        }
    }

    /// The value, in the element type of the output.
    fn of_type(&self, value: String) -> Result<String, String> {
        let Some(dtype) = self.op.element_type() else {
            return Ok(value);
        };
        let name = torch_dtype(dtype)?;
        if self.natural_dtype() == Some(dtype) {
            return Ok(value);
        }
        Ok(format!("({value}).to({name})"))
    }

    /// An operand of a product in the element type of the output, which PyTorch wants of both.
    fn factor(&self, place: usize) -> Result<String, String> {
        let operand = self.operand(place)?;
        let dtype = self.op.element_type();
        match dtype {
            Some(dtype) if self.dtype(place).is_some_and(|own| own != dtype) => {
                Ok(format!("{operand}.to({})", torch_dtype(dtype)?))
            }
            _ => Ok(operand.to_owned()),
        }
    }

    fn number(&self, attribute: &str) -> Result<String, String> {
        self.call.stated(attribute).map(number_of)
    }

    fn indexing(&self) -> Result<&Indexing, String> {
        self.op.indexing.as_deref().ok_or_else(|| self.refuse())
    }
}

/// The type of a calculation with both.
fn promoted(a: Option<DType>, b: Option<DType>) -> Option<DType> {
    let rank = |dtype: DType| match dtype {
        DType::Bool => 0,
        DType::I8 => 1,
        DType::I32 => 2,
        DType::I64 => 3,
        DType::F8 => 4,
        DType::F16 | DType::Bf16 => 5,
        DType::F32 => 6,
        DType::F64 => 7,
    };
    let (Some(a), Some(b)) = (a, b) else {
        return a.or(b);
    };
    match (a, b) {
        (DType::F16, DType::Bf16) | (DType::Bf16, DType::F16) => Some(DType::F32),
        _ if rank(a) >= rank(b) => Some(a),
        _ => Some(b),
    }
}
