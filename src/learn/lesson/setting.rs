//! Changes of the page by a step: its blocks `fuse`, `page` and `then`.

use super::entries::{BlockEntry, FencedBlock, Problem, lines_of, unknown};
use super::state::{Mark, PageState};
use fuseline_core::examples::{EXAMPLES, Example, example};
use fuseline_core::model::options::{FusionOptions, Switch};
use fuseline_core::notation::edit::{set_dtype, set_param};
use fuseline_core::notation::parse;
use fuseline_core::{
    Conventions, DEVICES, DType, Device, Externals, F32Matmul, Objective, Options, Policy,
    ReshapeCost, device,
};
use fuseline_view::page::tab::Tab;
use fuseline_view::page::view::View;
use std::str::FromStr;
use strum::{IntoEnumIterator, VariantArray};

/// Changes of the page, in the order of their lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    changes: Vec<(usize, Change)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Change {
    Program(String),
    Example(&'static Example),
    Param(String, i64),
    DType(DType),
    Policy(Policy),
    Objective(Objective),
    Switch(Switch, bool),
    Externals(Externals),
    Reshape(ReshapeCost),
    F32Matmul(F32Matmul),
    F32Conv(F32Matmul),
    Device(&'static Device),
    IsUnfused(bool),
    Tab(Tab),
    Mark(Option<Mark>),
    Look(Vec<View>),
}

/// The keys of a `page` block, beside the names of the switches.
const KEYS: [&str; 13] = [
    "example",
    "set",
    "type",
    "policy",
    "objective",
    "externals",
    "reshape",
    "f32-matmul",
    "device",
    "view",
    "tab",
    "mark",
    "look",
];

impl Setting {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Adds a program from a `fuse` block.
    pub fn add_program(&mut self, block: &FencedBlock) {
        self.changes
            .push((block.line, Change::Program(block.text.clone())));
    }

    /// Adds the lines of a `page` or `then` block.
    pub fn add(&mut self, block: &FencedBlock, problems: &mut Vec<Problem>) {
        let (entries, items) = lines_of(block, problems);
        problems.extend(items.iter().map(|item| {
            Problem::new(
                item.line,
                format!("`- {}` is in a `page` block", item.label),
                "move it into a `choose` block",
            )
        }));
        for entry in entries {
            match changes_of(&entry) {
                Ok(changes) => {
                    (self.changes).extend(changes.into_iter().map(|change| (entry.line, change)));
                }
                Err(problem) => problems.push(problem),
            }
        }
    }

    /// The state of the page after these changes. A change that is not possible is left out and
    /// becomes a problem.
    pub fn applied(&self, before: &PageState, problems: &mut Vec<Problem>) -> PageState {
        let mut state = before.clone();
        for (line, change) in &self.changes {
            if let Err((what, mend)) = change.apply(&mut state) {
                problems.push(Problem::new(*line, what, mend));
            }
        }
        state
    }
}

impl Change {
    fn apply(&self, state: &mut PageState) -> Result<(), (String, String)> {
        let shared = &mut state.shared;
        match self {
            Self::Program(text) => replace(state, text),
            Self::Example(example) => replace(state, example.text),
            Self::Param(name, value) => {
                let program = parse(&shared.text).program;
                let params = &program.params;
                let at = params.iter().position(|param| param.name.text == *name);
                let Some(at) = at else {
                    let known: Vec<_> = params.iter().map(|p| p.name.text.as_str()).collect();
                    return Err((
                        format!("the program has no param `{name}`"),
                        format!("write one of {}", known.join(", ")),
                    ));
                };
                shared.text = set_param(&shared.text, &program, at, *value);
            }
            Self::DType(dtype) => {
                let program = parse(&shared.text).program;
                shared.text = set_dtype(&shared.text, &program, *dtype);
            }
            Self::Policy(policy) => shared.policy = *policy,
            Self::Objective(objective) => shared.fusion.objective = *objective,
            Self::Switch(switch, is_on) => *switch.flag(&mut shared.fusion) = *is_on,
            Self::Externals(externals) => shared.conventions.externals = *externals,
            Self::Reshape(reshape) => shared.conventions.reshape = *reshape,
            Self::F32Matmul(f32_matmul) => shared.conventions.f32_matmul = *f32_matmul,
            Self::F32Conv(f32_conv) => shared.conventions.f32_conv = *f32_conv,
            Self::Device(device) => shared.device = (*device).clone(),
            Self::IsUnfused(is_unfused) => shared.is_unfused_view = *is_unfused,
            Self::Tab(tab) => shared.open_tab = Some(<&str>::from(*tab).to_owned()),
            Self::Mark(mark) => state.mark.clone_from(mark),
            Self::Look(views) => state.look.clone_from(views),
        }
        Ok(())
    }
}

/// Another program: with the choices that every program starts with, so that the answers are those
/// for which the lesson is checked.
fn replace(state: &mut PageState, text: &str) {
    text.clone_into(&mut state.shared.text);
    state.shared.policy = Policy::default();
    state.shared.fusion = FusionOptions::default();
    state.shared.conventions = Conventions::default();
    state.shared.device = Options::default().device;
    state.shared.is_unfused_view = false;
    state.shared.open_tab = None;
    state.mark = None;
}

fn changes_of(entry: &BlockEntry) -> Result<Vec<Change>, Problem> {
    let BlockEntry { line, key, value } = entry;
    let line = *line;
    if let Ok(switch) = key.parse::<Switch>() {
        let is_on = match value.as_str() {
            "on" => true,
            "off" => false,
            _ => return Err(unknown(line, "state of a switch", value, &["on", "off"])),
        };
        return Ok(vec![Change::Switch(switch, is_on)]);
    }
    let change = match key.as_str() {
        "example" => Change::Example(example(value).ok_or_else(|| {
            let ids: Vec<_> = EXAMPLES.iter().map(|example| example.id).collect();
            unknown(line, "example", value, &ids)
        })?),
        "set" => return params_of(line, value),
        "type" => Change::DType(named(line, "type", value, DType::VARIANTS, DType::name)?),
        "policy" => Change::Policy(named(
            line,
            "policy",
            value,
            Policy::VARIANTS,
            Policy::name,
        )?),
        "objective" => Change::Objective(named(
            line,
            "objective",
            value,
            Objective::VARIANTS,
            Objective::name,
        )?),
        "externals" => Change::Externals(named(
            line,
            "convention",
            value,
            Externals::VARIANTS,
            Externals::name,
        )?),
        "reshape" => Change::Reshape(named(
            line,
            "convention",
            value,
            ReshapeCost::VARIANTS,
            ReshapeCost::name,
        )?),
        "f32-matmul" => Change::F32Matmul(named(
            line,
            "type of f32 matmuls",
            value,
            F32Matmul::VARIANTS,
            F32Matmul::name,
        )?),
        "f32-conv" => Change::F32Conv(named(
            line,
            "type of f32 convolutions",
            value,
            F32Matmul::VARIANTS,
            F32Matmul::name,
        )?),
        "device" => Change::Device(device(value).ok_or_else(|| {
            let ids: Vec<_> = DEVICES.iter().map(|device| device.id.as_ref()).collect();
            unknown(line, "device", value, &ids)
        })?),
        "view" => match value.as_str() {
            "fused" => Change::IsUnfused(false),
            "unfused" => Change::IsUnfused(true),
            _ => return Err(unknown(line, "view", value, &["fused", "unfused"])),
        },
        "tab" => Change::Tab(value.parse().map_err(|_| {
            let names: Vec<&str> = Tab::iter().map(Into::into).collect();
            unknown(line, "tab", value, &names)
        })?),
        "mark" => Change::Mark(mark_of(line, value)?),
        "look" => {
            let views = value
                .split(',')
                .map(str::trim)
                .map(|name| named(line, "view of the page", name, View::VARIANTS, View::name));
            Change::Look(views.collect::<Result<_, _>>()?)
        }
        _ => {
            let switches = Switch::VARIANTS.iter().map(|switch| switch.name());
            let keys: Vec<_> = KEYS.into_iter().chain(switches).collect();
            return Err(unknown(line, "key of a page", key, &keys));
        }
    };
    Ok(vec![change])
}

/// One of a few names.
fn named<T: FromStr + Copy>(
    line: usize,
    what: &str,
    value: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, Problem> {
    value.parse().map_err(|_| {
        let names: Vec<_> = all.iter().map(|&known| name(known)).collect();
        unknown(line, what, value, &names)
    })
}

/// `S = 4096, heads = 16`.
fn params_of(line: usize, value: &str) -> Result<Vec<Change>, Problem> {
    let params = value.split(',').map(|param| {
        let (name, number) = param.split_once('=')?;
        let number = number.trim().replace('_', "").parse().ok()?;
        Some(Change::Param(name.trim().to_owned(), number))
    });
    params.collect::<Option<_>>().ok_or_else(|| {
        Problem::new(
            line,
            format!("`{value}` sets no params"),
            "write, for example, `set: S = 4096, heads = 16`",
        )
    })
}

/// `op NAME`, `kernel of NAME`, `tensor NAME`, `A -> B` or `nothing`.
fn mark_of(line: usize, value: &str) -> Result<Option<Mark>, Problem> {
    let rest_of = |prefix: &str| {
        value
            .strip_prefix(prefix)
            .map(|rest| rest.trim().to_owned())
    };
    if value == "nothing" {
        return Ok(None);
    }
    let edge = || {
        let (from, to) = value.split_once("->")?;
        Some(Mark::Edge(from.trim().to_owned(), to.trim().to_owned()))
    };
    (rest_of("kernel of ").map(Mark::Kernel))
        .or_else(|| rest_of("op ").map(Mark::Op))
        .or_else(|| rest_of("tensor ").map(Mark::Tensor))
        .or_else(edge)
        .map(Some)
        .ok_or_else(|| {
            Problem::new(
                line,
                format!("`{value}` is not a mark"),
                "write `op NAME`, `kernel of NAME`, `tensor NAME`, `A -> B` or `nothing`",
            )
        })
}
