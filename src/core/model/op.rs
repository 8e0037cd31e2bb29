//! Ops and the tensors between them.

use crate::model::dtype::DType;
use crate::model::element_size::ElementSize;
use crate::model::functions::{Function, ShapeRule};
use crate::model::op_type::OpType;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

/// How ops of unknown shape may use a tensor that they read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnknownReader {
    /// All of them are opaque operators, which are separate kernels.
    Opaque,
    /// One of them may be fused with the op that writes the tensor.
    Fusable,
}

/// One operation. Unfused, each op is one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Op {
    /// Unique among the ops.
    pub name: String,
    /// Its op type, which the textbook rules look at.
    pub op_type: OpType,
    /// Tensors read, in argument order; a tensor may be repeated.
    pub inputs: Vec<String>,
    /// The tensor written; no other op writes it.
    pub output: String,
    /// Shape of the output, outermost dimension first.
    pub shape: Vec<u64>,
    /// Size of one output element.
    pub bytes_per_element: ElementSize,
    /// Whether it writes into the memory of its first input, whose old value is lost: a function of
    /// the notation with a trailing underscore, as in PyTorch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_place: bool,
    /// The function of [`super::functions`]; decides FLOPs and texts, never fusion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Function>,
    /// Element type of the output, if it is known and not only its width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<DType>,
    /// K of a matmul (for a convolution, input channels times kernel area), if it does not follow
    /// from the shapes of the operands.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        rename = "contraction"
    )]
    pub k: Option<u64>,
    /// Whether it works along another axis of its first input than the last, which shapes alone may
    /// not show: a softmax with `axis=-2`, a matmul with `transpose_a=true`.
    #[serde(skip)]
    pub is_across_rows: bool,
    /// Whether it is an `expand` that says -1 for sizes that it keeps.
    #[serde(skip)]
    pub keeps_sizes: bool,
    /// Whether it is attention in which a query sees the keys up to its own position alone.
    #[serde(skip)]
    pub is_causal: bool,
    /// The reduced axes of the first input, bit `i` for dimension `i`; 0 for the last one, or if
    /// only shapes are known.
    #[serde(skip)]
    pub axes: u32,
    /// How a view finds its elements; `None` if only shapes are known.
    #[serde(skip)]
    pub indexing: Option<Box<Indexing>>,
    /// The statement of an operator that the table of functions lacks.
    #[serde(skip)]
    pub unknown: Option<Box<UnknownOperator>>,
    /// Numbers that replace inputs, as written.
    #[serde(skip)]
    pub literals: Vec<String>,
    /// The program returns the output, although ops may read it, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_output: bool,
    /// How an op of unknown shape reads the output, if one does.
    #[serde(skip)]
    pub unknown_reader: Option<UnknownReader>,
    /// The kernel mark of the op, for the policy `manual`. Under `inductor` a mark on all ops of an
    /// attention block makes the block a call of fused attention.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<u32>,
    /// The iteration of a block in which the mark holds, counted over all blocks from 1 on; 0
    /// outside blocks and without a mark.
    #[serde(skip)]
    pub mark_iteration: u32,
}

impl Op {
    /// An op with its required fields only.
    pub fn new(
        name: &str,
        op_type: OpType,
        inputs: &[&str],
        output: &str,
        shape: &[u64],
        bytes_per_element: u32,
    ) -> Self {
        Self {
            name: name.to_owned(),
            op_type,
            inputs: inputs.iter().map(|&i| i.to_owned()).collect(),
            output: output.to_owned(),
            shape: shape.to_vec(),
            bytes_per_element: ElementSize::of_bytes(bytes_per_element),
            in_place: false,
            function: None,
            dtype: None,
            k: None,
            is_across_rows: false,
            keeps_sizes: false,
            is_causal: false,
            axes: 0,
            indexing: None,
            unknown: None,
            literals: Vec::new(),
            is_output: false,
            unknown_reader: None,
            kernel: None,
            mark_iteration: 0,
        }
    }

