//! Finds layers of a model that are equal but for their weights, by the modules that ops stand in:
//! `h.0` and `h.1`, or two calls of one module.

use crate::pt2::naming::{Origin, Stack};
use fuseline_core::model::op::TensorRole;
use fuseline_core::model::program::{OpStatement, Program, TypeAnnotation};
use fuseline_core::notation::{print, print_type};
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Most ops and operands that the search for layers looks at, so that a file of many almost equal
/// layers takes no longer than others.
const MAX_VISITS: usize = 1 << 24;

/// Equal iterations that follow each other. Ops and tensors are indices of [`Layers`].
pub(super) struct Repeated {
    pub(super) start: usize,
    /// Ops of an iteration.
    pub(super) length: usize,
    pub(super) count: usize,
    /// Each tensor that the first iteration reads, and the result of the previous iteration that
    /// all others read instead.
    pub(super) carried: Vec<(usize, usize)>,
    /// Weights and inputs that the first iteration alone reads.
    pub(super) own: Vec<usize>,
    /// Each tensor of an iteration, with its equal in the first.
    pub(super) equal_of: HashMap<usize, usize>,
    /// Results of the first iteration that the program returns from every iteration.
    pub(super) returned: Vec<usize>,
}

impl Repeated {
    pub(super) fn ops(&self) -> Range<usize> {
        self.start..self.start + self.length * self.count
    }
}

/// Ops and tensors of a program by index.
pub(super) struct Layers<'a> {
    /// By tensor.
    pub(super) names: Vec<&'a str>,
    roles: Vec<Option<TensorRole>>,
    producers: Vec<Option<usize>>,
    readers: Vec<Vec<usize>>,
    is_returned: Vec<bool>,
    /// By op: what it reads and writes, and what is equal in equal ops.
    inputs: Vec<Vec<usize>>,
    outputs: Vec<usize>,
    kinds: Vec<usize>,
    /// By op: whether it is in a block.
    is_taken: Vec<bool>,
    visits_left: usize,
}

impl<'a> Layers<'a> {
    pub(super) fn of(program: &'a Program) -> Self {
        let mut layers = Self {
            names: Vec::new(),
            roles: Vec::new(),
            producers: Vec::new(),
            readers: Vec::new(),
            is_returned: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            kinds: Vec::new(),
            is_taken: vec![false; program.ops.len()],
            visits_left: MAX_VISITS,
        };
        let mut by_name = HashMap::new();
        let mut types: Vec<Option<&TypeAnnotation>> = Vec::new();
        for declaration in &program.declarations {
            layers.tensor(&declaration.name.text, &mut by_name);
            types.push(Some(&declaration.annotation));
            if let Some(role) = layers.roles.last_mut() {
                *role = Some(declaration.role);
            }
        }
        let mut kinds = HashMap::new();
        for (index, op) in program.ops.iter().enumerate() {
            let inputs = op.inputs.iter();
            let inputs = inputs.filter_map(|input| by_name.get(input.text.as_str()).copied());
            let inputs: Vec<usize> = inputs.collect();
            for &input in &inputs {
                layers.readers[input].push(index);
            }
            let count = kinds.len();
            let kind = kind_of(op, inputs.iter().map(|&input| types[input]));
            layers.kinds.push(*kinds.entry(kind).or_insert(count));
            let output = layers.tensor(&op.output.text, &mut by_name);
            types.push(op.annotation.as_ref());
            layers.producers[output] = Some(index);
            layers.inputs.push(inputs);
            layers.outputs.push(output);
        }
        for (readers, is_returned) in layers.readers.iter().zip(&mut layers.is_returned) {
            *is_returned = readers.is_empty();
        }
        for output in &program.outputs {
            if let Some(&output) = by_name.get(output.text.as_str()) {
                layers.is_returned[output] = true;
            }
        }
        layers
    }

    fn tensor(&mut self, name: &'a str, by_name: &mut HashMap<&'a str, usize>) -> usize {
        let index = self.names.len();
        by_name.insert(name, index);
        self.names.push(name);
        self.roles.push(None);
        self.producers.push(None);
        self.readers.push(Vec::new());
        self.is_returned.push(false);
        index
    }

