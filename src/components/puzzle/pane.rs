//! The open puzzle: its goal, par, how far the kernels are from it, and what helps, in a bar above
//! the graph.

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
use fuseline_learn::puzzle::source::PuzzleSource;
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
        <div class="puzzle" class:has-just-won=puzzling.has_just_won lang=move || puzzling.language().tag()>
            {body}
        </div>
    }
    .into_any()
}

/// The puzzle with its par.
#[component]
fn PuzzleBody(puzzling: Puzzling, posed: Arc<Posed>) -> impl IntoView {
    let heading = NodeRef::<html::H3>::new();
    // A visitor who opens a puzzle reads it next: with a screen reader, too.
    heading.on_load(move |_| browser::focus(heading));
    let ranks = posed.ranks();
    let puzzle = &posed.puzzle;
    let words = puzzle.language();
    let lang = puzzle.lang.as_str().to_owned();
    let device = &puzzle.page.shared.device.name;
    let goal = match puzzle.page.shared.fusion.objective {
        Objective::Bytes => words.least_traffic(device),
        Objective::Time | Objective::Measured => words.least_time(device),
    };
    view! {
        <header class="puzzle-title">
            <AllPuzzles puzzling />
            <h3 node_ref=heading tabindex="-1" lang=lang.clone()>{puzzle.title.clone()}</h3>
            <strong>{goal}</strong>
        </header>
        <p class="puzzle-about">
            <span lang=lang>{puzzle.about.clone()}</span> " "
            <span class="quiet">
                <ByPointer mouse=words.by_mouse() touch=words.by_touch() />
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
fn AllPuzzles(puzzling: Puzzling) -> impl IntoView {
    view! { <button type="button" class="link-button" on:click=move |_| puzzling.close()>{move || puzzling.language().all_puzzles()}</button> }
}

/// The hints that were asked for.
#[component]
fn Hints(puzzling: Puzzling) -> impl IntoView {
    let rows = move || {
        let hints = puzzling.hints.get().into_iter();
        // The engine gives hints in English.
        hints
            .map(|hint| view! { <li lang="en">{hint}</li> })
            .collect_view()
    };
    view! { <ol class="puzzle-hints" role="list" aria-label=move || puzzling.language().hints() aria-live="polite">{rows}</ol> }
}

/// What can be done.
#[component]
fn PuzzleWays(puzzling: Puzzling) -> impl IntoView {
    let page = Page::of_context();
    let words = move || puzzling.language();
    let following = move || {
        let puzzle = page.screen.puzzle.get()?;
        next(puzzle.link_name())
    };
    let is_walking = move || puzzling.walk.with(Option::is_some);
    let is_done = move || puzzling.is_at_par();
    let given = move || puzzling.hints.with(Vec::len);
    let has_no_hint = move || {
        let is_open = puzzling.graded().is_some_and(|graded| !graded.is_solved());
        !is_open || given() >= MAX_HINTS
    };
    // *All puzzles* stands at the top.
    let go_on = move || {
        let listed = following()?;
        let open = move |_| puzzling.open(&PuzzleSource::Listed(listed));
        Some(view! {
            <button type="button" class:is-primary=is_done on:click=open>{move || words().next_puzzle()}</button>
        })
    };
    let share = move |_| {
        let copied = untrack(words).solution_copied();
        sharing::copy(page, sharing::link(page), copied);
    };
    view! {
        <footer class="puzzle-ways">
            <button
                type="button"
                title=move || words().hint_about()
                aria-disabled=move || has_no_hint().then_some("true")
                on:click=move |_| puzzling.hint()
            >
                {move || if given() == 0 { words().hint() } else { words().name_move() }}
            </button>
            <button type="button" on:click=move |_| puzzling.start_again()>{move || words().start_again()}</button>
            <button
                type="button"
                aria-expanded=move || is_walking().to_string()
                on:click=move |_| if untrack(is_walking) { puzzling.end_walk() } else { puzzling.show_optimum() }
            >
                {move || if is_walking() { words().back_to_kernels() } else { words().show_optimum() }}
            </button>
            <button type="button" on:click=share>{move || words().share_solution()}</button>
            <button type="button" title=move || words().whole_page_about() on:click=move |_| page.screen.is_learning.set(false)>
                {move || words().whole_page()}
            </button>
            {go_on}
        </footer>
    }
}
