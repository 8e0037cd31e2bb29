//! Triton: each program computes a block of elements, a row or a tile at once.

use super::names::Names;
use super::text::{Language, Texts};
use super::{Access, Code};
use crate::core::kernel_code::expression::{Binary, Expr, ExprId, Fold, Unary};
use crate::core::kernel_code::index::VariableId;
use crate::core::kernel_code::schedule::visit;
use crate::core::kernel_code::{Grid, Kernel, Statement, Tile};
use crate::core::model::dtype::DType;
use crate::core::model::graph::Graph;
use crate::core::model::ids::TensorId;

/// Elements of a block.
const BLOCK: u64 = 1024;
/// Most elements of a block in Triton.
const MOST_ELEMENTS: u64 = 1 << 20;
/// Rows and columns of a tile and steps of K: of 16-bit operands, and of wider ones.
const NARROW_TILE: [u64; 3] = [128, 128, 64];
const WIDE_TILE: [u64; 3] = [64, 64, 32];

/// A kernel as a module of Python with a function `launch` of its tensors.
///
/// # Errors
/// What of it has no form in Triton, as a clause.
pub fn triton(graph: &Graph, kernel: &Kernel) -> Result<Code, String> {
    if !kernel.shared.is_empty() {
        return Err(
            "its threads read what others of the same row computed, and a block of Triton has no such access"
                .to_owned(),
        );
    }
    let words = include_str!("triton_words.txt");
    let language = Triton {
        mask: None,
        float: float_of(kernel),
    };
    let names = Names::new(graph, kernel, words, "_ptr");
    let mut printer = Printer {
        texts: Texts::new(graph, kernel, language, names),
        code: Code::default(),
        indent: 0,
        block: BLOCK,
    };
    printer.module()?;
    Ok(printer.code)
}

fn float_of(kernel: &Kernel) -> &'static str {
    let is_double = kernel.arguments.iter().any(|own| own.dtype == DType::F64);
    if is_double {
        "tl.float64"
    } else {
        "tl.float32"
    }
}

struct Triton {
    /// Which elements of the block are there, if not all.
    mask: Option<String>,
    /// The type that the kernel computes in.
    float: &'static str,
}

impl Language for Triton {
    fn number(&self, value: f64) -> String {
        if value.is_nan() {
            "float(\"nan\")".to_owned()
        } else if value.is_infinite() {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}float(\"inf\")")
        } else if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) {
            format!("{value:e}")
        } else {
            format!("{value:?}")
        }
    }

    fn unary(&self, function: Unary, a: &str) -> String {
        let name = match function {
            Unary::Negate => return format!("-({a})"),
            Unary::Not => return format!("{a} == 0.0"),
            Unary::Abs => "tl.abs",
            Unary::Exp => "tl.exp",
            Unary::Exp2 => "tl.exp2",
            Unary::Log => "tl.log",
            Unary::Log2 => "tl.log2",
            Unary::Sqrt => "tl.sqrt",
            Unary::Sin => "tl.sin",
            Unary::Cos => "tl.cos",
            Unary::Erf => "tl.erf",
            Unary::Floor => "tl.floor",
            Unary::Ceil => "tl.ceil",
            Unary::Expm1 => "libdevice.expm1",
            Unary::Log1p => "libdevice.log1p",
            Unary::Tan => "libdevice.tan",
            Unary::Tanh => "libdevice.tanh",
            Unary::Trunc => "libdevice.trunc",
            Unary::Round => "libdevice.rint",
            Unary::IsNan => return format!("({a}) != ({a})"),
            Unary::IsInfinite => return format!("tl.abs({a}) == float(\"inf\")"),
        };
        format!("{name}({a})")
    }

    fn binary(&self, function: Binary, a: &str, b: &str) -> String {
        match function {
            Binary::Power => format!("libdevice.pow({a}, {b})"),
            Binary::Maximum => {
                format!("tl.maximum({a}, {b}, propagate_nan=tl.PropagateNan.ALL)")
            }
            Binary::Minimum => {
                format!("tl.minimum({a}, {b}, propagate_nan=tl.PropagateNan.ALL)")
            }
            _ => format!("libdevice.fmod({a}, {b})"),
        }
    }

    fn select(&self, condition: &str, then: &str, otherwise: &str) -> String {
        format!("tl.where({condition}, {then}, {otherwise})")
    }

    fn to_number(&self, text: &str, is_truth: bool) -> String {
        if is_truth {
            format!("tl.where({text}, 1.0, 0.0)")
        } else {
            format!("({text}) * 1.0")
        }
    }

    fn to_index(&self, text: &str) -> String {
        format!("({text}).to(tl.int32)")
    }

    fn divided(&self, a: &str, divisor: u64, wants_rest: bool) -> String {
        format!("{a} {} {divisor}", if wants_rest { "%" } else { "//" })
    }

    fn logic(&self) -> [&'static str; 3] {
        ["&", "|", "~"]
    }

    fn has_tight_logic(&self) -> bool {
        true
    }

    fn read(&self, tensor: &str, _: DType, place: &str, only_if: Option<&str>) -> String {
        let mask = match (&self.mask, only_if) {
            (Some(mask), Some(only_if)) => Some(format!("{mask} & ({only_if})")),
            (Some(mask), None) => Some(mask.clone()),
            (None, only_if) => only_if.map(str::to_owned),
        };
        let mask = mask.map_or(String::new(), |mask| format!(", mask={mask}, other=0.0"));
        format!("tl.load({tensor} + {place}{mask}).to({})", self.float)
    }

    fn shared(&self, name: &str, _: &str) -> String {
        name.to_owned()
    }

    fn uniform(&self, key: u32, place: &str) -> String {
        format!("uniform_at({key}, {place})")
    }
}

