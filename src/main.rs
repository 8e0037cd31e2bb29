//! The binary: the page on `wasm32`, the command line elsewhere.

#[cfg(target_arch = "wasm32")]
fn main() {
    fuseline::platform::install_panic_hook();
    leptos::mount::mount_to_body(fuseline::app::App);
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    fuseline::cli::main()
}
