//! Lists of names and capitals in sentences.

#[test]
fn a_list_names_as_many_as_wanted_and_counts_the_rest() {
    use fuseline_view::present::names::joined;
    assert_eq!(
        joined(["a", "b", "c"].into_iter(), [", ", " and "], 2),
        "a, b and 1 more"
    );
    assert_eq!(joined(["a", "b"].into_iter(), [" + "; 2], 2), "a + b");
}

#[test]
fn a_list_ends_with_and() {
    use fuseline_view::present::names::listed;
    assert_eq!(
        listed(vec!["a".into(), "b".into(), "c".into()]),
        "a, b and c"
    );
}

#[test]
fn a_sentence_starts_with_a_capital() {
    use fuseline_view::present::words::capitalized;
    assert_eq!(capitalized("a launch"), "A launch");
    assert_eq!(capitalized(""), "");
}
