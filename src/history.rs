//! Undo and redo over the text.

/// Steps that are kept; the oldest are forgotten first.
const MAX_STEPS: usize = 300;
/// Bytes of text that all kept steps may hold together.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// A pause that begins a new step, in milliseconds.
const PAUSE_MS: f64 = 1000.0;

/// Where an edit comes from. Edits of one origin without a pause between them are one step back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Keys in the text editor.
    Typing,
    /// The slider or number box of this param.
    Param(String),
    /// Anything that is a step of its own: a button, a picker, a pasted program.
    Single,
}

/// The texts before and after the present one.
#[derive(Clone, Debug, Default)]
pub struct History {
    undo: Vec<String>,
    redo: Vec<String>,
    last: Option<(Origin, f64)>,
}

impl History {
    /// Records that `before` is about to be replaced.
    pub fn record(&mut self, before: &str, origin: Origin, now_ms: f64) {
        let is_same_step = self
            .last
            .as_ref()
            .is_some_and(|(last, at_ms)| *last == origin && now_ms - at_ms < PAUSE_MS);
        if !is_same_step || origin == Origin::Single || self.undo.is_empty() {
            self.undo.push(before.to_owned());
            self.forget_the_oldest();
        }
        self.redo.clear();
        self.last = Some((origin, now_ms));
    }

    /// Ends the present step: the next edit is a new one.
    pub fn seal(&mut self) {
        self.last = None;
    }

    /// The text one step back; `present` can be reached again by [`History::redo`].
    pub fn undo(&mut self, present: &str) -> Option<String> {
        let before = self.undo.pop()?;
        self.redo.push(present.to_owned());
        self.last = None;
        Some(before)
    }

    /// The text that the last [`History::undo`] left.
    pub fn redo(&mut self, present: &str) -> Option<String> {
        let after = self.redo.pop()?;
        self.undo.push(present.to_owned());
        self.last = None;
        Some(after)
    }

    /// Whether there is a step back.
    pub fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Whether there is a step forward again.
    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    fn forget_the_oldest(&mut self) {
        let mut bytes: usize = self.undo.iter().map(String::len).sum();
        let mut forgotten = self.undo.len().saturating_sub(MAX_STEPS);
        bytes -= self
            .undo
            .iter()
            .take(forgotten)
            .map(String::len)
            .sum::<usize>();
        while bytes > MAX_BYTES && forgotten + 1 < self.undo.len() {
            bytes -= self.undo.get(forgotten).map_or(0, String::len);
            forgotten += 1;
        }
        self.undo.drain(..forgotten);
    }
}

/// End of what differs in `after`, as a byte offset: where a caret belongs when `before` has become `after`.
pub fn end_of_change(before: &str, after: &str) -> usize {
    let (head, tail) = common_ends(before, after);
    let mut end = (after.len() - tail).max(head);
    while !after.is_char_boundary(end) {
        end += 1;
    }
    end
}

/// Whether most of `before` is gone: `after` is another text rather than an edited one.
pub fn keeps_little(before: &str, after: &str) -> bool {
    let (head, tail) = common_ends(before, after);
    (head + tail) * 2 < before.len()
}

/// Bytes that two texts have in common at their start and at their end.
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
    use super::{History, MAX_STEPS, Origin, end_of_change, keeps_little};

    #[test]
    fn typing_without_a_pause_is_one_step() {
        let mut history = History::default();
        history.record("", Origin::Typing, 0.0);
        history.record("a", Origin::Typing, 300.0);
        history.record("ab", Origin::Typing, 600.0);
        history.record("abc", Origin::Typing, 5000.0);
        assert_eq!(history.undo("abcd").as_deref(), Some("abc"));
        assert_eq!(history.undo("abc").as_deref(), Some(""));
        assert_eq!(history.undo(""), None);
        assert_eq!(history.redo("").as_deref(), Some("abc"));
        assert_eq!(history.redo("abc").as_deref(), Some("abcd"));
        assert!(!history.can_redo());
    }

    #[test]
    fn another_slider_or_a_button_is_another_step() {
        let mut history = History::default();
        history.record("0", Origin::Param("S".into()), 0.0);
        history.record("1", Origin::Param("S".into()), 10.0);
        history.record("2", Origin::Param("H".into()), 20.0);
        history.record("3", Origin::Single, 30.0);
        history.record("4", Origin::Single, 40.0);
        let mut present = "5".to_owned();
        let mut seen = Vec::new();
        while let Some(before) = history.undo(&present) {
            seen.push(before.clone());
            present = before;
        }
        assert_eq!(seen, ["4", "3", "2", "0"]);
    }

    #[test]
    fn an_edit_after_undo_ends_redo() {
        let mut history = History::default();
        history.record("a", Origin::Single, 0.0);
        history.undo("b");
        assert!(history.can_redo());
        history.record("a", Origin::Typing, 1.0);
        assert!(!history.can_redo());
        assert_eq!(history.undo("c").as_deref(), Some("a"));
    }

    #[test]
    fn the_oldest_steps_are_forgotten() {
        let mut history = History::default();
        for step in 0..MAX_STEPS + 5 {
            history.record(&step.to_string(), Origin::Single, 0.0);
        }
        let mut steps = 0;
        let mut oldest = String::new();
        while let Some(before) = history.undo("") {
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
