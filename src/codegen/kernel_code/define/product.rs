//! Matrix products, convolutions and attention, as sums over K.

use super::reduction::RowLoop;
use super::{Defined, Definition, Definitions, Operand};
use crate::calculator::{Binary, Calculator, Fold};
use crate::evaluation_error::EvaluationError;
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::expression::{Expr, ExprId};
use crate::kernel_code::index::IndexId;
use crate::rows::{Row, softmax};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::op::element_count;
use fuseline_core::model::operand_parts::{Sides, packed_parts};

/// Which element of an operand a step of a product reads.
#[derive(Clone, Copy)]
struct Side {
    operand: Operand,
    /// The scales of its blocks, in the layout of the operand as it is stored.
    scale: Option<Operand>,
    is_transposed: bool,
    /// The first column that is read, in an operand that holds several matrices side by side.
    first_column: u64,
}

impl Side {
    fn of(operand: Operand, is_transposed: bool) -> Self {
        Self {
            operand,
            scale: None,
            is_transposed,
            first_column: 0,
        }
    }
}

/// The element of an operand that a step of a product reads.
struct Factor {
    value: ExprId,
    /// What scales it.
    scale: Option<ExprId>,
    /// Whether all elements along K have one scale, which the sum can take.
    scales_sum: bool,
}

