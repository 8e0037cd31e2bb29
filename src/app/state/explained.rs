//! The number of the page that explains itself: one at a time.

use fuseline_browser::Opener;
use fuseline_view::present::figure::Explanation;
use fuseline_view::present::quantity::Figure;
use leptos::prelude::*;

/// The explanation of a number.
#[derive(Clone, Copy, Debug)]
pub enum ExplanationOf {
    /// The explanation of a figure of the analysis.
    Figure(Figure),
    /// A view's explanation of a number of its own; nothing once the view is closed.
    Own(Signal<Option<Explanation>>),
}

impl From<Figure> for ExplanationOf {
    fn from(figure: Figure) -> Self {
        Self::Figure(figure)
    }
}

impl ExplanationOf {
    /// An explanation by a view, as long as the present owner of the reactive graph lives.
    pub fn own(explanation: impl Fn() -> Option<Explanation> + Send + Sync + 'static) -> Self {
        Self::Own(Signal::derive(explanation))
    }
}

/// A number that was pressed.
#[derive(Clone, Debug)]
pub struct Explained {
    pub explanation: ExplanationOf,
    /// Its button.
    pub opener: Opener,
}
