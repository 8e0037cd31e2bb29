//! The views that fill the screen.

use fuseline_view::page::view::View;
use serde::{Deserialize, Serialize};

/// Most pictures beside each other: more are too small to be read from the last row.
pub const MAX_PICTURES: usize = 2;

/// One or two pictures, and the bands above them. There is always a picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presented {
    /// The views, in the order in which they were chosen.
    views: Vec<View>,
}

impl Default for Presented {
    fn default() -> Self {
        Self {
            views: vec![View::Headline, View::Graph, View::Roofline],
        }
    }
}

impl Presented {
    /// The views for a step of a lesson that points at `look`: the lesson, and the first picture that it points at.
    pub fn of_step(look: &[View]) -> Self {
        let is_other = |view: &View| !view.is_band() && *view != View::Operations;
        let picture = look.iter().copied().find(is_other);
        let bands = look.iter().copied().filter(|view| view.is_band());
        Self {
            views: bands
                .chain([View::Operations, picture.unwrap_or(View::Graph)])
                .collect(),
        }
    }

    /// Whether a view is on the screen.
    pub fn shows(&self, view: View) -> bool {
        self.views.contains(&view)
    }

    /// Number of pictures.
    pub fn picture_count(&self) -> usize {
        self.pictures().count()
    }

    fn pictures(&self) -> impl Iterator<Item = View> {
        self.views.iter().copied().filter(|view| !view.is_band())
    }

    /// Shows a view or takes it off. Where there is no room, the picture goes that was chosen first; the last one stays.
    pub fn toggle(&mut self, view: View) {
        if self.shows(view) {
            if view.is_band() || self.picture_count() > 1 {
                self.views.retain(|&shown| shown != view);
            }
            return;
        }
        if !view.is_band() && self.picture_count() == MAX_PICTURES {
            let first = self.pictures().next();
            self.views.retain(|&shown| Some(shown) != first);
        }
        self.views.push(view);
    }
}
