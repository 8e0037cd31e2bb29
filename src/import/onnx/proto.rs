//! The messages of `onnx.proto` with the fields that a graph without its weights needs. Other
//! fields are skipped.

use crate::constant::MAX_NUMBERS;
use fuseline_core::model::dtype::DType;
use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Model {
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub(super) operator_sets: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "25")]
    pub(super) functions: Vec<LocalFunction>,
}

/// A function that the file defines and its nodes call.
#[derive(Clone, PartialEq, Message)]
pub(super) struct LocalFunction {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, repeated, tag = "4")]
    pub(super) inputs: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    pub(super) outputs: Vec<String>,
    #[prost(message, repeated, tag = "7")]
    pub(super) nodes: Vec<Node>,
    #[prost(message, repeated, tag = "9")]
    pub(super) operator_sets: Vec<OperatorSet>,
    #[prost(string, tag = "10")]
    pub(super) domain: String,
    /// Attributes with their defaults.
    #[prost(message, repeated, tag = "11")]
    pub(super) attributes: Vec<Attribute>,
    #[prost(message, repeated, tag = "12")]
    pub(super) values: Vec<ValueInfo>,
    #[prost(string, tag = "13")]
    pub(super) overload: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub(super) nodes: Vec<Node>,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializers: Vec<TensorValue>,
    #[prost(message, repeated, tag = "11")]
    pub(super) inputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub(super) outputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "13")]
    pub(super) values: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "15")]
    pub(super) sparse_initializers: Vec<SparseTensor>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub(super) inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) outputs: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) name: String,
    #[prost(string, tag = "4")]
    pub(super) operator: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attributes: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub(super) domain: String,
    #[prost(string, tag = "8")]
    pub(super) overload: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(float, optional, tag = "2")]
    pub(super) float: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub(super) int: Option<i64>,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) string: Vec<u8>,
    #[prost(message, optional, tag = "5")]
    pub(super) tensor: Option<TensorValue>,
    #[prost(message, optional, tag = "6")]
    pub(super) graph: Option<Graph>,
    #[prost(float, repeated, tag = "7")]
    pub(super) floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub(super) ints: Vec<i64>,
    #[prost(message, repeated, tag = "11")]
    pub(super) graphs: Vec<Graph>,
    /// The attribute of the surrounding function whose value this one has.
    #[prost(string, tag = "21")]
    pub(super) reference: String,
}

/// A tensor with its values, if they are few.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorValue {
    #[prost(int64, repeated, tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(super) data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub(super) floats: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(super) ints32: Vec<i32>,
    #[prost(int64, repeated, tag = "7")]
    pub(super) ints64: Vec<i64>,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "vec", tag = "9")]
    pub(super) raw: Vec<u8>,
    #[prost(double, repeated, tag = "10")]
    pub(super) doubles: Vec<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SparseTensor {
    #[prost(message, optional, tag = "1")]
    pub(super) values: Option<TensorValue>,
    #[prost(int64, repeated, tag = "3")]
    pub(super) dims: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) value_type: Option<ValueType>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueType {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorType {
    #[prost(int32, tag = "1")]
    pub(super) element_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub(super) dims: Vec<Dim>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Dim {
    #[prost(int64, optional, tag = "1")]
    pub(super) value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(super) param: Option<String>,
}

/// The element type of a number of `TensorProto.DataType`. Types that the notation lacks become one
/// of the same width, integers of 2 bits become one of 4; text and complex128 have none.
pub(super) fn element_type(number: i32) -> Option<DType> {
    Some(match number {
        1 => DType::F32,
        // Unsigned and signed.
        2 | 3 => DType::I8,
        21 | 22 | 25 | 26 => DType::I4,
        // 16-bit integers have the width of f16.
        4 | 5 | 10 => DType::F16,
        6 | 12 => DType::I32,
        7 | 13 => DType::I64,
        9 => DType::Bool,
        // complex64 has the width of f64.
        11 | 14 => DType::F64,
        16 => DType::Bf16,
        17 | 18 => DType::F8e4m3,
        19 | 20 => DType::F8e5m2,
        24 => DType::F8e8m0,
        23 => DType::F4,
        _ => return None,
    })
}

/// A few numbers of a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl TensorValue {
    /// Number of elements; `None` past 2^63.
    pub(super) fn elements(&self) -> Option<usize> {
        let count = (self.dims.iter()).try_fold(1_i64, |n, &d| n.checked_mul(d))?;
        usize::try_from(count).ok()
    }

    /// Its elements, if the file holds them and they have been kept.
    pub(super) fn numbers(&self) -> Option<Vec<Number>> {
        let count = self.elements().filter(|&count| count <= MAX_NUMBERS)?;
        let numbers: Vec<Number> = if !self.raw.is_empty() {
            raw_numbers(&self.raw, self.data_type)?
        } else if !self.ints64.is_empty() {
            self.ints64.iter().map(|&n| Number::Int(n)).collect()
        } else if !self.ints32.is_empty() {
            let half = matches!(self.data_type, 10 | 16);
            if half {
                let bits = self.ints32.iter().map(|&n| u16::try_from(n).ok());
                let bits = bits.collect::<Option<Vec<u16>>>()?;
                bits.into_iter()
                    .map(|b| half_float(b, self.data_type))
                    .collect()
            } else {
                self.ints32.iter().map(|&n| Number::Int(n.into())).collect()
            }
        } else if !self.floats.is_empty() {
            (self.floats.iter())
                .map(|&n| Number::Float(shortest(n)))
                .collect()
        } else {
            self.doubles.iter().map(|&n| Number::Float(n)).collect()
        };
        (numbers.len() == count).then_some(numbers)
    }
}

/// A float as the shortest decimal that is the same f32: 0.1 and not 0.10000000149.
pub(super) fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

fn raw_numbers(raw: &[u8], data_type: i32) -> Option<Vec<Number>> {
    fn each<const N: usize>(raw: &[u8], read: impl Fn([u8; N]) -> Number) -> Option<Vec<Number>> {
        let (chunks, rest) = raw.as_chunks::<N>();
        rest.is_empty()
            .then(|| chunks.iter().map(|&c| read(c)).collect())
    }
    match data_type {
        1 => each(raw, |b| Number::Float(shortest(f32::from_le_bytes(b)))),
        2 | 9 => each(raw, |[b]| Number::Int(b.into())),
        3 => each(raw, |b| Number::Int(i8::from_le_bytes(b).into())),
        4 => each(raw, |b| Number::Int(u16::from_le_bytes(b).into())),
        5 => each(raw, |b| Number::Int(i16::from_le_bytes(b).into())),
        6 => each(raw, |b| Number::Int(i32::from_le_bytes(b).into())),
        7 | 13 => each(raw, |b| Number::Int(i64::from_le_bytes(b))),
        10 | 16 => each(raw, |b| half_float(u16::from_le_bytes(b), data_type)),
        11 => each(raw, |b| Number::Float(f64::from_le_bytes(b))),
        12 => each(raw, |b| Number::Int(u32::from_le_bytes(b).into())),
        _ => None,
    }
}

/// The number of 16 bits as f16 (data type 10) or bf16.
fn half_float(bits: u16, data_type: i32) -> Number {
    if data_type == 16 {
        return Number::Float(f64::from(f32::from_bits(u32::from(bits) << 16)));
    }
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    Number::Float(if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    })
}
