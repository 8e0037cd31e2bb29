//! Kernels of libraries, and operators that are not known.

use super::Task;
use crate::core::interpret::unknown_operator;

impl Task<'_> {
    pub(super) fn opaque(&self) -> Result<String, String> {
        match self.function.name {
            "opaque" => Err(unknown_operator(self.op)),
            _ => Err(self.refuse()),
        }
    }
}
