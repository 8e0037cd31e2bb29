//! The Python file that saves a PyTorch model for this page: shown, copied or saved.

use crate::app::state::Page;
use crate::components::by_pointer::ByPointer;
use crate::components::dialog::Dialog;
use fuseline_browser as browser;
use leptos::prelude::*;

/// The path at which the build serves the file.
const FILE: &str = "./fuseline.py";

/// A dialog with the file and how to use it. Escape, the button *Close* and a press beside the
/// dialog close it.
#[component]
pub fn FromPytorch(
    /// Whether it is shown.
    is_open: RwSignal<bool>,
) -> impl IntoView {
    view! {
        <Dialog
            class="from-pytorch"
            label="From PyTorch"
            is_open
            on_close=move || is_open.set(false)
            is_light_dismissed=true
        >
            <header class="panel-head">
                <h2>"From PyTorch"</h2>
                <button type="button" class="button" on:click=move |_| is_open.set(false)>"Close"</button>
            </header>
            <Show when=move || is_open.get()><Script /></Show>
        </Dialog>
    }
}

/// The content of the dialog. It is mounted while the dialog is open, so that the file is fetched
/// only then.
#[component]
fn Script() -> impl IntoView {
    let page = Page::of_context();
    let script = RwSignal::new(None);
    let fetched = browser::fetch_text(FILE);
    browser::spawn(async move {
        let fetched = fetched.await;
        if fetched.is_none() {
            page.tell_failure(
                "fuseline.py could not be fetched. Check the connection, and open this again.",
            );
        }
        script.try_set(fetched);
    });
    let copy = move |_| {
        let Some(text) = script.get_untracked() else {
            return;
        };
        browser::spawn(async move {
            page.copy(
                &text,
                "fuseline.py is copied.",
                "The browser does not let the page copy. Save the file instead.",
            )
            .await;
        });
    };
    view! {
        <ol>
            <li>"Save the file beside your code. It needs nothing but PyTorch 2.6 or newer."</li>
            <li>"Write "<code>"import fuseline"</code>" and "<code>"fuseline.export(model, x)"</code>", which writes a .pt2 file. The model is traced, not run, and the file holds no weights."</li>
            <li>
                "For sliders of its sizes, name them: "
                <code>"fuseline.export(model, x, dynamic_shapes={\"x\": {1: torch.export.Dim(\"seq\", min=2, max=4096)}})"</code>
            </li>
            <li>
                <ByPointer mouse="Drop the file on the page, or open it." touch="Open the file." />
            </li>
        </ol>
        <div class="from-pytorch-buttons">
            <a class="button is-primary" href=FILE download="fuseline.py">"Save fuseline.py"</a>
            <button type="button" class="button" disabled=move || script.with(Option::is_none) on:click=copy>"Copy it"</button>
        </div>
        <pre tabindex="0" aria-label="fuseline.py">{move || script.get()}</pre>
    }
}
