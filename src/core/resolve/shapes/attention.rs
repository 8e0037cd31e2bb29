//! Shape rule of attention.

use super::broadcast::broadcast_into;
use super::call::{Call, Operand, mismatch, text};
use crate::model::diagnostic::{Diagnostic, Span};
use crate::model::dtype::DType;
use crate::model::functions::AttributeName;
use crate::model::program::Name;

pub(super) fn attention(
    call: &Call<'_>,
    q: &Operand<'_>,
    k: &Operand<'_>,
    v: &Operand<'_>,
    mask: Option<&Operand<'_>>,
) -> Result<Vec<u64>, Diagnostic> {
    const FORM: &str = "q is [.., S, D], k [.., T, D] and v [.., T, E]";
    let matrices = |of: &Operand<'_>| match *of.shape {
        [ref heads @ .., rows, columns] => Ok((heads.to_vec(), rows, columns)),
        _ => Err(mismatch(of, format!("{} does not contain matrices", text(of))).hint(FORM)),
    };
    let (heads, queries, head_size) = matrices(q)?;
    let (key_heads, keys, key_size) = matrices(k)?;
    let (value_heads, values, width) = matrices(v)?;
    if key_size != head_size {
        return Err(mismatch(
            k,
            format!("the rows of {} and {} differ in length", text(k), text(q)),
        )
        .hint(FORM));
    }
    if (&value_heads, values) != (&key_heads, keys) {
        return Err(mismatch(
            v,
            format!("{} and {} differ in their number of rows", text(v), text(k)),
        )
        .hint(FORM));
    }
    let is_grouped = call.attributes.flag(AttributeName::EnableGqa);
    let shares = |heads: &[u64], own: &[u64]| match (heads, own) {
        ([batch @ .., heads], [of_keys @ .., own]) => {
            batch == of_keys && *own > 0 && heads.is_multiple_of(*own)
        }
        _ => false,
    };
    if heads != key_heads && !(is_grouped && shares(&heads, &key_heads)) {
        let problem = mismatch(
            k,
            format!(
                "{} and {} differ in their number of heads",
                text(k),
                text(q)
            ),
        );
        let sides = heads.split_last().zip(key_heads.split_last());
        return Err(if !is_grouped && shares(&heads, &key_heads) {
            call.stating(
                problem
                    .hint("with `enable_gqa=true`, several heads of q share one head of k and v"),
                "enable_gqa=true",
            )
        } else if let Some(((of_q, batch), (of_k, of_keys))) = sides
            && is_grouped
            && batch == of_keys
        {
            problem.hint(format!(
                "q has a multiple of the heads of k and v, but {of_q} is no multiple of {of_k}"
            ))
        } else {
            problem.hint("the leading dimensions must be equal")
        });
    }
    if let Some(mask) = mask {
        let mut shape = heads.clone();
        shape.extend([queries, keys]);
        let scores = Operand {
            name: &Name {
                text: "the scores".to_owned(),
                span: Span::default(),
            },
            shape: &shape,
            dtype: DType::F32,
        };
        broadcast_into(&scores, mask)?;
    }
    let mut shape = heads;
    shape.extend([queries, width]);
    Ok(shape)
}
