//! A short name of the computation of a program.

use crate::model::functions::Function;
use crate::model::graph::Graph;
use std::fmt::Write as _;

impl Graph {
    /// Sixteen hexadecimal digits that identify the computation: functions, shapes, types and
    /// reads.
    ///
    /// Names, comments and the order of declarations do not count, and neither do some attributes,
    /// such as `causal` and the start of a slice. A measurement with other digits is of another
    /// program; with equal digits it is most likely of this one. The digits do not protect against
    /// forgery. They are the same in every build. `O(ops + reads)`.
    pub fn digest(&self) -> String {
        let mut hash = Fnv::START;
        for (id, op) in self.ops.iter_enumerated() {
            let what = op.function.map_or(op.op_type.name(), Function::name);
            let of_op = (
                &op.shape,
                op.element_type(),
                op.k,
                op.axes,
                op.is_across_rows,
                op.is_output,
                &op.literals,
            );
            // Writing to a hash cannot fail.
            let in_place = if op.in_place { "_" } else { "" };
            let _ = write!(hash, "{what}{in_place}{of_op:?}");
            for &tensor in &self.inputs[id] {
                let read = &self.tensors[tensor];
                let _ = match read.producer {
                    Some(producer) => write!(hash, "<{producer}"),
                    None => write!(
                        hash,
                        "<{tensor} {:?} {:?}",
                        self.tensor_shape(tensor),
                        read.dtype
                    ),
                };
            }
            let _ = hash.write_char(';');
        }
        format!("{:016x}", hash.0)
    }
}

/// FNV-1a of a text, the same in every build. `O(text)`.
pub fn fnv1a(text: &str) -> u64 {
    let mut hash = Fnv::START;
    // Writing to a hash cannot fail.
    let _ = hash.write_str(text);
    hash.0
}

/// FNV-1a of 64 bits. The hashers of std and rustc-hash may differ from version to version.
struct Fnv(u64);

impl Fnv {
    const START: Self = Self(0xcbf2_9ce4_8422_2325);
}

impl std::fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}
