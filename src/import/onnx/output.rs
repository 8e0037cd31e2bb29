//! Writes the outputs of a node.

use crate::Problem;
use crate::constant::Constant;
use crate::onnx::call::{Call, Tensors};
use crate::onnx::constants::constant;
use crate::onnx::import::{Import, rank_of};
use crate::onnx::lines::text_of;
use crate::onnx::operators;
use crate::onnx::proto::{Node, element_type};
use crate::onnx::results;
use crate::opaque::{Operator, Part};
use crate::size::Size;
use crate::statement::{Dims, statements};
use crate::writer::Known;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::op::TensorRole;
use std::cell::Cell;

impl<'a> Import<'a> {
    /// Writes the outputs of a node that the table has no answer for.
    pub(super) fn opaque(&mut self, node: &Node, reads: &[&str], outputs: Vec<(&'a str, Part)>) {
        let (names, parts): (Vec<&str>, Vec<Part>) = outputs.into_iter().unzip();
        if parts.is_empty() {
            return;
        }
        let name = if operators::DOMAINS.contains(&node.domain.as_str()) {
            node.operator.clone()
        } else {
            format!("{}.{}", node.domain, node.operator)
        };
        let indices = reads
            .iter()
            .filter_map(|&input| self.by_file_name.get(input));
        let operator = Operator {
            name: &name,
            reads: &indices.copied().collect::<Vec<_>>(),
            title: title_of(node),
            packed: &format!("{}_all", node.operator),
        };
        let indices = self.written.opaque(&operator, &parts);
        let written = names.into_iter().zip(indices);
        self.by_file_name
            .extend(written.filter_map(|(name, index)| Some((name, index?))));
    }

    /// Writes one output of a node, or finds the tensor that it is; gives it back where the table
    /// has no answer.
    pub(super) fn output(
        &mut self,
        node: &'a Node,
        index: usize,
        output: &'a str,
    ) -> Result<Option<(&'a str, Part)>, Problem> {
        let stated = self.stated.get(output).copied();
        self.written.spend(rank_of(stated))?;
        let held = node.attributes.iter().find_map(|own| own.tensor.as_ref());
        let numbers = [
            stated.map(|stated| stated.element_type),
            held.filter(|_| node.operator == "Constant")
                .map(|held| held.data_type),
            (node.inputs.first().filter(|_| node.operator == "Identity"))
                .and_then(|input| self.element_types.get(input.as_str()).copied()),
        ];
        let number = numbers.into_iter().flatten().next();
        self.element_types
            .extend(number.map(|number| (output, number)));
        let (dims, dtype) = self.stated(output);
        let name = self.written.names.claim(output);
        let shape = dims.clone().and_then(|dims| dims.into_iter().collect());
        let tensors = Tensors {
            known: &self.written.tensors,
            by_file_name: &self.by_file_name,
            element_types: &self.element_types,
        };
        let call = Call {
            node,
            inputs: node.inputs.iter().map(|input| tensors.get(input)).collect(),
            output: Known {
                name: name.clone(),
                dtype,
                shape,
                ..Known::default()
            },
            output_index: index,
            tensors,
            params: &self.written.params,
            version: self.version,
            is_fixed: Cell::new(false),
        };
        if index == 0
            && let Some(known) = constant(&call)
        {
            let weight = known.value.as_ref().map_or(0, Constant::weight);
            let rank = known.shape.as_ref().map_or(0, Vec::len);
            self.written.spend(weight + rank)?;
            let tensor = self.written.tensor(known);
            self.by_file_name.insert(output, tensor);
            self.written.external.push((tensor, TensorRole::Weight));
            return Ok(None);
        }
        let text = text_of(&call, &name);
        let first = node.inputs.first();
        if text.as_deref() == Some("")
            && let Some(&same) = first.and_then(|input| self.by_file_name.get(input.as_str()))
        {
            self.by_file_name.insert(output, same);
            return Ok(None);
        }
        let Some(ops) = text.and_then(|text| statements(&text)) else {
            // Sizes that only the refused text used do not make the output fixed.
            call.is_fixed.set(false);
            let shape = call.output.shape.clone().or_else(|| results::shape(&call));
            let known = Known {
                dtype: dtype
                    .or_else(|| results::dtype(&call))
                    .or(Some(call.dtype())),
                shape,
                is_fixed: call.is_fixed.get(),
                ..call.output.clone()
            };
            let flops = results::flops(&call).map(|flops| call.one(&flops));
            return Ok(Some((output, Part { known, dims, flops })));
        };
        let is_fixed = call.is_fixed.get();
        let stated = dims.as_ref().map(|dims| (dims, dtype));
        let tensor = self.written.write(ops, &name, title_of(node), stated);
        if let Some(tensor) = tensor {
            self.by_file_name.insert(output, tensor);
        }
        if let Some(known) = tensor.and_then(|tensor| self.written.tensors.get_mut(tensor)) {
            known.is_fixed = is_fixed;
        }
        Ok(None)
    }

    /// The sizes that the file states for a tensor, and its element type.
    fn stated(&mut self, name: &str) -> (Option<Dims>, Option<DType>) {
        let Some(stated) = self.stated.get(name).copied() else {
            return (None, None);
        };
        let dims = stated.shape.as_ref().map(|shape| {
            let sizes = shape.dims.iter();
            sizes
                .map(|dim| match (dim.value, &dim.param) {
                    (Some(value), _) => Some(Size::from(value)),
                    (None, Some(text)) => {
                        self.written
                            .params
                            .read(text, None, &mut self.written.names)
                    }
                    (None, None) => None,
                })
                .collect()
        });
        (dims, element_type(stated.element_type))
    }
}

/// The preferred label of a node.
fn title_of(node: &Node) -> &str {
    node.name.strip_prefix("node_").unwrap_or(&node.name)
}
