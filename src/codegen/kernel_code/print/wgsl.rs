//! The shading language of WebGPU.
//!
//! Numbers are f32, whole numbers and truth values i32: what a browser's GPU always has. The
//! language knows no infinity; the lowest and the largest number stand for it.

use super::code::Code;
use super::language::Language;
use super::names::{Names, Naming};
use super::scalar::{Launch, Printer, THREADS, Threads, launch, shared_arrays};
use crate::calculator::{Binary, Fold, Unary};
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::kernel::{Grid, Kernel};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::TensorId;

/// Most groups of threads along one dimension of a launch.
const MOST_GROUPS: u64 = 65_535;
/// Bytes that the threads of a group share on every adapter.
const SHARED_BYTES: u64 = 16_384;
/// Elements of a row that the threads of a group can share, beside those of its sum.
pub const LONGEST_SHARED_ROW: u64 = SHARED_BYTES / 4 - THREADS;

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// The code, with the entry point `main`. Floats are `array<f32>`, whole numbers and truth
    /// values `array<i32>`.
    pub code: Code,
    /// The tensors; the index of each is its binding in group 0.
    pub tensors: Vec<TensorId>,
    /// Groups of threads along each dimension.
    pub workgroups: [u32; 3],
}

/// A kernel as a shader.
///
/// # Errors
/// What in the kernel WebGPU cannot run.
pub fn wgsl(graph: &Graph, kernel: &Kernel, naming: Naming) -> Result<Shader, CodegenError> {
    for argument in &kernel.arguments {
        let name = kernel.tensor_name(graph, argument.tensor);
        if argument.dtype == DType::F64 {
            return Err(CodegenError::F64InWebGpu(name.to_owned()));
        }
        if i32::try_from(argument.elements).is_err() {
            return Err(CodegenError::BeyondIndex(name.to_owned()));
        }
    }
    let shared_bytes = 4 * (kernel.shared.iter().sum::<u64>() + THREADS);
    if shared_bytes > SHARED_BYTES {
        return Err(CodegenError::SharedByWorkgroup {
            bytes: shared_bytes,
            most: SHARED_BYTES,
        });
    }
    let names = Names::new(graph, kernel, WORDS, "_data", naming);
    let mut printer = Printer::new(graph, kernel, Wgsl, names);
    for (binding, argument) in kernel.arguments.iter().enumerate() {
        let access = if argument.is_written {
            "read_write"
        } else {
            "read"
        };
        let name = printer.texts.names.tensor(argument.tensor);
        let line = format!(
            "@group(0) @binding({binding}) var<storage, {access}> {name}: array<{}>;",
            type_of(argument.dtype)
        );
        printer.line(line);
    }
    let Launch { groups, threads } = launch(kernel).ok_or(CodegenError::TooManyWorkgroups)?;
    if matches!(kernel.grid, Grid::Rows(_)) {
        printer.line(format!("var<workgroup> partial: array<f32, {threads}>;"));
    }
    for (name, elements) in shared_arrays(kernel) {
        printer.line(format!("var<workgroup> {name}: array<f32, {elements}>;"));
    }
    printer.line("");
    printer.line(format!("@compute @workgroup_size({threads})"));
    printer.line("fn main(@builtin(workgroup_id) group_id: vec3<u32>,");
    printer.line("        @builtin(num_workgroups) groups: vec3<u32>,");
    printer.open("        @builtin(local_invocation_index) lane_id: u32) {");
    printer.line("let group = i32(group_id.y * groups.x + group_id.x);");
    printer.line("let lane = i32(lane_id);");
    printer.body();
    printer.close();
    let text = printer.code.text();
    for (word, function) in helpers(threads) {
        if text.contains(word) {
            printer.line("");
            for line in function.lines() {
                let trimmed = line.trim_start_matches("    ");
                let indent = (line.len() - trimmed.len()) / 4;
                printer.code.push(indent, trimmed);
            }
        }
    }
    let down = groups.div_ceil(MOST_GROUPS);
    let across = groups.div_ceil(down.max(1));
    let size = |groups: u64| u32::try_from(groups).map_err(|_| CodegenError::TooManyWorkgroups);
    if down > MOST_GROUPS {
        return Err(CodegenError::TooManyWorkgroups);
    }
    Ok(Shader {
        code: printer.code,
        tensors: kernel
            .arguments
            .iter()
            .map(|argument| argument.tensor)
            .collect(),
        workgroups: [size(across)?, size(down)?, 1],
    })
}

fn type_of(dtype: DType) -> &'static str {
    if dtype.is_float() { "f32" } else { "i32" }
}

