//! Kernels as text: lines, of which each says which element of a tensor it loads or stores.

mod cuda;
mod names;
mod scalar;
mod text;
mod triton;
mod wgsl;

pub use cuda::cuda;
pub use names::Naming;
pub use scalar::TILE;
pub use triton::triton;
pub use wgsl::{LONGEST_SHARED_ROW, Shader, wgsl};

use crate::kernel_code::Kernel;
use crate::kernel_code::error::CodegenError;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::TensorId;
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

    /// As it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Triton => "Triton",
            Self::Cuda => "CUDA",
            Self::Wgsl => "WGSL",
        }
    }

    /// What stands before a comment.
    pub fn comment(self) -> &'static str {
        match self {
            Self::Triton => "#",
            Self::Cuda | Self::Wgsl => "//",
        }
    }

    /// A kernel in this language.
    ///
    /// # Errors
    /// What of it the language cannot do.
    pub fn code(self, graph: &Graph, kernel: &Kernel) -> Result<Code, CodegenError> {
        match self {
            Self::Triton => triton(graph, kernel),
            Self::Cuda => cuda(graph, kernel),
            Self::Wgsl => wgsl(graph, kernel, Naming::Program).map(|shader| shader.code),
        }
    }
}

/// The text of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Its lines.
    pub lines: Vec<Line>,
}

/// A line of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Without its indentation.
    pub text: String,
    /// How deep it stands.
    pub indent: usize,
    /// What it moves between memory and the chip.
    pub access: Option<Access>,
}

/// A load or store of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The tensor.
    pub tensor: TensorId,
    /// A store, else a load.
    pub is_store: bool,
    /// What the kernel does not do, because it computes the tensor itself: a store and a load that fusion removed.
    pub is_removed: bool,
}

impl Line {
    /// The text with its indentation.
    pub fn indented(&self) -> String {
        let indent = if self.text.is_empty() { 0 } else { self.indent };
        format!("{}{}", "    ".repeat(indent), self.text)
    }
}

impl Code {
    /// The code that runs: all lines but those that fusion removed.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            if line.access.is_none_or(|access| !access.is_removed) {
                text.push_str(&line.indented());
                text.push('\n');
            }
        }
        text
    }

    fn push(&mut self, indent: usize, text: impl Into<String>) {
        self.lines.push(Line {
            text: text.into(),
            indent,
            access: None,
        });
    }

    fn push_access(&mut self, indent: usize, text: String, access: Access) {
        self.lines.push(Line {
            text,
            indent,
            access: Some(access),
        });
    }
}
