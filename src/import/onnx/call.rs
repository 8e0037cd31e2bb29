//! A node of a file as the rules see it: its attributes, and what is known about its inputs.

use crate::constant::{Constant, Scalar, float_text};
use crate::onnx::open_sizes::has_no_elements;
use crate::onnx::operators::RUNTIME;
use crate::onnx::proto::{Attribute, Node, TensorValue, element_type, shortest};
use crate::params::Params;
use crate::shapes::{Sizes, dimension, elements, with_size};
use crate::size::Size;
use crate::writer::Known;
use fuseline_core::model::dtype::DType;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// A node with what is known about its inputs.
pub(super) struct Call<'a> {
    pub(super) node: &'a Node,
    /// Its attributes by name, with the values that a call of a function gives them.
    pub(super) attributes: Vec<(&'a str, &'a Attribute)>,
    /// In the order of the node; `None` for an input that is left out.
    pub(super) inputs: Vec<Option<&'a Known>>,
    /// What the file says about its output.
    pub(super) output: Known,
    pub(super) output_index: usize,
    /// Tensors by their name in the file.
    pub(super) tensors: Tensors<'a>,
    /// Tensors of the file that something reads.
    pub(super) read: &'a HashSet<&'a str>,
    /// The params of the import, for sizes.
    pub(super) params: &'a Params,
    /// Version of the operators of ONNX.
    pub(super) version: i64,
    /// Whether the output has a size that holds only at the defaults of the params.
    pub(super) is_fixed: Cell<bool>,
}

/// Looks up tensors by their name in the file.
#[derive(Clone, Copy)]
pub(super) struct Tensors<'a> {
    pub(super) known: &'a [Known],
    pub(super) by_file_name: &'a HashMap<&'a str, usize>,
    /// Element types as the file numbers them: the notation has fewer.
    pub(super) element_types: &'a HashMap<&'a str, i32>,
}

impl<'a> Tensors<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a Known> {
        self.known.get(*self.by_file_name.get(name)?)
    }
}

impl<'a> Call<'a> {
    /// Whether it is an operator of ONNX Runtime, some of which share a name with one of ONNX.
    pub(super) fn is_runtime(&self) -> bool {
        self.node.domain == RUNTIME
    }

