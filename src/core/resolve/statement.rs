//! Resolves one statement to one op: looks up the callee, checks inputs and attributes, infers the
//! type.
use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::dtype::DType;
use crate::model::fix::TextEdit;
use crate::model::functions::{AttributeName, Function, ShapeRule};
use crate::model::op::{Op, UnknownOperator, byte_count, element_count, shape_text};
use crate::model::op_type::OpType;
use crate::model::program::{OpStatement, TypeAnnotation};
use crate::model::promotion::ArgumentType;
use crate::notation::fix_edits::{with_annotation, without_arguments};
use crate::notation::spelling::quoted;
use crate::resolve::attributes::{Attributes, check_attributes};
use crate::resolve::callee::{Callee, check_inputs};
use crate::resolve::element_types::{check_floats, result_dtype};
use crate::resolve::expr::{Params, evaluate_size};
use crate::resolve::in_place::check_target;
use crate::resolve::indexing::{indexing_of, is_across_rows, reduced_axes};
use crate::resolve::pytorch::permuting;
use crate::resolve::scope::{KnownTensors, NameId, Origin, StatementId};
use crate::resolve::shapes::{
    Call, InferredShape, Operand, check_axes, check_halves, infer, tensor_text,
};
use crate::resolve::undeclared::missing_size;

/// The result of resolving a statement.
pub(super) enum Found {
    /// An op whose shape is known.
    Op(Op),
    /// An op whose shape is unknown, because the statement states none or because it reads a tensor
    /// of unknown shape. The field is the first such statement.
    Unknown(StatementId),
    /// An op that depends on an op with an error.
    LeftOut,
}

pub(super) fn resolve_op(
    id: StatementId,
    statement: &OpStatement,
    params: &Params<'_>,
    known: &KnownTensors<'_>,
) -> Result<Found, Diagnostic> {
    let reads = &known.scope.reads[id];
    let iteration = known.scope.runs[id].iteration;
    let depends_on_missing = reads
        .iter()
        .any(|&tensor| match known.scope.tensors[tensor] {
            Origin::Produced(producer) => {
                known.ops[producer].is_none() && known.unknown[producer].is_none()
            }
            Origin::Broken => true,
            Origin::Declared(_) | Origin::Undeclared => false,
        });
    let unknown_before = (reads.iter()).find_map(|&tensor| known.unknown_from(tensor));
    let callee = Callee::find(statement, params, reads, known)?;
    check_inputs(statement, callee, params, reads, known)
        .map_err(|problem| permuting(statement, problem, reads, known))?;
    if depends_on_missing {
        return Ok(Found::LeftOut);
    }
    let is_opaque = matches!(callee, Callee::Function(Function::Opaque));
    // The attributes are those of the function as written: an attribute may choose a variant of it.
    let written = statement.function();
    let allowed = written.map_or(&[][..], |function| function.row().attributes);
    check_attributes(statement, allowed, params)
        .map_err(|problem| permuting(statement, problem, reads, known))?;
    let attributes = Attributes {
        list: &statement.attributes,
        params,
    };
    let unknown = unknown_operator(callee, attributes)?;
    if statement.annotation.is_none() && (is_opaque || unknown_before.is_some()) {
        return Ok(Found::Unknown(unknown_before.unwrap_or(id)));
    }
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
            (inferred.shape, dtype, inferred.k, Some(function))
        }
    };
    check_bytes(&statement.output.text, &shape, dtype).map_err(|d| d.at(statement.output.span))?;
    let axes = reduced_axes(callee, attributes, shape.len());
    let indexing = match callee {
        Callee::Function(function) => {
            let input = reads.first().and_then(|&tensor| known.type_of(tensor));
            indexing_of(function, attributes, input.map(|(shape, _)| shape), &shape)
        }
        Callee::Bare(_) => None,
    };
    // An opaque operator does not count the bytes of a tensor of unknown shape. Other functions
    // determine the size of their inputs.
    let is_counted = |&&tensor: &&NameId| !is_opaque || known.unknown_from(tensor).is_none();
    let op = Op {
        is_across_rows: is_across_rows(callee, attributes, axes),
        keeps_sizes: matches!(callee, Callee::Function(Function::Expand))
            && attributes
                .sizes(AttributeName::Shape)?
                .is_some_and(|sizes| sizes.contains(&-1)),
        is_causal: attributes.flag(AttributeName::Causal),
        axes,
        indexing,
        unknown,
        literals: (statement.literals.iter())
            .map(|l| l.text.clone())
            .collect(),
        is_output: false,
        unknown_reader: None,
        name: (known.scope.name_in(&statement.name().text, iteration)).into_owned(),
        op_type: match callee {
            Callee::Function(function) => function.row().op_type,
            Callee::Bare(op_type) => op_type,
        },
        inputs: (reads.iter().filter(is_counted))
            .map(|&tensor| known.scope.tensor_name(tensor).into_owned())
            .collect(),
        output: (known.scope.name_in(&statement.output.text, iteration)).into_owned(),
        shape,
        bytes_per_element: dtype.size(),
        in_place: statement.is_in_place(),
        function,
        dtype: Some(dtype),
        k,
        kernel: statement.kernel.map(|mark| mark.number),
        mark_iteration: match (statement.kernel, iteration) {
            (Some(_), Some(iteration)) => known.scope.number_of_iteration(iteration),
            _ => 0,
        },
    };
    check_target(statement, &op, reads, known)?;
    Ok(Found::Op(op))
}

