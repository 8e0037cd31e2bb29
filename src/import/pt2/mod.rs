//! From an exported program of PyTorch (`torch.export.save`) to a program: [`Archive`] reads the
//! graph out of the file, [`import`] writes the program.
//!
//! The file states the shape of every tensor, so none is inferred. `operators` is the table of what
//! each `ATen` operator is, as `public/python/fuseline.py` writes it; `elementwise`, `reductions`,
//! `products`, `layout`, `pieces` and `indices` are for what depends on arguments; `in_place` makes
//! a new tensor of one that is written into. `symbols` are the sizes that the file leaves open,
//! which become params; `naming` gives ops the paths of their modules.

mod archive;
mod becomes;
mod blanks;
mod call;
mod elementwise;
mod expression;
mod import;
mod in_place;
mod indices;
mod layout;
mod lines;
mod losses;
mod naming;
mod operators;
mod output;
mod pieces;
mod products;
mod reductions;
mod schema;
mod symbols;

pub use archive::Archive;
pub use import::import;

/// Whether a file that starts with these bytes is a zip archive, whose content [`Archive`]
/// identifies.
pub fn is_archive(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04")
}
