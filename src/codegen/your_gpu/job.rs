//! Work for a GPU as data: buffers with their contents, launches in their order, and the buffers
//! that are read back.

use super::failure::Failure;
use crate::interpret::Reference;
use crate::kernel_code::{Argument, Naming, kernels, wgsl};
use fuseline_core::notation::spelling::quoted;
use fuseline_core::{DType, Graph, IdVec, KernelId, OpId, Partition, ReshapeCost, TensorId};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Most elements of an external tensor that are drawn for a run that is timed; they are repeated to
/// fill it.
pub const DRAWN_ELEMENTS: usize = 1 << 16;

const SMALLER: &str = "make sizes smaller";
const FEWER_OPS: &str = "cut the kernel, or choose a policy that fuses less";

/// Buffers, and the launches that read and write them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// What the launches read and write.
    pub buffers: Vec<Buffer>,
    /// In the order in which they run.
    pub launches: Vec<Launch>,
}

/// Memory of the GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buffer {
    /// What it holds, for messages.
    pub name: String,
    /// Its size; a multiple of 4.
    pub bytes: u64,
    /// What it holds at first: words of 4 bytes, from the lowest byte up, repeated to its end;
    /// zeros if this is empty.
    pub contents: Vec<u8>,
}

/// One launch of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// What it computes, for messages.
    pub name: String,
    /// WGSL with the entry point `main`.
    pub code: String,
    /// For each binding of group 0 the buffer, as an index in [`Job::buffers`].
    pub buffers: Vec<usize>,
    /// How many workgroups are launched along x, y and z.
    pub workgroups: [u32; 3],
}

/// The limits of the visitor's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub max_buffer_bytes: u64,
    /// Bytes of a buffer that a kernel reads or writes.
    pub max_binding_bytes: u64,
    /// Tensors of a kernel.
    pub max_bindings: u32,
    /// Workgroups along one axis.
    pub max_workgroups: u32,
    /// Bytes of the memory that the threads of a workgroup share.
    pub max_workgroup_bytes: u32,
}

impl Limits {
    pub fn max_tensor_bytes(&self) -> u64 {
        self.max_buffer_bytes.min(self.max_binding_bytes)
    }
}

