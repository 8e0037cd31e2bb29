//! Names as PyTorch has them: those that mean a function of the notation, and what to write instead of others.

/// A name of PyTorch, without `torch.` and the like, that means a function of the notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name in PyTorch.
    pub name: &'static str,
    /// The function of the notation.
    pub function: &'static str,
    /// Attributes of the notation that the call must give, because PyTorch has another default.
    pub needs: &'static [&'static str],
}

/// Modules that a name may be written with; the longer ones first.
const MODULES: &[&str] = &[
    "torch.nn.functional.",
    "nn.functional.",
    "torch.special.",
    "torch.Tensor.",
    "torch.nn.",
    "torch.",
    "F.",
    "nn.",
];

const fn same(name: &'static str, function: &'static str) -> Alias {
    Alias {
        name,
        function,
        needs: &[],
    }
}

const fn with(name: &'static str, function: &'static str, needs: &'static [&'static str]) -> Alias {
    Alias {
        name,
        function,
        needs,
    }
}

/// PyTorch drops a reduced dimension and reduces all of them, where the notation keeps it as 1 and reduces the last one.
const REDUCED: &[&str] = &["axis", "keepdim"];

/// All names that are understood. A name of the notation stands here when PyTorch has it in a module.
#[rustfmt::skip]
pub const ALIASES: &[Alias] = &[
    same("add", "add"), same("sub", "sub"), same("subtract", "sub"), same("mul", "mul"), same("multiply", "mul"),
    same("div", "div"), same("divide", "div"), same("true_divide", "div"),
    same("maximum", "maximum"), same("minimum", "minimum"), same("pow", "pow"),
    same("lt", "lt"), same("less", "lt"), same("le", "le"), same("less_equal", "le"),
    same("gt", "gt"), same("greater", "gt"), same("ge", "ge"), same("greater_equal", "ge"),
    same("eq", "eq"), same("ne", "ne"), same("not_equal", "ne"),
    same("logical_and", "logical_and"), same("logical_or", "logical_or"), same("logical_not", "logical_not"),
    same("logical_xor", "logical_xor"), same("floor_divide", "floor_divide"), same("remainder", "remainder"), same("sign", "sign"),
    same("isnan", "isnan"), same("isinf", "isinf"), same("exp2", "exp2"), same("expm1", "expm1"), same("log2", "log2"), same("log1p", "log1p"),
    same("tan", "tan"), same("ceil", "ceil"), same("trunc", "trunc"), same("fix", "trunc"),
    same("leaky_relu", "leaky_relu"), same("LeakyReLU", "leaky_relu"), same("elu", "elu"), same("ELU", "elu"), same("selu", "selu"), same("SELU", "selu"),
    same("softplus", "softplus"), same("Softplus", "softplus"), same("mish", "mish"), same("Mish", "mish"),
    same("hardsigmoid", "hardsigmoid"), same("Hardsigmoid", "hardsigmoid"), same("hardswish", "hardswish"), same("Hardswish", "hardswish"),
    same("neg", "neg"), same("negative", "neg"), same("abs", "abs"), same("absolute", "abs"), same("square", "square"),
    same("relu", "relu"), same("ReLU", "relu"),
    // The exact form is the default there.
    same("gelu", "gelu_erf"), same("GELU", "gelu_erf"),
    same("silu", "silu"), same("SiLU", "silu"), same("swish", "silu"),
    same("sigmoid", "sigmoid"), same("Sigmoid", "sigmoid"), same("expit", "sigmoid"),
    same("tanh", "tanh"), same("Tanh", "tanh"),
    same("exp", "exp"), same("log", "log"), same("erf", "erf"), same("sin", "sin"), same("cos", "cos"),
    same("round", "round"), same("floor", "floor"), same("sqrt", "sqrt"), same("rsqrt", "rsqrt"), same("reciprocal", "reciprocal"),
    same("tril", "tril"), same("triu", "triu"), same("dropout", "dropout"), same("Dropout", "dropout"),
    same("where", "where"), same("clamp", "clamp"), same("clip", "clamp"),
    same("batch_norm", "batch_norm"), same("BatchNorm2d", "batch_norm"), same("BatchNorm1d", "batch_norm"),
    with("sum", "sum", REDUCED), with("mean", "mean", REDUCED), with("var", "var", REDUCED),
    with("max", "max", REDUCED), with("amax", "max", REDUCED), with("min", "min", REDUCED), with("amin", "min", REDUCED),
    with("prod", "prod", REDUCED), with("any", "any", REDUCED), with("all", "all", REDUCED),
    with("argmax", "argmax", REDUCED), with("argmin", "argmin", REDUCED),
    same("softmax", "softmax"), same("Softmax", "softmax"), same("log_softmax", "log_softmax"), same("LogSoftmax", "log_softmax"),
    same("layer_norm", "layer_norm"), same("LayerNorm", "layer_norm"), same("rms_norm", "rms_norm"), same("RMSNorm", "rms_norm"),
    with("normalize", "l2_norm", &["axis"]), with("cumsum", "cumsum", &["axis"]),
    same("max_pool2d", "max_pool2d"), same("MaxPool2d", "max_pool2d"), same("avg_pool2d", "avg_pool2d"), same("AvgPool2d", "avg_pool2d"),
    same("group_norm", "group_norm"), same("GroupNorm", "group_norm"),
    same("adaptive_avg_pool2d", "adaptive_avg_pool2d"), same("AdaptiveAvgPool2d", "adaptive_avg_pool2d"),
    same("adaptive_max_pool2d", "adaptive_max_pool2d"), same("AdaptiveMaxPool2d", "adaptive_max_pool2d"),
    same("scaled_dot_product_attention", "sdpa"), same("topk", "topk"), same("sort", "sort"), same("argsort", "argsort"),
    with("scatter", "scatter", &["axis"]), with("scatter_add", "scatter_add", &["axis"]),
    with("index_copy", "index_copy", &["axis"]), with("index_add", "index_add", &["axis"]),
    same("interpolate", "interpolate"), same("upsample", "interpolate"), with("flip", "flip", &["axis"]), with("roll", "roll", &["axis"]), same("one_hot", "one_hot"),
    same("matmul", "matmul"), same("mm", "matmul"), same("bmm", "matmul"),
    same("linear", "linear"), same("Linear", "linear"), same("conv1d", "conv1d"), same("Conv1d", "conv1d"), same("conv2d", "conv2d"), same("Conv2d", "conv2d"),
    same("reshape", "reshape"), same("view", "reshape"), same("contiguous", "contiguous"),
    with("permute", "transpose", &["perm"]), same("t", "transpose"),
    with("cat", "concat", &["axis"]), with("concat", "concat", &["axis"]), with("concatenate", "concat", &["axis"]),
    with("repeat_interleave", "repeat_interleave", &["axis"]),
    same("embedding", "embedding"), same("Embedding", "embedding"), with("gather", "gather", &["axis"]), same("pad", "pad"),
];

