//! What a list of ops holds before anything is checked. Deserializing it hardly fails: a wrong value costs
//! its own op a diagnostic and not the visitor the list.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess,
    Visitor,
};
use std::fmt;
use std::marker::PhantomData;

/// A JSON list of ops, plain or as an object `{"ops": [..], "tensors": ..}`; other fields are ignored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpList {
    /// The ops, in list order.
    pub ops: Vec<OpEntry>,
    /// Declared external tensors, from a map by name or a list.
    pub tensors: Vec<TensorEntry>,
}

/// One op of the list: the fields of [`crate::core::Op`], unchecked.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct OpEntry {
    /// The op's name; its output when missing.
    pub name: Value,
    /// `elementwise`, `reduction`, `matmul` or `reshape`.
    pub op_type: Value,
    /// Names of the tensors read.
    pub inputs: Value,
    /// Name of the tensor written.
    pub output: Value,
    /// Sizes of the output, outermost first.
    pub shape: Value,
    /// Bytes of one output element.
    pub bytes_per_element: Value,
    /// Function of the table; optional.
    pub function: Value,
    /// Element type; optional beside `bytes_per_element`.
    pub dtype: Value,
    /// Contraction length K of a matmul; optional.
    pub contraction: Value,
}

/// One tensor of the list: the fields of [`crate::core::TensorDecl`], unchecked.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TensorEntry {
    /// Its name.
    pub name: Value,
    /// Sizes, outermost first.
    pub shape: Value,
    /// Bytes of one element.
    pub bytes_per_element: Value,
    /// `input` or `weight`; optional.
    pub role: Value,
    /// Element type; optional beside `bytes_per_element`.
    pub dtype: Value,
}

/// The value of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Not there, or `null`.
    #[default]
    Missing,
    /// A single value.
    One(Scalar),
    /// A list of single values.
    Many(Vec<Scalar>),
}

/// A value that is no list.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A whole number that fits 64 bits.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A string.
    Text(String),
    /// A truth value, an object, a list in a list.
    Other,
}

impl Scalar {
    /// JavaScript has one type of numbers, so `2.0` is the integer 2.
    pub(super) fn of_f64(number: f64) -> Self {
        // From 2^53 on a float may stand for its neighbours too.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.fract() == 0.0 && number.abs() < EXACT {
            #[allow(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
            return Self::Integer(number as i64);
        }
        Self::Number(number)
    }
}

impl<'de> Deserialize<'de> for OpList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OpListVisitor)
    }
}

struct OpListVisitor;

impl<'de> Visitor<'de> for OpListVisitor {
    type Value = OpList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of ops, or an object with a list `ops`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<OpList, A::Error> {
        Ok(OpList {
            ops: entries(seq)?,
            tensors: Vec::new(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OpList, A::Error> {
        let mut ops = None;
        let mut tensors = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "ops" => ops = Some(map.next_value::<Entries<OpEntry>>()?.0),
                "tensors" => tensors = map.next_value::<Tensors>()?.0,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let ops = ops.ok_or_else(|| Error::missing_field("ops"))?;
        Ok(OpList { ops, tensors })
    }
}

/// A list of objects; an element that is no object becomes an entry without fields.
struct Entries<T>(Vec<T>);

impl<'de, T: DeserializeOwned + Default> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned + Default> Visitor<'de> for ListVisitor<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Entries<T>, A::Error> {
                entries(seq).map(Entries)
            }
        }

        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

fn entries<'de, T: DeserializeOwned + Default, A: SeqAccess<'de>>(
    mut seq: A,
) -> Result<Vec<T>, A::Error> {
    let mut entries = Vec::new();
    while let Some(Entry(entry)) = seq.next_element()? {
        entries.push(entry);
    }
    Ok(entries)
}

/// `tensors` in either form.
struct Tensors(Vec<TensorEntry>);

impl<'de> Deserialize<'de> for Tensors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TensorsVisitor;

        impl<'de> Visitor<'de> for TensorsVisitor {
            type Value = Tensors;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of tensors, or an object of tensors by name")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Tensors, A::Error> {
                entries(seq).map(Tensors)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tensors, A::Error> {
                let mut tensors = Vec::new();
                while let Some((name, Entry(tensor))) =
                    map.next_entry::<String, Entry<TensorEntry>>()?
                {
                    let name = Value::One(Scalar::Text(name));
                    tensors.push(TensorEntry { name, ..tensor });
                }
                Ok(Tensors(tensors))
            }

            fn visit_unit<E: Error>(self) -> Result<Tensors, E> {
                Ok(Tensors(Vec::new()))
            }
        }

        deserializer.deserialize_any(TensorsVisitor)
    }
}

/// An element of a list of objects; one that is no object has no fields.
struct Entry<T>(T);

impl<'de, T: DeserializeOwned + Default> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned + Default> Visitor<'de> for EntryVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(T::default())
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_unit<E: Error>(self) -> Result<T, E> {
                Ok(T::default())
            }
        }

        deserializer
            .deserialize_any(EntryVisitor(PhantomData))
            .map(Entry)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor { is_in_list: false })
    }
}

/// Reads any value; a list in a list is skipped, so that nobody nests it into the end of the stack.
#[derive(Clone, Copy)]
struct ValueVisitor {
    is_in_list: bool,
}

impl<'de> DeserializeSeed<'de> for ValueVisitor {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Value, E> {
        Ok(Value::One(Scalar::Other))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::One(Scalar::Integer(number)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::One(match i64::try_from(number) {
            Ok(number) => Scalar::Integer(number),
            Err(_) => Scalar::Number(number as f64),
        }))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::One(Scalar::of_f64(number)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::One(Scalar::Text(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::One(Scalar::Text(text)))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Missing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        if self.is_in_list {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Value::One(Scalar::Other));
        }
        let mut many = Vec::new();
        while let Some(element) = seq.next_element_seed(Self { is_in_list: true })? {
            many.push(match element {
                Value::One(scalar) => scalar,
                Value::Missing | Value::Many(_) => Scalar::Other,
            });
        }
        Ok(Value::Many(many))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::One(Scalar::Other))
    }
}
