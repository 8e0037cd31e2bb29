//! Undo and redo of what actions change.
//!
//! A step is one change of the text, of the choices beside it, or of both. Choices are steps
//! whoever makes them, a button, a menu or an advice, so undo takes back what was changed last, and
//! a step is the whole state before it.

use fuseline_core::examples::{Opening, START, START_DEVICE, example, example_of};
use fuseline_core::{Conventions, Device, FusionOptions, Policy, device};
use fuseline_learn::puzzle::source::PuzzleSource;
use fuseline_view::page::links::SharedState;
use fuseline_view::page::note::Note;

/// Number of undo steps that are kept. The oldest are dropped first.
const MAX_STEPS: usize = 300;
/// Total size of the texts of all undo steps.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// An edit after a pause of this length begins a new step.
const PAUSE_MS: f64 = 1000.0;

/// The control that made an edit. Edits from the same one without a pause between them are one
/// step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Keys in the text editor.
    Typing,
    /// The slider or number box of this param. What a pointer does from press to release is one
    /// step, however long it rests.
    Param(String),
    /// The slider of an option.
    Range(&'static str),
    /// A button, a picker or a pasted program: always a step of its own.
    Single,
}

/// What is chosen beside the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// Who decides what fuses.
    pub policy: Policy,
    /// Options of the policies.
    pub fusion: FusionOptions,
    /// How bytes are counted.
    pub conventions: Conventions,
    /// The device that the kernels run on.
    pub device: Device,
    /// Whether the fused kernels are shown.
    pub is_fused: bool,
    /// What the sender of a link says about the program.
    pub note: Option<Note>,
    /// The puzzle whose kernels the visitor makes of the text.
    pub puzzle: Option<PuzzleSource>,
    /// Number of merges and cuts by hand that made the kernels of the text from the start of a
    /// puzzle; `None` where something else made them, too.
    pub moves: Option<usize>,
}

impl Choices {
    /// These choices with those that an example opens with.
    #[must_use]
    pub fn opened_with(mut self, opening: Opening) -> Self {
        self.policy = opening.policy;
        self.fusion.attention = FusionOptions::default().attention;
        self.is_fused = opening.is_fused;
        self.conventions.reshape = opening.reshape;
        self
    }

    /// These choices with those of a first visit.
    #[must_use]
    pub fn of_first_visit(mut self) -> Self {
        if let Some(device) = device(START_DEVICE) {
            self.device.clone_from(device);
        }
        match example(START) {
            Some(start) => self.opened_with(start.opening),
            None => self,
        }
    }
}

impl From<&SharedState> for Choices {
    fn from(state: &SharedState) -> Self {
        Self {
            policy: state.policy,
            fusion: state.fusion,
            conventions: state.conventions,
            device: state.device.clone(),
            is_fused: !state.is_unfused_view,
            note: state.note.clone(),
            puzzle: (state.puzzle.as_deref())
                .and_then(|name| PuzzleSource::of_link(name, &state.text)),
            moves: state.moves,
        }
    }
}

/// A state that undo or redo can restore.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub text: String,
    /// The example that the text started from.
    pub example: Option<&'static str>,
    /// What is chosen beside it.
    pub choices: Choices,
}

/// The undo and redo stacks.
#[derive(Clone, Debug, Default)]
pub struct History {
    undo: Vec<Step>,
    redo: Vec<Step>,
    last: Option<(Origin, f64)>,
    /// Whether a pointer holds a slider, so that a pause ends no step.
    is_held: bool,
}

impl History {
    /// Records the state before a change.
    pub fn record(&mut self, before: Step, origin: Origin, now_ms: f64) {
        let is_same_step = self.last.as_ref().is_some_and(|(last, at_ms)| {
            *last == origin && (self.is_held || now_ms - at_ms < PAUSE_MS)
        });
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

    /// A pointer presses a slider: until [`History::release`], edits of one origin are one step.
    pub fn hold(&mut self) {
        self.seal();
        self.is_held = true;
    }

    /// The pointer releases the slider, which ends its step.
    pub fn release(&mut self) {
        self.seal();
        self.is_held = false;
    }

    /// Undoes one step, and returns the state to show; [`History::redo`] can restore `present`.
    pub fn undo(&mut self, present: Step) -> Option<Step> {
        travel(&mut self.undo, &mut self.redo, present, &mut self.last)
    }

    /// Takes the last [`History::undo`] back.
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
    present: Step,
    last: &mut Option<(Origin, f64)>,
) -> Option<Step> {
    *last = None;
    while let Some(step) = from.pop() {
        // A drag that ends where it began has changed nothing.
        if step != present {
            to.push(present);
            return Some(step);
        }
    }
    None
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

/// Whether `after` keeps less than half of `before`, and so is another program rather than an edit
/// of it. Kernel marks do not count: one merge may number all of them anew.
pub fn keeps_little(before: &str, after: &str) -> bool {
    let is_little = |before: &str, after: &str| {
        let (head, tail) = common_ends(before, after);
        (head + tail) * 2 < before.len()
    };
    is_little(before, after) && is_little(&unmarked(before), &unmarked(after))
}

/// A text with its lines cut off before their kernel marks.
fn unmarked(text: &str) -> String {
    let lines = text.lines();
    let lines = lines.map(|line| line.split("@kernel").next().unwrap_or(line).trim_end());
    lines.collect::<Vec<_>>().join("\n")
}

/// The example that a text counts as after an edit: the one from before as long as most of it
/// stays, else the one that it now is.
pub fn example_after(
    example: Option<&'static str>,
    before: &str,
    now: &str,
) -> Option<&'static str> {
    let kept = example.filter(|_| !keeps_little(before, now));
    kept.or_else(|| Some(example_of(now)?.id))
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
