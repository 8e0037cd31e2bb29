//! Opening and saving files.

use js_sys::futures::JsFuture;
use js_sys::{Array, ArrayBuffer, Uint8Array};
use std::ops::Range;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Blob, BlobPropertyBag, ClipboardEvent, DragEvent, Event, File, FileList, HtmlAnchorElement,
    HtmlInputElement, Url,
};

/// Offers `content` as a file of this name.
pub fn download(file_name: &str, media_type: &str, content: &str) {
    let options = BlobPropertyBag::new();
    options.set_type(media_type);
    let parts = Array::of1(&JsValue::from_str(content));
    if let Ok(blob) = Blob::new_with_str_sequence_and_options(&parts, &options) {
        download_blob(file_name, &blob);
    }
}

/// Offers these bytes as a file of this name.
pub(super) fn download_blob(file_name: &str, blob: &Blob) {
    let Ok(url) = Url::create_object_url_with_blob(blob) else {
        return;
    };
    let link = super::document::document()
        .and_then(|d| d.create_element("a").ok())
        .and_then(|e| e.dyn_into::<HtmlAnchorElement>().ok());
    if let Some(link) = link {
        link.set_href(&url);
        link.set_download(file_name);
        link.click();
    }
    // The download keeps the bytes.
    let _ = Url::revoke_object_url(&url);
}

/// The file that was chosen in the file input of `event`.
pub fn chosen_file(event: &Event) -> Option<File> {
    chosen_files(event).into_iter().next()
}

/// All files that were chosen in the file input of `event`. Clears the input, because choosing the
/// same files again would otherwise fire no event.
pub fn chosen_files(event: &Event) -> Vec<File> {
    let input: Option<HtmlInputElement> = event.target().and_then(|target| target.dyn_into().ok());
    let Some(input) = input else {
        return Vec::new();
    };
    let files = listed(input.files().as_ref());
    input.set_value("");
    files
}

/// Whether files are dragged, and not a part of a text.
pub fn drags_file(event: &DragEvent) -> bool {
    let types = event.data_transfer().map(|data| data.types());
    types.is_some_and(|types| types.includes(&"Files".into(), 0))
}

/// The files that were dropped.
pub fn dropped_files(event: &DragEvent) -> Vec<File> {
    listed(event.data_transfer().and_then(|data| data.files()).as_ref())
}

fn listed(files: Option<&FileList>) -> Vec<File> {
    let files = files.map(|files| (0..files.length()).filter_map(|at| files.get(at)));
    files.into_iter().flatten().collect()
}

/// The text that is being pasted.
pub fn pasted_text(event: &Event) -> Option<String> {
    let event = event.dyn_ref::<ClipboardEvent>()?;
    event.clipboard_data()?.get_data("text/plain").ok()
}

/// A file as text; `None` when it cannot be read. Bytes that are no UTF-8 become U+FFFD.
pub async fn read_file(file: &File) -> Option<String> {
    let text = JsFuture::from(Blob::text(file)).await;
    text.ok()?.as_string()
}

/// Bytes of a part of a file, without the rest of it; `None` when it cannot be read.
pub async fn read_slice(file: &File, bytes: Range<u64>) -> Option<Vec<u8>> {
    // Exact: a file is far shorter than 2^53 bytes.
    let part = Blob::slice_with_f64_and_f64(file, bytes.start as f64, bytes.end as f64).ok()?;
    let buffer = JsFuture::from(part.array_buffer()).await.ok()?;
    let buffer: ArrayBuffer = buffer.dyn_into().ok()?;
    Some(Uint8Array::new(&buffer).to_vec())
}
