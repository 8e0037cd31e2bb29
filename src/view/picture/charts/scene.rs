//! A chart as plain data: marks with a role instead of a colour.
//!
//! The page shows a [`Scene`] as SVG with one CSS class for each role, so a chart follows the
//! theme, and can be tested without a browser.

pub use crate::picture::charts::axis::{Axes, held_room};
pub use crate::picture::charts::role::Role;

use crate::picture::path_data::push_command;
use crate::present::badge::{KernelLook, kernel_looks};
use fuseline_core::{IdVec, KernelId, OpId, Partition, TensorId};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Font size of charts, in the scene's units. The style sheet uses the same.
pub const FONT_PX: f64 = 12.0;

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Scene {
    /// Width, in CSS pixels unless the page scales the chart.
    pub width: f64,
    pub height: f64,
    /// Accessible name of the chart.
    pub title: String,
    /// What the chart shows, in sentences.
    pub description: String,
    /// In drawing order, later ones on top.
    pub marks: Vec<Mark>,
    /// Indices of the marks that can be focused, in the order of the arrow keys. Each of them has a
    /// label.
    pub focus_order: Vec<usize>,
    /// How each fused kernel is known again; empty where no mark belongs to one.
    pub kernels: IdVec<KernelId, KernelIdentity>,
    /// The axes, if they can stand still while a slider is held.
    pub axes: Option<Axes>,
}

impl Scene {
    /// A chart in which the arrow keys go from label to label in drawing order.
    pub(super) fn new(
        (width, height): (f64, f64),
        title: impl Into<String>,
        description: impl Into<String>,
        marks: Vec<Mark>,
    ) -> Self {
        let labels = marks.iter().enumerate().filter(|(_, m)| m.label.is_some());
        Self {
            width,
            height,
            title: title.into(),
            description: description.into(),
            focus_order: labels.map(|(index, _)| index).collect(),
            kernels: IdVec::default(),
            axes: None,
            marks,
        }
    }

    /// The chart with marks in the colours of these kernels.
    pub(super) fn of_kernels(self, partition: &Partition) -> Self {
        let looks = kernel_looks(partition).into_iter();
        let identity = |(look, ops): (KernelLook, &[OpId])| KernelIdentity {
            first_op: ops.first().copied(),
            look,
        };
        Self {
            kernels: looks.zip(partition.kernels.iter()).map(identity).collect(),
            ..self
        }
    }

    /// The key of each mark, in the order of [`Scene::marks`].
    pub fn keys(&self) -> Vec<MarkKey> {
        let focusable: HashSet<usize> = self.focus_order.iter().copied().collect();
        let mut counts: HashMap<MarkKey, usize> = HashMap::new();
        (self.marks.iter().enumerate())
            .map(|(index, mark)| {
                let first = MarkKey {
                    role: mark.role,
                    kernel: (mark.kernel)
                        .map(|kernel| self.kernels.get(kernel).copied().unwrap_or_default()),
                    tensor: mark.tensor,
                    reach: match &mark.label {
                        None => Reach::None,
                        Some(_) if focusable.contains(&index) => Reach::PointerAndKeyboard,
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

/// The identity of a kernel while others are merged or cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KernelIdentity {
    /// Its first op; `None` for an empty kernel.
    pub first_op: Option<OpId>,
    /// Its colour and badge.
    pub look: KernelLook,
}

/// The identity of a mark across scenes, in which sizes or kernels have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MarkKey {
    /// Its role.
    pub role: Role,
    /// The fused kernel that it belongs to.
    pub kernel: Option<KernelIdentity>,
    /// The tensor that it stands for.
    pub tensor: Option<TensorId>,
    /// How a visitor reaches it.
    pub reach: Reach,
    /// Its index among the marks of which the above is the same.
    pub place: usize,
}

impl MarkKey {
    /// The CSS classes of the mark: its role's, and that of its kernel's colour, `kernel-1` to
    /// `kernel-12`.
    pub fn class(&self) -> String {
        match self.kernel {
            Some(kernel) => format!("{} {}", self.role.class(), kernel.look.color_class()),
            None => self.role.class(),
        }
    }
}

/// How a visitor reaches a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Not at all: it has no label.
    None,
    /// By the pointer. The keyboard reaches another mark with the same label.
    Pointer,
    /// By the pointer and the arrow keys.
    PointerAndKeyboard,
}

/// One element of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Its form and place.
    pub shape: Shape,
    /// Its role, by which the style sheet colours it.
    pub role: Role,
    /// The fused kernel that it belongs to.
    pub kernel: Option<KernelId>,
    /// Its name and tooltip, if it has any.
    pub label: Option<Label>,
    /// The tensor that it stands for, if it stands for one.
    pub tensor: Option<TensorId>,
    /// The value to which a press on it sets the param along the axis.
    pub param_value: Option<i64>,
}

impl Mark {
    /// A mark that belongs to no kernel and has no name.
    pub fn new(role: Role, shape: Shape) -> Self {
        Self {
            shape,
            role,
            kernel: None,
            label: None,
            tensor: None,
            param_value: None,
        }
    }

    /// The same mark, as one of a kernel.
    #[must_use]
    pub fn of_kernel(mut self, kernel: KernelId) -> Self {
        self.kernel = Some(kernel);
        self
    }

    /// The same mark, as one of a tensor.
    #[must_use]
    pub fn of_tensor(mut self, tensor: TensorId) -> Self {
        self.tensor = Some(tensor);
        self
    }

    /// The same mark, which sets the param along the axis to this value.
    #[must_use]
    pub fn setting(mut self, param_value: i64) -> Self {
        self.param_value = Some(param_value);
        self
    }

    /// The same mark with a name and a tooltip.
    #[must_use]
    pub fn named(mut self, label: Label) -> Self {
        self.label = Some(label);
        self
    }
}

/// The name and the tooltip of a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// All of the label in one phrase, for screen readers.
    pub name: String,
    /// Heading of the tooltip.
    pub heading: String,
    /// Lines of the tooltip: a quantity, and its value.
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
        controls: [Point; 2],
    },
    Circle {
        center: Point,
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
        /// The place of the anchor, on the baseline.
        at: Point,
        /// Which part of the text is at that place.
        anchor: Anchor,
        /// Clockwise turn around `at`, in degrees.
        turn_deg: f64,
        text: String,
    },
}

impl Shape {
    /// The `d` attribute of an SVG path; empty for a text.
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
            &Self::Circle {
                center: (x, y),
                radius,
            } => {
                push_command(&mut data, "M", &[x - radius, y]);
                for half in [2.0 * radius, -2.0 * radius] {
                    push_command(&mut data, "a", &[radius, radius, 0.0, 0.0, 1.0, half, 0.0]);
                }
                data.push('Z');
            }
            &Self::Rect {
                corner: (x, y),
                width,
                height,
            } => {
                push_command(&mut data, "M", &[x, y]);
                push_command(&mut data, "h", &[width]);
                push_command(&mut data, "v", &[height]);
                push_command(&mut data, "h", &[-width]);
                data.push('Z');
            }
            Self::Text { .. } => {}
        }
        data
    }
}

pub type Point = (f64, f64);

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Anchor {
    #[default]
    Start,
    Middle,
    End,
}

impl Anchor {
    /// The value of SVG's `text-anchor`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
