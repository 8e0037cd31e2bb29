//! The program for the GPU of a visitor: sizes, inputs, jobs, and what is made of what comes back. `tests/e2e/your_gpu.spec.mjs`
//! runs jobs on a GPU.

use fuseline::core::interpret::{Budget, Interpretation, NotRun, Reference, Setup, interpret};
use fuseline::core::model::day::Day;
use fuseline::core::model::device::DeviceProbe;
use fuseline::core::notation::parse;
use fuseline::core::own_gpu::job::{elements, words};
use fuseline::core::own_gpu::{
    Check, Checks, DRAWN_ELEMENTS, Failure, Job, Limits, Outcome, ProgramJob, Rates, Times,
    compare, predicted, timed_budget,
};
use fuseline::core::{
    Analysis, DType, F32Matmul, KernelId, Options, Partition, Program, ReshapeCost, analyze_program,
};
use fuseline::picture::charts::gpu_times::{Rows, scene};
use fuseline::present::own_gpu::{
    check_rows, failure_text, headline, notes, rates_text, time_rows, total_row,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

const TEXT: &str = "param S = 4096 in 1..65536\nparam H = 1024 in 1..65536\ninput x : f16[S, H]\n\
                    input keep : bool[S, H]\nweight w : f16[H]\na = mul(x, w)\nb = where(keep, a, x)\ny = relu(b)";

pub(crate) const LIMITS: Limits = Limits {
    max_buffer_bytes: 256 << 20,
    max_binding_bytes: 128 << 20,
    max_bindings: 8,
    max_workgroups: 65_535,
    max_workgroup_bytes: 32_768,
};

pub(crate) const RATES: Rates = Rates {
    memory_bytes_per_s: 400e9,
    vector_flops_per_s: 10e12,
    shader_product_flops_per_s: Some(4e12),
    exp_per_s: Some(1e12),
    launch_s: 5e-6,
};

pub(crate) fn today() -> Day {
    "2026-11-24".parse().unwrap()
}

pub(crate) fn measured(rates: Rates) -> DeviceProbe {
    rates.device_probe("test", today(), &LIMITS).unwrap()
}

fn program(text: &str) -> (Program, Analysis) {
    let program = parse(text).program;
    let analysis = analyze_program(&program, &Options::default()).analysis;
    (program, analysis.unwrap())
}

fn reference(text: &str, budget: &Budget) -> (Reference, Partition) {
    let (program, analysis) = program(text);
    let reference = Reference::new(&program, &analysis.partition, &Setup::default(), budget);
    (reference.unwrap(), analysis.partition)
}

/// Why a program has no reference within a budget.
fn refused(text: &str, budget: &Budget) -> NotRun {
    let (program, analysis) = program(text);
    let reference = Reference::new(&program, &analysis.partition, &Setup::default(), budget);
    reference.unwrap_err()
}

fn job(reference: &Reference, partition: &Partition, most_drawn: usize) -> ProgramJob {
    ProgramJob::new(reference, partition, ReshapeCost::View, most_drawn).unwrap()
}

#[test]
fn a_reference_is_the_program_in_f32_at_sizes_that_fit() {
    let (small, partition) = reference(TEXT, &Budget::INTERPRETED);
    let tensor = |name: &str| {
        let mut tensors = small.graph.tensors.ids();
        tensors
            .find(|&tensor| small.graph.tensor_name(tensor) == name)
            .unwrap()
    };
    let (elements, dtype) = small.type_of(tensor("x")).unwrap();
    assert_eq!(dtype, DType::F32);
    assert!(elements < 4096 * 1024);
    assert_eq!(small.type_of(tensor("keep")).unwrap().1, DType::Bool);
    assert_eq!(small.type_of(tensor("y")).unwrap(), (elements, DType::F32));
    assert_eq!(
        small.external(tensor("x"), usize::MAX).unwrap().len(),
        elements
    );
    let first = small.external(tensor("x"), 5).unwrap();
    assert_eq!(first[..], small.external(tensor("x"), 9).unwrap()[..5]);
    // Four bytes an element, those of booleans, too.
    let words = small.graph_in_words(&partition).unwrap();
    let bytes = words.tensors[tensor("keep")].bytes().unwrap();
    assert_eq!(bytes, 4 * elements as u64);
}

/// Shaders hold whole numbers as i32 and multiply them in f32.
#[test]
fn small_whole_numbers_do_not_overflow() {
    let text = "input x : i8[64, 64]\nweight w : i8[64, 64]\ny = matmul(x, w)";
    let (small, partition) = reference(text, &Budget::INTERPRETED);
    let product = small.graph.output.iter().copied().next().unwrap();
    let checked = small.checked(&partition).unwrap();
    let exact = checked.exact[product].as_ref().unwrap();
    assert!(exact.iter().any(|value| value.abs() > 127.0));
    let predicted = predicted(&small, &partition, &measured(RATES), &Options::default()).unwrap();
    let product_s = predicted.fused.time_s - 5e-6;
    assert!((product_s - 2.0 * 64_f64.powi(3) / 4e12).abs() < 1e-12);
}

#[test]
fn exact_results_are_those_of_the_interpreter() {
    let text = "input x : f32[3, 5]\nweight w : f32[5, 4]\ny = matmul(x, w)\nz = gelu(y)";
    let (small, partition) = reference(text, &Budget::INTERPRETED);
    let checked = small.checked(&partition).unwrap();
    let (program, analysis) = program(text);
    let ran: Interpretation = interpret(&program, &analysis.partition, &Setup::default()).unwrap();
    for (tensor, runs) in ran.tensors.iter_enumerated() {
        let Some(runs) = runs else { continue };
        let exact = checked.exact[tensor].as_ref().unwrap();
        assert_eq!(exact.len(), runs.elements);
        assert_eq!(exact[..runs.exact.len()], runs.exact[..]);
        assert_eq!(
            checked.f32_error[tensor],
            Some(runs.unfused.error.max_abs.max(runs.fused.error.max_abs))
        );
    }
    assert_eq!(checked.refused, []);
}

#[test]
fn a_faster_gpu_with_more_room_runs_larger_sizes() {
    let size = |limits: &Limits, rates: Rates| {
        let (large, _) = reference(TEXT, &timed_budget(limits, &measured(rates)));
        large.sizes.iter().map(|(_, size)| *size).product::<i64>()
    };
    let own = size(&LIMITS, RATES);
    assert_eq!(own, 4096 * 1024);
    let slow = Rates {
        memory_bytes_per_s: 1e8,
        ..RATES
    };
    assert!(size(&LIMITS, slow) < own);
    let tight = Limits {
        max_binding_bytes: 4 << 20,
        ..LIMITS
    };
    assert!(size(&tight, RATES) <= 1 << 20);
    let tight = Limits {
        max_buffer_bytes: 1 << 30,
        ..tight
    };
    let refused = refused(
        "input x : f32[8192, 8192]\ny = relu(x)",
        &timed_budget(&tight, &measured(RATES)),
    );
    assert_eq!(
        refused.message,
        "the largest tensor would have 68 million elements; at most 1 fit here"
    );
}

#[test]
fn a_job_has_a_buffer_for_each_tensor_and_a_launch_for_each_kernel() {
    let (small, partition) = reference(TEXT, &Budget::INTERPRETED);
    let unfused = small.unfused();
    let all = job(&small, &unfused, usize::MAX);
    assert_eq!((all.job.launches.len(), all.job.buffers.len()), (3, 6));
    assert_eq!(all.job.launches[1].name, "kernel 2 (`b`)");
    for (buffer, &tensor) in all.job.buffers.iter().zip(&all.tensors) {
        let (elements, _) = small.type_of(tensor).unwrap();
        assert_eq!(buffer.bytes, 4 * elements as u64);
        let is_external = small.graph.tensors[tensor].is_external();
        let drawn = if is_external { buffer.bytes } else { 0 };
        assert_eq!(buffer.contents.len() as u64, drawn, "{}", buffer.name);
    }
    let written = all.written(&small);
    let names: Vec<&str> = written
        .iter()
        .map(|(_, tensor)| small.graph.tensor_name(*tensor))
        .collect();
    assert_eq!(names, ["a", "b", "y"]);
    assert_eq!(all.job.within(&LIMITS), Ok(()));
    // Of large inputs a part is drawn, which is repeated.
    let (large, _) = reference(TEXT, &timed_budget(&LIMITS, &measured(RATES)));
    let timed = job(&large, &partition, DRAWN_ELEMENTS);
    let longest = timed.job.buffers.iter().map(|buffer| buffer.contents.len());
    assert_eq!(longest.max(), Some(4 * DRAWN_ELEMENTS));
}

#[test]
fn equal_layers_are_compiled_once() {
    let codes = |layers: u64| {
        let text = format!(
            "input x : f16[64, 64]\nrepeat {layers} with x = y {{\nweight w : f16[64, 64]\nh = linear(x, w)\ny = softmax(h)\n}}\n"
        );
        let (small, partition) = reference(&text, &Budget::INTERPRETED);
        let job = job(&small, &partition, DRAWN_ELEMENTS).job;
        let distinct: BTreeSet<_> = job.launches.iter().map(|launch| &*launch.code).collect();
        (job.launches.len(), distinct.len())
    };
    let ((one, distinct), many) = (codes(1), codes(5));
    assert_eq!(one, distinct);
    assert_eq!(many, (5 * one, distinct));
}

#[test]
fn kernels_without_a_shader_are_named() {
    let text = "input x : f32[64]\ny = relu(x)\nz = sort(y)";
    let (small, _) = reference(text, &Budget::INTERPRETED);
    let refused = ProgramJob::new(&small, &small.unfused(), ReshapeCost::View, 1).unwrap_err();
    let told = failure_text(&refused);
    assert!(
        told.starts_with("Not all kernels can be run here. Kernel 2 (`z`): "),
        "{told}"
    );
    assert!(refused.offers_script());
}

#[test]
fn views_are_launched_only_where_their_bytes_count() {
    let text = "input x : f32[8, 16]\ny = relu(x)\nz = transpose(y)\nw = exp(z)\nv = transpose(w)";
    let (small, _) = reference(text, &Budget::INTERPRETED);
    let unfused = small.unfused();
    for (reshape, launches, results) in
        [(ReshapeCost::View, 2, ["w"]), (ReshapeCost::Copy, 4, ["v"])]
    {
        let job = ProgramJob::new(&small, &unfused, reshape, 1).unwrap();
        assert_eq!(
            (job.job.launches.len(), job.kernels.len()),
            (launches, launches)
        );
        let is_result = job.results(&small);
        let written = job.written(&small).into_iter();
        let names: Vec<String> = written
            .filter(|&(_, tensor)| is_result[tensor])
            .map(|(_, tensor)| small.graph.tensor_name(tensor).to_owned())
            .collect();
        assert_eq!(names, results);
    }
}

#[test]
fn what_a_device_does_not_admit_is_said_with_both_figures() {
    let (small, partition) = reference(TEXT, &Budget::INTERPRETED);
    let job: Job = job(&small, &partition, 1).job;
    let text = |limits: Limits| failure_text(&job.within(&limits).unwrap_err());
    let tight = Limits {
        max_binding_bytes: 1000,
        ..LIMITS
    };
    assert!(
        text(tight).ends_with("and this GPU admits 1000 bytes in a buffer. Make sizes smaller.")
    );
    let tight = Limits {
        max_bindings: 2,
        ..LIMITS
    };
    assert_eq!(
        text(tight),
        "Kernel 1 (`a` and 2 more ops) needs 4 tensors, and this GPU admits 2 tensors. Cut the kernel, or choose a policy that fuses less."
    );
    let tight = Limits {
        max_workgroups: 3,
        ..LIMITS
    };
    assert!(text(tight).contains("workgroups in a row, and this GPU admits 3"));
}

#[test]
fn an_element_that_is_not_finite_has_to_be_so_in_both() {
    let inf = f64::INFINITY;
    let cases: [(&[f64], &[f64], f64); 7] = [
        (&[1.0, 2.5], &[1.0, 2.0], 0.5),
        (&[inf], &[inf], 0.0),
        (&[-inf], &[inf], inf),
        (&[f64::NAN], &[f64::NAN], 0.0),
        (&[f64::NAN], &[1.0], inf),
        (&[1.0], &[f64::NAN], inf),
        (&[1.0], &[1.0, 2.0], inf),
    ];
    for (values, exact, error) in cases {
        assert!(
            compare(values, exact).0.total_cmp(&error).is_eq(),
            "{values:?}"
        );
    }
}

/// A run whose results are exact but for `error` on the first element of each, and whose kernels take twice what is predicted.
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
    let times = |of: &fuseline::core::Execution| Times {
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

/// Before, a multiply-add counted as much as an element from memory, and runs of matmuls took a tenth of what they may.
#[test]
fn matmuls_count_by_the_rate_that_was_measured_of_one() {
    let text = "param N = 16384 in 64..16384 step 64\ninput x : f32[N, N]\nweight w : f32[N, N]\ny = matmul(x, w)";
    let size = |shader_product_flops_per_s| {
        let rates = Rates {
            shader_product_flops_per_s,
            ..RATES
        };
        let (large, _) = reference(text, &timed_budget(&LIMITS, &measured(rates)));
        large.sizes[0].1
    };
    assert_eq!(size(RATES.shader_product_flops_per_s), 4096);
    for unknown_or_slow in [None, Some(0.1e12)] {
        assert_eq!(size(unknown_or_slow), 2048);
    }
}

/// A shader adds up all elements before each, so it takes the square of the row, by which the time is bounded.
#[test]
fn cumulative_sums_are_run_at_sizes_that_a_shader_finishes() {
    for (axis, declared) in [("-1", "x : f32[64, N]"), ("0", "x : f32[N, 64]")] {
        let text = format!(
            "param N = 65536 in 64..65536 step 64\ninput {declared}\ny = cumsum(x, axis={axis})"
        );
        let budget = timed_budget(&LIMITS, &measured(RATES));
        let (large, _) = reference(&text, &budget);
        let (_, row) = large.sizes[0].clone();
        let steps = u64::try_from(64 * row * row).unwrap();
        assert!(
            steps <= budget.wanted_steps && 4 * steps > budget.wanted_steps,
            "{row} along {axis}"
        );
    }
    let refused = refused(
        "input x : f32[64, 524288]\ny = cumsum(x)\nz = relu(y)",
        &timed_budget(&LIMITS, &measured(RATES)),
    );
    assert!(
        refused.message.contains("17592254 million steps"),
        "{refused:?}"
    );
    assert!(
        refused.hint.contains("`y`") || refused.hint.contains("of y,"),
        "{refused:?}"
    );
}

/// A shader computes products far below the vector rate. Without a rate of them they are predicted at that one.
#[test]
fn products_are_predicted_at_the_rate_of_a_product() {
    let text =
        "input x : f16[2048, 2048]\nweight w : f16[2048, 2048]\na = matmul(x, w)\ny = gelu(a)";
    let (reference, partition) = reference(text, &Budget::ANY);
    let of_vectors = Rates {
        shader_product_flops_per_s: None,
        ..RATES
    };
    // What the visitor allows on matrix units does not count here.
    for f32_matmul in [F32Matmul::F32, F32Matmul::Tf32] {
        let mut options = Options::default();
        options.conventions.f32_matmul = f32_matmul;
        for (rates, flops_per_s) in [(RATES, 4e12), (of_vectors, 10e12)] {
            let analysis = predicted(&reference, &partition, &measured(rates), &options).unwrap();
            let kernels = &analysis.unfused.kernels;
            let [product, gelu] = [0, 1].map(|at| &kernels[KernelId::new(at)]);
            let product_s = 2.0 * 2048_f64.powi(3) / flops_per_s + 5e-6;
            assert!((product.placement.time_s - product_s).abs() < 1e-12);
            let bytes = 2.0 * 4.0 * 2048_f64.powi(2);
            assert!((gelu.placement.time_s - bytes / 400e9 - 5e-6).abs() < 1e-12);
        }
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
        told.find(|note| note.starts_with("Its shaders are slower"))
    };
    let cases = [
        (
            "input x : f32[8, 16, 64, 64]\nweight w : f32[16, 16, 3, 3]\ny = conv2d(x, w, padding=1)",
            "convolutions (the place of each element that they read is computed).",
        ),
        (
            "input x : f32[512, 64]\ny = cumsum(x, axis=-1)",
            "cumulative sums (each element adds up all before it).",
        ),
        (
            "input x : f32[512, 64]\nweight w : f32[64, 64]\ny = matmul(x, w)",
            "small matmuls (each tile of 64 x 64 has one group of threads).",
        ),
        (
            "input x : f32[512, 64]\ny = sum(x, axis=0)",
            "reductions along other axes than the last (threads beside each other read far apart).",
        ),
        (
            "input x : f32[8, 4096]\ny = softmax(x)",
            "long rows (they are read again in each pass) and few rows (each has one group of threads).",
        ),
    ];
    for (text, cause) in cases {
        assert_eq!(
            note(text),
            Some(format!("Its shaders are slower than that for {cause}"))
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
    // Bytes of f32: three tensors of S x H and w, once each.
    let (s, h) = (outcome.timed_sizes[0].1, outcome.timed_sizes[1].1);
    let bytes = 4.0 * (3 * s * h + h) as f64;
    assert!((row.fused.predicted_s - bytes / 400e9 - 5e-6).abs() < 1e-12);
    assert_eq!(
        rates_text(&outcome.measured),
        "test: copies at 400 GB/s, multiply-adds in f32 at 10.0 TFLOP/s, matmuls in a shader at 4.00 TFLOP/s, exponentials at 1.00 T/s, 5.00 µs a launch."
    );
    assert_eq!(
        notes(&outcome)[1],
        format!(
            "Timed at S = {s} instead of 4096, H = {h} instead of 1024, so that no tensor has more than 134 MB, all have no more than 268 MB, and a run takes 500 ms at most by estimate. The sliders choose smaller sizes."
        )
    );
}

#[test]
fn sizes_are_told_where_they_are_the_programs_own_and_where_nothing_is_compared() {
    let mut outcome = outcome(0.0);
    outcome.timed_sizes = outcome.own_sizes.clone();
    let told = notes(&outcome);
    assert_eq!(told[1], "Timed at the program's own sizes.");
    assert!(told[2].starts_with("Compared at S = "), "{}", told[2]);
    // Sizes that are numbers cannot be made smaller: the interpreter refuses what the GPU runs.
    let text = "input x : f32[8192, 8192]\ny = relu(x)";
    let (program, analysis) = program(text);
    let at =
        |budget: &Budget| Reference::new(&program, &analysis.partition, &Setup::default(), budget);
    let limits = Limits {
        max_buffer_bytes: 1 << 30,
        max_binding_bytes: 1 << 30,
        ..LIMITS
    };
    assert!(at(&timed_budget(&limits, &measured(RATES))).is_ok());
    outcome.checks = Err(at(&Budget::INTERPRETED).unwrap_err());
    let told = headline(&outcome);
    assert!(
        told[0].starts_with("Results were not compared, because the interpreter cannot follow: a run would take 135 million steps"),
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
            "This browser has no WebGPU, so nothing can be run on your GPU here. Chrome, Edge and Safari 26 have it.",
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
            "The connection to the GPU was lost: it broke. Run again to open it anew.",
            true,
        ),
        (
            Failure::Lost(String::new()),
            "The connection to the GPU was lost. Run again to open it anew.",
            true,
        ),
        (
            Failure::OutOfMemory,
            "The GPU has no room for the tensors. Make sizes smaller, or close other programs that use it.",
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
            "Kernel 1 took longer than 2 s and was given up. Make sizes smaller.",
            true,
        ),
        (
            Failure::Other(message()),
            "The GPU could not run this: it broke.",
            true,
        ),
        (Failure::Stopped, "Stopped.", false),
    ];
    for (failure, told, offers_script) in cases {
        assert_eq!(failure_text(&failure), told);
        assert_eq!(failure.offers_script(), offers_script, "{told}");
    }
    let (program, analysis) = program("");
    let refused = Reference::new(
        &program,
        &analysis.partition,
        &Setup::default(),
        &Budget::INTERPRETED,
    );
    let refused = Failure::from(refused.unwrap_err());
    assert_eq!(
        failure_text(&refused),
        "Not run: there is nothing to run; write an op, or mend the errors of the text."
    );
    assert!(!refused.offers_script());
}

#[test]
fn a_wrong_result_is_told_with_the_first_tensor_that_is_wrong() {
    let outcome = outcome(0.5);
    let told = headline(&outcome);
    assert_eq!(
        told[0],
        "The unfused run is wrong from `a` on: its times mean nothing."
    );
    assert!(told[1].starts_with("The fused run is wrong"));
    assert!(!check_rows(&outcome)[0].is_right);
}

#[test]
fn bars_stand_for_both_times_of_each_kernel() {
    let outcome = outcome(0.0);
    for (rows, height) in [(Rows::Total, 78.0), (Rows::Kernels, 78.0)] {
        let scene = scene(&outcome, rows, 800.0);
        assert!((scene.height - height).abs() < 1.0);
        let bars: Vec<f64> = (scene.marks.iter().filter(|mark| mark.label.is_some()))
            .map(|mark| match &mark.shape {
                fuseline::picture::charts::scene::Shape::Rect { width, .. } => *width,
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

proptest! {
    #[test]
    fn elements_come_back_as_they_went(values in prop::collection::vec(-1e6..1e6_f64, 0..50)) {
        for (dtype, back) in [
            (DType::F32, (|value| fuseline::core::interpret::rounded(value, DType::F32)) as fn(f64) -> f64),
            (DType::I64, f64::trunc),
        ] {
            let expected: Vec<f64> = values.iter().map(|&value| back(value)).collect();
            prop_assert_eq!(elements(&words(&values, dtype), dtype), expected);
        }
    }
}
