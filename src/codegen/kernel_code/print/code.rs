//! The text of a kernel: lines, of which each says which element of a tensor it loads or stores.

use fuseline_core::model::ids::TensorId;

/// The text of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    pub lines: Vec<Line>,
}

/// A line of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Without its indentation.
    pub text: String,
    /// The depth of its indentation.
    pub indent: usize,
    /// The load or store in this line.
    pub access: Option<Access>,
}

/// A load or store of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub tensor: TensorId,
    /// Whether it is a store, else a load.
    pub is_store: bool,
    /// Whether fusion removed it: unfused ops would do it, and the kernel does not.
    pub is_removed: bool,
}

impl Line {
    /// The text with its indentation.
    pub fn indented(&self) -> String {
        let indent = if self.text.is_empty() { 0 } else { self.indent };
        format!("{}{}", "    ".repeat(indent), self.text)
    }
}

impl Code {
    /// The code that runs: all lines but those that fusion removed.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            if line.access.is_none_or(|access| !access.is_removed) {
                text.push_str(&line.indented());
                text.push('\n');
            }
        }
        text
    }

    pub(super) fn push(&mut self, indent: usize, text: impl Into<String>) {
        self.lines.push(Line {
            text: text.into(),
            indent,
            access: None,
        });
    }

    pub(super) fn push_access(&mut self, indent: usize, text: String, access: Access) {
        self.lines.push(Line {
            text,
            indent,
            access: Some(access),
        });
    }
}
