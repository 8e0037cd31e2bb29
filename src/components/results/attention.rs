//! The *Attention* tab: the bytes of attention as one kernel, and how they grow with the length of
//! the sequence.

use super::online_softmax::OnlineSoftmax;
use crate::app::state::Page;
use crate::components::charts::Chart;
use crate::components::keyed_rows::{explanation_of, row_at};
use crate::components::number::{NumberTable, OwnNumber};
use crate::components::player::{Player, PlayerBar};
use crate::components::radio_button::RadioButton;
use fuseline_core::Device;
use fuseline_core::fusion::attention::{LoopOrder, Tiles, first_attention};
use fuseline_view::picture::charts::{attention_growth, attention_walk};
use fuseline_view::present::attention::{
    AttentionChoice, AttentionCount, AttentionSize, AttentionSizes, AttentionWalk, SliderRange,
    TileRow, byte_rows, loop_words, notes, row_updates, tile_rows, walk_words,
};
use fuseline_view::present::figure::Explanation;
use fuseline_view::present::format::format_exact;
use leptos::prelude::*;
use std::time::Duration;
use strum::IntoEnumIterator;

/// From one tile to the next while the kernel plays.
const BEAT: Duration = Duration::from_millis(250);

/// What the figures are computed from.
#[derive(Clone, Copy)]
struct AttentionInputs {
    sizes: Memo<AttentionSizes>,
    device: Memo<Device>,
    set_sizes: Callback<AttentionSizes>,
}

/// Sizes, the chart, tiles and bytes. They are those of the first attention in the program until
/// the visitor changes one.
#[component]
pub fn AttentionView(
    /// What is counted.
    choice: RwSignal<AttentionChoice>,
) -> impl IntoView {
    let page = Page::of_context();
    let device = Memo::new(move |_| page.analysis.with(|a| a.options.device.clone()));
    let in_program = Memo::new(move |_| {
        page.analysis
            .with(|analysis| first_attention(&analysis.graph))
    });
    let sizes = Memo::new(move |_| choice.get().sizes(in_program.get()));
    let inputs = AttentionInputs {
        sizes,
        device,
        set_sizes: Callback::new(move |sizes| {
            choice.update(|choice| *choice = choice.with(sizes, in_program.get_untracked()));
        }),
    };
    let draw = move |(width, _): (f64, _)| {
        let size = (width, (width * 0.6).clamp(240.0, 420.0));
        device.with(|device| attention_growth::scene(&sizes.get(), device, size))
    };
    let legend = AttentionCount::iter().map(|count| {
        view! { <li><CurveKey count />{count.name()}</li> }
    });
    view! {
        <div class="attention">
            <div class="attention-fields" role="group" aria-label="Sizes of the attention">
                <SizeField inputs size=AttentionSize::Length />
                <SizeField inputs size=AttentionSize::Queries />
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || sizes.get().is_self
                        on:change:target=move |event| {
                            let is_self = event.target().checked();
                            inputs.set_sizes.run(sizes.get_untracked().with_self_attention(is_self));
                        }
                    />
                    <span>"Self-attention: N_q = N"</span>
                </label>
                <SizeField inputs size=AttentionSize::HeadSize />
                <SizeField inputs size=AttentionSize::OnChip />
                <SizeField inputs size=AttentionSize::Heads />
                <LoopOrderField inputs />
                <p>"Type: "{move || sizes.get().type_words(in_program.get())}</p>
                <p class="attention-buttons">
                    <button
                        type="button"
                        aria-disabled=move || sizes.get().own_on_chip_bytes.is_none().to_string()
                        on:click=move |_| {
                            let sizes = sizes.get_untracked();
                            inputs.set_sizes.run(AttentionSizes { own_on_chip_bytes: None, ..sizes });
                        }
                    >
                        {move || device.with(|device| format!("M of {}", device.name))}
                    </button>
                    <button
                        type="button"
                        aria-disabled=move || {
                            let sizes = sizes.get();
                            let is_same = |attention| sizes.of_program(attention) == sizes;
                            in_program.get().is_none_or(is_same).to_string()
                        }
                        on:click=move |_| {
                            if let Some(attention) = in_program.get_untracked() {
                                inputs.set_sizes.run(sizes.get_untracked().of_program(attention));
                            }
                        }
                    >
                        "Sizes of the program"
                    </button>
                </p>
            </div>
            <TileWalk inputs />
            <div class="attention-growth">
                <Chart id="attention" draw>
                    <ul class="legend">{legend.collect_view()}</ul>
                </Chart>
            </div>
            <Figures inputs />
            <OnlineSoftmax />
        </div>
    }
}

