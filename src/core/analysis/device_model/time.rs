//! Times of kernels on a measured device.

use crate::analysis::device_model::breakdown::{Breakdown, BreakdownPart, RatedWork};
use crate::analysis::device_model::{
    AccessedBytes, KernelOrigin, KernelView, Kind, Product, row_width,
};
use crate::cost::roofline::{MissingFigure, missing_figure};
use crate::cost::work::{op_work, scores};
use crate::model::device::Measured;
use crate::model::dtype::DType;
use crate::model::functions::{Function, ShapeRule, SlowOperation};
use crate::model::ids::OpId;
use crate::model::op::{Op, element_count};
use crate::model::op_type::OpType;
use smallvec::smallvec;

/// A generated kernel holds rows of up to this many elements in registers and reads them once.
const HELD_ROW: f64 = 1024.0;
/// Blocks of 512 threads that a multiprocessor holds.
const ROW_BLOCKS: f64 = 4.0;
/// Elements that such a block processes at once: one long row or a few short ones.
const ROW_ELEMENTS: f64 = 4096.0;
/// Rows up to which the library's softmax holds a row in the registers of one warp.
const WARP_ROW: f64 = 2048.0;

impl KernelView<'_> {
    /// `None` where the roofline has no peak for the work, and for arithmetic of which none was
    /// measured: in f64, and matmuls on anything but 16-bit floats.
    pub(super) fn breakdown(&self, m: &Measured) -> Option<Breakdown> {
        let (options, work) = (self.model.options, self.launch.work);
        let is_measured = matches!(work.matrix_dtype, None | Some(DType::F16 | DType::Bf16));
        // What an opaque operator computes is left out: its time is at least that of its bytes.
        let lacks_figure =
            missing_figure(options, work).is_some_and(|missing| missing != MissingFigure::Units);
        if lacks_figure || work.vector_f64_flops > 0 || !is_measured {
            return None;
        }
        let moved = self.launch.moved();
        Some(match self.kind() {
            Kind::View => Breakdown::default(),
            Kind::Attention => {
                // The exponentials of a tile wait for its scores, and the second product waits for
                // them.
                let exponentials = self.ops().map(|(id, op)| match op.op_type {
                    OpType::Reduction => elements(op),
                    OpType::Opaque => scores(self.model.graph, id).map_or(0.0, |of| of.0 as f64),
                    _ => 0.0,
                });
                let exponentials = exponentials.fold(0.0, f64::max);
                let mut compute = BreakdownPart::new("arithmetic");
                let matrix_flops = work.matrix_flops as f64;
                // In one part: the parts of a phase overlap, and these two do not.
                compute.add(
                    RatedWork::MatrixFlops,
                    matrix_flops,
                    m.matrix_f16_flops_per_s,
                );
                compute.add(RatedWork::Exponentials, exponentials, m.exp_per_s);
                let again_bytes = self.attention_read_again_bytes();
                Breakdown::overlapping([compute, bytes(m, moved, again_bytes)], m.kernel_s)
            }
            Kind::Matmul {
                product,
                is_generated,
            } => self.matmul(m, &product, is_generated),
            Kind::Rows => self.rows(m),
            Kind::Pointwise => {
                let loop_over_elements =
                    Breakdown::overlapping([bytes(m, moved, 0.0), self.pointwise(m)], m.kernel_s);
                match self.written_elements() {
                    Some(elements) => loop_over_elements.then(write_into(m, elements)),
                    None => loop_over_elements,
                }
            }
        })
    }

    fn ops(&self) -> impl Iterator<Item = (OpId, &Op)> {
        let ops = self.launch.ops.iter();
        ops.map(|&op| (op, &self.model.graph.ops[op]))
    }

    /// Its ops, and those that it computes again.
    fn computed(&self) -> impl Iterator<Item = (OpId, &Op)> {
        let again = self.launch.recomputed.iter();
        self.ops()
            .chain(again.map(|&op| (op, &self.model.graph.ops[op])))
    }

    fn matmul(&self, m: &Measured, product: &Product, is_generated: bool) -> Breakdown {
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
        let tile_flops = 2.0 * tiling.tile.rows * tiling.tile.columns * product.inner;
        // Idle slots of the last wave and elements beyond the edge take as long as useful ones.
        let wave_flops = tiling.waves * multiprocessors * tile_flops;
        tiles.add(
            RatedWork::WaveFlops,
            wave_flops,
            m.matrix_f16_flops_per_s * share,
        );
        let fixed_s = if product.is_convolution {
            // The tiles of one multiprocessor follow each other, so each wave adds one fixed time.
            tiles.add(RatedWork::Waves, tiling.waves, 1.0 / m.convolution_tile_s);
            m.kernel_s
        } else {
            m.matmul_s
        };
        let mut loads = BreakdownPart::new("loads of tiles");
        loads.add(
            RatedWork::CacheBytes,
            product.loaded_bytes(&tiling),
            m.l2_bytes_per_s,
        );
        let parts = [
            tiles,
            loads,
            bytes(m, moved, again_bytes),
            self.arithmetic(m),
        ];
        Breakdown {
            // Kept apart from the launch, which alone makes a kernel launch-bound.
            pipeline_s: fixed_s - m.kernel_s,
            ..Breakdown::overlapping(parts, fixed_s)
        }
    }

    /// Elements that a library writes into a copy of a tensor, if the kernel is such a write: the
    /// copy is one kernel, which has the bytes, and a small one follows it.
    fn written_elements(&self) -> Option<f64> {
        let &[op] = self.launch.ops else {
            return None;
        };
        let graph = self.model.graph;
        let function = graph.ops[op].function?;
        let writes = matches!(
            function.row().shape_rule,
            ShapeRule::Scatter | ShapeRule::IndexAlong
        );
        let source = graph.inputs[op].last().filter(|_| writes)?;
        // A copy that a compiler needs is in `Partition::further_launches`.
        (self.code == KernelOrigin::Library)
            .then(|| graph.tensors[*source].elements())?
            .map(|elements| elements as f64)
    }

    fn pointwise(&self, m: &Measured) -> BreakdownPart {
        let mut compute = BreakdownPart::new("arithmetic");
        for (id, op) in self.computed() {
            let mut own = BreakdownPart::new("");
            own.compute(m, op);
            if op.op_type == OpType::Opaque {
                let flops = op_work(self.model.graph, id).vector_flops as f64;
                own.add(RatedWork::Instructions, flops, m.vector_per_s);
            }
            // Library code computes indices for any strides. A compiler knows them when it writes
            // the kernel.
            let strided = self.code == KernelOrigin::Library && self.is_strided(id, op);
            if strided && elements(op) / m.strided_per_s > own.seconds() {
                compute.name = "strided access";
                compute.add(RatedWork::Strided, elements(op), m.strided_per_s);
            } else {
                compute.append(&own);
            }
        }
        compute
    }

    /// The arithmetic of all ops on the vector units.
    fn arithmetic(&self, m: &Measured) -> BreakdownPart {
        let mut compute = BreakdownPart::new("arithmetic");
        for (_, op) in self.computed() {
            compute.compute(m, op);
        }
        compute
    }

    /// Whether the op has operands of another shape than its result, or copies into another order.
    /// A single number does not count as an operand. Opaque ops have kernels of their own, which
    /// step through no operand, and a free view reads none.
    fn is_strided(&self, id: OpId, op: &Op) -> bool {
        if op.op_type == OpType::Opaque || self.model.is_free_view(id) {
            return false;
        }
        let count = element_count(&op.shape);
        let inputs = self.model.graph.inputs[id].iter();
        let mut counts = inputs.filter_map(|&t| self.model.graph.tensors[t].elements());
        op.op_type == OpType::Reshape || counts.any(|n| n > 1 && Some(n) != count)
    }

    /// A kernel along rows: by class for a library kernel; in passes for a generated one, unless it
    /// holds its rows.
    fn rows(&self, m: &Measured) -> Breakdown {
        let reductions = || self.ops().filter(|(_, op)| op.op_type == OpType::Reduction);
        let reduced = |id: OpId, op: &Op| {
            let first = self.model.graph.inputs[id].first();
            let shape = first.and_then(|&t| self.model.graph.tensor_shape(t));
            // The output lacks the reduced elements, so the input says how many there are.
            let shape = shape.unwrap_or(&op.shape);
            (element_count(shape).unwrap_or(0) as f64, row_width(shape))
        };
        let (read, written) = (self.launch.read, self.launch.written);
        let moved = self.launch.moved();
        if self.code == KernelOrigin::Library {
            let mut class = BreakdownPart::new("library kernel");
            for (id, op) in reductions() {
                let (count, width) = reduced(id, op);
                let (what, per_s) = library_rate(m, op, width);
                class.add(what, count, per_s);
            }
            return Breakdown::overlapping([class, bytes(m, moved, 0.0)], m.kernel_s);
        }
        let (mut online, mut widest, mut rows) = (0.0, 0.0_f64, 0.0_f64);
        let (mut has_max, mut has_exp) = (None, false);
        for (id, op) in self.ops() {
            has_exp |= op.function == Some(Function::Exp);
            if op.op_type != OpType::Reduction {
                continue;
            }
            let (count, width) = reduced(id, op);
            widest = widest.max(width);
            rows = rows.max(count / width);
            match op.function {
                // A running mean and variance.
                Some(Function::LayerNorm | Function::GroupNorm | Function::Var) => online += count,
                // A running maximum, and a sum that is scaled whenever it changes.
                Some(Function::Softmax | Function::LogSoftmax) => online += 2.0 * count,
                Some(Function::Max) => has_max = Some(count),
                _ => {}
            }
        }
        // Softmax as single ops costs what the function costs: a running maximum and a running sum.
        if let (Some(count), true) = (has_max, has_exp) {
            online += 2.0 * count;
        }
        let compute = self.arithmetic(m);
        let is_pool = reductions().any(|(_, op)| op.function.is_some_and(Function::is_pool));
        // Read once, so in a single phase. A pool reduces windows: the length of its input's last
        // axis says nothing about them.
        if widest <= HELD_ROW || is_pool {
            return Breakdown::overlapping([bytes(m, moved, 0.0), compute], m.kernel_s);
        }
        // All passes but the last read, and the last writes; they do not overlap.
        // A row longer than `ROW_ELEMENTS` still takes one block, which loops over it.
        let blocks = rows / (ROW_ELEMENTS / widest).floor().max(1.0);
        let waves = (blocks / (self.model.multiprocessors * ROW_BLOCKS)).ceil();
        let mut statistics = BreakdownPart::new("running statistics");
        statistics.add(RatedWork::Elements, online, m.online_per_s);
        let mut waits = BreakdownPart::new("waits for rows");
        waits.add(RatedWork::Waves, waves, 1.0 / m.row_wave_s);
        Breakdown {
            phases: smallvec![
                smallvec![bytes(m, read, 0.0).named("reads"), statistics],
                smallvec![bytes(m, written, 0.0).named("writes"), compute],
                // At the barriers of its reductions a row waits for its last thread, and nothing
                // overlaps that.
                smallvec![waits],
            ],
            fixed_s: m.kernel_s,
            pipeline_s: 0.0,
        }
    }
}

