//! Words of the table about convolutions and pools: their windows, and the borders around an image.

use crate::onnx::call::Call;
use crate::shapes::Sizes;
use crate::size::Size;
use std::fmt::Write;

/// A window along one dimension of an image.
struct Window {
    kernel: i64,
    stride: i64,
    dilation: i64,
    /// The border before and behind the image.
    border: [i64; 2],
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

/// The window of a convolution or a pool along each dimension of its image.
fn windows(call: &Call<'_>) -> Option<Vec<Window>> {
    let image = call.shape(0)?.get(2..).filter(|image| !image.is_empty())?;
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
    let image = call.shape(0)?.get(2..)?;
    let sizes = image.iter().zip(windows(call)?);
    sizes
        .map(|(size, window)| {
            let output = window.output(call.default_of(size)?)?;
            // At stride 1 the output is smaller by the same number of elements at all image sizes.
            let left_out = call.default_of(size)?.checked_sub(output)?;
            if window.stride == 1 {
                return size.sub(&Size::from(left_out));
            }
            call.fixed(size)?;
            Some(Size::from(output))
        })
        .collect()
}

/// `kernel=3, stride=2, padding=1` of a pool.
pub(super) fn pool(call: &Call<'_>) -> Option<String> {
    let windows = windows(call).filter(|windows| windows.len() == 2)?;
    let is_plain = windows.iter().all(|window| window.dilation == 1);
    let borders = even_borders(call, &windows)?;
    let list = |of: fn(&Window) -> i64| text(&windows.iter().map(of).collect::<Vec<_>>());
    let mut window = format!(
        "kernel={}, stride={}",
        list(|window| window.kernel),
        list(|window| window.stride)
    );
    if borders.iter().any(|&border| border != 0) {
        let _ = write!(window, ", padding={}", text(&borders));
    }
    is_plain.then_some(window)
}

/// The lines of a convolution. A border that the notation lacks is an op before it.
pub(super) fn convolution(call: &Call<'_>) -> Option<String> {
    let windows = windows(call).filter(|windows| windows.len() <= 2)?;
    let (before, input, borders) = if let Some(borders) = even_borders(call, &windows) {
        (String::new(), "{0}", borders)
    } else {
        let sides = windows.iter().rev().flat_map(|window| window.border);
        let sides: Vec<i64> = sides.collect();
        let line = format!("{{y}}_border = pad({{0}}, pad={sides:?})\n");
        let is_border = sides.iter().all(|&side| side >= 0);
        (
            is_border.then_some(line)?,
            "{y}_border",
            vec![0; windows.len()],
        )
    };
    let named = [
        (
            "stride",
            windows.iter().map(|window| window.stride).collect(),
            1,
        ),
        ("padding", borders, 0),
        (
            "dilation",
            windows.iter().map(|window| window.dilation).collect(),
            1,
        ),
        ("groups", vec![call.int("group").unwrap_or(1)], 1),
    ];
    let mut line = format!(
        "{before}{{y}} = conv{}d({input}, {{1}}, {{2?}}",
        windows.len()
    );
    for (name, list, default) in named {
        let list: Vec<i64> = list;
        if list.iter().any(|own| *own != default) {
            let _ = write!(line, ", {name}={}", text(&list));
        }
    }
    Some(line + ")")
}

fn even_borders(call: &Call<'_>, windows: &[Window]) -> Option<Vec<i64>> {
    let image = call.shape(0)?.get(2..)?.iter();
    let borders = windows.iter().zip(image);
    borders
        .map(|(window, size)| window.even_border(call.default_of(size)))
        .collect()
}

/// A list as text: one number if all are equal.
fn text(list: &[i64]) -> String {
    match list {
        [first, others @ ..] if others.iter().all(|other| other == first) => first.to_string(),
        list => format!("{list:?}"),
    }
}
