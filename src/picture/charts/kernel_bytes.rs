//! Bytes of one kernel before and after fusion.

use crate::core::{Analysis, KernelId};
use std::ops::Add;

/// Bytes of one kernel, or of several together, before and after fusion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KernelBytes {
    /// Moved by the ops one by one.
    pub(super) unfused: MovedBytes,
    /// Moved by the fused kernel.
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

/// Bytes read and written. Sums do not overflow, because the graph bounds the bytes of the whole program.
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
