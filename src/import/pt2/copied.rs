//! Values that become those of an input or buffer by a copy, because no op can write them in place.

use crate::pt2::views::is_view;
use fuseline_core::model::program::OpStatement;
use std::collections::{HashMap, VecDeque};

/// A copy of a value into an input or buffer.
#[derive(Clone, Copy)]
pub(super) struct ValueCopy<'a> {
    pub(super) op: &'a OpStatement,
    /// The name of a tensor that can keep the value while another copy overwrites its memory.
    pub(super) kept: &'a str,
}

impl ValueCopy<'_> {
    fn value(&self) -> Option<&str> {
        self.op.inputs.get(1).map(|value| value.text.as_str())
    }

    /// The op that keeps the value in a new tensor.
    fn keeping(&self) -> OpStatement {
        let mut op = self.op.clone();
        self.kept.clone_into(&mut op.output.text);
        op
    }

    /// The copy of the value that is kept.
    fn of_kept(&self) -> OpStatement {
        let mut op = self.op.clone();
        if let Some(value) = op.inputs.get_mut(1) {
            self.kept.clone_into(&mut value.text);
        }
        op
    }
}

/// Puts each copy behind the op that writes its value, and behind all ops and copies that read the
/// old value of its target. Of copies that need the old values of each other, one keeps its value
/// in another tensor. Near linear in ops and reads.
pub(super) fn with_copies(ops: &[OpStatement], copies: &[ValueCopy<'_>]) -> Vec<OpStatement> {
    // For each tensor that shows the memory of a target which copy overwrites it.
    let mut targets: HashMap<&str, usize> = HashMap::new();
    // For each tensor which copies follow the op that writes it.
    let mut copies_of: HashMap<&str, Vec<usize>> = HashMap::new();
    for (copy, own) in copies.iter().enumerate() {
        if let Some(target) = own.op.inputs.first() {
            targets.insert(&target.text, copy);
        }
        if let Some(value) = own.value() {
            copies_of.entry(value).or_default().push(copy);
        }
    }
    let mut behind_value = vec![0; copies.len()];
    let mut after = vec![0; copies.len()];
    for (at, op) in ops.iter().enumerate() {
        for &copy in copies_of.get(op.output.text.as_str()).into_iter().flatten() {
            behind_value[copy] = at + 1;
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
    // For each copy the one that overwrites its value, which may be itself.
    let overwrites: Vec<Option<usize>> = (copies.iter())
        .map(|own| targets.get(own.value()?).copied())
        .collect();
    let mut waits_for = vec![0; copies.len()];
    for &other in overwrites.iter().flatten() {
        waits_for[other] += 1;
    }
    let mut ready: VecDeque<usize> = (0..copies.len()).filter(|&at| waits_for[at] == 0).collect();
    // The ops to insert, each with its position. At a position, those that keep a value are first.
    let mut put: Vec<(usize, bool, OpStatement)> = Vec::new();
    let (mut is_put, mut is_kept) = (vec![false; copies.len()], vec![false; copies.len()]);
    let mut rest = 0..copies.len();
    loop {
        let (copy, place) = if let Some(copy) = ready.pop_front() {
            is_put[copy] = true;
            let own = &copies[copy];
            let op = if is_kept[copy] {
                own.of_kept()
            } else {
                own.op.clone()
            };
            put.push((after[copy], true, op));
            (copy, after[copy])
        } else if let Some(copy) = rest.find(|&copy| !is_put[copy]) {
            // All other copies wait for one another.
            is_kept[copy] = true;
            put.push((behind_value[copy], false, copies[copy].keeping()));
            (copy, behind_value[copy])
        } else {
            break;
        };
        let is_released = is_kept[copy] && is_put[copy];
        if let Some(other) = overwrites[copy].filter(|_| !is_released) {
            after[other] = after[other].max(place);
            waits_for[other] -= 1;
            if waits_for[other] == 0 {
                ready.push_back(other);
            }
        }
    }
    put.sort_by_key(|&(place, is_copy, _)| (place, is_copy));
    let mut put = put.into_iter().peekable();
    let mut found = Vec::with_capacity(ops.len() + put.len());
    for at in 0..=ops.len() {
        while let Some((.., op)) = put.next_if(|&(place, ..)| place == at) {
            found.push(op);
        }
        found.extend(ops.get(at).cloned());
    }
    found
}
