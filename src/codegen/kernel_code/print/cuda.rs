//! CUDA C++: one kernel, whose sizes are compiled in.
//!
//! Numbers are computed as `float`, as PyTorch computes f16 and bf16, and as `double` in a kernel
//! that reads or writes f64. Whole numbers are computed as such numbers, too, and are exact as far
//! as these are.

use super::code::{Code, Line};
use super::language::Language;
use super::names::{Names, Naming, written_name};
use super::scalar::{Launch, Printer, Threads, launch, shared_arrays};
use crate::calculator::{Binary, Fold, Unary};
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::kernel::{Argument, Kernel};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::graph::Graph;

/// Shared memory that a block has without asking for more.
const SHARED_BYTES: u64 = 48 * 1024;
/// Most blocks of a launch along its first dimension.
const MOST_BLOCKS: u64 = (1 << 31) - 1;

/// A kernel as CUDA C++, with the headers and the functions that it needs, and its launch as a
/// comment.
///
/// # Errors
/// Which limit of a launch the kernel exceeds.
pub fn cuda(graph: &Graph, kernel: &Kernel) -> Result<Code, CodegenError> {
    let Launch { groups, threads } = launch(kernel).ok_or(CodegenError::TooManyBlocks)?;
    if groups > MOST_BLOCKS {
        return Err(CodegenError::TooManyBlocks);
    }
    let is_f64 = |argument: &Argument| argument.dtype == DType::F64;
    let language = Cuda {
        is_double: kernel.arguments.iter().any(is_f64),
        is_wide: needs_wide_indices(kernel, groups.saturating_mul(threads)),
    };
    let number = language.number_type();
    let arrays = shared_arrays(kernel);
    let values: u64 = arrays.iter().map(|array| array.1).sum::<u64>() + threads;
    let shared_bytes = values.saturating_mul(if language.is_double { 8 } else { 4 });
    if shared_bytes > SHARED_BYTES {
        return Err(CodegenError::SharedByBlock {
            bytes: shared_bytes,
            most: SHARED_BYTES,
        });
    }
    let mut names = Names::new(graph, kernel, WORDS, "_data", Naming::Program);
    let name = names.other(&format!("fused_{}", written_name(graph, kernel)));
    let mut printer = Printer::new(graph, kernel, language, names);
    printer.line(format!("// {name}<<<{groups}, {threads}>>>(...)"));
    printer.line(format!(
        "extern \"C\" __global__ void __launch_bounds__({threads}) {name}("
    ));
    let last = kernel.arguments.len().saturating_sub(1);
    printer.indent += 1;
    for (place, argument) in kernel.arguments.iter().enumerate() {
        let constant = if argument.is_written { "" } else { "const " };
        let element = type_of(argument.dtype);
        let tensor = printer.texts.names.tensor(argument.tensor);
        let end = if place == last { ") {" } else { "," };
        let line = format!("{constant}{element}* __restrict__ {tensor}{end}");
        printer.line(line);
    }
    for (array, elements) in arrays {
        printer.line(format!("__shared__ {number} {array}[{elements}];"));
    }
    printer.body();
    printer.close();
    Ok(with_preamble(printer.code, kernel, number, threads))
}

/// The headers and functions that the kernel needs, then itself.
fn with_preamble(kernel_code: Code, kernel: &Kernel, number: &str, threads: u64) -> Code {
    let mut code = Code::default();
    let headers = [
        (DType::F16, "cuda_fp16.h"),
        (DType::Bf16, "cuda_bf16.h"),
        (DType::F8e4m3, "cuda_fp8.h"),
    ];
    for (dtype, header) in headers {
        let is_in = |own: DType| own == dtype || own.is_f8() && dtype.is_f8();
        if kernel
            .arguments
            .iter()
            .any(|argument| is_in(argument.dtype))
        {
            code.push(0, format!("#include <{header}>"));
        }
    }
    let text = kernel_code.text();
    let is_called = |text: &str, name: &str| text.contains(&format!("{name}("));
    let folds = [Fold::Sum, Fold::Product, Fold::Maximum, Fold::Minimum];
    let folds = folds
        .into_iter()
        .filter(|&fold| is_called(&text, name_of_row(fold)));
    let rows: Vec<String> = folds.map(|fold| across(fold, threads)).collect();
    let helpers = HELPERS
        .iter()
        .filter(|(name, _)| is_called(&text, name) || rows.iter().any(|row| is_called(row, name)));
    let helpers: Vec<String> = helpers.map(|helper| helper.1.to_owned()).collect();
    for function in helpers.into_iter().chain(rows) {
        if !code.lines.is_empty() {
            code.push(0, "");
        }
        for line in function.replace("NUMBER", number).lines() {
            let trimmed = line.trim_start();
            code.push((line.len() - trimmed.len()) / 4, trimmed);
        }
    }
    if !code.lines.is_empty() {
        code.lines.push(Line::default());
    }
    code.lines.extend(kernel_code.lines);
    code
}

