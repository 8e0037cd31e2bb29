//! The table of operators: what each of them is in the notation.
//!
//! In a line, `{y}` is the output and `{0}` an input; `{2?}` is an input that may be left out,
//! `{#1}` the one number of an input that is known, `{alpha=0.01}` an attribute with its default.
//! [`super::words`] computes any other word in braces; an operator whose word has no answer becomes
//! opaque.

/// What an output of an operator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Lines of the notation, the last of which writes `{y}`.
    Lines(&'static [&'static str]),
    /// The first input itself.
    Input,
    /// A function of two inputs, folded over all inputs.
    Chain(&'static str),
    /// An output that no function of the notation computes.
    Opaque,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operator {
    /// The name in ONNX.
    pub(super) name: &'static str,
    /// The rule of each output. Further outputs have the last rule if `is_list`, else they are
    /// opaque.
    pub(super) outputs: &'static [Rule],
    /// Whether it gives any number of outputs of the same kind.
    pub(super) is_list: bool,
}

const fn row(name: &'static str, outputs: &'static [Rule]) -> Operator {
    Operator {
        name,
        outputs,
        is_list: false,
    }
}

macro_rules! lines {
    ($name:literal, $($line:literal),+) => {
        row($name, &[Rule::Lines(&[$($line),+])])
    };
}

/// Domains whose operators the table has: ONNX itself, and those of ONNX Runtime.
pub(super) const DOMAINS: &[&str] = &["", "ai.onnx", "com.microsoft"];

/// The row of an operator.
pub(super) fn find(name: &str) -> Option<&'static Operator> {
    OPERATORS.iter().find(|operator| operator.name == name)
}

