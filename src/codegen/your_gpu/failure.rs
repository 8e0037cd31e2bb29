//! Why a program is not run on the visitor's GPU, or not to its end.

use crate::interpret::NotRun;

/// Why a run ended. The next press of the button starts a new run.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The browser has no WebGPU.
    NoWebGpu,
    /// WebGPU finds no GPU.
    NoAdapter,
    /// The GPU gives no device, with the message of the browser.
    NoDevice(String),
    /// The device is lost, with the message of the browser.
    Lost(String),
    /// The GPU has no room for the tensors.
    OutOfMemory,
    /// The program exceeds a limit of the device.
    Limit {
        /// What exceeds the limit, with its amount, as a clause.
        what: String,
        /// The amount that the device admits.
        limit: String,
        /// What to change.
        hint: &'static str,
    },
    /// A kernel is not valid.
    Kernel {
        name: String,
        /// The message of the browser.
        message: String,
    },
    /// Kernels without a shader, each with its reason.
    NoShader(Vec<String>),
    /// A rate of the GPU was not measured: why, as a clause.
    NoRate(String),
    /// No answer after this many seconds.
    TooLong {
        /// What was run.
        name: String,
        /// How long was waited, in seconds.
        waited_s: f64,
    },
    /// The program cannot be run at all.
    NotRun(NotRun),
    /// The visitor has stopped it.
    Stopped,
    /// Anything else that the browser reports.
    Other(String),
}

impl From<NotRun> for Failure {
    fn from(refused: NotRun) -> Self {
        Self::NotRun(refused)
    }
}

impl Failure {
    /// Whether the script for PyTorch is another way to a measurement.
    pub const fn offers_script(&self) -> bool {
        !matches!(self, Self::Stopped | Self::NotRun(_))
    }
}
