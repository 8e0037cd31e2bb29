//! The point on the roofline of bytes and FLOPs, and a lower bound of their time.

use crate::core::model::device::{Device, Figure, Peak};
use crate::core::model::dtype::DType;
use crate::core::model::work::Work;
use serde::Serialize;

/// What limits the speed of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// Memory bandwidth.
    Memory,
    /// The matrix units.
    Matrix,
    /// The vector units, which also run matmuls on types that no matrix unit accepts.
    Vector,
    /// The launch takes longer than the work.
    Launch,
    /// The peak for some of its FLOPs, or their number, is unknown; its time leaves them out.
    Unknown,
}

/// The point of a kernel on the roofline. Its time is a lower bound for data in memory: full overlap at peak rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// FLOPs for each byte moved; `None` without FLOPs, without bytes or with an unknown K: no point.
    pub intensity: Option<f64>,
    /// `min(peak, intensity * bandwidth)`; without the peak if that is unknown.
    pub attainable_flops_per_s: Option<f64>,
    /// Which of [`Times`] and the launch takes longest.
    pub bound: Bound,
    /// The longest of [`Times`] plus one launch; 0 for a free view.
    pub time_s: f64,
}

impl Placement {
    /// Whether time and attainable rate leave out FLOPs, because their rate or their number is not known.
    pub fn is_incomplete(&self) -> bool {
        self.bound == Bound::Unknown
    }
}

/// The time of a kernel by each limit alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Bytes over bandwidth.
    pub memory_s: f64,
    /// Matrix FLOPs over the matrix peak; 0 where the device has no figure.
    pub matrix_s: f64,
    /// Vector FLOPs over the vector peak; 0 where the device has no figure.
    pub vector_s: f64,
}

/// The times of a kernel of this work and these bytes.
pub fn times(device: &Device, work: Work, bytes: u64) -> Times {
    let (matrix_peak, vector_peak) = peaks(device, work);
    let over = |flops: u128, peak: Option<Figure>| peak.map_or(0.0, |p| flops as f64 / p.value);
    Times {
        memory_s: bytes as f64 / device.memory_bytes_per_s.value,
        matrix_s: over(work.matrix_flops, matrix_peak.map(|peak| peak.figure)),
        vector_s: over(work.vector_flops, vector_peak),
    }
}

/// The peaks of the matmuls and of all other arithmetic of this work, as far as they are known.
pub(crate) fn peaks(device: &Device, work: Work) -> (Option<Peak>, Option<Figure>) {
    let matrix = work.matrix_dtype.and_then(|d| device.matmul_peak(d));
    let vector = device.vector_flops_per_s;
    (matrix, vector.filter(|_| !work.has_vector_f64))
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
}

/// The figure that the time of this work on `device` lacks; `None` if the time counts all work.
pub fn missing_figure(device: &Device, work: Work) -> Option<MissingFigure> {
    let (matrix, vector) = peaks(device, work);
    if work.is_unknown {
        Some(MissingFigure::K)
    } else if work.matrix_flops > 0 && matrix.is_none() {
        Some(
            work.matrix_dtype
                .map_or(MissingFigure::MatrixPeak, MissingFigure::PeakOf),
        )
    } else if work.vector_flops > 0 && vector.is_none() {
        Some(if work.has_vector_f64 {
            MissingFigure::PeakOf(DType::F64)
        } else {
            MissingFigure::VectorPeak
        })
    } else {
        None
    }
}

/// Places a kernel of this work and these bytes on the roofline of `device`.
///
/// The attainable rate of a kernel with a matmul is limited by the matrix units' peak for the matmul's element type,
/// that of any other by the vector units'. `is_free`: a view, which is not launched.
pub fn place(device: &Device, work: Work, bytes: u64, is_free: bool) -> Placement {
    let flops = work.flops() as f64;
    let (matrix_peak, vector_peak) = peaks(device, work);
    let peak = match work.matrix_dtype {
        Some(_) => matrix_peak.map(|peak| peak.figure),
        None => vector_peak,
    };
    let intensity = (flops > 0.0 && bytes > 0 && !work.is_unknown).then(|| flops / bytes as f64);
    let attainable = intensity.map(|i| {
        let by_memory = i * device.memory_bytes_per_s.value;
        peak.map_or(by_memory, |p| p.value.min(by_memory))
    });

    let Times {
        memory_s,
        matrix_s,
        vector_s,
    } = times(device, work, bytes);
    let launch_s = if is_free { 0.0 } else { device.launch_s.value };
    let busy_s = memory_s.max(matrix_s).max(vector_s);
    let bound = if missing_figure(device, work).is_some() {
        Bound::Unknown
    } else if launch_s > busy_s {
        Bound::Launch
    } else if memory_s >= busy_s {
        Bound::Memory
    } else if matrix_s >= busy_s && matrix_peak.is_some_and(|peak| !peak.is_on_vector_units) {
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

/// Intensity at which the matrix units' peak for `dtype` meets the bandwidth, in FLOP/byte.
///
/// ```
/// use fuseline::core::{ridge_point, Device, DType};
/// let device = Device::custom(2e12, 312e12, 19.5e12, 0.0);
/// assert_eq!(ridge_point(&device, DType::F16), Some(156.0));
/// ```
pub fn ridge_point(device: &Device, dtype: DType) -> Option<f64> {
    device
        .matrix_peak(dtype)
        .map(|peak| peak.value / device.memory_bytes_per_s.value)
}
