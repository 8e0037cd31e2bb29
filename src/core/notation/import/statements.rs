//! Converts ops to statements of the notation that resolve to the same ops.

use crate::cost::work::k_of_shapes;
use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::dtype::DType;
use crate::model::functions::{AttributeName, Function, ShapeRule};
use crate::model::op::{Op, TensorDecl, element_count};
use crate::model::op_type::OpType;
use crate::model::program::{
    Attribute, AttributeValue, Declaration, Expr, ExprKind, KernelMark, Literal, Name, OpStatement,
    Program, TypeAnnotation,
};
use crate::model::promotion::{ArgumentType, type_of_call};
use crate::notation::spelling::quoted;
use crate::resolve::infer_call;
use std::collections::HashMap;

/// The program whose ops are `ops` and whose declarations are `tensors`; every op gets a type
/// annotation.
///
/// An op keeps its function if the table has it and its shapes fit it. Each op that loses its
/// function gets a warning with its index. `O(ops + reads)`.
pub fn program_of_ops(ops: &[Op], tensors: &[TensorDecl]) -> (Program, Vec<Diagnostic>) {
    program_of_calls(ops, &[], &[], tensors)
}

/// The program of ops with the attributes of each op's function and its literals, as far as they
/// are known.
pub(super) fn program_of_calls(
    ops: &[Op],
    attributes: &[Vec<Attribute>],
    literals: &[Vec<Literal>],
    tensors: &[TensorDecl],
) -> (Program, Vec<Diagnostic>) {
    let mut types: HashMap<&str, (&[u64], DType)> = HashMap::with_capacity(ops.len());
    for tensor in tensors {
        if let Some(dtype) = tensor.element_type() {
            types.insert(&tensor.name, (&tensor.shape, dtype));
        }
    }
    for op in ops {
        if let Some(dtype) = op.element_type() {
            types.insert(&op.output, (&op.shape, dtype));
        }
    }
    let mut program = Program::default();
    let mut doubts = Vec::new();
    for tensor in tensors {
        program.declarations.push(Declaration {
            role: tensor.role,
            name: name(&tensor.name),
            annotation: annotation(&tensor.shape, tensor.element_type()),
            span: Span::default(),
        });
    }
    for (index, op) in ops.iter().enumerate() {
        let names: Vec<Name> = op.inputs.iter().map(|input| name(input)).collect();
        let known: Vec<Option<(&[u64], DType)>> = (op.inputs.iter())
            .map(|input| types.get(input.as_str()).copied())
            .collect();
        let own_attributes = attributes.get(index).map_or(&[][..], Vec::as_slice);
        let own_literals = literals.get(index).map_or(&[][..], Vec::as_slice);
        let inputs = Inputs {
            known: &known,
            literals: own_literals,
            attributes: own_attributes,
        };
        let (callee, attributes, is_exact) = call_of(op, own_attributes, inputs);
        if !is_exact {
            let function = op.function.map_or("", Function::name);
            let is_typed = op.function.is_none_or(|own| inputs.give_type(own, op));
            let (what, wrong) = if is_typed {
                ("shapes", "shape")
            } else {
                ("element types", "element type")
            };
            doubts.push(
                Diagnostic::warning(
                    Code::ShapeMismatch,
                    format!(
                        "{}: the {what} do not fit {}, so the op counts as any {}",
                        quoted(&op.name),
                        quoted(function),
                        op.op_type.name()
                    ),
                )
                .about(index)
                .hint(format!("correct the {wrong}, or remove `function`")),
            );
        }
        program.ops.push(OpStatement {
            label: (op.name != op.output).then(|| name(&op.name)),
            output: name(&op.output),
            callee: match op.function.filter(|f| op.in_place && f.name() == callee) {
                Some(function) => name(&function.in_place_name()),
                None => name(callee),
            },
            attributes,
            annotation: Some(annotation(&op.shape, op.element_type())),
            inputs: names,
            literals: if Function::from_name(callee).is_some_and(Function::takes_literals) {
                own_literals.to_vec()
            } else {
                Vec::new()
            },
            kernel: op.kernel.map(|number| KernelMark {
                number,
                span: Span::default(),
            }),
            span: Span::default(),
        });
        if op.is_output {
            program.outputs.push(name(&op.output));
        }
    }
    (program, doubts)
}

