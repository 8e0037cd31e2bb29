//! Lines of a block: `key: value`, and `- label :: condition :: hint`.

use fuseline_core::notation::spelling::nearest;

/// A problem of a lesson's file, where it is, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file, from 1.
    pub line: usize,
    pub what: String,
    pub mend: String,
}

impl Problem {
    pub fn new(line: usize, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            line,
            what: what.into(),
            mend: mend.into(),
        }
    }
}

/// A fenced block of a lesson's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FencedBlock {
    /// The word behind its fence: `page`.
    pub kind: String,
    /// Line of its fence, from 1.
    pub line: usize,
    /// The lines between the fences.
    pub text: String,
}

/// A line `key: value` of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockEntry {
    pub line: usize,
    /// The word before the colon.
    pub key: String,
    /// The text after the colon.
    pub value: String,
}

/// A line `- label :: condition` of a block, or `- label :: condition :: hint`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub line: usize,
    /// The text before the first `::`.
    pub label: String,
    /// The text after the first `::`.
    pub condition: String,
    /// The text after the second `::`; may be empty.
    pub hint: String,
}

/// The lines of a block. What is neither an entry nor an item is a problem.
pub(super) fn lines_of(
    block: &FencedBlock,
    problems: &mut Vec<Problem>,
) -> (Vec<BlockEntry>, Vec<Item>) {
    let (mut entries, mut items) = (Vec::new(), Vec::new());
    for (line, text) in (block.line + 1..).zip(block.text.lines()) {
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if let Some(item) = text.strip_prefix("- ") {
            match item.split_once("::") {
                Some((label, rest)) => {
                    let (condition, hint) = rest.split_once("::").unwrap_or((rest, ""));
                    items.push(Item {
                        line,
                        label: label.trim().to_owned(),
                        condition: condition.trim().to_owned(),
                        hint: hint.trim().to_owned(),
                    });
                }
                None => problems.push(Problem::new(
                    line,
                    format!("the option `{item}` has no condition"),
                    "write `- text :: condition`, so that the page can check whether it is right",
                )),
            }
        } else if let Some(entry) = entry_of(text, line) {
            entries.push(entry);
        } else {
            problems.push(Problem::new(
                line,
                format!("`{text}` is not of the form `key: value`"),
                format!("write, for example, {}", sample(&block.kind)),
            ));
        }
    }
    (entries, items)
}

/// A line `key: value`.
pub(super) fn entry_of(text: &str, line: usize) -> Option<BlockEntry> {
    let (key, value) = text.split_once(':')?;
    let (key, value) = (key.trim(), value.trim());
    (!key.is_empty() && !key.contains(char::is_whitespace)).then(|| BlockEntry {
        line,
        key: key.to_owned(),
        value: value.to_owned(),
    })
}

fn sample(kind: &str) -> &'static str {
    match kind {
        "page" | "then" => "`policy: inductor`",
        "do" => "`until: kernels = 1`",
        "predict" => "`number: kernels`",
        _ => "`ask: Which one?`",
    }
}

/// A problem with an unknown word. It lists the known words, the nearest first.
pub(super) fn unknown(line: usize, what: &str, word: &str, known: &[&str]) -> Problem {
    let mend = match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? The keys are {}", known.join(", ")),
        None => format!("write one of {}", known.join(", ")),
    };
    Problem::new(line, format!("there is no {what} `{word}`"), mend)
}
