//! The rows of tables that have one for each kernel.

use crate::app::state::{Page, Selection};
use fuseline_core::KernelId;
use fuseline_view::present::quantity::Subject;
use leptos::html;
use leptos::prelude::*;

/// Which kernel is selected. A change runs only the two rows that it concerns, not all.
#[derive(Clone, Copy)]
pub struct SelectedKernel(StoredValue<Selector<Option<Subject>>>);

impl SelectedKernel {
    pub fn of(page: Page) -> Self {
        let of = move || {
            let kernel = page.selected_kernel()?;
            page.analysis
                .with(|analysis| Subject::kernel(analysis, kernel))
        };
        Self(StoredValue::new(Selector::new(of)))
    }

    /// Whether this kernel is selected.
    pub fn is(self, of: Subject) -> Signal<bool> {
        Signal::derive(move || self.0.with_value(|selector| selector.selected(&Some(of))))
    }
}

/// A row in the colour of its kernel. A click selects the kernel. The button in the first cell,
/// with the kernel's number, does the same from the keyboard.
#[component]
pub fn KernelTableRow(
    #[prop(into)] kernel: Signal<KernelId>,
    /// Whether the kernel is selected.
    #[prop(into)]
    is_selected: Signal<bool>,
    /// The button, for a parent that focuses it.
    #[prop(optional)]
    button: NodeRef<html::Button>,
    /// Name of the button.
    #[prop(into)]
    label: Signal<String>,
    /// Follows the button in the first cell.
    #[prop(optional, into)]
    sign: ViewFn,
    /// The other cells.
    children: Children,
) -> impl IntoView {
    let page = Page::of_context();
    view! {
        <tr
            class=move || format!("kernel-row {}", page.kernel_class(kernel.get()))
            class:is-selected=is_selected
            on:click=move |_| page.toggle(Selection::Kernel(kernel.get_untracked()))
        >
            <td>
                // Its click bubbles to the row.
                <button
                    type="button"
                    class="badge"
                    node_ref=button
                    aria-pressed=move || is_selected.get().to_string()
                    aria-label=label
                >
                    {move || kernel.get().number()}
                </button>
                {move || sign.run()}
            </td>
            {children()}
        </tr>
    }
}