/// The kernel that writes so many elements where an index says.
fn write_into(m: &Measured, elements: f64) -> Breakdown {
    let mut writes = BreakdownPart::new("scattered writes");
    writes.add(RatedWork::Strided, elements, m.strided_per_s);
    Breakdown::overlapping([writes], m.kernel_s)
}

/// Bytes that a kernel moves, and further ones that it reads from memory again.
fn bytes(m: &Measured, moved: AccessedBytes, again_bytes: f64) -> BreakdownPart {
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

fn library_rate(m: &Measured, op: &Op, width: f64) -> (RatedWork, f64) {
    match op.function {
        Some(Function::Softmax | Function::LogSoftmax) if width <= WARP_ROW => {
            (RatedWork::Softmax, m.library_softmax_per_s)
        }
        Some(Function::Softmax | Function::LogSoftmax) => {
            (RatedWork::WideSoftmax, m.library_wide_softmax_per_s)
        }
        Some(Function::LayerNorm | Function::GroupNorm | Function::RmsNorm) => {
            (RatedWork::Norm, m.library_layer_norm_per_s)
        }
        Some(Function::MaxPool2d | Function::AvgPool2d) => (RatedWork::Pool, m.library_pool_per_s),
        _ => (RatedWork::Sum, m.library_sum_per_s),
    }
}

impl BreakdownPart {
    /// Adds an elementwise op on the vector units: its slow functions, and one instruction for each
    /// further FLOP.
    fn compute(&mut self, m: &Measured, op: &Op) {
        let (slow, instructions) = match op.function {
            Some(function) => (function.row().slow, function.row().instructions),
            None if op.op_type == OpType::Elementwise => (&[][..], 2),
            None => (&[][..], 0),
        };
        let elements = elements(op);
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