/// A name of PyTorch that is no function of the notation, and how it is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The name in PyTorch.
    pub name: &'static str,
    /// What to write, as an imperative with code in backquotes.
    pub hint: &'static str,
    /// Lines that replace the call `y = name(a, b, c)`, if they depend on nothing else: `{y}` is its output, `{0}` and so on are
    /// its inputs.
    pub lines: &'static [&'static str],
    /// Number of inputs that the lines are for.
    pub inputs: usize,
}

const fn hint(name: &'static str, hint: &'static str) -> Answer {
    Answer {
        name,
        hint,
        lines: &[],
        inputs: 0,
    }
}

const fn lines(
    name: &'static str,
    inputs: usize,
    hint: &'static str,
    lines: &'static [&'static str],
) -> Answer {
    Answer {
        name,
        hint,
        lines,
        inputs,
    }
}

/// Names that are answered.
#[rustfmt::skip]
pub const ANSWERS: &[Answer] = &[
    hint("MultiheadAttention", "write its ops: `linear` for each projection, `reshape`, `matmul`, `softmax` and `matmul`"),
    lines("addmm", 3, "write `matmul` and then `add`", &["{y}_product = matmul({1}, {2})", "{y} = add({y}_product, {0})"]),
    lines("baddbmm", 3, "write `matmul` and then `add`", &["{y}_product = matmul({1}, {2})", "{y} = add({y}_product, {0})"]),
    hint("einsum", "write it as `transpose`, `matmul` and `sum`"),
    hint("tensordot", "write it as `transpose`, `reshape` and `matmul`"),
    hint("mv", "write the vector as a matrix with one column, and use `matmul`"),
    hint("dot", "write `mul` and then `sum`"),
    hint("transpose", "write the order of all dimensions: `transpose(x, perm=[0, 2, 1])`"),
    hint("permute", "write the order of all dimensions: `transpose(x, perm=[0, 2, 1])`"),
    hint("swapaxes", "write the order of all dimensions: `transpose(x, perm=[0, 2, 1])`"),
    hint("flatten", "write `reshape` with the new shape after a colon"),
    hint("squeeze", "write `reshape` with the new shape after a colon"),
    hint("unsqueeze", "write `reshape` with the new shape after a colon"),
    hint("stack", "write `reshape` to add a dimension of size 1, then `concat`"),
    hint("cat", "give the axis, which is 0 in PyTorch by default: `concat(a, b, axis=0)`"),
    hint("chunk", "write one `split` per piece: `split(x, parts=2, index=0)`"),
    hint("split", "write one `split` per piece: `split(x, parts=2, index=0)`"),
    hint("narrow", "write `slice(x, start=0, end=8, axis=0)`"),
    hint("index_select", "write `gather`, or `embedding` for rows of a table"),
    lines("masked_fill", 3, "write `where(mask, value, x)`", &["{y} = where({1}, {2}, {0})"]),
    lines("relu6", 1, "write `clamp(x, min=0, max=6)`", &["{y} = clamp({0}, min=0, max=6)"]),
    lines("ReLU6", 1, "write `clamp(x, min=0, max=6)`", &["{y} = clamp({0}, min=0, max=6)"]),
    hint("addcmul", "write `mul` and then `add`"),
    lines("rsub", 2, "write `sub` with the inputs swapped", &["{y} = sub({1}, {0})"]),
    hint("cross_entropy", "write its ops: `log_softmax`, `gather`, `neg` and `mean`"),
    hint("mse_loss", "write its ops: `sub`, `square` and `mean`"),
    lines("half", 1, "write `cast` with the element type", &["{y} = cast({0}, dtype=f16)"]),
    lines("float", 1, "write `cast` with the element type", &["{y} = cast({0}, dtype=f32)"]),
    lines("bfloat16", 1, "write `cast` with the element type", &["{y} = cast({0}, dtype=bf16)"]),
    lines("double", 1, "write `cast` with the element type", &["{y} = cast({0}, dtype=f64)"]),
    hint("to", "write `cast` with the element type: `cast(x, dtype=f16)`"),
    hint("cuda", "use `x` itself: all tensors are in GPU memory"),
    hint("cpu", "use `x` itself: all tensors are in GPU memory"),
    hint("detach", "use `x` itself: Fuseline computes no gradients"),
    hint("ones", "write `full` with the shape after a colon: `y = full(value=1) : f16[1024]`"),
    hint("zeros", "write `full` with the shape after a colon: `y = full(value=0) : f16[1024]`"),
];