/// The inputs of an op and their known types.
#[derive(Clone, Copy)]
struct Inputs<'a> {
    known: &'a [Option<(&'a [u64], DType)>],
    /// The arguments that are numbers.
    literals: &'a [Literal],
    /// The attributes that the call has in its list.
    attributes: &'a [Attribute],
}

impl<'a> Inputs<'a> {
    fn shape(self, place: usize) -> Option<&'a [u64]> {
        self.known.get(place).copied().flatten().map(|(s, _)| s)
    }

    /// Whether a function may give the op's element type. An unknown input may have that type, and
    /// a tensor that is written in place keeps its own.
    fn give_type(self, function: Function, op: &Op) -> bool {
        let output = op.element_type().map(|own| (&op.shape[..], own));
        let types = self.known.iter().map(|known| known.or(output));
        let types = types.map(|known| known.map(|(s, d)| ArgumentType::tensor(d, s.len())));
        let dtype = type_of_call(
            function,
            op.in_place,
            types.collect(),
            self.literals,
            self.attributes,
        );
        dtype.is_none_or(|dtype| Some(dtype) == op.element_type())
    }

    /// The types of all inputs; `None` when one is unknown.
    fn types(self) -> Option<Vec<(&'a [u64], DType)>> {
        self.known.iter().copied().collect()
    }
}

/// Whether the call infers the op's shape, and its K if the op has one.
fn gives(rule: ShapeRule, types: &[(&[u64], DType)], attributes: &[Attribute], op: &Op) -> bool {
    infer_call(rule, types, attributes, &op.shape)
        .is_some_and(|(shape, k)| shape == op.shape && (op.k.is_none() || k == op.k))
}

/// Callee and attributes of the statement, and whether the callee is the op's own function. Its own
/// attributes are kept if it infers the op's shape from them.
fn call_of<'a>(
    op: &'a Op,
    own_attributes: &[Attribute],
    inputs: Inputs<'_>,
) -> (&'a str, Vec<Attribute>, bool) {
    let function = op.function;
    if let Some(function) = function
        && !own_attributes.is_empty()
        && takes_inputs(function, own_attributes, op, inputs)
        && keeps_shape(function, own_attributes, op, inputs)
    {
        return (function.name(), own_attributes.to_vec(), true);
    }
    if let Some(function) = function.filter(|f| f.row().shape_rule != ShapeRule::Matmul)
        && let Some(attributes) = fitting_attributes(function, op, inputs)
    {
        return (function.name(), attributes, true);
    }
    let is_exact = function.is_none_or(|function| function.name() == op.op_type.name());
    match op.op_type {
        OpType::Elementwise | OpType::Reduction => (op.op_type.name(), Vec::new(), is_exact),
        OpType::Matmul => (
            Function::Matmul.name(),
            matmul_attributes(op, inputs),
            is_exact,
        ),
        OpType::Reshape => (reshape_callee(op, inputs), Vec::new(), is_exact),
        OpType::Opaque => (op.op_type.name(), own_attributes.to_vec(), is_exact),
    }
}

/// Whether the function takes this many inputs with these attributes and gives the op's element
/// type.
fn takes_inputs(function: Function, attributes: &[Attribute], op: &Op, inputs: Inputs<'_>) -> bool {
    // A matmul that states its K may read operands in packed or in separate tensors.
    let states_k = attributes
        .iter()
        .any(|attribute| attribute.is(AttributeName::K));
    let takes_literals = inputs.literals.is_empty()
        || function.takes_literals() && op.inputs.len() > function.leading_input();
    let count = op.inputs.len() + inputs.literals.len();
    let takes_count =
        takes_literals && (function.row().min_inputs..=function.row().max_inputs).contains(&count);
    let target = attributes
        .iter()
        .find(|attribute| attribute.is(AttributeName::Dtype));
    let keeps_type = match target.map(|attribute| &attribute.value) {
        Some(AttributeValue::Word(name)) => {
            let dtype = name.parse().ok();
            dtype.is_none() || dtype == op.element_type()
        }
        _ => inputs.give_type(function, op),
    };
    (takes_count || states_k) && (keeps_type || op.op_type == OpType::Matmul)
}

