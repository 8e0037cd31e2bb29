//! Consistency of the table of devices.

use fuseline_core::device;
use fuseline_core::{DEVICES, DType, Device, F32Matmul, default_device};

/// Dense f16 FLOPs of one multiprocessor in one clock, from the vendors' documents.
const MATRIX_FLOPS_PER_CLOCK: [(&str, f64); 17] = [
    ("p100", 256.0),
    ("v100", 1024.0),
    ("a100-40", 2048.0),
    ("a100-80", 2048.0),
    ("h100-pcie", 4096.0),
    ("h100", 4096.0),
    ("h200", 4096.0),
    ("b200", 8192.0),
    ("gb200", 8192.0),
    ("b300", 8192.0),
    ("gb300", 8192.0),
    ("rtx-3090", 512.0),
    ("rtx-4090", 512.0),
    ("rtx-5090", 512.0),
    ("mi250x", 1024.0),
    ("mi300x", 2048.0),
    ("mi355x", 4096.0),
];

/// Since Hopper the matrix units run below the highest clock: at 1.83 of 1.98 GHz on an H100.
#[test]
fn matrix_rates_follow_from_clocks_and_multiprocessors() {
    for (id, per_clock) in MATRIX_FLOPS_PER_CLOCK {
        let device = device(id).unwrap();
        let highest = device.hardware.multiprocessors.unwrap().value
            * device.hardware.clock_hz.unwrap().value
            * per_clock;
        let share = device
            .matrix_peak(DType::F16, F32Matmul::F32)
            .unwrap()
            .value
            / highest;
        assert!((0.92..1.01).contains(&share), "{id}: {share}");
    }
}

/// f64 FLOPs of the vector units of one multiprocessor in one clock, from the vendors' documents.
const F64_FLOPS_PER_CLOCK: [(&str, f64); 14] = [
    ("p100", 64.0),
    ("v100", 64.0),
    ("a100-40", 64.0),
    ("a100-80", 64.0),
    ("h100-pcie", 128.0),
    ("h100", 128.0),
    ("h200", 128.0),
    ("b200", 128.0),
    ("gb200", 128.0),
    ("rtx-3090", 4.0),
    ("rtx-4090", 4.0),
    ("mi250x", 128.0),
    ("mi300x", 128.0),
    ("mi355x", 128.0),
];

#[test]
fn f64_rates_follow_from_clocks_and_multiprocessors() {
    for (id, per_clock) in F64_FLOPS_PER_CLOCK {
        let device = device(id).unwrap();
        let highest = device.hardware.multiprocessors.unwrap().value
            * device.hardware.clock_hz.unwrap().value
            * per_clock;
        let share = device.vector_f64_flops_per_s.unwrap().value / highest;
        assert!((0.98..1.02).contains(&share), "{id}: {share}");
    }
    for device in DEVICES {
        let Some(f64) = device.vector_f64_flops_per_s else {
            assert_eq!(device.matrix_f64_flops_per_s, None, "{}", device.id);
            continue;
        };
        assert!(f64.value <= device.vector_flops_per_s.unwrap().value);
        let matrix = device.matrix_f64_flops_per_s.unwrap_or(f64);
        assert!(
            (f64.value..=2.1 * f64.value).contains(&matrix.value),
            "{}",
            device.id
        );
    }
}

/// Ada, Hopper, Blackwell and CDNA 3 multiply f8 twice as fast as f16, and no rate stands for
/// another.
#[test]
fn gpus_with_f8_have_twice_the_rate_of_f16() {
    for id in [
        "l4",
        "l40s",
        "rtx-4090",
        "rtx-5090",
        "rtx-pro-6000",
        "h100-pcie",
        "h100",
        "h200",
        "b200",
        "gb200",
        "b300",
        "gb300",
        "mi300x",
        "mi325x",
        "mi350x",
        "mi355x",
    ] {
        let device = device(id).unwrap();
        let peak = |dtype| device.matmul_peak(dtype, F32Matmul::F32).unwrap();
        let (f8, f16) = (peak(DType::F8e4m3), peak(DType::F16));
        assert_eq!(f8.computed_as, None, "{id}");
        let ratio = f8.figure.value / f16.figure.value;
        assert!((1.99..2.03).contains(&ratio), "{id}: {ratio}");
    }
}

