//! Workshops: lessons in an order, with slides between them. How long a teacher has decides which.

use crate::lesson::library::{ListedLesson, listed};
use crate::lesson::{Lesson, LessonStep, read};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use strum::EnumIter;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, EnumIter, Serialize, Deserialize)]
pub enum Length {
    /// A lecture: the first two lessons.
    Min45,
    /// The usual one: four lessons.
    #[default]
    Min90,
    /// Half a day: eight lessons.
    Min180,
}

impl Length {
    /// In minutes. No plan takes longer.
    pub const fn minutes(self) -> u32 {
        match self {
            Self::Min45 => 45,
            Self::Min90 => 90,
            Self::Min180 => 180,
        }
    }

    pub const fn parts(self) -> &'static [WorkshopPart] {
        match self {
            Self::Min45 => MIN_45,
            Self::Min90 => MIN_90,
            Self::Min180 => MIN_180,
        }
    }
}

/// A part of a workshop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkshopPart {
    /// A lesson of the page, by its id.
    Lesson(&'static str),
    /// A slide that fills the screen.
    Slide(Slide),
}

/// A full screen of text between lessons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slide {
    pub kind: SlideKind,
    /// How long it stands, in minutes.
    pub minutes: u32,
    pub title: &'static str,
    pub lines: &'static [&'static str],
    /// The page that the class opens by the address on the slide: the part of a link after `#`.
    /// Empty for the page itself.
    pub opens: &'static str,
    /// Notes for the speaker.
    pub notes: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlideKind {
    /// The beginning, with the address of the page.
    Welcome,
    /// Everybody at their own machine, with the address of what to open.
    Exercise,
    Break,
    Close,
}

impl SlideKind {
    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Welcome => "welcome",
            Self::Exercise => "exercise",
            Self::Break => "break",
            Self::Close => "close",
        }
    }

    /// Whether the class opens the page by its address.
    pub const fn has_address(self) -> bool {
        !matches!(self, Self::Break)
    }
}

const WELCOME: WorkshopPart = WorkshopPart::Slide(Slide {
    kind: SlideKind::Welcome,
    minutes: 3,
    title: "Kernel fusion: what it saves, and when",
    lines: &[
        "Open the page on your own machine.",
        "Drag one slider. Which number changes most?",
        "Nothing that you do leaves your machine.",
    ],
    opens: "",
    notes: "Wait until everybody has the page open. One minute for the slider, then collect which numbers changed.",
});

const SLIDERS: WorkshopPart = WorkshopPart::Slide(Slide {
    kind: SlideKind::Exercise,
    minutes: 4,
    title: "Your turn: find the bottleneck",
    lines: &[
        "Open the example “Transformer block”. Set S, the sequence length, to 512, then to 8192.",
        "Which kernel takes longest in each case? What limits it?",
        "Which kernels are memory-bound in both?",
    ],
    opens: "",
    notes: "Two minutes alone, two for the answers, which stand in Kernels. On an H100 with torch.compile: at 512 the two large matmuls, up and down, at 8192 attention, all limited by the matrix units. The two with a layer norm are memory-bound in both; GELU only at 8192: at 512 its error functions take longer.",
});

const FIRST_PUZZLES: WorkshopPart = WorkshopPart::Slide(Slide {
    kind: SlideKind::Exercise,
    minutes: 6,
    title: "Your turn: fuse by hand",
    lines: &[
        "Open the puzzle “Two ops” by this address, or from “Learn”.",
        "Merge kernels until the memory traffic is at par, then go on to the next puzzle.",
        "Who needs the fewest moves?",
    ],
    opens: "puzzle=two_ops",
    notes: "The first puzzles take a minute each. Let one person show a way to par.",
});

const MORE_PUZZLES: WorkshopPart = WorkshopPart::Slide(Slide {
    kind: SlideKind::Exercise,
    minutes: 8,
    title: "Your turn: beat the compiler",
    lines: &[
        "Open “A softmax that does not fit” by this address, or from “Learn”, then the two puzzles after it.",
        "Be better than torch.compile, then reach par.",
        "Work in pairs: one says the move, the other one says what it saves.",
    ],
    opens: "puzzle=softmax",
    notes: "Ask each pair which merge saved most. Hints are on the page; the optimum is the last way out.",
});

const BREAK: WorkshopPart = pause(
    5,
    &[
        "Back in five minutes.",
        "Until then: what does your own model spend its time on?",
    ],
);

const LONG_BREAK: WorkshopPart = pause(
    10,
    &[
        "Back in ten minutes.",
        "Until then: what does your own model spend its time on?",
    ],
);

const fn pause(minutes: u32, lines: &'static [&'static str]) -> WorkshopPart {
    WorkshopPart::Slide(Slide {
        kind: SlideKind::Break,
        minutes,
        title: "A break",
        lines,
        opens: "",
        notes: "Leave the slide up.",
    })
}

const CLOSE: WorkshopPart = WorkshopPart::Slide(Slide {
    kind: SlideKind::Close,
    minutes: 5,
    title: "To take home",
    lines: &[
        "Every lesson and puzzle stays on this page.",
        "Bring your own model: the page reads PyTorch and ONNX.",
        "Profile it, fuse it, measure again.",
        "“Learn”, then “Hand in your results”: what you send me shows what was hard. Nothing is sent by itself.",
    ],
    opens: "",
    notes: "Three minutes to hand in, by whatever way you agreed on. Meanwhile ask for one thing that surprised somebody. Open the codes under Learn, Results of your class: First guesses has the questions to come back to.",
});

const MIN_45: &[WorkshopPart] = &[
    WELCOME,
    WorkshopPart::Lesson("exercise"),
    WorkshopPart::Lesson("roofline"),
    FIRST_PUZZLES,
    CLOSE,
];

