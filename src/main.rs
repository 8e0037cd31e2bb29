//! The binary: the page on `wasm32`, the command line elsewhere.

#[cfg(target_arch = "wasm32")]
fn main() {
    use fuseline::app::embed::Views;
    use fuseline::app::sharing::Link;
    use fuseline::components::app::App;
    use fuseline::components::embedded::Embedded;
    use fuseline::components::presenter::notes::SpeakerNotes;
    use fuseline_browser as browser;
    use fuseline_learn::presenter::messages::NOTES;
    use leptos::prelude::*;

    browser::install_panic_hook();
    if browser::is_worker() {
        return;
    }
    if browser::query_value(NOTES).is_some() {
        mount_to_body(|| view! { <SpeakerNotes /> });
        browser::end_loading();
        return;
    }
    browser::spawn(async {
        // Read before the page is mounted, so that the visitor's own program does not show before
        // that of the link.
        let link = Link::in_address().await;
        match browser::query_value("embed") {
            Some(names) => {
                let views = Views::named(&names);
                mount_to_body(|| view! { <Embedded link views /> });
            }
            None => mount_to_body(|| view! { <App link /> }),
        }
        browser::end_loading();
    });
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    fuseline_cli::main(fuseline::STYLE_SHEETS)
}
