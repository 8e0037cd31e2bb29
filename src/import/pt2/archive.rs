//! Reads a zip archive by slices and keeps one entry of it, the graph that `torch.export.save` has
//! written.
//!
//! Like [`crate::onnx::Skim`], an [`Archive`] holds no file: it says which slice it wants. The list
//! of entries stands at the end of an archive, so the weights are never read. The layout is that of
//! PKWARE's APPNOTE, sections 4.3 and 4.5.

use crate::Problem;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::io::Read;
use std::ops::Range;

/// Most bytes of the list of entries. Each weight has one, of some 100 bytes.
const MAX_LIST_BYTES: u64 = 32 << 20;

/// Most bytes of a graph, compressed or not. One of 10,000 ops has some 20 MB.
const MAX_GRAPH_BYTES: usize = 64 << 20;

/// Bytes of the record that ends an archive, without its comment.
const END_BYTES: u64 = 22;
const LONGEST_COMMENT: u64 = 65_535;
/// Bytes of the ZIP64 locator, which precedes that record in archives of more than 4 GB, and of the
/// ZIP64 record that it points to.
const LOCATOR_BYTES: u64 = 20;
const WIDE_END_BYTES: u64 = 56;
/// Fixed bytes of the header of an entry, in the list and before its content.
const LISTED_BYTES: usize = 46;
const HEAD_BYTES: u64 = 30;

const END: [u8; 4] = *b"PK\x05\x06";
const LOCATOR: [u8; 4] = *b"PK\x06\x07";
const WIDE_END: [u8; 4] = *b"PK\x06\x06";
const LISTED: [u8; 4] = *b"PK\x01\x02";
const HEAD: [u8; 4] = *b"PK\x03\x04";

/// What is read next.
#[derive(Clone, Debug)]
enum State {
    /// The end of the file, which says where the list of entries stands.
    End,
    /// The ZIP64 record, which says where the list of entries stands.
    WideEnd(u64),
    /// The list of entries.
    List(Range<u64>),
    /// The head before the content of the graph.
    Head(Entry),
    /// The content of the graph in this range of the file.
    Content(Entry, Range<u64>),
    /// Nothing.
    Done(Entry),
}

/// An entry of the archive.
#[derive(Clone, Debug, Default)]
struct Entry {
    name: String,
    /// Whether its content is compressed.
    is_deflated: bool,
    check_sum: u32,
    stored_bytes: u64,
    /// Bytes when unpacked.
    bytes: u64,
    /// Where its head stands.
    start: u64,
}

/// A walk through an archive.
#[derive(Debug)]
pub struct Archive {
    file_bytes: u64,
    state: State,
    content: Vec<u8>,
}

impl Archive {
    /// A walk through a file of this size.
    pub fn new(file_bytes: u64) -> Self {
        Self {
            file_bytes,
            state: State::End,
            content: Vec::new(),
        }
    }

    /// The slice that is wanted next, in bytes of the file; `None` when all has been read.
    pub fn wanted(&self) -> Option<Range<u64>> {
        let (start, bytes) = match &self.state {
            State::End => {
                let bytes = END_BYTES + LONGEST_COMMENT + LOCATOR_BYTES;
                let start = self.file_bytes.saturating_sub(bytes);
                (start, self.file_bytes - start)
            }
            State::WideEnd(start) => (*start, WIDE_END_BYTES),
            State::List(list) => (list.start, list.end - list.start),
            State::Head(entry) => (entry.start, HEAD_BYTES),
            State::Content(_, content) => {
                (content.start, (content.end - content.start).min(1 << 20))
            }
            State::Done(_) => return None,
        };
        Some(start..start.saturating_add(bytes))
    }

    /// How much of the graph has been read, from 0 to 1.
    pub fn progress(&self) -> f64 {
        match &self.state {
            State::Content(entry, _) => {
                self.content.len() as f64 / entry.stored_bytes.max(1) as f64
            }
            State::Done(_) => 1.0,
            _ => 0.0,
        }
    }

