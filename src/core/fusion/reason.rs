//! Why ops do not run as one kernel: one type for legality, all policies and *why not*.

use super::loops::Loop;
use super::rows::RowDomain;
use crate::model::ids::OpId;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Why ops do not run as one kernel, with the figures that decide it.
///
/// Ops are ids of one graph; [`Reason::map_ops`] replaces them by names for JSON. There
/// `reason_kind` is the variant and `reason_facts` an object of its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(
    tag = "reason_kind",
    content = "reason_facts",
    rename_all = "snake_case"
)]
#[derive(BorshSerialize, BorshDeserialize)]
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
        /// The matmul that would run beside a reduction.
        matmul: Op,
        /// The reduction that would run beside a matmul.
        reduction: Op,
    },
    /// An opaque op is a kernel of its own.
    Opaque {
        /// The op that fuses with nothing.
        opaque: Op,
    },
    /// Without the option *prologue* a matmul starts its kernel.
    MatmulStarts {
        /// The op that would have to come first.
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
    /// All ops in the kernel of a reduction must have the same rows.
    RowDomains {
        /// An op that reduces rows of the kernel.
        reduction: Op,
        /// The rows that it reduces.
        #[serde(flatten)]
        rows: RowDomain,
        /// An op with other rows.
        other: Op,
        /// The rows of that op.
        #[serde(flatten, serialize_with = "serialize_other_rows")]
        other_rows: RowDomain,
    },
    /// A transpose, a copy or a concat would move elements to other rows inside the kernel.
    MixesRows {
        /// The op whose rows would be mixed.
        reduction: Op,
        /// The op that moves the elements.
        reshape: Op,
    },
    /// A reduction ends its kernel: always by the textbook rules, else without the option *after
    /// reductions*.
    ReductionEnds {
        /// The last op that its kernel takes.
        reduction: Op,
        /// The first op after it.
        after: Op,
    },
    /// The rows that the kernel keeps while a reduction runs do not fit on chip.
    OnChip {
        /// The op that runs while they are kept.
        reduction: Op,
        /// Full-width values that exist before it ends and are needed after it.
        values: usize,
        /// Bytes of one row of each.
        needed_bytes: u64,
        /// On-chip memory that one block can allocate.
        available_bytes: u64,
    },
    /// More tensors read and written than the limit.
    TooManyOperands {
        /// Tensors of the kernel.
        operands: usize,
        /// Most that are allowed.
        limit: usize,
    },
    /// No tensor connects these ops.
    NotConnected {
        /// One op of the set.
        first: Op,
        /// An op that is not connected to it inside the set.
        second: Op,
    },
    /// One op overwrites in place what the other one reads, and some threads of their kernel would
    /// read it too late.
    Overwrites {
        /// The op in place.
        write: Op,
        /// The op that reads what is overwritten.
        reader: Op,
    },
    /// Textbook rules: the kernel ends before an op outside it that overwrites in place what one of
    /// its ops reads.
    EndsBeforeWrite {
        /// The op in place.
        write: Op,
        /// The op that reads what is overwritten.
        reader: Op,
    },
    /// The kernel would depend on itself, through other kernels.
    Cycle {
        /// The ops of a path that leaves the kernel and returns to it: the first and the last are
        /// in it.
        #[serde(rename = "through")]
        path: Vec<Op>,
    },
    /// Textbook rules: another op reads the tensor as well.
    AnotherConsumer {
        /// The op that needs the tensor in memory.
        consumer: Op,
    },
    /// Textbook rules: an op of unknown shape reads the tensor as well.
    #[serde(serialize_with = "serialize_no_facts")]
    UnknownConsumer,
    /// Inductor: the kernel would have more nodes than the limit.
    TooManyNodes {
        /// Nodes of both.
        nodes: usize,
        /// Most that are allowed.
        limit: usize,
    },
    /// Inductor: one of the two is a library call, which takes only views and one add behind it.
    LibraryCall {
        /// The matmul that the library computes.
        matmul: Op,
    },
    /// Inductor: one of the two is fused attention, a library call that takes only views behind it.
    FusedAttention {
        /// An op that runs in it.
        op: Op,
    },
    /// Inductor: their loops do not match.
    #[serde(serialize_with = "serialize_loops")]
    Loops {
        /// Loop of the earlier one.
        first: Loop,
        /// Loop of the later one.
        second: Loop,
    },
    /// Inductor: the later one reads the buffer in another order than it is written in.
    #[serde(serialize_with = "serialize_no_facts")]
    Reordered,
    /// Inductor: neither reads the other's output, and they share too few bytes or are too far
    /// apart.
    TooLittleShared {
        /// Bytes of the buffers that both touch.
        shared_bytes: u64,
        /// Kernels from the one to the other.
        places: usize,
    },
    /// Inductor: one kernel of both would keep buffers that two kernels could place in the same
    /// memory.
    KeepsMemory {
        /// Elements of those buffers.
        kept_elements: u64,
        /// Bytes of the buffers that both touch.
        shared_bytes: u64,
    },
    /// Inductor: another kernel has to run between them.
    Between {
        /// An op of the kernel in between.
        through: Op,
    },
    /// Inductor: too many kernels are between them to reorder.
    TooFar {
        /// Kernels from the one to the other.
        places: usize,
    },
    /// Inductor: it never compares their kernels.
    #[serde(serialize_with = "serialize_no_facts")]
    NotCompared,
    /// Manual: kernels still form a cycle after this many rounds of splitting the kernels of a
    /// cycle.
    TooManyCycles {
        /// How often kernels were split.
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
    /// This reason with its ops named in another way. Visits each op that the reason names, in
    /// order.
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
            Self::Opaque { opaque } => Reason::Opaque {
                opaque: name(opaque),
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
            Self::Overwrites { write, reader } => Reason::Overwrites {
                write: name(write),
                reader: name(reader),
            },
            Self::EndsBeforeWrite { write, reader } => Reason::EndsBeforeWrite {
                write: name(write),
                reader: name(reader),
            },
            Self::Cycle { path } => Reason::Cycle {
                path: path.into_iter().map(name).collect(),
            },
            Self::AnotherConsumer { consumer } => Reason::AnotherConsumer {
                consumer: name(consumer),
            },
            Self::UnknownConsumer => Reason::UnknownConsumer,
            Self::TooManyNodes { nodes, limit } => Reason::TooManyNodes { nodes, limit },
            Self::LibraryCall { matmul } => Reason::LibraryCall {
                matmul: name(matmul),
            },
            Self::FusedAttention { op } => Reason::FusedAttention { op: name(op) },
            Self::Loops { first, second } => Reason::Loops { first, second },
            Self::Reordered => Reason::Reordered,
            Self::TooLittleShared {
                shared_bytes,
                places,
            } => Reason::TooLittleShared {
                shared_bytes,
                places,
            },
            Self::KeepsMemory {
                kept_elements,
                shared_bytes,
            } => Reason::KeepsMemory {
                kept_elements,
                shared_bytes,
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

    /// Whether every larger set is illegal as well. With more ops a set can become connected,
    /// produce what it reads, or keep less on chip, because an op that computes a kept value joins
    /// it.
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
