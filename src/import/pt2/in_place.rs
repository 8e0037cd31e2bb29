//! Operators that write into a tensor, and the views through which they do.

use super::import::{Frame, Import, MAX_DEPTH};
use crate::Problem;
use crate::params::identifier;
use crate::pt2::parts::{range_of, with_part};
use crate::pt2::schema::Node;
use crate::pt2::views::perm;
use crate::statement::{distinct_name, statements};
use fuseline_core::model::functions::Function;
use fuseline_core::model::program::OpStatement;
use fuseline_core::notation::written_name;

/// Operators whose output shows the memory of their first tensor.
pub(super) const VIEWS: &[&str] = &[
    "view",
    "reshape",
    "unsqueeze",
    "squeeze",
    "flatten",
    "unflatten",
    "view_as",
    "reshape_as",
    "permute",
    "transpose",
    "t",
    "numpy_T",
    "mT",
    "swapaxes",
    "expand",
    "expand_as",
    "slice",
    "narrow",
    "select",
    "split",
    "split_with_sizes",
    "chunk",
    "unbind",
    "alias",
    "detach",
];

/// A view of a tensor of the graph.
pub(super) struct View<'a> {
    /// The tensor whose memory it shows.
    pub(super) base: &'a str,
    /// The index of that tensor when the view was made: of its value then.
    pub(super) of: usize,
}

/// An op between a view and the tensor that it shows.
struct Step {
    op: StepOp,
    /// The indices of what the op reads and writes.
    source: usize,
    output: usize,
}

enum StepOp {
    Reshape,
    /// A transpose with its order of dimensions.
    Transpose(OpStatement, Vec<i64>),
    Slice(OpStatement),
    Bitcast(OpStatement),
}

impl<'a> Import<'a> {
    /// Makes the result of a write in place the value of its tensor. A write into a view becomes an
    /// op on the tensor that the view shows: the part is put back.
    pub(super) fn written_in_place(
        &mut self,
        node: &'a Node,
        output: &'a str,
        target: &'a str,
        frame: &mut Frame<'a>,
    ) -> Result<(), Problem> {
        let Some(&index) = frame.tensors.get(output) else {
            return Ok(());
        };
        let mut root = frame.same.get(target).copied().unwrap_or(target);
        let mut old = frame.tensors.get(root).copied();
        frame.same.insert(output, root);
        frame.tensors.insert(target, index);
        frame.tensors.insert(root, index);
        let mut index = index;
        let is_own = is_own(frame, root);
        let mut steps = 0;
        while let Some(view) = frame.viewed.get_mut(root) {
            let base = view.base;
            let (Some(meta), Some(&whole)) =
                (frame.graph.tensor_values.get(base), frame.tensors.get(base))
            else {
                break;
            };
            self.written.spend(meta.sizes.len() + 2)?;
            let path = old.and_then(|old| self.steps(old, view.of));
            let put = path.and_then(|path| self.put(node, base, &path, (index, whole), is_own));
            index = if let Some(index) = put {
                index
            } else {
                let (shape, is_exact) = self.shape(meta);
                let shape = self.written.params.list(&shape);
                let line = format!(
                    "y = opaque({}, {}, name={}) : {}{shape}",
                    self.name(whole),
                    self.name(index),
                    written_name(&identifier(node.operator())),
                    meta.dtype().name()
                );
                let ops = statements(&line).unwrap_or_default();
                self.write(node, ops, base, is_exact, None)
            };
            view.of = index;
            frame.tensors.insert(base, index);
            root = frame.same.get(base).copied().unwrap_or(base);
            old = Some(whole);
            frame.tensors.insert(root, index);
            steps += 1;
            if steps > MAX_DEPTH {
                break;
            }
        }
        Ok(())
    }

    /// Makes the views that a node reads anew where a write has changed what they show.
    pub(super) fn refresh(&mut self, node: &'a Node, frame: &mut Frame<'a>) -> Result<(), Problem> {
        for name in node.tensors() {
            let mut path = vec![name];
            while let Some(view) = path.last().and_then(|last| frame.viewed.get(last)) {
                path.push(view.base);
                if path.len() > MAX_DEPTH {
                    break;
                }
            }
            for pair in path.windows(2).rev() {
                let &[view, base] = pair else { continue };
                let (Some(&shown), Some(&now)) = (frame.tensors.get(view), frame.tensors.get(base))
                else {
                    continue;
                };
                let Some(known) = frame.viewed.get_mut(view).filter(|known| known.of != now) else {
                    continue;
                };
                let Some(steps) = self.steps(shown, known.of) else {
                    continue;
                };
                self.written.spend(steps.len() + 1)?;
                let mut source = now;
                for step in steps.iter().rev() {
                    let op = match &step.op {
                        StepOp::Reshape => None,
                        StepOp::Transpose(op, _) | StepOp::Slice(op) | StepOp::Bitcast(op) => {
                            Some(op)
                        }
                    };
                    source = match op {
                        None => self.reshaped(node, view, source, step.output),
                        Some(op) => {
                            let mut op = op.clone();
                            if let Some(first) = op.inputs.first_mut() {
                                self.name(source).clone_into(&mut first.text);
                            }
                            self.write(node, vec![op], view, true, None)
                        }
                    };
                }
                known.of = now;
                frame.tensors.insert(view, source);
            }
        }
        Ok(())
    }

