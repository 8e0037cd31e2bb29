//! Share links: round trips of the state as text, and checks before decompression.
//! `tests/web/share.rs` and `tests/e2e/share.spec.mjs` test the compression, which is the
//! browser's.

use fuseline_core::model::device::Rate;
use fuseline_core::{
    Conventions, DEVICES, Device, Externals, F32Matmul, FusionOptions, Objective, Policy,
    ReshapeCost,
};
use fuseline_view::page::links::{
    MAX_LINK_BYTES, MAX_STATE_BYTES, Payload, ShareError, SharedState, fragment_of, packed_in,
    read_state, write_state,
};
use fuseline_view::page::note::Note;
use proptest::prelude::*;
use strum::VariantArray;

fn there_and_back(state: &SharedState) -> Result<SharedState, ShareError> {
    read_state(write_state(state)?.into_bytes())
}

#[test]
fn every_choice_travels() {
    for device in DEVICES.iter().cloned().chain([
        Device::custom(1e12, 2e14, 3e13, 0.0),
        Device::custom(1e12, 2e14, 3e13, 0.0)
            .with_rate(Rate::MatrixTf32, 1e14 / 3.0)
            .with_rate(Rate::MatrixI8, 4e14)
            .with_rate(Rate::VectorF64, 1e12),
        // Without any rate.
        Device::custom(1e12, 0.0, 0.0, 0.0),
        // Values without a short decimal representation.
        Device::custom(1e12 / 3.0, 2e14 / 7.0, 1e13 * (0.1 + 0.2), 2.3e-6 / 3.0),
        fuseline_core::default_device().clone().with_launch_s(0.0),
        fuseline_core::device("h200")
            .unwrap()
            .clone()
            .with_launch_s(12.5e-6),
    ]) {
        for &policy in Policy::VARIANTS {
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
                    attention_search: false,
                    ..FusionOptions::default()
                },
                conventions: Conventions {
                    externals: Externals::OutputShape,
                    reshape: ReshapeCost::View,
                    f32_matmul: F32Matmul::Tf32,
                    f32_conv: F32Matmul::F32,
                },
                device: device.clone(),
                is_unfused_view: true,
                selected_op: Some("y".to_owned()),
                open_tab: Some("compare".to_owned()),
                puzzle: Some("diamond".to_owned()),
                moves: Some(3),
                note: Note::of("Look at kernel 3 = the softmax."),
            };
            assert_eq!(there_and_back(&state), Ok(state));
        }
    }
}

#[test]
fn a_state_of_this_version_is_read_for_ever() {
    // As first written: if this fails, every existing link is broken.
    let written = "device=h200\nview=unfused\n\nparam S = 512\ny = relu(x)\n";
    let expected = SharedState {
        text: "param S = 512\ny = relu(x)\n".to_owned(),
        device: fuseline_core::device("h200").unwrap().clone(),
        is_unfused_view: true,
        ..SharedState::default()
    };
    assert_eq!(write_state(&expected).as_deref(), Ok(written));
    assert_eq!(read_state(written.into()), Ok(expected));
}

#[test]
fn a_link_from_before_there_were_notes_has_none() {
    let state = read_state("policy=optimal\ntab=compare\n\ny = relu(x)\n".into()).unwrap();
    assert_eq!(state.note, None);
}

