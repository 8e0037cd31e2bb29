//! A chart as plain data: marks with a role instead of a colour.
//!
//! The page shows a [`Scene`] as SVG with one CSS class for each role, so a chart follows the theme, is
//! crisp at any density, and can be tested without a browser.

use crate::picture::path_data::push_command;
use std::collections::HashMap;
use std::fmt::Write as _;
use strum::IntoStaticStr;

/// Size of type that charts lay out for, in the scene's units. The style sheet uses the same.
pub const FONT_PX: f64 = 12.0;

/// A chart.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Scene {
    /// Width of the frame; one unit is one CSS pixel at the size that the scene was made for.
    pub width: f64,
    /// Height of the frame.
    pub height: f64,
    /// Accessible name of the chart.
    pub title: String,
    /// What the chart shows, in sentences.
    pub description: String,
    /// In drawing order, later ones on top.
    pub marks: Vec<Mark>,
    /// The marks that can be focused, in the order of the arrow keys. Each of them has a label.
    pub focus_order: Vec<usize>,
}

impl Scene {
    /// The key of each mark, in the order of [`Scene::marks`].
    pub fn keys(&self) -> Vec<MarkKey> {
        let mut is_focusable = vec![false; self.marks.len()];
        for &mark in &self.focus_order {
            if let Some(is_focusable) = is_focusable.get_mut(mark) {
                *is_focusable = true;
            }
        }
        let mut counts: HashMap<MarkKey, usize> = HashMap::new();
        let marks = self.marks.iter().zip(is_focusable);
        marks
            .map(|(mark, is_focusable)| {
                let first = MarkKey {
                    role: mark.role,
                    kernel: mark.kernel,
                    reach: match &mark.label {
                        None => Reach::None,
                        Some(_) if is_focusable => Reach::PointerAndKeyboard,
                        Some(_) => Reach::Pointer,
                    },
                    place: 0,
                };
                let count = counts.entry(first).or_default();
                let place = *count;
                *count += 1;
                MarkKey { place, ..first }
            })
            .collect()
    }
}

/// What makes a mark the same one in the next scene, when sizes have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MarkKey {
    /// What it stands for.
    pub role: Role,
    /// The fused kernel that it belongs to.
    pub kernel: Option<usize>,
    /// How it is reached.
    pub reach: Reach,
    /// Its place among the marks that have all of this alike.
    pub place: usize,
}

impl MarkKey {
    /// The CSS classes of the mark: its role's, and `kernel-1` to `kernel-12` for a part of a kernel.
    pub fn class(&self) -> String {
        match self.kernel {
            Some(kernel) => format!("{} kernel-{}", self.role.class(), kernel % 12 + 1),
            None => self.role.class().to_owned(),
        }
    }
}

/// How a visitor reaches a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Not at all: it has no label.
    None,
    /// By the pointer. The keyboard reaches the same label elsewhere.
    Pointer,
    /// By the pointer and the arrow keys.
    PointerAndKeyboard,
}

/// One element of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Where and in which form.
    pub shape: Shape,
    /// What it stands for, which decides how it looks.
    pub role: Role,
    /// The fused kernel that it belongs to.
    pub kernel: Option<usize>,
    /// Its name and tooltip, when it stands for a figure.
    pub label: Option<Label>,
}

impl Mark {
    /// A mark that belongs to no kernel and has no name.
    pub fn new(role: Role, shape: Shape) -> Self {
        Self {
            shape,
            role,
            kernel: None,
            label: None,
        }
    }

    /// The same mark, as a part of a kernel.
    #[must_use]
    pub fn of_kernel(mut self, kernel: usize) -> Self {
        self.kernel = Some(kernel);
        self
    }

    /// The same mark with a name and a tooltip.
    #[must_use]
    pub fn named(mut self, label: Label) -> Self {
        self.label = Some(label);
        self
    }
}

/// What a reader learns from a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// All of it in one phrase, for screen readers.
    pub name: String,
    /// Heading of the tooltip.
    pub heading: String,
    /// Lines of the tooltip: what, and how much.
    pub facts: Vec<(&'static str, String)>,
}

