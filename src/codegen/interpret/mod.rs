//! Runs a program on numbers, to see where rounding happens and what it does.
//!
//! Three runs on the same inputs: *exact*, all in f64; *unfused*, where each op computes in f32 and
//! stores its output rounded to its element type; and *fused*, where only what a kernel of a
//! partition stores is rounded. f64 is computed in f64. Two things are as on a GPU: sums and
//! products of f16 are accumulated in f32, and matrix units take operands of the type of the
//! tensor, so that a value that a kernel keeps in f32 is rounded where a matmul reads it. Sums go
//! in the order of the elements; a GPU's order differs, by errors of f32.
//!
//! Everything follows from the program, the sizes and a seed, bit for bit on every machine:
//! functions such as exp are those of the crate `libm` everywhere.

mod arithmetic;
mod array;
mod elementwise;
mod evaluate;
mod externals;
mod layout;
mod number;
mod opaque;
mod pools;
mod products;
mod random;
mod reference;
mod resample;
mod rows;
mod run;
mod sizes;
mod task;

pub use evaluate::function_of;
pub use externals::{Kind, kind_of, type_of as external_type};
pub use number::{FloatFormat, rounded};
pub(crate) use random::random_key;
pub use random::uniform;
pub use reference::{Checked, Reference};
pub(crate) use run::{ops_of, stored};
pub use sizes::Budget;
pub use task::unknown_operator;

use crate::call::Call;
use crate::evaluation_error::EvaluationError;
use array::count;
use fuseline_core::fusion::none;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, OpId, TensorId};
use fuseline_core::model::partition::Partition;
use fuseline_core::model::program::Program;
use fuseline_core::notation::spelling::quoted;
use run::Prepared;
use sizes::{Fitted, Types, fitted};
use std::collections::BTreeMap;

/// Number of elements of each tensor that are kept for display.
pub const SHOWN_ELEMENTS: usize = 8;

/// The choices for a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// Determines inputs, weights and the elements that dropout drops.
    pub seed: u64,
    /// Values of params by name. Other params are made smaller if the program is too large to run.
    pub sizes: BTreeMap<String, i64>,
    /// Elements of external tensors by name, in row-major order, in place of random ones.
    pub given: BTreeMap<String, Vec<f64>>,
}

/// Why a program cannot run, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotRun {
    /// What is wrong.
    pub message: String,
    /// How to fix it; may be empty.
    pub hint: String,
}

impl NotRun {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

/// An op that cannot be evaluated. Ops that depend on it have no value either.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    pub op: OpId,
    pub reason: EvaluationError,
}

/// How far a tensor is from its exact value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Error {
    /// The largest difference of an element; infinite if an element has overflowed.
    pub max_abs: f64,
    /// The Euclidean norm of the difference divided by that of the exact tensor; infinite if an
    /// element has overflowed.
    pub relative: f64,
    /// The Euclidean norm of the difference, without elements that have overflowed.
    pub difference_length: f64,
    /// The Euclidean norm of the exact tensor, without the same elements.
    pub exact_length: f64,
    /// Number of elements that are infinite or NaN where the exact ones are finite.
    pub overflowed: usize,
}

impl Error {
    /// The error of `values`. Elements that are not finite in the exact run are skipped.
    fn between(values: &[f64], exact: &[f64]) -> Self {
        let mut error = Self::default();
        let (mut squares, mut exact_squares) = (0.0, 0.0);
        let pairs = values.iter().zip(exact);
        for (&value, &exact) in pairs.filter(|(_, exact)| exact.is_finite()) {
            if !value.is_finite() {
                error.overflowed += 1;
                continue;
            }
            let difference = (value - exact).abs();
            error.max_abs = error.max_abs.max(difference);
            squares += difference * difference;
            exact_squares += exact * exact;
        }
        (error.difference_length, error.exact_length) = (squares.sqrt(), exact_squares.sqrt());
        error.relative = match (error.overflowed, squares > 0.0) {
            (1.., _) => f64::INFINITY,
            (0, false) => 0.0,
            (0, true) => error.difference_length / error.exact_length,
        };
        if error.overflowed > 0 {
            error.max_abs = f64::INFINITY;
        }
        error
    }
}

/// A tensor in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Whether it is rounded to its element type, because a kernel stores it.
    pub is_stored: bool,
    /// The error of the stored tensor, or, if it is not stored, of the values in its kernel's
    /// registers.
    pub error: Error,
    /// Its first elements.
    pub first: Vec<f64>,
}

/// A tensor that an op writes, in all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorRuns {
    pub dtype: DType,
    pub elements: usize,
    /// Its first elements in the exact run.
    pub exact: Vec<f64>,
    /// In the run where each op is a kernel.
    pub unfused: Stored,
    /// In the run by the kernels of the partition.
    pub fused: Stored,
}

/// One of the two runs that round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Each op is a kernel.
    Unfused,
    /// By the kernels of the partition.
    Fused,
}

/// The results of running a program on numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpretation {
    /// The graph at the sizes at which it ran. Its ids are those of the program's own graph.
    pub graph: Graph,
    /// The params and their values in the run.
    pub sizes: Vec<(String, i64)>,
    /// For each tensor its runs; `None` for an external one and for one without a value.
    pub tensors: IdVec<TensorId, Option<TensorRuns>>,
    /// Ops without a value.
    pub refused: Vec<Refused>,
}

impl Interpretation {
    /// The tensor with this name. Linear in the tensors.
    pub fn tensor_named(&self, name: &str) -> Option<TensorId> {
        let mut tensors = self.graph.tensors.ids();
        tensors.find(|&tensor| self.graph.tensor_name(tensor) == name)
    }

