//! Families of programs in which an op has many readers or many inputs. Shared by the tests and the
//! benchmark.

use std::fmt::Write as _;

/// For each op the ops that it reads, numbered from 1; 0 is the input.
pub(crate) type Reads = Vec<Vec<usize>>;

/// Each op reads the one before it.
pub(crate) fn chain(ops: usize) -> Reads {
    (0..ops).map(|before| vec![before]).collect()
}

/// Each op reads everything before it.
pub(crate) fn reads_all(ops: usize) -> Reads {
    (0..ops).map(|before| (0..=before).collect()).collect()
}

/// One op, read by all others, which the last one reads.
pub(crate) fn fan_out_and_back(ops: usize) -> Reads {
    let readers = (2..ops).map(|_| vec![1]);
    let first = [vec![0]].into_iter();
    first.chain(readers).chain([(2..ops).collect()]).collect()
}

/// Half of the ops read the input, and the other half reads all of these.
pub(crate) fn bipartite(ops: usize) -> Reads {
    let producers = ops / 2;
    let first = (0..producers).map(|_| vec![0]);
    let second = (producers..ops).map(|_| (1..=producers).collect());
    first.chain(second).collect()
}

/// Two rails: each op reads both ops of the rung before it.
pub(crate) fn ladder(ops: usize) -> Reads {
    let op = |op: usize| match op - op % 2 {
        0 => vec![0],
        rung => vec![rung - 1, rung],
    };
    (0..ops).map(op).collect()
}

/// The program as text.
pub(crate) fn text_of(reads: &Reads) -> String {
    let mut text = "input x0 : f16[64, 64]\n".to_owned();
    for (op, inputs) in (1..).zip(reads) {
        let inputs: Vec<String> = inputs.iter().map(|input| format!("x{input}")).collect();
        let inputs = inputs.join(", ");
        writeln!(text, "x{op} = elementwise({inputs}) : f16[64, 64]").unwrap();
    }
    text
}
