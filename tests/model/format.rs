//! Numbers as people read them.

use fuseline_view::present::format::{
    format_bandwidth, format_bytes, format_exact, format_faster, format_flops, format_intensity,
    format_percent, format_rate, format_ratio, format_seconds,
};

#[test]
fn bytes_have_three_digits_and_a_decimal_prefix() {
    let cases: [(u64, &str); 12] = [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (9_994, "9.99 kB"),
        (9_996, "10.0 kB"),
        (33_554_432, "33.6 MB"),
        (268_435_456, "268 MB"),
        (999_499_999, "999 MB"),
        (999_500_000, "1.00 GB"),
        (1_962_934_272, "1.96 GB"),
        ((1 << 63) - 1, "9.22 EB"),
    ];
    for (bytes, text) in cases {
        assert_eq!(format_bytes(bytes), text, "{bytes}");
    }
}

#[test]
fn flops_and_rates_reach_every_prefix() {
    assert_eq!(format_flops(0), "0 FLOP");
    assert_eq!(format_flops(1_374_389_534_720), "1.37 TFLOP");
    assert_eq!(format_flops(u128::MAX), "3.40e38 FLOP");
    assert_eq!(format_rate(312e12), "312 TFLOP/s");
    assert_eq!(format_rate(19.5e12), "19.5 TFLOP/s");
    assert_eq!(format_bandwidth(2.039e12), "2.04 TB/s");
    assert_eq!(format_rate(f64::INFINITY), "– FLOP/s");
}

#[test]
fn seconds_go_down_to_picoseconds() {
    assert_eq!(format_seconds(0.0), "0 s");
    assert_eq!(format_seconds(12.34), "12.3 s");
    assert_eq!(format_seconds(1.0), "1.00 s");
    assert_eq!(format_seconds(0.9996), "1.00 s");
    assert_eq!(format_seconds(0.001_234), "1.23 ms");
    assert_eq!(format_seconds(4.4e-6), "4.40 µs");
    assert_eq!(format_seconds(999.6e-9), "1.00 µs");
    assert_eq!(format_seconds(7.5e-9), "7.50 ns");
    assert_eq!(format_seconds(1e-9), "1.00 ns");
    assert_eq!(format_seconds(122e-12), "< 1 ns");
    assert_eq!(format_seconds(2e-14), "< 1 ns");
}

#[test]
fn intensities_ratios_and_percentages() {
    assert_eq!(format_intensity(156.0), "156 FLOP/B");
    assert_eq!(format_intensity(0.25), "0.250 FLOP/B");
    assert_eq!(format_intensity(1365.3), "1,365 FLOP/B");
    assert_eq!(format_ratio(1.1709), "1.17×");
    assert_eq!(format_ratio(19_918.2), "19,918×");
    assert_eq!(
        [0.1, 0.954, 0.9999].map(format_ratio),
        ["0.10×", "0.95×", "1.00×"]
    );
    assert_eq!(
        [1.06, 1.004, 1.0001, 1.0, 0.996, 0.9].map(format_faster),
        [
            "1.06× faster",
            "0.4 % faster",
            "no faster",
            "no faster",
            "0.4 % slower",
            "0.90× as fast"
        ]
    );
    assert_eq!(format_percent(14.599), "14.6 %");
    assert_eq!(format_percent(-0.01), "0.0 %");
    assert_eq!(format_percent(f64::NAN), "–");
}

#[test]
fn exact_counts_keep_every_digit() {
    assert_eq!(format_exact(0), "0");
    assert_eq!(format_exact(999), "999");
    assert_eq!(format_exact(1000), "1,000");
    assert_eq!(format_exact(2_298_478_592), "2,298,478,592");
}

#[test]
fn bytes_of_the_transformer_block() {
    use fuseline_view::present::format::format_bytes;
    assert_eq!(format_bytes(2_298_478_592), "2.30 GB");
    assert_eq!(format_bytes(512), "512 B");
}

#[test]
fn precise_numbers_have_six_digits() {
    use fuseline_view::present::format::format_precisely;
    assert_eq!(format_precisely(454.2139e-6, "s"), "454.214 µs");
    assert_eq!(format_precisely(0.0, "s"), "0 s");
}

#[test]
fn a_change_has_a_sign() {
    use fuseline_view::present::format::format_change;
    assert_eq!(
        [14.6, -98.9, 0.0].map(format_change),
        ["−14.6 %", "+98.9 %", "0 %"]
    );
}

#[test]
fn an_error_has_a_sign() {
    use fuseline_view::present::format::format_error;
    assert_eq!(
        [0.047, -0.047, f64::NAN].map(format_error),
        ["+4.7 %", "−4.7 %", "–"]
    );
}

#[test]
fn digits_are_as_many_as_wanted() {
    use fuseline_view::present::format::format_digits;
    assert_eq!(
        [0.135_335_283_2, 65_504.0, -2.0, 1e-9].map(|x| format_digits(x, 4)),
        ["0.1353", "65,504", "−2", "1.000e−9"]
    );
}
