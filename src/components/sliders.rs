//! A slider and a number box for every `param` of the text.

use crate::app::history::Origin;
use crate::app::stage::is_staged;
use crate::app::state::{Page, SetIfChanged};
use crate::components::keyed_rows::row_at;
use crate::components::show_more::ShowMore;
use fuseline_core::notation::edit::set_param;
use fuseline_view::page::view::View;
use fuseline_view::present::sliders::{SliderRow, SliderTrack, slider_rows};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

/// Number of params that are listed at first, and by which *Show more* lists more.
const PAGE_ROWS: usize = 50;

/// The params, in text order.
#[component]
pub fn Sliders() -> impl IntoView {
    let page = Page::of_context();
    let max_rows = RwSignal::new(PAGE_ROWS);
    let rows = Memo::new(move |_| {
        page.parsed.with(|parsed| {
            page.text
                .with(|text| slider_rows(text, &parsed.program, max_rows.get()))
        })
    });
    let row_count = Memo::new(move |_| rows.with(Vec::len));
    let param_count = Memo::new(move |_| page.parsed.with(|parsed| parsed.program.params.len()));
    // A lesson says what to do, so a program without sizes needs no hint about them.
    let is_needless = move || row_count.get() == 0 && page.screen.is_learning.get();
    view! {
        <section class="sliders" class:is-staged=is_staged(View::Sizes) hidden=is_needless aria-labelledby="sliders-title">
            <h2 id="sliders-title">"Sizes"</h2>
            // All edits until the focus leaves are one undo step.
            <div class="slider-list" on:focusout=move |_| page.seal()>
                <ForEnumerate
                    each=move || rows.get()
                    key=|row| row.name.clone()
                    children=move |index, row| {
                        let name = row.name.clone();
                        view! { <Slider name index row=row_at(rows, index, row) /> }
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
    index: ReadSignal<usize>,
    row: Memo<SliderRow>,
) -> impl IntoView {
    let page = Page::of_context();
    let set = {
        let name = name.clone();
        move |value: i64| {
            page.change(Origin::Param(name.clone()), |text, program| {
                set_param(text, program, index.get_untracked(), value)
            });
        }
    };
    let track = Memo::new(move |_| row.with(SliderRow::track));
    let has_range = Memo::new(move |_| track.with(Option::is_some));
    let on_track = move |part: fn(&SliderTrack) -> i64| {
        move || track.with(|track| track.as_ref().map(|track| part(track).to_string()))
    };
    let value = move || row.with(|row| row.value.to_string());
    let end = move |which: usize| move || row.with(|row| Some(row.ends()?[which].to_string()));
    let range_id = move || format!("param-{}", index.get());
    let box_id = move || format!("param-{}-box", index.get());
    let about_id = move || format!("param-{}-about", index.get());
    let problem_id = move || format!("param-{}-problem", index.get());
    // Where it stood before a pointer pressed it.
    let pressed_at = StoredValue::new(row.with_untracked(|row| row.value));
    // Why the last typed number was refused.
    let problem = RwSignal::new(None::<String>);
    Effect::new(move || {
        row.track();
        problem.set_if_changed(None);
    });
    let drag = {
        let set = set.clone();
        move |text: String| {
            if let Ok(at) = text.parse() {
                page.slider.drag();
                set(row.with_untracked(|row| row.value_at(at)));
            }
        }
    };
    let enter = {
        let set = set.clone();
        move |text: String| match row.with_untracked(|row| row.entered(&text)) {
            Ok(value) => {
                problem.set_if_changed(None);
                set(value);
            }
            Err(reason) => problem.set(Some(reason.to_string())),
        }
    };
    let press = {
        let set = set.clone();
        move |event: KeyboardEvent| {
            let is_up = match event.key().as_str() {
                "ArrowUp" => true,
                "ArrowDown" => false,
                _ => return,
            };
            let has_modifier =
                event.shift_key() || event.ctrl_key() || event.alt_key() || event.meta_key();
            if !has_modifier && !event.is_composing() {
                event.prevent_default();
                page.slider.step();
                set(row.with_untracked(|row| row.stepped(is_up)));
            }
        }
    };
    view! {
        <div class="slider" class:has-range=has_range>
            <div class="slider-names">
                <label for=move || if has_range.get() { range_id() } else { box_id() }>{name.clone()}</label>
                <Show when=move || row.with(|row| !row.about.is_empty())>
                    " "
                    <small class="slider-about" id=about_id>{move || row.with(|row| row.about.clone())}</small>
                </Show>
            </div>
            <Show when=move || has_range.get()>
                <input
                    type="range"
                    id=range_id
                    min=on_track(|track| track.min)
                    max=on_track(|track| track.max)
                    step=on_track(|track| track.step)
                    aria-valuetext=value
                    aria-describedby=about_id
                    prop:value=on_track(|track| track.at)
                    on:pointerdown=move |_| {
                        pressed_at.set_value(row.with_untracked(|row| row.value));
                        page.press_slider();
                    }
                    on:pointerup=move |_| page.release_slider()
                    on:pointercancel={
                        let set = set.clone();
                        move |_| {
                            // The finger scrolls the page and meant no size.
                            set(pressed_at.get_value());
                            page.release_slider();
                        }
                    }
                    on:blur=move |_| page.release_slider()
                    on:input:target={
                        let drag = drag.clone();
                        move |event| drag(event.target().value())
                    }
                />
            </Show>
            // A text field, because one for numbers takes no `16k`.
            <input
                type="text"
                role="spinbutton"
                id=box_id
                class="number"
                aria-label=format!("{name}, exact value")
                title=move || row.with(SliderRow::entry_hint)
                aria-valuenow=value
                aria-valuemin=end(0)
                aria-valuemax=end(1)
                aria-describedby=problem_id
                autocomplete="off"
                prop:value=value
                on:input=move |_| problem.set_if_changed(None)
                on:keydown=press
                on:change:target=move |event| {
                    let number = event.target();
                    enter(number.value());
                    // Shows the present value again if the typed one was refused.
                    number.set_value(&row.with_untracked(|row| row.value.to_string()));
                }
            />
            <p class="slider-problem" id=problem_id role="status" aria-live="polite">{problem}</p>
        </div>
    }
}
