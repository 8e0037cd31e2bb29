//! What a printed page begins with: the title, and the choices that the menus show on the screen.

use crate::app::state::Page;
use fuseline_view::present::setup::setup;
use leptos::prelude::*;

/// Mounted while the page is printed.
#[component]
pub fn PrintHead() -> impl IntoView {
    let page = Page::of_context();
    let choices =
        Memo::new(move |_| (page.shown).with(|shown| setup(&shown.options, shown.program())));
    view! {
        <Show when=move || page.screen.is_printing.get()>
            <div class="print-head">
                <p class="print-title">"Fuseline: " {move || page.program_name()}</p>
                <dl>
                    <For
                        each=move || choices.get()
                        key=|choice| choice.clone()
                        children=|(name, value)| view! { <dt>{name}</dt> <dd>{value}</dd> }
                    />
                </dl>
            </div>
        </Show>
    }
}