    /// The error of a tensor in a run; `None` if it has no value or no op writes it.
    pub fn error_of(&self, tensor: TensorId, run: Run) -> Option<Error> {
        let runs = self.tensors.get(tensor)?.as_ref()?;
        Some(match run {
            Run::Unfused => runs.unfused.error,
            Run::Fused => runs.fused.error,
        })
    }

    /// The last result of the program that has a value.
    pub fn result(&self) -> Option<TensorId> {
        let mut outputs = self.graph.output.iter().rev().copied();
        outputs.find(|&tensor| self.graph.is_final(tensor) && self.tensors[tensor].is_some())
    }
}

/// Runs a program exactly, unfused and by a partition of its graph, at its own sizes or smaller
/// ones. Linear in the steps of the program, which are bounded.
///
/// # Errors
/// What to change so that it can be run.
///
/// ```
/// use fuseline_codegen::interpret::{Run, Setup, interpret};
/// use fuseline_core::{Options, analyze_program, notation::parse};
/// let text = "input x : f16[8]\nhalf = scale(x, factor=1e-6)\ny = scale(half, factor=1e6)";
/// let program = parse(text).program;
/// let analysis = analyze_program(&program, &Options::default()).analysis.unwrap();
/// let ran = interpret(&program, &analysis.partition, &Setup::default()).unwrap();
/// let y = ran.tensor_named("y").unwrap();
/// let error = |run| ran.error_of(y, run).unwrap().relative;
/// let [unfused, fused] = [Run::Unfused, Run::Fused].map(error);
/// assert!(unfused > 10.0 * fused); // 1e-6 x has few digits left in f16
/// ```
pub fn interpret(
    program: &Program,
    partition: &Partition,
    setup: &Setup,
) -> Result<Interpretation, NotRun> {
    let Fitted {
        program,
        graph,
        calls,
        ..
    } = fitted(program, partition, setup, &Budget::INTERPRETED, Types::Own)?;
    let params = program.params.into_iter();
    let sizes = params.map(|param| (param.name.text, param.value)).collect();
    run(graph, &calls, partition, setup, sizes)
}

/// Runs a graph whose ops have no attributes, at its own sizes, which the caller bounds.
///
/// # Errors
/// As [`interpret`].
pub fn interpret_graph(
    graph: &Graph,
    partition: &Partition,
    setup: &Setup,
) -> Result<Interpretation, NotRun> {
    let calls = graph.ops.iter().map(Call::without_attributes).collect();
    run(graph.clone(), &calls, partition, setup, Vec::new())
}

fn run(
    graph: Graph,
    calls: &IdVec<OpId, Call>,
    partition: &Partition,
    setup: &Setup,
    sizes: Vec<(String, i64)>,
) -> Result<Interpretation, NotRun> {
    let prepared = prepared(&graph, calls, setup)?;
    let (exact, refused) = prepared.exact();
    let unfused = prepared.by_kernels(&none::partition(&graph), &exact);
    let fused = prepared.by_kernels(partition, &exact);
    let dtypes = prepared.dtypes.clone();
    let runs = unfused
        .into_iter()
        .zip(fused)
        .zip(exact.iter().zip(&dtypes));
    let tensors = runs.map(|((unfused, fused), (exact, &dtype))| {
        let exact = exact.as_ref()?;
        Some(TensorRuns {
            dtype,
            elements: exact.len(),
            exact: exact.iter().take(SHOWN_ELEMENTS).copied().collect(),
            unfused: unfused?,
            fused: fused?,
        })
    });
    Ok(Interpretation {
        tensors: tensors.collect(),
        graph,
        sizes,
        refused,
    })
}

/// Shape and element type of a tensor in a run.
fn type_of(graph: &Graph, tensor: TensorId) -> Result<(Vec<usize>, DType), NotRun> {
    let written = (graph.tensors[tensor].producer)
        .map(|op| (graph.ops[op].shape.clone(), graph.ops[op].element_type()));
    let (shape, dtype) = match written {
        Some((shape, dtype)) => (shape, dtype.unwrap_or(DType::F16)),
        None => externals::type_of(graph, tensor).unwrap_or((Vec::new(), DType::F16)),
    };
    let sizes = shape.iter().map(|&size| usize::try_from(size).ok());
    let shape: Option<Vec<usize>> = sizes.collect();
    let shape = shape.ok_or_else(|| NotRun::new("a size is too large", "use smaller sizes"))?;
    Ok((shape, dtype))
}

fn prepared<'a>(
    graph: &'a Graph,
    calls: &'a IdVec<OpId, Call>,
    setup: &Setup,
) -> Result<Prepared<'a>, NotRun> {
    let mut shapes = IdVec::with_capacity(graph.tensors.len());
    let mut dtypes = IdVec::with_capacity(graph.tensors.len());
    let mut values = IdVec::with_capacity(graph.tensors.len());
    for (id, tensor) in graph.tensors.iter_enumerated() {
        let (shape, dtype) = type_of(graph, id)?;
        values.push(match setup.given.get(graph.tensor_name(id)) {
            _ if !tensor.is_external() => None,
            None => Some(externals::values(
                graph,
                id,
                (&shape, dtype),
                setup.seed,
                count(&shape),
            )),
            Some(given) if given.len() == count(&shape) => {
                Some(given.iter().map(|&value| rounded(value, dtype)).collect())
            }
            Some(given) => {
                let name = quoted(graph.tensor_name(id));
                return Err(NotRun::new(
                    format!(
                        "{name} has {1} elements, and {0} numbers are given",
                        given.len(),
                        count(&shape)
                    ),
                    "give one number per element",
                ));
            }
        });
        shapes.push(shape);
        dtypes.push(dtype);
    }
    Ok(Prepared {
        graph,
        calls,
        seed: setup.seed,
        shapes,
        dtypes,
        externals: values,
    })
}
