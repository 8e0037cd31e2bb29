//! One element of an op's output, as an expression of the elements that its kernel reads.
//!
//! The value of a tensor that the kernel computes itself takes the place of its element, so the
//! intermediate tensors of a kernel need no memory. The definitions give the numbers that
//! [`interpret`](crate::interpret) gives.

mod elementwise;
mod layout;
mod passed;
mod pool;
mod product;
mod reduction;
mod resample;

use super::error::CodegenError;
use super::expression::{Expr, ExprId, Expressions};
use super::index::{IndexId, VariableId};
use super::row_values;
use crate::calculator::{Binary, Calculator, Fold, Unary};
use crate::call::Call;
use crate::interpret::{external_type, function_of, unknown_operator};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::Function;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, OpId, TensorId};
use fuseline_core::model::op::{Op, element_count};
use fuseline_core::model::op_type::OpType;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Defines the values of a kernel.
pub(super) struct Definitions<'a> {
    pub(super) graph: &'a Graph,
    calls: &'a IdVec<OpId, Call>,
    /// The ops that the kernel computes, ascending.
    ops: &'a [OpId],
    /// The ops among them whose row values the kernel reads.
    reads_row_values: &'a [OpId],
    pub(super) expressions: Expressions,
    known: HashMap<(TensorId, Vec<IndexId>, Option<ExprId>), ExprId, FxBuildHasher>,
    loops: HashMap<(OpId, usize), VariableId, FxBuildHasher>,
}

/// Where an op takes an operand from.
#[derive(Clone, Copy)]
enum Operand {
    Tensor(TensorId),
    /// A number in the place of an input.
    Literal(f64),
}

/// An op whose output element is defined.
#[derive(Clone, Copy)]
struct Definition<'a> {
    id: OpId,
    op: &'a Op,
    call: &'a Call,
    function: Function,
    /// The index of the element of its output.
    at: &'a [IndexId],
    /// The condition of its reads: where it does not hold, the element is not used.
    only_if: Option<ExprId>,
}

impl Definition<'_> {
    fn unfit(&self) -> CodegenError {
        CodegenError::Shapes {
            function: self.function,
            output: self.op.shape.clone(),
        }
    }
}

/// An expression, or why an op has no definition.
pub(super) type Defined = Result<ExprId, CodegenError>;

