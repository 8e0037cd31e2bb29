//! Whether the rows of a legal kernel are independent, element by element: elements that depend on
//! each other must belong to one block.

use crate::ids::ops_of_set;
use fuseline_core::fusion::legality;
use fuseline_core::notation::parse;
use fuseline_core::{FusionOptions, Graph, OpId, OpType, Options, Policy, analyze_program};
use proptest::prelude::*;

/// Side of all squares.
const N: usize = 3;
const INPUTS: [(&str, [usize; 2]); 3] = [("x", [N, N]), ("z", [N, N]), ("g", [1, N])];

/// An op of the test; numbers are indices of tensors, inputs first.
#[derive(Clone, Debug)]
enum Does {
    Add(usize, usize),
    Reduce(usize, Vec<usize>, bool),
    Softmax(usize, usize),
    Transpose(usize),
    /// Without the first or the last element along an axis.
    Slice(usize, usize, bool),
    Copy(usize),
}

/// Index of a tensor and of an element in it.
type Element = (usize, usize);

struct Tensor {
    name: String,
    shape: Vec<usize>,
    /// For each element the elements that it is computed from.
    from: Vec<Vec<Element>>,
}

fn coordinates(shape: &[usize], mut place: usize) -> Vec<usize> {
    let mut found: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&size| {
            let at = place % size;
            place /= size;
            at
        })
        .collect();
    found.reverse();
    found
}

/// Index of the element at these coordinates, to which the tensor is broadcast.
fn place_of(shape: &[usize], at: &[usize]) -> usize {
    let at = &at[at.len() - shape.len()..];
    let pairs = shape.iter().zip(at);
    pairs.fold(0, |place, (&size, &at)| place * size + at.min(size - 1))
}

