//! The choices of a visitor, in words.

use fuseline_core::fusion::attention::{Attention, find};
use fuseline_core::model::options::Switch;
use fuseline_core::{Analysis, Externals, F32Matmul, Objective, Options, Policy, ReshapeCost};

/// The name of a policy for visitors. Its id on the command line and in links is `Policy::name`.
///
/// The optimum is named by what the search minimizes, because the fewest bytes are not always the
/// least time.
pub const fn policy_title(policy: Policy, objective: Objective) -> &'static str {
    match (policy, objective) {
        (Policy::None, _) => "no fusion",
        (Policy::Rules, _) => "textbook rules",
        (Policy::Inductor, _) => "torch.compile",
        (Policy::Optimal, Objective::Bytes) => "fewest bytes",
        (Policy::Optimal, Objective::Time) => "least time",
        (Policy::Optimal, Objective::Measured) => "least measured time",
        (Policy::Manual, _) => "by hand",
    }
}

/// A policy in running text, where a title such as *fewest bytes* would read as an amount.
pub fn policy_phrase(policy: Policy, objective: Objective) -> String {
    let title = policy_title(policy, objective);
    match policy {
        Policy::Rules => format!("the {title}"),
        Policy::Inductor => title.to_owned(),
        Policy::None | Policy::Optimal | Policy::Manual => format!("the policy {title}"),
    }
}

/// Fusion by a policy, as the subject of a sentence: `Fusing by torch.compile`,
/// `Fusing for fewest bytes`.
pub fn fusing(options: &Options) -> String {
    let (policy, fusion) = (options.policy, &options.fusion);
    let title = policy_title(policy, fusion.objective);
    match policy {
        Policy::Inductor => {
            let version = if fusion.torch_2_15 { " 2.15" } else { "" };
            let tuned = if fusion.max_autotune {
                format!(" with {}", switch_name(Switch::MaxAutotune))
            } else {
                String::new()
            };
            format!("Fusing by {title}{version}{tuned}")
        }
        Policy::None => "Fusing".to_owned(),
        Policy::Rules => format!("Fusing by {title}"),
        Policy::Optimal => format!("Fusing for {title}"),
        Policy::Manual => format!("Fusing {title}"),
    }
}

/// What a policy does, in a sentence.
pub const fn policy_summary(policy: Policy) -> &'static str {
    match policy {
        Policy::None => "each op is a kernel of its own",
        Policy::Rules => {
            "one forward scan fuses elementwise chains, matmul epilogues, and reductions that end a kernel"
        }
        Policy::Inductor => {
            "a model of TorchInductor, of torch 2.11 or by an option 2.15: elementwise ops and reductions over the same rows share kernels, and matmuls and attention are library calls"
        }
        Policy::Manual => {
            "your own kernels: the kernel marks in the text (@kernel 1), where they are legal"
        }
        Policy::Optimal => {
            "the legal kernels with the fewest bytes or the least time, proven optimal or with the gap to the optimum"
        }
    }
}

/// What a policy does, in a few words for those who choose one.
pub const fn policy_gloss(policy: Policy) -> &'static str {
    match policy {
        Policy::None => "each op a kernel of its own",
        Policy::Rules => "one scan with simple rules",
        Policy::Inductor => "as PyTorch compiles it",
        Policy::Optimal => "the best legal kernels",
        Policy::Manual => "your own kernels",
    }
}

/// What to do under the policy *by hand* while the text has no kernel mark.
pub const fn no_kernel_stated(is_attention_fused: bool) -> &'static str {
    if is_attention_fused {
        "Each op is a kernel of its own until you merge kernels, except for fused attention (Options). Drag one onto another, or select one and choose a partner."
    } else {
        "Each op is a kernel of its own until you merge kernels. Drag one onto another, or select one and choose a partner."
    }
}

/// The name of an on-off option.
pub const fn switch_name(switch: Switch) -> &'static str {
    match switch {
        Switch::Horizontal => "horizontal fusion",
        Switch::Prologue => "matmul prologues",
        Switch::AfterReductions => "ops after reductions",
        Switch::MaxAutotune => "max-autotune",
        Switch::Torch215 => "torch 2.15",
        Switch::Attention => "fused attention",
        Switch::AttentionSearch => "fused attention where it pays",
        Switch::KernelMarks => "kernel marks on top",
    }
}

