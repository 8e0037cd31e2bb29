//! A kernel reads each element of a tensor once, by however many views and parts.

use crate::view_bytes::moved_by_kernel;
use crate::view_chains::Seen;
use crate::why_prices::{merged, totals};
use fuseline_core::analysis::why::{Verdict, Why};
use fuseline_core::cost::traffic::kernel_traffic;
use fuseline_core::fusion::region::{Region, RegionContext};
use fuseline_core::model::options::{Conventions, Externals, ReshapeCost};
use fuseline_core::notation::parse;
use fuseline_core::splitmix::SplitMix64;
use fuseline_core::{KernelId, OpId, Options, Partition, Policy, analyze_program};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use strum::VariantArray;

/// Rotary of the queries of packed queries, keys and values: the queries, and their two halves.
const ROTARY: &str = "\
input x : bf16[4, 512, 3072]
input c : bf16[512, 1, 128]
input s : bf16[512, 1, 128]
q0 = slice(x, start=0, end=2048, axis=2)
q = reshape(q0) : bf16[4, 512, 16, 128]
a = slice(q, start=0, end=64, axis=3)
b = slice(q, start=64, end=128, axis=3)
n = neg(b)
h = concat(n, a, axis=3)
m = mul(q, c)
k = mul(h, s)
y = add(m, k)
";

/// A program of one kernel, and the elements of its inputs that the kernel reads.
#[rustfmt::skip]
const ONCE: &[(&str, u64)] = &[
    (ROTARY, 4 * 512 * 2048 + 2 * 512 * 128),
    // Heads behind the tokens, and interleaved halves.
    ("input x : bf16[4, 512, 3072]\ninput c : bf16[512, 64]\n\
      q0 = slice(x, start=1024, end=2048, axis=2)\nq1 = reshape(q0, shape=[4, 512, 16, 64])\nq = transpose(q1, perm=[0, 2, 1, 3])\n\
      a = slice(q, step=2, axis=3)\nb = slice(q, start=1, step=2, axis=3)\nn = neg(b)\nh = concat(n, a, axis=3)\nm = mul(q, c)\ny = add(m, h)",
        4 * 512 * 1024 + 512 * 64),
    // A window that moves by one, and one in two dimensions.
    ("input x : bf16[512, 3072]\na = slice(x, end=511, axis=0)\nb = slice(x, start=1, axis=0)\ny = add(a, b)", 512 * 3072),
    ("input x : bf16[512, 3072]\na = slice(x, end=300, axis=0)\nb = slice(x, start=200, end=500, axis=0)\ny = add(a, b)", 500 * 3072),
    ("input x : bf16[512, 3072]\na0 = slice(x, end=511, axis=0)\na = slice(a0, end=3071, axis=1)\nb0 = slice(x, start=1, axis=0)\nb = slice(b0, start=1, axis=1)\ny = add(a, b)",
        512 * 3072 - 2),
    // The same elements by two ways, and a half of them by a third.
    ("input x : bf16[512, 3072]\na = slice(x, end=64, axis=1)\nt = transpose(x)\nb0 = slice(t, end=64, axis=0)\nb = transpose(b0)\nc0 = slice(a, end=32, axis=1)\nd0 = slice(b, start=32, axis=1)\n\
      c = concat(c0, d0, axis=1)\ns = add(a, b)\ny = mul(s, c)", 512 * 64),
    // Chunks of chunks, of which the second overlaps.
    ("input x : bf16[512, 1000]\na = split(x, parts=2, index=1, axis=1)\nb = split(a, parts=5, index=0, axis=1)\nc = slice(x, start=450, end=550, axis=1)\ny = add(b, c)", 512 * 150),
    // Rows that an index names are among those of the whole.
    ("input x : bf16[512, 64]\ninput i : i64[512]\nq = reshape(x, shape=[64, 8, 64])\nr = reshape(q, shape=[512, 64])\ne = embedding(i, r)\ny = add(e, r)",
        512 * 64 + 512 * 4),
];

/// Bytes of reads for each element of two bytes.
#[test]
fn one_kernel_reads_each_element_once_by_all_views_of_views() {
    for (text, elements) in ONCE {
        for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
            let kernels = moved_by_kernel(text, policy, ReshapeCost::View);
            assert_eq!(kernels.len(), 1, "{text} {policy:?}");
            assert_eq!(kernels[0][0], 2 * elements, "{text} {policy:?}");
        }
    }
}

