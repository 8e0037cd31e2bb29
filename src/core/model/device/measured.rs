//! Measured rates of devices. Each figure has a physical meaning and a measurement as its source.

use crate::model::day::Day;
use crate::model::device::{Device, DeviceProbe, Figure, device};
use std::borrow::Cow;

/// The rates with which the device model predicts times, and their source.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Measured on this device, or scaled from another one.
    pub rates: Measured,
    /// The device and the measurement that they come from.
    pub rates_from: RatesFrom,
}

/// Where the rates of a device come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RatesFrom {
    /// All were measured on this device; see [`MEASURED_WITH`].
    Device,
    /// All are scaled from those of the measured device of this name.
    Scaled(Cow<'static, str>),
    /// A probe measured some on this device, and the others are scaled by them.
    Probe {
        /// The day of the measurement.
        measured_on: Day,
        /// The name of the device from which the others are scaled.
        others_from: Cow<'static, str>,
    },
}

impl RatesFrom {
    /// The name of the device from which rates are scaled, if any are.
    pub fn scaled_from(&self) -> Option<&str> {
        match self {
            Self::Device => None,
            Self::Scaled(from)
            | Self::Probe {
                others_from: from, ..
            } => Some(from),
        }
    }
}

/// Measured rates of one device. No figure is fitted to one program; see `docs/measurement.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Memory bandwidth that element-wise kernels over more than 500 MB reach, in byte/s.
    pub memory_bytes_per_s: f64,
    /// Rate of reads of data that stays in the shared cache.
    pub l2_bytes_per_s: f64,
    /// Bytes that the shared cache keeps from one kernel to the next. Less than its size, because
    /// each of its two halves also holds copies of data of the other half.
    pub l2_kept_bytes: f64,
    /// Matrix rate on f16 operands that large products of random numbers reach, in FLOP/s.
    pub matrix_f16_flops_per_s: f64,
    /// Matrix rate on f8 operands that large products of random numbers reach, in FLOP/s.
    pub matrix_f8_flops_per_s: f64,
    /// Fixed time of a kernel among others in a graph: launch, first loads, last stores.
    pub kernel_s: f64,
    /// Fixed time of a matmul, which also fills its pipeline of tiles and writes its last tile.
    pub matmul_s: f64,
    /// Time of the second kernel of a matmul that is split along K, which adds the parts.
    pub split_matmul_s: f64,
    /// Bytes per second of tiles that one multiprocessor takes from the cache for a matmul.
    pub tile_load_bytes_per_s: f64,
    /// Time of one step along K of a generated matmul, whose loads the compiler's loop does not
    /// fully overlap.
    pub generated_step_s: f64,
    /// Fixed time of attention.
    pub attention_s: f64,
    /// Time of the second kernel of attention that is split over keys, which joins the parts.
    pub split_attention_s: f64,
    /// Time of one key for a tile of 128 queries of 64, 128, 192 and 256 elements.
    pub attention_key_s: [f64; 4],
    /// Time of attention of several queries with a mask in a tensor, which takes another kernel,
    /// over that without.
    pub masked_attention_share: f64,
    /// Fixed time of each further wave of blocks of attention.
    pub attention_block_s: f64,
    /// Bytes per second of K and V that one block of attention with one query loads.
    pub attention_load_bytes_per_s: f64,
    /// Fixed time of each tile of a convolution; these times do not overlap.
    pub convolution_tile_s: f64,
    /// Matrix rate of generated matmuls as a share of the library's.
    pub generated_matmul_share: f64,
    /// Instructions of the vector units; each counts once, whatever its FLOPs.
    pub vector_per_s: f64,
    /// Exponentials.
    pub exp_per_s: f64,
    /// Error functions.
    pub erf_per_s: f64,
    /// Hyperbolic tangents.
    pub tanh_per_s: f64,
    /// Divisions of all multiprocessors together.
    pub division_per_s: f64,
    /// Elements of a library kernel whose operands have different strides, where index arithmetic
    /// is the bottleneck.
    pub strided_per_s: f64,
    /// The further fixed time of such a kernel.
    pub strided_s: f64,
    /// That of one which writes where an index says.
    pub indexed_write_s: f64,
    /// Elements of a library reduction that keeps two numbers, a mean and a variance or a value and
    /// its index.
    /// Measured on 2026-11-29: 0.75 to 1.1 elements a picosecond.
    pub library_pair_per_s: f64,
    /// Elements of a library softmax that keeps a row of up to 1024 in the registers of a warp.
    pub library_short_softmax_per_s: f64,
    /// Elements of one that keeps a row of up to 2048 there.
    pub library_softmax_per_s: f64,
    /// Elements of one that keeps a row of up to 8192 in the registers of a block.
    pub library_wide_softmax_per_s: f64,
    /// Elements of one over longer rows.
    pub library_long_softmax_per_s: f64,
    /// Elements of a library layer norm.
    pub library_layer_norm_per_s: f64,
    /// Elements of which a library takes the mean and the variance of channels or groups.
    pub library_moments_per_s: f64,
    /// Elements of a batch norm that holds a channel in the registers of a block: one by one, and
    /// in pairs.
    pub library_held_channel_per_s: [f64; 2],
    /// Elements of a library pooling with 2 x 2 windows, channels last. Measured: 0.21 to 0.38
    /// elements a picosecond from 5 to 67 million elements.
    pub library_pool_per_s: f64,
    /// Times of one row in library kernels: how long few rows take.
    pub library_row: RowTimes,
    /// Elements that a generated kernel reduces in registers, in rows of a power of two.
    pub held_per_s: f64,
    /// The same of short columns.
    pub column_per_s: f64,
    /// The same of columns with running statistics: short ones, and longer ones.
    pub online_column_per_s: [f64; 2],
    /// Time that each wave of rows waits at the barriers of its reductions, in a generated kernel
    /// with more than one pass over its rows.
    pub row_wave_s: f64,
    /// Time of an element in the thread block of a generated kernel that makes a pass over its row.
    pub row_element_s: f64,
    /// The further time of an element whose pass updates one running statistic.
    pub online_row_element_s: f64,
    /// Elements of a pass that updates running statistics, such as a mean and a variance. With a
    /// maximum and a sum each element counts twice.
    pub online_per_s: f64,
    /// Those of a mean and a variance in a kernel that leaves the elements of the norm to a later
    /// one.
    pub online_apart_per_s: f64,
    /// Those of a channel's values in all images: of planes with an odd number of elements, and
    /// with an even one.
    pub online_plane_per_s: [f64; 2],
}

