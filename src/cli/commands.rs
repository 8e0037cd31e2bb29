//! The commands and their arguments.

use crate::choices::{
    Choices, Outputs, assignment, by_name, calibrations, element_type, known_device,
};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use fuseline_codegen::kernel_code::CodeLanguage;
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::{DType, Device};
use fuseline_view::picture::export::PictureKind;
use std::path::PathBuf;
use std::sync::Arc;

/// See which GPU operations fuse into one kernel, and what that does to memory traffic.
#[derive(Parser)]
#[command(name = "fuseline", version = env!("FUSELINE_VERSION"), arg_required_else_help = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The program of a command, and the values of its params.
#[derive(Args)]
pub(super) struct ProgramFile {
    /// The program: a file, or - for standard input.
    pub(super) file: String,
    /// Give a param another value, such as S=1024; may be repeated.
    #[arg(long = "set", value_name = "PARAM=VALUE", value_parser = assignment)]
    pub(super) assignments: Vec<(String, i64)>,
}

#[derive(Subcommand)]
pub(super) enum Command {
    /// Analyze a list of ops: the notation, a JSON list, Op(...) lines, an ONNX model, a .pt2 from
    /// torch.export, or what print shows of an exported program.
    Analyze {
        #[command(flatten)]
        program: ProgramFile,
        #[command(flatten)]
        choices: Choices,
        #[command(flatten)]
        outputs: Outputs,
    },
    /// Compare two programs, or one on two devices or in two types: bytes, kernels and times, by
    /// lower bounds where one of them has no predicted time.
    Diff {
        /// A file, or - for standard input.
        a: String,
        /// The other file; without it --device names two devices, or --type two types.
        b: Option<String>,
        /// The element type of each side, or of B alone, instead of the one that most declarations
        /// name: bf16,f8e4m3.
        #[arg(long = "type", value_name = "TYPE,…", value_delimiter = ',', value_parser = element_type)]
        types: Vec<DType>,
        /// Give a param of both another value, such as S=1024; may be repeated.
        #[arg(long = "set", value_name = "PARAM=VALUE", value_parser = assignment)]
        assignments: Vec<(String, i64)>,
        #[command(flatten)]
        choices: Choices,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Draw a picture of a list of ops as SVG, on a light background and with a caption.
    Svg {
        #[command(flatten)]
        program: ProgramFile,
        /// The picture to draw.
        #[arg(long, default_value = PictureKind::Graph.name(), value_parser = by_name::<PictureKind>())]
        picture: PictureKind,
        /// Draw every op as a separate kernel.
        #[arg(long)]
        unfused: bool,
        #[command(flatten)]
        choices: Choices,
    },
    /// Run a program on random numbers and show where it rounds, unfused and fused, with the error
    /// of each tensor.
    Precision {
        #[command(flatten)]
        program: ProgramFile,
        /// Give a param another value for the run only; the other params shrink where needed.
        #[arg(long = "run", value_name = "PARAM=VALUE", value_parser = assignment)]
        sizes: Vec<(String, i64)>,
        /// Seed of the random inputs and weights.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        #[command(flatten)]
        choices: Choices,
    },
    /// Write a program as a PyTorch script: eager and compiled, checked against each other and
    /// timed.
    Script {
        #[command(flatten)]
        program: ProgramFile,
    },
    /// Print the kernels of a program as GPU code, with the program's sizes compiled in.
    Code {
        #[command(flatten)]
        program: ProgramFile,
        /// Print only the kernel with this number.
        #[arg(long, value_name = "N")]
        kernel: Option<usize>,
        /// The language of the code.
        #[arg(long, default_value = CodeLanguage::default().name(), value_parser = by_name::<CodeLanguage>())]
        language: CodeLanguage,
        #[command(flatten)]
        choices: Choices,
    },
    /// Write any file that Fuseline opens, such as an ONNX model or a .pt2, as a program in the
    /// notation.
    Notation {
        /// A file, or - for standard input.
        file: String,
    },
    /// Analyze one transformer block.
    Transformer {
        /// Number of tokens in the sequence.
        #[arg(long)]
        seq_len: u64,
        /// Size of the hidden dimension; a multiple of the number of heads.
        #[arg(long)]
        hidden_dim: u64,
        /// Number of attention heads.
        #[arg(long)]
        num_heads: u64,
        /// Bytes per element: 1, 2, 4 or 8.
        #[arg(long, default_value_t = 2)]
        dtype_bytes: u32,
        #[command(flatten)]
        choices: Choices,
        #[command(flatten)]
        outputs: Outputs,
    },
    /// Check a lesson: list the errors in its file by line, and the right answers that the engine
    /// computes.
    Lesson {
        /// A Markdown file, such as public/lessons/exercise.md.
        file: PathBuf,
    },
    /// Analyze a list of ops at many values of one of its params, under every policy, and say where
    /// something changes.
    Sweep {
        #[command(flatten)]
        program: ProgramFile,
        /// A param that has a range, as in: param S = 1024 in 128..8192 step 128.
        param: String,
        #[command(flatten)]
        choices: Choices,
        /// Print JSON instead of a table.
        #[arg(long, help_heading = "Output")]
        json: bool,
    },
    /// Turn measurements of one GPU into a record of each fused pattern: latencies, bytes, rates
    /// and the speedup.
    Calibrate {
        /// Files that the scripts of programs saved on a GPU, or files like those in
        /// public/measured; the op lists of their patterns must be in the folder of the first file.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The device whose roofline gives the bottleneck of a pattern: an id, or a file that a
        /// program's script saved on it. By default the device that the files name.
        #[arg(long, value_name = "NAME|FILE", value_parser = known_device)]
        device: Option<Device>,
        /// Records of another GPU, as --json writes them, to mark patterns that pay on only one of
        /// the two; may be repeated.
        #[arg(long, value_name = "FILE", value_parser = calibrations)]
        against: Vec<Arc<Calibrations>>,
        /// Print JSON, which the page and the command line read, instead of a report.
        #[arg(long)]
        json: bool,
    },
    /// Show your own measurement beside the prediction: kernels, times, bytes, gaps, and what is
    /// worth fusing.
    Measured {
        #[command(flatten)]
        program: ProgramFile,
        /// Files that its script saved, tables of ncu --csv, nsys stats or rocprof, traces of
        /// torch.profiler or jax.profiler, or a table that torch.profiler prints.
        #[arg(required = true)]
        measurements: Vec<PathBuf>,
        /// Policy and device count where the files do not name them.
        #[command(flatten)]
        choices: Choices,
        /// Print JSON instead of tables.
        #[arg(long, help_heading = "Output")]
        json: bool,
    },
    /// Print every measured row beside the model's prediction, with the errors.
    Report {
        /// The folder with the measured files and their op lists.
        #[arg(default_value = "public/measured")]
        folder: PathBuf,
    },
    /// List the devices that --device knows, with their rates.
    Devices {
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// List the functions of the notation, with their arguments.
    Functions {
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Write a script that completes commands and options in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

impl Command {
    /// Whether it prints JSON.
    pub(super) const fn is_json(&self) -> bool {
        match self {
            Self::Analyze { outputs, .. } | Self::Transformer { outputs, .. } => outputs.json,
            Self::Sweep { json, .. }
            | Self::Diff { json, .. }
            | Self::Calibrate { json, .. }
            | Self::Measured { json, .. }
            | Self::Devices { json }
            | Self::Functions { json } => *json,
            Self::Svg { .. }
            | Self::Precision { .. }
            | Self::Script { .. }
            | Self::Code { .. }
            | Self::Notation { .. }
            | Self::Lesson { .. }
            | Self::Report { .. }
            | Self::Completions { .. } => false,
        }
    }
}