    /// Whether the output is needed beyond the ops of the graph: the program returns it, or an op
    /// of unknown shape reads it.
    pub fn is_needed_beyond(&self) -> bool {
        self.is_output || self.unknown_reader.is_some()
    }

    /// The same op with its function.
    #[must_use]
    pub fn with_function(mut self, function: Function) -> Self {
        self.function = Some(function);
        self
    }

    /// The same op with its contraction length K.
    #[must_use]
    pub fn with_k(mut self, k: u64) -> Self {
        self.k = Some(k);
        self
    }

    /// The iteration in which its kernel mark holds, and the mark. Ops for which both are equal
    /// form one kernel.
    pub fn mark(&self) -> Option<(u32, u32)> {
        Some((self.mark_iteration, self.kernel?))
    }

    /// Element type of the output: the given one, otherwise the float of its size.
    pub fn element_type(&self) -> Option<DType> {
        self.dtype.or(DType::float_of_size(self.bytes_per_element))
    }

    /// The axes of [`Op::axes`], ascending, for a first input of this rank.
    pub fn reduced_axes(&self, rank: usize) -> Vec<usize> {
        match self.axes {
            0 => rank.checked_sub(1).into_iter().collect(),
            bits => (0..32).filter(|axis| bits >> axis & 1 == 1).collect(),
        }
    }

    /// Whether it slides a window over images or sequences and multiplies.
    pub fn is_convolution(&self) -> bool {
        matches!(
            self.function,
            Some(Function::Conv1d | Function::Conv2d | Function::Convolution)
        )
    }

    /// The displayed name of its computation. For an operator that the table lacks, this is the
    /// name that the program states.
    pub fn operator(&self) -> &str {
        let unknown = self.unknown.as_ref().and_then(|own| own.name.as_deref());
        let known = || self.function.map_or(self.op_type.name(), Function::name);
        unknown.unwrap_or_else(known)
    }

    /// Whether it writes only those elements of its output that an index or a range names.
    pub fn writes_part(&self) -> bool {
        self.in_place && self.function.is_some_and(Function::writes_part)
    }

    /// Whether the value of its first input does not matter to it, or only where it writes: it
    /// loads no more of the input than [`Self::writes_part`] says, or nothing.
    pub fn ignores_first(&self) -> bool {
        match self.function {
            Some(Function::Copy) => true,
            Some(function) => self.writes_part() && !function.adds_to_part(),
            None => false,
        }
    }

    /// Whether it gives its first input another value, without reading that of any element.
    pub fn replaces_first(&self) -> bool {
        self.in_place && self.function == Some(Function::Copy)
    }

    /// Whether the output is another index order of the same bytes, so that the convention *reshape
    /// is a view* makes it free.
    ///
    /// Concatenation gathers several tensors, so it is a copy.
    pub fn is_view(&self) -> bool {
        self.op_type == OpType::Reshape
            && self.inputs.len() == 1
            && self.function.is_none_or(|function| function.row().is_view)
    }

    /// Whether the elements of the output have the row-major order of the input: a plain reshape, a
    /// copy, or a transpose that moves dimensions of size 1 alone.
    pub fn keeps_order(&self) -> bool {
        self.op_type == OpType::Reshape
            && match self.function {
                Some(Function::Reshape | Function::Bitcast | Function::Contiguous) => true,
                Some(Function::Transpose) => self.indexing.as_ref().is_some_and(|own| {
                    let dimensions = own.perm.iter().zip(&self.shape);
                    let longer = dimensions.filter(|&(_, &size)| size > 1);
                    longer.map(|(from, _)| from).is_sorted()
                }),
                _ => false,
            }
    }

    /// Whether it is a reshape that may give an element of an input several times.
    pub fn repeats_elements(&self) -> bool {
        let rule = self.function.map(|function| function.row().shape_rule);
        let is_joined_twice = || {
            (self.inputs.iter().zip(1..))
                .any(|(input, next)| self.inputs.iter().skip(next).any(|other| other == input))
        };
        self.op_type == OpType::Reshape
            && match rule {
                Some(
                    ShapeRule::Expand
                    | ShapeRule::Repeat
                    | ShapeRule::Interleave
                    | ShapeRule::Embedding
                    | ShapeRule::Gather
                    | ShapeRule::Index
                    | ShapeRule::OneHot
                    | ShapeRule::Resample,
                ) => true,
                Some(ShapeRule::Concat) => is_joined_twice(),
                _ => false,
            }
    }