/// The kernel tile by tile.
#[component]
fn TileWalk(inputs: AttentionInputs) -> impl IntoView {
    let AttentionInputs { sizes, device, .. } = inputs;
    let last = Memo::new(move |_| {
        let sizes = sizes.get();
        let on_chip_bytes = device.with(|device| sizes.on_chip_bytes(device));
        Tiles::new(&sizes.shape, on_chip_bytes)
            .steps()
            .saturating_sub(1)
    });
    let player = Player::at_start(last.into(), BEAT);
    let walk = Memo::new(move |_| {
        device.with(|device| AttentionWalk::new(sizes.get(), device, player.position()))
    });
    // The scores of a row are as many as keys: they are made up once for all tiles of K.
    let query_tile = Memo::new(move |_| walk.with(|walk| walk.step.query_tile));
    let updates = Memo::new(move |_| {
        device.with(|device| row_updates(&sizes.get(), device, query_tile.get()))
    });
    let draw = move |(width, _): (f64, _)| {
        let size = (width, (width * 0.4).clamp(280.0, 370.0));
        walk.with(|walk| {
            let key_tile = usize::try_from(walk.step.key_tile).unwrap_or(usize::MAX);
            updates.with(|updates| attention_walk::scene(walk, updates.get(key_tile), size))
        })
    };
    let words = Signal::derive(move || walk.with(walk_words));
    view! {
        <div class="attention-walk">
            <PlayerBar player label="Tiles of the kernel" words />
            <Chart id="attention-walk" draw />
        </div>
    }
}

/// A box for a size, with a slider if the size has one.
#[component]
fn SizeField(
    /// The sizes that the field shows and changes.
    inputs: AttentionInputs,
    size: AttentionSize,
) -> impl IntoView {
    let AttentionInputs {
        sizes,
        device,
        set_sizes,
    } = inputs;
    let value = Memo::new(move |_| device.with(|device| sizes.get().value(size, device)));
    let enter = move |sizes: Option<AttentionSizes>| {
        if let Some(sizes) = sizes {
            set_sizes.run(sizes);
        }
    };
    let typed_id = format!("attention-{}-box", <&str>::from(size));
    let id = format!("attention-{}", <&str>::from(size));
    let slider = size.slider().map(|SliderRange { min, max, step }| {
        let place = move || device.with(|device| sizes.get().slider_place(size, device));
        view! {
            <input
                type="range"
                id=id.clone()
                aria-label=size.name()
                aria-valuetext=move || format_exact(value.get().into())
                min=min
                max=max
                step=step
                prop:value=move || place().to_string()
                on:input:target=move |event| {
                    enter(sizes.get_untracked().with_slider(size, &event.target().value()));
                }
            />
        }
    });
    let has_slider = slider.is_some();
    view! {
        <div class="slider" class:has-range=has_slider>
            <label
                for=if has_slider { id } else { typed_id.clone() }
                title=has_slider.then(|| size.name())
            >
                {size.letter()}
            </label>
            {slider}
            <input
                type="number"
                id=typed_id
                aria-label=has_slider.then(|| format!("{}, exact value", size.name()))
                inputmode="numeric"
                min="1"
                max=(!has_slider).then(|| size.max())
                step="1"
                prop:value=move || value.get().to_string()
                on:input:target=move |event| {
                    enter(sizes.get_untracked().with_typed(size, &event.target().value()));
                }
            />
        </div>
    }
}

/// The choice of the outer loop.
#[component]
fn LoopOrderField(
    /// The sizes, of which the loop order is one.
    inputs: AttentionInputs,
) -> impl IntoView {
    let option = move |order| {
        let words = loop_words(order);
        view! {
            <RadioButton
                set="attention-order"
                is_chosen=move || inputs.sizes.get().order == order
                choose=move || {
                    let sizes = inputs.sizes.get_untracked();
                    inputs.set_sizes.run(AttentionSizes { order, ..sizes });
                }
            >
                {words.name}
                " "
                <small>{words.sentence}</small>
            </RadioButton>
        }
    };
    view! {
        <fieldset>
            <legend>"Outer loop"</legend>
            {option(LoopOrder::Queries)}
            {option(LoopOrder::Keys)}
        </fieldset>
    }
}

