//! Files that open: which kind a file is, by its first bytes, and what an ONNX file becomes.

use crate::app::opened::Converted;
use crate::core::import::{Imported, Problem};
use crate::core::input::MAX_INPUT_BYTES;
use crate::core::model::calibration::Calibrations;
use crate::core::notation::print;
use crate::core::onnx::{Skim, import, is_onnx};
use crate::core::profile::{Kind, Recognised, recognise};
use crate::present::names::counted;
use std::fmt::Write;
use std::io::{Read, Seek, SeekFrom};

/// Bytes of a file that tell its kind.
pub const START_BYTES: u64 = 65_536;

/// What a file is, judged by its first bytes; by its name only where a program has a form of its own that has to be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Notation, JSON or `Op(...)` lines.
    Text,
    /// An ONNX model, to be read with [`Skim`].
    Onnx,
    /// A measurement, to be read with [`Reader`](crate::core::profile::Reader).
    Profile(Kind),
    /// Records of fused patterns, as [`Calibrations`] reads them.
    Calibrations,
    /// Something that is not opened, and what to do, as the end of a sentence.
    Other(&'static str),
}

/// First bytes of files that are not opened, and what they are.
const OTHERS: &[(&[u8], &str)] = &[
    (
        b"PK\x03\x04",
        "it is a zip archive, as PyTorch saves weights and exported programs: export the model to ONNX",
    ),
    (
        b"GGUF",
        "it is a GGUF file, which holds weights and no graph: export the model to ONNX",
    ),
    (
        b"\x89HDF",
        "it is an HDF5 file, as Keras saves models: export the model to ONNX",
    ),
    (
        b"\x80\x02",
        "it is a Python pickle, as old versions of PyTorch save weights: export the model to ONNX",
    ),
    (
        b"\x93NUMPY",
        "it is a NumPy array, which holds no graph: export the model to ONNX",
    ),
    (b"\x1f\x8b", "it is compressed by gzip: unpack it first"),
    (
        b"\x28\xb5\x2f\xfd",
        "it is compressed by zstd: unpack it first",
    ),
    (b"\xff\xfe", "it is a text in UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "it is a text in UTF-16: save it as UTF-8"),
];

/// The kind of a file that starts with these bytes, of which [`START_BYTES`] are enough.
///
/// ```
/// use fuseline::app::model_file::{FileKind, kind_of};
/// assert_eq!(kind_of("mlp.fuse", b"y = relu(x) : f16[8]"), FileKind::Text);
/// assert_eq!(kind_of("mlp", &[0x08, 0x0a, 0x12, 0x07]), FileKind::Onnx);
/// assert!(matches!(kind_of("weights", b"GGUF\x03"), FileKind::Other(_)));
/// ```
pub fn kind_of(name: &str, start: &[u8]) -> FileKind {
    if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| start.starts_with(magic)) {
        return FileKind::Other(what);
    }
    if Calibrations::begins(&String::from_utf8_lossy(start)) {
        return FileKind::Calibrations;
    }
    match recognise(name, start) {
        Some(Recognised::Readable(kind)) => return FileKind::Profile(kind),
        Some(Recognised::Convertible(how)) => return FileKind::Other(how),
        None => {}
    }
    if is_onnx(start) {
        return FileKind::Onnx;
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
            "it is a safetensors file, which holds weights and no graph: export the model to ONNX",
        ),
        start if start.contains(&0) => {
            FileKind::Other("it is neither a text nor an ONNX model, whose first byte is 8")
        }
        _ => FileKind::Text,
    }
}

/// Reads the graph of an ONNX file by slices.
///
/// # Errors
/// A sentence for the visitor: what was expected, and where reading stopped.
pub fn read_onnx(mut file: impl Read + Seek) -> Result<Converted, String> {
    let said = |problem: std::io::Error| format!("This ONNX file could not be read: {problem}.");
    let bytes = file.seek(SeekFrom::End(0)).map_err(said)?;
    let mut skim = Skim::new(bytes);
    let mut slice = Vec::new();
    while let Some(wanted) = skim.wanted() {
        file.seek(SeekFrom::Start(wanted.start)).map_err(said)?;
        slice.clear();
        let wanted_bytes = wanted.end - wanted.start;
        (&mut file)
            .take(wanted_bytes)
            .read_to_end(&mut slice)
            .map_err(said)?;
        skim.feed(&slice).map_err(|problem| stopped(&problem))?;
    }
    converted_onnx(skim)
}

/// The program of an ONNX file whose last slice has been read.
///
/// # Errors
/// As [`read_onnx`].
pub fn converted_onnx(skim: Skim) -> Result<Converted, String> {
    let model = skim.finish().map_err(|problem| stopped(&problem))?;
    let imported = import(&model).map_err(|problem| stopped(&problem))?;
    let text = print(&imported.program);
    if text.len() > MAX_INPUT_BYTES {
        return Err(format!(
            "This ONNX file was not opened: its {} ops are more than the {} MB of notation that are read.",
            imported.program.ops.len(),
            MAX_INPUT_BYTES / 1_000_000
        ));
    }
    let notes = notes(&imported);
    let comments: Vec<String> = notes.iter().map(|note| format!("# {note}\n")).collect();
    let ops = counted(imported.program.ops.len(), "op");
    let summary = [vec![format!("{ops} from ONNX became notation.")], notes].concat();
    Ok(Converted {
        text: comments.concat() + &text,
        summary: summary.join(" "),
        is_incomplete: imported.shapeless > 0,
    })
}

/// The sentence about a file that is no ONNX model, or not a whole one.
pub fn stopped(problem: &Problem) -> String {
    format!("This ONNX file was not opened: {problem}.")
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
            "Sizes that the file leaves open are params: {}.",
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
            "is"
        } else {
            "are"
        };
        notes.push(format!(
            "{count} {verb} not understood and counted as opaque: {}.",
            listed(&named)
        ));
    }
    if imported.shapeless > 0 {
        let count = counted(imported.shapeless, "op");
        notes.push(format!(
            "The shape of {count} could not be told from the file: write it after a colon."
        ));
    }
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
