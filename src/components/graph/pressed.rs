//! The pointers that are pressed on the graph.

use fuseline_core::KernelId;
use fuseline_view::picture::dag::Point;

/// The pointers that are pressed on the graph.
#[derive(Clone, Default)]
pub(super) struct PressedPointers {
    /// The id of each, and its last position on the canvas.
    pub(super) down: Vec<(i32, Point)>,
    /// Whether the present or last press moved far enough to be a drag.
    pub(super) is_drag: bool,
    /// Whether the present or last press was a long one of a finger, which has done what a click does.
    pub(super) is_held: bool,
    /// The kernel whose panel was pressed, until the event has bubbled to the canvas.
    pub(super) pressed_kernel: Option<KernelId>,
    /// The kernel that is dragged, if it is not the picture.
    pub(super) dragged_kernel: Option<KernelId>,
}
