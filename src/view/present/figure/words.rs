//! What a figure is, what it is of, and its formula in symbols.

use super::{Figure, Of, Quantity, Resource, Run};
use crate::present::names::{kernel_ops, op_name};
use crate::present::options::policy_title;
use crate::present::times::TimeKind;
use fuseline_core::{Analysis, Policy};

/// What a figure is.
pub(super) fn title(figure: Figure, analysis: &Analysis) -> String {
    let time = TimeKind::of(analysis).title();
    let what = match figure.quantity {
        Quantity::Bytes => "memory traffic",
        Quantity::BytesRead => "bytes read",
        Quantity::BytesWritten => "bytes written",
        Quantity::Saving => return "change in memory traffic".to_owned(),
        Quantity::Launches => "kernels",
        Quantity::Flops => return "FLOPs".to_owned(),
        Quantity::Intensity => return "arithmetic intensity".to_owned(),
        Quantity::LimitedBy => return "bottleneck".to_owned(),
        Quantity::Ridge => return "ridge point".to_owned(),
        Quantity::Time => time,
        Quantity::LowerBound => TimeKind::LowerBound.title(),
        Quantity::Speedup => return "speedup".to_owned(),
        Quantity::BoundSpeedup => return "speedup at best".to_owned(),
        Quantity::PeakMemory => "peak memory",
        Quantity::Differing => return "edges that differ from the chosen policy".to_owned(),
        Quantity::DeviceMemory => return "device memory".to_owned(),
        Quantity::BytesVanished => return "bytes that fusion saves".to_owned(),
        Quantity::Resource(resource) => return resource.title().to_owned(),
    };
    match figure.run {
        Run::Unfused => format!("{what}, unfused"),
        Run::Fused if analysis.options.policy == Policy::None => format!("{what}, no fusion"),
        Run::Fused => format!("{what}, fused"),
    }
}

/// What it is of.
pub(super) fn subject(of: Of, analysis: &Analysis) -> String {
    let graph = &analysis.graph;
    match of {
        Of::Program => "the whole program".to_owned(),
        Of::Policy(policy) => format!(
            "the whole program ({})",
            policy_title(policy, analysis.options.fusion.objective)
        ),
        Of::Kernel(_) | Of::Again(_) => of.id(analysis).map_or_else(String::new, |id| {
            format!("kernel {}: {}", id.number(), kernel_ops(analysis, id))
        }),
        Of::Op(op) => format!("{} alone", op_name(graph, op)),
        Of::Tensor(tensor) => graph.tensor_name(tensor).to_owned(),
        Of::TensorAt(first, tensor) => {
            let kernel = subject(Of::Kernel(first), analysis);
            format!("{} in {kernel}", graph.tensor_name(tensor))
        }
    }
}

/// The formula of a figure in symbols.
pub(super) fn formula(figure: Figure, analysis: &Analysis) -> &'static str {
    let Figure { quantity, run, of } = figure;
    let is_program = matches!(of, Of::Program | Of::Policy(_));
    let is_predicted = analysis.predicted.is_some();
    match quantity {
        Quantity::Bytes => match (of, run) {
            (Of::Tensor(_) | Of::TensorAt(..), _) => {
                "Σ over its accesses (elements × bytes per element)"
            }
            (Of::Program | Of::Policy(_), Run::Fused) => {
                "Σ over kernels (bytes read + bytes written)"
            }
            (Of::Program | Of::Policy(_) | Of::Kernel(_) | Of::Again(_), Run::Unfused) => {
                "Σ over ops (bytes read + bytes written)"
            }
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
        Quantity::LimitedBy if is_predicted => {
            "max over the parts of all phases (bytes / bandwidth, arithmetic / rate), and launch"
        }
        Quantity::LimitedBy => "max(bytes / bandwidth, FLOPs / peak, launch)",
        Quantity::Ridge => "peak / bandwidth",
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
        Quantity::DeviceMemory | Quantity::Resource(_) => "a figure of the device",
    }
}

impl Resource {
    const fn title(self) -> &'static str {
        match self {
            Self::OnChip => "on-chip memory per block",
            Self::OnChipAvailable => "on-chip memory available to a block",
            Self::Registers => "registers per thread",
            Self::Occupancy => "occupancy",
            Self::Blocks => "blocks",
            Self::Waves => "waves",
            Self::WaveEfficiency => "wave efficiency",
            Self::TileEfficiency => "tile efficiency",
        }
    }
}
