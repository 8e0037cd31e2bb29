//! The point on the roofline of bytes and FLOPs, and a lower bound of their time.

use crate::model::bound::Bound;
use crate::model::device::{Device, F32Matmul, Figure, Peak};
use crate::model::dtype::DType;
use crate::model::options::Options;
use crate::model::work::Work;

/// The point of a kernel on the roofline. Its time is a lower bound for data in memory: full
/// overlap at peak rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// FLOPs for each byte moved; `None` without FLOPs, without bytes or with FLOPs that are not
    /// known: no point.
    pub intensity: Option<f64>,
    /// `min(peak, intensity * bandwidth)`; without the peak if that is unknown. `None` of an opaque
    /// operator, too, which may run on any units: no point.
    pub attainable_flops_per_s: Option<f64>,
    /// Which of [`Times`] and the launch takes longest.
    pub bound: Bound,
    /// The longest of [`Times`] plus one launch; 0 for a free view.
    pub time_s: f64,
}

impl Placement {
    /// Whether time and attainable rate leave out FLOPs, because their rate or their number is not
    /// known.
    pub fn is_incomplete(&self) -> bool {
        self.bound == Bound::Unknown
    }
}

/// A unit of the device that a kernel keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// DRAM.
    Memory,
    /// Matrix units.
    Matrix,
    /// Vector units, in f32 and in matmuls of types that the matrix units do not multiply.
    Vector,
    /// Vector units in f64, which are units of their own.
    VectorF64,
}

/// An amount at a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RatedAmount {
    /// Bytes of memory, FLOPs of any other unit.
    pub amount: u128,
    /// How much of it in a second; `None` where the device has no figure.
    pub per_s: Option<f64>,
}

impl RatedAmount {
    fn new(amount: u128, peak: Option<Figure>) -> Self {
        Self {
            amount,
            per_s: peak.map(|peak| peak.value),
        }
    }

    /// How long that takes alone; 0 without a rate.
    pub fn time_s(self) -> f64 {
        self.per_s.map_or(0.0, |per_s| self.amount as f64 / per_s)
    }
}

/// The work of one unit for a kernel: matmuls and all else, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitWork {
    /// The unit.
    pub unit: UnitKind,
    /// Its matmuls.
    pub matmuls: RatedAmount,
    /// What else it does.
    pub other: RatedAmount,
}

impl UnitWork {
    /// Both together.
    pub fn amount(self) -> u128 {
        self.matmuls.amount.saturating_add(self.other.amount)
    }

    /// How long that takes alone; 0 without a rate.
    pub fn time_s(self) -> f64 {
        self.matmuls.time_s() + self.other.time_s()
    }
}

/// The least work of each unit for a kernel of this work and these bytes, memory first: without
/// what a causal mask hides. They all work at the same time.
pub fn unit_works(options: &Options, work: Work, bytes: u64) -> [UnitWork; 4] {
    let peaks = peaks(options, work);
    let [hidden_matrix, hidden_vector] = work.hidden_flops;
    let matrix_flops = work.matrix_flops.saturating_sub(hidden_matrix);
    let matmuls = RatedAmount::new(matrix_flops, peaks.matrix.map(|peak| peak.figure));
    let vector_flops = work.vector_f32_flops().saturating_sub(hidden_vector);
    let bandwidth = options.device.memory_bytes_per_s;
    let multiplying = peaks.multiplying(work);
    let of = |unit, amount, peak| UnitWork {
        unit,
        matmuls: Some(matmuls)
            .filter(|_| unit == multiplying)
            .unwrap_or_default(),
        other: RatedAmount::new(amount, peak),
    };
    [
        of(UnitKind::Memory, bytes.into(), Some(bandwidth)),
        of(UnitKind::Matrix, 0, None),
        of(UnitKind::Vector, vector_flops, peaks.vector),
        of(UnitKind::VectorF64, work.vector_f64_flops, peaks.vector_f64),
    ]
}

/// The time of a kernel by each unit alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Bytes over bandwidth.
    pub memory_s: f64,
    /// FLOPs of the matrix units over their peak; 0 where the device has no figure.
    pub matrix_s: f64,
    /// FLOPs of the vector units in f32 over their peaks; 0 where the device has no figure.
    pub vector_s: f64,
    /// FLOPs of the vector units in f64 over their peak; 0 where the device has no figure.
    pub vector_f64_s: f64,
}

impl Times {
    /// The longest of these times, because all units work at once.
    pub fn longest_s(self) -> f64 {
        (self.memory_s.max(self.matrix_s)).max(self.vector_s.max(self.vector_f64_s))
    }

    /// The times of both one after the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            memory_s: self.memory_s + other.memory_s,
            matrix_s: self.matrix_s + other.matrix_s,
            vector_s: self.vector_s + other.vector_s,
            vector_f64_s: self.vector_f64_s + other.vector_f64_s,
        }
    }
}

/// The times of a kernel of this work and these bytes.
pub fn times(options: &Options, work: Work, bytes: u64) -> Times {
    let [memory_s, matrix_s, vector_s, vector_f64_s] =
        unit_works(options, work, bytes).map(UnitWork::time_s);
    Times {
        memory_s,
        matrix_s,
        vector_s,
        vector_f64_s,
    }
}

