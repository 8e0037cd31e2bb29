//! What numbers count.

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things: kernels, ops, the value of a param.
    Count,
    Bytes,
    Seconds,
    /// Floating-point operations.
    Flops,
    /// FLOPs for each byte of memory traffic.
    Intensity,
    /// Hundredths.
    Percent,
    /// A factor: `1.7x`.
    Ratio,
    FlopsPerSecond,
    BytesPerSecond,
}

impl Unit {
    /// How it is written behind a number; empty for counts.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Bytes => "B",
            Self::Seconds => "s",
            Self::Flops => "FLOP",
            Self::Intensity => "FLOP/B",
            Self::Percent => "%",
            Self::Ratio => "x",
            Self::FlopsPerSecond => "FLOP/s",
            Self::BytesPerSecond => "B/s",
        }
    }
}
