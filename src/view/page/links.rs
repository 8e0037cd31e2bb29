//! Share links: the state of the page in the fragment of its address, as `v1.` and the compressed
//! state in URL-safe base64. A lesson of somebody's own begins with `l1.`, the results of a student
//! with `r1.`.
//!
//! The state is a header of `key=value` lines, an empty line, and the text. Unknown keys are
//! skipped, so that a later version can add keys. Browsers implement zlib (RFC 1950) and base64
//! (RFC 4648), so `browser` compresses and decompresses. The checksum of zlib detects a link with
//! lost or changed characters.

use super::note::Note;
use fuseline_core::model::device::{Device, DeviceProbe, Rate, Source, default_device, device};
use fuseline_core::model::options::{
    Conventions, FusionOptions, MIN_SPEEDUP_PERCENT, Policy, Switch,
};
use std::fmt::Write as _;
use strum::VariantArray;

/// Longest fragment that is read, in bytes. Browsers accept more, chat programs less.
pub const MAX_LINK_BYTES: usize = 512 * 1024;
/// Largest decompressed state, in bytes. A link of a few bytes can decompress to terabytes; this is
/// a program of some 10,000 ops, which opens in about a second.
pub const MAX_STATE_BYTES: usize = 256 * 1024;

const LISTED_LESSON: &str = "lesson=";
const LISTED_PUZZLE: &str = "puzzle=";

/// The content of a link's compressed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum Payload {
    /// A state of the page, for [`read_state`].
    State,
    /// The file of a lesson of somebody's own.
    Lesson,
    /// The results of a student, to hand in.
    Results,
}

impl Payload {
    /// The version with which its links start.
    pub const fn version(self) -> &'static str {
        match self {
            Self::State => "v1.",
            Self::Lesson => "l1.",
            Self::Results => "r1.",
        }
    }
}

/// The state that a link stores.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedState {
    pub text: String,
    pub policy: Policy,
    pub fusion: FusionOptions,
    /// How bytes are counted.
    pub conventions: Conventions,
    /// The device that the kernels run on.
    pub device: Device,
    /// Whether the unfused graph is shown.
    pub is_unfused_view: bool,
    /// Name of the selected op.
    pub selected_op: Option<String>,
    /// Name of the open tab, if it is not the first.
    pub open_tab: Option<String>,
    /// The puzzle that the text is a solution of.
    pub puzzle: Option<String>,
    /// Number of merges and cuts that made the kernels from the start of the puzzle. The browser
    /// stores it; a link has none, for its kernels are somebody else's.
    pub moves: Option<usize>,
    /// The note of the sender.
    pub note: Option<Note>,
}

impl Default for SharedState {
    fn default() -> Self {
        Self {
            text: String::new(),
            policy: Policy::default(),
            fusion: FusionOptions::default(),
            conventions: Conventions::default(),
            device: default_device().clone(),
            is_unfused_view: false,
            selected_op: None,
            open_tab: None,
            puzzle: None,
            moves: None,
            note: None,
        }
    }
}

/// Why a link cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareError {
    /// It does not start with a version: `#hello`.
    NotALink,
    /// Its version is not supported: `v9.…`.
    UnknownVersion,
    /// Characters are missing or changed: base64, compression or checksum is invalid.
    Damaged,
    /// It is longer than [`MAX_LINK_BYTES`] or decompresses to more than [`MAX_STATE_BYTES`].
    TooLarge,
    /// The browser has no zlib streams.
    Unsupported,
}

impl ShareError {
    /// The problem and what to do about it, for the user.
    pub const fn message(self) -> &'static str {
        match self {
            Self::NotALink => "This address is not a Fuseline link, so nothing was opened from it.",
            Self::UnknownVersion => {
                "This link comes from another version of Fuseline. Reload the page, or ask the sender for the text."
            }
            Self::Damaged => {
                "This link is damaged: part of it is missing or changed. Ask the sender for the complete link."
            }
            Self::TooLarge => {
                "This link is longer than 512 KiB or unpacks to more than 256 KiB, so it was not opened. Ask the sender for the text as a file."
            }
            Self::Unsupported => {
                "This browser is too old to unpack links. Use a newer browser, or ask the sender for the text."
            }
        }
    }
}

/// The fragment (without `#`) for compressed bytes in standard base64. `O(base64)`.
///
/// # Errors
/// [`ShareError::TooLarge`] past [`MAX_LINK_BYTES`].
pub fn fragment_of(payload: Payload, base64: &str) -> Result<String, ShareError> {
    let mut fragment = payload.version().to_owned();
    fragment.extend(base64.chars().filter_map(|c| match c {
        '+' => Some('-'),
        '/' => Some('_'),
        '=' => None,
        _ => Some(c),
    }));
    if fragment.len() > MAX_LINK_BYTES {
        return Err(ShareError::TooLarge);
    }
    Ok(fragment)
}

