//! Runs kernels on numbers and generates their code.
//!
//! [`interpret`] runs a program on numbers, [`kernel_code`] prints its kernels in Triton, CUDA C++
//! and WGSL, [`code_bytes`] counts the bytes that each line of that code reads or writes, and
//! [`your_gpu`] turns the program into a job for the visitor's GPU.

mod calculator;
pub mod call;
pub mod code_bytes;
mod elements;
pub mod evaluation_error;
pub mod interpret;
pub mod kernel_code;
mod rows;
pub mod your_gpu;