/// All operators that are understood, by kind.
#[rustfmt::skip]
pub(super) const OPERATORS: &[Operator] = &[
    // Two inputs, broadcast.
    lines!("Add", "{y} = add({0}, {1})"),
    lines!("Sub", "{y} = sub({0}, {1})"),
    lines!("Mul", "{y} = mul({0}, {1})"),
    lines!("Div", "{y} = div({0}, {1})"),
    lines!("Pow", "{y} = pow({0}, {1})"),
    lines!("Mod", "{y} = remainder({0}, {1})"),
    lines!("Less", "{y} = lt({0}, {1})"),
    lines!("LessOrEqual", "{y} = le({0}, {1})"),
    lines!("Greater", "{y} = gt({0}, {1})"),
    lines!("GreaterOrEqual", "{y} = ge({0}, {1})"),
    lines!("Equal", "{y} = eq({0}, {1})"),
    lines!("And", "{y} = logical_and({0}, {1})"),
    lines!("Or", "{y} = logical_or({0}, {1})"),
    lines!("Xor", "{y} = logical_xor({0}, {1})"),
    lines!("Where", "{y} = where({0}, {1}, {2})"),
    lines!("PRelu", "{y}_positive = relu({0})", "{y}_negative = minimum({0}, 0)", "{y}_scaled = mul({y}_negative, {1})", "{y} = add({y}_positive, {y}_scaled)"),
    row("Max", &[Rule::Chain("maximum")]),
    row("Min", &[Rule::Chain("minimum")]),
    row("Sum", &[Rule::Chain("add")]),
    // One input.
    row("Identity", &[Rule::Input]),
    row("Dropout", &[Rule::Input]),
    lines!("Neg", "{y} = neg({0})"),
    lines!("Abs", "{y} = abs({0})"),
    lines!("Sign", "{y} = sign({0})"),
    lines!("Not", "{y} = logical_not({0})"),
    lines!("Exp", "{y} = exp({0})"),
    lines!("Log", "{y} = log({0})"),
    lines!("Sin", "{y} = sin({0})"),
    lines!("Cos", "{y} = cos({0})"),
    lines!("Tan", "{y} = tan({0})"),
    lines!("Erf", "{y} = erf({0})"),
    lines!("Tanh", "{y} = tanh({0})"),
    lines!("Sqrt", "{y} = sqrt({0})"),
    lines!("Reciprocal", "{y} = reciprocal({0})"),
    lines!("Round", "{y} = round({0})"),
    lines!("Floor", "{y} = floor({0})"),
    lines!("Ceil", "{y} = ceil({0})"),
    lines!("IsNaN", "{y} = isnan({0})"),
    lines!("IsInf", "{y} = isinf({0})"),
    lines!("Relu", "{y} = relu({0})"),
    lines!("Sigmoid", "{y} = sigmoid({0})"),
    lines!("Gelu", "{y} = gelu({0}, approximate={approximate=none})"),
    lines!("FastGelu", "{y} = {fast_gelu}"),
    lines!("QuickGelu", "{y}_scaled = scale({0}, factor={alpha=1.702})", "{y}_gate = sigmoid({y}_scaled)", "{y} = mul({0}, {y}_gate)"),
    lines!("BiasGelu", "{y}_sum = add({0}, {1})", "{y} = gelu({y}_sum, approximate=none)"),
    lines!("Swish", "{y}_scaled = scale({0}, factor={alpha=1})", "{y}_gate = sigmoid({y}_scaled)", "{y} = mul({0}, {y}_gate)"),
    lines!("Elu", "{y} = elu({0}, alpha={alpha=1})"),
    lines!("Selu", "{y} = selu({0})"),
    lines!("Mish", "{y} = mish({0})"),
    lines!("Softplus", "{y} = softplus({0})"),
    lines!("Softsign", "{y} = softsign({0})"),
    lines!("ThresholdedRelu", "{y}_passes = gt({0}, {alpha=1})", "{y} = where({y}_passes, {0}, 0)"),
    lines!("HardSwish", "{y} = hardswish({0})"),
    lines!("HardSigmoid", "{y}_scaled = scale({0}, factor={alpha=0.2})", "{y}_shifted = shift({y}_scaled, amount={beta=0.5})", "{y} = clamp({y}_shifted, min=0, max=1)"),
    lines!("LeakyRelu", "{y} = leaky_relu({0}, slope={alpha=0.01})"),
    lines!("Clip", "{y} = clamp({0}{bounds})"),
    lines!("Cast", "{y} = cast({0}, dtype={type})"),
    lines!("CastLike", "{y} = cast({0}, dtype={type})"),
    lines!("Trilu", "{y} = {triangle}"),
    // Along axes.
    lines!("ReduceSum", "{y} = sum({0}, {axes})"),
    lines!("ReduceMean", "{y} = mean({0}, {axes})"),
    lines!("ReduceMax", "{y} = max({0}, {axes})"),
    lines!("ReduceMin", "{y} = min({0}, {axes})"),
    lines!("ReduceProd", "{y} = prod({0}, {axes})"),
    lines!("ReduceSumSquare", "{y}_squares = square({0})", "{y} = sum({y}_squares, {axes})"),
    lines!("ReduceL2", "{y}_squares = square({0})", "{y}_sum = sum({y}_squares, {axes})", "{y} = sqrt({y}_sum)"),
    lines!("ReduceL1", "{y}_sizes = abs({0})", "{y} = sum({y}_sizes, {axes})"),
    lines!("ReduceLogSumExp", "{y}_exp = exp({0})", "{y}_sum = sum({y}_exp, {axes})", "{y} = log({y}_sum)"),
    lines!("ReduceLogSum", "{y}_sum = sum({0}, {axes})", "{y} = log({y}_sum)"),
    lines!("ArgMax", "{y} = argmax({0}, {axis_kept})"),
    lines!("ArgMin", "{y} = argmin({0}, {axis_kept})"),
    lines!("Softmax", "{y} = softmax({0}, axis={softmax_axis})"),
    lines!("LogSoftmax", "{y} = log_softmax({0}, axis={softmax_axis})"),
    lines!("CumSum", "{y} = cumsum({0}, axis={#1})"),
    row("TopK", &[Rule::Lines(&["{y} = {topk}"]), Rule::Lines(&["{y} = topk_indices({0}, count={count}, axis={axis=-1})"])]),
    // Norms and pools.
    lines!("LayerNormalization", "{y} = layer_norm({last_axis}, {1}, {2?}, eps={epsilon=1e-5})"),
    lines!("RMSNormalization", "{y} = rms_norm({last_axis}, {1}, eps={epsilon=1e-5})"),
    lines!("SimplifiedLayerNormalization", "{y} = rms_norm({last_axis}, {1}, eps={epsilon=1e-5})"),
    row("SkipLayerNormalization", &[Rule::Lines(&["{skip_norm}"]), Rule::Opaque, Rule::Opaque, Rule::Lines(&["{skip_sum}"])]),
    lines!("BatchNormalization", "{y} = batch_norm({0}, {3}, {4}, {1}, {2}, eps={epsilon=1e-5})"),
    lines!("GroupNormalization", "{y} = group_norm({0}, {1}, {2}, groups={num_groups=1}, eps={epsilon=1e-5})"),
    lines!("InstanceNormalization", "{y} = group_norm({0}, {1}, {2}, groups={channels}, eps={epsilon=1e-5})"),
    lines!("LpNormalization", "{y} = l2_norm({0}, axis={axis=-1})"),
    lines!("QuantizeLinear", "{quantized}"),
    lines!("DequantizeLinear", "{dequantized}"),
    lines!("MaxPool", "{y} = max_pool2d({0}, {pool})"),
    lines!("AveragePool", "{y} = avg_pool2d({0}, {pool})"),
    lines!("GlobalAveragePool", "{y} = mean({0}, axis={image_axes})"),
    lines!("GlobalMaxPool", "{y} = max({0}, axis={image_axes})"),
    // Products.
    lines!("MatMul", "{matmul}"),
    lines!("Gemm", "{gemm}"),
    lines!("FusedMatMul", "{y} = matmul({0}, {1}{transposed})"),
    lines!("Conv", "{convolution}"),
    lines!("Attention", "{y} = sdpa({four_dimensions}, {1}, {2}, {3?}{attention})"),
    // Other shapes of the same elements.
    lines!("Reshape", "{y} = reshape({0}, shape={shape})"),
    lines!("Flatten", "{y} = reshape({0}, shape={shape})"),
    lines!("Squeeze", "{y} = reshape({0}, shape={shape})"),
    lines!("Unsqueeze", "{y} = reshape({0}, shape={shape})"),
    lines!("Transpose", "{y} = transpose({0}, perm={perm})"),
    lines!("Expand", "{y} = expand({0}, shape={expanded})"),
    lines!("Tile", "{y} = repeat({0}, times={times})"),
    lines!("Pad", "{y} = pad({0}, pad={pads})"),
    lines!("Concat", "{y} = concat({all}, axis={axis=1})"),
    lines!("Slice", "{slices}"),
    Operator { name: "Split", outputs: &[Rule::Lines(&["{y} = {piece}"])], is_list: true },
    lines!("Gather", "{gather}"),
    lines!("GatherElements", "{y} = gather({0}, {1}, axis={axis=0})"),
    lines!("GatherND", "{y} = rearrange({0}, {1}) : {output}"),
    lines!("ScatterElements", "{y} = {scatter}({0}, {1}, {2}, axis={axis=0})"),
    lines!("Scatter", "{y} = {scatter}({0}, {1}, {2}, axis={axis=0})"),
    lines!("Resize", "{y} = interpolate({0}, size={image}, mode={resize_mode})"),
    lines!("Upsample", "{y} = interpolate({0}, size={image}, mode={resize_mode})"),
    lines!("DepthToSpace", "{y} = rearrange({0}) : {output}"),
    lines!("SpaceToDepth", "{y} = rearrange({0}) : {output}"),
    // Created tensors.
    lines!("ConstantOfShape", "{y} = full(value={fill}) : {output}"),
    lines!("Range", "{y} = arange() : {output}"),
];
