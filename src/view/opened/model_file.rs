//! Files that open: which kind a file is, by its first bytes, and what a model becomes.

use crate::opened::Converted;
use crate::present::names::counted;
use fuseline_core::analysis::measured::Measurements;
use fuseline_core::input::MAX_INPUT_BYTES;
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::model::device::DeviceProbe;
use fuseline_core::model::program::{ExprKind, Program};
use fuseline_core::notation::print_commented;
use fuseline_import::onnx::{self, Skim, is_onnx};
use fuseline_import::profile::{Kind, Recognised, is_packed, recognise, unpacked_start};
use fuseline_import::pt2::{self, Archive, is_archive};
use fuseline_import::{Imported, Problem};
use std::fmt::Write;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

/// Bytes of a file that tell its kind.
pub const START_BYTES: u64 = 65_536;
/// Bytes of what a packed file holds that tell its kind.
const UNPACKED_START_BYTES: usize = 65_536;

/// What a file is, judged by its first bytes; by its name only where a program has a form of its
/// own that has to be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Notation, JSON or `Op(...)` lines; a text of another tool, too, which the parser refuses.
    Text,
    /// A model, to be read with [`ModelReader`].
    Model(ModelFormat),
    /// A measurement, packed by gzip or not, to be read with
    /// [`Reader`](fuseline_import::profile::Reader).
    Profile(Kind),
    /// Measured patterns, as [`Measurements`] reads them, of which records are made.
    Measurements,
    /// Records of fused patterns, as [`Calibrations`] reads them.
    Calibrations,
    /// The rates of a GPU alone, as [`DeviceProbe`] reads them.
    Device,
    /// Something that is not opened, and what to do, as the end of a sentence.
    Other(&'static str),
}

/// Forms of models that are read by slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFormat {
    Onnx,
    /// A zip archive, as `torch.export.save` writes one.
    Pt2,
}

impl ModelFormat {
    /// What such a file is called.
    fn name(self) -> &'static str {
        match self {
            Self::Onnx => "ONNX",
            Self::Pt2 => ".pt2",
        }
    }
}

/// First bytes of files that are not opened, and what they are.
const OTHERS: &[(&[u8], &str)] = &[
    (
        b"GGUF",
        "it is a GGUF file, which holds weights but no graph: export the model to ONNX",
    ),
    (
        b"\x89HDF",
        "it is an HDF5 file, as Keras saves models: export the model to ONNX",
    ),
    (
        b"\x80",
        "it is a Python pickle, as old versions of PyTorch save weights: export the model to ONNX",
    ),
    (
        b"\x93NUMPY",
        "it is a NumPy array, which holds no graph: export the model to ONNX",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "it is compressed with zstd: unpack it first",
    ),
    (b"\xff\xfe", "it is UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "it is UTF-16 text: save it as UTF-8"),
];

/// The kind of a file that starts with these bytes, of which [`START_BYTES`] are enough.
pub fn kind_of(name: &str, start: &[u8]) -> FileKind {
    if !is_packed(start) {
        return kind_of_content(name, start);
    }
    let name = name.strip_suffix(".gz").unwrap_or(name);
    match kind_of_content(name, &unpacked_start(start, UNPACKED_START_BYTES)) {
        FileKind::Profile(kind) => FileKind::Profile(kind),
        // Models are read at places of their own choice, and what else there is is small.
        _ => FileKind::Other(
            "it is compressed with gzip, which works for measurements only: unpack it first",
        ),
    }
}

fn kind_of_content(name: &str, start: &[u8]) -> FileKind {
    if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| start.starts_with(magic)) {
        return FileKind::Other(what);
    }
    let text = String::from_utf8_lossy(start);
    if Calibrations::begins(&text) {
        return FileKind::Calibrations;
    }
    if Measurements::begins(&text) {
        return FileKind::Measurements;
    }
    if DeviceProbe::begins(&text) {
        return FileKind::Device;
    }
    match recognise(name, start) {
        Some(Recognised::Readable(kind)) => return FileKind::Profile(kind),
        Some(Recognised::Convertible(how)) => return FileKind::Other(how),
        None => {}
    }
    if is_archive(start) {
        return FileKind::Model(ModelFormat::Pt2);
    }
    if is_onnx(start) {
        return FileKind::Model(ModelFormat::Onnx);
    }
    let is_flatbuffer = start.get(4..8) == Some(b"TFL3");
    // A header of JSON after its length in eight bytes.
    let is_safetensors =
        start.get(2..9) == Some(b"\0\0\0\0\0\0{") || start.get(3..9) == Some(b"\0\0\0\0\0{");
    match start {
        _ if is_flatbuffer => {
            FileKind::Other("it is a TensorFlow Lite file: export the model to ONNX")
        }
        _ if is_safetensors => FileKind::Other(
            "it is a safetensors file, which holds weights but no graph: export the model to ONNX",
        ),
        start if start.contains(&0) => {
            FileKind::Other("it is not a text, an ONNX model (first byte 8) or a zip archive")
        }
        _ => FileKind::Text,
    }
}

