//! Mixtures of experts of ONNX Runtime: each token chooses some experts, which are two products
//! with an activation between them, and their results are added by the weights of the choice.

use crate::constant::float_text;
use crate::onnx::call::Call;
use crate::shapes::elements;
use crate::size::Size;
use std::fmt::Write;

/// The lines of `MoE`. A row of the products is a token with one of its experts, of which the
/// products read no more than there are rows.
pub(super) fn mixture(call: &Call<'_>) -> Option<String> {
    let (tokens_shape, chosen) = (call.shape(0)?, call.int("k").unwrap_or(1));
    let (hidden, outer) = tokens_shape.split_last()?;
    let tokens = elements(outer)?;
    let rows = tokens.mul(&Size::from(chosen))?;
    let matrix = |sizes: [&Size; 2]| call.list(&sizes.map(Clone::clone));
    // Writing to a `String` cannot fail.
    let mut text = format!(
        "{{y}}_tokens = reshape({{0}}, shape={})\n\
         {{y}}_router = softmax({{1}}, axis=-1)\n\
         {{y}}_chosen = topk_indices({{y}}_router, count={chosen}, axis=-1)\n\
         {{y}}_weights = gather({{y}}_router, {{y}}_chosen, axis=-1)\n",
        matrix([&tokens, hidden])
    );
    let mut weights = "{y}_weights";
    if call.int("normalize_routing_weights").unwrap_or(0) != 0 {
        text.push_str(
            "{y}_weight = sum({y}_weights, axis=-1, keepdim=true)\n\
             {y}_normalized = div({y}_weights, {y}_weight)\n",
        );
        weights = "{y}_normalized";
    }
    let mut last = "{y}_tokens";
    if chosen > 1 {
        let _ = writeln!(
            text,
            "{{y}}_rows = repeat_interleave({{y}}_tokens, times={chosen}, axis=0)"
        );
        last = "{y}_rows";
    }
    let _ = writeln!(
        text,
        "{{y}}_gates = reshape({weights}, shape={})",
        matrix([&rows, &Size::from(1)])
    );
    if [3, 5, 7].into_iter().any(|bias| call.has(bias)) {
        let experts = call.list(std::slice::from_ref(&rows));
        let _ = writeln!(
            text,
            "{{y}}_experts = reshape({{y}}_chosen, shape={experts})"
        );
    }
    let first = Layer {
        name: "first",
        weight: 2,
        columns: None,
    };
    let width = first.product(call, last, &rows, hidden, &mut text)?;
    let third = Layer {
        name: "third",
        weight: 6,
        columns: None,
    };
    if call.has(6) {
        third.product(call, last, &rows, hidden, &mut text)?;
    }
    let (active, inner) = activation(call, &width, &mut text)?;
    let second = Layer {
        name: "second",
        weight: 4,
        columns: Some(hidden),
    };
    second.product(call, active, &rows, &inner, &mut text)?;
    let _ = writeln!(text, "{{y}}_scaled = mul({{y}}_second, {{y}}_gates)");
    let mut sum = "{y}_scaled";
    if chosen > 1 {
        let each = [tokens, Size::from(chosen), hidden.clone()];
        let _ = writeln!(
            text,
            "{{y}}_each = reshape({{y}}_scaled, shape={})\n\
             {{y}}_sum = sum({{y}}_each, axis=1, keepdim=false)",
            call.list(&each)
        );
        sum = "{y}_sum";
    }
    let shape = call.list(tokens_shape);
    let _ = write!(text, "{{y}} = reshape({sum}, shape={shape})");
    Some(text)
}

/// One of the products of each expert.
struct Layer<'a> {
    name: &'static str,
    /// The input with its matrices. The next one is its bias.
    weight: usize,
    /// The columns of the result; `None` where the matrices say how many.
    columns: Option<&'a Size>,
}

impl Layer<'_> {
    /// Adds the product of rows of length `k`; gives the columns of its result.
    fn product(
        &self,
        call: &Call<'_>,
        rows_name: &str,
        rows: &Size,
        k: &Size,
        text: &mut String,
    ) -> Option<Size> {
        let (name, weight) = (self.name, self.weight);
        let [_, outer, inner] = call.shape(weight)? else {
            return None;
        };
        // Older models have the matrices transposed.
        let (columns, transposes) = if inner == k && self.columns.is_none_or(|own| own == outer) {
            (outer, ", transpose_b=true")
        } else if outer == k {
            (inner, "")
        } else {
            return None;
        };
        let typed = call.typed(&[rows.clone(), columns.clone()]);
        let has_bias = call.has(weight + 1);
        let product = if has_bias { "_product" } else { "" };
        let _ = writeln!(
            text,
            "{{y}}_{name}{product} = matmul({rows_name}, {{{weight}}}{transposes}, k={}) : {typed}",
            call.one(k)
        );
        if has_bias {
            let bias = weight + 1;
            let _ = writeln!(
                text,
                "{{y}}_{name}_bias = index({{{bias}}}, {{y}}_experts)\n\
                 {{y}}_{name} = add({{y}}_{name}_product, {{y}}_{name}_bias)"
            );
        }
        Some(columns.clone())
    }
}

