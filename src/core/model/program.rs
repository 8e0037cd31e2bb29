//! The syntax tree of a program text: params, declarations and ops, each with its span.
//!
//! Shapes are expressions over params; [`crate::resolve`] evaluates them.

use crate::model::diagnostic::Span;
use crate::model::dtype::DType;
use crate::model::functions::{AttributeName, Function};
use crate::model::op::TensorRole;
use crate::model::promotion::{ArgumentType, type_of_call};
use std::collections::HashSet;
use std::ops::Range;

/// A name and its span.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Name {
    /// The name itself.
    pub text: String,
    /// Its span in the text.
    pub span: Span,
}

/// A size: an integer expression over params.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Its form: a literal, a param or an operation.
    pub kind: ExprKind,
    /// Its span in the text.
    pub span: Span,
}

/// The forms of a size expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// A literal.
    Int(i64),
    /// The value of a param.
    Param(String),
    /// `-a`.
    Negate(Box<Expr>),
    /// `a op b`; `/` is exact division.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

/// The operators of size expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`, an error when it leaves a remainder.
    Div,
}

/// `param S = 2048 in 128..16384 step 128`. With a range it is a slider on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in expressions.
    pub name: Name,
    /// Its value; always a literal, so that a slider can replace it.
    pub value: i64,
    /// The span that a slider replaces.
    pub value_span: Span,
    /// The slider's range.
    pub range: Option<ParamRange>,
    /// The whole statement.
    pub span: Span,
}

/// `param D = H / heads`: a size that follows from params above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedParam {
    /// Its name in expressions.
    pub name: Name,
    /// What it is computed from.
    pub value: Expr,
    /// The whole statement.
    pub span: Span,
}

/// `in min..max step step dividing expr`, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamRange {
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// Distance between two values; 1 if not given.
    pub step: i64,
    /// Only values that divide it are valid: heads that share a hidden size,
    /// `in 1..128 dividing H`.
    pub dividing: Option<Expr>,
}

/// `f16[S, 4*H]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeAnnotation {
    /// Element type.
    pub dtype: DType,
    /// Span of the element type, so that a picker can replace it.
    pub dtype_span: Span,
    /// Sizes, outermost first; empty for a scalar, `f32[]`.
    pub dims: Vec<Expr>,
    /// The whole annotation.
    pub span: Span,
}

/// `input x : f16[S, H]` or `weight w : f16[H, 4*H]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// Input or weight.
    pub role: TensorRole,
    /// The tensor's name.
    pub name: Name,
    /// Element type and shape, after the colon.
    pub annotation: TypeAnnotation,
    /// The whole statement.
    pub span: Span,
}

/// The value after `=` in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// `axis=-1`, `k=H/heads`.
    Size(Expr),
    /// `perm=[0, 2, 1]`.
    Sizes(Vec<Expr>),
    /// `p=0.1`; kept as text, because no size depends on it.
    Number(String),
    /// `keepdim=false`, `k=unknown`, `dtype=f32`.
    Word(String),
}

/// `axis=-1` in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The word before `=`.
    pub name: Name,
    /// The value as written; sizes may name params.
    pub value: AttributeValue,
    /// From the name to the end of the value.
    pub span: Span,
}

impl Attribute {
    /// Whether the attribute has this name.
    pub fn is(&self, name: AttributeName) -> bool {
        self.name.text == name.name()
    }
}

/// A number that replaces an input: `8` in `div(x, 8)`. No size depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its position among the arguments, from 0.
    pub place: usize,
    /// As written: `8`, `-1e-5`, `-inf`, `inf`.
    pub text: String,
    /// Its span in the text.
    pub span: Span,
}

/// `@kernel 3` after a statement: the kernel in which the user wants the op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelMark {
    /// Ops with the same number form one kernel.
    pub number: u32,
    /// From `@` to the number.
    pub span: Span,
}

/// `ffn_up: y1 = matmul(x, w) : f16[S, 4*H]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpStatement {
    /// The op's name, if it differs from that of its output.
    pub label: Option<Name>,
    /// The tensor written.
    pub output: Name,
    /// A function of the table, or an op type.
    pub callee: Name,
    /// Tensors read.
    pub inputs: Vec<Name>,
    /// Numbers among the inputs, ascending by position.
    pub literals: Vec<Literal>,
    /// Attributes, after the inputs.
    pub attributes: Vec<Attribute>,
    /// The type annotation of the output.
    pub annotation: Option<TypeAnnotation>,
    /// The kernel mark, if the statement has one.
    pub kernel: Option<KernelMark>,
    /// The whole statement, without a comment that follows it.
    pub span: Span,
}

