//! The caption of an exported picture: the program, the choices behind it, and its figures.

use super::headline::headline;
use super::setup::setup;
use fuseline_core::Analysis;
use fuseline_core::model::program::Program;

/// The text below an exported picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    pub program: String,
    /// Sentences, each a paragraph: figures, what marks mean, and the choices.
    pub lines: Vec<String>,
}

impl Caption {
    /// The caption of a program with this name. `key` explains the marks of the picture.
    pub fn new(program_name: &str, analysis: &Analysis, program: &Program, key: &str) -> Self {
        let figures = headline(analysis).sentence();
        let choices = setup(&analysis.options, program);
        let choices = choices
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}."));
        let lines = [figures, key.to_owned()].into_iter().chain(choices);
        Self {
            program: program_name.to_owned(),
            lines: lines.filter(|line| !line.is_empty()).collect(),
        }
    }
}
