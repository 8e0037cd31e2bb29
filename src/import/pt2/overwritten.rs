//! Lets ops write in place whose results become the value of an input or buffer, as a compiled
//! program does.
//!
//! A write into a view is a chain in PyTorch's graph: a view of a part, the write, and the part put
//! back into the whole. All of the chain is in place then: the put moves nothing.

use crate::pt2::views::{Order, is_view, view_text};
use fuseline_core::model::functions::Function;
use fuseline_core::model::program::{OpStatement, Program};
use std::collections::{HashMap, HashSet};

/// Most steps from a part that is put back to the view that shows it.
const MOST_STEPS: usize = 32;
/// Deepest nesting of views of parts.
const MOST_NESTED: usize = 8;

/// Lets ops write in place that replace a part of a tensor and whose result becomes its value.
/// `mutations` are names of tensors of the program. The writes into an input stay as they are where
/// a later op reads its old value. Near linear in ops and reads.
pub(super) fn write_in_place(program: &mut Program, mutations: &[(String, String)]) {
    let ops = &program.ops;
    let paths = Paths {
        ops,
        producers: (ops.iter().enumerate())
            .map(|(at, op)| (op.output.text.as_str(), at))
            .collect(),
    };
    // The mutation that each write belongs to.
    let mut write_of: HashMap<usize, (usize, Write)> = HashMap::new();
    let mut refused: HashSet<usize> = HashSet::new();
    for (mutation, (input, result)) in mutations.iter().enumerate() {
        match paths.writes(input, result) {
            Some(writes) if writes.iter().all(|own| !write_of.contains_key(&own.op)) => {
                write_of.extend(writes.into_iter().map(|own| (own.op, (mutation, own))));
            }
            _ => {
                refused.insert(mutation);
            }
        }
    }
    refused.extend(late(ops, mutations, &write_of));
    write_of.retain(|_, (mutation, _)| !refused.contains(mutation));
    let mut unread = Vec::new();
    for (at, (_, write)) in write_of {
        let Some(op) = program.ops.get_mut(at) else {
            continue;
        };
        if let Some(function) = op.function() {
            op.callee.text = function.in_place_name();
        }
        if let (Some(shown), Some(target)) = (write.shown, op.inputs.first_mut())
            && target.text != shown
        {
            unread.push(std::mem::replace(&mut target.text, shown));
        }
    }
    remove_unread(program, unread);
}

/// Whether it is a call that makes a new tensor of one with some elements replaced.
pub(super) fn replaces_part(op: &OpStatement) -> bool {
    let is_number = op.literals.iter().any(|literal| literal.place == 0);
    !op.is_in_place() && !is_number && op.function().is_some_and(Function::writes_part)
}

/// An op that can write in place.
struct Write {
    /// Its index among the ops.
    op: usize,
    /// How many writes have run on the part that it puts back.
    puts_back: usize,
    /// The tensor that those writes see a part of. It is the target of this one, or an equal view.
    shown: Option<String>,
}

struct Paths<'a> {
    ops: &'a [OpStatement],
    producers: HashMap<&'a str, usize>,
}

impl<'a> Paths<'a> {
    fn producer(&self, tensor: &str) -> Option<(usize, &'a OpStatement)> {
        let &at = self.producers.get(tensor)?;
        Some((at, self.ops.get(at)?))
    }

    /// The writes that make `result` of `input`, in its memory.
    fn writes(&self, input: &str, result: &str) -> Option<Vec<Write>> {
        let mut found = Vec::new();
        let mut order = Order::default();
        let mut tensor = result;
        while tensor != input {
            let (at, op) = self.producer(tensor)?;
            if replaces_part(op) {
                self.add_write(at, op, 0, &mut found);
            } else {
                order.view(op)?;
            }
            tensor = &op.inputs.first()?.text;
        }
        order.is_kept().then_some(found)
    }

    /// Adds a write, and before it those into the part that it puts back.
    fn add_write(&self, at: usize, op: &'a OpStatement, depth: usize, found: &mut Vec<Write>) {
        let part = self.part(op, depth);
        let (shown, writes) = part.map_or((None, Vec::new()), |(shown, writes)| {
            (Some(shown.to_owned()), writes)
        });
        let puts_back = writes.len();
        found.extend(writes);
        found.push(Write {
            op: at,
            puts_back,
            shown,
        });
    }