/// The fragment for a step, from 1, of a lesson of the page.
pub fn listed_lesson_fragment(id: &str, step: usize) -> String {
    format!("{LISTED_LESSON}{id}.{step}")
}

/// The lesson of the page and the step, from 1, that a fragment names.
pub fn listed_lesson_in(fragment: &str) -> Option<(&str, usize)> {
    let name = fragment.strip_prefix(LISTED_LESSON)?;
    Some(match name.rsplit_once('.') {
        Some((id, step)) => (id, step.parse().unwrap_or(1)),
        None => (name, 1),
    })
}

/// The puzzle of the page that a fragment names.
pub fn listed_puzzle_in(fragment: &str) -> Option<&str> {
    fragment.strip_prefix(LISTED_PUZZLE)
}

/// The kind of content of a fragment (without `#`), and its compressed bytes in standard base64.
/// `O(fragment)`.
///
/// # Errors
/// The fragment is not a complete link of this version.
pub fn packed_in(fragment: &str) -> Result<(Payload, String), ShareError> {
    if fragment.len() > MAX_LINK_BYTES {
        return Err(ShareError::TooLarge);
    }
    let mut payloads = Payload::VARIANTS.iter();
    let found = payloads.find_map(|&payload| {
        let packed = fragment.strip_prefix(payload.version())?;
        Some((payload, packed))
    });
    let (payload, packed) = found.ok_or_else(|| {
        let is_other_version = fragment
            .strip_prefix(['v', 'l', 'r'])
            .and_then(|rest| rest.split_once('.'))
            .is_some_and(|(version, _)| {
                !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit())
            });
        if is_other_version {
            ShareError::UnknownVersion
        } else {
            ShareError::NotALink
        }
    })?;
    // Browsers accept blanks and padding in base64; a link has neither.
    let base64 = packed.chars().map(|c| match c {
        '-' => Some('+'),
        '_' => Some('/'),
        _ => c.is_ascii_alphanumeric().then_some(c),
    });
    let base64 = base64.collect::<Option<String>>();
    let base64 = base64.filter(|b| !b.is_empty());
    Ok((payload, base64.ok_or(ShareError::Damaged)?))
}

/// `state` as text, for [`read_state`]. Only values that differ from the defaults are written, so
/// that most links contain little beside the op list. `O(text)`.
///
/// # Errors
/// [`ShareError::TooLarge`] past [`MAX_STATE_BYTES`].
pub fn write_state(state: &SharedState) -> Result<String, ShareError> {
    let default = SharedState::default();
    let mut header = String::new();
    let mut put = |key: &str, value: &str| {
        // A line break would end the value. No name can contain one, so replacing it loses nothing.
        let value = value.replace(['\n', '\r'], " ");
        let _ = writeln!(header, "{key}={value}");
    };
    if state.policy != default.policy {
        put("policy", state.policy.name());
    }
    let fusion = (state.fusion, default.fusion);
    if fusion.0.objective != fusion.1.objective {
        put("objective", fusion.0.objective.name());
    }
    if fusion.0.min_speedup_percent != fusion.1.min_speedup_percent {
        put("min-speedup", &fusion.0.min_speedup_percent.to_string());
    }
    for &switch in Switch::VARIANTS {
        let (mut chosen, mut usual) = fusion;
        let is_on = *switch.flag(&mut chosen);
        if is_on != *switch.flag(&mut usual) {
            put(switch.name(), if is_on { "on" } else { "off" });
        }
    }
    if state.conventions.externals != default.conventions.externals {
        put("externals", state.conventions.externals.name());
    }
    if state.conventions.reshape != default.conventions.reshape {
        put("reshape", state.conventions.reshape.name());
    }
    if state.conventions.f32_matmul != default.conventions.f32_matmul {
        put("f32-matmul", state.conventions.f32_matmul.name());
    }
    if state.conventions.f32_conv != default.conventions.f32_conv {
        put("f32-conv", state.conventions.f32_conv.name());
    }
    if let Some(probe) = &state.device.probe {
        put("probe", &probe.json());
    } else if state.device.source == Source::Custom {
        let value = |rate: Rate| rate.figure(&state.device).map_or(0.0, |f| f.value);
        put(
            "custom",
            &[
                state.device.memory_bytes_per_s.value,
                value(Rate::MatrixF16),
                value(Rate::Vector),
                state.device.launch_s.value,
            ]
            .map(|figure| figure.to_string())
            .join(" "),
        );
        for &rate in Rate::VARIANTS {
            let is_in_custom = matches!(rate, Rate::MatrixF16 | Rate::Vector);
            if !is_in_custom && rate.figure(&state.device).is_some() {
                put(rate.name(), &value(rate).to_string());
            }
        }
    } else if state.device.id != default.device.id {
        put("device", &state.device.id);
    }
    if state.device.has_own_launch() {
        put("launch", &state.device.launch_s.value.to_string());
    }
    if state.is_unfused_view {
        put("view", "unfused");
    }
    if let Some(op) = &state.selected_op {
        put("selected", op);
    }
    if let Some(tab) = &state.open_tab {
        put("tab", tab);
    }
    if let Some(puzzle) = &state.puzzle {
        put("puzzle", puzzle);
    }
    if let Some(moves) = state.moves {
        put("moves", &moves.to_string());
    }
    if let Some(note) = &state.note {
        put("note", note.as_str());
    }
    header.push('\n');
    header.push_str(&state.text);
    if header.len() > MAX_STATE_BYTES {
        return Err(ShareError::TooLarge);
    }
    Ok(header)
}

