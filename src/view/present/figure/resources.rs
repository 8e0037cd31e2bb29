//! Resources of a launch: what a block needs, and how many blocks run at once.

use super::{Found, Number, Resource, Term};
use fuseline_core::analysis::Analysis;
use fuseline_core::analysis::limits::{Estimate, limits};
use fuseline_core::model::ids::KernelId;

/// A resource of a fused kernel; `None` for a view, and where the multiprocessors of the device are unknown.
pub(super) fn found(analysis: &Analysis, id: KernelId, resource: Resource) -> Option<Found> {
    if analysis.fused.kernels[id].is_free {
        return None;
    }
    let all = limits(analysis)?;
    let launch = all.get(id)?.launch;
    Some(match resource {
        Resource::OnChip => {
            let is_shared = !matches!(launch.estimate, Estimate::Elements { .. });
            let note = "Threads share no values.";
            Found::new(launch.on_chip_bytes()).noted((!is_shared).then(|| note.to_owned()))
        }
        Resource::OnChipAvailable => {
            let bytes = Number::Bytes(launch.on_chip_available_bytes);
            Found::new(Term::given("", bytes))
        }
        Resource::Registers => {
            let most = launch.multiprocessor.registers_per_thread;
            let note = format!("A thread can have {most}. Further values spill to memory.");
            Found::new(launch.registers_per_thread()).noted(Some(note))
        }
        Resource::Occupancy => Found::new(launch.occupancy::<Term>()),
        Resource::Blocks => Found::new(launch.blocks()),
        Resource::Waves => Found::new(launch.waves()),
        Resource::WaveEfficiency => Found::new(launch.wave_efficiency::<Term>()?),
        Resource::TileEfficiency => Found::new(launch.tile_efficiency::<Term>()?),
    })
}
