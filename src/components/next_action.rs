//! The one thing to press next: fuse what is shown unfused, else the change that saves most.

use crate::app::learning::Learning;
use crate::app::queries;
use crate::app::stage::has_stage;
use crate::app::state::{Page, Selection};
use crate::components::policies::is_compared_live;
use fuseline_browser as browser;
use fuseline_core::examples::{NEXT, START, example};
use fuseline_learn::lesson::library::LESSONS;
use fuseline_learn::lesson::read;
use fuseline_view::present::advice::{AdviceRow, advice_cause, advice_gain, advice_title};
use leptos::either::Either;
use leptos::prelude::*;
use std::time::Duration;

/// The advice is searched when nothing has changed for this long, because it prices many changes of
/// the program.
const PAUSE: Duration = Duration::from_millis(400);

/// *Fuse*; of the opening program the two ways on; else the best change with a button that makes
/// it. Beside the note of a sender only *Fuse*.
#[component]
pub fn NextAction() -> impl IntoView {
    let page = Page::of_context();
    let is_start = Memo::new(move |_| page.origin.example.get() == Some(START));
    // What the sender has to say comes first, and is not about what the page proposes.
    let has_note = Memo::new(move |_| page.shown_note().is_some());
    // A lesson and a speaker say what to do next.
    let has_stage = has_stage();
    view! {
        <Show when=move || !has_stage()>
            <div class="next-action" class:is-start=is_start class:is-needless=move || has_note.get() && page.shows_fused()>
                <Show when=move || page.shows_fused() fallback=|| view! { <FuseButton /> }>
                    <Show when=move || is_start.get() fallback=|| view! { <BestChange /> }>
                        <Show when=move || !has_note.get()>
                            <WaysOn />
                        </Show>
                    </Show>
                </Show>
            </div>
        </Show>
    }
}

/// After a key the graph takes the focus from the button that goes. After the pointer it would get
/// a frame for no reason.
fn keep_visible_focus(page: Page) {
    if browser::has_visible_focus() {
        page.keep_focus();
    }
}

/// Shows the kernels fused.
#[component]
fn FuseButton() -> impl IntoView {
    let page = Page::of_context();
    let fuse = move |_| {
        keep_visible_focus(page);
        page.show_fused();
    };
    view! {
        <button type="button" class="fuse-button primary" on:click=fuse>"Fuse"</button>
    }
}

/// The next steps for a visitor who has fused the opening program.
#[component]
fn WaysOn() -> impl IntoView {
    let page = Page::of_context();
    let learning = Learning::of_context();
    let open_block = move |_| {
        if let Some(block) = example(NEXT) {
            keep_visible_focus(page);
            page.open_example(block);
            page.select(Selection::Nothing);
        }
    };
    let lesson = move || {
        let learning = learning?;
        let (at, listed, lesson, step) = LESSONS.iter().enumerate().find_map(|(at, listed)| {
            let (lesson, _) = read(listed.text);
            let step = learning.first_open_step(listed.id, &lesson)?;
            Some((at, listed, lesson, step))
        })?;
        let minutes = lesson.minutes;
        let words = if at == 0 {
            format!("New to fusion? Start here, {minutes} minutes")
        } else {
            format!("Next lesson: {}, {minutes} minutes", lesson.title)
        };
        let start = move |_| learning.open_listed(listed.id, step);
        Some(view! { <button type="button" on:click=start>{words}</button> })
    };
    view! {
        <div class="ways-on">
            {lesson}
            <button type="button" title="torch.compile fuses it" on:click=open_block>{example(NEXT).map(|block| format!("Next: {}", block.title))}</button>
        </div>
    }
}

/// The change that saves most time, or that there is none; nothing while it is searched.
#[component]
fn BestChange() -> impl IntoView {
    let page = Page::of_context();
    let is_resting = RwSignal::new(false);
    let later = browser::Debounce::after(PAUSE);
    Effect::new(move || {
        page.analysis.track();
        later.cancel();
        is_resting.set(false);
        later.call(move || is_resting.set(true));
    });
    let best = Memo::new(move |_| {
        let is_live = page.analysis.with(|analysis| is_compared_live(analysis));
        // A puzzle is the visitor's to solve.
        if !is_resting.get() || !is_live || page.screen.puzzle.with(Option::is_some) {
            return None;
        }
        let rows = page.ask(queries::Advice)?;
        let mut large = rows.iter().filter(|row| row.matters());
        let has_others = large.clone().any(|row| !row.advice.is_of_kernels());
        Some((
            large.find(|row| row.advice.is_of_kernels()).cloned(),
            has_others,
        ))
    });
    let follow = move |_| {
        if let Some((Some(row), _)) = best.get_untracked() {
            keep_visible_focus(page);
            page.follow(row.advice);
        }
    };
    view! {
        {move || best.get().map(|(best, has_others)| match best {
            Some(row) => {
                let [time, bytes] = advice_gain(&row);
                let cause = page.analysis.with_untracked(|analysis| advice_cause(analysis, row.advice));
                Either::Left(view! {
                <p class="best-change">
                    <span><span class="best-title">{advice_title(row.advice)}<span class="if-wide">{cause}</span></span>": "<strong>{time}<span class="if-wide">{bytes}</span></strong></span>
                    <button type="button" title=row.action.replace('`', "") on:click=follow>"Try it"</button>
                </p>
                })
            }
            None => Either::Right(view! {
                <p class="best-change quiet" title="Neither a merge of kernels nor an option saves more.">{nothing_left(has_others)}</p>
            }),
        })}
    }
}

/// That no merge and no option saves much; `has_others`: a change of the program does.
fn nothing_left(has_others: bool) -> String {
    let percent = AdviceRow::LEAST_PERCENT;
    if has_others {
        format!(
            "Further fusion saves under {percent} % of the time. What to do lists changes of the program."
        )
    } else {
        format!("Further known changes save under {percent} % of the time.")
    }
}