impl OpStatement {
    /// The function that the statement calls, if the notation has it.
    pub fn function(&self) -> Option<Function> {
        Some(Function::called(&self.callee.text)?.0)
    }

    /// Whether the statement writes into its first input: `relu_(x)`.
    pub fn is_in_place(&self) -> bool {
        Function::called(&self.callee.text).is_some_and(|(_, in_place)| in_place)
    }

    /// The element type of the result where `inputs` are the types of the inputs, `None` for an
    /// unknown one. A tensor that is written in place keeps its type.
    pub fn result_type(
        &self,
        function: Function,
        inputs: Vec<Option<ArgumentType>>,
    ) -> Option<DType> {
        type_of_call(
            function,
            self.is_in_place(),
            inputs,
            &self.literals,
            &self.attributes,
        )
    }

    /// Whether the call states K, so that its operands may be packed and are not checked.
    pub fn states_k(&self) -> bool {
        self.attributes
            .iter()
            .any(|attribute| attribute.is(AttributeName::K))
    }

    /// Inputs and literals in the order of the call, each with its span. Linear in both.
    pub fn arguments(&self) -> Vec<(Argument<'_>, Span)> {
        let mut inputs = self.inputs.iter();
        let mut literals = self.literals.iter().peekable();
        let count = self.inputs.len() + self.literals.len();
        (0..count)
            .filter_map(|place| match literals.next_if(|l| l.place == place) {
                Some(literal) => Some((Argument::Literal(&literal.text), literal.span)),
                None => inputs.next().map(|i| (Argument::Tensor(&i.text), i.span)),
            })
            .collect()
    }

    /// The op's name: its label, otherwise its output.
    pub fn name(&self) -> &Name {
        self.label.as_ref().unwrap_or(&self.output)
    }
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument<'a> {
    /// The name of a tensor.
    Tensor(&'a str),
    /// A number as written.
    Literal(&'a str),
}

/// `x = y` in the header of a block: from the second iteration on, `x` is the `y` of the previous
/// iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The name that the block reads; in the first iteration it is the tensor of this name outside.
    pub name: Name,
    /// The output of an op in the block.
    pub from: Name,
}

/// `repeat L with x = y {`, statements, `}`: the statements run `count` times, one iteration after
/// another. After the block a name that the block defines is that of the last iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Number of iterations.
    pub count: Expr,
    /// Tensors that an iteration reads from the previous one.
    pub carried: Vec<Carried>,
    /// Its range of [`Program::declarations`]: each iteration has tensors of its own.
    pub declarations: Range<usize>,
    /// Its range of [`Program::ops`].
    pub ops: Range<usize>,
    /// Its range of [`Program::outputs`]: the program returns them from every iteration.
    pub outputs: Range<usize>,
    /// From `repeat` to `{`.
    pub header: Span,
    /// From `repeat` to `}`, or to the end of the text.
    pub span: Span,
}

/// All valid statements of a text, each kind in text order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// Sizes that have a name and perhaps a slider.
    pub params: Vec<Param>,
    /// Sizes that follow from params, each only from those before it.
    pub derived: Vec<DerivedParam>,
    /// External tensors with a declared size.
    pub declarations: Vec<Declaration>,
    /// Calls of functions, those in blocks once each.
    pub ops: Vec<OpStatement>,
    /// `output y`: tensors that the program returns although its ops read them, too.
    pub outputs: Vec<Name>,
    /// Names of params and tensors whose statements are invalid. Statements that use them get no
    /// error of their own.
    pub unreadable: Vec<Name>,
    /// Names in invalid statements, which may read the tensors with these names.
    pub mentioned: HashSet<String>,
    /// Blocks of statements that are repeated. None is inside another.
    pub blocks: Vec<Block>,
}

impl Program {
    /// The block that an op of [`Program::ops`] is in. `O(log blocks)`.
    pub fn block_of_op(&self, op: usize) -> Option<usize> {
        self.block_of(op, |block| &block.ops)
    }

    /// The block that an output of [`Program::outputs`] is in. `O(log blocks)`.
    pub fn block_of_output(&self, output: usize) -> Option<usize> {
        self.block_of(output, |block| &block.outputs)
    }

    fn block_of(&self, statement: usize, part: fn(&Block) -> &Range<usize>) -> Option<usize> {
        let place = (self.blocks).partition_point(|block| part(block).end <= statement);
        let block = self.blocks.get(place)?;
        part(block).contains(&statement).then_some(place)
    }
}
