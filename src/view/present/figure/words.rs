//! What a figure is, what it is of, and its formula in symbols.

use crate::present::names::{kernel_ops, op_name};
use crate::present::options::policy_title;
use crate::present::quantity::{Figure, Quantity, Run, Subject};
use crate::present::times::TimeKind;
use fuseline_core::{Analysis, Policy};

/// The title of a figure: its quantity, and the run where that makes a difference.
pub(super) fn title(figure: Figure, analysis: &Analysis) -> String {
    let Figure { quantity, run, .. } = figure;
    let what = match quantity {
        Quantity::Time => TimeKind::of(analysis).title(),
        _ => quantity.title(),
    };
    let is_of_run = matches!(
        quantity,
        Quantity::Bytes
            | Quantity::BytesRead
            | Quantity::BytesWritten
            | Quantity::Launches
            | Quantity::Time
            | Quantity::LowerBound
            | Quantity::PeakMemory
    );
    match run {
        _ if !is_of_run => what.to_owned(),
        Run::Unfused => format!("{what}, unfused"),
        Run::Fused if analysis.options.policy == Policy::None => format!("{what}, no fusion"),
        Run::Fused => format!("{what}, fused"),
    }
}

pub(super) fn subject(of: Subject, analysis: &Analysis) -> String {
    let graph = &analysis.graph;
    match of {
        Subject::Program => "the whole program".to_owned(),
        Subject::Policy(policy) => format!(
            "the whole program ({})",
            policy_title(policy, analysis.options.fusion.objective)
        ),
        Subject::Kernel(_) | Subject::Again(_) => {
            of.kernel_id(analysis).map_or_else(String::new, |id| {
                format!("kernel {}: {}", id.number(), kernel_ops(analysis, id))
            })
        }
        Subject::Op(op) => format!("{} alone", op_name(graph, op)),
        Subject::Tensor(tensor) => graph.tensor_name(tensor).to_owned(),
        Subject::TensorAt(first, tensor) => {
            let kernel = subject(Subject::Kernel(first), analysis);
            format!("{} in {kernel}", graph.tensor_name(tensor))
        }
    }
}

/// The formula of a figure in symbols.
pub(super) fn formula(figure: Figure, analysis: &Analysis) -> &'static str {
    let Figure { quantity, run, of } = figure;
    let is_program = matches!(of, Subject::Program | Subject::Policy(_));
    let is_predicted = analysis.predicted.is_some();
    match quantity {
        Quantity::Bytes => match (of, run) {
            (Subject::Tensor(_) | Subject::TensorAt(..), _) => {
                "Σ over its accesses (elements × bytes per element)"
            }
            (Subject::Program | Subject::Policy(_), Run::Fused) => {
                "Σ over kernels (bytes read + bytes written)"
            }
            (
                Subject::Program | Subject::Policy(_) | Subject::Kernel(_) | Subject::Again(_),
                Run::Unfused,
            ) => "Σ over ops (bytes read + bytes written)",
            _ => "Σ over tensors read + Σ over tensors written (elements × bytes per element)",
        },
        Quantity::BytesRead if is_program => "Σ over kernels (bytes read)",
        Quantity::BytesWritten if is_program => "Σ over kernels (bytes written)",
        Quantity::BytesRead => "Σ over tensors read (elements × bytes per element)",
        Quantity::BytesWritten => "Σ over tensors written (elements × bytes per element)",
        Quantity::Saving => "(unfused bytes − fused bytes) / unfused bytes",
        Quantity::Launches => "number of kernels",
        Quantity::Flops if is_program => "Σ over kernels (FLOPs)",
        Quantity::Flops => "Σ over ops (FLOPs)",
        Quantity::Intensity => "FLOPs / (bytes read + bytes written)",
        Quantity::Bottleneck if is_predicted => {
            "max over the parts of all phases (bytes / bandwidth, arithmetic / rate), and launch"
        }
        Quantity::Bottleneck => "max(bytes / bandwidth, FLOPs / peak, launch)",
        Quantity::Ridge => "peak / bandwidth",
        Quantity::PredictedTime if is_program => "Σ over kernels (time)",
        Quantity::Time if is_program && is_predicted => "Σ over kernels (time)",
        Quantity::Time if is_predicted => {
            "Σ over phases max(bytes / bandwidth, arithmetic / rate) + fixed time"
        }
        Quantity::Time | Quantity::LowerBound if is_program => {
            "Σ over kernels (max(bytes / bandwidth, FLOPs / peak) + launches × launch time)"
        }
        Quantity::Time | Quantity::LowerBound => {
            "max(bytes / bandwidth, FLOPs / peak) + launches × launch time"
        }
        Quantity::Speedup | Quantity::BoundSpeedup => "unfused time / fused time",
        Quantity::PeakMemory => "max over kernels Σ over live tensors (bytes)",
        Quantity::Differing => "edges that only one of the two policies fuses",
        Quantity::BytesVanished => {
            "Σ accesses of its ops as separate kernels − Σ accesses of the fused kernel"
        }
        // Its derivation has a formula of its own, or it is given.
        _ => "a figure of the device",
    }
}
