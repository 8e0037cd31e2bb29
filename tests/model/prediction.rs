//! The model compared with every row of the measured files.

use fuseline::core::analysis::measured::{Predicted, Row, Variant, errors, predict, rows_of};
use fuseline::core::json::Json;
use fuseline::core::notation::parse;
use std::path::Path;

const FILES: [&str; 2] = ["h200.json", "h200_sizes.json"];
/// Sizes measured after the model was finished; without counters.
const FRESH: &str = "h200_fresh.json";

fn predictions(file: &str) -> Vec<(Row, Predicted)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/measured");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = rows_of(&Json::from(file)).unwrap();
    let predicted = |row: Row| {
        let list = std::fs::read_to_string(folder.join(format!("{}.fuse", row.pattern))).unwrap();
        let predicted = predict(&row, &parse(&list).program, "h200").unwrap();
        (row, predicted)
    };
    rows.into_iter().map(predicted).collect()
}

/// Predicted and measured reads of the selected rows.
fn reads(rows: &[(Row, Predicted)], keep: impl Fn(&Predicted) -> bool) -> Vec<(f64, f64)> {
    let kept = rows.iter().filter(|(_, predicted)| keep(predicted));
    kept.filter_map(|(row, predicted)| {
        Some((predicted.dram_read_bytes, row.dram_read_bytes? as f64))
    })
    .collect()
}

#[test]
fn reads_without_a_matmul_are_compulsory_beyond_the_cache() {
    const L2_BYTES: u64 = 62_914_560;
    for file in FILES {
        let pairs = reads(&predictions(file), |p| {
            !p.has_matmul && p.largest_kernel_bytes > L2_BYTES
        });
        let errors = errors(&pairs).unwrap();
        assert!(
            errors.count >= 16 && errors.ninth_decile < 0.005,
            "{file}: {errors:?}"
        );
        assert!(errors.worst < 0.03, "{file}: {errors:?}");
    }
    // All rows of the file that the model was made for are within 2 %.
    let known = reads(&predictions("h200.json"), |p| {
        !p.has_matmul && p.largest_kernel_bytes > L2_BYTES
    });
    assert!(errors(&known).unwrap().worst < 0.02);
}

#[test]
fn reads_of_matmuls_are_within_a_fifth_at_the_median() {
    for file in FILES {
        let errors = errors(&reads(&predictions(file), |p| p.has_matmul)).unwrap();
        assert!(
            errors.count >= 19 && errors.median < 0.2,
            "{file}: {errors:?}"
        );
    }
}

#[test]
fn speedups_are_near_what_was_measured() {
    for file in FILES.into_iter().chain([FRESH]) {
        let rows = predictions(file);
        let mut pairs = Vec::new();
        for (row, compiled) in rows.iter().filter(|(row, _)| row.variant != Variant::Eager) {
            let (before, eager) = rows
                .iter()
                .find(|(other, _)| {
                    other.variant == Variant::Eager
                        && other.pattern == row.pattern
                        && other.size == row.size
                })
                .unwrap();
            let measured = before.time_us / row.time_us;
            pairs.push((eager.time_us / compiled.time_us, measured));
        }
        let errors = errors(&pairs).unwrap();
        assert!(
            errors.count >= 31 && errors.median <= 0.10,
            "{file}: {errors:?}"
        );
        assert!(errors.ninth_decile <= 0.40, "{file}: {errors:?}");
    }
}

#[test]
fn times_are_within_a_quarter_for_nine_in_ten() {
    for file in FILES.into_iter().chain([FRESH]) {
        let rows = predictions(file);
        let pairs: Vec<_> = rows
            .iter()
            .map(|(row, p)| (p.time_us, row.time_us))
            .collect();
        let errors = errors(&pairs).unwrap();
        assert!(
            errors.median <= 0.08 && errors.ninth_decile <= 0.25,
            "{file}: {errors:?}"
        );
    }
}

#[test]
fn errors_by_nearest_rank() {
    let pairs: Vec<(f64, f64)> = (1..=10).map(|n| (100.0 + f64::from(n), 100.0)).collect();
    let errors = errors(&pairs).unwrap();
    assert!((errors.median - 0.05).abs() < 1e-9);
    assert!((errors.ninth_decile - 0.09).abs() < 1e-9);
    assert!((errors.worst - 0.10).abs() < 1e-9);
    assert_eq!((errors.count, errors.worst_at), (10, 9));
    assert_eq!(fuseline::core::analysis::measured::errors(&[]), None);
}

/// Every file is read or refused, whatever its content.
#[test]
fn a_file_without_rows_is_refused() {
    const ROW: &str = r#"{"pattern": "p", "size": [1], "variant": "eager", "time_us": 2, "kernels": ["k"], "dram_read_bytes": null}"#;
    let rows = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        rows_of(&Json::from(value))
    };
    assert_eq!(rows(&format!(r#"{{"rows": [{ROW}]}}"#)).unwrap().len(), 1);
    for (from, to) in [
        ("eager", "lazy"),
        ("[1]", "1"),
        ("[1]", "[1.5]"),
        (r#""k""#, "7"),
        ("2,", "\"2\","),
        (r#""p""#, "null"),
        ("pattern", "name"),
    ] {
        assert!(ROW.contains(from));
        assert_eq!(
            rows(&format!(r#"{{"rows": [{}]}}"#, ROW.replace(from, to))),
            None,
            "{to}"
        );
    }
    assert_eq!(rows("[]"), None);
    assert_eq!(rows(r#"{"rows": 1}"#), None);
}
