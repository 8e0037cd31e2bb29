//! Matrix products and convolutions. Sums are taken in the order of K, each step a multiply-add
//! with one rounding.

use super::arithmetic::Arithmetic;
use super::array::{Array, count, offset, walk};
use super::elementwise::dequantized;
use super::task::{Task, unfit};
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::operand_parts::{Sides, packed_parts};
use std::borrow::Cow;
use std::ops::Range;
use std::slice::from_ref;

/// Matrices of a shape `[batch.., rows, columns]`.
struct Matrices<'a> {
    batch: Vec<usize>,
    rows: usize,
    columns: usize,
    values: Cow<'a, [f64]>,
}

impl<'a> Matrices<'a> {
    fn of(array: &'a Array<'_>) -> Option<Self> {
        let (batch, rows, columns) = array.matrices()?;
        Some(Self {
            batch: batch.to_vec(),
            rows,
            columns,
            values: Cow::Borrowed(&array.values),
        })
    }

    fn transposed_if(self, is_transposed: bool) -> Self {
        if !is_transposed {
            return self;
        }
        let (rows, columns) = (self.columns, self.rows);
        let mut values = Vec::with_capacity(self.values.len());
        for matrix in self.values.chunks(self.rows.max(1) * self.columns.max(1)) {
            for row in 0..rows {
                values.extend((0..columns).filter_map(|column| matrix.get(column * rows + row)));
            }
        }
        Self {
            rows,
            columns,
            values: Cow::Owned(values),
            ..self
        }
    }

    /// Some columns of each matrix.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "columns of an operand that is in memory"
    )]
    fn columns(self, range: &Range<u64>) -> Self {
        let (start, end) = (range.start as usize, range.end as usize);
        if end - start == self.columns {
            return self;
        }
        let rows = self.values.chunks(self.columns.max(1));
        let values = rows.flat_map(|row| row.get(start..end).unwrap_or_default());
        Self {
            values: Cow::Owned(values.copied().collect()),
            columns: end - start,
            ..self
        }
    }

    fn sides(&self) -> Sides {
        Sides {
            rows: self.rows as u64,
            columns: self.columns as u64,
        }
    }

    /// The matrix for a batch index of the output.
    fn matrix(&self, batch: &[usize]) -> &[f64] {
        let added = batch.len().saturating_sub(self.batch.len());
        let own = batch.iter().skip(added).zip(&self.batch);
        let index: Vec<usize> = own
            .map(|(&i, &size)| if size == 1 { 0 } else { i })
            .collect();
        let size = self.rows * self.columns;
        let start = offset(&self.batch, &index) * size;
        self.values.get(start..start + size).unwrap_or_default()
    }

    fn fits_batch(&self, batch: &[usize]) -> bool {
        self.batch.len() <= batch.len()
            && (self.batch.iter().rev().zip(batch.iter().rev()))
                .all(|(&own, &size)| own == size || own == 1)
    }
}

