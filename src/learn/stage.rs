//! The stage: the parts of the page on the screen while a lesson or a presenter has it: the lesson,
//! one or two pictures, and bands above them.

use fuseline_view::page::view::View;
use serde::{Deserialize, Serialize};

/// Most pictures beside each other: more are too small to be read, from the last row as on a
/// laptop.
pub const MAX_PICTURES: usize = 2;

/// The parts of the page on the screen. Without a lesson there is always a picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    has_lesson: bool,
    /// The views, in the order in which they were chosen.
    views: Vec<View>,
}

impl Stage {
    /// The program before a class.
    pub fn of_program() -> Self {
        Self {
            has_lesson: false,
            views: vec![View::Headline, View::Graph, View::Roofline],
        }
    }

    /// The lists of lessons and puzzles, which need all the room.
    pub fn of_lists() -> Self {
        Self {
            has_lesson: true,
            views: Vec::new(),
        }
    }

    /// A puzzle: its bar, and the graph in all the room that is left.
    pub fn of_puzzle() -> Self {
        Self::of_step(&[View::Graph])
    }

    /// A step that looks at these views: the lesson, the first two pictures among them, else the
    /// graph, and their bands.
    pub fn of_step(look: &[View]) -> Self {
        Self::with_pictures(look, MAX_PICTURES)
    }

    /// The same step before a class, where type is large: one picture beside the lesson.
    pub fn of_presented_step(look: &[View]) -> Self {
        Self::with_pictures(look, MAX_PICTURES - 1)
    }

    fn with_pictures(look: &[View], max_pictures: usize) -> Self {
        let (mut views, mut pictures): (Vec<_>, Vec<_>) =
            look.iter().partition(|view| view.is_band());
        pictures.truncate(max_pictures);
        if pictures.is_empty() {
            pictures.push(View::Graph);
        }
        views.append(&mut pictures);
        Self {
            has_lesson: true,
            views,
        }
    }

    pub const fn has_lesson(&self) -> bool {
        self.has_lesson
    }

    pub fn shows(&self, view: View) -> bool {
        self.views.contains(&view)
    }

    /// Number of pictures beside the lesson.
    pub fn picture_count(&self) -> usize {
        self.pictures().count()
    }

    fn pictures(&self) -> impl Iterator<Item = View> {
        self.views.iter().copied().filter(|view| !view.is_band())
    }

    /// Shows a view or takes it off. Where there is no room before a class, the picture goes that
    /// was chosen first; the last one stays.
    pub fn toggle(&mut self, view: View) {
        if self.shows(view) {
            if view.is_band() || self.picture_count() > 1 {
                self.views.retain(|&shown| shown != view);
            }
            return;
        }
        let room = MAX_PICTURES - usize::from(self.has_lesson);
        if !view.is_band() && self.picture_count() >= room {
            self.take_off_first_picture();
        }
        self.views.push(view);
    }

    /// Shows the lesson or takes it off. The picture that was chosen first goes where there is no
    /// room for two and the lesson.
    pub fn toggle_lesson(&mut self) {
        self.has_lesson = !self.has_lesson;
        if self.has_lesson && self.picture_count() == MAX_PICTURES {
            self.take_off_first_picture();
        }
    }

    fn take_off_first_picture(&mut self) {
        let first = self.pictures().next();
        self.views.retain(|&shown| Some(shown) != first);
    }
}
