//! The binary: the page on `wasm32`, the command line elsewhere.

#[cfg(target_arch = "wasm32")]
fn main() {
    fuseline::browser::install_panic_hook();
    // Nobody shall see another program first: what a link carries is unpacked before anything is drawn.
    fuseline::app::session::receive(Box::new(|carried| {
        leptos::mount::mount_to_body(|| {
            fuseline::components::app::App(fuseline::components::app::AppProps { carried })
        });
    }));
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    fuseline::cli::main()
}
