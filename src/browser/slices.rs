//! Files read slice by slice, so that none is in memory as a whole.

use js_sys::Uint8Array;
use js_sys::futures::JsFuture;
use std::ops::Range;
use web_sys::File;

/// A file that is read in parts.
pub struct Slices(File);

impl Slices {
    /// The parts of this file.
    pub const fn of(file: File) -> Self {
        Self(file)
    }

    /// Its length in bytes.
    pub fn len(&self) -> f64 {
        self.0.size()
    }

    /// The bytes of this range, fewer at the end of the file; `None` if the browser cannot read it.
    pub async fn read(&self, range: Range<f64>) -> Option<Vec<u8>> {
        let blob = self.0.slice_with_f64_and_f64(range.start, range.end).ok()?;
        let buffer = JsFuture::from(blob.array_buffer()).await.ok()?;
        Some(Uint8Array::new(&buffer).to_vec())
    }
}
