//! The puzzles to choose from, and how far the visitor is in each.

use super::make::OwnPuzzles;
use crate::app::puzzling::Puzzling;
use fuseline_learn::puzzle::library::{ListedPuzzle, PUZZLES};
use fuseline_learn::puzzle::progress::PuzzleProgress;
use fuseline_learn::puzzle::rank::Rank;
use fuseline_learn::puzzle::read;
use fuseline_learn::puzzle::source::PuzzleSource;
use fuseline_view::present::format::format_percent;
use fuseline_view::present::names::counted;
use leptos::prelude::*;
use strum::VariantArray;

/// All puzzles.
#[component]
pub fn PuzzleList() -> impl IntoView {
    let puzzling = Puzzling::of_context();
    let solved =
        move || puzzling.map_or(0, |puzzling| puzzling.progress.with(PuzzleProgress::solved));
    view! {
        <div class="lesson-list">
            <h3>"Puzzles"</h3>
            <p class="quiet">
                {move || {
                    format!(
                        "Fuse these programs by hand. Par is the optimum, which the search has proven. {} of {} solved.",
                        solved(),
                        PUZZLES.len(),
                    )
                }}
            </p>
            <ol>{PUZZLES.iter().map(|listed| view! { <PuzzleRow listed /> }).collect_view()}</ol>
            {puzzling.map(|puzzling| view! { <OwnPuzzles puzzling /> })}
        </div>
    }
}

#[component]
fn PuzzleRow(listed: &'static ListedPuzzle) -> impl IntoView {
    let puzzling = Puzzling::of_context();
    let (puzzle, _) = read(listed.text);
    let objective = puzzle.page.shared.fusion.objective.name();
    let above_pct = move || puzzling?.progress.with(|p| p.above_pct(listed.id));
    let moves = move || puzzling?.progress.with(|p| p.fewest_moves(listed.id));
    let rank = move || puzzling?.progress.with(|p| p.rank(listed.id));
    let state = move || match (above_pct(), moves()) {
        (None, _) => "unsolved".to_owned(),
        (Some(0.0), Some(moves)) => format!("solved in {}", counted(moves, "move")),
        (Some(0.0), None) => "solved".to_owned(),
        (Some(above), _) => format!("best: {} above par", format_percent(above)),
    };
    let stars = move || {
        let star = |of: &Rank| if rank() >= Some(*of) { "★" } else { "☆" };
        rank().map(|_| Rank::VARIANTS.iter().map(star).collect::<String>())
    };
    let open = move |_| {
        if let Some(puzzling) = puzzling {
            puzzling.open(&PuzzleSource::Listed(listed));
        }
    };
    view! {
        <li class:is-done=move || above_pct() == Some(0.0)>
            <button type="button" on:click=open>
                <span class="lesson-title">{puzzle.title}</span>
                <span class="lesson-about">{format!("by {objective}")}</span>
                <small><span class="puzzle-stars" aria-hidden="true">{stars}</span>" "{state}</small>
            </button>
        </li>
    }
}
