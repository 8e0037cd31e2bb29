//! How far the kernels are from par: figures, moves and ranks.

use crate::app::puzzling::Puzzling;
use crate::app::state::{ExplanationOf, Page};
use crate::components::announcer::Announcer;
use crate::components::number::Number;
use fuseline_core::fusion::certificate::Amount;
use fuseline_learn::puzzle::Posed;
use fuseline_learn::puzzle::rank::RankRow;
use fuseline_learn::puzzle::standing::{Standing, amount_text};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use leptos::prelude::*;
use std::sync::Arc;

/// Start, par, the present figure and the way between, and in words what is missing.
#[component]
pub fn StandingLine(puzzling: Puzzling, posed: Arc<Posed>) -> impl IntoView {
    let is_ungraded = move || matches!(puzzling.standing.get(), Some(Standing::Ungraded(_)));
    let is_graded = move || puzzling.graded().is_some();
    let now = move || puzzling.graded().map(|graded| amount_text(graded.cost));
    let quantity = match posed.par {
        Amount::Bytes(_) => Quantity::Bytes,
        Amount::Seconds(_) => Quantity::LowerBound,
    };
    let (start_amount, par) = (posed.start, amount_text(posed.par));
    let start = StoredValue::new(amount_text(posed.unfused));
    let language = posed.puzzle.language();
    let explanation_of_par = ExplanationOf::own(move || Some(posed.par_explanation()));
    let gone_pct = move || {
        let graded = puzzling.graded();
        graded.map_or(0.0, |graded| graded.gone_pct).to_string()
    };
    let words = Memo::new(move |_| match puzzling.standing.get() {
        Some(Standing::Graded(graded)) => graded.words_in(language, start_amount, puzzling.maker()),
        Some(Standing::Ungraded(words)) => words,
        None => language.text_without_program().to_owned(),
    });
    view! {
        <div class="puzzle-standing" class:is-solved=move || puzzling.is_at_par()>
            <dl>
                <div>
                    <dt>{language.start()}</dt>
                    <dd>
                        <Show when=is_graded fallback=move || start.get_value()>
                            <Number explanation=Figure::unfused(Subject::Program, quantity)>{start.get_value()}</Number>
                        </Show>
                    </dd>
                </div>
                <div>
                    <dt>{language.now()}</dt>
                    <dd>
                        <Show when=is_graded fallback=|| "–">
                            <Number explanation=Figure::fused(Subject::Program, quantity)>{now}</Number>
                        </Show>
                    </dd>
                </div>
                <div><dt>{language.par()}</dt><dd><Number explanation=explanation_of_par>{par}</Number></dd></div>
                <Moves puzzling />
            </dl>
            <progress max="100" value=gone_pct aria-label=language.start_to_par()></progress>
            <p class="puzzle-words">
                <span>{words}</span>
                <Show when=is_ungraded>
                    <button type="button" on:click=move |_| puzzling.restore_choices()>{language.restore_choices()}</button>
                </Show>
            </p>
            <Announcer text=words />
        </div>
    }
}

/// How many moves made these kernels, and the fewest to par so far.
#[component]
fn Moves(puzzling: Puzzling) -> impl IntoView {
    let page = Page::of_context();
    let words = move || puzzling.language();
    let moves = move || {
        let moves = page.moves();
        moves.map_or_else(|| "–".to_owned(), |moves| moves.to_string())
    };
    let fewest = move || {
        let id = page
            .screen
            .puzzle
            .with(|puzzle| Some(puzzle.as_ref()?.progress_id()))?;
        let fewest = (puzzling.progress).with(|progress| progress.fewest_moves(&id))?;
        Some(view! { <small>{words().fewest(&words().move_count(fewest))}</small> })
    };
    view! {
        <div title=move || words().moves_about()>
            <dt>{move || words().moves()}</dt>
            <dd>{moves} {fewest}</dd>
        </div>
    }
}

/// The ranks: which of them the visitor's kernels reach, and what each costs.
#[component]
pub fn Ranks(puzzling: Puzzling, ranks: Vec<RankRow>) -> impl IntoView {
    let page = Page::of_context();
    let words = move || puzzling.language();
    // Only kernels that the visitor made reach a rank.
    let reached = move || {
        let graded = puzzling.graded().filter(|_| page.moves().is_some())?;
        graded.rank
    };
    let row = move |row: RankRow| {
        let is_reached = move || reached() >= Some(row.rank);
        view! {
            <li class:is-reached=is_reached>
                <span aria-hidden="true">{move || if is_reached() { "★" } else { "☆" }}</span>
                " "
                <span>{row.name}</span>
                " "
                <small>{row.costs}</small>
                <span class="sr-only">{move || if is_reached() { words().rank_reached() } else { words().rank_not_reached() }}</span>
            </li>
        }
    };
    view! {
        <ol class="puzzle-ranks" role="list" aria-label=move || words().ranks()>
            {ranks.into_iter().map(row).collect_view()}
        </ol>
    }
}
