//! The *Tiling* tab: a matmul in tiles, what they read and how they fill the device, and what may
//! follow in a tile.

use crate::app::state::Page;
use crate::components::charts::Chart;
use crate::components::keyed_rows::{explanation_of, row_at};
use crate::components::number::{NumberTable, OwnNumber};
use crate::components::picker::Picker;
use crate::components::player::{Player, PlayerBar};
use crate::components::radio_button::RadioButton;
use crate::components::sentence::sentence;
use fuseline_core::analysis::tiling::{BlockTile, GROUPS, Tiled};
use fuseline_view::picture::charts::scene::Scene;
use fuseline_view::picture::charts::tiling as picture;
use fuseline_view::present::tiling::{
    FigureGroup, FigureRow, MatmulChoice, TileSide, TilingChoice, TilingReport, figure_groups,
    fit_rows, matmul_choices, no_tiles, order_words, progress_words, suggestion,
};
use leptos::prelude::*;
use std::time::Duration;
use strum::IntoEnumIterator;

/// From one step to the next while the waves play.
const BEAT: Duration = Duration::from_millis(100);

/// The choice of a matmul and a tile, the picture, figures, and what follows.
#[component]
pub fn TilingView(
    /// What the visitor chose, kept while the tab is closed.
    choice: RwSignal<TilingChoice>,
) -> impl IntoView {
    let page = Page::of_context();
    let report = Memo::new(move |_| {
        let selected = page.selected_kernel();
        (page.analysis)
            .with(|analysis| choice.with(|choice| TilingReport::new(analysis, choice, selected)))
    });
    let none =
        move || view! { <p class="quiet panel-note">{page.analysis.with(|a| no_tiles(a))}</p> };
    let of_tiled = move |with: fn(&Tiled) -> u64| {
        report.with(|report| report.as_ref().map_or(0, |report| with(&report.tiled)))
    };
    let last = Memo::new(move |_| of_tiled(Tiled::positions));
    let player = Player::at_end(last.into(), BEAT);
    let draw = move |(width, _): (f64, _)| {
        let size = (width, (width * 0.8).clamp(240.0, 520.0));
        let at = player.position();
        report.with(|report| {
            report.as_ref().map_or_else(Scene::default, |report| {
                page.analysis.with(|a| picture::scene(a, report, at, size))
            })
        })
    };
    let words = Signal::derive(move || {
        report
            .with(|report| {
                let report = report.as_ref()?;
                Some(progress_words(&report.tiled, player.position()))
            })
            .unwrap_or_default()
    });
    view! {
        <Show when=move || report.with(Option::is_some) fallback=none>
            <div class="tiling">
                <Fields choice report />
                <div class="tiling-picture">
                    <PlayerBar player label="Waves and steps along K" words />
                    <Chart id="tiling" draw><Legend /></Chart>
                </div>
                <div class="tiling-side">
                    <Followers report />
                    <Figures report />
                </div>
            </div>
        </Show>
    }
}

/// The matmul, the sides of the tile and the order of the tiles.
#[component]
fn Fields(choice: RwSignal<TilingChoice>, report: Memo<Option<TilingReport>>) -> impl IntoView {
    let page = Page::of_context();
    let options = Memo::new(move |_| page.analysis.with(|a| matmul_choices(a)));
    let name = Memo::new(move |_| {
        let op = report.with(|report| report.as_ref().map(|report| report.tiled.matmul.op));
        page.analysis.with(|a| {
            let op = op.and_then(|op| a.graph.ops.get(op));
            op.map_or_else(String::new, |op| op.name.clone())
        })
    });
    let option = move || {
        let chosen = name.get();
        let option = |of: MatmulChoice| {
            let is_chosen = of.name == chosen;
            view! { <option value=of.name prop:selected=is_chosen>{of.label}</option> }
        };
        options.get().into_iter().map(option).collect_view()
    };
    let suggested = move || report.with(|report| report.as_ref().map(|r| suggestion(&r.best)));
    let is_library = move || choice.with(|choice| choice.tile.is_none());
    let best = move || report.with(|report| report.as_ref().map(|report| report.best.tile));
    let is_best =
        move || best() == report.with(|report| report.as_ref().map(|report| report.tiled.tile));
    view! {
        <div class="tiling-fields" role="group" aria-label="The matmul and its tile">
            <Picker
                label="Matmul"
                has_long_names=true
                value=name
                choose=move |name| choice.update(|choice| choice.matmul = Some(name))
            >
                {option}
            </Picker>
            {TileSide::iter().map(|side| view! { <SideField side choice report /> }).collect_view()}
            <fieldset>
                <legend>"Order of the tiles"</legend>
                {GROUPS
                    .map(|group| {
                        view! {
                            <RadioButton
                                set="tiling-order"
                                is_chosen=move || choice.with(|choice| choice.group_rows == group)
                                choose=move || choice.update(|choice| choice.group_rows = group)
                            >
                                {order_words(group).name}
                                " "
                                <small>{order_words(group).sentence}</small>
                            </RadioButton>
                        }
                    })}
            </fieldset>
            <p class="quiet">{suggested}</p>
            <p class="tiling-buttons">
                <button
                    type="button"
                    aria-disabled=move || is_best().to_string()
                    on:click=move |_| choice.update(|choice| choice.tile = untrack(best))
                >
                    "Use the suggested tile"
                </button>
                <button
                    type="button"
                    aria-disabled=move || is_library().to_string()
                    on:click=move |_| choice.update(|choice| choice.tile = None)
                >
                    "Use the library's tile"
                </button>
            </p>
        </div>
    }
}

