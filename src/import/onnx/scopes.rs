//! Graphs and functions whose nodes become part of the program: the model's graph, the branch of a
//! condition, and the functions that a file defines.

use crate::Problem;
use crate::constant::Scalar;
use crate::onnx::import::{Import, Scope, tensor_type, version_of};
use crate::onnx::nodes::{ordered, reads};
use crate::onnx::operators;
use crate::onnx::proto::{Attribute, Graph, LocalFunction, Node, ValueInfo};
use std::collections::HashMap;

/// Functions by domain, name and overload.
pub(super) type Functions<'a> = HashMap<(&'a str, &'a str, &'a str), &'a LocalFunction>;

/// How deeply functions may call each other.
const MAX_CALLS: usize = 32;

/// What each node of a called function counts against the limit of a file, because few bytes can
/// call many nodes.
const CALLED_NODE: usize = 32;

/// The functions of a file by what calls them.
pub(super) fn by_name(functions: &[LocalFunction]) -> Functions<'_> {
    let own = functions.iter();
    own.map(|own| {
        let called = (
            own.domain.as_str(),
            own.name.as_str(),
            own.overload.as_str(),
        );
        (called, own)
    })
    .collect()
}

impl<'a> Import<'a> {
    /// The attributes of a node by name, with the values that a call of the function gives them.
    pub(super) fn attributes(&self, node: &'a Node) -> Vec<(&'a str, &'a Attribute)> {
        let own = node.attributes.iter();
        own.filter_map(|own| {
            let value = match own.reference.as_str() {
                "" => own,
                reference => *self.scope.arguments.get(reference)?,
            };
            Some((own.name.as_str(), value))
        })
        .collect()
    }

    /// Inlines a function that the file defines; `false` where the node calls none.
    pub(super) fn called(&mut self, node: &'a Node) -> Result<bool, Problem> {
        let called = (
            node.domain.as_str(),
            node.operator.as_str(),
            node.overload.as_str(),
        );
        let Some(&function) = self.functions.get(&called) else {
            return Ok(false);
        };
        if self.depth == MAX_CALLS {
            return Err(Problem::new(format!(
                "its functions call each other more than {MAX_CALLS} levels deep, the limit"
            )));
        }
        self.written
            .spend(function.nodes.len().saturating_mul(CALLED_NODE))?;
        let mut inside = Scope {
            version: version_of(&function.operator_sets),
            ..Scope::default()
        };
        let defaults = function.attributes.iter();
        inside
            .arguments
            .extend(defaults.map(|default| (default.name.as_str(), default)));
        inside.arguments.extend(self.attributes(node));
        for (formal, actual) in function.inputs.iter().zip(&node.inputs) {
            if let Some(&index) = self.scope.by_file_name.get(actual.as_str()) {
                inside.by_file_name.insert(formal, index);
            }
            if let Some(&number) = self.scope.element_types.get(actual.as_str()) {
                inside.element_types.insert(formal, number);
            }
        }
        for (formal, actual) in function.outputs.iter().zip(&node.outputs) {
            if let Some(&stated) = self.scope.stated.get(actual.as_str()) {
                inside.stated.insert(formal, stated);
            }
        }
        let outside = std::mem::replace(&mut self.scope, inside);
        self.depth += 1;
        let outputs = || function.outputs.iter().map(String::as_str);
        self.nodes(&function.nodes, &function.values, outputs())?;
        self.depth -= 1;
        let inside = std::mem::replace(&mut self.scope, outside);
        for (formal, actual) in outputs().zip(&node.outputs) {
            if let Some(&index) = inside.by_file_name.get(formal) {
                self.scope.by_file_name.insert(actual, index);
            }
            if let Some(&number) = inside.element_types.get(formal) {
                self.scope.element_types.insert(actual, number);
            }
        }
        Ok(true)
    }

    /// Inlines the branch of a condition; `false` where the node has none.
    pub(super) fn inlined(&mut self, node: &'a Node) -> Result<bool, Problem> {
        let is_own = operators::DOMAINS.contains(&node.domain.as_str());
        let condition = node
            .inputs
            .first()
            .filter(|_| is_own && node.operator == "If");
        let Some(condition) = condition else {
            return Ok(false);
        };
        let index = self.scope.by_file_name.get(condition.as_str());
        let known = index.and_then(|&index| self.written.tensors.get(index));
        let value = known.and_then(|known| known.value.as_ref()?.only());
        let holds = match value {
            Some(Scalar::Int(size)) => size
                .value(&self.written.params.values)
                .map(|value| value != 0),
            Some(Scalar::Float(number)) => Some(*number != 0.0),
            None => None,
        };
        let name = if holds.unwrap_or(true) {
            "then_branch"
        } else {
            "else_branch"
        };
        let branch = node
            .attributes
            .iter()
            .find(|attribute| attribute.name == name);
        let Some(graph) = branch.and_then(|branch| branch.graph.as_ref()) else {
            return Ok(false);
        };
        self.enter(graph)?;
        let mut indices = Vec::new();
        for (output, inner) in node.outputs.iter().zip(&graph.outputs) {
            if let Some(&index) = self.scope.by_file_name.get(inner.name.as_str()) {
                self.scope.by_file_name.insert(output, index);
                indices.push(index);
            }
        }
        if holds.is_none() {
            self.assumed.push(indices);
        }
        Ok(true)
    }

    /// Imports the weights and nodes of a graph. The parser of the file limits how deeply graphs
    /// nest.
    pub(super) fn enter(&mut self, graph: &'a Graph) -> Result<(), Problem> {
        self.weights(graph)?;
        self.inside(graph)
    }

    /// Imports the nodes of a graph whose weights are known.
    pub(super) fn inside(&mut self, graph: &'a Graph) -> Result<(), Problem> {
        let infos = graph.values.iter().chain(&graph.outputs);
        let stated = infos.filter_map(|info| Some((info.name.as_str(), tensor_type(info)?)));
        // Other graphs may use the same names inside for other tensors.
        let outside: Vec<_> = stated
            .map(|(name, stated)| (name, self.scope.stated.insert(name, stated)))
            .collect();
        let outputs = graph.outputs.iter().map(|output| output.name.as_str());
        self.nodes(&graph.nodes, &[], outputs)?;
        for (name, stated) in outside.into_iter().rev() {
            match stated {
                Some(stated) => self.scope.stated.insert(name, stated),
                None => self.scope.stated.remove(name),
            };
        }
        Ok(())
    }

    fn nodes(
        &mut self,
        nodes: &'a [Node],
        values: &'a [ValueInfo],
        outputs: impl Iterator<Item = &'a str>,
    ) -> Result<(), Problem> {
        let stated = values.iter();
        let stated = stated.filter_map(|info| Some((info.name.as_str(), tensor_type(info)?)));
        self.scope.stated.extend(stated);
        // An empty name stands for an input or an output that is left out.
        let read = nodes.iter().flat_map(reads).chain(outputs);
        let read = read.filter(|name| !name.is_empty());
        self.scope.is_read.extend(read);
        for index in ordered(nodes)? {
            if let Some(node) = nodes.get(index) {
                self.node(node)?;
            }
        }
        Ok(())
    }
}
