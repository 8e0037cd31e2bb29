//! Files that gzip has packed, as RFC 1952 describes them: one packed part or several in a row.

use super::ProfileError;
use flate2::write::MultiGzDecoder;
use std::io::Write;

/// What such a file begins with.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether a file that begins with these bytes is packed by gzip.
pub fn is_packed(first: &[u8]) -> bool {
    first.starts_with(&MAGIC)
}

/// Whether a measurement whose first byte this is can only be a packed one: no text begins so.
pub(super) fn begins_packed(first: u8) -> bool {
    first == MAGIC[0]
}

/// What a packed file begins with when it is unpacked: some `most` bytes, or fewer where these
/// bytes hold no more or are damaged.
pub fn unpacked_start(packed: &[u8], most: usize) -> Vec<u8> {
    let mut unpacker = Unpacker::new();
    let mut start = Vec::new();
    let mut rest = packed;
    while start.len() < most
        && !rest.is_empty()
        && let Ok((read, unpacked)) = unpacker.unpack(rest)
    {
        rest = rest.get(read..).unwrap_or_default();
        start.extend(unpacked);
    }
    // After an error, the output still holds what was unpacked before.
    let _ = unpacker.decoder.flush();
    start.append(unpacker.decoder.get_mut());
    start
}

/// Unpacks a file piece by piece.
pub(super) struct Unpacker {
    decoder: MultiGzDecoder<Vec<u8>>,
    /// Bytes of the packed file that are read.
    read: u64,
}

impl Unpacker {
    pub(super) fn new() -> Self {
        Self {
            decoder: MultiGzDecoder::new(Vec::new()),
            read: 0,
        }
    }

    /// Reads on until some 32 KB are unpacked. Returns how many of the bytes were read, and what
    /// was unpacked.
    pub(super) fn unpack(&mut self, packed: &[u8]) -> Result<(usize, Vec<u8>), ProfileError> {
        let read = (self.decoder.write(packed)).map_err(|problem| ProfileError::Damaged {
            position: "after",
            byte: self.read,
            problem,
        })?;
        self.read += read as u64;
        Ok((read, std::mem::take(self.decoder.get_mut())))
    }

    /// The rest of what was unpacked: the file ends here.
    pub(super) fn finish(self) -> Result<Vec<u8>, ProfileError> {
        let read = self.read;
        self.decoder
            .finish()
            .map_err(|problem| match problem.kind() {
                std::io::ErrorKind::UnexpectedEof => ProfileError::CutPacked(read),
                _ => ProfileError::Damaged {
                    position: "before",
                    byte: read,
                    problem,
                },
            })
    }
}
