//! Why ops do not run as one kernel: one type for the legality, the policies and the questions of a visitor.

use super::loops::Loop;
use super::rows::RowDomain;
use crate::core::model::ids::OpId;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Why ops do not run as one kernel, with the figures that decide it.
///
/// Ops are ids of one graph; [`Reason::map_ops`] gives the same reason by names, which is what JSON shows: what kind
/// of reason it is as `reason_kind`, and as `reason_facts` an object of the fields below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(
    tag = "reason_kind",
    content = "reason_facts",
    rename_all = "snake_case"
)]
pub enum Reason<Op = OpId> {
    /// More ops than the limit.
    TooManyOps {
        /// Ops of the set.
        ops: usize,
        /// Most that are allowed.
        limit: usize,
    },
    /// A kernel runs one matmul.
    TwoMatmuls {
        /// The earlier one.
        first: Op,
        /// The later one.
        second: Op,
    },
    /// A matmul's kernel takes no reduction.
    MatmulAndReduction {
        /// The matmul.
        matmul: Op,
        /// The reduction.
        reduction: Op,
    },
    /// Without the option *prologue* a matmul starts its kernel.
    MatmulStarts {
        /// The matmul.
        matmul: Op,
        /// The last op before it.
        before: Op,
    },
    /// More reductions than the limit.
    TooManyReductions {
        /// Reductions of the set.
        reductions: usize,
        /// Most that are allowed.
        limit: usize,
    },
    /// What meets a reduction must walk through the same rows.
    RowDomains {
        /// A reduction.
        reduction: Op,
        /// Its rows.
        #[serde(flatten)]
        rows: RowDomain,
        /// An op that walks otherwise.
        other: Op,
        /// Its rows.
        #[serde(flatten, serialize_with = "serialize_other_rows")]
        other_rows: RowDomain,
    },
    /// A transpose, a copy or a concat would put elements into other rows half-way through.
    MixesRows {
        /// A reduction.
        reduction: Op,
        /// What moves the elements.
        reshape: Op,
    },
    /// A reduction ends its kernel: always by the baseline rules, else without the option *after reductions*.
    ReductionEnds {
        /// The reduction.
        reduction: Op,
        /// The first op behind it.
        after: Op,
    },
    /// What has to wait while a reduction ends does not fit on chip.
    OnChip {
        /// The reduction.
        reduction: Op,
        /// Full-width values that are there before it ends and needed behind it.
        values: usize,
        /// Bytes of one row of each.
        needed_bytes: u64,
        /// What one block may hold on the device.
        available_bytes: u64,
    },
    /// More tensors read and written than the limit.
    TooManyOperands {
        /// Tensors of the kernel.
        operands: usize,
        /// Most that are allowed.
        limit: usize,
    },
    /// No tensor ties these ops together.
    NotConnected {
        /// An op.
        first: Op,
        /// One that it does not reach inside the set.
        second: Op,
    },
    /// The kernels would need each other.
    Cycle {
        /// The ops of a path that leaves the kernel and comes back to it: the first and the last are in it.
        #[serde(rename = "through")]
        path: Vec<Op>,
    },
    /// Baseline rules: another op reads the tensor as well.
    AnotherConsumer {
        /// That op.
        consumer: Op,
    },
    /// Inductor: the kernel would have more nodes than the limit.
    TooManyNodes {
        /// Nodes of both.
        nodes: usize,
        /// Most that are allowed.
        limit: usize,
    },
    /// Inductor: one of the two is a call of a library, which nothing joins.
    LibraryCall {
        /// Its matmul.
        matmul: Op,
    },
    /// Inductor: they loop over different things.
    #[serde(serialize_with = "serialize_loops")]
    Loops {
        /// How the earlier one loops.
        first: Loop,
        /// How the later one loops.
        second: Loop,
    },
    /// Inductor: the later one reads the buffer in another order than it is written in.
    #[serde(serialize_with = "serialize_no_facts")]
    Reordered,
    /// Inductor: neither feeds the other, and they share too little or stand too far apart.
    TooLittleShared {
        /// Bytes of the buffers that both touch.
        shared_bytes: u64,
        /// Kernels from the one to the other.
        places: usize,
    },
    /// Inductor: another kernel has to run between them.
    Between {
        /// An op of it.
        through: Op,
    },
    /// Inductor: so many kernels stand between them that it does not reorder them.
    TooFar {
        /// Kernels from the one to the other.
        places: usize,
    },
    /// Inductor: it never compares their kernels.
    #[serde(serialize_with = "serialize_no_facts")]
    NotCompared,
    /// Manual: kernels need each other even after so many rounds of taking such kernels apart.
    TooManyCycles {
        /// The rounds.
        rounds: usize,
    },
    /// Manual: it is legal, but the text does not state this kernel.
    #[serde(serialize_with = "serialize_no_facts")]
    NotStated,
    /// It is legal and saves nothing.
    #[serde(serialize_with = "serialize_no_facts")]
    NotWorthIt,
    /// It is legal and would save something; the policy does not try it.
    #[serde(serialize_with = "serialize_no_facts")]
    NotLookedAt,
}

