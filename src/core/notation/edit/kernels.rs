//! Edits of kernel marks, `@kernel 3`: write all marks, merge two kernels, cut a kernel in two, set
//! the mark of one op.

use crate::cost::launch_order::with_least_memory;
use crate::model::diagnostic::Span;
use crate::model::fix::TextEdit;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::op_type::OpType;
use crate::model::options::{Options, Policy};
use crate::model::partition::Partition;
use crate::model::program::Program;
use crate::notation::edit::replaced;
use std::collections::{HashMap, HashSet};

/// The state that an edit of kernels starts from: the displayed kernels, and the statement of each
/// op.
#[derive(Clone, Copy)]
pub struct ShownKernels<'a> {
    /// The ops.
    pub graph: &'a Graph,
    /// The kernels that the marks must give.
    pub partition: &'a Partition,
    /// For each op its statement in the program.
    pub statement_of_op: &'a IdVec<OpId, usize>,
    /// The policy that chose the kernels, and whether views are free.
    pub options: &'a Options,
}

impl ShownKernels<'_> {
    /// Whether an op runs. A free view does not: it joins the kernel of its neighbour without a
    /// mark.
    fn runs(&self, op: OpId) -> bool {
        let reshape = self.options.conventions.reshape;
        !reshape.is_free_view(self.graph, op)
    }

    /// Whether an op alone is a kernel of generated code. Only a mark keeps it one, because without
    /// a mark the framework runs the op. A matmul or a call runs in the library either way.
    fn is_generated_alone(&self, op: OpId) -> bool {
        let definition = &self.graph.ops[op];
        let is_generated = match self.options.policy {
            Policy::None => false,
            Policy::Manual => definition.kernel.is_some(),
            Policy::Rules | Policy::Inductor | Policy::Optimal => {
                !matches!(definition.op_type, OpType::Matmul | OpType::Opaque)
            }
        };
        let kernel = self.partition.kernel_of[op];
        let running = self.partition.kernels[kernel].iter();
        is_generated && running.filter(|&&op| self.runs(op)).count() == 1
    }
}

/// A text with kernel marks. A mark in a block holds in each iteration, and only within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The text with its marks.
    pub text: String,
    /// Whether the end of an iteration cuts kernels that reach over it.
    pub cuts_iterations: bool,
}

/// Why marks cannot describe these kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmarkable {
    /// The kernels merge these two ops, which are in two iterations, or inside and outside a block.
    AcrossIterations(OpId, OpId),
    /// Two iterations of a block have different kernels: these two ops, of one statement.
    IterationsDiffer(OpId, OpId),
}

/// Writes or removes the kernel mark of one op.
pub fn set_kernel(text: &str, program: &Program, op: usize, kernel: Option<u32>) -> String {
    replaced(text, edit_of(text, program, op, kernel))
}

/// Marks the displayed kernels; comments and layout stay.
///
/// # Errors
/// Marks cannot describe these kernels.
pub fn state_kernels(
    text: &str,
    program: &Program,
    shown: ShownKernels<'_>,
) -> Result<Marked, Unmarkable> {
    let iterations = Iterations::of(program, shown);
    let kernel_of = &shown.partition.kernel_of;
    state(text, program, shown, &iterations, kernel_of, None)
}

/// Marks the displayed kernels after merging two of them, in a block those of every iteration.
/// Comments and layout stay.
///
/// The caller checks first whether the merge is legal, by [`crate::analysis::why::Why::merge`].
///
/// # Errors
/// Marks cannot describe these kernels.
pub fn merge_kernels(
    text: &str,
    program: &Program,
    shown: ShownKernels<'_>,
    a: KernelId,
    b: KernelId,
) -> Result<Marked, Unmarkable> {
    let kernel_of = shown.partition.kernel_of.iter();
    let merged = kernel_of.map(|&kernel| if kernel == b { a } else { kernel });
    let iterations = Iterations::of(program, shown);
    let first = ops_of_both(shown, &iterations, [a, b])?.first().copied();
    state(text, program, shown, &iterations, &merged.collect(), first)
}

/// The ops of two displayed kernels.
///
/// # Errors
/// They reach over the end of an iteration.
fn ops_of_both(
    shown: ShownKernels<'_>,
    iterations: &Iterations,
    kernels: [KernelId; 2],
) -> Result<Vec<OpId>, Unmarkable> {
    let kernels = kernels.map(|kernel| shown.partition.kernels.get(kernel));
    let ops: Vec<OpId> = kernels.into_iter().flatten().flatten().copied().collect();
    let mut others = ops.iter().copied();
    if let Some(first) = others.next()
        && let Some(other) = others.find(|&op| iterations.place(op) != iterations.place(first))
    {
        return Err(Unmarkable::AcrossIterations(first, other));
    }
    Ok(ops)
}

