//! The command line: analyze a file, print a table or JSON.

mod attention;
mod compare;
mod fusion;
mod limits;
mod steps;

use crate::core::diagnostic::{Diagnostic, Severity, has_errors, line_and_column, merged};
use crate::core::explain::open_text;
use crate::core::format::{
    format_bytes, format_flops, format_intensity, format_percent, format_ratio,
};
use crate::core::json::Json;
use crate::core::notation::import::{self, Form, OpList};
use crate::core::notation::{Parsed, parse};
use crate::core::program::Program;
use crate::core::report::Report;
use crate::core::transformer::transformer_block;
use crate::core::{
    Analysis, Conventions, DEVICES, Device, Externals, Options, Policy, ReshapeCost, analyze,
    analyze_program, default_device, device,
};
use attention::{AttentionReport, attention_lines, attentions};
use clap::{Args, Parser, Subcommand};
use fusion::{FusionFlags, certificate_line};
use limits::LimitsReport;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use steps::{Step, steps, steps_table};

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

#[derive(Args)]
struct Choices {
    /// Who decides what fuses: none, rules, inductor, optimal, manual.
    #[arg(long, default_value = "rules", value_parser = policy)]
    policy: Policy,
    #[command(flatten)]
    fusion: FusionFlags,
    /// How large external tensors count: declared, known-only, output-shape.
    #[arg(long, default_value = "declared", value_parser = externals)]
    externals: Externals,
    /// What a lone reshape costs: copy, view.
    #[arg(long, default_value = "copy", value_parser = reshape)]
    reshape: ReshapeCost,
    /// What times are predicted for, by id; an unknown one prints the list.
    #[arg(long, default_value_t = default_device().id.to_string(), value_name = "NAME", value_parser = known_device)]
    device: String,
    /// Time that starting a kernel adds, in microseconds, instead of the device's own.
    #[arg(long, value_name = "MICROSECONDS", value_parser = microseconds)]
    launch_us: Option<f64>,
    /// Print what each kernel asks of the device too, and when fusing hurts.
    #[arg(long)]
    limits: bool,
    /// Print what the policy decided too, step by step.
    #[arg(long)]
    steps: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

impl Choices {
    fn options(&self) -> Options {
        let device = device(&self.device).unwrap_or(default_device()).clone();
        Options {
            policy: self.policy,
            fusion: self.fusion.options(),
            conventions: Conventions {
                externals: self.externals,
                reshape: self.reshape,
            },
            device: match self.launch_us {
                Some(launch_us) => device.with_launch_s(launch_us * 1e-6),
                None => device,
            },
        }
    }
}

fn policy(name: &str) -> Result<Policy, String> {
    Policy::from_name(name).ok_or_else(|| one_of(Policy::ALL.map(Policy::name).into_iter()))
}

fn externals(name: &str) -> Result<Externals, String> {
    Externals::from_name(name)
        .ok_or_else(|| one_of(Externals::ALL.map(Externals::name).into_iter()))
}

fn reshape(name: &str) -> Result<ReshapeCost, String> {
    ReshapeCost::from_name(name)
        .ok_or_else(|| one_of(ReshapeCost::ALL.map(ReshapeCost::name).into_iter()))
}

fn microseconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|us: &f64| us.is_finite() && *us >= 0.0)
        .ok_or_else(|| "write a number of microseconds, such as 2 or 0.5".to_owned())
}

fn known_device(id: &str) -> Result<String, String> {
    match device(id) {
        Some(Device { id, .. }) => Ok(id.to_string()),
        None => Err(one_of(DEVICES.iter().map(|d| d.id.as_ref()))),
    }
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("use one of: {}", names.collect::<Vec<_>>().join(", "))
}

fn assignment(text: &str) -> Result<(String, i64), String> {
    text.split_once('=')
        .and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?)))
        .ok_or_else(|| "write it as PARAM=VALUE with a whole number, such as S=1024".to_owned())
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
            .and_then(|analysis| show(&analysis, &[], "", &choices)),
        Command::Report { folder } => compare::report(&folder),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed) => ExitCode::FAILURE,
    }
}

