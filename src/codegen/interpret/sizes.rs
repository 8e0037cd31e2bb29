//! Sizes at which a program can be run: its own, or smaller ones.

use super::{NotRun, Setup};
use crate::call::{Call, calls};
use fuseline_core::cost::work::{matmul_k, op_work};
use fuseline_core::model::build::build_graph;
use fuseline_core::model::diagnostic::Severity;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::Function;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, OpId};
use fuseline_core::model::op::{element_count, shape_text};
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::partition::Partition;
use fuseline_core::model::program::Program;
use fuseline_core::notation::spelling::quoted;
use fuseline_core::resolve::{Resolved, resolve};

const MILLION: u64 = 1_000_000;
const BILLION: u64 = 1_000 * MILLION;
const TRILLION: u64 = 1_000 * BILLION;
/// Most ops of a program that is run.
const MAX_OPS: usize = 1_000;
/// No param becomes smaller than this: fewer elements show no rounding.
const LEAST_VALUE: i64 = 4;
/// Most sizes that are tried. Each resolves the program once.
const MAX_TRIALS: usize = 200;

/// How large a run may be. A step reads, writes or computes an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Sizes are made smaller until one run takes no more steps.
    pub wanted_steps: u64,
    /// Most steps of a run, where no size can be smaller.
    pub max_steps: u64,
    /// Steps that take as long as a multiply-add of a matmul or convolution.
    pub steps_per_product_term: f64,
    /// Most elements of all tensors together.
    pub max_elements: u64,
    /// Most elements of one tensor.
    pub max_tensor_elements: u64,
}

impl Budget {
    /// The limits of a run in the interpreter, which keep the page responsive.
    pub const INTERPRETED: Self = Self {
        wanted_steps: MILLION,
        max_steps: 16 * MILLION,
        steps_per_product_term: 1.0,
        max_elements: 2 * MILLION,
        max_tensor_elements: 2 * MILLION,
    };

    /// No limits, so that a program keeps its own sizes.
    pub const ANY: Self = Self {
        wanted_steps: u64::MAX,
        max_steps: u64::MAX,
        steps_per_product_term: 1.0,
        max_elements: u64::MAX,
        max_tensor_elements: u64::MAX,
    };

    fn holds(&self, steps: u64, fitted: &Fitted) -> bool {
        let elements = elements(&fitted.graph);
        fitted.steps <= steps
            && elements.all <= self.max_elements
            && elements.largest <= self.max_tensor_elements
    }
}

/// The element types of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Types {
    /// As written.
    Own,
    /// What shaders compute: f32 for all floats, and no integers below 32 bits, which overflow
    /// early.
    F32,
    /// The work of shaders: four bytes an element, and f32 arithmetic, even for integers.
    Words,
}

impl Types {
    const fn of(self, own: DType) -> DType {
        match (self, own) {
            (Self::Own, _) | (Self::F32, DType::I64 | DType::I32 | DType::Bool) => own,
            (Self::F32, DType::I8 | DType::I4) => DType::I32,
            (Self::F32 | Self::Words, _) => DType::F32,
        }
    }
}

/// A program at sizes at which it can be run.
pub(super) struct Fitted {
    pub(super) program: Program,
    pub(super) graph: Graph,
    pub(super) calls: IdVec<OpId, Call>,
    /// Steps of the run by kernels.
    steps: u64,
    /// The steps of one evaluation of each op.
    steps_of_op: IdVec<OpId, u64>,
}