/// Marks the ops of two displayed kernels as one, and leaves the other ops to the policy, in a
/// block those of every iteration. Marks that hold now stay.
///
/// # Errors
/// The two kernels reach over the end of an iteration.
pub fn mark_merged(
    text: &str,
    program: &Program,
    shown: ShownKernels<'_>,
    a: KernelId,
    b: KernelId,
) -> Result<Marked, Unmarkable> {
    let ops = ops_of_both(shown, &Iterations::of(program, shown), [a, b])?;
    let holds = shown.options.fusion.keeps_marks;
    let marks = program.ops.iter().filter_map(|op| op.kernel);
    let free = marks.map(|mark| mark.number).max().filter(|_| holds);
    let number = match free {
        Some(largest) => largest.saturating_add(1),
        None => u32::try_from(a.min(b).number()).unwrap_or(u32::MAX),
    };
    let statements: HashSet<usize> = ops
        .iter()
        .filter_map(|&op| shown.statement_of_op.get(op).copied())
        .collect();
    let edits = (0..program.ops.len()).filter_map(|statement| {
        if statements.contains(&statement) {
            edit_of(text, program, statement, Some(number))
        } else if holds {
            None
        } else {
            edit_of(text, program, statement, None)
        }
    });
    Ok(Marked {
        text: replaced(text, edits),
        cuts_iterations: false,
    })
}

/// Marks the displayed kernels after cutting one of them in two, in a block that of every
/// iteration.
///
/// The consumer, and the ops of the kernel that depend on it, form a new kernel. If the two ops are
/// in different kernels already, only the marks are written.
///
/// # Errors
/// Marks cannot describe these kernels.
pub fn cut_edge(
    text: &str,
    program: &Program,
    shown: ShownKernels<'_>,
    producer: OpId,
    consumer: OpId,
) -> Result<Marked, Unmarkable> {
    let mut kernel_of = shown.partition.kernel_of.clone();
    if let Some(&kernel) = kernel_of.get(producer)
        && kernel_of.get(consumer) == Some(&kernel)
    {
        let new = KernelId::new(shown.partition.kernels.len());
        for op in kernel_of.ids().skip(consumer.index()) {
            let mut before = shown.graph.predecessors[op].iter();
            let follows = op == consumer || before.any(|&before| kernel_of[before] == new);
            if follows && kernel_of[op] == kernel {
                kernel_of[op] = new;
            }
        }
    }
    let iterations = Iterations::of(program, shown);
    state(
        text,
        program,
        shown,
        &iterations,
        &kernel_of,
        Some(consumer),
    )
}

/// Marks each op that is fused, or that alone is a kernel of generated code, and removes all other
/// marks.
///
/// The number is that of the kernel in pictures, in a block that of the first iteration. If the
/// kernels form a cycle, no order numbers them, and they keep the numbers of `kernel_of`. It
/// differs from the displayed kernels in the iteration of the op `changed`.
fn state(
    text: &str,
    program: &Program,
    shown: ShownKernels<'_>,
    iterations: &Iterations,
    kernel_of: &IdVec<OpId, KernelId>,
    changed: Option<OpId>,
) -> Result<Marked, Unmarkable> {
    let in_every_iteration = match program.blocks[..] {
        [] => None,
        _ => Some(iterations.in_every_iteration(shown, kernel_of, changed)?),
    };
    let cuts_iterations = in_every_iteration.is_some() && iterations.cuts(kernel_of);
    let kernel_of = in_every_iteration.as_ref().unwrap_or(kernel_of);
    let ordered = Partition::in_order(shown.graph, kernel_of).map(|partition| {
        let conventions = shown.options.conventions;
        let least = with_least_memory(shown.graph, conventions, &partition);
        least.map_or(partition, |(ordered, _)| ordered)
    });
    let kernel_of = ordered.as_ref().map_or(kernel_of, |p| &p.kernel_of);
    // A cut adds one kernel, and before it there is at most one for each op.
    let mut sizes = IdVec::from_elem(0_usize, kernel_of.len() + 1);
    for (op, &kernel) in kernel_of.iter_enumerated() {
        sizes[kernel] += usize::from(shown.runs(op));
    }
    let mut edits = Vec::new();
    for (op, &kernel) in kernel_of.iter_enumerated() {
        // A statement has one mark for all iterations, and its first op writes it.
        if iterations
            .place(op)
            .is_some_and(|(_, iteration)| iteration > 0)
        {
            continue;
        }
        let is_alone = sizes[kernel] == 1 && shown.runs(op);
        let is_marked = sizes[kernel] > 1 || is_alone && shown.is_generated_alone(op);
        let number = is_marked.then(|| u32::try_from(kernel.number()).ok());
        if let Some(&statement) = shown.statement_of_op.get(op) {
            edits.extend(edit_of(text, program, statement, number.flatten()));
        }
    }
    Ok(Marked {
        text: replaced(text, edits),
        cuts_iterations,
    })
}

