//! Writes the outputs of a node.

use crate::Problem;
use crate::constant::Constant;
use crate::onnx::agree::{Agreements, agreements};
use crate::onnx::call::{Call, Tensors};
use crate::onnx::constants::constant;
use crate::onnx::import::{Import, rank_of};
use crate::onnx::lines::text_of;
use crate::onnx::open_sizes::{Extent, empty_shape, extents};
use crate::onnx::operators;
use crate::onnx::proto::{Node, element_type};
use crate::onnx::results;
use crate::onnx::types;
use crate::onnx::work;
use crate::opaque::{Operator, Part};
use crate::shapes::Sizes;
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
            .filter_map(|&input| self.scope.by_file_name.get(input));
        let operator = Operator {
            name: &name,
            reads: &indices.copied().collect::<Vec<_>>(),
            title: title_of(node),
            packed: &format!("{}_all", node.operator),
        };
        let indices = self.written.opaque(&operator, &parts);
        let written = names.into_iter().zip(indices);
        self.scope
            .by_file_name
            .extend(written.filter_map(|(name, index)| Some((name, index?))));
    }

    /// Writes one output of a node, or finds the tensor that it is; gives it back where the table
    /// has no answer, or where the node is opaque because of another output. The first output says
    /// how the sizes of the inputs fit together.
    pub(super) fn output(
        &mut self,
        node: &'a Node,
        index: usize,
        output: &'a str,
        [is_opaque, is_first]: [bool; 2],
    ) -> Result<Option<(&'a str, Part)>, Problem> {
        let is_known = self.scope.by_file_name.contains_key(output);
        if node.operator == "Constant" && is_known {
            // Each iteration of a loop reads the same tensor.
            return Ok(None);
        }
        let stated = self.scope.stated.get(output).copied();
        self.written.spend(rank_of(stated))?;
        let held = self.attributes(node);
        let held = held.iter().find_map(|(_, own)| own.tensor.as_ref());
        let numbers = [
            stated.map(|stated| stated.element_type),
            held.filter(|_| node.operator == "Constant")
                .map(|held| held.data_type),
            (node.inputs.first().filter(|_| node.operator == "Identity"))
                .and_then(|input| self.scope.element_types.get(input.as_str()).copied()),
        ];
        let number = numbers.into_iter().flatten().next();
        self.scope
            .element_types
            .extend(number.map(|number| (output, number)));
        let (dims, dtype) = self.stated(output);
        let name = self.written.names.claim(output);
        let shape = dims.clone().and_then(|dims| dims.into_iter().collect());
        let tensors = Tensors {
            known: &self.written.tensors,
            by_file_name: &self.scope.by_file_name,
            element_types: &self.scope.element_types,
        };
        let call = Call {
            node,
            attributes: self.attributes(node),
            inputs: node.inputs.iter().map(|input| tensors.get(input)).collect(),
            output: Known {
                name: name.clone(),
                dtype,
                shape,
                ..Known::default()
            },
            output_index: index,
            tensors,
            read: &self.scope.is_read,
            params: &self.written.params,
            version: self.scope.version,
            is_fixed: Cell::new(false),
        };
        if index == 0
            && let Some(known) = constant(&call)
        {
            let weight = known.value.as_ref().map_or(0, Constant::weight);
            let rank = known.shape.as_ref().map_or(0, Vec::len);
            self.written.spend(weight + rank)?;
            let tensor = self.written.tensor(known);
            self.scope.by_file_name.insert(output, tensor);
            self.written.external.push((tensor, TensorRole::Weight));
            return Ok(None);
        }
        let computed = results::output_shape(&call);
        if let Some(shape) = empty_shape(&call, computed) {
            let known = Known {
                value: Some(Constant::empty(&shape)),
                shape: Some(shape),
                ..call.output.clone()
            };
            let tensor = self.written.tensor(known);
            self.scope.by_file_name.insert(output, tensor);
            return Ok(None);
        }
        let agreements = if is_first {
            agreements(&call)
        } else {
            Agreements::default()
        };
        self.fit.add(agreements, &self.written.params);
        let text = text_of(&call, &name).filter(|_| !is_opaque);
        if text.as_deref() == Some("")
            && let Some(same) = node.inputs.get(call.same())
            && let Some(&same) = self.scope.by_file_name.get(same.as_str())
        {
            self.scope.by_file_name.insert(output, same);
            return Ok(None);
        }
        let Some(ops) = text.and_then(|text| statements(&text)) else {
            // Sizes that only the refused text used do not make the output fixed.
            call.is_fixed.set(false);
            let shape = results::output_shape(&call);
            let mut known = Known {
                dtype: dtype.or_else(|| types::dtype(&call)).or(Some(call.dtype())),
                shape,
                is_fixed: call.is_fixed.get(),
                ..call.output.clone()
            };
            let mut sizes = known.shape.iter().flatten();
            known.is_fixed |= sizes.any(Size::is_sampled);
            let flops = work::flops(&call);
            if known.shape.is_none() {
                let extents = extents(&call, dims.as_ref());
                known.shape = extents.map(|extents| self.opened(&name, extents));
            }
            return Ok(Some((output, Part { known, dims, flops })));
        };
        let is_fixed = call.is_fixed.get();
        let stated = dims.as_ref().map(|dims| (dims, dtype));
        let tensor = self.written.write(ops, &name, title_of(node), stated);
        if let Some(tensor) = tensor {
            self.scope.by_file_name.insert(output, tensor);
        }
        if let Some(known) = tensor.and_then(|tensor| self.written.tensors.get_mut(tensor)) {
            known.is_fixed = is_fixed;
        }
        Ok(None)
    }

    /// The shape of a tensor, with a param for each size that a run gives.
    fn opened(&mut self, name: &str, extents: Vec<Extent>) -> Sizes {
        let rank = extents.len();
        let sizes = extents.into_iter().enumerate();
        let size = |(dim, extent): (usize, Extent)| match extent {
            Extent::Is(size) => size,
            Extent::Open(most) => {
                let text = format!("{name}_{dim}");
                let (params, names) = (&mut self.written.params, &mut self.written.names);
                match most.filter(|&most| most > 0) {
                    Some(most) => Size::param(params.add(names.claim(&text), most, (1, most, 1))),
                    None => params.declare(&text, (dim, rank), names),
                }
            }
        };
        sizes.map(size).collect()
    }

    /// The sizes that the file states for a tensor, and its element type.
    fn stated(&mut self, name: &str) -> (Option<Dims>, Option<DType>) {
        let Some(stated) = self.scope.stated.get(name).copied() else {
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