    /// Whether the output is one of the tensors that its input packs. It is free under every
    /// convention, because the kernel that writes the input has written it.
    pub fn is_part(&self) -> bool {
        self.function == Some(Function::Part)
    }
}

/// An operator that the table of functions lacks, with what the program states of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownOperator {
    /// Its name in the program that it comes from: `aten.fft_rfft`.
    pub name: Option<String>,
    /// Its FLOPs; `None` if the program does not state them.
    pub flops: Option<u64>,
    /// The units that execute them; `None` if the program does not say.
    pub units: Option<Units>,
}

/// The units of a device that execute the FLOPs of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Units {
    /// Those that multiply matrices.
    Matrix,
    /// Those that compute single elements.
    Vector,
}

/// How a transpose, a slice, a piece of a split, a concatenation, a gather, a sort or a pool finds
/// its elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indexing {
    /// For each dimension of a transpose the dimension of its input.
    pub perm: Vec<usize>,
    /// The dimension along which a slice or piece is taken, inputs are concatenated, or an index
    /// leads.
    pub axis: usize,
    /// Its first element along `axis`.
    pub start: u64,
    /// Distance between its elements along `axis`.
    pub step: u64,
    /// The window of a pool.
    pub window: Option<Window>,
    /// For each dimension the width of the border in front of it.
    pub borders: Vec<u64>,
    /// Groups of channels that are normalized separately; 0 for other ops.
    pub groups: u64,
    /// Whether a sort gives the largest element first.
    pub descends: bool,
}

/// The window of a pool, in rows and columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Elements under the window.
    pub size: [u64; 2],
    /// Distance from one window to the next; 0 where the distances differ, and then `size` is that
    /// of the largest window.
    pub stride: [u64; 2],
    /// Border around the image.
    pub padding: [u64; 2],
}

/// The role of an external tensor; for display only.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum TensorRole {
    /// An activation.
    #[default]
    Input,
    /// A parameter of the network.
    Weight,
}

impl TensorRole {
    /// The name in the notation and in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The declared size of an external tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorDecl {
    /// The name by which ops read it.
    pub name: String,
    /// Outermost dimension first; empty for a scalar.
    pub shape: Vec<u64>,
    /// Size of one element.
    pub bytes_per_element: ElementSize,
    /// Input or weight.
    #[serde(default)]
    pub role: TensorRole,
    /// Element type, if it is known and not only its width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<DType>,
}

impl TensorDecl {
    /// An input of this size.
    pub fn new(name: &str, shape: &[u64], bytes_per_element: u32) -> Self {
        Self {
            name: name.to_owned(),
            shape: shape.to_vec(),
            bytes_per_element: ElementSize::of_bytes(bytes_per_element),
            role: TensorRole::Input,
            dtype: None,
        }
    }

    /// The given element type, otherwise the float of its size.
    pub fn element_type(&self) -> Option<DType> {
        self.dtype.or(DType::float_of_size(self.bytes_per_element))
    }
}

/// `product(shape)`; `None` above `2^63 - 1`.
pub fn element_count(shape: &[u64]) -> Option<u64> {
    shape
        .iter()
        .try_fold(1_u64, |n, &d| n.checked_mul(d))
        .filter(|&n| i64::try_from(n).is_ok())
}

/// `product(shape) * bytes_per_element`, rounded up to whole bytes; `None` above `2^63 - 1`.
pub fn byte_count(shape: &[u64], bytes_per_element: ElementSize) -> Option<u64> {
    bytes_per_element.bytes_of(element_count(shape)?)
}

/// A shape as text: `[2048, 4096]`.
pub fn shape_text(shape: &[u64]) -> String {
    let dims: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", dims.join(", "))
}
