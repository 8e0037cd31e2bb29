//! The command line: analyze a file, print a table or JSON.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod analysed;
mod attention;
mod calibrate;
mod choices;
mod code;
mod commands;
mod compare;
mod complaint;
mod devices;
mod diff;
mod failure;
mod fusion;
mod help;
mod input;
mod lesson;
mod limits;
mod listing;
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

use analysed::{read_and_complain, read_file};
use clap::{CommandFactory, FromArgMatches};
use commands::{Cli, Command};
use complaint::complain;
use failure::Failed;
use fuseline_codegen::interpret::Setup;
use fuseline_core::analysis::transformer::transformer_block;
use fuseline_core::model::diagnostic::Code;
use fuseline_core::{Diagnostic, Options, analyze};
use fuseline_view::picture::export::StyleSheets;
use fuseline_view::present::report::Report;
use input::read_source;
use output::print;
use show::show;
use std::process::ExitCode;

/// Exit code for wrong usage, the same as clap's.
const USAGE: u8 = 2;

/// Exit code for a result whose totals are lower bounds, because ops of unknown shape are missing.
const INCOMPLETE: u8 = 3;

/// Runs the command line with the arguments of the process. Pictures use these style sheets.
pub fn main(sheets: StyleSheets) -> ExitCode {
    let parsed = help::grouped(Cli::command())
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let command = match parsed {
        Ok(cli) => cli.command,
        Err(problem) => {
            let is_json = std::env::args_os().any(|argument| argument == "--json");
            // Help and the version are no errors.
            if !is_json || !problem.use_stderr() {
                problem.exit();
            }
            Failed::unparsed(&problem).tell(true);
            return ExitCode::from(USAGE);
        }
    };
    let is_json = command.is_json();
    match run(command, sheets) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Incomplete) => ExitCode::from(INCOMPLETE),
        Err(failed) => {
            failed.tell(is_json);
            match failed {
                Failed::Usage { .. } => ExitCode::from(USAGE),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn run(command: Command, sheets: StyleSheets) -> Result<(), Failed> {
    match command {
        Command::Analyze {
            program,
            choices,
            outputs,
        } => read_file(&program, &choices.options()).and_then(|analysed| {
            if !outputs.json {
                complain(&analysed.file, &analysed.text, &analysed.diagnostics);
            }
            let report = || analysed.report();
            let others = choices.other_devices();
            show(&analysed.analysis, report, &outputs, &others)?;
            let unknown = &analysed.analysis.graph.unknown_ops;
            unknown.is_empty().then_some(()).ok_or(Failed::Incomplete)
        }),
        Command::Diff {
            a,
            b,
            types,
            assignments,
            choices,
            json,
        } => diff::diff_files(&a, b.as_deref(), &types, &assignments, &choices, json),
        Command::Svg {
            program,
            picture,
            unfused,
            choices,
        } => read_and_complain(&program, &choices.options_of_one()?)
            .and_then(|analysed| print(&picture::svg(&analysed, picture, !unfused, sheets))),
        Command::Precision {
            program,
            sizes,
            seed,
            choices,
        } => read_file(&program, &choices.options_of_one()?).and_then(|analysed| {
            let setup = Setup {
                seed,
                sizes: sizes.into_iter().collect(),
                ..Setup::default()
            };
            precision::precision(&analysed.parsed.program, &analysed.analysis, &setup)
        }),
        Command::Script { program } => read_and_complain(&program, &Options::default())
            .and_then(|analysed| script::script_of(&analysed)),
        Command::Code {
            program,
            kernel,
            language,
            choices,
        } => read_and_complain(&program, &choices.options_of_one()?)
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
            .and_then(|analysis| {
                let report = || Report::new(&analysis, &[], "");
                show(&analysis, report, &outputs, &choices.other_devices())
            }),
        Command::Lesson { file } => lesson::check_file(&file),
        Command::Sweep {
            program,
            param,
            choices,
            json,
        } => sweep::sweep_file(&program, &param, &choices, json),
        Command::Calibrate {
            files,
            device,
            against,
            json,
        } => calibrate::calibrate_files(&files, device.as_ref(), &against, json),
        Command::Measured {
            program,
            measurements,
            choices,
            json,
        } => read_file(&program, &choices.options_of_one()?)
            .and_then(|analysed| measured::measured(&analysed, &measurements, json)),
        Command::Report { folder } => compare::report(&folder),
        Command::Devices { json } => listing::devices(json),
        Command::Functions { json } => listing::functions(json),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "fuseline", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
    }
}
