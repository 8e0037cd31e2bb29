//! Program to ops: params into sizes, shapes and element types inferred, every name looked up.
#![allow(
    clippy::indexing_slicing,
    reason = "statements and tensors are dense indices that Scope hands out"
)]

use super::attributes::{Attributes, check_attributes};
use super::diagnostic::{Code, Diagnostic, Severity, Span};
use super::dtype::DType;
use super::expr::{Params, evaluate_size};
use super::functions::{self, ANY_NUMBER, FUNCTIONS, Function, ShapeRule};
use super::graph::cycle_diagnostic;
use super::notation::spelling::quoted;
use super::op::{Op, OpType, TensorDecl, byte_count, element_count, shape_text};
use super::order::{runnable, topological_order};
use super::program::{Declaration, OpStatement, Program, TypeAnnotation};
use super::shapes::{Call, Inferred, Operand, infer, tensor_text};
use super::undeclared::{missing_size, warn_of_undeclared};
use super::work::contraction_of_shapes;
use std::collections::HashMap;

/// The contract's data model of a program, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Resolved {
    /// The ops whose shapes are known, in text order.
    pub ops: Vec<Op>,
    /// For each of them its statement in [`Program::ops`].
    pub statement_of_op: Vec<usize>,
    /// Declared external tensors whose sizes are known.
    pub externals: Vec<TensorDecl>,
    /// What is wrong or assumed, in text order. [`Diagnostic::op`] is an index into [`Program::ops`].
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves a program. Total: an op that cannot be resolved is left out with one diagnostic, and ops that
/// hang on it are left out without another, whether annotated or not.
///
/// The element type of a result is the first input's (of `where` the second's), unless it is a cast, a
/// bare op type or a matmul with an annotation. `O(program)` for a text in execution order.
///
/// ```
/// use fuseline::core::{notation::parse, resolve::resolve, OpType};
/// let text = "param S = 8\ninput x : f16[S, 4]\nweight w : f16[4, 2*S]\ny = matmul(x, w)\nz = gelu(y)";
/// let resolved = resolve(&parse(text).program);
/// assert_eq!(resolved.diagnostics, []);
/// assert_eq!((resolved.ops[0].op_type, resolved.ops[0].contraction), (OpType::Matmul, Some(4)));
/// assert_eq!(resolved.ops[1].shape, [8, 16]);
/// ```
pub fn resolve(program: &Program) -> Resolved {
    let params = Params::new(&program.params);
    let mut diagnostics = Vec::new();
    let mut scope = Scope::new(program);
    let mut externals = Vec::with_capacity(program.declarations.len());
    for declaration in &program.declarations {
        let Some(&tensor) = scope.ids.get(declaration.name.text.as_str()) else {
            continue;
        };
        match resolve_declaration(declaration, &params) {
            Ok(external) if matches!(scope.tensors[tensor], Origin::Undeclared) => {
                scope.tensors[tensor] = Origin::Declared(externals.len());
                externals.push(external);
            }
            Ok(_) => {}
            Err(problem) => {
                scope.tensors[tensor] = Origin::Broken;
                diagnostics.push(problem);
            }
        }
    }

    let order = execution_order(program, &scope, &mut diagnostics);
    let mut ops: Vec<Option<Op>> = vec![None; program.ops.len()];
    for statement in order {
        let known = Known {
            program,
            scope: &scope,
            ops: &ops,
            externals: &externals,
        };
        match resolve_op(statement, &params, &known) {
            Ok(op) => ops[statement] = op,
            Err(problem) => {
                let span = problem.span.unwrap_or(program.ops[statement].callee.span);
                diagnostics.push(problem.at(span).about(statement));
            }
        }
    }

    let known = Known {
        program,
        scope: &scope,
        ops: &ops,
        externals: &externals,
    };
    warn_of_undeclared(&known, &mut diagnostics);
    note_unknown_contractions(&known, &mut diagnostics);
    note_unused(program, &scope, &mut diagnostics);
    diagnostics.sort_by_key(|d| d.span.map(|s| s.start));
    let (statement_of_op, ops) = ops
        .into_iter()
        .enumerate()
        .filter_map(|(statement, op)| Some((statement, op?)))
        .unzip();
    Resolved {
        ops,
        statement_of_op,
        externals,
        diagnostics,
    }
}

