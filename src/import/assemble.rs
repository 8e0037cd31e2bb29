//! Assembles the program from the ops that the outputs need.

use crate::Imported;
use crate::Problem;
use crate::opaque::Flops;
use crate::params::Params;
use crate::shapes::elements;
use crate::size::Size;
use crate::statement::{annotation, nameless};
use crate::writer::{Known, Writer};
use fuseline_core::model::diagnostic::Severity;
use fuseline_core::model::diagnostic::Span;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::program::{
    AttributeValue, Declaration, OpStatement, Program, TypeAnnotation,
};
use fuseline_core::notation::{parse, written_name};
use fuseline_core::resolve::resolve;
use indexmap::IndexMap;
use std::collections::{BTreeMap, HashSet};

impl Writer {
    /// Which tensors the outputs need, by index; all if there are no outputs.
    pub(crate) fn needed(&self, outputs: &[usize]) -> Vec<bool> {
        let mut is_needed = vec![outputs.is_empty(); self.tensors.len()];
        for &index in outputs {
            is_needed[index] = true;
        }
        for (op, output) in self.ops.iter().rev() {
            if is_needed[*output] {
                for index in (op.inputs.iter()).filter_map(|input| self.by_name.get(&input.text)) {
                    is_needed[*index] = true;
                }
            }
        }
        is_needed
    }

    /// The program of all ops that the outputs need.
    pub(crate) fn finish(self, outputs: &[usize]) -> Result<Imported, Problem> {
        let mut is_needed = self.needed(outputs);
        let loops = self.open_loops.iter();
        let further: HashSet<usize> = loops.filter_map(|own| own.further_of(&is_needed)).collect();
        if !outputs.is_empty() && !further.is_empty() {
            let all = outputs.iter().chain(&further).copied();
            is_needed = self.needed(&all.collect::<Vec<_>>());
        }
        let mut is_read = vec![false; self.tensors.len()];
        for (op, output) in &self.ops {
            if is_needed[*output] {
                for index in (op.inputs.iter()).filter_map(|input| self.by_name.get(&input.text)) {
                    is_read[*index] = true;
                }
            }
        }
        let mut program = Program {
            params: self.params.statements(),
            ..Program::default()
        };
        for (index, role) in self.external {
            if let Some(known) = self.tensors.get(index).filter(|_| is_read[index])
                && let Some(shape) = &known.shape
            {
                program.declarations.push(Declaration {
                    role,
                    name: nameless(known.name.clone()),
                    annotation: annotation(known.dtype.unwrap_or(DType::F32), shape, &self.params),
                    span: Span::default(),
                });
            }
        }
        let mut written = HashSet::new();
        let (mut opaque, mut fixed) = (IndexMap::new(), 0);
        let mut operators = HashSet::new();
        for (op, output) in self.ops {
            if !is_needed[output] {
                continue;
            }
            let operator = self.operator_of.get(&output).copied();
            if op.function() == Some(Function::Opaque)
                && !further.contains(&output)
                && operators.insert(operator.unwrap_or(output))
            {
                *opaque.entry(operator_name(&op)).or_insert(0) += 1;
            }
            let known = self.tensors.get(output);
            fixed += usize::from(known.is_some_and(|known| known.is_fixed));
            written.insert(output);
            program.ops.push(op);
        }
        if program.ops.is_empty() {
            return Err(Problem::new("its outputs depend on no op"));
        }
        let known = |name: &str| self.tensors.get(*self.by_name.get(name)?);
        let misfits = opaque_where_refused(&mut program, known, &self.params);
        let mut notes = misfits.note();
        notes.extend(loops_note(further.len()));
        for function in misfits.functions {
            *opaque.entry(function).or_insert(0) += 1;
        }
        notes.extend(match fixed {
            0 => None,
            1 => Some(
                "1 tensor has a size that the notation cannot express. The size is right only at the params' defaults."
                    .to_owned(),
            ),
            count => Some(format!(
                "{count} tensors have sizes that the notation cannot express. The sizes are right only at the params' defaults."
            )),
        });
        let mut seen = HashSet::new();
        let returned = outputs
            .iter()
            .filter(|&&index| is_read[index] && written.contains(&index));
        let returned = returned.filter(|index| seen.insert(**index));
        let known = returned.filter_map(|&index| self.tensors.get(index));
        program.outputs = known.map(|known| nameless(known.name.clone())).collect();
        Ok(Imported {
            program,
            sources: Vec::new(),
            opaque,
            shapeless: misfits.shapeless.saturating_sub(further.len()),
            loops: further.len(),
            notes,
        })
    }
}

