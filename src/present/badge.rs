//! The colour of a kernel.

use crate::core::KernelId;

/// Colours in the palette of `style/tokens.css`.
pub const COLORS: usize = 12;

/// The CSS classes of whatever belongs to a kernel: its colour and, after twelve kernels, when the colours repeat,
/// another badge shape.
pub fn kernel_class(kernel: KernelId) -> String {
    let round = match kernel.index() / COLORS % 3 {
        0 => "",
        1 => " kernel-round-2",
        _ => " kernel-round-3",
    };
    format!("kernel-{}{round}", kernel.index() % COLORS + 1)
}
