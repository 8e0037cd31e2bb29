//! Builds the graphs of a text in the form that a `.pt2` file has.

use crate::pt2::printed::lines::Block;
use crate::pt2::printed::signature::{States, spec};
use crate::pt2::printed::statements::{Building, Source};
use crate::pt2::schema::{Graph, InputSpec};
use std::collections::HashMap;

/// The graph of the first block, which holds the others, and the parameters that it reads from its
/// module instead of an input.
pub(super) fn graph_of<'a>(blocks: &[Block<'a>], states: &States<'_>) -> (Graph, Vec<InputSpec>) {
    let mut inner: HashMap<&'a str, Graph> = HashMap::new();
    let mut read = Vec::new();
    let mut outer = Building::default();
    // A graph stands before those in it.
    for (index, block) in blocks.iter().enumerate().rev() {
        let mut building = Building::default();
        building.inputs(&block.parameters);
        let mut source = None;
        for line in &block.lines {
            if let Some(comment) = line.strip_prefix("# ") {
                source = Source::of(comment).or(source);
            } else if let Some(result) = line.strip_prefix("return") {
                building.outputs(result);
            } else {
                building.statement(line, source, states, &mut inner);
            }
        }
        if index > 0 {
            inner.insert(block.name, building.graph);
        } else {
            read = std::mem::take(&mut building.read);
            outer = building;
        }
    }
    let specs = read.iter().map(|(name, path)| spec(name, path)).collect();
    (outer.graph, specs)
}
