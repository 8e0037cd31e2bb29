//! The FLOPs of an op and their factors.

use crate::present::format::{format_exact, format_flops};
use fuseline_core::cost::work::{FLOPS_OF_A_SCORE, matmul_k, op_work, scores};
use fuseline_core::model::functions::Function;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::OpId;
use fuseline_core::model::op::element_count;
use fuseline_core::model::op_type::OpType;

/// The factors whose product is the FLOPs of an op.
pub(in crate::present) enum FlopFactors {
    /// Two for each multiply-add, the sides of the output, and K.
    Matmul {
        /// The sides of the output.
        sides: Vec<u64>,
        /// The contraction length, if it is known.
        k: Option<u64>,
    },
    /// A number of FLOPs for each element.
    Each {
        /// FLOPs of one element.
        flops: u64,
        /// How many elements.
        elements: u64,
        /// What they are elements of.
        of: &'static str,
    },
    /// It computes nothing.
    Nothing,
    /// It is the second result of an operator, whose FLOPs count with the first.
    CountedBefore,
    /// As many as the program states.
    Stated,
}

pub(in crate::present) fn flop_factors(graph: &Graph, op: OpId) -> FlopFactors {
    let definition = &graph.ops[op];
    let function = definition.function;
    let flops = function.map_or(1, |f| f.row().flops_per_element);
    if graph.results.first(op).is_some() {
        return FlopFactors::CountedBefore;
    }
    match definition.op_type {
        OpType::Matmul => FlopFactors::Matmul {
            sides: definition.shape.clone(),
            k: matmul_k(graph, op),
        },
        OpType::Opaque if definition.function == Some(Function::Sdpa) => {
            let of_mask = u64::from(graph.inputs[op].len() > 3);
            match scores(graph, op) {
                Some((scores, products)) => FlopFactors::Each {
                    flops: products + FLOPS_OF_A_SCORE + of_mask,
                    elements: scores,
                    of: "scores",
                },
                None => FlopFactors::Nothing,
            }
        }
        OpType::Reshape if function.is_none_or(|f| f.row().flops_per_element == 0) => {
            FlopFactors::Nothing
        }
        OpType::Elementwise | OpType::Reshape => FlopFactors::Each {
            flops,
            elements: element_count(&definition.shape).unwrap_or(0),
            of: "elements",
        },
        OpType::Opaque if definition.unknown.is_some() => FlopFactors::Stated,
        OpType::Opaque if op_work(graph, op).flops() == 0 => FlopFactors::Nothing,
        OpType::Reduction | OpType::Opaque => {
            let elements = op_work(graph, op).flops().checked_div(u128::from(flops));
            FlopFactors::Each {
                flops,
                elements: elements.and_then(|n| n.try_into().ok()).unwrap_or(0),
                of: "input elements",
            }
        }
    }
}

/// How the FLOPs of an op are computed: `2 × 2,048 × 12,288 × 4,096 (K) = 206 GFLOP`.
pub fn flops_text(graph: &Graph, op: OpId) -> String {
    let flops = op_work(graph, op).flops();
    let count = |n: u64| format_exact(u128::from(n));
    match flop_factors(graph, op) {
        FlopFactors::Matmul { k: None, .. } => {
            "unknown, because the contraction length K is unknown".to_owned()
        }
        FlopFactors::Matmul { sides, k: Some(k) } => {
            let dims: Vec<String> = sides.into_iter().map(count).collect();
            format!(
                "2 × {} × {} (K) = {}",
                dims.join(" × "),
                count(k),
                format_flops(flops)
            )
        }
        FlopFactors::Nothing => "0, because it only moves data".to_owned(),
        FlopFactors::CountedBefore => {
            "0, because the first result of the operator counts them".to_owned()
        }
        FlopFactors::Stated if op_work(graph, op).is_unknown => {
            "unknown, because the program does not say".to_owned()
        }
        FlopFactors::Stated => format!("{}, by the program's flops=", format_flops(flops)),
        FlopFactors::Each {
            flops: each,
            elements,
            of,
        } => format!(
            "{each} for each of {} {of} = {}",
            count(elements),
            format_flops(flops)
        ),
    }
}
