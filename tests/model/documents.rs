//! The texts that the browser keeps: which stay, which one a visit opens, and what tabs do to each
//! other.

use fuseline::app::documents::{
    Document, OpenDocument, Stored, Storing, newest, outdated, own_texts,
};
use fuseline_core::examples::EXAMPLES;
use fuseline_view::present::names::{own_title, title};

fn document(changed_ms: u64, is_own: bool) -> Document {
    Document {
        changed_ms,
        example: None,
        is_own,
        is_exercise: false,
        lesson: None,
        choices: String::new(),
        text: format!("y{changed_ms} = relu(x) : f16[8]"),
    }
}

fn stored(id: &str, changed_ms: u64, is_own: bool) -> Stored {
    (id.to_owned(), document(changed_ms, is_own))
}

#[test]
fn ten_own_texts_stay_and_what_was_only_looked_at_takes_no_place_of_theirs() {
    let own = (0..12_u64).map(|i| stored(&format!("own{i}"), i, true));
    let others = (20..27_u64).map(|i| stored(&format!("other{i}"), i, false));
    let documents: Vec<Stored> = own.chain(others).collect();
    assert_eq!(newest(&documents).map(|d| d.0.as_str()), Some("other26"));
    assert_eq!(outdated(&documents), ["own1", "own0", "other21", "other20"]);
    let kept = own_texts(&documents);
    assert_eq!(kept.first().map(|d| d.0.as_str()), Some("own11"));
}

#[test]
fn the_steps_of_a_long_lesson_leave_the_program_from_before_it() {
    let step = |i: u64| {
        let step = Document {
            is_exercise: true,
            ..document(i, false)
        };
        (format!("step{i}"), step)
    };
    let before = stored("before", 0, false);
    let documents: Vec<Stored> = [before].into_iter().chain((1..=7).map(step)).collect();
    assert_eq!(outdated(&documents), ["step2", "step1"]);
}

#[test]
fn a_merge_that_marks_all_lines_anew_is_an_edit_of_the_same_program() {
    let ops: Vec<String> = (0..9)
        .map(|at| format!("y{} = relu(y{at})", at + 1))
        .collect();
    let text = |lines: Vec<String>| format!("input y0 : f16[8]\n{}", lines.join("\n"));
    let marked = |first: usize| {
        let lines = ops.iter().enumerate();
        text(
            lines
                .map(|(at, op)| format!("{op} @kernel {}", first + at))
                .collect(),
        )
    };
    let open = OpenDocument::new("a".to_owned(), &marked(1), true);
    assert!(!open.is_replaced_by(&marked(11)));
    assert!(!open.is_replaced_by(&text(ops.clone())));
    let other = text(vec!["z = abs(y0) @kernel 1".to_owned(); 9]);
    assert!(open.is_replaced_by(&other));
}

#[test]
fn the_title_is_the_first_line_with_something_on_it() {
    assert_eq!(title("\n\n# My block\ninput x"), "My block");
    assert_eq!(title("##\ninput x : f16[8]\n"), "input x : f16[8]");
    assert_eq!(title(" \n"), "(empty)");
    assert_eq!(title("# title: Two readers\n# about: …"), "Two readers");
    assert_eq!(
        own_title("# One layer.\ninput x : f16[8]"),
        Some("One layer")
    );
    assert_eq!(own_title("\nparam S = 8\n# One layer"), None);
}

#[test]
fn a_dragged_slider_does_not_make_an_example_an_own_text() {
    let example = EXAMPLES[0].text;
    let mut open = OpenDocument::new("a".into(), example, false);
    assert!(!open.is_own());
    let param = example.lines().find(|l| l.starts_with("param ")).unwrap();
    let (name, _) = param.split_once('=').unwrap();
    open.follow(&example.replace(param, &format!("{name}= 64 in 64..128 step 64")));
    assert!(!open.is_own());
    open.follow(&format!("{example}# mine\n"));
    assert!(open.is_own());
    open.follow(example);
    assert!(open.is_own(), "back by hand is still theirs");
}

#[test]
fn a_text_that_is_typed_is_own_at_once() {
    assert!(OpenDocument::new("a".into(), "y = relu(x) : f16[8]", false).is_own());
    assert!(!OpenDocument::new("a".into(), "y = relu(x) : f16[8]", true).is_own());
}

#[test]
fn another_program_is_another_document() {
    let open = OpenDocument::new("a".into(), "y = relu(x) : f16[8]", false);
    assert!(open.is_replaced_by(EXAMPLES[0].text));
    assert!(!open.is_replaced_by("y = relu(x) : f16[16]"));
    assert!(!open.is_replaced_by("y = relu(x) : f16[8]"));
}

#[test]
fn an_idle_tab_leaves_what_another_has_written_and_an_edited_one_forks() {
    let mut open = OpenDocument::stored("a", &document(5, true));
    assert_eq!(open.storing(Some(5)), Storing::Write);
    assert_eq!(open.time_ms(9), 5, "choices alone");
    assert_eq!(open.storing(Some(7)), Storing::Leave);
    assert_eq!(open.storing(None), Storing::Leave, "forgotten elsewhere");
    open.follow("another text");
    assert_eq!(open.storing(Some(7)), Storing::Fork);
    assert_eq!(open.storing(None), Storing::Write);
    assert_eq!(open.time_ms(9), 9);
    open.was_stored(9);
    assert_eq!(open.storing(Some(9)), Storing::Write);
    assert_eq!(open.time_ms(11), 9);
}

#[test]
fn what_is_opened_again_is_what_the_next_visit_opens() {
    let document = document(5, true);
    let open = OpenDocument::stored("a", &document);
    assert_eq!(open.time_ms(9), 5);
    let open = open.opened_again();
    assert_eq!(open.storing(Some(5)), Storing::Write);
    assert_eq!(open.time_ms(9), 9);
}

#[test]
fn an_exercise_stays_one_over_a_reload() {
    let text = "a = relu(x) : f16[8]\nb = gelu(a)\n";
    let edited = "a = relu(x) : f16[8]\nb = tanh(a)\n";
    let mut open = OpenDocument::exercise("step".to_owned(), text);
    open.follow(edited);
    assert!(open.is_exercise() && !open.is_own());
    let written = Document {
        is_exercise: open.is_exercise(),
        text: open.text().to_owned(),
        ..document(1, open.is_own())
    };
    let mut again = OpenDocument::stored("step", &written);
    again.follow(text);
    assert!(again.is_exercise() && !again.is_own());
    // What an older version has stored is none.
    let older = r#"{"changed_ms":1,"example":null,"is_own":false,"choices":"","text":""}"#;
    assert!(!serde_json::from_str::<Document>(older).unwrap().is_exercise);
}
