//! The whole state of the page in a link's fragment: `v1.` and the compressed state in URL-safe base64.
//!
//! The state is a header of `key=value` lines, an empty line, and the text. zlib carries a checksum, so a
//! link that lost or changed a character is recognised; unknown keys are skipped, so that a later version
//! may add some.

mod base64;
mod pack;
mod unpack;
mod zlib;

use super::decimal::{parse_decimal, shortest};
use super::device::{Device, Source, default_device, device};
use super::fusion::Policy;
use super::fusion::options::{FusionOptions, Objective, SWITCHES};
use super::sizes::{Conventions, Externals, ReshapeCost};
/// Longest fragment that is looked at, in bytes. Browsers carry more, chat programs less.
pub const MAX_LINK_BYTES: usize = 512 * 1024;
/// Largest state that a link may unpack to, in bytes: a link of a few bytes can claim terabytes.
pub const MAX_STATE_BYTES: usize = 2 * 1024 * 1024;

const VERSION: &str = "v1.";

/// What a link carries.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedState {
    /// The op list.
    pub text: String,
    /// Who decides what fuses.
    pub policy: Policy,
    /// What the policies may do.
    pub fusion: FusionOptions,
    /// How bytes are counted.
    pub conventions: Conventions,
    /// What the kernels run on.
    pub device: Device,
    /// The unfused picture is shown.
    pub is_unfused_view: bool,
    /// Name of the selected op.
    pub selected_op: Option<String>,
    /// Name of the open tab, when it is not the first.
    pub open_tab: Option<String>,
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
        }
    }
}

/// Why a link could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareError {
    /// It does not start with a version: `#hello`.
    NotALink,
    /// Its version is not ours: `v9.…`.
    UnknownVersion,
    /// Characters are missing or changed: the base64, the compression or the checksum does not hold.
    Damaged,
    /// It is longer than [`MAX_LINK_BYTES`] or unpacks to more than [`MAX_STATE_BYTES`].
    TooLarge,
}

impl ShareError {
    /// What happened and what to do, for the visitor.
    pub const fn message(self) -> &'static str {
        match self {
            Self::NotALink => {
                "This address carries something that is no Fuseline link, so nothing was opened from it."
            }
            Self::UnknownVersion => {
                "This link was made by another version of Fuseline. Reload the page, or ask for the text."
            }
            Self::Damaged => {
                "This link is damaged: part of it is missing or changed. Ask for it again, as a whole."
            }
            Self::TooLarge => {
                "This link carries more than a program of this size can need, so it was not opened."
            }
        }
    }
}

/// The fragment (without `#`) that [`decode`] turns back into `state`.
///
/// # Errors
/// [`ShareError::TooLarge`] when the text is too long for a link.
///
/// ```
/// use fuseline::core::share::{decode, encode, SharedState};
/// let state = SharedState { text: "y = relu(x) : f16[1024]".into(), ..SharedState::default() };
/// assert_eq!(decode(&encode(&state)?)?, state);
/// # Ok::<(), fuseline::core::share::ShareError>(())
/// ```
pub fn encode(state: &SharedState) -> Result<String, ShareError> {
    let written = write_state(state);
    if written.len() > MAX_STATE_BYTES {
        return Err(ShareError::TooLarge);
    }
    let mut link = VERSION.to_owned();
    base64::encode(&pack::pack(written.as_bytes()), &mut link);
    if link.len() > MAX_LINK_BYTES {
        return Err(ShareError::TooLarge);
    }
    Ok(link)
}

