//! Names of ops: the path of a module for its last op, the name that a line of Python gives its
//! result, otherwise the function.

use crate::params::{Names, identifier};
use crate::pt2::schema::Metadata;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::program::{AttributeValue, OpStatement, Program};
use std::collections::HashMap;
use std::rc::Rc;

/// Longest line of source that is shown, in characters.
const MAX_SOURCE: usize = 110;

/// Where an op comes from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(super) stack: Rc<Stack>,
    /// What the op is called where nothing else gives it a name.
    pub(super) word: String,
    /// Which of several outputs of a node it writes.
    pub(super) item: Option<usize>,
}

impl Origin {
    /// An op of which only the modules are known.
    pub(crate) fn of(stack: Rc<Stack>) -> Self {
        Self {
            stack,
            word: String::new(),
            item: None,
        }
    }
}

/// The modules and the line of Python that a node stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stack {
    /// Path and key of the call of each module, the outermost first.
    pub(super) calls: Vec<(String, String)>,
    /// The innermost line outside of PyTorch: `model.py:12: y = self.up(x)`.
    source: String,
    /// The names that this line assigns to.
    assigned: Vec<String>,
}

impl Stack {
    /// Calls of modules, the outermost first, each as its path and its key.
    pub(crate) fn of_calls(calls: Vec<(String, String)>) -> Self {
        Self {
            calls,
            source: String::new(),
            assigned: Vec::new(),
        }
    }

    pub(super) fn of(metadata: &Metadata) -> Self {
        let modules = metadata.nn_module_stack.split(';');
        let calls = modules.filter_map(|module| {
            let mut parts = module.splitn(3, ',');
            let (key, path) = (parts.next()?, parts.next()?);
            let path = path.rsplit_once('@').map_or(path, |(path, _)| path);
            let is_named = !path.is_empty() && !path.starts_with("_empty_nn_module_stack");
            is_named.then(|| (path.to_owned(), key.to_owned()))
        });
        let (position, code) = own_line(&metadata.stack_trace).unwrap_or_default();
        Self {
            calls: calls.collect(),
            source: shown(&position, code),
            assigned: assigned(code),
        }
    }

    /// The number of a module's call, which stands behind an `@` of its key; empty for the first.
    pub(super) fn call_number(key: &str) -> &str {
        key.rsplit_once('@').map_or("", |(_, number)| number)
    }
}

/// The innermost frame outside of PyTorch: file and line, and what the line says.
fn own_line(trace: &str) -> Option<(String, &str)> {
    let lines: Vec<&str> = trace.lines().collect();
    let frames = lines.windows(2).filter_map(|pair| match pair {
        [location, code] => Some((location.trim().strip_prefix("File \"")?, *code)),
        _ => None,
    });
    // Code that PyTorch has generated is in no file.
    let is_own = |location: &str| {
        !location.starts_with("torch/")
            && !location.starts_with('<')
            && !location.contains("-packages/torch/")
    };
    let (location, code) = frames.rev().find(|(location, _)| is_own(location))?;
    let (file, rest) = location.split_once('"')?;
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let line = rest.trim_start_matches(", line ");
    let line = line.split(',').next().unwrap_or(line);
    Some((format!("{file}:{line}"), code.trim()))
}

