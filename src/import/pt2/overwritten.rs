//! Lets ops write in place whose results become the value of an input or buffer, as a compiled
//! program does.
//!
//! A write into a view is a chain in PyTorch's graph: a view of a part, the write, and the part put
//! back into the whole. All of the chain is in place then: the put moves nothing.

use crate::pt2::copied::{ValueCopy, with_copies};
use crate::pt2::views::{Order, is_view, view_text};
use fuseline_core::model::functions::Function;
use fuseline_core::model::program::{Name, OpStatement, Program};
use std::collections::{HashMap, HashSet};

/// Most steps from a part that is put back to the view that shows it.
const MOST_STEPS: usize = 32;
/// Deepest nesting of views of parts.
const MOST_NESTED: usize = 8;

/// What a program overwrites.
pub(super) struct Overwritten {
    pub(super) mutations: Vec<Mutation>,
    /// Tensors that an op of single elements could write in place: they have the type of its first
    /// input.
    pub(super) fitting: HashSet<String>,
}

/// An input or buffer that gets another value. All are names of tensors of the program.
pub(super) struct Mutation {
    pub(super) input: String,
    pub(super) value: String,
    /// The output of an op that copies the value into the input.
    pub(super) copy: String,
    /// The output of an op that keeps the value, if another copy overwrites it before.
    pub(super) kept: String,
    /// Whether the program returns the value in other memory than that of the input, too.
    pub(super) is_apart: bool,
}

/// Most times that writes are sought again because one of them had to become a copy.
const MOST_ROUNDS: usize = 4;

/// Lets ops write in place whose result becomes the value of an input or buffer, and removes the
/// copies of these. The copy stays where a later op reads the old value, or where no op can write
/// in place. Near linear in ops and reads.
pub(super) fn write_in_place(program: &mut Program, overwritten: &Overwritten) {
    let mutations = &overwritten.mutations;
    if mutations.is_empty() {
        return;
    }
    let copy_of: HashMap<&str, usize> = (mutations.iter().enumerate())
        .map(|(at, own)| (own.copy.as_str(), at))
        .collect();
    let mut copies: Vec<Option<OpStatement>> = vec![None; mutations.len()];
    program.ops.retain(|op| {
        let own = copy_of.get(op.output.text.as_str());
        let own = own.filter(|_| op.function() == Some(Function::Copy));
        let copy = own.and_then(|&own| copies.get_mut(own));
        let is_copy = copy.is_some();
        if let Some(copy) = copy {
            *copy = Some(op.clone());
        }
        !is_copy
    });
    let mut by_copy: Vec<bool> = mutations.iter().map(|own| own.is_apart).collect();
    for round in 0.. {
        let own = mutations.iter().zip(&copies).zip(&by_copy);
        let kept: Vec<ValueCopy<'_>> = (own.filter(|(_, by_copy)| **by_copy))
            .filter_map(|((own, copy), _)| {
                Some(ValueCopy {
                    op: copy.as_ref()?,
                    kept: &own.kept,
                })
            })
            .collect();
        let ops = with_copies(&program.ops, &kept);
        let (write_of, refused) = writes(&ops, overwritten, &copy_of, &by_copy);
        let late = late(&ops, mutations, &write_of);
        let mut is_done = true;
        for at in refused.into_iter().chain(late) {
            if let Some(by_copy) = by_copy.get_mut(at) {
                is_done &= std::mem::replace(by_copy, true);
            }
        }
        if is_done {
            program.ops = ops;
            make_in_place(program, write_of);
            return;
        }
        if round == MOST_ROUNDS {
            by_copy.fill(true);
        }
    }
}

/// The writes in place by their ops, each with its mutation, and the mutations that need a copy.
fn writes(
    ops: &[OpStatement],
    overwritten: &Overwritten,
    copy_of: &HashMap<&str, usize>,
    by_copy: &[bool],
) -> (HashMap<usize, (usize, Write)>, HashSet<usize>) {
    let paths = Paths {
        ops,
        fitting: &overwritten.fitting,
        producers: (ops.iter().enumerate())
            .map(|(at, op)| (op.output.text.as_str(), at))
            .collect(),
    };
    let mut write_of: HashMap<usize, (usize, Write)> = HashMap::new();
    let mut refused: HashSet<usize> = HashSet::new();
    for (mutation, own) in overwritten.mutations.iter().enumerate() {
        if by_copy.get(mutation) == Some(&true) {
            continue;
        }
        match paths.writes(&own.input, &own.value) {
            Some(writes) if writes.iter().all(|own| !write_of.contains_key(&own.op)) => {
                write_of.extend(writes.into_iter().map(|own| (own.op, (mutation, own))));
            }
            _ => {
                refused.insert(mutation);
            }
        }
    }
    for (op, statement) in ops.iter().enumerate() {
        if let Some(&mutation) = copy_of.get(statement.output.text.as_str()) {
            let write = Write {
                op,
                puts_back: 0,
                shown: None,
            };
            write_of.insert(op, (mutation, write));
        }
    }
    (write_of, refused)
}

/// Makes ops write in place.
fn make_in_place(program: &mut Program, write_of: HashMap<usize, (usize, Write)>) {
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
fn replaces_part(op: &OpStatement) -> bool {
    let is_number = op.literals.iter().any(|literal| literal.place == 0);
    !op.is_in_place() && !is_number && op.function().is_some_and(Function::writes_part)
}

/// Whether it is a call of single elements that makes a new tensor and could write into its first
/// input, if that has the type of the result.
pub(super) fn writes_elements(op: &OpStatement) -> bool {
    let is_number = op.literals.iter().any(|literal| literal.place == 0);
    let function = op.function().filter(|_| !op.is_in_place() && !is_number);
    function.is_some_and(|function| function.has_in_place_form() && !function.writes_part())
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
    fitting: &'a HashSet<String>,
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
            if self.can_write(op) {
                self.add_write(at, op, 0, &mut found);
            } else {
                order.view(op)?;
            }
            tensor = &op.inputs.first()?.text;
        }
        order.is_kept().then_some(found)
    }

    fn can_write(&self, op: &OpStatement) -> bool {
        replaces_part(op) || self.fitting.contains(&op.output.text) && writes_elements(op)
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
            if self.can_write(own) {
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
    mutations: &[Mutation],
    write_of: &HashMap<usize, (usize, Write)>,
) -> HashSet<usize> {
    let mut late = HashSet::new();
    // For each name that shows the memory of a mutated tensor which tensor it is, and how many
    // writes had run.
    let inputs = mutations.iter().enumerate();
    let mut shown: HashMap<&str, (usize, usize)> = inputs
        .map(|(at, own)| (own.input.as_str(), (at, 0)))
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
        let target = op.inputs.first();
        let is_target = |input: &Name| target.is_some_and(|target| target.text == input.text);
        for (place, input) in op.inputs.iter().enumerate() {
            let Some(&(mutation, version)) = shown.get(input.text.as_str()) else {
                continue;
            };
            let now = writes.get(mutation).copied().unwrap_or_default();
            let is_new = match own.filter(|own| own.0 == mutation) {
                Some((_, write)) if place == 0 => version + write.puts_back == now,
                // No other part of the tensor may be read by its own write.
                Some((_, write)) => {
                    let is_own = write.shown.is_some() || writes_elements(op) && is_target(input);
                    is_own && version == now
                }
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
