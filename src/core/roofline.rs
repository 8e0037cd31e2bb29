//! Bytes and FLOPs to a place on the roofline and a predicted time.

use super::device::{Device, Figure, Peak};
use super::dtype::DType;
use super::format::{at_least, format_seconds};
use super::work::Work;
use serde::Serialize;

/// What keeps a kernel from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// Memory bandwidth.
    Memory,
    /// The matrix units.
    Matrix,
    /// The vector units, which also do the matmuls that no matrix units take.
    Vector,
    /// Starting it takes longer than running it.
    Launch,
    /// No peak is known for some of its FLOPs, or not how many they are: its time is at least what the rest takes.
    Unknown,
}

impl Bound {
    /// The word for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Matrix => "matrix units",
            Self::Vector => "vector units",
            Self::Launch => "launch",
            Self::Unknown => "unknown",
        }
    }
}

/// Where a kernel stands. Time is a prediction: no caches, full overlap, peak rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// FLOPs for each byte moved; `None` without FLOPs, without bytes or with an unknown K: no point.
    pub intensity: Option<f64>,
    /// `min(peak, intensity * bandwidth)`; no more than that where the peak is not known.
    pub attainable_flops_per_s: Option<f64>,
    /// Which of [`Times`] and the launch takes longest.
    pub bound: Bound,
    /// The longest of [`Times`] plus one launch; 0 for a free view.
    pub time_s: f64,
}

impl Placement {
    /// The time is the least that it can be, and the attainable rate the most.
    pub fn is_open(&self) -> bool {
        self.bound == Bound::Unknown
    }

    /// The predicted time: `430 µs`, `≥ 430 µs`.
    pub fn time_text(&self) -> String {
        at_least(self.is_open(), &format_seconds(self.time_s))
    }
}

/// What a kernel would take if one thing alone limited it.
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
pub(super) fn peaks(device: &Device, work: Work) -> (Option<Peak>, Option<Figure>) {
    let matrix = work.matrix_dtype.and_then(|d| device.matmul_peak(d));
    let vector = device.vector_flops_per_s;
    (matrix, vector.filter(|_| !work.has_vector_f64))
}

/// What makes a time a lower bound.
enum Open {
    /// The length K of a matmul, without which its FLOPs are not counted.
    Length,
    /// The peak of this element type or of these units.
    Peak(&'static str),
}

/// What is not known of this work, given its peaks; `None` where its time is a prediction.
fn open(work: Work, matrix: Option<Peak>, vector: Option<Figure>) -> Option<Open> {
    if work.is_unknown {
        return Some(Open::Length);
    }
    if work.matrix_flops > 0 && matrix.is_none() {
        let dtype = work.matrix_dtype.map(DType::name);
        return Some(Open::Peak(dtype.unwrap_or("matrix units")));
    }
    (work.vector_flops > 0 && vector.is_none()).then_some(Open::Peak(if work.has_vector_f64 {
        DType::F64.name()
    } else {
        "vector units"
    }))
}

/// Why the time of this work on `device` is only a lower bound: FLOPs without a known peak, or not counted.
pub fn open_reason(device: &Device, work: Work) -> Option<String> {
    let (matrix, vector) = peaks(device, work);
    Some(match open(work, matrix, vector)? {
        Open::Length => "the length K of a matmul is not known".to_owned(),
        Open::Peak(of) => format!("no peak is known for {of} on this device"),
    })
}

/// Places a kernel of this work and these bytes on the roofline of `device`.
///
/// A kernel with a matmul is held against the matrix units' peak for the matmul's element type, all others
/// against the vector units'. `is_free`: a view, which nobody launches.
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
    let bound = if open(work, matrix_peak, vector_peak).is_some() {
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
