//! Resources of a launch: what a block needs, and how many blocks run at once.

use super::derived::Derived;
use crate::present::derivation::Term;
use crate::present::quantity::{Quantity, Values};
use fuseline_core::analysis::limits::Estimate;
use fuseline_core::model::ids::KernelId;

/// A resource of a fused kernel; `None` for a view, and where the multiprocessors of the device are
/// unknown.
pub(super) fn derived(values: &Values<'_>, id: KernelId, quantity: Quantity) -> Option<Derived> {
    if values.analysis().fused.kernels[id].is_free {
        return None;
    }
    let launch = values.limits()?.get(id)?.launch;
    Some(match quantity {
        Quantity::OnChip => {
            let is_shared = !matches!(launch.estimate, Estimate::Elements { .. });
            let note = "Threads share no values.";
            Derived::of(launch.on_chip_bytes()).noted((!is_shared).then(|| note.to_owned()))
        }
        Quantity::OnChipAvailable => Derived::default(),
        Quantity::Registers => {
            let most = launch.multiprocessor.registers_per_thread;
            let note = format!("A thread can have {most}. Further values spill to memory.");
            Derived::of(launch.registers_per_thread()).noted(Some(note))
        }
        Quantity::Occupancy => Derived::of(launch.occupancy::<Term>()),
        Quantity::Blocks => Derived::of(launch.blocks()),
        Quantity::Waves => Derived::of(launch.waves()),
        Quantity::WaveEfficiency => Derived::of(launch.wave_efficiency::<Term>()?),
        Quantity::TileEfficiency => Derived::of(launch.tile_efficiency::<Term>()?),
        _ => return None,
    })
}
