//! The figures of devices, and those of a custom one as a visitor types them.

use fuseline_core::model::device::{Rate, Source};
use fuseline_core::{DEVICES, Device, default_device, device};
use fuseline_core::{DType, F32Matmul};
use fuseline_view::present::custom_device::{CustomFigure, custom_copy};
use fuseline_view::present::devices::{figure_rows, is_confirmed};
use strum::VariantArray;

fn figure(device: &Device, what: &str) -> String {
    let rows = figure_rows(device);
    let row = rows.iter().find(|row| row.what.starts_with(what));
    row.unwrap_or_else(|| panic!("{what} in {rows:?}"))
        .figure
        .clone()
}

#[test]
fn figures_have_units_and_those_from_memory_a_mark() {
    assert_eq!(figure(default_device(), "memory bandwidth"), "2.04 TB/s");
    let l4 = device("l4").unwrap();
    assert!(!is_confirmed(l4));
    assert_eq!(figure(l4, "memory bandwidth"), "300 GB/s ?");
    assert!(is_confirmed(default_device()));
}

#[test]
fn a_type_that_the_device_lacks_says_as_which_it_is_computed() {
    assert_eq!(
        figure(device("a100-80").unwrap(), "matrix units, f8"),
        "not specified; computed as f16"
    );
    for device in DEVICES {
        let what = [
            "vector units, f32",
            "matrix units, f8",
            "matrix units, i8",
            "launch time per kernel",
        ];
        for what in what {
            assert!(!figure(device, what).is_empty());
        }
    }
}

#[test]
fn a_custom_device_starts_with_the_figures_of_another() {
    for device in DEVICES {
        let custom = custom_copy(device);
        assert_eq!(custom.source, Source::Custom);
        for figure in CustomFigure::all() {
            assert_eq!(
                figure.text(device),
                figure.text(&custom),
                "{figure:?} of {}",
                device.id
            );
        }
    }
    assert_eq!(CustomFigure::Bandwidth.text(default_device()), "2039");
    assert_eq!(
        CustomFigure::Rate(Rate::MatrixF16).text(default_device()),
        "311.9"
    );
}

#[test]
fn a_figure_is_typed_in_its_unit_and_changes_no_other() {
    let custom = CustomFigure::Bandwidth
        .typed(default_device(), "1")
        .unwrap();
    assert_eq!(figure(&custom, "memory bandwidth"), "1.00 GB/s");
    assert_eq!(CustomFigure::Rate(Rate::MatrixF16).text(&custom), "311.9");
    let faster = CustomFigure::Launch.typed(&custom, "0.5").unwrap();
    assert_eq!(figure(&faster, "launch"), "500 ns");
    assert_eq!(CustomFigure::Bandwidth.text(&faster), "1");
}

#[test]
fn what_is_out_of_range_or_no_number_is_refused_with_the_range() {
    for typed in ["1e30", "0", "-1", "", "two", "inf", "nan"] {
        assert_eq!(
            (CustomFigure::Bandwidth
                .typed(default_device(), typed)
                .unwrap_err())
            .to_string(),
            "bandwidth, GB/s: from 1 to 100,000",
            "{typed}"
        );
    }
    let refused = CustomFigure::Rate(Rate::Vector).typed(default_device(), "0.01");
    assert_eq!(
        refused.unwrap_err().to_string(),
        "vector units f32, TFLOP/s: from 0.1 to 100,000"
    );
}

/// One rate says nothing about another type.
#[test]
fn rates_that_are_left_out_are_unknown_or_fall_back_to_a_wider_type() {
    let bare = Device::custom(1e12, 3e14, 2e13, 2e-6);
    let rate = |device: &Device, dtype, f32_matmul| {
        let peak = device.matmul_peak(dtype, f32_matmul);
        peak.map(|peak| (peak.figure.value, peak.is_on_vector_units))
    };
    for f32_matmul in [F32Matmul::F32, F32Matmul::Tf32] {
        assert_eq!(rate(&bare, DType::F16, f32_matmul), Some((3e14, false)));
        assert_eq!(rate(&bare, DType::F8e4m3, f32_matmul), Some((3e14, false)));
        assert_eq!(rate(&bare, DType::F32, f32_matmul), Some((2e13, true)));
        assert_eq!(rate(&bare, DType::I8, f32_matmul), None);
        assert_eq!(rate(&bare, DType::F64, f32_matmul), None);
    }
    let typed = |device: &Device, rate: Rate, typed: &str| {
        CustomFigure::Rate(rate).typed(device, typed).unwrap()
    };
    let tf32 = typed(&bare, Rate::MatrixTf32, "150");
    assert_eq!(rate(&tf32, DType::F32, F32Matmul::F32), Some((2e13, true)));
    assert_eq!(
        rate(&tf32, DType::F32, F32Matmul::Tf32),
        Some((1.5e14, false))
    );
    let f64 = typed(&tf32, Rate::VectorF64, "10");
    assert_eq!(rate(&f64, DType::F64, F32Matmul::F32), Some((1e13, true)));
    let f64 = typed(&f64, Rate::MatrixF64, "20");
    assert_eq!(rate(&f64, DType::F64, F32Matmul::F32), Some((2e13, false)));
    let i8 = typed(&f64, Rate::MatrixI8, "600");
    assert_eq!(rate(&i8, DType::I8, F32Matmul::F32), Some((6e14, false)));
    assert_eq!(typed(&i8, Rate::MatrixI8, ""), f64);
}

#[test]
fn a_rate_may_be_left_out_and_its_field_says_what_then_holds() {
    for figure in CustomFigure::all() {
        let typed = figure.typed(default_device(), " ");
        match figure.if_empty() {
            Some(words) => assert_eq!(figure.text(&typed.unwrap()), "", "{words}"),
            None => assert!(typed.is_err()),
        }
    }
    assert_eq!(CustomFigure::all().count(), Rate::VARIANTS.len() + 2);
}
