//! Undo and redo of the text.

use fuseline_core::Policy;

/// Number of undo steps that are kept. The oldest are dropped first.
const MAX_STEPS: usize = 300;
/// Total size of the texts of all undo steps.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// An edit after a pause of this length begins a new step.
const PAUSE_MS: f64 = 1000.0;

/// The control that made an edit. Edits from the same one without a pause between them are one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Keys in the text editor.
    Typing,
    /// The slider or number box of this param.
    Param(String),
    /// A button, a picker or a pasted program: always a step of its own.
    Single,
}

/// A state of the text that undo or redo can restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The text.
    pub text: String,
    /// The example that the text started from.
    pub example: Option<&'static str>,
    /// The policy, if the edit changed it too. A policy that was chosen on its own is not restored.
    pub policy: Option<Policy>,
}

/// The undo and redo stacks.
#[derive(Clone, Debug, Default)]
pub struct History {
    undo: Vec<Step>,
    redo: Vec<Step>,
    last: Option<(Origin, f64)>,
}

impl History {
    /// Records the text before an edit.
    pub fn record(&mut self, before: Step, origin: Origin, now_ms: f64) {
        let is_same_step = self
            .last
            .as_ref()
            .is_some_and(|(last, at_ms)| *last == origin && now_ms - at_ms < PAUSE_MS);
        if !is_same_step || origin == Origin::Single || self.undo.is_empty() {
            self.undo.push(before);
            self.forget_the_oldest();
        }
        self.redo.clear();
        self.last = Some((origin, now_ms));
    }

    /// Ends the present step, so that the next edit begins a new one.
    pub fn seal(&mut self) {
        self.last = None;
    }

    /// Undoes one step; [`History::redo`] can restore `present` and its policy.
    pub fn undo(&mut self, present: Step) -> Option<Step> {
        travel(&mut self.undo, &mut self.redo, present, &mut self.last)
    }

    /// Restores the state before the last [`History::undo`].
    pub fn redo(&mut self, present: Step) -> Option<Step> {
        travel(&mut self.redo, &mut self.undo, present, &mut self.last)
    }

    /// Whether there is a step to undo.
    pub fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Whether there is a step to redo.
    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    fn forget_the_oldest(&mut self) {
        let mut bytes: usize = self.undo.iter().map(|step| step.text.len()).sum();
        while self.undo.len() > MAX_STEPS || (bytes > MAX_BYTES && self.undo.len() > 1) {
            bytes -= self.undo.remove(0).text.len();
        }
    }
}

fn travel(
    from: &mut Vec<Step>,
    to: &mut Vec<Step>,
    mut present: Step,
    last: &mut Option<(Origin, f64)>,
) -> Option<Step> {
    let step = from.pop()?;
    if step.policy.is_none() {
        present.policy = None;
    }
    to.push(present);
    *last = None;
    Some(step)
}

/// End of the changed part of `after`, as a byte offset: the caret goes there after undo and redo.
pub fn end_of_change(before: &str, after: &str) -> usize {
    let (head, tail) = common_ends(before, after);
    let mut end = (after.len() - tail).max(head);
    while !after.is_char_boundary(end) {
        end += 1;
    }
    end
}

/// Whether `after` keeps less than half of `before`, and so is another program rather than an edit of it.
pub fn keeps_little(before: &str, after: &str) -> bool {
    let (head, tail) = common_ends(before, after);
    (head + tail) * 2 < before.len()
}

/// Lengths in bytes of the common prefix and suffix of two texts.
fn common_ends(before: &str, after: &str) -> (usize, usize) {
    let equal = |(b, a): &(u8, u8)| b == a;
    let head = before.bytes().zip(after.bytes()).take_while(equal);
    let tail = before
        .bytes()
        .rev()
        .zip(after.bytes().rev())
        .take_while(equal);
    (head.count(), tail.count())
}

#[cfg(test)]
mod tests {
    use crate::app::history::{History, MAX_STEPS, Origin, Step, end_of_change, keeps_little};
    use fuseline_core::Policy;

    fn step(text: &str) -> Step {
        Step {
            text: text.to_owned(),
            example: None,
            policy: None,
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
            policy: Some(policy),
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
}
