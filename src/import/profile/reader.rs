//! Reads a file of any kind in slices, packed by gzip or not.

use super::averages::AveragesReader;
use super::csv::CsvReader;
use super::packed::{Unpacker, begins_packed};
use super::script::ScriptReader;
use super::trace::TraceReader;
use super::{Kind, Profile, ProfileError};

/// Most bytes of an unpacked file, since a small packed file may expand to any size. The page
/// counts them in 32 bits.
const MAX_BYTES: u64 = 4_000_000_000;
/// About how many bytes are unpacked in one go.
const PART_BYTES: usize = 1 << 20;

/// Reads a file in slices. One that begins as gzip packs them is unpacked on the way.
pub struct Reader {
    packing: Packing,
    content: Content,
}

/// Whether a file is packed.
enum Packing {
    /// No byte has come.
    Unknown,
    None,
    Gzip(Box<Unpacker>),
}

/// What the file holds when it is unpacked.
struct Content {
    form: Form,
    /// Bytes that are read.
    read: u64,
}

enum Form {
    Script(ScriptReader),
    Csv(Box<CsvReader>),
    Trace(Box<TraceReader>),
    Averages(AveragesReader),
}

impl Reader {
    /// Reads a file of this kind.
    pub fn new(kind: Kind) -> Self {
        let form = match kind {
            Kind::Script => Form::Script(ScriptReader::default()),
            Kind::Table => Form::Csv(Box::new(CsvReader::new())),
            Kind::Trace => Form::Trace(Box::default()),
            Kind::Averages => Form::Averages(AveragesReader::default()),
        };
        Self {
            packing: Packing::Unknown,
            content: Content { form, read: 0 },
        }
    }

    /// Reads on. A slice may end anywhere. `O(bytes)` of the unpacked slice.
    ///
    /// # Errors
    /// What was expected, and where reading stopped.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ProfileError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let read = self.push_part(rest)?;
            rest = rest.get(read..).unwrap_or_default();
        }
        Ok(())
    }

    /// Reads on, but of a packed slice, which may stand for a thousand times its bytes, only what
    /// unpacks to about 1 MB. Returns how many of the bytes were read: at least one, if there is
    /// one.
    ///
    /// # Errors
    /// As [`Reader::push`].
    pub fn push_part(&mut self, bytes: &[u8]) -> Result<usize, ProfileError> {
        if let (Packing::Unknown, Some(&first)) = (&self.packing, bytes.first()) {
            self.packing = if begins_packed(first) {
                Packing::Gzip(Box::new(Unpacker::new()))
            } else {
                Packing::None
            };
        }
        let Packing::Gzip(unpacker) = &mut self.packing else {
            self.content.push(bytes)?;
            return Ok(bytes.len());
        };
        let (mut rest, mut part) = (bytes, 0);
        while !rest.is_empty() && part < PART_BYTES {
            let (read, content) = unpacker.unpack(rest)?;
            self.content.push(&content)?;
            rest = rest.get(read..).unwrap_or_default();
            part += content.len();
        }
        Ok(bytes.len() - rest.len())
    }

    /// Ends the file and gives its content.
    ///
    /// # Errors
    /// As [`Reader::push`], and if the file has no kernel.
    pub fn finish(mut self) -> Result<Profile, ProfileError> {
        if let Packing::Gzip(unpacker) = self.packing {
            self.content.push(&unpacker.finish()?)?;
        }
        match self.content.form {
            Form::Script(reader) => reader.finish(),
            Form::Csv(reader) => reader.finish(),
            Form::Trace(reader) => reader.finish(),
            Form::Averages(reader) => reader.finish(),
        }
    }
}

impl Content {
    fn push(&mut self, bytes: &[u8]) -> Result<(), ProfileError> {
        self.read = self.read.saturating_add(bytes.len() as u64);
        if self.read > MAX_BYTES {
            return Err(ProfileError::UnpacksToMuch {
                most_gb: MAX_BYTES / 1_000_000_000,
            });
        }
        match &mut self.form {
            Form::Script(reader) => reader.push(bytes),
            Form::Csv(reader) => reader.push(bytes),
            Form::Trace(reader) => reader.push(bytes),
            Form::Averages(reader) => reader.push(bytes),
        }
    }
}

/// Reads a whole file. See [`Reader`].
///
/// # Errors
/// As [`Reader::push`] and [`Reader::finish`].
pub fn read_profile(kind: Kind, bytes: &[u8]) -> Result<Profile, ProfileError> {
    let mut reader = Reader::new(kind);
    reader.push(bytes)?;
    reader.finish()
}
