//! All phases from a program to every number that the page or the command line shows.

pub mod advice;
pub mod baseline;
pub mod by_hand;
pub mod compare;
pub mod device_model;
mod execute;
mod execution;
pub mod fusion_limit;
pub mod iterations;
pub mod launches;
pub mod limits;
pub mod measured;
pub mod memory;
pub mod replay;
mod result;
pub mod sweep;
pub mod tiling;
pub mod transformer;
pub mod why;

use self::device_model::Predicted;
use self::execute::execute;
pub use self::execution::{Execution, Kernel, PeakMemory};
pub use self::result::{Analysis, Comparison, TensorTraffic};
use super::fusion::{self, Plan};
use super::resolve::resolve;
use crate::analysis::memory::external_bytes;
use crate::cost::roofline::place;
use crate::model::build::build_graph;
use crate::model::diagnostic::{Code, Diagnostic, has_errors};
use crate::model::graph::{Graph, SizeSource, Tensor};
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::{Op, TensorDecl};
use crate::model::options::Options;
use crate::model::partition::Partition;
use crate::model::program::Program;
use std::borrow::Cow;

/// The result of analysing a program.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Outcome {
    /// The analysis of all ops that could be resolved; `None` if they form no graph.
    pub analysis: Option<Analysis>,
    /// For each op of the analysis its statement in [`Program::ops`].
    pub statement_of_op: IdVec<OpId, usize>,
    /// Errors and assumptions, without those of the parser. Stated kernels that are not legal are
    /// in [`Analysis::refused`].
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves and analyses a program. Total: errors become diagnostics.
///
/// `O(ops + reads)` for a list in execution order.
pub fn analyze_program(program: &Program, options: &Options) -> Outcome {
    analyze_planned(program, options, |graph| fusion::plan(graph, options))
}

/// [`analyze_program`] with a plan of the program's graph that was computed before, for example in
/// another thread.
pub fn analyze_program_with(program: &Program, options: &Options, plan: Plan) -> Outcome {
    analyze_planned(program, options, |_| plan)
}

fn analyze_planned(
    program: &Program,
    options: &Options,
    plan: impl FnOnce(&Graph) -> Plan,
) -> Outcome {
    let ReadProgram {
        graph,
        statement_of_op,
        diagnostics,
    } = read(program);
    let Some(graph) = graph else {
        return Outcome {
            diagnostics,
            ..Outcome::default()
        };
    };
    let plan = plan(&graph);
    let analysis = analyze_plan(graph, options, plan);
    let listed_at = analysis.graph.listed_at.iter();
    let statement_of_op = listed_at.filter_map(|&listed| statement_of_op.get(listed).copied());
    Outcome {
        statement_of_op: statement_of_op.collect(),
        analysis: Some(analysis),
        diagnostics,
    }
}

/// A program without choices: its graph and what is wrong with it.
pub(super) struct ReadProgram {
    /// The graph of the ops that could be resolved; `None` if they form none.
    pub(super) graph: Option<Graph>,
    /// For each resolved op its statement.
    pub(super) statement_of_op: Vec<usize>,
    /// All but those of the parser.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Resolves a program and builds its graph.
pub(super) fn read(program: &Program) -> ReadProgram {
    let resolved = resolve(program);
    let mut diagnostics = resolved.diagnostics;
    let statement_of_op = resolved.statement_of_op;
    if resolved.ops.is_empty() && resolved.unknown_ops.is_empty() && !has_errors(&diagnostics) {
        diagnostics.push(
            Diagnostic::warning(Code::EmptyProgram, "there are no ops yet")
                .hint("write one, such as `y = relu(x) : f16[1024]`, or pick an example"),
        );
    }
    let unknown_ops = resolved.unknown_ops;
    let graph = build_graph(resolved.ops, &resolved.externals).map(|graph| Graph {
        unknown_ops,
        ..graph
    });
    let problems = graph.as_ref().err().into_iter().flatten();
    diagnostics.extend(problems.map(|problem| {
        // A diagnostic of an outcome refers to a statement, not to its op.
        let op = problem.op.and_then(|op| statement_of_op.get(op).copied());
        let statement = op.and_then(|op| program.ops.get(op));
        Diagnostic {
            op,
            span: statement.map(|statement| statement.span),
            ..problem.clone()
        }
    }));
    ReadProgram {
        graph: graph.ok(),
        statement_of_op,
        diagnostics,
    }
}

/// Analyses a list of ops; an owned list is not copied.
///
/// # Errors
/// As [`build_graph`].
pub fn analyze<'a>(
    ops: impl Into<Cow<'a, [Op]>>,
    externals: &[TensorDecl],
    options: &Options,
) -> Result<Analysis, Vec<Diagnostic>> {
    Ok(analyze_graph(build_graph(ops, externals)?, options))
}

