//! What fusion does to the whole program, in one line.

use super::announcer::Announcer;
use crate::app::state::Page;
use crate::browser::Place;
use crate::core::Analysis;
use crate::markup::Markup;
use crate::present::certificates::certificate_text;
use crate::present::format::{format_bytes, format_change, format_exact, format_ratio};
use crate::present::times::{lower_bound_text, total_time_text};
use leptos::prelude::*;

/// Bytes, kernels and predicted time, before and after.
#[component]
pub fn Headline(
    /// The page whose numbers are shown.
    page: Page,
) -> impl IntoView {
    let mut place = Place::new("headline");
    let mut voice = Announcer::new("headline-status");
    Effect::new(move || {
        let figures = Figures::of(&page.analysis.get());
        place.show(figures.markup());
        voice.say(figures.sentence());
    });
    view! { <section class="headline" id="headline" aria-labelledby="headline-title"></section> }
}

/// The figures of the headline.
struct Figures {
    bytes_before: String,
    bytes_after: String,
    saved: String,
    exact: String,
    kernels_before: String,
    kernels_after: String,
    speedup: String,
    times: String,
    /// What a search knows: what it made small, and how well.
    search: Option<[String; 2]>,
    device: String,
}

impl Figures {
    fn of(analysis: &Analysis) -> Self {
        let (before, after) = (&analysis.unfused, &analysis.fused);
        let device = &analysis.options.device;
        let open = (before.first_lower_bound())
            .and_then(|kernel| lower_bound_text(kernel, device))
            .unwrap_or_default();
        let saved = after.traffic.saved_by_fusion;
        let more_or_saved = if saved < 0 { " B more" } else { " B saved" };
        Self {
            bytes_before: format_bytes(before.traffic.total),
            bytes_after: format_bytes(after.traffic.total),
            saved: format_change(analysis.savings_pct),
            exact: [
                &format_exact(before.traffic.total.into()),
                " B read and written unfused, ",
                &format_exact(after.traffic.total.into()),
                " B fused, ",
                &format_exact(saved.unsigned_abs().into()),
                more_or_saved,
            ]
            .concat(),
            kernels_before: before.launches.to_string(),
            kernels_after: after.launches.to_string(),
            speedup: format_ratio(analysis.speedup),
            times: [
                "sum of the kernels' times at full peak rates (roofline): ",
                &total_time_text(before),
                " unfused, ",
                &total_time_text(after),
                " fused",
                if open.is_empty() { "" } else { "; " },
                &open,
            ]
            .concat(),
            search: analysis.certificate.as_ref().map(|certificate| {
                let objective = ["least ", certificate.objective.name()].concat();
                [objective, certificate_text(certificate)]
            }),
            device: [
                &*device.name,
                if open.is_empty() {
                    ""
                } else {
                    " (times are lower bounds)"
                },
            ]
            .concat(),
        }
    }

    fn markup(&self) -> Markup {
        let mut markup = Markup::new();
        markup.fill(
            r#"<h2 id="headline-title" class="sr-only">Result</h2>
<p class="headline-figure" title="{}"><span class="headline-label">memory traffic</span><span class="before">{}</span><span class="arrow" aria-hidden="true">→</span><span class="sr-only">becomes</span><strong>{}</strong><span class="saved">{}</span></p>
<p class="headline-figure"><span class="headline-label">kernels</span><span class="before">{}</span><span class="arrow" aria-hidden="true">→</span><span class="sr-only">become</span><strong>{}</strong></p>
<p class="headline-figure" title="{}"><span class="headline-label">predicted</span><strong>{}</strong><span>{}</span></p>
"#,
            &[
                &self.exact,
                &self.bytes_before,
                &self.bytes_after,
                &self.saved,
                &self.kernels_before,
                &self.kernels_after,
                &self.times,
                &self.speedup,
                &["as fast on ", &self.device].concat(),
            ],
        );
        if let Some([objective, words]) = &self.search {
            markup.fill(
                r#"<p class="headline-figure is-search"><span class="headline-label">{}</span><span>{}</span></p>"#,
                &[objective, words],
            );
        }
        markup.raw(
            r#"<p class="sr-only" role="status" aria-live="polite" id="headline-status"></p>"#,
        );
        markup
    }

    fn sentence(&self) -> String {
        let words = self.search.as_ref().map_or("", |[_, words]| words);
        [
            "Memory traffic ",
            &self.bytes_before,
            " unfused, ",
            &self.bytes_after,
            " fused, ",
            &self.saved,
            ". ",
            &self.kernels_before,
            " kernels become ",
            &self.kernels_after,
            ". Predicted ",
            &self.speedup,
            " as fast on ",
            &self.device,
            ".",
            if words.is_empty() { "" } else { " Kernels: " },
            words,
            if words.is_empty() { "" } else { "." },
        ]
        .concat()
    }
}
