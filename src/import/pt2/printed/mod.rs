//! From a graph that PyTorch prints with the shape of each tensor to a program: `print(program)` of
//! an exported program, `print_readable()`, and the graphs of `TORCH_LOGS`.
//!
//! [`lines`] finds the graph in the text, `statements` reads its lines into the form that a `.pt2`
//! file has, and the one lowering of operators does the rest. `values` reads arguments, `schemas`
//! knows their names.

mod graphs;
mod lines;
mod schemas;
mod signature;
mod statements;
mod strides;
mod values;

use crate::pt2::expression::size_of;
use crate::pt2::import::import_exported;
use crate::pt2::printed::graphs::graph_of;
use crate::pt2::printed::lines::{Block, Printout};
use crate::pt2::printed::signature::{bounds, mutations, states};
use crate::pt2::schema::{Exported, GraphModule, Signature, SymInt};
use crate::{Imported, Problem};

/// Whether a text is a graph of `ATen` operators that PyTorch has printed with each shape.
/// `O(text)`.
pub fn is_printed(text: &str) -> bool {
    // Most texts lack this word, and the search for it is fast.
    text.contains("torch.ops.") && Printout::of(text).first_graph().is_some()
}

/// The program of the first graph of operators in a text, and how many others follow it. Linear in
/// the text.
///
/// # Errors
/// What is wrong with the graph, as the end of a sentence.
pub fn import_printed(text: &str) -> Result<(Imported, usize), Problem> {
    let printout = Printout::of(text);
    let Some(blocks) = printout.first_graph() else {
        return Err(Problem::new(
            "it has no `class GraphModule` with a type behind each tensor, such as \"f32[8, 512]\"",
        ));
    };
    let is_whole = |block: &Block<'_>| block.lines.iter().any(|line| line.starts_with("return"));
    if let Some(cut) = blocks.iter().find(|block| !is_whole(block)) {
        return Err(Problem::new(format!(
            "the `return` of `class {}` is missing: the text is cut off",
            cut.name
        )));
    }
    let states = states(text);
    let (graph, further) = graph_of(blocks, &states);
    let exported = Exported {
        graph_module: GraphModule {
            graph,
            signature: Signature {
                output_specs: mutations(text).collect(),
                input_specs: states.into_specs().chain(further).collect(),
            },
        },
        range_constraints: bounds(text),
    };
    let mut imported = import_exported(&exported, &[])?;
    let tensors = exported.graph_module.graph.tensor_values.values();
    let sizes = tensors.flat_map(|meta| &meta.sizes);
    let unknown = sizes.filter_map(|size| match size {
        SymInt::AsExpr(expr) if size_of(&expr.expr_str, &mut |_| Some(0)).is_none() => {
            Some(&expr.expr_str)
        }
        _ => None,
    });
    // The first by name, because a map has no order.
    if let Some(size) = unknown.min() {
        imported.notes.push(format!(
            "Sizes such as `{size}` cannot be computed from the text and count as 1: the .pt2 of the program has their values."
        ));
    }
    Ok((imported, printout.graphs().saturating_sub(1)))
}
