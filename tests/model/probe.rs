//! GPUs that a visitor measured: what a probe may say, the device that it makes, and its ways.

use crate::cli::{run, stderr, stdout};
use fuseline::app::measured_devices::{
    MAX_DEVICES, keep_device, read_devices, replace_device, write_devices,
};
use fuseline_core::model::day::Day;
use fuseline_core::model::device::{DeviceProbe, Measured, Rate, RatesFrom, Source};
use fuseline_core::{Device, Options, Policy, analyze_program, device};
use fuseline_import::profile::{Kind, read_profile};
use fuseline_view::opened::model_file::{FileKind, kind_of};
use fuseline_view::page::links::{SharedState, read_state, write_state};
use fuseline_view::present::devices::figure_rows;
use serde_json::{Value, json};
use std::sync::Arc;

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
        "kernel_s": 1.1e-6,
        "multiprocessors": 132,
        "memory_bytes": 150_000_000_000_u64,
        "l2_bytes": 62_914_560,
        "shared_bytes_per_block": 232_448
    })
}

/// The same with other fields; `null` leaves one out.
fn probe_with(changes: &Value) -> Value {
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
    DeviceProbe::read(&file.to_string(), today()).map_err(|problem| problem.to_string())
}

fn device_with(changes: &Value) -> Device {
    read(&probe_with(changes)).unwrap().device()
}

#[test]
fn figures_that_cannot_be_get_a_sentence() {
    let cases = [
        (
            json!({"memory_bytes_per_s": -1.0}),
            "device.memory_bytes_per_s is -1e0, and must be from 1e8 to 1e15",
        ),
        (
            json!({"vector_flops_per_s": 0}),
            "device.vector_flops_per_s is 0e0, and must be from 1e8 to 1e17",
        ),
        (
            json!({"exp_per_s": 1e40}),
            "device.exp_per_s is 1e40, and must be from 1e7 to 1e16",
        ),
        (
            json!({"kernel_s": 1.5}),
            "device.kernel_s is 1.5e0, and must be from 1e-8 to 1e-2",
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
            "device.measured_on: write a day as 2026-11-23",
        ),
        (
            json!({"measured_on": "2026-02-30"}),
            "device.measured_on: write a day as 2026-11-23",
        ),
        (
            json!({"multiprocessors": -3}),
            "device.multiprocessors: invalid value",
        ),
        (
            json!({"name": ""}),
            "device.name must be one line of 1 to 80 characters",
        ),
        (
            json!({"name": "H200\nlaunch=1"}),
            "device.name must be one line",
        ),
    ];
    for (changes, said) in cases {
        let problem = read(&probe_with(&changes)).unwrap_err();
        assert!(problem.starts_with(said), "{changes}: {problem}");
    }
    let nan = json!({ "device": h200_probe() })
        .to_string()
        .replace("4300000000000.0", "NaN");
    let problem = (DeviceProbe::read(&nan, today()).unwrap_err()).to_string();
    assert!(
        problem.contains("memory_bytes_per_s: NaN is not a JSON number"),
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
        let probe = read(&probe_with(&changes)).unwrap();
        assert_eq!(DeviceProbe::of_json(&probe.json()), Some(probe.clone()));
        assert!(!probe.json().contains('\n'));
    }
    let impossible = probe_with(&json!({"kernel_s": 7})).to_string();
    assert_eq!(DeviceProbe::of_json(&impossible), None);
}

