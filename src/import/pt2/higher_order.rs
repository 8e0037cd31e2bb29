//! Operators that run graphs: parts without gradients, conditions, loops.

use super::import::{Frame, Import, MAX_DEPTH};
use crate::Problem;
use crate::pt2::schema::{Argument, Graph, Node};
use crate::rows;
use crate::size::Size;
use crate::statement::statements;

/// Most nodes and rows of all iterations of a loop that is written out.
const MAX_UNROLLED: usize = 20_000;

impl<'a> Import<'a> {
    /// Writes the ops of the graph that an operator runs; `false` for an operator that runs none,
    /// or in a way that is not known.
    pub(super) fn inlined(
        &mut self,
        node: &'a Node,
        outputs: &[Option<&'a str>],
        frame: &mut Frame<'a>,
    ) -> Result<bool, Problem> {
        let graphs = node
            .inputs
            .iter()
            .filter_map(|argument| match &argument.arg {
                Argument::Graph(graph) => Some(&**graph),
                _ => None,
            });
        let graphs: Vec<&Graph> = graphs.collect();
        let behind = |count: usize| {
            let is_graph = |argument: &&_| matches!(argument, Argument::Graph(_));
            let arguments = node.inputs.iter().map(|argument| &argument.arg);
            let mut seen = 0;
            let behind = arguments.filter(move |argument| {
                seen += usize::from(is_graph(argument));
                seen >= count
            });
            let names = behind.flat_map(Argument::tensors);
            names.filter_map(|name| frame.tensors.get(name).copied())
        };
        let target = node
            .target
            .strip_prefix("torch.ops.")
            .unwrap_or(&node.target);
        let results = match (target, graphs.as_slice()) {
            (target, [graph]) if target.starts_with("higher_order.wrap") => {
                let given = node.tensors();
                let given = given.filter_map(|name| frame.tensors.get(name).copied());
                let given = given.collect();
                self.body(graph, given, frame)?
            }
            ("higher_order.cond", [then, _]) => {
                let given = behind(2).collect();
                self.note("Of a condition that only the data tell, the first branch counts.");
                self.body(then, given, frame)?
            }
            ("higher_order.while_loop", [_, body]) => {
                let given = behind(2).collect();
                let results = self.body(body, given, frame)?;
                let known: Vec<usize> = results.iter().flatten().copied().flatten().collect();
                let before = self.written.ops.len();
                self.written.open_loop("while_loop", &known);
                self.remember(node, before);
                results
            }
            ("higher_order.scan" | "higher_order.map_impl", [body]) => {
                self.scan(node, body, frame)?
            }
            _ => None,
        };
        let Some(results) = results.filter(|results| results.len() == outputs.len()) else {
            return Ok(false);
        };
        for (output, result) in outputs.iter().zip(results) {
            if let (Some(output), Some(result)) = (output, result) {
                frame.tensors.insert(output, result);
            }
        }
        Ok(true)
    }

    fn note(&mut self, note: &str) {
        if self.notes.iter().all(|own| own != note) {
            self.notes.push(note.to_owned());
        }
    }

    /// The results of a graph, `None` for those that are no tensors; nothing where it takes other
    /// inputs than these.
    fn body(
        &mut self,
        graph: &'a Graph,
        given: Vec<usize>,
        frame: &Frame<'a>,
    ) -> Result<Option<Vec<Option<usize>>>, Problem> {
        let inputs: Vec<&str> = graph.inputs.iter().flat_map(Argument::tensors).collect();
        if given.len() != inputs.len() {
            return Ok(None);
        }
        if frame.depth >= MAX_DEPTH {
            return Err(Problem::new(format!(
                "its graphs nest more than {MAX_DEPTH} levels deep"
            )));
        }
        let given = inputs.into_iter().zip(given).collect();
        let inner = self.graph(graph, given, frame.depth + 1)?;
        let results = graph.outputs.iter().flat_map(Argument::tensor_names);
        let results = results.map(|name| inner.get(name?).copied());
        Ok(Some(results.collect()))
    }

    /// A loop over the first dimension of some tensors, written out: each iteration reads the
    /// results of the previous one, and the others are stacked.
    fn scan(
        &mut self,
        node: &'a Node,
        body: &'a Graph,
        frame: &mut Frame<'a>,
    ) -> Result<Option<Vec<Option<usize>>>, Problem> {
        let lists = node
            .inputs
            .iter()
            .filter_map(|argument| match &argument.arg {
                Argument::Tensors(_) => Some(argument.arg.tensors()),
                _ => None,
            });
        let known = |names: Vec<&str>| -> Vec<usize> {
            let known = names.into_iter();
            known
                .filter_map(|name| frame.tensors.get(name).copied())
                .collect()
        };
        let mut lists: Vec<Vec<usize>> = lists.map(known).collect();
        if node.target.ends_with("map_impl") {
            lists.insert(0, Vec::new());
        }
        let [carried, rows, others] = <[Vec<usize>; 3]>::try_from(lists).unwrap_or_default();
        let count = rows.first().and_then(|&row| {
            let size = self
                .written
                .tensors
                .get(row)?
                .shape
                .as_ref()?
                .first()?
                .as_int()?;
            usize::try_from(size).ok()
        });
        let fits = |count: &usize| {
            *count > 0 && count.saturating_mul(body.nodes.len() + rows.len() + 1) <= MAX_UNROLLED
        };
        let Some(count) = count.filter(fits) else {
            return Ok(None);
        };
        let mut carried = carried;
        let mut stacked: Vec<Vec<usize>> = Vec::new();
        for iteration in 0..count {
            let mut given = carried.clone();
            for &row in &rows {
                self.written.spend(1 + self.written.rank(row))?;
                given.extend(self.row(node, row, iteration));
            }
            given.extend(&others);
            let Some(results) = self.body(body, given, frame)? else {
                return Ok(None);
            };
            let results: Option<Vec<usize>> = results.into_iter().collect();
            let Some(mut results) = results.filter(|results| results.len() >= carried.len()) else {
                return Ok(None);
            };
            let own = results.split_off(carried.len());
            carried = results;
            stacked.resize(own.len(), Vec::new());
            for (all, own) in stacked.iter_mut().zip(own) {
                all.push(own);
            }
        }
        for row in stacked.iter().flatten() {
            self.written.spend(1 + self.written.rank(*row))?;
        }
        let stacked: Vec<usize> = (stacked.iter())
            .filter_map(|rows| self.stack(node, rows))
            .collect();
        Ok(Some(carried.into_iter().chain(stacked).map(Some).collect()))
    }

    /// A row of a tensor, without its first dimension.
    fn row(&mut self, node: &'a Node, tensor: usize, index: usize) -> Option<usize> {
        let known = self.written.tensors.get(tensor)?;
        let shape = self.written.params.list(known.shape.as_deref()?.get(1..)?);
        let at = i64::try_from(index).ok()?;
        let ops = statements(&rows::row("y", &known.name, (at, 0), &shape)?)?;
        Some(self.write(node, ops, "row", true, None))
    }

    /// Tensors of one shape along a new first dimension.
    fn stack(&mut self, node: &'a Node, rows: &[usize]) -> Option<usize> {
        let known: Vec<_> = (rows.iter())
            .filter_map(|&row| self.written.tensors.get(row))
            .collect();
        let first = known.first()?;
        let shape = [&[Size::from(1)], first.shape.as_deref()?].concat();
        let one = format!(
            "{}{}",
            first.dtype?.name(),
            self.written.params.list(&shape)
        );
        let rows: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
        let ops = statements(&rows::stacked("y", &rows, &one))?;
        Some(self.write(node, ops, "stacked", true, None))
    }
}
