//! What a merge saves in kernels beside the merged ones.

use crate::analysis::device_model::{AccessedBytes, KernelOrigin, ModeledKernel};
use crate::analysis::why::price::{Cost, Price};
use crate::analysis::why::prices::Prices;
use crate::cost::roofline::place;
use crate::model::ids::{KernelId, OpId};

impl Prices<'_> {
    /// The price of the third kernels that write less if two kernels merge: one of the two read
    /// what the other computes again.
    pub(super) fn of_spared_writes(&self, a: KernelId, b: KernelId) -> Price {
        let mut spared = self.writes.spared(a, b);
        let kernel_of = &self.analysis.partition.kernel_of;
        spared.sort_unstable_by_key(|&op| kernel_of[op]);
        let prices = spared.chunk_by(|&one, &other| kernel_of[one] == kernel_of[other]);
        let prices = prices.filter_map(|ops| self.of_kernel_without(kernel_of[*ops.first()?], ops));
        prices.fold(Price::NOTHING, Price::and)
    }

    /// The price of a kernel that does not write these outputs.
    fn of_kernel_without(&self, id: KernelId, ops: &[OpId]) -> Option<Price> {
        let analysis = self.analysis;
        let before = Cost::of_kernel(analysis, id)?;
        let kernel = analysis.fused.kernels.get(id)?;
        let device = self.device.as_ref();
        let mut spared = AccessedBytes::default();
        for &op in ops {
            let is_hit = device.is_some_and(|device| device.is_write_hit[op]);
            spared += AccessedBytes::access(
                analysis.fused.views.written_size(&analysis.graph, op),
                is_hit,
            );
        }
        let bytes = before.bytes - spared.bytes;
        let breakdown = device.and_then(|device| {
            let [read, written] = device.moved[id];
            let launch = ModeledKernel {
                read,
                written: written - spared,
                ..ModeledKernel::cold(kernel, id, &analysis.partition)
            };
            let origin = KernelOrigin::of(&analysis.options);
            device.model.breakdown(origin, launch)
        });
        let bound = place(&analysis.options, kernel.work, bytes, kernel.is_free);
        let after = Cost {
            bytes,
            bound_s: Some(bound.time_s),
            predicted_s: breakdown.map(|breakdown| breakdown.time_s()),
        };
        Some(Price { before, after })
    }
}
