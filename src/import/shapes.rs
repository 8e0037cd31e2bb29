//! Shapes of ops with sizes that depend on params.
//!
//! Functions that move or keep dimensions are followed here. For any other function (a window over
//! an image), the notation's own rules give the shape at two settings of the params, and a size
//! that equals one of the inputs' at both is that size.

use crate::params::Params;
use crate::size::{Size, size_of};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::{AttributeName, Function, ShapeRule};
use fuseline_core::model::program::{Attribute, AttributeValue, Expr, ExprKind, OpStatement};
use fuseline_core::resolve::infer_call;

/// Sizes, outermost first.
pub(crate) type Sizes = Vec<Size>;

/// The shape of a statement's output; `None` where it does not follow.
pub(crate) fn infer(
    function: Option<Function>,
    statement: &OpStatement,
    inputs: &[&[Size]],
    params: &Params,
) -> Option<Sizes> {
    let call = Call { statement, params };
    if let Some(annotation) = &statement.annotation {
        return annotation
            .dims
            .iter()
            .map(|dim| call.size_of(dim))
            .collect();
    }
    let function = function?;
    let first = *inputs.first()?;
    Some(match function.row().shape_rule {
        ShapeRule::SameAsFirst
        | ShapeRule::PerChannel
        | ShapeRule::Scatter
        | ShapeRule::IndexAlong
        | ShapeRule::IndexPut
        | ShapeRule::SliceScatter => first.to_vec(),
        ShapeRule::Broadcast => {
            let mut shapes = inputs.iter();
            let start = shapes.next()?.to_vec();
            shapes.fold(start, |shape, other| broadcast(&shape, other))
        }
        ShapeRule::Reduce => reduce(&call, first)?,
        ShapeRule::Matmul => matmul(&call, first, inputs.get(1)?)?,
        ShapeRule::Linear => {
            let (_, rows) = first.split_last()?;
            [rows, &[inputs.get(1)?.first()?.clone()]].concat()
        }
        ShapeRule::Reshape => reshape(&call, first)?,
        ShapeRule::Transpose => {
            let perm = call.sizes(AttributeName::Perm)?;
            let order = perm.iter().map(|old| dimension(old.as_int()?, first.len()));
            let order: Vec<usize> = order.collect::<Option<_>>()?;
            if !is_permutation(&order, first.len()) {
                return None;
            }
            order
                .iter()
                .filter_map(|&old| first.get(old).cloned())
                .collect()
        }
        ShapeRule::Split => {
            let axis = call.axis(first)?;
            let part = first
                .get(axis)?
                .div_exact(&call.size(AttributeName::Parts)?)?;
            with_size(first, axis, part)
        }
        ShapeRule::Concat => {
            let axis = call.axis(first)?;
            let mut sizes = inputs.iter().map(|shape| shape.get(axis));
            let total = sizes.try_fold(Size::from(0), |sum, size| sum.add(size?))?;
            with_size(first, axis, total)
        }
        ShapeRule::Slice => slice(&call, first)?,
        ShapeRule::Expand => expand(&call, first)?,
        ShapeRule::Repeat => repeat(&call, first)?,
        ShapeRule::Embedding => [first, inputs.get(1)?.get(1..)?].concat(),
        ShapeRule::Gather => inputs.get(1)?.to_vec(),
        ShapeRule::Pad => pad(&call, first)?,
        ShapeRule::Stated => return None,
        _ => by_samples(function, &call, inputs)?,
    })
}

struct Call<'a> {
    statement: &'a OpStatement,
    params: &'a Params,
}

impl Call<'_> {
    fn size_of(&self, expr: &Expr) -> Option<Size> {
        size_of(expr, &mut |name| self.params.size_of(name))
    }

    fn value(&self, name: AttributeName) -> Option<&AttributeValue> {
        let mut attributes = self.statement.attributes.iter();
        let attribute = attributes.find(|attribute| attribute.is(name))?;
        Some(&attribute.value)
    }

    /// The sizes of an attribute, one or a list.
    fn sizes(&self, name: AttributeName) -> Option<Sizes> {
        match self.value(name)? {
            AttributeValue::Size(expr) => Some(vec![self.size_of(expr)?]),
            AttributeValue::Sizes(list) => list.iter().map(|expr| self.size_of(expr)).collect(),
            AttributeValue::Number(_) | AttributeValue::Word(_) => None,
        }
    }

    fn size(&self, name: AttributeName) -> Option<Size> {
        self.sizes(name)?.into_iter().next()
    }

    fn flag(&self, name: AttributeName) -> bool {
        match self.value(name) {
            Some(AttributeValue::Word(word)) => word == "true",
            _ => name.is_set_by_default(),
        }
    }

    /// A size, stated or by default.
    fn size_or_default(&self, name: AttributeName) -> Size {
        let default = || Size::from(name.default_size());
        self.size(name).unwrap_or_else(default)
    }

    /// The dimension that `axis` names.
    fn axis(&self, shape: &[Size]) -> Option<usize> {
        let axis = self.size_or_default(AttributeName::Axis);
        dimension(axis.as_int()?, shape.len())
    }
}