/// Adds the lines between the products; gives the tensor that they end with and its columns.
fn activation(call: &Call<'_>, width: &Size, text: &mut String) -> Option<(&'static str, Size)> {
    let word = call.word("activation_type").unwrap_or("relu");
    let number = |name: &str, default: f64| call.float(name).unwrap_or(default);
    if !matches!(word, "swiglu" | "geglu") {
        let line = match word {
            "relu2" => "{y}_positive = relu({y}_first)\n{y}_active = square({y}_positive)\n",
            "identity" => "",
            "relu" => "{y}_active = relu({y}_first)\n",
            "silu" => "{y}_active = silu({y}_first)\n",
            "gelu" => "{y}_active = gelu({y}_first, approximate=none)\n",
            _ => return None,
        };
        text.push_str(line);
        let active = if line.is_empty() {
            "{y}_first"
        } else {
            "{y}_active"
        };
        if !call.has(6) {
            return Some((active, width.clone()));
        }
        let _ = writeln!(text, "{{y}}_inner = mul({active}, {{y}}_third)");
        return Some(("{y}_inner", width.clone()));
    }
    let (mut gate, mut value, mut columns) = ("{y}_first", "{y}_third", width.clone());
    match call.int("swiglu_fusion").unwrap_or(0) {
        0 if call.has(6) => {}
        fusion @ (1 | 2) => {
            columns = width.div_exact(&Size::from(2))?;
            for (index, name) in ["gate", "value"].into_iter().enumerate() {
                let _ = if fusion == 1 {
                    writeln!(
                        text,
                        "{{y}}_{name} = slice({{y}}_first, start={index}, step=2, axis=1)"
                    )
                } else {
                    writeln!(
                        text,
                        "{{y}}_{name} = split({{y}}_first, parts=2, index={index}, axis=1)"
                    )
                };
            }
            (gate, value) = ("{y}_gate", "{y}_value");
        }
        _ => return None,
    }
    if let Some(limit) = call.float("swiglu_limit").filter(|_| word == "swiglu") {
        let limit = float_text(limit)?;
        let _ = writeln!(
            text,
            "{{y}}_low_gate = clamp({gate}, max={limit})\n\
             {{y}}_low_value = clamp({value}, min=-{limit}, max={limit})"
        );
        (gate, value) = ("{y}_low_gate", "{y}_low_value");
    }
    let alpha = number("activation_alpha", 1.0);
    let _ = if word == "geglu" {
        writeln!(text, "{{y}}_active = gelu({gate})")
    } else if alpha.total_cmp(&1.0).is_eq() {
        writeln!(text, "{{y}}_active = silu({gate})")
    } else {
        let alpha = float_text(alpha)?;
        writeln!(
            text,
            "{{y}}_scaled_gate = scale({gate}, factor={alpha})\n\
             {{y}}_sigmoid = sigmoid({{y}}_scaled_gate)\n\
             {{y}}_active = mul({gate}, {{y}}_sigmoid)"
        )
    };
    let beta = number("activation_beta", 0.0);
    if word == "swiglu" && !beta.total_cmp(&0.0).is_eq() {
        let _ = writeln!(text, "{{y}}_moved = add({value}, {})", float_text(beta)?);
        value = "{y}_moved";
    }
    let _ = writeln!(text, "{{y}}_inner = mul({{y}}_active, {value})");
    Some(("{y}_inner", columns))
}

/// The multiplications of `QMoE`: those of each token with its experts.
pub(super) fn quantized_multiplications(call: &Call<'_>) -> Option<Size> {
    let (hidden, outer) = call.shape(0)?.split_last()?;
    let ([_, first, _], [_, _, packed]) = (call.shape(2)?, call.shape(5)?) else {
        return None;
    };
    let bits = call.int("fc2_expert_weight_bits");
    let bits = bits.or_else(|| call.int("expert_weight_bits")).unwrap_or(4);
    let inner = packed.mul(&Size::from(8))?.div_exact(&Size::from(bits))?;
    let mut columns = first.add(&inner)?;
    if call.has(8) {
        columns = columns.add(&inner)?;
    }
    let chosen = Size::from(call.int("k").unwrap_or(1));
    elements(outer)?.mul(&chosen)?.mul(hidden)?.mul(&columns)
}
