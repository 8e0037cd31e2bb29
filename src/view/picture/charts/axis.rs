//! Axes: ends, ticks and their texts.

use crate::present::format::format_exact;
use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Axis {
    /// Logarithmic, from `10^from` to `10^to`.
    Decades {
        /// Exponent at the start.
        from: i32,
        /// Exponent at the end, greater.
        to: i32,
    },
    /// Logarithmic between two sizes, with ticks at powers of two.
    Powers {
        /// Value at the start, positive.
        from: f64,
        /// Value at the end, greater.
        to: f64,
    },
    /// From 0 to `end * unit`, where `end` lies between 1 and 10.
    Linear {
        /// End of the axis, in units.
        end: f64,
        /// The value of one unit, a power of ten.
        unit: f64,
    },
}

/// How many times an axis holds what has outgrown the one before, so that it can be seen to grow
/// on.
const HELD_HEADROOM: u32 = 4;

/// Below this share of a held axis bars no longer show how they change.
const LEAST_SHARE: f64 = 0.125;

/// The bytes for which an axis has room while a slider is held: it stands still as long as the
/// bars, `bytes`, are neither longer nor very short on the axis `before`. Then it has room for a
/// multiple of what grows, and just holds what shrinks.
pub fn held_room(before: Option<u64>, bytes: u64) -> u64 {
    match before {
        Some(room) if (bytes as f64) < LEAST_SHARE * room as f64 => bytes,
        Some(room) if bytes <= room => room,
        _ => bytes.saturating_mul(HELD_HEADROOM.into()),
    }
}

/// The axes of a chart, which stand still while a slider is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    pub(super) x: Axis,
    /// `None` for a chart without a vertical axis.
    pub(super) y: Option<Axis>,
}

impl Axes {
    /// Those of a chart of bytes that holds as many.
    pub fn of_bytes(bytes: u64) -> Self {
        let x = round_axis(bytes as f64);
        Self { x, y: None }
    }
}

impl Axis {
    /// The logarithmic axis between two sizes, of which the second is greater.
    pub(super) fn powers(from: f64, to: f64) -> Self {
        let from = from.max(1.0);
        Self::Powers {
            from,
            to: to.max(from * 1.1),
        }
    }

    /// This axis, or the `held` one before it as long as that holds as much. A held axis grows by a
    /// multiple, so that what grows is seen to grow.
    pub(super) fn or_held(self, held: Option<Self>) -> Self {
        match (self, held) {
            (
                Self::Decades { from, to },
                Some(Self::Decades {
                    from: held_from,
                    to: held_to,
                }),
            ) => Self::Decades {
                from: from.min(held_from),
                to: to.max(held_to),
            },
            (Self::Linear { .. }, Some(held @ Self::Linear { .. })) => {
                let (needed, held_end) = (self.ends().1, held.ends().1);
                if needed <= held_end {
                    held
                } else {
                    round_axis(needed * f64::from(HELD_HEADROOM))
                }
            }
            _ => self,
        }
    }

    /// First and last value.
    pub(super) fn ends(self) -> (f64, f64) {
        match self {
            Self::Decades { from, to } => (10_f64.powi(from), 10_f64.powi(to)),
            Self::Powers { from, to } => (from, to),
            Self::Linear { end, unit } => (0.0, end * unit),
        }
    }

    /// The coordinate of plotters: the value on a logarithmic axis, the number of units on a linear
    /// one.
    pub(super) fn to_coord(self, value: f64) -> f64 {
        let (scaled, ends) = match self {
            Self::Decades { from, to } => (value, 10_f64.powi(from)..10_f64.powi(to)),
            Self::Powers { from, to } => (value, from..to),
            Self::Linear { end, unit } => (value / unit, 0.0..end),
        };
        if scaled.is_nan() {
            ends.start
        } else {
            scaled.clamp(ends.start, ends.end)
        }
    }

    /// The value at a coordinate of plotters.
    pub(super) fn value(self, coord: f64) -> f64 {
        match self {
            Self::Decades { .. } | Self::Powers { .. } => coord,
            Self::Linear { unit, .. } => coord * unit,
        }
    }

    /// Whether the tick at a coordinate of plotters has a text. Between the decades of a short
    /// logarithmic axis there is a tick for each digit, and nine texts would cover each other.
    pub(super) fn is_labelled(self, coord: f64) -> bool {
        match self {
            Self::Decades { .. } => matches!(decade_of(coord).0, 1 | 2 | 5),
            Self::Powers { .. } | Self::Linear { .. } => true,
        }
    }

    pub(super) fn coord(self) -> AxisCoord {
        match self {
            // Slightly longer at both ends, so that rounding does not drop the outermost ticks.
            Self::Decades { from, to } => AxisCoord::Log(
                (10_f64.powi(from) * (1.0 - 1e-9)..10_f64.powi(to) * (1.0 + 1e-9))
                    .log_scale()
                    .into(),
            ),
            Self::Powers { from, to } => AxisCoord::Powers((from..to).log_scale().into()),
            Self::Linear { end, .. } => AxisCoord::Linear((0.0..end).into()),
        }
    }
}

