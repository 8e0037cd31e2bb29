//! What fusion does to the whole program, in one line.

use crate::core::Analysis;
use crate::core::format::{
    format_bytes, format_exact, format_percent, format_ratio, format_seconds,
};
use crate::platform::Later;
use crate::state::Page;
use leptos::prelude::*;
use std::time::Duration;

/// A pause after which a changing headline is read out.
const QUIET: Duration = Duration::from_millis(900);

/// One figure of the headline.
#[derive(Clone, Debug, Default, PartialEq)]
struct Figures {
    bytes_before: String,
    bytes_after: String,
    saved: String,
    exact: String,
    kernels_before: usize,
    kernels_after: usize,
    speedup: String,
    times: String,
    device: String,
}

impl Figures {
    fn of(analysis: &Analysis) -> Self {
        let (before, after) = (&analysis.unfused, &analysis.fused);
        Self {
            bytes_before: format_bytes(before.traffic.total),
            bytes_after: format_bytes(after.traffic.total),
            saved: if after.traffic.saved_by_fusion == 0 {
                "0 %".to_owned()
            } else {
                format!("−{}", format_percent(analysis.savings_pct))
            },
            exact: format!(
                "{} B read and written unfused, {} B fused, {} B saved",
                format_exact(before.traffic.total.into()),
                format_exact(after.traffic.total.into()),
                format_exact(after.traffic.saved_by_fusion.into()),
            ),
            kernels_before: before.launches,
            kernels_after: after.launches,
            speedup: format_ratio(analysis.speedup),
            times: format!(
                "sum of the kernels' predicted times: {} unfused, {} fused",
                format_seconds(before.time_s),
                format_seconds(after.time_s)
            ),
            device: analysis.options.device.name.clone().into_owned(),
        }
    }

    fn sentence(&self) -> String {
        format!(
            "Memory traffic {} unfused, {} fused, {}. {} kernels become {}. Predicted {} as fast on {}.",
            self.bytes_before,
            self.bytes_after,
            self.saved,
            self.kernels_before,
            self.kernels_after,
            self.speedup,
            self.device
        )
    }
}

/// Bytes, kernels and predicted time, before and after.
#[component]
pub fn Headline(
    /// The page whose numbers are shown.
    page: Page,
) -> impl IntoView {
    let figures = Memo::new(move |_| page.analysis.with(|a| Figures::of(a)));
    let show = move |part: fn(&Figures) -> String| move || figures.with(part);
    view! {
        <section class="headline" class:is-stale=page.is_stale aria-labelledby="headline-title">
            <h2 id="headline-title" class="sr-only">"Result"</h2>
            <p class="headline-figure" title=show(|f| f.exact.clone())>
                <span class="headline-label">"memory traffic"</span>
                <span class="before">{show(|f| f.bytes_before.clone())}</span>
                <span class="arrow" aria-hidden="true">"→"</span>
                <span class="sr-only">"becomes"</span>
                <strong>{show(|f| f.bytes_after.clone())}</strong>
                <span class="saved">{show(|f| f.saved.clone())}</span>
            </p>
            <p class="headline-figure">
                <span class="headline-label">"kernels"</span>
                <span class="before">{show(|f| f.kernels_before.to_string())}</span>
                <span class="arrow" aria-hidden="true">"→"</span>
                <span class="sr-only">"become"</span>
                <strong>{show(|f| f.kernels_after.to_string())}</strong>
            </p>
            <p class="headline-figure" title=show(|f| f.times.clone())>
                <span class="headline-label">"predicted"</span>
                <strong>{show(|f| f.speedup.clone())}</strong>
                <span>"as fast on " {show(|f| f.device.clone())}</span>
            </p>
            <Announcement text=Signal::derive(move || figures.with(Figures::sentence)) />
        </section>
    }
}

/// Tells screen readers of a change, once it has come to rest.
#[component]
pub fn Announcement(
    /// What to say.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    let spoken = RwSignal::new(String::new());
    let later = Later::after(QUIET);
    Effect::new(move |is_first: Option<bool>| {
        let text = text.get();
        if is_first.is_some() {
            later.call(move || spoken.set(text));
        }
        true
    });
    on_cleanup(move || later.cancel());
    view! { <p class="sr-only" role="status" aria-live="polite">{spoken}</p> }
}