impl Job {
    /// Checks the job against the limits of a device.
    ///
    /// # Errors
    /// The first limit that it exceeds.
    pub fn within(&self, limits: &Limits) -> Result<(), Failure> {
        for buffer in &self.buffers {
            if buffer.bytes > limits.max_tensor_bytes() {
                return Err(Failure::Limit {
                    what: format!("`{}` has {} bytes", buffer.name, buffer.bytes),
                    limit: format!("{} bytes in a buffer", limits.max_tensor_bytes()),
                    hint: SMALLER,
                });
            }
        }
        for launch in &self.launches {
            let exceeds = |has: u64, limit: u32, unit: &str, hint| {
                (has > u64::from(limit)).then(|| Failure::Limit {
                    what: format!("{} needs {has} {unit}", launch.name),
                    limit: format!("{limit} {unit}"),
                    hint,
                })
            };
            let most = launch.workgroups.iter().copied().max().unwrap_or(0);
            let tensors = exceeds(
                launch.buffers.len() as u64,
                limits.max_bindings,
                "tensors",
                FEWER_OPS,
            );
            let groups = exceeds(
                most.into(),
                limits.max_workgroups,
                "workgroups in a row",
                SMALLER,
            );
            if let Some(failure) = tensors.or(groups) {
                return Err(failure);
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramJob {
    /// What is run.
    pub job: Job,
    /// The kernel of each launch. A kernel of views alone has none.
    pub kernels: Vec<KernelId>,
    /// The tensor of each buffer; for row values a number behind those of all tensors.
    pub tensors: Vec<TensorId>,
}

impl ProgramJob {
    /// The kernels of a partition as launches, on inputs of the reference. Of an external tensor at
    /// most `most_drawn` elements are drawn. Views are launched where the convention counts their
    /// bytes. Polynomial in the ops of a kernel.
    ///
    /// # Errors
    /// The kernels that have no shader.
    pub fn new(
        reference: &Reference,
        partition: &Partition,
        reshape: ReshapeCost,
        most_drawn: usize,
    ) -> Result<Self, Failure> {
        let graph = &reference.graph;
        let views_are_free = reshape == ReshapeCost::View;
        let kernels = kernels(graph, &reference.calls, partition, views_are_free);
        let mut buffer_of: HashMap<TensorId, usize, FxBuildHasher> = HashMap::default();
        let mut all = Self::default();
        let mut missing = Vec::new();
        for (kernel, coded) in kernels.into_iter().enumerate() {
            let kernel = KernelId::new(kernel);
            let name = kernel_name(graph, kernel, &partition.kernels[kernel]);
            let mut row_values = Vec::new();
            let shader = coded.and_then(|coded| {
                let arguments = coded.iter().flat_map(|code| &code.arguments);
                row_values.extend(arguments.filter(|own| own.row_value.is_some()).cloned());
                coded
                    .map(|code| wgsl(graph, &code, Naming::Order))
                    .transpose()
            });
            let shader = match shader {
                Ok(Some(shader)) => shader,
                Ok(None) => continue,
                Err(reason) => {
                    missing.push(format!("{name}: {reason}"));
                    continue;
                }
            };
            let mut buffers = Vec::with_capacity(shader.tensors.len());
            for &tensor in &shader.tensors {
                let known = buffer_of.get(&tensor);
                let buffer = if let Some(&known) = known {
                    known
                } else {
                    let row_value = row_values.iter().find(|own| own.tensor == tensor);
                    all.job.buffers.push(match row_value {
                        Some(own) => row_value_buffer(own),
                        None => buffer(reference, tensor, most_drawn)?,
                    });
                    all.tensors.push(tensor);
                    buffer_of.insert(tensor, all.job.buffers.len() - 1);
                    all.job.buffers.len() - 1
                };
                buffers.push(buffer);
            }
            all.kernels.push(kernel);
            all.job.launches.push(Launch {
                name,
                code: shader.code.text(),
                buffers,
                workgroups: shader.workgroups,
            });
        }
        if missing.is_empty() {
            Ok(all)
        } else {
            Err(Failure::NoShader(missing))
        }
    }

    /// The buffers that hold what kernels have written, each with its tensor.
    pub fn written(&self, reference: &Reference) -> Vec<(usize, TensorId)> {
        let all = self.tensors.iter().copied().enumerate();
        let tensors = &reference.graph.tensors;
        all.filter(|&(_, tensor)| tensors.get(tensor).is_some_and(|own| !own.is_external()))
            .collect()
    }

    /// Whether each tensor is a result of the program: the program returns it, or a view of it.
    /// `O(ops)`.
    pub fn results(&self, reference: &Reference) -> IdVec<TensorId, bool> {
        let graph = &reference.graph;
        let tensors = graph.tensors.ids();
        let mut results: IdVec<TensorId, bool> =
            tensors.map(|tensor| graph.is_final(tensor)).collect();
        let mut is_in_memory = IdVec::from_elem(false, graph.tensors.len());
        for &tensor in &self.tensors {
            if let Some(is_in_memory) = is_in_memory.get_mut(tensor) {
                *is_in_memory = true;
            }
        }
        let ops: Vec<OpId> = graph.ops.ids().collect();
        for op in ops.into_iter().rev() {
            let output = graph.output[op];
            if results[output] && !is_in_memory[output] {
                for &input in &graph.inputs[op] {
                    results[input] = true;
                }
            }
        }
        results
    }
}

/// ``kernel 3 (`gelu` and 2 more ops)``.
fn kernel_name(graph: &Graph, kernel: KernelId, ops: &[OpId]) -> String {
    let number = kernel.number();
    let Some((&first, rest)) = ops.split_first() else {
        return format!("kernel {number}");
    };
    let first = quoted(&graph.ops[first].name);
    match rest.len() {
        0 => format!("kernel {number} ({first})"),
        1 => format!("kernel {number} ({first} and 1 more op)"),
        more => format!("kernel {number} ({first} and {more} more ops)"),
    }
}

fn row_value_buffer(argument: &Argument) -> Buffer {
    let name = argument.row_value.as_ref().map(|own| own.name.clone());
    Buffer {
        name: name.unwrap_or_default(),
        bytes: (argument.elements * 4).max(4),
        contents: Vec::new(),
    }
}

fn buffer(reference: &Reference, tensor: TensorId, most_drawn: usize) -> Result<Buffer, Failure> {
    let (elements, dtype) = reference.type_of(tensor)?;
    let contents = if reference.graph.tensors[tensor].is_external() {
        words(&reference.external(tensor, most_drawn)?, dtype)
    } else {
        Vec::new()
    };
    Ok(Buffer {
        name: reference.graph.tensor_name(tensor).to_owned(),
        // A buffer without bytes cannot be bound.
        bytes: (elements as u64 * 4).max(4),
        contents,
    })
}

/// Encodes elements as the GPU stores them.
#[allow(
    clippy::cast_possible_truncation,
    reason = "f32 and i32 are what shaders have; the nearest value is meant"
)]
pub fn words(values: &[f64], dtype: DType) -> Vec<u8> {
    let word = |&value: &f64| {
        if dtype.is_float() {
            (value as f32).to_le_bytes()
        } else {
            (value as i32).to_le_bytes()
        }
    };
    values.iter().flat_map(word).collect()
}

/// Decodes the elements from the bytes of a GPU buffer.
pub fn elements(bytes: &[u8], dtype: DType) -> Vec<f64> {
    let (chunks, _) = bytes.as_chunks::<4>();
    let element = |&word: &[u8; 4]| {
        if dtype.is_float() {
            f64::from(f32::from_le_bytes(word))
        } else {
            f64::from(i32::from_le_bytes(word))
        }
    };
    chunks.iter().map(element).collect()
}
