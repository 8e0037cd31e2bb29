//! The whole state of the page in a link's fragment: `v1.` and the compressed state in URL-safe base64.
//!
//! The state is a header of `key=value` lines, an empty line, and the text; unknown keys are skipped, so that a
//! later version may add some. Browsers carry zlib and base64 (RFC 1950, RFC 4648), so `browser` packs and
//! unpacks. zlib ends with a checksum: a link that lost or changed a character is recognised.

use crate::core::model::device::{Device, Source, default_device, device};
use crate::core::model::options::{Conventions, FusionOptions, Policy, Switch};
use std::fmt::Write as _;
use strum::VariantArray;

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
    /// The browser has no zlib to offer.
    Unsupported,
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
            Self::Unsupported => {
                "This browser is too old to open links: it cannot unpack them. Use a newer one, or ask for the text."
            }
        }
    }
}

/// The fragment (without `#`) around a packed state in base64, as browsers write it. `O(base64)`.
///
/// # Errors
/// [`ShareError::TooLarge`] past [`MAX_LINK_BYTES`].
///
/// ```
/// use fuseline::app::links::{fragment_of, packed_in};
/// assert_eq!(fragment_of("eN+/AA==")?, "v1.eN-_AA");
/// assert_eq!(packed_in("v1.eN-_AA")?, "eN+/AA");
/// # Ok::<(), fuseline::app::links::ShareError>(())
/// ```
pub fn fragment_of(base64: &str) -> Result<String, ShareError> {
    let mut fragment = VERSION.to_owned();
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

/// The packed state in a fragment (without `#`), as base64 that browsers read. `O(fragment)`.
///
/// # Errors
/// Whatever shows already that the fragment is no whole link of this version.
pub fn packed_in(fragment: &str) -> Result<String, ShareError> {
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
    // Browsers skip blanks and read what is padded; a link has neither.
    let base64 = packed.chars().map(|c| match c {
        '-' => Some('+'),
        '_' => Some('/'),
        _ => c.is_ascii_alphanumeric().then_some(c),
    });
    let base64 = base64.collect::<Option<String>>();
    base64.filter(|b| !b.is_empty()).ok_or(ShareError::Damaged)
}

/// `state` as text that [`read_state`] turns back. Only what differs from the defaults is written: most links carry
/// little beside the op list. `O(text)`.
///
/// # Errors
/// [`ShareError::TooLarge`] past [`MAX_STATE_BYTES`].
///
/// ```
/// use fuseline::app::links::{read_state, write_state, SharedState};
/// let state = SharedState { text: "y = relu(x) : f16[1024]".into(), ..SharedState::default() };
/// assert_eq!(read_state(write_state(&state)?.into())?, state);
/// # Ok::<(), fuseline::app::links::ShareError>(())
/// ```
pub fn write_state(state: &SharedState) -> Result<String, ShareError> {
    let default = SharedState::default();
    let mut header = String::new();
    let mut put = |key: &str, value: &str| {
        // A line break in a value would end it; no name can hold one, so nothing is lost.
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
    if state.device.source == Source::Custom {
        let value =
            |figure: Option<crate::core::model::device::Figure>| figure.map_or(0.0, |f| f.value);
        put(
            "custom",
            &[
                state.device.memory_bytes_per_s.value,
                value(state.device.matrix_f16_flops_per_s),
                value(state.device.vector_flops_per_s),
                state.device.launch_s.value,
            ]
            .map(|figure| figure.to_string())
            .join(" "),
        );
    } else {
        if state.device.id != default.device.id {
            put("device", &state.device.id);
        }
        if state.device.has_own_launch() {
            put("launch", &state.device.launch_s.value.to_string());
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
    header.push('\n');
    header.push_str(&state.text);
    if header.len() > MAX_STATE_BYTES {
        return Err(ShareError::TooLarge);
    }
    Ok(header)
}

/// The state that was written. A value that means nothing here leaves the default. `O(written)`.
///
/// # Errors
/// [`ShareError::Damaged`] when it is no UTF-8, or lacks the empty line that ends the header.
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
    for (key, value) in header.lines().filter_map(|line| line.split_once('=')) {
        match key {
            "policy" => state.policy = value.parse().unwrap_or_default(),
            "externals" => {
                state.conventions.externals = value.parse().unwrap_or_default();
            }
            "reshape" => {
                state.conventions.reshape = value.parse().unwrap_or_default();
            }
            "device" => state.device = device(value).unwrap_or(default_device()).clone(),
            // Behind the device, whose launch it replaces.
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
            "view" => state.is_unfused_view = value == "unfused",
            "selected" => state.selected_op = Some(value.to_owned()),
            "tab" => state.open_tab = Some(value.to_owned()),
            _ => {
                if let Ok(switch) = key.parse::<Switch>()
                    && matches!(value, "on" | "off")
                {
                    *switch.flag(&mut state.fusion) = value == "on";
                }
            }
        }
    }
    Ok(state)
}
