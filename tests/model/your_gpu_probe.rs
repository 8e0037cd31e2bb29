//! The jobs that measure the GPU of a visitor, the device that their rates make of it, and how
//! often a launch is repeated.

use crate::your_gpu::{LIMITS, RATES, measured, today};
use fuseline_codegen::your_gpu::probe::Probe;
use fuseline_codegen::your_gpu::repeats::{ROUNDS, Repeats, WANTED_S};
use fuseline_codegen::your_gpu::{Limits, Rates, probe};
use fuseline_core::model::device::DeviceProbe;
use fuseline_core::{DType, F32Matmul};
use fuseline_view::present::devices::figure_rows;
use fuseline_view::present::your_gpu::{failure_text, rates_text};
use proptest::prelude::*;

#[test]
fn a_gpu_measured_by_webgpu_is_a_device_of_its_rates() {
    let probe = measured(RATES);
    assert_eq!(probe.title(), "test (2026-11-24, WebGPU)");
    assert_eq!(DeviceProbe::of_json(&probe.json()).as_ref(), Some(&probe));
    let device = probe.device();
    assert_eq!(device.on_chip_bytes(), 32_768);
    let peak = |dtype| device.matmul_peak(dtype, F32Matmul::Tf32).unwrap();
    for dtype in [DType::F16, DType::Bf16, DType::F32] {
        assert!(peak(dtype).is_on_vector_units);
        assert!(peak(dtype).figure.value.total_cmp(&10e12).is_eq());
    }
    let rows = figure_rows(&device);
    let figure = |what: &str| {
        rows.iter()
            .find(|row| row.what == what)
            .unwrap()
            .figure
            .clone()
    };
    assert_eq!(figure("matrix units, f16 and bf16"), "not specified");
    assert_eq!(figure("measured: exponentials"), "1.00 T/s");
    // Times of the tab follow from what was measured even where the table has higher peaks.
    let listed = RATES.device_probe("NVIDIA H200", today(), &LIMITS).unwrap();
    assert!(
        listed
            .measured_device()
            .memory_bytes_per_s
            .value
            .total_cmp(&400e9)
            .is_eq()
    );
}

#[test]
fn rates_that_a_clock_does_not_show_are_sentences() {
    let copy = probe::copy(&LIMITS);
    for time_s in [0.0, f64::NAN, f64::INFINITY, -1.0] {
        let told = failure_text(&copy.rate(time_s).unwrap_err());
        assert_eq!(
            told,
            "The rates of this GPU could not be measured: the clock shows no time for the measurement of the bandwidth. Run again while nothing else uses it."
        );
    }
    assert!(copy.rate(1e-3).unwrap() > 1e11);
    for (rates, field) in [
        (
            Rates {
                launch_s: 0.0,
                ..RATES
            },
            "kernel_s is 0e0",
        ),
        (
            Rates {
                vector_flops_per_s: 1.0,
                ..RATES
            },
            "vector_flops_per_s is 1e0",
        ),
        (
            Rates {
                memory_bytes_per_s: f64::NAN,
                ..RATES
            },
            "memory_bytes_per_s is NaN",
        ),
    ] {
        let refused = rates.device_probe("test", today(), &LIMITS).unwrap_err();
        let told = failure_text(&refused);
        assert!(told.contains(field), "{told}");
        assert!(refused.offers_script());
    }
    // A renderer of software on a busy machine has computed a matmul at this rate.
    let slow = Rates {
        shader_product_flops_per_s: Some(8.6e7),
        ..RATES
    };
    assert!(rates_text(&measured(slow)).contains("matmuls in a shader at 86.0 MFLOP/s"));
    // Without exponentials and matmuls the others hold.
    let product = probe::product(&LIMITS, 10e12).unwrap();
    let rates = Rates {
        shader_product_flops_per_s: product.per_s(0.0),
        exp_per_s: probe::exponentials(32).per_s(0.0),
        ..RATES
    };
    let told = rates_text(&measured(rates));
    assert!(
        told.contains("matmuls too fast to measure, exponentials too fast to measure"),
        "{told}"
    );
    for (called, name) in [
        ("", "GPU without a name"),
        ("a\nb", "ab"),
        (&*"x".repeat(200), &*"x".repeat(80)),
    ] {
        assert_eq!(DeviceProbe::name_of(called), name);
    }
}

