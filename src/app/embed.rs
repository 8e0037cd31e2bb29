//! The page in the frame of another one: which of its views it shows, and the messages that both
//! exchange.
//!
//! A message is a plain object with `fuseline: 1`, a `type`, and an `id` that its answer carries,
//! too. `public/embed.html` documents them. What is embedded reads and writes no stored text, so
//! whoever embeds it learns nothing about the visitor.

use fuseline_core::input::{InputTooLarge, check_size};
use fuseline_core::model::diagnostic::Severity;
use fuseline_core::notation::edit::set_param;
use fuseline_core::notation::{Parsed, parse};
use fuseline_core::{Analysis, DEVICES, Device, Diagnostic, Policy, device};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The version of the messages.
pub const VERSION: u64 = 1;

/// What an embedded page can show, in this order. The names stand in its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum View {
    /// Bytes, kernels and time.
    Headline,
    /// The sizes.
    Sliders,
    Graph,
    Roofline,
    Timeline,
    Traffic,
    /// The table of kernels.
    Kernels,
}

/// What an address asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Views {
    /// The views that it names, each once, in the order of [`View::VARIANTS`]; if it names none,
    /// the graph and the roofline.
    pub shown: Vec<View>,
    /// What is wrong with it, in a sentence.
    pub problem: Option<String>,
}

impl Views {
    /// The views in the value of `?embed=`.
    pub fn named(names: &str) -> Self {
        let names = names
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let known: Vec<(&str, Option<View>)> =
            names.map(|name| (name, name.parse().ok())).collect();
        let is_named = |view: &View| known.iter().any(|(_, named)| *named == Some(*view));
        let mut shown: Vec<View> = View::VARIANTS.iter().copied().filter(is_named).collect();
        if shown.is_empty() {
            shown = vec![View::Graph, View::Roofline];
        }
        let unknown = known.iter().find(|(_, view)| view.is_none());
        let problem = unknown.map(|(name, _)| {
            format!(
                "There is no view `{name}`. {}",
                one_of(View::VARIANTS.iter().map(|&view| view.into()))
            )
        });
        Self { shown, problem }
    }
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("Use one of: {}.", names.collect::<Vec<_>>().join(", "))
}

/// A message from the page around.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What its answer carries, too.
    pub id: Option<Value>,
    /// What it wants, or what is wrong with it.
    pub wish: Result<Wish, MessageError>,
}

/// What a message wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// The analysis, all of it.
    Get,
    /// Other things to be shown.
    Set(Settings),
}

/// What a message changes; what it leaves out stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The op list.
    program: Option<String>,
    /// Values of params of the program.
    params: IndexMap<String, i64>,
    /// Id of the device.
    device: Option<String>,
    /// Name of the policy.
    policy: Option<String>,
    /// Whether the graph is shown fused.
    fused: Option<bool>,
}

/// Why a message is not followed, in sentences for the programmer of the page around.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// A number, a text or a list.
    #[error("A message is an object, such as {{ fuseline: 1, type: \"get\" }}.")]
    NoObject,
    /// Something that has no JSON; what the browser says of it.
    #[error("A message is a plain object: {0}.")]
    NoPlainObject(String),
    /// A message of another version, or of something else.
    #[error("A message needs its version: `fuseline: {VERSION}`.")]
    NoVersion,
    /// A message that wants nothing known.
    #[error("A message needs a type: \"get\" or \"set\".")]
    NoType,
    /// A field that `get` does not have.
    #[error("A message of type \"get\" has no field `{0}`.")]
    FieldOfGet(String),
    /// A field that `set` does not have, or with another type; which, as a clause.
    #[error("The message of type \"set\" could not be read: {0}.")]
    Settings(String),
    /// More text than the page reads.
    #[error("The program is too large: {0}.")]
    TooLarge(#[from] InputTooLarge),
    /// A param that the program does not have.
    #[error("The program has no param `{name}`. {known}")]
    NoParam {
        /// What is written in its place.
        name: String,
        /// The params that it has, as a sentence.
        known: String,
    },
    /// A device that Fuseline does not know.
    #[error("There is no device `{id}`. {known}")]
    NoDevice {
        /// What is written in its place.
        id: String,
        /// The known devices, as a sentence.
        known: String,
    },
    /// A policy that Fuseline does not know.
    #[error("There is no policy `{name}`. {known}")]
    NoPolicy {
        /// What is written in its place.
        name: String,
        /// The known policies, as a sentence.
        known: String,
    },
}

impl Request {
    /// Reads a message; `None` for an answer: if answers were answered, two pages could go on for
    /// ever.
    pub fn read(message: Result<Value, String>) -> Option<Self> {
        let refused = |problem| {
            Some(Self {
                id: None,
                wish: Err(problem),
            })
        };
        let mut fields = match message {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return refused(MessageError::NoObject),
            Err(problem) => return refused(MessageError::NoPlainObject(problem)),
        };
        let kind = fields.shift_remove("type");
        if kind.as_ref().is_some_and(|kind| kind == "error") {
            return None;
        }
        let id = fields
            .shift_remove("id")
            .filter(|id| id.is_string() || id.is_number());
        let version = fields.shift_remove("fuseline");
        let wish = if version.as_ref().and_then(Value::as_u64) == Some(VERSION) {
            wish(kind.as_ref(), fields)
        } else {
            Err(MessageError::NoVersion)
        };
        Some(Self { id, wish })
    }

    pub fn answer(&self, content: &Content) -> Value {
        message(self.id.clone(), content)
    }
}

