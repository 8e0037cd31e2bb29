//! What is told of a run on the GPU of a visitor: results, times beside the prediction, sizes and
//! failures.

use crate::your_gpu::{LIMITS, RATES, TEXT, job, measured, program, reference, refused};
use fuseline_codegen::interpret::{Budget, Reference, Setup};
use fuseline_codegen::your_gpu::job::words;
use fuseline_codegen::your_gpu::{
    Check, Checks, Failure, Limits, Outcome, Times, predicted, timed_budget,
};
use fuseline_core::{DType, Options, Partition};
use fuseline_view::picture::charts::gpu_times::{GpuTimeRows, scene};
use fuseline_view::present::your_gpu::{
    check_rows, failure_text, headline, notes, rates_text, sum_row, time_rows, total_row,
};

/// A run whose results are exact but for `error` on the first element of each, and whose kernels
/// take twice what is predicted.
fn outcome(error: f64) -> Outcome {
    let (small, partition) = reference(TEXT, &Budget::INTERPRETED);
    let checked = small.checked(&partition).unwrap();
    let check = |partition: &Partition| {
        let job = job(&small, partition, usize::MAX);
        let read: Vec<Vec<u8>> = (job.written(&small).iter())
            .map(|&(_, tensor)| {
                let mut values = checked.exact[tensor].clone().unwrap();
                values[0] += error;
                words(&values, DType::F32)
            })
            .collect();
        Check::new(&small, &checked, &job, &read)
    };
    let predicted = predicted(&small, &partition, &measured(RATES), &Options::default()).unwrap();
    let times = |of: &fuseline_core::Execution| Times {
        kernels_s: of
            .kernels
            .iter()
            .map(|kernel| 2.0 * kernel.placement.time_s)
            .collect(),
        total_s: 2.0 * of.time_s,
    };
    Outcome {
        measured: measured(RATES),
        limits: LIMITS,
        has_clock: true,
        own_sizes: vec![("S".to_owned(), 4096), ("H".to_owned(), 1024)],
        timed_sizes: small.sizes.clone(),
        checks: Ok(Checks {
            sizes: small.sizes.clone(),
            unfused: check(&small.unfused()),
            fused: check(&partition),
        }),
        unfused: times(&predicted.unfused),
        fused: times(&predicted.fused),
        predicted,
    }
}

/// Only what the program has is said to be slower than predicted.
#[test]
fn what_shaders_do_slowly_is_told() {
    let note = |text: &str| {
        let (reference, partition) = reference(text, &Budget::ANY);
        let predicted = predicted(
            &reference,
            &partition,
            &measured(RATES),
            &Options::default(),
        )
        .unwrap();
        let outcome = Outcome {
            predicted,
            ..outcome(0.0)
        };
        let mut told = notes(&outcome).into_iter();
        told.find(|note| note.starts_with("Shaders are slower"))
    };
    let cases = [
        (
            "input x : f32[8, 16, 64, 64]\nweight w : f32[16, 16, 3, 3]\ny = conv2d(x, w, padding=1)",
            "convolutions (they compute the index of each element that they read).",
        ),
        (
            "input x : f32[512, 64]\ny = cumsum(x, axis=-1)",
            "cumulative sums (each element adds up all elements before it).",
        ),
        (
            "input x : f32[512, 64]\nweight w : f32[64, 64]\ny = matmul(x, w)",
            "small matmuls (each 64 × 64 tile has one workgroup).",
        ),
        (
            "input x : f32[512, 64]\ny = sum(x, axis=0)",
            "reductions along an axis other than the last (neighbouring threads read far apart).",
        ),
        (
            "input x : f32[8, 4096]\ny = softmax(x)",
            "long rows (each pass reads them again) and few rows (each row has one workgroup).",
        ),
    ];
    for (text, cause) in cases {
        assert_eq!(
            note(text),
            Some(format!("Shaders are slower than predicted for {cause}"))
        );
    }
    let quick = "input x : f32[8192, 64]\nweight w : f32[64, 64]\na = matmul(x, w)\nb = gelu(a)\ny = softmax(b)";
    assert_eq!(note(quick), None);
}

#[test]
fn right_results_and_times_are_told_beside_the_prediction() {
    let outcome = outcome(0.0);
    assert_eq!(outcome.speedup(), outcome.predicted_speedup());
    assert!(outcome.speedup().unwrap() > 1.5);
    let told = headline(&outcome);
    assert_eq!(
        told[0],
        "1 result agrees with the interpreter, unfused and fused."
    );
    let rows = check_rows(&outcome);
    assert_eq!(rows.len(), 1);
    assert!(rows[0].is_right);
    let [row] = &time_rows(&outcome)[..] else {
        panic!("one fused kernel");
    };
    assert_eq!(row.fused.texts()[2], "−50.0 %");
    assert!((row.unfused.measured_s - outcome.unfused.total_s).abs() < 1e-12);
    assert_eq!(row.unfused, total_row(&outcome).unfused);
    let sum = sum_row(&outcome);
    assert_eq!((sum.unfused, sum.fused), (row.unfused, row.fused));
    // Bytes of f32: three tensors of S x H and w, once each.
    let (s, h) = (outcome.timed_sizes[0].1, outcome.timed_sizes[1].1);
    let bytes = 4.0 * (3 * s * h + h) as f64;
    assert!((row.fused.predicted_s - bytes / 400e9 - 5e-6).abs() < 1e-12);
    assert_eq!(
        rates_text(&outcome.measured),
        "test: copies at 400 GB/s, f32 multiply-adds at 10.0 TFLOP/s, matmuls in a shader at 4.00 TFLOP/s, exponentials at 1.00 T/s, 5.00 µs per launch."
    );
    assert_eq!(
        notes(&outcome)[1],
        format!(
            "Timed at S = {s} instead of 4096, H = {h} instead of 1024, so that no tensor has more than 134 MB, all tensors together have at most 268 MB, and a run takes at most about 500 ms. The sliders choose smaller sizes."
        )
    );
}

