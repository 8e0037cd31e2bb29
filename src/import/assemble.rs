//! Puts the program together from what the outputs need.

use crate::Imported;
use crate::Problem;
use crate::statement::nameless;
use crate::writer::Writer;
use fuseline_core::model::diagnostic::Span;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::program::{Declaration, Program, TypeAnnotation};
use indexmap::IndexMap;
use std::collections::HashSet;

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
                let dims = shape.iter().map(|size| size.expr(&self.params.names));
                program.declarations.push(Declaration {
                    role,
                    name: nameless(known.name.clone()),
                    annotation: TypeAnnotation {
                        dtype: known.dtype.unwrap_or(DType::F32),
                        dtype_span: Span::default(),
                        dims: dims.collect(),
                        span: Span::default(),
                    },
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
            notes: Vec::new(),
        })
    }
}
