//! A slider and a number box for every `param` of the text.

use crate::app::history::Origin;
use crate::app::state::Page;
use crate::components::keyed_rows::row_at;
use crate::components::show_more::ShowMore;
use crate::core::notation::edit::set_param;
use crate::present::sliders::{SliderRow, slider_rows};
use leptos::prelude::*;

/// Number of params that are listed at first, and by which *Show more* lists more.
const PAGE_ROWS: usize = 50;

/// The params, in text order.
#[component]
pub fn Sliders() -> impl IntoView {
    let page = Page::of_context();
    let max_rows = RwSignal::new(PAGE_ROWS);
    let rows = Memo::new(move |_| {
        page.parsed
            .with(|parsed| slider_rows(&parsed.program, max_rows.get()))
    });
    let row_count = Memo::new(move |_| rows.with(Vec::len));
    let param_count = Memo::new(move |_| page.parsed.with(|parsed| parsed.program.params.len()));
    view! {
        <section class="panel sliders" aria-labelledby="sliders-title">
            <h2 id="sliders-title">"Sizes"</h2>
            // Each key press is an edit. All edits until the focus leaves are one undo step.
            <div class="slider-list" on:focusout=move |_| page.seal()>
                <ForEnumerate
                    each=move || rows.get()
                    key=|row| row.name.clone()
                    children=move |place, row| {
                        let name = row.name.clone();
                        view! { <Slider name place row=row_at(rows, place, row) /> }
                    }
                />
                <ShowMore max_rows step=PAGE_ROWS listed=row_count total=param_count />
                <Show when=move || row_count.get() == 0>
                    <p class="quiet">
                        "Write "<code>"param S = 1024 in 128..8192 step 128"</code>
                        " to get a slider for "<code>"S"</code>"."
                    </p>
                </Show>
            </div>
        </section>
    }
}

/// A slider, if the param has a range, and a box for exact values.
#[component]
fn Slider(
    /// Name of the param.
    name: String,
    /// The index of the param among those of the text.
    place: ReadSignal<usize>,
    /// The param.
    row: Memo<SliderRow>,
) -> impl IntoView {
    let page = Page::of_context();
    let set = {
        let name = name.clone();
        move |value: i64| {
            page.change(Origin::Param(name.clone()), |text, program| {
                set_param(text, program, place.get_untracked(), value)
            });
        }
    };
    let has_range = Memo::new(move |_| row.with(|row| row.range.is_some()));
    let min = move || row.with(|row| Some(row.range?.min.to_string()));
    let max = move || row.with(|row| Some(row.range?.max.to_string()));
    let step = move || row.with(|row| row.range.map_or(1, |range| range.step).to_string());
    let value = move || row.with(|row| row.value.to_string());
    let range_id = move || format!("param-{}", place.get());
    let box_id = move || format!("param-{}-box", place.get());
    let drag = {
        let set = set.clone();
        move |text: String| {
            if let Ok(value) = text.parse() {
                set(value);
                page.note_drag();
            }
        }
    };
    let type_in = {
        let set = set.clone();
        move |text: String| {
            if let Some(value) = row.with_untracked(|row| row.typed(&text)) {
                set(value);
            }
        }
    };
    let enter = move |text: String| {
        if let Some(value) = row.with_untracked(|row| row.entered(&text)) {
            set(value);
        }
    };
    view! {
        <div class="slider" class:has-range=has_range>
            <label for=move || if has_range.get() { range_id() } else { box_id() }>{name.clone()}</label>
            <Show when=move || has_range.get()>
                <input
                    type="range"
                    id=range_id
                    min=min
                    max=max
                    step=step
                    prop:value=value
                    on:input:target={
                        let drag = drag.clone();
                        move |event| drag(event.target().value())
                    }
                />
            </Show>
            <input
                type="number"
                id=box_id
                aria-label=format!("{name}, exact value")
                inputmode="numeric"
                min=min
                max=max
                step=step
                prop:value=value
                on:input:target=move |event| type_in(event.target().value())
                on:change:target=move |event| {
                    let number = event.target();
                    enter(number.value());
                    // Shows the present value again if the typed one was refused.
                    number.set_value(&row.with_untracked(|row| row.value.to_string()));
                }
            />
        </div>
    }
}