    /// The layers, in the order of their ops. Those of outer modules come before those inside them.
    pub(super) fn repeated(mut self, origins: &HashMap<String, Origin>) -> (Self, Vec<Repeated>) {
        let stacks = self.outputs.iter().map(|&output| {
            let origin = origins.get(self.names[output]);
            origin.map_or(&[][..], |origin| origin.stack.calls.as_slice())
        });
        let stacks: Vec<&[(String, String)]> = stacks.collect();
        let mut found: Vec<Repeated> = Vec::new();
        for starts in families(&stacks) {
            self.fold(&starts, &mut found);
        }
        found.sort_by_key(|block| block.start);
        (self, found)
    }

    /// Adds the blocks whose iterations start at `starts`: as many equal ones as follow each other,
    /// from the first that fits.
    fn fold(&mut self, starts: &[usize], found: &mut Vec<Repeated>) {
        let mut first = 0;
        while let [start, next, ..] = starts[first..] {
            let length = next - start;
            let mut count = 1;
            while starts.get(first + count) == Some(&(start + count * length))
                && self.equal(start, start + count * length, length)
            {
                count += 1;
            }
            let mut block = None;
            // What ops behind the layers read of an earlier layer keeps it out of the block.
            while count > 1 && block.is_none() {
                block = self.block(start, length, count);
                count -= usize::from(block.is_none());
            }
            first += 1;
            if let Some(block) = block
                && let Some(is_taken) = self.is_taken.get_mut(block.ops())
                && is_taken.iter().all(|is_taken| !is_taken)
            {
                is_taken.fill(true);
                first += block.count - 1;
                found.push(block);
            }
        }
    }

    fn equal(&mut self, a: usize, b: usize, length: usize) -> bool {
        let Some(left) = self.visits_left.checked_sub(length) else {
            return false;
        };
        self.visits_left = left;
        let ops = |start: usize| self.kinds.get(start..start + length);
        ops(a).is_some() && ops(a) == ops(b)
    }

    /// The block of these iterations, if each reads the same tensors, weights of its own, or
    /// results of the previous one.
    fn block(&mut self, start: usize, length: usize, count: usize) -> Option<Repeated> {
        let mut carried: IndexMap<usize, usize> = IndexMap::new();
        let mut own: IndexMap<usize, Vec<usize>> = IndexMap::new();
        let mut shared = HashSet::new();
        for offset in 0..length {
            let ops = || (0..count).map(move |iteration| start + offset + length * iteration);
            for place in 0..self.inputs[start + offset].len() {
                self.visits_left = self.visits_left.checked_sub(count)?;
                let given: Vec<usize> = ops().map(|op| self.inputs[op][place]).collect();
                let (first, second) = (*given.first()?, *given.get(1)?);
                // How far before the reading op each tensor is written.
                let distances = given.iter().zip(ops());
                let distances = distances.map(|(&tensor, op)| Some(op - self.producers[tensor]?));
                let distances: Vec<Option<usize>> = distances.collect();
                let producer = self.producers[first];
                let is_inside = producer.is_some_and(|producer| producer >= start);
                let all_like = |distances: &[Option<usize>]| {
                    let mut pairs = distances.windows(2);
                    pairs.all(|pair| pair.first() == pair.last())
                };
                if is_inside {
                    if !all_like(&distances) {
                        return None;
                    }
                } else if given.iter().all(|&tensor| tensor == first) {
                    shared.insert(first);
                } else if let Some(source) = self.producers[second].filter(|&op| op >= start)
                    && source < start + length
                    && all_like(distances.get(1..)?)
                {
                    let source = self.outputs[source];
                    if *carried.entry(first).or_insert(source) != source {
                        return None;
                    }
                } else if self.roles[first].is_some()
                    && given
                        .iter()
                        .all(|&own| self.roles[own] == self.roles[first])
                {
                    if own.entry(first).or_insert_with(|| given.clone()) != &given {
                        return None;
                    }
                } else {
                    return None;
                }
            }
        }
        let is_mixed = |tensor: &usize| carried.contains_key(tensor) || own.contains_key(tensor);
        if shared.iter().any(is_mixed) || own.keys().any(|own| carried.contains_key(own)) {
            return None;
        }
        let mut equal_of = HashMap::new();
        for (&first, given) in &own {
            for (iteration, &tensor) in given.iter().enumerate() {
                let ops = start + length * iteration..start + length * (iteration + 1);
                let is_elsewhere = self.readers[tensor].iter().any(|op| !ops.contains(op));
                if is_elsewhere || equal_of.insert(tensor, first).is_some() {
                    return None;
                }
            }
        }
        let returned = self.results(start..start + length * count, length, &mut equal_of)?;
        Some(Repeated {
            start,
            length,
            count,
            carried: carried.into_iter().collect(),
            own: own.into_keys().collect(),
            equal_of,
            returned,
        })
    }