/// The line as a comment of one line.
fn shown(position: &str, code: &str) -> String {
    if position.is_empty() {
        return String::new();
    }
    let words: Vec<&str> = code.split_whitespace().collect();
    let text = format!("{position}: {}", words.join(" "));
    match text.char_indices().nth(MAX_SOURCE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// The names that a line assigns to.
fn assigned(code: &str) -> Vec<String> {
    let Some((target, value)) = code.split_once('=') else {
        return Vec::new();
    };
    let target = target.split(':').next().unwrap_or(target);
    let target = target.trim_end_matches(['+', '-', '*', '/']);
    let names: Vec<&str> = target.split(',').map(str::trim).collect();
    let is_name = |name: &&str| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    if value.starts_with('=') || !names.iter().all(is_name) {
        return Vec::new();
    }
    names.into_iter().map(str::to_owned).collect()
}

/// Gives the ops and the weights of a program their names; gives the source line of each op.
/// Inside a block the path of a module starts where the iterations differ. Linear in ops and reads.
pub(super) fn give_names(program: &mut Program, origins: &HashMap<String, Origin>) -> Vec<String> {
    let mut names = Names::default();
    for param in &program.params {
        names.claim(&param.name.text);
    }
    let origin_of: Vec<Option<&Origin>> = program
        .ops
        .iter()
        .map(|op| origins.get(&op.output.text))
        .collect();
    let stems: Vec<Stem<'_>> = (program.blocks.iter())
        .map(|block| Stem {
            path: common_path(origin_of.get(block.ops.clone()).unwrap_or_default()),
            is_alone: program.blocks.len() == 1,
        })
        .collect();
    let mut renamed: HashMap<String, String> = HashMap::new();
    let mut blocks = program.blocks.iter().zip(&stems).peekable();
    for (index, declaration) in program.declarations.iter_mut().enumerate() {
        while blocks
            .next_if(|(block, _)| block.declarations.end <= index)
            .is_some()
        {}
        let block = blocks
            .peek()
            .filter(|(block, _)| block.declarations.contains(&index));
        let path = &declaration.name.text;
        let wanted = match block {
            Some((_, stem)) => stem.shortened(path),
            None => path.clone(),
        };
        let name = names.claim(&wanted);
        renamed.insert(
            std::mem::replace(&mut declaration.name.text, name.clone()),
            name,
        );
    }
    let mut last_of: HashMap<&(String, String), usize> = HashMap::new();
    for (index, origin) in origin_of.iter().enumerate() {
        for call in origin.iter().flat_map(|origin| &origin.stack.calls) {
            last_of.insert(call, index);
        }
    }
    let block_of: Vec<Option<usize>> = (0..program.ops.len())
        .map(|op| program.block_of_op(op))
        .collect();
    for (index, op) in program.ops.iter_mut().enumerate() {
        let Some(Some(origin)) = origin_of.get(index).copied() else {
            continue;
        };
        let stack = &origin.stack;
        let inner = stack.calls.last();
        let module = inner.map_or("", |(path, _)| path.as_str());
        let following = origin_of.get(index + 1).copied().flatten();
        let ends_line = following.is_none_or(|next| {
            (&next.stack.calls, &next.stack.source) != (&stack.calls, &stack.source)
        });
        let word = match (stack.assigned.as_slice(), origin.item) {
            _ if inner.is_some_and(|call| last_of.get(call) == Some(&index)) => "",
            ([only], _) if ends_line => only,
            (several @ [_, _, ..], Some(item)) => {
                several.get(item).map_or(&*origin.word, String::as_str)
            }
            _ => &origin.word,
        };
        let stem = block_of.get(index).copied().flatten();
        let stem = stem.and_then(|block| stems.get(block));
        let module = stem.map_or_else(|| module.to_owned(), |stem| stem.shortened(module));
        let wanted = match (module.as_str(), word) {
            ("", "") => stem.map_or(origin.word.as_str(), Stem::word).to_owned(),
            ("", word) => word.to_owned(),
            (module, "") => module.to_owned(),
            (module, word) => format!("{module}.{word}"),
        };
        let name = names.claim(&wanted);
        renamed.insert(std::mem::replace(&mut op.output.text, name.clone()), name);
    }
    rename(program, &renamed);
    let sources = origin_of.iter();
    sources
        .map(|origin| origin.map_or(String::new(), |origin| origin.stack.source.clone()))
        .collect()
}

/// The innermost module that all ops of a block stand in.
struct Stem<'a> {
    path: &'a str,
    /// Whether the program has no other block.
    is_alone: bool,
}

impl Stem<'_> {
    /// The path of a module without the stem: `attn` of `h.0.attn`, with `h` before it where the
    /// program has several blocks.
    fn shortened(&self, path: &str) -> String {
        // The name of a weight has no number in front.
        let inner = path
            .strip_prefix(self.path)
            .or_else(|| path.strip_prefix(&identifier(self.path)))
            .filter(|_| !self.path.is_empty());
        let inner = inner.filter(|inner| inner.is_empty() || inner.starts_with('.'));
        let Some(inner) = inner else {
            return path.to_owned();
        };
        let inner = inner.trim_start_matches('.');
        match (self.is_alone, inner) {
            (true, inner) => inner.to_owned(),
            (false, "") => self.without_number().to_owned(),
            (false, inner) => format!("{}.{inner}", self.without_number()),
        }
    }

    fn without_number(&self) -> &str {
        let path = self.path.trim_end_matches(|c: char| c.is_ascii_digit());
        path.trim_end_matches(['.', '_'])
    }

    /// What the layers are called: `h` of `transformer.h.0`.
    fn word(&self) -> &str {
        let path = self.without_number();
        path.rsplit('.').next().unwrap_or(path)
    }
}

fn common_path<'a>(origins: &[Option<&'a Origin>]) -> &'a str {
    let mut stacks = origins
        .iter()
        .map(|origin| origin.map_or(&[][..], |origin| origin.stack.calls.as_slice()));
    let Some(first) = stacks.next() else {
        return "";
    };
    let common = stacks.fold(first.len(), |common, other| {
        let pairs = first.iter().zip(other).take(common);
        pairs.take_while(|(own, other)| own.0 == other.0).count()
    });
    let innermost = common.checked_sub(1).and_then(|last| first.get(last));
    innermost.map_or("", |(path, _)| path)
}

/// Gives every name that is read its new form.
fn rename(program: &mut Program, renamed: &HashMap<String, String>) {
    let inputs = program.ops.iter_mut().flat_map(|op| &mut op.inputs);
    let carried = program
        .blocks
        .iter_mut()
        .flat_map(|block| &mut block.carried);
    let carried = carried.flat_map(|carried| [&mut carried.name, &mut carried.from]);
    for name in inputs.chain(carried).chain(&mut program.outputs) {
        if let Some(now) = renamed.get(&name.text) {
            name.text.clone_from(now);
        }
    }
}

/// The name of an op that nothing else names.
pub(super) fn word_of(op: &OpStatement) -> String {
    let named = op
        .attributes
        .iter()
        .find(|attribute| attribute.is(AttributeName::Name));
    match (op.function(), named.map(|attribute| &attribute.value)) {
        (Some(Function::Opaque), Some(AttributeValue::Word(name))) => {
            let parts = name
                .split('.')
                .filter(|part| !matches!(*part, "aten" | "default"));
            let word = parts.map(|part| part.trim_matches('_')).next();
            word.filter(|word| !word.is_empty())
                .unwrap_or("opaque")
                .to_owned()
        }
        (Some(Function::Sdpa), _) => "attention".to_owned(),
        (Some(Function::Concat), _) => "cat".to_owned(),
        _ => op.callee.text.clone(),
    }
}
