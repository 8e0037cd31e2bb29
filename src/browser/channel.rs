//! Messages between the windows of one visitor.

use super::values::{read_json, written};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{BroadcastChannel, MessageEvent};

/// A channel to the other windows of this origin that have opened one of the same name. Closed when
/// it is dropped.
pub struct Channel {
    channel: BroadcastChannel,
    _listener: Closure<dyn Fn(MessageEvent)>,
}

impl Channel {
    /// Opens a channel and calls `act` with each message that another window sends. A message in
    /// another form comes from another version of the page and is ignored. `None` where the browser
    /// refuses.
    pub fn open<T: DeserializeOwned>(name: &str, act: impl Fn(T) + 'static) -> Option<Self> {
        let channel = BroadcastChannel::new(name).ok()?;
        let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let message = read_json(&event.data()).ok();
            if let Some(message) = message.and_then(|value| serde_json::from_value(value).ok()) {
                act(message);
            }
        });
        channel.set_onmessage(Some(listener.as_ref().unchecked_ref()));
        Some(Self {
            channel,
            _listener: listener,
        })
    }

    pub fn send(&self, message: &impl Serialize) {
        let value = serde_json::to_value(message).ok();
        if let Some(message) = value.and_then(|value| written(&value).ok()) {
            // Fails only for a channel that is closed.
            let _ = self.channel.post_message(&message);
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.channel.set_onmessage(None);
        self.channel.close();
    }
}
