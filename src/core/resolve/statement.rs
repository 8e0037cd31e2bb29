//! Resolves one statement to one op: looks up the callee, checks inputs and attributes, infers the type.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a rank is a small number"
)]

use crate::core::model::diagnostic::{Code, Diagnostic, Span};
use crate::core::model::dtype::DType;
use crate::core::model::functions;
use crate::core::model::functions::{ANY_NUMBER, FUNCTIONS, Function, ShapeRule};
use crate::core::model::op::{Indexing, Op, Window, byte_count, element_count, shape_text};
use crate::core::model::op_type::OpType;
use crate::core::model::program::{OpStatement, TypeAnnotation};
use crate::core::notation::spelling::quoted;
use crate::core::resolve::attributes::{Attributes, check_attributes, word};
use crate::core::resolve::expr::{Params, evaluate_size};
use crate::core::resolve::scope::{KnownTensors, NameId, Origin, StatementId};
use crate::core::resolve::shapes::{
    Call, InferredShape, Operand, dimension_of, infer, tensor_text,
};
use crate::core::resolve::undeclared::missing_size;
use std::borrow::Cow;

/// The callee of a statement.
#[derive(Clone, Copy)]
enum Callee {
    Function(&'static Function),
    /// `elementwise` or `reduction`, whose shape is the annotated one.
    Bare(OpType),
}

impl Callee {
    fn find(statement: &OpStatement, params: &Params<'_>) -> Result<Self, Diagnostic> {
        let name = statement.callee.text.as_str();
        if let Some(function) = functions::find(name) {
            let mut variants = statement.attributes.iter().filter_map(|attribute| {
                function.variant(&attribute.name.text, word(&attribute.value)?)
            });
            return Ok(Self::Function(variants.next().unwrap_or(function)));
        }
        if let Ok(op_type) = name.parse::<OpType>() {
            return Ok(Self::Bare(op_type));
        }
        let known = FUNCTIONS
            .iter()
            .map(|f| f.name)
            .chain([OpType::Elementwise.name(), OpType::Reduction.name()]);
        let unknown = Diagnostic::error(
            Code::UnknownFunction,
            format!("there is no function {}", quoted(name)),
        )
        .at(statement.callee.span);
        Err(match params.suggest(name, known) {
            Some(known) => unknown.hint(format!("did you mean `{known}`?")),
            None => unknown.hint(
                "use a function of the list, or `elementwise` or `reduction` with the shape after a colon",
            ),
        })
    }
}

/// The op of a statement; `None` if it depends on an op that is left out.
pub(super) fn resolve_op(
    id: StatementId,
    statement: &OpStatement,
    params: &Params<'_>,
    known: &KnownTensors<'_>,
) -> Result<Option<Op>, Diagnostic> {
    let reads = &known.scope.reads[id];
    let depends_on_missing = reads
        .iter()
        .any(|&tensor| match known.scope.tensors[tensor] {
            Origin::Produced(producer) => known.ops[producer].is_none(),
            Origin::Broken => true,
            Origin::Declared(_) | Origin::Undeclared => false,
        });
    let callee = Callee::find(statement, params)?;
    check_inputs(statement, callee)?;
    if depends_on_missing {
        return Ok(None);
    }
    // Those of the function as written: a variant of it is chosen by an attribute.
    let written = functions::find(&statement.callee.text);
    let allowed = written.map_or(&[][..], |function| function.attributes);
    check_attributes(statement, allowed, params)?;
    let annotated = match &statement.annotation {
        Some(annotation) => Some(resolve_shape(&statement.output.text, annotation, params)?),
        None => None,
    };
    let (shape, dtype, k, function) = match callee {
        Callee::Bare(op_type) => {
            let (Some(shape), Some(annotation)) = (annotated, &statement.annotation) else {
                return Err(bare_without_shape(statement, op_type, reads, known));
            };
            (shape, annotation.dtype, None, None)
        }
        Callee::Function(function) => {
            let (inferred, dtype) =
                resolve_call(statement, function, annotated, params, reads, known)?;
            (
                inferred.shape,
                dtype,
                inferred.k,
                Some(Cow::Borrowed(function.name)),
            )
        }
    };
    check_bytes(&statement.output.text, &shape, dtype).map_err(|d| d.at(statement.output.span))?;
    let attributes = Attributes {
        list: &statement.attributes,
        params,
    };
    let axes = reduced_axes(callee, attributes, shape.len());
    let indexing = match callee {
        Callee::Function(function) => {
            let input = reads.first().and_then(|&tensor| known.type_of(tensor));
            indexing_of(function, attributes, input.map(|(shape, _)| shape), &shape)
        }
        Callee::Bare(_) => None,
    };
    Ok(Some(Op {
        is_across_rows: is_across_rows(callee, attributes, axes),
        axes,
        indexing,
        literals: (statement.literals.iter())
            .map(|l| l.text.clone())
            .collect(),
        is_output: false,
        name: statement.name().text.clone(),
        op_type: match callee {
            Callee::Function(function) => function.op_type,
            Callee::Bare(op_type) => op_type,
        },
        inputs: statement
            .inputs
            .iter()
            .map(|input| input.text.clone())
            .collect(),
        output: statement.output.text.clone(),
        shape,
        bytes_per_element: dtype.bytes(),
        function,
        dtype: Some(dtype),
        k,
        kernel: statement.kernel.map(|mark| mark.number),
    }))
}

/// How a view finds its elements; `input` is the shape of its input.
fn indexing_of(
    function: &Function,
    attributes: Attributes<'_>,
    input: Option<&[u64]>,
    output: &[u64],
) -> Option<Box<Indexing>> {
    let input = input?;
    let rank = input.len();
    let size = |name: &str| attributes.size(name).ok().flatten();
    let axis = dimension_of(size("axis").unwrap_or(-1), rank);
    let along = |axis: usize| Some((*input.get(axis)?, *output.get(axis)?));
    let indexing = match function.shape_rule {
        ShapeRule::Transpose => {
            let stated = attributes.sizes("perm").ok().flatten();
            let perm = if let Some(perm) = stated {
                let dimensions = perm.iter().map(|&d| dimension_of(d, rank));
                dimensions.collect::<Option<_>>()?
            } else {
                let mut swapped: Vec<usize> = (0..rank).collect();
                swapped.swap(rank.checked_sub(2)?, rank - 1);
                swapped
            };
            Indexing {
                perm,
                ..Indexing::default()
            }
        }
        ShapeRule::Slice => {
            let (whole, _) = along(axis?)?;
            let start = size("start").unwrap_or(0);
            Indexing {
                perm: Vec::new(),
                axis: axis?,
                start: match u64::try_from(start) {
                    Ok(start) => start,
                    Err(_) => whole.checked_sub(start.unsigned_abs())?,
                },
                step: u64::try_from(size("step").unwrap_or(1)).ok()?,
                window: None,
            }
        }
        ShapeRule::Split => {
            let (_, part) = along(axis?)?;
            let index = u64::try_from(size("index").unwrap_or(0)).ok()?;
            Indexing {
                perm: Vec::new(),
                axis: axis?,
                start: index.checked_mul(part)?,
                step: 1,
                window: None,
            }
        }
        ShapeRule::Gather | ShapeRule::Concat => Indexing {
            axis: axis?,
            step: 1,
            ..Indexing::default()
        },
        ShapeRule::Pool2d => {
            let size = attributes.pair("kernel", 1, [1, 1]).ok()?;
            Indexing {
                window: Some(Window {
                    size,
                    stride: attributes.pair("stride", 1, size).ok()?,
                    padding: attributes.pair("padding", 0, [0, 0]).ok()?,
                }),
                ..Indexing::default()
            }
        }
        _ => return None,
    };
    Some(Box::new(indexing))
}

/// Whether a matmul or an op that keeps its shape works along another axis of its first input than the last.
fn is_across_rows(callee: Callee, attributes: Attributes<'_>, axes: u32) -> bool {
    let Callee::Function(function) = callee else {
        return false;
    };
    match function.shape_rule {
        ShapeRule::Matmul => attributes.flag("transpose_a", false),
        ShapeRule::SameAsFirst | ShapeRule::PerChannel => axes != 0,
        _ => false,
    }
}

/// The reduced axes, bit `i` for dimension `i` of the input; `rank` is that of the output. 0 if only the last
/// axis is reduced, for ops that are not reductions, and beyond 32 dimensions.
fn reduced_axes(callee: Callee, attributes: Attributes<'_>, rank: usize) -> u32 {
    let Callee::Function(function) = callee else {
        return 0;
    };
    let keeps = match function.shape_rule {
        ShapeRule::Reduce => attributes.flag("keepdim", true),
        _ => true,
    };
    if function.shape_rule == ShapeRule::PerChannel && function.op_type == OpType::Reduction {
        // All but the channels.
        let all = 1_u32.checked_shl(rank as u32).map_or(0, |bit| bit - 1);
        return all & !2;
    }
    let is_along = matches!(
        function.shape_rule,
        ShapeRule::Reduce | ShapeRule::SameAsFirst
    );
    if function.op_type != OpType::Reduction || !is_along {
        return 0;
    }
    let axes = attributes.sizes("axis").ok().flatten();
    let axes = axes.as_deref().unwrap_or(&[-1]);
    let rank = if keeps { rank } else { rank + axes.len() };
    let mut bits = 0;
    for &axis in axes {
        let back = axis + if axis < 0 { rank as i64 } else { 0 };
        match u32::try_from(back)
            .ok()
            .and_then(|axis| 1_u32.checked_shl(axis))
        {
            Some(bit) => bits |= bit,
            None => return 0,
        }
    }
    let last = (rank as u32).checked_sub(1);
    if last.and_then(|last| 1_u32.checked_shl(last)) == Some(bits) {
        return 0;
    }
    bits
}

fn check_inputs(statement: &OpStatement, callee: Callee) -> Result<(), Diagnostic> {
    // A matmul that states its K may read operands in packed or in separate tensors.
    let (fewest, most) = match callee {
        Callee::Function(function)
            if statement.states_k() && function.attributes.contains(&"k") =>
        {
            (1, ANY_NUMBER)
        }
        Callee::Function(function) => (function.min_inputs, function.max_inputs),
        Callee::Bare(_) => (0, ANY_NUMBER),
    };
    if let (Some(literal), false) = (statement.literals.first(), takes_literals(callee)) {
        return Err(Diagnostic::error(
            Code::WrongInputCount,
            format!(
                "{} takes no number in the place of an input",
                quoted(&statement.callee.text)
            ),
        )
        .at(literal.span)
        .hint("name a tensor, or give the number as an attribute, such as `axis=-1`"));
    }
    let given = statement.inputs.len() + statement.literals.len();
    if (fewest..=most).contains(&given) {
        return check_leading(statement, callee);
    }
    let plural = |n: usize| if n == 1 { "input" } else { "inputs" };
    let takes = match (fewest, most) {
        (fewest, most) if fewest == most => format!("{fewest} {}", plural(fewest)),
        (fewest, ANY_NUMBER) => format!("{fewest} or more inputs"),
        (fewest, most) => format!("{fewest} to {most} inputs"),
    };
    let callee = quoted(&statement.callee.text);
    Err(Diagnostic::error(
        Code::WrongInputCount,
        format!("{callee} takes {takes}, not {given}"),
    )
    .at(statement.callee.span)
    .hint(if given < fewest {
        format!("name {} more {}", fewest - given, plural(fewest - given))
    } else {
        format!("remove {} {}", given - most, plural(given - most))
    }))
}

fn takes_literals(callee: Callee) -> bool {
    matches!(callee, Callee::Function(function) if function.takes_literals())
}

/// The error for a call whose numbers leave no tensor that gives the element type.
fn check_leading(statement: &OpStatement, callee: Callee) -> Result<(), Diagnostic> {
    let least = match callee {
        Callee::Function(function) if !statement.literals.is_empty() => {
            function.leading_input() + 1
        }
        _ => 0,
    };
    // The condition of `where` is no number.
    let leads = statement.literals.first().filter(|l| l.place + 1 < least);
    match (statement.literals.first(), leads) {
        (_, Some(literal)) => Err(Diagnostic::error(
            Code::WrongInputCount,
            format!(
                "the first input of {} is a number",
                quoted(&statement.callee.text)
            ),
        )
        .at(literal.span)
        .hint("name a tensor")),
        (Some(literal), None) if statement.inputs.len() < least => Err(Diagnostic::error(
            Code::WrongInputCount,
            format!(
                "{} has only numbers to give a type",
                quoted(&statement.callee.text)
            ),
        )
        .at(literal.span)
        .hint("name a tensor in the place of one of them; `full` makes one")),
        _ => Ok(()),
    }
}

fn bare_without_shape(
    statement: &OpStatement,
    op_type: OpType,
    reads: &[NameId],
    known: &KnownTensors<'_>,
) -> Diagnostic {
    let example = reads
        .first()
        .and_then(|&tensor| known.type_of(tensor))
        .map_or("f16[1024]".to_owned(), |(shape, dtype)| {
            format!("{}{}", dtype.name(), shape_text(shape))
        });
    Diagnostic::error(
        Code::MissingShape,
        format!("`{}` needs a shape", op_type.name()),
    )
    .at(statement.callee.span)
    .hint(format!("write it after a colon, such as `: {example}`"))
}

/// Shape, K and element type of a call of a function.
fn resolve_call(
    statement: &OpStatement,
    function: &'static Function,
    annotated: Option<Vec<u64>>,
    params: &Params<'_>,
    reads: &[NameId],
    known: &KnownTensors<'_>,
) -> Result<(InferredShape, DType), Diagnostic> {
    let attributes = Attributes {
        list: &statement.attributes,
        params,
    };
    let mut operands = Vec::with_capacity(reads.len());
    for (name, &tensor) in statement.inputs.iter().zip(reads) {
        if let Some((shape, dtype)) = known.type_of(tensor) {
            operands.push(Operand { name, shape, dtype });
        }
    }
    let inferred_dtype = reads
        .get(function.leading_input())
        .and_then(|&t| known.type_of(t))
        .map(|(_, dtype)| dtype);
    let dtype = result_dtype(statement, function, inferred_dtype, attributes)?;

    if attributes.has("k") {
        let Some(shape) = annotated else {
            return Err(
                Diagnostic::error(Code::MissingShape, "a matmul with `k=` needs a shape")
                    .at(attributes.span("k", statement.callee.span))
                    .hint("write the shape after a colon, or remove `k=`"),
            );
        };
        let k = stated_k(attributes)?;
        return Ok((InferredShape { shape, k }, dtype.unwrap_or(DType::F16)));
    }
    if operands.len() < reads.len() {
        // With an undeclared input only the annotation gives the shape.
        return match (annotated, dtype) {
            (Some(shape), Some(dtype)) => {
                let k = weight_k(function, reads, known);
                Ok((InferredShape { shape, k }, dtype))
            }
            _ => Err(missing_size(
                statement, function, &operands, reads, known, params,
            )),
        };
    }
    let call = Call {
        operands: &operands,
        attributes,
        callee: &statement.callee,
        annotated: annotated
            .as_deref()
            .zip(statement.annotation.as_ref().map(|a| a.span)),
    };
    let inferred = infer(function.shape_rule, &call)?;
    let dtype = dtype.unwrap_or(DType::F16);
    if let (Some(shape), Some(annotation)) = (&annotated, &statement.annotation)
        && *shape != inferred.shape
    {
        return Err(Diagnostic::error(
            Code::AnnotationMismatch,
            format!(
                "{} is annotated as {}, but `{}` gives {}",
                quoted(&statement.output.text),
                shape_text(shape),
                function.name,
                shape_text(&inferred.shape)
            ),
        )
        .at(annotation.span)
        .hint(match function.shape_rule {
            ShapeRule::Matmul => {
                "remove the annotation, correct it, or state `k=` when the operands hold more than is read"
            }
            _ => "remove the annotation, or correct it or the inputs",
        }));
    }
    Ok((inferred, dtype))
}

/// The element type of the result; `None` if neither inputs nor annotation give one.
fn result_dtype(
    statement: &OpStatement,
    function: &Function,
    inferred: Option<DType>,
    attributes: Attributes<'_>,
) -> Result<Option<DType>, Diagnostic> {
    let is_cast = function.name == "cast";
    let target = attributes.dtype("dtype");
    let expected = match (is_cast, function.gives_bool()) {
        (true, _) => target,
        (false, true) => Some(DType::Bool),
        (false, false) => inferred,
    };
    let Some(annotation) = &statement.annotation else {
        if is_cast && target.is_none() {
            return Err(Diagnostic::error(
                Code::MissingShape,
                "a cast needs the element type to cast to",
            )
            .at(statement.callee.span)
            .hint("write it as an attribute: `dtype=f32`"));
        }
        return Ok(expected);
    };
    match expected {
        Some(expected) if expected != annotation.dtype && !function.is_freely_typed() => {
            Err(Diagnostic::error(
                Code::AnnotationMismatch,
                format!(
                    "{} is annotated as {}, but `{}` gives {}",
                    quoted(&statement.output.text),
                    annotation.dtype.name(),
                    function.name,
                    expected.name()
                ),
            )
            .at(annotation.dtype_span)
            .hint(if is_cast {
                format!(
                    "write {}, or let the attribute say the same",
                    expected.name()
                )
            } else {
                let expected = expected.name();
                format!("write {expected}, or add a `cast` where the element type changes")
            }))
        }
        _ => Ok(Some(annotation.dtype)),
    }
}

/// The value of `k=K`; `None` for `k=unknown`.
fn stated_k(attributes: Attributes<'_>) -> Result<Option<u64>, Diagnostic> {
    if attributes.is_unknown("k") {
        return Ok(None);
    }
    let Some(k) = attributes.size("k")? else {
        return Ok(None);
    };
    match u64::try_from(k) {
        Ok(k) if k > 0 => Ok(Some(k)),
        _ => Err(
            Diagnostic::error(Code::NonPositiveSize, format!("`k` is {k}"))
                .at(attributes.span("k", Span::default()))
                .hint("the contraction length is at least 1"),
        ),
    }
}

/// K of a linear layer or convolution of which only the weight is declared.
fn weight_k(function: &Function, reads: &[NameId], known: &KnownTensors<'_>) -> Option<u64> {
    match function.shape_rule {
        ShapeRule::Linear | ShapeRule::Conv2d => {
            let (weight, _) = known.type_of(*reads.get(1)?)?;
            element_count(weight.get(1..)?)
        }
        _ => None,
    }
}

pub(super) fn resolve_shape(
    tensor: &str,
    annotation: &TypeAnnotation,
    params: &Params<'_>,
) -> Result<Vec<u64>, Diagnostic> {
    let mut shape = Vec::with_capacity(annotation.dims.len());
    for dim in &annotation.dims {
        shape.push(evaluate_size(dim, params)?);
    }
    check_bytes(tensor, &shape, annotation.dtype).map_err(|d| d.at(annotation.span))?;
    Ok(shape)
}

fn check_bytes(tensor: &str, shape: &[u64], dtype: DType) -> Result<(), Diagnostic> {
    match byte_count(shape, dtype.bytes()) {
        Some(_) => Ok(()),
        None => Err(Diagnostic::error(
            Code::Overflow,
            format!(
                "the bytes of {} pass 2^63",
                tensor_text(tensor, dtype, shape)
            ),
        )
        .hint("use smaller sizes")),
    }
}
