//! The examples that the page offers: one file each below `public`, one row each here.

/// A program to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// Name of its file without folder and extension; stable, for links and the command line.
    pub id: &'static str,
    /// Where a picker lists it; the rows of a group stand together.
    pub group: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What to watch for, in one sentence or two.
    pub watch: &'static str,
    /// The program in the notation.
    pub text: &'static str,
}

/// The example of this id.
pub fn example(id: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|e| e.id == id)
}

/// The example that the page starts with.
pub const START: &str = "transformer";

/// The folder `measured` holds patterns that were also measured on a GPU.
macro_rules! example {
    ($folder:literal, $id:literal, $group:literal, $title:literal, $watch:literal) => {
        Example {
            id: $id,
            group: $group,
            title: $title,
            watch: $watch,
            text: include_str!(concat!("../../public/", $folder, "/", $id, ".fuse")),
        }
    };
}

/// All examples, in the order in which a picker shows them.
#[rustfmt::skip]
pub static EXAMPLES: &[Example] = &[
    example!("examples", "exercise", "Start here", "Four ops", "Bias and ReLU join the matmul in front of them, and two of the three tensors between the ops never reach memory."),
    example!("examples", "transformer", "Start here", "Transformer block", "Drag the sequence length S: the scores grow with its square, and for S ≥ 2944 they are more than two thirds of the fused traffic."),
    example!("examples", "diamond", "Start here", "Diamond", "A tensor with two readers is written once and read once: both readers and their sum share one kernel."),
    example!("examples", "blank", "Start here", "Blank", "Write your own program over these lines, one operation a line; the tab Functions says what there is."),

    example!("measured", "linear_bias", "Linear", "Linear, bias", "The bias costs a read and a write of the whole product on its own, and next to nothing in the kernel of the matmul."),
    example!("measured", "linear_bias_relu", "Linear", "Linear, bias, ReLU", "One kernel by the rules, two by the compiler: torch.compile calls the library for the product, and not its epilogues for bias and ReLU."),
    example!("measured", "linear_bias_relu_dropout", "Linear", "Linear, bias, ReLU, dropout", "The mask is an input here: one more matrix to read, whatever fuses."),
    example!("measured", "linear_bias_gelu", "Linear", "Linear, bias, GELU", "By the rules 57 % fewer bytes, and still the matmul sets the time: it is bound by the matrix units."),
    example!("measured", "mlp2", "Linear", "Two layers with ReLU", "Two matmuls never share a kernel, so the hidden tensor between the layers is written and read once."),
    example!("examples", "mlp", "Linear", "Two-layer MLP", "GELU and dropout join the first layer; its hidden tensor is four times as wide as the input and moves twice instead of six times."),
    example!("examples", "swiglu", "Linear", "SwiGLU", "Only one of the two matmuls that meet in the product takes it along; the other one's result goes through memory."),

    example!("measured", "conv_bias", "Convolution", "Conv, bias", "Images are large and weights are small: the add alone moves as much as the convolution."),
    example!("measured", "conv_bn", "Convolution", "Conv, batch norm", "In inference a batch norm is a scale and a shift, so it rides along with the convolution."),
    example!("measured", "conv_bn_relu", "Convolution", "Conv, batch norm, ReLU", "Four kernels become one by the rules; a compiler that calls a library for the convolution needs two."),
    example!("measured", "conv_relu", "Convolution", "Conv, ReLU", "The smallest fusion that there is: the image is written once instead of twice and read once less."),
    example!("measured", "conv_bn_relu_maxpool", "Convolution", "Conv, batch norm, ReLU, max pool", "The pool is a reduction: by the rules it starts a kernel of its own and reads the whole image again."),
    example!("examples", "resnet_block", "Convolution", "ResNet block", "Seven ops become two kernels: each convolution takes everything behind it along, the residual add included."),

    example!("measured", "attn_scores", "Attention", "Scores: Q Kᵀ, softmax", "By the rules the scale joins the matmul; the softmax needs whole rows and reads all scores again."),
    example!("measured", "attn_values", "Attention", "Values: softmax, times V", "No fusion by the rules: a reduction ends its kernel and a matmul starts one, so the probabilities go through memory."),
    example!("measured", "sdpa_flash", "Attention", "Q Kᵀ, softmax, times V", "Q, K and V are 13 MB and the scores 134 MB: the compiler puts one flash kernel in the place of all four ops."),
    example!("examples", "attention", "Attention", "Attention", "By the rules scale and mask join the first matmul; the scores still go through memory six times, which grows with the square of S."),
    example!("measured", "multi_head", "Attention", "Multi-head attention, projection", "The projection needs the heads of a token side by side: by the rules the second matmul writes them so, which saves a copy."),

    example!("measured", "add_relu", "Elementwise", "Add, ReLU", "No arithmetic to speak of: time is bytes, and three accesses instead of five are 1.7 times as fast, as measured."),
    example!("measured", "add_layernorm", "Elementwise", "Add, layer norm", "The residual add joins the layer norm behind it, and the sum never reaches memory."),
    example!("measured", "mul_add_relu", "Elementwise", "Multiply, add, ReLU", "Eight accesses become four: the longer a chain of elementwise ops, the more one kernel saves."),
    example!("measured", "sigmoid_mul", "Elementwise", "Sigmoid, multiply", "A gate: the sigmoid costs four operations an element, and memory is still far slower."),

    example!("examples", "layernorm_gelu", "Norms and softmax", "LayerNorm and GELU", "The residual add joins the layer norm, the GELU behind it does not: by the rules a reduction ends its kernel."),
    example!("measured", "rmsnorm_decomposed", "Norms and softmax", "RMSNorm, step by step", "The rules need two kernels, the compiler one: it lets elementwise ops follow a reduction over the same rows."),
    example!("examples", "l2_norm", "Norms and softmax", "L2 norm, step by step", "By the rules four ops become two kernels: the row lengths between them cost next to nothing, but all rows are read again."),
    example!("examples", "softmax", "Norms and softmax", "Softmax, step by step", "By the rules only the subtraction and the exp share a kernel: the row sums need all of e before the division can start."),

    example!("examples", "siblings", "Which way, and when it hurts", "Siblings: horizontal fusion", "Three kernels by the rules, one by the compiler: siblings that read one tensor join horizontally, a chain joins vertically."),
    example!("examples", "few_rows", "Which way, and when it hurts", "Few rows", "One kernel of 8 blocks for 108 multiprocessors: the scale alone would keep all of them busy. The tab Limits counts."),
    example!("examples", "long_rows", "Which way, and when it hurts", "Rows too long for the chip", "The rules join the add, and a row needs 262 kB on chip where a block has 167 kB: it is read again. The optimum keeps them apart."),
    example!("examples", "recompute", "Which way, and when it hurts", "Computed twice", "The compiler computes the chain in both sums: 134 MB in 176 µs at least. The optimum stores it: 201 MB in 123 µs."),

    example!("examples", "gpt2", "Whole blocks", "GPT-2 block", "51 ops as a trace shows them; the optimum in bytes has seven kernels, one of them all of attention; the rules need more wherever an op follows a reduction."),
    example!("examples", "gpt2_layers", "Whole blocks", "GPT-2, all layers", "Drag L, the number of layers: each adds the same kernels and bytes, because no kernel reaches from one layer into the next."),
    example!("examples", "llama", "Whole blocks", "Llama block", "Rotary embedding is seven ops a side, one kernel by the rules. The optimum puts it behind the matmul, whose tile must hold columns d/2 apart."),
    example!("examples", "resnet_bottleneck", "Whole blocks", "ResNet bottleneck", "Ten ops become three kernels, one for each convolution; the wide image is read twice and written once."),
];
