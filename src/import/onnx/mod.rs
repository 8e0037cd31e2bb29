//! From an ONNX model to a program: [`Skim`] reads the file without its weights, [`import`] writes
//! the program.
//!
//! `operators` is the table of what each operator is; `template` fills its lines, with `words`,
//! `products`, `experts`, `convolutions`, `windows`, `scatter`, `quantized` and `layout`; `results`
//! says what other operators give. `fold` follows the values that become shapes, `shapes` and
//! `size` the shapes with sizes that stay open, which become params. `agree` says which of them are
//! equal, `choose` gives them values.

mod agree;
mod arithmetic;
mod assumed;
mod attention;
mod call;
mod choose;
mod constants;
mod convolutions;
mod experts;
mod fold;
mod fused;
mod heads;
mod images;
mod import;
mod integers;
mod layout;
mod lines;
mod loops;
mod losses;
mod nodes;
mod open_sizes;
mod operators;
mod optimizers;
mod output;
mod products;
mod proto;
mod quantized;
mod resize;
mod results;
mod rotary;
mod runtime_operators;
mod scatter;
mod scopes;
mod signals;
mod skim;
mod types;
mod windows;
mod words;
mod work;

pub use import::import;
pub use skim::Skim;

/// Whether a file that starts with these bytes is an ONNX model: its first field is the version of
/// the format, a small number, and no text starts with the byte of its tag.
pub fn is_onnx(start: &[u8]) -> bool {
    matches!(start, [0x08, 1..=0x7f, ..])
}
