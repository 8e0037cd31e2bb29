//! Traces of more kernels than are kept: the last ones count, and the visitor is told. Packed files
//! that stand for very much.

use super::{Known, known};
use flate2::Compression;
use flate2::write::GzEncoder;
use fuseline_core::notation::parse;
use fuseline_core::{Options, Policy, analyze_program};
use fuseline_import::matching::match_kernels;
use fuseline_import::profile::{Kind, MAX_KERNELS, MeasuredRun, Profile, Reader, read_profile};
use fuseline_view::present::profile::notes;
use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;

pub(crate) static PROFILES: &[Known] = known![
    a_range_that_keeps_its_kernels_is_a_run,
    the_latest_kernels_are_kept_in_whatever_order_they_come,
    the_last_call_of_a_program_that_repeats_is_found_where_the_first_one_is_cut,
    what_unpacks_to_much_is_read_in_parts,
];

fn packed(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/measured_files");
    std::fs::read(folder.join(name)).unwrap()
}

/// A trace of kernels with these names, one each microsecond in the order of `starts`, and ranges
/// behind them as PyTorch writes them.
fn trace(
    names: &[&str],
    starts: impl Iterator<Item = usize>,
    ranges: &[(&str, usize, usize)],
) -> Profile {
    let mut text = String::from("[");
    let mut event = |category: &str, name: &str, start: usize, time: usize| {
        let _ = write!(
            text,
            r#"{{"cat":"{category}","name":"{name}","ts":{start},"dur":{time}}},"#
        );
    };
    for start in starts {
        event("kernel", names[start % names.len()], start, 1);
    }
    for (name, start, end) in ranges {
        event("gpu_user_annotation", name, *start, end - start);
    }
    text.push_str("{}]");
    read_profile(Kind::Trace, text.as_bytes()).unwrap()
}

/// A run by how many kernels it has and which is the first.
fn told(run: &MeasuredRun) -> String {
    let variant = run.variant.as_deref().unwrap_or("-");
    let cut = if run.is_cut { ", cut" } else { "" };
    let first = &run.kernels[0].name;
    format!("{variant} {} from {first}{cut}", run.kernels.len())
}

fn runs(profile: &Profile) -> Vec<String> {
    profile.runs.iter().map(told).collect()
}

fn a_range_that_keeps_its_kernels_is_a_run() {
    const COUNT: usize = MAX_KERNELS + 10;
    let of = |ranges: &[(&str, usize, usize)]| {
        let profile = trace(&["a", "b", "c"], 0..COUNT, ranges);
        assert_eq!(profile.passed_over, 10);
        runs(&profile)
    };
    let all = format!("- {MAX_KERNELS} from b, cut");
    assert_eq!(of(&[]), [all.as_str()]);
    assert_eq!(
        of(&[("ProfilerStep#1", 0, 50), ("ProfilerStep#2", 300, 350)]),
        ["- 50 from a"]
    );
    assert_eq!(of(&[("ProfilerStep#2", 9, COUNT)]), [all.as_str()]);
    assert_eq!(
        of(&[("ProfilerStep#2", 10, COUNT)]),
        [format!("- {MAX_KERNELS} from b")]
    );
    assert_eq!(
        of(&[
            ("eager", 0, 9),
            ("compiled", 60, 66),
            ("max-autotune", 8, 20)
        ]),
        ["compiled 6 from a"]
    );
    assert_eq!(of(&[("eager", 0, 9)]), [all.as_str()]);
}

/// More than twice as many as are kept, in an order that a profiler of several streams may write.
fn the_latest_kernels_are_kept_in_whatever_order_they_come() {
    const COUNT: usize = MAX_KERNELS * 2 + 70_001;
    let backward = trace(&["a", "b", "c", "d", "e"], (0..COUNT).rev(), &[]);
    let mixed = (0..COUNT).map(|at| at * 1_009 % COUNT);
    assert!(trace(&["a", "b", "c", "d", "e"], mixed, &[]) == backward);
    assert_eq!(backward.passed_over, COUNT - MAX_KERNELS);
    assert_eq!(runs(&backward), [format!("- {MAX_KERNELS} from b, cut")]);
}

fn the_last_call_of_a_program_that_repeats_is_found_where_the_first_one_is_cut() {
    let eager = read_profile(Kind::Trace, &file("trace_eager.json")).unwrap();
    let names: Vec<&str> = eager.runs[0]
        .kernels
        .iter()
        .map(|kernel| &*kernel.name)
        .collect();
    assert_ne!(MAX_KERNELS % names.len(), 0);
    let long = trace(&names, 0..names.len() * 30_000, &[]);
    let text = String::from_utf8(file("mlp.fuse")).unwrap();
    let options = Options {
        policy: Policy::None,
        ..Options::default()
    };
    let analysis = analyze_program(&parse(&text).program, &options)
        .analysis
        .unwrap();
    let matching = match_kernels(&analysis, &long.runs[0]);
    assert_eq!(matching.calls, MAX_KERNELS / names.len());
    let called: Vec<&str> = matching
        .run
        .kernels
        .iter()
        .map(|kernel| &*kernel.name)
        .collect();
    assert_eq!(called, names);
    assert!(matching.of_measured.iter().all(Option::is_some));
    let notes = notes(&analysis, &long, &analysis.graph.digest(), &matching);
    assert_eq!(
        notes[1].text,
        "Fuseline skips the first 10,000 kernels of the trace, with any run that begins there, and reads the last 200,000."
    );
}

/// A packed file of a few kilobytes may stand for gigabytes: the caller is asked again after each
/// megabyte, and no text grows without end.
fn what_unpacks_to_much_is_read_in_parts() {
    let events = b"["
        .iter()
        .chain(b"{},".repeat(1_000_000).iter())
        .copied()
        .collect::<Vec<u8>>();
    let bytes = packed(&events);
    assert!(bytes.len() < 10_000);
    let mut reader = Reader::new(Kind::Trace);
    let (mut rest, mut parts) = (&bytes[..], 0);
    while !rest.is_empty() {
        rest = &rest[reader.push_part(rest).unwrap()..];
        parts += 1;
    }
    assert_eq!(parts, 3);

    let long = [b"[{\"name\": \"".to_vec(), vec![b'a'; 18 << 20]].concat();
    let said = (read_profile(Kind::Trace, &packed(&long)).unwrap_err()).to_string();
    assert!(
        said.starts_with("This trace has a value of more than 16 MB before line 1, byte 16"),
        "{said}"
    );

    let mut names = b"Start (ns),Duration (ns),Name\n".to_vec();
    for number in 0..80 {
        names.extend(
            [
                format!("1,1,{number}").as_bytes(),
                &vec![b'a'; 900_000],
                b"\n",
            ]
            .concat(),
        );
    }
    let said = (read_profile(Kind::Table, &packed(&names)).unwrap_err()).to_string();
    assert_eq!(
        said,
        "Line 76 of this table: The kernel names in this file exceed 64 MB."
    );
}
