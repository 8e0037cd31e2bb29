//! The roofs of a roofline: peaks of compute units and memory bandwidth.

use crate::picture::charts::axis::Axis;
use crate::picture::charts::scene::Role;
use crate::present::devices::{computed_as, units_name};
use crate::present::format::{format_bandwidth, format_intensity, format_rate};
use fuseline_core::cost::roofline::peaks;
use fuseline_core::model::device::{Figure, Peak};
use fuseline_core::model::work::Work;
use fuseline_core::{Analysis, DType};
use std::cmp::Reverse;
use strum::VariantArray;

/// The roofs of a device for one program.
pub(super) struct Roofs {
    pub(super) bandwidth: Figure,
    /// Peaks for the element types of the program's matmuls, that of the most FLOPs first.
    pub(super) matrix: Vec<(DType, Peak)>,
    /// Peaks of the vector units for the types of all other arithmetic, without those that `matrix`
    /// has.
    pub(super) vector: Vec<(DType, Figure)>,
}

impl Roofs {
    pub(super) fn of(analysis: &Analysis) -> Self {
        let device = &analysis.options.device;
        // Of all products of one type and kind, which have one peak.
        let work_of = |dtype: DType, is_convolution: bool| {
            let works = analysis.fused.kernels.iter().map(|kernel| kernel.work);
            works
                .filter(|work| work.matrix_dtype == Some(dtype))
                .filter(|work| work.is_convolution == is_convolution)
                .reduce(Work::and)
        };
        let mut used: Vec<(DType, Work)> = DType::VARIANTS
            .iter()
            .flat_map(|&dtype| [false, true].map(|is_convolution| (dtype, is_convolution)))
            .filter_map(|(dtype, is_convolution)| Some((dtype, work_of(dtype, is_convolution)?)))
            .collect();
        used.sort_by_key(|(_, work)| Reverse(work.matrix_flops));
        let has_matmul = !used.is_empty();
        let mut matrix: Vec<(DType, Peak)> = Vec::new();
        for (dtype, work) in used {
            if let Some(peak) = peaks(&analysis.options, work)
                .matrix
                .filter(|peak| is_positive(&peak.figure))
                && !matrix
                    .iter()
                    .any(|(_, known)| is_nearly_equal(known.figure.value, peak.figure.value))
            {
                matrix.push((dtype, peak));
            }
        }
        let is_known = !(has_matmul && matrix.is_empty());
        // Without the peak of the matmuls these would look like theirs.
        let mut vector = if is_known {
            vector_peaks(analysis)
        } else {
            Vec::new()
        };
        vector.retain(|(_, figure)| {
            let is_same = |peak: &Peak| {
                is_nearly_equal(peak.figure.value, figure.value) && peak.is_on_vector_units
            };
            !matrix.iter().any(|(_, peak)| is_same(peak))
        });
        Self {
            bandwidth: Some(device.memory_bytes_per_s)
                .filter(is_positive)
                .unwrap_or(Figure {
                    value: 1e12,
                    is_confirmed: false,
                }),
            matrix,
            vector,
        }
    }

    /// The peak whose ridge is marked: that of the matmuls, if there are any.
    pub(super) fn main_peak(&self) -> Option<Figure> {
        let matrix = self.matrix.first().map(|&(_, peak)| peak.figure);
        matrix.or(self.vector.first().map(|&(_, figure)| figure))
    }

    /// All peaks, in FLOP/s.
    pub(super) fn peaks(&self) -> impl Iterator<Item = f64> + '_ {
        let matrix = self.matrix.iter().map(|(_, peak)| peak.figure.value);
        matrix.chain(self.vector.iter().map(|(_, peak)| peak.value))
    }

    /// The intensity at which a peak meets the memory roof.
    pub(super) fn ridge(&self, peak: Figure) -> f64 {
        peak.value / self.bandwidth.value
    }

    /// Each peak from its ridge on, and the memory roof up to the highest, in values of the axes.
    pub(super) fn lines(&self, x: Axis, y: Axis) -> Vec<(Role, Vec<(f64, f64)>)> {
        let (start, end) = x.ends();
        let mut lines = Vec::new();
        if let Some(peak) = self.main_peak() {
            let ridge = self.ridge(peak);
            lines.push((Role::Ridge, vec![(ridge, 0.0), (ridge, peak.value)]));
        }
        let roof = |peak: Figure| vec![(self.ridge(peak), peak.value), (end, peak.value)];
        let vector = self.vector.iter();
        lines.extend(vector.map(|&(_, peak)| (Role::VectorRoof, roof(peak))));
        for (_, peak) in &self.matrix {
            lines.push((Role::MatrixRoof, roof(peak.figure)));
        }
        let summit = self.peaks().reduce(f64::max).unwrap_or(y.ends().1);
        let bandwidth = self.bandwidth.value;
        let foot = (start, start * bandwidth);
        let summit = ((summit / bandwidth).min(end), summit.min(end * bandwidth));
        lines.push((Role::MemoryRoof, vec![foot, summit]));
        lines
    }

    /// All roofs in a sentence without its full stop.
    pub(super) fn description(&self, device: &str) -> String {
        let mut facts = vec![format!(
            "{device}, FLOPs per second above FLOPs per byte, on logarithmic axes: memory roof {}",
            figure_text(self.bandwidth, format_bandwidth)
        )];
        for (dtype, peak) in &self.matrix {
            let figure = figure_text(peak.figure, format_rate);
            facts.push(format!(
                "{} on {}{} {figure}",
                units_name(peak),
                dtype.name(),
                computed_as(peak)
            ));
        }
        for (dtype, peak) in &self.vector {
            let figure = figure_text(*peak, format_rate);
            facts.push(format!("vector units{} {figure}", on_type(*dtype)));
        }
        if let Some(peak) = self.main_peak() {
            facts.push(format!(
                "ridge point at {}",
                format_intensity(self.ridge(peak))
            ));
        }
        facts.join(", ")
    }
}

/// ` on f64`; nothing for f32, in which the vector units compute all other types.
const fn on_type(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => " on f64",
        _ => "",
    }
}

/// The peaks of the vector units for what is computed there: for the type of the matmuls if there
/// is nothing.
fn vector_peaks(analysis: &Analysis) -> Vec<(DType, Figure)> {
    let device = &analysis.options.device;
    let works = || analysis.fused.kernels.iter().map(|kernel| kernel.work);
    let has_none = works().all(|work| work.vector_flops == 0);
    let is_f64 = has_none && works().any(|work| work.matrix_dtype == Some(DType::F64));
    let has_f64 = is_f64 || works().any(|work| work.vector_f64_flops > 0);
    let has_f32 = has_none && !is_f64 || works().any(|work| work.vector_f32_flops() > 0);
    [
        (has_f32, DType::F32, device.vector_flops_per_s),
        (has_f64, DType::F64, device.vector_f64_flops_per_s),
    ]
    .into_iter()
    .filter(|&(is_used, ..)| is_used)
    .filter_map(|(_, dtype, figure)| Some((dtype, figure.filter(is_positive)?)))
    .collect()
}

/// A figure's text, with a question mark where its source was not at hand.
pub(super) fn figure_text(figure: Figure, format: fn(f64) -> String) -> String {
    let mark = if figure.is_confirmed { "" } else { " ?" };
    format!("{}{mark}", format(figure.value))
}

fn is_positive(figure: &Figure) -> bool {
    figure.value.is_finite() && figure.value > 0.0
}

fn is_nearly_equal(a: f64, b: f64) -> bool {
    (a - b).abs() <= a.abs() * 1e-6
}
