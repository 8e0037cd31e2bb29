//! Sizes that an exported program leaves open: its symbols as params, and expressions over them as
//! sizes.

use crate::Problem;
use crate::pt2::expression::size_of;
use crate::pt2::schema::{Argument, Bounds, Exported, Graph, SymInt};
use crate::size::Size;
use crate::writer::Writer;
use std::collections::HashMap;

/// The value of a symbol that depends on data, which has none at the example inputs.
const GUESS: i64 = 1024;

/// Largest upper bound that counts: a larger one means that there is none.
const MAX_BOUND: i64 = 1 << 31;

/// The sizes of a program by their text.
#[derive(Debug, Default)]
pub(super) struct Symbols<'a> {
    sizes: HashMap<&'a str, Option<Size>>,
    params: HashMap<String, usize>,
    /// Values at the example inputs of those that stand alone somewhere.
    hints: HashMap<String, i64>,
    bounds: Option<&'a HashMap<String, Bounds>>,
}

impl<'a> Symbols<'a> {
    /// The symbols of a program, as params of `written`; the sizes of inputs come first. Linear in
    /// the sizes of the program.
    ///
    /// # Errors
    /// When there are more sizes than are opened.
    pub(super) fn declared(exported: &'a Exported, written: &mut Writer) -> Result<Self, Problem> {
        let mut symbols = Self {
            bounds: Some(&exported.range_constraints),
            ..Self::default()
        };
        let graph = &exported.graph_module.graph;
        let graphs = with_inner(graph);
        for graph in &graphs {
            let sizes = graph.tensor_values.values().flat_map(|meta| &meta.sizes);
            for size in sizes.chain(graph.sym_int_values.values()) {
                symbols.hint(size);
            }
        }
        for name in graph.inputs.iter().flat_map(Argument::tensors) {
            if let Some(meta) = graph.tensor_values.get(name) {
                for (index, size) in meta.sizes.iter().enumerate() {
                    let fallback = if index == 0 {
                        "B".to_owned()
                    } else {
                        format!("{name}_size{index}")
                    };
                    symbols.add(size, Some(&fallback), written)?;
                }
            }
        }
        for graph in graphs {
            for name in graph.nodes.iter().flat_map(|node| &node.outputs) {
                for name in name.tensors() {
                    let meta = graph.tensor_values.get(name);
                    for size in meta.into_iter().flat_map(|meta| &meta.sizes) {
                        symbols.add(size, None, written)?;
                    }
                }
            }
            let mut named: Vec<_> = graph.sym_int_values.iter().collect();
            named.sort_unstable_by_key(|(name, _)| *name);
            for (_, size) in named {
                symbols.add(size, None, written)?;
            }
        }
        Ok(symbols)
    }

    /// A size, and whether it holds at all values of the params; otherwise it is that of the
    /// example inputs.
    pub(super) fn size(&self, size: &SymInt) -> (Size, bool) {
        let known = match size {
            SymInt::AsInt(value) => Some(Size::from((*value).max(1))),
            SymInt::AsExpr(expr) => self.sizes.get(expr.expr_str.as_str()).cloned().flatten(),
        };
        match known {
            Some(size) => (size, true),
            None => (Size::from(size.hint().unwrap_or(1).max(1)), false),
        }
    }

    fn hint(&mut self, size: &SymInt) {
        if let (SymInt::AsExpr(expr), Some(hint)) = (size, size.hint()) {
            let mut alone = Vec::new();
            let is_alone = size_of(&expr.expr_str, &mut |name| {
                alone.push(name.to_owned());
                Some(0)
            }) == Some(Size::param(0));
            if let (true, [symbol]) = (is_alone, alone.as_slice()) {
                // All values of a symbol are equal in a valid file.
                let known = self.hints.entry(symbol.clone()).or_insert(hint);
                *known = hint.min(*known);
            }
        }
    }

    /// Reads an expression; symbols that are new become params, called `fallback` where that is
    /// given.
    fn add(
        &mut self,
        size: &'a SymInt,
        fallback: Option<&str>,
        written: &mut Writer,
    ) -> Result<(), Problem> {
        let SymInt::AsExpr(expr) = size else {
            return Ok(());
        };
        let text = expr.expr_str.as_str();
        if self.sizes.contains_key(text) {
            return Ok(());
        }
        written.spend(1)?;
        let mut new: Vec<String> = Vec::new();
        let count = self.params.len();
        let read = size_of(text, &mut |name| {
            let known = self.params.get(name).copied();
            known.or_else(|| {
                let index = new.iter().position(|own| own == name);
                let index = index.unwrap_or_else(|| {
                    new.push(name.to_owned());
                    new.len() - 1
                });
                Some(count + index)
            })
        });
        if let Some(read) = &read {
            for symbol in &new {
                let solved = size.hint().filter(|_| new.len() == 1);
                let solved = solved.and_then(|hint| solution(read, &written.params.values, hint));
                self.declare(symbol, fallback, solved, written);
            }
        }
        self.sizes.insert(text, read);
        Ok(())
    }

    /// Whether PyTorch made up the name of a symbol: `s77`, `u0`.
    fn is_nameless(symbol: &str) -> bool {
        let number = symbol.trim_start_matches(|c: char| c.is_ascii_lowercase());
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    }

    fn declare(
        &mut self,
        symbol: &str,
        fallback: Option<&str>,
        solved: Option<i64>,
        written: &mut Writer,
    ) {
        let bounds = self.bounds.and_then(|bounds| bounds.get(symbol)).copied();
        let low = bounds.and_then(|bounds| bounds.min_val).unwrap_or(1).max(1);
        let high = bounds.and_then(|bounds| bounds.max_val);
        let high = high.filter(|&high| high < MAX_BOUND && high >= low);
        let hint = self.hints.get(symbol).copied().or(solved);
        let value = hint.filter(|&value| value > 0);
        let value = value.unwrap_or(high.unwrap_or(low.max(GUESS)));
        let high = high.unwrap_or(value.saturating_mul(16)).max(value);
        let unnamed = format!("size_{symbol}");
        let name = if Self::is_nameless(symbol) {
            fallback.unwrap_or(&unnamed)
        } else {
            symbol
        };
        let name = written.names.claim(name);
        let index = written.params.add(name, value, (low.min(value), high, 1));
        self.params.insert(symbol.to_owned(), index);
    }
}

/// The value of the next param after `params` at which `size` is `hint`, if `size` is linear in it.
fn solution(size: &Size, params: &[i64], hint: i64) -> Option<i64> {
    let at = |value: i64| size.value(&[params, &[value]].concat());
    // Two samples give the slope; the last line refuses a size that is not linear.
    let (none, one) = (at(0)?, at(1)?);
    let value = hint
        .checked_sub(none)?
        .checked_div(one.checked_sub(none)?)?;
    (at(value) == Some(hint)).then_some(value)
}

/// A graph and all graphs nested in it, breadth first.
fn with_inner(graph: &Graph) -> Vec<&Graph> {
    let mut graphs = vec![graph];
    let mut next = 0;
    while let Some(graph) = graphs.get(next).copied() {
        let arguments = graph.nodes.iter().flat_map(|node| &node.inputs);
        graphs.extend(arguments.filter_map(|argument| match &argument.arg {
            Argument::Graph(inner) => Some(&**inner),
            _ => None,
        }));
        next += 1;
    }
    graphs
}
