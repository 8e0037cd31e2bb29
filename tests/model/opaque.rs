//! Opaque ops: operators that are not known, and kernels of libraries.

use fuseline_codegen::interpret::{Setup, interpret};
use fuseline_core::analysis::device_model::Outside;
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
use fuseline_view::present::quantity::Quantity;
use fuseline_view::present::reasons::reason_text;
use fuseline_view::present::times::{kernel_time, time_lines};
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

/// A product of f8 that was exported as opaque: 550 GFLOP, which matrix units finish in 0.3 ms and
/// vector units in 8.
const PRODUCT: &str = "\
input a : f8[4096, 8192]
input b : f8[8192, 8192]
c = opaque(a, b, name=aten._scaled_mm, flops=2*4096*8192*8192) : bf16[4096, 8192]
d = relu(c)
";

#[test]
fn its_flops_make_no_bound_and_no_prediction() {
    let unstated = PRODUCT.replace(", flops=2*4096*8192*8192", "");
    for (text, is_stated) in [(PRODUCT, true), (&*unstated, false)] {
        for id in ["a100-80", "h100", "h200"] {
            let options = Options {
                device: device(id).unwrap().clone(),
                ..Options::of_policy(Policy::Rules)
            };
            let analysis = analyze_program(&parse(text).program, &options)
                .analysis
                .unwrap();
            let id = KernelId::new(0);
            let kernel = &analysis.fused.kernels[id];
            // Its bytes bound it.
            let bytes_s = kernel.bytes() as f64 / options.device.memory_bytes_per_s.value;
            let bound_s = bytes_s + options.device.launch_s.value;
            assert!((kernel.placement.time_s - bound_s).abs() < 1e-12);
            assert!(kernel.placement.is_incomplete());
            // FLOPs without units reach no roof, so it has no point.
            assert_eq!(kernel.placement.attainable_flops_per_s, None);
            assert_eq!(kernel.placement.intensity.is_some(), is_stated);
            if let Some(predicted) = &analysis.predicted {
                let predicted_s = predicted.kernels[id].time_s;
                assert!(predicted_s < 2.0 * bound_s, "{predicted_s}");
                assert_eq!(predicted.kernels[id].outside, Some(Outside::Opaque));
            }
            let lines = time_lines(&analysis, id);
            let why = "the units that an opaque op uses are unknown, so the time leaves its arithmetic out";
            assert!(lines.iter().any(|line| line == why), "{lines:?}");
            let headline = headline(&analysis);
            let times = [&headline.unfused_time, &headline.fused_time];
            let of_kernel = kernel_time(&analysis, id).unwrap();
            for time in times
                .into_iter()
                .chain([&of_kernel.time])
                .chain(&of_kernel.bound)
            {
                assert!(time.starts_with('≥'), "{time}");
            }
            // Two times of which only a part is known have no ratio.
            assert_eq!((headline.ratio, analysis.speedup), (None, None));
            assert!(headline.time_note.contains(why));
            let total = kernel_total(&analysis);
            assert!(total.tooltip(Quantity::Time).unwrap().contains(why));
            let flops = total.fused(Quantity::Flops).unwrap();
            assert_eq!(flops.starts_with('≥'), !is_stated, "{flops}");
        }
    }
    // An operator that is said to compute nothing is bound by its bytes.
    let moves = PRODUCT.replace("2*4096*8192*8192", "0");
    let options = Options::of_policy(Policy::Rules);
    let analysis = analyze_program(&parse(&moves).program, &options)
        .analysis
        .unwrap();
    assert_eq!(analysis.fused.first_incomplete(), None);
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
            let Verdict::Separate { reason, .. } = verdict else {
                panic!("{policy:?}");
            };
            if policy == Policy::None {
                continue;
            }
            let opaque = OpId::new(1);
            assert_eq!(reason, Reason::Opaque { opaque }, "{policy:?}");
            let words = reason_text(&analysis.graph, &reason);
            assert!(
                words.starts_with("`b` is a library or unknown kernel"),
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
    assert_eq!(alone.work.opaque_flops, Some(2560));
    let text = flops_text(&analysis.graph, OpId::new(1));
    assert!(text.ends_with("by the program's flops="), "{text}");
    let unstated = TEXT.replace(", flops=5*N*8", "");
    let unstated = self::analysis(&unstated, Policy::Rules);
    let text = flops_text(&unstated.graph, OpId::new(1));
    assert_eq!(text, "unknown, because the program does not say");
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
    let reasons: Vec<String> = ran.refused.iter().map(|r| r.reason.to_string()).collect();
    let predicted = "the operator `aten.fft_rfft` is unknown";
    assert_eq!(reasons, [predicted]);
    let unwritable = script("", &program, &analysis, &outcome.statement_of_op).unwrap_err();
    assert_eq!(unwritable.len(), 1);
    assert_eq!(unwritable[0].reason.to_string(), predicted);
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
            "the shape of `y` is unknown, so its op is not counted",
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

/// FLOPs on stated units have a peak, so the operator has a lower bound and a predicted time.
#[test]
fn stated_units_give_its_flops_a_time() {
    let flops = 2 * 4096 * 8192 * 8192;
    for (units, kernel_flops) in [("matrix", [flops, 0]), ("vector", [0, flops])] {
        let text = PRODUCT.replace("8192*8192)", &format!("8192*8192, units={units})"));
        let options = Options {
            device: device("h200").unwrap().clone(),
            ..Options::of_policy(Policy::Rules)
        };
        let outcome = analyze_program(&parse(&text).program, &options);
        assert_eq!(outcome.diagnostics, [], "{text}");
        let analysis = outcome.analysis.unwrap();
        let id = KernelId::new(0);
        let kernel = &analysis.fused.kernels[id];
        let work = kernel.work;
        assert_eq!([work.matrix_flops, work.vector_flops], kernel_flops);
        assert_eq!(work.opaque_flops, None);
        assert!(!kernel.placement.is_incomplete());
        // f8 on the matrix units of an H200: 1,979 TFLOP/s.
        let least_s = if units == "matrix" { 277e-6 } else { 8e-3 };
        assert!(kernel.placement.time_s > least_s, "{units}");
        assert!(kernel.placement.time_s < 1.2 * least_s, "{units}");
        let predicted = &analysis.predicted.as_ref().unwrap().kernels[id];
        assert!(predicted.time_s >= least_s, "{units}");
        assert_eq!(predicted.outside, Some(Outside::Opaque));
    }
}
