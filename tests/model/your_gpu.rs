//! The program for the GPU of a visitor: sizes, inputs, jobs, and elements beside the exact ones.
//! `tests/e2e/your_gpu.spec.mjs` runs jobs on a GPU.

use fuseline_codegen::interpret::{Budget, Interpretation, NotRun, Reference, Setup, interpret};
use fuseline_codegen::your_gpu::job::{elements, words};
use fuseline_codegen::your_gpu::{
    DRAWN_ELEMENTS, Job, Limits, ProgramJob, Rates, compare, predicted, timed_budget,
};
use fuseline_core::model::day::Day;
use fuseline_core::model::device::DeviceProbe;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, DType, F32Matmul, KernelId, Options, Partition, Program, ReshapeCost, analyze_program,
};
use fuseline_view::present::your_gpu::failure_text;
use proptest::prelude::*;
use std::collections::BTreeSet;

pub(crate) const TEXT: &str = "param S = 4096 in 1..65536\nparam H = 1024 in 1..65536\ninput x : f16[S, H]\n\
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

pub(crate) fn program(text: &str) -> (Program, Analysis) {
    let program = parse(text).program;
    let analysis = analyze_program(&program, &Options::default()).analysis;
    (program, analysis.unwrap())
}

pub(crate) fn reference(text: &str, budget: &Budget) -> (Reference, Partition) {
    let (program, analysis) = program(text);
    let reference = Reference::new(&program, &analysis.partition, &Setup::default(), budget);
    (reference.unwrap(), analysis.partition)
}

/// Why a program has no reference within a budget.
pub(crate) fn refused(text: &str, budget: &Budget) -> NotRun {
    let (program, analysis) = program(text);
    let reference = Reference::new(&program, &analysis.partition, &Setup::default(), budget);
    reference.unwrap_err()
}

pub(crate) fn job(reference: &Reference, partition: &Partition, most_drawn: usize) -> ProgramJob {
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
        "the largest tensor would have 67.2 million elements, and the limit is 1.05 million"
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
        told.starts_with("This GPU cannot run all kernels. Kernel 2 (`z`): "),
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
        text(tight).ends_with("and this GPU allows 1000 bytes in a buffer. Make sizes smaller.")
    );
    let tight = Limits {
        max_bindings: 2,
        ..LIMITS
    };
    assert_eq!(
        text(tight),
        "Kernel 1 (`a` and 2 more ops) needs 4 tensors, and this GPU allows 2 tensors. Cut the kernel, or choose a policy that fuses less."
    );
    let tight = Limits {
        max_workgroups: 3,
        ..LIMITS
    };
    assert!(text(tight).contains("workgroups in a row, and this GPU allows 3"));
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

/// Before, a multiply-add counted as much as an element from memory, and runs of matmuls took a
/// tenth of what they may.
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
    assert_eq!(size(None), 2048);
    // On a processor in the place of a GPU a matmul is slower than all else.
    assert_eq!(size(Some(0.05e12)), 1024);
}

/// A shader adds up all elements before each, so it takes the square of the row, by which the time
/// is bounded.
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
        refused.message.contains("17.6 trillion steps"),
        "{refused:?}"
    );
    assert!(
        refused.hint.contains("`y`") || refused.hint.contains("of y,"),
        "{refused:?}"
    );
}

/// A shader computes products far below the vector rate. Without a rate of them they are predicted
/// at that one.
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

proptest! {
    #[test]
    fn elements_come_back_as_they_went(values in prop::collection::vec(-1e6..1e6_f64, 0..50)) {
        for (dtype, back) in [
            (DType::F32, (|value| fuseline_codegen::interpret::rounded(value, DType::F32)) as fn(f64) -> f64),
            (DType::I64, f64::trunc),
        ] {
            let expected: Vec<f64> = values.iter().map(|&value| back(value)).collect();
            prop_assert_eq!(elements(&words(&values, dtype), dtype), expected);
        }
    }
}
