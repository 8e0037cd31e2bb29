//! Writes the outputs of a node.

use crate::Problem;
use crate::opaque::{Operator as Unknown, Part};
use crate::pt2::becomes::Becomes;
use crate::pt2::call::Call;
use crate::pt2::complex;
use crate::pt2::import::{Frame, Import, NO_TENSOR};
use crate::pt2::lines::{becomes, text};
use crate::pt2::naming::{Origin, Stack, word_of};
use crate::pt2::products::flops;
use crate::pt2::schema::{Argument, Node, TensorMeta};
use crate::statement::statements;
use crate::writer::Known;
use fuseline_core::model::functions::Function;
use fuseline_core::model::program::OpStatement;
use std::collections::HashMap;
use std::rc::Rc;

/// The operator of a node.
pub(super) struct Operator<'a> {
    /// `add` of `torch.ops.aten.add_.Tensor`; empty where it is none of `ATen`.
    pub(super) name: &'a str,
    pub(super) overload: &'a str,
    /// The outputs of the node, `None` for one that is no tensor.
    pub(super) outputs: Vec<Option<&'a str>>,
}

/// Functions whose result has the size that is annotated.
const STATED: &[Function] = &[
    Function::Reshape,
    Function::Contiguous,
    Function::Rearrange,
    Function::Expand,
    Function::Full,
    Function::Arange,
    Function::Opaque,
];

impl<'a> Import<'a> {
    /// Writes one output of a node, or finds the tensor that it is; gives it back where the table
    /// has no answer.
    pub(super) fn output(
        &mut self,
        node: &'a Node,
        operator: &Operator<'a>,
        (index, output, meta): (usize, &'a str, &'a TensorMeta),
        frame: &mut Frame<'a>,
    ) -> Result<Option<(&'a str, Part)>, Problem> {
        self.written.spend(meta.sizes.len())?;
        let (shape, is_exact) = self.shape(meta);
        let mut call = Call {
            node,
            operator: operator.name,
            overload: operator.overload,
            graph: frame.graph,
            tensors: &frame.tensors,
            written: &self.written,
            symbols: self.symbols,
            outputs: &operator.outputs,
            needed: &frame.needed,
            is_written_slice: self.written_slices.contains(output),
            is_complex: false,
            index,
            dtype: meta.dtype(),
            shape,
            cast: HashMap::new(),
        };
        let stated = format!("{}{}", call.dtype.name(), call.list(&call.shape));
        let mut known = node
            .tensors()
            .filter_map(|name| frame.graph.tensor_values.get(name));
        call.is_complex = !meta.is_real() || known.any(|meta| !meta.is_real());
        let becomes = if call.is_complex {
            complex::becomes(&call)
        } else {
            becomes(&call)
        };
        let ops = match becomes {
            Some(Becomes::Same(index)) if call.is_known(index, false) => {
                frame.tensors.insert(output, index);
                return Ok(None);
            }
            Some(Becomes::Unchanged(index)) => {
                frame.tensors.insert(output, index);
                return Ok(None);
            }
            Some(Becomes::Reshape(index)) => {
                let source = self.written.unshaped(index);
                if call.is_known(source, true) {
                    frame.tensors.insert(output, source);
                    return Ok(None);
                }
                let source = call.known(source).map_or("", |known| &known.name);
                statements(&format!("y = reshape({source}) : {stated}"))
            }
            Some(Becomes::Same(index)) => {
                let (name, dtype) = (
                    call.known(index).map_or("", |known| &known.name),
                    call.dtype,
                );
                let dtype = dtype.name();
                statements(&format!("y = cast({name}, dtype={dtype}) : {stated}"))
            }
            Some(Becomes::Lines(cast, lines)) => {
                let text = text(cast, &lines, &mut call);
                text.and_then(|text| statements(&format!("{text} : {stated}")))
            }
            None => None,
        };
        let Some(ops) = ops else {
            let flops = flops(&call);
            let known = Known {
                dtype: Some(call.dtype),
                shape: Some(call.shape),
                is_fixed: !is_exact,
                name: self.written.names.claim(output),
                ..Known::default()
            };
            let dims = None;
            return Ok(Some((output, Part { known, dims, flops })));
        };
        let item = (operator.outputs.len() > 1).then_some(index);
        let index = self.write(node, ops, output, is_exact, item);
        frame.tensors.insert(output, index);
        Ok(None)
    }

    /// Writes the statements of an output, the `item` of several; gives the index of its tensor.
    pub(super) fn write(
        &mut self,
        node: &'a Node,
        mut ops: Vec<OpStatement>,
        output: &str,
        is_exact: bool,
        item: Option<usize>,
    ) -> usize {
        if let Some(last) = ops.last_mut()
            && !is_exact
            && last
                .function()
                .is_some_and(|function| !STATED.contains(&function))
        {
            last.annotation = None;
        }
        let name = self.written.names.claim(output);
        let before = self.written.ops.len();
        let index = self.written.write(ops, &name, "", None);
        if let Some(known) = index.and_then(|index| self.written.tensors.get_mut(index)) {
            known.is_fixed = !is_exact;
        }
        self.remember(node, before);
        if let Some(known) = index.and_then(|index| self.written.tensors.get(index))
            && let Some(origin) = self.origins.get_mut(&known.name)
        {
            origin.item = item;
        }
        index.unwrap_or(NO_TENSOR)
    }

    /// Writes the outputs of a node that the table has no answer for.
    pub(super) fn opaque(
        &mut self,
        node: &'a Node,
        outputs: Vec<(&'a str, Part)>,
        frame: &mut Frame<'a>,
    ) {
        let (names, parts): (Vec<&str>, Vec<Part>) = outputs.into_iter().unzip();
        let Some(first) = names.first() else { return };
        let indices = node.tensors().filter_map(|name| frame.tensors.get(name));
        let operator = Unknown {
            name: node.operator(),
            reads: &indices.copied().collect::<Vec<_>>(),
            title: "",
            packed: &format!("{first}_all"),
        };
        let before = self.written.ops.len();
        let indices = self.written.opaque(&operator, &parts);
        self.remember(node, before);
        let outputs: Vec<Option<&str>> = (node.outputs.iter())
            .flat_map(Argument::tensor_names)
            .collect();
        for (name, index) in names.into_iter().zip(indices) {
            frame.tensors.insert(name, index.unwrap_or(NO_TENSOR));
            let known = index.and_then(|index| self.written.tensors.get(index));
            if let Some(origin) = known.and_then(|known| self.origins.get_mut(&known.name)) {
                let item = outputs.iter().position(|output| *output == Some(name));
                origin.item = item.filter(|_| outputs.len() > 1);
            }
        }
    }

    /// Remembers that the ops from this index on come from a node.
    pub(super) fn remember(&mut self, node: &'a Node, before: usize) {
        let stack = Rc::new(Stack::of(&node.metadata));
        for (op, ..) in self.written.ops.get(before..).unwrap_or_default() {
            let origin = Origin {
                stack: Rc::clone(&stack),
                word: word_of(op),
                item: None,
            };
            self.origins.insert(op.output.text.clone(), origin);
        }
    }
}
