//! The limit on what the page reads at once, by every way in.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::fmt;

/// Most bytes of a file, a pasted text, or a list from JavaScript as JSON. A list takes up to 60
/// times as much memory until it is an analysis, and a WebAssembly module has at most 4 GB.
pub const MAX_INPUT_BYTES: usize = 8_000_000;
const LIMIT_MB: usize = MAX_INPUT_BYTES / 1_000_000;

/// Most lists and objects around a value, as in text that is read as JSON.
const MAX_DEPTH: usize = 128;

/// Whether an input is within [`MAX_INPUT_BYTES`].
///
/// # Errors
/// Its size, the limit and what to do.
pub const fn check_size(bytes: usize) -> Result<(), InputTooLarge> {
    if bytes <= MAX_INPUT_BYTES {
        Ok(())
    } else {
        Err(InputTooLarge { bytes })
    }
}

/// An input beyond [`MAX_INPUT_BYTES`], as the end of a sentence about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it has {} MB, and the limit is {LIMIT_MB} MB: split the program, or use the command line, which reads more",
    megabytes(*bytes)
)]
pub struct InputTooLarge {
    bytes: usize,
}

/// Rounded up, so that a size just above the limit does not read as the limit.
fn megabytes(bytes: usize) -> String {
    let tenths = bytes.div_ceil(100_000);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// The value that `source` holds, if it is within [`MAX_INPUT_BYTES`] as JSON. Reads no further
/// than the limit.
///
/// # Errors
/// Those of `source`, values beyond the limit, and more than 128 lists and objects in each other.
pub fn read_value<'de, D: Deserializer<'de>>(source: D) -> Result<Value, D::Error> {
    let left = Cell::new(MAX_INPUT_BYTES);
    let value = Bounded {
        left: &left,
        depth: 0,
    };
    value.deserialize(source)
}

/// Reads a value and counts its bytes as JSON, or fewer.
#[derive(Clone, Copy)]
struct Bounded<'a> {
    left: &'a Cell<usize>,
    depth: usize,
}

impl Bounded<'_> {
    fn take<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.unwrap_or(0));
        left.map(drop).ok_or_else(|| {
            E::custom(format!(
                "as JSON it exceeds the limit of {LIMIT_MB} MB: split the list"
            ))
        })
    }

    fn inner<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth + 1;
        if depth > MAX_DEPTH {
            let problem = format!("lists and objects nest more than {MAX_DEPTH} levels deep");
            return Err(E::custom(problem));
        }
        Ok(Self { depth, ..self })
    }

    fn number<E: Error>(self, number: impl Into<Value>) -> Result<Value, E> {
        self.take("0,".len())?;
        Ok(number.into())
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, a string, a list or a plain object")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.take("null,".len())?;
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.take("true,".len())?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.number(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.number(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.number(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.take(value.len().saturating_add("\"\",".len()))?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        self.take("[],".len())?;
        if let Some(entries) = list.size_hint()
            && entries > self.left.get() / "0,".len()
        {
            let problem = format!(
                "a list of {entries} entries exceeds the limit of {LIMIT_MB} MB as JSON: split the list"
            );
            return Err(A::Error::custom(problem));
        }
        let inner = self.inner()?;
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        self.take("{},".len())?;
        let inner = self.inner()?;
        let mut fields = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            self.take(name.len().saturating_add("\"\":".len()))?;
            fields.insert(name, object.next_value_seed(inner)?);
        }
        Ok(Value::Object(fields))
    }
}
