//! The *Precision* tab: where rounding happens, unfused and fused, shown with numbers.

use crate::app::analysed::AnalysedText;
use crate::app::state::Page;
use crate::components::keyed_rows::{explanation_of, row_at};
use crate::components::number::{NumberTable, OwnNumber};
use crate::components::seed_input::SeedInput;
use crate::components::sentence::sentence;
use fuseline_codegen::interpret::{Interpretation, NotRun, Setup, interpret};
use fuseline_core::TensorId;
use fuseline_view::present::names::counted;
use fuseline_view::present::precision::{
    PrecisionRow, not_run_text, number_rows, precision_row_count, precision_rows,
    precision_sentence, roundings, run_notes,
};
use leptos::prelude::*;
use std::sync::Arc;

/// Number of rows that are listed.
const MAX_ROWS: usize = 200;

/// A run and the program that it is of.
#[derive(Clone)]
struct Ran {
    of: Arc<AnalysedText>,
    setup: Setup,
    result: Result<Arc<Interpretation>, NotRun>,
}

/// Sentences, the table of tensors, and some numbers of the chosen one.
#[component]
pub fn PrecisionView(
    /// The seed and the sizes.
    setup: RwSignal<Setup>,
) -> impl IntoView {
    let page = Page::of_context();
    // Costly: while a slider is held, the last run stays.
    let ran = Memo::new_with_compare(
        move |last: Option<&Ran>| {
            let is_held = page.slider.is_held();
            if let Some(last) = last.filter(|_| is_held) {
                return last.clone();
            }
            let (of, setup) = (page.shown.get(), setup.get());
            if let Some(last) =
                last.filter(|last| Arc::ptr_eq(&last.of, &of) && last.setup == setup)
            {
                return last.clone();
            }
            let result = interpret(of.program(), of.partition(), &setup).map(Arc::new);
            Ran { of, setup, result }
        },
        |a, b| match (a, b) {
            (Some(a), Some(b)) => !Arc::ptr_eq(&a.of, &b.of) || a.setup != b.setup,
            _ => true,
        },
    );
    let in_run = move |tell: fn(&Interpretation, &Ran) -> Vec<String>| {
        move || {
            ran.with(|ran| {
                ran.result
                    .as_ref()
                    .map_or_else(|_| Vec::new(), |done| tell(done, ran))
            })
        }
    };
    let chosen = RwSignal::new(None::<String>);
    let shown_tensor = Memo::new(move |_| {
        ran.with(|ran| {
            let done = ran.result.as_ref().ok()?;
            let named = chosen.with(|name| done.tensor_named(name.as_ref()?));
            let with_value = named.filter(|&tensor| done.tensors[tensor].is_some());
            with_value.or_else(|| done.result())
        })
    });
    let head = move || {
        ran.with(|ran| match &ran.result {
            Ok(done) => precision_sentence(done),
            Err(refused) => not_run_text(refused),
        })
    };
    let notes = in_run(|done, ran| run_notes(done, &ran.setup));
    let by_kernel = in_run(|done, ran| roundings(done, ran.of.partition(), MAX_ROWS));
    let has_run = Memo::new(move |_| ran.with(|ran| ran.result.is_ok()));
    let choose = Callback::new(move |tensor: TensorId| {
        let name = ran.with_untracked(|ran| {
            let done = ran.result.as_ref().ok()?;
            Some(done.graph.tensor_name(tensor).to_owned())
        });
        chosen.set(name);
    });
    view! {
        <div class="precision">
            <div>
                <p class="precision-head" role="status">{move || sentence(&head())}</p>
                <Controls setup ran />
                {move || notes().iter().map(|note| view! { <p class="quiet">{sentence(note)}</p> }).collect_view()}
            </div>
            <Show when=move || has_run.get()>
                <Numbers ran shown_tensor />
                <Tensors ran shown_tensor choose />
                <details>
                    <summary>"Where each kernel rounds"</summary>
                    <ul>
                        {move || by_kernel().iter().map(|words| view! { <li>{sentence(words)}</li> }).collect_view()}
                    </ul>
                </details>
            </Show>
        </div>
    }
}

