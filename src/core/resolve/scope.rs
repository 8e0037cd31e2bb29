//! The tensors of a program by dense ids, and the types of the resolved ones.
//!
//! The statements of a block run once in each iteration, and a name of a block is another tensor in
//! each iteration. All later steps know only statements and tensors of single iterations.

use crate::model::adjacency::Adjacency;
use crate::model::dtype::DType;
use crate::model::ids::{IdVec, define_ids};
use crate::model::names::Names;
use crate::model::op::{Op, TensorDecl};
use crate::model::program::{Name, OpStatement, Program};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

define_ids! {
    /// An op of [`Program::ops`] in one iteration of its block.
    pub(super) struct StatementId;
    /// A tensor that the program names, in one iteration of its block.
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
    Produced(StatementId),
    /// Neither declared nor written.
    Undeclared,
}

/// An iteration of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Iteration {
    /// The index of the block in [`Program::blocks`].
    pub(super) block: usize,
    /// The index of the iteration in its block, from 0 on.
    pub(super) index: usize,
}

impl Iteration {
    /// The number that users see, from 1 on.
    pub(super) fn number(self) -> usize {
        self.index + 1
    }
}

/// When a statement runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The index of the op in [`Program::ops`].
    pub(super) op: usize,
    /// `None` outside of blocks.
    pub(super) iteration: Option<Iteration>,
}

/// The tensors of a program by dense ids.
pub(super) struct Scope<'a> {
    ids: Names,
    written: Vec<Written<'a>>,
    /// Iterations of each block.
    iterations: &'a [usize],
    /// For each block the iterations of all blocks before it.
    iterations_before: Vec<usize>,
    /// The suffix after the number of the iteration in a name, so that the name differs from all
    /// names of the text: nothing, or underscores.
    name_end: String,
    /// For each tensor how it is defined.
    pub(super) tensors: IdVec<NameId, Origin>,
    /// For each tensor whether a statement reads it.
    pub(super) is_read: IdVec<NameId, bool>,
    /// The statements with their iterations: text order, where each block is written out.
    pub(super) runs: IdVec<StatementId, Run>,
    /// For each statement the tensors that it reads, in order of the call.
    pub(super) reads: Adjacency<StatementId, NameId>,
}

/// A name in the text.
struct Written<'a> {
    text: &'a str,
    /// Its tensor. For a name of a block it is that of the first iteration, and those of the other
    /// iterations follow it.
    first: NameId,
    /// The block that defines it.
    block: Option<usize>,
}

impl<'a> Scope<'a> {
    /// `iterations` is how often each block runs, at least once.
    pub(super) fn new(program: &'a Program, iterations: &'a [usize]) -> Self {
        let names = program.declarations.len() + program.ops.len();
        let mut scope = Self {
            ids: Names::with_capacity(names),
            written: Vec::with_capacity(names),
            iterations,
            iterations_before: (iterations.iter())
                .scan(0, |sum, iterations| {
                    Some(std::mem::replace(sum, *sum + iterations))
                })
                .collect(),
            name_end: String::new(),
            tensors: IdVec::with_capacity(names),
            is_read: IdVec::with_capacity(names),
            runs: runs(program, iterations),
            reads: Adjacency::default(),
        };
        for (index, block) in program.blocks.iter().enumerate() {
            let declared = program.declarations.get(block.declarations.clone());
            let declared = declared.unwrap_or_default().iter().map(|d| &d.name);
            let ops = program.ops.get(block.ops.clone()).unwrap_or_default();
            // Before any statement is read, because outside the block a name means the tensor of
            // the last iteration.
            for name in declared.chain(ops.iter().map(|op| &op.output)) {
                scope.define(&name.text, Some(index));
            }
        }
        for declaration in &program.declarations {
            scope.define(&declaration.name.text, None);
        }
        scope.read(program);
        scope.name_end = scope.free_name_end(program);
        scope
    }

    /// The fewest underscores with which no numbered name of a block equals a name of the text.
    fn free_name_end(&self, program: &Program) -> String {
        if program.blocks.is_empty() {
            return String::new();
        }
        let labels = program.ops.iter().filter_map(|op| op.label.as_ref());
        let labels = labels.map(|label| label.text.as_str());
        let is_label: HashSet<&str> = labels.clone().collect();
        let is_of_block = |name: &str| {
            let place = self.find(name).and_then(|place| self.written.get(place));
            is_label.contains(name) || place.is_some_and(|written| written.block.is_some())
        };
        let names = self.written.iter().map(|written| written.text);
        let ends: HashSet<usize> = (names.chain(labels))
            .filter_map(|name| {
                let numbered = name.trim_end_matches('_');
                let stem = numbered.trim_end_matches(|c: char| c.is_ascii_digit());
                let is_like_an_iteration =
                    stem.len() < numbered.len() && stem.strip_suffix('.').is_some_and(is_of_block);
                is_like_an_iteration.then(|| name.len() - numbered.len())
            })
            .collect();
        let free = (0..=ends.len()).find(|count| !ends.contains(count));
        "_".repeat(free.unwrap_or(0))
    }

