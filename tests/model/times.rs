//! Times in words: what stands beside them, and the arithmetic behind them.

use crate::why::under;
use fuseline_core::analysis::device_model::breakdown;
use fuseline_core::analysis::why::Why;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, analyze_program, device};
use fuseline_view::present::compare::policy_rows;
use fuseline_view::present::format::format_seconds;
use fuseline_view::present::headline::headline;
use fuseline_view::present::kernels::{kernel_rows, kernel_total};
use fuseline_view::present::quantity::Quantity;
use fuseline_view::present::saved::saved_time_title;
use fuseline_view::present::table::Cells;
use fuseline_view::present::times::{TimeKind, time_lines, total_times};
use fuseline_view::present::verdict::verdict_text;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use strum::VariantArray;

fn on(id: &str, policy: Policy, text: &str) -> Analysis {
    let options = Options {
        device: device(id).unwrap().clone(),
        ..under(policy)
    };
    analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap()
}

/// Every example under each policy on the devices with measured rates.
static EXPECTED: LazyLock<Vec<Analysis>> = LazyLock::new(|| {
    let each = EXAMPLES.iter().flat_map(|example| {
        let ids = ["h200", "h100"].into_iter();
        ids.flat_map(move |id| {
            let policies = Policy::VARIANTS.iter();
            policies.map(move |&policy| on(id, policy, example.text))
        })
    });
    each.collect()
});

/// The bound reads all bytes from memory. Whatever else a predicted time leaves out, it may lie
/// below only for what the cache serves, and it says so beside both.
#[test]
fn a_predicted_time_below_its_bound_says_why() {
    let mut below = 0;
    for analysis in EXPECTED.iter() {
        let Some(predicted) = &analysis.predicted else {
            continue;
        };
        let rows = kernel_rows(analysis, usize::MAX);
        for (row, kernel) in rows.iter().zip(&analysis.fused.kernels) {
            let predicted_s = predicted.kernels[row.kernel].time_s;
            let is_below = predicted_s < kernel.placement.time_s;
            let texts = [
                row.cells.fused(Quantity::LowerBound).unwrap().to_owned(),
                time_lines(analysis, row.kernel).concat(),
            ];
            assert_eq!(
                texts[0].contains("with a cold cache"),
                is_below,
                "{}",
                texts[0]
            );
            assert_eq!(
                texts[1].contains("the cache still holds"),
                is_below,
                "{}",
                texts[1]
            );
            let parts = breakdown(analysis, row.kernel).unwrap();
            let what = format!("{parts:?}");
            assert!(
                !is_below || what.contains("CacheBytes"),
                "{} {what}",
                row.ops
            );
            below += usize::from(is_below);
        }
        let is_below = predicted.fused_s < analysis.fused.time_s
            || predicted.unfused_s < analysis.unfused.time_s;
        let bounds = headline(analysis).bounds.unwrap();
        assert_eq!(bounds.contains("with a cold cache"), is_below, "{bounds}");
    }
    assert!(below > 50, "{below}");
}

/// The worked lines are the figure, and each rate in them leads to it.
#[test]
fn a_predicted_time_is_worked_out() {
    for analysis in EXPECTED.iter() {
        let Some(predicted) = &analysis.predicted else {
            continue;
        };
        let kind = TimeKind::of(analysis).name();
        for kernel in analysis.fused.kernels.ids() {
            let time_s = predicted.kernels[kernel].time_s;
            let parts = breakdown(analysis, kernel).unwrap();
            assert!((parts.time_s() - time_s).abs() <= 1e-9 * time_s);
            let lines = time_lines(analysis, kernel);
            if analysis.fused.kernels[kernel].is_free {
                continue;
            }
            let last = lines
                .iter()
                .rfind(|line| line.starts_with(&format!("{kind}: ")));
            assert!(
                last.unwrap()
                    .ends_with(&format!(" = {}", format_seconds(time_s)))
            );
            let worked = lines
                .iter()
                .filter(|line| line.starts_with(&format!("{kind}, ")));
            assert!(worked.count() > 0, "{lines:?}");
        }
    }
    let softmax = on(
        "h200",
        Policy::None,
        "input x : f16[32, 2048, 2048]\ny = softmax(x)\n",
    );
    let lines = time_lines(&softmax, softmax.fused.kernels.ids().next().unwrap());
    let class = "predicted, library kernel: 134 M elements of a library softmax / 450 G/s = 298 µs";
    assert!(lines.iter().any(|line| line == class), "{lines:?}");
    assert_eq!(
        lines.last().unwrap(),
        "predicted: the longest of library kernel, one row, bytes + 1.70 µs to launch, start and end = 300 µs"
    );
}

/// Only a matmul has a pipeline of tiles.
#[test]
fn a_kernel_that_writes_by_index_takes_longer_at_least() {
    let write = on(
        "h200",
        Policy::None,
        "input c : bf16[8, 4096, 128]\ninput at : i64[1]\ninput x : bf16[8, 1, 128]\ny = index_copy_(c, at, x, axis=1)\n",
    );
    let lines = time_lines(&write, write.fused.kernels.ids().next().unwrap());
    let last = lines.last().unwrap();
    assert!(
        last.contains(
            "to launch, start and end + 1.00 µs that such a kernel takes longer at least = "
        ),
        "{last}"
    );
}

