//! The command line: analyze a file, print a table or JSON.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod attention;
mod choices;
mod compare;
mod complaint;
mod fusion;
mod input;
mod limits;
mod output;
mod policies;
mod steps;
mod table;

use crate::core::analysis::transformer::transformer_block;
use crate::core::model::diagnostic::has_errors;
use crate::core::{Analysis, analyze, analyze_program};
use crate::present::reasons::all_diagnostics;
use crate::present::report::Report;
use attention::{AttentionReport, attention_lines, attentions};
use choices::{Choices, assignment};
use clap::{Parser, Subcommand};
use complaint::complain;
use input::{read_all, read_program, set_param};
use limits::LimitsReport;
use output::{print, tell};
use policies::{PolicyReport, policies, policies_table};
use serde::Serialize;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use steps::{Step, steps, steps_table};
use table::table;

/// See which GPU operations fuse into one kernel, and what that does to memory traffic.
#[derive(Parser)]
#[command(name = "fuseline", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Analyze a list of ops: the notation, a JSON list, or Op(...) lines.
    Analyze {
        /// A file, or - for standard input.
        file: String,
        /// Give a param another value, such as S=1024; may be repeated.
        #[arg(long = "set", value_name = "PARAM=VALUE", value_parser = assignment)]
        assignments: Vec<(String, i64)>,
        #[command(flatten)]
        choices: Choices,
    },
    /// Analyze one transformer block.
    Transformer {
        /// Tokens in the sequence.
        #[arg(long)]
        seq_len: u64,
        /// Size of the hidden dimension; a multiple of the number of heads.
        #[arg(long)]
        hidden_dim: u64,
        /// Attention heads.
        #[arg(long)]
        num_heads: u64,
        /// Bytes of one element: 1, 2, 4 or 8.
        #[arg(long, default_value_t = 2)]
        dtype_bytes: u32,
        #[command(flatten)]
        choices: Choices,
    },
    /// Print every measured row beside what the model predicts, and the errors.
    Report {
        /// Where the measured files and their op lists are.
        #[arg(default_value = "public/measured")]
        folder: PathBuf,
    },
}

/// Runs the command line with the arguments of the process.
pub fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Analyze {
            file,
            assignments,
            choices,
        } => analyze_file(&file, &assignments, &choices),
        Command::Transformer {
            seq_len,
            hidden_dim,
            num_heads,
            dtype_bytes,
            choices,
        } => transformer_block(seq_len, hidden_dim, num_heads, dtype_bytes)
            .map_err(|d| vec![d])
            .and_then(|(ops, externals)| analyze(&ops, &externals, &choices.options()))
            .map_err(|problems| complain("transformer", "", &problems))
            .and_then(|analysis| show(&analysis, || Report::new(&analysis, &[], ""), &choices)),
        Command::Report { folder } => compare::report(&folder),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed) => ExitCode::FAILURE,
    }
}

/// The command has failed and its reason has been printed.
struct Failed;

fn analyze_file(
    file: &str,
    assignments: &[(String, i64)],
    choices: &Choices,
) -> Result<(), Failed> {
    let (file, read) = if file == "-" {
        ("<stdin>", read_all(std::io::stdin()))
    } else {
        (file, std::fs::File::open(file).and_then(read_all))
    };
    let failed = |problem: &dyn Display| {
        tell(&format!("error: {file}: {problem}\n"));
        Failed
    };
    let text = read.map_err(|problem| failed(&problem))?;
    let mut parsed = read_program(&text).map_err(|problem| failed(&problem))?;
    for (name, value) in assignments {
        set_param(&mut parsed, name, *value)?;
    }
    let outcome = analyze_program(&parsed.program, &choices.options());
    let diagnostics = all_diagnostics(&parsed, &outcome);
    match outcome.analysis {
        Some(analysis) if !has_errors(&diagnostics) => {
            if !choices.json {
                complain(file, &text, &diagnostics);
            }
            let report = || {
                Report::new(&analysis, &diagnostics, &text)
                    .with_attributes(&parsed.program, &outcome.statement_of_op)
            };
            show(&analysis, report, choices)
        }
        _ => Err(complain(file, &text, &diagnostics)),
    }
}

/// The report, with results that the library's report does not contain.
#[derive(Serialize)]
struct FullReport<'a> {
    #[serde(flatten)]
    report: Report,
    /// Kernels that are attention, with their tiles.
    attentions: Vec<AttentionReport<'a>>,
    /// The decisions that led to the kernels, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<Vec<Step<'a>>>,
    /// All policies, the best first, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    policies: Option<Vec<PolicyReport>>,
    /// The resources of each kernel, if requested and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Vec<LimitsReport>>,
}

fn show(
    analysis: &Analysis,
    report: impl FnOnce() -> Report,
    choices: &Choices,
) -> Result<(), Failed> {
    let text = if choices.json {
        let report = FullReport {
            report: report(),
            attentions: attentions(analysis),
            decisions: choices.steps.then(|| steps(analysis)),
            policies: choices.compare.map(|by| policies(analysis, by)),
            limits: choices
                .limits
                .then(|| limits::limits_report(analysis))
                .flatten(),
        };
        let json = serde_json::to_string_pretty(&report).map_err(|problem| {
            tell(&format!("error: {problem}\n"));
            Failed
        })?;
        json + "\n"
    } else {
        let mut text = table(analysis);
        text.push_str(&attention_lines(analysis));
        if let Some(by) = choices.compare {
            text.push_str(&policies_table(analysis, by));
        }
        if choices.limits {
            text.push_str(&limits::limits_table(analysis));
        }
        if choices.steps {
            text.push_str(&steps_table(analysis));
        }
        text
    };
    print(&text)
}
