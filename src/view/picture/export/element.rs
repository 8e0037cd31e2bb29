//! Elements of an SVG document.

use std::fmt::Display;

/// An element with its attributes and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SvgElement {
    pub(super) name: &'static str,
    /// Each name once; `class` says how the style sheets of the page draw it.
    pub(super) attributes: Vec<(&'static str, String)>,
    pub(super) children: Vec<Self>,
    pub(super) text: String,
}

impl SvgElement {
    pub(super) const fn new(name: &'static str) -> Self {
        Self {
            name,
            attributes: Vec::new(),
            children: Vec::new(),
            text: String::new(),
        }
    }

    /// An element that holds words.
    pub(super) fn words(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::new(name)
        }
    }

    pub(super) fn of_class(name: &'static str, class: impl Into<String>) -> Self {
        Self::new(name).with("class", class.into())
    }

    /// This element with another attribute.
    pub(super) fn with(mut self, name: &'static str, value: impl Display) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// This element with another element in it.
    pub(super) fn holding(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    /// This element with more elements in it.
    pub(super) fn holding_all(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let attribute = self.attributes.iter().find(|(known, _)| *known == name);
        attribute.map(|(_, value)| value.as_str())
    }

    pub(super) fn classes(&self) -> impl Iterator<Item = &str> {
        self.attribute("class").unwrap_or_default().split(' ')
    }

    /// Appends it as XML. What is in a group stands on lines of its own.
    pub(super) fn write(&self, out: &mut String) {
        out.push('<');
        out.push_str(self.name);
        for (name, value) in &self.attributes {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            push_escaped(out, value);
            out.push('"');
        }
        if self.children.is_empty() && self.text.is_empty() {
            out.push_str("/>");
            return;
        }
        out.push('>');
        push_escaped(out, &self.text);
        // Between words a line break would be a blank.
        let is_group = matches!(self.name, "svg" | "g");
        for child in &self.children {
            if is_group {
                out.push('\n');
            }
            child.write(out);
        }
        if is_group {
            out.push('\n');
        }
        out.push_str("</");
        out.push_str(self.name);
        out.push('>');
    }
}

/// Appends a text as XML. Characters that XML does not allow, which a visitor's name may hold,
/// become U+FFFD.
fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{FFFE}' | '\u{FFFF}' => out.push(char::REPLACEMENT_CHARACTER),
            c if c.is_control() && !matches!(c, '\t' | '\n' | '\r') => {
                out.push(char::REPLACEMENT_CHARACTER);
            }
            c => out.push(c),
        }
    }
}
