//! Measurements that visitors bring.

use super::{choices_of, one, options};
use crate::corpus;
use fuseline_core::analysis::measured::Measurements;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::json::read_json;
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::notation::parse;
use fuseline_core::{Policy, analyze_program, device};
use fuseline_import::calibrate::{Measured, calibrate};
use fuseline_import::matching::{match_kernels, short_neighbours};
use fuseline_import::profile::{Kind, Reader, is_packed, read_profile, recognise, unpacked_start};
use fuseline_view::picture::charts::{Charted, measured_scatter, roofline};
use fuseline_view::present::measured::{
    MeasuredQuantity, comparisons, error_summary, predicted_rows, table_rows,
};
use fuseline_view::present::profile::{
    ProfileFigure, neighbour_rows, notes, profile_explanation, profile_rows, profile_totals,
};
use proptest::prelude::RngExt;
use strum::VariantArray;

pub(super) fn measured(input: &[u8]) {
    let Ok(file) = read_json::<Measurements>(&String::from_utf8_lossy(input)) else {
        return;
    };
    let programs: Vec<_> = EXAMPLES
        .iter()
        .map(|example| (example.id.to_owned(), parse(example.text).program))
        .collect();
    let mut file = file;
    file.rows.truncate(40);
    let files = [Measured::of_patterns(file, programs.clone())];
    let Some(device) = device("h200") else { return };
    let records = calibrate(&files, device).records;
    if !records.patterns.is_empty()
        && let Ok(text) = serde_json::to_string(&records)
    {
        // The last digit of a float may change on its way through JSON.
        let read = Calibrations::read(&text).unwrap();
        assert_eq!(read.patterns.len(), records.patterns.len());
    }
    let [file] = files;
    let rows = file.measurements.rows;
    let rows = predicted_rows(rows, &programs, device);
    for quantity in [
        MeasuredQuantity::Time,
        MeasuredQuantity::Reads,
        MeasuredQuantity::Speedup,
    ] {
        let compared = comparisons(&rows, quantity);
        error_summary(&compared);
        table_rows(&rows, quantity);
        measured_scatter::scene(&compared, quantity, (600.0, 400.0));
    }
}

/// Files of profilers, in slices, as each kind; what can be read says the same when it is packed,
/// and is compared with a program.
pub(super) fn profiles(input: &[u8]) {
    let mut rng = choices_of(input);
    recognise("measured", input);
    unpacked_start(input, 1000);
    let length = rng.random_range(1..=input.len().max(1));
    for kind in [Kind::Script, Kind::Table, Kind::Trace] {
        let mut reader = Reader::new(kind);
        if input
            .chunks(length)
            .any(|slice| reader.push(slice).is_err())
        {
            continue;
        }
        let Ok(mut profile) = reader.finish() else {
            continue;
        };
        if !is_packed(input) {
            let unpacked = read_profile(kind, &corpus::packed(input));
            assert_eq!(unpacked.unwrap(), profile);
        }
        let policy = one(&mut rng, Policy::VARIANTS);
        let example = &EXAMPLES[rng.random_range(0..EXAMPLES.len())];
        let program = parse(example.text).program;
        let outcome = analyze_program(&program, &options(&mut rng, policy));
        let Some(analysis) = outcome.analysis else {
            continue;
        };
        for run in &profile.runs {
            assert!(!run.kernels.is_empty());
            let matching = match_kernels(&analysis, run);
            assert_eq!(matching.of_measured.len(), matching.run.kernels.len());
            notes(&analysis, &profile, "", &matching);
            for row in profile_rows(&analysis, &matching) {
                profile_explanation(&analysis, &matching, row.of, ProfileFigure::BytesError, "");
            }
            for row in profile_totals(&analysis, &matching) {
                profile_explanation(&analysis, &matching, row.of, ProfileFigure::Time, "");
                profile_explanation(
                    &analysis,
                    &matching,
                    row.of,
                    ProfileFigure::PredictedTime,
                    "",
                );
            }
            neighbour_rows(&analysis, &short_neighbours(&analysis, &matching));
            let charted = Charted {
                measured: Some(&matching),
                ..Charted::fused(&analysis)
            };
            roofline::scene_of(charted, (600.0, 400.0), None);
        }
        let other = profile.clone();
        profile.kind = Kind::Script;
        let _ = profile.add(other);
    }
}