    fn name(&self, index: usize) -> &str {
        let known = self.written.tensors.get(index);
        known.map_or("", |known| &known.name)
    }

    /// The elements of a tensor in the shape and type of another.
    fn reshaped(&mut self, node: &'a Node, name: &str, source: usize, model: usize) -> usize {
        let line = format!("y = reshape({}){}", self.name(source), self.typed(model));
        let ops = statements(&line).unwrap_or_default();
        self.write(node, ops, name, true, None)
    }

    /// The annotation of a tensor.
    fn typed(&self, index: usize) -> String {
        let known = self.written.tensors.get(index);
        let typed = known.and_then(|known| {
            let shape = self.written.params.list(known.shape.as_deref()?);
            Some(format!(" : {}{shape}", known.dtype?.name()))
        });
        typed.unwrap_or_default()
    }

    /// The ops between a view and the tensor that it shows, the last first; `None` where one is no
    /// view with a reverse.
    fn steps(&self, view: usize, of: usize) -> Option<Vec<Step>> {
        let mut found = Vec::new();
        let mut output = view;
        while output != of {
            if found.len() > MAX_DEPTH {
                return None;
            }
            // A reshape of a reshape reads what that one reads.
            if self.written.unshaped(output) == self.written.unshaped(of) {
                found.push(Step {
                    op: StepOp::Reshape,
                    source: of,
                    output,
                });
                break;
            }
            let ops = &self.written.ops;
            let at = ops.binary_search_by_key(&output, |(_, output)| *output);
            let (op, _) = ops.get(at.ok()?)?;
            let source = *self.written.by_name.get(&op.inputs.first()?.text)?;
            let step = match op.function()? {
                Function::Reshape => StepOp::Reshape,
                Function::Transpose => StepOp::Transpose(op.clone(), perm(op)?),
                Function::Slice => StepOp::Slice(op.clone()),
                Function::Bitcast => StepOp::Bitcast(op.clone()),
                _ => return None,
            };
            found.push(Step {
                op: step,
                source,
                output,
            });
            output = source;
        }
        Some(found)
    }

    /// Writes a part back into the whole that a view shows; gives the index of the whole. One that
    /// is the program's own is written anew, with the part between what it keeps.
    fn put(
        &mut self,
        node: &'a Node,
        base: &str,
        steps: &[Step],
        (mut part, whole): (usize, usize),
        is_own: bool,
    ) -> Option<usize> {
        for (at, step) in steps.iter().enumerate() {
            part = match &step.op {
                StepOp::Reshape => self.reshaped(node, base, part, step.source),
                StepOp::Bitcast(_) => {
                    let dtype = self.written.tensors.get(step.source)?.dtype?.name();
                    let line = format!("y = bitcast({}, dtype={dtype})", self.name(part));
                    self.write(node, statements(&line)?, base, true, None)
                }
                StepOp::Transpose(_, perm) => {
                    let mut back = vec![0; perm.len()];
                    for (place, &axis) in perm.iter().enumerate() {
                        *back.get_mut(usize::try_from(axis).ok()?)? = place;
                    }
                    let typed = self.typed(step.source);
                    let line = format!("y = transpose({}, perm={back:?}){typed}", self.name(part));
                    self.write(node, statements(&line)?, base, true, None)
                }
                // Only the first view shows a part of a tensor that may have changed since.
                StepOp::Slice(_) if at + 1 < steps.len() => return None,
                StepOp::Slice(slice) => {
                    let anew = is_own.then(|| self.with_part(slice, part, whole));
                    if let Some(ops) = anew.flatten() {
                        return Some(self.write(node, ops, base, true, None));
                    }
                    let names = [whole, part].map(|index| self.name(index).to_owned());
                    let mut op = slice.clone();
                    "slice_scatter".clone_into(&mut op.callee.text);
                    op.annotation = None;
                    op.inputs = names
                        .map(|text| {
                            let mut input = slice.output.clone();
                            input.text = text;
                            input
                        })
                        .to_vec();
                    self.write(node, vec![op], base, true, None)
                }
            };
        }
        Some(part)
    }

    /// The ops that write a tensor with a part in the range of a slice of it; `None` for a slice
    /// with a step, and for one of everything.
    fn with_part(
        &self,
        slice: &OpStatement,
        part: usize,
        whole: usize,
    ) -> Option<Vec<OpStatement>> {
        let range = range_of(&self.written, slice, whole)?;
        let lines = with_part(&self.written, whole, self.name(part), &range)?;
        let words = lines.split(['(', ')', ',', '=', ' ', '\n']);
        let output = distinct_name("y", words);
        statements(&lines.replace("{y}", &output))
    }
}

/// Whether the memory of a tensor is that of no input of its graph.
fn is_own(frame: &Frame<'_>, tensor: &str) -> bool {
    let mut root = tensor;
    for _ in 0..MAX_DEPTH {
        let Some(view) = frame.viewed.get(root) else {
            return !frame.given.contains(root);
        };
        root = frame.same.get(view.base).copied().unwrap_or(view.base);
    }
    false
}
