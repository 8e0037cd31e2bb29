//! Share links: the whole state there and back, and nothing hostile through.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fuseline::core::share::{
    MAX_LINK_BYTES, MAX_STATE_BYTES, ShareError, SharedState, decode, encode,
};
use fuseline::core::{Conventions, DEVICES, Device, Externals, Policy, ReshapeCost};
use proptest::prelude::*;

fn link_of_bytes(bytes: &[u8]) -> String {
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6);
    format!("v1.{}", URL_SAFE_NO_PAD.encode(packed))
}

#[test]
fn every_choice_travels() {
    for device in DEVICES
        .iter()
        .cloned()
        .chain([Device::custom(1e12, 2e14, 3e13, 0.0)])
    {
        for policy in Policy::ALL {
            let state = SharedState {
                text: "# a = b\n\ny = relu(x) : f16[8]\n".to_owned(),
                policy,
                conventions: Conventions {
                    externals: Externals::OutputShape,
                    reshape: ReshapeCost::View,
                },
                device: device.clone(),
                is_unfused_view: true,
                selected_op: Some("y".to_owned()),
            };
            assert_eq!(decode(&encode(&state).unwrap()).unwrap(), state);
        }
    }
}

#[test]
fn a_link_of_this_version_opens_for_ever() {
    // Made once by another zlib and kept: a change that breaks it breaks every link in every slide deck.
    const LINK: &str = "v1.eNpLSS3LTE61zTAyMOAqy0wtty3NSystTk3h4ipILErMVQhWsFUwNTRSyMxTMDSy0NMzNDAyUSguSS0Acbky8wpKSxQqFKwU0gzNooN1FMxMYrkqgVqKUnNKNSo0uQBaGxsi";
    let expected = SharedState {
        text: "param S = 512 in 128..1024 step 128\ninput x : f16[S, 64]\ny = relu(x)\n".to_owned(),
        device: fuseline::core::device("h200").unwrap().clone(),
        is_unfused_view: true,
        ..SharedState::default()
    };
    assert_eq!(decode(LINK), Ok(expected));
}

#[test]
fn broken_and_hostile_links_are_named() {
    let whole = encode(&SharedState {
        text: "y = relu(x) : f16[1024]".repeat(20),
        ..SharedState::default()
    })
    .unwrap();
    let bomb = link_of_bytes(&vec![b'a'; MAX_STATE_BYTES + 1]);
    assert!(bomb.len() < 10_000);
    let cases = [
        (String::new(), ShareError::NotALink),
        ("section-2".to_owned(), ShareError::NotALink),
        ("v.abc".to_owned(), ShareError::NotALink),
        ("v2.abc".to_owned(), ShareError::UnknownVersion),
        ("v1.".to_owned(), ShareError::Damaged),
        ("v1.%%%".to_owned(), ShareError::Damaged),
        (
            "v1.<img src=x onerror=alert(1)>".to_owned(),
            ShareError::Damaged,
        ),
        (link_of_bytes(b"no empty line"), ShareError::Damaged),
        (link_of_bytes(b"\n\xff\xfe"), ShareError::Damaged),
        (bomb, ShareError::TooLarge),
        (
            format!("v1.{}", "A".repeat(5_000_000)),
            ShareError::TooLarge,
        ),
    ];
    for (link, error) in cases {
        let shown: String = link.chars().take(40).collect();
        assert_eq!(decode(&link), Err(error), "{shown}");
    }
    for end in 0..whole.len() {
        assert!(decode(&whole[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn unknown_keys_and_values_leave_the_defaults() {
    let link =
        link_of_bytes(b"policy=magic\ndevice=abacus\ncustom=1 2\nmood=good\nview=sideways\n\ntext");
    let expected = SharedState {
        text: "text".to_owned(),
        ..SharedState::default()
    };
    assert_eq!(decode(&link), Ok(expected));
}

#[test]
fn a_text_too_long_for_a_link_is_refused() {
    let state = SharedState {
        text: "x".repeat(MAX_STATE_BYTES),
        ..SharedState::default()
    };
    assert_eq!(encode(&state), Err(ShareError::TooLarge));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_travels(text in any::<String>(), selected in proptest::option::of("[^\\r\\n]*")) {
        let state = SharedState { text, selected_op: selected, ..SharedState::default() };
        let link = encode(&state).unwrap();
        prop_assert!(link.len() < MAX_LINK_BYTES);
        prop_assert!(link.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)));
        prop_assert_eq!(decode(&link), Ok(state));
    }

    #[test]
    fn any_fragment_is_survived(fragment in any::<String>(), bytes in any::<Vec<u8>>()) {
        let _ = decode(&fragment);
        let _ = decode(&format!("v1.{}", URL_SAFE_NO_PAD.encode(&bytes)));
        let _ = decode(&link_of_bytes(&bytes));
    }
}
