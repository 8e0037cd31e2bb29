//! A button that shows a chart large, in a dialog over the page.

use super::enlarged_chart::EnlargedChart;
use crate::app::covers::closes_on_back;
use crate::app::state::PictureForm;
use crate::components::inspector::Inspector;
use fuseline_browser as browser;
use leptos::html;
use leptos::prelude::*;

/// The button, and the dialog with the chart and the card of what is pressed in it. Escape, the
/// button *Close* and a press beside the dialog close it.
#[component]
pub fn Enlarge(
    /// The title of the dialog.
    title: &'static str,
    /// What the marks mean.
    legend: ViewFn,
    /// Saves the chart as a file.
    save: Callback<PictureForm>,
    /// The chart, which is mounted while the dialog is open.
    children: ChildrenFn,
) -> impl IntoView {
    let enlarged = EnlargedChart::of_context();
    let dialog = NodeRef::<html::Dialog>::new();
    let is_open = RwSignal::new(false);
    let set_open = move |now: bool| {
        is_open.set(now);
        enlarged.0.set(now);
    };
    let open = move |_| {
        set_open(true);
        browser::show_modal(dialog);
    };
    // What is shown elsewhere on the page, such as the text, ends the dialog.
    Effect::new(move || {
        if !enlarged.is_shown() {
            browser::close_modal(dialog);
        }
    });
    closes_on_back(move || is_open.get(), move || browser::close_modal(dialog));
    let form = move |form: PictureForm| {
        view! {
            <button type="button" class="button" title="Save it as a file" on:click=move |_| save.run(form)>{form.label()}</button>
        }
    };
    view! {
        <button
            type="button"
            class="enlarge"
            title="Enlarge"
            aria-label=format!("Enlarge: {title}")
            aria-haspopup="dialog"
            on:click=open
        >
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
                <path d="M9 2H14V7M14 2L9 7M7 14H2V9M2 14L7 9"></path>
            </svg>
        </button>
        <dialog
            class="enlarged"
            node_ref=dialog
            aria-label=title
            on:close=move |_| set_open(false)
            // Escape closes the dialog and does nothing to the page below.
            on:keydown=move |event| event.stop_propagation()
            on:click=move |event| {
                if event.target() == event.current_target() {
                    browser::close_modal(dialog);
                }
            }
        >
            <header class="panel-head">
                <h2>{title}</h2>
                <Show when=move || is_open.get()>{legend.run()}</Show>
                <div class="enlarged-buttons">
                    {form(PictureForm::Svg)}
                    {form(PictureForm::Png)}
                    <button type="button" class="button" on:click=move |_| browser::close_modal(dialog)>"Close"</button>
                </div>
            </header>
            <Show when=move || is_open.get()>
                {children()}
                <Inspector />
            </Show>
        </dialog>
    }
}
