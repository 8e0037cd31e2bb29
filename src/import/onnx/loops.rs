//! Loops: a known number of iterations is written out, each of which reads the results of the
//! previous one; of any other loop one iteration counts.

use crate::Problem;
use crate::constant::{Constant, Scalar};
use crate::onnx::import::Import;
use crate::onnx::operators;
use crate::onnx::proto::{Graph, Node};
use crate::rows;
use crate::shapes::dimension;
use crate::size::Size;
use crate::statement::statements;
use crate::writer::Known;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::op::TensorRole;
use std::ops::Range;

/// Most nodes of all iterations of all loops that are written out.
const MAX_WRITTEN: usize = 20_000;

/// An iteration of a loop that is written out.
pub(super) struct Iteration {
    /// The first output of the loop, and the number of the iteration.
    pub(super) path: String,
    /// The tensors of its ops, by index.
    pub(super) tensors: Range<usize>,
}

/// What a loop reads and gives.
struct Loop<'a> {
    body: &'a Graph,
    /// Tensors that the first iteration reads as its state.
    states: Vec<usize>,
    /// Tensors of which each iteration reads one row along an axis.
    rows: Vec<(usize, usize)>,
    /// Inputs of the body before its states: the number of the iteration and a condition.
    counters: usize,
    /// `None` where only a run gives it.
    count: Option<i64>,
}

/// Whether no run ends a loop before its last iteration: its body gives the condition that it
/// reads, or a constant.
fn keeps_condition(body: &Graph) -> bool {
    let (Some(given), Some(read)) = (body.outputs.first(), body.inputs.get(1)) else {
        return false;
    };
    let mut nodes = body.nodes.iter();
    let writer = nodes.find(|node| node.outputs.contains(&given.name));
    match writer {
        None => true,
        Some(node) => match node.operator.as_str() {
            "Constant" => true,
            "Identity" => node.inputs.first() == Some(&read.name),
            _ => false,
        },
    }
}

impl<'a> Import<'a> {
    /// Writes the iterations of a loop; `false` for a node that is none, or one of a form that is
    /// not known.
    pub(super) fn looped(&mut self, node: &'a Node) -> Result<bool, Problem> {
        let is_own = operators::DOMAINS.contains(&node.domain.as_str());
        let Some(own) = self.loop_of(node).filter(|_| is_own) else {
            return Ok(false);
        };
        let Loop { body, counters, .. } = own;
        let inputs = counters + own.states.len() + own.rows.len();
        let results = own.states.len() + usize::from(counters > 0);
        if body.inputs.len() != inputs || body.outputs.len() < results {
            return Ok(false);
        }
        let known = own.count.filter(|&count| count > 0);
        let nodes = known.and_then(|count| {
            let each = body.nodes.len() + own.rows.len() + 1;
            each.checked_mul(usize::try_from(count).ok()?)
        });
        let written = nodes.and_then(|nodes| self.written_nodes.checked_add(nodes));
        let written = written.filter(|&written| written <= MAX_WRITTEN);
        let known = known.filter(|_| written.is_some());
        self.written_nodes = written.unwrap_or(self.written_nodes);
        // A loop inside another one is written out for each of its iterations.
        let mut weights = body.initializers.iter();
        if weights.all(|weight| !self.scope.by_file_name.contains_key(weight.name.as_str())) {
            self.weights(body)?;
        }
        let mut states = own.states.clone();
        let mut stacked: Vec<Vec<usize>> = vec![Vec::new(); body.outputs.len() - results];
        for iteration in 0..known.unwrap_or(1) {
            let first = self.written.tensors.len();
            let given = self.given(node, &own, &states, iteration)?;
            if given.len() != inputs {
                return Ok(false);
            }
            for (formal, index) in body.inputs.iter().zip(given) {
                self.scope.by_file_name.insert(&formal.name, index);
            }
            self.inside(body)?;
            let outputs = body.outputs.iter().skip(usize::from(counters > 0));
            let found = |name: &str| self.scope.by_file_name.get(name).copied();
            let found: Option<Vec<usize>> = outputs.map(|output| found(&output.name)).collect();
            let Some(mut found) = found else {
                return Ok(false);
            };
            let rows = found.split_off(states.len());
            states = found;
            for (all, row) in stacked.iter_mut().zip(rows) {
                all.push(row);
            }
            let name = node.outputs.first().map_or("", String::as_str);
            self.iterations.push(Iteration {
                path: format!("{name}.{iteration}"),
                tensors: first..self.written.tensors.len(),
            });
        }
        let mut results = states;
        for rows in &stacked {
            self.written.spend(rows.len().saturating_mul(8))?;
            let Some(index) = self.stack(node, rows) else {
                return Ok(false);
            };
            results.push(index);
        }
        for (output, &index) in node.outputs.iter().zip(&results) {
            self.scope.by_file_name.insert(output, index);
        }
        if known.is_none() {
            self.written.open_loop(&node.operator, &results);
        }
        Ok(true)
    }

