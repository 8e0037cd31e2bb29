//! The number of the page that explains itself: one at a time.

use super::page::Page;
use crate::browser::{Event, Opener};
use crate::present::figure::{Explanation, Figure, explanation, explanation_of_policy};
use leptos::prelude::*;

/// A number that was pressed.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Which number.
    pub figure: Figure,
    /// Its button.
    pub opener: Opener,
}

impl Page {
    /// Explains the number of this press, and no longer if it is explained already.
    pub fn explain(self, figure: Figure, press: &Event) {
        let pressed = Opener::of(press).map(|opener| Explained { figure, opener });
        self.explained.update(|explained| {
            *explained = pressed.filter(|pressed| explained.as_ref() != Some(pressed));
        });
    }

    /// What is told about the explained number; `None` where the analysis has it no more. Tracked.
    pub fn explanation(self) -> Option<Explanation> {
        let figure = self
            .explained
            .with(|explained| Some(explained.as_ref()?.figure))?;
        match figure.policy() {
            None => self.analysis.with(|analysis| explanation(figure, analysis)),
            Some(policy) => self.compared.with(|compared| {
                let own = compared.iter().find(|compared| compared.policy == policy)?;
                explanation_of_policy(figure, own)
            }),
        }
    }

    /// Explains no number.
    pub fn stop_explaining(self) {
        self.explained
            .maybe_update(|explained| explained.take().is_some());
    }
}
