//! The tooltip of a chart: the label of the mark that is pointed at or focused. Screen readers get it as the
//! mark's name.

use crate::browser::{Place, set_flag, set_style};
use crate::markup::Markup;
use crate::picture::charts::scene::{Mark, Role, Scene, Shape};

/// A tooltip in the element of its id.
pub(super) struct Tip {
    id: String,
    place: Place,
}

impl Tip {
    pub(super) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            place: Place::new(id),
        }
    }

    /// Shows the label of `mark` beside it, or nothing.
    pub(super) fn show(&mut self, scene: &Scene, mark: Option<&Mark>) {
        let named = mark.and_then(|mark| Some((mark, mark.label.as_ref()?)));
        set_flag(&self.id, "hidden", named.is_none());
        let Some((mark, label)) = named else {
            return;
        };
        let mut markup = Markup::new();
        markup.fill(
            r#"<p class="chart-tip-heading">{}</p><dl>"#,
            &[&label.heading],
        );
        for (what, how_much) in &label.facts {
            markup.fill("<dt>{}</dt><dd>{}</dd>", &[what, how_much]);
        }
        markup.raw("</dl>");
        self.place.show(markup);
        let (x, y) = middle(&mark.shape);
        let left = (x / scene.width.max(1.0) * 100.0).to_string();
        let top = y / scene.height.max(1.0) * 100.0;
        // Above or below its mark, where there is more room, and shifted so that it stays over the chart.
        let rise = if top < 50.0 {
            drop_of(mark.role)
        } else {
            "calc(-100% - 14px)"
        };
        set_style(&self.id, "left", &[&left, "%"].concat());
        set_style(&self.id, "top", &[&top.to_string(), "%"].concat());
        let shift = ["translate(-", &left, "%, ", rise, ")"].concat();
        set_style(&self.id, "transform", &shift);
    }
}

/// How far below its mark a tooltip starts: what hangs below a point and its number stays in sight.
const fn drop_of(role: Role) -> &'static str {
    match role {
        Role::NumberPlate => "46px",
        Role::SolidPoint | Role::HollowPoint => "34px",
        _ => "14px",
    }
}

/// Where a mark is named.
fn middle(shape: &Shape) -> (f64, f64) {
    match shape {
        Shape::Circle { center, .. } => *center,
        Shape::Rect {
            corner,
            width,
            height,
        } => (corner.0 + width / 2.0, corner.1 + height / 2.0),
        Shape::Text { at, .. } => *at,
        Shape::Path { points, .. } => points.first().copied().unwrap_or_default(),
        Shape::Curve { ends, .. } => ends[0],
    }
}
