//! Pictures as pixels.

use super::files::download_blob;
use js_sys::Promise;
use js_sys::futures::JsFuture;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, CanvasRenderingContext2d, HtmlCanvasElement, HtmlImageElement};

/// Pixels for each CSS pixel, so that texts are sharp on a slide.
const SCALE: f64 = 2.0;
/// Most pixels of a side and of the whole: beyond these browsers give an empty canvas.
const MOST_SIDE_PX: f64 = 16_384.0;
const MOST_PX: f64 = 1.2e8;

/// Offers an SVG file as PNG. `false` if the browser cannot draw it.
pub async fn download_png(file_name: &str, svg: &str) -> bool {
    let png = png(svg).await.ok().flatten();
    if let Some(png) = &png {
        download_blob(file_name, png);
    }
    png.is_some()
}

/// The address of an SVG file that holds all of it, for the source of an image.
pub fn svg_address(svg: &str) -> String {
    let text: String = js_sys::encode_uri_component(svg).into();
    format!("data:image/svg+xml;charset=utf-8,{text}")
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the sides are positive and below 2^15"
)]
async fn png(svg: &str) -> Result<Option<Blob>, JsValue> {
    let image = HtmlImageElement::new()?;
    image.set_src(&svg_address(svg));
    JsFuture::from(image.decode()).await?;
    let (width, height) = (
        f64::from(image.natural_width()),
        f64::from(image.natural_height()),
    );
    let scale = SCALE
        .min(MOST_SIDE_PX / width.max(height))
        .min((MOST_PX / (width * height)).sqrt());
    let (width, height) = ((width * scale).floor(), (height * scale).floor());
    let canvas = super::document::document().and_then(|d| d.create_element("canvas").ok());
    let Some(canvas) = canvas.and_then(|canvas| canvas.dyn_into::<HtmlCanvasElement>().ok()) else {
        return Ok(None);
    };
    canvas.set_width(width as u32);
    canvas.set_height(height as u32);
    let context = canvas.get_context("2d")?;
    let Some(context) =
        context.and_then(|context| context.dyn_into::<CanvasRenderingContext2d>().ok())
    else {
        return Ok(None);
    };
    context.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, width, height)?;
    let blob = Promise::new(&mut |resolve, reject| {
        if let Err(problem) = canvas.to_blob(&resolve) {
            // There is no way to report that `reject` itself failed.
            let _ = reject.call1(&JsValue::NULL, &problem);
        }
    });
    // `null` if the canvas is too large for the browser.
    Ok(JsFuture::from(blob).await?.dyn_into().ok())
}
