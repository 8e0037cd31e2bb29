//! Answers as visitors write them: nothing that is right is refused, and nothing that is wrong is
//! taken.

use crate::lesson_words::tasks;
use fuseline_learn::lesson::answer::Answer;
use fuseline_learn::lesson::arithmetic::number_in;
use fuseline_learn::lesson::task::TaskKind;
use fuseline_learn::lesson::value::{AnswerUnit, FigureValue, Unit};
use proptest::prelude::*;

fn near(read: Option<f64>, expected: Option<f64>) -> bool {
    match (read, expected) {
        (Some(read), Some(expected)) => (read - expected).abs() <= 1e-9 * expected.abs(),
        (read, expected) => read.is_none() && expected.is_none(),
    }
}

#[test]
fn numbers_and_calculations_are_read() {
    for (text, unit, expected) in [
        ("1.2 GB", Unit::Bytes, Some(1.2e9)),
        ("1.2gb", Unit::Bytes, Some(1.2e9)),
        ("134,2 MB", Unit::Bytes, Some(134.2e6)),
        ("1,234.5 MB", Unit::Bytes, Some(1234.5e6)),
        ("1.234,5 MB", Unit::Bytes, None),
        ("16 MiB", Unit::Bytes, Some(16.0 * 1024.0 * 1024.0)),
        ("16 kB", Unit::Bytes, Some(16e3)),
        ("16 KiB", Unit::Bytes, Some(16384.0)),
        ("16777216", Unit::Bytes, Some(16_777_216.0)),
        ("16777216 bytes", Unit::Bytes, Some(16_777_216.0)),
        ("16.8", Unit::Bytes, None),
        ("2*1024*4096*2", Unit::Bytes, Some(16_777_216.0)),
        ("2 x 1024 × 4096 · 2", Unit::Bytes, Some(16_777_216.0)),
        ("2*8.39 MB", Unit::Bytes, Some(16.78e6)),
        ("8.39 MB * 2", Unit::Bytes, Some(16.78e6)),
        ("8.39 MB + 8.39 MB", Unit::Bytes, Some(16.78e6)),
        ("8.39 + 8.39 MB", Unit::Bytes, Some(16.78e6)),
        ("(304 − 69.2) MB", Unit::Bytes, Some(234.8e6)),
        ("0", Unit::Bytes, Some(0.0)),
        ("16 MFLOP", Unit::Bytes, None),
        ("MB", Unit::Bytes, None),
        ("", Unit::Bytes, None),
        ("2 *", Unit::Bytes, None),
        ("(2 MB", Unit::Bytes, None),
        ("2 3 MB", Unit::Bytes, None),
        ("350 µs", Unit::Seconds, Some(350e-6)),
        ("350 us", Unit::Seconds, Some(350e-6)),
        ("350 microseconds", Unit::Seconds, Some(350e-6)),
        ("0.35 ms", Unit::Seconds, Some(350e-6)),
        ("0.00035", Unit::Seconds, None),
        ("3.5e-4 s", Unit::Seconds, Some(350e-6)),
        ("8.6 GFLOPs", Unit::Flops, Some(8.6e9)),
        ("2*1024*1024*4096", Unit::Flops, Some(8_589_934_592.0)),
        ("295 FLOP/B", Unit::Intensity, Some(295.0)),
        ("295 FLOPs per byte", Unit::Intensity, Some(295.0)),
        ("989/3.35", Unit::Intensity, Some(989.0 / 3.35)),
        ("989 TFLOP/s", Unit::FlopsPerSecond, Some(989e12)),
        ("989 TFLOPS", Unit::FlopsPerSecond, Some(989e12)),
        ("3.35 TB/s", Unit::BytesPerSecond, Some(3.35e12)),
        ("0.97", Unit::Percent, Some(97.0)),
        ("0,97", Unit::Percent, Some(97.0)),
        ("0.97 %", Unit::Percent, Some(0.97)),
        ("12.5", Unit::Percent, Some(12.5)),
        ("1/8", Unit::Percent, Some(12.5)),
        ("(304-69.2)/304", Unit::Percent, Some(100.0 * 234.8 / 304.0)),
        ("1 - 1/4", Unit::Percent, Some(75.0)),
        ("1/0", Unit::Percent, None),
        ("1.5x", Unit::Ratio, Some(1.5)),
        ("1.5 × faster", Unit::Ratio, Some(1.5)),
        ("3/2", Unit::Ratio, Some(1.5)),
        ("1,024", Unit::Count, Some(1024.0)),
        ("4k", Unit::Count, Some(4000.0)),
        ("3 kernels", Unit::Count, Some(3.0)),
        ("4 * 32 tiles", Unit::Count, Some(128.0)),
        ("-3", Unit::Count, Some(-3.0)),
        ("41 750", Unit::Count, Some(41_750.0)),
        ("41\u{202f}750 kB", Unit::Bytes, Some(41_750e3)),
        ("16 777 216 B", Unit::Bytes, Some(16_777_216.0)),
        ("1'024 + 2", Unit::Count, Some(1026.0)),
        ("1.5 100", Unit::Count, None),
        ("1024 4096", Unit::Count, None),
        ("1,23,4", Unit::Count, None),
        ("three", Unit::Count, None),
    ] {
        let read = number_in(text, unit);
        assert!(near(read.clone().ok(), expected), "{text}: {read:?}");
        if let Err(problem) = read {
            assert!(
                problem.to_string().contains(unit.sample()),
                "{text}: {problem}"
            );
        }
    }
}

