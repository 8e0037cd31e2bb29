//! A part of a tensor that is written in place through a view and put back: it moves nothing.

use fuseline_core::model::options::{Conventions, ReshapeCost};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Code, Options, Policy, analyze_program};
use fuseline_view::present::pytorch::script;
use strum::VariantArray;

/// Writes a row into a layer of a stacked cache, and reads all of the cache.
const LAYER: &str = "\
input cache : f16[4, 64, 128]
input new : f16[1, 128]
input at : i64[1]
part = slice(cache, start=1, end=2, axis=0)
layer = reshape(part, shape=[64, 128])
w = index_copy_(layer, at, new, axis=0)
back = reshape(w, shape=[1, 64, 128])
whole = slice_scatter_(cache, back, start=1, end=2, axis=0)
y = relu(whole)
";

pub(crate) fn analysis(text: &str, policy: Policy, reshape: ReshapeCost) -> Analysis {
    let conventions = Conventions {
        reshape,
        ..Conventions::default()
    };
    let options = Options {
        conventions,
        ..Options::of_policy(policy)
    };
    let outcome = analyze_program(&parse(text).program, &options);
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
}

fn codes(text: &str) -> Vec<Code> {
    let outcome = analyze_program(&parse(text).program, &Options::default());
    let found = outcome.diagnostics.into_iter();
    found.map(|found| found.code).collect()
}

#[test]
fn a_part_that_is_put_back_moves_nothing() {
    let (row, all) = (128 * 2, 4 * 64 * 128 * 2);
    for &policy in Policy::VARIANTS {
        for reshape in [ReshapeCost::Copy, ReshapeCost::View] {
            let analysis = analysis(LAYER, policy, reshape);
            // The compiler copies the part, writes into the copy, and copies it back.
            let copied = [0, 2 * 64 * 128 * 2 * u64::from(policy == Policy::Inductor)];
            for (execution, copied) in [&analysis.unfused, &analysis.fused].into_iter().zip(copied)
            {
                let kernels = execution.kernels.iter().filter(|kernel| !kernel.is_free);
                let bytes: Vec<_> = kernels
                    .map(|kernel| (kernel.bytes_read, kernel.bytes_written))
                    .collect();
                assert_eq!(
                    bytes,
                    [(copied + row + 8, copied + row), (all, all)],
                    "{policy:?} {reshape:?}"
                );
            }
            let inputs = all + row + 8;
            assert_eq!(analysis.fused.peak_memory.bytes, inputs + all, "{policy:?}");
        }
    }
}

#[test]
fn a_part_is_put_back_in_the_kernel_that_writes_it() {
    let second = LAYER.replace("y = relu(whole)\n", "");
    let second = format!(
        "{second}part2 = slice(whole, start=2, end=3, axis=0)\nlayer2 = reshape(part2, shape=[64, 128])\n\
         w2 = index_copy_(layer2, at, new, axis=0)\nback2 = reshape(w2, shape=[1, 64, 128])\n\
         whole2 = slice_scatter_(whole, back2, start=2, end=3, axis=0)\ny = relu(whole2)\n"
    );
    for &policy in Policy::VARIANTS
        .iter()
        .filter(|&&policy| policy != Policy::None)
    {
        let analysis = analysis(&second, policy, ReshapeCost::Copy);
        let free = analysis
            .fused
            .kernels
            .iter()
            .filter(|kernel| kernel.is_free);
        assert_eq!(free.count(), 0, "{policy:?}");
        // The compiler computes a value of the whole after the first write, a part of which the
        // second one copies.
        let copies = usize::from(policy == Policy::Inductor);
        assert_eq!(analysis.fused.kernels.len(), 3 + copies, "{policy:?}");
    }
}

#[test]
fn the_order_of_elements_may_be_turned_and_turned_back() {
    let turned = LAYER.replace(
        "w = index_copy_(layer, at, new, axis=0)\nback = reshape(w, ",
        "t = transpose(layer)\nn = reshape(new, shape=[128, 1])\n\
             v = index_copy_(t, at, n, axis=1)\nw = transpose(v)\nback = reshape(w, ",
    );
    let analysis = analysis(&turned, Policy::None, ReshapeCost::View);
    let free = analysis
        .unfused
        .kernels
        .iter()
        .filter(|kernel| kernel.is_free);
    assert_eq!(free.count(), 7, "{turned}");
}

#[test]
fn a_dimension_of_size_1_may_be_moved_in_between() {
    let moved = LAYER.replace(
        "back = reshape(w, shape=[1, 64, 128])",
        "row = reshape(w, shape=[64, 1, 128])\nback = transpose(row, perm=[1, 0, 2])",
    );
    assert_ne!(moved, LAYER);
    assert_eq!(codes(&moved), []);
}

#[test]
fn a_put_of_another_part_reads_the_old_value_too_late() {
    for (old, new) in [
        // Another range, and other elements of the range.
        ("start=1, end=2, axis=0)\ny", "start=2, end=3, axis=0)\ny"),
        ("slice_scatter_(cache", "slice_scatter(cache"),
        ("back = reshape(w, ", "t = transpose(w)\nback = reshape(t, "),
    ] {
        let text = LAYER.replace(old, new);
        assert_ne!(text, LAYER, "{old}");
        assert_eq!(codes(&text), [Code::OverwrittenTensor], "{text}");
    }
    // Another op between the write and the put reads what the write has overwritten.
    let late = LAYER.replace("back = ", "z = gelu(cache)\nback = ");
    assert_eq!(codes(&late), [Code::OverwrittenTensor], "{late}");
}

#[test]
fn a_script_puts_nothing_back() {
    let program = parse(LAYER).program;
    let outcome = analyze_program(&program, &Options::default());
    let analysis = outcome.analysis.unwrap();
    let script = script("t", &program, &analysis, &outcome.statement_of_op).unwrap();
    assert!(script.contains("    whole = cache\n"), "{script}");
}
