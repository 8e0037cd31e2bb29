//! Markdown into the pieces of a lesson: front matter, titles of steps, prose and fenced blocks.

use super::entries::{FencedBlock, Problem};
use super::named_figure::NamedFigure;
use super::prose::{Inline, ProseFigure, ProsePart};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// A piece of a lesson's file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// The front matter between the two lines `---` at the top.
    Front(FencedBlock),
    /// The heading of a step.
    Title {
        line: usize,
        text: String,
    },
    Prose(ProsePart),
    /// A fenced block with a word behind its fence.
    Block(FencedBlock),
}

/// The pieces of a file, in order, and what in it a lesson cannot show.
pub(super) fn pieces(text: &str) -> (Vec<Piece>, Vec<Problem>) {
    pieces_after(0, text)
}

/// The pieces of a text that stands behind so many lines of its file.
pub(super) fn pieces_after(lines: usize, text: &str) -> (Vec<Piece>, Vec<Problem>) {
    let mut reader = Reader::new(lines, text);
    let parser = Parser::new_ext(text, Options::ENABLE_YAML_STYLE_METADATA_BLOCKS);
    for (event, range) in parser.into_offset_iter() {
        reader.take(event, range.start);
    }
    (reader.pieces, reader.problems)
}

/// Prose on one line: a question.
pub(super) fn inline(text: &str, line: usize, problems: &mut Vec<Problem>) -> Vec<Inline> {
    let (pieces, found) = pieces_after(line.saturating_sub(1), text);
    problems.extend(found);
    let paragraphs = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Prose(ProsePart::Paragraph(content)) => Some(content),
        _ => None,
    });
    paragraphs.flatten().collect()
}

/// An element that is open, with what it holds so far.
struct Open {
    element: Element,
    content: Vec<Inline>,
}

enum Element {
    Paragraph,
    Item,
    Title {
        line: usize,
        is_step: bool,
    },
    Emphasis,
    Strong,
    Link(String),
    /// An element that is ignored; its content is shown.
    Other,
}

struct List {
    is_numbered: bool,
    items: Vec<Vec<Inline>>,
}

struct Reader {
    /// Lines of the file in front of the text.
    lines_before: usize,
    /// First byte of each line.
    lines: Vec<usize>,
    open: Vec<Open>,
    list: Option<List>,
    /// A fenced block or the front matter, while its text is read.
    block: Option<(FencedBlock, bool)>,
    pieces: Vec<Piece>,
    problems: Vec<Problem>,
}

impl Reader {
    fn new(lines_before: usize, text: &str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            lines_before,
            lines: std::iter::once(0).chain(starts).collect(),
            open: Vec::new(),
            list: None,
            block: None,
            pieces: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn line_of(&self, byte: usize) -> usize {
        self.lines_before + self.lines.partition_point(|&start| start <= byte)
    }

    fn refuse(&mut self, byte: usize, what: &str, mend: &str) {
        let line = self.line_of(byte);
        self.problems.push(Problem::new(line, what, mend));
    }

    fn take(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(tag) => self.start(tag, at),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.block {
                Some((block, _)) => block.text.push_str(&text),
                None => self.put(Inline::Text(text.into_string())),
            },
            Event::Code(code) => self.code(&code, at),
            Event::SoftBreak | Event::HardBreak => self.put(Inline::Text(" ".to_owned())),
            Event::Html(html) | Event::InlineHtml(html) => {
                self.refuse(
                    at,
                    "HTML appears as text",
                    "write Markdown: *stressed*, **strongly**, `code`, lists and links",
                );
                self.put(Inline::Text(html.into_string()));
            }
            Event::Rule => self.refuse(
                at,
                "horizontal rules are not shown",
                "begin a step with `## Title`",
            ),
            _ => {}
        }
    }