/// Whether an index, or the number of a thread, needs more than 31 bits.
fn needs_wide_indices(kernel: &Kernel, threads: u64) -> bool {
    let expressions = &kernel.expressions;
    let is_large = |value: u64| i32::try_from(value).is_err();
    let mut indices = expressions.indices.iter();
    is_large(threads)
        || kernel.arguments.iter().any(|own| is_large(own.elements))
        || indices.any(|index| i32::try_from(expressions.bounds(index).1).is_err())
}

fn type_of(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "double",
        DType::F32 => "float",
        DType::Bf16 => "__nv_bfloat16",
        DType::F16 => "__half",
        DType::F8e4m3 => "__nv_fp8_e4m3",
        DType::F8e5m2 => "__nv_fp8_e5m2",
        // No kernel has an argument of E8M0 or of 4 bits.
        DType::F8e8m0 => "__nv_fp8_e8m0",
        DType::F4 => "__nv_fp4_e2m1",
        DType::I64 => "long long",
        DType::I32 => "int",
        DType::I8 | DType::I4 => "signed char",
        DType::Bool => "bool",
    }
}

struct Cuda {
    /// Whether numbers are `double`, else `float`.
    is_double: bool,
    /// Whether indices have 64 bits, else 32.
    is_wide: bool,
}

impl Cuda {
    fn number_type(&self) -> &'static str {
        if self.is_double { "double" } else { "float" }
    }

    fn index_type(&self) -> &'static str {
        if self.is_wide { "long long" } else { "int" }
    }

    /// The name of a function of the C library for this type of numbers.
    fn of_library(&self, name: &str) -> String {
        format!("{name}{}", if self.is_double { "" } else { "f" })
    }
}

impl Language for Cuda {
    fn number(&self, value: f64) -> String {
        #[allow(clippy::cast_possible_truncation, reason = "it is computed as f32")]
        let value = if self.is_double {
            value
        } else {
            f64::from(value as f32)
        };
        if value.is_nan() {
            return "NAN".to_owned();
        }
        if value.is_infinite() {
            return if value > 0.0 { "INFINITY" } else { "-INFINITY" }.to_owned();
        }
        if self.is_double {
            return format!("{value:?}");
        }
        #[allow(clippy::cast_possible_truncation, reason = "it was rounded to f32")]
        let value = value as f32;
        format!("{value:?}f")
    }

    fn unary(&self, function: Unary, a: &str) -> String {
        let name = match function {
            Unary::Abs => "fabs",
            Unary::Exp => "exp",
            Unary::Exp2 => "exp2",
            Unary::Expm1 => "expm1",
            Unary::Log => "log",
            Unary::Log2 => "log2",
            Unary::Log1p => "log1p",
            Unary::Sqrt => "sqrt",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tan => "tan",
            Unary::Tanh => "tanh",
            Unary::Erf => "erf",
            Unary::Floor => "floor",
            Unary::Ceil => "ceil",
            Unary::Trunc => "trunc",
            Unary::Round => "rint",
            Unary::IsNan => return format!("isnan({a})"),
            Unary::IsInfinite => return format!("isinf({a})"),
            Unary::Not => return format!("!({a})"),
            Unary::Negate => return format!("-({a})"),
        };
        format!("{}({a})", self.of_library(name))
    }

    fn binary(&self, function: Binary, a: &str, b: &str) -> String {
        match function {
            Binary::Power => format!("{}({a}, {b})", self.of_library("pow")),
            Binary::Maximum => format!("maximum({a}, {b})"),
            Binary::Minimum => format!("minimum({a}, {b})"),
            _ => format!("{}({a}, {b})", self.of_library("fmod")),
        }
    }

    fn select(&self, condition: &str, then: &str, otherwise: &str) -> String {
        format!("{condition} ? {then} : {otherwise}")
    }

    fn to_number(&self, text: &str, _: bool) -> String {
        format!("{}({text})", self.number_type())
    }

    fn to_index(&self, text: &str) -> String {
        format!("({})({text})", self.index_type())
    }

    fn logic(&self) -> [&'static str; 3] {
        ["&&", "||", "!"]
    }

    fn read(&self, tensor: &str, dtype: DType, place: &str, only_if: Option<&str>) -> String {
        let element = format!("{tensor}[{place}]");
        let number = match dtype {
            DType::F64 | DType::F32 => element,
            DType::Bf16 => format!("__bfloat162float({element})"),
            DType::F16 => format!("__half2float({element})"),
            DType::F8e4m3
            | DType::F8e5m2
            | DType::F8e8m0
            | DType::F4
            | DType::I64
            | DType::I32
            | DType::I8
            | DType::I4
            | DType::Bool => self.to_number(&element, false),
        };
        match only_if {
            Some(condition) => format!("{condition} ? {number} : {}", self.number(0.0)),
            None => number,
        }
    }

