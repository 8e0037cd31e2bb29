//! A sweep as curves, one for each policy, over the values of a param on a logarithmic axis.

use crate::picture::charts::axis::{Axis, decade_text, decades, number_text, round_axis};
use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::bytes_axis::without_zeros;
use crate::picture::charts::frame::{ChartFrame, Margins, Plot, draw_frame, drawable, is_compact};
use crate::picture::charts::marks::{circle, text, text_width};
use crate::picture::charts::roofline_compare::marker;
use crate::picture::charts::scene::{Anchor, Label, Mark, Point, Role, Scene};
use crate::present::format::{format_exact, format_tick_seconds};
use crate::present::options::policy_title;
use crate::present::sweep::{
    concerns, crossing_rows, figure_text, measure_title, param_text, relative, relative_text,
};
use fuseline_core::Device;
use fuseline_core::analysis::sweep::{Measure, Sweep, SweepPoint};
use fuseline_core::model::options::Policy;

/// The part of a sweep that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepView<'a> {
    pub sweep: &'a Sweep,
    /// The measure that its curves show.
    pub measure: Measure,
    /// Whether they show it as a multiple of what *none* has.
    pub is_relative: bool,
    /// The value that the param has.
    pub present: i64,
    /// The device of its times.
    pub device: &'a Device,
}

/// Draws a curve for each policy into a frame of `size` units, at least 240 by 140, with a marker
/// at each value that was tried, the numbers of the crossings, and a line at the present value. A
/// press on a marker or a number sets its value. `O(values)` marks.
pub fn scene(view: SweepView<'_>, size: (f64, f64)) -> Scene {
    let size = drawable(size);
    let is_compact = is_compact(size);
    let sweep = view.sweep;
    let ends =
        [sweep.points.first(), sweep.points.last()].map(|point| point.map_or(1, |p| p.value));
    let x = Axis::powers(ends[0] as f64, ends[1] as f64);
    let y = view.vertical_axis();
    let present = view.present as f64;
    let is_inside = (ends[0]..=ends[1]).contains(&view.present);
    let mut lines = Vec::new();
    if is_inside {
        lines.push((Role::Ridge, vec![(present, 0.0), (present, f64::MAX)]));
    }
    lines.extend(sweep.policies.iter().enumerate().map(|(index, &policy)| {
        let points = sweep.points.iter();
        let place = |point: &SweepPoint| Some((point.value as f64, view.value(point, index)?));
        (
            Role::PolicyCurve(policy),
            points.filter_map(place).collect(),
        )
    }));
    let is_log = matches!(y, Axis::Decades { .. });
    let frame = ChartFrame {
        size,
        margins: Margins {
            top: 44.0,
            right: 18.0,
            bottom: 46.0,
            left: if is_compact { 58.0 } else { 72.0 },
        },
        x,
        y: Some(y),
        x_ticks: if is_compact { 5 } else { 10 },
        x_text: &|value| number_text(value),
        y_text: &|value| view.tick(value, is_log),
        lines: &lines,
    };
    let mut marks = Vec::new();
    let plot = draw_frame(&frame, &mut marks);
    let radius = if is_compact { 3.0 } else { 3.5 };
    for (index, &policy) in sweep.policies.iter().enumerate() {
        for point in &sweep.points {
            if let Some(value) = view.value(point, index) {
                let place = plot.place(point.value as f64, value);
                let mark = marker(policy, place, radius).named(view.label(point, index, policy));
                marks.push(mark.setting(point.value));
            }
        }
    }
    view.draw_crossings(&plot, &mut marks);
    view.draw_titles(&plot, is_inside, &mut marks);
    let title = format!("{} over {}", view.title(), sweep.param);
    Scene::new(size, title, view.description(), marks)
}