/// The value of a matmul, a linear layer or a convolution.
pub(super) fn product(task: &Task<'_>, inputs: &[Array<'_>]) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || unfit(task, inputs);
    match (task.function, inputs) {
        (Function::Matmul, [_, ..]) if task.call.has(AttributeName::K) => packed(task, inputs),
        (Function::ScaledMatmul, [a, b, scale_a, scale_b, bias @ ..]) => {
            // The scales have the layout of the operands as they are stored.
            let widened = |operand: &Array<'_>, scale: &Array<'_>| {
                Ok::<_, EvaluationError>(Array {
                    shape: Cow::Owned(operand.shape.to_vec()),
                    values: Cow::Owned(dequantized(task, operand, from_ref(scale))?),
                })
            };
            let operands = [widened(a, scale_a)?, widened(b, scale_b)?];
            let product = Task {
                function: Function::Matmul,
                ..*task
            };
            let mut values = self::product(&product, &operands)?;
            let columns = task.shape.last().copied().ok_or_else(refuse)?;
            add_bias(task, &mut values, bias, columns, 1).ok_or_else(refuse)?;
            Ok(values)
        }
        (Function::Matmul, [a, b]) => {
            let a = Matrices::of(a).ok_or_else(refuse)?;
            let b = Matrices::of(b).ok_or_else(refuse)?;
            let a = a.transposed_if(task.call.is_set(AttributeName::TransposeA));
            let b = b.transposed_if(task.call.is_set(AttributeName::TransposeB));
            multiplied(task, &a, &b).ok_or_else(refuse)
        }
        (Function::Linear, [x, weight, bias @ ..]) => {
            let columns = x.shape.last().copied().ok_or_else(refuse)?;
            let rows = x.values.len() / columns.max(1);
            let x = Matrices {
                batch: Vec::new(),
                rows,
                columns,
                values: Cow::Borrowed(&x.values),
            };
            let weight = Matrices::of(weight).ok_or_else(refuse)?.transposed_if(true);
            let features = weight.columns;
            if !weight.batch.is_empty() || rows * features != task.elements() {
                return Err(refuse());
            }
            let shape = [rows, features];
            let flat = Task {
                shape: &shape,
                ..*task
            };
            let mut values = multiplied(&flat, &x, &weight).ok_or_else(refuse)?;
            add_bias(task, &mut values, bias, features, 1).ok_or_else(refuse)?;
            Ok(values)
        }
        (Function::Conv1d, [x, weight, bias @ ..]) => {
            // A sequence is an image one pixel high.
            let [x, weight] = [x, weight].map(flat_image);
            let (Some(x), Some(weight), &[batch, features, length]) = (x, weight, task.shape)
            else {
                return Err(refuse());
            };
            let image = Task {
                shape: &[batch, features, 1, length],
                ..*task
            };
            let mut values = convolved(&image, &x, &weight).ok_or_else(refuse)?;
            add_bias(task, &mut values, bias, features, length).ok_or_else(refuse)?;
            Ok(values)
        }
        (Function::Conv2d, [x, weight, bias @ ..]) => {
            let mut values = convolved(task, x, weight).ok_or_else(refuse)?;
            let (features, inner) = match *task.shape {
                [_, features, height, width] => (features, height * width),
                _ => return Err(refuse()),
            };
            add_bias(task, &mut values, bias, features, inner).ok_or_else(refuse)?;
            Ok(values)
        }
        _ => Err(refuse()),
    }
}

/// Adds the bias of each feature, which changes every `inner` elements; `None` if the bias does not
/// fit.
fn add_bias(
    task: &Task<'_>,
    values: &mut [f64],
    bias: &[Array<'_>],
    features: usize,
    inner: usize,
) -> Option<()> {
    let Some(bias) = bias.first() else {
        return Some(());
    };
    if bias.values.len() != features {
        return None;
    }
    for (place, value) in values.iter_mut().enumerate() {
        *value = task
            .arithmetic
            .round(*value + bias.values.get(place / inner % features)?);
    }
    Some(())
}

fn multiplied(task: &Task<'_>, a: &Matrices<'_>, b: &Matrices<'_>) -> Option<Vec<f64>> {
    let &[ref batch @ .., rows, columns] = task.shape else {
        return None;
    };
    let fits = a.columns == b.rows && a.rows == rows && b.columns == columns;
    if !fits || !a.fits_batch(batch) || !b.fits_batch(batch) {
        return None;
    }
    let mut values = Vec::with_capacity(task.elements());
    walk(batch, |index| {
        let (left, right) = (a.matrix(index), b.matrix(index));
        for row in left.chunks(a.columns.max(1)) {
            let start = values.len();
            values.resize(start + columns, 0.0);
            let sums = &mut values[start..];
            for (&factor, right_row) in row.iter().zip(right.chunks(columns.max(1))) {
                match task.arithmetic {
                    // Separate loops, without a branch inside, so that each is vectorized.
                    Arithmetic::Double => add_row(sums, factor, right_row, |sum| sum),
                    Arithmetic::Single => {
                        add_row(sums, factor, right_row, |sum| Arithmetic::Single.round(sum));
                    }
                }
            }
        }
        0.0
    });
    (values.len() == task.elements()).then_some(values)
}

fn add_row(sums: &mut [f64], factor: f64, row: &[f64], round: impl Fn(f64) -> f64) {
    for (sum, value) in sums.iter_mut().zip(row) {
        *sum = round(*sum + factor * value);
    }
}

/// A matmul that states its K, so that its operands may hold more than it reads.
fn packed(task: &Task<'_>, inputs: &[Array<'_>]) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || EvaluationError::PartOfOperand(Box::new(unfit(task, inputs)));
    let (&[.., rows, columns], [left, rest @ ..]) = (task.shape, inputs) else {
        return Err(refuse());
    };
    let k = task.op.k.ok_or(EvaluationError::UnknownK)?;
    let (right, is_same) = match rest {
        [] => (left, true),
        [right] => (right, task.reads_one_tensor),
        _ => return Err(refuse()),
    };
    let left = Matrices::of(left).ok_or_else(refuse)?;
    let right = Matrices::of(right).ok_or_else(refuse)?;
    let left = left.transposed_if(task.call.is_set(AttributeName::TransposeA));
    let right = right.transposed_if(task.call.is_set(AttributeName::TransposeB));
    let output = Sides {
        rows: rows as u64,
        columns: columns as u64,
    };
    let parts = packed_parts(output, k, left.sides(), right.sides(), is_same);
    let parts = parts.ok_or_else(refuse)?;
    let left = left.columns(&parts.left);
    let right = right.columns(&parts.right);
    multiplied(task, &left, &right.transposed_if(parts.is_right_transposed)).ok_or_else(refuse)
}