/// The seed, and a size for each param.
#[component]
fn Controls(
    /// What they change.
    setup: RwSignal<Setup>,
    /// Which sizes were run.
    ran: Memo<Ran>,
) -> impl IntoView {
    let seed = Memo::new(move |_| setup.with(|setup| setup.seed));
    let params = Memo::new(move |_| {
        let names = |ran: &Ran| {
            let params = ran.of.parsed.program.params.iter();
            params
                .map(|param| param.name.text.clone())
                .collect::<Vec<_>>()
        };
        ran.with(names)
    });
    let has_own = move || setup.with(|setup| !setup.sizes.is_empty());
    view! {
        <div class="precision-controls" role="group" aria-label="Numbers of the run">
            <label>
                "seed "
                <SeedInput seed=seed.into() choose=move |seed| setup.update(|setup| setup.seed = seed) />
            </label>
            <For each=move || params.get() key=Clone::clone let:name>
                <SizeField setup ran name />
            </For>
            <button type="button" on:click=move |_| setup.update(|setup| setup.seed = setup.seed.wrapping_add(1))>
                "Use other numbers"
            </button>
            <button
                type="button"
                aria-disabled=move || (!has_own()).to_string()
                on:click=move |_| setup.update(|setup| setup.sizes.clear())
            >
                "Choose sizes for me"
            </button>
        </div>
    }
}

/// The value that a param has in the run.
#[component]
fn SizeField(
    /// What it changes.
    setup: RwSignal<Setup>,
    /// Which sizes were run.
    ran: Memo<Ran>,
    name: String,
) -> impl IntoView {
    let value = Memo::new({
        let name = name.clone();
        move |_| {
            let own = setup.with(|setup| setup.sizes.get(&name).copied());
            let run = ran.with(|ran| {
                let done = ran.result.as_ref().ok()?;
                let size = done.sizes.iter().find(|size| size.0 == name)?;
                Some(size.1)
            });
            own.or(run)
                .map_or_else(String::new, |value| value.to_string())
        }
    });
    let label = format!("{name} ");
    view! {
        <label>
            {label}
            <input
                type="number"
                min="1"
                step="1"
                inputmode="numeric"
                prop:value=value
                on:change:target=move |event| {
                    let typed = event.target().value().parse().ok().filter(|&size: &i64| size > 0);
                    setup.update(|setup| {
                        match typed {
                            Some(size) => setup.sizes.insert(name.clone(), size),
                            None => setup.sizes.remove(&name),
                        };
                    });
                }
            />
        </label>
    }
}

/// A row for each tensor.
#[component]
fn Tensors(
    ran: Memo<Ran>,
    /// The tensor whose numbers are shown.
    shown_tensor: Memo<Option<TensorId>>,
    /// Shows those of another one.
    choose: Callback<TensorId>,
) -> impl IntoView {
    let rows = Memo::new(move |_| {
        ran.with(|ran| {
            let done = ran.result.as_ref().ok()?;
            Some(precision_rows(done, ran.of.partition(), MAX_ROWS))
        })
        .unwrap_or_default()
    });
    let hidden_count = Memo::new(move |_| {
        let count = ran.with(|ran| {
            ran.result
                .as_ref()
                .map_or(0, |done| precision_row_count(done))
        });
        count.saturating_sub(MAX_ROWS)
    });
    view! {
        <div class="table-scroll precision-tensors" role="group" aria-label="Rounding of each tensor" tabindex="0">
            <NumberTable class="kernels precision-table row-lines">
                <thead>
                    <tr>
                        <th scope="col">"tensor"</th>
                        <th scope="col">"type"</th>
                        <th scope="col">"unfused"</th>
                        <th scope="col">"fused"</th>
                        <th scope="col" class="number">"error unfused"</th>
                        <th scope="col" class="number">"error fused"</th>
                        <th scope="col" class="number" title="error unfused / error fused">"ratio"</th>
                    </tr>
                </thead>
                <tbody>
                    <ForEnumerate
                        each=move || rows.get()
                        key=|row| row.tensor
                        children=move |index, row| {
                            let tensor = row.tensor;
                            let is_chosen = Signal::derive(move || shown_tensor.get() == Some(tensor));
                            view! { <Row row=row_at(rows, index, row) is_chosen choose /> }
                        }
                    />
                </tbody>
            </NumberTable>
            <Show when=move || { hidden_count.get() > 0 }>
                <p class="quiet">{move || format!("and {}", counted(hidden_count.get(), "more tensor"))}</p>
            </Show>
        </div>
    }
}

