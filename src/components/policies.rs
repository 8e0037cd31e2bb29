//! A choice of the fusion policy that shows the result of each.

use crate::app::stage::is_staged;
use crate::app::state::Page;
use crate::components::bar::fusion_menu::FusionMenu;
use crate::components::keyed_rows::row_at;
use fuseline_core::{Analysis, Policy};
use fuseline_view::page::view::View;
use fuseline_view::present::options::policy_summary;
use fuseline_view::present::policy_bars::{PolicyBar, PolicyResult, policy_bars};
use leptos::prelude::*;

/// Up to so many ops all policies are compared at each change, and advice is searched. Both take
/// 0.1 s at 600 ops; of a larger program *Compare* and *What to do* show the results.
const MAX_LIVE_OPS: usize = 200;

/// Whether what stands beside the headline is computed at each change.
pub fn is_compared_live(analysis: &Analysis) -> bool {
    analysis.graph.ops.len() <= MAX_LIVE_OPS
}

/// All policies, each with its kernels and a bar of its memory traffic, and the options of the
/// chosen one.
#[component]
pub fn Policies() -> impl IntoView {
    let page = Page::of_context();
    let bars = Memo::new(move |_| {
        if !page.analysis.with(|analysis| is_compared_live(analysis)) {
            return page
                .analysis
                .with(|analysis| policy_bars([(analysis.options.policy, &**analysis)]));
        }
        page.questions
            .compared
            .with(|compared| policy_bars(compared.iter().map(|one| (one.policy, &*one.analysis))))
    });
    view! {
        <div class="policies" class:is-stale=page.checked.is_grey class:is-staged=is_staged(View::Policies)>
            <fieldset class="policy-choice">
                <legend class="policies-title">
                    "Who fuses"
                </legend>
                <ForEnumerate
                    each=move || bars.get()
                    key=|bar| bar.policy
                    children=move |index, bar| view! { <PolicyChoice bar=row_at(bars, index, bar) /> }
                />
            </fieldset>
            <FusionMenu />
        </div>
    }
}

#[component]
fn PolicyChoice(
    /// The policy with its result.
    bar: Memo<PolicyBar>,
) -> impl IntoView {
    let page = Page::of_context();
    let policy = bar.with_untracked(|bar| bar.policy);
    let title = move || bar.with(|bar| bar.title);
    // Unfused kernels are those of no fusion, whatever *Fuse* would show.
    let is_shown = move || {
        let shown = if page.chosen.is_fused.get() {
            page.chosen.policy.get()
        } else {
            Policy::None
        };
        policy == shown
    };
    let is_at_optimum = move || bar.with(|bar| bar.is_at_optimum);
    let text = move |part: fn(&PolicyResult) -> &String| {
        move || bar.with(|bar| bar.result.as_ref().map(|result| part(result).clone()))
    };
    let time = move || bar.with(|bar| bar.result.as_ref()?.time.clone());
    let width = move || {
        let share = bar.with(|bar| bar.result.as_ref().map_or(0.0, |result| result.share));
        format!("{:.2}%", 100.0 * share)
    };
    // A text without marks has no result by hand.
    let is_unmerged = move || {
        policy == Policy::Manual && bar.with(|bar| bar.result.is_none()) && !page.marks_kernels()
    };
    view! {
        <label class="policy" class:is-at-optimum=is_at_optimum title=policy_summary(policy)>
            <input
                type="radio"
                name="policy"
                value=policy.name()
                prop:checked=is_shown
                on:change=move |_| page.choose_policy(policy)
            />
            <span class="policy-title">
                {title}
                <Show when=is_at_optimum>
                    <span aria-hidden="true" title="As few bytes as the search finds">" ✓"</span>
                    <span class="sr-only">", as few bytes as the search finds"</span>
                </Show>
            </span>
            <span class="policy-figure policy-kernels">{text(|result| &result.kernels)}</span>
            <Show when=move || !is_unmerged() fallback=|| view! { <span class="policy-hint">"merge kernels yourself"</span> }>
                <span class="policy-bar" aria-hidden="true"><span style:width=width></span></span>
                <span class="policy-figure" class:has-time=move || time().is_some()>
                    {text(|result| &result.bytes)}
                    {move || time().map(|time| format!(" · {time}"))}
                </span>
            </Show>
        </label>
    }
}
