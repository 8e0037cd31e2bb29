//! That a newer version of the page waits until the visitor wants it.

use crate::app::state::Page;
use fuseline_browser as browser;
use leptos::prelude::*;

/// Keeps the page for visits without a network, once it is drawn; a line when a newer version is
/// there.
///
/// Nothing is offered, and no tab is reloaded, while the browser does not keep the visitor's text.
#[component]
pub fn NewVersion() -> impl IntoView {
    let page = Page::of_context();
    let is_ready = RwSignal::new(false);
    let on_new_version = move || {
        // After an unmount there is no value.
        is_ready.try_set(true);
    };
    let on_switch = move || {
        if page.screen.is_unsaved.try_get_untracked() == Some(false) {
            browser::reload();
        }
    };
    browser::after_picture(move || {
        browser::spawn(browser::keep_offline(on_new_version, on_switch));
    });
    view! {
        // Always mounted: a screen reader reads out what is later added to a live region.
        <div class="new-version" role="status" aria-live="polite">
            <Show when=move || is_ready.get() && !page.screen.is_unsaved.get()>
                <p>
                    <span>"A new version is ready."</span>
                    <button type="button" title="Your text stays" on:click=|_| browser::spawn(browser::switch_version())>
                        "Reload"
                    </button>
                </p>
            </Show>
        </div>
    }
}
