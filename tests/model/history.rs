//! Undo and redo of the text.

use fuseline::app::history::{Choices, History, Origin, Step, end_of_change, keeps_little};
use fuseline_core::Policy;

/// Undo steps that are kept.
const MAX_STEPS: usize = 300;

fn step(text: &str) -> Step {
    Step {
        text: text.to_owned(),
        example: None,
        choices: Choices::default(),
    }
}

fn text_of(step: Option<Step>) -> Option<String> {
    step.map(|step| step.text)
}

#[test]
fn typing_without_a_pause_is_one_step() {
    let mut history = History::default();
    history.record(step(""), Origin::Typing, 0.0);
    history.record(step("a"), Origin::Typing, 300.0);
    history.record(step("ab"), Origin::Typing, 600.0);
    history.record(step("abc"), Origin::Typing, 5000.0);
    assert_eq!(text_of(history.undo(step("abcd"))).as_deref(), Some("abc"));
    assert_eq!(text_of(history.undo(step("abc"))).as_deref(), Some(""));
    assert_eq!(history.undo(step("")), None);
    assert_eq!(text_of(history.redo(step(""))).as_deref(), Some("abc"));
    assert_eq!(text_of(history.redo(step("abc"))).as_deref(), Some("abcd"));
    assert!(!history.can_redo());
}

#[test]
fn another_slider_or_a_button_is_another_step() {
    let mut history = History::default();
    history.record(step("0"), Origin::Param("S".into()), 0.0);
    history.record(step("1"), Origin::Param("S".into()), 10.0);
    history.record(step("2"), Origin::Param("H".into()), 20.0);
    history.record(step("3"), Origin::Single, 30.0);
    history.record(step("4"), Origin::Single, 40.0);
    let mut present = "5".to_owned();
    let mut seen = Vec::new();
    while let Some(before) = text_of(history.undo(step(&present))) {
        seen.push(before.clone());
        present = before;
    }
    assert_eq!(seen, ["4", "3", "2", "0"]);
}

#[test]
fn an_edit_after_undo_ends_redo() {
    let mut history = History::default();
    history.record(step("a"), Origin::Single, 0.0);
    history.undo(step("b"));
    assert!(history.can_redo());
    history.record(step("a"), Origin::Typing, 1.0);
    assert!(!history.can_redo());
    assert_eq!(text_of(history.undo(step("c"))).as_deref(), Some("a"));
}

#[test]
fn a_step_brings_back_the_example_and_the_policy_that_were_changed_with_the_text() {
    let mut history = History::default();
    let present = |text, policy| Step {
        choices: Choices::of_policy(policy),
        ..step(text)
    };
    let first = Step {
        example: Some("transformer"),
        ..present("a", Policy::Rules)
    };
    history.record(first.clone(), Origin::Single, 0.0);
    history.record(step("b"), Origin::Typing, 1.0);
    // The last edit did not change the policy, so undo keeps the one that was chosen since.
    let back = history.undo(present("c", Policy::Optimal));
    assert_eq!(back, Some(step("b")));
    assert_eq!(
        history.undo(present("b", Policy::Manual)),
        Some(first.clone())
    );
    assert_eq!(history.redo(first), Some(present("b", Policy::Manual)));
    assert_eq!(history.redo(present("b", Policy::Manual)), Some(step("c")));
}

/// Each choice is brought back by itself: what an edit left alone stays as the visitor chose it since.
#[test]
fn a_step_brings_back_only_the_choices_that_its_edit_changed() {
    let before = Choices {
        policy: Some(Policy::Rules),
        attention: Some(false),
        is_fused: Some(true),
    };
    let taken = Choices {
        policy: Some(Policy::Inductor),
        attention: Some(false),
        is_fused: None,
    };
    let changed = before.changed_by(taken);
    assert_eq!(changed, Choices::of_policy(Policy::Rules));
    let mut history = History::default();
    let first = Step {
        choices: changed,
        ..step("a")
    };
    history.record(first.clone(), Origin::Single, 0.0);
    let present = Step {
        choices: Choices {
            policy: Some(Policy::Inductor),
            attention: Some(true),
            is_fused: Some(false),
        },
        ..step("b")
    };
    assert_eq!(history.undo(present), Some(first.clone()));
    let again = Step {
        choices: Choices::of_policy(Policy::Inductor),
        ..step("b")
    };
    assert_eq!(history.redo(first), Some(again));
}

#[test]
fn the_oldest_steps_are_forgotten() {
    let mut history = History::default();
    for number in 0..MAX_STEPS + 5 {
        history.record(step(&number.to_string()), Origin::Single, 0.0);
    }
    let mut steps = 0;
    let mut oldest = String::new();
    while let Some(before) = text_of(history.undo(step(""))) {
        steps += 1;
        oldest = before;
    }
    assert_eq!((steps, oldest.as_str()), (MAX_STEPS, "5"));
}

#[test]
fn the_caret_goes_to_the_end_of_the_change() {
    assert_eq!(end_of_change("param S = 1024", "param S = 2048"), 14);
    assert_eq!(end_of_change("a = b", "a = bc"), 6);
    assert_eq!(end_of_change("abc", "ac"), 1);
    assert_eq!(end_of_change("x é", "x è y"), 6);
    assert_eq!(end_of_change("same", "same"), 4);
}

#[test]
fn a_replaced_text_is_told_from_an_edited_one() {
    assert!(keeps_little("input x : f16[4]", "y = relu(z)"));
    assert!(!keeps_little("input x : f16[4]", "input x : f16[4, 8]"));
    assert!(!keeps_little("", "input x : f16[4]"));
}
