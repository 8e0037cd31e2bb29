//! Values of tensors with few elements, whole numbers as sizes over the params.

use crate::shapes::Sizes;
use crate::size::Size;

/// Most elements of a constant whose values the import follows.
pub(crate) const MAX_NUMBERS: usize = 512;

/// An element of a known value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    /// A whole number, or a truth value as 0 or 1.
    Int(Size),
    /// Any other number.
    Float(f64),
}

/// A tensor whose few elements are known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    pub(crate) shape: Vec<usize>,
    /// In row-major order.
    pub(crate) elements: Vec<Scalar>,
}

impl Constant {
    pub(crate) fn scalar(element: Scalar) -> Self {
        Self {
            shape: Vec::new(),
            elements: vec![element],
        }
    }

    /// A tensor without elements.
    pub(crate) fn empty(shape: &[Size]) -> Self {
        let sizes = shape.iter().map(|size| size.as_int().unwrap_or(1));
        Self {
            shape: sizes
                .map(|size| usize::try_from(size).unwrap_or(0))
                .collect(),
            elements: Vec::new(),
        }
    }

    pub(crate) fn list(elements: Vec<Scalar>) -> Option<Self> {
        (elements.len() <= MAX_NUMBERS).then(|| Self {
            shape: vec![elements.len()],
            elements,
        })
    }

    pub(crate) fn sizes_list(sizes: &[Size]) -> Option<Self> {
        Self::list(sizes.iter().cloned().map(Scalar::Int).collect())
    }

    /// The elements as sizes; `None` if one is no whole number.
    pub(crate) fn sizes(&self) -> Option<Sizes> {
        let size = |element: &Scalar| match element {
            Scalar::Int(size) => Some(size.clone()),
            Scalar::Float(_) => None,
        };
        self.elements.iter().map(size).collect()
    }

    /// Number of its elements and of the terms of their sizes, to which its memory is proportional.
    pub(crate) fn weight(&self) -> usize {
        let weight = |element: &Scalar| match element {
            Scalar::Int(size) => 1 + size.term_count(),
            Scalar::Float(_) => 1,
        };
        self.elements.iter().map(weight).sum()
    }

    /// The element of a constant that has exactly one.
    pub(crate) fn only(&self) -> Option<&Scalar> {
        match self.elements.as_slice() {
            [element] => Some(element),
            _ => None,
        }
    }

    pub(crate) fn with_shape(&self, shape: Vec<usize>) -> Option<Self> {
        let count = shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d))?;
        (count == self.elements.len()).then(|| Self {
            shape,
            elements: self.elements.clone(),
        })
    }
}

/// A float as the notation writes it.
pub(crate) fn float_text(number: f64) -> Option<String> {
    Some(if number.is_nan() {
        return None;
    } else if number.is_infinite() {
        if number > 0.0 { "inf" } else { "-inf" }.to_owned()
    } else if number != 0.0 && !(1e-4..1e7).contains(&number.abs()) {
        format!("{number:e}")
    } else {
        number.to_string()
    })
}
