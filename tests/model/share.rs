//! Share links: the whole state there and back, and nothing hostile through.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fuseline::core::examples::EXAMPLES;
use fuseline::core::share::{
    MAX_LINK_BYTES, MAX_STATE_BYTES, ShareError, SharedState, decode, encode,
};
use fuseline::core::{
    Conventions, DEVICES, Device, Externals, FusionOptions, Objective, Policy, ReshapeCost,
};
use proptest::prelude::*;

fn link_of_bytes(bytes: &[u8]) -> String {
    link_at_level(bytes, 6)
}

/// By another zlib, at any of its levels: 0 stores, 1 uses fixed codes, others codes of their own.
fn link_at_level(bytes: &[u8], level: u8) -> String {
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(bytes, level);
    format!("v1.{}", URL_SAFE_NO_PAD.encode(packed))
}

/// What another zlib finds in a link.
fn bytes_of_link(link: &str) -> Vec<u8> {
    let packed = URL_SAFE_NO_PAD.decode(&link["v1.".len()..]).unwrap();
    miniz_oxide::inflate::decompress_to_vec_zlib(&packed).unwrap()
}

/// Lines as op lists have them: long matches, near and far.
fn repeating_text() -> impl Strategy<Value = String> {
    let line = prop_oneof!["[a-c]{1,3}", "y[0-9] = relu\\(x[0-9]\\)\n", "[ -~]{0,40}"];
    proptest::collection::vec((line, 1_usize..40), 0..60).prop_map(|parts| {
        parts
            .iter()
            .map(|(line, times)| line.repeat(*times))
            .collect()
    })
}

#[test]
fn every_choice_travels() {
    for device in DEVICES.iter().cloned().chain([
        Device::custom(1e12, 2e14, 3e13, 0.0),
        fuseline::core::default_device().clone().with_launch_s(0.0),
        fuseline::core::device("h200")
            .unwrap()
            .clone()
            .with_launch_s(12.5e-6),
    ]) {
        for policy in Policy::ALL {
            let state = SharedState {
                text: "# a = b\n\ny = relu(x) : f16[8]\n".to_owned(),
                policy,
                fusion: FusionOptions {
                    objective: Objective::Time,
                    horizontal: true,
                    prologue: true,
                    after_reductions: false,
                    max_autotune: true,
                    attention: true,
                    ..FusionOptions::default()
                },
                conventions: Conventions {
                    externals: Externals::OutputShape,
                    reshape: ReshapeCost::View,
                },
                device: device.clone(),
                is_unfused_view: true,
                selected_op: Some("y".to_owned()),
                open_tab: Some("compare".to_owned()),
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
fn links_are_as_short_as_those_of_another_zlib() {
    for example in EXAMPLES {
        let state = SharedState {
            text: example.text.to_owned(),
            ..SharedState::default()
        };
        let theirs = link_at_level(format!("\n{}", example.text).as_bytes(), 8).len();
        let ours = encode(&state).unwrap().len();
        // A few characters more where the whole link is short.
        assert!(
            ours * 100 <= theirs * 102 + 800,
            "{}: {ours}, {theirs}",
            example.id
        );
    }
}

#[test]
fn a_changed_byte_never_passes() {
    let text = include_str!("../../public/examples/transformer.fuse").to_owned();
    let state = SharedState {
        text,
        ..SharedState::default()
    };
    let packed = URL_SAFE_NO_PAD
        .decode(&encode(&state).unwrap()["v1.".len()..])
        .unwrap();
    for place in 0..packed.len() {
        for bit in 0..8 {
            let mut damaged = packed.clone();
            damaged[place] ^= 1 << bit;
            let link = format!("v1.{}", URL_SAFE_NO_PAD.encode(damaged));
            let found = decode(&link);
            assert!(
                found.is_err() || found == Ok(state.clone()),
                "byte {place}, bit {bit}"
            );
        }
    }
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
    fn any_zlib_reads_our_links_and_we_read_theirs(text in repeating_text(), level in 0_u8..=10) {
        let state = SharedState { text, ..SharedState::default() };
        let link = encode(&state).unwrap();
        let written = format!("\n{}", state.text);
        prop_assert_eq!(bytes_of_link(&link), written.as_bytes());
        prop_assert_eq!(decode(&link), Ok(state.clone()));
        prop_assert_eq!(decode(&link_at_level(written.as_bytes(), level)), Ok(state));
    }

    #[test]
    fn any_fragment_is_survived(fragment in any::<String>(), bytes in any::<Vec<u8>>()) {
        let _ = decode(&fragment);
        let _ = decode(&format!("v1.{}", URL_SAFE_NO_PAD.encode(&bytes)));
        let _ = decode(&link_of_bytes(&bytes));
    }
}
