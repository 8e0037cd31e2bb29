//! The command line: analyze a file, print a table or JSON.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod attention;
mod calibrate;
mod choices;
mod code;
mod compare;
mod complaint;
mod failure;
mod fusion;
mod input;
mod lesson;
mod limits;
mod measured;
mod output;
mod picture;
mod policies;
mod precision;
mod script;
mod show;
mod steps;
mod sweep;
mod table;

use choices::{Choices, Outputs, assignment, by_name, calibrations, known_device};
use clap::{Parser, Subcommand};
use complaint::complain;
use failure::Failed;
use fuseline_codegen::interpret::Setup;
use fuseline_codegen::kernel_code::CodeLanguage;
use fuseline_core::analysis::transformer::transformer_block;
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::model::diagnostic::{Code, has_errors};
use fuseline_core::notation::Parsed;
use fuseline_core::{Analysis, Device, Diagnostic, IdVec, OpId, Options, analyze, analyze_program};
use fuseline_view::picture::export::{PictureKind, StyleSheets};
use fuseline_view::present::reasons::all_diagnostics;
use fuseline_view::present::report::Report;
use input::{Source, read_source, set_param};
use output::{json, print};
use show::show;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use sweep::{sweep_named, sweep_report, sweep_table};

/// See which GPU operations fuse into one kernel, and what that does to memory traffic.
#[derive(Parser)]
#[command(name = "fuseline", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Analyze a list of ops: the notation, a JSON list, Op(...) lines, an ONNX model, or a .pt2
    /// from torch.export.
    Analyze {
        /// A file, or - for standard input.
        file: String,
        /// Give a param another value, such as S=1024; may be repeated.
        #[arg(long = "set", value_name = "PARAM=VALUE", value_parser = assignment)]
        assignments: Vec<(String, i64)>,
        #[command(flatten)]
        choices: Choices,
        #[command(flatten)]
        outputs: Outputs,
    },
    /// Draw a picture of a list of ops as SVG, on a light background and with a caption.
    Svg {
        /// A file, or - for standard input.
        file: String,
        /// The picture to draw.
        #[arg(long, default_value = PictureKind::Graph.name(), value_parser = by_name::<PictureKind>())]
        picture: PictureKind,
        /// Draw every op as a separate kernel.
        #[arg(long)]
        unfused: bool,
        /// Give a param another value, such as S=1024; may be repeated.
        #[arg(long = "set", value_name = "PARAM=VALUE", value_parser = assignment)]
        assignments: Vec<(String, i64)>,
        #[command(flatten)]
        choices: Choices,
    },
    /// Run a program on random numbers and show where it rounds, unfused and fused, with the error
    /// of each tensor.
    Precision {
        /// A file, or - for standard input.
        file: String,
        /// Give a param another value in the program, such as S=1024; may be repeated.
        #[arg(long = "set", value_name = "PARAM=VALUE", value_parser = assignment)]
        assignments: Vec<(String, i64)>,
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
        /// A file, or - for standard input.
        file: String,
        /// Give a param another value, such as S=1024; may be repeated.
        #[arg(long = "set", value_name = "PARAM=VALUE", value_parser = assignment)]
        assignments: Vec<(String, i64)>,
    },
    /// Print the kernels of a program as GPU code, with the program's sizes compiled in.
    Code {
        /// A file, or - for standard input.
        file: String,
        /// Print only the kernel with this number.
        #[arg(long, value_name = "N")]
        kernel: Option<usize>,
        /// The language of the code.
        #[arg(long, default_value = CodeLanguage::default().name(), value_parser = by_name::<CodeLanguage>())]
        language: CodeLanguage,
        /// Give a param another value, such as S=1024; may be repeated.
        #[arg(long = "set", value_name = "PARAM=VALUE", value_parser = assignment)]
        assignments: Vec<(String, i64)>,
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
        /// A file, or - for standard input.
        file: String,
        /// A param that has a range, as in: param S = 1024 in 128..8192 step 128.
        param: String,
        /// Give another param another value, such as H=1024; may be repeated.
        #[arg(long = "set", value_name = "PARAM=VALUE", value_parser = assignment)]
        assignments: Vec<(String, i64)>,
        #[command(flatten)]
        choices: Choices,
        /// Print JSON instead of a table.
        #[arg(long)]
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
        /// The program: a file, or - for standard input.
        file: String,
        /// Files that its script saved, tables of ncu --csv or nsys stats, or traces of
        /// torch.profiler.
        #[arg(required = true)]
        measurements: Vec<PathBuf>,
        /// Give a param another value, such as S=1024; may be repeated.
        #[arg(long = "set", value_name = "PARAM=VALUE", value_parser = assignment)]
        assignments: Vec<(String, i64)>,
        /// Policy and device count where the files do not name them.
        #[command(flatten)]
        choices: Choices,
        /// Print JSON instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Print every measured row beside the model's prediction, with the errors.
    Report {
        /// The folder with the measured files and their op lists.
        #[arg(default_value = "public/measured")]
        folder: PathBuf,
    },
}

impl Command {
    /// Whether it prints JSON.
    const fn is_json(&self) -> bool {
        match self {
            Self::Analyze { outputs, .. } | Self::Transformer { outputs, .. } => outputs.json,
            Self::Sweep { json, .. }
            | Self::Calibrate { json, .. }
            | Self::Measured { json, .. } => *json,
            Self::Svg { .. }
            | Self::Precision { .. }
            | Self::Script { .. }
            | Self::Code { .. }
            | Self::Notation { .. }
            | Self::Lesson { .. }
            | Self::Report { .. } => false,
        }
    }
}

/// Exit code for wrong usage, the same as clap's.
const USAGE: u8 = 2;

