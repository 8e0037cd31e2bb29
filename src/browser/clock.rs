//! The clock of the browser.

/// Milliseconds since the page was opened.
pub fn now_ms() -> f64 {
    web_sys::window()
        .and_then(|w| w.performance())
        .map_or(0.0, |p| p.now())
}

/// The time of the day, in milliseconds since 1970.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole milliseconds, positive and far below 2^53"
)]
pub fn clock_ms() -> u64 {
    js_sys::Date::now() as u64
}

/// A time of [`clock_ms`] in words: "Nov 22, 2026, 2:03 PM".
#[allow(
    clippy::cast_precision_loss,
    reason = "milliseconds since 1970 stay below 2^53"
)]
pub fn date_and_time(clock_ms: u64) -> String {
    let date = js_sys::Date::new(&(clock_ms as f64).into());
    let style = js_sys::Object::new();
    for (key, value) in [("dateStyle", "medium"), ("timeStyle", "short")] {
        // Fails only on a frozen object.
        let _ = js_sys::Reflect::set(&style, &key.into(), &value.into());
    }
    date.to_locale_string("en", &style).into()
}