struct Wgsl;

impl Language for Wgsl {
    fn number(&self, value: f64) -> String {
        #[allow(clippy::cast_possible_truncation, reason = "the language has f32")]
        let value = value as f32;
        if value.is_nan() {
            // WGSL has no literal for NaN and rejects constant expressions that give NaN.
            return "not_a_number()".to_owned();
        }
        let value = value.clamp(f32::MIN, f32::MAX);
        let size = value.abs();
        if size >= f32::MAX {
            // The shortest decimal of this number, 3.4028235e38, is above it, and Chromium rejects
            // that.
            format!("{:e}", f64::from(value))
        } else if size != 0.0 && !(1e-4..1e7).contains(&size) {
            format!("{value:e}")
        } else {
            format!("{value:?}")
        }
    }

    fn unary(&self, function: Unary, a: &str) -> String {
        let name = match function {
            Unary::Abs => "abs",
            Unary::Exp => "exp",
            Unary::Exp2 => "exp2",
            Unary::Expm1 => "exp_minus_1",
            Unary::Log => "log",
            Unary::Log2 => "log2",
            Unary::Log1p => "log_of_1_plus",
            Unary::Sqrt => "sqrt",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tan => "tan",
            // Beyond 15 `tanh` is 1 in f32, and on some GPUs its computation overflows.
            Unary::Tanh => return format!("tanh(clamp({a}, -15.0, 15.0))"),
            Unary::Erf => "error_function",
            Unary::Floor => "floor",
            Unary::Ceil => "ceil",
            Unary::Trunc => "trunc",
            Unary::Round => "round",
            Unary::IsNan => "is_not_a_number",
            Unary::IsInfinite => "is_infinite",
            Unary::Not => return format!("!({a} != 0.0)"),
            Unary::Negate => return format!("-({a})"),
        };
        format!("{name}({a})")
    }

    fn binary(&self, function: Binary, a: &str, b: &str) -> String {
        match function {
            Binary::Power => format!("power({a}, {b})"),
            Binary::Maximum => format!("max({a}, {b})"),
            Binary::Minimum => format!("min({a}, {b})"),
            _ => format!("({a}) % ({b})"),
        }
    }

    fn select(&self, condition: &str, then: &str, otherwise: &str) -> String {
        format!("select({otherwise}, {then}, {condition})")
    }

    fn to_number(&self, text: &str, _: bool) -> String {
        format!("f32({text})")
    }

    fn to_index(&self, text: &str) -> String {
        format!("i32({text})")
    }

    fn logic(&self) -> [&'static str; 3] {
        ["&&", "||", "!"]
    }

    fn read(&self, tensor: &str, dtype: DType, place: &str, only_if: Option<&str>) -> String {
        let place = match only_if {
            Some(condition) => format!("select(0, {place}, {condition})"),
            None => place.to_owned(),
        };
        match type_of(dtype) {
            "i32" => format!("f32({tensor}[{place}])"),
            _ => format!("{tensor}[{place}]"),
        }
    }

    fn shared(&self, name: &str, place: &str) -> String {
        format!("{name}[{place}]")
    }

    fn uniform(&self, key: u32, place: &str) -> String {
        format!("uniform_at({key}u, u32({place}))")
    }
}

impl Threads for Wgsl {
    fn constant(&self) -> &'static str {
        "let"
    }

    fn variable(&self, name: &str, value: &str) -> String {
        format!("var {name} = {value};")
    }

    fn array(&self, name: &str, elements: u64) -> String {
        format!("var {name}: array<f32, {elements}>;")
    }

    fn index(&self, name: &str, value: &str) -> String {
        format!("let {name} = {value};")
    }

    fn head(&self, name: &str, start: &str, end: &str, step: u64) -> String {
        format!("for (var {name} = {start}; {name} < {end}; {name} += {step}) {{")
    }

    fn lane(&self) -> &'static str {
        "lane"
    }

    fn group(&self) -> &'static str {
        "group"
    }

    fn has_spare_groups(&self) -> bool {
        // Groups that exceed one dimension are started as a rectangle, which may have spare ones.
        true
    }

    fn barrier(&self) -> &'static str {
        "workgroupBarrier();"
    }

    fn across(&self, fold: Fold, value: &str) -> String {
        let name = match fold {
            Fold::Sum => "sum_of_row",
            Fold::Product => "product_of_row",
            Fold::Maximum => "maximum_of_row",
            Fold::Minimum => "minimum_of_row",
        };
        format!("{name}(lane_id, {value})")
    }

    fn folded(&self, fold: Fold, a: &str, b: &str) -> String {
        match fold {
            Fold::Sum => format!("{a} + {b}"),
            Fold::Product => format!("{a} * {b}"),
            Fold::Maximum => format!("max({a}, {b})"),
            Fold::Minimum => format!("min({a}, {b})"),
        }
    }

    fn write(&self, tensor: &str, dtype: DType, place: &str, value: &str) -> String {
        match type_of(dtype) {
            "i32" => format!("{tensor}[{place}] = i32({value});"),
            _ => format!("{tensor}[{place}] = {value};"),
        }
    }
}

