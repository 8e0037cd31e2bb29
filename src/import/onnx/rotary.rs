//! Words of the table about rotary position embeddings.

use crate::onnx::call::Call;
use crate::size::Size;

/// A tensor whose pairs of elements are turned by an angle for each position.
pub(super) struct Rotation<'a> {
    /// A word for the names of its lines.
    pub(super) name: &'a str,
    pub(super) x: &'a str,
    /// [batch, heads, tokens, head size], the middle two in either order.
    pub(super) shape: &'a [Size; 4],
    /// The inputs with cosines and sines, by index.
    pub(super) cache: [usize; 2],
    /// The input with the positions; `None` where they count from 0.
    pub(super) positions: Option<usize>,
    /// Whether a pair are neighbours, and not of the two halves.
    pub(super) is_interleaved: bool,
}

/// Lines that rotate a tensor of four dimensions with tokens before the last dimension; the name of
/// the result.
pub(super) fn rotated(
    call: &Call<'_>,
    rotation: &Rotation<'_>,
    lines: &mut Vec<String>,
) -> Option<String> {
    let Rotation { name, shape, .. } = rotation;
    let [_, _, tokens, _] = *shape;
    turned(call, rotation, &[Size::from(1), tokens.clone()], lines)?;
    Some(format!("{{y}}_{name}_turned"))
}

/// The operator that only rotates, of ONNX and of ONNX Runtime.
pub(super) fn rotary(call: &Call<'_>) -> Option<String> {
    let x = call.shape(0)?;
    let is_runtime = call.is_runtime();
    let (positions, cache) = if is_runtime { (1, [2, 3]) } else { (3, [1, 2]) };
    let positions = call.has(positions).then_some(positions);
    let is_interleaved = call.int("interleaved") == Some(1);
    let mut lines = Vec::new();
    let (shape, input, before): ([Size; 4], &str, [Size; 2]) = match x {
        [batch, heads, tokens, size] => (
            [batch.clone(), heads.clone(), tokens.clone(), size.clone()],
            "{0}",
            [Size::from(1), tokens.clone()],
        ),
        [batch, tokens, width] => {
            let stated = call.int("num_heads").filter(|&count| count > 0);
            let heads = if let Some(count) = stated {
                Size::from(count)
            } else {
                let half = call.shape(*cache.first()?)?.last()?;
                width.div_exact(&half.mul(&Size::from(2))?)?
            };
            let size = width.div_exact(&heads)?;
            let shape = [batch.clone(), tokens.clone(), heads, size];
            lines.push(format!(
                "{{y}}_heads = reshape({{0}}, shape={})",
                call.list(&shape)
            ));
            (shape, "{y}_heads", [tokens.clone(), Size::from(1)])
        }
        _ => return None,
    };
    let rotation = Rotation {
        name: "x",
        x: input,
        shape: &shape,
        cache,
        positions,
        is_interleaved,
    };
    turned(call, &rotation, &before, &mut lines)?;
    if x.len() == 3 {
        lines.push(format!(
            "{{y}} = reshape({{y}}_x_turned, shape={})",
            call.list(x)
        ));
    } else {
        let last = lines.last_mut()?;
        *last = last.replacen("{y}_x_turned", "{y}", 1);
    }
    Some(lines.join("\n"))
}

/// Lines with the cosines and sines as they broadcast to the pairs, by name, and the number of
/// pairs; `between` are their sizes between batch and pairs.
fn angles(
    call: &Call<'_>,
    rotation: &Rotation<'_>,
    between: &[Size; 2],
    lines: &mut Vec<String>,
) -> Option<([String; 2], Size)> {
    let Rotation { name, shape, .. } = rotation;
    let [batch, first, second, _] = *shape;
    let [before, behind] = between;
    let tokens = if before.is_one() { second } else { first };
    let mut pairs = None;
    for (word, index) in ["cos", "sin"].into_iter().zip(rotation.cache) {
        let cache = call.shape(index)?;
        let own = format!("{{y}}_{name}_{word}");
        let by_position = rotation
            .positions
            .filter(|&at| call.rank(at) == Some(2) && cache.len() == 2);
        let (from, batch) = match (by_position, cache) {
            (Some(positions), _) => {
                lines.push(format!(
                    "{own}_rows = embedding({{{positions}}}, {{{index}}})"
                ));
                (format!("{own}_rows"), batch.clone())
            }
            (None, [rows, _]) if rows == tokens => (format!("{{{index}}}"), Size::from(1)),
            (None, [_, _]) => {
                lines.push(format!(
                    "{own}_rows = slice({{{index}}}, end={}, axis=0)",
                    call.one(tokens)
                ));
                (format!("{own}_rows"), Size::from(1))
            }
            (None, _) => (format!("{{{index}}}"), batch.clone()),
        };
        let count = cache.last()?.clone();
        lines.push(format!(
            "{own} = reshape({from}, shape={})",
            call.list(&[batch, before.clone(), behind.clone(), count.clone()])
        ));
        pairs = Some(count);
    }
    let names = ["cos", "sin"].map(|word| format!("{{y}}_{name}_{word}"));
    Some((names, pairs?))
}

