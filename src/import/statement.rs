//! Statements of the notation from their text, and what is known about their output.

use crate::constant::{Scalar, float_text};
use crate::params::Params;
use crate::shapes::{Sizes, elements};
use crate::size::Size;
use crate::writer::Known;
use fuseline_core::model::diagnostic::Span;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::program::{
    Argument, AttributeValue, Literal, Name, OpStatement, TypeAnnotation,
};
use fuseline_core::notation::parse;
use std::str::FromStr;

/// A size for each dimension; `None` where a file does not say it.
pub(crate) type Dims = Vec<Option<Size>>;

/// The statements of a text, if all of them can be read and are calls of known functions, or bare
/// op types with the type that these need.
pub(crate) fn statements(text: &str) -> Option<Vec<OpStatement>> {
    let parsed = parse(text);
    let is_bare =
        |op: &OpStatement| OpType::from_str(&op.callee.text).is_ok() && op.annotation.is_some();
    let is_known = |op: &OpStatement| op.function().is_some() || is_bare(op);
    let ops = parsed.program.ops;
    let is_fine = parsed.diagnostics.is_empty() && ops.iter().all(is_known);
    (is_fine && !ops.is_empty()).then_some(ops)
}

/// The output's name with enough underscores that no intermediate name (this name, `_` and a word)
/// is the name of an input.
pub(crate) fn distinct_name<'a>(output: &str, inputs: impl Iterator<Item = &'a str>) -> String {
    let rests = inputs.filter_map(|input| input.strip_prefix(output));
    let underscores = rests.map(|rest| rest.len() - rest.trim_start_matches('_').len());
    format!("{output}{}", "_".repeat(underscores.max().unwrap_or(0)))
}

/// The inferred shape, with the file's param for each number of the same value. Without an inferred
/// shape, the file's shape if it states each size.
pub(crate) fn merged_shape(
    inferred: Option<Sizes>,
    stated: Option<&Dims>,
    params: &Params,
) -> Option<Sizes> {
    let Some(mut shape) = inferred else {
        return stated?.iter().cloned().collect();
    };
    if let Some(stated) = stated.filter(|stated| stated.len() == shape.len()) {
        for (size, stated) in shape.iter_mut().zip(stated) {
            if let Some(stated) = stated
                && size.as_int().is_some()
                && size.as_int() == stated.value(&params.values)
            {
                *size = stated.clone();
            }
        }
    }
    Some(shape)
}

/// The element type that the notation gives the output of a statement.
pub(crate) fn dtype_of(
    function: Option<Function>,
    op: &OpStatement,
    inputs: &[Option<&Known>],
) -> Option<DType> {
    if let Some(annotation) = &op.annotation {
        return Some(annotation.dtype);
    }
    let function = function?;
    let mut attributes = op.attributes.iter();
    if let Some(AttributeValue::Word(name)) = attributes
        .find(|a| a.is(AttributeName::Dtype))
        .map(|a| &a.value)
    {
        return name.parse().ok();
    }
    let types = inputs.iter().copied().map(|known| known?.argument_type());
    op.result_type(function, types.collect())
}

/// Inputs and literals of a statement, with known single numbers as literals where the function
/// takes them.
pub(crate) fn literals(
    function: Function,
    op: &OpStatement,
    inputs: &[Option<&Known>],
    params: &Params,
) -> Option<(Vec<Name>, Vec<Literal>)> {
    let rank = |known: &Known| known.shape.as_ref().map(Vec::len);
    let known = inputs.iter().copied().flatten();
    let widest = known
        .filter(|known| known.value.is_none())
        .filter_map(rank)
        .max();
    let (mut names, mut written) = (Vec::new(), Vec::new());
    let mut known = inputs.iter();
    for (index, (argument, _)) in op.arguments().into_iter().enumerate() {
        let text = match argument {
            Argument::Literal(text) => Some(text.to_owned()),
            Argument::Tensor(_) => known.next().copied().flatten().and_then(|input| {
                // A literal has no rank, so it cannot replace an input that sets the output's rank.
                let fits = input.shape.as_ref().map(Vec::len) <= widest;
                match input.value.as_ref()?.only().filter(|_| fits)? {
                    Scalar::Int(size) => {
                        size.value(&params.values).map(|number| number.to_string())
                    }
                    Scalar::Float(number) => float_text(*number),
                }
            }),
        };
        match (text, argument) {
            (Some(text), _) => written.push(Literal {
                place: index,
                text,
                span: Span::default(),
            }),
            (None, Argument::Tensor(name)) => names.push(nameless(name.to_owned())),
            (None, Argument::Literal(_)) => {}
        }
    }
    let is_allowed = function.takes_literals() && names.len() > function.leading_input();
    is_allowed.then_some((names, written))
}

pub(crate) fn nameless(text: String) -> Name {
    Name {
        text,
        span: Span::default(),
    }
}

/// A type without a span in a text.
pub(crate) fn annotation(dtype: DType, shape: &[Size], params: &Params) -> TypeAnnotation {
    TypeAnnotation {
        dtype,
        dtype_span: Span::default(),
        dims: shape.iter().map(|size| size.expr(&params.names)).collect(),
        span: Span::default(),
    }
}

/// The type of a tensor that holds several others, as the notation writes it: their elements, or
/// their bytes where they have several types. `None` for a single one.
pub(crate) fn packed(parts: &[&Known], params: &Params) -> Option<String> {
    let [first, others @ ..] = parts else {
        return None;
    };
    let is_one_type = others.iter().all(|part| part.dtype == first.dtype);
    let dtype = first.dtype.filter(|_| is_one_type).unwrap_or(DType::I8);
    let mut size = Size::from(0);
    for part in parts {
        let count = elements(part.shape.as_deref()?)?;
        let own = part.dtype.unwrap_or(DType::F32);
        let bytes = own.size().addressed_bytes() / dtype.size().addressed_bytes();
        size = size.add(&count.mul(&Size::from(i64::from(bytes)))?)?;
    }
    (!others.is_empty()).then(|| format!("{}{}", dtype.name(), params.list(&[size])))
}
