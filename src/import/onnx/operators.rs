//! The table of operators: what each of them is in the notation.
//!
//! In a line, `{y}` is the output and `{0}` an input; `{2?}` is an input that may be left out,
//! `{#1}` the one number of an input that is known, `{alpha=0.01}` an attribute with its default.
//! [`super::words`] computes any other word in braces; an operator whose word has no answer becomes
//! opaque.

use crate::onnx::runtime_operators::RUNTIME_OPERATORS;

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

pub(super) const fn row(name: &'static str, outputs: &'static [Rule]) -> Operator {
    Operator {
        name,
        outputs,
        is_list: false,
    }
}

macro_rules! lines {
    ($name:literal, $($line:literal),+) => {
        $crate::onnx::operators::row($name, &[$crate::onnx::operators::Rule::Lines(&[$($line),+])])
    };
}
pub(super) use lines;

/// Domains whose operators the table has: ONNX itself, and those of ONNX Runtime.
pub(super) const DOMAINS: &[&str] = &["", "ai.onnx", "com.microsoft"];

/// The domain of ONNX Runtime's own operators.
pub(super) const RUNTIME: &str = "com.microsoft";

impl Operator {
    /// The rule of an output; `None` for an output that no function of the notation computes.
    pub(super) fn rule(&self, output: usize) -> Option<&'static Rule> {
        let rule = match (self.outputs.get(output), self.is_list) {
            (None, true) => self.outputs.last(),
            (rule, _) => rule,
        };
        rule.filter(|rule| **rule != Rule::Opaque)
    }
}

/// The row of an operator. ONNX Runtime has own forms of some operators of ONNX.
pub(super) fn find(domain: &str, name: &str) -> Option<&'static Operator> {
    let by_name = |rows: &'static [Operator]| rows.iter().find(|operator| operator.name == name);
    if domain == RUNTIME {
        return by_name(RUNTIME_OPERATORS).or_else(|| by_name(OPERATORS));
    }
    DOMAINS
        .contains(&domain)
        .then(|| by_name(OPERATORS).or_else(|| by_name(RUNTIME_OPERATORS)))?
}