/// Names of attributes in PyTorch and in the notation.
const ATTRIBUTE_ALIASES: &[(&str, &str)] = &[
    ("dim", "axis"),
    ("dims", "perm"),
    ("keepdims", "keepdim"),
    ("kernel_size", "kernel"),
    ("repeats", "times"),
    ("chunks", "parts"),
    ("size", "shape"),
    ("diag", "diagonal"),
    ("negative_slope", "slope"),
    ("is_causal", "causal"),
    ("num_groups", "groups"),
    ("k", "count"),
    ("num_classes", "classes"),
    ("shifts", "shift"),
    ("dims", "axis"),
    ("output_size", "size"),
    ("scale_factor", "times"),
];

/// A name without the module that it is written with, and whether there was one.
pub fn without_module(name: &str) -> (&str, bool) {
    let rest = MODULES.iter().find_map(|module| name.strip_prefix(module));
    (rest.unwrap_or(name), rest.is_some())
}

/// The function that a name of PyTorch means; names of the notation mean themselves and are not looked up.
pub fn alias(name: &str) -> Option<&'static Alias> {
    let (name, _) = without_module(name);
    ALIASES.iter().find(|alias| alias.name == name)
}

/// What to write instead of a name.
pub fn answer(name: &str) -> Option<&'static Answer> {
    let (name, _) = without_module(name);
    ANSWERS.iter().find(|answer| answer.name == name)
}

/// The notation's name of an attribute that a function takes.
pub fn attribute(function_attributes: &[&'static str], name: &str) -> Option<&'static str> {
    let mut own = (ATTRIBUTE_ALIASES.iter()).filter(|(alias, own)| *alias == name && *own != name);
    own.find_map(|(_, own)| {
        function_attributes
            .iter()
            .copied()
            .find(|known| known == own)
    })
}