/// Parts that copies take are parts of the tensor as well.
#[test]
fn copies_of_parts_that_overlap_share_what_they_read() {
    let text = "input x : bf16[512, 3072]\na = slice(x, end=300, axis=0)\nb = slice(x, start=200, end=500, axis=0)\ny = add(a, b)";
    for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
        let kernels = moved_by_kernel(text, policy, ReshapeCost::Copy);
        assert_eq!(kernels, [[2 * 500 * 3072, 2 * 300 * 3072]], "{policy:?}");
    }
}

/// A tree of random views, of which one kernel reads some.
fn views_of(random: &mut SplitMix64) -> (String, u64) {
    let shapes = [[6, 8, 10], [4, 12, 6], [5, 7, 3]];
    let shape = shapes[usize::try_from(random.draw() % 3).unwrap()];
    let all: usize = shape.iter().product();
    let mut seen = vec![Seen {
        shape: shape.to_vec(),
        elements: (0..all).collect(),
    }];
    let mut text = format!("input v0 : f32{shape:?}\n");
    let mut read = BTreeSet::new();
    let count = 2 + random.draw() % 6;
    while seen.len() as u64 <= count {
        let place = usize::try_from(random.draw() % seen.len() as u64).unwrap();
        let (call, next) = seen[place].view(random);
        if next.shape.len() > 6 || next.elements.len() > 2048 {
            continue;
        }
        let call = call.replace("(v", &format!("(v{place}"));
        writeln!(text, "v{} = {call}", seen.len()).unwrap();
        seen.push(next);
    }
    for (place, own) in seen.iter().enumerate() {
        if random.draw() % 4 > if place == 0 { 2 } else { 1 } {
            writeln!(text, "y{place} = relu(v{place})").unwrap();
            read.extend(own.elements.iter().copied());
        }
    }
    (text, 4 * read.len() as u64)
}

/// Slices, transposes, expands and reshapes at random, read by one kernel: bytes are those of the
/// elements that differ wherever strides describe each view, which is nearly always. In any case
/// they are a bound.
#[test]
fn what_views_of_a_tensor_have_in_common_counts_once() {
    let mut random = SplitMix64(11);
    let (mut trees, mut exact) = (0_u32, 0_u32);
    while trees < 600 {
        let (text, distinct) = views_of(&mut random);
        if distinct == 0 {
            continue;
        }
        trees += 1;
        let options = Options {
            conventions: Conventions {
                reshape: ReshapeCost::View,
                ..Conventions::default()
            },
            ..Options::of_policy(Policy::None)
        };
        let graph = analyze_program(&parse(&text).program, &options).analysis;
        let graph = graph.unwrap().graph;
        let ops: Vec<OpId> = graph.ops.ids().collect();
        let as_one = Partition::of_ops(ops.iter().map(|_| KernelId::new(0)).collect(), 1);
        let mut traffic = kernel_traffic(&graph, &as_one, options.conventions);
        let traffic = traffic.next().unwrap();
        let read = traffic.bytes_read();
        let whole = graph.tensors.iter().next().unwrap().bytes().unwrap();
        assert!(
            (distinct..=whole).contains(&read),
            "{text} {distinct} {read}"
        );
        exact += u32::from(read == distinct);
        // The search counts as the kernel does.
        let context = RegionContext::new(&graph, &options);
        let region = Region::of(&context, &ops);
        assert_eq!(region.bytes(region.all()), traffic.total(), "{text}");
    }
    assert!(exact > 595, "{exact}");
}

/// A merge of two kernels that read views of one tensor saves what both read.
#[test]
fn a_merge_saves_what_two_kernels_read_by_different_views() {
    let programs = ONCE.iter().map(|own| own.0);
    for text in programs {
        for (&policy, &reshape) in Policy::VARIANTS
            .iter()
            .flat_map(|policy| ReshapeCost::VARIANTS.iter().map(move |own| (policy, own)))
        {
            let options = Options {
                conventions: Conventions {
                    reshape,
                    externals: Externals::Declared,
                    ..Conventions::default()
                },
                ..Options::of_policy(policy)
            };
            let analysis = analyze_program(&parse(text).program, &options).analysis;
            let analysis = analysis.unwrap();
            let (graph, partition) = (&analysis.graph, &analysis.partition);
            let before = totals(graph, &options, partition).0;
            for edge in Why::new(&analysis).edges() {
                let Verdict::Separate { price, .. } = edge.verdict else {
                    continue;
                };
                let [a, b] = [edge.producer, edge.consumer].map(|op| partition.kernel_of[op]);
                let after = totals(graph, &options, &merged(partition, a, b)).0;
                let saved = i64::try_from(before).unwrap() - i64::try_from(after).unwrap();
                assert_eq!(price.saved_bytes(), saved, "{text} {policy:?} {reshape:?}");
            }
        }
    }
}