/// Times of one row in library kernels, which give each row a block of threads, a warp or a part
/// of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_field_names, reason = "all are in seconds")]
pub struct RowTimes {
    /// Time of each wave of blocks of a sum, a maximum and the like, in which threads exchange
    /// their parts.
    pub sum_s: f64,
    /// The same for two numbers in each thread, such as a mean and a variance.
    pub pair_s: f64,
    /// One element of a thread in a sum.
    pub sum_element_s: f64,
    /// One element of a thread in a sum along another axis.
    pub column_element_s: f64,
    /// Time in which the last block joins the parts of rows that several blocks share.
    pub joined_sum_s: f64,
    /// One element of a softmax over a row that one warp holds.
    pub warp_softmax_element_s: f64,
    /// One element of a softmax over a longer row, up to 8192.
    pub softmax_element_s: f64,
    /// One further element of such a row.
    pub long_softmax_element_s: f64,
    /// One element of a softmax along another axis, whose thread steps through its column: from
    /// the cache, and from memory.
    pub softmax_column_element_s: [f64; 2],
    /// One element of an RMS norm.
    pub rms_norm_element_s: f64,
    /// One element of a layer norm.
    pub layer_norm_element_s: f64,
    /// A wave of blocks that take the mean and the variance of channels or groups.
    pub moments_s: f64,
    /// One element of a thread there: from the cache, and from memory.
    pub moments_element_s: [f64; 2],
    /// From one block of the elements of a batch norm to the next on a multiprocessor.
    pub block_start_s: f64,
}