    /// Takes the bytes of the wanted slice. `O(slice)`.
    ///
    /// # Errors
    /// Where the file is no such archive, or has been cut off.
    pub fn feed(&mut self, slice: &[u8]) -> Result<(), Problem> {
        let wanted = self.wanted().unwrap_or_default();
        if wanted.end > self.file_bytes || (slice.len() as u64) < wanted.end - wanted.start {
            return Err(Problem::at_byte(
                wanted.start,
                "the archive points beyond the end of the file: it is cut off",
            ));
        }
        self.state = match std::mem::replace(&mut self.state, State::End) {
            State::End => self.ended(slice, wanted.start)?,
            State::WideEnd(start) => {
                let list = (slice.starts_with(&WIDE_END))
                    .then(|| list_at(u64_at(slice, 48)?, u64_at(slice, 40)?))
                    .flatten();
                list.ok_or_else(|| Problem::at_byte(start, "no record of a long archive starts"))?
            }
            State::List(list) => State::Head(graph_of(&entries(slice, list.start)?)?),
            State::Head(entry) => {
                let varying = (slice.starts_with(&HEAD))
                    .then(|| Some(u64::from(u16_at(slice, 26)?) + u64::from(u16_at(slice, 28)?)))
                    .flatten();
                let start = varying.and_then(|bytes| entry.start.checked_add(HEAD_BYTES + bytes));
                let end = start.and_then(|start| start.checked_add(entry.stored_bytes));
                match (start, end) {
                    (Some(start), Some(end)) => State::Content(entry, start..end).moved_on(),
                    _ => {
                        return Err(Problem::at_byte(
                            entry.start,
                            "no entry of the archive starts",
                        ));
                    }
                }
            }
            State::Content(entry, content) => {
                self.content.extend_from_slice(slice);
                State::Content(entry, content.start + slice.len() as u64..content.end).moved_on()
            }
            State::Done(entry) => State::Done(entry),
        };
        Ok(())
    }

    /// The graph as JSON.
    ///
    /// # Errors
    /// When the entry is not what the archive says of it.
    pub fn finish(self) -> Result<String, Problem> {
        let State::Done(entry) = self.state else {
            return Err(Problem::new("the file ends before the graph"));
        };
        let broken = |what: &str| Problem::new(format!("its entry `{}` {what}", entry.name));
        let content = if entry.is_deflated {
            let mut content = Vec::new();
            // One byte more shows that there are more than the archive says.
            DeflateDecoder::new(self.content.as_slice())
                .take(entry.bytes + 1)
                .read_to_end(&mut content)
                .map_err(|_| broken("cannot be unpacked"))?;
            content
        } else {
            self.content
        };
        let mut check_sum = Crc::new();
        check_sum.update(&content);
        if content.len() as u64 != entry.bytes || check_sum.sum() != entry.check_sum {
            return Err(broken("has a wrong checksum: it is damaged"));
        }
        String::from_utf8(content).map_err(|_| broken("is not text"))
    }

    /// From the end of the file, which starts here, to where the list of entries stands.
    fn ended(&self, tail: &[u8], tail_start: u64) -> Result<State, Problem> {
        let is_end = |&at: &usize| {
            let record = tail.get(at..).unwrap_or_default();
            let comment = u16_at(record, 20).map(usize::from);
            record.starts_with(&END) && comment.is_some_and(|bytes| at + 22 + bytes <= tail.len())
        };
        let Some(at) = (0..tail.len()).rev().find(is_end) else {
            return Err(Problem::at_byte(
                self.file_bytes,
                "the file ends without the entry list of a zip archive: it is cut off",
            ));
        };
        let record = tail.get(at..).unwrap_or_default();
        let locator = at
            .checked_sub(20)
            .and_then(|at| tail.get(at..))
            .unwrap_or_default();
        let (bytes, start) = (u32_at(record, 12), u32_at(record, 16));
        let state = match (bytes, start) {
            (Some(u32::MAX), _) | (_, Some(u32::MAX)) if locator.starts_with(&LOCATOR) => {
                u64_at(locator, 8).map(State::WideEnd)
            }
            (Some(bytes), Some(start)) => list_at(start.into(), bytes.into()),
            _ => None,
        };
        let what = format!(
            "its entry list exceeds the limit of {} MB",
            MAX_LIST_BYTES >> 20
        );
        state.ok_or_else(|| Problem::at_byte(tail_start + at as u64, &what))
    }
}

impl State {
    /// The content that is left; an empty one is done.
    fn moved_on(self) -> Self {
        match self {
            Self::Content(entry, content) if content.is_empty() => Self::Done(entry),
            other => other,
        }
    }
}

fn list_at(start: u64, bytes: u64) -> Option<State> {
    let end = start.checked_add(bytes)?;
    (bytes <= MAX_LIST_BYTES).then_some(State::List(start..end))
}