fn elements(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// The tensor that an op computes, and its statement; `None` if the op does not apply.
fn made(tensors: &[Tensor], does: &Does) -> Option<(Tensor, String)> {
    let name = format!("t{}", tensors.len());
    let of = |tensor: usize| (&tensors[tensor].shape, &tensors[tensor].name);
    let (shape, call, from): (Vec<usize>, String, Vec<Vec<Element>>) = match does {
        Does::Add(a, b) => {
            let (a_shape, b_shape) = (of(*a).0, of(*b).0);
            let rank = a_shape.len().max(b_shape.len());
            let size = |shape: &[usize], back: usize| {
                shape.len().checked_sub(back).map_or(1, |axis| shape[axis])
            };
            let meets = |back: usize| {
                let (one, other) = (size(a_shape, back), size(b_shape, back));
                one == other || one == 1 || other == 1
            };
            if !(1..=rank).all(meets) {
                return None;
            }
            let shape: Vec<usize> = (1..=rank)
                .rev()
                .map(|back| size(a_shape, back).max(size(b_shape, back)))
                .collect();
            let from = (0..elements(&shape)).map(|place| {
                let at = coordinates(&shape, place);
                vec![(*a, place_of(a_shape, &at)), (*b, place_of(b_shape, &at))]
            });
            let from = from.collect();
            (shape, format!("add({}, {})", of(*a).1, of(*b).1), from)
        }
        Does::Reduce(a, axes, keeps) => {
            let (input, name) = of(*a);
            if axes.iter().any(|&axis| axis >= input.len()) {
                return None;
            }
            let kept = |axis: &usize| !axes.contains(axis);
            let mut shape = Vec::new();
            for (axis, &size) in input.iter().enumerate() {
                match (kept(&axis), keeps) {
                    (true, _) => shape.push(size),
                    (false, true) => shape.push(1),
                    (false, false) => {}
                }
            }
            let mut from = vec![Vec::new(); elements(&shape)];
            for place in 0..elements(input) {
                let at = coordinates(input, place);
                let own: Vec<usize> = (0..input.len())
                    .filter(|axis| *keeps || kept(axis))
                    .map(|axis| at[axis])
                    .collect();
                from[place_of(&shape, &own)].push((*a, place));
            }
            (
                shape,
                format!("sum({name}, axis={axes:?}, keepdim={keeps})"),
                from,
            )
        }
        Does::Softmax(a, axis) => {
            let (shape, name) = of(*a);
            if *axis >= shape.len() {
                return None;
            }
            let from = (0..elements(shape)).map(|place| {
                let mut at = coordinates(shape, place);
                let row = (0..shape[*axis]).map(|along| {
                    at[*axis] = along;
                    (*a, place_of(shape, &at))
                });
                row.collect()
            });
            (
                shape.clone(),
                format!("softmax({name}, axis={axis})"),
                from.collect(),
            )
        }
        Does::Transpose(a) => {
            let (input, name) = of(*a);
            let &[rows, columns] = &input[..] else {
                return None;
            };
            let from = (0..rows * columns)
                .map(|place| vec![(*a, place % rows * columns + place / rows)])
                .collect();
            (vec![columns, rows], format!("transpose({name})"), from)
        }
        Does::Slice(a, axis, starts) => {
            let (input, name) = of(*a);
            let size = *input.get(*axis).filter(|&&size| size > 2)?;
            let (mut shape, start) = (input.clone(), usize::from(*starts));
            shape[*axis] = size - 1;
            let from = (0..elements(&shape)).map(|place| {
                let mut at = coordinates(&shape, place);
                at[*axis] += start;
                vec![(*a, place_of(input, &at))]
            });
            let from = from.collect();
            let end = start + size - 1;
            let call = format!("slice({name}, start={start}, end={end}, axis={axis})");
            (shape, call, from)
        }
        Does::Copy(a) => {
            let (shape, name) = of(*a);
            let from = (0..elements(shape)).map(|place| vec![(*a, place)]);
            (shape.clone(), format!("contiguous({name})"), from.collect())
        }
    };
    if elements(&shape) == 1 && shape.is_empty() {
        return None;
    }
    let line = format!("{name} = {call}\n");
    Some((Tensor { name, shape, from }, line))
}

/// The number of independent blocks of a kernel of these tensors. What is broadcast from outside is
/// available to all blocks.
fn blocks(tensors: &[Tensor], group: &[usize]) -> usize {
    let mut first = vec![0];
    for tensor in tensors {
        first.push(first[first.len() - 1] + elements(&tensor.shape));
    }
    let mut block: Vec<usize> = (0..first[tensors.len()]).collect();
    let mut used = vec![false; block.len()];
    for &made in group {
        for (place, from) in tensors[made].from.iter().enumerate() {
            used[first[made] + place] = true;
            for &(tensor, at) in from {
                let is_loaded = tensor < INPUTS.len() || !group.contains(&tensor);
                let is_small = elements(&tensors[tensor].shape) < elements(&tensors[made].shape);
                if is_loaded && is_small {
                    continue;
                }
                used[first[tensor] + at] = true;
                let (one, other) = (block[first[made] + place], block[first[tensor] + at]);
                for block in &mut block {
                    if *block == other {
                        *block = one;
                    }
                }
            }
        }
    }
    let mut found: Vec<usize> = block
        .into_iter()
        .zip(used)
        .filter(|b| b.1)
        .map(|b| b.0)
        .collect();
    found.sort_unstable();
    found.dedup();
    found.len()
}

/// Whether the ops are a kernel of the textbook rules that a reduction ends. Each of its blocks
/// computes what its rows need, like a kernel without reductions.
fn feeds_one_reduction(graph: &Graph, ops: &[OpId]) -> bool {
    let (&last, others) = ops.split_last().unwrap();
    let is_reduction = |op: OpId| graph.ops[op].op_type == OpType::Reduction;
    is_reduction(last)
        && others.iter().all(|&op| {
            let readers = &graph.successors[op][..];
            !is_reduction(op) && matches!(readers, [only] if ops.contains(only))
        })
}

fn does() -> impl Strategy<Value = Vec<(u8, prop::sample::Index, prop::sample::Index, u8, bool)>> {
    let index = any::<prop::sample::Index>;
    prop::collection::vec((0_u8..11, index(), index(), 0_u8..3, any::<bool>()), 2..=5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_block_of_a_legal_kernel_needs_anothers_row(drawn in does()) {
        let mut text = "input x : f32[3, 3]\ninput z : f32[3, 3]\nweight g : f32[1, 3]\n".to_owned();
        let mut tensors: Vec<Tensor> = INPUTS
            .iter()
            .map(|(name, shape)| Tensor { name: (*name).to_owned(), shape: shape.to_vec(), from: Vec::new() })
            .collect();
        let mut all = Vec::new();
        for (kind, a, b, axis, keeps) in drawn {
            let (a, b) = (a.index(tensors.len()), b.index(tensors.len()));
            let axes = if axis == 2 { vec![0, 1] } else { vec![axis.into()] };
            let does = match kind {
                0..=2 => Does::Add(a, b),
                3 | 4 => Does::Reduce(a, axes, keeps),
                5 | 6 => Does::Softmax(a, usize::from(axis % 2)),
                7 => Does::Transpose(a),
                8 | 9 => Does::Slice(a, usize::from(axis % 2), keeps),
                _ => Does::Copy(a),
            };
            if let Some((tensor, line)) = made(&tensors, &does) {
                tensors.push(tensor);
                text.push_str(&line);
                all.push(does);
            }
        }
        let parsed = parse(&text);
        let options = Options {
            fusion: FusionOptions { horizontal: true, ..FusionOptions::default() },
            ..Options::of_policy(Policy::Optimal)
        };
        let outcome = analyze_program(&parsed.program, &options);
        prop_assume!(!all.is_empty());
        prop_assert!(outcome.analysis.is_some(), "{text}{:?}", outcome.diagnostics);
        let graph = outcome.analysis.unwrap().graph;
        for set in 1_usize..1 << all.len() {
            let ops = ops_of_set(set);
            let group: Vec<usize> = ops.iter().map(|op| op.index() + INPUTS.len()).collect();
            // The number of rows of the first reduction.
            let rows = ops.iter().find_map(|&op| match &all[op.index()] {
                Does::Reduce(..) => Some(elements(&tensors[op.index() + INPUTS.len()].shape)),
                Does::Softmax(a, axis) => Some(elements(&tensors[*a].shape) / tensors[*a].shape[*axis]),
                _ => None,
            });
            let Some(rows) = rows.filter(|_| ops.len() > 1 && !feeds_one_reduction(&graph, &ops)) else {
                continue;
            };
            let found = legality::check(&graph, &options, &ops);
            let blocks = blocks(&tensors, &group);
            let is_right = found.is_err() || blocks >= rows;
            prop_assert!(is_right, "{text}{ops:?}: {blocks} blocks for {rows} rows");
        }
    }
}
