//! Whether a slider moves or is held.

use super::set_if_changed::SetIfChanged;
use fuseline_browser::{Debounce, now_ms};
use leptos::prelude::*;
use std::time::Duration;

/// Pause after which a slider that is dragged rests.
const DRAG_END: Duration = Duration::from_millis(200);
/// How long a slider counts as held after a step by a key.
const KEY_HOLD: Duration = Duration::from_millis(900);

/// Moves of a slider that follow each other within this time leave some pictures out.
const FAST_MOVE: Duration = Duration::from_millis(50);

/// Pictures that follow the same moves of a slider that moves fast.
///
/// All of them take longer than a frame of a 60 Hz screen where a processor is slow. Taking turns,
/// each is at most two moves late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The graph and the traffic.
    Graph,
    /// The memory timeline.
    Timeline,
    Roofline,
}

impl Turn {
    fn next(self) -> Self {
        match self {
            Self::Graph => Self::Timeline,
            Self::Timeline => Self::Roofline,
            Self::Roofline => Self::Graph,
        }
    }
}

/// Whether a slider moves or is held.
#[derive(Clone, Copy)]
pub struct SliderState(StoredValue<Signals>);

#[derive(Clone, Copy)]
struct Signals {
    is_dragging: RwSignal<bool>,
    drag_end: Debounce,
    is_held: Memo<bool>,
    is_pressed: RwSignal<bool>,
    is_stepped: RwSignal<bool>,
    steps_end: Debounce,
    /// Whose turn it is; `None` unless a slider moves fast.
    turn: RwSignal<Option<Turn>>,
    moved_ms: StoredValue<f64>,
    rest: Debounce,
}

impl SliderState {
    pub(super) fn new() -> Self {
        let (is_pressed, is_stepped) = (RwSignal::new(false), RwSignal::new(false));
        Self(StoredValue::new(Signals {
            is_dragging: RwSignal::new(false),
            drag_end: Debounce::after(DRAG_END),
            is_held: Memo::new(move |_| is_pressed.get() || is_stepped.get()),
            is_pressed,
            is_stepped,
            steps_end: Debounce::after(KEY_HOLD),
            turn: RwSignal::new(None),
            moved_ms: StoredValue::new(f64::NEG_INFINITY),
            rest: Debounce::after(FAST_MOVE),
        }))
    }

    /// Whether the pictures of `turn` leave out the present move of a slider. Tracked.
    pub fn is_waiting(self, turn: Turn) -> bool {
        (self.0.get_value().turn.get()).is_some_and(|present| present != turn)
    }

    /// Whether a slider has just moved; until it rests, a search has a small budget. Tracked.
    pub fn is_dragging(self) -> bool {
        self.0.get_value().is_dragging.get()
    }

    /// Whether a slider is held: from the press of a pointer until its release, and for a moment
    /// after each step by a key. Meanwhile the axes of charts stand still. Tracked.
    pub fn is_held(self) -> bool {
        self.0.get_value().is_held.get()
    }

    /// Whether a pointer presses a slider. Tracked.
    pub fn is_pressed(self) -> bool {
        self.0.get_value().is_pressed.get()
    }

    /// A pointer presses a slider.
    pub(super) fn press(self) {
        self.0.get_value().is_pressed.set_if_changed(true);
    }

    /// The pointer leaves the slider.
    pub(super) fn release(self) {
        self.0.get_value().is_pressed.set_if_changed(false);
    }

    /// A slider is about to move, by a pointer or a key.
    pub fn drag(self) {
        let signals = self.0.get_value();
        signals.is_dragging.set_if_changed(true);
        (signals.drag_end).call(move || signals.is_dragging.set_if_changed(false));
        self.step();
        self.pass_turn();
    }

    /// Gives the turn to the next pictures if a slider moves fast, and to all of them if not, and
    /// as soon as it rests.
    fn pass_turn(self) {
        let Signals {
            turn,
            moved_ms,
            rest,
            ..
        } = self.0.get_value();
        let now = now_ms();
        let is_fast = now - moved_ms.get_value() < FAST_MOVE.as_secs_f64() * 1000.0;
        moved_ms.set_value(now);
        let next = turn.get_untracked().map_or(Turn::Graph, Turn::next);
        turn.set_if_changed(is_fast.then_some(next));
        rest.call(move || turn.set_if_changed(None));
    }

    /// A size is about to change by a key.
    pub fn step(self) {
        let signals = self.0.get_value();
        if !signals.is_pressed.get_untracked() {
            signals.is_stepped.set_if_changed(true);
            (signals.steps_end).call(move || signals.is_stepped.set_if_changed(false));
        }
    }
}