/// Functions that the language lacks, by the word in a kernel that calls one.
fn helpers(threads: u64) -> Vec<(&'static str, String)> {
    let mut helpers: Vec<(&str, String)> = [
        ("sum_of_row", "partial[lane_id] + partial[lane_id + half]"),
        (
            "product_of_row",
            "partial[lane_id] * partial[lane_id + half]",
        ),
        (
            "maximum_of_row",
            "max(partial[lane_id], partial[lane_id + half])",
        ),
        (
            "minimum_of_row",
            "min(partial[lane_id], partial[lane_id + half])",
        ),
    ]
    .into_iter()
    .map(|(name, folded)| (name, across(name, folded, threads)))
    .collect();
    helpers.extend([
        ("exp_minus_1", EXP_MINUS_1.to_owned()),
        ("log_of_1_plus", LOG_OF_1_PLUS.to_owned()),
        ("error_function", ERROR_FUNCTION.to_owned()),
        ("power", POWER.to_owned()),
        ("uniform_at", UNIFORM_AT.to_owned()),
        ("is_not_a_number", IS_NOT_A_NUMBER.to_owned()),
        ("is_infinite", IS_INFINITE.to_owned()),
        ("not_a_number()", NOT_A_NUMBER.to_owned()),
    ]);
    helpers
}

/// A function that folds one value of each thread and returns the result to all of them.
fn across(name: &str, folded: &str, threads: u64) -> String {
    format!(
        "fn {name}(lane_id: u32, value: f32) -> f32 {{
    partial[lane_id] = value;
    workgroupBarrier();
    for (var half = {}u; half > 0u; half /= 2u) {{
        if (lane_id < half) {{
            partial[lane_id] = {folded};
        }}
        workgroupBarrier();
    }}
    let result = partial[0];
    workgroupBarrier();
    return result;
}}",
        threads / 2
    )
}

/// Near 0, `exp(x) - 1` loses its digits, and a few terms of the series are exact.
const EXP_MINUS_1: &str = "fn exp_minus_1(x: f32) -> f32 {
    let series = x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x / 24.0)));
    return select(exp(x) - 1.0, series, abs(x) < 0.05);
}";

const LOG_OF_1_PLUS: &str = "fn log_of_1_plus(x: f32) -> f32 {
    let series = x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - x / 4.0)));
    return select(log(1.0 + x), series, abs(x) < 0.02);
}";

/// Abramowitz and Stegun, formula 7.1.26, with an error below 1.5e-7.
const ERROR_FUNCTION: &str = "fn error_function(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.3275911 * abs(x));
    let sum = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    return sign(x) * (1.0 - sum * exp(-x * x));
}";

/// `pow` of WGSL takes no negative base.
const POWER: &str = "fn power(base: f32, exponent: f32) -> f32 {
    let size = select(pow(abs(base), exponent), 1.0, exponent == 0.0);
    let is_odd = abs(exponent) % 2.0 == 1.0;
    return select(size, -size, base < 0.0 && is_odd);
}";

/// `uniform` of the interpreter.
const UNIFORM_AT: &str = "fn uniform_at(key: u32, place: u32) -> f32 {
    let state = (place ^ key) * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return f32(((word >> 22u) ^ word) >> 8u) / 16777216.0;
}";

/// Tests the bits, because a compiler may optimize a comparison of `x` with itself away.
const IS_NOT_A_NUMBER: &str = "fn is_not_a_number(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}";

const IS_INFINITE: &str = "fn is_infinite(x: f32) -> bool {
    return !((bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) && abs(x) >= 3.4028234e38;
}";

const NOT_A_NUMBER: &str = "var<private> bits_of_no_number: u32 = 0x7fc00000u;
fn not_a_number() -> f32 {
    return bitcast<f32>(bits_of_no_number);
}";

/// Names that no value may have: keywords and reserved words, types and functions that the value
/// would hide, and names in the code that this file writes around the body.
const WORDS: &str = include_str!("wgsl_words.txt");
