//! One way to run a program: its kernels with what each moves and computes, and their sums.

use crate::cost::roofline::Placement;
use crate::cost::traffic::{KernelTraffic, Traffic};
use crate::cost::views::Views;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::work::Work;
use smallvec::SmallVec;

/// A launch: its ops, what it moves and where it stands on the roofline.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Its ops, in execution order.
    pub ops: SmallVec<[OpId; 2]>,
    /// The reductions whose statistics it computes, ascending: those of its ops, unless an earlier
    /// kernel has them, and those of later kernels that read them.
    pub reductions: SmallVec<[OpId; 1]>,
    /// What it reads and writes.
    pub traffic: KernelTraffic,
    /// Compulsory reads from DRAM, in bytes.
    pub bytes_read: u64,
    /// Writes to DRAM, in bytes.
    pub bytes_written: u64,
    /// FLOPs.
    pub work: Work,
    /// Its point on the roofline, and its time.
    pub placement: Placement,
    /// Only free views, so that nothing is launched.
    pub is_free: bool,
}

impl Kernel {
    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }
}

/// One way to run the whole program.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    /// Kernels in the order in which they run.
    pub kernels: IdVec<KernelId, Kernel>,
    /// Kernels, without the first, that ops of unknown shape may join into one. The sums count a
    /// tensor that several of them read once, and one launch for all, so that they are lower
    /// bounds.
    pub may_join: usize,
    /// Sum of their bytes.
    pub traffic: Traffic,
    /// Sum of their times on the roofline: a lower bound, see [`Placement`].
    pub time_s: f64,
    /// Kernels that are launched: all but free views.
    pub launches: usize,
    /// The most memory that its tensors need at once.
    pub peak_memory: PeakMemory,
    /// Tensors without memory of their own.
    pub views: Views,
}

/// The most memory that the tensors of a program need at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeakMemory {
    /// Bytes of the tensors that are live together.
    pub bytes: u64,
    /// The first kernel that runs while so many are live; `None` without kernels.
    pub kernel: Option<KernelId>,
}

impl Execution {
    /// The first kernel whose time leaves out FLOPs. If there is one, the sum leaves them out, too.
    pub fn first_incomplete(&self) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.placement.is_incomplete())
    }

    /// The kernel of an op where each op is its own kernel, as in
    /// [`Analysis::unfused`](crate::analysis::Analysis::unfused).
    pub fn of_lone_op(&self, op: OpId) -> &Kernel {
        &self.kernels[KernelId::of_lone_op(op)]
    }
}
