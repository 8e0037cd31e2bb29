//! The binary: the page on `wasm32`, the command line elsewhere.

fn main() {}
