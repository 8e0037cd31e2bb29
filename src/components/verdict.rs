//! Why two ops are separate, with numbers that explain themselves.

use crate::app::state::{ExplanationOf, Page};
use crate::components::keyed_rows::row_at;
use crate::components::number::Number;
use crate::components::sentence::sentence;
use fuseline_core::OpId;
use fuseline_core::analysis::why::RepeatedPrice;
use fuseline_view::present::verdict::{VerdictPart, VerdictText};
use fuseline_view::present::why::edge_explanation;
use leptos::either::Either;
use leptos::prelude::*;
use std::sync::Arc;

/// Why two ops are separate, in a sentence or two.
#[component]
pub fn VerdictWords(
    /// The two ops.
    ops: Memo<Option<(OpId, OpId)>>,
    verdict: Memo<Option<Arc<VerdictText>>>,
) -> impl IntoView {
    let page = Page::of_context();
    let parts = Memo::new(move |_| {
        verdict.with(|verdict| {
            verdict
                .as_ref()
                .map(|verdict| verdict.parts.clone())
                .unwrap_or_default()
        })
    });
    let part = move |part: Memo<VerdictPart>| {
        let Some(saved) = part.with_untracked(|part| part.saved) else {
            return Either::Left(move || part.with(|part| sentence(&part.text)));
        };
        let explanation = ExplanationOf::own(move || {
            let price = verdict.with(|verdict| verdict.as_ref()?.price)?;
            let (ops, price) = (ops.get()?, RepeatedPrice::once(price));
            page.shown
                .with(|shown| edge_explanation(shown.analysis(), ops, price, saved))
        });
        let text = move || part.with(|part| part.text.clone());
        Either::Right(view! { <Number explanation>{text}</Number> })
    };
    let numbered = move || parts.get().into_iter().enumerate().collect::<Vec<_>>();
    view! {
        <ForEnumerate
            each=numbered
            key=|(index, part)| (*index, part.saved)
            children=move |index, (_, first)| part(row_at(parts, index, first))
        />
    }
}
