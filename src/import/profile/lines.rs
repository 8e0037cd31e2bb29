//! Positions of errors in a file that comes in slices.

/// Counts the lines of a file that comes in slices.
#[derive(Default)]
pub(super) struct Lines {
    /// Line ends in earlier slices.
    ended: usize,
    /// Bytes of earlier slices.
    bytes: usize,
}

impl Lines {
    /// Counts a slice that has been read.
    pub(super) fn pass(&mut self, slice: &[u8]) {
        self.ended += ends(slice);
        self.bytes += slice.len();
    }

    /// The position after this many bytes of the file, in the current slice: `line 3, byte 20`.
    pub(super) fn position(&self, slice: &[u8], offset: usize) -> String {
        let before = slice
            .get(..offset.saturating_sub(self.bytes))
            .unwrap_or(slice);
        let line = self.ended + ends(before) + 1;
        format!("line {line}, byte {offset}")
    }

    /// The bytes of the slice that start one byte before this offset of the file.
    pub(super) fn from<'a>(&self, slice: &'a [u8], offset: usize) -> &'a [u8] {
        let start = offset.saturating_sub(self.bytes).saturating_sub(1);
        slice.get(start..).unwrap_or_default()
    }
}

fn ends(bytes: &[u8]) -> usize {
    bytes.split(|&byte| byte == b'\n').count() - 1
}
