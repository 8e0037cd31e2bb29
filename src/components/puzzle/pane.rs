//! The open puzzle: its goal, par, how far the kernels are from it, and what helps, in a bar above the graph.

use super::standing::{Ranks, StandingLine};
use super::walk::WalkSteps;
use crate::app::puzzling::{MAX_HINTS, Puzzling};
use crate::app::sharing;
use crate::app::state::Page;
use crate::components::by_pointer::ByPointer;
use fuseline_browser as browser;
use fuseline_core::Objective;
use fuseline_learn::puzzle::Posed;
use fuseline_learn::puzzle::library::next;
use fuseline_learn::puzzle::source::Source;
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
        Some(Ok(posed)) => view! { <PuzzleBody puzzling posed /> }.into_any(),
        Some(Err(problem)) => view! {
            <header class="puzzle-title"><AllPuzzles puzzling /></header>
            <p class="puzzle-about">{problem}</p>
        }
        .into_any(),
        None => ().into_any(),
    };
    view! {
        <div class="puzzle" class:has-just-won=puzzling.has_just_won>
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
    let ranks = posed.ranks();
    let puzzle = &posed.puzzle;
    let device = &puzzle.page.shared.device.name;
    let goal = match puzzle.page.shared.fusion.objective {
        Objective::Bytes => format!("Least memory traffic on {device}."),
        Objective::Time | Objective::Measured => {
            format!("Least time on {device}, as the lower bound of the roofline.")
        }
    };
    view! {
        <header class="puzzle-title">
            <AllPuzzles puzzling />
            <h3 node_ref=heading tabindex="-1">{puzzle.title.clone()}</h3>
            <strong>{goal}</strong>
        </header>
        <p class="puzzle-about">
            {puzzle.about.clone()} " "
            <span class="quiet">
                <ByPointer
                    mouse="Drag a kernel onto another to merge them, or select one for its buttons. Keys: M merges, X cuts."
                    touch="Drag a kernel by its number onto another to merge them, or tap one for its buttons."
                />
            </span>
        </p>
        <StandingLine puzzling posed />
        <div class="puzzle-help">
            <Hints puzzling />
            <WalkSteps puzzling />
        </div>
        <Ranks puzzling ranks />
        <PuzzleWays puzzling />
    }
}

/// The way back to the list.
#[component]
fn AllPuzzles(
    /// The puzzles.
    puzzling: Puzzling,
) -> impl IntoView {
    view! { <button type="button" class="link-button" on:click=move |_| puzzling.close()>"All puzzles"</button> }
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
fn PuzzleWays(
    /// The puzzles.
    puzzling: Puzzling,
) -> impl IntoView {
    let page = Page::of_context();
    let following = move || {
        let puzzle = page.puzzle.get()?;
        next(puzzle.link_name())
    };
    let is_walking = move || puzzling.walk.with(Option::is_some);
    let is_done = move || puzzling.is_at_par();
    let given = move || puzzling.hints.with(Vec::len);
    let has_no_hint = move || {
        let is_open = puzzling.graded().is_some_and(|graded| !graded.is_solved());
        !is_open || given() >= MAX_HINTS
    };
    let go_on = move |_| match untrack(following) {
        Some(listed) => puzzling.open(&Source::Listed(listed)),
        None => puzzling.close(),
    };
    let share = move |_| {
        let copied = "Link to these kernels copied. Whoever opens it sees them graded again.";
        sharing::copy(page, sharing::link(page), copied);
    };
    view! {
        <footer class="puzzle-ways">
            <button
                type="button"
                title="First where to look, then the move"
                aria-disabled=move || has_no_hint().then_some("true")
                on:click=move |_| puzzling.hint()
            >
                {move || if given() == 0 { "Hint" } else { "Name the move" }}
            </button>
            <button type="button" on:click=move |_| puzzling.start_again()>"Start again"</button>
            <button
                type="button"
                aria-expanded=move || is_walking().to_string()
                on:click=move |_| if untrack(is_walking) { puzzling.end_walk() } else { puzzling.show_optimum() }
            >
                {move || if is_walking() { "Back to my kernels" } else { "Show the optimum" }}
            </button>
            <button type="button" on:click=share>"Share my solution"</button>
            <button type="button" class:is-primary=is_done on:click=go_on>
                {move || if following().is_some() { "Next puzzle" } else { "All puzzles" }}
            </button>
        </footer>
    }
}