/// What the call states of an operator that the table of functions lacks.
fn unknown_operator(
    callee: Callee,
    attributes: Attributes<'_>,
) -> Result<Option<Box<UnknownOperator>>, Diagnostic> {
    if !matches!(callee, Callee::Function(Function::Opaque)) {
        return Ok(None);
    }
    let flops = attributes
        .size(AttributeName::Flops)?
        .map(u64::try_from)
        .transpose();
    let flops = flops.map_err(|_| {
        attributes
            .problem(AttributeName::Flops, "is negative")
            .hint("give the FLOPs of the operator, or omit the attribute")
    })?;
    Ok(Some(Box::new(UnknownOperator {
        name: attributes.word(AttributeName::Name).map(str::to_owned),
        flops,
        units: (attributes.word(AttributeName::Units)).and_then(|word| word.parse().ok()),
    })))
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
    .fix(
        format!("Write `: {example}`"),
        with_annotation(statement, &example),
    )
}

/// Shape, K and element type of a call of a function.
fn resolve_call(
    statement: &OpStatement,
    function: Function,
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
    for (place, (name, &tensor)) in statement.inputs.iter().zip(reads).enumerate() {
        if let Some((shape, dtype)) = known.type_of(tensor) {
            let operand = Operand { name, shape, dtype };
            check_floats(statement, function, place, &operand)?;
            operands.push(operand);
        }
    }
    let types = reads.iter().map(|&tensor| match known.type_of(tensor) {
        Some((shape, dtype)) => Some(ArgumentType::tensor(dtype, shape.len())),
        // An input of unknown type has that of the annotation, or one that gives it.
        None => (statement.annotation.as_ref())
            .map(|own| ArgumentType::tensor(own.dtype, own.dims.len())),
    });
    let inferred_dtype = statement.result_type(function, types.collect());
    let dtype = result_dtype(statement, function, inferred_dtype, attributes)?;

    if attributes.has(AttributeName::K) {
        let Some(shape) = annotated else {
            let k = attributes.span(AttributeName::K, statement.callee.span);
            return Err(Diagnostic::error(
                Code::MissingShape,
                format!("`{function}` with `k=` needs a shape"),
            )
            .at(k)
            .hint("write the shape after a colon, or remove `k=`")
            .fix("Remove `k=`", without_arguments(statement, k)));
        };
        let k = stated_k(attributes)?;
        return Ok((InferredShape { shape, k }, dtype.unwrap_or(DType::F16)));
    }
    let call = Call {
        operands: &operands,
        attributes,
        callee: &statement.callee,
        statement: Some(statement),
        annotated: annotated
            .as_deref()
            .zip(statement.annotation.as_ref().map(|a| a.span)),
    };
    if let (Function::Rotary, Some(first)) = (function, operands.first()) {
        check_halves(first)?;
    }
    let rule = function.row().shape_rule;
    if operands.len() < reads.len() {
        // With an undeclared input only the annotation gives the shape.
        let (Some(shape), Some(dtype)) = (&annotated, dtype) else {
            return Err(missing_size(
                statement, function, &operands, reads, known, params,
            ));
        };
        let name = &statement.output;
        let output = Operand { name, shape, dtype };
        if let (Some(&tensor), Some(name)) = (reads.first(), statement.inputs.first()) {
            let own = known.type_of(tensor);
            let (shape, dtype) = own.unwrap_or((shape, dtype));
            check_axes(rule, &call, &Operand { name, shape, dtype }, &output)?;
        }
        let (shape, k) = (shape.clone(), weight_k(function, reads, known));
        return Ok((InferredShape { shape, k }, dtype));
    }
    let inferred = infer(rule, &call)?;
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
                function.name(),
                shape_text(&inferred.shape)
            ),
        )
        .at(annotation.span)
        .hint(match rule {
            ShapeRule::Matmul => {
                "remove or correct the annotation, or give `k=` if the operands hold more than the op reads"
            }
            _ => "remove or correct the annotation, or correct the inputs",
        })
        .fix(
            format!("Write `{}{}`", annotation.dtype.name(), shape_text(&inferred.shape)),
            TextEdit::replace(
                annotation.span,
                format!("{}{}", annotation.dtype.name(), shape_text(&inferred.shape)),
            ),
        )
        .fix("Remove the annotation", TextEdit::remove(annotation.span)));
    }
    Ok((inferred, dtype))
}

/// The value of `k=K`; `None` for `k=unknown`.
fn stated_k(attributes: Attributes<'_>) -> Result<Option<u64>, Diagnostic> {
    if attributes.is_unknown(AttributeName::K) {
        return Ok(None);
    }
    let Some(k) = attributes.size(AttributeName::K)? else {
        return Ok(None);
    };
    match u64::try_from(k) {
        Ok(k) if k > 0 => Ok(Some(k)),
        _ => Err(
            Diagnostic::error(Code::NonPositiveSize, format!("`k` is {k}"))
                .at(attributes.span(AttributeName::K, Span::default()))
                .hint("the contraction length is at least 1"),
        ),
    }
}

/// K of a linear layer or convolution of which only the weight is declared.
fn weight_k(function: Function, reads: &[NameId], known: &KnownTensors<'_>) -> Option<u64> {
    match function.row().shape_rule {
        ShapeRule::Linear | ShapeRule::Conv1d | ShapeRule::Conv2d => {
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
    match byte_count(shape, dtype.size()) {
        Some(_) => Ok(()),
        None => Err(Diagnostic::error(
            Code::Overflow,
            format!(
                "the bytes of {} exceed 2^63",
                tensor_text(tensor, dtype, shape)
            ),
        )
        .hint("use smaller sizes")),
    }
}
