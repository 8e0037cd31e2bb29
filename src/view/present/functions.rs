//! The reference of the functions: how each is called, what it costs and where the count comes
//! from.

use fuseline_core::OpType;
use fuseline_core::model::functions::{AttributeName, Function, ShapeRule};
use strum::VariantArray;

/// A function as the reference describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    pub name: &'static str,
    /// How it is called; what is in brackets may be left out: `softmax(x, [axis])`.
    pub signature: String,
    pub op_type: &'static str,
    /// What it computes.
    pub summary: &'static str,
    /// The shape of its result.
    pub shape: &'static str,
    /// FLOPs, with what they are counted for; empty where the source says it all.
    pub flops: String,
    /// The operations that the count adds up.
    pub flops_source: &'static str,
    pub attributes: &'static [AttributeName],
}

/// The functions whose name, op type or description contains a text, matches in the name first.
/// Case does not count.
pub fn function_rows(wanted: &str) -> Vec<FunctionRow> {
    let wanted = wanted.trim().to_lowercase();
    let is_named = |function: &Function| function.name().contains(&wanted);
    let is_described = |function: &Function| {
        let row = function.row();
        let words = [row.summary, row.op_type.name()];
        words
            .iter()
            .any(|words| words.to_lowercase().contains(&wanted))
    };
    let named = Function::VARIANTS.iter().copied().filter(is_named);
    let described = Function::VARIANTS
        .iter()
        .copied()
        .filter(|function| !is_named(function) && is_described(function));
    named.chain(described).map(function_row).collect()
}

fn function_row(function: Function) -> FunctionRow {
    let row = function.row();
    let per_element = match row.op_type {
        OpType::Elementwise => Some("each element of the result"),
        OpType::Reduction => Some("each element of the input"),
        OpType::Reshape if row.flops_per_element > 0 => Some("each element of the result"),
        OpType::Opaque if row.flops_per_element > 0 => Some(match function.counted_input() {
            0 => "each element of the input",
            _ => "each element of src",
        }),
        _ => None,
    };
    FunctionRow {
        name: function.name(),
        signature: format!("{}({})", function.name(), function.arguments()),
        op_type: row.op_type.name(),
        summary: row.summary,
        shape: shape_words(row.shape_rule),
        flops: per_element.map_or_else(String::new, |what| {
            format!("{} for {what}", row.flops_per_element)
        }),
        flops_source: row.flops_source,
        attributes: row.attributes,
    }
}

const fn shape_words(rule: ShapeRule) -> &'static str {
    match rule {
        ShapeRule::Broadcast => "the broadcast shape of the inputs, as in NumPy",
        ShapeRule::SameAsFirst
        | ShapeRule::Scatter
        | ShapeRule::IndexAlong
        | ShapeRule::IndexPut
        | ShapeRule::SliceScatter => "that of the first input",
        ShapeRule::PerChannel => "that of the first input [B, C, ..]; the other inputs are [C]",
        ShapeRule::Reduce => "that of the input with the axis reduced",
        ShapeRule::Matmul => "[.., M, K] by [.., K, N] gives [.., M, N]",
        ShapeRule::ScaledMatmul => {
            "[.., M, K] by [.., K, N] gives [.., M, N]; each size of a scale divides its operand's"
        }
        ShapeRule::Blocks => {
            "that of the first input; each size of the others divides the first input's"
        }
        ShapeRule::Linear => "[.., K] by [N, K] gives [.., N]",
        ShapeRule::Conv1d => "[B, C, L] by [O, C/groups, K] gives [B, O, L']",
        ShapeRule::Conv2d => "[B, C, H, W] by [O, C/groups, KH, KW] gives [B, O, H', W']",
        ShapeRule::Pool2d => "[B, C, H, W] gives [B, C, H', W']",
        ShapeRule::Reshape => "the given shape, with the same number of elements",
        ShapeRule::Stated => "the given shape",
        ShapeRule::Transpose => "the dimensions in another order",
        ShapeRule::Split => "one piece of the axis",
        ShapeRule::Concat => "the sum of the inputs' sizes along the axis",
        ShapeRule::Slice => "a part of the axis",
        ShapeRule::Expand => "the given shape, to which the input broadcasts",
        ShapeRule::Repeat => "each dimension `times` as long",
        ShapeRule::Interleave => "the axis `times` as long",
        ShapeRule::Embedding => "[..] and [rows, D] give [.., D]",
        ShapeRule::Gather => "that of the index",
        ShapeRule::Pad => "the last dimensions longer by `pad`",
        ShapeRule::Attention => "q [.., S, D], k [.., T, D] and v [.., T, E] give [.., S, E]",
        ShapeRule::AdaptivePool2d => "[B, C, H, W] gives [B, C, size]",
        ShapeRule::Resample => "[B, C, H, W] gives [B, C, size], or `times` as high and wide",
        ShapeRule::Moved => "that of the input",
        ShapeRule::OneHot => "[..] gives [.., classes]",
        ShapeRule::Index => "that of the indices, and the dimensions that are not indexed",
        ShapeRule::TopK => "the axis `count` long",
    }
}