/// Analyses a graph.
pub fn analyze_graph(graph: Graph, options: &Options) -> Analysis {
    let plan = fusion::plan(&graph, options);
    analyze_plan(graph, options, plan)
}

/// Analyses a graph with kernels that are known.
pub fn analyze_kernels(graph: Graph, partition: Partition, options: &Options) -> Analysis {
    let plan = Plan {
        partition,
        ..Plan::default()
    };
    analyze_plan(graph, options, plan)
}

/// Analyses a graph with a plan that is known.
pub(super) fn analyze_plan(graph: Graph, options: &Options, plan: Plan) -> Analysis {
    let mut tensors = tensors_unmoved(&graph);
    let alone = fusion::none::eager(&graph, options.conventions);
    let external_bytes = external_bytes(&graph);
    let unfused = execute(
        &graph,
        &alone,
        options,
        external_bytes,
        None,
        &mut |kernel| {
            count_unfused(&graph, kernel, &mut tensors);
        },
    );
    size_unloaded(&graph, &mut tensors);
    let Plan {
        partition,
        certificate,
        refused,
    } = plan;
    let mut comparisons = IdVec::with_capacity(partition.kernels.len());
    let fused = execute(
        &graph,
        &partition,
        options,
        external_bytes,
        Some(&unfused),
        &mut |kernel| {
            count_fused(kernel, &mut tensors);
            comparisons.push(compare(kernel, &unfused, options));
        },
    );
    for tensor in &mut tensors {
        tensor.is_on_chip = tensor.fused_bytes == 0 && tensor.unfused_bytes > 0;
    }
    Analysis {
        tensors,
        predicted: Predicted::new(&graph, &unfused, (&fused, &partition), options),
        savings_pct: fused.traffic.savings_pct(),
        speedup: (fused.first_incomplete().is_none() && graph.unknown_ops.is_empty()).then(|| {
            if fused.time_s > 0.0 {
                unfused.time_s / fused.time_s
            } else {
                1.0
            }
        }),
        comparisons,
        partition,
        certificate,
        refused,
        unfused,
        fused,
        graph,
        options: options.clone(),
    }
}

fn compare(kernel: &Kernel, unfused: &Execution, options: &Options) -> Comparison {
    let before = || kernel.ops.iter().map(|&op| unfused.of_lone_op(op));
    let unfused_bytes = before().map(Kernel::bytes).sum();
    Comparison {
        unfused_bytes,
        unfused_bytes_read: before().map(|k| k.bytes_read).sum(),
        unfused_time_s: before().map(|k| k.placement.time_s).sum(),
        unfused_placement: place(options, kernel.work, unfused_bytes, kernel.is_free),
    }
}

fn tensors_unmoved(graph: &Graph) -> IdVec<TensorId, TensorTraffic> {
    let unmoved = |tensor: &Tensor| TensorTraffic {
        bytes: tensor.bytes().unwrap_or(0),
        source: SizeSource::Produced,
        unfused_bytes: 0,
        fused_bytes: 0,
        fused_readers: 0,
        is_on_chip: false,
    };
    graph.tensors.iter().map(unmoved).collect()
}

fn count_unfused(graph: &Graph, kernel: &Kernel, tensors: &mut IdVec<TensorId, TensorTraffic>) {
    let traffic = &kernel.traffic;
    for access in traffic.reads.iter().chain(&traffic.writes) {
        let report = &mut tensors[access.tensor];
        report.unfused_bytes += access.bytes;
        // No access to an external tensor has this source, so this is the first one.
        let is_first = report.source == SizeSource::Produced;
        let is_external = graph.tensors[access.tensor].is_external();
        let is_operand = access.source != SizeSource::Copied;
        if is_external && is_operand && (is_first || access.bytes > report.bytes) {
            (report.bytes, report.source) = (access.bytes, access.source);
        }
    }
}

/// Gives inputs and weights that no kernel loads, because ops in place overwrite them, their sizes.
fn size_unloaded(graph: &Graph, tensors: &mut IdVec<TensorId, TensorTraffic>) {
    for (report, tensor) in tensors.iter_mut().zip(&graph.tensors) {
        if tensor.is_external() && report.source == SizeSource::Produced {
            let fixed = tensor.fixed();
            report.source = fixed.map_or(SizeSource::Declared, |fixed| fixed.source);
        }
    }
}

fn count_fused(kernel: &Kernel, tensors: &mut IdVec<TensorId, TensorTraffic>) {
    for access in &kernel.traffic.reads {
        let report = &mut tensors[access.tensor];
        report.fused_bytes += access.bytes;
        report.fused_readers += 1;
    }
    for access in &kernel.traffic.writes {
        let report = &mut tensors[access.tensor];
        report.fused_bytes += access.bytes;
    }
}
