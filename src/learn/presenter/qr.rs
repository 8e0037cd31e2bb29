//! A link as a QR code (ISO/IEC 18004), for the phones of a class.

use fuseline_view::present::format::format_count;
use qrcode::{Color, EcLevel, QrCode};
use std::fmt::Write as _;

/// Light modules around the code, without which readers do not find it.
const QUIET_MODULES: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its width and height in modules, with the light border.
    pub side: usize,
    /// Its dark modules as the data of an SVG path, a module being a unit.
    pub path: String,
}

/// A link that no code holds, in a sentence for the speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "A QR code holds 2,953 bytes, and the link has {}. Share the link itself, or a file.",
    format_count(*bytes)
)]
pub struct LinkTooLong {
    bytes: usize,
}

impl Code {
    /// The code of a link. A projected code is clean, so it has the least correction, and with that
    /// the largest modules.
    ///
    /// # Errors
    /// If the link is longer than the 2,953 bytes that a code holds.
    pub fn of(link: &str) -> Result<Self, LinkTooLong> {
        let code = QrCode::with_error_correction_level(link, EcLevel::L)
            .map_err(|_| LinkTooLong { bytes: link.len() })?;
        let width = code.width();
        let mut path = String::new();
        for (at, _) in (0..)
            .zip(code.to_colors())
            .filter(|(_, color)| *color == Color::Dark)
        {
            let (row, column) = (at / width, at % width);
            // Writing to a string does not fail.
            let _ = write!(
                path,
                "M{} {}h1v1h-1z",
                column + QUIET_MODULES,
                row + QUIET_MODULES
            );
        }
        Ok(Self {
            side: width + 2 * QUIET_MODULES,
            path,
        })
    }
}

/// Whether only this machine can follow a link: the page is served from itself.
pub fn is_of_this_machine(link: &str) -> bool {
    let host = link.split("//").nth(1).unwrap_or_default();
    let host = host.split(['/', ':', '#', '?']).next().unwrap_or_default();
    host == "localhost" || host.starts_with("127.")
}
