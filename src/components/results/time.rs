//! A time, and the lower bound beside an expected one.

use crate::components::number::Number;
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::times::TimeText;
use leptos::prelude::*;

/// The time, and in small below it the lower bound if the time is an expected one.
#[component]
pub fn Time(
    of: Subject,
    /// Both in words.
    time: Memo<TimeText>,
) -> impl IntoView {
    let has_bound = Memo::new(move |_| time.with(|time| time.bound.is_some()));
    let bound = move || {
        let bound = time.with(TimeText::bound_beside);
        // A line may break in front of the figure, and not before its unit.
        bound.map(|bound| format!("lower bound {}", bound.replacen(' ', "\u{a0}", 1)))
    };
    view! {
        <Number explanation=Figure::fused(of, Quantity::Time)>
            {move || time.with(|time| time.time.clone())}
        </Number>
        <Show when=move || has_bound.get()>
            <small class="bound">
                <Number explanation=Figure::fused(of, Quantity::LowerBound)>{bound}</Number>
            </small>
        </Show>
    }
}