/// A slider over the powers of two.
#[component]
fn SideField(
    side: TileSide,
    choice: RwSignal<TilingChoice>,
    report: Memo<Option<TilingReport>>,
) -> impl IntoView {
    let tile = Memo::new(move |_| {
        let tile = |report: &TilingReport| report.tiled.tile;
        report.with(|report| report.as_ref().map(tile))
    });
    let of_tile = move |part: fn(TileSide, BlockTile) -> String| {
        move || tile.get().map(|tile| part(side, tile))
    };
    let id = format!("tile-{}", <&str>::from(side));
    let value = of_tile(|side, tile| side.of(tile).to_string());
    view! {
        <div class="slider has-range">
            <label for=id.clone() title=side.name()>{side.letters()}</label>
            <input
                type="range"
                id=id
                aria-label=side.name()
                aria-valuetext=value
                min="0"
                max=TileSide::last_place()
                step="1"
                prop:value=of_tile(|side, tile| side.place(tile).to_string())
                on:input:target=move |event| {
                    let place = event.target().value();
                    if let Some(moved) = tile.get_untracked().and_then(|tile| side.moved(tile, &place)) {
                        choice.update(|choice| choice.tile = Some(moved));
                    }
                }
            />
            <span class="number" aria-hidden="true">{value}</span>
        </div>
    }
}

/// What the marks of the picture mean.
#[component]
fn Legend() -> impl IntoView {
    view! {
        <ul class="legend">
            <li><span class="key key-tile-frame" aria-hidden="true"></span>"one tile and its strips"</li>
            <li><span class="key key-tile-step" aria-hidden="true"></span>"BK, one step"</li>
            <li><span class="key key-wave-strip" aria-hidden="true"></span>"strips of the first wave"</li>
            <li><span class="key key-tile-waste" aria-hidden="true"></span>"computed for nothing"</li>
            <li><span class="key key-tile-needs" aria-hidden="true"></span>"needed, but not in the tile"</li>
        </ul>
    }
}

/// What follows the matmul, and whether it runs on the tile.
#[component]
fn Followers(report: Memo<Option<TilingReport>>) -> impl IntoView {
    let page = Page::of_context();
    let rows = Memo::new(move |_| {
        report.with(|report| {
            let report = report.as_ref()?;
            Some(page.analysis.with(|a| fit_rows(a, report)))
        })
    });
    let rows = move || {
        let rows = rows.get().unwrap_or_default();
        if rows.is_empty() {
            return view! { <p class="quiet">"Nothing follows this matmul."</p> }.into_any();
        }
        let rows = rows.into_iter().map(|row| {
            view! {
                <li class:is-refused=row.is_refused>
                    <b>{row.op}</b>
                    " "
                    <em>{row.verdict}</em>
                    ". "
                    {sentence(&row.reason)}
                </li>
            }
        });
        view! { <ul class="tiling-followers">{rows.collect_view()}</ul> }.into_any()
    };
    view! {
        <section aria-label="Ops after the matmul">
            <h3>"Ops after the matmul"</h3>
            <div role="status">{rows}</div>
        </section>
    }
}

/// The figures with their formulas.
#[component]
fn Figures(report: Memo<Option<TilingReport>>) -> impl IntoView {
    let page = Page::of_context();
    let groups = Memo::new(move |_| {
        report.with(|report| {
            let groups = |report: &TilingReport| {
                page.analysis
                    .with(|analysis| figure_groups(analysis, &report.tiled))
            };
            report.as_ref().map(groups).into_iter().flatten().collect()
        })
    });
    view! {
        <div class="table-scroll" role="group" aria-label="Figures of the tiles" tabindex="0">
            <NumberTable class="tiling-figures">
                <caption>"Figures of this tile"</caption>
                <ForEnumerate
                    each=move || groups.get()
                    key=|group: &FigureGroup| group.title
                    children=move |index, group| {
                        let group = row_at(groups, index, group);
                        view! { <Group group /> }
                    }
                />
            </NumberTable>
        </div>
    }
}

/// Figures that belong together.
#[component]
fn Group(group: Memo<FigureGroup>) -> impl IntoView {
    let rows = Memo::new(move |_| group.with(|group| group.rows.clone()));
    view! {
        <tbody>
            <tr>
                <th scope="rowgroup" colspan="2" class="tiling-group">{move || group.with(|group| group.title)}</th>
            </tr>
            <ForEnumerate
                each=move || rows.get()
                key=|row| row.explanation.title.clone()
                children=move |index, row| {
                    let row = row_at(rows, index, row);
                    let text = move |part: fn(&FigureRow) -> &str| move || row.with(|row| part(row).to_owned());
                    view! {
                        <tr class:is-excess=move || row.with(|row| row.is_excess)>
                            <th scope="row">
                                {text(|row| &row.explanation.title)} <small>{text(|row| row.explanation.formula)}</small>
                            </th>
                            <td>{text(|row| &row.before)}<OwnNumber explanation=explanation_of(row, |row| &row.explanation) />{text(|row| &row.after)}</td>
                        </tr>
                    }
                }
            />
        </tbody>
    }
}
