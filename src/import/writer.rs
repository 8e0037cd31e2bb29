//! Collects tensors and ops of a model under names of the notation.

use crate::Problem;
use crate::constant::Constant;
use crate::opaque::OpenLoop;
use crate::params::{Chosen, Names, Params, identifier};
use crate::shapes::{Sizes, infer};
use crate::size::Size;
use crate::statement::{Dims, annotation, dtype_of, literals, merged_shape, nameless, statements};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::Function;
use fuseline_core::model::op::TensorRole;
use fuseline_core::model::program::OpStatement;
use fuseline_core::model::promotion::ArgumentType;
use std::collections::{HashMap, HashSet};

/// Most tensors that ops read, their sizes, and elements of folded values, so that a small file
/// cannot fill the memory.
const MAX_READS: usize = 1 << 22;

/// What is known about a tensor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Its name in the notation.
    pub(crate) name: String,
    /// `None` for text, and where the file does not say.
    pub(crate) dtype: Option<DType>,
    /// `None` where it is unknown.
    pub(crate) shape: Option<Sizes>,
    /// Its elements, if they are few and known.
    pub(crate) value: Option<Constant>,
    /// Whether it has a size, or a size for an element, that holds only at the defaults of the
    /// params.
    pub(crate) is_fixed: bool,
}

impl Known {
    /// Its element type as an argument. One of unknown shape has dimensions.
    pub(crate) fn argument_type(&self) -> Option<ArgumentType> {
        let dimensions = self.shape.as_ref().map_or(1, Vec::len);
        Some(ArgumentType::tensor(self.dtype?, dimensions))
    }
}

/// The tensors and ops of a program that is being written.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) names: Names,
    pub(crate) params: Params,
    pub(crate) tensors: Vec<Known>,
    /// Tensors by their name in the program.
    pub(crate) by_name: HashMap<String, usize>,
    /// External tensors, in the order of their declarations.
    pub(crate) external: Vec<(usize, TensorRole)>,
    /// Ops, each with the index of its output.
    pub(crate) ops: Vec<(OpStatement, usize)>,
    /// Outputs of operators that no function gives, by index, with the index that all outputs of
    /// one operator share.
    pub(crate) operator_of: HashMap<usize, usize>,
    /// Loops that count one iteration.
    pub(crate) open_loops: Vec<OpenLoop>,
    /// What is left of [`MAX_READS`].
    reads_left: usize,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            names: Names::default(),
            params: Params::default(),
            tensors: Vec::new(),
            by_name: HashMap::new(),
            external: Vec::new(),
            ops: Vec::new(),
            operator_of: HashMap::new(),
            open_loops: Vec::new(),
            reads_left: MAX_READS,
        }
    }
}

impl Writer {
    /// A writer that knows this about the params of its file.
    pub(crate) fn new(chosen: Chosen) -> Self {
        Self {
            params: Params::new(chosen),
            ..Self::default()
        }
    }

    /// Adds a tensor; gives its index.
    pub(crate) fn tensor(&mut self, known: Known) -> usize {
        let index = self.tensors.len();
        self.by_name.insert(known.name.clone(), index);
        self.tensors.push(known);
        index
    }

    /// The rank of a tensor; 0 where it is not known.
    pub(crate) fn rank(&self, index: usize) -> usize {
        let known = self.tensors.get(index);
        known
            .and_then(|known| known.shape.as_ref())
            .map_or(0, Vec::len)
    }

    /// What ops have read so far, which their import takes time for.
    pub(crate) fn spent(&self) -> usize {
        MAX_READS - self.reads_left + self.tensors.len()
    }

    /// Counts what ops read against [`MAX_READS`].
    pub(crate) fn spend(&mut self, reads: usize) -> Result<(), Problem> {
        let left = self.reads_left.checked_sub(reads);
        self.reads_left = left.ok_or_else(|| {
            Problem::new(format!(
                "its ops read more than {} million tensors and sizes, the limit for one file",
                MAX_READS >> 20
            ))
        })?;
        Ok(())
    }

    /// Gives the outputs of a model their names in the file, because a node that changes nothing
    /// may stand between the op that writes an output and the output. Where no op writes any of
    /// them, a copy of each is an op. The indices of the outputs.
    pub(crate) fn name_outputs(&mut self, outputs: &[(&str, usize)]) -> Vec<usize> {
        let written: HashSet<usize> = self.ops.iter().map(|&(_, output)| output).collect();
        if outputs.iter().any(|(_, output)| written.contains(output)) {
            self.rename(outputs, &written);
            return outputs.iter().map(|&(_, output)| output).collect();
        }
        let mut copies = Vec::with_capacity(outputs.len());
        for &(name, output) in outputs {
            let has_elements = |shape: &Sizes| shape.iter().all(|size| size.as_int() != Some(0));
            let source = self.tensors.get(output);
            let source = source.filter(|own| own.shape.as_ref().is_some_and(has_elements));
            let source = source.map(|own| own.name.clone());
            let copy = source.and_then(|source| {
                let own = self.by_name.contains_key(&identifier(name));
                let name = if own {
                    self.names.claim(name)
                } else {
                    identifier(name)
                };
                let ops = statements(&format!("{name} = contiguous({source})"))?;
                self.write(ops, &name, "", None)
            });
            copies.push(copy.unwrap_or(output));
        }
        copies
    }

