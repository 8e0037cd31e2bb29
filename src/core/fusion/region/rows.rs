//! How ops walk through their data.
#![allow(
    clippy::indexing_slicing,
    reason = "op and tensor ids are dense indices of this graph"
)]

use crate::core::graph::{Graph, OpId};
use crate::core::op::{OpType, element_count};

/// How an op walks through its data: a reduction's rows are what it makes one value of, any other op's are
/// its innermost dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowDomain {
    /// Number of rows.
    pub rows: u64,
    /// Elements of a row.
    pub width: u64,
    /// Elements between neighbours of a row: 1 along the last axis; 0 when several axes lie apart.
    pub stride: u64,
}

impl RowDomain {
    pub(in crate::core) fn of_op(graph: &Graph, op: OpId) -> Self {
        let definition = &graph.ops[op];
        if definition.op_type != OpType::Reduction {
            return Self::innermost(&definition.shape);
        }
        let input = graph.inputs[op]
            .first()
            .and_then(|&tensor| graph.tensors[tensor].shape.as_deref());
        Self::reduced(input.unwrap_or(&definition.shape), &definition.shape)
    }

    fn innermost(shape: &[u64]) -> Self {
        let width = shape.last().copied().unwrap_or(1).max(1);
        Self {
            rows: element_count(shape).unwrap_or(0) / width,
            width,
            stride: 1,
        }
    }

    /// Of a reduction, which says no axis: the dimensions that its output lacks, else the last one.
    fn reduced(input: &[u64], output: &[u64]) -> Self {
        let count = |shape: &[u64]| element_count(shape).unwrap_or(0);
        if count(input) == count(output) {
            return Self::innermost(output);
        }
        let outer = input.iter().zip(output).take_while(|(a, b)| a == b).count();
        let (input_rest, output_rest) = (&input[outer..], &output[outer..]);
        let inner = input_rest
            .iter()
            .rev()
            .zip(output_rest.iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        let kept = &output_rest[..output_rest.len() - inner];
        Self {
            rows: count(output),
            width: (count(input) / count(output).max(1)).max(1),
            stride: if count(kept) == 1 {
                count(&output_rest[output_rest.len() - inner..])
            } else {
                0
            },
        }
    }

    /// Elements of all rows together.
    pub fn full_elements(self) -> u64 {
        self.rows.saturating_mul(self.width)
    }
}