/// The dimension that a number stands for in a tensor of this rank; negative ones count from the
/// end.
pub(crate) fn dimension(value: i64, rank: usize) -> Option<usize> {
    let index = if value < 0 {
        rank.checked_sub(usize::try_from(value.unsigned_abs()).ok()?)
    } else {
        usize::try_from(value).ok()
    };
    index.filter(|&index| index < rank)
}

/// Whether these are all dimensions of a tensor of this rank, each once.
pub(crate) fn is_permutation(order: &[usize], rank: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rank)
}

pub(crate) fn with_size(shape: &[Size], dimension: usize, size: Size) -> Sizes {
    let mut shape = shape.to_vec();
    if let Some(own) = shape.get_mut(dimension) {
        *own = size;
    }
    shape
}

/// Two shapes aligned at their last dimension. Of two sizes that differ and are not 1 the first
/// counts; the notation refuses them.
pub(crate) fn broadcast(a: &[Size], b: &[Size]) -> Sizes {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut shape = long.to_vec();
    for (size, other) in shape.iter_mut().rev().zip(short.iter().rev()) {
        if size.is_one() {
            *size = other.clone();
        }
    }
    shape
}

/// Number of elements.
pub(crate) fn elements(shape: &[Size]) -> Option<Size> {
    let mut sizes = shape.iter();
    sizes.try_fold(Size::from(1), |product, size| product.mul(size))
}

fn reduce(call: &Call<'_>, input: &[Size]) -> Option<Sizes> {
    let axes: Vec<usize> = match call.sizes(AttributeName::Axis) {
        None => input.len().checked_sub(1).into_iter().collect(),
        Some(axes) => (axes.iter())
            .map(|axis| dimension(axis.as_int()?, input.len()))
            .collect::<Option<_>>()?,
    };
    let keeps = call.flag(AttributeName::Keepdim);
    let sizes = input.iter().enumerate();
    let reduced = sizes.filter_map(|(index, size)| match (axes.contains(&index), keeps) {
        (false, _) => Some(size.clone()),
        (true, keeps) => keeps.then(|| Size::from(1)),
    });
    Some(reduced.collect())
}

fn matmul(call: &Call<'_>, a: &[Size], b: &[Size]) -> Option<Sizes> {
    let matrix = |shape: &[Size], is_transposed: bool| match shape {
        [batch @ .., p, q] if is_transposed => Some((batch.to_vec(), q.clone(), p.clone())),
        [batch @ .., p, q] => Some((batch.to_vec(), p.clone(), q.clone())),
        _ => None,
    };
    let (a_batch, rows, _) = matrix(a, call.flag(AttributeName::TransposeA))?;
    let (b_batch, _, columns) = matrix(b, call.flag(AttributeName::TransposeB))?;
    let mut shape = broadcast(&a_batch, &b_batch);
    shape.extend([rows, columns]);
    Some(shape)
}

fn reshape(call: &Call<'_>, input: &[Size]) -> Option<Sizes> {
    let shape = call.sizes(AttributeName::Shape)?;
    let is_open = |size: &Size| size.as_int() == Some(-1);
    let known: Sizes = shape
        .iter()
        .filter(|size| !is_open(size))
        .cloned()
        .collect();
    let open = elements(input)?.div_exact(&elements(&known)?);
    // A number of the text that an input has as a sampled size is that size.
    let is_sampled = |size: &Size| input.iter().any(|own| own == size && own.is_sampled());
    shape
        .into_iter()
        .map(|size| match size {
            size if is_open(&size) => open.clone(),
            size if is_sampled(&size) => Some(size.sampled()),
            size => Some(size),
        })
        .collect()
}

fn slice(call: &Call<'_>, input: &[Size]) -> Option<Sizes> {
    let axis = call.axis(input)?;
    let size = input.get(axis)?;
    let index = |name: AttributeName, default: Size| match call.size(name) {
        None => Some(default),
        Some(value) if value.as_int().is_some_and(|value| value < 0) => size.add(&value),
        value => value,
    };
    let length = index(AttributeName::End, size.clone())?.sub(&index(
        AttributeName::Start,
        Size::from(AttributeName::Start.default_size()),
    )?)?;
    let step = call.size_or_default(AttributeName::Step).as_int()?;
    let length = match (step, length.as_int()) {
        (1, _) => length,
        (2.., Some(length)) => Size::from(length.checked_add(step - 1)? / step),
        _ => return None,
    };
    Some(with_size(input, axis, length))
}