fn flat_image<'a>(sequence: &'a Array<'_>) -> Option<Array<'a>> {
    let &[outer, channels, length] = &*sequence.shape else {
        return None;
    };
    Some(Array {
        shape: vec![outer, channels, 1, length].into(),
        values: Cow::Borrowed(&sequence.values),
    })
}

fn convolved(task: &Task<'_>, x: &Array<'_>, weight: &Array<'_>) -> Option<Vec<f64>> {
    let (&[_, channels, height, width], &[features, group_channels, high, wide]) =
        (&*x.shape, &*weight.shape)
    else {
        return None;
    };
    // A sequence is an image one pixel high, so its stride, padding and dilation apply to the width
    // only.
    let is_flat = task.function == Function::Conv1d;
    let pair = |name: AttributeName| {
        let pair = task.call.pair(name)?;
        let default = usize::try_from(name.default_size()).ok()?;
        Some(if is_flat { [default, pair[1]] } else { pair })
    };
    let stride = pair(AttributeName::Stride)?;
    let padding = pair(AttributeName::Padding)?;
    let dilation = pair(AttributeName::Dilation)?;
    let groups = usize::try_from(task.call.size(AttributeName::Groups)?).ok()?;
    let group_features = features.checked_div(groups).filter(|&count| count > 0)?;
    if groups * group_channels != channels || task.shape.get(1) != Some(&features) {
        return None;
    }
    let inside = |start: usize, padding: usize, size: usize| {
        start.checked_sub(padding).filter(|&place| place < size)
    };
    let image_size = count(&[height, width]);
    Some(walk(task.shape, |index| {
        let &[image, feature, row, column] = index else {
            return f64::NAN;
        };
        let mut sum = 0.0;
        for channel in 0..group_channels {
            let source = image * channels + feature / group_features * group_channels + channel;
            for down in 0..high {
                let y = row * stride[0] + down * dilation[0];
                let Some(y) = inside(y, padding[0], height) else {
                    continue;
                };
                for right in 0..wide {
                    let place = column * stride[1] + right * dilation[1];
                    if let Some(place) = inside(place, padding[1], width) {
                        let value = x.values.get(source * image_size + y * width + place);
                        let factor = weight.at(&[feature, channel, down, right]);
                        sum = task
                            .arithmetic
                            .round(sum + value.unwrap_or(&f64::NAN) * factor);
                    }
                }
            }
        }
        sum
    }))
}
