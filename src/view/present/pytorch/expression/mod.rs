//! One op as an expression of PyTorch. The meaning of each function is that of
//! `fuseline_codegen::interpret`.

mod elementwise;
mod in_place;
mod layout;
mod opaque;
mod products;
mod results;
mod rows;

use self::results::results_of_one_call;
use super::names::Names;
use super::{ScriptError, four_bits, torch_dtype};
use fuseline_codegen::call::Call;
use fuseline_codegen::interpret::function_of;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{OpId, TensorId};
use fuseline_core::model::op::{Indexing, Op};
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::promotion::ArgumentType;
use std::fmt::Write as _;

/// An op and what its value depends on.
struct Task<'a> {
    graph: &'a Graph,
    id: OpId,
    op: &'a Op,
    names: &'a Names,
    function: Function,
    call: &'a Call,
    /// Its operands in their order, numbers among them as they are written.
    operands: Vec<String>,
    /// Whether the values that it computes with are whole numbers or truths.
    of_integers: bool,
}

/// The statement that computes an op, with a result of the element type of its output. `None` for
/// the second result of an operator, which the statement of the first one gives.
///
/// # Errors
/// Why PyTorch has no such op.
pub(super) fn statement(
    graph: &Graph,
    names: &Names,
    id: OpId,
    call: &Call,
) -> Result<Option<String>, ScriptError> {
    let op = &graph.ops[id];
    let function = function_of(op)?;
    let operand = |&tensor: &TensorId| {
        let name = names.of_tensor(tensor);
        let dtype = graph.tensors[tensor].dtype;
        if four_bits::is_of(dtype) {
            four_bits::values(graph, tensor, name)
        } else if is_widened(function, dtype) {
            Ok(format!("{name}.to(torch.float32)"))
        } else if is_moved_as_bytes(function, dtype) {
            Ok(format!("{name}.view(torch.uint8)"))
        } else {
            Ok(name.to_owned())
        }
    };
    let operands: Result<Vec<String>, ScriptError> = graph.inputs[id].iter().map(operand).collect();
    let mut operands = operands?;
    // The condition of `where` decides nothing about the type of its values.
    let values = &graph.inputs[id][usize::from(function == Function::Where)..];
    let is_whole = |&tensor: &TensorId| {
        let dtype = graph.tensors[tensor].dtype;
        dtype.is_some_and(|dtype| !dtype.is_float())
    };
    let of_integers = values.iter().all(is_whole);
    for &(place, number) in &call.literals {
        operands.insert(place.min(operands.len()), literal(number, of_integers));
    }
    let task = Task {
        graph,
        id,
        op,
        names,
        function,
        call,
        operands,
        of_integers,
    };
    if op.in_place && four_bits::is_of(op.element_type()) {
        return Err(ScriptError::FourBitsInPlace);
    }
    if task.is_scaled_product() && function != Function::ScaledMatmul {
        return Err(ScriptError::ScaledProduct);
    }
    match results_of_one_call(graph, id) {
        Some((first, second)) if first == id => return task.both_results(second).map(Some),
        Some(_) => return Ok(None),
        None => {}
    }
    let value = match task.function.row().op_type {
        OpType::Elementwise => task.elementwise(),
        OpType::Reduction => task.reduction(),
        OpType::Matmul => task.product(),
        OpType::Reshape => task.layout(),
        OpType::Opaque => task.opaque(),
    }?;
    let (value, output) = (task.of_type(value), names.of_tensor(graph.output[id]));
    match graph.inputs[id].first().filter(|_| op.in_place) {
        Some(&target) => task.in_place(names.of_tensor(target), output, &value),
        None => Ok(format!("{output} = {value}")),
    }
    .map(Some)
}

/// A number beside operands as a Python literal. A float would turn integer operands into floats,
/// which cannot be indices.
fn literal(number: f64, of_integers: bool) -> String {
    if is_whole(number, of_integers) {
        format!("{number:.0}")
    } else {
        number_of(number)
    }
}

fn is_whole(number: f64, of_integers: bool) -> bool {
    of_integers && number.fract() == 0.0
}