/// The shortest axis from 0 to a round figure of at least `max`. Figures are coarse, so the axis
/// changes seldom while `max` does.
pub(super) fn round_axis(max: f64) -> Axis {
    const ENDS: [f64; 9] = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    if !max.is_finite() || max <= 0.0 {
        return Axis::Linear {
            end: 1.0,
            unit: 1.0,
        };
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "exponents of floats are below 400"
    )]
    let unit = 10_f64.powi(max.log10().floor() as i32);
    let end = ENDS
        .into_iter()
        .find(|end| end * unit >= max)
        .unwrap_or(10.0);
    Axis::Linear { end, unit }
}

/// The axis from 0 to `max` itself.
pub(super) fn exact_axis(max: f64) -> Axis {
    match round_axis(max) {
        Axis::Linear { unit, .. } if max > 0.0 => Axis::Linear {
            end: max / unit,
            unit,
        },
        axis => axis,
    }
}

/// The axis of whole decades around `low..=high`, at least `min_decades` of them.
#[allow(
    clippy::cast_possible_truncation,
    reason = "logarithms of finite floats are below 400"
)]
pub(super) fn decades(low: f64, high: f64, min_decades: i32) -> Axis {
    let exponent = |value: f64| value.clamp(1e-30, 1e60).log10();
    let from = (exponent(low) + 1e-9).floor() as i32;
    let to = (exponent(high) - 1e-9).ceil() as i32;
    Axis::Decades {
        from,
        to: to.max(from + min_decades),
    }
}

/// A tick of a logarithmic axis, with an SI prefix: `0.1`, `300`, `20 k`, `1 TFLOP/s`.
pub(super) fn decade_text(value: f64, unit: &str) -> String {
    const PREFIXES: [&str; 11] = ["", "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q"];
    let (digit, exponent) = decade_of(value);
    let text = match usize::try_from(exponent) {
        Ok(exponent) => match PREFIXES.get(exponent / 3) {
            Some(prefix) => format!("{digit}{} {prefix}{unit}", "0".repeat(exponent % 3)),
            None => format!("{digit}e{exponent} {unit}"),
        },
        Err(_) if exponent < -4 => format!("{digit}e{exponent} {unit}"),
        Err(_) => {
            let decimals = exponent.unsigned_abs() as usize;
            format!("{value:.decimals$} {unit}")
        }
    };
    text.trim_end().to_owned()
}

/// The digit and the exponent of a tick of a logarithmic axis: `(3, 9)` for `3e9`.
#[allow(
    clippy::cast_possible_truncation,
    reason = "exponents of finite floats are below 400"
)]
fn decade_of(value: f64) -> (i32, i32) {
    // A little more, because the ticks of plotters are rounded.
    let exponent = (value.log10() + 1e-9).floor() as i32;
    let digit = (value / 10_f64.powi(exponent)).round() as i32;
    (digit, exponent)
}

/// A size or a count on an axis: all digits of a whole number, else at most two decimals.
pub(super) fn number_text(value: f64) -> String {
    if value >= 1.0 && value.fract() == 0.0 && value < 1e15 {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number of this range"
        )]
        return format_exact(value as u128);
    }
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// At most `limit` powers of two in a range, each the same multiple of the one before.
fn powers_of_two(range: &Range<f64>, limit: usize) -> Vec<f64> {
    let (from, to) = (range.start * (1.0 - 1e-9), range.end * (1.0 + 1e-9));
    let powers = std::iter::successors(Some(1.0_f64), |power| Some(power * 2.0));
    let powers = powers.skip_while(|power| *power < from);
    let powers: Vec<f64> = powers.take_while(|power| *power <= to).collect();
    let step = powers.len().div_ceil(limit.max(1)).max(1);
    powers.into_iter().step_by(step).collect()
}

/// A logarithmic or linear coordinate of plotters.
pub(super) enum AxisCoord {
    Log(LogCoord<f64>),
    /// With ticks at powers of two.
    Powers(LogCoord<f64>),
    Linear(RangedCoordf64),
}

impl Ranged for AxisCoord {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        match self {
            Self::Log(coord) | Self::Powers(coord) => coord.map(value, limit),
            Self::Linear(coord) => coord.map(value, limit),
        }
    }

    /// Labelled ticks; no finer grid.
    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        let limit = hint.max_num_points();
        match self {
            Self::Log(coord) => {
                let mut points = coord.key_points(limit);
                // Plotters returns some decades twice.
                points.dedup_by(|next, last| (*next / *last - 1.0).abs() < 1e-6);
                points
            }
            Self::Powers(coord) => powers_of_two(&coord.range(), limit),
            Self::Linear(coord) => {
                let mut points = coord.key_points(limit);
                // A single tick, at 0, shows no scale.
                if points.len() == 1 {
                    points.push(coord.range().end);
                }
                points
            }
        }
    }

    fn range(&self) -> Range<f64> {
        match self {
            Self::Log(coord) | Self::Powers(coord) => coord.range(),
            Self::Linear(coord) => coord.range(),
        }
    }
}