    /// The source of a reshape; any other tensor itself.
    pub(crate) fn unshaped(&self, index: usize) -> usize {
        let ops = &self.ops;
        let written = ops.binary_search_by_key(&index, |(_, output)| *output);
        let op = written.ok().and_then(|at| ops.get(at)).map(|(op, ..)| op);
        let source = op
            .filter(|op| op.function() == Some(Function::Reshape))
            .and_then(|op| self.by_name.get(&op.inputs.first()?.text));
        // A reshape reads none itself but where an op of several lines ends with one, whose source
        // is no reshape.
        source.copied().unwrap_or(index)
    }

    /// `O(ops + reads)`.
    fn rename(&mut self, outputs: &[(&str, usize)], written: &HashSet<usize>) {
        let labels = self.ops.iter().filter_map(|(op, _)| op.label.as_ref());
        let labels: HashSet<String> = labels.map(|label| label.text.clone()).collect();
        let mut renamed: HashMap<String, String> = HashMap::new();
        let mut given: HashSet<usize> = HashSet::new();
        for &(name, output) in outputs {
            let name = identifier(name);
            let holder = self.by_name.get(&name).copied();
            let is_held = holder.is_some_and(|holder| {
                holder == output || given.contains(&holder) || !written.contains(&holder)
            });
            let is_taken = is_held || labels.contains(&name) || self.params.names.contains(&name);
            if is_taken || !written.contains(&output) || !given.insert(output) {
                continue;
            }
            // A tensor inside a function may have the name of an output.
            let other = holder.map(|holder| (holder, self.names.claim(&name)));
            for (index, name) in other.into_iter().chain([(output, name)]) {
                if let Some(known) = self.tensors.get_mut(index) {
                    let old = std::mem::replace(&mut known.name, name.clone());
                    self.by_name.insert(name.clone(), index);
                    renamed.insert(old, name);
                }
            }
        }
        if renamed.is_empty() {
            return;
        }
        for (op, _) in &mut self.ops {
            for text in op.inputs.iter_mut().chain([&mut op.output]) {
                if let Some(name) = renamed.get(&text.text) {
                    text.text.clone_from(name);
                }
            }
        }
    }

    /// Adds the statements of a node, the last of which writes its output, called `name`; gives its
    /// index. `title` is the preferred label.
    pub(crate) fn write(
        &mut self,
        ops: Vec<OpStatement>,
        name: &str,
        title: &str,
        stated: Option<(&Dims, Option<DType>)>,
    ) -> Option<usize> {
        let (dims, stated) = stated.map_or((None, None), |(dims, dtype)| (Some(dims), dtype));
        let mut written = None;
        let mut renamed: HashMap<String, String> = HashMap::new();
        let last = ops.last().map(|op| op.output.text.clone());
        let last = last.unwrap_or_default();
        for mut op in ops {
            for input in &mut op.inputs {
                if let Some(now) = renamed.get(&input.text) {
                    input.text.clone_from(now);
                }
            }
            let is_last = op.output.text == last;
            if is_last {
                name.clone_into(&mut op.output.text);
                op.label = self.names.label(title).map(nameless);
            } else {
                let rest = op.output.text.strip_prefix(&last).unwrap_or_default();
                let own = self.names.claim(&format!("{name}{rest}"));
                renamed.insert(std::mem::replace(&mut op.output.text, own.clone()), own);
            }
            let function = op.function();
            let inputs = op.inputs.iter().map(|input| self.by_name.get(&input.text));
            let inputs = inputs.map(|index| index.and_then(|&index| self.tensors.get(index)));
            let inputs: Vec<Option<&Known>> = inputs.collect();
            let dtype = dtype_of(function, &op, &inputs);
            let shapes = inputs
                .iter()
                .map(|known| known.and_then(|known| known.shape.as_deref()));
            let shapes: Option<Vec<&[Size]>> = match op.annotation {
                Some(_) => Some(Vec::new()),
                None => shapes.collect(),
            };
            let inferred = shapes.and_then(|shapes| infer(function, &op, &shapes, &self.params));
            let dims = dims.filter(|_| is_last);
            let is_unknown = inferred.is_none() && op.annotation.is_none();
            let reads_unknown = inputs.iter().flatten().any(|known| known.shape.is_none());
            let shape = merged_shape(inferred, dims, &self.params);
            if is_unknown
                && reads_unknown
                && let (Some(shape), Some(dtype)) = (&shape, dtype.or(stated))
            {
                // The inputs do not determine the type, so the statement has the file's.
                op.annotation = Some(annotation(dtype, shape, &self.params));
            }
            let literals =
                function.and_then(|function| literals(function, &op, &inputs, &self.params));
            if let Some((inputs, literals)) = literals {
                (op.inputs, op.literals) = (inputs, literals);
            }
            let index = self.tensor(Known {
                name: op.output.text.clone(),
                dtype,
                shape,
                ..Known::default()
            });
            if is_last {
                written = Some(index);
            }
            self.ops.push((op, index));
        }
        written
    }
}
