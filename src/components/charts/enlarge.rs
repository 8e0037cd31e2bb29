//! A button that shows a chart large, in a dialog over the page.

use super::enlarged_chart::EnlargedChart;
use crate::app::state::PictureForm;
use crate::components::dialog::Dialog;
use crate::components::inspector::Inspector;
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
    let is_chosen = RwSignal::new(false);
    let set_open = move |now: bool| {
        is_chosen.set(now);
        enlarged.0.set(now);
    };
    // What is shown elsewhere on the page, such as the text, ends the dialog.
    let is_open = move || is_chosen.get() && enlarged.is_shown();
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
            on:click=move |_| set_open(true)
        >
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
                <path d="M9 2H14V7M14 2L9 7M7 14H2V9M2 14L7 9"></path>
            </svg>
        </button>
        <Dialog
            class="enlarged"
            label=title
            is_open=Signal::derive(is_open)
            on_close=move || set_open(false)
            is_light_dismissed=true
        >
            <header class="panel-head">
                <h2>{title}</h2>
                <Show when=is_open>{legend.run()}</Show>
                <div class="enlarged-buttons">
                    {form(PictureForm::Svg)}
                    {form(PictureForm::Png)}
                    <button type="button" class="button" on:click=move |_| set_open(false)>"Close"</button>
                </div>
            </header>
            <Show when=is_open>
                {children()}
                <Inspector />
            </Show>
        </Dialog>
    }
}
