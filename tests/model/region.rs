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

/// Parts and views of a tensor, some of which are equal.
const EQUAL_PARTS: &str = "\
input x : f16[64, 64]
input i : i64[64, 2]
input j : i64[64, 2]
a = reshape(x, shape=[32, 128])
b = reshape(x, shape=[32, 128])
c = slice(a, end=8, axis=0)
d = slice(b, end=8, axis=0)
e = slice(b, start=8, end=16, axis=0)
f = mul(c, d)
g = add(f, e)
t = transpose(x)
u = transpose(x)
k = gather(t, i, axis=1)
l = gather(u, i, axis=1)
m = gather(u, j, axis=1)
n = mul(k, l)
o = add(n, m)
p = relu(t)
q = add(p, u)
r = slice(x, end=2, axis=1)
s = split(x, parts=32, index=0, axis=1)
v = mul(r, s)
w = add(v, o)
";

/// Parts of parts that overlap, and some elements of them.
const NESTED_PARTS: &str = "\
input x : f16[64, 96]
input i : i64[4]
a = slice(x, end=64, axis=1)
b = reshape(a, shape=[64, 4, 16])
c = slice(b, end=8, axis=2)
d = slice(b, start=8, axis=2)
e = concat(d, c, axis=2)
f = mul(b, e)
g = slice(x, start=1, axis=0)
h = slice(x, end=63, axis=0)
j = add(g, h)
k = slice(g, start=32, end=96, axis=1)
l = slice(a, end=63, axis=0)
m = mul(k, l)
n = embedding(i, x)
o = embedding(i, a)
p = relu(n)
q = relu(o)
r = transpose(a)
s = slice(r, end=32, axis=0)
t = relu(s)
";

/// The tables of a region give what [`kernel_traffic`] counts for the same ops.
#[test]
fn sets_of_a_region_cost_what_kernels_of_their_ops_cost() {
    let mut random = 1_u64;
    let examples = EXAMPLES.iter().map(|example| (example.id, example.text));
    let parts = [("equal parts", EQUAL_PARTS), ("nested parts", NESTED_PARTS)];
    for (id, text) in examples.chain(parts) {
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
            let program = notation::parse(text).program;
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
                assert_eq!(region.bytes(set), bytes, "{id} {set:b}");
                let work = work_of_ops(ops.iter(), |op| op_work(&graph, op));
                let is_free = ops.iter().all(|&op| context.is_view(op));
                let time_s = place(&options, work, bytes, is_free).time_s;
                let ticks = region.ticks(set, bytes, clock) as f64;
                assert!((ticks - time_s * clock.ticks_per_s).abs() <= 1e-9 * ticks);
            }
        }
    }
}