impl<Op> Reason<Op> {
    /// The same reason with its ops named in another way. Visits each op that the reason names, in order.
    pub fn map_ops<Name>(self, mut name: impl FnMut(Op) -> Name) -> Reason<Name> {
        match self {
            Self::TooManyOps { ops, limit } => Reason::TooManyOps { ops, limit },
            Self::TwoMatmuls { first, second } => Reason::TwoMatmuls {
                first: name(first),
                second: name(second),
            },
            Self::MatmulAndReduction { matmul, reduction } => Reason::MatmulAndReduction {
                matmul: name(matmul),
                reduction: name(reduction),
            },
            Self::MatmulStarts { matmul, before } => Reason::MatmulStarts {
                matmul: name(matmul),
                before: name(before),
            },
            Self::TooManyReductions { reductions, limit } => {
                Reason::TooManyReductions { reductions, limit }
            }
            Self::RowDomains {
                reduction,
                rows,
                other,
                other_rows,
            } => Reason::RowDomains {
                reduction: name(reduction),
                rows,
                other: name(other),
                other_rows,
            },
            Self::MixesRows { reduction, reshape } => Reason::MixesRows {
                reduction: name(reduction),
                reshape: name(reshape),
            },
            Self::ReductionEnds { reduction, after } => Reason::ReductionEnds {
                reduction: name(reduction),
                after: name(after),
            },
            Self::OnChip {
                reduction,
                values,
                needed_bytes,
                available_bytes,
            } => Reason::OnChip {
                reduction: name(reduction),
                values,
                needed_bytes,
                available_bytes,
            },
            Self::TooManyOperands { operands, limit } => {
                Reason::TooManyOperands { operands, limit }
            }
            Self::NotConnected { first, second } => Reason::NotConnected {
                first: name(first),
                second: name(second),
            },
            Self::Cycle { path } => Reason::Cycle {
                path: path.into_iter().map(name).collect(),
            },
            Self::AnotherConsumer { consumer } => Reason::AnotherConsumer {
                consumer: name(consumer),
            },
            Self::TooManyNodes { nodes, limit } => Reason::TooManyNodes { nodes, limit },
            Self::LibraryCall { matmul } => Reason::LibraryCall {
                matmul: name(matmul),
            },
            Self::Loops { first, second } => Reason::Loops { first, second },
            Self::Reordered => Reason::Reordered,
            Self::TooLittleShared {
                shared_bytes,
                places,
            } => Reason::TooLittleShared {
                shared_bytes,
                places,
            },
            Self::Between { through } => Reason::Between {
                through: name(through),
            },
            Self::TooFar { places } => Reason::TooFar { places },
            Self::NotCompared => Reason::NotCompared,
            Self::TooManyCycles { rounds } => Reason::TooManyCycles { rounds },
            Self::NotStated => Reason::NotStated,
            Self::NotWorthIt => Reason::NotWorthIt,
            Self::NotLookedAt => Reason::NotLookedAt,
        }
    }

    /// Of an illegal set: no larger set that holds it is legal either. More ops may connect the set or make what it
    /// reads, and a row may need less on chip when the op that makes its values joins it.
    pub(super) fn is_lasting(&self) -> bool {
        !matches!(
            self,
            Self::TooManyOperands { .. } | Self::NotConnected { .. } | Self::OnChip { .. }
        )
    }
}

/// [`RowDomain`] under the names of [`Reason::RowDomains`]'s other op.
fn serialize_other_rows<S: Serializer>(rows: &RowDomain, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(3))?;
    map.serialize_entry("other_rows", &rows.rows)?;
    map.serialize_entry("other_width", &rows.width)?;
    map.serialize_entry("other_stride", &rows.stride)?;
    map.end()
}

/// The kind of each loop, and its sizes as far as it has them.
fn serialize_loops<S: Serializer>(
    first: &Loop,
    second: &Loop,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (side, space) in [("first", first), ("second", second)] {
        map.serialize_entry(side, space.kind())?;
        match *space {
            Loop::Library => {}
            Loop::Template(elements) | Loop::Pointwise(elements) => {
                map.serialize_entry(&format!("{side}_elements"), &elements)?;
            }
            Loop::Reduction { rows, width, .. } => {
                map.serialize_entry(&format!("{side}_rows"), &rows)?;
                map.serialize_entry(&format!("{side}_width"), &width)?;
            }
        }
    }
    map.end()
}

/// An empty object, so that each reason has facts.
fn serialize_no_facts<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_map(Some(0))?.end()
}