/// What the rates were measured with.
pub const MEASURED_WITH: &str = "PyTorch 2.11, CUDA 13.0, tests/measure/gpu.py, 2026-11-21";

/// `tests/measure/gpu.py rates`; see [`MEASURED_WITH`].
const H200: Measured = Measured {
    memory_bytes_per_s: 4.3e12,
    l2_bytes_per_s: 6.3e12,
    l2_kept_bytes: 42e6,
    matrix_f16_flops_per_s: 800e12,
    matrix_f8_flops_per_s: 1400e12,
    kernel_s: 1.7e-6,
    matmul_s: 3.6e-6,
    split_matmul_s: 2.8e-6,
    tile_load_bytes_per_s: 140e9,
    generated_step_s: 3.2e-9,
    attention_s: 3.2e-6,
    attention_block_s: 1.0e-6,
    split_attention_s: 4.0e-6,
    attention_key_s: [9.0e-9, 12.5e-9, 19.0e-9, 24.5e-9],
    masked_attention_share: 2.1,
    attention_load_bytes_per_s: 55e9,
    convolution_tile_s: 0.6e-6,
    generated_matmul_share: 0.9,
    vector_per_s: 30.2e12,
    exp_per_s: 3.76e12,
    erf_per_s: 0.993e12,
    tanh_per_s: 1.63e12,
    division_per_s: 2.91e12,
    strided_per_s: 0.42e12,
    strided_s: 0.7e-6,
    indexed_write_s: 1.0e-6,
    library_pair_per_s: 0.85e12,
    library_short_softmax_per_s: 0.65e12,
    library_softmax_per_s: 0.45e12,
    library_wide_softmax_per_s: 0.3e12,
    library_long_softmax_per_s: 0.6e12,
    library_layer_norm_per_s: 0.6e12,
    library_moments_per_s: 0.48e12,
    library_held_channel_per_s: [0.35e12, 0.7e12],
    library_pool_per_s: 0.25e12,
    library_row: RowTimes {
        sum_s: 1.0e-6,
        pair_s: 3.9e-6,
        sum_element_s: 22e-9,
        column_element_s: 55e-9,
        joined_sum_s: 4.5e-6,
        warp_softmax_element_s: 3.2e-9,
        softmax_element_s: 0.4e-9,
        long_softmax_element_s: 0.21e-9,
        softmax_column_element_s: [0.52e-6, 1.32e-6],
        rms_norm_element_s: 0.75e-9,
        layer_norm_element_s: 1.15e-9,
        moments_s: 3.5e-6,
        moments_element_s: [0.25e-6, 0.43e-6],
        block_start_s: 81e-9,
    },
    held_per_s: 1.7e12,
    column_per_s: 0.55e12,
    online_column_per_s: [0.32e12, 0.45e12],
    row_wave_s: 0.3e-6,
    row_element_s: 0.06e-9,
    online_row_element_s: 0.1e-9,
    online_per_s: 1.4e12,
    online_apart_per_s: 1.0e12,
    online_plane_per_s: [0.4e12, 0.8e12],
};

impl Device {
    /// Rates of this device; `None` where they are neither measured nor scaled.
    ///
    /// A probe of the device comes first, and the rates that it lacks are scaled. Otherwise they
    /// are those of the H200, which were measured. Those of an H100 SXM are scaled from them: it
    /// has the same multiprocessors at the same clock and another memory.
    ///
    /// If the user has set another launch time than the listed one, the fixed time of a kernel
    /// changes by the difference.
    pub fn calibration(&self) -> Option<Calibration> {
        let measured = device("h200")?;
        let mut calibration = match (&self.probe, &*self.id) {
            (Some(probe), _) => Calibration {
                rates: H200.scaled(&Ratios::of_probe(probe, measured, self)?),
                rates_from: RatesFrom::Probe {
                    measured_on: probe.measured_on,
                    others_from: measured.name.clone(),
                },
            },
            (None, "h200") => Calibration {
                rates: H200,
                rates_from: RatesFrom::Device,
            },
            (None, "h100") => Calibration {
                rates: H200.scaled(&Ratios::of_peaks(measured, self)?),
                rates_from: RatesFrom::Scaled(measured.name.clone()),
            },
            _ => return None,
        };
        let rates = &mut calibration.rates;
        let more_s = self.launch_s.value - self.listed_launch_s()?;
        rates.kernel_s = (rates.kernel_s + more_s).max(0.0);
        rates.matmul_s = (rates.matmul_s + more_s).max(0.0);
        Some(calibration)
    }
}

