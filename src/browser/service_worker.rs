//! The service worker, which keeps a whole build of the page for visits without a network.
//!
//! A newer build is installed beside the one that is shown, and waits. When the visitor wants it,
//! it takes over all tabs.

use super::reload;
use js_sys::futures::{JsFuture, spawn_local};
use leptos::prelude::set_interval;
use std::rc::Rc;
use std::time::Duration;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{EventTarget, ServiceWorkerContainer, ServiceWorkerRegistration, ServiceWorkerState};

/// Browsers look for a newer build when the page is opened; a page that stays open looks for one
/// after each such time.
const LOOK_AGAIN: Duration = Duration::from_hours(1);

/// Keeps this build of the page for visits without a network. Calls `on_new_version` once a newer
/// build is there as a whole, and `on_switch` when it has replaced the build of this tab. Where the
/// browser refuses, the page works as without.
pub async fn keep_offline(on_new_version: impl Fn() + 'static, on_switch: impl Fn() + 'static) {
    let Some(container) = container() else {
        return;
    };
    // A tab that came from the server is not switched: its files still come from there.
    if container.controller().is_some() {
        listen(&container, "controllerchange", on_switch);
    }
    let Some(registration) = registration_of(container.register("./service_worker.js")).await
    else {
        return;
    };
    let watched = registration.clone();
    let tell = Rc::new(on_new_version);
    let watch = move || tell_when_waiting(&watched, &tell);
    watch();
    listen(&registration, "updatefound", watch);
    let look_again = move || {
        if let Ok(looking) = registration.update() {
            // Fails without a network.
            spawn_local(async { drop(JsFuture::from(looking).await) });
        }
    };
    // Fails only where the page is gone.
    let _ = set_interval(look_again, LOOK_AGAIN);
}

/// Replaces the build of all tabs by the newer one that waits.
pub async fn switch_version() {
    let Some(container) = container() else {
        return reload();
    };
    let registration = registration_of(container.get_registration()).await;
    let Some(waiting) = registration.and_then(|registration| registration.waiting()) else {
        return reload();
    };
    if container.controller().is_none() {
        let worker = waiting.clone();
        listen(&waiting, "statechange", move || {
            if worker.state() == ServiceWorkerState::Activated {
                reload();
            }
        });
    }
    // Fails only for values that cannot be cloned.
    let _ = waiting.post_message(&JsValue::from_str("switch"));
}

/// Calls `tell` if a build waits beside one that is in use, else once the build that is being
/// installed waits.
fn tell_when_waiting(registration: &ServiceWorkerRegistration, tell: &Rc<impl Fn() + 'static>) {
    let (watched, tell) = (registration.clone(), Rc::clone(tell));
    let check = move || {
        if watched.waiting().is_some() && watched.active().is_some() {
            tell();
        }
    };
    check();
    if let Some(installing) = registration.installing() {
        listen(&installing, "statechange", check);
    }
}

/// `None` without a secure context, which alone has service workers.
fn container() -> Option<ServiceWorkerContainer> {
    let window = web_sys::window()?;
    (window.is_secure_context()).then(|| window.navigator().service_worker())
}

async fn registration_of(promise: js_sys::Promise) -> Option<ServiceWorkerRegistration> {
    JsFuture::from(promise).await.ok()?.dyn_into().ok()
}

/// Listens as long as the page is open.
fn listen(target: &EventTarget, event: &str, handle: impl Fn() + 'static) {
    let listener = Closure::<dyn Fn()>::new(handle).into_js_value();
    // Fails only for a listener that is no function.
    let _ = target.add_event_listener_with_callback(event, listener.unchecked_ref());
}
