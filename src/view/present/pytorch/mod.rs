//! A program as a script of PyTorch: its ops eager and compiled, checked against each other and
//! timed on the GPU of whoever runs it.

mod expression;
mod four_bits;
mod names;

use self::expression::statement;
use self::names::Names;
use crate::present::names::{joined, op_name};
use fuseline_codegen::call::calls;
use fuseline_codegen::evaluation_error::EvaluationError;
use fuseline_codegen::interpret::{Kind, external_type, kind_of};
use fuseline_core::Analysis;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::Function;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, OpId, TensorId};
use fuseline_core::model::program::Program;
use fuseline_core::notation::print;
use std::fmt::Write as _;

/// The Python code of every script, with names in capitals where the program stands.
const BENCH: &str = include_str!("bench.py");

/// The file name of a script, which its help text names, too.
pub const SCRIPT_NAME: &str = "bench.py";

/// A script, or what in the program PyTorch cannot run.
pub type Script = Result<String, Vec<Unwritable>>;

/// An op or an input that has no counterpart in PyTorch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct Unwritable {
    pub name: String,
    pub reason: ScriptError,
}

/// Why a script cannot have an op or an input, as a clause about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScriptError {
    /// The op has no value.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// PyTorch has the function, but not for these shapes.
    #[error("a script cannot write `{0}` with these shapes")]
    Shapes(Function),
    /// An op that writes in place into a tensor with two elements a byte.
    #[error("a script cannot write elements of 4 bits in place, because two share a byte")]
    FourBitsInPlace,
    /// A matmul of f8 or f4.
    #[error("PyTorch multiplies f8 and f4 only with explicit scales: write `scaled_matmul`")]
    ScaledProduct,
    /// Scales that `torch._scaled_mm` does not take.
    #[error(
        "`torch._scaled_mm` multiplies matrices of f8 with one scale each, or with one for each row and column"
    )]
    Scales,
    /// An op without a shape.
    #[error("its shape is unknown")]
    UnknownShape,
    /// An input without a shape or an element type.
    #[error("its shape or its element type is unknown")]
    UnknownInput,
}

/// Why there is no script, in a sentence.
pub fn refusal(unwritable: &[Unwritable]) -> String {
    /// Ops that the sentence names.
    const NAMED: usize = 2;
    let each = unwritable.iter().map(Unwritable::to_string);
    let each = joined(each, ["; ", " and "], NAMED);
    format!("This program has no PyTorch script. {each}.")
}

/// The script of a program that is called `title`. `O(program + ops)`.
///
/// # Errors
/// Ops of unknown shape, ops of a bare type, which do not say what they compute, and element types
/// that PyTorch does not compute in.
pub fn script(
    title: &str,
    program: &Program,
    analysis: &Analysis,
    statement_of_op: &IdVec<OpId, usize>,
) -> Script {
    let graph = &analysis.graph;
    let names = Names::of(graph);
    let unknown = graph.unknown_ops.iter().map(|name| Unwritable {
        name: name.clone(),
        reason: ScriptError::UnknownShape,
    });
    let mut unwritable: Vec<Unwritable> = unknown.collect();
    let mut inputs = String::new();
    let externals: Vec<TensorId> = (graph.tensors.ids())
        .filter(|&tensor| graph.tensors[tensor].is_external())
        .collect();
    for &tensor in &externals {
        match input(graph, tensor) {
            // Writing to a string cannot fail.
            Ok(line) => drop(writeln!(inputs, "        {line},")),
            Err(reason) => unwritable.push(Unwritable {
                name: graph.tensor_name(tensor).to_owned(),
                reason,
            }),
        }
    }
    let mut body = String::new();
    let calls = calls(program, statement_of_op);
    for (id, op) in graph.ops.iter_enumerated() {
        match statement(graph, &names, id, &calls[id]) {
            Ok(None) => {}
            Ok(Some(statement)) => {
                let label = if op.name == op.output {
                    String::new()
                } else {
                    format!("  # {}", one_line(&op.name))
                };
                let _ = writeln!(body, "    {statement}{label}");
            }
            Err(reason) => unwritable.push(Unwritable {
                name: op_name(graph, id).to_owned(),
                reason,
            }),
        }
    }
    if !unwritable.is_empty() {
        return Err(unwritable);
    }
    let list = |tensors: &[TensorId]| {
        let names: Vec<&str> = tensors.iter().map(|&t| names.of_tensor(t)).collect();
        names.join(", ")
    };
    let returned = results(graph);
    let mut shapes = String::new();
    for &op in &returned {
        let op = &graph.ops[op];
        let dtype = op.element_type();
        let (shape, dtype) = if four_bits::is_of(dtype) {
            (four_bits::shape_of_bytes(&op.shape), "torch.uint8")
        } else {
            (
                shape_of(&op.shape),
                torch_dtype(dtype.unwrap_or(DType::F32)),
            )
        };
        let _ = writeln!(shapes, "    ({shape}, {dtype}),");
    }
    let bench = four_bits::completed(BENCH, graph, &returned);
    let returned: Vec<TensorId> = returned.iter().map(|&op| graph.output[op]).collect();
    let returned = list(&returned);
    let has_random = (graph.ops.iter()).any(|op| op.function == Some(Function::Dropout));
    let writes_inputs = graph.ops.iter().any(|op| op.in_place);
    let python = |is: bool| if is { "True" } else { "False" };
    let title = one_line(title);
    let arguments = list(&externals);
    Ok(bench
        .replace("__TITLE__", &title)
        .replace("__DIGEST__", &graph.digest())
        .replace("__HAS_RANDOM__", python(has_random))
        .replace("__WRITES_INPUTS__", python(writes_inputs))
        .replace("    __RESULTS__\n", &shapes)
        .replace("        __INPUTS__\n", &inputs)
        .replace("__ARGUMENTS__", &arguments)
        .replace("    __BODY__\n", &body)
        .replace("__RETURNED__", &returned)
        .replace("__TEXT__", &quoted(&print(program))))
}

