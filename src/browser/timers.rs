//! Frames and timers that outlive the effect that asks for them. Leptos has its own, which it
//! cancels when that effect runs again.

use super::animate::wants_less_motion;
use super::clock::now_ms;
use js_sys::Function;
use std::time::Duration;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

/// A timer, whether or not it has fired.
#[derive(Clone, Copy)]
pub(crate) struct Timeout(i32);

impl Timeout {
    /// Runs `action` once after this time; `None` only where the page is gone.
    pub(crate) fn start(action: impl FnOnce() + 'static, wait: Duration) -> Option<Self> {
        let wait_ms = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
        let action = function(action);
        let started = web_sys::window()?
            .set_timeout_with_callback_and_timeout_and_arguments_0(&action, wait_ms);
        started.ok().map(Self)
    }

    /// Keeps it from firing.
    pub(crate) fn clear(self) {
        if let Some(window) = web_sys::window() {
            window.clear_timeout_with_handle(self.0);
        }
    }
}

/// Runs `action` before the next frame is drawn, after all effects.
pub fn next_frame(action: impl FnOnce() + 'static) {
    if let Some(window) = web_sys::window() {
        // Fails only where the page is gone.
        let _ = window.request_animation_frame(&function(action));
    }
}

/// Calls `act` in each frame with the share of `duration` that has gone by, from 0 to 1. At once
/// with 1 where the visitor asked for less motion.
pub fn during(duration: Duration, act: impl Fn(f64) + 'static) {
    fn step(start_ms: f64, duration: Duration, act: impl Fn(f64) + 'static) {
        let share = ((now_ms() - start_ms) / duration.as_secs_f64() / 1e3).min(1.0);
        act(share);
        if share < 1.0 {
            next_frame(move || step(start_ms, duration, act));
        }
    }
    if wants_less_motion() {
        act(1.0);
    } else {
        step(now_ms(), duration, act);
    }
}

/// Runs `action` in a task of its own: the browser handles events and may draw a frame before.
pub fn next_task(action: impl FnOnce() + 'static) {
    after(Duration::ZERO, action);
}

/// Runs `action` once after this time.
pub fn after(wait: Duration, action: impl FnOnce() + 'static) {
    // Fails only where the page is gone.
    let _ = Timeout::start(action, wait);
}

/// The action as JavaScript calls it, which drops it when it has run or nobody can call it any
/// more.
fn function(action: impl FnOnce() + 'static) -> Function {
    Closure::once(action).into_js_value().unchecked_into()
}
