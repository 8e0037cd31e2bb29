//! Blocks that are repeated mean what the text means that is written out by hand.

use crate::repeat::analysed;
use fuseline_core::notation::parse;
use fuseline_core::resolve::resolve;
use fuseline_core::{FusionOptions, Options, Policy, analyze_program, build_graph};
use proptest::prelude::*;
use std::fmt::Write as _;
use strum::VariantArray;

/// The example's block, repeated, and written out by hand with the names that rounds have.
fn gpt2_blocks(rounds: usize) -> [String; 2] {
    let example = fuseline_core::examples::example("gpt2").unwrap().text;
    let lines = example
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (outside, block): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| line.starts_with("param") || line.starts_with("input"));
    let outside = outside.join("\n");
    let repeated = format!(
        "{outside}\nrepeat {rounds} with x = y {{\n{}\n}}\n",
        block.join("\n")
    );
    let program = parse(&repeated).program;
    let mut written = outside + "\n";
    for round in 1..=rounds {
        let own: Vec<&str> = (program.ops.iter().map(|op| &*op.output.text))
            .chain(
                program
                    .declarations
                    .iter()
                    .map(|d| &*d.name.text)
                    .filter(|name| *name != "x"),
            )
            .collect();
        for line in &block {
            let line = line.split('#').next().unwrap();
            // A function stands before its parenthesis, and some tensors are named like one.
            let (head, call) = line.split_once('=').unwrap_or((line, ""));
            let (function, operands) = call.split_once('(').unwrap_or((call, ""));
            let renamed = |part: &str| {
                let mut text = String::new();
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                for piece in part.split_inclusive(|c| !is_word(c)) {
                    let word = piece.trim_end_matches(|c| !is_word(c));
                    let rest = &piece[word.len()..];
                    match word {
                        "x" if round > 1 => write!(text, "y.{}{rest}", round - 1).unwrap(),
                        _ if own.contains(&word) => write!(text, "{word}.{round}{rest}").unwrap(),
                        _ => text.push_str(piece),
                    }
                }
                text
            };
            written += &renamed(head);
            if !call.is_empty() {
                write!(written, "={function}({}", renamed(operands)).unwrap();
            }
            written.push('\n');
        }
    }
    [repeated, written]
}

#[test]
fn repeated_gpt2_blocks_are_those_written_out() {
    for policy in Policy::VARIANTS {
        let [repeated, written] = gpt2_blocks(3);
        let options = Options::of_policy(*policy);
        assert_eq!(
            analysed(&repeated, &options),
            analysed(&written, &options),
            "{policy:?}"
        );
    }
    // Of equal graphs every policy gives equal kernels.
    let graphs = gpt2_blocks(48).map(|text| {
        let resolved = resolve(&parse(&text).program);
        assert_eq!(resolved.diagnostics, []);
        build_graph(resolved.ops, &resolved.externals).unwrap()
    });
    assert_eq!(graphs[0].ops.len(), 2_448);
    assert_eq!(graphs[0], graphs[1]);
}

/// An op of a random program: its function, and its inputs as places among the names in sight.
type Drawn = (usize, [prop::sample::Index; 2], bool);

const FUNCTIONS: [&str; 6] = ["relu", "softmax", "add", "matmul", "transpose", "sub"];

