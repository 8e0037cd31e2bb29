//! A drawing backend for plotters that records marks instead of painting pixels.
//!
//! Plotters has colours and no roles, so a recording has one role for all its lines and one for all
//! its texts, and marks of other roles need other recordings. Plotters rounds to whole pixels, so
//! charts are drawn [`SCALE`] times as large and scaled down here.

use crate::picture::charts::marks::{tenth, tenths, text_width};
use crate::picture::charts::scene::{Anchor, FONT_PX, Mark, Point, Role, Shape};
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use std::convert::Infallible;

/// Plotters' pixels for one unit of the scene.
pub(super) const SCALE: f64 = 10.0;

/// Appends to `marks` the lines and texts that plotters draws.
#[derive(Debug)]
pub(super) struct Recording<'a> {
    /// Width and height of the frame, in the scene's units.
    pub size: (f64, f64),
    /// The role of its lines.
    pub line_role: Role,
    /// The role of its texts.
    pub text_role: Role,
    /// Where marks go.
    pub marks: &'a mut Vec<Mark>,
}

type Recorded = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Recording<'_> {
    type ErrorType = Infallible;

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a frame is positive and far below 2^32"
    )]
    fn get_size(&self) -> (u32, u32) {
        (
            (self.size.0 * SCALE).round() as u32,
            (self.size.1 * SCALE).round() as u32,
        )
    }

    fn ensure_prepared(&mut self) -> Recorded {
        Ok(())
    }

    fn present(&mut self) -> Recorded {
        Ok(())
    }

    /// Never called: plotters draws pixels only for shapes other than lines and texts.
    fn draw_pixel(&mut self, _: BackendCoord, _: BackendColor) -> Recorded {
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Recorded {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        _: &S,
    ) -> Recorded {
        let shape = Shape::Path {
            points: path.into_iter().map(scaled).collect(),
            is_closed: false,
        };
        self.marks.push(Mark::new(self.line_role, shape));
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        pos: BackendCoord,
    ) -> Recorded {
        let (x, y) = scaled(pos);
        let place = style.anchor();
        // From the anchor to the baseline of a font whose capitals are 0.7 em high.
        let down_em = match place.v_pos {
            VPos::Top => 0.85,
            VPos::Center => 0.35,
            VPos::Bottom => -0.15,
        };
        let down = tenth(down_em * style.size() / SCALE);
        let (at, turn_deg) = match style.transform() {
            FontTransform::None => ((x, y + down), 0.0),
            FontTransform::Rotate90 => ((x - down, y), 90.0),
            FontTransform::Rotate180 => ((x, y - down), 180.0),
            FontTransform::Rotate270 => ((x + down, y), -90.0),
        };
        let shape = Shape::Text {
            at: tenths(at),
            anchor: match place.h_pos {
                HPos::Left => Anchor::Start,
                HPos::Center => Anchor::Middle,
                HPos::Right => Anchor::End,
            },
            turn_deg,
            text: text.to_owned(),
        };
        self.marks.push(Mark::new(self.text_role, shape));
        Ok(())
    }

    /// The default would need a font.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "texts on charts are short"
    )]
    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok((
            (text_width(text) / FONT_PX * style.size()).ceil() as u32,
            style.size().ceil() as u32,
        ))
    }
}

/// Pixels of plotters to units of the scene.
fn scaled((x, y): BackendCoord) -> Point {
    (f64::from(x) / SCALE, f64::from(y) / SCALE)
}