/// The state in a text of [`write_state`]. An invalid value leaves the default. `O(written)`.
///
/// # Errors
/// [`ShareError::Damaged`] if it is not UTF-8, or has no empty line after the header.
pub fn read_state(written: Vec<u8>) -> Result<SharedState, ShareError> {
    let written = String::from_utf8(written).map_err(|_| ShareError::Damaged)?;
    let (header, text) = match written.strip_prefix('\n') {
        Some(text) => ("", text),
        None => written.split_once("\n\n").ok_or(ShareError::Damaged)?,
    };
    let mut state = SharedState {
        text: text.to_owned(),
        ..SharedState::default()
    };
    // A carriage return ends a value, too: written again, it would be another character.
    let lines = header.split(['\n', '\r']);
    for (key, value) in lines.filter_map(|line| line.split_once('=')) {
        match key {
            "policy" => state.policy = value.parse().unwrap_or_default(),
            "externals" => {
                state.conventions.externals = value.parse().unwrap_or_default();
            }
            "reshape" => {
                state.conventions.reshape = value.parse().unwrap_or_default();
            }
            "f32-matmul" => {
                let usual = Conventions::default().f32_matmul;
                state.conventions.f32_matmul = value.parse().unwrap_or(usual);
            }
            "f32-conv" => {
                let usual = Conventions::default().f32_conv;
                state.conventions.f32_conv = value.parse().unwrap_or(usual);
            }
            "device" => state.device = device(value).unwrap_or(default_device()).clone(),
            "probe" => {
                if let Some(probe) = DeviceProbe::of_json(value) {
                    state.device = probe.device();
                }
            }
            // Keys are in order, so the device is already read; this replaces its launch time.
            "launch" => {
                if let Ok(launch_s) = value.parse() {
                    state.device = state.device.with_launch_s(launch_s);
                }
            }
            "custom" => {
                let figures: Vec<f64> = value.split(' ').map_while(|f| f.parse().ok()).collect();
                if let [bandwidth, matrix, vector, launch] = figures[..] {
                    let own = Device::custom(bandwidth, matrix, vector, launch);
                    if own.is_plausible() {
                        state.device = own;
                    }
                }
            }
            "objective" => {
                state.fusion.objective = value.parse().unwrap_or_default();
            }
            "min-speedup" => {
                if let Some(percent) = value
                    .parse()
                    .ok()
                    .filter(|p| MIN_SPEEDUP_PERCENT.contains(p))
                {
                    state.fusion.min_speedup_percent = percent;
                }
            }
            "view" => state.is_unfused_view = value == "unfused",
            "selected" => state.selected_op = Some(value.to_owned()),
            "tab" => state.open_tab = Some(value.to_owned()),
            "puzzle" => state.puzzle = Some(value.to_owned()),
            "moves" => state.moves = value.parse().ok(),
            "note" => state.note = Note::of(value),
            _ => {
                if let Ok(switch) = key.parse::<Switch>()
                    && matches!(value, "on" | "off")
                {
                    *switch.flag(&mut state.fusion) = value == "on";
                }
                // Keys are in order, so the custom device is already read; this adds a rate.
                if let Ok(rate) = key.parse::<Rate>()
                    && let Ok(flops_per_s) = value.parse()
                    && state.device.source == Source::Custom
                {
                    let own = state.device.clone().with_rate(rate, flops_per_s);
                    if own.is_plausible() {
                        state.device = own;
                    }
                }
            }
        }
    }
    Ok(state)
}