/// The program with its own params, or with smaller ones if those exceed the budget. Its graph
/// differs in sizes only.
///
/// # Errors
/// What to reduce, or what is wrong with the sizes that the setup fixes.
pub(super) fn fitted(
    program: &Program,
    partition: &Partition,
    setup: &Setup,
    budget: &Budget,
    types: Types,
) -> Result<Fitted, NotRun> {
    let names = names(program)?;
    if names.len() > MAX_OPS {
        return Err(NotRun::new(
            format!("{} ops are too many to run", names.len()),
            format!("run a program of at most {MAX_OPS} ops, such as one iteration of its block"),
        ));
    }
    if partition.kernel_of.len() != names.len() {
        return Err(NotRun::new(
            "the kernels belong to another program",
            "wait for the kernels of this program",
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
    let mut best = read(&program, &names, partition, types, budget)?;
    for _ in 0..MAX_TRIALS {
        if budget.holds(budget.wanted_steps, &best) {
            break;
        }
        // The param that has been reduced least is reduced next, which keeps the proportions.
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
        if let Ok(smaller) = read(&program, &names, partition, types, budget) {
            best = smaller;
        } else {
            program.params[place].value = value;
            is_open[place] = false;
        }
    }
    if !budget.holds(budget.max_steps, &best) {
        return Err(too_much(&best, budget));
    }
    Ok(Fitted { program, ..best })
}

/// The names of the ops in the order of the graph at the program's own sizes.
fn names(program: &Program) -> Result<Vec<String>, NotRun> {
    let graph = build_graph(resolve(program).ops, &[])
        .map_err(|_| NotRun::new("the program forms no graph", "correct its errors first"))?;
    if graph.ops.is_empty() {
        return Err(NotRun::new(
            "there is nothing to run",
            "write an op, or correct the errors of the text",
        ));
    }
    Ok(graph.ops.into_iter().map(|op| op.name).collect())
}

/// The graph of a program at other element types. Linear in the program.
pub(super) fn graph_in(
    program: &Program,
    partition: &Partition,
    types: Types,
) -> Result<Graph, NotRun> {
    Ok(read(program, &names(program)?, partition, types, &Budget::ANY)?.graph)
}

/// The program at the present values of its params.
fn read(
    program: &Program,
    names: &[String],
    partition: &Partition,
    types: Types,
    budget: &Budget,
) -> Result<Fitted, NotRun> {
    let mut resolved = resolve(program);
    if let Some(refused) = unknown_shapes(&resolved.unknown_ops) {
        return Err(refused);
    }
    if types != Types::Own {
        retype(&mut resolved, types);
    }
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
                "keep the number of iterations of a block",
            ),
        });
    };
    let listed = graph.listed_at.iter();
    let statement_of_op = listed.filter_map(|&at| resolved.statement_of_op.get(at).copied());
    let calls = calls(program, &statement_of_op.collect());
    let again = partition.recomputed.iter().flatten().copied();
    let steps_of = match types {
        Types::Own => steps_of,
        Types::F32 | Types::Words => shader_steps_of,
    };
    let ids = graph.ops.ids();
    let steps_of_op: IdVec<OpId, u64> = ids
        .map(|op| steps_of(&graph, op, budget.steps_per_product_term))
        .collect();
    let ids = graph.ops.ids().chain(again);
    Ok(Fitted {
        program: Program::default(),
        steps: ids.fold(0, |steps, op| steps_of_op[op].saturating_add(steps)),
        steps_of_op,
        calls,
        graph,
    })
}

/// Why a program with ops of unknown shape is not run; `None` if it has none.
fn unknown_shapes(ops: &[String]) -> Option<NotRun> {
    /// Number of ops that the sentence names.
    const NAMED: usize = 3;
    let mut named: Vec<String> = ops.iter().take(NAMED).map(|name| quoted(name)).collect();
    if ops.len() > NAMED {
        named.push(format!("{} more", ops.len() - NAMED));
    }
    let last = named.pop()?;
    let message = if named.is_empty() {
        format!("the shape of {last} is unknown")
    } else {
        format!("the shapes of {} and {last} are unknown", named.join(", "))
    };
    let hint = "write the shape of each opaque operator after a colon";
    Some(NotRun::new(message, hint))
}

