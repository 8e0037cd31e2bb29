//! The examples that the page offers: one file each in `public/examples`, one row each here.

/// A program to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// Name of its file without the extension; stable, for links and the command line.
    pub id: &'static str,
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

macro_rules! example {
    ($id:literal, $title:literal, $watch:literal) => {
        Example {
            id: $id,
            title: $title,
            watch: $watch,
            text: include_str!(concat!("../../public/examples/", $id, ".fuse")),
        }
    };
}

/// All examples, in the order in which a picker shows them.
#[rustfmt::skip]
pub static EXAMPLES: &[Example] = &[
    example!("exercise", "Four ops", "Bias and ReLU join the matmul in front of them, and two of the three tensors between the ops never reach memory."),
    example!("transformer", "Transformer block", "Drag the sequence length: the scores grow with its square, and from S = 4096 on they are more than two thirds of all bytes."),
    example!("layernorm_gelu", "LayerNorm and GELU", "The residual add joins the layer norm, the GELU behind it does not: a reduction ends its kernel."),
    example!("l2_norm", "L2 norm, step by step", "Four ops become two kernels, and the row lengths between them are so small that they cost nothing."),
    example!("attention", "Attention", "Scale and mask join the first matmul; the scores still go through memory six times, which grows with the square of S."),
    example!("diamond", "Diamond", "A tensor with two readers is written once and read once: both readers and their sum share one kernel."),
    example!("resnet_block", "ResNet block", "Seven ops become two kernels: each convolution takes everything behind it along, the residual add included."),
    example!("mlp", "Two-layer MLP", "GELU and dropout join the first layer; its hidden tensor is four times as wide as the input and moves twice instead of six times."),
    example!("softmax", "Softmax, step by step", "Only the subtraction and the exp share a kernel: the row sums need all of e before the division can start."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_starts_with_an_example_that_exists() {
        assert!(example(START).is_some());
        assert_eq!(example("no such example"), None);
    }
}