/// Reads the graph of a model by slices, which it asks for.
#[derive(Debug)]
pub struct ModelReader {
    format: ModelFormat,
    walk: Walk,
}

#[derive(Debug)]
enum Walk {
    Onnx(Skim),
    Pt2(Archive),
}

impl ModelReader {
    /// A reader of a file of this size.
    pub fn new(format: ModelFormat, file_bytes: u64) -> Self {
        let walk = match format {
            ModelFormat::Onnx => Walk::Onnx(Skim::new(file_bytes)),
            ModelFormat::Pt2 => Walk::Pt2(Archive::new(file_bytes)),
        };
        Self { format, walk }
    }

    /// The slice that is wanted next, in bytes of the file; `None` when all has been read.
    pub fn wanted(&self) -> Option<Range<u64>> {
        match &self.walk {
            Walk::Onnx(skim) => skim.wanted(),
            Walk::Pt2(archive) => archive.wanted(),
        }
    }

    /// Which part has been read, from 0 to 1.
    pub fn progress(&self) -> f64 {
        match &self.walk {
            Walk::Onnx(skim) => skim.progress(),
            Walk::Pt2(archive) => archive.progress(),
        }
    }

    /// Takes the bytes of the wanted slice.
    ///
    /// # Errors
    /// What was expected, and where reading stopped.
    pub fn feed(&mut self, slice: &[u8]) -> Result<(), ModelError> {
        let fed = match &mut self.walk {
            Walk::Onnx(skim) => skim.feed(slice),
            Walk::Pt2(archive) => archive.feed(slice),
        };
        fed.map_err(ModelError::content(self.format))
    }

    /// The program of a file whose last slice has been read.
    ///
    /// # Errors
    /// As [`Self::feed`].
    pub fn finish(self) -> Result<Converted, ModelError> {
        self.finish_at(&[])
    }

    /// The program at these values of its params, by name: what the notation cannot express holds
    /// at them.
    ///
    /// # Errors
    /// As [`Self::feed`].
    pub fn finish_at(self, values: &[(String, i64)]) -> Result<Converted, ModelError> {
        let imported = match self.walk {
            Walk::Onnx(skim) => (skim.finish()).and_then(|model| onnx::import(&model, values)),
            Walk::Pt2(archive) => (archive.finish()).and_then(|json| pt2::import(&json, values)),
        };
        let imported = imported.map_err(ModelError::content(self.format))?;
        let format = self.format;
        let origin = match format {
            ModelFormat::Onnx => "ONNX",
            ModelFormat::Pt2 => "PyTorch",
        };
        let ops = imported.program.ops.len();
        notation_of(origin, &imported).ok_or(ModelError::TooLong { format, ops })
    }
}

/// Reads the graph of a model from a file, at its own defaults.
///
/// # Errors
/// As [`ModelReader::feed`].
pub fn read_model(format: ModelFormat, file: impl Read + Seek) -> Result<Converted, ModelError> {
    read_model_at(format, file, &[])
}

/// Reads the graph of a model from a file, at these values of its params.
///
/// # Errors
/// As [`ModelReader::feed`].
pub fn read_model_at(
    format: ModelFormat,
    mut file: impl Read + Seek,
    values: &[(String, i64)],
) -> Result<Converted, ModelError> {
    let said = |problem| ModelError::Read { format, problem };
    let bytes = file.seek(SeekFrom::End(0)).map_err(said)?;
    let mut reader = ModelReader::new(format, bytes);
    let mut slice = Vec::new();
    while let Some(wanted) = reader.wanted() {
        file.seek(SeekFrom::Start(wanted.start)).map_err(said)?;
        slice.clear();
        (&mut file)
            .take(wanted.end - wanted.start)
            .read_to_end(&mut slice)
            .map_err(said)?;
        reader.feed(&slice)?;
    }
    reader.finish_at(values)
}

