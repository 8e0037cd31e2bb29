//! Sizes at which a program can be run: its own, or smaller ones.

use super::call::{Call, calls};
use super::{NotRun, Setup};
use crate::core::cost::work::{matmul_k, op_work};
use crate::core::model::build::build_graph;
use crate::core::model::diagnostic::Severity;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, OpId};
use crate::core::model::op::{element_count, shape_text};
use crate::core::model::op_type::OpType;
use crate::core::model::partition::Partition;
use crate::core::model::program::Program;
use crate::core::notation::spelling::quoted;
use crate::core::resolve::resolve;

const MILLION: u64 = 1_000_000;
/// Sizes are made smaller until one run takes no more steps, so that the page can follow.
const WANTED_STEPS: u64 = MILLION;
/// Most steps of a run.
const MAX_STEPS: u64 = 16 * MILLION;
/// Most elements of all tensors together.
const MAX_ELEMENTS: u64 = 2 * MILLION;
/// Most ops of a program that is run.
const MAX_OPS: usize = 1_000;
/// No param becomes smaller than this: fewer elements show no rounding.
const LEAST_VALUE: i64 = 4;
/// Most sizes that are tried. Each resolves the program once.
const MAX_TRIALS: usize = 200;

/// A program at sizes at which it can be run.
pub(super) struct Fitted {
    pub(super) program: Program,
    pub(super) graph: Graph,
    pub(super) calls: IdVec<OpId, Call>,
    /// Multiply-adds and other operations on elements, of the run by kernels.
    pub(super) steps: u64,
}

/// The program with its own params, or with smaller ones where that is too much. Its graph is the same but for sizes.
///
/// # Errors
/// What to reduce, or what is wrong with the sizes that the setup fixes.
pub(super) fn fitted(
    program: &Program,
    partition: &Partition,
    setup: &Setup,
) -> Result<Fitted, NotRun> {
    let names = names(program)?;
    if names.len() > MAX_OPS {
        return Err(NotRun::new(
            format!("{} ops are too many to run", names.len()),
            format!("run a program of at most {MAX_OPS} ops, such as one round of its block"),
        ));
    }
    if partition.kernel_of.len() != names.len() {
        return Err(NotRun::new(
            "the kernels are those of another program",
            "wait for the kernels of this one",
        ));
    }
    let mut program = program.clone();
    let own: Vec<i64> = program.params.iter().map(|param| param.value).collect();
    let mut is_open = vec![true; own.len()];
    for (param, is_open) in program.params.iter_mut().zip(&mut is_open) {
        if let Some(&value) = setup.sizes.get(&param.name.text) {
            param.value = value;
            *is_open = false;
        }
    }
    let mut best = read(&program, &names, partition)?;
    for _ in 0..MAX_TRIALS {
        if best.steps <= WANTED_STEPS && elements(&best.graph) <= MAX_ELEMENTS {
            break;
        }
        // The param that has been reduced least goes next, so that the proportions stay.
        let places = (0..own.len()).filter(|&place| is_open[place]);
        let part = |place: &usize| program.params[*place].value as f64 / own[*place] as f64;
        let next = places.max_by(|a, b| part(a).total_cmp(&part(b)).then(b.cmp(a)));
        let Some(place) = next else { break };
        let value = program.params[place].value;
        let divisor = [2, 3, 5, 7]
            .into_iter()
            .find(|divisor| value % divisor == 0);
        let Some(smaller) = divisor
            .map(|divisor| value / divisor)
            .filter(|&value| value >= LEAST_VALUE)
        else {
            is_open[place] = false;
            continue;
        };
        program.params[place].value = smaller;
        if let Ok(smaller) = read(&program, &names, partition) {
            best = smaller;
        } else {
            program.params[place].value = value;
            is_open[place] = false;
        }
    }
    if best.steps > MAX_STEPS || elements(&best.graph) > MAX_ELEMENTS {
        return Err(too_much(&best));
    }
    Ok(Fitted { program, ..best })
}

