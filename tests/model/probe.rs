//! GPUs that a visitor measured: what a probe may say, and the device that it makes.

use fuseline::core::model::day::Day;
use fuseline::core::model::device::{DeviceProbe, Rate, RatesFrom, Source};
use fuseline::core::{Device, Options, Policy, analyze_program, device};
use serde_json::{Value, json};

/// What a probe of an H200 tells when it finds the rates that are shipped.
fn h200_probe() -> Value {
    json!({
        "name": "NVIDIA H200",
        "measured_on": "2026-11-23",
        "measured_with": "PyTorch 2.11.0",
        "memory_bytes_per_s": 4.3e12,
        "l2_bytes_per_s": 6.3e12,
        "matrix_f16_flops_per_s": 8e14,
        "matrix_bf16_flops_per_s": 7.9e14,
        "matrix_tf32_flops_per_s": 4e14,
        "vector_flops_per_s": 6.04e13,
        "exp_per_s": 3.76e12,
        "kernel_s": 2e-6,
        "multiprocessors": 132,
        "memory_bytes": 150_000_000_000_u64,
        "l2_bytes": 62_914_560,
        "shared_bytes_per_block": 232_448
    })
}

/// The same with other fields; `null` leaves one out.
fn probe_with(changes: Value) -> Value {
    let mut probe = h200_probe();
    let fields = probe.as_object_mut().unwrap();
    for (field, value) in changes.as_object().unwrap() {
        if value.is_null() {
            fields.shift_remove(field);
        } else {
            fields.insert(field.clone(), value.clone());
        }
    }
    probe
}

fn today() -> Day {
    "2026-11-24".parse().unwrap()
}

fn read(probe: &Value) -> Result<DeviceProbe, String> {
    let file = json!({ "device": probe, "torch": "2.11.0" });
    DeviceProbe::read(&file.to_string(), today())
}

fn device_with(changes: Value) -> Device {
    read(&probe_with(changes)).unwrap().device()
}

#[test]
fn figures_that_cannot_be_get_a_sentence() {
    let cases = [
        (
            json!({"memory_bytes_per_s": -1.0}),
            "device.memory_bytes_per_s is -1e0, and has to be from 1e8 to 1e15",
        ),
        (
            json!({"vector_flops_per_s": 0}),
            "device.vector_flops_per_s is 0e0, and has to be from 1e8 to 1e17",
        ),
        (
            json!({"exp_per_s": 1e40}),
            "device.exp_per_s is 1e40, and has to be from 1e7 to 1e16",
        ),
        (
            json!({"kernel_s": 1.5}),
            "device.kernel_s is 1.5e0, and has to be from 1e-8 to 1e-2",
        ),
        (
            json!({"kernel_s": null}),
            "device: missing field `kernel_s` at",
        ),
        (
            json!({"memory_bytes_per_s": "fast"}),
            "device.memory_bytes_per_s: invalid type: string \"fast\"",
        ),
        (
            json!({"measured_on": "2027-01-01"}),
            "device.measured_on is 2027-01-01, and today is 2026-11-24",
        ),
        (
            json!({"measured_on": "yesterday"}),
            "device.measured_on: a day is written as 2026-11-23",
        ),
        (
            json!({"measured_on": "2026-02-30"}),
            "device.measured_on: a day is written as 2026-11-23",
        ),
        (
            json!({"multiprocessors": -3}),
            "device.multiprocessors: invalid value",
        ),
        (
            json!({"name": ""}),
            "device.name has to be one line of 1 to 80 characters",
        ),
        (
            json!({"name": "H200\nlaunch=1"}),
            "device.name has to be one line",
        ),
    ];
    for (changes, said) in cases {
        let problem = read(&probe_with(changes.clone())).unwrap_err();
        assert!(problem.starts_with(said), "{changes}: {problem}");
    }
    let nan = json!({ "device": h200_probe() })
        .to_string()
        .replace("4300000000000.0", "NaN");
    let problem = DeviceProbe::read(&nan, today()).unwrap_err();
    assert!(
        problem.contains("memory_bytes_per_s: NaN is no number of JSON"),
        "{problem}"
    );
    assert!(DeviceProbe::read("{\"device\": \"cpu\"}", today()).is_err());
}

#[test]
fn a_probe_is_the_same_after_its_json() {
    for changes in [
        json!({}),
        json!({"exp_per_s": null, "l2_bytes": null}),
        json!({"name": "Größe ✓"}),
    ] {
        let probe = read(&probe_with(changes)).unwrap();
        assert_eq!(DeviceProbe::of_json(&probe.json()), Some(probe.clone()));
        assert!(!probe.json().contains('\n'));
    }
    let impossible = probe_with(json!({"kernel_s": 7})).to_string();
    assert_eq!(DeviceProbe::of_json(&impossible), None);
}