fn expand(call: &Call<'_>, input: &[Size]) -> Option<Sizes> {
    let shape = call.sizes(AttributeName::Shape)?;
    let outer = shape.len().checked_sub(input.len())?;
    let sizes = shape.into_iter().enumerate();
    sizes
        .map(|(index, size)| match size.as_int() {
            Some(-1) => input.get(index.checked_sub(outer)?).cloned(),
            _ => Some(size),
        })
        .collect()
}

fn repeat(call: &Call<'_>, input: &[Size]) -> Option<Sizes> {
    let times = call.sizes(AttributeName::Times)?;
    let outer = times.len().checked_sub(input.len())?;
    let sizes = times.iter().enumerate();
    sizes
        .map(|(index, times)| match index.checked_sub(outer) {
            Some(own) => input.get(own)?.mul(times),
            None => Some(times.clone()),
        })
        .collect()
}

fn pad(call: &Call<'_>, input: &[Size]) -> Option<Sizes> {
    let mut shape = input.to_vec();
    let pads = call.sizes(AttributeName::Pad)?;
    for (size, border) in shape.iter_mut().rev().zip(pads.chunks(2)) {
        for added in border {
            *size = size.add(added)?;
        }
    }
    Some(shape)
}

/// The shape by the notation's rules, at the defaults of the params and at larger values. A size
/// that is the same in both is a number; one that equals a size of the inputs in both is that size;
/// any other is a number that holds at the defaults.
fn by_samples(function: Function, call: &Call<'_>, inputs: &[&[Size]]) -> Option<Sizes> {
    let Params { values, larger, .. } = call.params;
    let at_defaults = |size: &Size| size.value(values);
    let at_larger = |size: &Size| size.larger_value(larger);
    let shape = sample(function, call, inputs, &at_defaults)?;
    let other = sample(function, call, inputs, &at_larger);
    let other = other.filter(|other| other.len() == shape.len());
    let sizes = shape.iter().enumerate().map(|(index, &size)| {
        let other = other.as_ref().and_then(|other| other.get(index)).copied();
        let is_same = |known: &&Size| at_defaults(known) == Some(size) && at_larger(known) == other;
        if other == Some(size) {
            return Size::from(size);
        }
        // The dimension at the same index first: others may have the same values by chance.
        let own = inputs.first().and_then(|shape| shape.get(index));
        let mut others = inputs.iter().flat_map(|shape| shape.iter());
        let same = own.filter(is_same).or_else(|| others.find(is_same));
        same.cloned().unwrap_or(Size::from(size).sampled())
    });
    Some(sizes.collect())
}

fn sample(
    function: Function,
    call: &Call<'_>,
    inputs: &[&[Size]],
    value_of: &dyn Fn(&Size) -> Option<i64>,
) -> Option<Vec<i64>> {
    let shape_of = |shape: &&[Size]| {
        let sizes = shape.iter();
        sizes
            .map(|size| u64::try_from(value_of(size)?).ok())
            .collect::<Option<Vec<u64>>>()
    };
    let shapes: Vec<Vec<u64>> = inputs.iter().map(shape_of).collect::<Option<_>>()?;
    let types = shapes.iter().enumerate().map(|(index, shape)| {
        let dtype = function.input_dtype(index).unwrap_or(DType::F32);
        (shape.as_slice(), dtype)
    });
    let types: Vec<(&[u64], DType)> = types.collect();
    let number = |expr: &Expr| {
        Some(Expr {
            kind: ExprKind::Int(value_of(&call.size_of(expr)?)?),
            span: expr.span,
        })
    };
    let attribute = |attribute: &Attribute| {
        let value = match &attribute.value {
            AttributeValue::Size(expr) => AttributeValue::Size(number(expr)?),
            AttributeValue::Sizes(list) => {
                AttributeValue::Sizes(list.iter().map(number).collect::<Option<_>>()?)
            }
            other => other.clone(),
        };
        Some(Attribute {
            value,
            ..attribute.clone()
        })
    };
    let attributes = call.statement.attributes.iter().map(attribute);
    let attributes: Vec<Attribute> = attributes.collect::<Option<_>>()?;
    let (shape, _) = infer_call(function.row().shape_rule, &types, &attributes, &[])?;
    shape
        .into_iter()
        .map(|size| i64::try_from(size).ok())
        .collect()
}