/// A number as a Python literal.
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
    fn refuse(&self) -> ScriptError {
        ScriptError::Shapes(self.function)
    }

    fn operand(&self, place: usize) -> Result<&str, ScriptError> {
        self.operands
            .get(place)
            .map(String::as_str)
            .ok_or_else(|| self.refuse())
    }

    fn shape(&self, place: usize) -> Option<&[u64]> {
        let &tensor = self.graph.inputs[self.id].get(place)?;
        self.graph.operand_shape(tensor)
    }

    /// The element type in which the function gets the operand.
    fn dtype(&self, place: usize) -> Option<DType> {
        let &tensor = self.graph.inputs[self.id].get(place)?;
        let dtype = self.graph.tensors[tensor].dtype;
        if is_widened(self.function, dtype) || dtype == Some(DType::F4) {
            Some(DType::F32)
        } else {
            dtype
        }
    }

    /// `(q - zero) * scale` in the type of the scale, each value of a block repeated.
    fn dequantized(&self) -> Result<String, ScriptError> {
        let whole = self.shape(0).ok_or_else(|| self.refuse())?;
        let dtype = self
            .dtype(1)
            .map(torch_dtype)
            .ok_or_else(|| self.refuse())?;
        let spread = |place: usize| -> Result<String, ScriptError> {
            let mut value = self.operand(place)?.to_owned();
            let own = self.shape(place).ok_or_else(|| self.refuse())?;
            let sizes = whole.iter().rev().zip(own.iter().rev());
            for (back, (&size, &blocks)) in (1..).zip(sizes) {
                // One value is broadcast.
                if blocks > 1 && blocks < size {
                    let _ = write!(value, ".repeat_interleave({}, -{back})", size / blocks);
                }
            }
            Ok(value)
        };
        let q = format!("{}.to({dtype})", self.operand(0)?);
        let scale = spread(1)?;
        if self.operands.len() > 2 {
            return Ok(format!("({q} - {}.to({dtype})) * {scale}", spread(2)?));
        }
        Ok(format!("{q} * {scale}"))
    }

    /// Whether the op is a product with an f8 or f4 operand or result.
    fn is_scaled_product(&self) -> bool {
        let inputs = self.graph.inputs[self.id].iter();
        let mut dtypes = inputs.map(|&tensor| self.graph.tensors[tensor].dtype);
        (self.function.row().op_type == OpType::Matmul || self.function == Function::Sdpa)
            && (is_narrow(self.op.element_type()) || dtypes.any(is_narrow))
    }

    /// The type that PyTorch gives the value without a cast; `None` where that is not known.
    fn natural_dtype(&self) -> Option<DType> {
        match self.function {
            Function::Cast | Function::Bitcast | Function::Full | Function::Arange => self.op.dtype,
            Function::ScaledMatmul => Some(self.scaled_dtype()),
            Function::Matmul
            | Function::Linear
            | Function::Conv1d
            | Function::Conv2d
            | Function::Convolution
            | Function::Sdpa => self.op.element_type(),
            _ => self.function.result_type(&self.argument_types()),
        }
    }

    /// The element types of the operands and of the numbers among them.
    fn argument_types(&self) -> Vec<Option<ArgumentType>> {
        let inputs = self.graph.inputs[self.id].len();
        let mut types: Vec<Option<ArgumentType>> = (0..inputs)
            .map(|place| {
                let dimensions = self.shape(place).map_or(1, <[u64]>::len);
                Some(ArgumentType::tensor(self.dtype(place)?, dimensions))
            })
            .collect();
        for &(place, number) in &self.call.literals {
            let is_whole = is_whole(number, self.of_integers);
            types.insert(place.min(types.len()), Some(ArgumentType::number(is_whole)));
        }
        for &name in self.function.operand_attributes() {
            let number = self.call.number(name);
            let is_whole = number.map(|number| is_whole(number, self.of_integers));
            types.extend(is_whole.map(|is_whole| Some(ArgumentType::number(is_whole))));
        }
        types
    }

    /// The value, cast to the element type of the output.
    fn of_type(&self, value: String) -> String {
        match self.op.element_type() {
            own @ Some(dtype) if four_bits::is_of(own) => {
                if four_bits::is_packed(self.graph, self.graph.output[self.id]) {
                    four_bits::packed(dtype, &value)
                } else {
                    value
                }
            }
            own @ Some(dtype) if is_moved_as_bytes(self.function, own) => {
                format!("({value}).view({})", torch_dtype(dtype))
            }
            Some(dtype) if self.natural_dtype() != Some(dtype) => {
                format!("({value}).to({})", torch_dtype(dtype))
            }
            _ => value,
        }
    }

    /// An operand of a product, cast to the element type of the output: PyTorch wants both operands
    /// in it.
    fn factor(&self, place: usize) -> Result<String, ScriptError> {
        let operand = self.operand(place)?;
        let dtype = self.op.element_type();
        match dtype {
            Some(dtype) if self.dtype(place).is_some_and(|own| own != dtype) => {
                Ok(format!("{operand}.to({})", torch_dtype(dtype)))
            }
            _ => Ok(operand.to_owned()),
        }
    }

    fn number(&self, attribute: AttributeName) -> Result<String, ScriptError> {
        Ok(literal(self.call.required(attribute)?, self.of_integers))
    }

    fn indexing(&self) -> Result<&Indexing, ScriptError> {
        self.op.indexing.as_deref().ok_or_else(|| self.refuse())
    }
}

fn is_f8(dtype: Option<DType>) -> bool {
    dtype.is_some_and(DType::is_f8)
}

/// Whether a type holds floats that PyTorch multiplies only with scales.
fn is_narrow(dtype: Option<DType>) -> bool {
    is_f8(dtype) || dtype == Some(DType::F4)
}

/// Whether the function gets the operand in f32: PyTorch moves and casts elements of f8, and
/// calculates nothing with them.
fn is_widened(function: Function, dtype: Option<DType>) -> bool {
    let moves = function.row().op_type == OpType::Reshape
        || function.writes_part() && !function.adds_to_part();
    is_f8(dtype) && !moves
}

/// Whether the function moves the bytes of the operand, because PyTorch has none for f8.
fn is_moved_as_bytes(function: Function, dtype: Option<DType>) -> bool {
    is_f8(dtype)
        && matches!(
            function,
            Function::Gather | Function::Scatter | Function::IndexCopy
        )
}
