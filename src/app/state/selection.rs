//! What is selected, and how it survives an edit.

use fuseline_core::{Analysis, KernelId, OpId, TensorId};

/// What is selected, in all views at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    #[default]
    Nothing,
    /// One op of the analysed graph.
    Op(OpId),
    /// One fused kernel, by its id in the analysis.
    Kernel(KernelId),
    /// A tensor on its way from one op to another.
    Edge {
        /// The op that writes it.
        producer: OpId,
        /// The op that reads it.
        consumer: OpId,
    },
    /// A tensor from outside, or a result.
    Tensor(TensorId),
}

impl Selection {
    /// A tensor as the graph has it: between the op that writes it and a reader, of another kernel
    /// if there is one, else from outside or as a result.
    pub fn of_tensor(analysis: &Analysis, tensor: TensorId) -> Self {
        let edge = || {
            let producer = analysis.graph.tensors.get(tensor)?.producer?;
            let kernel_of = &analysis.partition.kernel_of;
            let readers = analysis.graph.consumers.get(tensor)?;
            let is_apart = |reader: &&OpId| kernel_of.get(**reader) != kernel_of.get(producer);
            let &consumer = readers.iter().find(is_apart).or_else(|| readers.first())?;
            Some(Self::Edge { producer, consumer })
        };
        edge().unwrap_or(Self::Tensor(tensor))
    }

    /// The tensor that is selected; for a view, the one whose bytes it indexes.
    pub fn stored_tensor(self, analysis: &Analysis) -> Option<TensorId> {
        let tensor = match self {
            Self::Nothing | Self::Op(_) | Self::Kernel(_) => return None,
            Self::Edge { producer, .. } => *analysis.graph.output.get(producer)?,
            Self::Tensor(tensor) => tensor,
        };
        analysis.fused.views.base.get(tensor).copied()
    }

    /// The fused kernel that is selected, itself or through one of its ops.
    pub fn kernel(self, analysis: &Analysis) -> Option<KernelId> {
        match self {
            Self::Nothing | Self::Edge { .. } | Self::Tensor(_) => None,
            Self::Op(op) => analysis.partition.kernel_of.get(op).copied(),
            Self::Kernel(kernel) => analysis.fused.kernels.get(kernel).map(|_| kernel),
        }
    }

    /// Name of the op that identifies the selection in links and after edits: the op itself, the
    /// producer of an edge, the first op of a kernel, the first one that reads or else writes a
    /// tensor.
    pub fn op_name(self, analysis: &Analysis) -> Option<&str> {
        let op = match self {
            Self::Nothing => return None,
            Self::Tensor(tensor) => {
                let reader = analysis.graph.consumers.get(tensor)?.first().copied();
                reader.or(analysis.graph.tensors.get(tensor)?.producer)?
            }
            Self::Op(op) | Self::Edge { producer: op, .. } => op,
            Self::Kernel(kernel) => *analysis.fused.kernels.get(kernel)?.ops.first()?,
        };
        Some(&analysis.graph.ops.get(op)?.name)
    }
}

/// A selection with the name of its op. Ids change when an edit adds or removes ops; names stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedSelection {
    selection: Selection,
    op_name: Option<String>,
    /// The visitor has clicked it, and wants to know about it.
    pub(super) is_inspected: bool,
}

impl NamedSelection {
    /// The kernel that computes the op of this name.
    pub(super) fn kernel_of(kernel: KernelId, name: &str) -> Self {
        Self {
            selection: Selection::Kernel(kernel),
            op_name: Some(name.to_owned()),
            is_inspected: false,
        }
    }

    pub(super) fn of_op(name: &str) -> Self {
        Self {
            selection: Selection::Op(OpId::default()),
            op_name: Some(name.to_owned()),
            is_inspected: false,
        }
    }

    /// `selection`, whose ids are those of `analysis`.
    pub(super) fn new(selection: Selection, analysis: &Analysis) -> Self {
        Self {
            selection,
            op_name: selection.op_name(analysis).map(str::to_owned),
            is_inspected: false,
        }
    }

    /// The selection with the ids of another analysis: unchanged where its ids still name the same
    /// op, else the op of that name or its kernel, else nothing.
    pub(super) fn in_analysis(&self, analysis: &Analysis) -> Selection {
        let name = self.op_name.as_deref();
        if self.selection.op_name(analysis) == name {
            return self.selection;
        }
        let op = name.and_then(|name| analysis.graph.op_named(name));
        let found = op.and_then(|op| match self.selection {
            Selection::Kernel(_) => {
                let kernel = analysis.partition.kernel_of.get(op).copied();
                kernel.map(Selection::Kernel)
            }
            _ => Some(Selection::Op(op)),
        });
        found.unwrap_or_default()
    }
}
