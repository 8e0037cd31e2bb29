//! Mutates examples and feeds them to every way in. A panic, an overflow, or an input that takes too long is a failure.
//!
//! `cargo test --test fuzz [ENTRY]` tries each entry for a second; `FUZZ_SECONDS` is the time of all entries together, and
//! `FUZZ_SEED` the first seed. An input that fails is stored in `target/fuzz/`. Once it is mended, move it to
//! `tests/fuzz/found/ENTRY/`, whose files are tried first in every run.
#![allow(
    clippy::print_stdout,
    reason = "the report of a test without a harness"
)]

mod corpus;
mod entries;
mod mutate;
mod run;

use entries::ENTRIES;
use run::{Outcome, run};
use std::process::ExitCode;
use std::time::Duration;

/// The number in an environment variable.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn main() -> ExitCode {
    // Arguments of `cargo test` are for all tests: flags of the standard harness and names of others' tests.
    let filter = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let is_chosen = |name: &str| filter.as_deref().is_none_or(|filter| filter == name);
    let chosen: Vec<_> = ENTRIES.iter().filter(|e| is_chosen(e.name)).collect();
    let seconds = number("FUZZ_SECONDS").unwrap_or(chosen.len() as u64);
    let seed = number("FUZZ_SEED").unwrap_or(0);
    let (mut passed, mut failed) = (0, 0);
    for entry in &chosen {
        let time = Duration::from_secs(seconds) / u32::try_from(chosen.len()).unwrap_or(1);
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
