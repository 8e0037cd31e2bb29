//! The decisions of a policy, in order, so that a visitor can step through them.
//!
//! Replaying all decisions gives the partition of the policy; each earlier step gives a partition that can run
//! too.

mod replay;
pub use crate::core::fusion::decision::Decision;
use crate::core::fusion::decision::Log;
use crate::core::fusion::plan::plan_noting;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, KernelId, OpId};
use crate::core::model::options::Options;
use borsh::{BorshDeserialize, BorshSerialize};

/// The decisions that led a policy to its partition.
#[derive(Clone, Debug, PartialEq, Default, BorshSerialize, BorshDeserialize)]
pub struct Record {
    /// In the order in which they were made.
    pub decisions: Vec<Decision>,
    /// For each op its final kernel; the kernels of earlier steps are numbered by it.
    kernel_of: IdVec<OpId, KernelId>,
}

impl Record {
    /// The last of the first `step` decisions; `None` before the first.
    pub fn last_decision(&self, step: usize) -> Option<&Decision> {
        let step = step.min(self.decisions.len());
        self.decisions.get(step.checked_sub(1)?)
    }
}

/// Plans again and notes every decision. Takes as long as [`super::plan`].
pub fn record(graph: &Graph, options: &Options) -> Record {
    let mut log = Log::listening();
    let plan = plan_noting(graph, options, &mut log);
    Record {
        decisions: log.into_decisions(),
        kernel_of: plan.partition.kernel_of,
    }
}
