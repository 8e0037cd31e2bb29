//! A drawing, and the file that it becomes: on a light ground, with a caption, all colours inside.

use super::element::SvgElement;
use super::styles::{StyleSheets, styled};
use crate::picture::dag::metrics::text_width;
use crate::present::caption::Caption;

/// Space around the drawing and the caption.
const MARGIN: f64 = 20.0;
/// Least width of a file, so that its caption has long lines.
const LEAST_WIDTH: f64 = 560.0;
/// The font of the page, and similar ones elsewhere.
const FONT: &str =
    "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, sans-serif";
const HEADING_PX: f64 = 18.0;
const CAPTION_PX: f64 = 12.0;
const LINE_PX: f64 = 17.0;

/// A picture of a program, as elements of SVG with the classes that the style sheets of the page
/// know.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The classes of the whole.
    pub(super) class: &'static str,
    pub(super) size: (f64, f64),
    /// Its subject, in a few words.
    pub(super) title: String,
    /// Its content, in sentences.
    pub(super) description: String,
    /// In drawing order, later ones on top.
    pub(super) elements: Vec<SvgElement>,
}

impl Drawing {
    /// Without colours and caption, for a page that has the style sheets.
    pub fn plain_svg(&self) -> String {
        let root = SvgElement::new("svg")
            .with("xmlns", "http://www.w3.org/2000/svg")
            .with("class", self.class)
            .with("viewBox", format!("0 0 {} {}", self.size.0, self.size.1))
            .holding(SvgElement::words("title", &self.title))
            .holding(SvgElement::words("desc", &self.description))
            .holding_all(self.elements.iter().cloned());
        document(&root)
    }

    /// With all colours inside, but without ground and caption, for a sheet that has them. Its
    /// title comes first: without one, Chromium looks through all that was read so far for each
    /// title of a box.
    pub fn bare_svg(&self, sheets: StyleSheets) -> String {
        let (width, height) = self.size;
        let root = SvgElement::of_class("svg", self.class)
            .with("xmlns", "http://www.w3.org/2000/svg")
            .with("width", width)
            .with("height", height)
            .with("viewBox", format!("0 0 {width} {height}"))
            .with("font-family", FONT)
            .holding(SvgElement::words("title", &self.title))
            .holding_all(self.elements.iter().cloned());
        document(&styled(&root, sheets))
    }

    /// A file that needs nothing else.
    pub fn svg(&self, caption: &Caption, sheets: StyleSheets) -> String {
        let width = (self.size.0 + 2.0 * MARGIN).max(LEAST_WIDTH).ceil();
        let room = width - 2.0 * MARGIN;
        let heading = format!("{}: {}", caption.program, self.title);
        let headings = wrapped(&heading, room, HEADING_PX);
        let top = MARGIN + headings.len() as f64 * (HEADING_PX + 6.0) + 4.0;
        let bottom = top + self.size.1 + LINE_PX;
        let lines = caption.lines.iter();
        let lines: Vec<String> = lines
            .flat_map(|line| wrapped(line, room, CAPTION_PX))
            .collect();
        let height = (bottom + lines.len() as f64 * LINE_PX + MARGIN).ceil();
        let row = |line: &str, y: f64, size: f64, color: &str| {
            SvgElement::words("text", line)
                .with("x", MARGIN)
                .with("y", y)
                .with("font-size", size)
                .with("fill", color)
        };
        let headings = headings.iter().zip(0_u32..).map(|(line, place)| {
            let y = MARGIN + HEADING_PX + f64::from(place) * (HEADING_PX + 6.0);
            row(line, y, HEADING_PX, "var-text").with("font-weight", 600)
        });
        let rows = lines.iter().zip(0_u32..);
        let rows = rows.map(|(line, place)| {
            let y = bottom + f64::from(place) * LINE_PX + CAPTION_PX;
            row(line, y, CAPTION_PX, "var-text-quiet")
        });
        let left = ((width - self.size.0) / 2.0).round();
        let drawing = SvgElement::of_class("g", self.class)
            .with("transform", format!("translate({left} {top})"))
            .holding_all(self.elements.iter().cloned());
        let ground = SvgElement::new("rect")
            .with("width", width)
            .with("height", height)
            .with("fill", "var-surface-raised");
        let file = SvgElement::new("svg")
            .with("xmlns", "http://www.w3.org/2000/svg")
            .with("width", width)
            .with("height", height)
            .with("viewBox", format!("0 0 {width} {height}"))
            .with("role", "img")
            .with("font-family", FONT)
            .holding(SvgElement::words("title", &heading))
            .holding(SvgElement::words(
                "desc",
                format!("{} {}", self.description, caption.lines.join(" ")),
            ))
            .holding(ground)
            .holding_all(headings)
            .holding(drawing)
            .holding_all(rows);
        document(&styled(&file, sheets))
    }
}

fn document(root: &SvgElement) -> String {
    let mut out = String::new();
    root.write(&mut out);
    out.push('\n');
    out
}

/// Lines of words that fit into a width; a word that is longer than it has a line of its own.
fn wrapped(text: &str, room: f64, font_px: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), font_px) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
