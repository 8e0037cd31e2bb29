//! Local storage.

/// The stored value of `key`; `None` when there is none or storage is forbidden.
pub fn load(key: &str) -> Option<String> {
    local_storage()?.get_item(key).ok()?
}

/// Stores `value` under `key`, and says whether the browser took it.
pub fn store(key: &str, value: &str) -> bool {
    local_storage().is_some_and(|s| s.set_item(key, value).is_ok())
}

fn local_storage() -> Option<web_sys::Storage> {
    web_sys::window()?.local_storage().ok()?
}
