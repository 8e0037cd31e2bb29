//! The binary: the page on `wasm32`, the command line elsewhere.

#[cfg(target_arch = "wasm32")]
fn main() {
    fuseline::browser::install_panic_hook();
    fuseline::browser::spawn(async {
        // Unpacked before anything is drawn, so that no other program shows before that of a link.
        let carried = fuseline::app::session::carried().await;
        leptos::mount::mount_to_body(|| {
            fuseline::components::app::App(fuseline::components::app::AppProps { carried })
        });
    });
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    fuseline::cli::main()
}
