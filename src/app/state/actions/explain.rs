//! Explains a number on a press.

use crate::app::state::explained::{Explained, ExplanationOf};
use crate::app::state::page::Page;
use fuseline_browser::{Event, Opener};
use fuseline_view::present::figure::{Explanation, explanation, explanation_of_policy};
use fuseline_view::present::quantity::Figure;
use leptos::prelude::*;

impl Page {
    /// Explains the pressed number, or closes the explanation if it is open already.
    pub fn explain(self, explanation: ExplanationOf, press: &Event) {
        let pressed = Opener::of(press).map(|opener| Explained {
            explanation,
            opener,
        });
        self.screen.explained.update(|explained| {
            let last = explained.take().map(|explained| explained.opener);
            *explained = pressed.filter(|pressed| last.as_ref() != Some(&pressed.opener));
        });
    }

    /// The explanation of the explained number; `None` where there is no such number any more.
    /// Tracked.
    pub fn explanation(self) -> Option<Explanation> {
        let explanation = self
            .screen
            .explained
            .with(|explained| Some(explained.as_ref()?.explanation))?;
        match explanation {
            ExplanationOf::Figure(figure) => self.of_figure(figure),
            ExplanationOf::Own(explanation) => explanation.try_get().flatten(),
        }
    }

    fn of_figure(self, figure: Figure) -> Option<Explanation> {
        match figure.policy() {
            None => self.analysis.with(|analysis| explanation(figure, analysis)),
            Some(policy) => self.questions.compared.with(|compared| {
                let own = compared.iter().find(|compared| compared.policy == policy)?;
                explanation_of_policy(figure, own)
            }),
        }
    }

    /// Explains no number.
    pub fn stop_explaining(self) {
        self.screen
            .explained
            .maybe_update(|explained| explained.take().is_some());
    }
}
