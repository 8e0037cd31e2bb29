//! The number of a kernel in its colour.

use leptos::prelude::*;

/// Colours in the palette of `style/tokens.css`.
const COLORS: usize = 12;

/// The classes that colour whatever belongs to a kernel (0-based), and mark its round through the palette:
/// after twelve kernels the colours repeat with another badge shape.
pub fn kernel_class(kernel: usize) -> String {
    let round = match kernel / COLORS % 3 {
        0 => "",
        1 => " kernel-round-2",
        _ => " kernel-round-3",
    };
    format!("kernel-{}{round}", kernel % COLORS + 1)
}

/// The badge of a kernel (0-based); people see its number 1-based.
#[component]
pub fn Badge(
    /// Which kernel.
    kernel: usize,
) -> impl IntoView {
    view! { <span class=format!("badge {}", kernel_class(kernel))>{kernel + 1}</span> }
}