fn wish(kind: Option<&Value>, fields: Map<String, Value>) -> Result<Wish, MessageError> {
    match kind.and_then(Value::as_str) {
        Some("get") => match fields.keys().next() {
            None => Ok(Wish::Get),
            Some(field) => Err(MessageError::FieldOfGet(field.clone())),
        },
        Some("set") => serde_path_to_error::deserialize(Value::Object(fields))
            .map(Wish::Set)
            .map_err(|problem| MessageError::Settings(problem.to_string())),
        _ => Err(MessageError::NoType),
    }
}

/// What an embedded page sends.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Content {
    /// It has started and understands messages.
    Ready {
        /// The views that it shows.
        views: Vec<&'static str>,
    },
    /// It shows something else now; also the answer to `set`.
    Change(Box<State>),
    /// The answer to `get`.
    Analysis {
        /// As the command line and the menu *Export* write it.
        analysis: Value,
    },
    /// The height of its content has changed.
    Resize {
        /// In CSS pixels.
        height_px: f64,
    },
    /// The message before was not followed.
    Error {
        /// Why, and what to do.
        message: String,
    },
}

impl Content {
    /// What answers a message that is not followed.
    pub fn of_error(problem: &MessageError) -> Self {
        Self::Error {
            message: problem.to_string(),
        }
    }
}

pub fn message(id: Option<Value>, content: &Content) -> Value {
    let mut fields = Map::new();
    fields.insert("fuseline".to_owned(), VERSION.into());
    fields.extend(id.map(|id| ("id".to_owned(), id)));
    // Numbers, texts and lists of them are always JSON.
    if let Ok(Value::Object(content)) = serde_json::to_value(content) {
        fields.extend(content);
    }
    Value::Object(fields)
}

/// What is shown, in a few figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct State {
    /// The op list.
    program: String,
    params: IndexMap<String, i64>,
    /// Id of the device.
    device: String,
    /// Name of the policy.
    policy: &'static str,
    /// Whether the graph is shown fused.
    fused: bool,
    /// What is wrong with the program. The figures are then those of the last one without an error.
    errors: Vec<String>,
    /// Whether the figures are still being computed, and are those from before.
    is_computing: bool,
    unfused_bytes: u64,
    fused_bytes: u64,
    unfused_kernels: usize,
    fused_kernels: usize,
    unfused_bound_s: f64,
    fused_bound_s: f64,
    unfused_expected_s: Option<f64>,
    fused_expected_s: Option<f64>,
}

impl State {
    /// The figures of `analysis`, which is shown for `text`.
    pub fn new(
        text: &str,
        parsed: &Parsed,
        diagnostics: &[Diagnostic],
        analysis: &Analysis,
        [is_fused, is_computing]: [bool; 2],
    ) -> Self {
        let params = parsed.program.params.iter();
        let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
        let (unfused, fused) = (&analysis.unfused, &analysis.fused);
        let predicted = analysis.predicted.as_ref();
        Self {
            program: text.to_owned(),
            params: params
                .map(|param| (param.name.text.clone(), param.value))
                .collect(),
            device: analysis.options.device.id.to_string(),
            policy: analysis.options.policy.name(),
            fused: is_fused,
            errors: errors.map(|error| error.message.clone()).collect(),
            is_computing,
            unfused_bytes: unfused.traffic.total,
            fused_bytes: fused.traffic.total,
            unfused_kernels: unfused.launches,
            fused_kernels: fused.launches,
            unfused_bound_s: unfused.time_s,
            fused_bound_s: fused.time_s,
            unfused_expected_s: predicted.map(|predicted| predicted.unfused_s),
            fused_expected_s: predicted.map(|predicted| predicted.fused_s),
        }
    }
}

/// Settings that can be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The whole text, if it changes.
    pub text: Option<String>,
    /// The device, if it changes.
    pub device: Option<&'static Device>,
    /// The policy, if it changes.
    pub policy: Option<Policy>,
    /// Whether the graph is shown fused, if that changes.
    pub is_fused: Option<bool>,
}

impl Settings {
    /// What these settings change where `text` is shown. All of them can be made, or none is.
    ///
    /// # Errors
    /// What is wrong with the first that cannot.
    pub fn change(self, text: &str) -> Result<Change, MessageError> {
        let Self {
            program,
            params,
            device: device_id,
            policy,
            fused,
        } = self;
        if let Some(program) = &program {
            check_size(program.len())?;
        }
        let mut changed = program;
        for (name, value) in params {
            let before = changed.as_deref().unwrap_or(text);
            let program = parse(before).program;
            let index = program
                .params
                .iter()
                .position(|param| param.name.text == name);
            let index = index.ok_or_else(|| {
                let names = program.params.iter().map(|param| param.name.text.as_str());
                MessageError::NoParam {
                    known: one_of(names),
                    name,
                }
            })?;
            changed = Some(set_param(before, &program, index, value));
        }
        let device = device_id.map(|id| {
            device(&id).ok_or_else(|| MessageError::NoDevice {
                known: one_of(DEVICES.iter().map(|device| &*device.id)),
                id,
            })
        });
        let policy = policy.map(|name| {
            name.parse().map_err(|_| MessageError::NoPolicy {
                known: one_of(Policy::VARIANTS.iter().map(|policy| policy.name())),
                name,
            })
        });
        Ok(Change {
            device: device.transpose()?,
            policy: policy.transpose()?,
            is_fused: fused,
            text: changed,
        })
    }
}
