//! The rows of the table of kernels.

use crate::cli::{run, stdout};
use crate::limit_rows::FEW_ROWS;
use fuseline_core::analysis::transformer::transformer_block;
use fuseline_core::examples::{EXAMPLES, NEXT, example};
use fuseline_core::{
    Analysis, KernelId, OpId, Options, Policy, ReshapeCost, analyze, analyze_program, device,
    notation,
};
use fuseline_view::present::figure::explanation;
use fuseline_view::present::inspect::inspect_kernel;
use fuseline_view::present::kernels::{kernel_rows, kernel_total};
use fuseline_view::present::limits::harms;
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use std::collections::HashSet;
use strum::VariantArray;

fn transformer(seq_len: u64, device_id: &str) -> Analysis {
    let (ops, externals) = transformer_block(seq_len, 4096, 32, 2).unwrap();
    let options = Options {
        device: device(device_id).unwrap().clone(),
        ..Options::default()
    };
    analyze(&ops, &externals, &options).unwrap()
}

fn of_text(text: &str) -> Analysis {
    let outcome = analyze_program(&notation::parse(text).program, &Options::default());
    outcome.analysis.unwrap()
}

#[test]
fn a_row_for_each_kernel_with_its_bytes_before_and_after() {
    let analysis = of_text(
        "input x : f16[256, 256]\nweight w : f16[256, 256]\nup: y = matmul(x, w)\nact: z = relu(y)\nnorm: n = softmax(z)\n",
    );
    let rows = kernel_rows(&analysis, usize::MAX);
    let names: Vec<_> = rows.iter().map(|row| row.ops.as_str()).collect();
    assert_eq!(names, ["up + act", "norm"]);
    assert_eq!(
        (rows[1].kernel, rows[1].of),
        (KernelId::new(1), Subject::Kernel(OpId::new(2)))
    );
    let cells = &rows[0].cells;
    // x, w, y and y, z; fused x, w, z; each of 256 * 256 * 2 bytes.
    let bytes = cells.tooltip(Quantity::Bytes);
    assert_eq!(bytes, Some("655,360 B unfused, 393,216 B fused"));
    assert_eq!(cells.tooltip(Quantity::Bottleneck), None);
    let times = cells.tooltip(Quantity::Time).unwrap();
    let time = cells.fused(Quantity::Time).unwrap();
    assert!(times.ends_with(&format!("{time} fused")), "{times}");
    assert_eq!(kernel_rows(&analysis, 1), rows[..1]);
}

#[test]
fn the_total_is_that_of_the_analysis() {
    let analysis = transformer(2048, "a100-80");
    let total = kernel_total(&analysis);
    assert_eq!(
        total.tooltip(Quantity::Bytes),
        Some("2,298,478,592 B unfused, 1,962,934,272 B fused")
    );
    // A total has no intensity and no bound.
    for quantity in [Quantity::Intensity, Quantity::Bottleneck] {
        assert_eq!(total.fused(quantity), None);
    }
}

#[test]
fn a_row_says_what_hurts() {
    let analysis = of_text(FEW_ROWS);
    let rows = kernel_rows(&analysis, usize::MAX);
    let said: Vec<_> = rows.into_iter().map(|row| row.harm).collect();
    assert_eq!(said, harms(&analysis).as_slice());
    assert!(said.iter().any(|harm| !harm.is_empty()));
}

#[test]
fn an_unknown_peak_makes_the_time_a_lower_bound_that_says_why() {
    let analysis = of_text("input x : i64[256, 256]\nweight w : i64[256, 256]\ny = matmul(x, w)\n");
    let cells = &kernel_rows(&analysis, 1)[0].cells;
    let reason = cells.tooltip(Quantity::Bottleneck).unwrap();
    let time = cells.fused(Quantity::Time);
    assert!(time.unwrap().starts_with("≥ "), "{cells:?}");
    let times = cells.tooltip(Quantity::Time);
    assert!(times.unwrap().ends_with(reason), "{cells:?}");
    assert_eq!(kernel_total(&analysis).fused(Quantity::Time), time);
}

#[test]
fn a_figure_that_rests_on_an_assumed_size_is_marked() {
    // With batch dimensions the undeclared operand may be shared or batched.
    let analysis = of_text("input x : f16[4, 64, 64]\ny = matmul(x, r, k=64) : f16[4, 64, 64]\n");
    let cells = &kernel_rows(&analysis, 1)[0].cells;
    let is_marked = |quantity| cells.fused(quantity).unwrap().starts_with('~');
    assert!(is_marked(Quantity::Bytes), "{cells:?}");
    assert!(is_marked(Quantity::BytesRead), "{cells:?}");
    assert!(!is_marked(Quantity::BytesWritten), "{cells:?}");
}

