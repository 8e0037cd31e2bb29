//! A slide of a workshop: what stands before the class between lessons.

use super::qr_code::QrCode;
use crate::app::presenting::Presenting;
use fuseline_browser as browser;
use fuseline_learn::presenter::plan::Slide;
use leptos::html;
use leptos::prelude::*;

/// The slide of the part that is presented, over the page.
#[component]
pub fn WorkshopSlide(presenting: Presenting) -> impl IntoView {
    let slide = Memo::new(move |_| presenting.slide());
    move || slide.get().map(|slide| view! { <SlideView slide /> })
}

/// Title, lines, and the address of the page where the class opens it.
#[component]
fn SlideView(slide: Slide) -> impl IntoView {
    let heading = NodeRef::<html::H2>::new();
    // The page below is out of sight: who goes on with the keyboard is on the slide.
    heading.on_load(move |_| browser::focus(heading));
    let lines = slide.lines.iter().map(|&line| view! { <li>{line}</li> });
    let address = slide.kind.has_address().then(|| {
        let page = browser::page_address();
        let link = match slide.opens {
            "" => page,
            fragment => format!("{page}#{fragment}"),
        };
        view! { <aside class="slide-address"><QrCode link=Ok(link) /></aside> }
    });
    view! {
        <section class="workshop-slide" aria-labelledby="slide-title">
            <div class="slide-words">
                <h2 id="slide-title" tabindex="-1" node_ref=heading>{slide.title}</h2>
                <ul>{lines.collect_view()}</ul>
                <p class="slide-minutes">{format!("{} minutes", slide.minutes)}</p>
            </div>
            {address}
        </section>
    }
}
