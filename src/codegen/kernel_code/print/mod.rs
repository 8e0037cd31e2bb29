//! Kernels as text, in several languages.

mod code;
mod cuda;
mod language;
mod names;
mod scalar;
mod text;
mod triton;
mod wgsl;

pub use code::{Access, Code, Line};
pub use cuda::cuda;
pub use names::Naming;
pub use scalar::TILE;
pub use triton::{triton, triton_launch};
pub use wgsl::{LONGEST_SHARED_ROW, Shader, wgsl};

use crate::kernel_code::error::CodegenError;
use crate::kernel_code::kernel::Kernel;
use fuseline_core::model::graph::Graph;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// A language in which kernels are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum CodeLanguage {
    /// Triton, in Python.
    #[default]
    Triton,
    /// CUDA C++.
    Cuda,
    /// The shading language of WebGPU.
    Wgsl,
}

impl CodeLanguage {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The name for display.
    pub fn title(self) -> &'static str {
        match self {
            Self::Triton => "Triton",
            Self::Cuda => "CUDA",
            Self::Wgsl => "WGSL",
        }
    }

    /// The prefix of a comment.
    pub fn comment(self) -> &'static str {
        match self {
            Self::Triton => "#",
            Self::Cuda | Self::Wgsl => "//",
        }
    }

    /// A kernel in this language.
    ///
    /// # Errors
    /// What in the kernel the language cannot express.
    pub fn code(self, graph: &Graph, kernel: &Kernel) -> Result<Code, CodegenError> {
        match self {
            Self::Triton => triton(graph, kernel),
            Self::Cuda => cuda(graph, kernel),
            Self::Wgsl => wgsl(graph, kernel, Naming::Program).map(|shader| shader.code),
        }
    }
}
