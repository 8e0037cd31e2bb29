//! Why a measurement cannot be read.

use super::nsight::DURATION;
use super::{MAX_KERNELS, MAX_NAME_BYTES};
use fuseline_core::json::JsonError;
use std::io;

/// The end of the message about a file that ends too early.
const CUT: &str = "the file may have been copied while the profiler was still writing";

/// Why a file is no measurement, as sentences for the visitor who opened it.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// A file that no measurement script saved.
    #[error(
        "This is not a measurement by a program's script: {0}. docs/measurement.md lists the fields."
    )]
    Script(#[from] JsonError),
    /// The script found no GPU.
    #[error("The script ran on {0} and timed nothing. Run it where PyTorch finds a GPU.")]
    NothingTimed(String),
    /// No line of a table is a header; what the file has instead, as a sentence.
    #[error(
        "A table of kernels needs the columns \"ID\", \"Kernel Name\" and metrics (ncu --csv), \"Start (ns)\", \"Duration (ns)\" and \"Name\" (nsys stats --report cuda_gpu_trace), or those of rocprof. {0}"
    )]
    NoHeader(String),
    /// A line of a table that no profiler writes.
    #[error("Line {line} of this table: {problem}.")]
    Line {
        /// Its number, from 1.
        line: u64,
        #[source]
        problem: ContentError,
    },
    /// Wrong content at an unknown line.
    #[error("{0}.")]
    Content(#[from] ContentError),
    /// A line that does not end; its number, from 1.
    #[error("Line {0} of this table is longer than any line of a profiler.")]
    LongLine(u64),
    /// The line of a table in which a quotation begins that does not end.
    #[error("This table ends within a quotation in line {0}: {CUT}.")]
    OpenQuotation(u64),
    /// A table of Nsight Compute without kernels.
    #[error(
        "This table has no kernel. With --profile-from-start off, ncu sees only kernels between torch.cuda.profiler.start() and stop()."
    )]
    NoKernelInMetrics,
    /// A table of Nsight Systems without kernels.
    #[error(
        "This table has no kernel. Nsight Systems saw no GPU work: profile a program that launches kernels, with --trace=cuda."
    )]
    NoKernelInLaunches,
    /// A table of metrics without the duration.
    #[error("This Nsight Compute table has no times: add {} to --metrics.", DURATION[0])]
    NoTimes,
    /// A kernel whose lines do not say how long it ran.
    #[error(
        "Kernel {number} of this table, {name}, has no {}: {CUT}, or the profiler could not time it.",
        DURATION[1].to_lowercase()
    )]
    Untimed {
        /// Which kernel, from 1.
        number: usize,
        /// The name of its function.
        name: String,
    },
    /// A trace that is not JSON.
    #[error("This trace is not valid JSON at {position}, after {events} events: {found}.")]
    NotJson {
        /// Line and byte.
        position: String,
        /// How many events are read.
        events: usize,
        /// What is there instead, as a clause.
        found: String,
    },
    /// A trace without a kernel; how many events it has.
    #[error(
        "This trace has {0} events but no kernel (\"cat\": \"kernel\"). Record with activities=[ProfilerActivity.CUDA]."
    )]
    NoKernelInTrace(usize),
    /// A trace of JAX without a kernel; how many events it has.
    #[error(
        "This trace of JAX has {0} events but no kernel of a GPU. Record one call where JAX runs on a GPU: jax.profiler.start_trace(folder), the call with block_until_ready(), jax.profiler.stop_trace()."
    )]
    NoKernelInJaxTrace(usize),
    /// A printed table without the rules of its columns.
    #[error(
        "This table of torch.profiler lacks its head: copy all that key_averages().table() prints, with the lines of dashes."
    )]
    NoAverages,
    /// A printed table without kernels.
    #[error(
        "This table of torch.profiler has no kernel of a GPU. Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."
    )]
    NoGpuInAverages,
    /// A trace that ends too early.
    #[error(
        "This trace is cut off after {events} events and {bytes} bytes. It may have been copied while the profiler was still writing."
    )]
    CutTrace {
        /// How many events are read.
        events: usize,
        /// How many bytes are read.
        bytes: usize,
    },
    /// A string or a number in a trace that does not end.
    #[error(
        "This trace has a value of more than {most_mb} MB before {position}, which no profiler writes."
    )]
    LongValue {
        /// Line and byte.
        position: String,
        most_mb: usize,
    },
    /// More bytes than a file of this kind may have.
    #[error("This measurement could not be read: it exceeds the limit of {most_mb} MB.")]
    TooLarge {
        /// The limit, in MB.
        most_mb: usize,
    },
    /// More bytes than any file may unpack to.
    #[error("This measurement could not be read: unpacked, it exceeds the limit of {most_gb} GB.")]
    UnpacksToMuch {
        /// The limit, in GB.
        most_gb: u64,
    },
    /// A packed file that is damaged.
    #[error("This gzip file is damaged {position} byte {byte}: {problem}.")]
    Damaged {
        /// Before or after the byte.
        position: &'static str,
        /// How many bytes are read.
        byte: u64,
        /// What the unpacker says.
        #[source]
        problem: io::Error,
    },
    /// A packed file that ends too early; how many bytes are read.
    #[error(
        "This gzip file is cut off after byte {0}. It may have been copied while the profiler was still writing."
    )]
    CutPacked(u64),
}

/// What is wrong with a line about a kernel, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// The line ends too early.
    #[error("it has {fields} of the {columns} columns, so {CUT}")]
    CutLine {
        /// Fields of the line.
        fields: usize,
        /// Columns of the header.
        columns: usize,
    },
    /// A kernel without a name.
    #[error("a kernel has no name, so {CUT}")]
    NoName,
    /// A kernel without a duration.
    #[error("a kernel without a duration")]
    NoDuration,
    /// A field that is no number.
    #[error("{0:?} is not a number of at least 0")]
    NoNumber(String),
    /// A unit that is neither one of time nor of bytes.
    #[error(
        "the unit of {metric} is {unit:?}, but must be ns, us, ms, s, byte, Kbyte, Mbyte or Gbyte"
    )]
    Unit {
        /// What is measured.
        metric: String,
        /// How its unit is spelled.
        unit: String,
    },
    /// The names of kernels need too much memory.
    #[error("The kernel names in this file exceed {} MB", MAX_NAME_BYTES >> 20)]
    LongNames,
    /// More kernels than one call of a program launches.
    #[error(
        "The file has more than {MAX_KERNELS} kernels. Record one call of the program, after a few warm-up calls"
    )]
    TooManyKernels,
}

/// A measurement on another GPU than the open one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "This file was measured on {other}, but the open measurement on {open}: close the open one first."
)]
pub struct OtherDevice {
    /// The GPU of the file.
    pub other: String,
    /// The GPU of the open measurement.
    pub open: String,
}