impl SweepView<'_> {
    /// The figure of a policy, as it is drawn.
    fn value(&self, point: &SweepPoint, policy: usize) -> Option<f64> {
        let figures = point.figures.get(policy)?;
        if self.is_relative {
            relative(self.measure, figures, point.figures.first()?)
        } else {
            figures.value(self.measure)
        }
    }

    fn text(&self, point: &SweepPoint, policy: usize) -> String {
        let (figures, unfused) = (point.figures.get(policy), point.figures.first());
        match figures.zip(unfused) {
            None => String::new(),
            Some((figures, unfused)) if self.is_relative => {
                let text = figure_text(self.measure, figures);
                format!("{}, {text}", relative_text(self.measure, figures, unfused))
            }
            Some((figures, _)) => figure_text(self.measure, figures),
        }
    }

    fn vertical_axis(&self) -> Axis {
        let policies = 0..self.sweep.policies.len();
        let values = || {
            let points = self.sweep.points.iter();
            points.flat_map(|point| {
                policies
                    .clone()
                    .filter_map(|policy| self.value(point, policy))
            })
        };
        let most = values().fold(0.0, f64::max);
        if self.is_relative || self.measure == Measure::Kernels {
            return round_axis(most);
        }
        let least = values().filter(|value| *value > 0.0).fold(most, f64::min);
        decades(least, most, 1)
    }

    fn tick(&self, value: f64, is_log: bool) -> String {
        match self.measure {
            _ if !is_log => number_text(value),
            Measure::Time => without_zeros(&format_tick_seconds(value)),
            Measure::Bytes => decade_text(value, "B"),
            Measure::Kernels | Measure::Intensity => decade_text(value, ""),
        }
    }

    fn title(&self) -> String {
        let title = measure_title(self.measure, self.sweep, self.device);
        if self.is_relative {
            format!("{title}, relative to no fusion")
        } else {
            title
        }
    }

    fn label(&self, point: &SweepPoint, index: usize, policy: Policy) -> Label {
        let heading = format!(
            "{}, {}",
            policy_title(policy, self.sweep.objective),
            param_text(&self.sweep.param, point.value)
        );
        Label::new(heading, vec![("", self.text(point, index))])
    }

    /// Numbers above the plot, each over its value, those of crossings that are close together side
    /// by side, and a ring where the curves show the crossing.
    fn draw_crossings(&self, plot: &Plot, marks: &mut Vec<Mark>) {
        const GAP: f64 = 4.0;
        let rows = crossing_rows(self.sweep, self.device);
        let y = plot.bounds.top - 8.0;
        let mut free_from = plot.bounds.left - 12.0;
        for (crossing, row) in self.sweep.crossings.iter().zip(rows) {
            let words = row.number.to_string();
            let width = text_width(&words).max(8.0);
            let x = plot.x(crossing.value as f64);
            let left = (x - width / 2.0).max(free_from);
            free_from = left + width + GAP;
            let sentence = format!("{}. {}", row.number, row.sentence.replace('`', ""));
            let label = Label::new(sentence, Vec::new());
            let number = text(
                Role::CrossingNumber,
                (left + width / 2.0, y),
                Anchor::Middle,
                words,
            );
            marks.push(number.named(label).setting(crossing.value));
            if concerns(&crossing.change, self.measure)
                && let Some(place) = self.place_of(crossing.value, &crossing.policies, plot)
            {
                marks.push(circle(Role::CrossingRing, place, 7.0));
            }
        }
    }

    /// Where the curve of the first of the policies is at a value; of none of them, that of the
    /// first curve.
    fn place_of(&self, value: i64, policies: &[Policy], plot: &Plot) -> Option<Point> {
        let point = self
            .sweep
            .points
            .iter()
            .find(|point| point.value == value)?;
        let mut all = self.sweep.policies.iter();
        let index = all
            .position(|policy| policies.first() == Some(policy))
            .unwrap_or(0);
        Some(plot.place(value as f64, self.value(point, index)?))
    }

    fn draw_titles(&self, plot: &Plot, is_inside: bool, marks: &mut Vec<Mark>) {
        let Bounds {
            left,
            right,
            bottom,
            ..
        } = plot.bounds;
        let param = &self.sweep.param;
        let middle = (f64::midpoint(left, right), bottom + 36.0);
        marks.push(text(Role::AxisTitle, middle, Anchor::Middle, param.clone()));
        marks.push(text(
            Role::AxisTitle,
            (0.0, 12.0),
            Anchor::Start,
            self.title(),
        ));
        if is_inside {
            let words = param_text(param, self.present);
            let x = plot.x(self.present as f64);
            let is_right = x + 6.0 + text_width(&words) > right;
            let (x, anchor) = if is_right {
                (x - 5.0, Anchor::End)
            } else {
                (x + 5.0, Anchor::Start)
            };
            marks.push(text(Role::RidgeText, (x, bottom - 8.0), anchor, words));
        }
    }

    fn description(&self) -> String {
        let sweep = self.sweep;
        let ends = [sweep.points.first(), sweep.points.last()];
        let figures = ends.into_iter().flatten().map(|point| {
            let policies = sweep.policies.iter().enumerate();
            let figures = policies.map(|(index, policy)| {
                let title = policy_title(*policy, sweep.objective);
                format!("{title} {}", self.text(point, index))
            });
            let figures: Vec<String> = figures.collect();
            format!(
                "At {}: {}.",
                param_text(&sweep.param, point.value),
                figures.join("; ")
            )
        });
        let figures: Vec<String> = figures.collect();
        format!(
            "A curve for each policy over {} values of {} on a logarithmic axis. {}",
            format_exact(sweep.points.len() as u128),
            sweep.param,
            figures.join(" ")
        )
    }
}