/// Where a tensor comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Index into the externals.
    Declared(usize),
    /// Declared, but its size could not be evaluated.
    Broken,
    /// Index into the statements.
    Produced(usize),
    /// Nothing declares or produces it.
    Undeclared,
}

/// The tensors of a program under dense ids.
pub(super) struct Scope<'a> {
    ids: HashMap<&'a str, usize>,
    /// For each tensor where it comes from.
    pub(super) tensors: Vec<Origin>,
    /// For each tensor whether a statement reads it.
    is_read: Vec<bool>,
    /// The tensors that statements read, one statement behind the other.
    reads: Vec<usize>,
    /// For each statement where its reads begin, and the end of the last one's.
    first_read: Vec<usize>,
}

impl<'a> Scope<'a> {
    fn new(program: &'a Program) -> Self {
        let names = program.declarations.len() + program.ops.len();
        let mut scope = Self {
            ids: HashMap::with_capacity(names),
            tensors: Vec::with_capacity(names),
            is_read: Vec::new(),
            reads: Vec::with_capacity(2 * program.ops.len()),
            first_read: Vec::with_capacity(program.ops.len() + 1),
        };
        for (statement, op) in program.ops.iter().enumerate() {
            let tensor = scope.id(&op.output.text);
            if scope.tensors[tensor] == Origin::Undeclared {
                scope.tensors[tensor] = Origin::Produced(statement);
            }
        }
        for declaration in &program.declarations {
            scope.id(&declaration.name.text);
        }
        for op in &program.ops {
            scope.first_read.push(scope.reads.len());
            for input in &op.inputs {
                let tensor = scope.id(&input.text);
                scope.reads.push(tensor);
            }
        }
        scope.first_read.push(scope.reads.len());
        scope.is_read = vec![false; scope.tensors.len()];
        for &tensor in &scope.reads {
            scope.is_read[tensor] = true;
        }
        scope
    }

    fn id(&mut self, name: &'a str) -> usize {
        let next = self.tensors.len();
        let id = *self.ids.entry(name).or_insert(next);
        if id == next {
            self.tensors.push(Origin::Undeclared);
        }
        id
    }

    /// The tensors that a statement reads, in order of the call.
    pub(super) fn reads(&self, statement: usize) -> &[usize] {
        &self.reads[self.first_read[statement]..self.first_read[statement + 1]]
    }

    /// The statements whose outputs a statement reads.
    fn producers(&self, statement: usize) -> impl Iterator<Item = usize> + '_ {
        self.reads(statement)
            .iter()
            .filter_map(|&tensor| match self.tensors[tensor] {
                Origin::Produced(producer) => Some(producer),
                _ => None,
            })
    }
}

/// Everything that is known about tensors so far.
pub(super) struct Known<'a> {
    /// All statements.
    pub(super) program: &'a Program,
    /// Ids and origins.
    pub(super) scope: &'a Scope<'a>,
    /// For each statement its op, when it is resolved.
    pub(super) ops: &'a [Option<Op>],
    /// Declared tensors.
    pub(super) externals: &'a [TensorDecl],
}

impl<'a> Known<'a> {
    /// Shape and element type of a tensor.
    pub(super) fn type_of(&self, tensor: usize) -> Option<(&'a [u64], DType)> {
        match self.scope.tensors[tensor] {
            Origin::Declared(external) => {
                let external = &self.externals[external];
                Some((&external.shape, external.element_type()?))
            }
            Origin::Produced(statement) => {
                let op = self.ops[statement].as_ref()?;
                Some((&op.shape, op.element_type()?))
            }
            Origin::Broken | Origin::Undeclared => None,
        }
    }
}

