//! Writes operators that no function of the notation computes.

use crate::params::{Params, identifier};
use crate::size::Size;
use crate::statement::{Dims, packed, statements};
use crate::writer::{Known, Writer};
use fuseline_core::notation::written_name;
use std::collections::HashSet;

/// An operator of a file.
pub(crate) struct Operator<'a> {
    pub(crate) name: &'a str,
    /// The indices of the tensors that it reads.
    pub(crate) reads: &'a [usize],
    /// Preferred label of its first op.
    pub(crate) title: &'a str,
    /// Preferred name of its packed result.
    pub(crate) packed: &'a str,
}

/// An output of such an operator.
pub(crate) struct Part {
    /// Its name is claimed.
    pub(crate) known: Known,
    /// The sizes that the file states.
    pub(crate) dims: Option<Dims>,
    /// FLOPs of the whole operator.
    pub(crate) flops: Option<Flops>,
}

/// The FLOPs of an operator, and the units that execute them.
pub(crate) struct Flops {
    count: Size,
    units: &'static str,
}

impl Flops {
    /// Those of products.
    pub(crate) fn matrix(count: Size) -> Self {
        Self {
            count,
            units: "matrix",
        }
    }

    /// Those of single elements.
    pub(crate) fn vector(count: Size) -> Self {
        Self {
            count,
            units: "vector",
        }
    }

    /// As the notation writes them.
    pub(crate) fn text(&self, params: &Params) -> String {
        let flops = format!("flops={}", params.one(&self.count));
        match self.count.as_int() {
            Some(0) => flops,
            _ => format!("{flops}, units={}", self.units),
        }
    }
}

/// A loop with an unknown number of iterations. The program has one iteration.
#[derive(Debug)]
pub(crate) struct OpenLoop {
    /// The indices of its results.
    results: Vec<usize>,
    /// The index of the op that stands for the other iterations.
    further: usize,
}

impl OpenLoop {
    /// The op that stands for the other iterations, if one of these tensors is a result.
    pub(crate) fn further_of(&self, is_needed: &[bool]) -> Option<usize> {
        let mut results = self
            .results
            .iter()
            .filter_map(|&result| is_needed.get(result));
        results.any(|&is_needed| is_needed).then_some(self.further)
    }
}

impl Writer {
    /// Remembers a loop that counts one iteration. An op of unknown shape reads its results and
    /// stands for the other iterations, so that all totals are lower bounds.
    pub(crate) fn open_loop(&mut self, operator: &str, results: &[usize]) {
        let parts = [Part {
            known: Known {
                name: self.names.claim("further_iterations"),
                ..Known::default()
            },
            dims: None,
            flops: None,
        }];
        let operator = Operator {
            name: operator,
            reads: results,
            title: "",
            packed: "",
        };
        let written = self.opaque(&operator, &parts);
        let further = written.into_iter().flatten().next();
        self.open_loops.extend(further.map(|further| OpenLoop {
            results: results.to_vec(),
            further,
        }));
    }

    /// Writes one op with a packed result; each output is a part of it. Outputs of unknown shape,
    /// and those that are too large to pack, are ops of their own. Gives the index of each tensor.
    pub(crate) fn opaque(&mut self, operator: &Operator<'_>, parts: &[Part]) -> Vec<Option<usize>> {
        let mut seen = HashSet::new();
        let indices = operator.reads.iter().filter(|&&index| seen.insert(index));
        let known = indices.filter_map(|&index| self.tensors.get(index));
        let large = known.filter(|known| known.value.is_none());
        let mut arguments: Vec<String> = large.map(|known| known.name.clone()).collect();
        arguments.push(format!("name={}", written_name(&identifier(operator.name))));
        let again = format!("opaque({})", arguments.join(", "));
        let flops = parts.iter().find_map(|part| part.flops.as_ref());
        let is_fixed = flops.is_some_and(|flops| flops.count.is_sampled());
        arguments.extend(flops.map(|flops| flops.text(&self.params)));
        // The first op has the FLOPs and the label.
        let mut call = format!("opaque({})", arguments.join(", "));
        let mut title = operator.title;
        let first = self.tensors.len();
        let of_known_shape: Vec<&Known> = (parts.iter().map(|part| &part.known))
            .filter(|known| known.shape.is_some())
            .collect();
        let mut part_of = None;
        if let Some(packed) = packed(&of_known_shape, &self.params) {
            let name = self.names.claim(operator.packed);
            let ops = statements(&format!("{name} = {call} : {packed}")).unwrap_or_default();
            self.write(ops, &name, std::mem::take(&mut title), None);
            call.clone_from(&again);
            part_of = Some(format!("part({name})"));
        }
        let mut written = vec![None; parts.len()];
        let (known, unknown): (Vec<usize>, Vec<usize>) =
            (0..parts.len()).partition(|&at| parts[at].known.shape.is_some());
        for at in known.into_iter().chain(unknown) {
            let Part { known, dims, .. } = &parts[at];
            let name = &known.name;
            let dtype = known.dtype.map_or("f32", |dtype| dtype.name());
            let text = match (&known.shape, &part_of) {
                (Some(shape), Some(part)) => {
                    format!("{name} = {part} : {dtype}{}", self.params.list(shape))
                }
                (shape, _) => {
                    let call = std::mem::replace(&mut call, again.clone());
                    let shape = shape.as_ref().map(|shape| self.params.list(shape));
                    let typed = shape.map(|shape| format!(" : {dtype}{shape}"));
                    format!("{name} = {call}{}", typed.unwrap_or_default())
                }
            };
            let ops = statements(&text).unwrap_or_default();
            let stated = dims.as_ref().map(|dims| (dims, known.dtype));
            let index = self.write(ops, name, std::mem::take(&mut title), stated);
            if let Some(own) = index.and_then(|index| self.tensors.get_mut(index)) {
                own.is_fixed = known.is_fixed || is_fixed;
            }
            written[at] = index;
        }
        // All these ops count as one operator.
        let indices = first..self.tensors.len();
        self.operator_of.extend(indices.map(|index| (index, first)));
        written
    }
}
