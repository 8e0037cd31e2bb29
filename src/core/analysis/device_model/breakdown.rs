//! The time of a kernel in parts: amounts of work, each at its rate.

use crate::model::bound::Bound;
use smallvec::{SmallVec, smallvec};

/// The predicted time of a kernel, in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Breakdown {
    /// The phases of the kernel, one after the other. The parts of a phase overlap, so a phase
    /// takes as long as its longest part.
    pub phases: SmallVec<[SmallVec<[BreakdownPart; 4]>; 1]>,
    /// Fixed time of the kernel.
    pub fixed_s: f64,
    /// The part of it that other kernels do not have: in it a matmul fills its pipeline of tiles
    /// and writes its last one. The rest is a launch as of any kernel.
    pub pipeline_s: f64,
}

/// Work that does not overlap: its shares add up.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakdownPart {
    /// The name of the part.
    pub name: &'static str,
    /// Its shares, each of another kind or at another rate.
    pub shares: SmallVec<[BreakdownShare; 2]>,
}

/// An amount at a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakdownShare {
    /// The kind of work.
    pub what: RatedWork,
    /// Amount of that work.
    pub amount: f64,
    /// Amount per second.
    pub per_s: f64,
}

/// A kind of work that has a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatedWork {
    /// Bytes from and to memory.
    MemoryBytes,
    /// Bytes that are read from memory again.
    BytesAgain,
    /// Bytes from and to the shared cache.
    CacheBytes,
    /// FLOPs on the matrix units.
    MatrixFlops,
    /// FLOPs on the vector units.
    VectorFlops,
    /// FLOPs of whole waves of whole tiles.
    WaveFlops,
    /// Waves, which have a time each.
    Waves,
    /// Steps along K of a generated matmul, which have a time each.
    Steps,
    /// Keys that the blocks of attention process one after the other.
    Keys,
    /// Elements of one row, which its block processes one after the other.
    RowElements,
    /// Waves of blocks that reduce rows, which have a time each.
    RowWaves,
    /// Elements that a generated kernel reduces in registers.
    HeldElements,
    /// Elements of a running statistic.
    Elements,
    /// Calls of `exp`.
    Exponentials,
    /// Calls of `erf`, as in the exact GELU.
    ErrorFunctions,
    /// Hyperbolic tangents.
    Tangents,
    /// Divisions of f32 numbers.
    Divisions,
    /// Further instructions of the vector units.
    Instructions,
    /// Elements of a library kernel whose operands have different strides.
    Strided,
    /// Elements of the library's softmax.
    Softmax,
    /// Elements of the library's softmax over rows that no warp holds.
    WideSoftmax,
    /// Elements of the library's layer norm.
    Norm,
    /// Elements of the library's pooling.
    Pool,
    /// Elements of the library's other reductions.
    Sum,
}

impl RatedWork {
    /// The bottleneck of a kernel in which it takes longest. `None` of what only the roofline
    /// decides: bytes of the cache are not those of memory, and the rate of a library kernel or of
    /// a running statistic is that of a whole loop over rows, which may wait for memory or for
    /// arithmetic.
    pub const fn bound(self) -> Option<Bound> {
        Some(match self {
            Self::MemoryBytes | Self::BytesAgain | Self::Strided => Bound::Memory,
            Self::MatrixFlops | Self::WaveFlops | Self::Waves | Self::Steps | Self::Keys => {
                Bound::Matrix
            }
            Self::Exponentials
            | Self::ErrorFunctions
            | Self::Tangents
            | Self::Divisions
            | Self::Instructions
            | Self::VectorFlops => Bound::Vector,
            Self::CacheBytes
            | Self::Elements
            | Self::HeldElements
            | Self::RowWaves
            | Self::RowElements
            | Self::Softmax
            | Self::WideSoftmax
            | Self::Norm
            | Self::Pool
            | Self::Sum => return None,
        })
    }
}

impl Breakdown {
    /// One phase.
    pub(super) fn overlapping(
        parts: impl IntoIterator<Item = BreakdownPart>,
        fixed_s: f64,
    ) -> Self {
        Self {
            phases: smallvec![parts.into_iter().collect()],
            fixed_s,
            pipeline_s: 0.0,
        }
    }

    /// The breakdown of this kernel and of a second one after it.
    #[must_use]
    pub(super) fn then(mut self, next: Self) -> Self {
        self.phases.extend(next.phases);
        self.fixed_s += next.fixed_s;
        self.pipeline_s += next.pipeline_s;
        self
    }

    /// The time of the kernel.
    pub fn time_s(&self) -> f64 {
        let longest = |parts: &SmallVec<[BreakdownPart; 4]>| {
            parts.iter().map(BreakdownPart::seconds).fold(0.0, f64::max)
        };
        self.phases.iter().map(longest).sum::<f64>() + self.fixed_s
    }

    /// The fixed time that any kernel has: to launch, start and end.
    pub fn launch_s(&self) -> f64 {
        self.fixed_s - self.pipeline_s
    }

    /// The work that takes longest; `None` where the kernel's fixed time is longer than any.
    pub(super) fn longest(&self) -> Option<RatedWork> {
        let part = self.longest_part()?;
        let longest = part
            .shares
            .iter()
            .max_by(|a, b| a.seconds().total_cmp(&b.seconds()))?;
        // Not the whole fixed time: the pipeline of a matmul is its own work and no launch.
        (part.seconds() > self.launch_s()).then_some(longest.what)
    }

    /// The part that takes longest, whatever its phase; `None` where there is none.
    pub fn longest_part(&self) -> Option<&BreakdownPart> {
        let parts = self.phases.iter().flatten();
        parts.max_by(|a, b| a.seconds().total_cmp(&b.seconds()))
    }
}

impl BreakdownPart {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            shares: SmallVec::new(),
        }
    }

    pub(super) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Adds an amount at a rate. Each kind has one rate.
    pub(super) fn add(&mut self, what: RatedWork, amount: f64, per_s: f64) {
        if amount <= 0.0 {
            return;
        }
        let is_same = |share: &&mut BreakdownShare| {
            share.what == what && share.per_s.total_cmp(&per_s).is_eq()
        };
        match self.shares.iter_mut().find(is_same) {
            Some(share) => share.amount += amount,
            None => self.shares.push(BreakdownShare {
                what,
                amount,
                per_s,
            }),
        }
    }

    pub(super) fn append(&mut self, other: &Self) {
        for share in &other.shares {
            self.add(share.what, share.amount, share.per_s);
        }
    }

    /// The time of all shares.
    pub fn seconds(&self) -> f64 {
        self.shares.iter().map(BreakdownShare::seconds).sum()
    }
}

impl BreakdownShare {
    /// The amount over the rate.
    pub fn seconds(&self) -> f64 {
        self.amount / self.per_s
    }
}