/// What an on-off option does, in a sentence.
pub const fn switch_sentence(switch: Switch) -> &'static str {
    match switch {
        Switch::Horizontal => {
            "Ops that read the same tensor may share a kernel, even if neither reads the other's output."
        }
        Switch::Prologue => {
            "Elementwise ops and reshapes may run in the kernel of the matmul that reads them."
        }
        Switch::AfterReductions => {
            "Ops may follow a reduction in its kernel if the row that they read again fits on chip."
        }
        Switch::MaxAutotune => {
            "The compiler may generate its matmuls, and a generated matmul takes an elementwise epilogue."
        }
        Switch::Torch215 => {
            "The compiler is that of torch 2.15 and not of 2.11, which was measured on a GPU."
        }
        Switch::Attention => {
            "Matmul, softmax and matmul run as one kernel in tiles, and the scores stay on chip."
        }
        Switch::AttentionSearch => {
            "The search may run an attention block as one kernel where that costs less."
        }
        Switch::KernelMarks => {
            "Kernels of the policy that contain ops with one @kernel mark are one kernel, where it is legal."
        }
    }
}

/// Why an option that is off would change nothing if it were on; `None` where it is on or would
/// change something. `O(ops + reads)`.
pub fn switch_is_idle(analysis: &Analysis, switch: Switch) -> Option<&'static str> {
    let mut fusion = analysis.options.fusion;
    // The search has its own option for attention.
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
        Policy::Inductor => "The compiler finds the attention here by itself.",
        _ => "The attention here is one kernel already.",
    })
}

/// A choice in a few words, and in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceWords {
    pub name: &'static str,
    pub sentence: &'static str,
}

/// How large an external tensor counts.
pub const fn externals_words(externals: Externals) -> ChoiceWords {
    match externals {
        Externals::Declared => ChoiceWords {
            name: "as declared",
            sentence: "A tensor without a declaration has the only size that fits the other shapes, or else the size of its reader's output.",
        },
        Externals::KnownOnly => ChoiceWords {
            name: "0 bytes",
            sentence: "Only tensors that an op computes count. Some published solutions count this way.",
        },
        Externals::OutputShape => ChoiceWords {
            name: "as their reader's output",
            sentence: "Each input and weight has the size of its reader's output, whatever its declaration says.",
        },
    }
}

/// What a separate reshape costs.
pub const fn reshape_words(reshape: ReshapeCost) -> ChoiceWords {
    match reshape {
        ReshapeCost::Copy => ChoiceWords {
            name: "a copy",
            sentence: "A separate reshape reads its input and writes its output like any other op.",
        },
        ReshapeCost::View => ChoiceWords {
            name: "a view",
            sentence: "A reshape only indexes the same bytes in another way: it has no memory traffic and no launch.",
        },
    }
}

/// The type in which matmuls on f32 operands are computed.
pub const fn f32_matmul_words(f32_matmul: F32Matmul) -> ChoiceWords {
    match f32_matmul {
        F32Matmul::F32 => ChoiceWords {
            name: "f32",
            sentence: "On the vector units, which is PyTorch's default.",
        },
        F32Matmul::Tf32 => ChoiceWords {
            name: "TF32",
            sentence: "On the matrix units with a mantissa of 10 bits, as PyTorch does with allow_tf32. A device without TF32 computes in f32.",
        },
    }
}

/// The type in which convolutions of f32 operands are computed.
pub const fn f32_conv_words(f32_conv: F32Matmul) -> ChoiceWords {
    match f32_conv {
        F32Matmul::F32 => ChoiceWords {
            name: "f32",
            sentence: "On the vector units, as PyTorch does with torch.backends.cudnn.allow_tf32 = False.",
        },
        F32Matmul::Tf32 => ChoiceWords {
            name: "TF32",
            sentence: "On the matrix units with a mantissa of 10 bits, which is PyTorch's default. A device without TF32 computes in f32.",
        },
    }
}
