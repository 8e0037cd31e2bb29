//! The limit that all ways in share, and lists that come as values instead of as text.

use fuseline_core::Severity;
use fuseline_core::input::{MAX_INPUT_BYTES, check_size, read_value};
use fuseline_core::notation::import::{OpList, ops_of_list, program_of_op_list, read_op_lines};
use fuseline_view::opened::converted;
use fuseline_view::page::links::{MAX_STATE_BYTES, ShareError};
use proptest::prelude::*;
use serde::de::value::{Error, SeqDeserializer};
use serde_json::{Value, json};

/// A list of holes, as `new Array(length)` makes it in JavaScript.
fn holes(length: usize) -> impl ExactSizeIterator<Item = ()> {
    (0..length).map(drop)
}

#[test]
fn a_list_of_too_many_holes_is_refused_at_once() {
    let list = SeqDeserializer::<_, Error>::new(holes(20_000_000));
    let refused = read_value(list).unwrap_err().to_string();
    let said = "a list of 20000000 entries exceeds the limit of 8 MB as JSON: split the list";
    assert_eq!(refused, said);
    // A list that does not know its length is read up to the limit.
    let list = SeqDeserializer::<_, Error>::new(holes(20_000_000).filter(|()| true));
    let refused = read_value(list).unwrap_err().to_string();
    assert_eq!(
        refused,
        "as JSON it exceeds the limit of 8 MB: split the list"
    );
}

#[test]
fn the_limit_counts_strings_and_inner_lists() {
    let short = "x".repeat(MAX_INPUT_BYTES / 2 - 100);
    let read = |value: &Value| read_value(value).map_err(|problem| problem.to_string());
    assert!(read(&json!([short, { "shape": [short] }])).is_ok());
    assert!(read(&json!([short, { "shape": [short, short] }])).is_err());
    let mut deep = json!(1);
    for _ in 0..128 {
        deep = json!([deep]);
    }
    assert_eq!(read(&deep).as_ref(), Ok(&deep));
    let said = "lists and objects nest more than 128 levels deep";
    assert_eq!(read(&json!({ "a": deep })), Err(said.to_owned()));
}

#[test]
fn a_text_past_the_limit_is_refused_with_both_sizes() {
    let said = "This text could not be read: it has 8.1 MB, and the limit is 8 MB: \
                split the program, or use the command line, which reads more.";
    let list = format!("[{}0]", "0,".repeat(MAX_INPUT_BYTES / 2));
    assert_eq!(converted(&list).unwrap().unwrap_err().to_string(), said);
    let notation = " ".repeat(MAX_INPUT_BYTES + 1);
    assert_eq!(converted(&notation).unwrap().unwrap_err().to_string(), said);
    assert!(converted(&" ".repeat(MAX_INPUT_BYTES)).is_none());
    assert!(check_size(usize::MAX).is_err());
    // A link is opened without being asked for, so it holds less.
    let limit = format!("more than {} KiB", MAX_STATE_BYTES / 1024);
    assert!(ShareError::TooLarge.message().contains(&limit));
}

/// Every entry is wrong: a problem each would take more memory than the list.
#[test]
fn a_list_of_wrong_entries_has_a_thousand_problems_at_most() {
    let list = OpList {
        ops: vec![json!(0); 5000],
        tensors: vec![json!(0); 10],
    };
    let lines = "Op(1)\n".repeat(5000);
    let of_program = program_of_op_list(&list).diagnostics;
    let of_lines = read_op_lines(&lines).diagnostics;
    let of_ops = ops_of_list(&list).unwrap_err();
    for (problems, unsaid) in [(of_program, 4010), (of_lines, 4000), (of_ops, 4000)] {
        assert_eq!(problems.len(), 1001);
        assert!(
            problems
                .iter()
                .all(|problem| problem.severity == Severity::Error)
        );
        let said = format!("{unsaid} more entries cannot be read");
        assert!(
            problems.iter().any(|problem| problem.message == said),
            "{:?}",
            problems.last()
        );
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(".{0,4}", inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_within_the_limit_is_read_as_it_is(value in any_json()) {
        prop_assert_eq!(read_value(&value).unwrap(), value);
    }
}

#[test]
fn a_size_beyond_the_limit_is_told_with_both_figures() {
    use fuseline_core::input::check_size;
    assert_eq!(check_size(8_000_000), Ok(()));
    assert_eq!(
        check_size(53_000_000).unwrap_err().to_string(),
        "it has 53.0 MB, and the limit is 8 MB: split the program, or use the command line, which reads more"
    );
}

#[test]
fn an_error_in_json_names_its_place() {
    use fuseline_core::json::read_json;
    assert_eq!(read_json::<Vec<u8>>("[1, 2]").unwrap(), [1, 2]);
    let problem = read_json::<Vec<u8>>("[1, 256]").unwrap_err();
    assert_eq!(
        problem.to_string(),
        "[1]: invalid value: integer `256`, expected u8 at line 1 column 7"
    );
    let problem = read_json::<Vec<f64>>("[1.5, NaN]").unwrap_err();
    assert_eq!(
        problem.to_string(),
        "[1]: NaN is not a JSON number at line 1 column 7"
    );
}