    pub(super) fn operator(&self) -> &'a str {
        &self.node.operator
    }

    fn stated(&self, name: &str) -> Option<&'a Attribute> {
        let mut attributes = self.attributes.iter();
        attributes
            .find(|(own, _)| *own == name)
            .map(|(_, attribute)| *attribute)
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.stated(name)?.int
    }

    pub(super) fn float(&self, name: &str) -> Option<f64> {
        self.stated(name)?.float.map(shortest)
    }

    pub(super) fn ints(&self, name: &str) -> Option<&'a [i64]> {
        let attribute = self.stated(name)?;
        (!attribute.ints.is_empty()).then_some(attribute.ints.as_slice())
    }

    pub(super) fn floats(&self, name: &str) -> Option<impl Iterator<Item = f64> + 'a> {
        let attribute = self.stated(name)?;
        let floats = attribute.floats.iter().map(|&number| shortest(number));
        (!attribute.floats.is_empty()).then_some(floats)
    }

    pub(super) fn word(&self, name: &str) -> Option<&'a str> {
        std::str::from_utf8(&self.stated(name)?.string).ok()
    }

    pub(super) fn tensor(&self, name: &str) -> Option<&'a TensorValue> {
        self.stated(name)?.tensor.as_ref()
    }

    /// An attribute as the notation writes it.
    pub(super) fn attribute_text(&self, name: &str) -> Option<String> {
        let attribute = self.stated(name)?;
        if let Some(number) = attribute.int {
            return Some(number.to_string());
        }
        if let Some(number) = attribute.float {
            return float_text(shortest(number));
        }
        if !attribute.ints.is_empty() {
            return Some(format!("{:?}", attribute.ints));
        }
        self.word(name).map(str::to_owned)
    }

    pub(super) fn input_count(&self) -> usize {
        self.inputs.len()
    }

    pub(super) fn input(&self, index: usize) -> Option<&'a Known> {
        self.inputs.get(index).copied().flatten()
    }

    pub(super) fn shape(&self, index: usize) -> Option<&'a [Size]> {
        self.input(index)?.shape.as_deref()
    }

    pub(super) fn rank(&self, index: usize) -> Option<usize> {
        self.shape(index).map(<[Size]>::len)
    }

    pub(super) fn value(&self, index: usize) -> Option<&'a Constant> {
        let known = self.input(index)?;
        if known.is_fixed && known.value.is_some() {
            self.is_fixed.set(true);
        }
        known.value.as_ref()
    }

    /// Whether an input is given and has elements.
    pub(super) fn has_elements(&self, index: usize) -> bool {
        self.has(index) && !self.shape(index).is_some_and(has_no_elements)
    }

    /// The input that the output is, where the node changes nothing.
    pub(super) fn same(&self) -> usize {
        let joined = (0..self.input_count()).find(|&index| self.has_elements(index));
        joined.filter(|_| self.operator() == "Concat").unwrap_or(0)
    }

    /// The element type of an input as the file numbers it.
    pub(super) fn element_type(&self, index: usize) -> Option<i32> {
        let name = self.node.inputs.get(index)?;
        self.tensors.element_types.get(name.as_str()).copied()
    }

    /// Which input is the second operand of a product: scales and zero points may stand before it.
    pub(super) fn second_operand(&self) -> usize {
        if self.operator().starts_with("QLinear") || self.operator() == "QGemm" {
            3
        } else {
            1
        }
    }

    /// The elements of an input, as sizes.
    pub(super) fn sizes(&self, index: usize) -> Option<Sizes> {
        self.value(index)?.sizes()
    }

    /// The whole numbers of an input, or of the attribute that older versions have in its place.
    /// `None` when neither is given, and when the input is not known; [`Self::has`] distinguishes
    /// the two.
    pub(super) fn numbers(&self, index: usize, name: &str) -> Option<Vec<i64>> {
        match self.sizes(index) {
            Some(sizes) => sizes.iter().map(Size::as_int).collect(),
            None => self.ints(name).map(<[i64]>::to_vec),
        }
    }

    /// Whether an input is given.
    pub(super) fn has(&self, index: usize) -> bool {
        self.input(index).is_some()
    }

    /// Number of elements of an input.
    pub(super) fn elements(&self, index: usize) -> Option<Size> {
        elements(self.shape(index)?)
    }

    /// The one number of an input as the notation writes it.
    pub(super) fn number_text(&self, index: usize) -> Option<String> {
        match self.value(index)?.only()? {
            Scalar::Int(size) => size.as_int().map(|number| number.to_string()),
            Scalar::Float(number) => float_text(*number),
        }
    }

    /// The name of another output that is written already.
    pub(super) fn other_output(&self, index: usize) -> Option<&'a str> {
        let output = self.node.outputs.get(index)?;
        self.tensors.get(output).map(|known| known.name.as_str())
    }

    /// Whether the model reads an output of the node.
    pub(super) fn is_read(&self, output: usize) -> bool {
        let name = self.node.outputs.get(output);
        name.is_some_and(|name| self.read.contains(name.as_str()))
    }

    pub(super) fn output_rank(&self) -> Option<usize> {
        self.output.shape.as_ref().map(Vec::len)
    }

    /// A size at the defaults of the params.
    pub(super) fn default_of(&self, size: &Size) -> Option<i64> {
        size.value(&self.params.values)
    }

    /// The value of a size that the program has to state as a number, which holds only at the
    /// defaults.
    pub(super) fn fixed(&self, size: &Size) -> Option<i64> {
        if !size.is_closed() {
            self.is_fixed.set(true);
        }
        self.default_of(size)
    }

    /// Sizes as the notation writes them.
    pub(super) fn list(&self, sizes: &[Size]) -> String {
        if sizes.iter().any(Size::is_sampled) {
            self.is_fixed.set(true);
        }
        self.params.list(sizes)
    }

    /// The shape of a reshape as the notation writes it. One sampled size is left to the notation,
    /// which follows it at any value of the params.
    pub(super) fn reshape_list(&self, sizes: &[Size]) -> String {
        let mut sampled = sizes
            .iter()
            .enumerate()
            .filter(|(_, size)| size.is_sampled());
        let (Some((at, _)), None) = (sampled.next(), sampled.next()) else {
            return self.list(sizes);
        };
        self.list(&with_size(sizes, at, Size::from(-1)))
    }

    /// One size as the value of an attribute.
    pub(super) fn one(&self, size: &Size) -> String {
        if size.is_sampled() {
            self.is_fixed.set(true);
        }
        self.params.one(size)
    }

    /// The element type of an output that is not computed from those of the inputs.
    pub(super) fn dtype(&self) -> DType {
        let filled = self
            .tensor("value")
            .and_then(|value| element_type(value.data_type));
        let first = || {
            self.input(0)
                .filter(|_| self.operator() != "ConstantOfShape")?
                .dtype
        };
        let dtype = self.output.dtype.or(filled).or_else(first);
        dtype.unwrap_or(DType::F32)
    }

    /// A type of the notation: `f32[B, 64]`.
    pub(super) fn typed(&self, shape: &[Size]) -> String {
        format!("{}{}", self.dtype().name(), self.list(shape))
    }

    /// The dimensions that a reduction or a squeeze names, ascending.
    pub(super) fn axes(&self, index: usize, rank: usize) -> Option<Vec<usize>> {
        let named = self.numbers(index, "axes")?;
        let axes = named.into_iter().map(|axis| dimension(axis, rank));
        let mut axes: Vec<usize> = axes.collect::<Option<_>>()?;
        axes.sort_unstable();
        axes.dedup();
        Some(axes)
    }

    /// The new shape of a node that keeps its elements, with its open size where that follows;
    /// otherwise the shape that the file states.
    pub(super) fn reshaped(&self) -> Option<Sizes> {
        self.computed_shape().or_else(|| self.output.shape.clone())
    }

    fn computed_shape(&self) -> Option<Sizes> {
        let shape = self.shape(0)?;
        match self.operator() {
            "Reshape" => self.reshape(shape),
            "Flatten" => {
                let axis = self.int("axis").unwrap_or(1);
                let rank = i64::try_from(shape.len()).ok()?;
                let axis = if axis < 0 {
                    axis.checked_add(rank)?
                } else {
                    axis
                };
                let (outer, inner) = shape.split_at_checked(usize::try_from(axis).ok()?)?;
                Some(vec![elements(outer)?, elements(inner)?])
            }
            "Squeeze" => {
                let axes = if self.has(1) || self.ints("axes").is_some() {
                    self.axes(1, shape.len())?
                } else {
                    let is_one = |&d: &usize| shape.get(d).is_some_and(Size::is_one);
                    (0..shape.len()).filter(is_one).collect()
                };
                let kept = shape
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| !axes.contains(index));
                Some(kept.map(|(_, size)| size.clone()).collect())
            }
            "Unsqueeze" => {
                let named = self.numbers(1, "axes")?;
                let rank = shape.len().checked_add(named.len())?;
                let axes = self.axes(1, rank)?;
                let mut own = shape.iter();
                let sizes = (0..rank).map(|index| {
                    if axes.contains(&index) {
                        Some(Size::from(1))
                    } else {
                        own.next().cloned()
                    }
                });
                sizes.collect()
            }
            _ => None,
        }
    }

    fn reshape(&self, shape: &[Size]) -> Option<Sizes> {
        let wanted = match self.sizes(1) {
            Some(sizes) => sizes,
            None => self
                .ints("shape")?
                .iter()
                .map(|&size| Size::from(size))
                .collect(),
        };
        let keeps_zeros = self.int("allowzero") == Some(1);
        let sizes = wanted.into_iter().enumerate();
        let sizes = sizes.map(|(index, size)| match size.as_int() {
            Some(0) if !keeps_zeros => shape.get(index).cloned(),
            _ => Some(size),
        });
        let sizes: Sizes = sizes.collect::<Option<_>>()?;
        let is_open = |size: &Size| size.as_int() == Some(-1);
        let known: Sizes = sizes
            .iter()
            .filter(|size| !is_open(size))
            .cloned()
            .collect();
        if known.len() == sizes.len() {
            return Some(sizes);
        }
        let (all, known) = (elements(shape)?, elements(&known)?);
        let open = all.div_exact(&known).or_else(|| {
            // The quotient is no size over the params, so it is the number at their defaults.
            let (all, known) = (self.default_of(&all)?, self.default_of(&known)?);
            (all.checked_rem(known)? == 0).then(|| Size::from(all / known).sampled())
        })?;
        let filled = sizes
            .into_iter()
            .map(|size| if is_open(&size) { open.clone() } else { size });
        Some(filled.collect())
    }
}
