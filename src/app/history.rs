//! Undo and redo of the text.

use fuseline_core::Policy;
use fuseline_core::examples::Opening;
use fuseline_view::page::links::SharedState;

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

/// Choices that an edit makes beside the text. Those that are `None` stay as the visitor made them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Who decides what fuses.
    pub policy: Option<Policy>,
    /// Whether attention runs as one kernel.
    pub attention: Option<bool>,
    /// Whether the fused kernels are shown.
    pub is_fused: Option<bool>,
}

impl Choices {
    /// The policy alone.
    pub fn of_policy(policy: Policy) -> Self {
        Self {
            policy: Some(policy),
            ..Self::default()
        }
    }

    /// Of these choices those that `next` changes.
    #[must_use]
    pub fn changed_by(self, next: Self) -> Self {
        fn changed<T: PartialEq>(now: Option<T>, next: Option<T>) -> Option<T> {
            now.filter(|now| next.is_some_and(|next| next != *now))
        }
        Self {
            policy: changed(self.policy, next.policy),
            attention: changed(self.attention, next.attention),
            is_fused: changed(self.is_fused, next.is_fused),
        }
    }

    /// Of these choices those that `step` restores.
    fn restored_by(self, step: Self) -> Self {
        Self {
            policy: self.policy.filter(|_| step.policy.is_some()),
            attention: self.attention.filter(|_| step.attention.is_some()),
            is_fused: self.is_fused.filter(|_| step.is_fused.is_some()),
        }
    }
}

impl From<Opening> for Choices {
    fn from(opening: Opening) -> Self {
        Self {
            policy: Some(opening.policy),
            attention: Some(opening.attention),
            is_fused: Some(opening.is_fused),
        }
    }
}

impl From<&SharedState> for Choices {
    fn from(state: &SharedState) -> Self {
        Self {
            policy: Some(state.policy),
            attention: Some(state.fusion.attention),
            is_fused: Some(!state.is_unfused_view),
        }
    }
}

/// A state of the text that undo or redo can restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The text.
    pub text: String,
    /// The example that the text started from.
    pub example: Option<&'static str>,
    /// The choices that the edit changed, too. What was chosen on its own is not restored.
    pub choices: Choices,
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

    /// Undoes one step; [`History::redo`] can restore `present` and its choices.
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
    present.choices = present.choices.restored_by(step.choices);
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
