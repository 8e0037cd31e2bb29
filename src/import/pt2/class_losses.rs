//! Losses of rows of classes: cross entropy, with weights or smoothing.

use crate::pt2::becomes::Becomes;
use crate::pt2::call::{Call, number_text};
use crate::pt2::losses::{Reduction, all_axes, in_result_type, reduction_of};
use crate::size::Size;

/// The logarithm of the softmax at the class of each row, and its mean over the rows that count.
pub(super) fn cross_entropy(call: &Call<'_>) -> Option<Becomes> {
    let (shape, target) = (call.shape_of("self")?, call.shape_of("target")?);
    let smoothing = call.number_or("label_smoothing", 0.0)?;
    let is_weighted = call.has("weight");
    let has_classes = shape.len() > 1 && target.len() + 1 == shape.len();
    if !has_classes || smoothing != 0.0 && is_weighted {
        return None;
    }
    let mut lines = Vec::new();
    let mut logs = "{self}";
    if call.operator == "cross_entropy_loss" {
        lines.push("{y}_logs = log_softmax({self}, axis=1)".to_owned());
        logs = "{y}_logs";
    }
    let mut written = ClassLoss {
        call,
        shape,
        target,
        logs,
        ignored: call.int_or("ignore_index", -100)?,
        is_weighted,
        reduction: reduction_of(call)?,
        lines,
    };
    let of_class = written.of_class()?;
    if smoothing == 0.0 {
        let lines = written.lines.join("\n");
        return Some(in_result_type(
            lines.replace(&format!("{of_class} ="), "{y} ="),
        ));
    }
    // A share of the loss comes from all classes alike.
    let of_all = written.of_all_classes();
    let classes = shape.get(1)?.value(&call.params().values)?;
    let part = number_text(smoothing / classes as f64)?;
    let own = number_text(1.0 - smoothing)?;
    let lines = written.lines.join("\n");
    Some(in_result_type(format!(
        "{lines}\n\
         {{y}}_share = mul({of_all}, {part})\n\
         {{y}}_own = mul({of_class}, {own})\n\
         {{y}} = add({{y}}_own, {{y}}_share)"
    )))
}

/// A loss of rows that have one class each, as it is written down.
struct ClassLoss<'a> {
    call: &'a Call<'a>,
    /// Batch, classes, and further dimensions.
    shape: &'a [Size],
    /// The shape without the classes.
    target: &'a [Size],
    /// The name of the logarithms of the probabilities.
    logs: &'static str,
    ignored: i64,
    is_weighted: bool,
    reduction: Reduction,
    lines: Vec<String>,
}

impl ClassLoss<'_> {
    /// The sum of a value over all rows.
    fn sum(&mut self, name: &str) {
        let axes = all_axes(self.target.len());
        self.lines.push(format!(
            "{{y}}_{name}_sum = sum({{y}}_{name}, axis={axes}, keepdim=false)"
        ));
    }

    /// The name of the loss by the class of each row.
    fn of_class(&mut self) -> Option<&'static str> {
        let (batch, rest) = self.target.split_first()?;
        let one = Size::from(1);
        let mut of = self.logs;
        if self.is_weighted {
            let ones = vec![one.clone(); self.target.len() - 1];
            let classes = self.shape.get(1)?.clone();
            let by_class = self
                .call
                .list(&[&[one.clone(), classes], &ones[..]].concat());
            self.lines.push(format!(
                "{{y}}_weights = reshape({{weight}}, shape={by_class})\n\
                 {{y}}_weighted = mul({of}, {{y}}_weights)"
            ));
            of = "{y}_weighted";
        }
        let column = [std::slice::from_ref(batch), &[one], rest].concat();
        let (column, rows) = (self.call.list(&column), self.call.list(self.target));
        let ignored = self.ignored;
        self.lines.push(format!(
            "{{y}}_is_class = ne({{target}}, {ignored})\n\
             {{y}}_class = where({{y}}_is_class, {{target}}, 0)\n\
             {{y}}_column = reshape({{y}}_class, shape={column})\n\
             {{y}}_picked = gather({of}, {{y}}_column, axis=1)\n\
             {{y}}_log = reshape({{y}}_picked, shape={rows})\n\
             {{y}}_negative = neg({{y}}_log)\n\
             {{y}}_is_lost = ne({{target}}, {ignored})\n\
             {{y}}_losses = where({{y}}_is_lost, {{y}}_negative, 0)"
        ));
        Some(match self.reduction {
            Reduction::None => "{y}_losses",
            Reduction::Sum => {
                self.sum("losses");
                "{y}_losses_sum"
            }
            Reduction::Mean => {
                let number = self.counted(&rows);
                self.sum("losses");
                self.lines
                    .push(format!("{{y}}_mean = div({{y}}_losses_sum, {number})"));
                "{y}_mean"
            }
        })
    }

    /// The name of the number by which a mean divides: of rows that count, or of their weights.
    fn counted(&mut self, rows: &str) -> &'static str {
        let (ignored, axes) = (self.ignored, all_axes(self.target.len()));
        let counts = format!("{{y}}_counts = ne({{target}}, {ignored})");
        if self.is_weighted {
            let whole = self.call.list(self.shape);
            self.lines.push(format!(
                "{{y}}_spread = expand({{y}}_weights, shape={whole})\n\
                 {{y}}_chosen = gather({{y}}_spread, {{y}}_column, axis=1)\n\
                 {{y}}_of_rows = reshape({{y}}_chosen, shape={rows})\n\
                 {counts}\n\
                 {{y}}_shares = where({{y}}_counts, {{y}}_of_rows, 0)"
            ));
            self.sum("shares");
            return "{y}_shares_sum";
        }
        let dtype = self.call.dtype.name();
        self.lines.push(format!(
            "{counts}\n\
             {{y}}_total = sum({{y}}_counts, axis={axes}, keepdim=false)\n\
             {{y}}_number = cast({{y}}_total, dtype={dtype})"
        ));
        "{y}_number"
    }

    /// The name of the loss by all classes alike.
    fn of_all_classes(&mut self) -> &'static str {
        let (ignored, logs) = (self.ignored, self.logs);
        self.lines.push(format!(
            "{{y}}_all = sum({logs}, axis=1, keepdim=false)\n\
             {{y}}_away = neg({{y}}_all)\n\
             {{y}}_is_ignored = eq({{target}}, {ignored})\n\
             {{y}}_smooth = where({{y}}_is_ignored, 0, {{y}}_away)"
        ));
        match self.reduction {
            Reduction::None => "{y}_smooth",
            Reduction::Sum => {
                self.sum("smooth");
                "{y}_smooth_sum"
            }
            Reduction::Mean => {
                let axes = all_axes(self.target.len());
                self.lines.push(format!(
                    "{{y}}_is_kept = logical_not({{y}}_is_ignored)\n\
                     {{y}}_kept = sum({{y}}_is_kept, axis={axes}, keepdim=false)"
                ));
                self.sum("smooth");
                self.lines
                    .push("{y}_smooth_mean = div({y}_smooth_sum, {y}_kept)".to_owned());
                "{y}_smooth_mean"
            }
        }
    }
}
