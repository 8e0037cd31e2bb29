//! Why a kernel has no code.

use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::Function;
use fuseline_core::model::op::shape_text;
use fuseline_core::model::options::MAX_OPS;

/// Why a kernel has no code, as a clause about it or about an op in it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CodegenError {
    /// An op has no value, so it has no code either.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// The shapes of the inputs are not those that the function takes.
    #[error("the input shapes of `{function}` do not give {}", shape_text(output))]
    Shapes {
        function: Function,
        output: Vec<u64>,
    },
    /// A matmul whose operands are larger than its contraction, without an attribute that says
    /// which part it reads.
    #[error("{0}, and `k=` does not say which part of an operand the op reads")]
    PartOfOperand(Box<Self>),
    /// Fuseline generates no kernel for this function.
    #[error("no kernel is generated for `{0}`")]
    NoKernel(Function),
    /// A part of an operand that is transposed.
    #[error("no kernel is generated for a partly read transposed operand")]
    TransposedPart,
    /// An input without a shape.
    #[error("the size of an input is unknown")]
    UnknownInput,
    /// A tensor with two elements a byte.
    #[error("`{0}` has elements of 4 bits, which have no address of their own")]
    FourBits(String),
    /// A tensor of E8M0.
    #[error("no kernel is generated for the powers of two in `{0}`")]
    PowersOfTwo(String),
    /// More elements than an integer counts.
    #[error("a tensor is too large")]
    TensorTooLarge,
    /// More ops than the scheduler takes.
    #[error("it has more than {MAX_OPS} ops")]
    TooManyOps,
    /// More loops than the expressions have variables.
    #[error("it has too many loops")]
    TooManyLoops,
    /// A tile without a sum of products.
    #[error("it has no product")]
    NoProduct,
    /// More thread blocks than a launch of CUDA takes.
    #[error("it has more blocks than a launch takes")]
    TooManyBlocks,
    /// More workgroups than a dispatch of WebGPU takes.
    #[error("it has too many groups of threads")]
    TooManyWorkgroups,
    /// More shared memory than a block of CUDA has.
    #[error(
        "its threads share {bytes} bytes, and a block of CUDA has {most} without asking for more"
    )]
    SharedByBlock {
        /// What the kernel needs.
        bytes: u64,
        /// What a block has.
        most: u64,
    },
    /// More shared memory than a workgroup of WebGPU has.
    #[error("its threads share {bytes} bytes, and WebGPU gives {most} on every GPU")]
    SharedByWorkgroup {
        /// What the kernel needs.
        bytes: u64,
        /// What a workgroup has on every GPU.
        most: u64,
    },
    /// A tensor of f64, which WebGPU does not have.
    #[error("`{0}` is f64, which WebGPU does not have")]
    F64InWebGpu(String),
    /// A tensor with more elements than an index of WebGPU reaches.
    #[error("`{0}` has more elements than an index of WebGPU reaches")]
    BeyondIndex(String),
    /// A row that threads share, which Triton cannot express.
    #[error(
        "its threads read what others of the same row computed, and a block of Triton has no such access"
    )]
    SharedRow,
    /// A row that no block of Triton holds.
    #[error("a row of {elements} elements is longer than a block of Triton, {most}")]
    RowTooLong {
        elements: u64,
        /// Elements of the largest block.
        most: u64,
    },
}
