//! What measured runs say about a kernel.

use borsh::{BorshDeserialize, BorshSerialize};

/// The evidence of measured runs for a kernel of several ops.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub enum Evidence {
    /// The pattern was not measured on this device: the model decides.
    Unmeasured,
    /// At the nearest size the pattern ran faster by more than the threshold, but in several
    /// kernels: the model decides.
    SeveralKernels(Nearest),
    /// At the nearest size one kernel was faster by more than the threshold.
    Fuses(Nearest),
    /// It was not, in however many kernels it ran: the ops stay separate.
    Refuses(Nearest),
}

/// The measured run whose work is nearest to that of a kernel.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Nearest {
    /// The name of its pattern.
    pub pattern: String,
    /// Its work, in FLOPs.
    pub flops: f64,
    /// Unfused over fused time.
    pub speedup: f64,
}
