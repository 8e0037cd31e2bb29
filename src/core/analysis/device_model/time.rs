//! Times of kernels on a measured device.

use crate::analysis::device_model::breakdown::{Breakdown, BreakdownPart, RatedWork};
use crate::analysis::device_model::{
    AccessedBytes, KernelOrigin, KernelView, Kind, Outside, Product,
};
use crate::cost::computed_in_part::ComputedPart;
use crate::cost::roofline::{MissingFigure, UnitKind, missing_figure, unit_works};
use crate::cost::work::op_work;
use crate::model::device::Measured;
use crate::model::dtype::DType;
use crate::model::functions::{Function, SlowOperation};
use crate::model::ids::{OpId, TensorId};
use crate::model::op::{Op, element_count};
use crate::model::op_type::OpType;
use crate::model::sizes::part_elements;

/// The name of the part of a loop that computes indices for any strides.
const STRIDED: &str = "strided access";

/// Whether products in this type were measured. The others count at peak rates.
const fn is_measured_product(dtype: DType) -> bool {
    dtype.is_half() || dtype.is_f8()
}

impl KernelView<'_> {
    /// The time of the kernel, at least that of its bytes and of the arithmetic whose rate is
    /// known.
    pub(super) fn breakdown(&self, m: &Measured) -> Breakdown {
        let work = self.launch.work;
        let moved = self.launch.moved();
        let kind = self.kind();
        if !matches!(kind, Kind::View) && (self.unmeasured().is_some() || self.is_unknown_work()) {
            return self.at_peak_rates(m);
        }
        let matrix_per_s = if work.matrix_dtype.is_some_and(DType::is_f8) {
            m.matrix_f8_flops_per_s
        } else {
            m.matrix_f16_flops_per_s
        };
        match kind {
            Kind::View => Breakdown::default(),
            Kind::Attention => self.attention(m, matrix_per_s),
            Kind::Matmul {
                product,
                is_generated,
            } => self.matmul(m, (&product, matrix_per_s), is_generated),
            Kind::Rows => self.rows(m),
            Kind::Pointwise => {
                let compute = self.pointwise(m);
                let strided_s = if compute.name == STRIDED {
                    m.strided_s
                } else {
                    0.0
                };
                let loop_over_elements = Breakdown {
                    pipeline_s: strided_s,
                    ..Breakdown::overlapping(
                        [bytes(m, moved, 0.0), compute],
                        m.kernel_s + strided_s,
                    )
                };
                match self.written_elements() {
                    Some(elements) if self.is_in_place() => {
                        let moved = bytes(m, moved, 0.0);
                        written_by_index(m, [scattered(m, elements), moved])
                    }
                    Some(elements) => {
                        loop_over_elements.then(written_by_index(m, [scattered(m, elements)]))
                    }
                    None => loop_over_elements,
                }
            }
        }
    }

    /// Why the arithmetic of the kernel has no measured rate, if it has none.
    pub(super) fn unmeasured(&self) -> Option<Outside> {
        let work = self.launch.work;
        // What an opaque operator computes is left out of the time as if it were nothing.
        let missing = missing_figure(self.model.options, work);
        if missing.is_some_and(|missing| missing != MissingFigure::Units) {
            return Some(Outside::LeftOut);
        }
        match work.matrix_dtype {
            Some(dtype) if !is_measured_product(dtype) => Some(Outside::AtPeak(dtype)),
            _ if work.vector_f64_flops > 0 => Some(Outside::AtPeak(DType::F64)),
            _ => None,
        }
    }

    /// Whether an operator that no function computes is all of the kernel, with its own FLOPs.
    fn is_unknown_work(&self) -> bool {
        let work = self.launch.work;
        let has_flops = work.matrix_flops + work.vector_flops > 0;
        has_flops && self.ops().any(|(_, op)| op.unknown.is_some())
    }

    /// The least time of a kernel whose arithmetic was not measured: its bytes at measured rates,
    /// and beside them its FLOPs at the peak rates of the device.
    fn at_peak_rates(&self, m: &Measured) -> Breakdown {
        let (options, work) = (self.model.options, self.launch.work);
        let parts = unit_works(options, work, 0).map(|of_unit| {
            let what = match of_unit.unit {
                UnitKind::Matrix => RatedWork::MatrixFlops,
                _ => RatedWork::VectorFlops,
            };
            let mut part = BreakdownPart::new("arithmetic at the peak rate");
            for share in [of_unit.matmuls, of_unit.other] {
                if let Some(per_s) = share.per_s {
                    part.add(what, share.amount as f64, per_s);
                }
            }
            part
        });
        let parts = parts.into_iter().filter(|part| !part.shares.is_empty());
        let moved = bytes(m, self.launch.moved(), 0.0);
        Breakdown::overlapping([moved].into_iter().chain(parts), m.kernel_s)
    }

    pub(super) fn ops(&self) -> impl Iterator<Item = (OpId, &Op)> {
        let ops = self.launch.ops.iter();
        ops.map(|&op| (op, &self.model.graph.ops[op]))
    }

    /// Its ops, and those that it computes again, with the elements that it computes of each. The
    /// second result of an operator takes no time beside the first.
    fn computed(&self) -> impl Iterator<Item = (OpId, &Op, f64)> {
        let all = self.launch.ops.iter().chain(self.launch.recomputed);
        let counted = all.filter(|&&op| !self.launch.is_second(self.model.graph, op));
        counted.map(|&op| {
            let definition = &self.model.graph.ops[op];
            let part = ComputedPart::of_op(self.launch.in_part, op);
            let count = part.map_or_else(|| elements(definition), |part| part.elements as f64);
            (op, definition, count)
        })
    }

    fn matmul(
        &self,
        m: &Measured,
        (product, matrix_per_s): (&Product, f64),
        is_generated: bool,
    ) -> Breakdown {
        let (multiprocessors, l2_bytes) = (self.model.multiprocessors, self.model.l2_bytes);
        let tiling = self.tiling(product, is_generated);
        let again_bytes = product.read_again_bytes(tiling, multiprocessors, l2_bytes);
        let moved = self.launch.moved();
        let (name, share) = if is_generated {
            // Measured: Triton's template reaches a share of the rate of the library's matmul.
            ("tiles of a generated matmul", m.generated_matmul_share)
        } else {
            ("tiles of the library's matmul", 1.0)
        };
        let mut tiles = BreakdownPart::new(name);
        let inner = product.inner / tiling.parts;
        let tile_flops = 2.0 * tiling.tile.rows * tiling.tile.columns * inner;
        // Idle slots of the last wave and elements beyond the edge take as long as useful ones.
        let wave_flops = tiling.waves * multiprocessors * tile_flops;
        tiles.add(RatedWork::WaveFlops, wave_flops, matrix_per_s * share);
        let fixed_s = if product.is_convolution {
            // The tiles of one multiprocessor follow each other, so each wave adds one fixed time.
            tiles.add(RatedWork::Waves, tiling.waves, 1.0 / m.convolution_tile_s);
            m.kernel_s
        } else if tiling.parts > 1.0 {
            m.matmul_s + m.split_matmul_s
        } else {
            m.matmul_s
        };
        let mut loads = BreakdownPart::new("loads of tiles");
        // The matmuls of the library send what a cluster of blocks shares to all of them at once.
        if is_generated || product.is_convolution {
            let loaded_bytes = product.loaded_bytes(&tiling);
            loads.add(RatedWork::CacheBytes, loaded_bytes, m.l2_bytes_per_s);
        }
        let mut taken = BreakdownPart::new("loads of one multiprocessor");
        taken.add(
            RatedWork::CacheBytes,
            product.taken_bytes(&tiling),
            m.tile_load_bytes_per_s,
        );
        let mut steps = BreakdownPart::new("steps along K");
        if is_generated && !product.is_convolution {
            let per_s = 1.0 / (m.generated_step_s * product.step_share());
            steps.add(RatedWork::Steps, tiling.waves * inner, per_s);
        }
        let parts = [
            tiles,
            loads,
            taken,
            steps,
            bytes(m, moved, again_bytes),
            self.arithmetic(m),
        ];
        Breakdown {
            // Kept apart from the launch, which alone makes a kernel launch-bound.
            pipeline_s: fixed_s - m.kernel_s,
            ..Breakdown::overlapping(parts, fixed_s)
        }
    }

    /// Whether it is a single op in place.
    fn is_in_place(&self) -> bool {
        let ops = &self.model.graph.ops;
        matches!(self.launch.ops, &[op] if ops[op].in_place)
    }

    /// Elements that a library writes into a part of a tensor, if the kernel is such a write. In
    /// place it is all of the kernel. Otherwise the library writes into a copy: the copy is one
    /// kernel, which has the bytes, and a small one follows it.
    fn written_elements(&self) -> Option<f64> {
        let &[op] = self.launch.ops else {
            return None;
        };
        // A copy that a compiler needs is in `Partition::further_launches`.
        (self.code == KernelOrigin::Library)
            .then(|| part_elements(self.model.graph, op))?
            .map(|elements| elements as f64)
    }

    fn pointwise(&self, m: &Measured) -> BreakdownPart {
        let mut compute = BreakdownPart::new("arithmetic");
        for (id, op, count) in self.computed() {
            let mut own = BreakdownPart::new("");
            own.compute(m, op, count);
            if op.op_type == OpType::Opaque {
                let flops = op_work(self.model.graph, id).vector_flops as f64;
                own.add(RatedWork::Instructions, flops, m.vector_per_s);
            }
            // Library code computes indices for any strides. A compiler knows them when it writes
            // the kernel.
            let strided = self.code == KernelOrigin::Library && self.is_strided(id, op);
            if strided && count / m.strided_per_s > own.seconds() {
                compute.name = STRIDED;
                compute.add(RatedWork::Strided, count, m.strided_per_s);
            } else {
                compute.append(&own);
            }
        }
        compute
    }

    /// The arithmetic of all ops on the vector units.
    pub(super) fn arithmetic(&self, m: &Measured) -> BreakdownPart {
        let mut compute = BreakdownPart::new("arithmetic");
        for (_, op, count) in self.computed() {
            compute.compute(m, op, count);
        }
        compute
    }

    /// Whether the op has operands of another shape than its result, casts to a wider type, or
    /// copies into another order: the library then accesses element by element. An operand that a
    /// free view expands has the shape before. A single number does not count as an operand. Opaque
    /// ops have kernels of their own, which step through no operand, and a free view reads none.
    fn is_strided(&self, id: OpId, op: &Op) -> bool {
        if op.op_type == OpType::Opaque || self.model.is_free_view(id) {
            return false;
        }
        let count = element_count(&op.shape);
        let inputs = self.model.graph.inputs[id].iter();
        let mut counts = inputs.filter_map(|&tensor| self.stored_elements(tensor));
        let is_wider = op.function == Some(Function::Cast)
            && self.model.graph.inputs[id].iter().any(|&t| {
                let bytes = self.model.graph.tensors[t].bytes_per_element;
                bytes.is_some_and(|bytes| bytes < op.bytes_per_element)
            });
        op.op_type == OpType::Reshape || is_wider || counts.any(|n| n > 1 && Some(n) != count)
    }

    /// Elements of an operand, or of what free views expand to it.
    fn stored_elements(&self, mut tensor: TensorId) -> Option<u64> {
        let graph = self.model.graph;
        while let Some(view) = graph.tensors[tensor].producer
            && graph.ops[view].function == Some(Function::Expand)
            && self.model.is_free_view(view)
            && let Some(&source) = graph.inputs[view].first()
        {
            tensor = source;
        }
        graph.tensors[tensor].elements()
    }
}

