//! PyTorch's names: the function of the notation that each means, or what to write instead.

use super::{AttributeName, Function};
use Function as F;
use strum::VariantArray;

/// A PyTorch name, without `torch.` and the like, that means a function of the notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name in PyTorch.
    pub name: &'static str,
    /// The function of the notation.
    pub function: Function,
    /// Attributes of the notation that the call must give, because PyTorch has another default.
    pub needs: &'static [AttributeName],
}

/// Modules that may precede a name; the longer ones first.
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

const fn same(name: &'static str, function: Function) -> Alias {
    Alias {
        name,
        function,
        needs: &[],
    }
}

const fn with(name: &'static str, function: Function, needs: &'static [AttributeName]) -> Alias {
    Alias {
        name,
        function,
        needs,
    }
}

/// PyTorch drops a reduced dimension and reduces all of them, where the notation keeps it as 1 and
/// reduces the last one.
const REDUCED: &[AttributeName] = &[AttributeName::Axis, AttributeName::Keepdim];

/// PyTorch names that mean a function; the rows have the names of modules of `torch.nn`.
///
/// A name of the notation is in this list when PyTorch has it in a module.
#[rustfmt::skip]
pub const ALIASES: &[Alias] = &[
    same("add", F::Add), same("sub", F::Sub), same("subtract", F::Sub), same("mul", F::Mul), same("multiply", F::Mul),
    same("div", F::Div), same("divide", F::Div), same("true_divide", F::Div),
    same("maximum", F::Maximum), same("minimum", F::Minimum), same("pow", F::Pow),
    same("lt", F::Lt), same("less", F::Lt), same("le", F::Le), same("less_equal", F::Le),
    same("gt", F::Gt), same("greater", F::Gt), same("ge", F::Ge), same("greater_equal", F::Ge),
    same("eq", F::Eq), same("ne", F::Ne), same("not_equal", F::Ne),
    same("logical_and", F::LogicalAnd), same("logical_or", F::LogicalOr), same("logical_not", F::LogicalNot),
    same("logical_xor", F::LogicalXor), same("floor_divide", F::FloorDivide), same("remainder", F::Remainder), same("sign", F::Sign),
    same("xlogy", F::Xlogy), same("logaddexp", F::Logaddexp),
    same("isnan", F::Isnan), same("isinf", F::Isinf), same("exp2", F::Exp2), same("expm1", F::Expm1), same("log2", F::Log2), same("log1p", F::Log1p),
    same("tan", F::Tan), same("ceil", F::Ceil), same("trunc", F::Trunc), same("fix", F::Trunc),
    same("neg", F::Neg), same("negative", F::Neg), same("abs", F::Abs), same("absolute", F::Abs), same("square", F::Square),
    // PyTorch's default is the exact form.
    same("gelu", F::GeluErf), same("GELU", F::GeluErf),
    same("swish", F::Silu), same("logsigmoid", F::LogSigmoid),
    same("sigmoid", F::Sigmoid), same("Sigmoid", F::Sigmoid), same("expit", F::Sigmoid),
    same("tanh", F::Tanh), same("Tanh", F::Tanh),
    same("exp", F::Exp), same("log", F::Log), same("erf", F::Erf), same("sin", F::Sin), same("cos", F::Cos),
    same("round", F::Round), same("floor", F::Floor), same("sqrt", F::Sqrt), same("rsqrt", F::Rsqrt), same("reciprocal", F::Reciprocal),
    same("tril", F::Tril), same("triu", F::Triu),
    same("where", F::Where), same("clamp", F::Clamp), same("clip", F::Clamp),
    same("BatchNorm1d", F::BatchNorm),
    with("sum", F::Sum, REDUCED), with("mean", F::Mean, REDUCED), with("var", F::Var, REDUCED),
    with("max", F::Max, REDUCED), with("amax", F::Max, REDUCED), with("min", F::Min, REDUCED), with("amin", F::Min, REDUCED),
    with("prod", F::Prod, REDUCED), with("any", F::Any, REDUCED), with("all", F::All, REDUCED),
    with("argmax", F::Argmax, REDUCED), with("argmin", F::Argmin, REDUCED),
    with("normalize", F::L2Norm, &[AttributeName::Axis]), with("cumsum", F::Cumsum, &[AttributeName::Axis]),
    same("scaled_dot_product_attention", F::Sdpa), same("topk", F::Topk), same("sort", F::Sort), same("argsort", F::Argsort),
    with("scatter", F::Scatter, &[AttributeName::Axis]), with("scatter_add", F::ScatterAdd, &[AttributeName::Axis]),
    with("index_copy", F::IndexCopy, &[AttributeName::Axis]), with("index_add", F::IndexAdd, &[AttributeName::Axis]),
    same("interpolate", F::Interpolate), same("upsample", F::Interpolate), with("flip", F::Flip, &[AttributeName::Axis]), with("roll", F::Roll, &[AttributeName::Axis]), same("one_hot", F::OneHot),
    same("matmul", F::Matmul), same("mm", F::Matmul), same("bmm", F::Matmul),
    same("reshape", F::Reshape), same("view", F::Reshape), same("contiguous", F::Contiguous),
    with("permute", F::Transpose, &[AttributeName::Perm]), same("t", F::Transpose),
    with("cat", F::Concat, &[AttributeName::Axis]), with("concat", F::Concat, &[AttributeName::Axis]), with("concatenate", F::Concat, &[AttributeName::Axis]),
    with("repeat_interleave", F::RepeatInterleave, &[AttributeName::Axis]),
    with("gather", F::Gather, &[AttributeName::Axis]), same("pad", F::Pad),
];

