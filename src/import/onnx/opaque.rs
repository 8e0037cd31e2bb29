//! Nodes that the table of operators has no answer for.

use crate::onnx::import::Import;
use crate::onnx::operators;
use crate::onnx::proto::Node;
use crate::params::identifier;
use crate::statement::{Dims, packed, statements};
use crate::writer::Known;
use fuseline_core::notation::written_name;
use std::collections::HashSet;

/// An output of a node that the table has no answer for.
pub(super) struct Output<'a> {
    pub(super) file_name: &'a str,
    pub(super) known: Known,
    /// FLOPs of the node, as the notation writes them.
    pub(super) flops: Option<String>,
    /// What the file states.
    pub(super) dims: Option<Dims>,
}

impl<'a> Import<'a> {
    /// Writes the outputs of a node that the table has no answer for. They are one op, of whose bytes each is a part.
    pub(super) fn opaque(&mut self, node: &Node, reads: &[&str], outputs: Vec<Output<'a>>) {
        let mut seen = HashSet::new();
        let places = reads
            .iter()
            .filter_map(|&input| self.by_file_name.get(input));
        let places = places.filter(|place| seen.insert(**place));
        let known = places.filter_map(|&place| self.written.tensors.get(place));
        let large = known.filter(|known| known.value.is_none());
        let mut arguments: Vec<String> = large.map(|known| known.name.clone()).collect();
        let is_known = operators::DOMAINS.contains(&node.domain.as_str());
        let operator = if is_known {
            node.operator.clone()
        } else {
            format!("{}.{}", node.domain, node.operator)
        };
        let name = identifier(&operator);
        arguments.push(format!("name={}", written_name(&name)));
        let flops = outputs.iter().find_map(|output| output.flops.as_ref());
        arguments.extend(flops.map(|flops| format!("flops={flops}")));
        let call = format!("opaque({})", arguments.join(", "));
        let mut title = title_of(node);
        let (known, unknown): (Vec<_>, Vec<_>) =
            (outputs.into_iter()).partition(|output| output.known.shape.is_some());
        let mut sources = vec![call.clone(); known.len()];
        let parts: Vec<&Known> = known.iter().map(|output| &output.known).collect();
        if let Some(packed) = packed(&parts, &self.written.params) {
            let name = self.written.names.claim(&format!("{}_all", node.operator));
            let text = format!("{name} = {call} : {packed}");
            let ops = statements(&text).unwrap_or_default();
            self.written.write(
                ops,
                &name,
                std::mem::take(&mut title),
                None,
                Some(&operator),
            );
            sources.fill(format!("rearrange({name})"));
        }
        let is_packed = known.len() > 1;
        for (output, source) in known
            .into_iter()
            .chain(unknown)
            .zip(sources.into_iter().chain(std::iter::repeat(call)))
        {
            let name = &output.known.name;
            let annotation = output.known.shape.as_ref().map(|shape| {
                let dtype = output.known.dtype.map_or("f32", |dtype| dtype.name());
                format!(" : {dtype}{}", self.written.params.list(shape))
            });
            let is_part = is_packed && annotation.is_some();
            let text = format!("{name} = {source}{}", annotation.unwrap_or_default());
            let ops = statements(&text).unwrap_or_default();
            let opaque = (!is_part).then_some(&operator);
            let stated = output.dims.as_ref().map(|dims| (dims, output.known.dtype));
            let place = self.written.write(ops, name, title, stated, opaque);
            if let Some(place) = place {
                self.by_file_name.insert(output.file_name, place);
            }
        }
    }
}

/// The wish for a label.
pub(super) fn title_of(node: &Node) -> &str {
    node.name.strip_prefix("node_").unwrap_or(&node.name)
}