/// The ops of blocks, by iteration.
struct Iterations {
    /// The block and the iteration of each op, from 0 on; empty without blocks.
    places: IdVec<OpId, Option<(usize, usize)>>,
    /// For each statement of a block its op in each iteration.
    ops_of: HashMap<usize, Vec<OpId>>,
}

impl Iterations {
    fn of(program: &Program, shown: ShownKernels<'_>) -> Self {
        let mut iterations = Self {
            places: IdVec::new(),
            ops_of: HashMap::new(),
        };
        if program.blocks.is_empty() {
            return iterations;
        }
        iterations.places = IdVec::from_elem(None, shown.graph.ops.len());
        // The list has the ops of a statement in the order of their iterations.
        let mut listed: Vec<OpId> = shown.graph.ops.ids().collect();
        listed.sort_by_key(|&op| shown.graph.listed_at[op]);
        for op in listed {
            if let Some(&statement) = shown.statement_of_op.get(op)
                && let Some(block) = program.block_of_op(statement)
            {
                let ops = iterations.ops_of.entry(statement).or_default();
                iterations.places[op] = Some((block, ops.len()));
                ops.push(op);
            }
        }
        iterations
    }

    fn place(&self, op: OpId) -> Option<(usize, usize)> {
        self.places.get(op).copied().flatten()
    }

    /// The op of the same statement in another iteration.
    fn in_iteration(&self, shown: ShownKernels<'_>, op: OpId, iteration: usize) -> Option<OpId> {
        let statement = shown.statement_of_op.get(op)?;
        self.ops_of.get(statement)?.get(iteration).copied()
    }

    /// Whether a kernel reaches over the end of an iteration.
    fn cuts(&self, kernel_of: &IdVec<OpId, KernelId>) -> bool {
        let mut place_of = HashMap::new();
        let mut kernels = kernel_of.iter_enumerated();
        kernels
            .any(|(op, kernel)| *place_of.entry(kernel).or_insert(self.place(op)) != self.place(op))
    }

    /// The first op of each op's kernel, where kernels end with their iteration.
    fn first_ops(&self, kernel_of: &IdVec<OpId, KernelId>) -> IdVec<OpId, OpId> {
        let mut first_of = HashMap::new();
        let kernels = kernel_of.iter_enumerated();
        kernels
            .map(|(op, &kernel)| *first_of.entry((kernel, self.place(op))).or_insert(op))
            .collect()
    }

    /// `kernel_of` with the kernels of the iteration of `changed` in all iterations of its block,
    /// where kernels end with their iteration. The number of a kernel is that of its first op.
    fn in_every_iteration(
        &self,
        shown: ShownKernels<'_>,
        kernel_of: &IdVec<OpId, KernelId>,
        changed: Option<OpId>,
    ) -> Result<IdVec<OpId, KernelId>, Unmarkable> {
        let before = self.first_ops(&shown.partition.kernel_of);
        let mut after = self.first_ops(kernel_of);
        let changed = changed.and_then(|op| self.place(op));
        for op in before.ids() {
            let Some((block, iteration)) = self.place(op) else {
                continue;
            };
            let model = changed
                .filter(|&(of, _)| of == block)
                .map_or(0, |(_, iteration)| iteration);
            let of_model = |op: OpId| self.in_iteration(shown, op, model);
            let Some(model_op) = of_model(op).filter(|_| iteration != model) else {
                continue;
            };
            if of_model(before[op]) != Some(before[model_op]) {
                return Err(Unmarkable::IterationsDiffer(model_op, op));
            }
            after[op] = self
                .in_iteration(shown, after[model_op], iteration)
                .unwrap_or(op);
        }
        Ok(after.into_iter().map(KernelId::of_lone_op).collect())
    }
}

pub(super) fn edit_of(
    text: &str,
    program: &Program,
    op: usize,
    kernel: Option<u32>,
) -> Option<TextEdit> {
    let statement = program.ops.get(op)?;
    match (&statement.kernel, kernel) {
        (Some(old), Some(new)) if old.number == new => None,
        (Some(old), Some(new)) => Some(TextEdit::replace(old.span, format!("@kernel {new}"))),
        (Some(old), None) => {
            let before = text.get(..old.span.start)?.trim_end().len();
            Some(TextEdit::remove(Span::new(before, old.span.end)))
        }
        (None, Some(new)) => {
            let end = statement.span.end;
            Some(TextEdit::insert(end, format!(" @kernel {new}")))
        }
        (None, None) => None,
    }
}
