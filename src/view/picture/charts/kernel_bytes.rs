//! Bytes of one kernel before and after fusion.

use crate::picture::charts::labels::kernel_heading;
use crate::picture::dag::repeats::Repeats;
use fuseline_core::{Analysis, IdVec, KernelId};
use std::ops::Add;

/// A kernel that stands for those equal to it in later iterations, if it is repeated.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownKernel {
    pub(super) kernel: KernelId,
    /// Number of kernels that it stands for, with itself.
    pub(super) iterations: usize,
    /// Bytes of all of them.
    pub(super) bytes: KernelBytes,
}

impl ShownKernel {
    /// All kernels but those of later iterations, in the order in which they run. `O(kernels)`.
    pub(super) fn of(analysis: &Analysis, repeats: &Repeats) -> Vec<Self> {
        let kernels = analysis.fused.kernels.ids();
        let mut shown: IdVec<KernelId, Self> = kernels
            .map(|kernel| Self {
                kernel,
                iterations: 0,
                bytes: KernelBytes::default(),
            })
            .collect();
        for kernel in analysis.fused.kernels.ids() {
            // The iterations may be those of an older partition.
            let stands_for_it = repeats.shown_kernel(kernel);
            let place = if stands_for_it < kernel {
                stands_for_it
            } else {
                kernel
            };
            let sum = &mut shown[place];
            sum.iterations += 1;
            sum.bytes = sum.bytes + KernelBytes::of(analysis, kernel);
        }
        shown
            .into_iter()
            .filter(|shown| shown.iterations > 0)
            .collect()
    }

    /// `kernel 3: sub, and 47 equal ones`.
    pub(super) fn heading(&self, analysis: &Analysis) -> String {
        let heading = kernel_heading(analysis, self.kernel);
        match self.iterations {
            ..=1 => heading,
            2 => format!("{heading}, and 1 equal kernel"),
            iterations => format!("{heading}, and {} equal kernels", iterations - 1),
        }
    }
}

/// Bytes of one kernel, or of several together, before and after fusion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KernelBytes {
    /// Moved by the ops one by one.
    pub(super) unfused: MovedBytes,
    pub(super) fused: MovedBytes,
}

impl KernelBytes {
    /// Bytes of a fused kernel; 0 where there is none.
    pub(super) fn of(analysis: &Analysis, kernel: KernelId) -> Self {
        let (Some(fused), Some(before)) = (
            analysis.fused.kernels.get(kernel),
            analysis.comparisons.get(kernel),
        ) else {
            return Self::default();
        };
        let (read, total) = (before.unfused_bytes_read, before.unfused_bytes);
        Self {
            unfused: MovedBytes {
                read,
                written: total.saturating_sub(read),
            },
            fused: MovedBytes {
                read: fused.bytes_read,
                written: fused.bytes_written,
            },
        }
    }
}

impl Add for KernelBytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            unfused: self.unfused + other.unfused,
            fused: self.fused + other.fused,
        }
    }
}

/// Bytes read and written. Sums do not overflow, because the graph bounds the bytes of the whole
/// program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MovedBytes {
    pub(super) read: u64,
    pub(super) written: u64,
}

impl MovedBytes {
    pub(super) fn total(self) -> u64 {
        self.read + self.written
    }
}

impl Add for MovedBytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            read: self.read + other.read,
            written: self.written + other.written,
        }
    }
}
