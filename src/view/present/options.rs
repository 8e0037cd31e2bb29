//! The choices of a visitor, in words.

use fuseline_core::fusion::attention::{Attention, find};
use fuseline_core::model::options::Switch;
use fuseline_core::{Analysis, Externals, F32Matmul, Policy, ReshapeCost};

/// The name of a policy for visitors, who know the compiler by the function that calls it.
pub const fn policy_title(policy: Policy) -> &'static str {
    match policy {
        Policy::None => "none",
        Policy::Rules => "rules",
        Policy::Inductor => "torch.compile",
        Policy::Optimal => "optimal",
        Policy::Manual => "manual",
    }
}

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
            "the least bytes or time that any legal kernels reach, attention as one of them, proven or with its gap"
        }
    }
}

/// What a policy does, in a few words for those who choose one.
pub const fn policy_gloss(policy: Policy) -> &'static str {
    match policy {
        Policy::None => "each op a kernel of its own",
        Policy::Rules => "one scan with simple rules",
        Policy::Inductor => "as PyTorch compiles it",
        Policy::Optimal => "the cheapest legal kernels",
        Policy::Manual => "your own kernels",
    }
}

/// What to do under the policy `manual` while the text states no kernel.
pub const NO_KERNEL_STATED: &str = "Under manual each op is a kernel of its own until you merge kernels: drag one onto another, or press m on one.";

/// The name of an on-off option.
pub const fn switch_name(switch: Switch) -> &'static str {
    match switch {
        Switch::Horizontal => "horizontal fusion",
        Switch::Prologue => "matmul prologue",
        Switch::AfterReductions => "after reductions",
        Switch::MaxAutotune => "max-autotune",
        Switch::Attention => "attention as one kernel",
        Switch::AttentionSearch => "attention where it pays",
    }
}

/// What an on-off option does, in a sentence.
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
            "The compiler may generate its matmuls, which then take an element-wise epilogue."
        }
        Switch::Attention => {
            "Matmul, softmax and matmul in a row run in tiles, and the scores never reach memory."
        }
        Switch::AttentionSearch => {
            "The search may run each attention as one kernel, where that costs less."
        }
    }
}

/// Why an option that is off would change nothing if it were on; `None` where it is on or would change something. `O(ops + reads)`.
pub fn switch_is_idle(analysis: &Analysis, switch: Switch) -> Option<&'static str> {
    let mut fusion = analysis.options.fusion;
    // The search has an option of its own.
    let is_searched = analysis.options.policy == Policy::Optimal;
    if switch != Switch::Attention || is_searched || *switch.flag(&mut fusion) {
        return None;
    }
    let kernel_of = &analysis.partition.kernel_of;
    let is_one = |attention: &Attention| {
        let mut kernels = attention.ops.iter().map(|&op| kernel_of[op]);
        let first = kernels.next();
        kernels.all(|kernel| Some(kernel) == first)
    };
    let found = find(&analysis.graph);
    (!found.is_empty() && found.iter().all(is_one)).then_some(match analysis.options.policy {
        Policy::Inductor => "The compiler finds it here by itself.",
        _ => "It is one here already.",
    })
}

/// A choice in a few words, and in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceWords {
    /// What it is called.
    pub name: &'static str,
    /// What it means.
    pub sentence: &'static str,
}

/// How large an external tensor counts.
pub const fn externals_words(externals: Externals) -> ChoiceWords {
    match externals {
        Externals::Declared => ChoiceWords {
            name: "as declared",
            sentence: "Inputs and weights count as declared, else with the only size that the other shapes allow, else as large as their reader's output.",
        },
        Externals::KnownOnly => ChoiceWords {
            name: "0 bytes",
            sentence: "Only tensors that an op computes count. Some published answers do this.",
        },
        Externals::OutputShape => ChoiceWords {
            name: "as their reader's output",
            sentence: "Every input and weight counts as large as the output of the op that reads it, whatever is declared.",
        },
    }
}

/// What a reshape costs that stands alone.
pub const fn reshape_words(reshape: ReshapeCost) -> ChoiceWords {
    match reshape {
        ReshapeCost::Copy => ChoiceWords {
            name: "a copy",
            sentence: "A reshape that stands alone reads its input and writes its output like any op.",
        },
        ReshapeCost::View => ChoiceWords {
            name: "a view",
            sentence: "A reshape only indexes the same bytes in another way: it moves nothing and is not launched.",
        },
    }
}

/// The type in which a matmul on f32 operands is computed.
pub const fn f32_matmul_words(f32_matmul: F32Matmul) -> ChoiceWords {
    match f32_matmul {
        F32Matmul::F32 => ChoiceWords {
            name: "f32",
            sentence: "On the vector units, as PyTorch computes it by default.",
        },
        F32Matmul::Tf32 => ChoiceWords {
            name: "TF32",
            sentence: "On the matrix units, with a mantissa of 10 bits, as PyTorch does with allow_tf32. A device without TF32 computes in f32.",
        },
    }
}
