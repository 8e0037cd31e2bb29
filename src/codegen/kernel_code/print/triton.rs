//! Triton: each program computes a block of elements, a row or a tile at once.

mod language;
mod statements;
mod tile;

use super::code::Code;
use super::names::{Names, Naming, written_name};
use super::text::Texts;
use crate::calculator::Fold;
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::expression::Expr;
use crate::kernel_code::index::VariableId;
use crate::kernel_code::kernel::{Grid, Kernel, Statement, visit};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::graph::Graph;
use language::Triton;

/// Elements of a block.
const BLOCK: u64 = 1024;
/// Warps of a program, if the launch does not say.
const WARPS: u64 = 4;
const THREADS_OF_WARP: u64 = 32;
/// Warps above which the threads of a row only wait for each other.
const MOST_WARPS: u64 = 16;
/// Most elements of a block in Triton.
const MOST_ELEMENTS: u64 = 1 << 20;

/// A kernel as a module of Python with a function `launch` of its tensors.
///
/// # Errors
/// What in the kernel Triton cannot express.
pub fn triton(graph: &Graph, kernel: &Kernel) -> Result<Code, CodegenError> {
    if !kernel.shared.is_empty() {
        return Err(CodegenError::SharedRow);
    }
    let language = Triton {
        mask: None,
        zeros: String::new(),
        float: float_of(kernel),
    };
    let mut printer = Printer {
        texts: Texts::new(graph, kernel, language, names_of(graph, kernel)),
        code: Code::default(),
        indent: 0,
        block: BLOCK,
    };
    printer.module()?;
    Ok(printer.code)
}

/// The function of the code of a kernel that launches it on its tensors.
pub fn triton_launch(graph: &Graph, kernel: &Kernel) -> String {
    let [_, launch] = functions(&mut names_of(graph, kernel), graph, kernel);
    launch
}

fn names_of(graph: &Graph, kernel: &Kernel) -> Names {
    let words = include_str!("triton_words.txt");
    Names::new(graph, kernel, words, "_ptr", Naming::Program)
}

/// The names of a kernel and of the function that launches it.
fn functions(names: &mut Names, graph: &Graph, kernel: &Kernel) -> [String; 2] {
    let written = written_name(graph, kernel);
    ["fused", "launch"].map(|what| names.other(&format!("{what}_{written}")))
}

fn float_of(kernel: &Kernel) -> &'static str {
    let is_double = kernel.arguments.iter().any(|own| own.dtype == DType::F64);
    if is_double {
        "tl.float64"
    } else {
        "tl.float32"
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

    fn module(&mut self) -> Result<(), CodegenError> {
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
        let [fused, launch] = functions(&mut self.texts.names, self.texts.graph, kernel);
        self.line("@triton.jit");
        self.line(format!("def {fused}({}):", names.join(", ")));
        self.indent = 1;
        let (programs, warps) = match kernel.grid {
            Grid::Elements(element) => (self.elements(element), WARPS),
            Grid::Rows(row) => self.rows(row)?,
            Grid::Tiles { batch, row, column } => self.tile([batch, row, column])?,
        };
        let options = if warps == WARPS {
            String::new()
        } else {
            format!(", num_warps={warps}")
        };
        self.indent = 0;
        self.line("");
        self.line("");
        let tensors = names.join(", ").replace("_ptr", "");
        self.line(format!("def {launch}({tensors}):"));
        self.indent = 1;
        self.line(format!("{fused}[({programs},)]({tensors}{options})"));
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

    /// Begins a block of these variables.
    fn begin_block(&mut self, variables: &[VariableId]) {
        let zeros = (variables.iter()).filter(|&&variable| self.extent(variable) == 1);
        let zeros = zeros.map(|&variable| format!(" + {}", self.name(variable)));
        self.texts.language.zeros = zeros.collect();
    }

    /// Begins a block of columns in a row, or what is computed once for the row.
    fn begin_columns(&mut self, column: Option<VariableId>) {
        match (self.texts.kernel.grid, column) {
            (Grid::Rows(row), Some(column)) => self.begin_block(&[row, column]),
            (Grid::Rows(row), None) => self.begin_block(&[row]),
            (_, column) => self.begin_block(column.as_slice()),
        }
    }

    /// The index of the program, in 64 bits if a tensor is too large for 32.
    fn program(&self) -> &'static str {
        let mut arguments = self.texts.kernel.arguments.iter();
        if arguments.any(|own| i32::try_from(own.elements).is_err()) {
            "tl.program_id(0).to(tl.int64)"
        } else {
            "tl.program_id(0)"
        }
    }

    /// Writes the body and returns how many programs run it.
    fn elements(&mut self, element: VariableId) -> u64 {
        let (name, extent) = (self.name(element), self.extent(element));
        self.block = BLOCK.min(extent.next_power_of_two());
        let block = self.block;
        let program = self.program();
        self.line(format!(
            "{name} = {program} * {block} + tl.arange(0, {block})"
        ));
        self.begin_block(&[element]);
        if extent % block != 0 {
            self.line(format!("inside = {name} < {extent}"));
            self.texts.language.mask = Some("inside".to_owned());
        }
        self.statements(&self.texts.kernel.body);
        extent.div_ceil(block)
    }

    /// Writes the body; returns how many programs run it, and the warps of each.
    fn rows(&mut self, row: VariableId) -> Result<(u64, u64), CodegenError> {
        let kernel = self.texts.kernel;
        let name = self.name(row);
        let program = self.program();
        self.line(format!("{name} = {program}"));
        self.begin_columns(None);
        let mut columns = Vec::new();
        visit(&kernel.body, &mut |statement| {
            if let Some(column) = kernel.column_of(statement)
                && !columns.contains(&column)
            {
                columns.push(column);
            }
        });
        let mut longest = 1;
        for column in columns {
            let (name, extent) = (self.name(column), self.extent(column));
            let block = extent.next_power_of_two();
            if block > MOST_ELEMENTS {
                return Err(CodegenError::RowTooLong {
                    elements: extent,
                    most: MOST_ELEMENTS,
                });
            }
            longest = longest.max(block);
            self.line(format!("{name} = tl.arange(0, {block})"));
            if block != extent {
                self.line(format!("inside_{name} = {name} < {extent}"));
            }
        }
        self.statements(&kernel.body);
        // More elements per thread than eight leave the registers; fewer leave threads idle.
        let warps = (longest / (8 * THREADS_OF_WARP)).clamp(1, MOST_WARPS);
        Ok((self.extent(row), warps))
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
