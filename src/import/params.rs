//! Sizes that a file leaves open, as params with a default and a range, and the names of all that
//! is imported.

use crate::size::{Size, size_of};
use fuseline_core::model::diagnostic::Span;
use fuseline_core::model::program::{Expr, Name, Param, ParamRange};
use fuseline_core::notation::{parse, print_expr};
use std::collections::{HashMap, HashSet};

/// Longest text of a size that is read as an expression.
const MAX_EXPRESSION: usize = 200;

/// Names that are taken. Those of tensors, ops and params differ from each other.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// How many names derive from each wanted name, so that many equal names take linear time.
    counts: HashMap<String, usize>,
}

impl Names {
    /// A name of the notation that is like `wanted` and not taken yet.
    pub(crate) fn claim(&mut self, wanted: &str) -> String {
        let wanted = identifier(wanted);
        let mut name = wanted.clone();
        while !self.taken.insert(name.clone()) {
            let count = self.counts.entry(wanted.clone()).or_insert(1);
            *count += 1;
            name = format!("{wanted}_{count}");
        }
        name
    }

    /// A label for an op; `None` where another tensor or op has its name.
    pub(crate) fn label(&mut self, wanted: &str) -> Option<String> {
        let label = (!wanted.is_empty()).then(|| identifier(wanted))?;
        self.taken.insert(label.clone()).then_some(label)
    }
}

/// A name that needs no backquotes: `/layer.0/MatMul_output_0` is `layer.0.MatMul`.
pub(crate) fn identifier(name: &str) -> String {
    let name = name.strip_suffix("_output_0").unwrap_or(name);
    let mut written = String::with_capacity(name.len());
    for c in name.chars().take(120) {
        if c == '_' || c.is_alphanumeric() {
            written.push(c);
        } else if !written.is_empty() && !written.ends_with('.') {
            written.push('.');
        }
    }
    let written = written.trim_end_matches('.');
    let starts_well = written.starts_with(|c: char| c == '_' || c.is_alphabetic());
    if starts_well {
        written.to_owned()
    } else {
        format!("v{written}")
    }
}

/// The factors of [`Params::larger`].
const FACTORS: [i64; 6] = [3, 5, 7, 11, 13, 17];

/// What is known about the params of a file before it is read, by their names in the notation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen {
    /// Values in place of defaults.
    pub(crate) values: HashMap<String, i64>,
    /// Params that are another size: a number, or a size over params that the file names earlier.
    pub(crate) sizes: HashMap<String, Expr>,
}

impl Chosen {
    /// These values of params, as a visitor states them.
    pub(crate) fn of(values: &[(String, i64)]) -> Self {
        Self {
            values: values.iter().cloned().collect(),
            sizes: HashMap::new(),
        }
    }
}

/// The params of an import.
#[derive(Debug, Default)]
pub(crate) struct Params {
    /// The params' names in the notation.
    pub(crate) names: Vec<String>,
    /// Their defaults.
    pub(crate) values: Vec<i64>,
    /// A multiple of each default, by another factor than its neighbours, as a second sample that
    /// shows on which params a size depends.
    pub(crate) larger: Vec<i64>,
    ranges: Vec<Range>,
    /// What is known about params before the file is read.
    chosen: Chosen,
    /// By the name in the file.
    by_name: HashMap<String, Size>,
    /// By the name in the notation.
    by_identifier: HashMap<String, usize>,
}

impl Params {
    pub(crate) fn new(chosen: Chosen) -> Self {
        Self {
            chosen,
            ..Self::default()
        }
    }

    /// The size that a text of the file means: `batch`, `past + seq`, `4*s0`. Names that are not
    /// known yet become params where a dimension and a rank are given, those of an input.
    pub(crate) fn read(
        &mut self,
        text: &str,
        input: Option<(usize, usize)>,
        names: &mut Names,
    ) -> Option<Size> {
        if let Some(known) = self.by_name.get(text) {
            return Some(known.clone());
        }
        let is_expression = text.len() <= MAX_EXPRESSION && !text.contains(['\n', '#', ']', ',']);
        let parsed = is_expression.then(|| parse(&format!("input x : f32[{text}]")));
        let parsed = parsed.filter(|parsed| parsed.diagnostics.is_empty());
        let dims = parsed.as_ref().and_then(|p| p.program.declarations.first());
        if let Some([dim]) = dims.map(|d| d.annotation.dims.as_slice()) {
            let mut param = |name: &str| match (self.by_name.get(name), input) {
                (Some(known), _) => Some(known.clone()),
                (None, Some(index)) => Some(self.declare(name, index, names)),
                (None, None) => None,
            };
            if let Some(size) = size_of(dim, &mut param) {
                return Some(size);
            }
        }
        let index = input?;
        Some(self.declare(text, index, names))
    }

