//! The open puzzle: its goal, par, how far the kernels are from it, and what helps.

use super::walk::WalkSteps;
use crate::app::puzzling::Puzzling;
use crate::app::sharing;
use crate::app::state::{Page, Told};
use crate::components::announcer::Announcer;
use crate::components::by_pointer::ByPointer;
use crate::components::number::Number;
use fuseline_browser as browser;
use fuseline_core::Objective;
use fuseline_core::fusion::certificate::Amount;
use fuseline_learn::puzzle::Posed;
use fuseline_learn::puzzle::library::next;
use fuseline_learn::puzzle::standing::{Graded, Standing, amount_text};
use fuseline_view::present::figure::{Figure, Of, Quantity};
use leptos::html;
use leptos::prelude::*;
use std::sync::Arc;

/// The open puzzle.
#[component]
pub fn PuzzlePane() -> impl IntoView {
    let Some(puzzling) = Puzzling::of_context() else {
        return ().into_any();
    };
    let body = move || match puzzling.posed.get() {
        Some(posed) => view! { <PuzzleBody puzzling posed /> }.into_any(),
        None => view! { <p>"This puzzle could not be read."</p> }.into_any(),
    };
    view! {
        <div class="lesson puzzle">
            {body}
        </div>
    }
    .into_any()
}

/// The puzzle with its par.
#[component]
fn PuzzleBody(
    /// The puzzles.
    puzzling: Puzzling,
    /// The open one.
    posed: Arc<Posed>,
) -> impl IntoView {
    let heading = NodeRef::<html::H3>::new();
    // Who opens a puzzle reads it next: with a screen reader, too.
    heading.on_load(move |_| browser::focus(heading));
    let puzzle = &posed.puzzle;
    let goal = match puzzle.page.shared.fusion.objective {
        Objective::Bytes => "Bring the memory traffic down to par.",
        Objective::Time | Objective::Measured => {
            "Bring the time down to par. The time is the lower bound of the roofline."
        }
    };
    let device = puzzle.page.shared.device.name.to_string();
    let words = Memo::new(move |_| match puzzling.standing.get() {
        Some(Standing::Graded(graded)) => graded.words(),
        Some(Standing::Ungraded(words)) => words,
        None => "The text has no program.".to_owned(),
    });
    view! {
        <header class="lesson-head">
            <button type="button" class="link-button" on:click=move |_| puzzling.close()>"All puzzles"</button>
            <h3 node_ref=heading tabindex="-1">{puzzle.title.clone()}</h3>
        </header>
        <div class="lesson-body">
            <p>{puzzle.about.clone()}</p>
            <p><strong>{goal}</strong>{format!(" Device: {device}.")}</p>
            <Distance puzzling posed=posed.clone() words />
            <Announcer text=words />
            <Hints puzzling />
            <WalkSteps puzzling />
            <p class="quiet">
                <ByPointer
                    mouse="Drag a kernel of the graph onto another to merge them, or select one for its buttons. By keyboard: M merges, X cuts before an op."
                    touch="Drag a kernel of the graph by its number onto another to merge them, or tap one for its buttons."
                />
            </p>
        </div>
        <PuzzleFoot puzzling />
    }
}