/// A PyTorch name that is not a function of the notation, and how to write it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The name in PyTorch.
    pub name: &'static str,
    /// What to write, as an imperative with code in backquotes.
    pub hint: &'static str,
    /// Lines that replace the call `y = name(a, b, c)`, if they depend on nothing else: `{y}` is
    /// its output, `{0}` and so on are its inputs.
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

/// PyTorch names for which the notation has an answer.
#[rustfmt::skip]
pub const ANSWERS: &[Answer] = &[
    hint("MultiheadAttention", "write its ops: `linear` for each projection, `reshape`, `matmul`, `softmax` and `matmul`"),
    lines("addmm", 3, "write `matmul` and then `add`", &["{y}_product = matmul({1}, {2})", "{y} = add({y}_product, {0})"]),
    lines("baddbmm", 3, "write `matmul` and then `add`", &["{y}_product = matmul({1}, {2})", "{y} = add({y}_product, {0})"]),
    hint("_scaled_mm", "write the product with its scales and its type: `y = scaled_matmul(a, b, scale_a, scale_b) : bf16[64, 128]`"),
    hint("scaled_mm", "write the product with its scales and its type: `y = scaled_matmul(a, b, scale_a, scale_b) : bf16[64, 128]`"),
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
    hint("nll_loss", "write its ops: `gather`, `neg` and `mean`"),
    hint("mse_loss", "write its ops: `sub`, `square` and `mean`"),
    hint("kl_div", "write its ops: `xlogy`, `mul`, `sub` and `mean`"),
    hint("l1_loss", "write its ops: `sub`, `abs` and `mean`"),
    hint("logsumexp", "write its ops: `max`, `sub`, `exp`, `sum`, `log` and `add`"),
    hint("_weight_int8pack_mm", "write its ops: `cast` of the weight, `linear` and `mul` by the scales"),
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

/// Attributes by their names in PyTorch, with those of the notation.
const ATTRIBUTE_ALIASES: &[(&str, AttributeName)] = &[
    ("dim", AttributeName::Axis),
    ("dims", AttributeName::Perm),
    ("keepdims", AttributeName::Keepdim),
    ("kernel_size", AttributeName::Kernel),
    ("repeats", AttributeName::Times),
    ("chunks", AttributeName::Parts),
    ("size", AttributeName::Shape),
    ("diag", AttributeName::Diagonal),
    ("negative_slope", AttributeName::Slope),
    ("is_causal", AttributeName::Causal),
    ("num_groups", AttributeName::Groups),
    ("k", AttributeName::Count),
    ("num_classes", AttributeName::Classes),
    ("shifts", AttributeName::Shift),
    ("dims", AttributeName::Axis),
    ("output_size", AttributeName::Size),
    ("scale_factor", AttributeName::Times),
];

/// A name without its module, and whether it had one.
pub fn without_module(name: &str) -> (&str, bool) {
    let rest = MODULES.iter().find_map(|module| name.strip_prefix(module));
    (rest.unwrap_or(name), rest.is_some())
}

/// The function that a PyTorch name means. A name of the notation means itself and is not looked
/// up.
pub fn alias(name: &str) -> Option<Alias> {
    let (name, _) = without_module(name);
    let listed = ALIASES.iter().find(|alias| alias.name == name);
    listed.copied().or_else(|| {
        let has_name = |function: &&Function| {
            let module = function.row().module;
            module.is_some() && (module == Some(name) || function.name() == name)
        };
        let function = *Function::VARIANTS.iter().find(has_name)?;
        Some(same(function.name(), function))
    })
}

/// All PyTorch names of a function.
pub fn names_of(function: Function) -> impl Iterator<Item = &'static str> {
    let listed = ALIASES
        .iter()
        .filter(move |alias| alias.function == function);
    let module = function.row().module.into_iter();
    let own = module.flat_map(move |module| [function.name(), module]);
    listed.map(|alias| alias.name).chain(own)
}

/// What to write instead of a name.
pub fn answer(name: &str) -> Option<&'static Answer> {
    let (name, _) = without_module(name);
    ANSWERS.iter().find(|answer| answer.name == name)
}

/// The attribute with this PyTorch name, if the notation has another name for it.
pub fn attribute(function: Function, name: &str) -> Option<AttributeName> {
    let aliases = ATTRIBUTE_ALIASES
        .iter()
        .filter(|(alias, own)| *alias == name && own.name() != name);
    let mut own = aliases.map(|&(_, own)| own);
    own.find(|own| function.row().attributes.contains(own))
}
