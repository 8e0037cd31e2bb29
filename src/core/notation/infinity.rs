//! `inf` as a number among the inputs of a call, as in `where(mask, x, inf)`.

use crate::model::program::{Literal, OpStatement, Program};

/// The text of infinity, after a minus or without one.
pub(super) const INFINITY: &str = "inf";

/// Takes `inf` for the number, unless the program has a tensor of this name. Tensors may be written
/// anywhere in the text, so this runs after the last statement.
pub(super) fn resolve_infinities(program: &mut Program) {
    let is_read = |op: &OpStatement| op.inputs.iter().any(|input| input.text == INFINITY);
    if !program.ops.iter().any(is_read) || has_tensor(program) {
        return;
    }
    for op in program.ops.iter_mut().filter(|op| is_read(op)) {
        let numbers: Vec<usize> = op.literals.iter().map(|literal| literal.place).collect();
        let arguments = op.inputs.len() + numbers.len();
        let mut places = (0..arguments).filter(|place| !numbers.contains(place));
        op.inputs.retain(|input| {
            let place = places.next().unwrap_or(arguments);
            let is_number = input.text == INFINITY;
            if is_number {
                op.literals.push(Literal {
                    place,
                    text: INFINITY.to_owned(),
                    span: input.span,
                });
            }
            !is_number
        });
        op.literals.sort_unstable_by_key(|literal| literal.place);
    }
}

/// Whether a word is infinity, with a sign or without one.
pub(super) fn is_infinity(word: &str) -> bool {
    word.strip_prefix('-').unwrap_or(word) == INFINITY
}

fn has_tensor(program: &Program) -> bool {
    let outputs = program.ops.iter().map(|op| &op.output);
    let declared = program.declarations.iter().map(|declared| &declared.name);
    let carried = program.blocks.iter().flat_map(|block| &block.carried);
    let mut names = (outputs.chain(declared))
        .chain(carried.map(|carried| &carried.name))
        .chain(&program.unreadable);
    names.any(|name| name.text == INFINITY)
}
