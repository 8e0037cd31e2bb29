//! Where the parts of a picture were in the picture before it.

use super::viewport::Viewport;
use super::{DagLayout, PillId, Rect};
use fuseline_core::{Analysis, IdVec, KernelId, OpId};
use std::sync::Arc;

/// Up to this many ops what changes travels. Thousands of moving elements take seconds.
const MAX_MOVING_OPS: usize = 200;

/// Whether the picture of one analysis can go over to that of another: both are of ops of the same
/// names, and these are few.
pub fn can_move(before: &Analysis, now: &Analysis) -> bool {
    let (before, now) = (&before.graph.ops, &now.graph.ops);
    let mut names = before
        .iter()
        .zip(now)
        .map(|(op, other)| op.name == other.name);
    now.len() <= MAX_MOVING_OPS && now.len() == before.len() && names.all(|is_same| is_same)
}

/// A picture, and where on the canvas it was.
#[derive(Clone, Debug)]
pub struct PlacedPicture {
    pub layout: Arc<DagLayout>,
    pub kernel_of: IdVec<OpId, KernelId>,
    /// Its place on the canvas.
    pub viewport: Viewport,
}

/// From one picture of the same ops to another one. All rectangles are in the coordinates of the
/// later one.
#[derive(Clone, Debug)]
pub struct Motion {
    before: PlacedPicture,
    to: Viewport,
}

impl Motion {
    /// From a picture to one at another place.
    pub const fn new(before: PlacedPicture, to: Viewport) -> Self {
        Self { before, to }
    }

    /// Where an op was.
    pub fn op(&self, op: OpId) -> Option<Rect> {
        Some(self.carried(self.before.layout.ops.get(op)?.rect))
    }

    /// Where the panel of the kernel was that computed an op.
    pub fn panel(&self, op: OpId) -> Option<Rect> {
        let kernel = *self.before.kernel_of.get(op)?;
        Some(self.carried(*self.before.layout.panels.get(kernel)?))
    }

    /// Where a pill of `layout` was. The pills of a tensor with several of them are matched in
    /// their order. `O(pills)`.
    pub fn pill(&self, layout: &DagLayout, pill: PillId) -> Option<Rect> {
        let wanted = layout.pills.get(pill)?;
        let same = |layout: &DagLayout| {
            let pills = layout.pills.iter_enumerated();
            pills
                .filter(|(_, other)| other.tensors == wanted.tensors && other.kind == wanted.kind)
                .map(|(id, other)| (id, other.rect))
                .collect::<Vec<_>>()
        };
        // Ids of pills change from picture to picture, so the pill's rank among its tensor's
        // identifies it.
        let place = same(layout).iter().position(|(id, _)| *id == pill)?;
        let (_, rect) = *same(&self.before.layout).get(place)?;
        Some(self.carried(rect))
    }

    fn carried(&self, rect: Rect) -> Rect {
        let from = self.before.viewport;
        let at = |x, y| self.to.in_picture(from.on_canvas(super::Point::new(x, y)));
        Rect::between(at(rect.x, rect.y), at(rect.right(), rect.bottom()))
    }
}

impl Rect {
    /// The CSS transform that draws this rectangle at the place and in the width of another one.
    pub fn transform_to(&self, other: &Self) -> String {
        let scale = other.width / self.width;
        let (x, y) = (other.x - scale * self.x, other.y - scale * self.y);
        format!("translate({x}px, {y}px) scale({scale})")
    }
}
