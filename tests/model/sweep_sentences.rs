//! Crossings of a sweep in words.

use crate::sweep::{example, swept};
use fuseline_core::Options;
use fuseline_core::model::device::device;
use fuseline_view::present::sweep::crossing_rows;

#[test]
fn sentences_name_the_value_at_which_they_change() {
    let text = example("transformer");
    let options = Options {
        device: device("h200").unwrap().clone(),
        ..Options::default()
    };
    let rows = crossing_rows(&swept(text, "S", &options), &options.device);
    let sentences: Vec<&str> = rows.iter().map(|row| row.sentence.as_str()).collect();
    assert!(
        sentences.contains(
            &"At S = 2,560, `scores_raw` and `scores` each become larger than all weights together."
        ),
        "{sentences:#?}"
    );
    assert!(sentences.contains(&"At S = 640, `scores_raw` and `scores` become the largest tensors that ops write, instead of `ffn_up_out` and `gelu_out`; at S = 512 they are equal."), "{sentences:#?}");
    assert!(rows.windows(2).all(|pair| pair[0].value <= pair[1].value));
    assert!(rows.len() <= 12);
}

/// `a` has S elements for each row and `b` 1,000: no value of the slider makes both equal.
#[test]
fn the_largest_tensor_is_told_where_it_is_larger_whether_or_not_a_value_makes_both_equal() {
    let sentence = |other: u32| {
        let text = format!(
            "param S = 128 in 128..4096 step 128\ninput x : f16[64, S]\ninput z : f16[64, {other}]\na = relu(x)\nb = relu(z)\n"
        );
        let options = Options::default();
        let rows = crossing_rows(&swept(&text, "S", &options), &options.device);
        let mut sentences = rows.into_iter().map(|row| row.sentence);
        sentences.find(|sentence| sentence.contains("largest"))
    };
    let becomes = "`a` becomes the largest tensor that an op writes, instead of `b`";
    assert_eq!(sentence(1000), Some(format!("At S = 1,024, {becomes}.")));
    assert_eq!(
        sentence(1024),
        Some(format!(
            "At S = 1,152, {becomes}; at S = 1,024 they are equal."
        ))
    );
    // Both are equally large at the end of the axis only.
    assert_eq!(sentence(4096), None);
}

/// Of two policies, each has the smaller bound at some sizes: a sentence that claimed all larger
/// sizes would contradict a later one.
#[test]
fn sentences_claim_no_more_than_one_value() {
    let options = Options::default();
    let sentences = |example_id: &str, param: &str| -> Vec<String> {
        let rows = crossing_rows(
            &swept(example(example_id), param, &options),
            &options.device,
        );
        rows.into_iter().map(|row| row.sentence).collect()
    };
    let recomputed = sentences("recompute", "S");
    for sentence in [
        "At S = 768, the lower bound of the textbook rules falls below that of torch.compile.",
        "At S = 16,384, the lower bound of torch.compile falls below that of the textbook rules.",
    ] {
        assert!(
            recomputed.iter().any(|other| other == sentence),
            "{recomputed:#?}"
        );
    }
    for sentence in &recomputed {
        assert!(sentence.starts_with("At "), "{sentence}");
    }
    // However long its rows are, every policy fuses them.
    assert_eq!(sentences("long_rows", "H"), [""; 0]);
}
