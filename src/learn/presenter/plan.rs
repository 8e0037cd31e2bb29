//! A workshop of 90 minutes: the lessons in their order, presented to a class.

use crate::lesson::library::{Listed, listed};
use std::ops::Range;

/// How long the workshop takes, in minutes.
pub const WORKSHOP_MIN: u32 = 90;

/// What a part of the workshop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// The speaker talks.
    Talk,
    /// A lesson of the page.
    Lesson(&'static str),
    /// Everybody at their own machine.
    OnTheirOwn,
    /// A break.
    Break,
}

/// A part of the workshop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub activity: Activity,
    /// How long it takes, in minutes.
    pub minutes: u32,
    /// What to do, for a part that is no lesson.
    pub what: &'static str,
}

const fn lesson(id: &'static str, minutes: u32) -> Part {
    Part {
        activity: Activity::Lesson(id),
        minutes,
        what: "",
    }
}

/// The parts, in order. Before a class a lesson is shorter than alone: one screen, one answer by show of hands.
pub static PARTS: &[Part] = &[
    Part {
        activity: Activity::Talk,
        minutes: 4,
        what: "Welcome. Show the QR code. Everybody opens the page and drags one slider.",
    },
    lesson("exercise", 6),
    lesson("roofline", 8),
    lesson("bound", 7),
    lesson("layernorm_gelu", 8),
    lesson("torch_compile", 8),
    Part {
        activity: Activity::Break,
        minutes: 5,
        what: "A break. Anybody who stays can drag the sliders of the transformer.",
    },
    lesson("flash_attention", 9),
    lesson("tiling", 7),
    lesson("limits", 7),
    lesson("precision", 6),
    lesson("profiling", 7),
    Part {
        activity: Activity::OnTheirOwn,
        minutes: 6,
        what: "Puzzles: everybody solves the first three on their own machine. Compare the distances from par.",
    },
    Part {
        activity: Activity::Talk,
        minutes: 2,
        what: "To take home: the link to your own program, and the lessons to read again.",
    },
];

/// A part with its place in the workshop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The part.
    pub part: &'static Part,
    /// Its minutes, from the beginning.
    pub minutes: Range<u32>,
}

impl Part {
    /// The lesson, if it is one.
    pub fn lesson(&self) -> Option<&'static Listed> {
        match self.activity {
            Activity::Lesson(id) => listed(id),
            _ => None,
        }
    }
}

/// All parts with their minutes.
pub fn plan() -> Vec<Planned> {
    let mut begin = 0;
    let parts = PARTS.iter().map(|part| {
        let minutes = begin..begin + part.minutes;
        begin = minutes.end;
        Planned { part, minutes }
    });
    parts.collect()
}

/// How far a speaker is from the plan, `elapsed_s` after the beginning, in a lesson of the page: in words for the speaker. `None`
/// for a lesson that is not in the plan.
pub fn standing(lesson: &str, elapsed_s: u64) -> Option<String> {
    let is_it =
        |planned: &Planned| matches!(planned.part.activity, Activity::Lesson(id) if id == lesson);
    let minutes = plan().into_iter().find(is_it)?.minutes;
    let elapsed_min = u32::try_from(elapsed_s / 60).unwrap_or(u32::MAX);
    Some(if elapsed_min < minutes.start {
        format!("{} min ahead of schedule", minutes.start - elapsed_min)
    } else if elapsed_min >= minutes.end {
        format!("{} min behind schedule", elapsed_min - minutes.end)
    } else {
        format!("on schedule: until minute {}", minutes.end)
    })
}

/// A time since the beginning, in hours and minutes.
pub fn clock(elapsed_s: u64) -> String {
    format!("{}:{:02}", elapsed_s / 3600, elapsed_s / 60 % 60)
}