    fn code(&mut self, code: &str, at: usize) {
        let Some(quantity) = code.strip_prefix('=') else {
            self.put(Inline::Code(code.to_owned()));
            return;
        };
        match NamedFigure::parse(quantity) {
            Ok(quantity) => {
                let line = self.line_of(at);
                self.put(Inline::Figure(ProseFigure { quantity, line }));
            }
            Err(mend) => {
                self.refuse(at, &format!("`{code}` is not a figure"), &mend.to_string());
                self.put(Inline::Code(code.to_owned()));
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, at: usize) {
        let line = self.line_of(at);
        let element = match tag {
            Tag::MetadataBlock(_) => {
                self.block = Some((
                    FencedBlock {
                        kind: "front".to_owned(),
                        line,
                        text: String::new(),
                    },
                    true,
                ));
                return;
            }
            Tag::CodeBlock(kind) => {
                let kind = match kind {
                    CodeBlockKind::Fenced(kind) => kind.trim().to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.block = Some((
                    FencedBlock {
                        kind,
                        line,
                        text: String::new(),
                    },
                    false,
                ));
                return;
            }
            Tag::List(first) => {
                if self.list.is_some() {
                    self.refuse(at, "nested lists are not shown", "write one list");
                } else {
                    self.list = Some(List {
                        is_numbered: first.is_some(),
                        items: Vec::new(),
                    });
                }
                return;
            }
            Tag::Paragraph => Element::Paragraph,
            Tag::Item => Element::Item,
            Tag::Heading { level, .. } => {
                let is_step = level == HeadingLevel::H2;
                if !is_step {
                    self.refuse(
                        at,
                        "only a heading `## …` begins a step",
                        "write `## Title`",
                    );
                }
                Element::Title { line, is_step }
            }
            Tag::Emphasis => Element::Emphasis,
            Tag::Strong => Element::Strong,
            Tag::Link { dest_url, .. } => {
                if is_safe(&dest_url) {
                    Element::Link(dest_url.into_string())
                } else {
                    self.refuse(
                        at,
                        "this link does not work",
                        "write an address that begins with https:// or #",
                    );
                    Element::Other
                }
            }
            Tag::Image { .. } => {
                self.refuse(
                    at,
                    "pictures are not shown",
                    "show the page itself: `look: graph` in a `page` block",
                );
                Element::Other
            }
            Tag::BlockQuote(_) => {
                self.refuse(
                    at,
                    "a quotation appears as prose",
                    "write notes for the speaker in a `notes` block",
                );
                return;
            }
            _ => Element::Other,
        };
        self.open.push(Open {
            element,
            content: Vec::new(),
        });
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::MetadataBlock(_) | TagEnd::CodeBlock => {
                if let Some((block, is_front)) = self.block.take() {
                    self.pieces.push(if is_front {
                        Piece::Front(block)
                    } else if block.kind.is_empty() {
                        Piece::Prose(ProsePart::Code(block.text))
                    } else {
                        Piece::Block(block)
                    });
                }
                return;
            }
            TagEnd::List(_) => {
                // Of nested lists the first end closes the outer one, whose later items are
                // paragraphs.
                if let Some(List { is_numbered, items }) = self.list.take() {
                    self.pieces
                        .push(Piece::Prose(ProsePart::List { is_numbered, items }));
                }
                return;
            }
            TagEnd::BlockQuote(_) => return,
            _ => {}
        }
        let Some(Open { element, content }) = self.open.pop() else {
            return;
        };
        match element {
            Element::Paragraph => match self.open.last_mut() {
                Some(parent) => parent.content.extend(content),
                None => self
                    .pieces
                    .push(Piece::Prose(ProsePart::Paragraph(content))),
            },
            Element::Item => match &mut self.list {
                Some(list) => list.items.push(content),
                None => self
                    .pieces
                    .push(Piece::Prose(ProsePart::Paragraph(content))),
            },
            Element::Title { line, is_step } => {
                let text = plain(&content);
                self.pieces.push(if is_step {
                    Piece::Title { line, text }
                } else {
                    Piece::Prose(ProsePart::Paragraph(vec![Inline::Strong(content)]))
                });
            }
            Element::Emphasis => self.put(Inline::Emphasis(content)),
            Element::Strong => self.put(Inline::Strong(content)),
            Element::Link(address) => self.put(Inline::Link { address, content }),
            Element::Other => content.into_iter().for_each(|inline| self.put(inline)),
        }
    }

    fn put(&mut self, inline: Inline) {
        match self.open.last_mut() {
            Some(open) => match (open.content.last_mut(), inline) {
                (Some(Inline::Text(before)), Inline::Text(text)) => before.push_str(&text),
                (_, inline) => open.content.push(inline),
            },
            None => self
                .pieces
                .push(Piece::Prose(ProsePart::Paragraph(vec![inline]))),
        }
    }
}

/// Whether a link leads to another page, or within this one, and runs nothing.
fn is_safe(address: &str) -> bool {
    address.starts_with("https://") || address.starts_with('#')
}

fn plain(content: &[Inline]) -> String {
    let mut text = String::new();
    for inline in content {
        match inline {
            Inline::Text(part) | Inline::Code(part) => text.push_str(part),
            Inline::Emphasis(inner)
            | Inline::Strong(inner)
            | Inline::Link { content: inner, .. } => {
                text.push_str(&plain(inner));
            }
            Inline::Figure(_) => {}
        }
    }
    text
}
