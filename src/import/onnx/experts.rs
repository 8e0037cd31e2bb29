//! Mixtures of experts of ONNX Runtime: each token chooses some experts, which are two products
//! with an activation between them, and their results are added by the weights of the choice.

use crate::constant::float_text;
use crate::onnx::call::Call;
use crate::shapes::elements;
use crate::size::Size;
use std::fmt::Write;

/// The lines of `MoE`, and of `QMoE`, whose matrices are short. A row of the products is a token
/// with one of its experts, of which the products read no more than there are rows.
pub(super) fn mixture(call: &Call<'_>) -> Option<String> {
    let (tokens_shape, chosen) = (call.shape(0)?, call.int("k").unwrap_or(1));
    let (hidden, outer) = tokens_shape.split_last()?;
    let tokens = elements(outer)?;
    let rows = tokens.mul(&Size::from(chosen))?;
    let matrix = |sizes: [&Size; 2]| call.list(&sizes.map(Clone::clone));
    // Writing to a `String` cannot fail.
    let mut text = format!(
        "{{y}}_tokens = reshape({{0}}, shape={})\n",
        matrix([&tokens, hidden])
    );
    let (choices, scores) = if is_short(call) && call.has(ROUTER_WEIGHTS) {
        ("{1}", format!("{{{ROUTER_WEIGHTS}}}"))
    } else {
        text.push_str("{y}_router = softmax({1}, axis=-1)\n");
        ("{y}_router", "{y}_router".to_owned())
    };
    let _ = writeln!(
        text,
        "{{y}}_chosen = topk_indices({choices}, count={chosen}, axis=-1)\n\
         {{y}}_weights = gather({scores}, {{y}}_chosen, axis=-1)"
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
    let layers = layers(call)?;
    if layers.iter().any(|layer| layer.reads_rows(call)) {
        let experts = call.list(std::slice::from_ref(&rows));
        let _ = writeln!(
            text,
            "{{y}}_experts = reshape({{y}}_chosen, shape={experts})"
        );
    }
    let [first, second, third] = layers;
    let width = first.product(call, last, [&rows, hidden], None, &mut text)?;
    let has_third = call.has(third.weight);
    if has_third {
        third.product(call, last, [&rows, hidden], None, &mut text)?;
    }
    let (active, inner) = activation(call, &width, has_third, &mut text)?;
    second.product(call, active, [&rows, &inner], Some(hidden), &mut text)?;
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

/// The input of `QMoE` with the weights of the choice, where they are not those of the router.
const ROUTER_WEIGHTS: usize = 14;

fn is_short(call: &Call<'_>) -> bool {
    call.operator() == "QMoE"
}

/// One of the products of each expert.
struct Layer {
    name: &'static str,
    /// The inputs with the matrices, their scales and the biases.
    weight: usize,
    scale: Option<usize>,
    bias: usize,
    /// The bits of an element, where bytes hold several.
    bits: Option<i64>,
}

/// The products in the order of the inputs; `None` for matrices of another kind.
fn layers(call: &Call<'_>) -> Option<[Layer; 3]> {
    let is_short = is_short(call);
    if is_short && !matches!(call.word("quant_type"), None | Some("int")) {
        return None;
    }
    let step = if is_short { 3 } else { 2 };
    let layer = |index: usize, name: &'static str| {
        let weight = 2 + index * step;
        Layer {
            name,
            weight,
            scale: is_short.then_some(weight + 1),
            bias: weight + step - 1,
            bits: is_short.then(|| bits(call, index == 1)),
        }
    };
    Some([layer(0, "first"), layer(1, "second"), layer(2, "third")])
}

/// The bits of an element of the matrices of `QMoE`.
fn bits(call: &Call<'_>, is_second: bool) -> i64 {
    let own = call
        .int("fc2_expert_weight_bits")
        .filter(|_| is_second)
        .or_else(|| call.int("expert_weight_bits"));
    own.unwrap_or(4)
}

impl Layer {
    /// The scales, if a matrix has one for each of its columns. Scales of blocks are applied inside
    /// the product and do not count.
    fn column_scales(&self, call: &Call<'_>) -> Option<usize> {
        self.scale.filter(|&scale| call.rank(scale) == Some(2))
    }

    /// Whether each row reads what belongs to its expert, beside the product.
    fn reads_rows(&self, call: &Call<'_>) -> bool {
        call.has(self.bias) || self.column_scales(call).is_some()
    }

    /// The second operand of the product, the lines before it, and the columns of the result.
    fn matrices(
        &self,
        call: &Call<'_>,
        k: &Size,
        columns: Option<&Size>,
    ) -> Option<(String, String, Size)> {
        let (name, weight) = (self.name, self.weight);
        let [experts, outer, inner] = call.shape(weight)? else {
            return None;
        };
        let fits = |own: &Size| columns.is_none_or(|columns| columns == own);
        let Some(bits) = self.bits else {
            // Older models have the matrices transposed.
            return if inner == k && fits(outer) {
                let operand = format!("{{{weight}}}, transpose_b=true");
                Some((operand, String::new(), outer.clone()))
            } else {
                (outer == k).then(|| (format!("{{{weight}}}"), String::new(), inner.clone()))
            };
        };
        let length = inner.mul(&Size::from(8))?.div_exact(&Size::from(bits))?;
        if length != *k || !fits(outer) {
            return None;
        }
        let width = match bits {
            4 => "i4",
            8 => "i8",
            _ => return None,
        };
        let shape = call.list(&[experts.clone(), outer.clone(), length]);
        let line = format!("{{y}}_{name}_short = part({{{weight}}}) : {width}{shape}\n");
        let operand = format!("{{y}}_{name}_short, transpose_b=true");
        Some((operand, line, outer.clone()))
    }

    /// Adds the product of rows of length `k`; gives the columns of its result. `columns` are those
    /// that it must have.
    fn product(
        &self,
        call: &Call<'_>,
        rows_name: &str,
        [rows, k]: [&Size; 2],
        columns: Option<&Size>,
        text: &mut String,
    ) -> Option<Size> {
        let name = self.name;
        let (operand, before, columns) = self.matrices(call, k, columns)?;
        text.push_str(&before);
        let typed = call.typed(&[rows.clone(), columns.clone()]);
        let mut line = format!(
            "matmul({rows_name}, {operand}, k={}) : {typed}",
            call.one(k)
        );
        let of_rows = [
            (self.column_scales(call), "scale", "mul"),
            (
                Some(self.bias).filter(|&bias| call.has(bias)),
                "bias",
                "add",
            ),
        ];
        let mut last = "product";
        for (input, what, function) in of_rows {
            let Some(input) = input else { continue };
            let _ = writeln!(
                text,
                "{{y}}_{name}_{last} = {line}\n\
                 {{y}}_{name}_{what} = index({{{input}}}, {{y}}_experts)"
            );
            line = format!("{function}({{y}}_{name}_{last}, {{y}}_{name}_{what})");
            last = "scaled";
        }
        let _ = writeln!(text, "{{y}}_{name} = {line}");
        Some(columns)
    }
}

/// Adds the lines between the products; gives the tensor that they end with and its columns.
fn activation(
    call: &Call<'_>,
    width: &Size,
    has_third: bool,
    text: &mut String,
) -> Option<(&'static str, Size)> {
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
        if !has_third {
            return Some((active, width.clone()));
        }
        let _ = writeln!(text, "{{y}}_inner = mul({active}, {{y}}_third)");
        return Some(("{y}_inner", width.clone()));
    }
    let (mut gate, mut value, mut columns) = ("{y}_first", "{y}_third", width.clone());
    match call.int("swiglu_fusion").unwrap_or(0) {
        0 if has_third => {}
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

/// The multiplications of a `QMoE` without lines: those of each token with its experts.
pub(super) fn quantized_multiplications(call: &Call<'_>) -> Option<Size> {
    let (hidden, outer) = call.shape(0)?.split_last()?;
    let ([_, first, _], [_, _, packed]) = (call.shape(2)?, call.shape(5)?) else {
        return None;
    };
    let bits = Size::from(bits(call, true));
    let inner = packed.mul(&Size::from(8))?.div_exact(&bits)?;
    let mut columns = first.add(&inner)?;
    if call.has(8) {
        columns = columns.add(&inner)?;
    }
    let chosen = Size::from(call.int("k").unwrap_or(1));
    elements(outer)?.mul(&chosen)?.mul(hidden)?.mul(&columns)
}
