//! Matrix products and convolutions.

use super::{Task, torch_dtype};
use crate::present::pytorch::ScriptError;
use fuseline_core::cost::work::matmul_k;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::operand_parts::{Sides, packed_parts};
use std::ops::Range;

impl Task<'_> {
    pub(super) fn product(&self) -> Result<String, ScriptError> {
        let name = self.function;
        match name {
            Function::Matmul => self.matmul(),
            Function::ScaledMatmul => self.scaled_matmul(),
            Function::Linear => Ok(format!("F.linear({})", self.factors()?)),
            Function::Conv1d | Function::Conv2d => {
                let pairs = [
                    AttributeName::Stride,
                    AttributeName::Padding,
                    AttributeName::Dilation,
                ];
                let pairs = pairs.into_iter();
                let pairs = pairs.filter_map(|name| {
                    let pair = self.call.pair(name)?;
                    let default = usize::try_from(name.default_size()).ok()?;
                    let [height, width] = pair;
                    let is_flat = self.function == Function::Conv1d;
                    let stated = if is_flat {
                        format!(", {name}={width}")
                    } else {
                        format!(", {name}=({height}, {width})")
                    };
                    (pair != [default; 2]).then_some(stated)
                });
                let groups = self
                    .call
                    .size(AttributeName::Groups)
                    .filter(|&groups| groups != AttributeName::Groups.default_size());
                let groups = groups.map_or(String::new(), |groups| format!(", groups={groups}"));
                Ok(format!(
                    "F.{name}({}{}{groups})",
                    self.factors()?,
                    pairs.collect::<String>()
                ))
            }
            _ => Err(self.refuse()),
        }
    }

    fn matmul(&self) -> Result<String, ScriptError> {
        let turned = |operand: String, attribute| {
            if self.call.is_set(attribute) {
                format!("{operand}.mT")
            } else {
                operand
            }
        };
        let last = self.operands.len().saturating_sub(1);
        if self.is_integer_product(last) {
            let left = turned(self.operand(0)?.to_owned(), AttributeName::TransposeA);
            let right = turned(self.operand(last)?.to_owned(), AttributeName::TransposeB);
            return Ok(format!("torch._int_mm({left}, {right})"));
        }
        let left = turned(self.factor(0)?, AttributeName::TransposeA);
        let right = turned(self.factor(last)?, AttributeName::TransposeB);
        if !self.call.has(AttributeName::K) {
            return Ok(self.times(&left, &right, last));
        }
        self.packed(left, right, last)
    }

    /// Whether `torch._int_mm` multiplies the operands on a GPU, which has no product of wider
    /// integers: two matrices of i8 with more than 16 rows and sides of multiples of 8.
    fn is_integer_product(&self, last: usize) -> bool {
        let is_of_i8 = |place: usize| self.dtype(place) == Some(DType::I8);
        let is_matrix = |place: usize| self.shape(place).is_some_and(|shape| shape.len() == 2);
        let places = [0, last];
        let is_wide = |size: u64| size.is_multiple_of(8);
        let k = matmul_k(self.graph, self.id);
        places
            .iter()
            .all(|&place| is_of_i8(place) && is_matrix(place))
            && self.op.element_type() == Some(DType::I32)
            && k.is_some_and(is_wide)
            && matches!(self.op.shape[..], [rows, columns] if rows > 16 && is_wide(columns))
    }

    /// `torch._scaled_mm`, whose second operand must lie in memory column by column.
    fn scaled_matmul(&self) -> Result<String, ScriptError> {
        let (Some(&[rows, columns]), true) =
            (self.op.shape.first_chunk::<2>(), self.op.shape.len() == 2)
        else {
            return Err(ScriptError::Scales);
        };
        let dtype_of = |place: usize| {
            let tensor = self.graph.inputs[self.id].get(place)?;
            self.graph.tensors[*tensor].dtype
        };
        let [turned_a, turned_b] = [AttributeName::TransposeA, AttributeName::TransposeB]
            .map(|attribute| self.call.is_set(attribute));
        let are_f8 = [0, 1].map(|place| dtype_of(place).is_some_and(DType::is_f8));
        let (Some(scale_a), Some(scale_b)) = (self.shape(2), self.shape(3)) else {
            return Err(self.refuse());
        };
        // Scales of rows and columns have the shapes of the product's sides.
        let of_rows = if turned_a { [1, rows] } else { [rows, 1] };
        let of_columns = if turned_b { [columns, 1] } else { [1, columns] };
        let are_of_sides = *scale_a == of_rows && *scale_b == of_columns;
        let are_scalars = self.has_scalar_scales();
        if are_f8 != [true; 2] || turned_a || !(are_of_sides || are_scalars) {
            return Err(ScriptError::Scales);
        }
        // An operand of f8 in its own type: the function does not widen it.
        let raw = |place: usize| {
            let tensor = self.graph.inputs[self.id].get(place);
            tensor.map(|&tensor| self.names.of_tensor(tensor).to_owned())
        };
        let (Some(a), Some(b), Some(own_a), Some(own_b)) = (raw(0), raw(1), raw(2), raw(3)) else {
            return Err(self.refuse());
        };
        let b = if turned_b {
            format!("{b}.mT")
        } else {
            format!("{b}.mT.contiguous().mT")
        };
        let scale = |mut name: String, place: usize, is_turned: bool| {
            if dtype_of(place) != Some(DType::F32) {
                name.push_str(".float()");
            }
            if are_scalars && self.shape(place).is_some_and(|shape| !shape.is_empty()) {
                name.push_str(".reshape(())");
            } else if !are_scalars && is_turned {
                name.push_str(".mT");
            }
            name
        };
        let dtype = self.scaled_dtype();
        let bias = raw(4).map_or_else(String::new, |name| {
            if dtype_of(4) == Some(dtype) {
                format!(", bias={name}")
            } else {
                format!(", bias={name}.to({})", torch_dtype(dtype))
            }
        });
        Ok(format!(
            "torch._scaled_mm({a}, {b}, scale_a={}, scale_b={}{bias}, out_dtype={})",
            scale(own_a, 2, false),
            scale(own_b, 3, turned_b),
            torch_dtype(dtype)
        ))
    }

    /// Whether each operand of a scaled product has one scale.
    fn has_scalar_scales(&self) -> bool {
        let is_one = |place: usize| {
            let shape = self.shape(place);
            shape.is_some_and(|shape| shape.iter().all(|&size| size == 1))
        };
        is_one(2) && is_one(3)
    }

    /// The type that `torch._scaled_mm` is asked for. With scales of rows and columns it gives bf16
    /// alone.
    pub(super) fn scaled_dtype(&self) -> DType {
        match self.op.element_type() {
            Some(dtype @ (DType::F16 | DType::F32)) if self.has_scalar_scales() => dtype,
            _ => DType::Bf16,
        }
    }

    /// A product of packed operands, which may hold more than the matmul reads.
    fn packed(&self, left: String, right: String, last: usize) -> Result<String, ScriptError> {
        let refuse = || self.refuse();
        let sides = |shape: &[u64], is_transposed: bool| match *shape {
            [.., rows, columns] if is_transposed => Some(Sides {
                rows: columns,
                columns: rows,
            }),
            [.., rows, columns] => Some(Sides { rows, columns }),
            _ => None,
        };
        let of = |place: usize, attribute| sides(self.shape(place)?, self.call.is_set(attribute));
        let k = self.op.k.ok_or_else(refuse)?;
        let output = sides(&self.op.shape, false).ok_or_else(refuse)?;
        let left_sides = of(0, AttributeName::TransposeA).ok_or_else(refuse)?;
        let right_sides = of(last, AttributeName::TransposeB).ok_or_else(refuse)?;
        let inputs = &self.graph.inputs[self.id];
        let is_same = last == 0 || inputs.first() == inputs.get(last);
        let parts = packed_parts(output, k, left_sides, right_sides, is_same);
        let parts = parts.ok_or_else(refuse)?;
        let columns = |operand: String, range: &Range<u64>, all: u64| {
            if range.end - range.start == all {
                operand
            } else {
                format!("{operand}[..., {}:{}]", range.start, range.end)
            }
        };
        let left = columns(left, &parts.left, left_sides.columns);
        let right = columns(right, &parts.right, right_sides.columns);
        let turned = if parts.is_right_transposed { ".mT" } else { "" };
        let right = format!("{right}{turned}");
        let (left_rank, right_rank) = (
            self.shape(0).map(<[u64]>::len),
            self.shape(last).map(<[u64]>::len),
        );
        if right_rank <= left_rank {
            return Ok(self.times(&left, &right, last));
        }
        self.grouped(&left, &right, k, last).ok_or_else(refuse)
    }

    /// A product of groups of rows, each with its own matrix, as in a mixture of experts.
    ///
    /// The program does not say where a group ends. Here all groups are equal, which costs as much.
    fn grouped(&self, left: &str, right: &str, k: u64, last: usize) -> Option<String> {
        let (&[_, _], &[groups, _, _], &[rows, columns]) =
            (self.shape(0)?, self.shape(last)?, &self.op.shape[..])
        else {
            return None;
        };
        let group_rows = rows.checked_div(groups)?;
        (group_rows * groups == rows).then(|| {
            format!(
                "torch.bmm({left}.reshape({groups}, {group_rows}, {k}), {right}).reshape({rows}, {columns})"
            )
        })
    }

    /// A product of two tensors.
    ///
    /// With one batch dimension it is `bmm`, by which torch.compile recognizes attention: `@` would
    /// insert `expand`s.
    fn times(&self, left: &str, right: &str, last: usize) -> String {
        match (self.shape(0), self.shape(last)) {
            (Some([a, _, _]), Some([b, _, _])) if a == b => format!("torch.bmm({left}, {right})"),
            _ => format!("{left} @ {right}"),
        }
    }

    fn factors(&self) -> Result<String, ScriptError> {
        let factors = (0..self.operands.len()).map(|place| self.factor(place));
        let factors: Vec<String> = factors.collect::<Result<_, _>>()?;
        Ok(factors.join(", "))
    }
}