    /// If an op puts a part of a tensor back where it is, that tensor and the writes into the part.
    fn part(&self, op: &'a OpStatement, depth: usize) -> Option<(&'a str, Vec<Write>)> {
        let [target, source] = op.inputs.as_slice() else {
            return None;
        };
        if op.function() != Some(Function::SliceScatter) || depth == MOST_NESTED {
            return None;
        }
        let (mut tensor, mut order, mut found) = (&source.text, Order::default(), Vec::new());
        for _ in 0..MOST_STEPS {
            let (at, own) = self.producer(tensor)?;
            let of = &own.inputs.first()?.text;
            if replaces_part(own) {
                self.add_write(at, own, depth + 1, &mut found);
            } else if order.is_kept() && is_same_range(own, op) && self.is_same(of, &target.text) {
                return Some((of, found));
            } else {
                order.view(own)?;
            }
            tensor = of;
        }
        None
    }

    /// Whether two tensors are one, or equal views of one.
    fn is_same(&self, first: &str, second: &str) -> bool {
        let (mut first, mut second) = (first, second);
        for _ in 0..MOST_STEPS {
            if first == second {
                return true;
            }
            let view = |tensor| {
                let (_, op) = self.producer(tensor)?;
                is_view(op).then_some(())?;
                Some((&op.inputs.first()?.text, view_text(op)))
            };
            let (Some((of_first, one)), Some((of_second, other))) = (view(first), view(second))
            else {
                return false;
            };
            if one != other {
                return false;
            }
            (first, second) = (of_first, of_second);
        }
        false
    }
}

/// Whether `slice` takes the range that `put` writes.
fn is_same_range(slice: &OpStatement, put: &OpStatement) -> bool {
    let is_slice = slice.function() == Some(Function::Slice);
    let annotated = |op: &OpStatement| OpStatement {
        callee: slice.callee.clone(),
        annotation: None,
        ..op.clone()
    };
    is_slice && view_text(&annotated(slice)) == view_text(&annotated(put))
}

/// The mutations of which an op reads an old value after a write.
fn late(
    ops: &[OpStatement],
    mutations: &[(String, String)],
    write_of: &HashMap<usize, (usize, Write)>,
) -> HashSet<usize> {
    let mut late = HashSet::new();
    // For each name that shows the memory of a mutated tensor which tensor it is, and how many
    // writes had run.
    let inputs = mutations.iter().enumerate();
    let mut shown: HashMap<&str, (usize, usize)> = inputs
        .map(|(at, (input, _))| (input.as_str(), (at, 0)))
        .collect();
    let mut writes = vec![0; mutations.len()];
    for (at, op) in ops.iter().enumerate() {
        let own = write_of.get(&at);
        // A view loads nothing itself.
        if own.is_none() && is_view(op) {
            let first = op.inputs.first();
            if let Some(&state) = first.and_then(|input| shown.get(input.text.as_str())) {
                shown.insert(op.output.text.as_str(), state);
            }
            continue;
        }
        for (place, input) in op.inputs.iter().enumerate() {
            let Some(&(mutation, version)) = shown.get(input.text.as_str()) else {
                continue;
            };
            let now = writes.get(mutation).copied().unwrap_or_default();
            let is_new = match own.filter(|own| own.0 == mutation) {
                Some((_, write)) if place == 0 => version + write.puts_back == now,
                // No other part of the tensor may be read by its own write.
                Some((_, write)) => write.shown.is_some() && version == now,
                None => version == now,
            };
            if !is_new {
                late.insert(mutation);
            }
        }
        if let Some(&(mutation, _)) = own
            && let Some(writes) = writes.get_mut(mutation)
        {
            *writes += 1;
            shown.insert(op.output.text.as_str(), (mutation, *writes));
        }
    }
    late
}

/// Removes those of these tensors that no op reads, and what only they have read.
fn remove_unread(program: &mut Program, mut unread: Vec<String>) {
    if unread.is_empty() {
        return;
    }
    let mut reads: HashMap<String, usize> = HashMap::new();
    let names = program.ops.iter().flat_map(|op| &op.inputs);
    for name in names.chain(&program.outputs) {
        *reads.entry(name.text.clone()).or_default() += 1;
    }
    let ops: HashMap<&str, &OpStatement> = (program.ops.iter())
        .map(|op| (op.output.text.as_str(), op))
        .collect();
    let mut removed: HashSet<String> = HashSet::new();
    while let Some(name) = unread.pop() {
        if reads.get(&name).is_some_and(|&count| count > 0) {
            continue;
        }
        for input in ops.get(name.as_str()).iter().flat_map(|op| &op.inputs) {
            if let Some(count) = reads.get_mut(&input.text) {
                *count = count.saturating_sub(1);
            }
            unread.push(input.text.clone());
        }
        removed.insert(name);
    }
    drop(ops);
    program.ops.retain(|op| !removed.contains(&op.output.text));
}
