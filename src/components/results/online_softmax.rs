//! Online softmax on eight numbers, step by step.

use crate::components::radio_button::RadioButton;
use fuseline_browser::{Later, wants_less_motion};
use fuseline_view::present::online_softmax::{
    COUNT, CellState, METHODS, SoftmaxRun, method_name, overflow_note, reads_of, same_as_plain,
    softmax_view,
};
use leptos::prelude::*;
use std::time::Duration;

/// Between two steps while it plays.
const BEAT: Duration = Duration::from_millis(1200);

/// What the visitor does with the run.
#[derive(Clone, Copy)]
struct Player {
    run: RwSignal<SoftmaxRun>,
    is_playing: RwSignal<bool>,
    beat: Later,
}

impl Player {
    fn go(self, by: isize) {
        self.pause();
        self.run.update(|run| *run = run.moved(by));
    }

    fn pause(self) {
        self.beat.cancel();
        self.is_playing.set(false);
    }

    /// Plays from the present step, or from the start after the last one. Shows the end at once where the visitor asked for
    /// less motion.
    fn play(self) {
        if self.run.with_untracked(|run| softmax_view(run).is_last) {
            self.run.update(|run| run.done = 0);
        }
        if wants_less_motion() {
            self.go(isize::MAX);
            return;
        }
        self.is_playing.set(true);
        self.next_beat();
    }

    fn next_beat(self) {
        self.beat.call(move || {
            self.run.update(|run| *run = run.moved(1));
            if self.run.with_untracked(|run| softmax_view(run).is_last) {
                self.is_playing.set(false);
            } else {
                self.next_beat();
            }
        });
    }
}

/// Eight numbers, the way through them, the steps with their figures, and why the maximum is subtracted.
#[component]
pub fn OnlineSoftmax() -> impl IntoView {
    let run = RwSignal::new(SoftmaxRun::default());
    let player = Player {
        run,
        is_playing: RwSignal::new(false),
        beat: Later::after(BEAT),
    };
    let shown = Memo::new(move |_| run.with(softmax_view));
    let methods = METHODS.map(|method| {
        view! {
            <RadioButton
                set="softmax-method"
                is_chosen=move || run.with(|run| run.method == method)
                choose=move || {
                    player.pause();
                    run.update(|run| *run = SoftmaxRun { method, done: 0, ..*run });
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
                <Numbers player />
                <p class="softmax-state">
                    <span>{move || shown.with(|shown| shown.progress.clone())}</span>
                    <span>"running maximum m = "<b>{move || shown.with(|shown| shown.maximum.clone())}</b></span>
                    <span>"running sum l = "<b>{move || shown.with(|shown| shown.sum.clone())}</b></span>
                </p>
                <p class="attention-buttons">
                    <button
                        type="button"
                        aria-disabled=move || shown.with(|shown| shown.is_first).to_string()
                        on:click=move |_| player.go(-1)
                    >
                        "Previous"
                    </button>
                    <button
                        type="button"
                        aria-disabled=move || shown.with(|shown| shown.is_last).to_string()
                        on:click=move |_| player.go(1)
                    >
                        "Next"
                    </button>
                    <button
                        type="button"
                        aria-pressed=move || player.is_playing.get().to_string()
                        on:click=move |_| {
                            if player.is_playing.get_untracked() { player.pause() } else { player.play() }
                        }
                    >
                        "Play"
                    </button>
                </p>
                <div role="status"><ul class="softmax-formulas">{formulas}</ul></div>
                <p class="quiet">{move || run.with(same_as_plain)}</p>
                <p class="quiet">{move || run.with(overflow_note)}</p>
            </div>
        </details>
    }
}

/// The numbers, and what has been computed from each.
#[component]
fn Numbers(
    /// The run.
    player: Player,
) -> impl IntoView {
    let run = player.run;
    let shown = Memo::new(move |_| run.with(softmax_view));
    let is_in = move |place: usize, state: CellState| {
        move || shown.with(|shown| shown.cells.get(place) == Some(&state))
    };
    let cells = (0..COUNT).map(move |place| {
        let value = move || run.with(|run| run.row.get(place).map(f64::to_string));
        view! {
            <td
                class:is-read=is_in(place, CellState::Read)
                class:is-done=is_in(place, CellState::Done)
            >
                <input
                    type="number"
                    step="any"
                    aria-label=format!("number {}", place + 1)
                    prop:value=value
                    on:change:target=move |event| {
                        let field = event.target();
                        if let Some(changed) = run.get_untracked().with_number(place, &field.value()) {
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
