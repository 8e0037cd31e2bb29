//! What a device was measured to reach: each figure has a physical meaning and a measurement as its source.

use crate::core::model::device::Device;

/// Measured rates of one device. No figure is fitted to one program; see `docs/measurement.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Memory bandwidth that element-wise kernels over more than 500 MB reach, in byte/s.
    pub memory_bytes_per_s: f64,
    /// The same while all data stay in the shared cache.
    pub l2_bytes_per_s: f64,
    /// Bytes that the shared cache keeps from one kernel to the next. Less than its size: it is two halves, and each
    /// keeps copies of what the other one holds.
    pub l2_kept_bytes: f64,
    /// Matrix rate on f16 operands that large products of random numbers reach, in FLOP/s.
    pub matrix_f16_flops_per_s: f64,
    /// Start and end of a kernel inside a graph: launch, first loads, last stores.
    pub kernel_s: f64,
    /// The same for a matmul, whose pipeline of tiles has to fill and whose last tile has to be written.
    pub matmul_s: f64,
    /// Start and end of one tile of a convolution, which does not overlap them.
    pub convolution_tile_s: f64,
    /// Part of the library's matrix rate that generated matmuls reach.
    pub generated_matmul_share: f64,
    /// Instructions on the vector units, each counted once however many FLOPs it has.
    pub vector_per_s: f64,
    /// Exponentials.
    pub exp_per_s: f64,
    /// Error functions.
    pub erf_per_s: f64,
    /// Hyperbolic tangents.
    pub tanh_per_s: f64,
    /// Divisions.
    pub division_per_s: f64,
    /// Elements of a library kernel whose operands have different strides: index arithmetic bounds it.
    pub strided_per_s: f64,
    /// Elements of a library reduction along rows.
    pub library_sum_per_s: f64,
    /// Elements of a library softmax that holds a row in the registers of a warp.
    pub library_softmax_per_s: f64,
    /// Elements of a library softmax over rows of more than 2048.
    pub library_wide_softmax_per_s: f64,
    /// Elements of a library layer norm.
    pub library_layer_norm_per_s: f64,
    /// Elements of a library pooling of 2 x 2 windows, channels last: 0.21 to 0.38 a picosecond from 5 to 67 million
    /// elements.
    pub library_pool_per_s: f64,
    /// What each wave of rows waits for the barriers of its reductions, in a generated kernel that goes over its rows
    /// more than once.
    pub row_wave_s: f64,
    /// Elements of a pass that updates a running mean and variance, or half a running maximum and sum.
    pub online_per_s: f64,
}

/// PyTorch 2.11, CUDA 13.0; `tests/measure/gpu.py rates`, 2026-11-21.
static H200: Measured = Measured {
    memory_bytes_per_s: 4.3e12,
    l2_bytes_per_s: 6.3e12,
    l2_kept_bytes: 40e6,
    matrix_f16_flops_per_s: 800e12,
    kernel_s: 2.0e-6,
    matmul_s: 4.5e-6,
    convolution_tile_s: 0.6e-6,
    generated_matmul_share: 0.9,
    vector_per_s: 30.2e12,
    exp_per_s: 3.76e12,
    erf_per_s: 0.993e12,
    tanh_per_s: 1.63e12,
    division_per_s: 2.91e12,
    strided_per_s: 0.42e12,
    library_sum_per_s: 1.4e12,
    library_softmax_per_s: 0.5e12,
    library_wide_softmax_per_s: 0.32e12,
    library_layer_norm_per_s: 0.6e12,
    library_pool_per_s: 0.25e12,
    row_wave_s: 0.5e-6,
    online_per_s: 1.4e12,
};

impl Device {
    /// What this device was measured to reach; `None` where there is no measurement.
    pub fn measured(&self) -> Option<&'static Measured> {
        (self.id == "h200").then_some(&H200)
    }
}
