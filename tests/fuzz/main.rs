//! Feeds every way in with hostile and large inputs, and with mutated examples. A panic, an
//! overflow, or an input that takes too long is a failure.
//!
//! `cargo test --test fuzz [ENTRY]` tries the known inputs once. `FUZZ_SECONDS` is the time for
//! mutated inputs of all entries together, and `FUZZ_SEED` the first seed. An input that fails is
//! stored in `target/fuzz/`. Once it is mended, move it to `tests/fuzz/found/ENTRY/`, whose files
//! are tried first in every run.
#![allow(
    clippy::print_stdout,
    reason = "the report of a test without a harness"
)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "an input fails by panicking"
)]

mod corpus;
mod entries;
mod known;
mod mutate;
mod run;
mod searches;

// What the tests of the model make their inputs with.
#[path = "../model/families.rs"]
mod families;
#[path = "../model/ids.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod ids;
#[path = "../model/onnx_files.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod onnx_files;
#[path = "../model/partitions.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod partitions;
#[path = "../model/pt2_files.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod pt2_files;
#[path = "../model/random_attention.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod random_attention;
#[path = "../model/random_graph.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod random_graph;

use entries::ENTRIES;
use run::{Outcome, run};
use std::process::ExitCode;
use std::time::Duration;

/// The number in an environment variable.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn main() -> ExitCode {
    // Arguments of `cargo test` are for all tests: flags of the standard harness and names of
    // others' tests.
    let filter = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let is_chosen = |name: &str| filter.as_deref().is_none_or(|filter| filter == name);
    let chosen: Vec<_> = ENTRIES.iter().filter(|e| is_chosen(e.name)).collect();
    let seconds = number("FUZZ_SECONDS").unwrap_or(0);
    let seed = number("FUZZ_SEED").unwrap_or(0);
    // Entries of random graphs have a number of inputs instead of a time, unless one is chosen.
    let is_timed = |entry: &entries::Entry| chosen.len() == 1 || entry.least == 0;
    let timed = chosen.iter().filter(|entry| is_timed(entry)).count();
    let share = Duration::from_secs(seconds) / u32::try_from(timed.max(1)).unwrap_or(1);
    let (mut passed, mut failed) = (0, 0);
    for entry in &chosen {
        let time = if is_timed(entry) {
            share
        } else {
            Duration::ZERO
        };
        match run(entry, time, seed) {
            Outcome::Passed(report) => {
                passed += 1;
                println!("{report}");
            }
            Outcome::Failed(problem) => {
                failed += 1;
                println!("{problem}");
            }
        }
    }
    if let Some(peak) = run::peak_memory() {
        println!("peak memory: {peak}");
    }
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