    fn shared(&self, name: &str, place: &str) -> String {
        format!("{name}[{place}]")
    }

    fn uniform(&self, key: u32, place: &str) -> String {
        format!("uniform_at({key}u, {place})")
    }
}

impl Threads for Cuda {
    fn constant(&self) -> &'static str {
        if self.is_double {
            "const double"
        } else {
            "const float"
        }
    }

    fn variable(&self, name: &str, value: &str) -> String {
        format!("{} {name} = {value};", self.number_type())
    }

    fn array(&self, name: &str, elements: u64) -> String {
        format!("{} {name}[{elements}] = {{}};", self.number_type())
    }

    fn index(&self, name: &str, value: &str) -> String {
        format!("const {} {name} = {value};", self.index_type())
    }

    fn head(&self, name: &str, start: &str, end: &str, step: u64) -> String {
        let next = match step {
            1 => format!("++{name}"),
            _ => format!("{name} += {step}"),
        };
        let index = self.index_type();
        format!("for ({index} {name} = {start}; {name} < {end}; {next}) {{")
    }

    fn lane(&self) -> &'static str {
        "threadIdx.x"
    }

    fn group(&self) -> &'static str {
        if self.is_wide {
            "(long long)blockIdx.x"
        } else {
            "blockIdx.x"
        }
    }

    fn has_spare_groups(&self) -> bool {
        false
    }

    fn barrier(&self) -> &'static str {
        "__syncthreads();"
    }

    fn across(&self, fold: Fold, value: &str) -> String {
        format!("{}({value})", name_of_row(fold))
    }

    fn folded(&self, fold: Fold, a: &str, b: &str) -> String {
        folded(fold, a, b)
    }

    fn write(&self, tensor: &str, dtype: DType, place: &str, value: &str) -> String {
        let from = self.number_type();
        let element = match dtype {
            DType::F64 | DType::F32 => value.to_owned(),
            DType::Bf16 => format!("__{from}2bfloat16({value})"),
            DType::F16 => format!("__{from}2half({value})"),
            DType::I64 => format!("(long long)({value})"),
            DType::I8 | DType::I4 => format!("(signed char)({value})"),
            DType::F8e4m3
            | DType::F8e5m2
            | DType::F8e8m0
            | DType::F4
            | DType::I32
            | DType::Bool => format!("{}({value})", type_of(dtype)),
        };
        format!("{tensor}[{place}] = {element};")
    }
}

fn folded(fold: Fold, a: &str, b: &str) -> String {
    match fold {
        Fold::Sum => format!("{a} + {b}"),
        Fold::Product => format!("{a} * {b}"),
        Fold::Maximum => format!("maximum({a}, {b})"),
        Fold::Minimum => format!("minimum({a}, {b})"),
    }
}

fn name_of_row(fold: Fold) -> &'static str {
    match fold {
        Fold::Sum => "sum_of_row",
        Fold::Product => "product_of_row",
        Fold::Maximum => "maximum_of_row",
        Fold::Minimum => "minimum_of_row",
    }
}

/// A function that folds one value of each thread and returns the result to all of them.
fn across(fold: Fold, threads: u64) -> String {
    let name = name_of_row(fold);
    let folded = folded(fold, "partial[threadIdx.x]", "partial[threadIdx.x + half]");
    format!(
        "__device__ NUMBER {name}(NUMBER value) {{
    __shared__ NUMBER partial[{threads}];
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = {}; half > 0; half /= 2) {{
        if (threadIdx.x < half) {{
            partial[threadIdx.x] = {folded};
        }}
        __syncthreads();
    }}
    const NUMBER result = partial[0];
    __syncthreads();
    return result;
}}",
        threads / 2
    )
}

/// Functions that CUDA lacks: its own `fmax` and `fmin` ignore NaN.
const HELPERS: [(&str, &str); 3] = [
    (
        "maximum",
        "__device__ NUMBER maximum(NUMBER a, NUMBER b) {
    return isnan(a) || a > b ? a : b;
}",
    ),
    (
        "minimum",
        "__device__ NUMBER minimum(NUMBER a, NUMBER b) {
    return isnan(a) || a < b ? a : b;
}",
    ),
    (
        "uniform_at",
        "__device__ NUMBER uniform_at(unsigned key, unsigned place) {
    const unsigned state = (place ^ key) * 747796405u + 2891336453u;
    const unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return NUMBER(((word >> 22) ^ word) >> 8) / 16777216;
}",
    ),
];

/// Names that no value may have: keywords, types, functions and macros that the value would hide,
/// and names in the code that this file writes around the body.
const WORDS: &str = include_str!("cuda_words.txt");