impl Label {
    /// A label whose name is the heading and all facts.
    pub fn new(heading: impl Into<String>, facts: Vec<(&'static str, String)>) -> Self {
        let heading = heading.into();
        let mut name = heading.clone();
        for (what, how_much) in &facts {
            let space = if what.is_empty() { "" } else { " " };
            let _ = write!(name, ", {what}{space}{how_much}");
        }
        Self {
            name,
            heading,
            facts,
        }
    }
}

/// The form of a mark. Coordinates grow rightwards and downwards from the upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Straight lines from point to point.
    Path {
        /// At least two.
        points: Vec<Point>,
        /// Whether the last point is joined to the first.
        is_closed: bool,
    },
    /// A cubic curve.
    Curve {
        /// Its ends, from start to end.
        ends: [Point; 2],
        /// Where it heads for from its start, and where it comes from at its end.
        controls: [Point; 2],
    },
    /// A disc.
    Circle {
        /// Its centre.
        center: Point,
        /// Its radius.
        radius: f64,
    },
    /// An upright rectangle.
    Rect {
        /// Upper left corner.
        corner: Point,
        /// Never negative.
        width: f64,
        /// Never negative.
        height: f64,
    },
    /// One line of text.
    Text {
        /// Where the anchor stands on the baseline.
        at: Point,
        /// Which part of the text stands there.
        anchor: Anchor,
        /// Clockwise turn around `at`, in degrees.
        turn_deg: f64,
        /// The text.
        text: String,
    },
}

impl Shape {
    /// The `d` of an SVG path; empty for shapes that are no path.
    pub fn path_data(&self) -> String {
        let mut data = String::new();
        match self {
            Self::Path { points, is_closed } => {
                for (place, (x, y)) in points.iter().enumerate() {
                    push_command(&mut data, if place == 0 { "M" } else { "L" }, &[*x, *y]);
                }
                if *is_closed {
                    data.push('Z');
                }
            }
            Self::Curve {
                ends: [from, to],
                controls: [first, second],
            } => {
                push_command(&mut data, "M", &[from.0, from.1]);
                let numbers = [first.0, first.1, second.0, second.1, to.0, to.1];
                push_command(&mut data, "C", &numbers);
            }
            Self::Circle { .. } | Self::Rect { .. } | Self::Text { .. } => {}
        }
        data
    }
}

/// `(x, y)` in the scene.
pub type Point = (f64, f64);

/// Which part of a text stands at its point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Anchor {
    /// Its start.
    #[default]
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