/// The names of the ops in the order of the graph at the program's own sizes.
fn names(program: &Program) -> Result<Vec<String>, NotRun> {
    let graph = build_graph(resolve(program).ops, &[])
        .map_err(|_| NotRun::new("the program forms no graph", "mend its errors first"))?;
    if graph.ops.is_empty() {
        return Err(NotRun::new(
            "there is nothing to run",
            "write an op, or mend the errors of the text",
        ));
    }
    Ok(graph.ops.into_iter().map(|op| op.name).collect())
}

/// The program at the present values of its params.
fn read(program: &Program, names: &[String], partition: &Partition) -> Result<Fitted, NotRun> {
    let resolved = resolve(program);
    let built = build_graph(resolved.ops, &resolved.externals);
    let graph = built
        .ok()
        .filter(|graph| graph.ops.iter().map(|op| &op.name).eq(names));
    let Some(graph) = graph else {
        let mut problems = resolved.diagnostics.into_iter();
        let problem = problems.find(|problem| problem.severity == Severity::Error);
        return Err(match problem {
            Some(problem) => NotRun::new(problem.message, problem.hint.unwrap_or_default()),
            None => NotRun::new(
                "at these sizes the program has other ops",
                "leave the number of rounds of a block as it is",
            ),
        });
    };
    let listed = graph.listed_at.iter();
    let statement_of_op = listed.filter_map(|&at| resolved.statement_of_op.get(at).copied());
    let calls = calls(program, &statement_of_op.collect());
    let again = partition.recomputed.iter().flatten().copied();
    let steps = graph.ops.ids().chain(again).map(|op| steps_of(&graph, op));
    Ok(Fitted {
        program: Program::default(),
        steps: steps.fold(0, u64::saturating_add),
        calls,
        graph,
    })
}

/// Multiply-adds of a product, else elements that an op reads and writes; for a pool those of its windows.
pub(super) fn steps_of(graph: &Graph, op: OpId) -> u64 {
    let definition = &graph.ops[op];
    let elements = element_count(&definition.shape).unwrap_or(u64::MAX);
    let window = definition
        .indexing
        .as_ref()
        .and_then(|indexing| indexing.window);
    let each = match (definition.op_type, window) {
        (OpType::Matmul, _) => matmul_k(graph, op).unwrap_or(1),
        (OpType::Opaque, _) => {
            let flops = op_work(graph, op).flops() / u128::from(elements.max(1));
            u64::try_from(flops).unwrap_or(u64::MAX).max(1)
        }
        (_, Some(window)) => window.size[0].saturating_mul(window.size[1]),
        _ => 1,
    };
    let inputs = graph.inputs[op]
        .iter()
        .map(|&tensor| graph.tensors[tensor].elements().unwrap_or(elements));
    inputs.fold(elements.saturating_mul(each), u64::saturating_add)
}

fn elements(graph: &Graph) -> u64 {
    let of = |tensor| {
        let first = graph.consumers[tensor].first();
        let assumed = first.and_then(|&op| element_count(&graph.ops[op].shape));
        graph.tensors[tensor].elements().or(assumed).unwrap_or(0)
    };
    graph.tensors.ids().map(of).fold(0, u64::saturating_add)
}

fn too_much(fitted: &Fitted) -> NotRun {
    let graph = &fitted.graph;
    let largest = graph.ops.ids().max_by_key(|&op| steps_of(graph, op));
    let (op, shape) = largest.map_or((String::new(), String::new()), |op| {
        let op = &graph.ops[op];
        (quoted(&op.name), shape_text(&op.shape))
    });
    NotRun::new(
        format!(
            "a run would take {} million steps on {} million elements; at most {} and {} are computed here",
            fitted.steps.div_ceil(MILLION),
            elements(graph).div_ceil(MILLION),
            MAX_STEPS / MILLION,
            MAX_ELEMENTS / MILLION
        ),
        format!("make sizes smaller, first those of {op}, which writes {shape}"),
    )
}
