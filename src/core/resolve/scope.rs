//! The tensors of a program by dense ids, and the types that are known so far.

use crate::core::model::adjacency::Adjacency;
use crate::core::model::dtype::DType;
use crate::core::model::ids::{IdVec, define_ids};
use crate::core::model::names::Names;
use crate::core::model::op::{Op, TensorDecl};
use crate::core::model::program::{OpStatement, Program};

define_ids! {
    /// A statement in [`Program::ops`].
    pub(super) struct StatementId;
    /// A tensor that the program names.
    pub(super) struct NameId;
    /// A declared tensor whose size is known.
    pub(super) struct ExternalId;
}

/// How a tensor is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A declaration.
    Declared(ExternalId),
    /// Declared or written, but the statement is invalid or a size has no value.
    Broken,
    /// A statement.
    Produced(StatementId),
    /// Neither declared nor written.
    Undeclared,
}

/// The tensors of a program by dense ids.
pub(super) struct Scope<'a> {
    ids: Names,
    names: IdVec<NameId, &'a str>,
    /// For each tensor how it is defined.
    pub(super) tensors: IdVec<NameId, Origin>,
    /// For each tensor whether a statement reads it.
    pub(super) is_read: IdVec<NameId, bool>,
    /// For each statement the tensors that it reads, in order of the call.
    pub(super) reads: Adjacency<StatementId, NameId>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let names = program.declarations.len() + program.ops.len();
        let mut scope = Self {
            ids: Names::with_capacity(names),
            names: IdVec::with_capacity(names),
            tensors: IdVec::with_capacity(names),
            is_read: IdVec::with_capacity(names),
            reads: Adjacency::default(),
        };
        for declaration in &program.declarations {
            scope.id(&declaration.name.text);
        }
        let count = program.ops.len();
        let mut reads = Adjacency::with_capacity(count, 2 * count);
        for op in &program.ops {
            let statement = reads.next_id();
            reads.push(op.inputs.iter().map(|input| {
                let tensor = scope.id(&input.text);
                scope.is_read[tensor] = true;
                tensor
            }));
            let tensor = scope.id(&op.output.text);
            if scope.tensors[tensor] == Origin::Undeclared {
                scope.tensors[tensor] = Origin::Produced(statement);
            }
        }
        scope.reads = reads;
        scope
    }

    fn id(&mut self, name: &'a str) -> NameId {
        let name_of = |place: usize| self.names[NameId::new(place)];
        let (place, is_new) = self.ids.place(name, self.names.len(), &name_of);
        if is_new {
            self.names.push(name);
            self.tensors.push(Origin::Undeclared);
            self.is_read.push(false);
        }
        NameId::new(place)
    }

    /// The tensor with this name.
    pub(super) fn tensor(&self, name: &str) -> Option<NameId> {
        let name_of = |place: usize| self.names[NameId::new(place)];
        self.ids.find(name, &name_of).map(NameId::new)
    }

    /// The statements whose outputs a statement reads.
    pub(super) fn producers(
        &self,
        statement: StatementId,
    ) -> impl Iterator<Item = StatementId> + '_ {
        let reads = self.reads[statement].iter();
        reads.filter_map(|&tensor| match self.tensors[tensor] {
            Origin::Produced(producer) => Some(producer),
            _ => None,
        })
    }
}

/// The part of a program that is resolved so far, from which the types of tensors are looked up.
pub(super) struct KnownTensors<'a> {
    /// All statements.
    pub(super) program: &'a Program,
    /// Ids and definitions.
    pub(super) scope: &'a Scope<'a>,
    /// For each statement its op, if it is resolved.
    pub(super) ops: &'a IdVec<StatementId, Option<Op>>,
    /// Declared tensors.
    pub(super) externals: &'a IdVec<ExternalId, TensorDecl>,
}

impl<'a> KnownTensors<'a> {
    /// The resolved ops with their statements, in text order.
    pub(super) fn resolved(&self) -> impl Iterator<Item = (StatementId, &'a OpStatement, &'a Op)> {
        let statements = self.ops.iter_enumerated().zip(&self.program.ops);
        statements.filter_map(|((id, op), statement)| Some((id, statement, op.as_ref()?)))
    }

    /// Shape and element type of a tensor.
    pub(super) fn type_of(&self, tensor: NameId) -> Option<(&'a [u64], DType)> {
        match self.scope.tensors[tensor] {
            Origin::Declared(external) => {
                let external = &self.externals[external];
                Some((&external.shape, external.element_type()?))
            }
            Origin::Produced(statement) => {
                let op = self.ops[statement].as_ref()?;
                Some((&op.shape, op.element_type()?))
            }
            Origin::Broken | Origin::Undeclared => None,
        }
    }
}
