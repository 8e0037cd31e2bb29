//! Two chains side by side, whose optimum a table of their cuts gives.

use super::drawn;
use crate::partitions::{
    choices, cost_of, costs_of_group, is_close, is_legal, optimum, runs_in_order,
};
use fuseline_core::fusion::legality;
use fuseline_core::{Graph, Op, OpId, OpType, Options, TensorDecl, build_graph};
use proptest::prelude::*;

/// For each op whether it belongs to the left chain.
type Chains = Vec<bool>;

const ROWS: u64 = 6;
const WIDTH: u64 = 10;

/// One drawn op: its kind, whether it is in the left chain, how far back it reads the other chain,
/// bytes per element.
type Drawn = (u8, u8, usize, u32);

/// Ops that each read the last op of their chain, or an external tensor; some also read the other
/// chain, or an input common to all. `leaving` of sixty ops change the chain. With none of them one
/// chain depends on the other from `first` on, over more ops than a word has bits.
fn ladder(drawn: &[Drawn], leaving: u8, first: usize) -> (Vec<Op>, Vec<TensorDecl>, Chains) {
    let mut chain_of = Vec::new();
    let mut chain = false;
    let mut ops = Vec::new();
    let mut chains: [Vec<(String, [u64; 2])>; 2] = Default::default();
    for (index, &(kind, leaves, back, bytes)) in drawn.iter().enumerate() {
        let is_out = (first..first + 66).contains(&index);
        chain = if leaving == 0 {
            is_out
        } else {
            chain ^ (leaves < leaving)
        };
        let external = ("x".to_owned(), [ROWS, WIDTH]);
        let (own, other) = (&chains[usize::from(chain)], &chains[usize::from(!chain)]);
        let first = own.last().unwrap_or(&external).clone();
        let mut inputs = vec![first.0.as_str()];
        if back < 4 {
            inputs.extend(other.iter().rev().nth(back).map(|(name, _)| name.as_str()));
        } else if back == 4 {
            inputs.push("w");
        }
        let (op_type, shape) = match kind {
            0 => (OpType::Reduction, [ROWS, 1]),
            1 => (OpType::Reduction, first.1),
            2 => (OpType::Matmul, [ROWS, WIDTH]),
            3 => (OpType::Reshape, first.1),
            _ => (OpType::Elementwise, [ROWS, WIDTH]),
        };
        if matches!(op_type, OpType::Reduction | OpType::Reshape) {
            inputs.truncate(1);
        }
        let name = format!("t{index}");
        let op = Op::new(&name, op_type, &inputs, &name, &shape, bytes);
        ops.push(match op_type {
            OpType::Matmul => op.with_k(WIDTH),
            _ => op,
        });
        chains[usize::from(chain)].push((name, shape));
        chain_of.push(chain);
    }
    let w = TensorDecl::new("w", &[ROWS, WIDTH], 2);
    (
        ops,
        vec![TensorDecl::new("x", &[ROWS, WIDTH], 2), w],
        chain_of,
    )
}

/// The lowest cost of any acyclic partition. A downset consists of a prefix of each chain, before
/// and after every kernel.
fn least(graph: &Graph, options: &Options, chain_of: &Chains) -> f64 {
    let of_chain = |chain: bool| -> Vec<OpId> {
        (0..chain_of.len())
            .filter(|&op| chain_of[op] == chain)
            .map(OpId::new)
            .collect()
    };
    let (left, right) = (of_chain(false), of_chain(true));
    let mut best = vec![vec![f64::INFINITY; right.len() + 1]; left.len() + 1];
    best[0][0] = 0.0;
    for l in 0..=left.len() {
        for r in 0..=right.len() {
            if best[l][r].is_infinite() {
                continue;
            }
            let most = options.fusion.max_ops;
            for to_l in l..=left.len().min(l + most) {
                for to_r in r..=right.len().min(r + most - (to_l - l)) {
                    let mut ops = [&left[l..to_l], &right[r..to_r]].concat();
                    ops.sort_unstable();
                    let ran = |op: OpId| left[..to_l].contains(&op) || right[..to_r].contains(&op);
                    let can_run = |&op: &OpId| graph.predecessors[op].iter().all(|&p| ran(p));
                    if !ops.is_empty()
                        && ops.iter().all(can_run)
                        && legality::check(graph, options, &ops).is_ok()
                    {
                        let cost = best[l][r] + costs_of_group(graph, options, &ops).0;
                        best[to_l][to_r] = best[to_l][to_r].min(cost);
                    }
                }
            }
        }
    }
    best[left.len()][right.len()]
}

/// In regions of more than a word the search finds what trying all downsets gives.
pub(crate) fn ladders(input: &[u8]) {
    let (drawn, leaving, first, max_ops, budget, options) = drawn(
        input,
        &(
            prop::collection::vec(
                (
                    0..14_u8,
                    0..60_u8,
                    0..8_usize,
                    prop::sample::select(vec![1_u32, 2, 4]),
                ),
                76..=90,
            ),
            prop::sample::select(vec![0_u8, 4, 30, 60]),
            1..8_usize,
            2..=4_usize,
            prop::sample::select(vec![100_usize, 2_000, 20_000, 200_000]),
            choices(),
        ),
    );
    let mut options = options;
    options.fusion.max_ops = max_ops;
    options.fusion.budget_states = budget;
    let (ops, externals, chain_of) = ladder(&drawn, leaving, first);
    let graph = build_graph(&ops, &externals).unwrap();
    let (partition, certificate) = optimum(&graph, &options);
    assert!(is_legal(&graph, &options, &partition) && runs_in_order(&graph, &partition));
    let least = least(&graph, &options, &chain_of);
    let cost = cost_of(&graph, &options, &partition);
    let bound = certificate.lower_bound.value();
    assert!(
        bound <= least || is_close(bound, least),
        "{bound} above {least}"
    );
    assert!(is_close(cost, certificate.cost.value()));
    assert!(
        cost >= least || is_close(cost, least),
        "{cost} below {least}"
    );
    if certificate.is_optimal {
        assert!(
            is_close(cost, least),
            "{cost} is not {least}: {certificate:?}"
        );
    }
}
