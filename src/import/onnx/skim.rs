//! Reads an ONNX file by slices and keeps all of it but the values of its weights.
//!
//! [`Skim`] holds no file: it says which slice it wants and is given its bytes, so the page (slices
//! of a `Blob`) and the command line (a seek and a read) run the same code. What it gives is the
//! same message without the payloads that are skipped.

use crate::Problem;
use std::ops::Range;

/// Longest payload of a tensor that is kept, in bytes: indices and shapes are short, weights are
/// not.
const MAX_VALUE_BYTES: u64 = 4096;

/// Longest other field that is kept, in bytes.
const MAX_FIELD_BYTES: u64 = 65_536;

/// Most bytes that are kept of a file. A graph of 100,000 nodes has some 20 MB.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// Bytes of a slice after a jump, enough for any field that is kept, and of a slice that follows
/// the one before.
const JUMP_BYTES: u64 = MAX_FIELD_BYTES + 64;
const ROW_BYTES: u64 = 1 << 20;

/// Deepest nesting of messages.
const MAX_DEPTH: usize = 64;

/// The messages that are entered, so that what is large in them can be skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Model,
    Graph,
    Function,
    Node,
    Attribute,
    Tensor,
    SparseTensor,
}

impl Message {
    /// The message in a field, by the numbers of `onnx.proto`.
    fn inner(self, field: u64) -> Option<Self> {
        match (self, field) {
            (Self::Model, 7) | (Self::Attribute, 6 | 11) => Some(Self::Graph),
            (Self::Model, 25) => Some(Self::Function),
            (Self::Graph, 1) | (Self::Function, 7) => Some(Self::Node),
            (Self::Node, 5) | (Self::Function, 11) => Some(Self::Attribute),
            (Self::Graph, 15) => Some(Self::SparseTensor),
            (Self::Graph, 5) | (Self::Attribute, 5 | 10) | (Self::SparseTensor, 1 | 2) => {
                Some(Self::Tensor)
            }
            _ => None,
        }
    }

    /// Whether a field holds the values of a tensor.
    fn is_value(self, field: u64) -> bool {
        self == Self::Tensor && matches!(field, 4..=7 | 9..=11)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Model => "the model",
            Self::Graph => "the graph",
            Self::Function => "a function",
            Self::Node => "a node",
            Self::Attribute => "an attribute",
            Self::Tensor => "a tensor",
            Self::SparseTensor => "a sparse tensor",
        }
    }
}

/// A message that has been entered.
#[derive(Debug)]
struct Open {
    message: Message,
    /// One past its last byte in the file.
    end: u64,
    /// Its tag as it stands in the file.
    tag: u64,
    kept: Vec<u8>,
}

/// A walk through the fields of a file.
#[derive(Debug)]
pub struct Skim {
    file_bytes: u64,
    /// Where the next field starts.
    at: u64,
    /// Bytes of the next slice.
    slice_bytes: u64,
    /// The nested messages that are open; the first is the model.
    open: Vec<Open>,
    kept_bytes: usize,
}

impl Skim {
    /// A walk through a file of this size.
    pub fn new(file_bytes: u64) -> Self {
        Self {
            file_bytes,
            at: 0,
            slice_bytes: ROW_BYTES,
            open: vec![Open {
                message: Message::Model,
                end: file_bytes,
                tag: 0,
                kept: Vec::new(),
            }],
            kept_bytes: 0,
        }
    }

    /// The slice that is wanted next, in bytes of the file; `None` when all has been read.
    pub fn wanted(&self) -> Option<Range<u64>> {
        let end = self.at.saturating_add(self.slice_bytes);
        (self.at < self.file_bytes).then(|| self.at..end.min(self.file_bytes))
    }

    /// How much of the file has been passed, from 0 to 1.
    pub fn progress(&self) -> f64 {
        self.at as f64 / self.file_bytes.max(1) as f64
    }

    /// Takes the bytes of the wanted slice. `O(slice)`.
    ///
    /// # Errors
    /// Where the file is no ONNX file, or has been cut off.
    pub fn feed(&mut self, slice: &[u8]) -> Result<(), Problem> {
        let start = self.at;
        let end = start.saturating_add(slice.len() as u64);
        if slice.is_empty() {
            return Err(self.problem("the file became shorter during the import"));
        }
        self.slice_bytes = ROW_BYTES;
        while self.at < end {
            self.close_finished();
            let offset = usize::try_from(self.at - start).unwrap_or(usize::MAX);
            let rest = slice.get(offset..).unwrap_or_default();
            if !self.field(rest, end)? {
                // The next slice starts at this field. A whole slice is longer than any field that
                // is kept.
                return if self.at == start {
                    Err(self.problem("the file became shorter during the import"))
                } else {
                    Ok(())
                };
            }
        }
        if self.at > end {
            self.slice_bytes = JUMP_BYTES;
        }
        Ok(())
    }

