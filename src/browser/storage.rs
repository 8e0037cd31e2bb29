//! Local storage, and ids of what is stored.

/// The stored value of `key`; `None` when there is none or storage is forbidden.
pub fn load(key: &str) -> Option<String> {
    local_storage()?.get_item(key).ok()?
}

/// Stores `value` under `key`, and says whether the browser took it: storage may be full or
/// forbidden.
#[must_use]
pub fn store(key: &str, value: &str) -> bool {
    local_storage().is_some_and(|s| s.set_item(key, value).is_ok())
}

/// Removes `key` and its value.
pub fn forget(key: &str) {
    if let Some(storage) = local_storage() {
        // Fails only where storage is forbidden, and then there is nothing to remove.
        let _ = storage.remove_item(key);
    }
}

/// All stored keys that begin with `prefix`.
pub fn stored_keys(prefix: &str) -> Vec<String> {
    let Some(storage) = local_storage() else {
        return Vec::new();
    };
    let keys = (0..storage.length().unwrap_or(0)).filter_map(|at| storage.key(at).ok()?);
    keys.filter(|key| key.starts_with(prefix)).collect()
}

fn local_storage() -> Option<web_sys::Storage> {
    web_sys::window()?.local_storage().ok()?
}

/// An id that no other tab makes, except by a chance of 1 to 2^52.
pub fn new_id() -> String {
    let digits = js_sys::Math::random().to_bits() & ((1 << 52) - 1);
    format!("{digits:013x}")
}