/// Text order where it is one in which the ops can run. Ops on a cycle and behind it are missing, with one
/// error for the first cycle.
fn execution_order(
    program: &Program,
    scope: &Scope<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<usize> {
    let count = program.ops.len();
    if (0..count).all(|statement| scope.producers(statement).all(|p| p < statement)) {
        return (0..count).collect();
    }
    let predecessors: Vec<Vec<usize>> = (0..count)
        .map(|statement| scope.producers(statement).collect())
        .collect();
    topological_order(&predecessors).unwrap_or_else(|cycle| {
        let names: Vec<_> = cycle
            .iter()
            .map(|&s| program.ops[s].name().text.as_str())
            .collect();
        if let Some(&first) = cycle.first() {
            let span = program.ops[first].output.span;
            diagnostics.push(cycle_diagnostic(&names).at(span).about(first));
        }
        runnable(&predecessors)
    })
}

fn resolve_declaration(
    declaration: &Declaration,
    params: &Params<'_>,
) -> Result<TensorDecl, Diagnostic> {
    let annotation = &declaration.annotation;
    let name = &declaration.name.text;
    Ok(TensorDecl {
        shape: resolve_shape(name, annotation, params)?,
        name: name.clone(),
        bytes_per_element: annotation.dtype.bytes(),
        role: declaration.role,
        dtype: Some(annotation.dtype),
    })
}

fn resolve_shape(
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

/// What a statement calls.
#[derive(Clone, Copy)]
enum Callee {
    Function(&'static Function),
    /// `elementwise` or `reduction`: the shape is as annotated.
    Bare(OpType),
}

impl Callee {
    fn find(statement: &OpStatement, params: &Params<'_>) -> Result<Self, Diagnostic> {
        let name = statement.callee.text.as_str();
        if let Some(function) = functions::find(name) {
            return Ok(Self::Function(function));
        }
        if let Some(op_type) = OpType::from_name(name) {
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
                "use a function of the list, or `elementwise` or `reduction` with the shape behind a colon",
            ),
        })
    }
}

/// The op of a statement; `None` when it hangs on one that is left out.
fn resolve_op(
    index: usize,
    params: &Params<'_>,
    known: &Known<'_>,
) -> Result<Option<Op>, Diagnostic> {
    let statement = &known.program.ops[index];
    let reads = known.scope.reads(index);
    let hangs = reads
        .iter()
        .any(|&tensor| match known.scope.tensors[tensor] {
            Origin::Produced(producer) => known.ops[producer].is_none(),
            Origin::Broken => true,
            Origin::Declared(_) | Origin::Undeclared => false,
        });
    let callee = Callee::find(statement, params)?;
    check_inputs(statement, callee)?;
    if hangs {
        return Ok(None);
    }
    let allowed = match callee {
        Callee::Function(function) => function.attributes,
        Callee::Bare(_) => &[],
    };
    check_attributes(statement, allowed, params)?;
    let annotated = match &statement.annotation {
        Some(annotation) => Some(resolve_shape(&statement.output.text, annotation, params)?),
        None => None,
    };
    let (shape, dtype, contraction, function) = match callee {
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
                inferred.contraction,
                Some(function.name.to_owned()),
            )
        }
    };
    check_bytes(&statement.output.text, &shape, dtype).map_err(|d| d.at(statement.output.span))?;
    Ok(Some(Op {
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
        contraction,
    }))
}

fn check_inputs(statement: &OpStatement, callee: Callee) -> Result<(), Diagnostic> {
    let (fewest, most) = match callee {
        Callee::Function(function) => (function.min_inputs, function.max_inputs),
        Callee::Bare(_) => (0, ANY_NUMBER),
    };
    let given = statement.inputs.len();
    if (fewest..=most).contains(&given) {
        return Ok(());
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

fn bare_without_shape(
    statement: &OpStatement,
    op_type: OpType,
    reads: &[usize],
    known: &Known<'_>,
) -> Diagnostic {
    let example = reads
        .first()
        .and_then(|&tensor| known.type_of(tensor))
        .map_or("f16[1024]".to_owned(), |(shape, dtype)| {
            format!("{}{}", dtype.name(), shape_text(shape))
        });
    Diagnostic::error(
        Code::MissingShape,
        format!("`{}` says nothing about its shape", op_type.name()),
    )
    .at(statement.callee.span)
    .hint(format!("write it behind a colon, such as `: {example}`"))
}

/// Shape, K and element type of a call of a function.
fn resolve_call(
    statement: &OpStatement,
    function: &'static Function,
    annotated: Option<Vec<u64>>,
    params: &Params<'_>,
    reads: &[usize],
    known: &Known<'_>,
) -> Result<(Inferred, DType), Diagnostic> {
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
    // The first input decides, of a selection the first of the two that it selects from.
    let leading = usize::from(function.name == "where");
    let inferred_dtype = reads
        .get(leading)
        .and_then(|&t| known.type_of(t))
        .map(|(_, dtype)| dtype);
    let dtype = result_dtype(statement, function, inferred_dtype, attributes)?;

    if attributes.has("k") {
        let Some(shape) = annotated else {
            return Err(Diagnostic::error(
                Code::MissingShape,
                "a matmul with `k=` says nothing about its shape",
            )
            .at(attributes.span("k", statement.callee.span))
            .hint("write the shape behind a colon, or remove `k=`"));
        };
        let contraction = stated_contraction(attributes)?;
        return Ok((Inferred { shape, contraction }, dtype.unwrap_or(DType::F16)));
    }
    if operands.len() < reads.len() {
        // An input that nothing declares: only an annotation can say what comes out.
        return match (annotated, dtype) {
            (Some(shape), Some(dtype)) => {
                let contraction = weight_contraction(function, reads, known);
                Ok((Inferred { shape, contraction }, dtype))
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
                "remove the annotation, mend it, or state `k=` when the operands hold more than is read"
            }
            _ => "remove the annotation, or mend it or the inputs",
        }));
    }
    Ok((inferred, dtype))
}

