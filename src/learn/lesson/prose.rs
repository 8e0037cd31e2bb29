//! The prose of a step: Markdown as data, so that components show it as elements and never as
//! markup.

use super::error::ValueError;
use super::named_figure::NamedFigure;
use super::state::AnalyzedProgram;

/// A block of prose: a paragraph, a list or code.
#[derive(Clone, Debug, PartialEq)]
pub enum ProsePart {
    Paragraph(Vec<Inline>),
    /// A list, each item on its own.
    List {
        /// Whether its items are numbered.
        is_numbered: bool,
        items: Vec<Vec<Inline>>,
    },
    /// Text as it was written.
    Code(String),
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Inline {
    Text(String),
    /// A figure of the engine, in the state of the step.
    Figure(ProseFigure),
    Code(String),
    Emphasis(Vec<Inline>),
    Strong(Vec<Inline>),
    /// A link to a page.
    Link {
        address: String,
        content: Vec<Inline>,
    },
}

/// A quantity that is written into the prose.
#[derive(Clone, Debug, PartialEq)]
pub struct ProseFigure {
    pub quantity: NamedFigure,
    pub line: usize,
}

impl ProseFigure {
    /// Its value as text.
    ///
    /// # Errors
    /// Why it has no value.
    pub fn text(&self, analyzed: &AnalyzedProgram) -> Result<String, ValueError> {
        Ok(self.quantity.value(analyzed)?.text())
    }
}

/// All figures in parts.
pub fn figures(parts: &[ProsePart]) -> Vec<&ProseFigure> {
    let mut found = Vec::new();
    each_inline(parts, &mut |inline| {
        if let Inline::Figure(figure) = inline {
            found.push(figure);
        }
    });
    found
}

/// A line with its figures as text. Nested as deep as its elements on the page are.
pub fn filled(line: &[Inline], analyzed: &AnalyzedProgram) -> Vec<Inline> {
    let filled_one = |inline: &Inline| match inline {
        Inline::Figure(figure) => {
            Inline::Text(figure.text(analyzed).unwrap_or_else(|_| "?".into()))
        }
        Inline::Emphasis(content) => Inline::Emphasis(filled(content, analyzed)),
        Inline::Strong(content) => Inline::Strong(filled(content, analyzed)),
        Inline::Link { address, content } => Inline::Link {
            address: address.clone(),
            content: filled(content, analyzed),
        },
        Inline::Text(_) | Inline::Code(_) => inline.clone(),
    };
    line.iter().map(filled_one).collect()
}

/// A line as text, with its figures, and code between backticks.
pub(crate) fn quoted(line: &[Inline], analyzed: &AnalyzedProgram) -> String {
    let parts = [ProsePart::Paragraph(filled(line, analyzed))];
    let mut text = String::new();
    each_inline(&parts, &mut |inline| match inline {
        Inline::Text(written) => text.push_str(written),
        Inline::Code(code) => text.extend(["`", code, "`"]),
        Inline::Figure(_) | Inline::Emphasis(_) | Inline::Strong(_) | Inline::Link { .. } => {}
    });
    text
}

/// Number of words; a figure is one.
pub fn word_count(parts: &[ProsePart]) -> usize {
    let mut words = 0;
    each_inline(parts, &mut |inline| match inline {
        Inline::Text(text) | Inline::Code(text) => {
            words += text
                .split_whitespace()
                .filter(|word| word.contains(char::is_alphanumeric))
                .count();
        }
        Inline::Figure(_) => words += 1,
        Inline::Emphasis(_) | Inline::Strong(_) | Inline::Link { .. } => {}
    });
    words
}

/// Plain text of all parts, without the figures: what a test reads.
pub fn written_text(parts: &[ProsePart]) -> String {
    let mut text = String::new();
    each_inline(parts, &mut |inline| {
        if let Inline::Text(written) = inline {
            text.push_str(written);
            text.push(' ');
        }
    });
    text
}

/// Visits every part of every line, those that hold others first.
pub(crate) fn each_inline<'a>(parts: &'a [ProsePart], visit: &mut dyn FnMut(&'a Inline)) {
    // Nested at most as deep as the reader of Markdown allows.
    let mut open: Vec<&Inline> = Vec::new();
    for part in parts {
        match part {
            ProsePart::Paragraph(line) => open.extend(line.iter().rev()),
            ProsePart::List { items, .. } => {
                open.extend(items.iter().rev().flat_map(|i| i.iter().rev()));
            }
            ProsePart::Code(_) => {}
        }
        while let Some(inline) = open.pop() {
            visit(inline);
            match inline {
                Inline::Emphasis(content)
                | Inline::Strong(content)
                | Inline::Link { content, .. } => open.extend(content.iter().rev()),
                Inline::Text(_) | Inline::Figure(_) | Inline::Code(_) => {}
            }
        }
    }
}
