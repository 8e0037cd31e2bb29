//! Operators that write into a tensor, and the views through which they do.

use super::import::{Frame, Import, MAX_DEPTH};
use crate::Problem;
use crate::params::identifier;
use crate::pt2::schema::Node;
use crate::statement::statements;
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

impl<'a> Import<'a> {
    /// Makes the result of a write in place the value of its tensor. A write into a view becomes an
    /// op on the tensor that the view shows.
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
        frame.same.insert(output, root);
        frame.tensors.insert(target, index);
        frame.tensors.insert(root, index);
        let mut index = index;
        let mut steps = 0;
        while let Some(&base) = frame.viewed.get(root) {
            let (Some(meta), Some(&whole)) =
                (frame.graph.tensor_values.get(base), frame.tensors.get(base))
            else {
                break;
            };
            self.written.spend(meta.sizes.len() + 2)?;
            let (shape, is_exact) = self.shape(meta);
            let stated = format!(
                "{}{}",
                meta.dtype().name(),
                self.written.params.list(&shape)
            );
            let name = |index: usize| {
                self.written
                    .tensors
                    .get(index)
                    .map_or("", |known| &known.name)
            };
            let operator = node.operator();
            let line = format!(
                "y = opaque({}, {}, name={}) : {stated}",
                name(whole),
                name(index),
                written_name(&identifier(operator))
            );
            let ops = statements(&line).unwrap_or_default();
            index = self.write(node, ops, base, is_exact, None);
            frame.tensors.insert(base, index);
            root = frame.same.get(base).copied().unwrap_or(base);
            frame.tensors.insert(root, index);
            steps += 1;
            if steps > MAX_DEPTH {
                break;
            }
        }
        Ok(())
    }
}
