//! What one block needs on a multiprocessor.

use super::{FigureRow, Figures};
use crate::present::figure::{Explanation, How, Number, Term, Worked, registers_of_tile};
use crate::present::format::format_bytes;
use fuseline_core::analysis::tiling::{LEAST_STAGES, MOST_STAGES, Tiled};

const PIPELINE: &str = "CUTLASS, Efficient GEMM in CUDA: one step loads while another computes. At most four steps in flight is Fuseline's estimate.";
const ESTIMATE: &str = "Fuseline's estimate, which the tab Limits also uses: 256 threads per block compute, and each needs 40 registers beside its sums.";

impl Figures<'_> {
    pub(super) fn block(self) -> Vec<FigureRow> {
        vec![self.shared_memory(), self.registers()]
    }

    fn shared_memory(self) -> FigureRow {
        let resources = &self.tiled.resources;
        let Tiled { matmul, tile, .. } = self.tiled;
        let bytes = |name, bytes| Term::given(name, Number::Bytes(bytes));
        let piece = |name, (letter, side): (&str, u64), element_bytes: u64| {
            let factors = vec![
                Term::count(letter, side),
                Term::count("(BK)", tile.depth),
                bytes("", element_bytes),
            ];
            let number = Number::Bytes(side * tile.depth * element_bytes);
            Term::worked(name, number, Worked::new(How::Product, factors))
        };
        let [left, right] = matmul.element_bytes;
        let pieces = vec![
            piece("A", ("(BM)", tile.rows), left),
            piece("B", ("(BN)", tile.columns), right),
        ];
        let step = Number::Bytes(resources.step_bytes);
        let step = Term::worked("per step", step, Worked::new(How::Sum, pieces));
        let available = bytes("per block", resources.shared_available_bytes);
        let fit = resources.shared_available_bytes / resources.step_bytes.max(1);
        let fit = Term::worked(
            "fit",
            Number::Count(fit),
            Worked::new(
                How::RoundedDown,
                vec![available, bytes("per step", resources.step_bytes)],
            ),
        );
        let bounds = [("at least", LEAST_STAGES), ("at most", MOST_STAGES)];
        let [least, most] = bounds.map(|(name, count)| Term::count(name, count));
        let stages = Term::worked(
            "stages",
            Number::Count(resources.stages),
            Worked::new(How::Between, vec![fit, least, most]),
        );
        let term = Term::worked(
            "",
            Number::Bytes(resources.shared_bytes),
            Worked::new(How::Product, vec![stages, step]),
        );
        let formula = "stages · (BM + BN) · BK · bytes, with two to four stages, as many as fit";
        let told = self.told("shared memory of the stages", formula, term, PIPELINE);
        let is_excess = !resources.fits_shared();
        let before = format!(
            "{} × {} = ",
            resources.stages,
            format_bytes(resources.step_bytes)
        );
        let note = "Two steps do not fit, so no step can load while another computes.";
        self.of_available(
            told,
            "Shared memory",
            [before, format_bytes(resources.shared_available_bytes)],
            is_excess.then_some(note),
        )
    }

    fn registers(self) -> FigureRow {
        let resources = &self.tiled.resources;
        let tile = &self.tiled.tile;
        let sides = [
            Term::count("(BM)", tile.rows),
            Term::count("(BN)", tile.columns),
        ];
        let term = registers_of_tile(sides, resources.registers_per_thread);
        let others = resources.registers_per_thread - resources.sums_per_thread;
        let formula = "BM · BN / 256 sums in f32, and 40 for addresses and the epilogue";
        let told = self.told("registers per thread", formula, term, ESTIMATE);
        let is_excess = !resources.fits_registers();
        let before = format!("{} + {others} = ", resources.sums_per_thread);
        let note = "Values that do not fit in a thread's registers spill to memory.";
        self.of_available(
            told,
            "Registers per thread",
            [before, resources.registers_available.to_string()],
            is_excess.then_some(note),
        )
    }

    /// A resource beside what the device has, and what follows where that is too little.
    fn of_available(
        self,
        told: Explanation,
        what: &str,
        [before, available]: [String; 2],
        excess: Option<&str>,
    ) -> FigureRow {
        let suffix = excess.map_or("", |_| ": too much");
        let told = Explanation {
            notes: excess.map(str::to_owned).into_iter().collect(),
            ..told
        };
        FigureRow {
            before,
            after: format!(" of {available}{suffix}"),
            is_excess: excess.is_some(),
            ..self.with_device(told, what).into()
        }
    }
}
