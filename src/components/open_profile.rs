//! Opens measurements: slice by slice, because a trace may have 500 MB.

use crate::app::state::Page;
use crate::components::file_reading::FileReading;
use fuseline_import::profile::{Kind, Reader};

/// Bytes that are read at once, which takes less than a frame or two.
const SLICE_BYTES: u64 = 1 << 20;

/// Shows a measurement beside the program, or says where it stopped being one.
pub async fn open_profile(page: Page, file: &FileReading, kind: Kind) {
    let name = file.name();
    let mut reader = Reader::new(kind);
    let bytes = file.bytes();
    let mut start = 0;
    while start < bytes {
        let end = (start + SLICE_BYTES).min(bytes);
        let Some(slice) = file.slice(start..end).await else {
            return;
        };
        // What a packed slice has left is read again, so that the page is awake between two parts
        // of what it unpacks to.
        match reader.push_part(&slice) {
            Ok(read) => start += read as u64,
            Err(problem) => {
                page.tell_failure(format!("{name}: {problem}"));
                return;
            }
        }
        file.show_progress(start as f64 / bytes as f64);
    }
    match reader.finish() {
        Ok(profile) => page.open_profile(profile, name),
        Err(problem) => page.tell_failure(format!("{name}: {problem}")),
    }
}