/// All operators that are understood, by kind.
#[rustfmt::skip]
pub(super) const OPERATORS: &[Operator] = &[
    // Two inputs, broadcast.
    lines!("Add", "{y} = add({0}, {1})"),
    lines!("Sub", "{y} = sub({0}, {1})"),
    lines!("Mul", "{y} = mul({0}, {1})"),
    lines!("Div", "{y} = {divided}({0}, {1})"),
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
    lines!("BitwiseAnd", "{y} = elementwise({0}, {1}) : {output}"),
    lines!("BitwiseOr", "{y} = elementwise({0}, {1}) : {output}"),
    lines!("BitwiseXor", "{y} = elementwise({0}, {1}) : {output}"),
    lines!("BitShift", "{y} = elementwise({0}, {1}) : {output}"),
    lines!("SwiGLU", "{y}_scaled = scale({0}, factor={alpha=1})", "{y}_sigmoid = sigmoid({y}_scaled)", "{y}_gate = mul({0}, {y}_sigmoid)", "{y} = mul({y}_gate, {1})"),
    lines!("Where", "{y} = where({0}, {1}, {2})"),
    lines!("PRelu", "{y}_positive = relu({0})", "{y}_negative = minimum({0}, 0)", "{slope}", "{y} = add({y}_positive, {y}_scaled)"),
    row("Max", &[Rule::Chain("maximum")]),
    row("Min", &[Rule::Chain("minimum")]),
    row("Sum", &[Rule::Chain("add")]),
    lines!("Mean", "{mean_of_all}"),
    // One input.
    row("Identity", &[Rule::Input]),
    row("Dropout", &[Rule::Lines(&["{dropout}"]), Rule::Lines(&["{y} = full(value=1) : {output}"])]),
    lines!("Neg", "{y} = neg({0})"),
    lines!("Abs", "{y} = abs({0})"),
    lines!("Sign", "{y} = sign({0})"),
    lines!("Not", "{y} = logical_not({0})"),
    lines!("Exp", "{y} = exp({0})"),
    lines!("Log", "{y} = log({0})"),
    lines!("Sin", "{y} = sin({0})"),
    lines!("Cos", "{y} = cos({0})"),
    lines!("Tan", "{y} = tan({0})"),
    lines!("Acos", "{y} = elementwise({0}) : {output}"),
    lines!("Acosh", "{y} = elementwise({0}) : {output}"),
    lines!("Asin", "{y} = elementwise({0}) : {output}"),
    lines!("Asinh", "{y} = elementwise({0}) : {output}"),
    lines!("Atan", "{y} = elementwise({0}) : {output}"),
    lines!("Atanh", "{y} = elementwise({0}) : {output}"),
    lines!("Sinh", "{y} = elementwise({0}) : {output}"),
    lines!("Cosh", "{y} = elementwise({0}) : {output}"),
    lines!("BitwiseNot", "{y} = elementwise({0}) : {output}"),
    lines!("Bernoulli", "{y} = elementwise({0}) : {output}"),
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
    lines!("Swish", "{y}_scaled = scale({0}, factor={alpha=1})", "{y}_gate = sigmoid({y}_scaled)", "{y} = mul({0}, {y}_gate)"),
    lines!("Celu", "{y}_inner = scale({0}, factor={inverse_alpha})", "{y}_elu = elu({y}_inner, alpha=1)", "{y} = scale({y}_elu, factor={alpha=1})"),
    lines!("Shrink", "{y}_size = abs({0})", "{y}_passes = gt({y}_size, {lambd=0.5})", "{y}_sign = sign({0})", "{y}_bias = scale({y}_sign, factor={bias=0})", "{y}_shrunk = sub({0}, {y}_bias)", "{y} = where({y}_passes, {y}_shrunk, 0)"),
    lines!("Elu", "{y} = elu({0}, alpha={alpha=1})"),
    lines!("Selu", "{y} = selu({0})"),
    lines!("Mish", "{y} = mish({0})"),
    lines!("Softplus", "{y} = softplus({0})"),
    lines!("Softsign", "{y} = softsign({0})"),
    lines!("ThresholdedRelu", "{y}_passes = gt({0}, {alpha=1})", "{y} = where({y}_passes, {0}, 0)"),
    lines!("HardSwish", "{y} = hardswish({0})"),
    lines!("HardSigmoid", "{y}_scaled = scale({0}, factor={alpha=0.2})", "{y}_shifted = shift({y}_scaled, amount={beta=0.5})", "{y} = clamp({y}_shifted, min=0, max=1)"),
    lines!("LeakyRelu", "{y} = leaky_relu({0}, slope={alpha=0.01})"),
    lines!("Clip", "{clip}"),
    lines!("Cast", "{y} = cast({0}, dtype={type})"),
    lines!("CastLike", "{y} = cast({0}, dtype={type})"),
    lines!("Trilu", "{y} = {triangle}"),
    // Along axes.
    lines!("ReduceSum", "{y} = sum({0}, {axes})"),
    lines!("ReduceMean", "{mean}"),
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
    lines!("CumSum", "{cumulated}"),
    lines!("CumProd", "{y} = reduction({0}) : {output}"),
    lines!("Hardmax", "{y} = reduction({0}) : {output}"),
    row("TopK", &[Rule::Lines(&["{topk}"]), Rule::Lines(&["{topk}"])]),
    lines!("MeanVarianceNormalization", "{y}_mean = mean({0}, axis={norm_axes})", "{y}_centred = sub({0}, {y}_mean)", "{y}_squares = square({y}_centred)", "{y}_var = mean({y}_squares, axis={norm_axes})", "{y}_std = sqrt({y}_var)", "{y} = div({y}_centred, {y}_std)"),
    lines!("NegativeLogLikelihoodLoss", "{likelihood_loss}"),
    row("SoftmaxCrossEntropyLoss", &[Rule::Lines(&["{entropy_loss}"]), Rule::Lines(&["{y} = log_softmax({0}, axis=1)"])]),
    // Norms and pools.
    lines!("LayerNormalization", "{layer_norm}"),
    lines!("RMSNormalization", "{rms_norm}"),
    lines!("SimplifiedLayerNormalization", "{rms_norm}"),
    lines!("BatchNormalization", "{batch_norm}"),
    lines!("GroupNormalization", "{y} = group_norm({0}, {1}, {2}, groups={num_groups=1}, eps={epsilon=1e-5})"),
    lines!("InstanceNormalization", "{y} = group_norm({0}, {1}, {2}, groups={channels}, eps={epsilon=1e-5})"),
    lines!("LpNormalization", "{y} = l2_norm({0}, axis={axis=-1})"),
    lines!("QuantizeLinear", "{quantized}"),
    lines!("DequantizeLinear", "{dequantized}"),
    lines!("MaxPool", "{pool}"),
    lines!("AveragePool", "{pool}"),
    lines!("LpPool", "{lp_pool}"),
    lines!("GlobalAveragePool", "{y} = mean({0}, axis={image_axes})"),
    lines!("GlobalMaxPool", "{y} = max({0}, axis={image_axes})"),
    lines!("GlobalLpPool", "{y}_squares = square({0})", "{y}_sum = sum({y}_squares, axis={image_axes})", "{y} = sqrt({y}_sum)"),
    // Products.
    lines!("MatMul", "{matmul}"),
    lines!("Gemm", "{gemm}"),
    lines!("Conv", "{convolution}"),
    lines!("ConvTranspose", "{transposed_convolution}"),
    lines!("Einsum", "{einsum}"),
    lines!("MatMulInteger", "{y} = matmul({0}, {1}) : {output}"),
    lines!("QLinearMatMul", "{integer_product}"),
    lines!("ConvInteger", "{convolution}"),
    lines!("QLinearConv", "{integer_product}"),
    row("Attention", &[Rule::Lines(&["{attention}"]), Rule::Lines(&["{present}"]), Rule::Lines(&["{present}"])]),
    lines!("RotaryEmbedding", "{rotary}"),
    // Other shapes of the same elements.
    lines!("Reshape", "{y} = reshape({0}, shape={shape})"),
    lines!("Flatten", "{y} = reshape({0}, shape={shape})"),
    lines!("Squeeze", "{y} = reshape({0}, shape={shape})"),
    lines!("Unsqueeze", "{y} = reshape({0}, shape={shape})"),
    lines!("Transpose", "{y} = transpose({0}, perm={perm})"),
    lines!("Expand", "{y} = expand({0}, shape={expanded})"),
    lines!("Tile", "{y} = repeat({0}, times={times})"),
    lines!("Pad", "{pad}"),
    lines!("Concat", "{y} = concat({all}, axis={axis=1})"),
    lines!("Slice", "{slices}"),
    Operator { name: "Split", outputs: &[Rule::Lines(&["{y} = {piece}"])], is_list: true },
    lines!("Gather", "{gather}"),
    lines!("GatherElements", "{y} = gather({0}, {1}, axis={axis=0})"),
    lines!("GatherND", "{y} = rearrange({0}, {1}) : {output}"),
    lines!("ScatterND", "{scatter_nd}"),
    lines!("ScatterElements", "{y} = {scatter}({0}, {1}, {2}, axis={axis=0})"),
    lines!("Scatter", "{y} = {scatter}({0}, {1}, {2}, axis={axis=0})"),
    lines!("Resize", "{resized}"),
    lines!("Upsample", "{resized}"),
    lines!("ReverseSequence", "{y} = rearrange({0}, {1}) : {output}"),
    lines!("CenterCropPad", "{y} = rearrange({0}) : {output}"),
    lines!("BitCast", "{y} = rearrange({0}) : {output}"),
    lines!("DepthToSpace", "{blocks}"),
    lines!("SpaceToDepth", "{blocks}"),
    // Created tensors.
    lines!("ConstantOfShape", "{y} = full(value={fill}) : {output}"),
    lines!("Range", "{range}"),
    lines!("OneHot", "{one_hot}"),
    lines!("EyeLike", "{y} = elementwise() : {output}"),
    lines!("RandomNormalLike", "{y} = full(value=0) : {output}"),
    lines!("RandomUniformLike", "{y} = full(value=0) : {output}"),
    lines!("RandomNormal", "{y} = full(value=0) : {output}"),
    lines!("RandomUniform", "{y} = full(value=0) : {output}"),
    lines!("HannWindow", "{y} = elementwise() : {output}"),
    lines!("HammingWindow", "{y} = elementwise() : {output}"),
    lines!("BlackmanWindow", "{y} = elementwise() : {output}"),
    lines!("MelWeightMatrix", "{y} = elementwise() : {output}"),
];
