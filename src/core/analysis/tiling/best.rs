//! The tile that the device model would choose.

use super::{BlockTile, SIDES, Tiled, TiledMatmul};
use crate::model::device::Device;

/// The tile with the least predicted time among those whose stages and sums fit the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    /// Its sizes.
    pub tile: BlockTile,
    /// The longer one of two times: the arithmetic of its waves or the loads of its tiles.
    pub limit: TimeLimit,
    /// Tiles that were compared.
    pub compared: usize,
}

/// The parts of a tile's time. The two overlap, so that the longer one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    /// The arithmetic of all slots of all waves, idle ones and those beyond the edge included.
    Arithmetic,
    /// The strips that all tiles load from the shared cache.
    Loads,
}

/// Compares the tiles with sides of [`SIDES`] as the device model compares those of a library, by
/// measured rates of one device. Each tile has the deepest step of which two fit. Among equals the
/// one with fewer bytes to load is the best, then the first from the largest sides. `None` where
/// the multiprocessors of the device are unknown.
pub fn best(matmul: TiledMatmul, device: &Device) -> Option<Best> {
    // From the largest side, because `min_by` keeps the first of equal candidates.
    let sides = SIDES.into_iter().rev();
    let tiles = sides.flat_map(|rows| SIDES.into_iter().rev().map(move |columns| (rows, columns)));
    let candidates = tiles.filter_map(|(rows, columns)| {
        let tile = BlockTile::deepest(
            [rows, columns],
            matmul.element_sizes,
            device.on_chip_bytes(),
        );
        // The order of the tiles changes no cost, so rows of tiles one at a time will do.
        let cut = Tiled::new(matmul, tile, 1, device)?;
        let costs = matmul
            .product
            .costs(&cut.tiling, device.hardware.multiprocessors?.value);
        cut.resources.fits().then_some((tile, costs))
    });
    let candidates: Vec<(BlockTile, [f64; 2])> = candidates.collect();
    let time = |[arithmetic, loads]: [f64; 2]| arithmetic.max(loads);
    let least = candidates.iter().min_by(|(_, a), (_, b)| {
        let by_time = time(*a).total_cmp(&time(*b));
        by_time.then(a[1].total_cmp(&b[1]))
    });
    least.map(|&(tile, [arithmetic, loads])| Best {
        tile,
        limit: if arithmetic >= loads {
            TimeLimit::Arithmetic
        } else {
            TimeLimit::Loads
        },
        compared: candidates.len(),
    })
}
