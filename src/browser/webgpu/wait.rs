//! Waiting for the GPU, but not for ever.

use crate::timers::Timeout;
use futures_channel::oneshot;
use js_sys::futures::spawn_local;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// A callback, and what it is called with; `None` if it is dropped without a call.
pub(super) fn answer<T>() -> (
    impl FnOnce(T) + use<T>,
    impl Future<Output = Option<T>> + use<T>,
) {
    let (send, receive) = oneshot::channel();
    // The receiver may have given up.
    let send = move |value| drop(send.send(value));
    (send, async move { receive.await.ok() })
}

/// The output of the future, or `None` after this many seconds. The future keeps running.
pub(super) async fn within<T: 'static>(
    limit_s: f64,
    future: impl Future<Output = T> + 'static,
) -> Option<T> {
    let (send, receive) = oneshot::channel();
    let first = Rc::new(RefCell::new(Some(send)));
    let by_timer = Rc::clone(&first);
    let give_up = move || {
        if let Some(send) = by_timer.take() {
            drop(send.send(None));
        }
    };
    let timer = Timeout::start(give_up, Duration::from_secs_f64(limit_s));
    spawn_local(async move {
        let value = future.await;
        if let Some(send) = first.take() {
            drop(send.send(Some(value)));
        }
    });
    let value = receive.await.ok().flatten();
    if let Some(timer) = timer {
        timer.clear();
    }
    value
}
