//! What the tables with a row for each kernel have alike.

use crate::app::state::{Page, Selection};
use crate::components::badge::kernel_class;
use crate::core::OpId;
use leptos::html;
use leptos::prelude::*;

/// Which kernel is selected: when that changes, two rows wake and not all.
#[derive(Clone, Copy)]
pub struct SelectedKernel(StoredValue<Selector<Option<OpId>>>);

impl SelectedKernel {
    /// Follows the selection of the page.
    pub fn of(page: Page) -> Self {
        let first_op = move || {
            let kernel = page.selected_kernel()?;
            page.analysis
                .with(|analysis| analysis.fused.kernels.get(kernel)?.ops.first().copied())
        };
        Self(StoredValue::new(Selector::new(first_op)))
    }

    /// Whether the kernel with this first op is selected.
    pub fn is(self, first_op: OpId) -> Signal<bool> {
        Signal::derive(move || {
            self.0
                .with_value(|selector| selector.selected(&Some(first_op)))
        })
    }
}

/// A row that is in its kernel's colour and selects it when clicked. Its first cell holds the kernel's number as a
/// button, by which the row is reached with the keyboard.
#[component]
pub fn KernelTableRow(
    /// The place of the kernel in the analysis.
    #[prop(into)]
    kernel: Signal<usize>,
    /// The kernel is selected.
    #[prop(into)]
    is_selected: Signal<bool>,
    /// Id of the button.
    #[prop(into, optional)]
    button_id: MaybeProp<String>,
    /// The button.
    #[prop(optional)]
    button: NodeRef<html::Button>,
    /// Name of the button.
    #[prop(into)]
    label: Signal<String>,
    /// What stands in the first cell behind the button.
    #[prop(optional, into)]
    sign: ViewFn,
    /// The other cells.
    children: Children,
) -> impl IntoView {
    let page = Page::of_context();
    view! {
        <tr
            class=move || format!("kernel-row {}", kernel_class(kernel.get()))
            class:is-selected=is_selected
            on:click=move |_| page.toggle(Selection::Kernel(kernel.get_untracked()))
        >
            <td>
                // The click reaches the row.
                <button
                    type="button"
                    class="badge"
                    node_ref=button
                    id=button_id
                    aria-pressed=move || is_selected.get().to_string()
                    aria-label=label
                >
                    {move || kernel.get() + 1}
                </button>
                {move || sign.run()}
            </td>
            {children()}
        </tr>
    }
}