struct Printer<'a> {
    texts: Texts<'a, Triton>,
    code: Code,
    indent: usize,
    /// Elements of the block of the present scope.
    block: u64,
}

impl Printer<'_> {
    fn line(&mut self, text: impl Into<String>) {
        self.code.push(self.indent, text);
    }

    fn extent(&self, variable: VariableId) -> u64 {
        self.texts.kernel.expressions.variables[variable].extent
    }

    fn name(&self, variable: VariableId) -> String {
        self.texts.kernel.expressions.variables[variable]
            .name
            .clone()
    }

    fn module(&mut self) -> Result<(), String> {
        let kernel = self.texts.kernel;
        for line in [
            "import triton",
            "import triton.language as tl",
            "from triton.language.extra import libdevice",
            "",
            "",
        ] {
            self.line(line);
        }
        self.helpers();
        let names: Vec<String> = kernel
            .arguments
            .iter()
            .map(|argument| self.texts.names.tensor(argument.tensor).to_owned())
            .collect();
        self.line("@triton.jit");
        self.line(format!("def kernel({}):", names.join(", ")));
        self.indent = 1;
        let (programs, options) = match kernel.grid {
            Grid::Elements(element) => (self.elements(element), ""),
            Grid::Rows(row) => (self.rows(row)?, ""),
            Grid::Tiles { batch, row, column } => self.tile([batch, row, column])?,
        };
        self.indent = 0;
        self.line("");
        self.line("");
        let tensors = names.join(", ").replace("_ptr", "");
        self.line(format!("def launch({tensors}):"));
        self.indent = 1;
        self.line(format!("kernel[({programs},)]({tensors}{options})"));
        Ok(())
    }

    /// Functions that the kernel calls and Triton lacks.
    fn helpers(&mut self) {
        let expressions = &self.texts.kernel.expressions;
        let draws = expressions
            .exprs
            .iter()
            .any(|expr| matches!(expr, Expr::Uniform(..)));
        let mut multiplies = false;
        visit(&self.texts.kernel.body, &mut |statement| {
            if let Statement::Reduce { result, .. } = statement {
                multiplies |= matches!(
                    self.texts.kernel.expressions.exprs[*result],
                    Expr::Fold(Fold::Product, ..)
                );
            }
        });
        let helpers = [(draws, UNIFORM_AT), (multiplies, MULTIPLY)];
        for (_, helper) in helpers.into_iter().filter(|(is_called, _)| *is_called) {
            for line in helper.lines() {
                let text = line.trim_start();
                let indent = (line.len() - text.len()) / 4;
                self.code.push(indent, text);
            }
            self.line("");
            self.line("");
        }
    }

    /// The number of the program; of tensors that 32 bits do not count, in 64.
    fn program(&self) -> &'static str {
        let mut arguments = self.texts.kernel.arguments.iter();
        if arguments.any(|own| i32::try_from(own.elements).is_err()) {
            "tl.program_id(0).to(tl.int64)"
        } else {
            "tl.program_id(0)"
        }
    }

    /// Writes the body, and says how many programs run it.
    fn elements(&mut self, element: VariableId) -> u64 {
        let (name, extent) = (self.name(element), self.extent(element));
        self.block = BLOCK.min(extent.next_power_of_two());
        let block = self.block;
        let program = self.program();
        self.line(format!(
            "{name} = {program} * {block} + tl.arange(0, {block})"
        ));
        if extent % block != 0 {
            self.line(format!("inside = {name} < {extent}"));
            self.texts.language.mask = Some("inside".to_owned());
        }
        self.statements(&self.texts.kernel.body);
        extent.div_ceil(block)
    }

    fn rows(&mut self, row: VariableId) -> Result<u64, String> {
        let kernel = self.texts.kernel;
        let name = self.name(row);
        let program = self.program();
        self.line(format!("{name} = {program}"));
        let mut columns = Vec::new();
        visit(&kernel.body, &mut |statement| {
            if let Some(column) = kernel.column_of(statement)
                && !columns.contains(&column)
            {
                columns.push(column);
            }
        });
        for column in columns {
            let (name, extent) = (self.name(column), self.extent(column));
            let block = extent.next_power_of_two();
            if block > MOST_ELEMENTS {
                return Err(format!(
                    "a row of {extent} elements is longer than a block of Triton, {MOST_ELEMENTS}"
                ));
            }
            self.line(format!("{name} = tl.arange(0, {block})"));
            if block != extent {
                self.line(format!("inside_{name} = {name} < {extent}"));
            }
        }
        self.statements(&kernel.body);
        Ok(self.extent(row))
    }

    /// What is computed for all columns at once.
    fn columns(&mut self, column: VariableId, body: &[Statement]) {
        let extent = self.extent(column);
        self.block = extent.next_power_of_two();
        self.texts.language.mask =
            (self.block != extent).then(|| format!("inside_{}", self.name(column)));
        self.statements(body);
    }

    fn leave_columns(&mut self) {
        self.texts.language.mask = None;
    }

    fn tile(
        &mut self,
        [batch, row, column]: [VariableId; 3],
    ) -> Result<(u64, &'static str), String> {
        let kernel = self.texts.kernel;
        let Some(Tile {
            result,
            over,
            left: (left, left_body),
            right: (right, right_body),
            rest,
        }) = kernel.tile()
        else {
            return Err("it has no product".to_owned());
        };
        let dtype = match [left, right].map(|side| self.operand_type(side)) {
            [a, b] if a == b => a,
            _ => DType::F32,
        };
        let is_narrow = matches!(dtype, DType::F16 | DType::Bf16 | DType::F8);
        let [tile_rows, tile_columns, steps] = if is_narrow { NARROW_TILE } else { WIDE_TILE };
        let [rows, columns, k, batches] =
            [row, column, over, batch].map(|variable| self.extent(variable));
        let (down, across) = (rows.div_ceil(tile_rows), columns.div_ceil(tile_columns));
        let [row, column, step, batch] =
            [row, column, over, batch].map(|variable| self.name(variable));
        let program = self.program();
        self.line(format!("program = {program}"));
        self.line(format!("{batch} = program // {}", down * across));
        self.line(format!(
            "{row} = (program // {across} % {down} * {tile_rows} + tl.arange(0, {tile_rows}))[:, None]"
        ));
        self.line(format!(
            "{column} = (program % {across} * {tile_columns} + tl.arange(0, {tile_columns}))[None, :]"
        ));
        let sum = self.texts.named(result);
        let float = self.texts.language.float;
        self.line(format!(
            "{sum} = tl.zeros(({tile_rows}, {tile_columns}), {float})"
        ));
        self.line(format!("for first_k in range(0, {k}, {steps}):"));
        self.indent += 1;
        let outside = |name: &str, extent: u64, tile: u64| {
            (!extent.is_multiple_of(tile)).then(|| format!("({name} < {extent})"))
        };
        let masks = |parts: [Option<String>; 2]| {
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (!parts.is_empty()).then(|| parts.join(" & "))
        };
        let sides = [
            (
                "left",
                left,
                left_body,
                "[None, :]",
                outside(&row, rows, tile_rows),
            ),
            (
                "right",
                right,
                right_body,
                "[:, None]",
                outside(&column, columns, tile_columns),
            ),
        ];
        for (name, value, body, axis, own) in sides {
            self.line(format!("{step} = (first_k + tl.arange(0, {steps})){axis}"));
            self.texts.language.mask = masks([own, outside(&step, k, steps)]);
            self.statements(body);
            let mut text = self.texts.value(value);
            let is_read = matches!(self.texts.expr(value), Expr::Read { only_if: None, .. });
            if let (Some(mask), false) = (&self.texts.language.mask, is_read) {
                text = format!("tl.where({mask}, {text}, 0.0)");
            }
            self.line(format!("{name} = ({text}).to({})", type_of(dtype)));
        }
        let precision = if is_narrow {
            ""
        } else {
            ", input_precision=\"ieee\""
        };
        self.line(format!("{sum} = tl.dot(left, right, {sum}{precision})"));
        self.indent -= 1;
        self.texts.language.mask = masks([
            outside(&row, rows, tile_rows),
            outside(&column, columns, tile_columns),
        ]);
        self.removed(result);
        self.statements(rest);
        let options = if is_narrow { ", num_warps=8" } else { "" };
        Ok((batches * down * across, options))
    }

    /// The element type in which matrix units take an operand: that of the tensor, where one alone is behind it.
    fn operand_type(&self, value: ExprId) -> DType {
        let expressions = &self.texts.kernel.expressions;
        let named = expressions
            .names
            .get(&value)
            .and_then(|&tensor| self.texts.graph.tensors[tensor].dtype);
        let read = || match self.texts.expr(value) {
            Expr::Read { tensor, .. } => Some(self.texts.dtype(tensor)),
            Expr::Select(_, a, _) => match self.texts.expr(a) {
                Expr::Read { tensor, .. } => Some(self.texts.dtype(tensor)),
                _ => None,
            },
            _ => None,
        };
        named.or_else(read).unwrap_or(DType::F32)
    }

    fn statements(&mut self, body: &[Statement]) {
        for statement in body {
            match statement {
                Statement::Let(expr) => {
                    if !self.texts.is_inlined(*expr, body) {
                        self.value(*expr);
                    }
                }
                Statement::Loop { result, body } => self.serial(*result, body),
                Statement::Columns { column, body } => {
                    self.columns(*column, body);
                    self.leave_columns();
                }
                Statement::Reduce { result, body } => self.reduce(*result, body),
                Statement::Store {
                    tensor,
                    place,
                    value,
                    only_if,
                } => {
                    let place = self.texts.index(*place);
                    let value = self.texts.value(*value);
                    let name = self.texts.names.tensor(*tensor);
                    let only_if = only_if.map(|only_if| format!("({})", self.texts.truth(only_if)));
                    let masks: Vec<String> = (self.texts.language.mask.clone().into_iter())
                        .chain(only_if)
                        .collect();
                    let mask = if masks.is_empty() {
                        String::new()
                    } else {
                        format!(", mask={}", masks.join(" & "))
                    };
                    let text = format!("tl.store({name} + {place}, {value}{mask})");
                    self.access(text, *tensor, true);
                }
                // A block keeps its values, and nothing is shared.
                Statement::Keep(_)
                | Statement::Recall(_)
                | Statement::Share { .. }
                | Statement::Product { .. } => {}
            }
        }
    }

    fn access(&mut self, text: String, tensor: TensorId, is_store: bool) {
        self.line(text);
        if let Some(line) = self.code.lines.last_mut() {
            line.access = Some(Access {
                tensor,
                is_store,
                is_removed: false,
            });
        }
    }

    /// What unfused ops would store and load of a value that the kernel has.
    fn removed(&mut self, value: ExprId) {
        for removed in self.texts.take_removed(value) {
            let name = self.texts.value(value);
            let place = self.texts.index(removed.place);
            let array = self.texts.names.tensor(removed.tensor).to_owned();
            let stores = removed
                .is_store_removed
                .then(|| (format!("tl.store({array} + {place}, {name})"), true));
            let load = format!("{name} = tl.load({array} + {place})");
            let loads = removed.readers.iter().map(|_| (load.clone(), false));
            for (text, is_store) in stores.into_iter().chain(loads) {
                self.access(text, removed.tensor, is_store);
                if let Some(access) = self.code.lines.last_mut().and_then(|l| l.access.as_mut()) {
                    access.is_removed = true;
                }
            }
        }
    }

    fn value(&mut self, expr: ExprId) {
        // Before it has its name, which would stand for itself.
        let definition = self.texts.definition(expr);
        let name = self.texts.named(expr);
        let text = format!("{name} = {definition}");
        match self.texts.expr(expr) {
            Expr::Read { tensor, .. } => self.access(text, tensor, false),
            _ => self.line(text),
        }
        self.removed(expr);
    }

    fn serial(&mut self, result: ExprId, body: &[Statement]) {
        let Expr::Fold(fold, over, value) = self.texts.expr(result) else {
            return;
        };
        let name = self.texts.named(result);
        let start = self.texts.language.number(fold.start());
        let (block, float) = (self.block, self.texts.language.float);
        self.line(format!("{name} = tl.full([{block}], {start}, {float})"));
        self.line(format!(
            "for {} in range({}):",
            self.name(over),
            self.extent(over)
        ));
        self.indent += 1;
        self.statements(body);
        let value = self.texts.value(value);
        let folded = match fold {
            Fold::Sum => format!("{name} + {value}"),
            Fold::Product => format!("{name} * ({value})"),
            Fold::Maximum => self.texts.language.binary(Binary::Maximum, &name, &value),
            Fold::Minimum => self.texts.language.binary(Binary::Minimum, &name, &value),
        };
        self.line(format!("{name} = {folded}"));
        self.indent -= 1;
        self.removed(result);
    }

    fn reduce(&mut self, result: ExprId, body: &[Statement]) {
        let Expr::Fold(fold, column, value) = self.texts.expr(result) else {
            return;
        };
        self.columns(column, body);
        let expressions = &self.texts.kernel.expressions;
        let is_block = expressions.depends_on_variable(value, column);
        let value = self.texts.value(value);
        let start = self.texts.language.number(fold.start());
        let (block, float) = (self.block, self.texts.language.float);
        let own = match &self.texts.language.mask {
            Some(mask) => format!("tl.where({mask}, {value}, {start})"),
            None if is_block => value,
            // A value that is the same for all columns is no block yet.
            None => format!("{value} + tl.zeros([{block}], {float})"),
        };
        self.leave_columns();
        let name = self.texts.named(result);
        let folded = match fold {
            Fold::Sum => format!("tl.sum({own}, axis=0)"),
            Fold::Product => format!("tl.reduce({own}, 0, multiply)"),
            Fold::Maximum => format!("tl.max({own}, axis=0)"),
            Fold::Minimum => format!("tl.min({own}, axis=0)"),
        };
        self.line(format!("{name} = {folded}"));
        self.removed(result);
    }
}

fn type_of(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "tl.float64",
        DType::F16 => "tl.float16",
        DType::Bf16 => "tl.bfloat16",
        DType::F8 => "tl.float8e4nv",
        _ => "tl.float32",
    }
}

/// `uniform` of the interpreter.
const UNIFORM_AT: &str = "@triton.jit
def uniform_at(key: tl.constexpr, place):
    state = (place.to(tl.uint32) ^ key) * 747796405 + 2891336453
    word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737
    return (((word >> 22) ^ word) >> 8).to(tl.float32) / 16777216.0";

const MULTIPLY: &str = "@triton.jit
def multiply(a, b):
    return a * b";
