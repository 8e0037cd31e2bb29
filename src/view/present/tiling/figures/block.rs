//! What one block needs on a multiprocessor.

use super::{FigureRow, Figures};
use crate::present::figure::Explanation;
use crate::present::format::format_bytes;
use fuseline_core::analysis::tiling::{Tiled, registers_per_thread};

const PIPELINE: &str = "CUTLASS, Efficient GEMM in CUDA: one step loads while another computes. At most four steps in flight is Fuseline's estimate.";
const ESTIMATE: &str = "Fuseline's estimate, which the tab Limits also uses: 256 threads per block compute, and each needs 40 registers beside its sums.";

impl Figures<'_> {
    pub(super) fn block(self) -> Vec<FigureRow> {
        vec![self.shared_memory(), self.registers()]
    }

    fn shared_memory(self) -> FigureRow {
        let resources = &self.tiled.resources;
        let Tiled { matmul, tile, .. } = self.tiled;
        let available_bytes = resources.shared_available_bytes;
        let term = tile.shared_bytes(matmul.element_sizes, available_bytes);
        let explanation = self.explain("shared memory of the stages", term, PIPELINE);
        let is_excess = !resources.fits_shared();
        let before = format!(
            "{} × {} = ",
            resources.stages,
            format_bytes(resources.step_bytes)
        );
        let note = "Two steps do not fit, so no step can load while another computes.";
        self.of_available(
            explanation,
            "Shared memory",
            [before, format_bytes(available_bytes)],
            is_excess.then_some(note),
        )
    }

    fn registers(self) -> FigureRow {
        let resources = &self.tiled.resources;
        let term = registers_per_thread(self.tiled.tile.sides());
        let others = resources.registers_per_thread - resources.sums_per_thread;
        let explanation = self.explain("registers per thread", term, ESTIMATE);
        let is_excess = !resources.fits_registers();
        let before = format!("{} + {others} = ", resources.sums_per_thread);
        let note = "Values that do not fit in a thread's registers spill to memory.";
        self.of_available(
            explanation,
            "Registers per thread",
            [before, resources.registers_available.to_string()],
            is_excess.then_some(note),
        )
    }

    /// A resource beside the amount that the device has, and the consequence if that is too little.
    fn of_available(
        self,
        explanation: Explanation,
        what: &str,
        [before, available]: [String; 2],
        excess: Option<&str>,
    ) -> FigureRow {
        let suffix = excess.map_or("", |_| ": too much");
        let explanation = Explanation {
            notes: excess.map(str::to_owned).into_iter().collect(),
            ..explanation
        };
        FigureRow {
            before,
            after: format!(" of {available}{suffix}"),
            is_excess: excess.is_some(),
            ..self.with_device(explanation, what).into()
        }
    }
}
