//! What stands over the page while it is presented, and the window with the speaker's notes.

pub mod bar;
pub mod notes;
pub mod plan;
pub mod pointer;
pub mod qr_code;
pub mod slide;

use crate::app::presenting::Presenting;
use bar::PresenterBar;
use leptos::prelude::*;
use pointer::LargePointer;
use qr_code::QrCodeDialog;
use slide::WorkshopSlide;

/// The bar with the steps and views, the large pointer, the QR code, and a blank screen.
#[component]
pub fn Presenter(presenting: Presenting) -> impl IntoView {
    view! {
        <Show when=move || presenting.is_on.get()>
            <WorkshopSlide presenting />
            <PresenterBar presenting />
            <QrCodeDialog presenting />
            <Show when=move || presenting.is_pointing.get()>
                <LargePointer />
            </Show>
            <Show when=move || presenting.is_blank.get()>
                <div class="blank-screen" role="status"><span class="sr-only">"The screen is blank. B shows it again."</span></div>
            </Show>
        </Show>
    }
}