    /// The index of a name in `written`; a new name belongs to `block`.
    fn define(&mut self, name: &'a str, block: Option<usize>) -> usize {
        let name_of = |place: usize| self.written.get(place).map_or("", |w| w.text);
        let (place, is_new) = self.ids.place(name, self.written.len(), &name_of);
        if is_new {
            self.written.push(Written {
                text: name,
                first: self.tensors.next_id(),
                block,
            });
            for _ in 0..self.iterations_of(block) {
                self.tensors.push(Origin::Undeclared);
                self.is_read.push(false);
            }
        }
        place
    }

    fn iterations_of(&self, block: Option<usize>) -> usize {
        block.map_or(1, |block| self.iterations.get(block).copied().unwrap_or(1))
    }

    /// Finds what each statement reads and writes.
    fn read(&mut self, program: &'a Program) {
        let mut reads = Adjacency::with_capacity(self.runs.len(), 2 * self.runs.len());
        let mut carried = HashMap::default();
        let mut last_iteration = None;
        for statement in self.runs.ids() {
            let Run { op, iteration } = self.runs[statement];
            let Some(op) = program.ops.get(op) else {
                continue;
            };
            if iteration != last_iteration {
                carried = self.carried(program, iteration);
                last_iteration = iteration;
            }
            reads.push(op.inputs.iter().map(|input| {
                let place = self.define(&input.text, None);
                let of_iteration_before = carried.get(&place).copied();
                let tensor =
                    of_iteration_before.unwrap_or_else(|| self.in_iteration(place, iteration));
                self.is_read[tensor] = true;
                tensor
            }));
            let place = self.define(&op.output.text, None);
            let tensor = self.in_iteration(place, iteration);
            if self.tensors[tensor] == Origin::Undeclared {
                self.tensors[tensor] = Origin::Produced(statement);
            }
        }
        self.reads = reads;
    }

    /// The tensors that the names in the header of a block mean in an iteration. In the first
    /// iteration the header changes nothing.
    fn carried(
        &mut self,
        program: &'a Program,
        iteration: Option<Iteration>,
    ) -> HashMap<usize, NameId> {
        let mut tensors = HashMap::default();
        let Some(Iteration { block, index }) = iteration.filter(|iteration| iteration.index > 0)
        else {
            return tensors;
        };
        let before = Some(Iteration {
            block,
            index: index - 1,
        });
        let carried = program.blocks.get(block).map_or(&[][..], |b| &b.carried);
        for pair in carried {
            let name = self.define(&pair.name.text, None);
            let from = (self.find(&pair.from.text)).filter(|&from| self.is_of_block(from, block));
            if let Some(from) = from
                && !self.is_of_block(name, block)
            {
                let tensor = self.in_iteration(from, before);
                tensors.entry(name).or_insert(tensor);
            }
        }
        tensors
    }

    fn is_of_block(&self, place: usize, block: usize) -> bool {
        (self.written.get(place)).is_some_and(|written| written.block == Some(block))
    }

    /// The tensor that a name means where it is read: in its own block that of the iteration,
    /// outside the block that of the last iteration.
    fn in_iteration(&self, place: usize, iteration: Option<Iteration>) -> NameId {
        let Some(written) = self.written.get(place) else {
            return NameId::new(0);
        };
        let last = self.iterations_of(written.block) - 1;
        let offset = match (written.block, iteration) {
            (Some(own), Some(iteration)) if own == iteration.block => iteration.index.min(last),
            _ => last,
        };
        NameId::new(written.first.index() + offset)
    }

    fn find(&self, name: &str) -> Option<usize> {
        let name_of = |place: usize| self.written.get(place).map_or("", |w| w.text);
        self.ids.find(name, &name_of)
    }

    /// The tensors with this name, one for each iteration of its block; none for a name that no
    /// statement has.
    pub(super) fn tensors_called(
        &self,
        name: &str,
    ) -> impl DoubleEndedIterator<Item = NameId> + use<> {
        let written = self.find(name).and_then(|place| self.written.get(place));
        let (first, iterations) = written.map_or((0, 0), |written| {
            (written.first.index(), self.iterations_of(written.block))
        });
        (first..first + iterations).map(NameId::new)
    }

