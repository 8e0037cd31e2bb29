//! The page as a whole.

use crate::components::editor::follow_change;
use crate::components::headline::Headline;
use crate::components::kernel_details::KernelDetails;
use crate::components::kernels::KernelsTable;
use crate::components::ops::Ops;
use crate::components::sliders::Sliders;
use crate::core::examples::{START, example};
use crate::state::Page;
use leptos::prelude::*;

/// Everything on the page.
#[component]
pub fn App() -> impl IntoView {
    let page = Page::new(example(START).map_or("", |e| e.text).to_owned());
    window_event_listener(leptos::ev::keydown, move |event| {
        if !(event.ctrl_key() || event.meta_key()) || event.alt_key() {
            return;
        }
        let before = page.text.get_untracked();
        let is_done = match (event.key().to_ascii_lowercase().as_str(), event.shift_key()) {
            ("z", false) => page.undo(),
            ("z", true) | ("y", false) => page.redo(),
            ("enter", false) => {
                page.is_fused.update(|is_fused| *is_fused = !*is_fused);
                event.prevent_default();
                return;
            }
            _ => return,
        };
        event.prevent_default();
        if is_done {
            follow_change(page, &before);
        }
    });
    view! {
        <a class="skip-link" href="#main">"Skip to the result"</a>
        <main id="main" class="page" tabindex="-1">
            <h1 class="sr-only">"Fuseline"</h1>
            <Headline analysis=page.analysis is_stale=page.is_stale />
            <div class="workbench">
                <Sliders page />
                <Ops page />
            </div>
            <section class="panel kernels-panel" class:is-stale=page.is_stale aria-labelledby="kernels-title">
                <header class="panel-head"><h2 id="kernels-title">"Kernels"</h2></header>
                <div class="kernels-body">
                    <div class="kernels-main"><KernelsTable page /></div>
                    <div class="kernels-details"><KernelDetails page /></div>
                </div>
            </section>
        </main>
    }
}
