//! A time, and the lower bound beside an expected one.

use crate::present::times::TimeText;
use leptos::prelude::*;

/// The time, and in small below it the lower bound if the time is an expected one.
#[component]
pub fn Time(
    /// Both in words.
    time: Memo<TimeText>,
) -> impl IntoView {
    let bound = move || time.with(TimeText::bound_beside);
    view! {
        {move || time.with(|time| time.time.clone())}
        {move || bound().map(|bound| view! { <small class="bound">{format!("bound {bound}")}</small> })}
    }
}