    /// The tensor that a name of a statement means in an iteration.
    pub(super) fn tensor_in(&self, name: &str, iteration: Option<Iteration>) -> Option<NameId> {
        Some(self.in_iteration(self.find(name)?, iteration))
    }

    /// The tensor that a name means after all blocks.
    pub(super) fn tensor(&self, name: &str) -> Option<NameId> {
        self.tensors_called(name).next_back()
    }

    /// Whether a block defines this name with an op or a declaration of its own.
    pub(super) fn is_defined_in(&self, name: &Name, block: usize) -> bool {
        (self.find(&name.text)).is_some_and(|place| self.is_of_block(place, block))
    }

    /// The number of an iteration over all blocks, from 1 on.
    pub(super) fn number_of_iteration(&self, iteration: Iteration) -> u32 {
        let before = self
            .iterations_before
            .get(iteration.block)
            .copied()
            .unwrap_or(0);
        // There are fewer iterations than bytes of a text that the page analyses.
        u32::try_from(before + iteration.number()).unwrap_or(u32::MAX)
    }

    /// The name that a tensor or op of an iteration has among those of all iterations: `h.3`.
    pub(super) fn name_in<'n>(&self, name: &'n str, iteration: Option<Iteration>) -> Cow<'n, str> {
        let Some(iteration) = iteration else {
            return Cow::Borrowed(name);
        };
        Cow::Owned(format!("{name}.{}{}", iteration.number(), self.name_end))
    }

    /// The name of a tensor among those of all iterations.
    pub(super) fn tensor_name(&self, tensor: NameId) -> Cow<'a, str> {
        let place = match self.iterations {
            [] => tensor.index(),
            _ => self.written.partition_point(|w| w.first <= tensor) - 1,
        };
        self.written
            .get(place)
            .map_or(Cow::Borrowed(""), |written| {
                let index = tensor.index() - written.first.index();
                let iteration = written.block.map(|block| Iteration { block, index });
                self.name_in(written.text, iteration)
            })
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

/// The ops of a program in text order, where each block is written out.
fn runs(program: &Program, iterations: &[usize]) -> IdVec<StatementId, Run> {
    let alone = |op: usize| Run {
        op,
        iteration: None,
    };
    let mut runs = Vec::with_capacity(program.ops.len());
    let mut next = 0;
    for (place, (block, &iterations)) in program.blocks.iter().zip(iterations).enumerate() {
        let ops = block.ops.start.max(next)..block.ops.end.min(program.ops.len());
        runs.extend((next..ops.start).map(alone));
        next = ops.end.max(next);
        if ops.is_empty() {
            // Skipped whatever the count, which can be large for a block without ops.
            continue;
        }
        for index in 0..iterations {
            let iteration = Some(Iteration {
                block: place,
                index,
            });
            runs.extend(ops.clone().map(|op| Run { op, iteration }));
        }
    }
    runs.extend((next..program.ops.len()).map(alone));
    runs.into()
}

/// The resolved part of a program, from which the types of tensors are looked up.
pub(super) struct KnownTensors<'a> {
    pub(super) program: &'a Program,
    pub(super) scope: &'a Scope<'a>,
    /// For each statement its op, if it is resolved.
    pub(super) ops: &'a IdVec<StatementId, Option<Op>>,
    /// For each statement of unknown shape the first of the statements that cause it.
    pub(super) unknown: &'a IdVec<StatementId, Option<StatementId>>,
    pub(super) externals: &'a IdVec<ExternalId, TensorDecl>,
}

impl<'a> KnownTensors<'a> {
    /// The resolved ops with their statements, in text order.
    pub(super) fn resolved(&self) -> impl Iterator<Item = (StatementId, &'a OpStatement, &'a Op)> {
        let ops = self.ops.iter_enumerated();
        ops.filter_map(|(id, op)| Some((id, self.statement(id)?, op.as_ref()?)))
    }

    /// For a tensor of unknown shape the first of the statements that cause it.
    pub(super) fn unknown_from(&self, tensor: NameId) -> Option<StatementId> {
        match self.scope.tensors[tensor] {
            Origin::Produced(statement) => self.unknown[statement],
            Origin::Declared(_) | Origin::Broken | Origin::Undeclared => None,
        }
    }

    pub(super) fn statement(&self, id: StatementId) -> Option<&'a OpStatement> {
        self.program.ops.get(self.scope.runs.get(id)?.op)
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
