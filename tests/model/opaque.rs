//! Opaque ops: operators that are not known, and kernels of libraries.

use fuseline_codegen::interpret::{Setup, interpret};
use fuseline_core::analysis::why::{Verdict, Why};
use fuseline_core::fusion::reason::Reason;
use fuseline_core::notation::import::program_of_op_list;
use fuseline_core::notation::{parse, print};
use fuseline_core::{
    Analysis, Code, KernelId, OpId, Options, Policy, analyze_program, device, json::read_json,
};
use fuseline_view::present::explain::flops_text;
use fuseline_view::present::export::OpList;
use fuseline_view::present::headline::headline;
use fuseline_view::present::inspect::inspect_op;
use fuseline_view::present::kernels::kernel_total;
use fuseline_view::present::pytorch::script;
use fuseline_view::present::reasons::reason_text;
use fuseline_view::present::times::time_lines;
use strum::VariantArray;

const TEXT: &str = "\
param N = 64
input x : f32[8, N]
input w : f32[8, N]
a = relu(x)
b = opaque(a, w, name=aten.fft_rfft, flops=5*N*8) : f32[8, 33]
c = gelu(b)
d = sum(c)
";

fn analysis(text: &str, policy: Policy) -> Analysis {
    let outcome = analyze_program(&parse(text).program, &Options::of_policy(policy));
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
}

/// A product of f8 that was exported as opaque: 550 GFLOP, which matrix units finish in 0.3 ms and vector units in 8.
const PRODUCT: &str = "\
input a : f8[4096, 8192]
input b : f8[8192, 8192]
c = opaque(a, b, name=aten._scaled_mm, flops=2*4096*8192*8192) : bf16[4096, 8192]
d = relu(c)
";

#[test]
fn its_flops_make_no_bound_and_no_prediction() {
    for id in ["a100-80", "h100", "h200"] {
        let options = Options {
            device: device(id).unwrap().clone(),
            ..Options::of_policy(Policy::Rules)
        };
        let analysis = analyze_program(&parse(PRODUCT).program, &options)
            .analysis
            .unwrap();
        let kernel = &analysis.fused.kernels[KernelId::new(0)];
        let bytes_s = kernel.bytes() as f64 / options.device.memory_bytes_per_s.value;
        let bound_s = bytes_s + options.device.launch_s.value;
        assert!((kernel.placement.time_s - bound_s).abs() < 1e-12, "{id}");
        assert!(kernel.placement.is_incomplete());
        assert_eq!(analysis.expected, None, "{id}");
        assert_eq!(kernel.work.flops(), 2 * 4096 * 8192 * 8192);
        let lines = time_lines(&analysis, KernelId::new(0));
        assert!(
            lines.last().unwrap().starts_with(
                "an opaque operator may run on the matrix units or on the vector units"
            ),
            "{lines:?}"
        );
        let headline = headline(&analysis);
        for time in [&headline.unfused_time, &headline.fused_time] {
            assert!(time.starts_with('≥'), "{time}");
        }
        // Two times of which only a part is known have no ratio.
        assert_eq!((headline.ratio, analysis.speedup), (None, None));
        assert!(headline.time_note.contains("an opaque operator may run on"));
        assert!(kernel_total(&analysis).times.contains("an opaque operator"));
    }
}

#[test]
fn no_policy_fuses_anything_with_it() {
    let marked: Vec<String> = (TEXT.lines())
        .map(|line| {
            line.to_owned()
                + if line.contains('(') {
                    " @kernel 1\n"
                } else {
                    "\n"
                }
        })
        .collect();
    for text in [TEXT.to_owned(), marked.concat()] {
        for &policy in Policy::VARIANTS {
            let outcome = analyze_program(&parse(&text).program, &Options::of_policy(policy));
            let analysis = outcome.analysis.unwrap();
            let kernel = analysis.partition.kernel_of[OpId::new(1)];
            assert_eq!(
                analysis.partition.kernels[kernel],
                [OpId::new(1)],
                "{policy:?}\n{text}"
            );
        }
    }
}

#[test]
fn it_is_the_reason_why_not() {
    for policy in [
        Policy::Rules,
        Policy::Inductor,
        Policy::Optimal,
        Policy::None,
    ] {
        let analysis = analysis(TEXT, policy);
        let why = Why::new(&analysis);
        for (first, second) in [(0, 1), (1, 2)] {
            let verdict = why.ask(OpId::new(first), OpId::new(second));
            let Verdict::Apart { reason, .. } = verdict else {
                panic!("{policy:?}");
            };
            if policy == Policy::None {
                continue;
            }
            let opaque = OpId::new(1);
            assert_eq!(reason, Reason::Opaque { opaque }, "{policy:?}");
            let words = reason_text(&analysis.graph, &reason);
            assert!(
                words.starts_with("`b` runs as a kernel of its own"),
                "{words}"
            );
        }
    }
}

