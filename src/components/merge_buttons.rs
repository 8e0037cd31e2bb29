//! The merges that a card offers, a button for each neighbour.

use crate::app::state::{FocusRequest, Page};
use fuseline_core::KernelId;
use fuseline_view::present::merges::Offer;
use leptos::prelude::*;
use std::sync::Arc;

/// A kernel and its merges; `None` while they are computed.
type OffersOf = (Option<KernelId>, Option<Arc<Vec<Offer>>>);

/// Merges of a kernel with its neighbours, each with its effect.
#[component]
pub fn MergeButtons(kernel: Memo<Option<KernelId>>) -> impl IntoView {
    let page = Page::of_context();
    let offers = Memo::new(move |last: Option<&OffersOf>| {
        let kernel = kernel.get();
        match last {
            // While a slider is held, what was possible stays so. Its effect is shown when the
            // slider is released.
            Some((of, offers)) if *of == kernel && page.slider.is_held() => {
                let without_effect = |offer: &Offer| Offer {
                    effect: String::new(),
                    ..offer.clone()
                };
                let offers = offers.as_ref();
                let without_effects =
                    |all: &Arc<Vec<Offer>>| Arc::new(all.iter().map(without_effect).collect());
                (kernel, offers.map(without_effects))
            }
            _ => (kernel, kernel.and_then(|kernel| page.merge_offers(kernel))),
        }
    });
    let button = move |offer: Offer| {
        let make = move |_| page.make(offer.change, FocusRequest::GraphKernel);
        view! {
            <button type="button" class="merge-offer" on:click=make>
                {format!("Merge with {}", offer.partner)} " " <small>{offer.effect}</small>
            </button>
        }
    };
    // A puzzle does not say why.
    let has_none = move || {
        let is_empty =
            offers.with(|(_, offers)| offers.as_ref().is_some_and(|offers| offers.is_empty()));
        is_empty && page.screen.plays_puzzle() && !page.checked.is_computing.get()
    };
    move || {
        let offers = offers.with(|(_, offers)| offers.as_deref().cloned().unwrap_or_default());
        let none = has_none().then(|| view! { <span>"No merge with a neighbour is legal."</span> });
        (offers.into_iter().map(button).collect_view(), none)
    }
}
