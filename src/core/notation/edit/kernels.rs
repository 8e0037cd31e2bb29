//! Edits of kernel marks, `@kernel 3`: merge two kernels, cut one in two, set the mark of one op.

use crate::core::model::diagnostic::Span;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, KernelId, OpId};
use crate::core::model::partition::Partition;
use crate::core::model::program::Program;
use crate::core::notation::edit::replaced;

/// The state that an edit of kernels starts from: the kernels as shown, and the statement of each op.
#[derive(Clone, Copy)]
pub struct ShownKernels<'a> {
    /// The ops.
    pub graph: &'a Graph,
    /// Their kernels.
    pub partition: &'a Partition,
    /// For each op its statement in the program.
    pub statement_of_op: &'a IdVec<OpId, usize>,
}

/// Writes or removes the kernel mark of one op.
pub fn set_kernel(text: &str, program: &Program, op: usize, kernel: Option<u32>) -> String {
    replaced(
        text,
        edit_of(text, program, op, kernel).into_iter().collect(),
    )
}

/// Marks the kernels as shown, with two of them as one; comments and layout stay.
///
/// The caller checks first whether the merge is legal, by [`crate::core::analysis::why::Why::merge`].
pub fn merge_kernels(
    text: &str,
    program: &Program,
    shown: ShownKernels<'_>,
    a: KernelId,
    b: KernelId,
) -> String {
    let kernel_of = shown.partition.kernel_of.iter();
    let merged = kernel_of.map(|&kernel| if kernel == b { a } else { kernel });
    state(text, program, shown, &merged.collect())
}

/// Marks the kernels as shown, with one of them cut in two: the consumer, and the ops of the kernel that depend
/// on it, form a new kernel. If the two ops are in different kernels already, only the marks are written.
pub fn cut_edge(
    text: &str,
    program: &Program,
    shown: ShownKernels<'_>,
    producer: OpId,
    consumer: OpId,
) -> String {
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
    state(text, program, shown, &kernel_of)
}

/// Marks each op that shares its kernel with the number that pictures give that kernel, and removes all other
/// marks. If the kernels form a cycle, no order numbers them, and they keep the numbers of `kernel_of`.
fn state(
    text: &str,
    program: &Program,
    shown: ShownKernels<'_>,
    kernel_of: &IdVec<OpId, KernelId>,
) -> String {
    let ordered = Partition::in_order(shown.graph, kernel_of);
    let kernel_of = ordered.as_ref().map_or(kernel_of, |p| &p.kernel_of);
    // A cut adds a kernel to at most one for each op.
    let mut sizes = IdVec::from_elem(0_u32, kernel_of.len() + 1);
    for &kernel in kernel_of {
        sizes[kernel] += 1;
    }
    let mut edits = Vec::new();
    for (&kernel, &statement) in kernel_of.iter().zip(shown.statement_of_op) {
        let number = (sizes[kernel] > 1).then(|| u32::try_from(kernel.number()).ok());
        let number = number.flatten();
        edits.extend(edit_of(text, program, statement, number));
    }
    replaced(text, edits)
}

fn edit_of(
    text: &str,
    program: &Program,
    op: usize,
    kernel: Option<u32>,
) -> Option<(Span, String)> {
    let statement = program.ops.get(op)?;
    match (&statement.kernel, kernel) {
        (Some(old), Some(new)) if old.number == new => None,
        (Some(old), Some(new)) => Some((old.span, format!("@kernel {new}"))),
        (Some(old), None) => {
            let before = text.get(..old.span.start)?.trim_end().len();
            Some((Span::new(before, old.span.end), String::new()))
        }
        (None, Some(new)) => {
            let end = statement.span.end;
            Some((Span::new(end, end), format!(" @kernel {new}")))
        }
        (None, None) => None,
    }
}
