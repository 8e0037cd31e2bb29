//! Puts the program together from what the outputs need.

use crate::Imported;
use crate::Problem;
use crate::params::Params;
use crate::statement::{annotation, nameless};
use crate::writer::{Known, Writer};
use fuseline_core::model::diagnostic::Severity;
use fuseline_core::model::diagnostic::Span;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::program::OpStatement;
use fuseline_core::model::program::{Declaration, Program, TypeAnnotation};
use fuseline_core::notation::{parse, written_name};
use fuseline_core::resolve::resolve;
use indexmap::IndexMap;
use std::collections::{BTreeMap, HashSet};

impl Writer {
    /// The program of all ops that the outputs need.
    pub(crate) fn finish(self, outputs: &[usize]) -> Result<Imported, Problem> {
        let mut is_needed = vec![outputs.is_empty(); self.tensors.len()];
        let mut is_read = vec![false; self.tensors.len()];
        for &place in outputs {
            is_needed[place] = true;
        }
        for (op, output, _) in self.ops.iter().rev() {
            if is_needed[*output] {
                for place in op
                    .inputs
                    .iter()
                    .filter_map(|input| self.by_name.get(&input.text))
                {
                    (is_needed[*place], is_read[*place]) = (true, true);
                }
            }
        }
        let mut program = Program {
            params: self.params.statements(),
            ..Program::default()
        };
        for (place, role) in self.external {
            if let Some(known) = self.tensors.get(place).filter(|_| is_read[place])
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
        let (mut opaque, mut shapeless) = (IndexMap::new(), 0);
        let mut written = HashSet::new();
        for (op, output, operator) in self.ops {
            if !is_needed[output] {
                continue;
            }
            if let Some(operator) = operator {
                *opaque.entry(operator).or_insert(0) += 1;
            }
            let known = self.tensors.get(output);
            shapeless += usize::from(known.is_none_or(|known| known.shape.is_none()));
            written.insert(output);
            program.ops.push(op);
        }
        if program.ops.is_empty() {
            return Err(Problem::new("its outputs need no op"));
        }
        let known = |name: &str| self.tensors.get(*self.by_name.get(name)?);
        let notes = opaque_where_refused(&mut program, &mut opaque, known, &self.params);
        let mut seen = HashSet::new();
        let returned = outputs
            .iter()
            .filter(|&&place| is_read[place] && written.contains(&place));
        let returned = returned.filter(|place| seen.insert(**place));
        let known = returned.filter_map(|&place| self.tensors.get(place));
        program.outputs = known.map(|known| nameless(known.name.clone())).collect();
        Ok(Imported {
            program,
            opaque,
            shapeless,
            notes,
        })
    }
}

/// Ops that one refused op can hide are found one behind the other, at most so often.
const MOST_LOOKS: usize = 8;

/// Makes opaque ops of those that the notation refuses, with the shape that is known of them, so that one does not hide the rest.
/// Gives a sentence about them.
fn opaque_where_refused<'a>(
    program: &mut Program,
    opaque: &mut IndexMap<String, usize>,
    known: impl Fn(&str) -> Option<&'a Known>,
    params: &Params,
) -> Vec<String> {
    let mut notes = Vec::new();
    for _ in 0..MOST_LOOKS {
        let errors = resolve(program).diagnostics.into_iter();
        let errors = errors.filter(|found| found.severity == Severity::Error);
        let errors: BTreeMap<usize, String> = errors
            .filter_map(|found| Some((found.op?, found.message)))
            .collect();
        if errors.is_empty() {
            break;
        }
        for (index, message) in errors {
            let Some(op) = program.ops.get_mut(index) else {
                continue;
            };
            if notes.is_empty() {
                notes.push(format!(
                    "One op or more do not fit their inputs and are counted as opaque: {message}."
                ));
            }
            *opaque.entry(op.callee.text.clone()).or_insert(0) += 1;
            let own = known(&op.output.text);
            let annotation =
                own.and_then(|own| Some(annotation(own.dtype?, own.shape.as_deref()?, params)));
            refuse(op, annotation);
        }
    }
    notes
}

/// The op as an opaque one that reads the same tensors.
fn refuse(op: &mut OpStatement, annotation: Option<TypeAnnotation>) {
    if op.callee.text == "opaque" {
        // Its shape has a size that is none.
        op.annotation = None;
        return;
    }
    let name = written_name(&op.callee.text);
    let parsed = parse(&format!("y = opaque(name={name})"))
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
