//! Decimal numbers against the standard library's, which are right for every float.

use fuseline::core::decimal::{exact, fixed, parse_decimal, scientific, shortest};
use proptest::prelude::*;

/// Any finite float: each exponent alike, those without one included.
fn float() -> impl Strategy<Value = f64> {
    any::<u64>()
        .prop_map(f64::from_bits)
        .prop_filter("finite", |value| value.is_finite())
}

/// From 128 up to the largest float.
fn large() -> impl Strategy<Value = f64> {
    (0x406_u64 << 52..0x7ff << 52, any::<bool>())
        .prop_map(|(bits, is_negative)| f64::from_bits(bits | u64::from(is_negative) << 63))
}

/// Numbers as they are shown: few digits, of any usual size, often halfway between two roundings.
fn usual() -> impl Strategy<Value = f64> {
    (0_u32..10_000_000, -9_i32..16)
        .prop_map(|(digits, power)| f64::from(digits) * 10_f64.powi(power))
}

fn same(ours: Option<f64>, theirs: f64) -> bool {
    ours.map(f64::to_bits) == Some(theirs.to_bits())
}

#[test]
fn the_hard_cases_are_right() {
    for text in [
        "0",
        "-0",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "9007199254740993",
        "9007199254740993.0000000000000000000000000000000000000001",
        "0.30000000000000004",
        "1e-400",
        "1e400",
        "1e99999999999",
        "1e-99999999999",
        "0e99999999999",
        "8.5",
        ".5",
        "5.",
        "+7.25E+2",
    ] {
        let theirs: f64 = text.parse().unwrap();
        assert!(
            same(parse_decimal(text), theirs),
            "{text}: {:?}",
            parse_decimal(text)
        );
    }
    for text in [
        "", "-", ".", "e5", "1e", "1e+", "1.2.3", "inf", "NaN", "1_000", " 1", "0x10",
    ] {
        assert_eq!(parse_decimal(text), None, "{text}");
    }
}

#[test]
fn more_digits_than_any_float_has_still_decide() {
    // 1 + 2^-53 lies in the middle between 1 and the next float.
    let middle = "1.00000000000000011102230246251565404236316680908203125";
    let zeros = "0".repeat(5_000);
    assert_eq!(parse_decimal(middle), Some(1.0));
    assert_eq!(parse_decimal(&format!("{middle}{zeros}")), Some(1.0));
    assert_eq!(
        parse_decimal(&format!("{middle}{zeros}1")),
        Some(1.0 + f64::EPSILON)
    );
    assert_eq!(parse_decimal(&format!("1{zeros}e-5000")), Some(1.0));
    assert_eq!(parse_decimal(&format!("0.{zeros}1e5001")), Some(1.0));
    assert_eq!(parse_decimal(&format!("{zeros}12.5")), Some(12.5));
}

#[test]
fn numbers_without_an_end_are_words() {
    assert_eq!(fixed(f64::NAN, 1), "NaN");
    assert_eq!(fixed(f64::INFINITY, 1), "inf");
    assert_eq!(exact(f64::NAN), "NaN");
    assert_eq!(scientific(f64::INFINITY), "inf");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_floats_are_read_back(value in float()) {
        for text in [format!("{value}"), format!("{value:e}"), format!("{value:.20e}"), format!("{value:.60e}")] {
            prop_assert!(same(parse_decimal(&text), text.parse().unwrap()), "{}", text);
        }
    }

    #[test]
    fn any_digits_are_read_as_the_library_reads_them(text in "[+-]?[0-9]{0,40}\\.?[0-9]{0,40}([eE][+-]?[0-9]{1,3})?") {
        let theirs = text.parse().ok().map(f64::to_bits);
        prop_assert_eq!(parse_decimal(&text).map(f64::to_bits), theirs);
    }

    #[test]
    fn the_middle_between_two_floats_goes_to_the_even_one(mantissa in 1_u64 << 52..1 << 53, power in 1_u32..70) {
        let middle = (u128::from(mantissa) * 2 + 1) << power;
        for text in [middle.to_string(), format!("{}.9", middle - 1), format!("{middle}.{}1", "0".repeat(900))] {
            prop_assert!(same(parse_decimal(&text), text.parse().unwrap()), "{}", text);
        }
    }

    #[test]
    fn fixed_places_are_the_library_s(any in float(), usual in usual(), decimals in 0_u32..30) {
        let places = decimals as usize;
        prop_assert_eq!(fixed(any, decimals), format!("{any:.places$}"));
        prop_assert_eq!(fixed(usual, decimals), format!("{usual:.places$}"));
    }

    #[test]
    fn large_numbers_have_three_digits(value in large()) {
        prop_assert_eq!(scientific(value), format!("{value:.2e}"));
    }

    #[test]
    fn exact_gives_the_float_back(any in float(), usual in usual()) {
        for value in [any, usual] {
            prop_assert!(same(parse_decimal(&exact(value)), value), "{}", value);
        }
    }

    #[test]
    fn fifteen_digits_are_the_shortest(digits in 0_u64..1_000_000_000_000_000, decimals in 0_u32..16) {
        let value: f64 = format!("{digits}e-{decimals}").parse().unwrap();
        prop_assert_eq!(shortest(value), format!("{value}"));
        prop_assert_eq!(exact(value), format!("{value}"));
    }
}