const MIN_90: &[WorkshopPart] = &[
    WELCOME,
    WorkshopPart::Lesson("exercise"),
    WorkshopPart::Lesson("roofline"),
    SLIDERS,
    WorkshopPart::Lesson("torch_compile"),
    BREAK,
    WorkshopPart::Lesson("flash_attention"),
    FIRST_PUZZLES,
    CLOSE,
];

const MIN_180: &[WorkshopPart] = &[
    WELCOME,
    WorkshopPart::Lesson("exercise"),
    WorkshopPart::Lesson("roofline"),
    SLIDERS,
    WorkshopPart::Lesson("torch_compile"),
    LONG_BREAK,
    WorkshopPart::Lesson("flash_attention"),
    WorkshopPart::Lesson("tiling"),
    FIRST_PUZZLES,
    BREAK,
    WorkshopPart::Lesson("limits"),
    WorkshopPart::Lesson("precision"),
    WorkshopPart::Lesson("profiling"),
    MORE_PUZZLES,
    CLOSE,
];

/// Words that a class reads in a minute.
const WORDS_PER_MIN: usize = 150;
/// Seconds to think about a task, to answer it by a show of hands and to discuss the answers.
const TASK_S: usize = 75;
/// Seconds to get to the next step.
const STEP_S: usize = 10;

/// How long a lesson takes before a class, in whole minutes: reading, thinking, answering,
/// discussing.
pub fn class_minutes(lesson: &Lesson) -> u32 {
    minutes_of(&lesson.steps)
}

fn minutes_of(steps: &[LessonStep]) -> u32 {
    let seconds = steps.iter().map(|step| {
        let reading_s = step.word_count() * 60 / WORDS_PER_MIN;
        let task_s = if step.task.is_some() { TASK_S } else { 0 };
        reading_s + task_s + STEP_S
    });
    u32::try_from(seconds.sum::<usize>().div_ceil(60)).unwrap_or(u32::MAX)
}

/// Where a workshop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workshop {
    pub length: Length,
    /// The index of its part.
    pub part: usize,
}

impl Workshop {
    pub const fn new(length: Length) -> Self {
        Self { length, part: 0 }
    }

    pub fn present(self) -> Option<&'static WorkshopPart> {
        self.length.parts().get(self.part)
    }

    /// The minutes of the present slide, or of a step, from 0, of the present lesson, from the
    /// beginning. Reads the lessons.
    pub fn minutes(self, step: usize) -> Option<Range<u32>> {
        let Planned { part, minutes } = plan(self.length).into_iter().nth(self.part)?;
        let Some(listed) = part.lesson() else {
            return Some(minutes);
        };
        let steps = read(listed.text).0.steps;
        let until = |count: usize| {
            let done = steps.get(..count).unwrap_or(&steps);
            minutes.start + minutes_of(done)
        };
        let start = until(step);
        // A short step has a minute, too.
        Some(start..until(step + 1).max(start + 1))
    }

    /// At the part after this one, or before it; `None` beyond its ends.
    pub fn moved(self, by: isize) -> Option<Self> {
        let part = self.part.checked_add_signed(by)?;
        (part < self.length.parts().len()).then_some(Self { part, ..self })
    }

    /// At the lesson of this id; `None` if it is no part.
    pub fn at_lesson(self, id: &str) -> Option<Self> {
        let mut parts = self.length.parts().iter();
        let part = parts.position(|part| matches!(part, WorkshopPart::Lesson(of) if *of == id))?;
        Some(Self { part, ..self })
    }
}

/// A part with its place in the workshop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    pub part: &'static WorkshopPart,
    /// Its minutes, from the beginning.
    pub minutes: Range<u32>,
}

impl WorkshopPart {
    pub fn lesson(&self) -> Option<&'static ListedLesson> {
        match self {
            Self::Lesson(id) => listed(id),
            Self::Slide(_) => None,
        }
    }

    /// The title of its lesson or slide.
    pub fn title(&self) -> String {
        match self {
            Self::Lesson(id) => listed(id).map_or_else(String::new, |of| read(of.text).0.title),
            Self::Slide(slide) => slide.title.to_owned(),
        }
    }

    pub const fn slide(&self) -> Option<&Slide> {
        match self {
            Self::Slide(slide) => Some(slide),
            Self::Lesson(_) => None,
        }
    }

    fn minutes(&self) -> u32 {
        match self {
            Self::Lesson(id) => listed(id).map_or(0, |listed| class_minutes(&read(listed.text).0)),
            Self::Slide(slide) => slide.minutes,
        }
    }
}

/// All parts with their minutes. Reads the lessons.
pub fn plan(length: Length) -> Vec<Planned> {
    let mut begin = 0;
    let parts = length.parts().iter().map(|part| {
        let minutes = begin..begin + part.minutes();
        begin = minutes.end;
        Planned { part, minutes }
    });
    parts.collect()
}

/// How far a speaker in a part with these minutes is from the plan, `elapsed_s` after the
/// beginning: in words for the speaker.
pub fn standing(minutes: &Range<u32>, elapsed_s: u64) -> String {
    let elapsed_min = u32::try_from(elapsed_s / 60).unwrap_or(u32::MAX);
    if elapsed_min < minutes.start {
        format!("{} min ahead of schedule", minutes.start - elapsed_min)
    } else if elapsed_min >= minutes.end {
        format!("{} min behind schedule", elapsed_min - minutes.end)
    } else {
        format!("on schedule: until minute {}", minutes.end)
    }
}

/// A time since the beginning, in hours and minutes.
pub fn clock(elapsed_s: u64) -> String {
    format!("{}:{:02}", elapsed_s / 3600, elapsed_s / 60 % 60)
}