/// Whether the call with these attributes has the op's shape, and its K if the op has one.
fn keeps_shape(function: Function, attributes: &[Attribute], op: &Op, inputs: Inputs<'_>) -> bool {
    let stated = attributes
        .iter()
        .find(|attribute| attribute.is(AttributeName::K));
    match (stated.map(|attribute| &attribute.value), inputs.types()) {
        // Operands may have any shape, and the annotation gives the shape of the output.
        (Some(AttributeValue::Size(k)), _) => {
            matches!(k.kind, ExprKind::Int(k) if u64::try_from(k).ok() == op.k)
        }
        (None, Some(types)) => gives(function.row().shape_rule, &types, attributes, op),
        (Some(_), _) | (None, None) => op.k.is_none(),
    }
}

/// Attributes with which `function` infers the op's shape; `None` if there are none.
fn fitting_attributes(function: Function, op: &Op, inputs: Inputs<'_>) -> Option<Vec<Attribute>> {
    let mut candidates = vec![Vec::new()];
    if function.converts() {
        let dtype = op.element_type()?.name().to_owned();
        candidates = vec![vec![attribute(
            AttributeName::Dtype.name(),
            AttributeValue::Word(dtype),
        )]];
    }
    if !takes_inputs(function, &candidates[0], op, inputs) {
        return None;
    }
    if function.row().attributes.contains(&AttributeName::Keepdim) {
        candidates.push(vec![word(AttributeName::Keepdim, "false")]);
    }
    let types = inputs.types();
    candidates.into_iter().find(|attributes| match &types {
        Some(types) => gives(function.row().shape_rule, types, attributes, op),
        // The annotation gives the shape, but only `matmul` can state K.
        None => op.k.is_none(),
    })
}

/// The fewest attributes of `matmul` that the operands allow; `k=` says that operands may be
/// packed.
fn matmul_attributes(op: &Op, inputs: Inputs<'_>) -> Vec<Attribute> {
    const LAYOUTS: [&[AttributeName]; 4] = [
        &[],
        &[AttributeName::TransposeB],
        &[AttributeName::TransposeA],
        &[AttributeName::TransposeA, AttributeName::TransposeB],
    ];
    let k = op.k;
    if op.inputs.len() == 2 {
        let types = inputs.types();
        if types.is_none() && k.is_none() {
            return Vec::new();
        }
        let layouts = LAYOUTS.into_iter().map(|transposed| {
            let flags = transposed.iter().map(|&name| word(name, "true"));
            flags.collect::<Vec<Attribute>>()
        });
        let plain = types.and_then(|types| {
            let mut layouts = layouts;
            layouts.find(|attributes| gives(ShapeRule::Matmul, &types, attributes, op))
        });
        if let Some(attributes) = plain {
            return attributes;
        }
    }
    let k = k.or_else(|| k_of_shapes(&op.shape, inputs.shape(0), inputs.shape(1)));
    let value = match k.and_then(|k| i64::try_from(k).ok()) {
        Some(k) => AttributeValue::Size(int(k)),
        None => AttributeValue::Word("unknown".to_owned()),
    };
    vec![attribute(AttributeName::K.name(), value)]
}

/// `reshape` if the op keeps the elements of its one input and their type.
fn reshape_callee(op: &Op, inputs: Inputs<'_>) -> &'static str {
    let keeps = match inputs.known {
        [Some((shape, dtype))] => {
            element_count(shape) == element_count(&op.shape) && Some(*dtype) == op.element_type()
        }
        [None] => true,
        _ => false,
    };
    if keeps {
        Function::Reshape.name()
    } else {
        Function::Rearrange.name()
    }
}

fn name(text: &str) -> Name {
    Name {
        text: text.to_owned(),
        span: Span::default(),
    }
}

pub(super) fn int(value: i64) -> Expr {
    Expr {
        kind: ExprKind::Int(value),
        span: Span::default(),
    }
}

pub(super) fn attribute(attribute: &str, value: AttributeValue) -> Attribute {
    Attribute {
        name: name(attribute),
        value,
        span: Span::default(),
    }
}

fn word(name: AttributeName, word: &str) -> Attribute {
    attribute(name.name(), AttributeValue::Word(word.to_owned()))
}

fn annotation(shape: &[u64], dtype: Option<DType>) -> TypeAnnotation {
    // Larger sizes have been refused before, because their bytes overflow.
    let size = |&size: &u64| int(i64::try_from(size).unwrap_or(i64::MAX));
    TypeAnnotation {
        dtype: dtype.unwrap_or(DType::F32),
        dtype_span: Span::default(),
        dims: shape.iter().map(size).collect(),
        span: Span::default(),
    }
}
