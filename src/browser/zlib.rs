//! zlib and base64, by the streams of the browser.

use fuseline_view::page::links::ShareError;
use js_sys::futures::{JsFuture, spawn_local};
use js_sys::{Array, Function, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    ReadableStreamDefaultReader, ReadableStreamReadResult, ReadableWritablePair,
    WritableStreamDefaultWriter,
};

/// Bytes that are written to a stream at once. zlib expands at most a thousandfold, so a hostile
/// link allocates at most a megabyte between two checks of the limit.
const PIECE_BYTES: usize = 1024;

/// `bytes` as a zlib stream in base64.
///
/// # Errors
/// [`ShareError::Unsupported`] where the browser has no zlib, [`ShareError::TooLarge`] past `limit`
/// packed bytes.
pub async fn pack(bytes: Vec<u8>, limit: usize) -> Result<String, ShareError> {
    let packed = through("CompressionStream", bytes, limit).await?;
    let binary: String = packed.into_iter().map(char::from).collect();
    let base64 = web_sys::window().and_then(|w| w.btoa(&binary).ok());
    base64.ok_or(ShareError::Unsupported)
}

/// The bytes that a zlib stream in base64 holds.
///
/// # Errors
/// [`ShareError::Unsupported`] where the browser has no zlib, [`ShareError::Damaged`] when the
/// base64, the stream or its checksum does not hold or something follows, [`ShareError::TooLarge`]
/// past `limit` unpacked bytes.
pub async fn unpack(base64: &str, limit: usize) -> Result<Vec<u8>, ShareError> {
    let binary = web_sys::window().and_then(|w| w.atob(base64).ok());
    let packed = binary.and_then(|b| b.chars().map(|c| u8::try_from(c).ok()).collect());
    through(
        "DecompressionStream",
        packed.ok_or(ShareError::Damaged)?,
        limit,
    )
    .await
}

async fn through(class: &str, bytes: Vec<u8>, limit: usize) -> Result<Vec<u8>, ShareError> {
    let stream = zlib_stream(class).ok_or(ShareError::Unsupported)?;
    let reader = stream.get_readable().get_reader();
    let reader: ReadableStreamDefaultReader = reader.unchecked_into();
    let writer = stream.get_writable().get_writer();
    spawn_local(feed(writer.map_err(|_| ShareError::Unsupported)?, bytes));
    let mut out = Vec::new();
    loop {
        let read = JsFuture::from(reader.read()).await;
        let read = read.map_err(|_| ShareError::Damaged)?;
        let read: ReadableStreamReadResult = read.unchecked_into();
        if read.get_done() != Some(false) {
            return Ok(out);
        }
        out.extend(Uint8Array::new(&read.get_value()).to_vec());
        if out.len() > limit {
            let _ = JsFuture::from(reader.cancel()).await;
            return Err(ShareError::TooLarge);
        }
    }
}

/// Writes until the stream takes no more. The reader gets the error.
async fn feed(writer: WritableStreamDefaultWriter, bytes: Vec<u8>) {
    for piece in bytes.chunks(PIECE_BYTES) {
        let written = writer.write_with_chunk(&Uint8Array::from(piece));
        if JsFuture::from(written).await.is_err() {
            return;
        }
    }
    let _ = JsFuture::from(writer.close()).await;
}

/// A zlib stream of this browser class; `None` where the browser lacks it.
fn zlib_stream(class: &str) -> Option<ReadableWritablePair> {
    let class = Reflect::get(&js_sys::global(), &class.into()).ok()?;
    let format = Array::of1(&JsValue::from_str("deflate"));
    let stream = Reflect::construct(class.dyn_ref::<Function>()?, &format);
    Some(stream.ok()?.unchecked_into())
}
