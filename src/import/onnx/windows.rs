//! Windows of convolutions and pools over an image with borders, and the words of the table about
//! pools.

use crate::onnx::call::Call;
use crate::onnx::results;
use crate::shapes::Sizes;
use crate::size::Size;
use std::fmt::Write;

/// A window along one dimension of an image.
pub(super) struct Window {
    kernel: i64,
    pub(super) stride: i64,
    pub(super) dilation: i64,
    /// The border before and behind the image.
    pub(super) border: [i64; 2],
    rounds_up: bool,
}

impl Window {
    /// Elements that the dilated window spans.
    fn reach(&self) -> Option<i64> {
        (self.kernel.checked_sub(1)?)
            .checked_mul(self.dilation)?
            .checked_add(1)
    }

    /// Number of window positions in `size + border` elements.
    fn count(&self, size: i64, border: i64) -> Option<i64> {
        let room = size.checked_add(border)?.checked_sub(self.reach()?)?;
        let count = room.checked_div(self.stride)?.checked_add(1)?;
        (room >= 0).then_some(count)
    }

    /// The size of its output, at the defaults of the params.
    fn output(&self, size: i64) -> Option<i64> {
        let [before, behind] = self.border;
        let border = before.checked_add(behind)?;
        if !self.rounds_up {
            return self.count(size, border);
        }
        let more = self.count(size, border.checked_add(self.stride)?.checked_sub(1)?)?;
        // A last window that would start in the border behind the image does not count.
        let starts_behind = (more - 1).checked_mul(self.stride)? >= size.checked_add(before)?;
        Some(if starts_behind { more - 1 } else { more })
    }

    /// An equal border on both sides that gives the same output size: the notation has one border
    /// for both sides.
    fn even_border(&self, size: Option<i64>) -> Option<i64> {
        let [before, behind] = self.border;
        if before == behind && !self.rounds_up {
            return (before >= 0).then_some(before);
        }
        let size = size?;
        let wanted = self.output(size)?;
        let borders = before.min(behind).max(0)..=before.max(behind).checked_add(1)?;
        let mut borders = borders.take(64);
        borders.find(|border| self.count(size, border.saturating_mul(2)) == Some(wanted))
    }
}

/// The dimensions of an image without batch and channels, which come last in some layouts.
fn image_of<'a>(call: &Call<'a>) -> Option<&'a [Size]> {
    let shape = call.shape(0)?;
    let image = if call.operator().starts_with("Nhwc") {
        shape.get(1..shape.len().checked_sub(1)?)?
    } else {
        shape.get(2..)?
    };
    (!image.is_empty()).then_some(image)
}

/// The window of a convolution or a pool along each dimension of its image.
pub(super) fn windows(call: &Call<'_>) -> Option<Vec<Window>> {
    let image = image_of(call)?;
    let kernel: Vec<i64> = match call.ints("kernel_shape") {
        Some(kernel) => kernel.to_vec(),
        None => (call.shape(call.second_operand())?.get(2..)?.iter())
            .map(Size::as_int)
            .collect::<Option<_>>()?,
    };
    let of = |name: &str, index: usize, default: i64| match call.ints(name) {
        Some(list) => list.get(index).copied(),
        None => Some(default),
    };
    let mut windows = Vec::new();
    for (index, size) in image.iter().enumerate() {
        let mut window = Window {
            kernel: *kernel.get(index)?,
            stride: of("strides", index, 1).filter(|&stride| stride > 0)?,
            dilation: of("dilations", index, 1)?,
            border: [0; 2],
            rounds_up: call.int("ceil_mode").unwrap_or(0) != 0,
        };
        window.border = match call.word("auto_pad") {
            Some("VALID") => [0; 2],
            Some(same @ ("SAME_UPPER" | "SAME_LOWER")) => {
                let (stride, reach) = (window.stride, window.reach()?);
                let border = if stride == 1 {
                    reach.checked_sub(1)?
                } else {
                    // `SAME` gives as many windows as the image has strides.
                    let size = call.default_of(size)?;
                    let last = size
                        .checked_sub(1)?
                        .checked_div(stride)?
                        .checked_mul(stride)?;
                    last.checked_add(reach)?.checked_sub(size)?.max(0)
                };
                let (less, more) = (border / 2, border - border / 2);
                if same == "SAME_UPPER" {
                    [less, more]
                } else {
                    [more, less]
                }
            }
            _ => [of("pads", index, 0)?, of("pads", index + image.len(), 0)?],
        };
        windows.push(window);
    }
    (kernel.len() == image.len()).then_some(windows)
}

