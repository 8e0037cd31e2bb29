//! Writes equal layers of a program as blocks that repeat.

use crate::pt2::layers::{Layers, Repeated};
use crate::pt2::naming::Origin;
use fuseline_core::model::diagnostic::Span;
use fuseline_core::model::program::{Block, Carried, Expr, ExprKind, Name, Program};
use fuseline_core::resolve::{Resolved, resolve};
use std::collections::{HashMap, HashSet};

/// The program with its equal layers as blocks. Near linear in ops and reads.
pub(crate) fn folded(program: Program, origins: &HashMap<String, Origin>) -> Program {
    let (layers, repeated) = Layers::of(&program).repeated(origins);
    if repeated.is_empty() {
        return program;
    }
    let folded = with_blocks(&program, &layers, &repeated);
    // A block that did not mean the same would give wrong numbers without a word.
    if is_equal(&resolve(&folded), &resolve(&program)) {
        folded
    } else {
        program
    }
}

fn with_blocks(program: &Program, layers: &Layers<'_>, repeated: &[Repeated]) -> Program {
    let name_of = |tensor: usize| layers.names.get(tensor).copied().unwrap_or_default();
    let pairs = repeated.iter().flat_map(|block| &block.equal_of);
    let equal_of: HashMap<&str, &str> = pairs
        .map(|(&tensor, &first)| (name_of(tensor), name_of(first)))
        .collect();
    let renamed = |name: &Name| Name {
        text: equal_of
            .get(name.text.as_str())
            .map_or(&name.text[..], |&first| first)
            .to_owned(),
        ..name.clone()
    };
    let mut folded = Program {
        params: program.params.clone(),
        ..Program::default()
    };
    let declarations = program.declarations.iter();
    let outside = declarations
        .clone()
        .filter(|declaration| !equal_of.contains_key(declaration.name.text.as_str()));
    folded.declarations.extend(outside.cloned());
    let by_name: HashMap<&str, _> = declarations
        .map(|declaration| (declaration.name.text.as_str(), declaration))
        .collect();
    let returned: HashSet<&str> = program
        .outputs
        .iter()
        .map(|own| own.text.as_str())
        .collect();
    let mut in_blocks = HashSet::new();
    let mut at = 0;
    for block in repeated {
        let ops = |from: usize, to: usize| program.ops.get(from..to).unwrap_or_default();
        folded
            .ops
            .extend_from_slice(ops(at, block.start + block.length));
        at = block.ops().end;
        let own = block
            .own
            .iter()
            .filter_map(|&own| by_name.get(name_of(own)));
        let (declarations, outputs) = (folded.declarations.len(), folded.outputs.len());
        folded.declarations.extend(own.copied().cloned());
        // A result that no op reads is returned without a word.
        for &tensor in block
            .returned
            .iter()
            .filter(|&&own| returned.contains(name_of(own)))
        {
            folded.outputs.push(named(name_of(tensor)));
            in_blocks.insert(name_of(tensor));
        }
        let carried = block.carried.iter().map(|&(outer, inner)| Carried {
            name: renamed(&named(name_of(outer))),
            from: named(name_of(inner)),
        });
        folded.blocks.push(Block {
            count: Expr {
                kind: ExprKind::Int(i64::try_from(block.count).unwrap_or(i64::MAX)),
                span: Span::default(),
            },
            carried: carried.collect(),
            declarations: declarations..folded.declarations.len(),
            ops: folded.ops.len() - block.length..folded.ops.len(),
            outputs: outputs..folded.outputs.len(),
            header: Span::default(),
            span: Span::default(),
        });
    }
    let rest = program.ops.get(at..).unwrap_or_default();
    folded.ops.extend_from_slice(rest);
    for op in &mut folded.ops {
        op.inputs = op.inputs.iter().map(renamed).collect();
    }
    let outputs = program.outputs.iter().map(renamed);
    let others = outputs.filter(|output| !in_blocks.contains(output.text.as_str()));
    let others: Vec<Name> = others.collect();
    folded.outputs.extend(others);
    folded
}

fn named(text: &str) -> Name {
    Name {
        text: text.to_owned(),
        span: Span::default(),
    }
}

/// Whether two programs have the same ops in the same order, each of which reads the results of the
/// same ops.
fn is_equal(a: &Resolved, b: &Resolved) -> bool {
    let reads = |resolved: &Resolved| {
        let mut producers = HashMap::new();
        let mut reads = Vec::new();
        for (index, op) in resolved.ops.iter().enumerate() {
            let inputs = op.inputs.iter();
            reads.extend(inputs.map(|input| producers.get(input.as_str()).copied()));
            producers.insert(op.output.clone(), index);
        }
        reads
    };
    let types = |resolved: &Resolved| {
        let ops = resolved.ops.iter();
        let types = ops.map(|op| (op.function, op.shape.clone(), op.dtype));
        types.collect::<Vec<_>>()
    };
    let is_clean = a.diagnostics.len() <= b.diagnostics.len();
    is_clean && types(a) == types(b) && reads(a) == reads(b)
}