/// A tensor. Its button shows its numbers.
#[component]
fn Row(
    /// The text of the row.
    row: Memo<PrecisionRow>,
    /// Whether its numbers are shown.
    is_chosen: Signal<bool>,
    /// Shows them.
    choose: Callback<TensorId>,
) -> impl IntoView {
    let page = Page::of_context();
    let text = move |part: fn(&PrecisionRow) -> &String| move || row.with(|row| part(row).clone());
    let kernel_class = move || {
        format!(
            "kernel-row {}",
            page.kernel_class(row.with(|row| row.kernel))
        )
    };
    view! {
        <tr class=kernel_class class:is-selected=is_chosen on:click=move |_| choose.run(row.with_untracked(|row| row.tensor))>
            <th scope="row">
                // Its click bubbles to the row.
                <button type="button" aria-pressed=move || is_chosen.get().to_string() title="Show its numbers">
                    {text(|row| &row.name)}
                </button>
            </th>
            <td>{move || row.with(|row| row.dtype)}</td>
            <td>{text(|row| &row.unfused)}</td>
            <td><span class:is-kept=move || row.with(|row| row.is_kept)>{text(|row| &row.fused)}</span></td>
            <td class="number" title=text(|row| &row.largest)>
                <OwnNumber explanation=explanation_of(row, |row| &row.unfused_error) />
            </td>
            <td class="number" title=text(|row| &row.largest)>
                <OwnNumber explanation=explanation_of(row, |row| &row.fused_error) />
            </td>
            <td class="number"><OwnNumber explanation=explanation_of(row, |row| &row.ratio) /></td>
        </tr>
    }
}

/// The first elements of the chosen tensor.
#[component]
fn Numbers(
    ran: Memo<Ran>,
    /// The chosen tensor, or the result.
    shown_tensor: Memo<Option<TensorId>>,
) -> impl IntoView {
    let rows = Memo::new(move |_| {
        ran.with(|ran| {
            let done = ran.result.as_ref().ok()?;
            Some(number_rows(done, shown_tensor.get()?))
        })
        .unwrap_or_default()
    });
    let name = move || {
        ran.with(|ran| {
            let done = ran.result.as_ref().ok()?;
            Some(format!(
                "`{}`",
                done.graph.tensor_name(shown_tensor.get()?).replace('`', "")
            ))
        })
        .unwrap_or_default()
    };
    view! {
        <div class="table-scroll" role="group" aria-label="Numbers of the chosen tensor" tabindex="0">
            <NumberTable class="kernels precision-numbers row-lines">
                <caption>{move || sentence(&format!("First numbers of {}", name()))}</caption>
                <thead>
                    <tr>
                        <th scope="col" class="number">"#"</th>
                        <th scope="col" class="number">"exact"</th>
                        <th scope="col" class="number">"unfused"</th>
                        <th scope="col" class="number">"fused"</th>
                    </tr>
                </thead>
                <tbody>
                    <ForEnumerate
                        each=move || rows.get()
                        key=|row| row.place
                        children=move |index, row| {
                            let row = row_at(rows, index, row);
                            view! {
                                <tr>
                                    <td class="number">{move || row.with(|row| row.place)}</td>
                                    <td class="number"><OwnNumber explanation=explanation_of(row, |row| &row.exact) /></td>
                                    <td class="number"><OwnNumber explanation=explanation_of(row, |row| &row.unfused) /></td>
                                    <td class="number"><OwnNumber explanation=explanation_of(row, |row| &row.fused) /></td>
                                </tr>
                            }
                        }
                    />
                </tbody>
            </NumberTable>
        </div>
    }
}
