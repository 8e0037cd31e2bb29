//! A node of a graph as the rules see it: its arguments by the names of the operator's schema, and
//! what it gives.

use crate::constant::float_text;
use crate::params::Params;
use crate::pt2::schema::{Argument, Graph, Node, TensorMeta, Whole};
use crate::pt2::symbols::Symbols;
use crate::shapes::{Sizes, dimension};
use crate::size::Size;
use crate::writer::{Known, Writer};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::program::OpStatement;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// A node with what is known about its arguments, for one of its outputs.
pub(super) struct Call<'a> {
    pub(super) node: &'a Node,
    /// `add` of `torch.ops.aten.add_.Tensor`, without the mark of what writes in place.
    pub(super) operator: &'a str,
    /// `Tensor` of `torch.ops.aten.add.Tensor`.
    pub(super) overload: &'a str,
    pub(super) graph: &'a Graph,
    /// Indices of tensors by their name in the graph.
    pub(super) tensors: &'a HashMap<&'a str, usize>,
    pub(super) written: &'a Writer,
    pub(super) symbols: &'a Symbols<'a>,
    /// All outputs of the node, `None` for one that is no tensor.
    pub(super) outputs: &'a [Option<&'a str>],
    /// Tensors of the graph that a result needs.
    pub(super) needed: &'a HashSet<&'a str>,
    /// Whether the result is a tensor of the caller with a new value of a slice.
    pub(super) is_written_slice: bool,
    /// Whether an operand or a result has complex elements.
    pub(super) is_complex: bool,
    /// Which output it is, its element type and its shape.
    pub(super) index: usize,
    pub(super) dtype: DType,
    pub(super) shape: Sizes,
    /// Names of the cast tensors, by argument.
    pub(super) cast: HashMap<&'a str, String>,
}

