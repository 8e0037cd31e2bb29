//! Tables of the page as lists of quantities: a column names its quantities, a row has their
//! numbers of one subject.

use crate::present::quantity::{Quantity, Run, Scope, Values};
use crate::present::times::TimeText;

/// A column of a table: quantities that are read together.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its head.
    pub title: &'static str,
    /// The tooltip of its head; empty where the title says all.
    pub explanation: &'static str,
    /// The label of its numbers where a narrow page hides its head; empty for a column that keeps
    /// its head.
    pub label: &'static str,
    pub quantities: &'static [(Quantity, Run)],
    pub layout: Layout,
    pub(super) tooltip: fn(&Values<'_>, Scope) -> Option<String>,
}

/// How the numbers of a cell stand beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// On one line, with this between them.
    Line(&'static str),
    /// The first becomes the second: `2.30 GB → 1.96 GB`.
    Change,
    /// The second is small and below the first, which it is compared with.
    Stacked,
}

impl Column {
    /// A column of numbers that no head or cell says more about.
    pub(super) const fn new(title: &'static str, quantities: &'static [(Quantity, Run)]) -> Self {
        Self {
            title,
            explanation: "",
            label: "",
            quantities,
            layout: Layout::Line(""),
            tooltip: |_, _| None,
        }
    }

    /// The time, with the lower bound below a predicted one.
    pub(super) const fn of_time() -> Self {
        Self {
            layout: Layout::Stacked,
            ..Self::new(
                Quantity::Time.title(),
                &[
                    (Quantity::Time, Run::Fused),
                    (Quantity::LowerBound, Run::Fused),
                ],
            )
        }
    }

    /// The quantity that it is named after.
    pub fn quantity(&self) -> Option<Quantity> {
        self.quantities.first().map(|&(quantity, _)| quantity)
    }
}

/// The numbers of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// As they are shown; without those that the subject does not have.
    numbers: Vec<(Quantity, Run, String)>,
    /// By the quantity that a column is named after.
    tooltips: Vec<(Quantity, String)>,
}

impl Cells {
    pub(super) fn new<'a>(
        values: &Values<'_>,
        scope: Scope,
        columns: impl IntoIterator<Item = &'a Column>,
    ) -> Self {
        let mut cells = Self::default();
        for column in columns {
            let quantities = column.quantities.iter().enumerate();
            let numbers = quantities.filter_map(|(position, &(quantity, run))| {
                let is_below = column.layout == Layout::Stacked && position > 0;
                let text = if is_below {
                    text_below(values, scope, quantity, run)?
                } else {
                    values.marked_at(scope, quantity, run)?.text()
                };
                Some((quantity, run, text))
            });
            cells.numbers.extend(numbers);
            let tooltip = (column.tooltip)(values, scope);
            cells.tooltips.extend(column.quantity().zip(tooltip));
        }
        cells
    }

    /// The number of a quantity as it is shown; `None` where the subject has none.
    pub fn number(&self, quantity: Quantity, run: Run) -> Option<&str> {
        let mut numbers = self.numbers.iter();
        let found = numbers.find(|(of, of_run, _)| (*of, *of_run) == (quantity, run));
        found.map(|(.., text)| text.as_str())
    }

    /// The number of a quantity in the fused kernels.
    pub fn fused(&self, quantity: Quantity) -> Option<&str> {
        self.number(quantity, Run::Fused)
    }

    /// The tooltip of the cell of this quantity.
    pub fn tooltip(&self, quantity: Quantity) -> Option<&str> {
        let mut tooltips = self.tooltips.iter();
        tooltips.find_map(|(of, text)| (*of == quantity).then_some(text.as_str()))
    }

    /// Without the numbers of these quantities.
    pub(super) fn without(mut self, quantities: &[Quantity]) -> Self {
        (self.numbers).retain(|(quantity, ..)| !quantities.contains(quantity));
        self
    }
}

/// The text below a number that compares it; `None` where both would say the same.
fn text_below(values: &Values<'_>, scope: Scope, quantity: Quantity, run: Run) -> Option<String> {
    match quantity {
        Quantity::LowerBound => {
            let bound = TimeText::of(values, scope, run)?.bound_beside()?;
            // A line may break in front of the figure, and not before its unit.
            Some(format!("lower bound {}", bound.replacen(' ', "\u{a0}", 1)))
        }
        Quantity::RooflineBound => {
            let bound = values.roofline_bound_beside(scope)?;
            Some(format!("roofline: {bound}"))
        }
        _ => Some(values.marked_at(scope, quantity, run)?.text()),
    }
}