/// Par, the present figure, and the way between.
#[component]
fn Distance(
    /// The puzzles.
    puzzling: Puzzling,
    /// The open one.
    posed: Arc<Posed>,
    /// The distance in words.
    words: Memo<String>,
) -> impl IntoView {
    let graded = move || match puzzling.standing.get() {
        Some(Standing::Graded(graded)) => Some(graded),
        _ => None,
    };
    let is_ungraded = move || matches!(puzzling.standing.get(), Some(Standing::Ungraded(_)));
    let is_solved = move || graded().is_some_and(|graded: Graded| graded.is_solved());
    let is_graded = move || graded().is_some();
    let now = move || graded().map(|graded| amount_text(graded.cost));
    let quantity = match posed.par {
        Amount::Bytes(_) => Quantity::Bytes,
        Amount::Seconds(_) => Quantity::LowerBound,
    };
    let start = StoredValue::new(amount_text(posed.start));
    let par = amount_text(posed.par);
    let told_par = Told::own(move || Some(posed.par_explanation()));
    let gone_pct = move || graded().map_or(0.0, |graded| graded.gone_pct).to_string();
    view! {
        <div class="puzzle-standing" class:is-solved=is_solved>
            <dl>
                <div>
                    <dt>"Start"</dt>
                    <dd>
                        <Show when=is_graded fallback=move || start.get_value()>
                            <Number told=Figure::unfused(Of::Program, quantity)>{start.get_value()}</Number>
                        </Show>
                    </dd>
                </div>
                <div>
                    <dt>"Now"</dt>
                    <dd>
                        <Show when=is_graded fallback=|| "–">
                            <Number told=Figure::fused(Of::Program, quantity)>{now}</Number>
                        </Show>
                    </dd>
                </div>
                <div><dt>"Par"</dt><dd><Number told=told_par>{par}</Number></dd></div>
            </dl>
            <progress max="100" value=gone_pct aria-label="From the start to par"></progress>
            <p class="puzzle-words">{words}</p>
            <Show when=is_ungraded>
                <button type="button" on:click=move |_| puzzling.restore_choices()>"Restore the puzzle's choices"</button>
            </Show>
        </div>
    }
}

/// The hints that were asked for.
#[component]
fn Hints(
    /// The puzzles.
    puzzling: Puzzling,
) -> impl IntoView {
    let rows = move || {
        let hints = puzzling.hints.get().into_iter();
        hints.map(|hint| view! { <li>{hint}</li> }).collect_view()
    };
    view! { <ol class="puzzle-hints" role="list" aria-label="Hints" aria-live="polite">{rows}</ol> }
}

/// What can be done.
#[component]
fn PuzzleFoot(
    /// The puzzles.
    puzzling: Puzzling,
) -> impl IntoView {
    let page = Page::of_context();
    let following = move || page.puzzle.get().and_then(next);
    let is_walking = move || puzzling.walk.with(Option::is_some);
    let is_done = move || match puzzling.standing.get() {
        Some(Standing::Graded(graded)) => graded.is_solved(),
        _ => false,
    };
    let has_no_hint = move || !matches!(puzzling.standing.get(), Some(Standing::Graded(graded)) if !graded.is_solved());
    let go_on = move |_| match untrack(following) {
        Some(listed) => puzzling.open(listed),
        None => puzzling.close(),
    };
    let share = move |_| {
        browser::spawn(async move {
            match sharing::link(page).await {
                Err(problem) => page.tell_failure(problem),
                Ok(link) if browser::copy(&link).await => {
                    page.tell(
                        "Link to your solution copied. It opens the puzzle with these kernels.",
                    );
                }
                Ok(link) => page.tell(format!("Copy this link: {link}")),
            }
        });
    };
    view! {
        <footer class="lesson-foot">
            <div class="lesson-ways">
                <button
                    type="button"
                    aria-disabled=move || has_no_hint().then_some("true")
                    on:click=move |_| puzzling.hint()
                >
                    "Hint"
                </button>
                <button
                    type="button"
                    aria-expanded=move || is_walking().to_string()
                    on:click=move |_| if untrack(is_walking) { puzzling.end_walk() } else { puzzling.show_optimum() }
                >
                    {move || if is_walking() { "Back to my kernels" } else { "Show the optimum" }}
                </button>
                <button type="button" class:is-primary=is_done on:click=go_on>
                    {move || if following().is_some() { "Next puzzle" } else { "All puzzles" }}
                </button>
            </div>
            <div class="lesson-file">
                <button type="button" class="link-button" on:click=move |_| puzzling.start_again()>"Start again"</button>
                <button type="button" class="link-button" on:click=share>"Share my solution"</button>
            </div>
        </footer>
    }
}