#[test]
fn it_moves_its_tensors_once_and_has_the_stated_flops() {
    let analysis = analysis(TEXT, Policy::Rules);
    let alone = analysis.unfused.of_lone_op(OpId::new(1));
    assert_eq!(alone.bytes_read, 2 * 8 * 64 * 4);
    assert_eq!(alone.bytes_written, 8 * 33 * 4);
    assert_eq!(alone.work.opaque_flops, 2560);
    let text = flops_text(&analysis.graph, OpId::new(1));
    assert!(text.ends_with("as the program states"), "{text}");
    let unstated = TEXT.replace(", flops=5*N*8", "");
    let unstated = self::analysis(&unstated, Policy::Rules);
    let text = flops_text(&unstated.graph, OpId::new(1));
    assert_eq!(text, "unknown: the program states none");
}

#[test]
fn without_stated_flops_its_predicted_time_is_that_of_its_bytes() {
    let on_h200 = |call: &str| {
        let options = Options {
            device: device("h200").unwrap().clone(),
            ..Options::of_policy(Policy::None)
        };
        let text = format!("input x : f32[4096, 4096]\ny = {call}\n");
        let outcome = analyze_program(&parse(&text).program, &options);
        outcome
            .analysis
            .unwrap()
            .expected
            .map(|times| times.fused_s)
    };
    let unstated_s = on_h200("opaque(x) : f32[4096, 4096]").unwrap();
    assert!(unstated_s <= on_h200("contiguous(x)").unwrap());
    assert_eq!(on_h200("opaque(x, flops=4096) : f32[4096, 4096]"), None);
}

#[test]
fn what_is_added_to_places_has_a_flop_for_each_element_added() {
    let text = "input x : f32[64, 8]\ninput i : i64[16]\ninput s : f32[16, 8]\n\
                y = index_add(x, i, s, axis=0)\nz = index_copy(x, i, s, axis=0)\n";
    let analysis = analysis(text, Policy::None);
    let flops = |op| analysis.unfused.of_lone_op(OpId::new(op)).work.flops();
    assert_eq!((flops(0), flops(1)), (16 * 8, 0));
}

#[test]
fn it_is_shown_by_its_own_name() {
    let named = analysis(TEXT, Policy::Rules);
    let inspected = inspect_op(&named, OpId::new(1)).unwrap();
    assert_eq!(inspected.heading, "b: aten.fft_rfft");
    let nameless = analysis(&TEXT.replace("name=aten.fft_rfft, ", ""), Policy::Rules);
    let inspected = inspect_op(&nameless, OpId::new(1)).unwrap();
    assert_eq!(inspected.heading, "b: opaque");
}

#[test]
fn it_has_no_value_and_no_script() {
    let program = parse(TEXT).program;
    let outcome = analyze_program(&program, &Options::default());
    let analysis = outcome.analysis.unwrap();
    let ran = interpret(&program, &analysis.partition, &Setup::default()).unwrap();
    let reasons: Vec<&str> = ran.refused.iter().map(|r| r.reason.as_str()).collect();
    let expected = "what the operator `aten.fft_rfft` computes is not known";
    assert_eq!(reasons, [expected]);
    let unwritable = script("", &program, &analysis, &outcome.statement_of_op).unwrap_err();
    assert_eq!(unwritable.len(), 1);
    assert_eq!(unwritable[0].reason, expected);
}

#[test]
fn a_list_of_ops_keeps_it() {
    for text in [
        TEXT.to_owned(),
        TEXT.replace("aten.fft_rfft", "`aten::fft`"),
        TEXT.replace("name=aten.fft_rfft, flops=5*N*8", ""),
    ] {
        let program = parse(&text).program;
        let outcome = analyze_program(&program, &Options::default());
        assert_eq!(outcome.diagnostics, [], "{text}");
        let before = outcome.analysis.unwrap();
        let list = OpList::new(&before.graph).with_attributes(&program, &outcome.statement_of_op);
        let list = read_json(&serde_json::to_string(&list).unwrap()).unwrap();
        let opened = program_of_op_list(&list);
        assert_eq!(opened.diagnostics, []);
        let after = analysis(&print(&opened.program), Policy::Rules);
        assert_eq!(after.graph.ops, before.graph.ops);
    }
    let bare = r#"[{"op_type": "opaque", "inputs": ["x"], "output": "y", "shape": [4], "dtype": "f32", "attributes": {"flops": 12}}]"#;
    let opened = program_of_op_list(&read_json(bare).unwrap());
    assert_eq!(print(&opened.program), "y = opaque(x, flops=12) : f32[4]\n");
}

#[test]
fn what_it_needs_is_said() {
    for (call, code, message) in [
        (
            "opaque(x)",
            Code::UnknownShape,
            "the shape of `y` is unknown: its op is not counted",
        ),
        (
            "opaque(x, flops=-1) : f32[2]",
            Code::UnknownAttribute,
            "`flops` is negative",
        ),
        (
            "opaque(x, name=[1]) : f32[2]",
            Code::UnknownAttribute,
            "`name` takes a word such as `aten.fft_rfft`",
        ),
    ] {
        let text = format!("input x : f32[4]\ny = {call}\n");
        let found = analyze_program(&parse(&text).program, &Options::default()).diagnostics;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].code, found[0].message.as_str()), (code, message));
    }
}
