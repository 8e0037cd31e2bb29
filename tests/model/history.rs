//! Undo and redo of the text and of the choices beside it.

use fuseline::app::history::{
    Choices, History, Origin, Step, end_of_change, example_after, keeps_little,
};
use fuseline_core::examples::example;
use fuseline_core::{FusionOptions, Policy};
use fuseline_view::page::links::SharedState;
use fuseline_view::page::note::Note;

/// Undo steps that are kept.
const MAX_STEPS: usize = 300;

fn step(text: &str) -> Step {
    Step {
        text: text.to_owned(),
        example: None,
        choices: Choices::from(&SharedState::default()),
    }
}

/// Records an edit of the text alone.
fn record(history: &mut History, before: &str, origin: Origin, now_ms: f64) {
    history.record(step(before), origin, now_ms);
}

/// A state of `text` under a policy, with or without max-autotune.
fn chosen(text: &str, policy: Policy, max_autotune: bool) -> Step {
    let of_text = step(text);
    let fusion = FusionOptions {
        max_autotune,
        ..of_text.choices.fusion
    };
    Step {
        choices: Choices {
            policy,
            fusion,
            ..of_text.choices
        },
        ..of_text
    }
}

fn text_of(step: Option<Step>) -> Option<String> {
    step.map(|step| step.text)
}

#[test]
fn typing_without_a_pause_is_one_step() {
    let mut history = History::default();
    record(&mut history, "", Origin::Typing, 0.0);
    record(&mut history, "a", Origin::Typing, 300.0);
    record(&mut history, "ab", Origin::Typing, 600.0);
    record(&mut history, "abc", Origin::Typing, 5000.0);
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
    record(&mut history, "0", Origin::Param("S".into()), 0.0);
    record(&mut history, "1", Origin::Param("S".into()), 10.0);
    record(&mut history, "2", Origin::Param("H".into()), 20.0);
    record(&mut history, "3", Origin::Single, 30.0);
    record(&mut history, "4", Origin::Single, 40.0);
    let mut present = "5".to_owned();
    let mut seen = Vec::new();
    while let Some(before) = text_of(history.undo(step(&present))) {
        seen.push(before.clone());
        present = before;
    }
    assert_eq!(seen, ["4", "3", "2", "0"]);
}

#[test]
fn a_drag_is_one_step_however_long_it_pauses() {
    let mut history = History::default();
    let slider = || Origin::Param("S".into());
    record(&mut history, "0", slider(), 0.0);
    history.hold();
    record(&mut history, "1", slider(), 10.0);
    record(&mut history, "2", slider(), 60_000.0);
    record(&mut history, "3", slider(), 120_000.0);
    history.release();
    record(&mut history, "4", slider(), 120_010.0);
    record(&mut history, "5", slider(), 121_500.0);
    let mut present = "6".to_owned();
    let mut seen = Vec::new();
    while let Some(before) = text_of(history.undo(step(&present))) {
        seen.push(before.clone());
        present = before;
    }
    assert_eq!(seen, ["5", "4", "1", "0"]);
}

#[test]
fn an_edit_after_undo_ends_redo() {
    let mut history = History::default();
    record(&mut history, "a", Origin::Single, 0.0);
    history.undo(step("b"));
    assert!(history.can_redo());
    record(&mut history, "a", Origin::Typing, 1.0);
    assert!(!history.can_redo());
    assert_eq!(text_of(history.undo(step("c"))).as_deref(), Some("a"));
}

#[test]
fn a_step_brings_back_the_example_and_the_choices() {
    let mut history = History::default();
    let first = Step {
        example: Some("transformer"),
        ..chosen("a", Policy::Rules, false)
    };
    let second = chosen("b", Policy::Manual, false);
    history.record(first.clone(), Origin::Single, 0.0);
    assert_eq!(history.undo(second.clone()), Some(first.clone()));
    assert_eq!(history.redo(first), Some(second));
}

#[test]
fn each_choice_is_a_step() {
    let mut history = History::default();
    let states = [
        chosen("a", Policy::Rules, false),
        chosen("b", Policy::Rules, false),
        chosen("b", Policy::Inductor, false),
        chosen("b", Policy::Inductor, true),
    ];
    for state in &states[..3] {
        history.record(state.clone(), Origin::Single, 0.0);
    }
    for pair in states.windows(2).rev() {
        assert_eq!(history.undo(pair[1].clone()).as_ref(), Some(&pair[0]));
    }
    for pair in states.windows(2) {
        assert_eq!(history.redo(pair[0].clone()).as_ref(), Some(&pair[1]));
    }
}

#[test]
fn a_drag_that_ends_where_it_began_is_no_step() {
    let mut history = History::default();
    record(&mut history, "a", Origin::Single, 0.0);
    history.hold();
    record(&mut history, "b", Origin::Range("launch"), 1.0);
    record(&mut history, "c", Origin::Range("launch"), 2.0);
    history.release();
    assert_eq!(text_of(history.undo(step("b"))).as_deref(), Some("a"));
}

#[test]
fn undo_and_redo_keep_the_note_of_the_sender() {
    let mut history = History::default();
    let note = Note::of("Look here");
    let other = step("b");
    let mut linked = step("a");
    linked.choices.note.clone_from(&note);
    record(&mut history, "before", Origin::Single, 0.0);
    history.record(linked.clone(), Origin::Single, 1.0);
    assert_eq!(history.undo(other.clone()), Some(linked.clone()));
    assert_eq!(history.redo(linked.clone()), Some(other.clone()));
    assert_eq!(history.undo(other), Some(linked));
}

/// The note goes with the last letters of a text that is typed in the place of its program.
#[test]
fn letters_of_one_step_bring_back_what_any_of_them_changed() {
    let mut history = History::default();
    let mut linked = step("a");
    linked.choices.note = Note::of("Look here");
    let without = step("b");
    history.record(linked.clone(), Origin::Typing, 0.0);
    history.record(linked.clone(), Origin::Typing, 10.0);
    assert_eq!(history.undo(without), Some(linked));
}

#[test]
fn the_oldest_steps_are_forgotten() {
    let mut history = History::default();
    for number in 0..MAX_STEPS + 5 {
        record(&mut history, &number.to_string(), Origin::Single, 0.0);
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
fn a_text_that_is_pasted_counts_as_the_example_that_it_is() {
    let block = example("transformer_block").unwrap();
    let (text, wide) = (block.text, block.text.replace("H = 4096", "H = 8192"));
    let edited = format!("{text}more = relu(output)\n");
    assert_eq!(example_after(Some(block.id), text, &edited), Some(block.id));
    assert_eq!(example_after(None, "", &wide), Some(block.id));
    assert_eq!(
        example_after(Some("mlp"), "y = relu(z)\n", &wide),
        Some(block.id)
    );
    assert_eq!(example_after(Some("mlp"), text, "y = relu(z)\n"), None);
    assert_eq!(example_after(None, "", &edited), None);
}

#[test]
fn a_replaced_text_is_told_from_an_edited_one() {
    assert!(keeps_little("input x : f16[4]", "y = relu(z)"));
    assert!(!keeps_little("input x : f16[4]", "input x : f16[4, 8]"));
    assert!(!keeps_little("", "input x : f16[4]"));
}
