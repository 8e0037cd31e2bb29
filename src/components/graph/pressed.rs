//! The pointers that are pressed on the graph.

use fuseline_view::picture::dag::Point;
use fuseline_view::picture::dag::focus::FocusTarget;

/// The pointers that are pressed on the graph.
#[derive(Clone, Default)]
pub(super) struct PressedPointers {
    /// The id of each, and its last position on the canvas.
    pub(super) down: Vec<(i32, Point)>,
    /// Whether the present or last press moved far enough to be a drag.
    pub(super) is_drag: bool,
    /// Whether the present or last press was a long one of a finger, which has done what a click
    /// does.
    pub(super) is_held: bool,
    /// The kernel or op that was pressed, until the event has bubbled to the canvas.
    pub(super) pressed_part: Option<FocusTarget>,
    /// The kernel that is dragged, or in the unfused view the op, if it is not the picture.
    pub(super) dragged_part: Option<FocusTarget>,
}