/// A program of square matrices with blocks, and the same written out.
fn written_twice(parts: &[(Option<usize>, Vec<Drawn>)]) -> [String; 2] {
    let mut texts = [
        "input x : f16[8, 8]\n".to_owned(),
        "input x : f16[8, 8]\n".to_owned(),
    ];
    // Names of outside with what they are called where blocks are written out.
    let mut outside = vec![("x".to_owned(), "x".to_owned())];
    for (part, (rounds, ops)) in parts.iter().enumerate() {
        let Some(rounds) = *rounds else {
            for (index, (function, picks, _)) in ops.iter().enumerate() {
                let name = format!("o{part}_{index}");
                for (side, text) in texts.iter_mut().enumerate() {
                    let inputs = picks.map(|pick| {
                        let (plain, unique) = pick.get(&outside);
                        if side == 0 {
                            plain.clone()
                        } else {
                            unique.clone()
                        }
                    });
                    line(text, &name, *function, &inputs);
                }
                outside.push((name.clone(), name));
            }
            continue;
        };
        let taken = outside[part % outside.len()].clone();
        let last = format!("h{part}_{}", ops.len() - 1);
        writeln!(texts[0], "repeat {rounds} with {} = {last} {{", taken.0).unwrap();
        for round in 1..=rounds {
            let mut inside: Vec<(String, String)> = outside.clone();
            if round > 1 {
                let carried = inside
                    .iter_mut()
                    .find(|(plain, _)| *plain == taken.0)
                    .unwrap();
                carried.1 = format!("{last}.{}", round - 1);
            }
            for (index, (function, picks, has_weight)) in ops.iter().enumerate() {
                if *has_weight {
                    let weight = format!("w{part}_{index}");
                    if round == 1 {
                        writeln!(texts[0], "  weight {weight} : f16[8, 8]").unwrap();
                    }
                    writeln!(texts[1], "weight {weight}.{round} : f16[8, 8]").unwrap();
                    inside.push((weight.clone(), format!("{weight}.{round}")));
                }
                let mut inputs = picks.map(|pick| pick.get(&inside).clone());
                if *has_weight {
                    inputs[1].clone_from(inside.last().unwrap());
                }
                if index == 0 {
                    // So that the block reads what it takes along.
                    inputs[0] = inside
                        .iter()
                        .find(|(plain, _)| *plain == taken.0)
                        .unwrap()
                        .clone();
                }
                let name = format!("h{part}_{index}");
                if round == 1 {
                    line(
                        &mut texts[0],
                        &name,
                        *function,
                        &inputs.clone().map(|(plain, _)| plain),
                    );
                }
                let unique = format!("{name}.{round}");
                line(
                    &mut texts[1],
                    &unique,
                    *function,
                    &inputs.map(|(_, unique)| unique),
                );
                inside.push((name, unique));
            }
        }
        texts[0].push_str("}\n");
        let names = (0..ops.len()).map(|index| format!("h{part}_{index}"));
        outside.extend(names.map(|name| (name.clone(), format!("{name}.{rounds}"))));
    }
    texts
}

fn line(text: &mut String, output: &str, function: usize, inputs: &[String; 2]) {
    let function = FUNCTIONS[function];
    let [first, second] = inputs;
    match function {
        "add" | "sub" | "matmul" => writeln!(text, "{output} = {function}({first}, {second})"),
        _ => writeln!(text, "{output} = {function}({first})"),
    }
    .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_are_what_is_written_out(
        parts in prop::collection::vec(
            (
                prop::option::of(1..5_usize),
                prop::collection::vec((0..FUNCTIONS.len(), any::<[prop::sample::Index; 2]>(), any::<bool>()), 1..5),
            ),
            1..4,
        ),
        policy in prop::sample::select(Policy::VARIANTS),
        all_options in any::<bool>(),
    ) {
        let [repeated, written] = written_twice(&parts);
        let options = Options {
            fusion: FusionOptions {
                horizontal: all_options,
                after_reductions: all_options,
                prologue: all_options,
                budget_states: 2_000,
                ..FusionOptions::default()
            },
            ..Options::of_policy(policy)
        };
        // Notes about weights that the op does not read are told once, and in each round.
        let analysis = |text: &str| {
            let parsed = parse(text);
            prop_assert_eq!(&parsed.diagnostics, &[], "{}", text);
            Ok(analyze_program(&parsed.program, &options).analysis)
        };
        prop_assert_eq!(analysis(&repeated)?, analysis(&written)?, "{}\n{}", repeated, written);
    }
}
