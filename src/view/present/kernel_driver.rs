//! What runs the Triton code of a program: it allocates the tensors and launches the kernels.

use super::pytorch::torch_dtype;
use fuseline_codegen::kernel_code::{of_program, triton, triton_launch};
use fuseline_core::model::program::Program;
use fuseline_core::{Analysis, IdVec, OpId, ReshapeCost, TensorId};
use std::collections::HashSet;
use std::fmt::Write as _;

/// The lines that run all kernels in their order on random inputs; `None` where a kernel has no
/// code, so that its tensors would be missing. Indices are zeros, which every table has.
pub fn triton_driver(
    analysis: &Analysis,
    program: &Program,
    statement_of_op: &IdVec<OpId, usize>,
) -> Option<String> {
    let views_are_free = analysis.options.conventions.reshape == ReshapeCost::View;
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    let coded = of_program(program, graph, statement_of_op, partition, views_are_free);
    let (mut allocated, mut launches) = (String::new(), String::new());
    let mut known: HashSet<TensorId> = HashSet::new();
    for kernel in coded {
        let Some(kernel) = kernel.ok()? else { continue };
        // A kernel that has code in another language need not have any in Triton.
        triton(graph, &kernel).ok()?;
        let mut arguments = Vec::new();
        for argument in &kernel.arguments {
            let name = format!("{:?}", kernel.tensor_name(graph, argument.tensor));
            if known.insert(argument.tensor) {
                let shape = match argument.row_value {
                    Some(_) => &[argument.elements][..],
                    None => graph.tensor_shape(argument.tensor)?,
                };
                let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
                // A list is a shape, also where it has one size or none.
                let sizes = format!("[{}]", sizes.join(", "));
                let dtype = torch_dtype(argument.dtype);
                let is_float = dtype.contains("float");
                let value = if argument.is_written {
                    format!("torch.empty({sizes}, dtype={dtype}, device=\"cuda\")")
                } else if is_float {
                    format!("torch.randn({sizes}, device=\"cuda\").to({dtype})")
                } else {
                    format!("torch.zeros({sizes}, dtype={dtype}, device=\"cuda\")")
                };
                // Writing to a `String` cannot fail.
                let _ = writeln!(allocated, "        {name}: {value},");
            }
            arguments.push(format!("tensors[{name}]"));
        }
        let launch = triton_launch(graph, &kernel);
        let _ = writeln!(launches, "    {launch}({})", arguments.join(", "));
    }
    Some(format!(
        "if __name__ == \"__main__\":\n    import torch\n\n    torch.manual_seed(0)\n    tensors = {{\n{allocated}    }}\n{launches}    torch.cuda.synchronize()\n    print({{name: tuple(tensor.shape) for name, tensor in tensors.items()}})\n"
    ))
}