/// Ten ways to write a value that is right.
fn right_spellings(value: f64, unit: Unit) -> Vec<String> {
    let symbol = unit.symbol();
    let half = value / 2.0;
    let (prefix, factor) = match unit {
        Unit::Seconds => ("µ", 1e-6),
        Unit::Bytes | Unit::Flops | Unit::FlopsPerSecond | Unit::BytesPerSecond => ("M", 1e6),
        Unit::Count | Unit::Percent | Unit::Ratio | Unit::Intensity => ("", 1.0),
    };
    let short = |value: f64| format!("{} {prefix}{symbol}", value / factor);
    vec![
        FigureValue::Number(value, unit).text(),
        short(value),
        short(value).replace(' ', ""),
        format!("  {}  ", short(value)),
        short(value).replace('.', ","),
        format!("{value} {symbol}"),
        format!("2 * {}", short(half)),
        format!("2 × {half} {symbol}"),
        format!("({} + {}) {prefix}{symbol}", half / factor, half / factor),
        format!("{} / 2 {prefix}{symbol}", 2.0 * value / factor),
    ]
}

/// Ten ways to write something else.
fn wrong_spellings(value: f64, unit: Unit) -> Vec<String> {
    let symbol = unit.symbol();
    let mut wrong: Vec<String> = [2.0, 0.5, 1000.0, 1e-3, -1.0, 1.5]
        .iter()
        .map(|factor| format!("{} {symbol}", value * factor + f64::from(value == 0.0)))
        .collect();
    wrong.extend(["", "what?", "1 +", "(1"].map(str::to_owned));
    wrong
}

#[test]
fn each_question_takes_ten_right_spellings_and_no_wrong_one() {
    let mut questions = 0;
    for (id, task, states) in tasks() {
        let TaskKind::Number { quantity, .. } = &task.kind else {
            continue;
        };
        let seen = states.answered.analyzed().unwrap();
        let Ok(FigureValue::Number(right, unit)) = quantity.value(&seen) else {
            unreachable!("{id}: {quantity}");
        };
        questions += 1;
        let is_right = |text: &String| {
            let judged = task.judge(&Answer::Text(text.clone()), &states.answered, &seen);
            judged.is_ok_and(|judged| judged.is_right)
        };
        for text in right_spellings(right, unit) {
            assert!(is_right(&text), "{id}, {quantity}: {text} is right");
        }
        for text in wrong_spellings(right, unit) {
            assert!(!is_right(&text), "{id}, {quantity}: {text} is wrong");
        }
    }
    assert!(questions > 20, "{questions}");
}

proptest! {
    /// Whatever is typed, there is an answer or a message.
    #[test]
    fn no_text_stops_the_page(text in "[0-9.,+*/x×()a-zA-Z% −-]{0,60}") {
        for unit in [Unit::Count, Unit::Bytes, Unit::Percent, Unit::Intensity, Unit::Seconds] {
            if let Ok(number) = number_in(&text, unit) {
                prop_assert!(number.is_finite());
            }
        }
    }
}