/// The sizes of the output image.
pub(super) fn window_shape(call: &Call<'_>) -> Option<Sizes> {
    let sizes = image_of(call)?.iter().zip(windows(call)?);
    sizes
        .map(|(size, window)| {
            let output = window.output(call.default_of(size)?)?;
            // At stride 1 the output is smaller by the same number of elements at all image sizes.
            let left_out = call.default_of(size)?.checked_sub(output)?;
            if window.stride == 1 {
                return size.sub(&Size::from(left_out));
            }
            Some(Size::from(output).computed_from(size))
        })
        .collect()
}

/// Along how many dimensions windows without a border leave out elements at the end of the image.
pub(super) fn left_out(call: &Call<'_>) -> usize {
    let image = image_of(call).unwrap_or_default().iter();
    let windows = windows(call).unwrap_or_default();
    let ends_early = |(size, window): &(&Size, Window)| {
        let room = call.default_of(size).zip(window.reach());
        let rest = room.and_then(|(size, reach)| (size - reach).checked_rem(window.stride));
        window.border == [0; 2] && !window.rounds_up && rest.is_some_and(|rest| rest != 0)
    };
    image.zip(windows).filter(ends_early).count()
}

/// The lines of a pool. One that no function computes is a reduction to the shape that it gives.
pub(super) fn pool(call: &Call<'_>) -> Option<String> {
    if call.is_read(1) {
        // One kernel gives the largest elements and their indices.
        return None;
    }
    plain_pool(call).or_else(|| Some(format!("{{y}} = {}", reduced(call, "{0}")?)))
}

/// The norm of the elements of each window.
pub(super) fn lp_pool(call: &Call<'_>) -> Option<String> {
    let pooled = reduced(call, "{y}_squares")?;
    (call.int("p").unwrap_or(2) == 2).then(|| {
        format!("{{y}}_squares = square({{0}})\n{{y}}_sums = {pooled}\n{{y}} = sqrt({{y}}_sums)")
    })
}

fn reduced(call: &Call<'_>, input: &str) -> Option<String> {
    let shape = results::output_shape(call)?;
    Some(format!("reduction({input}) : {}", call.typed(&shape)))
}

/// Over a sequence it is a pool over an image of one row.
fn plain_pool(call: &Call<'_>) -> Option<String> {
    let windows = windows(call).filter(|windows| windows.len() <= 2)?;
    let is_plain = windows.iter().all(|window| window.dilation == 1);
    let borders = even_borders(call, &windows).filter(|_| is_plain)?;
    // The mean of the notation counts the zeros of a border.
    let is_mean = call.operator() != "MaxPool";
    let counts_borders = call.int("count_include_pad") == Some(1);
    if is_mean && !counts_borders && borders.iter().any(|&border| border != 0) {
        return None;
    }
    let is_sequence = windows.len() == 1;
    let list = |of: &[i64], before: i64| {
        let row = is_sequence.then_some(before).into_iter();
        text(&row.chain(of.iter().copied()).collect::<Vec<_>>())
    };
    let of = |field: fn(&Window) -> i64| windows.iter().map(field).collect::<Vec<_>>();
    let mut window = format!(
        "kernel={}, stride={}",
        list(&of(|window| window.kernel), 1),
        list(&of(|window| window.stride), 1)
    );
    if borders.iter().any(|&border| border != 0) {
        let _ = write!(window, ", padding={}", list(&borders, 0));
    }
    let function = if call.operator() == "MaxPool" {
        "max_pool2d"
    } else {
        "avg_pool2d"
    };
    if !is_sequence {
        return Some(format!("{{y}} = {function}({{0}}, {window})"));
    }
    let [batch, channels, length] = call.shape(0)? else {
        return None;
    };
    let one = Size::from(1);
    let image = [batch.clone(), channels.clone(), one, length.clone()];
    let output = [vec![batch.clone(), channels.clone()], window_shape(call)?].concat();
    Some(format!(
        "{{y}}_image = reshape({{0}}, shape={})\n{{y}}_pooled = {function}({{y}}_image, {window})\n{{y}} = reshape({{y}}_pooled, shape={})",
        call.reshape_list(&image),
        call.reshape_list(&output)
    ))
}

pub(super) fn even_borders(call: &Call<'_>, windows: &[Window]) -> Option<Vec<i64>> {
    let image = image_of(call)?.iter();
    let borders = windows.iter().zip(image);
    borders
        .map(|(window, size)| window.even_border(call.default_of(size)))
        .collect()
}

/// A list as text: one number if all are equal.
pub(super) fn text(list: &[i64]) -> String {
    match list {
        [first, others @ ..] if others.iter().all(|other| other == first) => first.to_string(),
        list => format!("{list:?}"),
    }
}
