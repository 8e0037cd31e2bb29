//! A drawing backend for plotters that records marks instead of painting pixels.
//!
//! Plotters places marks on whole pixels, so charts are drawn [`SCALE`] times as large and scaled down
//! here. A mark's [`Role`] travels through plotters as the red part of its colour.

use crate::picture::charts::scene::{Anchor, FONT_PX, Mark, Point, Role, Shape, text_width};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, RGBAColor, ShapeStyle, TextStyle};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use std::convert::Infallible;

/// Plotters' pixels for one unit of the scene.
pub const SCALE: f64 = 10.0;

/// Records what plotters draws at the end of `marks`.
#[derive(Debug)]
pub struct Recording<'a> {
    /// Width and height of the frame, in the scene's units.
    pub size: (f64, f64),
    /// Where marks go.
    pub marks: &'a mut Vec<Mark>,
}

/// Lines and areas of this role.
pub fn shape_style(role: Role) -> ShapeStyle {
    ShapeStyle {
        color: color_of(role),
        filled: false,
        stroke_width: 1,
    }
}

/// Text of this role.
pub fn text_style(role: Role) -> TextStyle<'static> {
    FontDesc::new(FontFamily::SansSerif, FONT_PX * SCALE, FontStyle::Normal).color(&color_of(role))
}

/// The colour that stands for a role on its way through plotters.
pub const fn color_of(role: Role) -> RGBAColor {
    RGBAColor(role as u8, 0, 0, 1.0)
}

/// The role behind a colour of [`color_of`].
pub fn role_of(color: BackendColor) -> Option<Role> {
    Role::ALL.get(usize::from(color.rgb.0)).copied()
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl Recording<'_> {
    #[allow(
        clippy::unnecessary_wraps,
        reason = "plotters' signature, in one place"
    )]
    fn record(&mut self, color: BackendColor, shape: Shape) -> Drawn {
        if let Some(role) = role_of(color) {
            self.marks.push(Mark::new(role, shape));
        }
        Ok(())
    }

    fn record_path(&mut self, color: BackendColor, points: Vec<Point>, is_closed: bool) -> Drawn {
        self.record(color, Shape::Path { points, is_closed })
    }
}

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

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    /// Nothing that the charts use paints single pixels.
    fn draw_pixel(&mut self, _: BackendCoord, _: BackendColor) -> Drawn {
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        self.record_path(style.color(), vec![scaled(from), scaled(to)], false)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        _fill: bool,
    ) -> Drawn {
        let (left, top) = scaled(upper_left);
        let (right, bottom) = scaled(bottom_right);
        let shape = Shape::Rect {
            corner: (left.min(right), top.min(bottom)),
            width: (right - left).abs(),
            height: (bottom - top).abs(),
        };
        self.record(style.color(), shape)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.record_path(style.color(), path.into_iter().map(scaled).collect(), false)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> Drawn {
        let shape = Shape::Circle {
            center: scaled(center),
            radius: f64::from(radius) / SCALE,
        };
        self.record(style.color(), shape)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Drawn {
        self.record_path(style.color(), vert.into_iter().map(scaled).collect(), true)
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        pos: BackendCoord,
    ) -> Drawn {
        let (x, y) = scaled(pos);
        let place = style.anchor();
        // From the anchor to the baseline, for a font whose capitals are 0.7 em high.
        let down_em = match place.v_pos {
            VPos::Top => 0.85,
            VPos::Center => 0.35,
            VPos::Bottom => -0.15,
        };
        let down = super::scene::tenth(down_em * style.size() / SCALE);
        let (at, turn_deg) = match style.transform() {
            FontTransform::None => ((x, y + down), 0.0),
            FontTransform::Rotate90 => ((x - down, y), 90.0),
            FontTransform::Rotate180 => ((x, y - down), 180.0),
            FontTransform::Rotate270 => ((x + down, y), -90.0),
        };
        let shape = Shape::Text {
            at: super::scene::tenths(at),
            anchor: match place.h_pos {
                HPos::Left => Anchor::Start,
                HPos::Center => Anchor::Middle,
                HPos::Right => Anchor::End,
            },
            turn_deg,
            text: text.to_owned(),
        };
        self.record(style.color(), shape)
    }

    /// Neither a font nor a browser is at hand to measure with.
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

    /// The charts hold no bitmaps.
    fn blit_bitmap(&mut self, _: BackendCoord, _: (u32, u32), _: &[u8]) -> Drawn {
        Ok(())
    }
}

/// A place of plotters in the scene.
fn scaled((x, y): BackendCoord) -> Point {
    (f64::from(x) / SCALE, f64::from(y) / SCALE)
}

#[cfg(test)]
mod tests {
    use crate::picture::charts::recording::*;

    #[test]
    fn every_role_survives_its_colour() {
        assert!(u8::try_from(Role::ALL.len()).is_ok());
        for &role in Role::ALL {
            let color = plotters::style::Color::to_backend_color(&color_of(role));
            assert_eq!(role_of(color), Some(role));
        }
    }

    #[test]
    fn marks_are_scaled_down() {
        let mut marks = Vec::new();
        let mut recording = Recording {
            size: (30.0, 20.0),
            marks: &mut marks,
        };
        assert_eq!(recording.get_size(), (300, 200));
        let style = shape_style(Role::Mesh);
        assert!(recording.draw_line((0, 5), (123, 50), &style).is_ok());
        assert!(recording.draw_circle((10, 20), 35, &style, true).is_ok());
        assert!(
            recording
                .draw_rect((50, 60), (10, 20), &style, true)
                .is_ok()
        );
        assert!(
            recording
                .draw_text("1 TB", &text_style(Role::AxisText), (100, 100))
                .is_ok()
        );
        let shapes: Vec<Shape> = marks.into_iter().map(|m| m.shape).collect();
        assert_eq!(
            shapes,
            [
                Shape::Path {
                    points: vec![(0.0, 0.5), (12.3, 5.0)],
                    is_closed: false
                },
                Shape::Circle {
                    center: (1.0, 2.0),
                    radius: 3.5
                },
                Shape::Rect {
                    corner: (1.0, 2.0),
                    width: 4.0,
                    height: 4.0
                },
                Shape::Text {
                    at: (10.0, 20.2),
                    anchor: Anchor::Start,
                    turn_deg: 0.0,
                    text: "1 TB".to_owned()
                },
            ]
        );
    }
}