impl<'a> Call<'a> {
    /// An argument that is given.
    pub(super) fn argument(&self, name: &str) -> Option<&'a Argument> {
        let mut inputs = self.node.inputs.iter();
        let named = inputs.find(|argument| argument.name == name)?;
        (!matches!(named.arg, Argument::None)).then_some(&named.arg)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.argument(name).is_some()
    }

    /// The index of the tensor of an argument.
    pub(super) fn tensor_index(&self, name: &str) -> Option<usize> {
        match self.argument(name)? {
            Argument::Tensor(tensor) => self.tensors.get(tensor.as_str()).copied(),
            _ => None,
        }
    }

    pub(super) fn known(&self, index: usize) -> Option<&'a Known> {
        self.written.tensors.get(index)
    }

    pub(super) fn tensor(&self, name: &str) -> Option<&'a Known> {
        self.known(self.tensor_index(name)?)
    }

    /// The op of the program that writes the tensor with this name.
    pub(super) fn producer(&self, name: &str) -> Option<&'a OpStatement> {
        let (ops, index) = (&self.written.ops, *self.written.by_name.get(name)?);
        let at = ops.binary_search_by_key(&index, |(_, output)| *output);
        ops.get(at.ok()?).map(|(op, _)| op)
    }

    /// What the file says of the tensor of an argument.
    pub(super) fn meta(&self, name: &str) -> Option<&'a TensorMeta> {
        match self.argument(name)? {
            Argument::Tensor(tensor) => self.graph.tensor_values.get(tensor),
            _ => None,
        }
    }

    /// A tensor of a list as an operand in the type of the result: its index, and what names it. If
    /// it has another type, `lines` gets the line that casts it.
    pub(super) fn typed_operand(
        &self,
        lines: &mut String,
        number: usize,
        tensor: &str,
    ) -> Option<(usize, String)> {
        let index = *self.tensors.get(tensor)?;
        let known = self.known(index)?;
        if known.dtype == Some(self.dtype) {
            return Some((index, known.name.clone()));
        }
        let (name, dtype) = (&known.name, self.dtype.name());
        // Writing to a `String` cannot fail.
        let _ = writeln!(lines, "{{y}}_cast{number} = cast({name}, dtype={dtype})");
        Some((index, format!("{{y}}_cast{number}")))
    }

    /// The tensors of an argument that is a list.
    pub(super) fn tensors_of(&self, name: &str) -> Option<Vec<Option<&'a Known>>> {
        let Argument::Tensors(names) = self.argument(name)? else {
            return None;
        };
        let known = names.iter().map(|name| {
            let index = self.tensors.get(name.as_deref()?)?;
            self.known(*index)
        });
        Some(known.collect())
    }

    pub(super) fn shape_of(&self, name: &str) -> Option<&'a [Size]> {
        self.tensor(name)?.shape.as_deref()
    }

    pub(super) fn rank_of(&self, name: &str) -> Option<usize> {
        self.shape_of(name).map(<[Size]>::len)
    }

    fn whole(&self, whole: &Whole) -> Option<Size> {
        match whole {
            Whole::AsInt(value) => Some(Size::from(*value)),
            Whole::AsName(name) => {
                let size = self.graph.sym_int_values.get(name)?;
                Some(self.symbols.size(size).0)
            }
        }
    }

    /// A whole number, over the params where it is computed from sizes.
    pub(super) fn size(&self, name: &str) -> Option<Size> {
        match self.argument(name)? {
            Argument::Int(whole) => self.whole(whole),
            _ => None,
        }
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.size(name)?.as_int()
    }

    /// The same where an argument may be left out; `None` if it is given and no number.
    pub(super) fn int_or(&self, name: &str, default: i64) -> Option<i64> {
        if self.has(name) {
            self.int(name)
        } else {
            Some(default)
        }
    }

    /// A list of whole numbers; one number is a list of one.
    pub(super) fn sizes(&self, name: &str) -> Option<Sizes> {
        match self.argument(name)? {
            Argument::Int(whole) => Some(vec![self.whole(whole)?]),
            Argument::Ints(list) => list.iter().map(|whole| self.whole(whole)).collect(),
            _ => None,
        }
    }

    pub(super) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.sizes(name)?.iter().map(Size::as_int).collect()
    }

    /// A number, which may be whole or a truth value.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        match self.argument(name)? {
            Argument::Float(number) => Some(*number),
            Argument::Bool(holds) => Some(f64::from(u8::from(*holds))),
            Argument::Int(Whole::AsInt(value)) => Some(*value as f64),
            _ => None,
        }
    }

    /// The same where an argument may be left out; `None` if it is given and no number.
    pub(super) fn number_or(&self, name: &str, default: f64) -> Option<f64> {
        if self.has(name) {
            self.number(name)
        } else {
            Some(default)
        }
    }

    /// Whether an argument is given and differs from this number.
    pub(super) fn differs(&self, name: &str, from: f64) -> bool {
        self.has(name)
            && self
                .number(name)
                .is_none_or(|number| !number.total_cmp(&from).is_eq())
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        matches!(self.argument(name), Some(Argument::Bool(true)))
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        match self.argument(name)? {
            Argument::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The dimension that an argument names.
    pub(super) fn axis(&self, name: &str, rank: usize) -> Option<usize> {
        self.dimension(self.int(name)?, rank)
    }

    /// The dimension that a number means; the last one of a complex tensor has its parts.
    pub(super) fn dimension(&self, value: i64, rank: usize) -> Option<usize> {
        let is_before_parts = self.is_complex && value < 0;
        dimension(value - i64::from(is_before_parts), rank)
    }

    /// The axis that an argument names, the first where none is given.
    pub(super) fn axis_or_first(&self, name: &str, rank: usize) -> Option<usize> {
        if self.has(name) {
            self.axis(name, rank)
        } else {
            (rank > 0).then_some(0)
        }
    }

    /// Whether a result needs another output.
    pub(super) fn uses(&self, index: usize) -> bool {
        let output = self.outputs.get(index).copied().flatten();
        output.is_some_and(|output| self.needed.contains(output))
    }

    /// Whether results need both of two outputs, which one kernel writes.
    pub(super) fn uses_both(&self) -> bool {
        self.uses(0) && self.uses(1)
    }

    pub(super) fn params(&self) -> &'a Params {
        &self.written.params
    }

    /// Whether a tensor has the element type of the output and, with `has_shape`, its shape.
    pub(super) fn is_known(&self, index: usize, has_shape: bool) -> bool {
        self.known(index).is_some_and(|known| {
            known.dtype == Some(self.dtype)
                && (!has_shape || known.shape.as_deref() == Some(self.shape.as_slice()))
        })
    }

    pub(super) fn list(&self, sizes: &[Size]) -> String {
        self.params().list(sizes)
    }

    pub(super) fn one(&self, size: &Size) -> String {
        self.params().one(size)
    }

    /// A number as the notation writes it where an operand stands.
    pub(super) fn literal(&self, name: &str) -> Option<String> {
        match self.argument(name)? {
            Argument::Int(Whole::AsInt(value)) => Some(value.to_string()),
            Argument::Float(number) if *number < f64::MIN => Some("-inf".to_owned()),
            _ => number_text(self.number(name)?),
        }
    }
}

/// A float as the notation writes it. An infinity becomes about the largest number of f32.
pub(super) fn number_text(number: f64) -> Option<String> {
    float_text(number.clamp(-3.4e38, 3.4e38))
}