/// Lines up to `{y}_NAME_turned`; `between` are the sizes of the angles between batch and pairs.
fn turned(
    call: &Call<'_>,
    rotation: &Rotation<'_>,
    between: &[Size; 2],
    lines: &mut Vec<String>,
) -> Option<()> {
    let Rotation { name, x, shape, .. } = rotation;
    let [batch, first, second, size] = *shape;
    let ([cos, sin], pairs) = angles(call, rotation, between, lines)?;
    let pairs = &pairs;
    let turned_size = pairs.mul(&Size::from(2))?;
    let is_partial = turned_size != *size;
    let mut own = (*x).to_owned();
    if is_partial {
        lines.push(format!(
            "{{y}}_{name}_own = slice({x}, end={}, axis=3)",
            call.one(&turned_size)
        ));
        own = format!("{{y}}_{name}_own");
    }
    let head = [batch.clone(), first.clone(), second.clone()];
    let in_pairs = |last: &[Size]| call.list(&[head.as_slice(), last].concat());
    if rotation.is_interleaved {
        lines.push(format!(
            "{{y}}_{name}_pairs = reshape({own}, shape={})",
            in_pairs(&[pairs.clone(), Size::from(2)])
        ));
        for (word, start) in [("a", 0), ("b", 1)] {
            lines.push(format!(
                "{{y}}_{name}_{word}_of_pair = slice({{y}}_{name}_pairs, start={start}, end={}, axis=4)",
                start + 1
            ));
            lines.push(format!(
                "{{y}}_{name}_{word} = reshape({{y}}_{name}_{word}_of_pair, shape={})",
                in_pairs(std::slice::from_ref(pairs))
            ));
        }
    } else {
        for (word, index) in [("a", 0), ("b", 1)] {
            lines.push(format!(
                "{{y}}_{name}_{word} = split({own}, parts=2, index={index}, axis=3)"
            ));
        }
    }
    let line = |lines: &mut Vec<String>, result: &str, call: String| {
        lines.push(format!("{{y}}_{name}_{result} = {call}"));
    };
    let of = |part: &str| format!("{{y}}_{name}_{part}");
    line(lines, "a_cos", format!("mul({}, {cos})", of("a")));
    line(lines, "b_sin", format!("mul({}, {sin})", of("b")));
    line(
        lines,
        "first",
        format!("sub({}, {})", of("a_cos"), of("b_sin")),
    );
    line(lines, "a_sin", format!("mul({}, {sin})", of("a")));
    line(lines, "b_cos", format!("mul({}, {cos})", of("b")));
    line(
        lines,
        "second",
        format!("add({}, {})", of("a_sin"), of("b_cos")),
    );
    let mut parts = vec![of("first"), of("second")];
    if rotation.is_interleaved {
        for (word, part) in [("first", "c"), ("second", "d")] {
            let shape = in_pairs(&[pairs.clone(), Size::from(1)]);
            line(lines, part, format!("reshape({}, shape={shape})", of(word)));
        }
        line(
            lines,
            "both",
            format!("concat({}, {}, axis=4)", of("c"), of("d")),
        );
        let shape = in_pairs(std::slice::from_ref(&turned_size));
        line(
            lines,
            "joined",
            format!("reshape({}, shape={shape})", of("both")),
        );
        parts = vec![of("joined")];
    }
    if is_partial {
        let start = call.one(&turned_size);
        line(lines, "rest", format!("slice({x}, start={start}, axis=3)"));
        parts.push(of("rest"));
    }
    if let [only] = parts.as_slice() {
        // The reshape is the last line.
        let last = lines.last_mut()?;
        *last = last.replacen(only, &of("turned"), 1);
    } else {
        line(
            lines,
            "turned",
            format!("concat({}, axis=3)", parts.join(", ")),
        );
    }
    Some(())
}