/// A text that cannot end a comment or a string early.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\\', '"'], " ")
}

/// A text escaped for a triple-quoted string of Python.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The ops whose values the program returns: those that no op reads, and marked ones.
fn results(graph: &Graph) -> Vec<OpId> {
    let ops = graph.ops.iter_enumerated();
    let returned = ops.filter(|(id, op)| op.is_output || graph.successors[*id].is_empty());
    returned.map(|(id, _)| id).collect()
}

/// How the script draws an input or a weight.
fn input(graph: &Graph, tensor: TensorId) -> Result<String, ScriptError> {
    let (shape, dtype) = external_type(graph, tensor).ok_or(ScriptError::UnknownInput)?;
    let sizes: Vec<usize> = (shape.iter())
        .map(|&size| usize::try_from(size).unwrap_or(usize::MAX))
        .collect();
    let dtype_name = torch_dtype(dtype);
    let shape = shape_of(&shape);
    let drawn = match kind_of(graph, tensor, &sizes, dtype) {
        Kind::Normal { mean, deviation } => {
            format!("normal({shape}, {dtype_name}, {mean:?}, {deviation:?})")
        }
        Kind::Positive => format!("positive({shape}, {dtype_name})"),
        Kind::Index { places } => format!("whole({shape}, {dtype_name}, 0, {places})"),
        Kind::Small => format!("whole({shape}, {dtype_name}, -8, 8)"),
        Kind::Coin => format!("whole({shape}, {dtype_name}, 0, 2)"),
    };
    Ok(if four_bits::is_of(Some(dtype)) {
        four_bits::packed(dtype, &drawn)
    } else {
        drawn
    })
}

/// A shape as a Python tuple.
fn shape_of(shape: &[u64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        sizes => {
            let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}

/// The PyTorch name of an element type. PyTorch has none of 4 bits; scripts compute with their
/// values in these types.
pub(super) fn torch_dtype(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "torch.float64",
        DType::F32 | DType::F4 => "torch.float32",
        DType::Bf16 => "torch.bfloat16",
        DType::F16 => "torch.float16",
        DType::I64 => "torch.int64",
        DType::I32 => "torch.int32",
        DType::I8 | DType::I4 => "torch.int8",
        DType::Bool => "torch.bool",
        DType::F8e4m3 => "torch.float8_e4m3fn",
        DType::F8e5m2 => "torch.float8_e5m2",
        DType::F8e8m0 => "torch.float8_e8m0fnu",
    }
}