/// The note on loops that count one iteration.
fn loops_note(loops: usize) -> Option<String> {
    match loops {
        0 => None,
        1 => Some(
            "1 loop has a number of iterations known only at run time. Fuseline counts one iteration, so all totals are lower bounds."
                .to_owned(),
        ),
        count => Some(format!(
            "{count} loops have numbers of iterations known only at run time. Fuseline counts one iteration of each, so all totals are lower bounds."
        )),
    }
}

/// The name of the operator of an opaque op.
fn operator_name(op: &OpStatement) -> String {
    let mut attributes = op.attributes.iter();
    let named = attributes.find(|attribute| attribute.is(AttributeName::Name));
    match named.map(|named| &named.value) {
        Some(AttributeValue::Word(name)) => name.clone(),
        _ => op.callee.text.clone(),
    }
}

/// Ops that the notation refused.
struct Misfits {
    /// The function of each, in the order in which they were found.
    functions: Vec<String>,
    /// The diagnostic message of the first.
    first: String,
    /// Ops whose shape is unknown in the end.
    shapeless: usize,
}

impl Misfits {
    fn note(&self) -> Vec<String> {
        let first = &self.first;
        match self.functions.len() {
            0 => Vec::new(),
            1 => vec![format!(
                "1 op does not fit its inputs and counts as opaque: {first}."
            )],
            count => vec![format!(
                "{count} ops do not fit their inputs and count as opaque. The first: {first}."
            )],
        }
    }
}

/// Most ops that all passes resolve with the shapes of refused ops. Later passes leave these shapes
/// unknown, so that no further op is refused because of them.
const MAX_SEEN: usize = 1 << 18;

/// Turns the ops that the notation refuses into opaque ops with their known shapes. A refused op
/// hides the errors of later ops, so the program is resolved again until no op is refused.
fn opaque_where_refused<'a>(
    program: &mut Program,
    known: impl Fn(&str) -> Option<&'a Known>,
    params: &Params,
) -> Misfits {
    let mut misfits = Misfits {
        functions: Vec::new(),
        first: String::new(),
        shapeless: 0,
    };
    let mut seen = 0;
    loop {
        let resolved = resolve(program);
        misfits.shapeless = resolved.unknown_ops.len();
        seen += program.ops.len();
        let errors = resolved.diagnostics.into_iter();
        let errors = errors.filter(|found| found.severity == Severity::Error);
        let errors: BTreeMap<usize, String> = errors
            .filter_map(|found| Some((found.op?, found.message)))
            .collect();
        let mut is_changed = false;
        for (index, message) in errors {
            let Some(op) = program.ops.get_mut(index) else {
                continue;
            };
            if op.function() == Some(Function::Opaque) {
                // Its shape has an impossible size.
                is_changed |= op.annotation.take().is_some();
                continue;
            }
            is_changed = true;
            if misfits.functions.is_empty() {
                misfits.first = message;
            }
            misfits.functions.push(op.callee.text.clone());
            let own = known(&op.output.text).filter(|_| seen <= MAX_SEEN);
            let annotation =
                own.and_then(|own| Some(annotation(own.dtype?, own.shape.as_deref()?, params)));
            let flops = own.and_then(|own| flops_of(op.function()?, own.shape.as_deref()?));
            refuse(op, annotation, flops.map(|flops| flops.text(params)));
        }
        // Each op changes at most twice, to an opaque op and to one of unknown shape, so the loop
        // ends.
        if !is_changed {
            return misfits;
        }
    }
}

/// The FLOPs of a function whose output alone gives them.
fn flops_of(function: Function, shape: &[Size]) -> Option<Flops> {
    let row = function.row();
    let is_counted = matches!(row.op_type, OpType::Elementwise | OpType::Reshape);
    let each = i64::try_from(row.flops_per_element).ok();
    let each = each.filter(|_| is_counted)?;
    elements(shape)?.mul(&Size::from(each)).map(Flops::vector)
}

/// Turns an op into an opaque op that reads the same tensors.
fn refuse(op: &mut OpStatement, annotation: Option<TypeAnnotation>, flops: Option<String>) {
    let name = written_name(&op.callee.text);
    let flops = flops.map_or_else(String::new, |flops| format!(", {flops}"));
    let parsed = parse(&format!("y = opaque(name={name}{flops})"))
        .program
        .ops
        .into_iter()
        .next();
    if let Some(call) = parsed {
        *op = OpStatement {
            label: op.label.take(),
            output: op.output.clone(),
            inputs: std::mem::take(&mut op.inputs),
            annotation,
            ..call
        };
    }
}
