//! Matrix products and convolutions.

use super::Task;

impl Task<'_> {
    pub(super) fn product(&self) -> Result<String, String> {
        let name = self.function.name;
        match name {
            "matmul" => self.matmul(),
            "linear" => Ok(format!("F.linear({})", self.factors()?)),
            "conv2d" => {
                let pairs = [("stride", 1), ("padding", 0), ("dilation", 1)].into_iter();
                let pairs = pairs.filter_map(|(name, default)| {
                    let pair = self.call.pair(name, default)?;
                    let [height, width] = pair;
                    (pair != [default; 2]).then(|| format!(", {name}=({height}, {width})"))
                });
                let groups = self.call.size("groups").filter(|&groups| groups != 1);
                let groups = groups.map_or(String::new(), |groups| format!(", groups={groups}"));
                Ok(format!(
                    "F.conv2d({}{}{groups})",
                    self.factors()?,
                    pairs.collect::<String>()
                ))
            }
            _ => Err(self.refuse()),
        }
    }

    fn matmul(&self) -> Result<String, String> {
        let turned = |operand: String, attribute: &str| {
            if self.call.is_set(attribute) {
                format!("{operand}.mT")
            } else {
                operand
            }
        };
        let left = turned(self.factor(0)?, "transpose_a");
        let last = self.operands.len().saturating_sub(1);
        let right = turned(self.factor(last)?, "transpose_b");
        if !self.call.has("k") {
            return Ok(format!("{left} @ {right}"));
        }
        self.packed(left, right, last)
    }

    /// Operands that hold Q, K and V side by side: the pieces that the interpreter reads.
    fn packed(&self, left: String, right: String, last: usize) -> Result<String, String> {
        let refuse = || self.refuse();
        let k = self.op.k.filter(|&k| k > 0).ok_or_else(refuse)?;
        let &[.., rows, columns] = &self.op.shape[..] else {
            return Err(refuse());
        };
        let sides = |place: usize, attribute: &str| {
            let (first, second) = match self.shape(place)? {
                [.., rows, columns] => (*rows, *columns),
                _ => return None,
            };
            Some(if self.call.is_set(attribute) {
                (second, first)
            } else {
                (first, second)
            })
        };
        let (left_rows, left_columns) = sides(0, "transpose_a").ok_or_else(refuse)?;
        let (right_rows, right_columns) = sides(last, "transpose_b").ok_or_else(refuse)?;
        if left_rows != rows || left_columns % k != 0 {
            return Err(refuse());
        }
        let inputs = &self.graph.inputs[self.id];
        let is_same = last == 0 || inputs.first() == inputs.get(last);
        let columns_from = |operand: String, start: u64, count: u64, all: u64| {
            if count == all {
                operand
            } else {
                format!("{operand}[..., {start}:{}]", start + count)
            }
        };
        let by_columns = right_rows == columns && right_columns % k == 0;
        let by_rows = right_rows == k && right_columns % columns.max(1) == 0;
        let right = if by_columns && (is_same || !by_rows) {
            let piece = u64::from(is_same && right_columns > k);
            format!("{}.mT", columns_from(right, piece * k, k, right_columns))
        } else if by_rows {
            columns_from(right, right_columns - columns, columns, right_columns)
        } else {
            return Err(refuse());
        };
        let left = columns_from(left, 0, k, left_columns);
        Ok(format!("{left} @ {right}"))
    }

    fn factors(&self) -> Result<String, String> {
        let factors = (0..self.operands.len()).map(|place| self.factor(place));
        let factors: Vec<String> = factors.collect::<Result<_, _>>()?;
        Ok(factors.join(", "))
    }
}
