//! Ids by their numbers.

use fuseline_core::OpId;

/// The ops of these numbers.
pub(crate) fn ops(numbers: &[usize]) -> Vec<OpId> {
    numbers.iter().copied().map(OpId::new).collect()
}

/// The ops of a set, in which bit `i` stands for op `i`.
pub(crate) fn ops_of_set(set: usize) -> Vec<OpId> {
    let is_in = |op: &OpId| set >> op.index() & 1 == 1;
    let all = (0..usize::BITS as usize).map(OpId::new);
    all.filter(is_in).collect()
}
