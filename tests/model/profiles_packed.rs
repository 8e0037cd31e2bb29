//! Measurements that gzip has packed: they say what the unpacked files say, and damaged ones where
//! they stop.

use crate::profiles::{file, profile};
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use fuseline_import::profile::{Kind, Profile, ProfileError, Reader, read_profile};
use fuseline_view::opened::model_file::{FileKind, kind_of};
use proptest::prelude::*;
use std::io::Write;

const FILES: [&str; 5] = [
    "bench.json",
    "ncu_raw.csv",
    "ncu_base.csv",
    "nsys_gpu_trace.csv",
    "trace_eager.json",
];

fn packed(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

/// What comes of a file in slices of these lengths, the last of which repeats.
fn read_in_slices(kind: Kind, bytes: &[u8], lengths: &[usize]) -> Result<Profile, ProfileError> {
    let mut reader = Reader::new(kind);
    let mut rest = bytes;
    let mut lengths = lengths.iter().chain(lengths.last().into_iter().cycle());
    while !rest.is_empty() {
        let (slice, behind) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
        reader.push(slice)?;
        rest = behind;
    }
    reader.finish()
}

#[test]
fn the_kind_of_a_packed_file_is_that_of_what_it_holds() {
    for name in FILES {
        let start = packed(&file(name));
        let start = &start[..start.len().min(3_000)];
        let kind = profile(name).kind;
        for given in [format!("{name}.gz"), name.to_owned(), "a file".to_owned()] {
            assert_eq!(kind_of(&given, start), FileKind::Profile(kind), "{given}");
        }
    }
    let probe = br#"{"device": {"name": "NVIDIA H200", "measured_on": "2026-11-21", "measured_with": "2.11", "memory_bytes_per_s": 4e12}}"#;
    let other: [&[u8]; 5] = [
        &file("mlp.fuse"),
        &[0x08, 0x0a, 0x12, 0x07],
        b"PK\x03\x04",
        probe,
        b"",
    ];
    let ends = [
        packed(&file("bench.json"))[..12].to_vec(),
        b"\x1f\x8b\x07".to_vec(),
    ];
    for start in other.into_iter().map(packed).chain(ends) {
        assert_eq!(
            kind_of("a.json.gz", &start),
            FileKind::Other(
                "it is compressed with gzip, which works for measurements only: unpack it first"
            )
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn slices_and_members_of_any_length_say_the_same(
        name in proptest::sample::select(&FILES),
        level in 0_u32..=9,
        members in proptest::collection::vec(0_usize..20_000, 0..4),
        has_fields in any::<bool>(),
        slices in proptest::collection::vec(1_usize..2_000, 1..20),
    ) {
        let content = file(name);
        let mut cuts: Vec<usize> = members.iter().map(|cut| cut % (content.len() + 1)).collect();
        cuts.extend([0, content.len()]);
        cuts.sort_unstable();
        let mut bytes = Vec::new();
        for cut in cuts.windows(2) {
            let fields = if has_fields { GzBuilder::new().filename(name).comment("a trace").extra(vec![7; 300]) } else { GzBuilder::new() };
            let mut member = fields.write(&mut bytes, Compression::new(level));
            member.write_all(&content[cut[0]..cut[1]]).unwrap();
            member.finish().unwrap();
        }
        let whole = profile(name);
        prop_assert_eq!(read_in_slices(whole.kind, &bytes, &slices).unwrap(), whole);
    }

    #[test]
    fn a_damaged_file_gets_a_sentence(
        name in proptest::sample::select(&FILES),
        at in any::<proptest::sample::Index>(),
        flipped in 1_u8..=255,
        slice in 1_usize..2_000,
    ) {
        let whole = profile(name);
        let mut bytes = packed(&file(name));
        let at = at.index(bytes.len());
        let cut = read_in_slices(whole.kind, &bytes[..at], &[slice]);
        prop_assert!(cut.is_err_and(|problem| problem.to_string().ends_with('.')));
        bytes[at] ^= flipped;
        // Some bytes say nothing of the content: the time in the head, or the code of a symbol that
        // the content lacks.
        match read_in_slices(whole.kind, &bytes, &[slice]) {
            Ok(read) => prop_assert_eq!(read, whole),
            Err(problem) => prop_assert!(problem.to_string().ends_with('.'), "{}", problem),
        }
    }
}

#[test]
fn every_slice_of_one_byte_is_taken() {
    let whole = profile("trace_compiled.json");
    let bytes = packed(&file("trace_compiled.json"));
    assert_eq!(read_in_slices(Kind::Trace, &bytes, &[1]).unwrap(), whole);
}

#[test]
fn a_sentence_says_where_a_file_stops() {
    let bytes = packed(&file("trace_eager.json"));
    let said = |bytes: &[u8]| (read_profile(Kind::Trace, bytes).unwrap_err()).to_string();
    let end = bytes.len();
    let ends = |byte: usize| {
        format!(
            "This gzip file is cut off after byte {byte}. It may have been copied while the profiler was still writing."
        )
    };
    assert_eq!(said(&bytes[..5]), ends(5));
    assert_eq!(said(&bytes[..end / 2]), ends(end / 2));
    let check_sum = |end: usize| {
        format!(
            "This gzip file is damaged before byte {end}: corrupt gzip stream does not have a matching checksum."
        )
    };
    assert_eq!(said(&bytes[..end - 3]), check_sum(end - 3));
    let mut other_sum = bytes.clone();
    other_sum[end - 6] ^= 1;
    assert_eq!(said(&other_sum), check_sum(end));
    let other_method = [&[0x1f, 0x8b, 7], &bytes[3..]].concat();
    assert_eq!(
        said(&other_method),
        "This gzip file is damaged after byte 0: invalid gzip header."
    );
    let with_more = [&bytes[..], b"more than a head of gzip"].concat();
    assert_eq!(
        said(&with_more),
        format!("This gzip file is damaged after byte {end}: invalid gzip header.")
    );
    let half = file("trace_eager.json");
    assert_eq!(
        said(&packed(&half[..half.len() / 2])),
        "This trace is cut off after 40 events and 11210 bytes. It may have been copied while the profiler was still writing."
    );
}