/// The state that a fragment (without `#`) carries. Total, and bounded in time and memory.
///
/// # Errors
/// Whatever keeps the fragment from being a whole link of this version.
pub fn decode(fragment: &str) -> Result<SharedState, ShareError> {
    if fragment.len() > MAX_LINK_BYTES {
        return Err(ShareError::TooLarge);
    }
    let packed = fragment.strip_prefix(VERSION).ok_or_else(|| {
        let is_other_version = fragment
            .strip_prefix('v')
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
    let packed = base64::decode(packed).ok_or(ShareError::Damaged)?;
    let bytes = unpack::unpack(&packed, MAX_STATE_BYTES)?;
    let written = String::from_utf8(bytes).map_err(|_| ShareError::Damaged)?;
    read_state(&written).ok_or(ShareError::Damaged)
}

/// Only what differs from the defaults is written: most links carry little beside the text.
fn write_state(state: &SharedState) -> String {
    let default = SharedState::default();
    let mut header = String::new();
    let mut put = |key: &str, value: &str| {
        // A line break in a value would end it; no name can hold one, so nothing is lost.
        let value = value.replace(['\n', '\r'], " ");
        for part in [key, "=", &value, "\n"] {
            header.push_str(part);
        }
    };
    if state.policy != default.policy {
        put("policy", state.policy.name());
    }
    let fusion = (state.fusion, default.fusion);
    if fusion.0.objective != fusion.1.objective {
        put("objective", fusion.0.objective.name());
    }
    for switch in &SWITCHES {
        let (mut chosen, mut usual) = fusion;
        let is_on = *(switch.part)(&mut chosen);
        if is_on != *(switch.part)(&mut usual) {
            put(switch.name, if is_on { "on" } else { "off" });
        }
    }
    if state.conventions.externals != default.conventions.externals {
        put("externals", state.conventions.externals.name());
    }
    if state.conventions.reshape != default.conventions.reshape {
        put("reshape", state.conventions.reshape.name());
    }
    if state.device.source == Source::Custom {
        let value = |figure: Option<super::device::Figure>| figure.map_or(0.0, |f| f.value);
        put(
            "custom",
            &[
                state.device.memory_bytes_per_s.value,
                value(state.device.matrix_f16_flops_per_s),
                value(state.device.vector_flops_per_s),
                state.device.launch_s.value,
            ]
            .map(shortest)
            .join(" "),
        );
    } else {
        if state.device.id != default.device.id {
            put("device", &state.device.id);
        }
        let launch_s = state.device.launch_s.value;
        let as_listed =
            device(&state.device.id).is_none_or(|d| d.launch_s.value.total_cmp(&launch_s).is_eq());
        if !as_listed {
            put("launch", &shortest(launch_s));
        }
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
    format!("{header}\n{}", state.text)
}

/// `None` without the empty line that ends the header. A value that means nothing here leaves the default.
fn read_state(written: &str) -> Option<SharedState> {
    let (header, text) = match written.strip_prefix('\n') {
        Some(text) => ("", text),
        None => written.split_once("\n\n")?,
    };
    let mut state = SharedState {
        text: text.to_owned(),
        ..SharedState::default()
    };
    for (key, value) in header.lines().filter_map(|line| line.split_once('=')) {
        match key {
            "policy" => state.policy = Policy::from_name(value).unwrap_or_default(),
            "externals" => {
                state.conventions.externals = Externals::from_name(value).unwrap_or_default();
            }
            "reshape" => {
                state.conventions.reshape = ReshapeCost::from_name(value).unwrap_or_default();
            }
            "device" => state.device = device(value).unwrap_or(default_device()).clone(),
            // Behind the device, whose launch it replaces.
            "launch" => {
                if let Some(launch_s) = parse_decimal(value) {
                    state.device = state.device.with_launch_s(launch_s);
                }
            }
            "custom" => {
                let figures: Vec<f64> = value.split(' ').map_while(parse_decimal).collect();
                if let [bandwidth, matrix, vector, launch] = figures[..] {
                    state.device = Device::custom(bandwidth, matrix, vector, launch);
                }
            }
            "objective" => {
                state.fusion.objective = Objective::from_name(value).unwrap_or_default();
            }
            "view" => state.is_unfused_view = value == "unfused",
            "selected" => state.selected_op = Some(value.to_owned()),
            "tab" => state.open_tab = Some(value.to_owned()),
            _ => {
                let switch = SWITCHES.iter().find(|switch| switch.name == key);
                if let Some(switch) = switch
                    && matches!(value, "on" | "off")
                {
                    *(switch.part)(&mut state.fusion) = value == "on";
                }
            }
        }
    }
    Some(state)
}
