//! The examples that the page offers: one file each below `public`, one row each here.

use crate::model::options::{Policy, ReshapeCost};
use crate::notation::{edit, parse};

/// A program to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// Name of its file without folder and extension; stable, for links and the command line.
    pub id: &'static str,
    /// Where a picker lists it; the rows of a group stand together.
    pub group: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The effect to watch for, in one sentence or two.
    pub watch: &'static str,
    /// The choices under which that sentence is true.
    pub opening: Opening,
    /// The program in the notation.
    pub text: &'static str,
}

/// The choices that an example opens with, so that its sentence is true of what the page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Who decides what fuses.
    pub policy: Policy,
    /// Whether the fused kernels are shown.
    pub is_fused: bool,
    /// The cost of a separate reshape.
    pub reshape: ReshapeCost,
}

impl Opening {
    /// Fused by the textbook rules.
    const RULES: Self = Self {
        policy: Policy::Rules,
        is_fused: true,
        reshape: ReshapeCost::Copy,
    };
    /// Under the textbook rules, before anything is fused.
    const UNFUSED: Self = Self {
        is_fused: false,
        ..Self::RULES
    };
    /// Fused by torch.compile, with reshapes as views, which they are in PyTorch.
    const COMPILED: Self = Self {
        policy: Policy::Inductor,
        reshape: ReshapeCost::View,
        ..Self::RULES
    };
}

impl Default for Opening {
    fn default() -> Self {
        Self::RULES
    }
}

/// The example of an id as links and the command line write it; `None` for an unknown one.
pub fn example(id: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|e| e.id == id)
}

/// The example that has this text, but perhaps other values of its params, which are what sliders
/// write.
pub fn example_of(text: &str) -> Option<&'static Example> {
    let same_text = EXAMPLES.iter().find(|example| example.text == text);
    same_text.or_else(|| {
        // Values change no line: without this, each question would parse every example.
        let lines = text.lines().count();
        let mut candidates = EXAMPLES
            .iter()
            .filter(|example| example.text.lines().count() == lines)
            .peekable();
        candidates.peek()?;
        let without_values = |text: &str| edit::without_values(text, &parse(text).program);
        let wanted = without_values(text);
        candidates.find(|example| without_values(example.text) == wanted)
    })
}

/// The example that a first visit opens.
pub const START: &str = "residual_layer";

/// The GPU of a first visit, by id: one with measured rates, so that the page predicts times and a
/// speedup instead of bounding them.
pub const START_DEVICE: &str = "h100";

/// The example that a visitor opens next: the program that the first one is a part of.
pub const NEXT: &str = "transformer_block";

/// The example in the frame of a page that names no program. Such pages speak of it, so it stays.
pub const EMBEDDED: &str = "transformer";

/// The folder `measured` holds patterns that were also measured on a GPU.
macro_rules! example {
    ($folder:literal, $id:literal, $group:literal, $title:literal, $watch:literal) => {
        example!($folder, $id, $group, $title, $watch, RULES)
    };
    ($folder:literal, $id:literal, $group:literal, $title:literal, $watch:literal, $opening:ident) => {
        Example {
            id: $id,
            group: $group,
            title: $title,
            watch: $watch,
            opening: Opening::$opening,
            text: include_str!(concat!("../../public/", $folder, "/", $id, ".fuse")),
        }
    };
}

