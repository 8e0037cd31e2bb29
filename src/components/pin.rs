//! The button that pins the present state, and the comparison while one is pinned.

use super::announcer::Announcer;
use crate::app::state::Page;
use crate::components::number::Number;
use fuseline_view::present::pinned::{Against, HeadlineAgainst};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use leptos::prelude::*;

/// *Pin*; while a state is pinned, what it is, the figures against it, and the ways to leave it.
#[component]
pub fn Pin() -> impl IntoView {
    let page = Page::of_context();
    let is_pinned = Memo::new(move |_| page.against.pinned.with(Option::is_some));
    let is_empty = move || page.analysis.with(|analysis| analysis.graph.ops.is_empty());
    let pin = move || {
        view! {
            <button
                type="button"
                class="pin"
                title="keep this state, and compare later figures with it"
                aria-disabled=move || is_empty().to_string()
                on:click=move |_| {
                    if !untrack(is_empty) {
                        page.pin();
                    }
                }
            >
                "Pin"
            </button>
        }
    };
    view! {
        <Show when=move || is_pinned.get() fallback=pin>
            <PinnedLine />
        </Show>
    }
}

#[component]
fn PinnedLine() -> impl IntoView {
    let page = Page::of_context();
    let title = move || {
        page.against
            .pinned
            .with(|pinned| pinned.as_ref().map(|p| p.title.clone()))
    };
    let against = Memo::new(move |_| page.against_pinned());
    let has_other_ops = Memo::new(move |_| page.pins_other_ops());
    let spoken = Memo::new(move |_| against.get().map_or_else(String::new, |all| all.sentence()));
    let figure = move |what: &'static str, quantity, part: fn(&HeadlineAgainst) -> &Against| {
        let of = Figure::fused(Subject::Program, quantity);
        let text = move |text: fn(&Against) -> &String| {
            move || against.with(|all| all.as_ref().map(|all| text(part(all)).clone()))
        };
        let is_changed = Memo::new(move |_| {
            against.with(|all| all.as_ref().is_some_and(|all| part(all).is_changed))
        });
        let change = text(|against| &against.change);
        view! {
            <span class="pinned-figure">
                <span class="quiet">{what}" "</span>
                <Number explanation=page.explain_pinned(of)>{text(|against| &against.pinned)}</Number>
                " "
                <span class=move || if is_changed.get() { "saved" } else { "quiet" }>
                    <Show when=move || is_changed.get() fallback=change>
                        <Number explanation=page.explain_change(Memo::new(move |_| Some([of; 2])), change)>{change}</Number>
                    </Show>
                </span>
            </span>
        }
    };
    view! {
        <div class="pinned" role="group" aria-label="Pinned state">
            <span class="pinned-title"><strong>"pinned: "</strong>{title}</span>
            {figure("traffic", Quantity::Bytes, |all| &all.bytes)}
            {figure("kernels", Quantity::Launches, |all| &all.kernels)}
            {figure("time", Quantity::Time, |all| &all.time)}
            <Show when=move || has_other_ops.get()>
                <span class="quiet">"Its ops differ, so no changes are shown."</span>
            </Show>
            <span class="pinned-buttons">
                <button
                    type="button"
                    title="go to the pinned state, and pin this one"
                    on:click=move |_| page.swap_pinned()
                >
                    "Swap"
                </button>
                <button type="button" on:click=move |_| page.unpin()>"Unpin"</button>
            </span>
        </div>
        <Announcer text=spoken />
    }
}
