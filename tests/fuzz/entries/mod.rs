//! The ways in, each a function of bytes. Choices are drawn from the input, so that an input fails
//! again on its own.

mod answers;
mod models;
mod profiles;
mod texts;

use crate::known::{self, Known};
use crate::{corpus, searches};
use answers::{
    advice, answers, code, figures, inspection, lessons, pictures, policies, puzzles, sweeps,
    worker,
};
use fuseline::app::text_limits::is_quick;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::notation::{Parsed, parse};
use fuseline_core::{
    Analysis, Conventions, DEVICES, Externals, F32Matmul, FusionOptions, Objective, Options,
    Outcome, Policy, ReshapeCost, analyze_program,
};
use models::{onnx, pt2};
use profiles::{measured, profiles};
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::hash::{DefaultHasher, Hash, Hasher};
use strum::VariantArray;
use texts::{edits, json, links, notation, op_lines};

pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// What mutations start from.
    pub(crate) corpus: fn() -> Vec<Vec<u8>>,
    pub(crate) run: fn(&[u8]),
    /// What each run tries once, before mutated inputs.
    pub(crate) known: &'static [Known],
    /// Mutated inputs that each run tries, however little time it has.
    pub(crate) least: u64,
}

/// An entry of mutated inputs only.
const fn mutations(name: &'static str, corpus: fn() -> Vec<Vec<u8>>, run: fn(&[u8])) -> Entry {
    Entry {
        name,
        corpus,
        run,
        known: &[],
        least: 0,
    }
}

/// An entry whose inputs stand for random graphs, of which each run tries this many.
const fn graphs(name: &'static str, run: fn(&[u8]), least: u64) -> Entry {
    Entry {
        least,
        ..mutations(name, corpus::numbers, run)
    }
}

#[rustfmt::skip]
pub(crate) static ENTRIES: &[Entry] = &[
    Entry { known: known::NOTATION, ..mutations("notation", corpus::notation, notation) },
    mutations("json", corpus::json_lists, json),
    Entry { known: known::OP_LINES, ..mutations("op_lines", corpus::op_lines, op_lines) },
    mutations("links", corpus::links, links),
    mutations("edits", corpus::notation, edits),
    Entry { known: known::PICTURES, ..mutations("pictures", corpus::notation, pictures) },
    mutations("policies", corpus::notation, policies),
    Entry { known: known::ANSWERS, ..mutations("answers", corpus::notation, answers) },
    mutations("worker", corpus::notation, worker),
    mutations("sweeps", corpus::notation, sweeps),
    mutations("advice", corpus::notation, advice),
    mutations("figures", corpus::notation, figures),
    mutations("code", corpus::notation, code),
    mutations("inspection", corpus::notation, inspection),
    mutations("lessons", corpus::lessons, lessons),
    mutations("puzzles", corpus::puzzles, puzzles),
    Entry { known: known::ONNX, ..mutations("onnx", corpus::onnx, onnx) },
    Entry { known: known::PT2, ..mutations("pt2", corpus::pt2, pt2) },
    mutations("graphs", corpus::graphs, json),
    mutations("measured", corpus::measured, measured),
    Entry { known: known::PROFILES, ..mutations("profiles", corpus::profiles, profiles) },
    graphs("optima", searches::optima, 2000),
    graphs("both_costs", searches::both_costs, 1000),
    graphs("shuffled", searches::shuffled, 300),
    graphs("long_shuffled", searches::long_shuffled, 40),
    graphs("other_policies", searches::other_policies, 300),
    graphs("on_chip", searches::on_chip, 300),
    graphs("cut_budgets", searches::cut_budgets, 300),
    graphs("attention", searches::attention, 1000),
    graphs("attention_or_not", searches::attention_or_not, 600),
    graphs("ladders", searches::ladders, 120),
    graphs("larger_budgets", searches::larger_budgets, 24),
    graphs("chains", searches::chains, 60),
    Entry { known: known::HARD, ..graphs("hard", searches::hard, 24) },
    graphs("fusable", searches::fusable, 24),
];

/// Random choices that an input decides.
pub(crate) fn choices_of(input: &[u8]) -> TestRng {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let mut seed = [0; 32];
    for (place, byte) in seed.iter_mut().zip(hasher.finish().to_le_bytes()) {
        *place = byte;
    }
    TestRng::from_seed(RngAlgorithm::ChaCha, &seed)
}

fn one<T: Copy>(rng: &mut TestRng, list: &[T]) -> T {
    list[rng.random_range(0..list.len())]
}

fn options(rng: &mut TestRng, policy: Policy) -> Options {
    Options {
        policy,
        fusion: FusionOptions {
            objective: one(rng, Objective::VARIANTS),
            horizontal: rng.random_bool(0.5),
            prologue: rng.random_bool(0.5),
            after_reductions: rng.random_bool(0.5),
            max_autotune: rng.random_bool(0.5),
            attention: rng.random_bool(0.5),
            budget_states: PAGE_BUDGET_STATES,
            ..FusionOptions::default()
        },
        conventions: Conventions {
            externals: one(rng, Externals::VARIANTS),
            reshape: one(rng, ReshapeCost::VARIANTS),
            f32_matmul: one(rng, F32Matmul::VARIANTS),
            f32_conv: one(rng, F32Matmul::VARIANTS),
        },
        device: DEVICES[rng.random_range(0..DEVICES.len())].clone(),
        own_calibrations: None,
    }
}

/// A text, parsed. Blocks that would make it longer than any input run once, because larger
/// programs only take longer.
fn parsed(text: &str) -> Parsed {
    let mut parsed = parse(text);
    if !is_quick(&parsed.program) {
        parsed.program.blocks.clear();
    }
    parsed
}

/// The analysis of a text under a random policy, if there is one.
fn analysed(text: &str, rng: &mut TestRng) -> (Parsed, Outcome) {
    let policy = one(rng, Policy::VARIANTS);
    let parsed = parsed(text);
    let outcome = analyze_program(&parsed.program, &options(rng, policy));
    (parsed, outcome)
}

/// The sums that are shown are those of their parts.
fn assert_sums(analysis: &Analysis) {
    for execution in [&analysis.unfused, &analysis.fused] {
        let kernels = execution.kernels.iter();
        let total: u128 = kernels.map(|kernel| u128::from(kernel.bytes())).sum();
        assert_eq!(total, u128::from(execution.traffic.total));
    }
    let saved =
        i128::from(analysis.unfused.traffic.total) - i128::from(analysis.fused.traffic.total);
    assert_eq!(saved, i128::from(analysis.fused.traffic.saved_by_fusion));
}