/// A probe that finds the shipped rates gives the shipped times, and says when.
#[test]
fn a_probe_of_the_measured_device_agrees_with_it() {
    let probed = device_with(&json!({}));
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

type Figures = fn(&Measured) -> Vec<f64>;

/// Each measured rate sets its own figure and those that hang on it.
#[test]
fn rates_that_were_not_measured_follow_the_nearest_that_was() {
    let known = device("h200").unwrap().calibration().unwrap().rates;
    // The halved or missing fields, the figures that are half of the H200's then, and others that
    // stay.
    let cases: [(Value, Figures, Figures); 6] = [
        (
            json!({"vector_flops_per_s": 3.02e13}),
            |m| {
                vec![
                    m.vector_per_s,
                    m.library_softmax_per_s,
                    m.erf_per_s,
                    m.strided_per_s,
                ]
            },
            |m| vec![m.exp_per_s, m.l2_bytes_per_s, m.memory_bytes_per_s],
        ),
        (
            json!({"vector_flops_per_s": 3.02e13, "exp_per_s": null, "l2_bytes_per_s": null}),
            |m| vec![m.exp_per_s, m.tanh_per_s, m.l2_bytes_per_s],
            |m| vec![m.matrix_f16_flops_per_s],
        ),
        (
            json!({"exp_per_s": 1.88e12}),
            |m| vec![m.exp_per_s, m.division_per_s],
            |m| vec![m.vector_per_s],
        ),
        (
            json!({"kernel_s": 0.55e-6}),
            |m| vec![m.kernel_s, m.matmul_s],
            |m| vec![m.row_wave_s, m.convolution_tile_s],
        ),
        (
            json!({"l2_bytes": 31_457_280}),
            |m| vec![m.l2_kept_bytes],
            |m| vec![m.l2_bytes_per_s],
        ),
        // Without a matrix rate the peak of the table scales it, and this one is the H200's own.
        (
            json!({"matrix_f16_flops_per_s": null, "memory_bytes_per_s": 2.15e12}),
            |m| vec![m.memory_bytes_per_s],
            |m| vec![m.matrix_f16_flops_per_s],
        ),
    ];
    for (changes, halved, kept) in cases {
        let rates = device_with(&changes).calibration().unwrap().rates;
        for (figures, ratio) in [(halved, 0.5), (kept, 1.0)] {
            for (own, known) in figures(&rates).into_iter().zip(figures(&known)) {
                assert!(
                    (own / known - ratio).abs() < 1e-9,
                    "{changes}: {own} {known}"
                );
            }
        }
    }
}

/// Of a GPU that the table lacks, the measured rates are the peaks; what was not measured is
/// unknown.
#[test]
fn a_gpu_that_the_table_lacks_has_what_was_measured() {
    let unlisted = device_with(&json!({"name": "Moore Threads S4000"}));
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

    // As a browser measures: bandwidth, vector rate and launches. Times are bounds then, at the
    // measured rates.
    let browser = DeviceProbe::new("SwiftShader", today(), "WebGPU", 8e9, 2e10, 2e-4);
    assert_eq!(browser.check(), Ok(()));
    let browser = browser.device();
    assert_eq!(browser.calibration(), None);
    let program =
        fuseline_core::notation::parse("input a : f16[1024, 1024]\ny = matmul(a, a)\n").program;
    let options = Options {
        device: browser,
        ..Options::of_policy(Policy::None)
    };
    let analysis = analyze_program(&program, &options).analysis.unwrap();
    let predicted_s = 2.0 * 1024_f64.powi(3) / 2e10 + 2e-4;
    assert!((analysis.fused.time_s / predicted_s - 1.0).abs() < 1e-9);
}

#[test]
fn a_launch_time_of_ones_own_stands_beside_the_measured_one() {
    let probed = device_with(&json!({"kernel_s": 1.65e-6}));
    assert!(!probed.has_own_launch());
    let slower = probed.with_launch_s(3.65e-6);
    assert!(slower.has_own_launch());
    // As the probe's small kernel, half as long again as the H200's, and two microseconds more.
    let rates = slower.calibration().unwrap().rates;
    assert!(
        (rates.kernel_s - 4.55e-6).abs() < 1e-12,
        "{}",
        rates.kernel_s
    );
}

#[test]
fn a_measured_device_travels_in_links_and_to_the_worker() {
    for changes in [json!({}), json!({"name": "Größe = 1", "exp_per_s": null})] {
        for launch_s in [None, Some(7e-6)] {
            let mut device = device_with(&changes);
            if let Some(launch_s) = launch_s {
                device = device.with_launch_s(launch_s);
            }
            let bytes = borsh::to_vec(&device).unwrap();
            assert_eq!(borsh::from_slice::<Device>(&bytes).unwrap(), device);
            let state = SharedState {
                text: "y = relu(x) : f16[8]\n".to_owned(),
                device,
                ..SharedState::default()
            };
            let written = write_state(&state).unwrap();
            assert_eq!(read_state(written.into_bytes()), Ok(state));
        }
    }
    // A link whose figures cannot be has the usual device.
    let impossible = probe_with(&json!({"kernel_s": 1e40}));
    for probe in [impossible.to_string(), "{}".to_owned(), "x".to_owned()] {
        let state = read_state(format!("probe={probe}\n\ny = relu(x)\n").into()).unwrap();
        assert_eq!(state.device, SharedState::default().device, "{probe}");
    }
}

#[test]
fn measured_devices_are_kept_once_and_one_bad_entry_costs_no_other() {
    let probe = |name: &str| Arc::new(read(&probe_with(&json!({"name": name}))).unwrap());
    let mut kept = Vec::new();
    assert!(keep_device(&mut kept, probe("first")));
    assert!(keep_device(&mut kept, probe("second")));
    assert!(!keep_device(&mut kept, probe("first")));
    let stored = write_devices(&kept);
    assert_eq!(read_devices(&stored), [probe("second"), probe("first")]);
    let damaged = stored
        .replacen("6.04e13", "0", 1)
        .replacen("60400000000000.0", "0", 1);
    assert_eq!(read_devices(&damaged), [probe("first")]);
    assert_eq!(read_devices("no JSON"), []);
    for at in 0..2 * MAX_DEVICES {
        keep_device(&mut kept, probe(&at.to_string()));
    }
    assert_eq!(kept.len(), MAX_DEVICES);
}

/// Who measures a GPU again means the new rates; those by other means and of other GPUs stay.
#[test]
fn a_gpu_that_is_measured_again_replaces_itself() {
    let probe = |name: &str, with: &str, kernel_s: f64| {
        let changes = json!({"name": name, "measured_with": with, "kernel_s": kernel_s});
        Arc::new(read(&probe_with(&changes)).unwrap())
    };
    let others = [
        probe("a", "PyTorch 2.11.0", 1e-6),
        probe("b", "WebGPU", 1e-6),
    ];
    let mut kept = vec![probe("a", "WebGPU", 1e-6)];
    kept.extend(others.clone());
    for kernel_s in [2e-6, 2e-6, 3e-6] {
        replace_device(&mut kept, probe("a", "WebGPU", kernel_s));
        assert_eq!(kept[0], probe("a", "WebGPU", kernel_s));
        assert_eq!(kept[1..], others);
    }
}

/// What a script saves with its kernels has the GPU, too; an older script has its name alone.
#[test]
fn a_measurement_tells_its_device() {
    let file = |device: &Value| {
        json!({
            "program": "p", "digest": "0", "device": device, "torch": "2.11.0",
            "rows": [{"variant": "eager", "time_us": 1, "kernels": [{"name": "k", "time_us": 1}]}]
        })
        .to_string()
    };
    let alone = json!({"device": h200_probe(), "torch": "2.11.0"}).to_string();
    assert_eq!(kind_of("device.json", alone.as_bytes()), FileKind::Device);
    let with_kernels = file(&h200_probe());
    assert_eq!(
        kind_of("bench.json", with_kernels.as_bytes()),
        FileKind::Profile(Kind::Script)
    );
    let read = |text: &str| read_profile(Kind::Script, text.as_bytes());
    let probed = read(&with_kernels).unwrap();
    assert_eq!(probed.device.as_deref(), Some("NVIDIA H200"));
    assert_eq!(probed.measured_device(), Some(device_with(&json!({}))));
    let named = read(&file(&json!("NVIDIA H200"))).unwrap();
    assert_eq!(named.measured_device().as_ref(), device("h200"));
    // The kernels count, whatever the rates are.
    let impossible = read(&file(&probe_with(&json!({"exp_per_s": -1})))).unwrap();
    assert_eq!(impossible.measured_device().as_ref(), device("h200"));
    let problem = read(&file(&probe_with(&json!({"kernel_s": null}))))
        .unwrap_err()
        .to_string();
    assert!(
        problem.contains("device: missing field `kernel_s`"),
        "{problem}"
    );
}

#[test]
fn the_figures_tell_what_was_measured() {
    let rows = figure_rows(&device_with(&json!({"exp_per_s": null})));
    let figure = |what: &str| {
        rows.iter()
            .find(|row| row.what == what)
            .map(|row| &*row.figure)
    };
    assert_eq!(figure("memory bandwidth"), Some("4.80 TB/s"));
    assert_eq!(figure("measured: memory"), Some("4.30 TB/s"));
    assert_eq!(figure("measured: exponentials"), None);
}

#[test]
fn the_command_line_takes_a_measured_device() {
    let path = std::env::temp_dir().join(format!("fuseline-probe-{}.json", std::process::id()));
    let analyzed = |probe: Value| {
        std::fs::write(&path, json!({ "device": probe }).to_string()).unwrap();
        let flags = ["analyze", "-", "--device", path.to_str().unwrap()];
        run(&flags, "input a : bf16[65536, 8192]\ny = relu(a)\n")
    };
    let good = analyzed(probe_with(&json!({"name": "Moore Threads S4000"})));
    let bad = analyzed(probe_with(&json!({"kernel_s": 0})));
    std::fs::remove_file(&path).unwrap();
    let text = stdout(&good);
    assert!(
        text.contains("predicted on Moore Threads S4000: "),
        "{text}"
    );
    let problem = stderr(&bad);
    assert!(
        problem.contains("device.kernel_s is 0e0, and must be from 1e-8 to 1e-2"),
        "{problem}"
    );
    let unknown = run(&["analyze", "-", "--device", "h19"], "");
    assert!(stderr(&unknown).contains("or a file that a program's script saved on a GPU"));
}
