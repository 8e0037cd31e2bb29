//! Values that become those of an input or buffer by a copy, because no op can write them in place.

use crate::pt2::views::is_view;
use fuseline_core::model::program::OpStatement;
use std::collections::HashMap;

/// Puts each copy behind the op that writes its value and behind all that read the old value of its
/// target. Near linear in ops and reads.
pub(super) fn with_copies(ops: &[OpStatement], copies: &[&OpStatement]) -> Vec<OpStatement> {
    let mut targets: HashMap<&str, usize> = HashMap::new();
    // For each tensor which copies follow the op that writes it.
    let mut copies_of: HashMap<&str, Vec<usize>> = HashMap::new();
    for (copy, op) in copies.iter().enumerate() {
        if let [target, value] = op.inputs.as_slice() {
            targets.insert(&target.text, copy);
            copies_of.entry(&value.text).or_default().push(copy);
        }
    }
    let mut after = vec![0; copies.len()];
    for (at, op) in ops.iter().enumerate() {
        for &copy in copies_of.get(op.output.text.as_str()).into_iter().flatten() {
            after[copy] = after[copy].max(at + 1);
        }
        for input in &op.inputs {
            let Some(&copy) = targets.get(input.text.as_str()) else {
                continue;
            };
            if is_view(op) {
                targets.insert(&op.output.text, copy);
            }
            after[copy] = after[copy].max(at + 1);
        }
    }
    let mut order: Vec<usize> = (0..copies.len()).collect();
    order.sort_by_key(|&copy| after[copy]);
    let mut order = order.into_iter().peekable();
    let mut found = Vec::with_capacity(ops.len() + copies.len());
    for at in 0..=ops.len() {
        while let Some(copy) = order.next_if(|&copy| after[copy] == at) {
            found.push(copies[copy].clone());
        }
        found.extend(ops.get(at).cloned());
    }
    found
}
