//! Words that depend on what the visitor points with.

use leptos::prelude::*;

/// Words for a mouse with keys, and those for a finger in their place. The style sheet shows one of
/// them.
#[component]
pub fn ByPointer(
    /// For a mouse and keys.
    mouse: &'static str,
    /// For a finger.
    touch: &'static str,
) -> impl IntoView {
    view! {
        <span class="for-mouse">{mouse}</span>
        <span class="for-touch">{touch}</span>
    }
}