/// The entries of a list that starts at this byte of the file.
fn entries(list: &[u8], list_start: u64) -> Result<Vec<Entry>, Problem> {
    let mut entries = Vec::new();
    let mut at = 0;
    while at < list.len() {
        let rest = list.get(at..).unwrap_or_default();
        let Some((entry, bytes)) = listed(rest) else {
            return Err(Problem::at_byte(
                list_start + at as u64,
                "no readable entry of a zip archive starts",
            ));
        };
        entries.push(entry);
        at += bytes;
    }
    Ok(entries)
}

/// The entry that a list starts with, and how many bytes it takes. Encrypted ones and those of
/// other methods are not read.
fn listed(list: &[u8]) -> Option<(Entry, usize)> {
    let is_encrypted = u16_at(list, 8)? & 1 == 1;
    let method = u16_at(list, 10)?;
    let [name, extra, comment] = [28, 30, 32].map(|at| u16_at(list, at).map(usize::from));
    let (name, extra) = (LISTED_BYTES + name?, extra?);
    let wide = wide_sizes(list.get(name..name + extra)?);
    // Only sizes that do not fit in 32 bits stand in the extra field, in this order.
    let mut wide = wide.into_iter();
    let mut size = |at: usize| match u32_at(list, at)? {
        u32::MAX => wide.next(),
        size => Some(u64::from(size)),
    };
    let (bytes, stored_bytes) = (size(24)?, size(20)?);
    let entry = Entry {
        name: String::from_utf8_lossy(list.get(LISTED_BYTES..name)?).into_owned(),
        is_deflated: method == 8,
        check_sum: u32_at(list, 16)?,
        stored_bytes,
        bytes,
        start: size(42)?,
    };
    let is_read = !is_graph(&entry.name) || !is_encrypted && matches!(method, 0 | 8);
    (list.starts_with(&LISTED) && is_read).then_some((entry, name + extra + comment?))
}

/// The numbers of the ZIP64 extra field, for entries of more than 4 GB.
fn wide_sizes(mut extra: &[u8]) -> Vec<u64> {
    while let (Some(kind), Some(bytes)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let end = 4 + usize::from(bytes);
        if kind == 1 {
            let field = extra.get(4..end.min(extra.len())).unwrap_or_default();
            let (numbers, _) = field.as_chunks::<8>();
            return numbers
                .iter()
                .map(|&bytes| u64::from_le_bytes(bytes))
                .collect();
        }
        extra = extra.get(end..).unwrap_or_default();
    }
    Vec::new()
}

/// The entry that holds the graph.
fn graph_of(entries: &[Entry]) -> Result<Entry, Problem> {
    let graph = entries.iter().find(|entry| is_graph(&entry.name));
    let Some(entry) = graph else {
        return Err(Problem::new(what_else(entries)));
    };
    let most = MAX_GRAPH_BYTES as u64;
    if entry.stored_bytes > most || entry.bytes > most {
        return Err(Problem::new(format!(
            "its graph has {} bytes, more than the limit of {} MB",
            entry.bytes.max(entry.stored_bytes),
            MAX_GRAPH_BYTES >> 20
        )));
    }
    Ok(entry.clone())
}

/// Whether an entry is a graph. PyTorch up to 2.6 has one of this name; later ones have a folder of
/// models.
fn is_graph(name: &str) -> bool {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let is_model = folder == "models" || folder.ends_with("/models");
    file == "serialized_exported_program.json"
        || is_model
            && file
                .rsplit_once('.')
                .is_some_and(|(_, form)| form == "json")
}

/// What an archive without a graph is.
fn what_else(entries: &[Entry]) -> &'static str {
    let holds = |part: &str| entries.iter().any(|entry| entry.name.contains(part));
    let ends = |part: &str| entries.iter().any(|entry| entry.name.ends_with(part));
    if holds("/code/") && ends("data.pkl") {
        "it is a TorchScript model, whose graph is Python code: save the model with torch.export.save(torch.export.export(model, inputs), \"model.pt2\")"
    } else if ends("data.pkl") {
        "it is a PyTorch checkpoint, which contains weights but no graph: save the model with torch.export.save(torch.export.export(model, inputs), \"model.pt2\")"
    } else if holds("data/aotinductor/") {
        "it is a package of compiled kernels, which contains no graph: save the model with torch.export.save(torch.export.export(model, inputs), \"model.pt2\")"
    } else if holds("[Content_Types].xml") {
        "it is an office document"
    } else {
        "it is a zip archive without the entry `models/model.json` of an exported program"
    }
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes_at(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes_at(bytes, at).map(u64::from_le_bytes)
}
