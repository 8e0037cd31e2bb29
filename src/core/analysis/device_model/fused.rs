//! The fused program of an analysis on its device: what its kernels read from DRAM, and how their
//! times are found.

use crate::analysis::device_model::predicted::launch;
use crate::analysis::device_model::{
    Breakdown, CacheStart, DeviceModel, KernelOrigin, ModeledKernel,
};
use crate::analysis::result::Analysis;
use crate::model::ids::{IdVec, KernelId};

/// The DRAM reads of a program on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceCount {
    /// Bytes that each kernel of the analysis reads from DRAM with cold caches; 0 for a view, which
    /// is not launched.
    pub kernels: IdVec<KernelId, f64>,
    /// Their sum.
    pub dram_read_bytes: f64,
}

/// The DRAM reads of the fused program. `None` where the device's multiprocessors or cache are not
/// known. `O(ops + reads)`.
pub fn device_count(analysis: &Analysis) -> Option<DeviceCount> {
    let model = DeviceModel::new(&analysis.graph, &analysis.options)?;
    let code = KernelOrigin::of(&analysis.options);
    let kernels = analysis.fused.kernels.iter_enumerated();
    let kernels: IdVec<KernelId, f64> = kernels
        .map(|(id, kernel)| {
            let cold = ModeledKernel::cold(kernel, id, &analysis.partition);
            model.kernel(code, cold).dram_read_bytes()
        })
        .collect();
    Some(DeviceCount {
        dram_read_bytes: kernels.iter().sum(),
        kernels,
    })
}

/// The predicted time of a fused kernel that finds nothing in the shared cache, as a profiler that
/// flushes it measures it; `None` where warm times are not predicted. `O(its ops + reads)`.
pub fn cold_time(analysis: &Analysis, kernel: KernelId) -> Option<f64> {
    analysis.predicted.as_ref()?;
    let model = DeviceModel::new(&analysis.graph, &analysis.options)?;
    let fused = analysis.fused.kernels.get(kernel)?;
    let cold = ModeledKernel::cold(fused, kernel, &analysis.partition);
    model.time_s(KernelOrigin::of(&analysis.options), cold)
}

/// The predicted time of the fused program when it starts with nothing in the shared cache, where
/// kernels still find what earlier ones left; `None` where warm times are not predicted.
/// `O(ops + reads)`.
pub fn first_run_s(analysis: &Analysis) -> Option<f64> {
    analysis.predicted.as_ref()?;
    let model = DeviceModel::new(&analysis.graph, &analysis.options)?;
    let hits = model.hits(&analysis.fused, CacheStart::Cold)?;
    let code = KernelOrigin::of(&analysis.options);
    let kernels = analysis.fused.kernels.iter_enumerated();
    kernels
        .map(|(id, kernel)| {
            let launched = launch(kernel, id, &hits, Some(&analysis.partition));
            model.time_s(code, launched)
        })
        .sum()
}

/// How the predicted time of a fused kernel is found; `None` where it has none. `O(ops + reads)`.
pub fn breakdown(analysis: &Analysis, kernel: KernelId) -> Option<Breakdown> {
    analysis.predicted.as_ref()?;
    let model = DeviceModel::new(&analysis.graph, &analysis.options)?;
    let hits = model.hits(&analysis.fused, CacheStart::Warm)?;
    let fused = analysis.fused.kernels.get(kernel)?;
    let code = KernelOrigin::of(&analysis.options);
    let launched = launch(fused, kernel, &hits, Some(&analysis.partition));
    model.breakdown(code, launched)
}
