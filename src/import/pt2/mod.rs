//! From an exported program of PyTorch (`torch.export.save`) to a program: [`Archive`] reads the
//! graph out of the file, [`import`] writes the program.
//!
//! The file states the shape of every tensor, so none is inferred. `operators` is the table of what
//! each `ATen` operator is; `elementwise`, `reductions`, `products`, `convolutions`, `layout`,
//! `pieces`, `indexing` and `indices` are for what depends on arguments, `complex` for tensors of
//! complex numbers; `in_place` makes a new tensor of one that is written into, `overwritten` lets
//! what becomes the value of an input be written in place, as `mutations` says, or `copied`, and
//! `higher_order` writes the graphs of conditions and loops. `symbols` are the sizes that the file
//! leaves open, which become params. `layers` finds equal layers, which `blocks` folds; `naming`
//! gives ops the paths of their modules. `views` reads the index order that several views give.
//! `public/python/fuseline.py` saves files that hold no weights. `printed` reads a graph that
//! PyTorch has printed, in place of a file.

mod archive;
mod attention;
mod becomes;
mod blanks;
mod blocks;
mod call;
mod class_losses;
mod complex;
mod convolutions;
mod copied;
mod elementwise;
mod expression;
mod higher_order;
mod import;
mod in_place;
mod indexing;
mod indices;
mod layers;
mod layout;
mod lines;
mod losses;
mod mutations;
mod naming;
mod operators;
mod output;
mod overwritten;
mod parts;
mod pieces;
mod printed;
mod products;
mod reductions;
mod schema;
mod symbols;
mod views;

pub use archive::Archive;
pub(crate) use blocks::folded;
pub use import::import;
pub(crate) use naming::{Origin, Stack};
pub use printed::{import_printed, is_printed};

/// Whether an operator of `ATen` is read as it is, with all its overloads or with the one that
/// stands behind a dot: `softmax`, `max.other`.
pub fn reads_whole(operator: &str) -> bool {
    let (name, overload) = operator.split_once('.').unwrap_or((operator, ""));
    operators::find(name, overload).is_some()
}

/// Whether a file that starts with these bytes is a zip archive, whose content [`Archive`]
/// identifies.
pub fn is_archive(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04")
}
