//! What kernels of a region of the graph cost.

use fuseline_core::cost::roofline::place;
use fuseline_core::cost::traffic::kernel_traffic;
use fuseline_core::cost::work::{op_work, work_of_ops};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::fusion::region::{Clock, Region, RegionContext};
use fuseline_core::model::options::{Conventions, Externals, MAX_OPS, Options, ReshapeCost};
use fuseline_core::model::partition::Partition;
use fuseline_core::{KernelId, OpId, analyze_program, notation};
use strum::VariantArray;

/// The tables of a region give what [`kernel_traffic`] counts for the same ops.
#[test]
fn sets_of_a_region_cost_what_kernels_of_their_ops_cost() {
    let mut random = 1_u64;
    for example in EXAMPLES {
        for (externals, reshape) in Externals::VARIANTS.iter().flat_map(|&externals| {
            ReshapeCost::VARIANTS
                .iter()
                .map(move |&reshape| (externals, reshape))
        }) {
            let options = Options {
                conventions: Conventions {
                    externals,
                    reshape,
                    ..Conventions::default()
                },
                ..Options::default()
            };
            let program = notation::parse(example.text).program;
            let analysis = analyze_program(&program, &options).analysis;
            let analysis = analysis.unwrap_or_else(|| unreachable!());
            let graph = analysis.graph;
            let context = RegionContext::new(&graph, &options);
            let ops: Vec<OpId> = graph.ops.ids().take(MAX_OPS).collect();
            let region = Region::of(&context, &ops);
            let clock = Clock::new(&options.device, analysis.unfused.time_s);
            for _ in 0..200 {
                // Sets of a quarter of the ops and larger ones.
                random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                let set = (random ^ random >> 31) & (random.rotate_left(23)) & region.all();
                let ops = region.ops_of(set);
                let kernel_of = |op: OpId| KernelId::new(usize::from(!ops.contains(&op)));
                let kernels = graph.ops.ids().map(kernel_of).collect();
                let kernels = Partition::of_ops(kernels, 2);
                let mut traffic = kernel_traffic(&graph, &kernels, options.conventions);
                let bytes = traffic.next().map_or(0, |kernel| kernel.total());
                assert_eq!(region.bytes(set), bytes, "{} {set:b}", example.id);
                let work = work_of_ops(ops.iter(), |op| op_work(&graph, op));
                let is_free = ops.iter().all(|&op| context.is_view(op));
                let time_s = place(&options, work, bytes, is_free).time_s;
                let ticks = region.ticks(set, bytes, clock) as f64;
                assert!((ticks - time_s * clock.ticks_per_s).abs() <= 1e-9 * ticks);
            }
        }
    }
}
