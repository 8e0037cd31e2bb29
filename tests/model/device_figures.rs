//! The figures of devices, and those of a custom one as a visitor types them.

use fuseline::core::model::device::Source;
use fuseline::core::{DEVICES, Device, default_device, device};
use fuseline::present::custom_device::{CustomFigure, custom_copy};
use fuseline::present::devices::{figure_rows, is_confirmed};

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
        "no figure; computed as f16"
    );
    for device in DEVICES {
        let what = [
            "vector units, f32",
            "matrix units, f8",
            "matrix units, i8",
            "launch of a kernel",
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
        let (of_device, of_custom) = (
            CustomFigure::Bandwidth.value(device),
            CustomFigure::Bandwidth.value(&custom),
        );
        assert_eq!(of_device.to_string(), of_custom.to_string());
    }
    assert_eq!(
        CustomFigure::Bandwidth.value(default_device()).to_string(),
        "2039"
    );
    assert_eq!(
        CustomFigure::MatrixRate.value(default_device()).to_string(),
        "311.9"
    );
}

#[test]
fn a_figure_is_typed_in_its_unit_and_changes_no_other() {
    let custom = CustomFigure::Bandwidth
        .typed(default_device(), "1")
        .unwrap();
    assert_eq!(figure(&custom, "memory bandwidth"), "1.00 GB/s");
    assert_eq!(CustomFigure::MatrixRate.value(&custom).to_string(), "311.9");
    let faster = CustomFigure::Launch.typed(&custom, "0.5").unwrap();
    assert_eq!(figure(&faster, "launch"), "500 ns");
    assert_eq!(CustomFigure::Bandwidth.value(&faster).to_string(), "1");
}

#[test]
fn what_is_out_of_range_or_no_number_is_refused_with_the_range() {
    for typed in ["1e30", "0", "-1", "", "two", "inf", "nan"] {
        assert_eq!(
            CustomFigure::Bandwidth.typed(default_device(), typed),
            Err("bandwidth, GB/s: from 1 to 100000".to_owned()),
            "{typed}"
        );
    }
    let refused = CustomFigure::VectorRate.typed(default_device(), "0.01");
    assert_eq!(
        refused,
        Err("vector units, TFLOP/s: from 0.1 to 100000".to_owned())
    );
}