#[test]
fn a_note_is_one_line_of_plain_text() {
    let text = |text: &str| Note::of(text).map(|note| note.as_str().to_owned());
    for (written, expected) in [
        ("Worth 20 minutes?", "Worth 20 minutes?"),
        (
            "  first\nsecond\r\nthird\tfourth\u{2028}fifth \n",
            "first second  third fourth fifth",
        ),
        (
            "<img src=x onerror=alert(1)>&amp;",
            "<img src=x onerror=alert(1)>&amp;",
        ),
        ("a\0b\u{1b}[31mc\u{7f}d\u{9b}e", "ab[31mcde"),
        ("exe.\u{202e}gnp.\u{2066}x\u{2069}", "exe.gnp.x"),
        ("pay\u{200b}pal\u{feff}\u{e0041}", "paypal"),
        (
            "nim\u{200c}fasle \u{1f469}\u{200d}\u{1f52c}",
            "nim\u{200c}fasle \u{1f469}\u{200d}\u{1f52c}",
        ),
        ("שלום", "שלום"),
    ] {
        assert_eq!(text(written).as_deref(), Some(expected), "{written:?}");
    }
    for nothing in ["", " \n\t", "\u{202e}\u{200b}\0", "\u{3000}"] {
        assert_eq!(text(nothing), None, "{nothing:?}");
    }
}

#[test]
fn a_note_is_cut_where_a_visitor_counts_280_characters() {
    let longest = "é😀".repeat(Note::MAX_CHARS / 2);
    let kept = |text: &str| Note::of(text).unwrap().as_str().to_owned();
    assert_eq!(kept(&longest), longest);
    assert_eq!(kept(&format!("{longest}x")), longest);
    assert_eq!(kept(&"x".repeat(10_000)), "x".repeat(280));
    // A link that the page would not write is cut, too.
    let state = read_state(format!("note={}\n\n", "y".repeat(10_000)).into()).unwrap();
    assert_eq!(state.note, Note::of(&"y".repeat(280)));
}

#[test]
fn a_note_begins_no_other_line_of_the_header() {
    let state = SharedState {
        text: "y = relu(x)\n".to_owned(),
        note: Note::of("harmless\npolicy=optimal\n\nz = gelu(x)"),
        ..SharedState::default()
    };
    let read = there_and_back(&state).unwrap();
    assert_eq!(read.policy, Policy::default());
    assert_eq!(read, state);
}

/// Links from before other types had rates of their own.
#[test]
fn a_custom_device_of_an_older_link_has_no_more_rates_than_it_states() {
    let written = "custom=1000000000000 200000000000000 30000000000000 0\n\nx = relu(y)\n";
    let state = read_state(written.into()).unwrap();
    assert_eq!(state.device, Device::custom(1e12, 2e14, 3e13, 0.0));
    assert_eq!(state.conventions.f32_matmul, F32Matmul::F32);
}

#[test]
fn a_rate_without_a_custom_device_or_out_of_range_changes_nothing() {
    for (written, expected) in [
        ("matrix-i8=1e14\n\n", SharedState::default().device),
        (
            "custom=1e12 2e14 3e13 0\nmatrix-i8=1e30\nvector-f64=-1\nmatrix-f64=x\n\n",
            Device::custom(1e12, 2e14, 3e13, 0.0),
        ),
    ] {
        assert_eq!(read_state(written.into()).unwrap().device, expected);
    }
}

#[test]
fn what_is_no_link_is_named() {
    let longest = "A".repeat(MAX_LINK_BYTES - "v1.".len());
    let cases = [
        ("", ShareError::NotALink),
        ("section-2", ShareError::NotALink),
        ("v.abc", ShareError::NotALink),
        ("v1", ShareError::NotALink),
        ("v2.abc", ShareError::UnknownVersion),
        ("v1.", ShareError::Damaged),
        ("v1.%%%", ShareError::Damaged),
        ("v1.eN p", ShareError::Damaged),
        ("v1.eN\n", ShareError::Damaged),
        ("v1.eNpL+S", ShareError::Damaged),
        ("v1.eNpLSQ==", ShareError::Damaged),
        ("v1.eNpLé", ShareError::Damaged),
        ("v1.<img src=x onerror=alert(1)>", ShareError::Damaged),
        (&format!("v1.{longest}A"), ShareError::TooLarge),
    ];
    for (fragment, error) in cases {
        let shown: String = fragment.chars().take(40).collect();
        assert_eq!(packed_in(fragment), Err(error), "{shown}");
    }
    assert_eq!(
        packed_in(&format!("v1.{longest}")),
        Ok((Payload::State, longest.clone()))
    );
    assert_eq!(
        fragment_of(Payload::State, &longest),
        Ok(format!("v1.{longest}"))
    );
    assert_eq!(
        fragment_of(Payload::State, &(longest + "A")),
        Err(ShareError::TooLarge)
    );
}