/// All examples, in the order in which a picker shows them.
#[rustfmt::skip]
pub static EXAMPLES: &[Example] = &[
    example!("examples", "residual_layer", "Start here", "Linear, bias, GELU, residual", "A GPU runs each op as a kernel, which reads its inputs from slow memory and writes its result back. Between ops of one kernel, tensors stay on chip.", UNFUSED),
    example!("examples", "transformer_block", "Start here", "Transformer block", "In f16, torch.compile keeps attention scores on chip, one for each pair of tokens. Drag S: it saves 2.8 % to 95.2 % of the traffic (H = 4096, heads = 32).", COMPILED),
    example!("examples", "exercise", "Start here", "Four ops", "Bias and ReLU join the kernel of the matmul in front of them: two of the three tensors between the ops stay on chip."),
    example!("examples", "transformer", "Start here", "Transformer block, 14 ops", "Drag S: by the textbook rules the scores grow with its square, and for S ≥ 2944 they are more than two thirds of the fused traffic (H = 4096, heads = 32)."),
    example!("examples", "diamond", "Start here", "Diamond", "A tensor with two readers is written once and read once: both readers and their sum share one kernel."),
    example!("examples", "blank", "Start here", "Blank", "Write your own program in place of these lines, one op a line."),

    example!("measured", "linear_bias", "Linear", "Linear, bias", "Alone, the bias add reads and writes the whole product. In the kernel of the matmul it only reads the bias."),
    example!("measured", "linear_bias_relu", "Linear", "Linear, bias, ReLU", "One kernel under the textbook rules, two under torch.compile: it calls a library for the matmul, and fuses bias and ReLU after it."),
    example!("measured", "linear_bias_relu_dropout", "Linear", "Linear, bias, ReLU, dropout", "The dropout mask is an input here: one more matrix to read, fused or not."),
    example!("measured", "linear_bias_gelu", "Linear", "Linear, bias, GELU", "Fusing saves 57 % of the memory traffic but less of the time: the kernel is compute-bound (M = 4096, K = 4096, N = 4096)."),
    example!("measured", "mlp2", "Linear", "Two layers with ReLU", "Two matmuls never share a kernel, so the hidden tensor between the layers is written once and read once."),
    example!("examples", "mlp", "Linear", "Two-layer MLP", "GELU and dropout join the kernel of the first layer: its hidden tensors go through memory twice instead of six times."),
    example!("examples", "swiglu", "Linear", "SwiGLU", "Two matmuls meet in the product, and only one of them can share its kernel: the result of the other goes through memory."),

    example!("measured", "conv_bias", "Convolution", "Conv, bias", "Alone, the add reads and writes all images, as the convolution does. Fused, it only reads the bias."),
    example!("measured", "conv_bn", "Convolution", "Conv, batch norm", "In inference a batch norm is one scale and one shift per channel, so it fuses into the kernel of the convolution."),
    example!("measured", "conv_bn_relu", "Convolution", "Conv, batch norm, ReLU", "Four kernels become one under the textbook rules. torch.compile needs two, because it calls a library for the convolution."),
    example!("measured", "conv_relu", "Convolution", "Conv, ReLU", "The smallest fusion there is: the image is written once instead of twice and read once less."),
    example!("measured", "conv_bn_relu_maxpool", "Convolution", "Conv, batch norm, ReLU, max pool", "The pool is a reduction: under the textbook rules it starts a kernel of its own and reads the whole image again."),
    example!("examples", "resnet_block", "Convolution", "ResNet block", "Seven ops become two kernels: each convolution takes in all ops after it, even the residual add."),

    example!("measured", "attn_scores", "Attention", "Scores: Q Kᵀ, softmax", "Under the textbook rules the scale joins the matmul. The softmax needs whole rows and reads all scores again."),
    example!("measured", "attn_values", "Attention", "Values: softmax, times V", "Nothing fuses under the textbook rules: a reduction ends its kernel and a matmul starts one, so the probabilities go through memory."),
    example!("measured", "sdpa_flash", "Attention", "Q Kᵀ, softmax, times V", "torch.compile runs all four ops as one kernel, FlashAttention: the scores, which grow with the square of S, stay on chip."),
    example!("examples", "attention", "Attention", "Attention", "Under the textbook rules scale and mask join the first matmul. The scores still go through memory six times, and they grow with the square of S."),
    example!("measured", "multi_head", "Attention", "Multi-head attention, projection", "The projection needs the heads of a token side by side: under the textbook rules the second matmul writes this layout, which saves a copy."),

    example!("measured", "add_relu", "Elementwise", "Add, ReLU", "Memory traffic is nearly all of the time: three accesses instead of five are 1.7× faster, measured on an H200 (M = 8192, N = 8192)."),
    example!("measured", "add_layernorm", "Elementwise", "Add, layer norm", "The residual add joins the layer norm after it, and their sum stays on chip."),
    example!("measured", "mul_add_relu", "Elementwise", "Multiply, add, ReLU", "Eight accesses become four: the longer a chain of elementwise ops, the more one kernel saves."),
    example!("measured", "sigmoid_mul", "Elementwise", "Sigmoid, multiply", "A gate: the sigmoid takes four FLOPs per element, and its memory traffic still takes far longer."),

    example!("examples", "layernorm_gelu", "Norms and softmax", "LayerNorm and GELU", "The residual add joins the layer norm. The GELU after it does not: under the textbook rules a reduction ends its kernel."),
    example!("measured", "rmsnorm_decomposed", "Norms and softmax", "RMSNorm, step by step", "The textbook rules need two kernels, torch.compile one: it lets elementwise ops follow a reduction over the same rows."),
    example!("examples", "l2_norm", "Norms and softmax", "L2 norm, step by step", "Under the textbook rules four ops become two kernels. The row lengths between them are tiny, but all rows are read again."),
    example!("examples", "softmax", "Norms and softmax", "Softmax, step by step", "Under the textbook rules only the subtraction and the exp share a kernel: the division needs the sum of its whole row first."),

    example!("examples", "siblings", "Fusion directions, and when fusion hurts", "Siblings: horizontal fusion", "Three kernels under the textbook rules, one under torch.compile: siblings that read one tensor fuse horizontally, a chain fuses vertically."),
    example!("examples", "few_rows", "Fusion directions, and when fusion hurts", "Few rows", "One kernel of 8 blocks for the 108 multiprocessors of an A100 (B = 8, V = 32768): the scale alone would keep all of them busy."),
    example!("examples", "long_rows", "Fusion directions, and when fusion hurts", "Rows too long for the chip", "At H = 65536 a row needs 262 kB on chip and a block of an A100 has 167 kB: the fused kernel reads each row twice, which the traffic does not count."),
    example!("examples", "recompute", "Fusion directions, and when fusion hurts", "Computed twice", "On an A100, torch.compile computes the chain twice: 134 MB and at least 176 µs. The textbook rules store it: 268 MB and at least 154 µs (S = 8192, H = 8192)."),

    example!("examples", "gpt2", "Whole blocks", "GPT-2 block", "51 ops as a trace shows them. The policy fewest bytes needs seven kernels, one with all of attention. The textbook rules fuse nothing after a reduction."),
    example!("examples", "gpt2_layers", "Whole blocks", "GPT-2, all layers", "Drag L, the number of layers: under the textbook rules each adds the same kernels and traffic, because no kernel reaches from one layer into the next."),
    example!("examples", "llama", "Whole blocks", "Llama block", "Rotary embedding is seven ops for Q and seven for K, a kernel each under the textbook rules. The policy fewest bytes fuses each into its matmul."),
    example!("examples", "resnet_bottleneck", "Whole blocks", "ResNet bottleneck", "Ten ops become three kernels, one for each convolution; the wide image is read twice and written once."),
];
