//! Finds graphs in a text: the classes of graphs with their lines, without what a log or a reply
//! puts before each line.

use fuseline_core::notation::without_head;

/// A class of a printed graph.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// `GraphModule`, or the name by which an outer graph calls this one.
    pub(super) name: &'a str,
    /// The text between the parentheses of `def forward(...):`, which may have several lines.
    pub(super) parameters: String,
    /// The statements and comments without indentation.
    pub(super) lines: Vec<&'a str>,
    indentation: usize,
}

/// The graphs of a text, each followed by the graphs that stand in it.
#[derive(Debug, Default)]
pub(super) struct Printout<'a> {
    blocks: Vec<Block<'a>>,
}

impl<'a> Printout<'a> {
    /// `O(text)`.
    pub(super) fn of(text: &'a str) -> Self {
        let mut blocks: Vec<Block<'a>> = Vec::new();
        // Whether the lines belong to the last block, and whether its parameters go on.
        let (mut is_inside, mut is_head) = (false, false);
        for line in text.lines() {
            let line = without_head(line);
            let trimmed = line.trim();
            if let Some((indentation, name)) = class(line) {
                blocks.push(Block {
                    name,
                    parameters: String::new(),
                    lines: Vec::new(),
                    indentation,
                });
                (is_inside, is_head) = (true, false);
                continue;
            }
            let Some(block) = blocks.last_mut().filter(|_| is_inside) else {
                continue;
            };
            if let Some(parameters) = trimmed.strip_prefix("def forward(") {
                is_head = true;
                block.take_parameters(parameters, &mut is_head);
            } else if is_head {
                block.take_parameters(trimmed, &mut is_head);
            } else if !trimmed.is_empty() {
                block.lines.push(trimmed);
                is_inside = !trimmed.starts_with("return");
            }
        }
        Self { blocks }
    }

    /// The first graph with a typed operator, and the graphs in it.
    pub(super) fn first_graph(&self) -> Option<&[Block<'a>]> {
        let has =
            |block: &Block<'_>, sign: fn(&str) -> bool| block.lines.iter().any(|line| sign(line));
        let has_types = |block: &Block<'_>| {
            has(block, |line| line.contains(" = torch.ops."))
                && has(block, |line| line.contains("\" = "))
        };
        let start = self.blocks.iter().position(has_types)?;
        let (_, from) = self.blocks.split_at_checked(start)?;
        let (first, rest) = from.split_first()?;
        let is_next = |block: &Block<'_>| block.indentation <= first.indentation;
        let inner = rest.iter().position(is_next).unwrap_or(rest.len());
        from.get(..=inner)
    }

    /// How many graphs there are, without those that stand in others.
    pub(super) fn graphs(&self) -> usize {
        let outer = self.blocks.iter().map(|block| block.indentation).min();
        let blocks = self.blocks.iter();
        blocks
            .filter(|block| Some(block.indentation) == outer)
            .count()
    }
}

impl Block<'_> {
    fn take_parameters(&mut self, line: &str, goes_on: &mut bool) {
        // A comment on types may follow.
        let end = line.rsplit_once("):");
        let end = end.filter(|(_, comment)| !comment.contains('"'));
        self.parameters += end.map_or(line, |(parameters, _)| parameters);
        *goes_on = end.is_none();
    }
}

/// The indentation and the name of `class GraphModule(torch.nn.Module):`. A log writes the file of
/// the class before it.
fn class(line: &str) -> Option<(usize, &str)> {
    let (name, _) = line.trim_end().split_once("(torch.nn.Module):")?;
    let (before, name) = name.rsplit_once("class ")?;
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    let indentation = before.len() - before.trim_start().len();
    is_name.then_some((indentation, name))
}
