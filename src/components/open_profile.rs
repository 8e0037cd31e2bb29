//! Opens measurements: slice by slice, because a trace may have 500 MB.

use crate::app::state::{Notice, Page};
use crate::browser::{File, Slices};
use crate::core::profile::{Kind, Profile, Reader, Recognised, recognise};
use leptos::prelude::*;

/// Bytes by which a file is recognised.
const FIRST_BYTES: f64 = 65_536.0;
/// Bytes that are read at once, which takes less than a frame or two.
const SLICE_BYTES: f64 = 1_048_576.0;
/// From this length on it is told how far the reading is.
const LONG_BYTES: f64 = 20e6;

/// Opens a file beside the program if it is a measurement, and says what is wrong with one that cannot be read. `false` for
/// any other file.
pub async fn opens_as_profile(page: Page, file: &File) -> bool {
    let name = file.name();
    let slices = Slices::of(file.clone());
    // A file that cannot be read is told by who opens it as a program.
    let Some(first) = slices.read(0.0..FIRST_BYTES).await else {
        return false;
    };
    match recognise(&name, &first) {
        None => return false,
        Some(Recognised::Convertible(how)) => page.tell_failure(how),
        Some(Recognised::Readable(kind)) => match read(page, &name, &slices, kind).await {
            Ok(profile) => page.open_profile(profile, name),
            Err(problem) => page.tell_failure(format!("{name}: {problem}")),
        },
    }
    true
}

async fn read(page: Page, name: &str, slices: &Slices, kind: Kind) -> Result<Profile, String> {
    let mut reader = Reader::new(kind);
    let length = slices.len();
    let (mut start, mut told_percent) = (0.0, 0.0);
    while start < length {
        let end = (start + SLICE_BYTES).min(length);
        let slice = slices.read(start..end).await;
        let slice = slice.ok_or("the browser could not read this file any further.")?;
        reader.push(&slice)?;
        start = end;
        let percent = (start / length * 10.0).floor() * 10.0;
        if length > LONG_BYTES && percent > told_percent {
            told_percent = percent;
            page.notice.set(Some(Notice {
                text: format!("Reading {name}: {percent:.0} %."),
                is_failure: false,
                action: None,
            }));
        }
    }
    reader.finish()
}