    fn loop_of(&self, node: &'a Node) -> Option<Loop<'a>> {
        let graph = |name: &str| {
            let mut attributes = node.attributes.iter();
            attributes.find(|own| own.name == name)?.graph.as_ref()
        };
        let index = |name: &String| self.scope.by_file_name.get(name.as_str()).copied();
        match node.operator.as_str() {
            "Loop" => {
                let [count, condition, states @ ..] = node.inputs.as_slice() else {
                    return None;
                };
                let body = graph("body")?;
                let begins = condition.is_empty() || self.number(condition) == Some(1);
                let is_endless = begins && keeps_condition(body);
                let count = self.number(count).filter(|_| is_endless);
                Some(Loop {
                    body,
                    states: states.iter().map(index).collect::<Option<_>>()?,
                    rows: Vec::new(),
                    counters: 2,
                    count: count.or_else(|| self.stated_rows(node.outputs.get(states.len()..)?)),
                })
            }
            // The first version had batches of its own.
            "Scan" if self.scope.version >= 9 => {
                let mut attributes = node.attributes.iter();
                let count = attributes.find(|own| own.name == "num_scan_inputs")?.int?;
                let count = usize::try_from(count).ok()?;
                let (states, rows) =
                    (node.inputs).split_at_checked(node.inputs.len().checked_sub(count)?)?;
                let mut attributes = node.attributes.iter();
                let named = attributes.find(|own| own.name == "scan_input_axes");
                let axis_of =
                    |at: usize| named.and_then(|own| own.ints.get(at)).copied().unwrap_or(0);
                let rows = rows.iter().enumerate().map(|(at, name)| {
                    let own = index(name)?;
                    let rank = self.written.rank(own);
                    Some((own, dimension(axis_of(at), rank)?))
                });
                let rows: Vec<(usize, usize)> = rows.collect::<Option<_>>()?;
                let length = |&(own, axis): &(usize, usize)| {
                    let shape = self.written.tensors.get(own)?.shape.as_ref()?;
                    let size = shape.get(axis)?;
                    size.as_int().filter(|_| !size.is_sampled())
                };
                Some(Loop {
                    body: graph("body")?,
                    states: states.iter().map(index).collect::<Option<_>>()?,
                    count: rows.first().and_then(length),
                    rows,
                    counters: 0,
                })
            }
            _ => None,
        }
    }

    /// How many rows the file states for the first of these outputs.
    fn stated_rows(&self, outputs: &[String]) -> Option<i64> {
        let stated = self.scope.stated.get(outputs.first()?.as_str())?;
        stated.shape.as_ref()?.dims.first()?.value
    }

    /// The one number of a tensor, where it is known and no param is in it.
    fn number(&self, name: &str) -> Option<i64> {
        let index = self.scope.by_file_name.get(name)?;
        match self.written.tensors.get(*index)?.value.as_ref()?.only()? {
            Scalar::Int(size) => size.as_int(),
            Scalar::Float(_) => None,
        }
    }

    /// What the body reads in an iteration, in the order of its inputs.
    fn given(
        &mut self,
        node: &'a Node,
        own: &Loop<'a>,
        states: &[usize],
        iteration: i64,
    ) -> Result<Vec<usize>, Problem> {
        let mut given = Vec::new();
        for (value, dtype) in [(iteration, DType::I64), (1, DType::Bool)] {
            if given.len() < own.counters {
                let known = Known {
                    name: self.written.names.claim("iteration"),
                    dtype: Some(dtype),
                    shape: Some(Vec::new()),
                    value: Some(Constant::scalar(Scalar::Int(Size::from(value)))),
                    ..Known::default()
                };
                let index = self.written.tensor(known);
                self.written.external.push((index, TensorRole::Weight));
                given.push(index);
            }
        }
        given.extend(states);
        for &(tensor, axis) in &own.rows {
            self.written.spend(1 + self.written.rank(tensor))?;
            given.extend(self.row(node, (tensor, axis), iteration));
        }
        Ok(given)
    }

    /// A row of a tensor, without the dimension along which rows follow each other.
    fn row(&mut self, node: &Node, (tensor, axis): (usize, usize), at: i64) -> Option<usize> {
        let known = self.written.tensors.get(tensor)?;
        let mut shape = known.shape.clone()?;
        if axis >= shape.len() {
            return None;
        }
        shape.remove(axis);
        let shape = self.written.params.list(&shape);
        let name = known.name.clone();
        let row = self.written.names.claim(&format!("{name}_row"));
        let ops = statements(&rows::row(&row, &name, (at, axis), &shape)?)?;
        self.written.write(ops, &row, &node.name, None)
    }

    /// Tensors of one shape along a new first dimension.
    fn stack(&mut self, node: &Node, rows: &[usize]) -> Option<usize> {
        let known = rows.iter().map(|&row| self.written.tensors.get(row));
        let known: Vec<&Known> = known.collect::<Option<_>>()?;
        let first = known.first()?;
        let shape = [&[Size::from(1)], first.shape.as_deref()?].concat();
        let one = format!(
            "{}{}",
            first.dtype?.name(),
            self.written.params.list(&shape)
        );
        let name = format!("{}_stacked", first.name);
        let rows: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
        let ops = statements(&rows::stacked(&name, &rows, &one))?;
        let name = self.written.names.claim(&name);
        self.written.write(ops, &name, &node.name, None)
    }
}
