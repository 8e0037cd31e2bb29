//! Nodes that the table of operators has no answer for.

use crate::pt2::import::{Frame, Import};
use crate::pt2::schema::Node;
use crate::statement::{packed, statements};
use crate::writer::Known;

/// An output of a node that the table has no answer for.
pub(super) struct Part<'a> {
    pub(super) output: &'a str,
    /// The call of an op that reads all that the node reads.
    pub(super) call: String,
    pub(super) known: Known,
    /// Its type.
    pub(super) stated: String,
}

impl<'a> Import<'a> {
    /// Writes the outputs that the table has no answer for. They are one op, of whose bytes each is a part.
    pub(super) fn opaque(&mut self, node: &'a Node, parts: Vec<Part<'a>>, frame: &mut Frame<'a>) {
        let Some(first) = parts.first() else { return };
        let operator = node.operator().to_owned();
        let (mut source, mut opaque) = (first.call.clone(), Some(operator));
        let known: Vec<&Known> = parts.iter().map(|part| &part.known).collect();
        if let Some(packed) = packed(&known, &self.written.params) {
            let ops = statements(&format!("y = {source} : {packed}")).unwrap_or_default();
            let name = format!("{}_all", first.output);
            let place = self.write(node, ops, &name, true, opaque.as_ref());
            let name = self
                .written
                .tensors
                .get(place)
                .map_or("", |all| all.name.as_str());
            (source, opaque) = (format!("rearrange({name})"), None);
        }
        for part in parts {
            let ops = statements(&format!("y = {source} : {}", part.stated));
            let place = self.write(
                node,
                ops.unwrap_or_default(),
                part.output,
                true,
                opaque.as_ref(),
            );
            frame.tensors.insert(part.output, place);
        }
    }
}
