//! A pointer that is visible from the last row.

use fuseline_browser as browser;
use leptos::ev;
use leptos::prelude::*;

/// A ring around where the mouse, pen or finger is. It takes no part in what they do.
#[component]
pub fn LargePointer() -> impl IntoView {
    let at = RwSignal::new(None::<(i32, i32)>);
    let follow = move |event: ev::PointerEvent| at.set(Some((event.client_x(), event.client_y())));
    browser::on_window(ev::pointermove, follow);
    browser::on_window(ev::pointerdown, follow);
    let place = move |of: fn((i32, i32)) -> i32| move || at.get().map(|at| format!("{}px", of(at)));
    view! {
        <div
            class="large-pointer"
            aria-hidden="true"
            hidden=move || at.get().is_none()
            style:left=place(|at| at.0)
            style:top=place(|at| at.1)
        ></div>
    }
}