impl<'a> Definitions<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        calls: &'a IdVec<OpId, Call>,
        ops: &'a [OpId],
        reads_row_values: &'a [OpId],
    ) -> Self {
        Self {
            graph,
            calls,
            ops,
            reads_row_values,
            expressions: Expressions::default(),
            known: HashMap::default(),
            loops: HashMap::default(),
        }
    }

    /// The op of this kernel that writes the tensor.
    pub(super) fn own_producer(&self, tensor: TensorId) -> Option<OpId> {
        let op = self.graph.tensors.get(tensor)?.producer?;
        self.ops.binary_search(&op).is_ok().then_some(op)
    }

    /// Shape and element type of a tensor.
    pub(super) fn type_of(&self, tensor: TensorId) -> Result<(Vec<u64>, DType), CodegenError> {
        let graph = self.graph;
        if let Some((op, _)) = row_values::of_tensor(graph, tensor) {
            return self.type_of_row_value(op);
        }
        let of = match graph.tensors[tensor].producer {
            Some(op) => {
                let op = &graph.ops[op];
                op.element_type().map(|dtype| (op.shape.clone(), dtype))
            }
            None => external_type(graph, tensor),
        };
        of.ok_or(CodegenError::UnknownInput)
    }

    fn shape_of(&self, tensor: TensorId) -> Result<Vec<u64>, CodegenError> {
        Ok(self.type_of(tensor)?.0)
    }

    /// The element of a tensor: read, or what the kernel computes for it.
    ///
    /// # Errors
    /// Why an op that it depends on has no definition.
    pub(super) fn value(
        &mut self,
        tensor: TensorId,
        at: &[IndexId],
        only_if: Option<ExprId>,
    ) -> Defined {
        let shape = self.shape_of(tensor)?;
        // An element inside the tensor can always be read, and without a condition all its readers
        // share one expression.
        let only_if = only_if.filter(|_| !self.expressions.are_inside(at, &shape));
        let key = (tensor, at.to_vec(), only_if);
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let value = if let Some((op, which)) = row_values::of_tensor(self.graph, tensor) {
            self.row_value(op, which, at, only_if)?
        } else if let Some(op) = self.own_producer(tensor) {
            let value = self.definition(op, at, only_if)?;
            let value = self.converted(op, value);
            let place = self.expressions.ravel(&self.graph.ops[op].shape, at);
            self.expressions.is_element(value, tensor, place);
            value
        } else {
            let place = self.expressions.ravel(&shape, at);
            self.expressions.expr(Expr::Read {
                tensor,
                place,
                only_if,
            })
        };
        self.known.insert(key, value);
        Ok(value)
    }

    /// Whole numbers lose their fraction, and truth values are 0 or 1; floats stay as wide as the
    /// kernel computes.
    fn converted(&mut self, op: OpId, value: ExprId) -> ExprId {
        let op = &self.graph.ops[op];
        let function = op.function;
        match (function, op.element_type()) {
            (
                Some(
                    Function::Cast
                    | Function::Div
                    | Function::Mean
                    | Function::Scale
                    | Function::Shift,
                ),
                Some(dtype),
            ) if dtype.is_integer() => self.expressions.unary(Unary::Trunc, value),
            (Some(Function::Cast), Some(DType::Bool)) => {
                let is_zero = self.expressions.unary(Unary::Not, value);
                self.expressions.unary(Unary::Not, is_zero)
            }
            _ => value,
        }
    }

    fn definition(&mut self, id: OpId, at: &[IndexId], only_if: Option<ExprId>) -> Defined {
        let op = &self.graph.ops[id];
        let definition = Definition {
            id,
            op,
            call: &self.calls[id],
            function: function_of(op)?,
            at,
            only_if,
        };
        let function = definition.function;
        match function.row().op_type {
            OpType::Elementwise => self.elementwise(&definition),
            OpType::Reduction => self.reduction(&definition),
            OpType::Matmul => self.product(&definition),
            OpType::Reshape => self.layout(&definition),
            OpType::Opaque if function == Function::Opaque => Err(unknown_operator(op).into()),
            OpType::Opaque if function == Function::Sdpa => self.attention(&definition),
            OpType::Opaque => Err(CodegenError::NoKernel(function)),
        }
    }

    /// The operands of an op in the order of its arguments.
    fn operands(&self, definition: &Definition<'_>) -> Vec<Operand> {
        let tensors = self.graph.inputs[definition.id].iter();
        let mut operands: Vec<Operand> = tensors.map(|&tensor| Operand::Tensor(tensor)).collect();
        for &(place, literal) in &definition.call.literals {
            operands.insert(place.min(operands.len()), Operand::Literal(literal));
        }
        operands
    }

    fn shape_of_operand(&self, operand: Operand) -> Result<Vec<u64>, CodegenError> {
        match operand {
            Operand::Tensor(tensor) => self.shape_of(tensor),
            Operand::Literal(_) => Ok(Vec::new()),
        }
    }

    fn element(
        &mut self,
        definition: &Definition<'_>,
        operand: Operand,
        at: &[IndexId],
    ) -> Defined {
        match operand {
            Operand::Tensor(tensor) if self.shape_of(tensor)?.len() != at.len() => {
                Err(definition.unfit())
            }
            Operand::Tensor(tensor) => self.value(tensor, at, definition.only_if),
            Operand::Literal(value) => Ok(self.expressions.number(value)),
        }
    }

    /// The element of an operand, read only where a further condition holds.
    fn element_if(
        &mut self,
        definition: &Definition<'_>,
        operand: Operand,
        at: &[IndexId],
        condition: Option<ExprId>,
    ) -> Defined {
        let only_if = match condition {
            Some(condition) => Some(self.expressions.both(definition.only_if, condition)),
            None => definition.only_if,
        };
        let bound = Definition {
            only_if,
            ..*definition
        };
        self.element(&bound, operand, at)
    }

    /// The element of an operand that is broadcast into `shape`, at an index of that shape.
    fn broadcast(
        &mut self,
        definition: &Definition<'_>,
        operand: Operand,
        shape: &[u64],
        at: &[IndexId],
    ) -> Defined {
        let own = self.shape_of_operand(operand)?;
        let mut sizes = own.iter().rev().zip(shape.iter().rev());
        if !sizes.all(|(&size, &full)| size == full || size == 1) {
            return Err(definition.unfit());
        }
        self.of_block(definition, operand, shape, at)
    }

    /// The element of an operand that has one for each block of this shape.
    fn of_block(
        &mut self,
        definition: &Definition<'_>,
        operand: Operand,
        shape: &[u64],
        at: &[IndexId],
    ) -> Defined {
        let own = self.shape_of_operand(operand)?;
        let added = (shape.len().checked_sub(own.len())).ok_or_else(|| definition.unfit())?;
        let mut from = Vec::with_capacity(own.len());
        for ((&size, &full), &place) in own.iter().zip(&shape[added..]).zip(&at[added..]) {
            if size == 0 || !full.is_multiple_of(size) {
                return Err(definition.unfit());
            }
            from.push(self.expressions.quotient(place, full / size));
        }
        self.element(definition, operand, &from)
    }

    /// The element of an operand at the index of the output, into which it is broadcast.
    fn aligned(&mut self, definition: &Definition<'_>, operand: Operand) -> Defined {
        self.broadcast(definition, operand, &definition.op.shape, definition.at)
    }

    /// The variable of a loop of an op. It is the same each time the op is defined, so that equal
    /// sums become one expression.
    fn loop_over(&mut self, definition: &Definition<'_>, which: usize, extent: u64) -> VariableId {
        let expressions = &mut self.expressions;
        let key = (definition.id, which);
        *self.loops.entry(key).or_insert_with(|| {
            let name = format!("k{}", expressions.variables.len());
            expressions.variable(&name, extent)
        })
    }

    fn number(&mut self, value: f64) -> ExprId {
        self.expressions.number(value)
    }

    fn unary(&mut self, function: Unary, a: ExprId) -> ExprId {
        self.expressions.unary(function, a)
    }

    fn binary(&mut self, function: Binary, a: ExprId, b: ExprId) -> ExprId {
        self.expressions.binary(function, a, b)
    }

    fn with(&mut self, function: Binary, a: ExprId, b: f64) -> ExprId {
        let b = self.number(b);
        self.binary(function, a, b)
    }

    fn sum(&mut self, over: VariableId, value: ExprId) -> ExprId {
        self.expressions.fold(Fold::Sum, over, value)
    }

    /// Elements of a shape.
    fn count(definition: &Definition<'_>, shape: &[u64]) -> Result<u64, CodegenError> {
        element_count(shape).ok_or_else(|| definition.unfit())
    }
}