/// Rates and sizes of a device, divided by those of the H200.
struct Ratios {
    memory: f64,
    /// Bandwidth of the shared cache.
    cache: f64,
    cache_size: f64,
    matrix: f64,
    /// Vector arithmetic of the multiprocessors.
    units: f64,
    /// Arithmetic of the special function units.
    special: f64,
    /// What one multiprocessor does.
    multiprocessor: f64,
    /// Time of a launch.
    launch: f64,
}

impl Ratios {
    /// The ratios of two devices of the same architecture, from their peaks. Memory scales with its
    /// bandwidth, the kept part of the cache with the cache's size, matmuls with their peak, and
    /// all other work of multiprocessors with their number and clock. `None` where one of these
    /// figures is unknown.
    fn of_peaks(from: &Device, to: &Device) -> Option<Self> {
        let ratio =
            |figure: fn(&Device) -> Option<Figure>| Some(figure(to)?.value / figure(from)?.value);
        let units = ratio(|device| device.hardware.multiprocessors)?
            * ratio(|device| device.hardware.clock_hz)?;
        Some(Self {
            memory: ratio(|device| Some(device.memory_bytes_per_s))?,
            cache: units,
            cache_size: ratio(|device| device.hardware.l2_bytes)?,
            matrix: ratio(|device| device.matrix_f16_flops_per_s)?,
            units,
            special: units,
            multiprocessor: ratio(|device| device.hardware.clock_hz)?,
            launch: 1.0,
        })
    }

    /// The ratios that a probe measured on the device `to`. A rate that the probe lacks follows the
    /// nearest one: cache and exponentials follow the vector units; matmuls follow their peak, or
    /// the vector units where the device has no peak. `None` where the size of the cache is
    /// unknown.
    fn of_probe(probe: &DeviceProbe, from: &Device, to: &Device) -> Option<Self> {
        let ratio =
            |figure: fn(&Device) -> Option<Figure>| Some(figure(to)?.value / figure(from)?.value);
        let units = probe.vector_flops_per_s / FLOPS_PER_INSTRUCTION / H200.vector_per_s;
        let of = |measured: Option<f64>, h200: f64| measured.map(|value| value / h200);
        let matrix = of(probe.matrix_f16_flops_per_s, H200.matrix_f16_flops_per_s)
            .or_else(|| ratio(|device| device.matrix_f16_flops_per_s))
            .unwrap_or(probe.vector_flops_per_s / H200.matrix_f16_flops_per_s);
        Some(Self {
            memory: probe.memory_bytes_per_s / H200.memory_bytes_per_s,
            cache: of(probe.l2_bytes_per_s, H200.l2_bytes_per_s).unwrap_or(units),
            cache_size: ratio(|device| device.hardware.l2_bytes)?,
            matrix,
            units,
            special: of(probe.exp_per_s, H200.exp_per_s).unwrap_or(units),
            multiprocessor: units / ratio(|device| device.hardware.multiprocessors)?,
            launch: probe.kernel_s / H200_PROBED_KERNEL_S,
        })
    }
}

/// Time of the probe's tiny kernel on the H200 itself, among a hundred kernels in one graph. The
/// fixed time of a real kernel, with its first loads and last stores, is longer.
const H200_PROBED_KERNEL_S: f64 = 1.1e-6;

/// A multiply-add is one instruction and counts as two FLOPs.
const FLOPS_PER_INSTRUCTION: f64 = 2.0;