#[test]
fn probes_fit_the_limits_of_every_device() {
    for limits in [
        LIMITS,
        Limits {
            max_binding_bytes: 1 << 20,
            ..LIMITS
        },
    ] {
        let copy = probe::copy(&limits);
        assert_eq!(copy.job.within(&limits), Ok(()));
        let bytes = copy.job.buffers[0].bytes;
        assert!(copy.amount.total_cmp(&(2.0 * bytes as f64)).is_eq());
    }
    for probe in [
        probe::chains(32),
        probe::exponentials(32),
        probe::launches(),
    ] {
        assert_eq!(probe.job.within(&LIMITS), Ok(()));
        assert!(probe.amount >= 1.0);
    }
}

/// The larger the faster the GPU, and never larger than a tensor may be.
#[test]
fn a_product_is_measured_at_a_size_that_the_gpu_computes_quickly() {
    let size = |max_binding_bytes: u64, vector_flops_per_s: f64| {
        let limits = Limits {
            max_binding_bytes,
            ..LIMITS
        };
        let Probe { job, amount } = probe::product(&limits, vector_flops_per_s).unwrap();
        assert_eq!(job.within(&limits), Ok(()));
        let [x, w, y] = &job.buffers[..] else {
            panic!("three matrices");
        };
        assert!(x.bytes == w.bytes && w.bytes == y.bytes);
        assert_eq!(job.launches.len(), 1);
        assert_eq!(job.launches[0].name, "the measurement of products");
        let size = (x.bytes / 4).isqrt();
        assert!(amount.total_cmp(&(2.0 * (size as f64).powi(3))).is_eq());
        size
    };
    let most = LIMITS.max_binding_bytes;
    // A renderer of software, a small GPU, a large one.
    assert_eq!(
        [5e9, 1e12, 60e12].map(|rate| size(most, rate)),
        [128, 1024, 4096]
    );
    assert_eq!(size(1 << 20, 60e12), 512);
    assert_eq!(size(most, 1e8), 64);
}

/// Four numbers a link, two FLOPs each.
#[test]
fn a_chain_has_the_links_that_are_counted() {
    let chains = probe::chains(3);
    let [launch] = &chains.job.launches[..] else {
        panic!("one launch");
    };
    let links = launch.code.matches("= chained(").count();
    let threads = u64::from(launch.workgroups[0]) * 256;
    let flops = threads * 3 * links as u64 * 4 * 2;
    assert!(
        chains.amount.total_cmp(&(flops as f64)).is_eq(),
        "{links} links"
    );
    let doubled = probe::exponentials(3).amount * 2.0;
    assert!(doubled.total_cmp(&chains.amount).is_eq());
}

proptest! {
    /// Whatever a launch takes, the search ends, and what it says is the time to the resolution of
    /// the clock.
    #[test]
    fn repetitions_end_with_the_time_of_one(exponent in -7.0..0.3_f64, launches in 1_u32..200) {
        const RESOLUTION_S: f64 = 1e-4;
        let time_s = 10_f64.powf(exponent);
        let mut repeats = Repeats::new(launches, WANTED_S);
        let mut found = None;
        for _ in 0..ROUNDS + 16 {
            let passed_s = time_s * f64::from(repeats.count);
            found = repeats.measured((passed_s / RESOLUTION_S).floor() * RESOLUTION_S);
            if found.is_some() {
                break;
            }
        }
        let found = found.unwrap();
        let resolution_s = RESOLUTION_S / f64::from(repeats.count);
        prop_assert!((found - time_s).abs() <= resolution_s + 1e-12, "{found} for {time_s}");
        prop_assert!(repeats.count * launches <= 4096 || repeats.count == 1);
    }
}