    /// What is kept: a model without the values of its weights.
    ///
    /// # Errors
    /// When the file ends inside a message.
    pub fn finish(mut self) -> Result<Vec<u8>, Problem> {
        self.close_finished();
        match (self.open.pop(), self.open.is_empty()) {
            (Some(model), true) => Ok(model.kept),
            _ => Err(self.problem("the file ends inside a message")),
        }
    }

    /// Reads the field that `rest` starts with; `false` when the slice ends in it. `slice_end` is
    /// where the slice ends in the file.
    fn field(&mut self, rest: &[u8], slice_end: u64) -> Result<bool, Problem> {
        let Some(&Open { message, end, .. }) = self.open.last() else {
            return Ok(false);
        };
        let is_last = slice_end == self.file_bytes;
        let Some((tag, tag_bytes)) = self.varint(rest, is_last)? else {
            return Ok(false);
        };
        let after_tag = rest.get(tag_bytes..).unwrap_or_default();
        let (field, wire_type) = (tag >> 3, tag & 7);
        let (head_bytes, payload_bytes) = match wire_type {
            0 => match self.varint(after_tag, is_last)? {
                Some((_, bytes)) => (tag_bytes + bytes, 0),
                None => return Ok(false),
            },
            1 => (tag_bytes, 8),
            5 => (tag_bytes, 4),
            2 => match self.varint(after_tag, is_last)? {
                Some((length, bytes)) => (tag_bytes + bytes, length),
                None => return Ok(false),
            },
            _ => return Err(self.problem("no field of an ONNX model starts")),
        };
        if field == 0 {
            return Err(self.problem("no field of an ONNX model starts"));
        }
        let payload_start = self.at + head_bytes as u64;
        let next = payload_start.saturating_add(payload_bytes);
        if next > end {
            let inside = message.inner(field).unwrap_or(message).name();
            return Err(self.problem(&if next > self.file_bytes {
                format!(
                    "{inside} needs {payload_bytes} bytes, but only {} follow: the file is cut off",
                    self.file_bytes.saturating_sub(payload_start)
                )
            } else {
                format!("a field reaches beyond the end of {}", message.name())
            }));
        }
        let limit = if message.is_value(field) || message.inner(field).is_some() {
            MAX_VALUE_BYTES
        } else {
            MAX_FIELD_BYTES
        };
        if let Some(inner) = message.inner(field).filter(|_| payload_bytes > limit) {
            if self.open.len() >= MAX_DEPTH {
                return Err(
                    self.problem(&format!("messages nest more than {MAX_DEPTH} levels deep"))
                );
            }
            self.open.push(Open {
                message: inner,
                end: next,
                tag,
                kept: Vec::new(),
            });
            self.at = payload_start;
        } else if payload_bytes > limit {
            self.at = next;
        } else {
            let field_bytes = usize::try_from(next - self.at).unwrap_or(usize::MAX);
            let Some(bytes) = rest.get(..field_bytes) else {
                return Ok(false);
            };
            self.keep(message.is_value(field), bytes)?;
            self.at = next;
        }
        Ok(true)
    }

    /// Copies a field to the open message. Values that are not packed are one field each; only the
    /// first of them are kept.
    fn keep(&mut self, is_value: bool, bytes: &[u8]) -> Result<(), Problem> {
        if let Some(open) = self.open.last_mut()
            && (!is_value || (open.kept.len() as u64) < 2 * MAX_VALUE_BYTES)
        {
            self.kept_bytes += bytes.len();
            open.kept.extend_from_slice(bytes);
        }
        if self.kept_bytes > MAX_KEPT_BYTES {
            return Err(self.problem(&format!(
                "its graph without the weights exceeds the limit of {} MB",
                MAX_KEPT_BYTES >> 20
            )));
        }
        Ok(())
    }

    /// Puts each message that ends here into the one around it.
    fn close_finished(&mut self) {
        while self.open.len() > 1 && self.open.last().is_some_and(|open| open.end <= self.at) {
            if let Some(closed) = self.open.pop()
                && let Some(outer) = self.open.last_mut()
            {
                push_varint(&mut outer.kept, closed.tag);
                push_varint(&mut outer.kept, closed.kept.len() as u64);
                outer.kept.extend_from_slice(&closed.kept);
            }
        }
    }

    /// The number that `bytes` start with, and its length; `None` when the slice ends in it.
    fn varint(&self, bytes: &[u8], is_last: bool) -> Result<Option<(u64, usize)>, Problem> {
        let mut value = 0_u64;
        for (index, &byte) in bytes.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * index).min(63);
            if byte < 0x80 {
                return Ok(Some((value, index + 1)));
            }
        }
        if bytes.len() >= 10 {
            return Err(self.problem("a number has more than ten bytes"));
        }
        if is_last {
            return Err(self.problem("the file ends inside a number: it is cut off"));
        }
        Ok(None)
    }

    fn problem(&self, what: &str) -> Problem {
        Problem::at_byte(self.at, what)
    }
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push((value & 0x7f) as u8);
}