/// The reason has been printed.
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
    let text = read.map_err(|problem| {
        eprintln!("error: {file}: {problem}");
        Failed
    })?;
    let Parsed {
        mut program,
        diagnostics,
    } = read_program(&text).map_err(|problem| {
        eprintln!("error: {file}: {problem}");
        Failed
    })?;
    for (name, value) in assignments {
        set_param(&mut program, name, *value)?;
    }
    let outcome = analyze_program(&program, &choices.options());
    let diagnostics = merged(diagnostics, outcome.diagnostics);
    match outcome.analysis {
        Some(analysis) if !has_errors(&diagnostics) => {
            if !choices.json {
                complain(file, &text, &diagnostics);
            }
            show(&analysis, &diagnostics, &text, choices)
        }
        _ => Err(complain(file, &text, &diagnostics)),
    }
}

fn read_all(mut source: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    // A stray byte becomes a visible character that the parser points at.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn read_program(text: &str) -> Result<Parsed, serde_json::Error> {
    Ok(match import::form_of(text) {
        Form::Notation => parse(text),
        Form::OpLines => import::read_op_lines(text),
        Form::Json => {
            let json: serde_json::Value = serde_json::from_str(text)?;
            let list = OpList::new(Json::from(json))
                .map_err(<serde_json::Error as serde::de::Error>::custom)?;
            import::program_of_op_list(&list)
        }
    })
}

fn set_param(program: &mut Program, name: &str, value: i64) -> Result<(), Failed> {
    if let Some(param) = program.params.iter_mut().find(|p| p.name.text == name) {
        param.value = value;
        return Ok(());
    }
    let names: Vec<&str> = program
        .params
        .iter()
        .map(|p| p.name.text.as_str())
        .collect();
    eprintln!("error: no param is called `{name}`");
    eprintln!(
        "  = help: {}",
        if names.is_empty() {
            "the program declares no params".to_owned()
        } else {
            one_of(names.into_iter())
        }
    );
    Err(Failed)
}

/// The report with what it does not say of itself.
#[derive(Serialize)]
struct FullReport<'a> {
    #[serde(flatten)]
    report: Report,
    /// Kernels that are attention, with their tiles.
    attentions: Vec<AttentionReport<'a>>,
    /// What led to the kernels, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<Vec<Step<'a>>>,
    /// What each kernel asks of the device, where that was asked for and is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Vec<LimitsReport>>,
}

fn show(
    analysis: &Analysis,
    diagnostics: &[Diagnostic],
    text: &str,
    choices: &Choices,
) -> Result<(), Failed> {
    let written = if choices.json {
        let report = FullReport {
            report: Report::new(analysis, diagnostics, text),
            attentions: attentions(analysis),
            decisions: choices.steps.then(|| steps(analysis)),
            limits: choices
                .limits
                .then(|| limits::limits_report(analysis))
                .flatten(),
        };
        let json = serde_json::to_string_pretty(&report);
        json.map(|json| json + "\n").map_err(std::io::Error::other)
    } else {
        let mut text = table(analysis);
        text.push_str(&attention_lines(analysis));
        if choices.limits {
            text.push_str(&limits::limits_table(analysis));
        }
        if choices.steps {
            text.push_str(&steps_table(analysis));
        }
        Ok(text)
    };
    let printed = written.and_then(|text| std::io::stdout().lock().write_all(text.as_bytes()));
    match printed {
        // Whoever closed the pipe has read enough.
        Err(problem) if problem.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: {problem}");
            Err(Failed)
        }
        _ => Ok(()),
    }
}

/// Findings on standard error, each with line, column and the source line.
fn complain(file: &str, text: &str, diagnostics: &[Diagnostic]) -> Failed {
    const SHOWN: usize = 50;
    for diagnostic in diagnostics.iter().take(SHOWN) {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        eprintln!("{severity}: {}", diagnostic.message);
        if let Some(span) = diagnostic.span {
            let (line, column) = line_and_column(text, span.start);
            let source = text.lines().nth(line - 1).unwrap_or("");
            let margin = " ".repeat(line.to_string().len());
            let (source, before, marked) = excerpt(source, column - 1, span.slice(text));
            eprintln!("{margin}--> {file}:{line}:{column}");
            eprintln!("{margin} |");
            eprintln!("{line} | {source}");
            eprintln!("{margin} | {}{}", " ".repeat(before), "^".repeat(marked));
        }
        if let Some(hint) = &diagnostic.hint {
            eprintln!("  = help: {hint}");
        }
    }
    if diagnostics.len() > SHOWN {
        eprintln!("... and {} more", diagnostics.len() - SHOWN);
    }
    Failed
}