/// A kernel that writes where an index says.
fn written_by_index(m: &Measured, parts: impl IntoIterator<Item = BreakdownPart>) -> Breakdown {
    Breakdown {
        pipeline_s: m.indexed_write_s,
        ..Breakdown::overlapping(parts, m.kernel_s + m.indexed_write_s)
    }
}

fn scattered(m: &Measured, elements: f64) -> BreakdownPart {
    let mut writes = BreakdownPart::new("scattered writes");
    writes.add(RatedWork::Strided, elements, m.strided_per_s);
    writes
}

/// Bytes that a kernel moves, and further ones that it reads from memory again.
pub(super) fn bytes(m: &Measured, moved: AccessedBytes, again_bytes: f64) -> BreakdownPart {
    let mut bytes = BreakdownPart::new("bytes");
    let from_memory = moved.bytes.saturating_sub(moved.hit_bytes) as f64;
    bytes.add(RatedWork::MemoryBytes, from_memory, m.memory_bytes_per_s);
    bytes.add(RatedWork::BytesAgain, again_bytes, m.memory_bytes_per_s);
    bytes.add(
        RatedWork::CacheBytes,
        moved.hit_bytes as f64,
        m.l2_bytes_per_s,
    );
    bytes
}

fn elements(op: &Op) -> f64 {
    element_count(&op.shape).unwrap_or(0) as f64
}

impl BreakdownPart {
    /// Adds an elementwise op on the vector units: its slow functions, and one instruction for each
    /// further FLOP.
    fn compute(&mut self, m: &Measured, op: &Op, elements: f64) {
        let (slow, instructions) = match op.function {
            Some(function) => (function.row().slow, function.row().instructions),
            None if op.op_type == OpType::Elementwise => (&[][..], 2),
            None => (&[][..], 0),
        };
        for operation in slow {
            let (what, per_s) = match operation {
                SlowOperation::Exponential => (RatedWork::Exponentials, m.exp_per_s),
                SlowOperation::Division => (RatedWork::Divisions, m.division_per_s),
                SlowOperation::ErrorFunction => (RatedWork::ErrorFunctions, m.erf_per_s),
                SlowOperation::Tangent => (RatedWork::Tangents, m.tanh_per_s),
            };
            self.add(what, elements, per_s);
        }
        let further = elements * f64::from(instructions);
        self.add(RatedWork::Instructions, further, m.vector_per_s);
    }
}