/// The compiler splits long reductions over few rows: the first half of a norm is in another kernel
/// than its elements.
#[test]
fn a_kernel_with_the_statistics_of_a_later_one_says_so() {
    let text = example(NEXT).unwrap().text;
    let text = text
        .replace("param S = 2048", "param S = 128")
        .replace("param H = 4096", "param H = 16384");
    let mut options = Options {
        policy: Policy::Inductor,
        ..Options::default()
    };
    options.fusion.attention = true;
    let analysis = analyze_program(&notation::parse(&text).program, &options)
        .analysis
        .unwrap();
    let rows = kernel_rows(&analysis, usize::MAX);
    assert_eq!(rows.len(), analysis.fused.kernels.len());
    let keys: HashSet<Subject> = rows.iter().map(|row| row.of).collect();
    assert_eq!(keys.len(), rows.len());
    let names = rows.iter().map(|row| row.ops.as_str());
    let names: Vec<&str> = names.filter(|name| name.contains(", ")).collect();
    assert_eq!(
        names,
        [
            "resid1, intermediate of norm1",
            "norm1, recomputes resid1",
            "resid2, intermediate of output",
            "output, recomputes resid2"
        ]
    );
}

#[test]
fn a_kernel_without_ops_of_its_own_has_a_row_a_name_and_figures() {
    let text = "input x : f16[32, 64, 112, 112]\ny = group_norm(x, groups=32)\n";
    let options = Options::of_policy(Policy::Inductor);
    let analysis = analyze_program(&notation::parse(text).program, &options)
        .analysis
        .unwrap();
    let rows = kernel_rows(&analysis, usize::MAX);
    let [row, elements] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(row.of, Subject::Again(OpId::new(0)));
    assert_eq!(elements.of, Subject::Kernel(OpId::new(0)));
    assert_eq!(row.ops, "intermediate of y");
    let card = inspect_kernel(&analysis, row.kernel).unwrap();
    assert_eq!(card.heading, "kernel 1: intermediate of y");
    assert_eq!(card.facts[0].text(), "0 B → 51.4 MB");
    assert!(card.notes.is_empty(), "{:?}", card.notes);
    let bytes = explanation(Figure::fused(row.of, Quantity::Bytes), &analysis).unwrap();
    assert_eq!(bytes.subject, card.heading);
    assert_eq!(bytes.value, "51.4 MB");
}

/// A row without a note is one launch, so a visitor can add the rows up to the kernels of the
/// headline.
#[test]
fn the_launches_of_the_rows_add_up_to_the_kernels_of_the_headline() {
    let mut noted = 0;
    for example in EXAMPLES {
        for policy in Policy::VARIANTS {
            for reshape in [ReshapeCost::Copy, ReshapeCost::View] {
                let mut options = Options::of_policy(*policy);
                options.conventions.reshape = reshape;
                let program = notation::parse(example.text).program;
                let analysis = analyze_program(&program, &options).analysis.unwrap();
                let rows = kernel_rows(&analysis, usize::MAX);
                let launches = rows.iter().map(|row| match row.launches.as_deref() {
                    None => 1,
                    Some("no launch") => 0,
                    Some(note) => {
                        noted += 1;
                        note.strip_suffix(" launches").unwrap().parse().unwrap()
                    }
                });
                assert_eq!(
                    launches.sum::<usize>(),
                    analysis.fused.launches,
                    "{}",
                    example.id
                );
            }
        }
    }
    assert!(noted > 0);
}

#[test]
fn the_command_line_names_kernels_and_their_launches_as_the_table_does() {
    let mut options = Options::of_policy(Policy::Inductor);
    options.conventions.reshape = ReshapeCost::View;
    for id in [NEXT, "recompute"] {
        let text = example(id).unwrap().text;
        let analysis = analyze_program(&notation::parse(text).program, &options)
            .analysis
            .unwrap();
        let printed = run(
            &["analyze", "-", "--policy", "inductor", "--reshape", "view"],
            text,
        );
        for row in kernel_rows(&analysis, usize::MAX) {
            let launches = row.launches.map(|launches| format!(" ({launches})"));
            let name = format!("{}{}  ", row.ops, launches.unwrap_or_default());
            assert!(stdout(&printed).contains(&name), "{name}");
        }
    }
}
