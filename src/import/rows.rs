//! The rows of a tensor over which a loop runs, and those that its iterations give.

use std::fmt::Write;

/// The lines by which `output` is the row `at` of `tensor`, without the dimension `axis` along
/// which the rows follow each other; `shape` is that of a row. `None` if `at` is the largest
/// integer.
pub(crate) fn row(
    output: &str,
    tensor: &str,
    (at, axis): (i64, usize),
    shape: &str,
) -> Option<String> {
    let end = at.checked_add(1)?;
    Some(format!(
        "{output}_slice = slice({tensor}, start={at}, end={end}, axis={axis})\n\
         {output} = reshape({output}_slice, shape={shape})"
    ))
}

/// The lines by which `output` has these rows along a new first dimension; `one` is the type of a
/// row with that dimension.
pub(crate) fn stacked(output: &str, rows: &[&str], one: &str) -> String {
    let mut lines = String::new();
    let mut parts = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        // The concatenation alone moves elements. Writing to a `String` cannot fail.
        let _ = writeln!(lines, "{output}_{at} = part({row}) : {one}");
        parts.push(format!("{output}_{at}"));
    }
    lines
        + &match parts.as_slice() {
            [part] => format!("{output} = contiguous({part})"),
            parts => format!("{output} = concat({}, axis=0)", parts.join(", ")),
        }
}