#[test]
fn sizes_are_told_where_they_are_the_programs_own_and_where_nothing_is_compared() {
    let mut outcome = outcome(0.0);
    outcome.timed_sizes = outcome.own_sizes.clone();
    let told = notes(&outcome);
    assert_eq!(told[1], "Timed at the program's own sizes.");
    assert!(told[2].starts_with("Checked at S = "), "{}", told[2]);
    // Sizes that are numbers cannot be made smaller: the interpreter refuses what the GPU runs.
    let text = "input x : f32[8192, 8192]\ny = relu(x)";
    let (program, analysis) = program(text);
    let limits = Limits {
        max_buffer_bytes: 1 << 30,
        max_binding_bytes: 1 << 30,
        ..LIMITS
    };
    let budget = timed_budget(&limits, &measured(RATES));
    let on_gpu = Reference::new(&program, &analysis.partition, &Setup::default(), &budget);
    assert!(on_gpu.is_ok());
    outcome.checks = Err(refused(text, &Budget::INTERPRETED));
    let told = headline(&outcome);
    assert!(
        told[0].starts_with("The results could not be checked, because the interpreter cannot run the program: a run would take 135 million steps on "),
        "{}",
        told[0]
    );
    assert!(check_rows(&outcome).is_empty());
    assert!(
        !notes(&outcome)
            .iter()
            .any(|note| note.starts_with("Compared"))
    );
}

#[test]
fn every_failure_is_a_sentence_with_what_to_do() {
    let message = || "it broke.\nmore".to_owned();
    let cases = [
        (
            Failure::NoWebGpu,
            "This browser has no WebGPU, so it cannot run kernels on your GPU. Chrome, Edge and Safari 26 can.",
            true,
        ),
        (
            Failure::NoAdapter,
            "WebGPU finds no GPU on this machine, or the browser does not let pages use it.",
            true,
        ),
        (
            Failure::NoDevice(message()),
            "The GPU could not be opened: it broke.",
            true,
        ),
        (
            Failure::Lost(message()),
            "The connection to the GPU was lost: it broke. Run again to reconnect.",
            true,
        ),
        (
            Failure::Lost(String::new()),
            "The connection to the GPU was lost. Run again to reconnect.",
            true,
        ),
        (
            Failure::OutOfMemory,
            "The tensors do not fit in the GPU's memory. Make sizes smaller, or close other programs that use the GPU.",
            true,
        ),
        (
            Failure::Kernel {
                name: "kernel 1".to_owned(),
                message: message(),
            },
            "The browser refuses kernel 1: it broke.",
            true,
        ),
        (
            Failure::TooLong {
                name: "kernel 1".to_owned(),
                waited_s: 2.0,
            },
            "Kernel 1 took longer than 2 s and was stopped. Make sizes smaller.",
            true,
        ),
        (
            Failure::Other(message()),
            "The GPU could not run the program: it broke.",
            true,
        ),
        (Failure::Stopped, "Stopped.", false),
    ];
    for (failure, told, offers_script) in cases {
        assert_eq!(failure_text(&failure), told);
        assert_eq!(failure.offers_script(), offers_script, "{told}");
    }
    let refused = Failure::from(refused("", &Budget::INTERPRETED));
    assert_eq!(
        failure_text(&refused),
        "Not run: there is nothing to run; write an op, or correct the errors of the text."
    );
    assert!(!refused.offers_script());
}

#[test]
fn a_wrong_result_is_told_with_the_first_tensor_that_is_wrong() {
    let outcome = outcome(0.5);
    let told = headline(&outcome);
    assert_eq!(
        told[0],
        "The unfused run gives wrong values, first in `a`, so its times mean nothing."
    );
    assert!(told[1].starts_with("The fused run gives wrong values"));
    assert!(!check_rows(&outcome)[0].is_right);
}

#[test]
fn bars_stand_for_both_times_of_each_kernel() {
    let outcome = outcome(0.0);
    for (rows, height) in [(GpuTimeRows::Total, 78.0), (GpuTimeRows::Kernels, 78.0)] {
        let scene = scene(&outcome, rows, 800.0);
        assert!((scene.height - height).abs() < 1.0);
        let bars: Vec<f64> = (scene.marks.iter().filter(|mark| mark.label.is_some()))
            .map(|mark| match &mark.shape {
                fuseline_view::picture::charts::scene::Shape::Rect { width, .. } => *width,
                other => panic!("{other:?}"),
            })
            .collect();
        // Measured is twice what is predicted, to the pixel of a tick.
        assert_eq!(bars.len(), 4);
        for pair in bars.chunks(2) {
            assert!((pair[0] - 2.0 * pair[1]).abs() < 1.0, "{bars:?}");
        }
    }
}
