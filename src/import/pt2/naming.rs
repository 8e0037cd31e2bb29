//! Names of ops as `public/python/fuseline.py` gives them: the path of a module for its last op,
//! the name that a line of Python gives its result, otherwise the function.

use crate::params::Names;
use crate::pt2::schema::Metadata;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::program::{AttributeValue, OpStatement, Program};
use std::collections::HashMap;
use std::rc::Rc;

/// Where an op comes from.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) stack: Rc<Stack>,
    /// What the op is called where nothing else gives it a name.
    pub(super) word: String,
}

/// The modules and the line of Python that a node stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stack {
    /// Path and key of the call of each module, the outermost first.
    calls: Vec<(String, String)>,
    /// The innermost line outside of PyTorch, with its position.
    source: String,
    /// What that line assigns to, if that is one name.
    assigned: Option<String>,
}

impl Stack {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let modules = metadata.nn_module_stack.split(';');
        let calls = modules.filter_map(|module| {
            let mut parts = module.splitn(3, ',');
            let (key, path) = (parts.next()?, parts.next()?);
            let path = path.rsplit_once('@').map_or(path, |(path, _)| path);
            let is_named = !path.is_empty() && !path.starts_with("_empty_nn_module_stack");
            is_named.then(|| (path.to_owned(), key.to_owned()))
        });
        let (source, code) = own_line(&metadata.stack_trace).unwrap_or_default();
        Self {
            calls: calls.collect(),
            source,
            assigned: assigned(code),
        }
    }
}

/// The innermost frame outside of PyTorch: where it is, and its line.
fn own_line(trace: &str) -> Option<(String, &str)> {
    let lines: Vec<&str> = trace.lines().collect();
    let frames = lines.windows(2).filter_map(|pair| match pair {
        [location, code] => Some((location.trim().strip_prefix("File \"")?, *code)),
        _ => None,
    });
    let is_own =
        |location: &str| !location.starts_with("torch/") && !location.contains("-packages/torch/");
    let frame = frames.rev().find(|(location, _)| is_own(location));
    frame.map(|(location, code)| (location.to_owned(), code.trim()))
}

/// The name that a line assigns to.
fn assigned(code: &str) -> Option<String> {
    let (target, value) = code.split_once('=')?;
    let target = target
        .split(':')
        .next()?
        .trim_end_matches(['+', '-', '*', '/'])
        .trim();
    let is_name = !target.is_empty()
        && !target.starts_with(|c: char| c.is_ascii_digit())
        && target.chars().all(|c| c == '_' || c.is_alphanumeric());
    (is_name && !value.starts_with('=')).then(|| target.to_owned())
}

/// Gives the ops of a program their names. Linear in ops and reads.
pub(super) fn give_names(program: &mut Program, origins: &HashMap<String, Origin>) {
    let mut names = Names::default();
    for param in &program.params {
        names.claim(&param.name.text);
    }
    for declaration in &program.declarations {
        names.claim(&declaration.name.text);
    }
    let origin_of: Vec<Option<&Origin>> = program
        .ops
        .iter()
        .map(|op| origins.get(&op.output.text))
        .collect();
    let mut last_of: HashMap<&(String, String), usize> = HashMap::new();
    for (index, origin) in origin_of.iter().enumerate() {
        for call in origin.iter().flat_map(|origin| &origin.stack.calls) {
            last_of.insert(call, index);
        }
    }
    let mut renamed: HashMap<String, String> = HashMap::new();
    for (index, op) in program.ops.iter_mut().enumerate() {
        for input in &mut op.inputs {
            if let Some(now) = renamed.get(&input.text) {
                input.text.clone_from(now);
            }
        }
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
        let word = match &stack.assigned {
            _ if inner.is_some_and(|call| last_of.get(call) == Some(&index)) => "",
            Some(assigned) if ends_line => assigned,
            _ => &origin.word,
        };
        let wanted = match (module, word) {
            ("", word) => word.to_owned(),
            (module, "") => module.to_owned(),
            (module, word) => format!("{module}.{word}"),
        };
        let name = names.claim(&wanted);
        renamed.insert(std::mem::replace(&mut op.output.text, name.clone()), name);
    }
    for output in &mut program.outputs {
        if let Some(now) = renamed.get(&output.text) {
            output.text.clone_from(now);
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