/// Tiles, bytes and extra arithmetic.
#[component]
fn Figures(inputs: AttentionInputs) -> impl IntoView {
    let AttentionInputs { sizes, device, .. } = inputs;
    let notes = move || {
        let notes = device.with(|device| notes(&sizes.get(), device));
        let notes = notes
            .into_iter()
            .map(|note| view! { <p class="quiet">{note}</p> });
        notes.collect_view()
    };
    view! {
        <div class="attention-figures table-scroll" role="group" aria-label="Tiles and bytes" tabindex="0">
            <TileTable inputs />
            <ByteTable inputs />
            {notes}
        </div>
    }
}

/// How Q, K and V are cut.
#[component]
fn TileTable(inputs: AttentionInputs) -> impl IntoView {
    let AttentionInputs { sizes, device, .. } = inputs;
    let rows = Memo::new(move |_| device.with(|device| tile_rows(&sizes.get(), device).to_vec()));
    view! {
        <NumberTable class="attention-table">
            <caption>"Tiles"</caption>
            <thead>
                <tr>
                    <th scope="col">"tiles of"</th>
                    <th scope="col" class="number">"rows per tile"</th>
                    <th scope="col" class="number">"tiles"</th>
                </tr>
            </thead>
            <tbody>
                <ForEnumerate
                    each=move || rows.get()
                    key=|row| row.of
                    children=move |index, row| {
                        let row = row_at(rows, index, row);
                        let number = |part: fn(&TileRow) -> &Explanation| {
                            view! { <OwnNumber explanation=explanation_of(row, part) /> }
                        };
                        view! {
                            <tr>
                                <th scope="row">{move || row.with(|row| row.of)}</th>
                                <td class="number">{number(|row| &row.rows)}</td>
                                <td class="number">{number(|row| &row.count)}</td>
                            </tr>
                        }
                    }
                />
            </tbody>
        </NumberTable>
    }
}

/// The bytes by each count.
#[component]
fn ByteTable(inputs: AttentionInputs) -> impl IntoView {
    let AttentionInputs { sizes, device, .. } = inputs;
    let rows = Memo::new(move |_| device.with(|device| byte_rows(&sizes.get(), device)));
    view! {
        <NumberTable class="attention-table">
            <caption>"Bytes of one forward pass, with Q, K and V as tensors of their own"</caption>
            <thead>
                <tr>
                    <th scope="col">"count"</th>
                    <th scope="col">"elements of one head"</th>
                    <th scope="col" class="number">"bytes"</th>
                    <th scope="col" class="number" title="bytes of the three kernels / bytes of this row">"factor"</th>
                </tr>
            </thead>
            <tbody>
                <ForEnumerate
                    each=move || rows.get()
                    key=|row| row.count
                    children=move |index, row| {
                        let count = row.count;
                        let row = row_at(rows, index, row);
                        let exact = move || row.with(|row| row.bytes.exact());
                        view! {
                            <tr>
                                <th scope="row"><CurveKey count />{count.name()}</th>
                                <td>{move || row.with(|row| row.bytes.formula)}</td>
                                <td class="number" title=exact>
                                    <OwnNumber explanation=explanation_of(row, |row| &row.bytes) />
                                </td>
                                <td class="number"><OwnNumber explanation=explanation_of(row, |row| &row.factor) /></td>
                            </tr>
                        }
                    }
                />
            </tbody>
        </NumberTable>
    }
}

/// The colour of a count's curve.
#[component]
fn CurveKey(
    /// The count that the curve shows.
    count: AttentionCount,
) -> impl IntoView {
    let class = match count {
        AttentionCount::ScoresInMemory => "curve-key key-square",
        AttentionCount::TilesFetchedAnew => "curve-key key-tile",
        AttentionCount::TensorsOnce => "curve-key key-line",
    };
    view! { <span class=class aria-hidden="true"></span> }
}