/// A part of the source line that fits a terminal, and where in it the mark goes.
fn excerpt(source: &str, column: usize, marked: &str) -> (String, usize, usize) {
    const WIDTH: usize = 96;
    let skipped = column.saturating_sub(WIDTH / 2);
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = source
        .chars()
        .skip(skipped)
        .take(WIDTH)
        .map(plain)
        .collect();
    let before = column - skipped;
    let length = marked.lines().next().unwrap_or("").chars().count();
    let room = shown.chars().count().saturating_sub(before);
    (shown, before, length.min(room).max(1))
}

/// The headline and one line for each kernel.
fn table(analysis: &Analysis) -> String {
    const HEAD: [&str; 8] = [
        "#",
        "ops",
        "FLOPs",
        "read",
        "written",
        "intensity",
        "bound by",
        "time",
    ];
    let graph = &analysis.graph;
    let rows: Vec<[String; 8]> = analysis
        .fused
        .kernels
        .iter()
        .enumerate()
        .map(|(index, kernel)| {
            let name = |&op: &usize| graph.ops.get(op).map(|op| shortened(&op.name));
            let again = analysis.partition.recomputed[index].iter().filter_map(name);
            let again = again.map(|name| format!("({name})"));
            let names: Vec<String> = kernel.ops.iter().filter_map(name).chain(again).collect();
            [
                (index + 1).to_string(),
                names_of_many(&names),
                format_flops(kernel.work.flops()),
                format_bytes(kernel.bytes_read),
                format_bytes(kernel.bytes_written),
                kernel
                    .placement
                    .intensity
                    .map_or_else(|| "-".to_owned(), format_intensity),
                kernel.placement.bound.name().to_owned(),
                kernel.placement.time_text(),
            ]
        })
        .collect();
    let mut widths = HEAD.map(|h| h.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[&str]| {
        let mut line = String::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
            // Words to the left, figures to the right.
            let (before, after) = if matches!(column, 1 | 6) {
                ("", padding.as_str())
            } else {
                (padding.as_str(), "")
            };
            line.push_str(before);
            line.push_str(cell);
            line.push_str(after);
            line.push_str("  ");
        }
        line.trim_end().to_owned() + "\n"
    };
    let mut out = headline(analysis);
    out.push('\n');
    out.push_str(&line(&HEAD));
    for row in &rows {
        out.push_str(&line(&row.each_ref().map(String::as_str)));
    }
    out
}

fn headline(analysis: &Analysis) -> String {
    let (before, after) = (&analysis.unfused, &analysis.fused);
    let saved = after.traffic.saved_by_fusion;
    let (verb, less) = if saved < 0 {
        ("added", "more")
    } else {
        ("saved", "less")
    };
    let mut text = format!(
        "{} -> {} ({} {verb}, {} {less})\n{} -> {} kernels, predicted {} as fast on {} ({} -> {})\n",
        format_bytes(before.traffic.total),
        format_bytes(after.traffic.total),
        format_bytes(saved.unsigned_abs()),
        format_percent(analysis.savings_pct.abs()),
        before.launches,
        after.launches,
        format_ratio(analysis.speedup),
        analysis.options.device.name,
        before.time_text(),
        after.time_text(),
    );
    let open = before.first_open();
    if let Some(words) = open.and_then(|kernel| open_text(kernel, &analysis.options.device)) {
        let _ = writeln!(text, "{words}");
    }
    if let Some(certificate) = &analysis.certificate {
        text.push_str(&certificate_line(certificate));
    }
    for (what, traffic) in [("unfused", before.traffic), ("fused", after.traffic)] {
        let _ = writeln!(
            text,
            "{what:>7}: {} read, {} written",
            format_bytes(traffic.bytes_read),
            format_bytes(traffic.bytes_written)
        );
    }
    text
}

fn shortened(name: &str) -> String {
    const LONGEST: usize = 32;
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}

fn names_of_many(names: &[String]) -> String {
    const SHOWN: usize = 6;
    let mut text = names
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(" + ");
    if names.len() > SHOWN {
        let _ = write!(text, " + {} more", names.len() - SHOWN);
    }
    text
}