/// The steps of an op. For a product these are its multiply-adds, each at its cost; for a pool the
/// elements of its windows; else the elements that the op reads and writes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of steps, never negative"
)]
fn steps_of(graph: &Graph, op: OpId, steps_per_product_term: f64) -> u64 {
    let definition = &graph.ops[op];
    let elements = element_count(&definition.shape).unwrap_or(u64::MAX);
    let window = definition
        .indexing
        .as_ref()
        .and_then(|indexing| indexing.window);
    let each = match (definition.op_type, window) {
        (OpType::Matmul, _) => {
            (matmul_k(graph, op).unwrap_or(1) as f64 * steps_per_product_term).ceil() as u64
        }
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

/// Steps of an op in a shader, where each element of a cumulative sum adds up all those before it.
fn shader_steps_of(graph: &Graph, op: OpId, steps_per_product_term: f64) -> u64 {
    let definition = &graph.ops[op];
    let steps = steps_of(graph, op, steps_per_product_term);
    if definition.function != Some(Function::Cumsum) {
        return steps;
    }
    let elements = element_count(&definition.shape).unwrap_or(u64::MAX);
    let mut axes = definition.reduced_axes(definition.shape.len()).into_iter();
    let row = axes.find_map(|axis| definition.shape.get(axis)).copied();
    let row = row.unwrap_or(1);
    elements.saturating_mul(row).max(steps)
}

fn retype(resolved: &mut Resolved, types: Types) {
    for op in &mut resolved.ops {
        if let Some(dtype) = op.element_type().map(|own| types.of(own)) {
            (op.dtype, op.bytes_per_element) = (Some(dtype), dtype.size());
        }
    }
    for tensor in &mut resolved.externals {
        if let Some(dtype) = tensor.element_type().map(|own| types.of(own)) {
            (tensor.dtype, tensor.bytes_per_element) = (Some(dtype), dtype.size());
        }
    }
}

/// Elements of tensors.
struct Elements {
    all: u64,
    largest: u64,
}

fn elements(graph: &Graph) -> Elements {
    let of = |tensor| {
        let first = graph.consumers[tensor].first();
        let assumed = first.and_then(|&op| element_count(&graph.ops[op].shape));
        graph.tensors[tensor].elements().or(assumed).unwrap_or(0)
    };
    let each = graph.tensors.ids().map(of);
    Elements {
        all: each.clone().fold(0, u64::saturating_add),
        largest: each.max().unwrap_or(0),
    }
}

/// A count with three digits: `16 million`, `1.11 trillion`. Rounded up, so that what is above a
/// round limit never reads as the limit.
fn in_words(count: u64) -> String {
    let (unit, name) = match count {
        0..BILLION => (MILLION, "million"),
        BILLION..TRILLION => (BILLION, "billion"),
        _ => (TRILLION, "trillion"),
    };
    let parts = match count / unit {
        0..10 => 100,
        10..100 => 10,
        _ => 1,
    };
    let rounded = count.div_ceil(unit / parts);
    let (whole, part) = (rounded / parts, rounded % parts);
    let digits = match (parts, part) {
        (_, 0) => whole.to_string(),
        (100, _) => format!("{whole}.{part:02}"),
        _ => format!("{whole}.{part}"),
    };
    format!("{digits} {name}")
}

fn too_much(fitted: &Fitted, budget: &Budget) -> NotRun {
    let graph = &fitted.graph;
    let largest = graph.ops.ids().max_by_key(|&op| fitted.steps_of_op[op]);
    let (op, shape) = largest.map_or((String::new(), String::new()), |op| {
        let op = &graph.ops[op];
        (quoted(&op.name), shape_text(&op.shape))
    });
    let elements = elements(graph);
    let has_room = fitted.steps <= budget.max_steps && elements.all <= budget.max_elements;
    let message = if has_room {
        format!(
            "the largest tensor would have {} elements, and the limit is {}",
            in_words(elements.largest),
            in_words(budget.max_tensor_elements)
        )
    } else {
        format!(
            "a run would take {} steps on {} elements, and the limits are {} and {}",
            in_words(fitted.steps),
            in_words(elements.all),
            in_words(budget.max_steps),
            in_words(budget.max_elements)
        )
    };
    NotRun::new(
        message,
        format!("make sizes smaller, starting with {op}, which writes {shape}"),
    )
}