/// The program of an imported model as notation, with the notes on its import; `None` if it is
/// longer than any text that is opened.
pub(super) fn notation_of(origin: &str, imported: &Imported) -> Option<Converted> {
    let text = print_commented(&imported.program, &imported.sources);
    if text.len() > MAX_INPUT_BYTES {
        return None;
    }
    let notes = notes(imported);
    let comments: Vec<String> = notes.iter().map(|note| format!("# {note}\n")).collect();
    let ops = counted(op_count(&imported.program), "op");
    let summary = [vec![format!("Imported {ops} from {origin}.")], notes].concat();
    Some(Converted {
        text: comments.concat() + &text,
        summary: summary.join(" "),
        is_incomplete: imported.shapeless + imported.loops > 0,
    })
}

/// Number of ops, those of a block once for each iteration.
fn op_count(program: &Program) -> usize {
    let repeated = program.blocks.iter().map(|block| {
        let ExprKind::Int(count) = block.count.kind else {
            return 0;
        };
        usize::try_from(count - 1).unwrap_or(0) * block.ops.len()
    });
    program.ops.len() + repeated.sum::<usize>()
}

/// Why a model was not opened, as a sentence for the visitor.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The content is no model, or one that Fuseline does not read.
    #[error("This {} file was not opened: {problem}.", format.name())]
    Content {
        /// What the file seems to be.
        format: ModelFormat,
        /// What stopped the reading.
        #[source]
        problem: Problem,
    },
    /// The bytes of the file cannot be read.
    #[error("This {} file could not be read: {problem}.", format.name())]
    Read {
        /// What the file seems to be.
        format: ModelFormat,
        /// What the system says.
        #[source]
        problem: std::io::Error,
    },
    /// The notation of the model is longer than any text that is opened.
    #[error(
        "This {} file was not opened: its {ops} ops need more than {} MB of notation.",
        format.name(),
        MAX_INPUT_BYTES / 1_000_000
    )]
    TooLong {
        /// What the file is.
        format: ModelFormat,
        /// How many ops the model has.
        ops: usize,
    },
}

impl ModelError {
    fn content(format: ModelFormat) -> impl Fn(Problem) -> Self {
        move |problem| Self::Content { format, problem }
    }
}

/// Most names of operators in a note.
const MAX_NAMED: usize = 8;

/// What the visitor should know about an import, a sentence each.
fn notes(imported: &Imported) -> Vec<String> {
    let mut notes = Vec::new();
    let params = &imported.program.params;
    if !params.is_empty() {
        let values = params
            .iter()
            .map(|p| format!("{} = {}", p.name.text, p.value));
        let values: Vec<String> = values.collect();
        notes.push(format!(
            "Params stand for the sizes that the file leaves open: {}.",
            listed(&values)
        ));
    }
    if !imported.opaque.is_empty() {
        let count = counted(imported.opaque.values().sum(), "op");
        let named = imported.opaque.iter();
        let named: Vec<String> = named
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        let verb = if imported.opaque.values().sum::<usize>() == 1 {
            "counts"
        } else {
            "count"
        };
        notes.push(format!("{count} {verb} as opaque: {}.", listed(&named)));
    }
    if imported.shapeless > 0 {
        let count = counted(imported.shapeless, "op");
        let (verb, write) = if imported.shapeless == 1 {
            ("is", "Write its shape after a colon.")
        } else {
            // Further shapes follow from the first.
            (
                "are",
                "Write their shapes after a colon, the first op first.",
            )
        };
        notes.push(format!(
            "{count} of unknown shape {verb} not counted. {write}"
        ));
    }
    notes.extend(imported.notes.iter().cloned());
    notes
}

fn listed(items: &[String]) -> String {
    let mut text = items
        .get(..MAX_NAMED.min(items.len()))
        .unwrap_or_default()
        .join(", ");
    if let Some(more) = items.len().checked_sub(MAX_NAMED).filter(|&more| more > 0) {
        // Writing to a `String` cannot fail.
        let _ = write!(text, " and {more} more");
    }
    text.replace(['\n', '\r'], " ")
}
