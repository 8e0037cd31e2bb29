//! Markup as data: what a view shows, written once as templates with gaps for what changes.
//!
//! A template is a literal and a gap's content is escaped, so nothing that a visitor names can become markup.
//! Two markups of the same templates differ in their values alone; the page then writes those values into the
//! elements that are there (`browser::Place`) and keeps focus and scrolling.

/// A list of templates and the values of their gaps.
///
/// A gap is `{}`: the whole content of an element (`<td>{}</td>`), the whole value of an attribute
/// (`title="{}"`), or text among other content (`<p>at {} of {}</p>`), which is dearer: when such a value
/// changes, all of the markup is written anew. Attributes stand in double quotes. Templates name every element
/// that the browser's parser would add by itself, such as `<tbody>`.
#[derive(Clone, Debug, Default)]
pub struct Markup {
    templates: Vec<&'static str>,
    values: Vec<String>,
}

/// The value of an attribute that is not there, such as `hidden="{}"` on something that shows.
pub const ABSENT: &str = "\0";

impl Markup {
    /// No markup yet.
    pub const fn new() -> Self {
        Self {
            templates: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Adds a template and a value for each of its gaps, in order.
    pub fn fill(&mut self, template: &'static str, values: &[&str]) {
        self.templates.push(template);
        for &value in values {
            self.values.push(value.to_owned());
        }
    }

    /// As [`Markup::fill`], with numbers.
    pub fn numbers(&mut self, template: &'static str, values: &[f64]) {
        self.templates.push(template);
        for value in values {
            self.values.push(value.to_string());
        }
    }

    /// Adds markup without gaps.
    pub fn raw(&mut self, template: &'static str) {
        self.templates.push(template);
    }

    /// Adds text.
    pub fn text(&mut self, text: &str) {
        self.fill("{}", &[text]);
    }

    /// Whether both come from the same templates, so that only values can differ.
    pub fn has_same_templates(&self, other: &Self) -> bool {
        let mut pairs = self.templates.iter().zip(&other.templates);
        self.templates.len() == other.templates.len()
            && self.values.len() == other.values.len()
            // Literals stand once in memory; where one does not, the view is written anew, which is as right.
            && pairs.all(|(a, b)| std::ptr::eq(*a, *b))
    }

    /// The values of all gaps, in order; [`ABSENT`] for an attribute that is not there.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The HTML, and where each gap stands in it.
    pub fn html(&self) -> Html {
        let mut writer = Writer::default();
        let mut values = self.values.iter();
        for (place, template) in self.templates.iter().enumerate() {
            let next = self.templates.get(place + 1).copied().unwrap_or("</");
            writer.template(template, next, &mut values);
        }
        debug_assert!(values.next().is_none(), "a value without a gap");
        writer.html
    }
}

/// Markup as the browser's parser takes it.
#[derive(Debug, Default)]
pub struct Html {
    /// The text.
    pub text: String,
    /// Where each value stands, in order.
    pub gaps: Vec<Gap>,
    /// How many elements the text opens.
    pub element_count: usize,
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Which element, counted in document order from 0.
    pub element: usize,
    /// Which part of it.
    pub part: Part,
}

/// A part of an element that holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All that stands in the element.
    Content,
    /// An attribute of this name.
    Attribute(&'static str),
    /// Some text among other content.
    Among,
}

#[derive(Default)]
struct Writer {
    html: Html,
    is_in_tag: bool,
    is_quoted: bool,
    /// Nothing stands between the last opening tag and here.
    is_opened: bool,
}

impl Writer {
    fn template<'v>(
        &mut self,
        template: &'static str,
        next: &str,
        values: &mut impl Iterator<Item = &'v String>,
    ) {
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("{}") {
            let value = values.next().map_or("", String::as_str);
            self.literal(before);
            let is_attribute = self.is_in_tag;
            let name = if is_attribute { name_at(before) } else { "" };
            let follows = if after.is_empty() { next } else { after };
            let part = if is_attribute {
                Part::Attribute(name)
            } else if self.is_opened && follows.starts_with("</") {
                Part::Content
            } else {
                Part::Among
            };
            self.html.gaps.push(Gap {
                element: self.html.element_count.saturating_sub(1),
                part,
            });
            rest = after;
            if is_attribute && value == ABSENT {
                let name_start = self.html.text.len() - name.len() - 2;
                self.html.text.truncate(name_start);
                self.is_quoted = false;
                rest = after.strip_prefix('"').unwrap_or(after);
            } else {
                escape(&mut self.html.text, value);
                self.is_opened = false;
            }
        }
        self.literal(rest);
    }

    /// Copies a part of a template and keeps count of what it opens.
    fn literal(&mut self, part: &str) {
        self.html.text.push_str(part);
        let mut last = ' ';
        for c in part.chars() {
            if self.is_in_tag {
                match c {
                    '"' => self.is_quoted = !self.is_quoted,
                    '>' if !self.is_quoted => self.is_in_tag = false,
                    _ => {}
                }
                self.is_opened = !self.is_in_tag;
            } else if last == '<' && c.is_ascii_alphabetic() {
                self.html.element_count += 1;
                self.is_in_tag = true;
            } else {
                self.is_opened = false;
            }
            last = c;
        }
    }
}

/// The name of the attribute whose value begins at the end of `before`.
fn name_at(before: &'static str) -> &'static str {
    let before = before.strip_suffix("=\"").unwrap_or_default();
    debug_assert!(!before.is_empty(), "a gap in a tag is a whole quoted value");
    before.rsplit([' ', '\n']).next().unwrap_or_default()
}

fn escape(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(c),
        }
    }
}
