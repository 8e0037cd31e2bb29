//! What stands below a printed graph: which inputs are parameters of the model, which of them the
//! program overwrites, and the bounds of open sizes.

use crate::pt2::schema::{Argued, Bounds, InputSpec, OutputSpec, State};
use std::collections::HashMap;

/// The paths of parameters and buffers by the names of their inputs, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct States<'a> {
    named: Vec<(&'a str, &'a str)>,
    paths: HashMap<&'a str, &'a str>,
}

impl<'a> States<'a> {
    pub(super) fn path(&self, name: &str) -> Option<&'a str> {
        self.paths.get(name).copied()
    }

    pub(super) fn into_specs(self) -> impl Iterator<Item = InputSpec> {
        let named = self.named.into_iter();
        named.map(|(name, path)| spec(name, path))
    }
}

/// The specification of an input that is a parameter of the model.
pub(super) fn spec(name: &str, path: &str) -> InputSpec {
    InputSpec {
        parameter: Some(state(name, path)),
        buffer: None,
    }
}

fn state(name: &str, path: &str) -> State {
    State {
        arg: Argued {
            name: name.to_owned(),
        },
        path: path.to_owned(),
    }
}

/// The parameters and buffers that the signature lists. `O(text)`.
pub(super) fn states<'a>(text: &'a str) -> States<'a> {
    let mut states = States::default();
    let mut add = |name: &'a str, path: &'a str| {
        states.named.push((name, path));
        states.paths.insert(name, path);
    };
    for line in text.lines() {
        // PyTorch 2.7 and newer.
        if let Some((name, state)) = line.split_once(": ")
            && (state.starts_with("PARAMETER ") || state.starts_with("BUFFER "))
            && let Some(path) = quoted_behind(state, "target=")
        {
            let name = name.trim_start_matches(['>', ' ', '\t']);
            add(name, path);
        }
        // Older versions print all inputs in one line.
        for input in line.split("InputSpec(").skip(1) {
            let is_state = ["PARAMETER", "BUFFER"]
                .iter()
                .any(|kind| input.contains(&format!("InputKind.{kind}")));
            if is_state
                && let Some(name) = quoted_behind(input, "name=")
                && let Some(path) = quoted_behind(input, "target=")
            {
                add(name, path);
            }
        }
    }
    states
}

/// The outputs that become the value of a buffer or an input. `O(text)`.
pub(super) fn mutations(text: &str) -> impl Iterator<Item = OutputSpec> {
    let of_line = |line: &str| {
        let (name, kind) = line.split_once(": ")?;
        let (kind, _) = kind.split_once(" target=")?;
        let name = name.trim_start_matches(['>', ' ', '\t']);
        Some((name.to_owned(), kind.to_owned()))
    };
    let of_spec = |spec: &str| {
        let (_, kind) = spec.split_once("OutputKind.")?;
        let (kind, _) = kind.split_once(':')?;
        Some((quoted_behind(spec, "name=")?.to_owned(), kind.to_owned()))
    };
    let output = |text: &str, (name, kind): (String, String)| {
        let state = state(&name, quoted_behind(text, "target=")?);
        let (buffer_mutation, user_input_mutation) = match kind.as_str() {
            "BUFFER_MUTATION" => (Some(state), None),
            "USER_INPUT_MUTATION" => (None, Some(state)),
            _ => return None,
        };
        Some(OutputSpec {
            buffer_mutation,
            user_input_mutation,
        })
    };
    text.lines().flat_map(move |line| {
        // PyTorch 2.7 and newer; older versions print all outputs in one line.
        let own = of_line(line).and_then(|found| output(line, found));
        let specs = line.split("OutputSpec(").skip(1);
        own.into_iter()
            .chain(specs.filter_map(move |spec| output(spec, of_spec(spec)?)))
    })
}

/// The bounds in `Range constraints: {s77: VR[2, 4096]}`.
pub(super) fn bounds(text: &str) -> HashMap<String, Bounds> {
    let ranges = text.split_once("Range constraints: {");
    let ranges = ranges.and_then(|(_, rest)| rest.split('}').next());
    let ranges = ranges.unwrap_or_default().split("VR[");
    let mut bounds = HashMap::new();
    let mut symbol = "";
    for part in ranges {
        let (range, next) = part.split_once(']').unwrap_or(("", part));
        if let Some((low, high)) = range.split_once(", ") {
            let bound = Bounds {
                min_val: low.parse().ok(),
                max_val: high.parse().ok(),
            };
            bounds.insert(symbol.to_owned(), bound);
        }
        symbol = next.trim_matches([' ', ',', ':']);
    }
    bounds
}

/// The text in the quotation marks behind `key`.
fn quoted_behind<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(key)?;
    let rest = rest.strip_prefix('\'')?;
    rest.split('\'').next()
}