/// A launch has one figure: what a matmul needs beyond it has a name of its own.
#[test]
fn a_launch_takes_as_long_in_a_matmul_as_in_any_kernel() {
    for id in ["h100", "h200"] {
        let product = on(
            id,
            Policy::None,
            "input x : f16[4096, 4096]\nweight w : f16[4096, 4096]\ny = matmul(x, w)\n",
        );
        let lines = time_lines(&product, product.fused.kernels.ids().next().unwrap());
        let last = lines.last().unwrap();
        let launch = format_seconds(product.options.device.launch_s.value);
        assert!(
            last.contains(&format!(
                " + {launch} to launch, start and end + 1.90 µs to fill the pipeline of tiles and write the last one = "
            )),
            "{last}"
        );
    }
}

/// What rests on an assumed size is marked wherever it stands.
#[test]
fn each_figure_of_an_assumed_size_is_marked() {
    let text = "input x : f16[4096, 4096]\nh = relu(x)\ng = elementwise(h, c) : f16[4096, 4096]\n";
    for id in ["a100-80", "h200"] {
        let analysis = on(id, Policy::Rules, text);
        let figures = headline(&analysis);
        let mut marked = vec![
            figures.unfused_bytes,
            figures.fused_bytes,
            figures.change,
            figures.unfused_time,
            figures.fused_time,
            figures.ratio.unwrap().replace("at best ", ""),
        ];
        let fused = |cells: &Cells, quantity| cells.fused(quantity).unwrap().to_owned();
        marked.push(fused(&kernel_rows(&analysis, 1)[0].cells, Quantity::Time));
        marked.push(fused(&kernel_total(&analysis), Quantity::Time));
        let rows = policy_rows(
            &fuseline_core::analysis::compare::compare(&analysis),
            Policy::Rules,
            fuseline_core::Objective::Bytes,
        );
        for row in rows {
            let quantities = [Quantity::PeakMemory, Quantity::Time];
            marked.extend(quantities.map(|quantity| fused(&row.cells, quantity)));
        }
        for figure in &marked {
            assert!(figure.starts_with('~'), "{figure} of {marked:?}");
        }
        let [unfused, fused] = total_times(&analysis);
        let bounds: BTreeSet<_> = [unfused.bound, fused.bound].into_iter().flatten().collect();
        assert!(
            bounds.iter().all(|bound| bound.starts_with('~')),
            "{bounds:?}"
        );
    }
}

/// A saved time is called what the column above it is called. Two matmuls have none, and where
/// times are predicted neither has an op in front of a matmul, which each of its tiles would
/// compute again.
#[test]
fn a_saved_time_is_of_the_kind_of_all_times() {
    let text = "input x : f16[512, 512]\nweight w : f16[512, 512]\ns = softmax(x)\na = relu(s)\nm = matmul(a, w)\nn = matmul(m, w)\n";
    for (id, kind) in [
        ("h200", "predicted"),
        ("h100", "predicted"),
        ("a100-80", "lower bound"),
    ] {
        let analysis = on(id, Policy::Rules, text);
        let ops = ["s", "a", "m", "n"].map(|name| analysis.graph.op_named(name).unwrap());
        let [s, a, m, n] = ops;
        let why = Why::new(&analysis);
        let said = verdict_text(&analysis, [s, a], &why.ask(s, a)).text();
        assert!(said.contains(&format!("of the {kind}")), "{said}");
        let said = verdict_text(&analysis, [a, m], &why.ask(a, m)).text();
        let is_predicted = kind == "predicted";
        let is_unknown =
            said.ends_with("Its time is unknown: no kernel modelled here runs `a` and `m`.");
        assert_eq!(is_unknown, is_predicted, "{said}");
        assert!(saved_time_title(&analysis).0.starts_with(kind));
        let said = verdict_text(&analysis, [m, n], &why.ask(m, n)).text();
        assert!(
            said.ends_with(
                "One kernel instead would save 1.57 MB. Its time is unknown: no kernel modelled here runs `m` and `n`."
            ),
            "{said}"
        );
    }
}

#[test]
fn one_kernel_is_counted_as_one() {
    let one = on(
        "a100-80",
        Policy::Rules,
        "input x : f16[512]\ny = relu(x)\n",
    );
    let said = headline(&one).sentence();
    assert!(said.contains("1 kernel becomes 1."), "{said}");
}

/// A kernel that holds whole columns reads memory in strides, which no measured kernel does. The
/// compiler sums columns in two kernels.
#[test]
fn a_kernel_of_columns_and_what_reads_their_means_has_no_time() {
    let text =
        "input x : bf16[16384, 4096]\nm = mean(x, axis=0)\nc = sub(x, m)\noutput = relu(c)\n";
    let analysis = on("h100", Policy::Inductor, text);
    let [m, c] = ["m", "c"].map(|name| analysis.graph.op_named(name).unwrap());
    assert_eq!(
        verdict_text(&analysis, [m, c], &Why::new(&analysis).ask(m, c)).text(),
        "Separate: `m` runs as several kernels, and `c` waits for the last of them. One kernel instead would save 134 MB. \
         Its time is unknown: no kernel modelled here runs `m` and `c`."
    );
    let rows = text.replace("axis=0", "axis=1");
    let analysis = on("h100", Policy::Rules, &rows);
    assert!(
        Why::new(&analysis)
            .ask(m, c)
            .saved()
            .unwrap()
            .time_s()
            .is_some()
    );
}