/// The element type of the result; `None` when it follows from nothing.
fn result_dtype(
    statement: &OpStatement,
    function: &Function,
    inferred: Option<DType>,
    attributes: Attributes<'_>,
) -> Result<Option<DType>, Diagnostic> {
    let is_cast = function.name == "cast";
    let target = attributes.dtype("dtype");
    let expected = if is_cast { target } else { inferred };
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
    let accumulates = function.op_type == OpType::Matmul;
    match expected {
        Some(expected) if expected != annotation.dtype && !accumulates => Err(Diagnostic::error(
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
        .hint(format!(
            "write {}, or add a `cast` where the element type changes",
            expected.name()
        ))),
        _ => Ok(Some(annotation.dtype)),
    }
}

/// `k=K`, or nothing for `k=unknown`.
fn stated_contraction(attributes: Attributes<'_>) -> Result<Option<u64>, Diagnostic> {
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

/// K of a linear layer or a convolution whose weight alone is declared.
fn weight_contraction(function: &Function, reads: &[usize], known: &Known<'_>) -> Option<u64> {
    match function.shape_rule {
        ShapeRule::Linear | ShapeRule::Conv2d => {
            let (weight, _) = known.type_of(*reads.get(1)?)?;
            element_count(weight.get(1..)?)
        }
        _ => None,
    }
}

/// A matmul whose K nothing says has no FLOPs, which must not look like a result.
fn note_unknown_contractions(known: &Known<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (index, (statement, op)) in known.program.ops.iter().zip(known.ops).enumerate() {
        let Some(op) = op.as_ref().filter(|op| op.op_type == OpType::Matmul) else {
            continue;
        };
        if op.contraction.is_some() {
            continue;
        }
        let shape_of = |place: usize| {
            let tensor = known.scope.reads(index).get(place)?;
            known.type_of(*tensor).map(|(shape, _)| shape)
        };
        let is_plain = op.function.as_deref() != Some("conv2d");
        if is_plain && contraction_of_shapes(&op.shape, shape_of(0), shape_of(1)).is_some() {
            continue;
        }
        diagnostics.push(
            Diagnostic::new(
                Severity::Note,
                Code::UnknownContraction,
                format!(
                    "the contraction length of {} is unknown: it has no FLOPs and no point",
                    quoted(&op.name)
                ),
            )
            .at(statement.callee.span)
            .about(index)
            .hint("declare its operands, or state it: `k=1024`"),
        );
    }
}

fn note_unused(program: &Program, scope: &Scope<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for declaration in &program.declarations {
        let name = &declaration.name;
        let is_read = scope
            .ids
            .get(name.text.as_str())
            .is_some_and(|&t| scope.is_read[t]);
        if !is_read {
            diagnostics.push(
                Diagnostic::new(
                    Severity::Note,
                    Code::UnusedTensor,
                    format!("no op reads {}", quoted(&name.text)),
                )
                .at(name.span)
                .hint("remove it, or name it as an input"),
            );
        }
    }
}
