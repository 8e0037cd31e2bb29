//! Online softmax on eight numbers, step by step.

use crate::components::player::{Player, PlayerBar};
use crate::components::radio_button::RadioButton;
use fuseline_view::present::online_softmax::{
    COUNT, CellState, METHODS, SoftmaxRun, SoftmaxView, method_name, overflow_note, reads_of,
    same_as_plain, softmax_view,
};
use leptos::prelude::*;
use std::time::Duration;

/// Between two steps while it plays.
const BEAT: Duration = Duration::from_millis(1200);

/// Eight numbers, the way through them, the steps with their figures, and why the maximum is
/// subtracted.
#[component]
pub fn OnlineSoftmax() -> impl IntoView {
    let run = RwSignal::new(SoftmaxRun::default());
    let last = Signal::derive(move || run.with(|run| run.steps().len() as u64));
    let player = Player::at_start(last, BEAT);
    let shown = Memo::new(move |_| {
        let done = usize::try_from(player.position()).unwrap_or(usize::MAX);
        run.with(|run| softmax_view(run, done))
    });
    let words = Signal::derive(move || format!("step {} of {}", player.position(), last.get()));
    let methods = METHODS.map(|method| {
        view! {
            <RadioButton
                set="softmax-method"
                is_chosen=move || run.with(|run| run.method == method)
                choose=move || {
                    player.go_to(0);
                    run.update(|run| run.method = method);
                }
            >
                {method_name(method)}
            </RadioButton>
        }
    });
    let formulas = move || {
        let formulas = shown.with(|shown| shown.formulas.clone());
        let lines = formulas.into_iter().map(|formula| {
            view! { <li class:is-rescaling=formula.is_rescaling>{formula.text}</li> }
        });
        lines.collect_view()
    };
    view! {
        <details class="online-softmax">
            <summary>"Online softmax, step by step"</summary>
            <div>
                <fieldset>
                    <legend>"Way through the row"</legend>
                    {methods}
                    <p class="quiet">{move || run.with(|run| reads_of(run.method))}</p>
                </fieldset>
                <Numbers run shown />
                <p class="softmax-state">
                    <span>"running maximum m = "<b>{move || shown.with(|shown| shown.maximum.clone())}</b></span>
                    <span>"running sum l = "<b>{move || shown.with(|shown| shown.sum.clone())}</b></span>
                </p>
                <PlayerBar player label="Steps of the softmax" words />
                <div role="status"><ul class="softmax-formulas">{formulas}</ul></div>
                <p class="quiet">{move || run.with(same_as_plain)}</p>
                <p class="quiet">{move || run.with(overflow_note)}</p>
            </div>
        </details>
    }
}

/// The numbers, and what has been computed from each.
#[component]
fn Numbers(run: RwSignal<SoftmaxRun>, shown: Memo<SoftmaxView>) -> impl IntoView {
    let is_in = move |index: usize, state: CellState| {
        move || shown.with(|shown| shown.cells.get(index) == Some(&state))
    };
    let cells = (0..COUNT).map(move |index| {
        let value = move || run.with(|run| run.row.get(index).map(f64::to_string));
        view! {
            <td
                class:is-read=is_in(index, CellState::Read)
                class:is-done=is_in(index, CellState::Done)
            >
                <input
                    type="number"
                    step="any"
                    aria-label=format!("number {}", index + 1)
                    prop:value=value
                    on:change:target=move |event| {
                        let field = event.target();
                        if let Some(changed) = run.get_untracked().with_number(index, &field.value()) {
                            run.set(changed);
                        }
                        // Shows the present number again if the typed one was refused.
                        field.set_value(&value().unwrap_or_default());
                    }
                />
            </td>
        }
    });
    let terms = (0..COUNT).map(move |place| {
        let term = move || shown.with(|shown| shown.terms.get(place).cloned());
        view! {
            <td class:is-read=is_in(place, CellState::Read)>{term}</td>
        }
    });
    view! {
        <div class="table-scroll" role="group" aria-label="The row" tabindex="0">
            <table class="softmax-row">
                <tbody>
                    <tr><th scope="row">"x"</th>{cells.collect_view()}</tr>
                    <tr><th scope="row">"exp(x − m)"</th>{terms.collect_view()}</tr>
                </tbody>
            </table>
        </div>
    }
}
