//! Declarations to propose for undeclared tensors: shapes that are consistent over all ops that
//! read them.
//!
//! Bytes of undeclared tensors follow from the size that one reader fixes for all
//! ([`crate::model::fixed_sizes`]). The shapes here, some of which are chosen, are only for hints.

mod reader;

use super::attributes::Attributes;
use super::expr::Params;
use super::scope::{KnownTensors, NameId, Origin, StatementId};
use super::shapes::{Call, Operand, infer};
use crate::model::diagnostic::Span;
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::op::Op;
use crate::model::program::OpStatement;
use crate::model::promotion::ArgumentType;
use reader::Reader;
use std::collections::{HashMap, VecDeque};

/// For each undeclared tensor a type that keeps the types of its readers; none where the type of
/// one of them would change.
///
/// A size that the other shapes of a reader leave open is chosen, first in the text order of the
/// readers. `O(reads)`: an op with few inputs is visited again when one of them gets a shape, and
/// others are not.
pub(super) fn proposed_shapes(
    known: &KnownTensors<'_>,
    params: &Params<'_>,
) -> HashMap<NameId, (Vec<u64>, DType)> {
    let mut proposals = Proposals {
        known,
        params,
        shapes: HashMap::new(),
        readers: HashMap::new(),
    };
    for (id, ..) in known.resolved() {
        for &tensor in &known.scope.reads[id] {
            if known.scope.tensors[tensor] == Origin::Undeclared {
                proposals.readers.entry(tensor).or_default().push(id);
            }
        }
    }
    if proposals.readers.is_empty() {
        return HashMap::new();
    }
    let mut waiting: VecDeque<StatementId> = known.resolved().map(|(id, ..)| id).collect();
    let statement = |id: StatementId| known.statement(id);
    // A matmul that states its K reads operands of any shape, so all others choose before it.
    let (last, first) = (waiting.iter())
        .partition::<Vec<_>, _>(|&&id| statement(id).is_some_and(OpStatement::states_k));
    let mut undecided: VecDeque<StatementId> = first.into_iter().chain(last).copied().collect();
    while let Some((id, is_choice)) =
        (waiting.pop_front().map(|id| (id, false))).or_else(|| Some((undecided.pop_front()?, true)))
    {
        let (Some(statement), Some(op)) = (statement(id), &known.ops[id]) else {
            continue;
        };
        for (tensor, shape) in proposals.fitting(id, statement, op, is_choice) {
            let readers = proposals.readers.get(&tensor).into_iter().flatten();
            let is_small = |reader: &&StatementId| known.scope.reads[**reader].len() <= FEW_INPUTS;
            waiting.extend(readers.filter(is_small));
            proposals.shapes.insert(tensor, shape);
        }
    }
    let mut refuted = Vec::new();
    for (id, statement, op) in known.resolved() {
        if !proposals.hold(id, statement, op) {
            refuted.extend(&known.scope.reads[id]);
        }
    }
    for tensor in refuted {
        proposals.shapes.remove(tensor);
    }
    proposals.with_dtypes()
}

/// Most inputs of an op that is visited again whenever one of them gets a shape.
const FEW_INPUTS: usize = 16;

struct Proposals<'a> {
    known: &'a KnownTensors<'a>,
    params: &'a Params<'a>,
    shapes: HashMap<NameId, Vec<u64>>,
    /// The ops that read each undeclared tensor.
    readers: HashMap<NameId, Vec<StatementId>>,
}

