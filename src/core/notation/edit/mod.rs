//! Edits of the text by the table, the sliders and the pickers: text in, text out.
//!
//! Each takes a text and the program that [`crate::notation::parse`] made of it. Comments, layout
//! and lines that could not be parsed stay. An index that is not in the program leaves the text
//! unchanged. All take `O(text)`.

mod calls;
mod declarations;
mod kernels;
mod lines;
mod names;
mod products;

use crate::model::dtype::DType;
use crate::model::fix::{TextEdit, edited};
use crate::model::program::{Program, TypeAnnotation};
pub use crate::notation::edit::calls::{set_annotation, set_callee, set_inputs};
pub use crate::notation::edit::declarations::{
    add_declaration, remove_declaration, set_declared_type, set_role,
};
pub use crate::notation::edit::kernels::{
    Marked, ShownKernels, Unmarkable, cut_edge, mark_merged, merge_kernels, set_kernel,
    state_kernels,
};
pub use crate::notation::edit::lines::{add_op, move_op, paste_lines, remove_op};
pub use crate::notation::edit::names::{rename_op, rename_tensor};
pub use crate::notation::edit::products::{
    Joinable, join_products, joinable_products, multiply_in_f8, store_weights_in_int8,
};
use crate::resolve::params_following;
use strum::VariantArray;

/// Sets the value of a param. Other params that must divide it, and now do not, get their nearest
/// value that does.
pub fn set_param(text: &str, program: &Program, param_index: usize, value: i64) -> String {
    let values = params_following(program, param_index, value);
    let edits = (program.params.iter().zip(values))
        .filter_map(|(param, value)| Some(TextEdit::replace(param.value_span, value?.to_string())));
    replaced(text, edits)
}

/// The text without the values of its params: the same for all positions of the sliders.
pub fn without_values(text: &str, program: &Program) -> String {
    let values = program.params.iter().map(|param| param.value_span);
    replaced(text, values.map(TextEdit::remove))
}

/// The most frequent element type of the annotations; on a tie the first in the program.
pub fn main_dtype(program: &Program) -> Option<DType> {
    let count = |dtype: DType| annotations(program).filter(|a| a.dtype == dtype).count();
    let counts: Vec<(DType, usize)> = DType::VARIANTS.iter().map(|&d| (d, count(d))).collect();
    let most = counts.iter().map(|&(_, count)| count).max()?;
    annotations(program)
        .map(|a| a.dtype)
        .find(|&dtype| counts.contains(&(dtype, most)))
}

/// Writes `dtype` in every annotation that has the [`main_dtype`].
pub fn set_dtype(text: &str, program: &Program, dtype: DType) -> String {
    let main = main_dtype(program);
    let edits = annotations(program)
        .filter(|a| Some(a.dtype) == main)
        .map(|a| TextEdit::replace(a.dtype_span, dtype.name()));
    replaced(text, edits)
}

fn annotations(program: &Program) -> impl Iterator<Item = &TypeAnnotation> {
    let declared = program.declarations.iter().map(|d| &d.annotation);
    declared.chain(program.ops.iter().filter_map(|op| op.annotation.as_ref()))
}

/// `text` after edits in any order; only the first of overlapping edits is made. Unchanged if the
/// edits do not fit it.
fn replaced(text: &str, edits: impl IntoIterator<Item = TextEdit>) -> String {
    let mut edits: Vec<TextEdit> = edits.into_iter().collect();
    edits.sort_by_key(|edit| edit.span);
    let mut free = 0;
    edits.retain(|edit| {
        let is_free = edit.span.start >= free;
        if is_free {
            free = edit.span.end;
        }
        is_free
    });
    edited(text, &edits).unwrap_or_else(|| text.to_owned())
}
