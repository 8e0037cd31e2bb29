//! Repeated blocks: their numbers of iterations, and the problems with them.

use super::expr::{Params, evaluate, is_reported_elsewhere};
use super::scope::Scope;
use crate::model::diagnostic::{Code, Diagnostic, Severity};
use crate::model::program::{Block, ExprKind, OpStatement, Program};
use crate::notation::print_expr;
use crate::notation::spelling::quoted;
use std::collections::HashSet;

/// Most bytes by which writing out all blocks may lengthen the text: as many as a text may have
/// that the page analyses. This limits the time and the memory of an analysis.
const MAX_ADDED_BYTES: usize = 1_000_000;

/// The number of iterations of each block; 1 where the count has no value or is too large.
pub(super) fn iterations_of_blocks(
    program: &Program,
    params: &Params<'_>,
    found: &mut Vec<Diagnostic>,
) -> Vec<usize> {
    let mut bytes_left = MAX_ADDED_BYTES;
    let iterations = program.blocks.iter().map(|block| {
        let bytes = bytes_of_iteration(program, block);
        let iterations = iterations(block, params, bytes_left / bytes);
        let iterations = iterations.unwrap_or_else(|problem| {
            if !is_reported_elsewhere(&problem) {
                found.push(problem.at(block.count.span));
            }
            1
        });
        bytes_left -= bytes * (iterations - 1);
        iterations
    });
    iterations.collect()
}

fn iterations(block: &Block, params: &Params<'_>, most_added: usize) -> Result<usize, Diagnostic> {
    let value = evaluate(&block.count, params)?;
    let shown = match &block.count.kind {
        ExprKind::Int(_) => value.to_string(),
        _ => format!("{} = {value}", quoted(&print_expr(&block.count))),
    };
    match usize::try_from(value) {
        Err(_) if value > 0 => Err(too_many(&shown, most_added)),
        Ok(iterations) if iterations > most_added + 1 => Err(too_many(&shown, most_added)),
        Ok(iterations) if iterations > 0 => Ok(iterations),
        _ => Err(Diagnostic::error(
            Code::NonPositiveSize,
            format!("the number of iterations is {shown}"),
        )
        .hint("a block runs at least once; remove it if it should not run")),
    }
}

fn too_many(shown: &str, most_added: usize) -> Diagnostic {
    let most = most_added + 1;
    Diagnostic::error(
        Code::TooLong,
        format!("{shown} iterations are too many: written out, the blocks would exceed {MAX_ADDED_BYTES} bytes"),
    )
    .hint(format!("repeat this block at most {most} times"))
}

/// Bytes of the text of an iteration; at least one for each statement and the header.
fn bytes_of_iteration(program: &Program, block: &Block) -> usize {
    let declarations = program.declarations.get(block.declarations.clone());
    let ops = program.ops.get(block.ops.clone());
    let spans = (declarations.unwrap_or_default().iter().map(|d| d.span))
        .chain(ops.unwrap_or_default().iter().map(|op| op.span))
        .chain([block.header]);
    spans.map(|span| (span.end - span.start).max(1)).sum()
}

/// Number of ops, and of tensors that they read, where each block is written out. `O(program)`.
pub fn ops_and_reads(program: &Program) -> usize {
    let iterations = iterations_of_blocks(program, &Params::new(program), &mut Vec::new());
    let of = |ops: &[OpStatement]| ops.iter().map(|op| 1 + op.inputs.len()).sum::<usize>();
    let added = program
        .blocks
        .iter()
        .zip(iterations)
        .map(|(block, iterations)| {
            (iterations - 1) * of(program.ops.get(block.ops.clone()).unwrap_or_default())
        });
    of(&program.ops) + added.sum::<usize>()
}

/// Bytes by which a text becomes longer when each block is written out. `O(program)`.
pub(crate) fn bytes_of_further_iterations(program: &Program) -> usize {
    let iterations = iterations_of_blocks(program, &Params::new(program), &mut Vec::new());
    let added = program.blocks.iter().zip(iterations);
    added
        .map(|(block, iterations)| (iterations - 1) * bytes_of_iteration(program, block))
        .sum()
}

/// Reports invalid tensors that iterations take from each other.
pub(super) fn check_carried(program: &Program, scope: &Scope<'_>, found: &mut Vec<Diagnostic>) {
    if program.blocks.is_empty() {
        return;
    }
    let unreadable: HashSet<&str> = program.unreadable.iter().map(|n| &*n.text).collect();
    for (index, block) in program.blocks.iter().enumerate() {
        let ops = program.ops.get(block.ops.clone()).unwrap_or_default();
        let read: HashSet<&str> = (ops.iter().flat_map(|op| &op.inputs))
            .map(|input| &*input.text)
            .collect();
        let mut names = HashSet::new();
        for carried in &block.carried {
            let (name, from) = (&carried.name, &carried.from);
            if !names.insert(&*name.text) {
                let twice = format!("{} is given twice", quoted(&name.text));
                found.push(
                    (Diagnostic::error(Code::DuplicateDeclaration, twice).at(name.span))
                        .hint("give each name once"),
                );
            } else if scope.is_defined_in(name, index) {
                let message = format!("{} is written inside the block", quoted(&name.text));
                found.push(
                    (Diagnostic::error(Code::DuplicateDeclaration, message).at(name.span))
                        .hint("name a tensor from outside, which the first iteration reads"),
                );
            } else if !scope.is_defined_in(from, index) {
                if !unreadable.contains(&*from.text) {
                    let message = format!("no op of the block writes {}", quoted(&from.text));
                    found.push(
                        (Diagnostic::error(Code::UndeclaredTensor, message).at(from.span))
                            .hint("name the output of an op of the block"),
                    );
                }
            } else if !read.contains(&*name.text) {
                let message = format!("no op of the block reads {}", quoted(&name.text));
                found.push(
                    Diagnostic::new(Severity::Note, Code::UnusedTensor, message)
                        .at(name.span)
                        .hint("remove it, or read it in the block"),
                );
            }
        }
    }
}
