//! What may be written at a caret, which is a `|` in these texts.

use fuseline_core::examples::EXAMPLES;
use fuseline_core::{Completion, complete, edited};
use proptest::prelude::*;

fn at_caret(text: &str) -> Vec<Completion> {
    let offset = text.find('|').unwrap();
    complete(&text.replacen('|', "", 1), offset)
}

fn labels(text: &str) -> Vec<String> {
    at_caret(text).into_iter().map(|c| c.label).collect()
}

/// The text after the first completion is taken.
fn taken(text: &str) -> String {
    let plain = text.replacen('|', "", 1);
    let first = at_caret(text).into_iter().next().unwrap();
    edited(&plain, &[first.edit]).unwrap()
}

const HEAD: &str =
    "param S = 8\ninput x : f16[S, 6]\nweight w : f16[6, 4]\nscores = matmul(x, w)\n";

#[test]
fn a_function_is_completed_by_its_first_letters_then_by_others() {
    assert_eq!(labels("y = softm|")[..2], ["softmax", "log_softmax"]);
    assert_eq!(labels("y = lsm|"), ["log_sigmoid", "log_softmax"]);
    assert_eq!(labels("y = F.rel|")[0], "relu");
    assert_eq!(labels("y = bmm|"), ["matmul"]);
    assert!(labels("y = |").len() >= 40);
    assert_eq!(taken("y = softm|"), "y = softmax(");
    assert_eq!(taken("y = softm|ax(x)"), "y = softmax(x)");
    assert_eq!(taken("y = torch.bm|(x)"), "y = matmul(x)");
    assert_eq!(at_caret("y = softm|")[0].detail, "x, [axis]");
}

#[test]
fn tensors_before_the_caret_come_first_with_their_types() {
    let all = at_caret(&format!("{HEAD}y = relu(|)\nlater = gelu(y)\n"));
    let shown: Vec<_> = all
        .iter()
        .map(|c| (c.label.as_str(), c.detail.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("scores", "f16[8, 4]"),
            ("w", "f16[6, 4]"),
            ("x", "f16[8, 6]"),
            ("later", "")
        ]
    );
    assert_eq!(
        taken(&format!("{HEAD}y = add(x, sc|)")),
        format!("{HEAD}y = add(x, scores)")
    );
    let quoted = "input `a b` : f16[8]\ny = relu(a|";
    assert_eq!(taken(quoted), "input `a b` : f16[8]\ny = relu(`a b`");
}

#[test]
fn attributes_are_those_of_the_function_that_are_not_there_yet() {
    assert_eq!(labels(&format!("{HEAD}y = sum(x, ax|)")), ["axis"]);
    assert_eq!(labels(&format!("{HEAD}y = sum(x, axis=0, |)")), ["keepdim"]);
    assert_eq!(
        labels(&format!("{HEAD}y = sum(x, |, keepdim=false)"))
            .last()
            .unwrap(),
        "axis"
    );
    assert_eq!(
        labels(&format!("{HEAD}y = torch.softmax(x, dim=0, |)")),
        [""; 0]
    );
    assert_eq!(
        taken(&format!("{HEAD}y = sum(x, ke|)")),
        format!("{HEAD}y = sum(x, keepdim=)")
    );
    assert_eq!(labels("y = sum(x, keepdim=|)"), ["true", "false"]);
    assert_eq!(labels("y = cast(x, dtype=bf|)"), ["bf16"]);
    assert_eq!(labels(&format!("{HEAD}y = split(x, parts=|)")), ["S"]);
    let detail = &at_caret("y = sum(x, ax|)")[0].detail;
    assert!(detail.contains("counted from the end"), "{detail}");
}

#[test]
fn sizes_types_and_statements_have_their_own_words() {
    assert_eq!(labels("in|"), ["input"]);
    assert_eq!(taken("we|"), "weight ");
    assert_eq!(labels("input x : b|"), ["bf16", "bool"]);
    assert_eq!(labels("y = relu(x) : f3|"), ["f32", "f8e4m3"]);
    assert_eq!(labels("param S = 8\ninput x : f16[|]"), ["S"]);
    assert_eq!(labels("param S = 8\ninput x : f16[2*|, 4]"), ["S"]);
    assert_eq!(labels(&format!("{HEAD}output s|")), ["scores"]);
    assert_eq!(labels("y = sum(x,\n  ax|is\n"), ["axis"]);
}

#[test]
fn nothing_is_offered_where_nothing_known_may_stand() {
    for text in [
        "y = relu(x) # soft|",
        "# so|",
        "input x|",
        "up: y|",
        "y |",
        "y = relu(`x|`)",
        "y = relu(`x|",
        "param S = 8|",
        "param S = |",
        "y = relu(x) |",
        "y = relu(x) @ker|",
        "y = sum(x, axis=0, axis|=1)",
    ] {
        assert_eq!(labels(text), [""; 0], "{text}");
    }
}

#[test]
fn an_unclosed_bracket_does_not_reach_the_next_statement() {
    assert_eq!(labels("y = relu(x\nz = gel|")[0], "gelu");
    assert_eq!(labels("y = relu(x\ninput z : f3|"), ["f32", "f8e4m3"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// At any byte of any text: no panic, and what is replaced is the word around the caret.
    #[test]
    fn a_completion_replaces_the_word_around_the_caret(
        example in prop::sample::select(EXAMPLES),
        at in any::<prop::sample::Index>(),
        junk in "[a-z=(\\[,:.#` ×\n]{0,6}",
    ) {
        let mut text = example.text.to_owned();
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        let place = places[at.index(places.len())];
        text.insert_str(place, &junk);
        for offset in place..=place + junk.len() {
            for found in complete(&text, offset) {
                prop_assert!(found.edit.span.start <= offset && offset <= found.edit.span.end);
                prop_assert!(found.edit.span.slice(&text).chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.'));
                prop_assert!(!found.edit.text.is_empty());
            }
        }
    }
}

#[test]
fn what_a_block_produces_has_its_type() {
    let text = "input x : f16[8]\nrepeat 2 with x = y {\n  y = relu(x)\n}\nz = gelu(|)\n";
    let shown: Vec<_> = (at_caret(text).into_iter())
        .map(|found| (found.label, found.detail))
        .collect();
    assert!(
        shown.contains(&("y".to_owned(), "f16[8]".to_owned())),
        "{shown:?}"
    );
    assert_eq!(labels("rep|"), ["repeat"]);
}

#[test]
fn tensors_of_a_program_that_is_long_when_written_out_have_no_types() {
    let text = "input x : f16[8]\nrepeat 9000 with x = y {\n  y = relu(x)\n}\nz = gelu(|)\n";
    let tensors = at_caret(text).into_iter();
    let details: Vec<_> = tensors.map(|found| (found.label, found.detail)).collect();
    assert_eq!(
        details[..2],
        ["y", "x"].map(|name| (name.to_owned(), String::new()))
    );
}
