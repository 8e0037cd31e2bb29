//! Random programs that slice, copy, transpose and join tensors before they reduce rows.

use crate::kernel_code::{check, ran};
use crate::partitions::{brute_force, choices, is_close};
use fuseline_codegen::kernel_code::Coded;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, ReshapeCost, analyze_program};
use proptest::prelude::*;
use proptest::sample::Index;
use strum::VariantArray;

/// What draws one statement: its kind, two tensors, a dimension, and whether the first tensor is
/// the last one computed.
type Drawn = (u8, Index, Index, usize, bool);

/// The text of a program of `ops` statements at most; those that do not apply are left out.
pub(crate) fn moved_rows(ops: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = String> {
    let drawn = (
        0_u8..16,
        any::<Index>(),
        any::<Index>(),
        0_usize..3,
        prop::bool::weighted(0.8),
    );
    prop::collection::vec(drawn, ops).prop_map(|drawn: Vec<Drawn>| {
        let shapes = [("x", [3, 4, 6]), ("z", [3, 4, 6]), ("g", [1, 1, 6])];
        let mut tensors = shapes
            .map(|(name, shape)| (name.to_owned(), shape.to_vec()))
            .to_vec();
        let inputs = tensors
            .iter()
            .map(|(name, shape)| format!("input {name} : f32{shape:?}\n"));
        let mut text: String = inputs.collect();
        for own in drawn {
            if let Some((call, shape)) = statement(&tensors, &own) {
                let name = format!("t{}", tensors.len());
                text.extend([&name[..], " = ", &call[..], "\n"]);
                tensors.push((name, shape));
            }
        }
        text
    })
}

/// A call and the shape of what it computes; `None` if it does not apply.
fn statement(tensors: &[(String, Vec<u64>)], drawn: &Drawn) -> Option<(String, Vec<u64>)> {
    let &(kind, first, second, dimension, is_last) = drawn;
    let first = if is_last {
        tensors.len() - 1
    } else {
        first.index(tensors.len())
    };
    let ((a, shape), (b, other)) = (&tensors[first], &tensors[second.index(tensors.len())]);
    let axis = dimension % shape.len();
    let size = shape[axis];
    let with = |size: u64| {
        let mut shape = shape.clone();
        shape[axis] = size;
        shape
    };
    let applies = match kind {
        // Of equal shapes, or with a value for each row of the first one.
        2 | 3 => {
            let meets = |(own, other): (&u64, &u64)| own == other || *other == 1;
            shape.len() == other.len() && shape.iter().zip(other).all(meets)
        }
        4..=6 => size > 2,
        10 => shape.len() == 3,
        11 => shape == other,
        _ => true,
    };
    applies.then(|| match kind {
        0 => (format!("relu({a})"), shape.clone()),
        1 => (format!("mul({a}, 0.5)"), shape.clone()),
        2 | 3 => (format!("add({a}, {b})"), shape.clone()),
        4 | 5 => (format!("slice({a}, start=1, axis={axis})"), with(size - 1)),
        6 => (
            format!("slice({a}, end={}, axis={axis})", size - 1),
            with(size - 1),
        ),
        7 | 8 => (format!("contiguous({a})"), shape.clone()),
        9 => {
            let mut shape = shape.clone();
            let last = shape.len() - 1;
            shape.swap(last - 1, last);
            (format!("transpose({a})"), shape)
        }
        10 => {
            let shape = vec![shape[0] * shape[1], shape[2]];
            (format!("reshape({a}, shape={shape:?})"), shape)
        }
        11 => (format!("concat({a}, {b}, axis={axis})"), with(2 * size)),
        12 => (format!("softmax({a}, axis={axis})"), shape.clone()),
        13 => (format!("flip({a}, axis={axis})"), shape.clone()),
        _ => (format!("sum({a}, axis={axis})"), with(1)),
    })
}

fn options(policy: Policy, reshape: ReshapeCost, horizontal: bool) -> Options {
    let mut options = Options::of_policy(policy);
    options.conventions.reshape = reshape;
    options.fusion.horizontal = horizontal;
    options
}

fn analysis(text: &str, options: &Options) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    analyze_program(&parsed.program, options).analysis.unwrap()
}

/// The loss of a language model, in which the last position has no target. One kernel reads the
/// logits, and a value for each position goes through memory.
#[test]
fn a_loss_of_shifted_logits_reads_them_once() {
    let text = "input x : bf16[2, 8, 512]\ninput t : i64[14, 1]\nu = cast(x, dtype=f32)\n\
                s = slice(u, end=7, axis=1)\nc = contiguous(s)\nr = reshape(c, shape=[14, 512])\n\
                l = log_softmax(r, axis=1)\ng = gather(l, t, axis=1)\nm = sum(g, axis=0)\n";
    for &reshape in ReshapeCost::VARIANTS {
        let optimum = analysis(text, &options(Policy::Optimal, reshape, false));
        let read = 2 * 8 * 512 * 2 + 14 * 8;
        assert_eq!(
            optimum.fused.traffic.total,
            read + 2 * 14 * 4 + 4,
            "{reshape:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_optimum_has_at_most_the_bytes_of_the_textbook_rules(text in moved_rows(1..=9), horizontal in any::<bool>()) {
        prop_assume!(text.contains("t3"));
        for &reshape in ReshapeCost::VARIANTS {
            let of = |policy| analysis(&text, &options(policy, reshape, horizontal));
            let [none, rules, optimum] = [Policy::None, Policy::Rules, Policy::Optimal].map(of);
            prop_assert!(optimum.certificate.is_some_and(|certificate| certificate.is_optimal));
            let [none, rules, optimum] = [none, rules, optimum].map(|own| own.fused.traffic.total);
            prop_assert!(rules <= none, "{reshape:?} {rules} {none}\n{text}");
            prop_assert!(optimum <= rules, "{reshape:?} {optimum} {rules}\n{text}");
        }
    }

    #[test]
    fn no_partition_into_legal_kernels_costs_less_than_the_optimum(text in moved_rows(1..=7), options in choices()) {
        prop_assume!(text.contains("t3"));
        let analysis = analysis(&text, &options);
        let found = analysis.certificate.unwrap();
        let least = brute_force(&analysis.graph, &options).0;
        prop_assert!(found.is_optimal && is_close(found.cost.value(), least), "{found:?} {least}\n{text}");
    }

    #[test]
    fn their_kernels_compute_what_the_program_says(text in moved_rows(1..=7)) {
        prop_assume!(text.contains("t3"));
        let program = parse(&text).program;
        for &reshape in ReshapeCost::VARIANTS {
            let ran = ran(&program, &options(Policy::Optimal, reshape, true), &[]);
            let refused = ran.kernels.iter().filter_map(|(_, code): &(_, Coded)| code.as_ref().err());
            let refused: Vec<String> = refused.map(ToString::to_string).collect();
            prop_assert_eq!(&refused, &Vec::<String>::new(), "{}", text);
            check(ran, &text);
        }
    }
}
