//! Texts that stand for very many ops.

use super::{Known, known};
use fuseline_core::notation::import::read_op_lines;
use fuseline_core::notation::parse;
use fuseline_core::resolve::resolve;
use fuseline_core::{Options, Policy, analyze_program};
use fuseline_view::present::reasons::all_diagnostics;

pub(crate) static NOTATION: &[Known] = known![
    one_block_is_repeated_too_often,
    two_blocks_are_repeated_too_often_together,
];

pub(crate) static OP_LINES: &[Known] = known![twenty_thousand_ops_are_imported];

fn block(name: &str, rounds: usize) -> String {
    format!("repeat {rounds} {{\nweight {name} : f16[4]\n{name}_out = relu({name})\n}}\n")
}

fn hint(text: &str) -> Option<String> {
    let parsed = parse(text);
    let outcome = analyze_program(&parsed.program, &Options::of_policy(Policy::Manual));
    all_diagnostics(&parsed, &outcome).first()?.hint.clone()
}

fn one_block_is_repeated_too_often() {
    assert_eq!(
        hint(&block("a", 900_000)),
        Some("repeat this block at most 21277 times".to_owned())
    );
}

/// The limit holds for all blocks together.
fn two_blocks_are_repeated_too_often_together() {
    let text = block("a", 20_000) + &block("b", 20_000);
    assert_eq!(
        hint(&text),
        Some("repeat this block at most 1741 times".to_owned())
    );
}

fn twenty_thousand_ops_are_imported() {
    let lines: Vec<String> = (0..20_000)
        .map(|op| {
            format!(
                "Op(\"op{op}\", \"elementwise\", [\"t{op}\"], \"t{}\", (4,), 2),",
                op + 1
            )
        })
        .collect();
    let parsed = read_op_lines(&lines.join("\n"));
    assert_eq!(
        (parsed.program.ops.len(), parsed.diagnostics.len()),
        (20_000, 0)
    );
    let (ops, externals) = (
        resolve(&parsed.program).ops,
        resolve(&parsed.program).externals,
    );
    assert_eq!((ops.len(), externals.len()), (20_000, 0));
}