#[test]
fn what_is_no_state_is_damaged() {
    for written in ["", "no empty line", "policy=none\n"] {
        assert_eq!(read_state(written.into()), Err(ShareError::Damaged));
    }
    assert_eq!(read_state(b"\n\xff\xfe".to_vec()), Err(ShareError::Damaged));
}

#[test]
fn unknown_keys_and_values_leave_the_defaults() {
    let written = "policy=magic\ndevice=abacus\ncustom=1 2\ncustom=1e39 2e14 3e13 0\nmood=good\nview=sideways\n\ntext";
    let expected = SharedState {
        text: "text".to_owned(),
        ..SharedState::default()
    };
    assert_eq!(read_state(written.into()), Ok(expected));
}

#[test]
fn a_text_too_long_for_a_link_is_refused() {
    let state = |length| SharedState {
        text: "x".repeat(length),
        ..SharedState::default()
    };
    assert!(write_state(&state(MAX_STATE_BYTES - 1)).is_ok());
    assert_eq!(
        write_state(&state(MAX_STATE_BYTES)),
        Err(ShareError::TooLarge)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_travels(text in any::<String>(), selected in proptest::option::of("[^\\r\\n]*"), note in any::<String>()) {
        let note = Note::of(&note);
        let state = SharedState { text, selected_op: selected, note, ..SharedState::default() };
        prop_assert_eq!(there_and_back(&state), Ok(state));
    }

    #[test]
    fn any_base64_travels_without_padding(packed in "[A-Za-z0-9+/]{1,200}", padding in "={0,2}") {
        let fragment = fragment_of(Payload::State, &(packed.clone() + &padding)).unwrap();
        prop_assert!(fragment.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)));
        prop_assert_eq!(packed_in(&fragment), Ok((Payload::State, packed)));
    }

    #[test]
    fn what_was_read_is_written_and_read_again(value in "[a\r\t =]{0,6}", text in "[a\r\n]{0,4}") {
        let written = format!("selected={value}\ntab={value}\n\n{text}");
        let state = read_state(written.into_bytes()).unwrap();
        let again = read_state(write_state(&state).unwrap().into_bytes());
        prop_assert_eq!(again, Ok(state));
    }

    #[test]
    fn anything_is_survived(fragment in any::<String>(), written in any::<Vec<u8>>()) {
        let _ = packed_in(&fragment);
        let _ = packed_in(&format!("v1.{fragment}"));
        let _ = read_state(written);
    }
}

#[test]
fn a_fragment_has_only_characters_of_addresses() {
    use fuseline_view::page::links::{Payload, fragment_of, packed_in};
    assert_eq!(
        fragment_of(Payload::State, "eN+/AA==").unwrap(),
        "v1.eN-_AA"
    );
    assert_eq!(packed_in("v1.eN-_AA").unwrap().1, "eN+/AA");
}

#[test]
fn a_listed_lesson_is_linked_by_its_name_and_step() {
    use fuseline_view::page::links::{listed_lesson_fragment, listed_lesson_in};
    assert_eq!(listed_lesson_fragment("exercise", 3), "lesson=exercise.3");
    assert_eq!(listed_lesson_in("lesson=exercise.3"), Some(("exercise", 3)));
    assert_eq!(listed_lesson_in("lesson=exercise"), Some(("exercise", 1)));
}

#[test]
fn a_state_comes_back_from_its_link() {
    use fuseline_view::page::links::{SharedState, read_state, write_state};
    let state = SharedState {
        text: "y = relu(x) : f16[1024]".into(),
        ..SharedState::default()
    };
    assert_eq!(
        read_state(write_state(&state).unwrap().into()).unwrap(),
        state
    );
}