    /// Adds the results of all iterations to `equal_of`; gives those that the program returns from
    /// every iteration. `None` where it returns one of some iterations, or reads one later than in
    /// the next iteration: after a block its names are those of the last iteration.
    fn results(
        &self,
        ops: Range<usize>,
        length: usize,
        equal_of: &mut HashMap<usize, usize>,
    ) -> Option<Vec<usize>> {
        let mut returned = Vec::new();
        for op in ops.start..ops.start + length {
            let results = (op..ops.end).step_by(length).map(|op| self.outputs[op]);
            let results: Vec<usize> = results.collect();
            let (last, others) = results.split_last()?;
            let first = *results.first()?;
            let earlier = others.iter().filter(|&&other| self.is_returned[other]);
            match earlier.count() {
                0 => {}
                count if count == others.len() && self.is_returned[*last] => returned.push(first),
                _ => return None,
            }
            for (iteration, &result) in results.iter().enumerate() {
                equal_of.insert(result, first);
                let end = ops.end.min(ops.start + length * (iteration + 2));
                let is_read_later = self.readers[result].last().is_some_and(|&op| op >= end);
                if result != *last && is_read_later {
                    return None;
                }
            }
        }
        Some(returned)
    }
}

/// What is equal in equal ops, whatever they are called: the call, and the types of its inputs.
fn kind_of<'a>(
    op: &OpStatement,
    inputs: impl Iterator<Item = Option<&'a TypeAnnotation>>,
) -> String {
    let mut call = op.clone();
    call.label = None;
    call.output.text.clear();
    for (input, annotation) in call.inputs.iter_mut().zip(inputs) {
        input.text = annotation.map(print_type).unwrap_or_default();
    }
    print(&Program {
        ops: vec![call],
        ..Program::default()
    })
}

/// Where the modules start whose ops may be equal, by level: modules whose paths differ in the last
/// number, and calls of one module.
fn families(stacks: &[&[(String, String)]]) -> Vec<Vec<usize>> {
    // An outer stack is a number, so that a deep one is compared as fast as a flat one.
    let mut outer_of: HashMap<(usize, &(String, String)), usize> = HashMap::new();
    let mut families: Vec<IndexMap<Family<'_>, IndexMap<&str, usize>>> = Vec::new();
    for (index, calls) in stacks.iter().enumerate() {
        let mut outer = 0;
        for (level, call) in calls.iter().enumerate() {
            let (path, key) = call;
            if families.len() == level {
                families.push(IndexMap::new());
            }
            let prefix = path.trim_end_matches(|c: char| c.is_ascii_digit());
            let call_number = Stack::call_number(key);
            let numbered = (prefix != path).then_some(Family::Paths(outer, prefix, call_number));
            if let Some(family) = numbered {
                let starts = families[level].entry(family).or_default();
                starts.entry(path).or_insert(index);
            }
            let starts = families[level]
                .entry(Family::Calls(outer, path))
                .or_default();
            starts.entry(key).or_insert(index);
            let count = outer_of.len() + 1;
            outer = *outer_of.entry((outer, call)).or_insert(count);
        }
    }
    let families = families.into_iter().flat_map(IndexMap::into_values);
    let several = families.filter(|starts| starts.len() > 1);
    several
        .map(|starts| {
            let mut starts: Vec<usize> = starts.into_values().collect();
            starts.sort_unstable();
            starts
        })
        .collect()
}

#[derive(PartialEq, Eq, Hash)]
enum Family<'a> {
    /// Modules inside an outer one, by their path without its number, and the number of the call.
    Paths(usize, &'a str, &'a str),
    /// Calls of one module.
    Calls(usize, &'a str),
}
