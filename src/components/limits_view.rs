//! The tab on limits: what each kernel asks of the device.

use crate::platform::{self, Place, effect, listen};
use crate::state::{Page, Selection, Tab};
use crate::views::limits::table;
use leptos::prelude::*;

/// A row for each fused kernel; choosing one selects it everywhere.
#[component]
pub fn LimitsView(
    /// The page whose kernels are looked at.
    page: Page,
) -> impl IntoView {
    let mut place = Place::new("limits");
    effect(move || {
        if page.is_open(Tab::Limits) {
            let analysis = page.analysis.get();
            let selected = page.selection.get().kernel(&analysis);
            place.show(table(&analysis, selected));
        }
    });
    listen("limits", &["click"], move |event| {
        if let Some(kernel) = platform::closest_number(event, "data-kernel") {
            page.toggle(Selection::Kernel(kernel));
        }
    });
    view! {
        <div class="table-scroll" id="limits" role="group" aria-label="Limits of the kernels" tabindex="0"></div>
    }
}
