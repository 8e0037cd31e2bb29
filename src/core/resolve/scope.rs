//! The tensors of a program by dense ids, and the types that are known so far.
#![allow(
    clippy::indexing_slicing,
    reason = "statements and tensors are dense indices that Scope hands out"
)]

use crate::core::model::dtype::DType;
use crate::core::model::names::Names;
use crate::core::model::op::{Op, TensorDecl};
use crate::core::model::program::Program;

/// How a tensor is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Declared; index into the externals.
    Declared(usize),
    /// Declared or written, but the statement is invalid or a size has no value.
    Broken,
    /// Written by an op; index into the statements.
    Produced(usize),
    /// Neither declared nor written.
    Undeclared,
}

/// The tensors of a program by dense ids.
pub(super) struct Scope<'a> {
    places: Names,
    /// For each tensor its name.
    names: Vec<&'a str>,
    /// For each tensor how it is defined.
    pub(super) tensors: Vec<Origin>,
    /// For each tensor whether a statement reads it.
    pub(super) is_read: Vec<bool>,
    /// Tensors read by the statements, concatenated.
    reads: Vec<usize>,
    /// For each statement the start of its range in `reads`; the last item is the end of the last range.
    first_read: Vec<usize>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let names = program.declarations.len() + program.ops.len();
        let mut scope = Self {
            places: Names::with_capacity(names),
            names: Vec::with_capacity(names),
            tensors: Vec::with_capacity(names),
            is_read: Vec::with_capacity(names),
            reads: Vec::with_capacity(2 * program.ops.len()),
            first_read: Vec::with_capacity(program.ops.len() + 1),
        };
        for declaration in &program.declarations {
            scope.id(&declaration.name.text);
        }
        for (statement, op) in program.ops.iter().enumerate() {
            scope.first_read.push(scope.reads.len());
            for input in &op.inputs {
                let tensor = scope.id(&input.text);
                scope.is_read[tensor] = true;
                scope.reads.push(tensor);
            }
            let tensor = scope.id(&op.output.text);
            if scope.tensors[tensor] == Origin::Undeclared {
                scope.tensors[tensor] = Origin::Produced(statement);
            }
        }
        scope.first_read.push(scope.reads.len());
        scope
    }

    fn id(&mut self, name: &'a str) -> usize {
        let (tensor, is_new) = (self.places).place(name, self.names.len(), &|t| self.names[t]);
        if is_new {
            self.names.push(name);
            self.tensors.push(Origin::Undeclared);
            self.is_read.push(false);
        }
        tensor
    }

    /// The tensor with this name.
    pub(super) fn tensor(&self, name: &str) -> Option<usize> {
        self.places.find(name, &|tensor| self.names[tensor])
    }

    /// The tensors that a statement reads, in argument order.
    pub(super) fn reads(&self, statement: usize) -> &[usize] {
        &self.reads[self.first_read[statement]..self.first_read[statement + 1]]
    }

    /// The statements whose outputs a statement reads.
    pub(super) fn producers(&self, statement: usize) -> impl Iterator<Item = usize> + '_ {
        self.reads(statement)
            .iter()
            .filter_map(|&tensor| match self.tensors[tensor] {
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
    /// The ops resolved so far.
    pub(super) ops: &'a [Op],
    /// For each statement its op, if it is resolved.
    pub(super) op_of_statement: &'a [Option<usize>],
    /// Declared tensors.
    pub(super) externals: &'a [TensorDecl],
}

impl<'a> KnownTensors<'a> {
    /// The op of a statement, if it is resolved.
    pub(super) fn op(&self, statement: usize) -> Option<&'a Op> {
        self.op_of_statement[statement].map(|op| &self.ops[op])
    }

    /// Shape and element type of a tensor.
    pub(super) fn type_of(&self, tensor: usize) -> Option<(&'a [u64], DType)> {
        match self.scope.tensors[tensor] {
            Origin::Declared(external) => {
                let external = &self.externals[external];
                Some((&external.shape, external.element_type()?))
            }
            Origin::Produced(statement) => {
                let op = self.op(statement)?;
                Some((&op.shape, op.element_type()?))
            }
            Origin::Broken | Origin::Undeclared => None,
        }
    }
}