    /// A new param for a dimension of an input.
    pub(crate) fn declare(
        &mut self,
        text: &str,
        (dim, rank): (usize, usize),
        names: &mut Names,
    ) -> Size {
        let name = names.claim(text);
        let known = self.chosen.sizes.get(&name);
        let known = known.and_then(|expr| size_of(expr, &mut |name| self.size_of(name)));
        let size = known.unwrap_or_else(|| {
            let (value, range) = default_of(text, dim, rank);
            Size::param(self.add(name, value, range))
        });
        // A sign such as `?` stands for another size at each place.
        if text.contains(char::is_alphanumeric) {
            self.by_name.insert(text.to_owned(), size.clone());
        }
        size
    }

    /// A new param of this name; gives its index.
    pub(crate) fn add(&mut self, name: String, value: i64, range: Range) -> usize {
        let chosen = self.chosen.values.get(&name).copied();
        let range = chosen.map_or(range, |value| with_value(range, value));
        let value = chosen.unwrap_or(value);
        let index = self.names.len();
        self.by_identifier.insert(name.clone(), index);
        self.names.push(name);
        self.values.push(value);
        let factor = FACTORS.get(index % FACTORS.len());
        self.larger
            .push(value.saturating_mul(factor.copied().unwrap_or(2)));
        self.ranges.push(range);
        index
    }

    /// The param of a name of the notation, as a size.
    pub(crate) fn size_of(&self, name: &str) -> Option<Size> {
        self.by_identifier.get(name).copied().map(Size::param)
    }

    /// Sizes as the notation writes them.
    pub(crate) fn list(&self, sizes: &[Size]) -> String {
        let sizes = sizes.iter();
        let sizes: Vec<String> = sizes
            .map(|size| print_expr(&size.expr(&self.names)))
            .collect();
        format!("[{}]", sizes.join(", "))
    }

    /// One size as the value of an attribute. Brackets keep the name of a param from being read as
    /// a word.
    pub(crate) fn one(&self, size: &Size) -> String {
        match size.as_int() {
            Some(number) => number.to_string(),
            None => format!("({})", print_expr(&size.expr(&self.names))),
        }
    }

    pub(crate) fn statements(&self) -> Vec<Param> {
        let params = self.names.iter().zip(&self.values).zip(&self.ranges);
        params
            .map(|((name, &value), &(min, max, step))| Param {
                name: Name {
                    text: name.clone(),
                    span: Span::default(),
                },
                value,
                value_span: Span::default(),
                range: Some(ParamRange {
                    min,
                    max,
                    step,
                    dividing: None,
                }),
                span: Span::default(),
            })
            .collect()
    }
}

/// Smallest, largest and step.
pub(crate) type Range = (i64, i64, i64);

/// A range that has this value, too.
fn with_value((min, max, step): Range, value: i64) -> Range {
    let (min, max) = (min.min(value), max.max(value));
    let (mut step, mut rest) = (step, value.saturating_sub(min) % step.max(1));
    // The largest step that leads from the smallest value to this one, by Euclid.
    while rest != 0 {
        (step, rest) = (rest, step % rest);
    }
    (min, max, step)
}

/// The default of a height or a width.
pub(crate) const IMAGE_SIZE: i64 = 224;

/// Words in the name of a size, and what a size with such a name may be: its default, and smallest,
/// largest and step of its range.
const KINDS: &[(&[&str], i64, Range)] = &[
    (&["batch"], 8, (1, 256, 1)),
    (&["height", "width"], IMAGE_SIZE, (32, 2048, 32)),
    (&["seq", "len", "tok", "time"], 512, (1, 16_384, 1)),
];

/// Default and range of a size: by its name, otherwise by its position, as batches come first and
/// images last.
fn default_of(name: &str, dim: usize, rank: usize) -> (i64, Range) {
    let name = name.to_lowercase();
    let named = KINDS
        .iter()
        .find(|(words, ..)| words.iter().any(|word| name.contains(word)));
    let by_place = match (dim, rank) {
        (0, _) => KINDS.first(),
        (2 | 3, 4) => KINDS.get(1),
        _ => KINDS.get(2),
    };
    named
        .or(by_place)
        .map_or((1, (1, 1024, 1)), |&(_, value, range)| (value, range))
}