impl Anchor {
    /// The value of SVG's `text-anchor`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a mark stands for. Its name in kebab case, after `mark-`, is the CSS class of its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "mark-")]
pub enum Role {
    /// A grid line.
    Mesh,
    /// An axis and its ticks.
    Axis,
    /// The text at a tick.
    AxisText,
    /// What an axis shows.
    AxisTitle,
    /// The slope of the roofline: memory bandwidth.
    MemoryRoof,
    /// The peak of the matrix units.
    MatrixRoof,
    /// The peak of the vector units.
    VectorRoof,
    /// The name and figure of a roof.
    RoofText,
    /// The line between memory-bound and compute-bound.
    Ridge,
    /// The point of the ridge.
    RidgePoint,
    /// The figure of the ridge.
    RidgeText,
    /// The name of a region.
    RegionText,
    /// One op, run alone.
    OpPoint,
    /// The ops of a kernel before fusion.
    HollowPoint,
    /// A fused kernel.
    SolidPoint,
    /// A kernel of policy `none` among those of all policies.
    #[strum(serialize = "policy mark-policy-none")]
    PolicyNone,
    /// A kernel of policy `rules`.
    #[strum(serialize = "policy mark-policy-rules")]
    PolicyRules,
    /// A kernel of policy `inductor`.
    #[strum(serialize = "policy mark-policy-inductor")]
    PolicyInductor,
    /// A kernel of policy `optimal`.
    #[strum(serialize = "policy mark-policy-optimal")]
    PolicyOptimal,
    /// A kernel of policy `manual`.
    #[strum(serialize = "policy mark-policy-manual")]
    PolicyManual,
    /// The way from the hollow to the solid point.
    Link,
    /// Its arrow head.
    LinkHead,
    /// From numbers to the place of their points, where they stand apart.
    Leader,
    /// What a kernel's number stands on, and a second place to point at the kernel.
    NumberPlate,
    /// The number of a kernel.
    Number,
    /// Bytes read.
    Read,
    /// Bytes written.
    Write,
    /// Bytes read before fusion, beside those after.
    ReadBefore,
    /// Bytes written before fusion, beside those after.
    WriteBefore,
    /// Bytes that fusion saves.
    Saved,
    /// Their figure.
    SavedText,
    /// Joins a kernel's segments in two bars.
    Ribbon,
    /// The name of a bar.
    BarText,
    /// The figure of a bar.
    BarFigure,
    /// Bytes that grow with the square of a length.
    SquareCurve,
    /// A point of it.
    SquarePoint,
    /// Bytes of tiles that are fetched anew.
    TileCurve,
    /// A point of it.
    TilePoint,
    /// Bytes that grow with a length alone.
    LineCurve,
    /// A point of it.
    LinePoint,
    /// A measured run of library kernels.
    EagerPoint,
    /// A measured run of what a compiler made.
    CompiledPoint,
    /// The same where the compiler made its matmuls too.
    TunedPoint,
}

impl Role {
    /// The CSS class of marks in this role.
    pub fn class(self) -> &'static str {
        self.into()
    }

    /// Whether marks in this role are hatched.
    pub const fn is_hatched(self) -> bool {
        matches!(self, Self::Write | Self::WriteBefore)
    }

    /// Whether marks in this role come to the front when their kernel is selected or pointed at.
    pub const fn is_raised(self) -> bool {
        matches!(
            self,
            Self::HollowPoint
                | Self::SolidPoint
                | Self::Link
                | Self::LinkHead
                | Self::NumberPlate
                | Self::Number
        )
    }
}

/// A place on the frame, rounded to the tenth of a unit that charts draw with.
pub(super) fn tenth(px: f64) -> f64 {
    // Adding zero turns a rounded minus zero into zero.
    (px * 10.0).round() / 10.0 + 0.0
}

/// Both coordinates rounded as by [`tenth`].
pub(super) fn tenths((x, y): Point) -> Point {
    (tenth(x), tenth(y))
}

/// A text of one line.
pub(super) fn text(role: Role, at: Point, anchor: Anchor, text: impl Into<String>) -> Mark {
    Mark::new(
        role,
        Shape::Text {
            at: tenths(at),
            anchor,
            turn_deg: 0.0,
            text: text.into(),
        },
    )
}

/// Straight lines through `points`.
pub(super) fn line(role: Role, points: &[Point]) -> Mark {
    Mark::new(
        role,
        Shape::Path {
            points: points.iter().copied().map(tenths).collect(),
            is_closed: false,
        },
    )
}

/// A rectangle by its edges; never of negative size.
pub(super) fn rect(role: Role, (left, top): Point, (right, bottom): Point) -> Mark {
    let (corner, end) = (tenths((left, top)), tenths((right, bottom)));
    Mark::new(
        role,
        Shape::Rect {
            corner,
            width: tenth((end.0 - corner.0).max(0.0)),
            height: tenth((end.1 - corner.1).max(0.0)),
        },
    )
}

/// Width of a text in the chart's type, estimated by the widest of common system fonts: there is no font to
/// measure with, and too much space is better than an overlap.
pub(super) fn text_width(text: &str) -> f64 {
    let ems = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ' ' | '|' | '\'' => 0.32,
        'f' | 't' | 'r' | '/' | '(' | ')' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '+' | '−' => 0.9,
        '0'..='9' | '?' => 0.64,
        'A'..='Z' => 0.68,
        _ => 0.61,
    };
    text.chars().map(ems).sum::<f64>() * FONT_PX
}