/// A probe that finds the shipped rates gives the shipped times, and says when.
#[test]
fn a_probe_of_the_measured_device_agrees_with_it() {
    let probed = device_with(json!({}));
    let shipped = device("h200").unwrap();
    assert_eq!(
        probed.matrix_f16_flops_per_s,
        shipped.matrix_f16_flops_per_s
    );
    assert_eq!(probed.memory_bytes_per_s, shipped.memory_bytes_per_s);
    assert!(
        probed
            .citation()
            .ends_with("; measured on 2026-11-23 with PyTorch 2.11.0")
    );
    let [own, known] = [&probed, shipped].map(|device| device.calibration().unwrap());
    assert_eq!(own.rates, known.rates);
    assert_eq!(
        own.rates_from,
        RatesFrom::Probe {
            measured_on: "2026-11-23".parse().unwrap(),
            others_from: "H200".into()
        }
    );
}

/// Each measured rate sets its own figure and those that hang on it.
#[test]
fn rates_that_were_not_measured_follow_the_nearest_that_was() {
    let known = device("h200").unwrap().calibration().unwrap().rates;
    let rates = |changes: Value| device_with(changes).calibration().unwrap().rates;
    let half = |value: f64, of: f64| assert!((value / of - 0.5).abs() < 1e-9, "{value} {of}");
    let slow = rates(json!({"vector_flops_per_s": 3.02e13}));
    half(slow.vector_per_s, known.vector_per_s);
    half(slow.library_softmax_per_s, known.library_softmax_per_s);
    half(slow.erf_per_s, known.erf_per_s);
    assert_eq!(
        (slow.exp_per_s, slow.l2_bytes_per_s),
        (known.exp_per_s, known.l2_bytes_per_s)
    );
    let slow =
        rates(json!({"vector_flops_per_s": 3.02e13, "exp_per_s": null, "l2_bytes_per_s": null}));
    half(slow.exp_per_s, known.exp_per_s);
    half(slow.tanh_per_s, known.tanh_per_s);
    half(slow.l2_bytes_per_s, known.l2_bytes_per_s);
    let slow = rates(json!({"exp_per_s": 1.88e12}));
    half(slow.division_per_s, known.division_per_s);
    assert_eq!(slow.vector_per_s, known.vector_per_s);
    let quick = rates(json!({"kernel_s": 1e-6}));
    half(quick.kernel_s, known.kernel_s);
    half(quick.matmul_s, known.matmul_s);
    assert_eq!(quick.row_wave_s, known.row_wave_s);
    let small = rates(json!({"l2_bytes": 31_457_280}));
    half(small.l2_kept_bytes, known.l2_kept_bytes);
    // Without a matrix rate the peak of the table scales it, and this one is the H200's own.
    assert_eq!(
        rates(json!({"matrix_f16_flops_per_s": null})).matrix_f16_flops_per_s,
        known.matrix_f16_flops_per_s
    );
}

/// Of a GPU that the table lacks, the measured rates are the peaks; what was not measured is unknown.
#[test]
fn a_gpu_that_the_table_lacks_has_what_was_measured() {
    let unlisted = device_with(json!({"name": "Moore Threads S4000"}));
    assert_eq!(unlisted.source, Source::Probe);
    assert!(
        unlisted
            .citation()
            .contains("the table of devices lacks this GPU; measured on 2026-11-23")
    );
    let value = |rate: Rate| rate.figure(&unlisted).map(|figure| figure.value);
    assert_eq!(value(Rate::MatrixF16), Some(8e14));
    assert_eq!(value(Rate::MatrixTf32), Some(4e14));
    assert_eq!(value(Rate::Vector), Some(6.04e13));
    assert_eq!(value(Rate::MatrixI8), None);
    assert_eq!(unlisted.on_chip_bytes(), 232_448);
    assert!(unlisted.calibration().is_some());

    // As a browser measures: bandwidth, vector rate and launches. Times are bounds then, at the measured rates.
    let browser = DeviceProbe::new("SwiftShader", today(), "WebGPU", 8e9, 2e10, 2e-4);
    assert_eq!(browser.check(), Ok(()));
    let browser = browser.device();
    assert_eq!(browser.calibration(), None);
    let program =
        fuseline::core::notation::parse("input a : f16[1024, 1024]\ny = matmul(a, a)\n").program;
    let options = Options {
        device: browser,
        ..Options::of_policy(Policy::None)
    };
    let analysis = analyze_program(&program, &options).analysis.unwrap();
    let expected_s = 2.0 * 1024_f64.powi(3) / 2e10 + 2e-4;
    assert!((analysis.fused.time_s / expected_s - 1.0).abs() < 1e-9);
}

#[test]
fn a_launch_time_of_ones_own_stands_beside_the_measured_one() {
    let probed = device_with(json!({"kernel_s": 3e-6}));
    assert!(!probed.has_own_launch());
    let slower = probed.with_launch_s(5e-6);
    assert!(slower.has_own_launch());
    let rates = slower.calibration().unwrap().rates;
    assert!((rates.kernel_s - 5e-6).abs() < 1e-12, "{}", rates.kernel_s);
}