impl RowTimes {
    /// The times on multiprocessors that are faster by this factor.
    fn scaled(self, by: f64) -> Self {
        Self {
            sum_s: self.sum_s / by,
            pair_s: self.pair_s / by,
            sum_element_s: self.sum_element_s / by,
            column_element_s: self.column_element_s / by,
            joined_sum_s: self.joined_sum_s / by,
            warp_softmax_element_s: self.warp_softmax_element_s / by,
            softmax_element_s: self.softmax_element_s / by,
            long_softmax_element_s: self.long_softmax_element_s / by,
            softmax_column_element_s: self.softmax_column_element_s.map(|s| s / by),
            moments_s: self.moments_s / by,
            moments_element_s: self.moments_element_s.map(|s| s / by),
            block_start_s: self.block_start_s / by,
            rms_norm_element_s: self.rms_norm_element_s / by,
            layer_norm_element_s: self.layer_norm_element_s / by,
        }
    }
}

impl Measured {
    /// These rates on a device that differs by `by`. The share of generated matmuls stays the same,
    /// and so do times within a kernel.
    fn scaled(self, by: &Ratios) -> Self {
        Self {
            memory_bytes_per_s: self.memory_bytes_per_s * by.memory,
            l2_bytes_per_s: self.l2_bytes_per_s * by.cache,
            l2_kept_bytes: self.l2_kept_bytes * by.cache_size,
            matrix_f16_flops_per_s: self.matrix_f16_flops_per_s * by.matrix,
            matrix_f8_flops_per_s: self.matrix_f8_flops_per_s * by.matrix,
            tile_load_bytes_per_s: self.tile_load_bytes_per_s * by.multiprocessor,
            attention_load_bytes_per_s: self.attention_load_bytes_per_s * by.multiprocessor,
            generated_step_s: self.generated_step_s / by.multiprocessor,
            attention_block_s: self.attention_block_s / by.multiprocessor,
            attention_key_s: self
                .attention_key_s
                .map(|time_s| time_s / by.multiprocessor),
            library_row: self.library_row.scaled(by.multiprocessor),
            row_element_s: self.row_element_s / by.multiprocessor,
            online_row_element_s: self.online_row_element_s / by.multiprocessor,
            kernel_s: self.kernel_s * by.launch,
            matmul_s: self.matmul_s * by.launch,
            split_matmul_s: self.split_matmul_s * by.launch,
            attention_s: self.attention_s * by.launch,
            split_attention_s: self.split_attention_s * by.launch,
            vector_per_s: self.vector_per_s * by.units,
            exp_per_s: self.exp_per_s * by.special,
            erf_per_s: self.erf_per_s * by.units,
            tanh_per_s: self.tanh_per_s * by.special,
            division_per_s: self.division_per_s * by.special,
            strided_per_s: self.strided_per_s * by.units,
            library_pair_per_s: self.library_pair_per_s * by.units,
            library_short_softmax_per_s: self.library_short_softmax_per_s * by.units,
            library_softmax_per_s: self.library_softmax_per_s * by.units,
            library_wide_softmax_per_s: self.library_wide_softmax_per_s * by.units,
            library_long_softmax_per_s: self.library_long_softmax_per_s * by.units,
            library_layer_norm_per_s: self.library_layer_norm_per_s * by.units,
            library_moments_per_s: self.library_moments_per_s * by.units,
            library_held_channel_per_s: self.library_held_channel_per_s.map(|rate| rate * by.units),
            library_pool_per_s: self.library_pool_per_s * by.units,
            held_per_s: self.held_per_s * by.units,
            column_per_s: self.column_per_s * by.units,
            online_column_per_s: self.online_column_per_s.map(|rate| rate * by.units),
            online_per_s: self.online_per_s * by.units,
            online_apart_per_s: self.online_apart_per_s * by.units,
            online_plane_per_s: self.online_plane_per_s.map(|rate| rate * by.units),
            ..self
        }
    }
}
