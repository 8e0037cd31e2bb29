//! `fuseline code FILE`: kernels as code.

use super::failure::Failed;
use super::output::print;
use crate::analysed::Analysed;
use fuseline_codegen::kernel_code::CodeLanguage;
use fuseline_core::KernelId;
use fuseline_view::present::kernel_code::{KernelCode, kernel_code, no_code};
use fuseline_view::present::kernel_driver::triton_driver;
use fuseline_view::present::names::{counted, op_names};

/// Prints the code of all kernels, or of the kernel with this number.
///
/// Among all kernels, one without code is a comment. Alone it is an error, unless nothing runs for
/// it.
pub(super) fn code(
    analysed: &Analysed,
    number: Option<usize>,
    language: CodeLanguage,
) -> Result<(), Failed> {
    let Analysed {
        file,
        parsed,
        analysis,
        statement_of_op,
        ..
    } = analysed;
    let kernels = &analysis.fused.kernels;
    let chosen = |kernel: &KernelId| number.is_none_or(|number| kernel.number() == number);
    let chosen: Vec<KernelId> = kernels.ids().filter(chosen).collect();
    if let (Some(number), []) = (number, &chosen[..]) {
        return Err(Failed::command(format!(
            "{file}: there is no kernel {number}; the kernels are 1 to {}",
            kernels.len()
        )));
    }
    let line = |text: &mut String, comment: &str| {
        text.extend([language.comment(), " ", comment, "\n"]);
    };
    let mut text = String::new();
    for kernel in chosen {
        let ops = op_names(&analysis.graph, &kernels[kernel].ops);
        if !text.is_empty() {
            text.push('\n');
        }
        line(&mut text, &format!("Kernel {}: {ops}", kernel.number()));
        let program = &parsed.program;
        match kernel_code(analysis, program, statement_of_op, kernel, language) {
            KernelCode::Lines { text: code, .. } => text.push_str(&code),
            KernelCode::Refused(reason) if number.is_some() => {
                return Err(Failed::command(format!("{file}: {}", no_code(&reason))));
            }
            KernelCode::Refused(reason) => line(&mut text, &no_code(&reason)),
            KernelCode::Nothing => line(&mut text, KernelCode::NOTHING),
        }
    }
    let is_whole = number.is_none() && language == CodeLanguage::Triton;
    if let Some(driver) = is_whole
        .then(|| triton_driver(analysis, &parsed.program, statement_of_op))
        .flatten()
    {
        text.extend(["\n\n", driver.as_str()]);
    }
    let unknown = analysis.graph.unknown_ops.len();
    if number.is_none() && unknown > 0 {
        if !text.is_empty() {
            text.push('\n');
        }
        let ops = counted(unknown, "op");
        line(&mut text, &format!("Not printed: {ops} of unknown shape"));
    }
    print(&text)
}
