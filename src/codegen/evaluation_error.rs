//! Why an op has no value.

use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::op_type::OpType;
use fuseline_core::notation::spelling::quoted;

/// Why an op cannot be evaluated, as a clause about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// An operator that Fuseline does not know; its name, where the text has one.
    #[error("{}", match .0 {
        Some(name) => format!("the operator {} is unknown", quoted(name)),
        None => "an opaque op computes an unknown function".to_owned(),
    })]
    UnknownOperator(Option<String>),
    /// An op of a bare type that may compute anything.
    #[error(
        "`{}` does not say what it computes: use a function such as `{}`",
        .0.name(),
        if *.0 == OpType::Elementwise { Function::Relu } else { Function::Sum }
    )]
    BareType(OpType),
    /// A rearrangement whose shapes do not show where its elements move.
    #[error(
        "`{}` does not say how its elements move: use functions such as `reshape` and `transpose`",
        Function::Rearrange
    )]
    UnknownOrder,
    /// The shapes of the inputs are not those that the function takes.
    #[error(
        "`{function}` of {} does not give {}",
        if inputs.is_empty() {
            "nothing".to_owned()
        } else {
            let shapes: Vec<String> = inputs.iter().map(|shape| shape_words(shape)).collect();
            shapes.join(" and ")
        },
        shape_words(output)
    )]
    Shapes {
        function: Function,
        inputs: Vec<Vec<usize>>,
        output: Vec<usize>,
    },
    /// A matmul whose operands are larger than its contraction, without an attribute that says
    /// which part it reads.
    #[error("{0}, and `k=` does not say which part of an operand the op reads")]
    PartOfOperand(Box<Self>),
    /// A matmul without a contraction length.
    #[error("its contraction length K is unknown")]
    UnknownK,
    /// An attribute that the function needs is missing.
    #[error("it has no number: give one with `{0}=`")]
    NoNumber(AttributeName),
    /// The function does not take exactly one input.
    #[error("`{0}` cannot run with one input")]
    OneInput(Function),
    /// The interpreter cannot evaluate the function.
    #[error("`{0}` cannot run on numbers")]
    NoNumbers(Function),
    /// The probability of a dropout is outside 0 to 1.
    #[error("`p` is {0}, which is not a probability")]
    NoProbability(f64),
    /// A row of odd length, which has no two equal halves.
    #[error("the last dimension is {0}, which is odd")]
    OddRow(u64),
    /// An index that points outside its dimension.
    #[error("an index is {index}, but the dimension has size {size}")]
    Index { index: f64, size: usize },
}

fn shape_words(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("[{}]", sizes.join(", "))
}
