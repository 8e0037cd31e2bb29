//! Inputs from the corpus, changed in a few places.

use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// Longest input, in bytes: larger ones only take longer.
const MAX_BYTES: usize = 64 * 1024;

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "63",
    "64",
    "65",
    "4096",
    "2147483647",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "1e308",
    "1e400",
    "-0.0",
    "0.5",
    "1e-320",
];

const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "`",
    "\"",
    "'",
    "\\",
    "#",
    ":",
    "=",
    ",",
    "..",
    "@kernel 1",
    "\n",
    "\r\n",
    "\u{feff}",
    "\u{0}",
    "\u{1b}[31m",
    "\u{202e}",
    "é",
    "🦀",
    "param ",
    "repeat 3 with x = y {\n",
    "\n}\n",
    "input ",
    "Op(",
    "null",
    "axis=-1",
];

/// The input of a seed.
pub(crate) fn mutated(corpus: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let mut bytes = [0; 32];
    for (place, byte) in bytes.iter_mut().zip(seed.to_le_bytes()) {
        *place = byte;
    }
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut input = pick(&mut rng, corpus).cloned().unwrap_or_default();
    // Few changes get past the parser, many reach its errors.
    let changes = 1 << rng.random_range(0..5_u32);
    for _ in 0..rng.random_range(0..=changes) {
        change(&mut input, corpus, &mut rng);
        input.truncate(MAX_BYTES);
    }
    input
}

fn pick<'a, T>(rng: &mut TestRng, list: &'a [T]) -> Option<&'a T> {
    let count = list.len().max(1);
    list.get(rng.random_range(0..count))
}

fn place(rng: &mut TestRng, input: &[u8]) -> usize {
    rng.random_range(0..=input.len())
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], rng: &mut TestRng) {
    match rng.random_range(0..10_u32) {
        0 => {
            let at = place(rng, input);
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << rng.random_range(0..8_u32);
            }
        }
        1 => {
            let at = place(rng, input);
            let piece = pick(rng, PIECES).map_or("", |piece| piece);
            input.splice(at..at, piece.bytes());
        }
        2 => {
            let at = place(rng, input);
            let end = (at + rng.random_range(1..40_usize)).min(input.len());
            input.drain(at..end);
        }
        3 => {
            let other = pick(rng, corpus).cloned().unwrap_or_default();
            input.truncate(place(rng, input));
            input.extend_from_slice(other.get(place(rng, &other)..).unwrap_or_default());
        }
        4..=6 => lines(input, rng),
        7 | 8 => number(input, rng),
        _ => nest(input, rng),
    }
}

/// Repeats, removes or swaps lines.
fn lines(input: &mut Vec<u8>, rng: &mut TestRng) {
    let mut lines: Vec<&[u8]> = input.split_inclusive(|&byte| byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let [a, b] = [(); 2].map(|()| rng.random_range(0..lines.len()));
    match rng.random_range(0..3_u32) {
        0 => {
            let times = 1 << rng.random_range(0..6_u32);
            let line = lines[a];
            lines.splice(b..b, std::iter::repeat_n(line, times));
        }
        1 => {
            lines.remove(a);
        }
        _ => lines.swap(a, b),
    }
    *input = lines.concat();
}

/// Replaces a number by an extreme one.
fn number(input: &mut Vec<u8>, rng: &mut TestRng) {
    let from = place(rng, input);
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = input
        .iter()
        .skip(from)
        .position(is_digit)
        .map(|at| from + at)
    else {
        return;
    };
    let digits = input
        .iter()
        .skip(start)
        .take_while(|byte| is_digit(byte))
        .count();
    let number = pick(rng, NUMBERS).map_or("", |number| number);
    input.splice(start..start + digits, number.bytes());
}

/// Puts a byte into many brackets.
fn nest(input: &mut Vec<u8>, rng: &mut TestRng) {
    let depth = 1 << rng.random_range(0..12_u32);
    let (open, close) = pick(rng, &[("(", ")"), ("[", "]"), ("-", ""), ("{\"a\":", "}")])
        .copied()
        .unwrap_or_default();
    let at = place(rng, input);
    let inner = input.get(at).copied();
    let nested = format!("{}\u{0}{}", open.repeat(depth), close.repeat(depth)).into_bytes();
    let bytes = nested
        .into_iter()
        .filter_map(|byte| if byte == 0 { inner } else { Some(byte) });
    input.splice(at..(at + 1).min(input.len()), bytes);
}
