//! A program in f32 at sizes that fit a budget, for a GPU to run, with exact numbers to compare.

use super::array::count;
use super::sizes::{Budget, Fitted, Types, fitted, graph_in};
use super::{NotRun, Refused, Setup, externals, prepared, type_of};
use crate::call::Call;
use fuseline_core::fusion::none;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, OpId, TensorId};
use fuseline_core::model::partition::Partition;
use fuseline_core::model::program::{Param, Program};

/// The program to run. All floats are f32; integers and booleans keep their types.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The graph at the sizes of the run. Its ids are those of the program's own graph.
    pub graph: Graph,
    /// The attributes and literals of each op.
    pub(crate) calls: IdVec<OpId, Call>,
    /// The params and their values in the run.
    pub sizes: Vec<(String, i64)>,
    program: Program,
    setup: Setup,
}

/// The exact values of a reference and its errors in f32.
#[derive(Clone, Debug)]
pub struct Checked {
    /// For each tensor its exact elements, in row-major order; `None` if it has no value.
    pub exact: IdVec<TensorId, Option<Vec<f64>>>,
    /// For each tensor the largest error of an element in f32 arithmetic, unfused or by the kernels
    /// of the partition; `None` for an external one and one without a value.
    pub f32_error: IdVec<TensorId, Option<f64>>,
    /// Ops without a value.
    pub refused: Vec<Refused>,
}

impl Reference {
    /// The program with its own params, or with smaller ones in the same proportions if the budget
    /// requires them. Resolves the program a few hundred times at most.
    ///
    /// # Errors
    /// What to change so that it can be run.
    pub fn new(
        program: &Program,
        partition: &Partition,
        setup: &Setup,
        budget: &Budget,
    ) -> Result<Self, NotRun> {
        let Fitted {
            program,
            graph,
            calls,
            ..
        } = fitted(program, partition, setup, budget, Types::F32)?;
        let params = program.params.iter();
        let size = |param: &Param| (param.name.text.clone(), param.value);
        Ok(Self {
            graph,
            calls,
            sizes: params.map(size).collect(),
            program,
            setup: setup.clone(),
        })
    }

    /// The same graph with f32 elements only, as shaders store and compute them.
    ///
    /// # Errors
    /// As [`Reference::new`].
    pub fn graph_in_words(&self, partition: &Partition) -> Result<Graph, NotRun> {
        graph_in(&self.program, partition, Types::Words)
    }

    /// One kernel for each op.
    pub fn unfused(&self) -> Partition {
        none::partition(&self.graph)
    }

    /// Number of elements and element type of a tensor.
    ///
    /// # Errors
    /// If it has too many.
    pub fn type_of(&self, tensor: TensorId) -> Result<(usize, DType), NotRun> {
        let (shape, dtype) = type_of(&self.graph, tensor)?;
        Ok((count(&shape), dtype))
    }

    /// The elements of an external tensor, at most its first `most`.
    ///
    /// # Errors
    /// If it has too many.
    pub fn external(&self, tensor: TensorId, most: usize) -> Result<Vec<f64>, NotRun> {
        let (shape, dtype) = type_of(&self.graph, tensor)?;
        Ok(externals::values(
            &self.graph,
            tensor,
            (&shape, dtype),
            self.setup.seed,
            count(&shape).min(most),
        ))
    }

    /// Computes the exact values and the errors in f32. Linear in the steps of the program, which
    /// the caller bounds by [`Budget::INTERPRETED`].
    ///
    /// # Errors
    /// If a tensor is too large.
    pub fn checked(&self, partition: &Partition) -> Result<Checked, NotRun> {
        let prepared = prepared(&self.graph, &self.calls, &self.setup)?;
        let (exact, refused) = prepared.exact();
        let unfused = prepared.by_kernels(&self.unfused(), &exact);
        let fused = prepared.by_kernels(partition, &exact);
        let errors = unfused.into_iter().zip(fused).map(|runs| match runs {
            (Some(unfused), Some(fused)) => Some(unfused.error.max_abs.max(fused.error.max_abs)),
            _ => None,
        });
        Ok(Checked {
            f32_error: errors.collect(),
            exact,
            refused,
        })
    }
}
