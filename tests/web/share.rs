//! Share links through the browser's zlib: there and back, and nothing hostile through.

use fuseline_browser::{pack, unpack};
use fuseline_core::examples::EXAMPLES;
use fuseline_view::page::links::{
    MAX_LINK_BYTES, MAX_STATE_BYTES, Payload, ShareError, SharedState, fragment_of, packed_in,
    read_state, write_state,
};
use js_sys::Reflect;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

/// Made once by another zlib and kept: a change that breaks it breaks every link in every slide
/// deck.
const LINK: &str = "v1.eNpLSS3LTE61zTAyMOAqy0wtty3NSystTk3h4ipILErMVQhWsFUwNTRSyMxTMDSy0NMzNDAyUSguSS0Acbky8wpKSxQqFKwU0gzNooN1FMxMYrkqgVqKUnNKNSo0uQBaGxsi";

async fn encoded(written: &[u8]) -> Result<String, ShareError> {
    fragment_of(
        Payload::State,
        &pack(written.to_vec(), MAX_LINK_BYTES).await?,
    )
}

async fn decoded(fragment: &str) -> Result<SharedState, ShareError> {
    read_state(unpack(&packed_in(fragment)?.1, MAX_STATE_BYTES).await?)
}

fn state_of_link() -> SharedState {
    SharedState {
        text: "param S = 512 in 128..1024 step 128\ninput x : f16[S, 64]\ny = relu(x)\n".to_owned(),
        device: fuseline_core::device("h200").unwrap().clone(),
        is_unfused_view: true,
        ..SharedState::default()
    }
}

#[wasm_bindgen_test]
async fn a_link_of_this_version_opens_for_ever() {
    assert_eq!(decoded(LINK).await, Ok(state_of_link()));
}

#[wasm_bindgen_test]
async fn every_example_travels() {
    let texts = EXAMPLES.iter().map(|e| e.text.to_owned());
    for text in texts.chain(["µ\0\n".repeat(60_000), String::new()]) {
        let state = SharedState {
            text,
            ..SharedState::default()
        };
        let written = write_state(&state).unwrap();
        let fragment = encoded(written.as_bytes()).await.unwrap();
        assert!(fragment.len() < written.len() + 20, "{}", fragment.len());
        assert_eq!(decoded(&fragment).await, Ok(state));
    }
}

#[wasm_bindgen_test]
async fn no_cut_no_tail_and_no_changed_bit_passes() {
    for end in "v1.".len()..LINK.len() {
        let found = decoded(&LINK[..end]).await;
        assert_eq!(found, Err(ShareError::Damaged), "cut at {end}");
    }
    for tail in ["A", "AA", "AAAA", "eNpL"] {
        let found = decoded(&[LINK, tail].concat()).await;
        assert_eq!(found, Err(ShareError::Damaged), "followed by {tail}");
    }
    let (_, packed) = packed_in(LINK).unwrap();
    let window = web_sys::window().unwrap();
    let bytes: Vec<char> = window.atob(&packed).unwrap().chars().collect();
    for place in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[place] = char::from(u8::try_from(damaged[place]).unwrap() ^ 1 << bit);
            let base64 = window.btoa(&damaged.iter().collect::<String>()).unwrap();
            let found = decoded(&fragment_of(Payload::State, &base64).unwrap()).await;
            assert!(
                found == Err(ShareError::Damaged) || found == Ok(state_of_link()),
                "byte {place}, bit {bit}: {found:?}"
            );
        }
    }
}

#[wasm_bindgen_test]
async fn what_unpacks_to_too_much_is_refused() {
    let mut written = vec![b'a'; MAX_STATE_BYTES];
    written[0] = b'\n';
    let largest = encoded(&written).await.unwrap();
    assert!(largest.len() < 10_000);
    assert_eq!(
        decoded(&largest).await.map(|s| s.text.len()),
        Ok(MAX_STATE_BYTES - 1)
    );
    written.push(b'a');
    let bomb = encoded(&written).await.unwrap();
    assert_eq!(decoded(&bomb).await, Err(ShareError::TooLarge));
}

#[wasm_bindgen_test]
async fn what_packs_to_too_much_is_refused() {
    // Noise does not pack.
    let mut word = 1_u32;
    let noise: Vec<u8> = (0..MAX_LINK_BYTES)
        .map(|_| {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            word.to_be_bytes()[0]
        })
        .collect();
    assert_eq!(encoded(&noise).await, Err(ShareError::TooLarge));
}

#[wasm_bindgen_test]
async fn a_browser_without_zlib_is_named() {
    let global = js_sys::global();
    for class in ["CompressionStream", "DecompressionStream"] {
        let class = JsValue::from_str(class);
        let kept = Reflect::get(&global, &class).unwrap();
        Reflect::delete_property(&global, &class).unwrap();
        let packed = pack(vec![1], 100).await;
        let unpacked = unpack("eJxjBAAAAgAC", 100).await;
        Reflect::set(&global, &class, &kept).unwrap();
        let is_unsupported = |pack: bool| (packed == Err(ShareError::Unsupported)) == pack;
        assert!(is_unsupported(class == "CompressionStream"));
        assert_eq!(
            unpacked == Err(ShareError::Unsupported),
            class == "DecompressionStream"
        );
    }
}
