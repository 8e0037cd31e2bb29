//! What a kernel computes, as a set of operations: from the functions of its ops, or from its name.

use fuseline_core::model::functions::Function;
use std::ops::{BitAnd, BitOr, BitOrAssign};

/// A set of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations(u64);

impl BitOr for Operations {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Operations {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitAnd for Operations {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Operations {
    pub(super) const NONE: Self = Self(0);

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    const fn count(self) -> f64 {
        self.0.count_ones() as f64
    }

    /// The Jaccard index of two sets: the share of all their operations that both have, 0 to 1.
    pub(super) fn likeness(self, other: Self) -> f64 {
        let either = (self | other).count();
        if either > 0.0 {
            (self & other).count() / either
        } else {
            0.0
        }
    }

    /// Adds the operations that these consist of, since a program may write them out: a softmax
    /// takes exp, sum and more.
    pub(super) fn spelled_out(self) -> Self {
        let parts = PARTS.iter().filter(|(whole, _)| self.has(*whole));
        parts.fold(self, |all, (_, parts)| all | *parts)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Assigns a bit to each operation.
macro_rules! define_operations {
    ($($name:ident)+) => {
        define_operations!(0; $($name)+);
    };
    ($bit:expr; $name:ident $($rest:ident)*) => {
        pub(super) const $name: Operations = Operations(1 << ($bit));
        define_operations!($bit + 1; $($rest)*);
    };
    ($bit:expr;) => {};
}

define_operations! {
    MATMUL CONVOLUTION ATTENTION
    ADD SUB MUL DIV EXTREMUM POW COMPARE LOGIC NEG ABS RELU GELU SILU SIGMOID TANH EXP LOG ERF TRIGONOMETRY ROUND SQRT RSQRT
    RECIPROCAL WHERE CLAMP DROPOUT CAST TRIANGLE FILL SOFTPLUS HARDSWISH MISH SIGN REMAINDER XLOGY LOGADDEXP
    SUM PRODUCT ANY MEAN LARGEST VAR SOFTMAX LAYER_NORM RMS_NORM BATCH_NORM GROUP_NORM NORM SCAN POOL LOSS SORT
    COPY CONCAT GATHER SCATTER PAD INTERPOLATE REORDER
}

/// Operations that only kernels on matrix units compute.
pub(super) const MATRIX: Operations = MATMUL.and(CONVOLUTION).and(ATTENTION);
/// Operations that combine elements along an axis.
pub(super) const REDUCTIONS: Operations = SUM
    .and(PRODUCT)
    .and(ANY)
    .and(MEAN)
    .and(LARGEST)
    .and(VAR)
    .and(SOFTMAX)
    .and(LAYER_NORM)
    .and(RMS_NORM)
    .and(GROUP_NORM)
    .and(NORM)
    .and(SCAN)
    .and(LOSS);

/// ELU as programs often write it out.
const ELU: Operations = EXP.and(SUB).and(COMPARE).and(WHERE);

/// Composite operations, each with the operations that it consists of.
const PARTS: &[(Operations, Operations)] = &[
    // A convolution of 1 x 1 is a matmul.
    (CONVOLUTION, MATMUL),
    (SOFTMAX, EXP.and(SUM).and(SUB).and(LARGEST).and(DIV)),
    (
        LAYER_NORM,
        MEAN.and(VAR).and(SUB).and(MUL).and(ADD).and(RSQRT),
    ),
    (
        GROUP_NORM,
        MEAN.and(VAR).and(SUB).and(MUL).and(ADD).and(RSQRT),
    ),
    (RMS_NORM, POW.and(MEAN).and(MUL).and(ADD).and(RSQRT)),
    (
        BATCH_NORM,
        SUB.and(MUL).and(ADD).and(RSQRT).and(MEAN).and(VAR),
    ),
    (NORM, POW.and(SUM).and(SQRT).and(ABS).and(DIV)),
    (VAR, MEAN.and(SUB).and(POW).and(SUM)),
    (MEAN, SUM.and(DIV)),
    (SILU, SIGMOID.and(MUL)),
    (SIGMOID, EXP.and(ADD).and(DIV)),
    (GELU, ERF.and(TANH).and(MUL).and(ADD)),
    (SOFTPLUS, EXP.and(LOG).and(ADD)),
    (HARDSWISH, ADD.and(CLAMP).and(MUL).and(DIV)),
    (MISH, SOFTPLUS.and(TANH).and(MUL)),
    (REMAINDER, DIV.and(ROUND).and(MUL).and(SUB)),
    (XLOGY, LOG.and(MUL).and(WHERE)),
    (LOGADDEXP, EXP.and(LOG).and(SUB).and(ADD).and(WHERE)),
    (RELU, EXTREMUM.and(CLAMP)),
    (CLAMP, EXTREMUM.and(RELU)),
    (RSQRT, SQRT.and(RECIPROCAL)),
    (RECIPROCAL, DIV),
    (POW, MUL),
    (SUB, ADD.and(NEG)),
    (LOSS, LOG.and(SUM).and(SOFTMAX)),
    (TRIANGLE, WHERE.and(MUL)),
];

/// Names of PyTorch's operators that the compiler joins to the name of a kernel. The longest match
/// counts, so one name may be a part of another.
#[rustfmt::skip]
const ATEN: &[(&[&str], Operations)] = &[
    (&["mm", "bmm", "mv", "baddbmm"], MATMUL),
    // The bias that the kernel adds behind a library's matmul or convolution, or operands in
    // another layout before it.
    (&["addmm"], ADD), (&["convolution"], ADD.and(COPY)),
    (&["_scaled_dot_product_efficient_attention", "_scaled_dot_product_flash_attention", "_scaled_dot_product_cudnn_attention", "scaled_dot_product_attention", "flex_attention"], ATTENTION),
    (&["add"], ADD), (&["sub", "rsub"], SUB), (&["mul"], MUL), (&["div"], DIV), (&["maximum", "minimum"], EXTREMUM),
    (&["pow", "square"], POW), (&["lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf"], COMPARE),
    (&["floor_divide"], DIV.and(ROUND)), (&["remainder"], REMAINDER), (&["xlogy"], XLOGY), (&["logaddexp"], LOGADDEXP), (&["sign"], SIGN), (&["hardsigmoid", "hardswish"], HARDSWISH), (&["mish"], MISH),
    (&["logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"], LOGIC),
    (&["neg"], NEG), (&["abs"], ABS), (&["relu", "leaky_relu", "threshold"], RELU), (&["gelu"], GELU), (&["silu"], SILU), (&["log_sigmoid_forward"], SIGMOID.and(LOG)), (&["sigmoid"], SIGMOID),
    (&["tanh"], TANH), (&["exp", "exp2", "expm1"], EXP), (&["log", "log2", "log10", "log1p"], LOG), (&["erf"], ERF), (&["sin", "cos", "tan"], TRIGONOMETRY),
    (&["round", "floor", "ceil", "trunc"], ROUND), (&["sqrt"], SQRT), (&["rsqrt"], RSQRT), (&["reciprocal"], RECIPROCAL), (&["softplus"], SOFTPLUS),
    (&["where", "masked_fill", "scalar_tensor"], WHERE), (&["clamp", "clamp_min", "clamp_max", "hardtanh"], CLAMP),
    (&["native_dropout", "bernoulli", "rand", "dropout"], DROPOUT), (&["_to_copy"], CAST), (&["tril", "triu"], TRIANGLE),
    (&["full", "arange", "zeros", "ones", "iota"], FILL),
    (&["sum"], SUM), (&["prod"], PRODUCT), (&["any", "all"], ANY), (&["mean"], MEAN), (&["amax", "amin", "max", "min", "argmax", "argmin"], LARGEST), (&["var", "var_mean", "std"], VAR),
    (&["_softmax", "softmax", "prepare_softmax_online", "logsumexp"], SOFTMAX), (&["_log_softmax", "log_softmax"], SOFTMAX.and(LOG)),
    (&["native_layer_norm"], LAYER_NORM), (&["_fused_rms_norm", "rms_norm"], RMS_NORM), (&["native_group_norm"], GROUP_NORM),
    (&["_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "native_batch_norm"], BATCH_NORM),
    (&["linalg_vector_norm"], NORM), (&["cumsum"], SCAN), (&["sort", "topk"], SORT), (&["nll_loss_forward", "smooth_l1_loss", "mse_loss"], LOSS),
    (&["avg_pool2d", "max_pool2d_with_indices", "_low_memory_max_pool2d_with_offsets", "_adaptive_avg_pool2d"], POOL),
    (&["clone", "copy"], COPY), (&["cat", "stack"], CONCAT), (&["embedding", "gather", "index", "index_select"], GATHER),
    (&["flip", "roll"], REORDER), (&["scatter", "scatter_add", "index_put", "index_copy", "index_add", "slice_scatter"], SCATTER), (&["constant_pad_nd"], PAD), (&["upsample_nearest2d", "upsample_bilinear2d"], INTERPOLATE),
];

/// Parts of the names of library kernels, in lower case.
#[rustfmt::skip]
const LIBRARY: &[(&[&str], Operations)] = &[
    (&["flash_fwd", "flash_fprop", "fmha", "sdpa", "attention"], ATTENTION),
    (&["fprop", "implicit_gemm", "conv2d", "convolve", "winograd", "cudnn::"], CONVOLUTION),
    (&["nvjet", "gemm", "gemv", "cutlass", "cublas", "dot_kernel"], MATMUL),
    // PyTorch subtracts with the same kernel.
    (&["functor_add", "functoronself_add", "functoronother_add"], ADD.and(SUB)), (&["mulfunctor"], MUL), (&["divfunctor", "div_true"], DIV),
    (&["maximum", "minimum"], EXTREMUM), (&["pow_tensor"], POW), (&["comparefunctor", "compare_"], COMPARE),
    (&["logical_", "bitwise_"], LOGIC), (&["neg_kernel"], NEG), (&["absfunctor", "abs_kernel"], ABS), (&["clamp"], RELU.and(CLAMP)), (&["leaky_relu"], RELU),
    (&["gelu"], GELU), (&["silu"], SILU), (&["log_sigmoid_forward"], SIGMOID.and(LOG)), (&["sigmoid"], SIGMOID), (&["tanh"], TANH), (&["exp_kernel", "exp2_kernel", "expm1_kernel"], EXP), (&["log_kernel", "log2_kernel", "log1p_kernel"], LOG), (&["erf_kernel"], ERF),
    (&["sin_kernel", "cos_kernel", "tan_kernel"], TRIGONOMETRY), (&["round_kernel", "floor_kernel", "ceil_kernel", "trunc_kernel"], ROUND), (&["rsqrt"], RSQRT), (&["::sqrt", "sqrt_kernel_cuda"], SQRT),
    (&["reciprocal"], RECIPROCAL), (&["where_kernel", "masked_fill"], WHERE), (&["dropout"], DROPOUT), (&["softplus"], SOFTPLUS),
    (&["div_floor"], DIV.and(ROUND)), (&["remainder"], REMAINDER), (&["xlogy"], XLOGY), (&["logaddexp"], LOGADDEXP), (&["sign_kernel"], SIGN), (&["::elu_kernel"], ELU), (&["hardsigmoid", "hardswish"], HARDSWISH), (&["mish_kernel"], MISH),
    (&["triu_tril"], TRIANGLE), (&["fillfunctor", "arange"], FILL),
    (&["sum_functor"], SUM), (&["prod_functor"], PRODUCT), (&["::or_kernel", "::and_kernel"], ANY), (&["meanops"], MEAN), (&["maxops", "minops", "maxnanfunctor", "minnanfunctor", "argmax", "argmin"], LARGEST), (&["welford", "std_var"], VAR),
    (&["softmax"], SOFTMAX), (&["logsoftmax"], LOG), (&["layer_norm", "layernorm"], LAYER_NORM), (&["rms_norm", "rmsnorm"], RMS_NORM),
    (&["batch_norm", "bn_fw"], BATCH_NORM), (&["rowwisemoments", "groupnorm"], GROUP_NORM), (&["normtwo", "normops"], NORM), (&["scan_", "cumsum"], SCAN),
    (&["sort", "topk"], SORT), (&["nll_loss"], LOSS), (&["avg_pool", "max_pool"], POOL), (&["copy_kernel"], COPY.and(CAST)), (&["catarray"], CONCAT),
    (&["gather_kernel", "indexselect", "index_elementwise", "embedding"], GATHER), (&["scatter"], SCATTER.and(GATHER)), (&["indexfunc", "index_copy"], SCATTER), (&["flip_kernel", "roll_cuda"], REORDER), (&["upsample"], INTERPOLATE),
];

/// Parts of the names of kernels that a library launches beside the kernel of an operation, in
/// lower case, and the operation.
#[rustfmt::skip]
const HELPERS: &[(&[&str], Operations)] = &[
    // A matmul or attention that is split along K has the word in its name, too, so a kernel
    // that adds the parts is recognized by both of its words.
    (&["splitkreduce", "splitk_reduce", "reducesplitk", "reduce_splitk"], MATRIX), (&["splitkv_combine", "fwd_combine", "fwdcombine"], ATTENTION),
    (&["nchwtonhwc", "nhwctonchw", "addpadding", "reorder_kernel"], MATRIX),
    (&["batch_norm_calc_invstd"], BATCH_NORM), (&["computefusedparams", "groupnormkernelimpl"], GROUP_NORM),
];

/// How a kernel walks its tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Each element by itself.
    Elementwise,
    /// Along rows.
    Rows,
    /// On matrix units.
    Matrix,
    /// The name does not say.
    Unknown,
}

/// What the name of a kernel states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) operations: Operations,
    pub(super) shape: Shape,
    /// The operations of the neighbouring kernel that it helps; none if it is no helper.
    pub(super) helps: Operations,
}

/// The operations of a function; none if they are not known.
#[rustfmt::skip]
pub const fn of_function(function: Function) -> Operations {
    use Function as F;
    match function {
        F::Matmul | F::ScaledMatmul | F::Linear => MATMUL,
        F::Conv1d | F::Conv2d | F::Convolution => CONVOLUTION,
        F::Sdpa => ATTENTION,
        F::Add | F::Shift => ADD,
        F::Sub => SUB,
        F::Mul => MUL,
        F::Scale => MUL.and(DIV),
        F::Div => DIV,
        F::FloorDivide | F::TruncDivide => DIV.and(ROUND),
        F::Remainder => REMAINDER,
        F::Xlogy => XLOGY,
        F::Logaddexp => LOGADDEXP,
        F::Sign => SIGN,
        F::Rotary => MUL.and(ADD).and(NEG).and(CONCAT),
        F::Maximum | F::Minimum => EXTREMUM,
        F::Pow | F::Square => POW,
        F::Lt | F::Le | F::Gt | F::Ge | F::Eq | F::Ne | F::Isnan | F::Isinf => COMPARE,
        F::LogicalAnd | F::LogicalOr | F::LogicalXor | F::LogicalNot => LOGIC,
        F::Elu | F::Selu => ELU,
        F::Hardsigmoid | F::Hardswish => HARDSWISH,
        F::Mish => MISH,
        F::Softsign => ABS.and(ADD).and(DIV),
        F::Softplus => SOFTPLUS,
        F::LogSigmoid => SIGMOID.and(LOG),
        F::Neg => NEG,
        F::Abs => ABS,
        F::Relu | F::LeakyRelu => RELU,
        F::Gelu | F::GeluErf => GELU,
        F::Silu => SILU,
        F::Sigmoid => SIGMOID,
        F::Tanh => TANH,
        F::Exp | F::Exp2 | F::Expm1 => EXP,
        F::Log | F::Log2 | F::Log1p => LOG,
        F::Erf => ERF,
        F::Sin | F::Cos | F::Tan => TRIGONOMETRY,
        F::Round | F::Floor | F::Ceil | F::Trunc => ROUND,
        F::Sqrt => SQRT,
        F::Rsqrt => RSQRT,
        F::Reciprocal => RECIPROCAL,
        F::Mask => ADD.and(WHERE),
        F::Where => WHERE,
        F::Clamp => CLAMP,
        F::Dropout => DROPOUT,
        F::Cast => CAST,
        F::Dequantize => CAST.and(MUL),
        F::Copy => COPY.and(CAST),
        F::Tril | F::Triu => TRIANGLE,
        F::Full | F::Arange => FILL,
        F::BatchNorm | F::BatchNormTrain => BATCH_NORM,
        F::GroupNorm => GROUP_NORM,
        F::Sum => SUM,
        F::Prod => PRODUCT,
        F::Any | F::All => ANY,
        F::Mean => MEAN,
        F::Max | F::Min | F::Argmax | F::Argmin => LARGEST,
        F::Var => VAR,
        F::Softmax => SOFTMAX,
        F::LogSoftmax => SOFTMAX.and(LOG),
        F::LayerNorm => LAYER_NORM,
        F::RmsNorm => RMS_NORM,
        F::L2Norm => NORM,
        F::Cumsum => SCAN,
        F::Topk | F::TopkIndices | F::Sort | F::Argsort => SORT,
        F::MaxPool2d | F::AvgPool2d | F::AdaptiveAvgPool2d | F::AdaptiveMaxPool2d => POOL,
        F::Reshape | F::Bitcast | F::Rearrange | F::Contiguous | F::Transpose | F::Split | F::Slice | F::Expand | F::Repeat | F::RepeatInterleave => COPY,
        F::Concat => CONCAT,
        F::Embedding | F::Gather | F::Index => GATHER,
        F::Scatter | F::ScatterAdd | F::IndexCopy | F::IndexAdd | F::IndexPut => SCATTER,
        // Eager PyTorch copies into a slice, and the compiler names the kernel by its operator.
        F::SliceScatter => COPY.and(SCATTER),
        F::OneHot => COMPARE.and(FILL).and(SCATTER),
        F::Flip | F::Roll => REORDER,
        F::Pad => PAD,
        F::Interpolate | F::InterpolateBilinear => INTERPOLATE,
        F::Opaque | F::Part => Operations::NONE,
    }
}

/// The operations and the shape of a kernel that ran, from its name. `O(name)` with a large factor:
/// ask once for each name.
pub(super) fn of_name(name: &str) -> Named {
    if let Some(rest) = name.strip_prefix("triton_") {
        let (form, words) = rest.split_once("_fused_").unwrap_or((rest, ""));
        return generated(form, words);
    }
    let name = name.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let rows = LIBRARY.iter().filter(|(parts, _)| has(parts));
    let mut operations = rows.fold(Operations::NONE, |all, (_, operations)| all | *operations);
    let helped = HELPERS.iter().filter(|(parts, _)| has(parts));
    let helps = helped.fold(Operations::NONE, |all, (_, operations)| all | *operations);
    let matrix = operations & MATRIX;
    // A convolution and attention are matmuls inside, and their names may say so.
    for one in [ATTENTION, CONVOLUTION, MATMUL] {
        if matrix.has(one) {
            operations = one;
            break;
        }
    }
    let shape = if operations.has(MATRIX) {
        Shape::Matrix
    } else if has(&["reduce_kernel"]) || operations.has(REDUCTIONS) {
        Shape::Rows
    } else if has(&["elementwise"]) {
        Shape::Elementwise
    } else {
        Shape::Unknown
    };
    Named {
        operations,
        shape,
        helps,
    }
}

/// The operations and the shape from a name of the compiler: `poi` and `add_relu` of
/// `triton_poi_fused_add_relu_0`.
fn generated(form: &str, words: &str) -> Named {
    let mut operations = Operations::NONE;
    let mut rest = words;
    while !rest.is_empty() {
        let fits = |word: &str| {
            let behind = rest.strip_prefix(word);
            behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('_'))
        };
        let known = ATEN
            .iter()
            .flat_map(|(names, operations)| names.iter().map(move |name| (name, *operations)));
        let longest = known
            .filter(|(name, _)| fits(name))
            .max_by_key(|(name, _)| name.len());
        let length = match longest {
            Some((name, of_word)) => {
                operations |= of_word;
                name.len()
            }
            // An unknown word, a number or a view: skip one word.
            None => rest.find('_').unwrap_or(rest.len()),
        };
        let behind = &rest[length.max(1).min(rest.len())..];
        // A name may itself start with an underscore: `__softmax`, `_to_copy`.
        rest = if length == 0 {
            behind
        } else {
            behind.strip_prefix('_').unwrap_or(behind)
        };
    }
    let is_template = form.starts_with("tem") || form.starts_with("mm");
    let shape = match form {
        _ if is_template => Shape::Matrix,
        "poi" => Shape::Elementwise,
        "per" | "red" => Shape::Rows,
        _ => Shape::Unknown,
    };
    if is_template {
        operations |= MATMUL;
    } else if !operations.without(MATMUL).is_empty() {
        // The name of a kernel after a matmul lists the matmul, too, which ran in its own kernel.
        operations = operations.without(MATRIX);
    }
    Named {
        operations,
        shape,
        helps: Operations::NONE,
    }
}
