//! The ops that follow a matmul, and whether they can run on the tile that a block has just
//! computed.
//!
//! An op whose results each need one element of the matmul runs on any tile. One that needs several
//! elements of a row (softmax, a norm, another matmul) needs all of them in one tile. Beyond that
//! the kernel must be legal; a test holds that legality never allows what a tile refuses.

use super::{BlockTile, TiledMatmul};
use crate::analysis::Analysis;
use crate::cost::work::matmul_k;
use crate::fusion::legality;
use crate::fusion::reason::Reason;
use crate::fusion::rows::RowDomain;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};
use crate::model::op_type::OpType;
use std::collections::VecDeque;

/// Most followers that are checked.
const MOST_FOLLOWERS: usize = 16;

/// An op that reads what a matmul computes, at once or through ops that run on its tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Follower {
    /// Which op follows the matmul.
    pub op: OpId,
    /// The elements that it needs at once.
    pub needs: Needs,
    /// Whether the tile has it.
    pub fits: bool,
    /// Why it may not be in the matmul's kernel all the same.
    pub refusal: Option<Reason>,
    /// Whether the chosen policy has it in the matmul's kernel.
    pub is_in_kernel: bool,
}

impl Follower {
    /// Whether it may run on the tile.
    pub const fn joins(&self) -> bool {
        self.fits && self.refusal.is_none()
    }
}

/// The elements of the matmul that an op needs for one of its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// One: the same place of each tile.
    Element,
    /// One, which it puts to another place.
    Moved,
    /// So many neighbours.
    Block {
        /// Down a column of the tile.
        rows: u64,
        /// Along a row of the tile.
        columns: u64,
    },
    /// Some that are no neighbours in the output.
    Scattered,
}

impl Needs {
    /// Whether a tile of this matmul has all of them, for every result that it has some of.
    fn fit(self, matmul: &TiledMatmul, tile: BlockTile) -> bool {
        // Blocks of needed elements divide the output from its corner, so a tile whose side is a
        // multiple cuts none apart.
        let whole = |needed: u64, tile: u64, size: u64| {
            needed <= 1 || tile >= size || tile.is_multiple_of(needed)
        };
        match self {
            Self::Element | Self::Moved => true,
            Self::Block { rows, columns } => {
                whole(rows, tile.rows, matmul.rows) && whole(columns, tile.columns, matmul.columns)
            }
            Self::Scattered => false,
        }
    }
}

/// The ops that follow a matmul, as far as they run on its tile, and the first ones that do not.
/// `O(followers * reads)`.
pub fn followers(analysis: &Analysis, matmul: &TiledMatmul, tile: BlockTile) -> Vec<Follower> {
    let graph = &analysis.graph;
    let kernel_of = |op: OpId| analysis.partition.kernel_of[op];
    let mut found: Vec<Follower> = Vec::new();
    let mut kernel = vec![matmul.op];
    // An op, and whether its elements are in the order of the matmul's.
    let mut open = VecDeque::from([(matmul.op, true)]);
    while let Some((before, is_in_order)) = open.pop_front() {
        for &op in &graph.successors[before] {
            if found.len() == MOST_FOLLOWERS || found.iter().any(|known| known.op == op) {
                continue;
            }
            let tensor = graph.output[before];
            let needs = needs(graph, matmul, op, tensor, is_in_order);
            // With the followers that have joined, because legality is a property of the whole
            // kernel.
            let mut ops = kernel.clone();
            ops.push(op);
            ops.sort_unstable();
            let refusal = legality::check(graph, &analysis.options, &ops).err();
            let follower = Follower {
                op,
                needs,
                fits: needs.fit(matmul, tile),
                refusal,
                is_in_kernel: kernel_of(op) == kernel_of(matmul.op),
            };
            if follower.joins() {
                kernel = ops;
                open.push_back((op, is_in_order && needs == Needs::Element));
            }
            found.push(follower);
        }
    }
    found
}

/// The elements of the matmul that an op needs. It reads them as `tensor`.
fn needs(
    graph: &Graph,
    matmul: &TiledMatmul,
    op: OpId,
    tensor: TensorId,
    is_in_order: bool,
) -> Needs {
    let definition = &graph.ops[op];
    match definition.op_type {
        // The other half of its row.
        OpType::Elementwise if definition.function == Some(Function::Rotary) => {
            reduced(matmul, RowDomain::of_op(graph, op))
        }
        OpType::Elementwise => Needs::Element,
        OpType::Reshape if definition.keeps_order() => Needs::Element,
        OpType::Reshape => Needs::Moved,
        OpType::Opaque => Needs::Scattered,
        // After a move, a row of the op need not be a row of the tile.
        OpType::Reduction | OpType::Matmul if !is_in_order => Needs::Scattered,
        OpType::Reduction => reduced(matmul, RowDomain::of_op(graph, op)),
        OpType::Matmul => contracted(graph, op, tensor).unwrap_or(Needs::Scattered),
    }
}

/// The elements of the matmul that one row of a reduction has.
fn reduced(matmul: &TiledMatmul, domain: RowDomain) -> Needs {
    let (rows, columns) = (matmul.rows, matmul.columns);
    match domain.stride {
        _ if domain.width <= 1 => Needs::Element,
        1 if columns.is_multiple_of(domain.width) => Needs::Block {
            rows: 1,
            columns: domain.width,
        },
        1 if domain.width.is_multiple_of(columns) && domain.width / columns <= rows => {
            Needs::Block {
                rows: domain.width / columns,
                columns,
            }
        }
        stride if stride == columns && domain.width <= rows => Needs::Block {
            rows: domain.width,
            columns: 1,
        },
        _ => Needs::Scattered,
    }
}

/// The elements of an operand that one result of another matmul contracts: a row of it on the left,
/// a column on the right, or the other way round where it is read transposed.
fn contracted(graph: &Graph, op: OpId, operand: TensorId) -> Option<Needs> {
    let inner = matmul_k(graph, op)?;
    let &[.., rows, columns] = graph.tensor_shape(operand)? else {
        return None;
    };
    let is_left = graph.inputs[op].first() == Some(&operand);
    let row = (columns == inner).then_some(Needs::Block {
        rows: 1,
        columns: inner,
    });
    let column = (rows == inner).then_some(Needs::Block {
        rows: inner,
        columns: 1,
    });
    // A square operand has both, and the plain layout comes first.
    if is_left {
        row.or(column)
    } else {
        column.or(row)
    }
}