/// The peaks of the units that execute a kernel, as far as they are known.
#[derive(Clone, Copy)]
pub struct Peaks {
    /// The peak of its matmuls.
    pub matrix: Option<Peak>,
    /// The peak of all other arithmetic.
    pub vector: Option<Figure>,
    /// The peak of all other arithmetic in f64.
    pub vector_f64: Option<Figure>,
}

impl Peaks {
    /// The units that compute the matmuls of a kernel.
    fn multiplying(&self, work: Work) -> UnitKind {
        match (self.matrix, work.matrix_dtype) {
            (Some(peak), Some(DType::F64)) if peak.is_on_vector_units => UnitKind::VectorF64,
            (Some(peak), _) if peak.is_on_vector_units => UnitKind::Vector,
            _ => UnitKind::Matrix,
        }
    }

    /// The roof of a kernel: the peak for its matmul, or without one that of the vector units, in
    /// f64 where some of its arithmetic is. An opaque operator has none, because it may run on
    /// either.
    pub fn roof(&self, work: Work) -> Option<Figure> {
        match work.matrix_dtype {
            _ if work.opaque_flops.is_some() => None,
            Some(_) => self.matrix.map(|peak| peak.figure),
            None if work.vector_f64_flops > 0 => self.vector_f64,
            None => self.vector,
        }
    }
}

/// The roofs of the chosen device for this work.
pub fn peaks(options: &Options, work: Work) -> Peaks {
    let device = &options.device;
    let f32_product = options.conventions.f32_product(&work);
    Peaks {
        matrix: (work.matrix_dtype).and_then(|dtype| device.matmul_peak(dtype, f32_product)),
        vector: device.vector_flops_per_s,
        vector_f64: device.vector_f64_flops_per_s,
    }
}

/// Why a time leaves out FLOPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFigure {
    /// The length K of a matmul, without which its FLOPs are not counted.
    K,
    /// The peak for an element type.
    PeakOf(DType),
    /// The peak of the matrix units, for an unknown element type.
    MatrixPeak,
    /// The peak of the vector units.
    VectorPeak,
    /// The units that execute an opaque operator.
    Units,
}

/// The figure that the time of this work lacks on the chosen device; `None` if the time counts all
/// work.
pub fn missing_figure(options: &Options, work: Work) -> Option<MissingFigure> {
    let peaks = peaks(options, work);
    if work.opaque_flops.is_some() {
        Some(MissingFigure::Units)
    } else if work.is_unknown {
        Some(MissingFigure::K)
    } else if work.matrix_flops > 0 && peaks.matrix.is_none() {
        Some(
            work.matrix_dtype
                .map_or(MissingFigure::MatrixPeak, MissingFigure::PeakOf),
        )
    } else if work.vector_f64_flops > 0 && peaks.vector_f64.is_none() {
        Some(MissingFigure::PeakOf(DType::F64))
    } else if work.vector_f32_flops() > 0 && peaks.vector.is_none() {
        Some(MissingFigure::VectorPeak)
    } else {
        None
    }
}

/// Places a kernel of this work and these bytes on the roofline of the chosen device.
///
/// The attainable rate of a kernel with a matmul is limited by the peak for the matmul's element
/// type, that of any other by the vector units': in f64 where some of its arithmetic is. `is_free`:
/// a view, which is not launched.
pub fn place(options: &Options, work: Work, bytes: u64, is_free: bool) -> Placement {
    let device = &options.device;
    let flops = work.flops() as f64;
    let peaks = peaks(options, work);
    let peak = peaks.roof(work);
    // With FLOPs missing, the point would stand too far left.
    let intensity = (flops > 0.0 && bytes > 0 && !work.is_unknown).then(|| flops / bytes as f64);
    let placed = intensity.filter(|_| work.opaque_flops.is_none());
    let attainable = placed.map(|i| {
        let by_memory = i * device.memory_bytes_per_s.value;
        // Without a peak the slope of the bandwidth is the only roof.
        peak.map_or(by_memory, |p| p.value.min(by_memory))
    });

    let times = times(options, work, bytes);
    let launch_s = if is_free { 0.0 } else { device.launch_s.value };
    let busy_s = times.longest_s();
    // Unknown comes first: what is missing could take longer than all that is known. Equal times
    // count as memory-bound, which is the ridge point.
    let bound = if missing_figure(options, work).is_some() {
        Bound::Unknown
    } else if launch_s > busy_s {
        Bound::Launch
    } else if times.memory_s >= busy_s {
        Bound::Memory
    } else if times.matrix_s >= busy_s {
        Bound::Matrix
    } else {
        Bound::Vector
    };
    Placement {
        intensity,
        attainable_flops_per_s: attainable,
        bound,
        time_s: busy_s + launch_s,
    }
}

/// Intensity at which the peak of matmuls on `dtype` meets the bandwidth, in FLOP/byte.
pub fn ridge_point(device: &Device, dtype: DType, f32_matmul: F32Matmul) -> Option<f64> {
    device
        .matrix_peak(dtype, f32_matmul)
        .map(|peak| peak.value / device.memory_bytes_per_s.value)
}