/// Runs the command line with the arguments of the process. Pictures use these style sheets.
pub fn main(sheets: StyleSheets) -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(problem) => {
            let is_json = std::env::args_os().any(|argument| argument == "--json");
            // Help and the version are no errors.
            if !is_json || !problem.use_stderr() {
                problem.exit();
            }
            Failed::usage(&problem).tell(true);
            return ExitCode::from(USAGE);
        }
    };
    let is_json = command.is_json();
    match run(command, sheets) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            failed.tell(is_json);
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command, sheets: StyleSheets) -> Result<(), Failed> {
    match command {
        Command::Analyze {
            file,
            assignments,
            choices,
            outputs,
        } => read_file(&file, &assignments, &choices.options()).and_then(|analysed| {
            if !outputs.json {
                complain(&analysed.file, &analysed.text, &analysed.diagnostics);
            }
            let report = || analysed.report();
            show(&analysed.analysis, report, &outputs)
        }),
        Command::Svg {
            file,
            picture,
            unfused,
            assignments,
            choices,
        } => read_and_complain(&file, &assignments, &choices.options())
            .and_then(|analysed| print(&picture::svg(&analysed, picture, !unfused, sheets))),
        Command::Precision {
            file,
            assignments,
            sizes,
            seed,
            choices,
        } => read_file(&file, &assignments, &choices.options()).and_then(|analysed| {
            let setup = Setup {
                seed,
                sizes: sizes.into_iter().collect(),
                ..Setup::default()
            };
            precision::precision(&analysed.parsed.program, &analysed.analysis, &setup)
        }),
        Command::Script { file, assignments } => {
            read_and_complain(&file, &assignments, &Options::default())
                .and_then(|analysed| script::script_of(&analysed))
        }
        Command::Code {
            file,
            kernel,
            language,
            assignments,
            choices,
        } => read_and_complain(&file, &assignments, &choices.options())
            .and_then(|analysed| code::code(&analysed, kernel, language)),
        Command::Notation { file } => read_source(&file).and_then(|source| {
            let is_foreign = |d: &Diagnostic| d.code == Code::ForeignText;
            // Other texts with errors are printed, so that they can be corrected as notation.
            if source.parsed.diagnostics.iter().any(is_foreign) {
                return Err(source.failed());
            }
            complain(&source.name, &source.text, &source.parsed.diagnostics);
            print(&source.notation())
        }),
        Command::Transformer {
            seq_len,
            hidden_dim,
            num_heads,
            dtype_bytes,
            choices,
            outputs,
        } => transformer_block(seq_len, hidden_dim, num_heads, dtype_bytes)
            .map_err(|d| vec![d])
            .and_then(|(ops, externals)| analyze(&ops, &externals, &choices.options()))
            .map_err(|diagnostics| Failed::Text {
                file: "transformer".to_owned(),
                text: String::new(),
                diagnostics,
            })
            .and_then(|analysis| show(&analysis, || Report::new(&analysis, &[], ""), &outputs)),
        Command::Lesson { file } => lesson::check_file(&file),
        Command::Sweep {
            file,
            param,
            assignments,
            choices,
            json,
        } => sweep_file(&file, &param, &assignments, &choices, json),
        Command::Calibrate {
            files,
            device,
            against,
            json,
        } => calibrate::calibrate_files(&files, device.as_ref(), &against, json),
        Command::Measured {
            file,
            measurements,
            assignments,
            choices,
            json,
        } => read_file(&file, &assignments, &choices.options())
            .and_then(|analysed| measured::measured(&analysed, &measurements, json)),
        Command::Report { folder } => compare::report(&folder),
    }
}

/// A file without an error, and its analysis.
struct Analysed {
    /// The name of the file.
    file: String,
    text: String,
    parsed: Parsed,
    analysis: Arc<Analysis>,
    statement_of_op: IdVec<OpId, usize>,
    /// Warnings and notes.
    diagnostics: Vec<Diagnostic>,
}

impl Analysed {
    fn report(&self) -> Report {
        Report::new(&self.analysis, &self.diagnostics, &self.text)
            .with_attributes(&self.parsed.program, &self.statement_of_op)
    }
}

/// Reads and analyses a file. Prints its warnings and notes.
fn read_and_complain(
    file: &str,
    assignments: &[(String, i64)],
    options: &Options,
) -> Result<Analysed, Failed> {
    let analysed = read_file(file, assignments, options)?;
    complain(&analysed.file, &analysed.text, &analysed.diagnostics);
    Ok(analysed)
}

fn read_file(
    file: &str,
    assignments: &[(String, i64)],
    options: &Options,
) -> Result<Analysed, Failed> {
    let Source {
        name: file,
        text,
        mut parsed,
    } = read_source(file)?;
    for (name, value) in assignments {
        set_param(&mut parsed, name, *value)?;
    }
    let outcome = analyze_program(&parsed.program, options);
    let diagnostics = all_diagnostics(&parsed, &outcome);
    match outcome.analysis {
        Some(analysis) if !has_errors(&diagnostics) => Ok(Analysed {
            file,
            text,
            parsed,
            analysis: Arc::new(analysis),
            statement_of_op: outcome.statement_of_op,
            diagnostics,
        }),
        _ => Err(Failed::Text {
            file,
            text,
            diagnostics,
        }),
    }
}

fn sweep_file(
    file: &str,
    param: &str,
    assignments: &[(String, i64)],
    choices: &Choices,
    is_json: bool,
) -> Result<(), Failed> {
    let options = choices.options();
    let Analysed { parsed, .. } = read_file(file, assignments, &options)?;
    let sweep = sweep_named(&parsed.program, param, &options)?;
    print(&if is_json {
        json(&sweep_report(&sweep, &options.device))?
    } else {
        sweep_table(&sweep, &options.device)
    })
}
