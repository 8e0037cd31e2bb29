//! Names of values and tensors in code: those of the program as far as the language takes them.

use crate::kernel_code::expression::ExprId;
use crate::kernel_code::kernel::{Kernel, Statement, visit};
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, TensorId};
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

/// How code names its values and tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// After the tensors of the program, for a human reader.
    Program,
    /// After their order alone, so that the kernels of equal layers have equal code, which a GPU
    /// compiles once.
    Order,
}

/// The names in the code of one kernel. Each is used once.
pub(super) struct Names {
    naming: Naming,
    used: HashSet<String, FxBuildHasher>,
    values: HashMap<ExprId, String, FxBuildHasher>,
    tensors: HashMap<TensorId, String, FxBuildHasher>,
}

impl Names {
    /// The tensors have names that end in `suffix`; none is a word of the language or of its
    /// library.
    pub(super) fn new(
        graph: &Graph,
        kernel: &Kernel,
        words: &str,
        suffix: &str,
        naming: Naming,
    ) -> Self {
        let mut names = Self {
            naming,
            used: words.split_whitespace().map(str::to_owned).collect(),
            values: HashMap::default(),
            tensors: HashMap::default(),
        };
        for variable in &kernel.expressions.variables {
            names.used.insert(variable.name.clone());
            // The Triton printer names its masks of columns like this.
            names.used.insert(format!("inside_{}", variable.name));
        }
        for place in 0..kernel.shared.len() {
            names.used.insert(shared_name(place));
        }
        for place in 0..kernel.expressions.exprs.len() {
            names.used.insert(kept_name(place));
        }
        let arguments = kernel.arguments.iter().map(|argument| argument.tensor);
        let removed = kernel.removed.iter().map(|removed| removed.tensor);
        for tensor in arguments.chain(removed) {
            if !names.tensors.contains_key(&tensor) {
                let name = format!(
                    "{}{suffix}",
                    identifier(names.wanted(graph, kernel, tensor))
                );
                let name = names.unused(name);
                names.tensors.insert(tensor, name);
            }
        }
        names
    }

    /// The name of a tensor in memory.
    pub(super) fn tensor(&self, tensor: TensorId) -> &str {
        self.tensors.get(&tensor).map_or("", String::as_str)
    }

    /// The name of a value; `None` before it has one.
    pub(super) fn value(&self, expr: ExprId) -> Option<&str> {
        self.values.get(&expr).map(String::as_str)
    }

    /// The preferred name of a tensor, or of a value that is an element of it.
    pub(super) fn wanted<'a>(
        &self,
        graph: &'a Graph,
        kernel: &'a Kernel,
        tensor: TensorId,
    ) -> &'a str {
        match self.naming {
            Naming::Program => kernel.tensor_name(graph, tensor),
            Naming::Order => "value",
        }
    }

    /// Names a value: `wanted`, or a variant of it if that name is taken.
    pub(super) fn name(&mut self, expr: ExprId, wanted: &str) -> String {
        if let Some(known) = self.values.get(&expr) {
            return known.clone();
        }
        let name = self.unused(identifier(wanted));
        self.values.insert(expr, name.clone());
        name
    }

    /// A name for anything else: `wanted`, or a variant of it if that name is taken.
    pub(super) fn other(&mut self, wanted: &str) -> String {
        self.unused(identifier(wanted))
    }

    fn unused(&mut self, wanted: String) -> String {
        if self.used.insert(wanted.clone()) {
            return wanted;
        }
        let mut number = 2_usize;
        loop {
            let name = format!("{wanted}_{number}");
            if self.used.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }
}

/// The name of a row in shared memory.
pub(super) fn shared_name(shared: usize) -> String {
    format!("shared_{shared}")
}

/// The name of the registers in which a thread keeps a value for its columns.
pub(super) fn kept_name(place: usize) -> String {
    format!("kept_{place}")
}

/// The name of the first tensor that the kernel writes, as an identifier. No other tensor of the
/// graph gives the same, so the kernels of a file have distinct names.
pub(super) fn written_name(graph: &Graph, kernel: &Kernel) -> String {
    let written = kernel.arguments.iter().filter(|own| own.is_written);
    let Some(written) = written.min_by_key(|own| own.row_value.is_some()) else {
        return "nothing".to_owned();
    };
    let written = written.tensor;
    let name = kernel.tensor_name(graph, written);
    let identifier = identifier(name);
    if identifier == name {
        identifier
    } else {
        format!("{identifier}_t{}", written.index())
    }
}

/// Letters, digits and single underscores, as every language takes them.
fn identifier(name: &str) -> String {
    let mut identifier = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() {
            identifier.push(letter);
        } else if !identifier.is_empty() && !identifier.ends_with('_') {
            identifier.push('_');
        }
    }
    let trimmed = identifier.trim_end_matches('_').len();
    identifier.truncate(trimmed);
    if !identifier.starts_with(|first: char| first.is_ascii_alphabetic()) {
        identifier.insert(0, 't');
    }
    identifier
}

/// How often each expression is read by others, by indices and by statements.
pub(super) fn uses(kernel: &Kernel) -> IdVec<ExprId, usize> {
    let expressions = &kernel.expressions;
    let mut written = HashSet::<ExprId, FxBuildHasher>::default();
    let mut uses = IdVec::from_elem(0, expressions.exprs.len());
    visit(&kernel.body, &mut |statement| match statement {
        Statement::Let(expr)
        | Statement::Loop { result: expr, .. }
        | Statement::Reduce { result: expr, .. } => {
            if written.insert(*expr) {
                for operand in expressions.operands(*expr) {
                    uses[operand] += 1;
                }
            }
        }
        Statement::Store { value, only_if, .. } => {
            uses[*value] += 1;
            if let Some(only_if) = only_if {
                uses[*only_if] += 1;
            }
        }
        Statement::Share { value, .. } => uses[*value] += 1,
        Statement::Keep(expr) | Statement::Recall(expr) => uses[*expr] += 2,
        Statement::Products { left, rights, .. } => {
            uses[*left] += 1;
            for right in rights {
                uses[right.value] += 1;
            }
        }
        Statement::Columns { .. } => {}
    });
    uses
}
