//! From kernels to numbers and code.
//!
//! [`interpret`] runs a program on numbers, [`kernel_code`] writes its kernels in the languages of
//! GPUs, [`code_bytes`] counts what each line of that code reads and writes, and [`your_gpu`] makes
//! a job of it for the GPU of a visitor.

mod calculator;
pub mod call;
pub mod code_bytes;
mod elements;
pub mod evaluation_error;
pub mod interpret;
pub mod kernel_code;
mod rows;
pub mod your_gpu;