impl Proposals<'_> {
    fn shape(&self, tensor: NameId) -> Option<&[u64]> {
        match self.known.type_of(tensor) {
            Some((shape, _)) => Some(shape),
            None => self.shapes.get(&tensor).map(Vec::as_slice),
        }
    }

    fn attributes<'b>(&'b self, statement: &'b OpStatement) -> Attributes<'b> {
        Attributes {
            list: &statement.attributes,
            params: self.params,
        }
    }

    /// The tensors that get a shape by this op. The shape is chosen if nothing else determines it.
    fn fitting(
        &self,
        id: StatementId,
        statement: &OpStatement,
        op: &Op,
        is_choice: bool,
    ) -> Vec<(NameId, Vec<u64>)> {
        let reads = &self.known.scope.reads[id];
        let missing = |&(_, &tensor): &(usize, &NameId)| {
            self.known.scope.tensors[tensor] == Origin::Undeclared
                && !self.shapes.contains_key(&tensor)
        };
        let mut missing = reads.iter().enumerate().filter(missing).peekable();
        if missing.peek().is_none() {
            return Vec::new();
        }
        let reader = Reader {
            op,
            attributes: self.attributes(statement),
            operands: reads.iter().map(|&tensor| self.shape(tensor)).collect(),
            is_choice,
        };
        let fitting = missing.filter_map(|(index, &tensor)| Some((tensor, reader.operand(index)?)));
        fitting.collect()
    }

    /// The shapes, each with the first element type that a reader suggests and with which all
    /// readers keep theirs. Tensors without such a type are left out.
    fn with_dtypes(self) -> HashMap<NameId, (Vec<u64>, DType)> {
        let typed = self.shapes.iter().filter_map(|(&tensor, shape)| {
            let readers = self.readers.get(&tensor)?;
            let mut suggested: Vec<DType> = Vec::new();
            for &reader in readers {
                let dtype = self.suggested_dtype(reader, tensor)?;
                if !suggested.contains(&dtype) {
                    suggested.push(dtype);
                }
            }
            let keep = |&dtype: &DType| {
                readers
                    .iter()
                    .all(|&id| self.keeps_dtype(id, tensor, dtype))
            };
            let dtype = suggested.into_iter().find(keep)?;
            Some((tensor, (shape.clone(), dtype)))
        });
        typed.collect()
    }

    /// The element type that a reader requires of a tensor, else that of the tensors with which it
    /// compares it, else that of its result.
    fn suggested_dtype(&self, reader: StatementId, tensor: NameId) -> Option<DType> {
        let op = self.known.ops[reader].as_ref()?;
        let reads = &self.known.scope.reads[reader];
        let place = reads.iter().position(|&read| read == tensor)?;
        if let Some(required) = op.function.and_then(|function| function.input_dtype(place)) {
            return Some(required);
        }
        let compares = |f: Function| f.row().result_dtype == Some(DType::Bool);
        if op.function.is_some_and(compares) {
            let known = reads.iter().find_map(|&read| self.known.type_of(read));
            return Some(known.map_or(DType::F16, |(_, dtype)| dtype));
        }
        op.dtype
    }

    /// Whether a reader keeps the element type of its result where the tensor has this one.
    fn keeps_dtype(&self, reader: StatementId, tensor: NameId, dtype: DType) -> bool {
        let (Some(statement), Some(op)) = (self.known.statement(reader), &self.known.ops[reader])
        else {
            return true;
        };
        let (Some(function), Some(written)) = (op.function, op.dtype) else {
            return true;
        };
        let reads = &self.known.scope.reads[reader];
        let requires = |place| function.input_dtype(place).is_none_or(|own| own == dtype);
        let mut places = (0..reads.len()).filter(|&place| reads[place] == tensor);
        if !places.all(requires) {
            return false;
        }
        if function == Function::Bitcast {
            return dtype.size() == written.size();
        }
        if function == Function::Cast || function.is_freely_typed() {
            return true;
        }
        if reads.len() > FEW_INPUTS && function.promotes() {
            return dtype == written;
        }
        let types = reads.iter().map(|&read| {
            let shape = self.shape(read).unwrap_or(&op.shape);
            let known = self.known.type_of(read).map(|(_, dtype)| dtype);
            let own = if read == tensor { dtype } else { written };
            Some(ArgumentType::tensor(known.unwrap_or(own), shape.len()))
        });
        statement.result_type(function, types.collect()) == Some(written)
    }

    /// Whether an op keeps its shape with the proposals.
    fn hold(&self, id: StatementId, statement: &OpStatement, op: &Op) -> bool {
        let reads = &self.known.scope.reads[id];
        let is_proposed = |tensor: &NameId| self.shapes.contains_key(tensor);
        let function = op.function;
        let (true, Some(function)) = (reads.iter().any(is_proposed), function) else {
            return true;
        };
        if statement.states_k() {
            return true;
        }
        let operands: Option<Vec<Operand<'_>>> = (reads.iter().zip(&statement.inputs))
            .map(|(&tensor, name)| {
                Some(Operand {
                    name,
                    shape: self.shape(tensor)?,
                    dtype: self
                        .known
                        .type_of(tensor)
                        .map_or(op.dtype?, |(_, dtype)| dtype),
                })
            })
            .collect();
        // With an operand of unknown shape nothing is checked.
        operands.is_none_or(|operands| {
            let call = Call {
                operands: &operands,
                attributes: self.attributes(statement),
                callee: &statement.callee,
                statement: None,
                annotated: Some((&op.shape, Span::default())),
            };
            infer(function.row().shape_rule, &call).is_ok_and(|inferred| inferred.shape == op.shape)
        })
    }
}