/// Figures in which the compiler's table differs from what the vendors state.
#[test]
fn figures_that_the_vendors_state() {
    let peaks = |id: &str| {
        let device = device(id).unwrap();
        let tera = |dtype| {
            let peak = device.matmul_peak(dtype, F32Matmul::Tf32);
            peak.map(|peak| (peak.figure.value / 1e12).round())
        };
        [DType::F32, DType::F16, DType::F8e4m3].map(tera)
    };
    assert_eq!(peaks("b300"), [Some(1125.0), Some(2250.0), Some(4500.0)]);
    let v5p = device("tpu-v5p").unwrap();
    assert!((v5p.memory_bytes_per_s.value / 2765e9 - 1.0).abs() < 1e-9);
    // The cache that all compute units share, and not the one of each die.
    for id in ["mi300x", "mi325x", "mi350x", "mi355x"] {
        let l2_bytes = device(id).unwrap().hardware.l2_bytes.unwrap();
        assert!((l2_bytes.value - f64::from(256 << 20)).abs() < 0.5, "{id}");
        assert!(l2_bytes.is_confirmed, "{id}");
    }
}

#[test]
fn what_a_block_holds_fits_a_multiprocessor() {
    for device in DEVICES {
        let on_chip = device.on_chip_bytes();
        let Some(multiprocessor) = device.hardware.multiprocessor() else {
            continue;
        };
        assert_eq!(on_chip, u64::from(multiprocessor.shared_bytes_per_block));
        assert!(multiprocessor.shared_bytes_per_block <= multiprocessor.shared_bytes);
        assert_eq!(multiprocessor.threads % multiprocessor.lanes, 0);
        let l2_bytes = device.hardware.l2_bytes.unwrap().value;
        let memory_bytes = device.hardware.memory_bytes.unwrap().value;
        assert!(
            (on_chip as f64) < l2_bytes && l2_bytes < memory_bytes,
            "{}",
            device.id
        );
    }
}

#[test]
fn budgets_on_chip_that_the_documents_give() {
    for (id, bytes) in [
        ("a100-80", 166_912),
        ("h200", 232_448),
        ("mi300x", 65_536),
        ("tpu-v5e", 128 << 20),
        ("m1-max", 32 << 10),
    ] {
        assert_eq!(device(id).unwrap().on_chip_bytes(), bytes, "{id}");
    }
}

#[test]
fn a_launch_of_ones_own_replaces_the_devices() {
    let a100 = device("a100-80").unwrap();
    assert!((a100.clone().with_launch_s(5e-6).launch_s.value - 5e-6).abs() < 1e-18);
    for refused in [-1.0, 1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(a100.clone().with_launch_s(refused), *a100);
    }
}

/// Figures of a link outside these limits are ignored, and the form shows the limits.
#[test]
fn figures_of_ones_own_stay_within_what_a_device_can_be() {
    let figures = |by: f64| Device::custom(2e12 * by, 312e12 * by, 19.5e12 * by, 0.0);
    assert!(figures(1.0).is_plausible() && default_device().is_plausible());
    assert!(DEVICES.iter().all(Device::is_plausible));
    assert!(!figures(1e18).is_plausible() && !figures(1e-9).is_plausible());
    assert!(!Device::custom(1e39, 312e12, 19.5e12, 0.0).is_plausible());
}

#[test]
fn a_block_has_the_memory_on_chip_that_its_device_lets_it_have() {
    assert_eq!(device("h200").map(Device::on_chip_bytes), Some(232_448));
}