impl Definitions<'_> {
    pub(super) fn product(&mut self, definition: &Definition<'_>) -> Defined {
        let operands = self.operands(definition);
        let call = definition.call;
        match (definition.function, &operands[..]) {
            (Function::Matmul, operands) if call.has(AttributeName::K) => {
                self.packed(definition, operands)
            }
            (Function::Matmul | Function::ScaledMatmul, &[a, b, ref scales @ ..]) => {
                let mut sides = [
                    Side::of(a, call.is_set(AttributeName::TransposeA)),
                    Side::of(b, call.is_set(AttributeName::TransposeB)),
                ];
                for (side, &scale) in sides.iter_mut().zip(scales) {
                    side.scale = Some(scale);
                }
                let shape = self.shape_of_operand(a)?;
                let ((&[.., k], false) | (&[.., k, _], true)) =
                    (&shape[..], sides[0].is_transposed)
                else {
                    return Err(definition.unfit());
                };
                let sum = self.multiplied(definition, sides, k)?;
                let &column = (definition.at.last()).ok_or_else(|| definition.unfit())?;
                self.biased(definition, sum, scales.get(2..).unwrap_or_default(), column)
            }
            (Function::Linear, [x, weight, bias @ ..]) => {
                let shape = self.shape_of_operand(*x)?;
                let &k = shape.last().ok_or_else(|| definition.unfit())?;
                let variable = self.loop_over(definition, 0, k);
                let along = self.expressions.place(variable);
                let (&feature, rows) =
                    (definition.at.split_last()).ok_or_else(|| definition.unfit())?;
                let row = self.expressions.ravel(&definition.op.shape, rows);
                let outer = shape.get(..shape.len() - 1).unwrap_or_default();
                let mut at = self.expressions.unravel(outer, row);
                at.push(along);
                let x = self.element(definition, *x, &at)?;
                let weight = self.element(definition, *weight, &[feature, along])?;
                let product = self.binary(Binary::Multiply, x, weight);
                let sum = self.sum(variable, product);
                self.biased(definition, sum, bias, feature)
            }
            (Function::Conv1d | Function::Conv2d, [x, weight, bias @ ..]) => {
                let sum = self.convolved(definition, *x, *weight)?;
                let &feature = definition.at.get(1).ok_or_else(|| definition.unfit())?;
                self.biased(definition, sum, bias, feature)
            }
            _ => Err(definition.unfit()),
        }
    }

    fn biased(
        &mut self,
        definition: &Definition<'_>,
        sum: ExprId,
        bias: &[Operand],
        feature: IndexId,
    ) -> Defined {
        let Some(&bias) = bias.first() else {
            return Ok(sum);
        };
        let bias = self.of_channel(definition, bias, feature)?;
        Ok(self.binary(Binary::Add, sum, bias))
    }

    fn multiplied(
        &mut self,
        definition: &Definition<'_>,
        [a, b]: [Side; 2],
        columns: u64,
    ) -> Defined {
        let &[ref batch @ .., row, column] = definition.at else {
            return Err(definition.unfit());
        };
        let variable = self.loop_over(definition, 0, columns);
        let along = self.expressions.place(variable);
        let factors = [
            self.of_matrix(definition, a, batch, [row, along], 1)?,
            self.of_matrix(definition, b, batch, [along, column], 0)?,
        ];
        let [a, b] = factors.each_ref().map(|factor| match factor.scale {
            Some(scale) if !factor.scales_sum => self.binary(Binary::Multiply, factor.value, scale),
            _ => factor.value,
        });
        let product = self.binary(Binary::Multiply, a, b);
        let mut sum = self.sum(variable, product);
        for factor in factors.iter().filter(|factor| factor.scales_sum) {
            if let Some(scale) = factor.scale {
                sum = self.binary(Binary::Multiply, sum, scale);
            }
        }
        Ok(sum)
    }

    /// The element of the matrix for a batch index of the output, where `along` of row and column
    /// is K.
    fn of_matrix(
        &mut self,
        definition: &Definition<'_>,
        side: Side,
        batch: &[IndexId],
        mut place: [IndexId; 2],
        mut along: usize,
    ) -> Result<Factor, CodegenError> {
        let shape = self.shape_of_operand(side.operand)?;
        let &[ref own @ .., _, _] = &shape[..] else {
            return Err(definition.unfit());
        };
        let added = (batch.len().checked_sub(own.len())).ok_or_else(|| definition.unfit())?;
        let mut at = Vec::with_capacity(shape.len());
        for (&size, &index) in own.iter().zip(&batch[added..]) {
            at.push(if size == 1 {
                self.expressions.constant(0)
            } else {
                index
            });
        }
        if side.is_transposed {
            place.reverse();
            along = 1 - along;
        }
        let [row, column] = place;
        #[allow(clippy::cast_possible_wrap, reason = "sizes of tensors are below 2^63")]
        let column = self.expressions.shifted(column, side.first_column as i64);
        at.extend([row, column]);
        let value = self.element(definition, side.operand, &at)?;
        let mut factor = Factor {
            value,
            scale: None,
            scales_sum: false,
        };
        if let Some(scale) = side.scale {
            factor.scale = Some(self.of_block(definition, scale, &shape, &at)?);
            let own = self.shape_of_operand(scale)?;
            // Sizes are aligned at the last one.
            factor.scales_sum = own
                .iter()
                .rev()
                .nth(1 - along)
                .is_none_or(|&size| size == 1);
        }
        Ok(factor)
    }

    /// A matmul that states its K, so that its operands may hold more than it reads.
    fn packed(&mut self, definition: &Definition<'_>, operands: &[Operand]) -> Defined {
        let refuse = || CodegenError::PartOfOperand(Box::new(definition.unfit()));
        let k = definition.op.k.ok_or(EvaluationError::UnknownK)?;
        let (left, right, is_same) = match *operands {
            [one] => (one, one, true),
            [left, right] => {
                let is_same =
                    matches!((left, right), (Operand::Tensor(a), Operand::Tensor(b)) if a == b);
                (left, right, is_same)
            }
            _ => return Err(refuse()),
        };
        let flags = [AttributeName::TransposeA, AttributeName::TransposeB]
            .map(|flag| definition.call.is_set(flag));
        if flags != [false, false] {
            return Err(CodegenError::TransposedPart);
        }
        let mut sides = Vec::with_capacity(2);
        for operand in [left, right] {
            match self.shape_of_operand(operand)?[..] {
                [.., rows, columns] => sides.push(Sides { rows, columns }),
                _ => return Err(refuse()),
            }
        }
        let &[.., rows, columns] = &definition.op.shape[..] else {
            return Err(refuse());
        };
        let parts = packed_parts(Sides { rows, columns }, k, sides[0], sides[1], is_same);
        let parts = parts.ok_or_else(refuse)?;
        let of = |operand, is_transposed, first_column| Side {
            first_column,
            ..Side::of(operand, is_transposed)
        };
        let sides = [
            of(left, false, parts.left.start),
            of(right, parts.is_right_transposed, parts.right.start),
        ];
        self.multiplied(definition, sides, k)
    }

    fn convolved(&mut self, definition: &Definition<'_>, x: Operand, weight: Operand) -> Defined {
        let refuse = || definition.unfit();
        let (shape, of_weight) = (self.shape_of_operand(x)?, self.shape_of_operand(weight)?);
        let is_flat = definition.function == Function::Conv1d;
        let (&[_, channels, ref image @ ..], &[features, group_channels, ref window @ ..]) =
            (&shape[..], &of_weight[..])
        else {
            return Err(refuse());
        };
        let &[batch, feature, ref places @ ..] = definition.at else {
            return Err(refuse());
        };
        if image.len() != window.len() || places.len() != window.len() {
            return Err(refuse());
        }
        let pair = |name: AttributeName| {
            let pair = definition.call.pair(name).ok_or_else(refuse)?;
            // A sequence is an image one pixel high, so its stride, padding and dilation apply to
            // the width only.
            let sizes = if is_flat {
                vec![pair[1]]
            } else {
                pair.to_vec()
            };
            Ok::<_, CodegenError>(
                sizes
                    .into_iter()
                    .map(|size| size as u64)
                    .collect::<Vec<_>>(),
            )
        };
        let (stride, padding, dilation) = (
            pair(AttributeName::Stride)?,
            pair(AttributeName::Padding)?,
            pair(AttributeName::Dilation)?,
        );
        let groups = u64::try_from(definition.call.required_size(AttributeName::Groups)?).ok();
        let groups = groups.filter(|&groups| groups > 0).ok_or_else(refuse)?;
        let group_features = features / groups;
        if groups.checked_mul(group_channels) != Some(channels) || group_features == 0 {
            return Err(refuse());
        }
        let sizes = [&[group_channels], window].concat();
        let variable = self.loop_over(definition, 0, Self::count(definition, &sizes)?);
        let along = self.expressions.place(variable);
        let within = self.expressions.unravel(&sizes, along);
        let group = self.expressions.quotient(feature, group_features);
        let first = self.expressions.times(group, group_channels);
        let channel = self.expressions.plus(first, within[0], 1);
        let mut at = vec![batch, channel];
        let mut condition = None;
        for (axis, &start) in places.iter().enumerate() {
            let place = self.in_window(
                start,
                stride[axis],
                within[axis + 1],
                dilation[axis],
                padding[axis],
            );
            if let Some(inside) = self.expressions.inside(place, image[axis]) {
                condition = Some(self.expressions.both(condition, inside));
            }
            at.push(place);
        }
        let mut value = self.element_if(definition, x, &at, condition)?;
        if let Some(condition) = condition {
            let zero = self.number(0.0);
            value = self.expressions.select(condition, value, zero);
        }
        let weight_at = [&[feature], &within[..]].concat();
        let weight = self.element(definition, weight, &weight_at)?;
        let product = self.binary(Binary::Multiply, value, weight);
        Ok(self.sum(variable, product))
    }

    /// `softmax(q k^T * scale + mask) v`; a row whose keys are all masked is 0, as in PyTorch.
    pub(super) fn attention(&mut self, definition: &Definition<'_>) -> Defined {
        let operands = self.operands(definition);
        let (&[q, k, v, ref mask @ ..], &[ref batch @ .., query, column]) =
            (&operands[..], definition.at)
        else {
            return Err(definition.unfit());
        };
        let mut shapes = Vec::with_capacity(3);
        for operand in [q, k, v] {
            shapes.push(self.shape_of_operand(operand)?);
        }
        let (&[ref heads @ .., _, size], &[ref key_heads @ .., keys, _]) =
            (&shapes[0][..], &shapes[1][..])
        else {
            return Err(definition.unfit());
        };
        // Grouped-query attention: several heads of q share one head of k and v.
        let head = self.expressions.ravel(heads, batch);
        let shared = element_count(key_heads).zip(element_count(heads));
        let group = shared
            .and_then(|(own, all)| all.checked_div(own))
            .ok_or_else(|| definition.unfit())?;
        let shared = self.expressions.quotient(head, group);
        let shared = self.expressions.unravel(key_heads, shared);
        let [over_keys, over_size] =
            [(0, keys), (1, size)].map(|(which, extent)| self.loop_over(definition, which, extent));
        let [key, step] = [over_keys, over_size].map(|variable| self.expressions.place(variable));
        let left = self.element(definition, q, &[batch, &[query, step]].concat())?;
        let right = self.element(definition, k, &[&shared[..], &[key, step]].concat())?;
        let product = self.binary(Binary::Multiply, left, right);
        let product = self.sum(over_size, product);
        let scale = definition.call.number(AttributeName::Scale);
        let scale = scale.unwrap_or_else(|| 1.0 / (size as f64).sqrt());
        let mut score = self.with(Binary::Multiply, product, scale);
        let hidden = self.number(f64::NEG_INFINITY);
        if let Some(&mask) = mask.first() {
            let of_scores = [heads, &[definition.op.shape[definition.at.len() - 2], keys]].concat();
            let at = [batch, &[query, key]].concat();
            let given = self.broadcast(definition, mask, &of_scores, &at)?;
            let chooses = match mask {
                Operand::Tensor(tensor) => self.type_of(tensor)?.1 == DType::Bool,
                Operand::Literal(_) => false,
            };
            score = if chooses {
                self.expressions.select(given, score, hidden)
            } else {
                self.binary(Binary::Add, score, given)
            };
        }
        if definition.call.is_set(AttributeName::Causal) {
            let is_later = self.expressions.expr(Expr::Below(query, key));
            score = self.expressions.select(is_later, hidden, score);
        }
        let scores = RowLoop {
            own: score,
            each: score,
            over: over_keys,
            width: keys,
        };
        let most = scores.folded(&mut self.expressions, Fold::Maximum);
        let weight = softmax(&mut self.expressions, &scores).each;
        let value = self.element(definition, v, &[&shared[..], &[key, column]].concat())?;
        let product = self.binary(Binary::Multiply, weight, value);
        let result = self.sum(over_keys, product);
        let looks_nowhere = self.binary(Binary::Equal, most, hidden);
        let zero = self.number(0.0);
        Ok(self.expressions.select(looks_nowhere, zero, result))
    }
}
