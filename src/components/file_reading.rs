//! Reads a file slice by slice, so that none is in memory as a whole.

use crate::app::state::Page;
use fuseline_browser::{self as browser, File};
use std::cell::Cell;
use std::ops::Range;

/// A file that is being opened. It is given up when another one is opened after it.
pub struct FileReading {
    page: Page,
    file: File,
    number: u32,
    shown_at_ms: Cell<f64>,
}

thread_local! {
    /// The number of the file that was opened last.
    static LATEST: Cell<u32> = const { Cell::new(0) };
}

/// How often the visitor sees how much of a file has been read.
const SHOW_EVERY_MS: f64 = 300.0;

impl FileReading {
    pub fn begin(page: Page, file: File) -> Self {
        let number = LATEST.get().wrapping_add(1);
        LATEST.set(number);
        Self {
            page,
            file,
            number,
            shown_at_ms: Cell::new(browser::now_ms()),
        }
    }

    pub fn name(&self) -> String {
        self.file.name()
    }

    /// The length of the file in bytes.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of bytes; a float past the largest integer becomes that integer"
    )]
    pub fn bytes(&self) -> u64 {
        self.file.size() as u64
    }

    /// The bytes of this range, fewer at the end of the file. `None` if the browser cannot read
    /// them, as a message says, and if another file has been opened since.
    pub async fn slice(&self, wanted: Range<u64>) -> Option<Vec<u8>> {
        let slice = browser::read_slice(&self.file, wanted).await;
        self.latest(slice)
    }

    /// The whole file as text; `None` as for [`Self::slice`]. Bytes that are no UTF-8 become
    /// U+FFFD.
    pub async fn text(&self) -> Option<String> {
        let text = browser::read_file(&self.file).await;
        self.latest(text)
    }

    fn latest<T>(&self, read: Option<T>) -> Option<T> {
        if LATEST.get() != self.number {
            return None;
        }
        if read.is_none() {
            self.page
                .tell_failure("The browser could not read this file.");
        }
        read
    }

    /// Shows from time to time which part of the file has been read.
    pub fn show_progress(&self, part: f64) {
        let now_ms = browser::now_ms();
        if now_ms - self.shown_at_ms.get() > SHOW_EVERY_MS {
            self.shown_at_ms.set(now_ms);
            let percent = 100.0 * part;
            self.page
                .tell(format!("{}: {percent:.0} % read.", self.name()));
        }
    }
}
