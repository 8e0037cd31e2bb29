//! What a visitor may choose, in words.

use crate::core::Policy;
use crate::core::model::options::Switch;

/// What a policy does, in a sentence.
pub const fn policy_summary(policy: Policy) -> &'static str {
    match policy {
        Policy::None => "every op runs as a kernel of its own",
        Policy::Rules => {
            "one forward scan: element-wise chains, matmul epilogues, reductions that end a kernel"
        }
        Policy::Inductor => {
            "as torch.compile does: pointwise ops and reductions over the same rows share kernels, matmuls are library calls"
        }
        Policy::Manual => {
            "the kernels that the text states by `@kernel 1`, as far as they are legal"
        }
        Policy::Optimal => {
            "the least bytes or time that any legal kernels reach, proven or with its gap"
        }
    }
}

/// What a switch among the options is called.
pub const fn switch_name(switch: Switch) -> &'static str {
    match switch {
        Switch::Horizontal => "horizontal fusion",
        Switch::Prologue => "matmul prologue",
        Switch::AfterReductions => "after reductions",
        Switch::MaxAutotune => "max-autotune",
        Switch::Attention => "attention as one kernel",
    }
}

/// What a switch among the options does, in a sentence.
pub const fn switch_sentence(switch: Switch) -> &'static str {
    match switch {
        Switch::Horizontal => "Ops that only read a common tensor may share a kernel.",
        Switch::Prologue => {
            "Element-wise ops and reshapes may run in the kernel of a matmul that reads them."
        }
        Switch::AfterReductions => {
            "Ops may follow a reduction in its kernel while the row that they need again fits on chip."
        }
        Switch::MaxAutotune => {
            "The compiler generates its matmuls, which take an element-wise epilogue."
        }
        Switch::Attention => {
            "Matmul, softmax and matmul in a row run in tiles, and the scores never reach memory."
        }
    }
}
