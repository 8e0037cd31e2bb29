//! A kernel as code: its lines, the bytes that each moves, and those that fusion removed.

use super::format::format_bytes;
use fuseline_codegen::code_bytes::code_bytes;
use fuseline_codegen::kernel_code::{CodeLanguage, CodegenError, Kernel, Line, of_kernel};
use fuseline_core::model::program::Program;
use fuseline_core::{Analysis, Graph, IdVec, KernelId, OpId, ReshapeCost, TensorId};

/// The code of a kernel, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelCode {
    /// A kernel that runs.
    Lines {
        /// The code to copy.
        text: String,
        /// The code line by line, with the lines that fusion removed.
        lines: Vec<CodeLine>,
    },
    /// A kernel without code.
    Refused(CodegenError),
    /// Nothing runs.
    Nothing,
}

/// A line of code as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeLine {
    /// With its indentation.
    pub text: String,
    /// The load or store of the line.
    pub moved: Option<Moved>,
}

/// A load or a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub tensor: TensorId,
    /// Its kind, and the name of the tensor, in a sentence.
    pub words: String,
    /// Its bytes; none for a tensor that was loaded before.
    pub bytes: Option<String>,
    /// Fusion removed it.
    pub is_removed: bool,
}

impl KernelCode {
    /// Why there are no lines where nothing runs.
    pub const NOTHING: &str =
        "This kernel needs no launch: its views only index what other kernels write.";
    /// What the colours of its lines mean.
    pub const COLOURS: &str = "A load or store has the colour of the kernel that writes its tensor. Inputs and weights are grey. Loads and stores that fusion removes are struck through.";
    pub const NOTE: &str = "Fuseline generates this code with the sizes compiled in. It is not the code that torch.compile generates.";
}

/// The tensor that gives a load or a store its colour: a row value has that of the tensor whose
/// rows have it.
fn tensor_of(kernel: &Kernel, tensor: TensorId, graph: &Graph) -> TensorId {
    let argument = kernel.arguments.iter().find(|own| own.tensor == tensor);
    let row_value = argument.and_then(|own| own.row_value.as_ref());
    row_value.map_or(tensor, |own| graph.output[own.op])
}

/// Why a kernel has no code, in a sentence.
pub fn no_code(reason: &CodegenError) -> String {
    format!("This kernel has no code: {reason}.")
}

/// The code of a kernel in a language. Takes time linear in the program, besides generating the
/// code.
pub fn kernel_code(
    analysis: &Analysis,
    program: &Program,
    statement_of_op: &IdVec<OpId, usize>,
    kernel: KernelId,
    language: CodeLanguage,
) -> KernelCode {
    let views_are_free = analysis.options.conventions.reshape == ReshapeCost::View;
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    let coded = of_kernel(
        program,
        graph,
        statement_of_op,
        partition,
        views_are_free,
        kernel,
    );
    let own = match coded {
        Ok(Some(own)) => own,
        Ok(None) => return KernelCode::Nothing,
        Err(reason) => return KernelCode::Refused(reason),
    };
    let code = match language.code(graph, &own) {
        Ok(code) => code,
        Err(reason) => return KernelCode::Refused(reason),
    };
    let bytes = code_bytes(analysis, kernel, &own, &code);
    let line = |(line, bytes): (&Line, Option<u64>)| CodeLine {
        text: line.indented(),
        moved: line.access.map(|access| {
            let name = own.tensor_name(graph, access.tensor);
            let kind = if access.is_store { "store" } else { "load" };
            Moved {
                tensor: tensor_of(&own, access.tensor, graph),
                words: match (access.is_removed, bytes) {
                    (true, _) => format!("{kind} of {name}, removed by fusion"),
                    (false, Some(_)) => format!("{kind} of {name}"),
                    (false, None) => format!("{kind} of {name}, counted above"),
                },
                bytes: bytes.map(format_bytes),
                is_removed: access.is_removed,
            }
        }),
    };
    KernelCode::Lines {
        text: code.text(),
        lines: code.lines.iter().zip(bytes).map(line).collect(),
    }
}
