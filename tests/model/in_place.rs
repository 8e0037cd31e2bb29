//! Ops that write in place: what they read and write, whose memory they use, what must run before.

use fuseline_core::analysis::memory::lifetimes;
use fuseline_core::fixes::sound_fixes;
use fuseline_core::notation::import::program_of_op_list;
use fuseline_core::notation::{parse, print};
use fuseline_core::{
    Analysis, Code, Diagnostic, Op, OpType, Options, Policy, Severity, TensorDecl, analyze,
    analyze_program, build_graph, device, json::read_json,
};
use fuseline_view::present::export::OpList;
use fuseline_view::present::pytorch::script;
use strum::VariantArray;

pub(crate) fn analysis(text: &str, policy: Policy) -> Analysis {
    let outcome = analyze_program(&parse(text).program, &Options::of_policy(policy));
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
}

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let parsed = parse(text);
    let outcome = analyze_program(&parsed.program, &Options::default());
    [parsed.diagnostics, outcome.diagnostics].concat()
}

/// A decode step of 64 sequences over 8,192 keys, in f16.
const CACHE: &str = "\
input k : f16[64, 8, 8192, 128]
input v : f16[64, 8, 8192, 128]
input new_k : f16[64, 8, 1, 128]
input new_v : f16[64, 8, 1, 128]
input q : f16[64, 32, 1, 128]
input position : i64[1]
k2 = index_copy_(k, position, new_k, axis=2)
v2 = index_copy_(v, position, new_v, axis=2)
o = sdpa(q, k2, v2, enable_gqa=true)
";

#[test]
fn a_cache_is_written_where_its_index_says() {
    let row_bytes = 64 * 8 * 128 * 2;
    let cache_bytes = row_bytes * 8192;
    let query_bytes = 64 * 32 * 128 * 2;
    for &policy in Policy::VARIANTS {
        let analysis = analysis(CACHE, policy);
        for execution in [&analysis.unfused, &analysis.fused] {
            let kernels = &execution.kernels;
            let bytes: Vec<_> = (kernels.iter())
                .map(|kernel| (kernel.bytes_read, kernel.bytes_written))
                .collect();
            let write = (row_bytes + 8, row_bytes);
            let read = (2 * cache_bytes + query_bytes, query_bytes);
            assert_eq!(bytes, [write, write, read], "{policy:?}");
        }
        // The caller holds the caches, and only the result needs memory.
        let inputs = 2 * cache_bytes + 2 * row_bytes + query_bytes + 8;
        let peak = analysis.fused.peak_memory.bytes;
        assert_eq!(peak, inputs + query_bytes, "{policy:?}");
        let written: Vec<&str> = (lifetimes(&analysis, &analysis.fused).iter())
            .filter(|lifetime| !analysis.graph.tensors[lifetime.tensor].is_external())
            .map(|lifetime| analysis.graph.tensor_name(lifetime.tensor))
            .collect();
        assert_eq!(written, ["o"], "{policy:?}");
    }
}

#[test]
fn without_the_underscore_the_cache_is_copied() {
    let text = CACHE.replace("index_copy_", "index_copy");
    let copied = analysis(&text, Policy::None);
    let in_place = analysis(CACHE, Policy::None);
    let cache_bytes = 64 * 8 * 8192 * 128 * 2;
    let more = copied.unfused.traffic.total - in_place.unfused.traffic.total;
    let row_bytes = 64 * 8 * 128 * 2;
    assert_eq!(more, 2 * (2 * cache_bytes - row_bytes));
    let peaks = [&copied, &in_place].map(|analysis| analysis.unfused.peak_memory.bytes);
    assert_eq!(peaks[0] - peaks[1], 2 * cache_bytes);
}

/// Calls in place with the bytes that each reads and writes; `x` has 64 rows of 32 in f32.
#[rustfmt::skip]
const BYTES: &[(&str, u64, u64)] = &[
    ("scatter_(x, j, p, axis=0)", 2 * 32 * (8 + 4), 2 * 32 * 4),
    ("scatter_add_(x, j, p, axis=0)", 2 * 32 * (8 + 4 + 4), 2 * 32 * 4),
    ("index_copy_(x, i, p, axis=0)", 2 * 32 * 4 + 16, 2 * 32 * 4),
    ("index_add_(x, i, p, axis=0)", 2 * 2 * 32 * 4 + 16, 2 * 32 * 4),
    ("index_put_(x, i, p)", 2 * 32 * 4 + 16, 2 * 32 * 4),
    ("index_put_(x, i, i, t)", 2 * 4 + 16, 2 * 4),
    ("index_put_(x, i, s)", 4 + 16, 2 * 32 * 4),
    ("slice_scatter_(x, p, start=5, end=7, axis=0)", 2 * 32 * 4, 2 * 32 * 4),
    ("copy_(x, r)", 32 * 4, 64 * 32 * 4),
    ("relu_(x)", 64 * 32 * 4, 64 * 32 * 4),
    ("add_(x, r)", (64 + 1) * 32 * 4, 64 * 32 * 4),
    ("mul_(x, 2)", 64 * 32 * 4, 64 * 32 * 4),
];

const TENSORS: &str = "\
input x : f32[64, 32]
input j : i64[2, 32]
input p : f32[2, 32]
input i : i64[2]
input t : f32[2]
input s : f32[1]
input r : f32[32]
";

#[test]
fn an_op_in_place_accesses_what_it_writes() {
    for &(call, bytes_read, bytes_written) in BYTES {
        let text = format!("{TENSORS}y = {call}\n");
        for &policy in Policy::VARIANTS {
            // Not every call reads every tensor.
            let outcome = analyze_program(&parse(&text).program, &Options::of_policy(policy));
            let is_error = |found: &Diagnostic| found.severity == Severity::Error;
            assert!(!outcome.diagnostics.iter().any(is_error), "{text}");
            let analysis = outcome.analysis.unwrap();
            let kernel = analysis.fused.kernels.iter().next().unwrap();
            let bytes = (kernel.bytes_read, kernel.bytes_written);
            // The compiler scatters into a copy of `x`, and copies that back.
            let is_on_copy = policy == Policy::Inductor && call.starts_with("scatter");
            let copies = if is_on_copy { 2 * 64 * 32 * 4 } else { 0 };
            let expected = (bytes_read + copies, bytes_written + copies);
            assert_eq!(bytes, expected, "{text}");
        }
    }
}

#[test]
fn a_late_reader_of_an_old_value_is_an_error_with_a_fix() {
    let text = "input x : f16[8, 8]\ny = relu_(x)\nz = add(x, y)\nw = gelu(z)\nu = relu(y)\n";
    let found = diagnostics(text);
    let [problem] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(problem.code, Code::OverwrittenTensor);
    assert_eq!(
        problem.message,
        "`z` reads `x` after `y` has overwritten it"
    );
    assert_eq!(problem.span.unwrap().slice(text), "x");
    let fixes = sound_fixes(text, &found).concat();
    let texts: Vec<_> = fixes.iter().map(|fix| fix.applied(text).unwrap()).collect();
    assert_eq!(texts, [text.replace("add(x, y)", "add(y, y)")]);
    // The other lines are analysed.
    let outcome = analyze_program(&parse(text).program, &Options::default());
    let ops = outcome.analysis.unwrap().graph.ops;
    let names: Vec<_> = ops.iter().map(|op| op.name.as_str()).collect();
    assert_eq!(names, ["y", "u"]);
}

#[test]
fn views_of_an_overwritten_tensor_are_overwritten() {
    let late = |text: &str| -> Vec<String> {
        let found = diagnostics(text).into_iter();
        let found = found.filter(|found| found.code == Code::OverwrittenTensor);
        found.map(|found| found.message).collect()
    };
    assert_eq!(
        late("input x : f16[8, 8]\nv = transpose(x)\ny = relu_(x)\nz = gelu(v)"),
        ["`z` reads `x` after `y` has overwritten it"]
    );
    // The write goes through a view.
    assert_eq!(
        late("input x : f16[8, 8]\nv = reshape(x, shape=[64])\ny = relu_(v)\nz = gelu(x)"),
        ["`z` reads `v` after `y` has overwritten it"]
    );
    // Another piece of the same tensor.
    let pieces = "input x : f16[8, 8]\na = split(x, parts=2, index=0)\nb = split(x, parts=2, index=1)\ny = relu_(a)\n";
    assert_eq!(late(&format!("{pieces}z = gelu(b)")), [""; 0]);
    assert_eq!(late(&format!("{pieces}z = gelu(x)")).len(), 1);
    assert_eq!(
        late(&format!(
            "{pieces}c = slice(x, start=3, end=5)\nz = gelu(c)"
        )),
        ["`c` reads `a` after `y` has overwritten it"]
    );
    // What a copy of it holds stays.
    assert_eq!(
        late("input x : f16[8, 8]\nv = contiguous(x)\ny = relu_(x)\nz = gelu(v)"),
        [""; 0]
    );
}

#[test]
fn an_op_that_needs_both_values_is_on_a_cycle() {
    // Above the write in the text, so it means the old value, and after it, because it reads the
    // new one.
    let text = "input x : f16[8]\nz = add(x, y)\ny = relu_(x)\nu = gelu(y)\n";
    let found = diagnostics(text);
    let codes: Vec<Code> = found.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::Cycle]);
    let list = [
        Op::new("z", OpType::Elementwise, &["x", "y"], "z", &[8], 2),
        Op {
            in_place: true,
            ..Op::new("y", OpType::Elementwise, &["x"], "y", &[8], 2)
        },
    ];
    let problems = build_graph(&list, &[]).unwrap_err();
    assert_eq!(problems[0].code, Code::Cycle);
}

#[test]
fn readers_of_the_old_value_run_before_it_is_overwritten() {
    // `old` could join the last op, which runs after the write.
    let text = "\
input x : f32[64, 64]
weight w : f32[64, 64]
old = gelu(x)
new = relu_(x)
d = matmul(new, w)
e = add(d, old)
";
    for &policy in Policy::VARIANTS {
        let analysis = analysis(text, policy);
        let kernel_of =
            |name: &str| analysis.partition.kernel_of[analysis.graph.op_named(name).unwrap()];
        assert!(kernel_of("old") <= kernel_of("new"), "{policy:?}");
        assert!(kernel_of("new") < kernel_of("d"), "{policy:?}");
    }
    // In a list that names the reader last.
    let list = [
        Op {
            in_place: true,
            ..Op::new("new", OpType::Elementwise, &["x"], "new", &[64], 2)
        },
        Op::new("old", OpType::Elementwise, &["x"], "old", &[64], 2),
    ];
    let graph = build_graph(&list, &[]).unwrap();
    let names: Vec<_> = graph.ops.iter().map(|op| op.name.as_str()).collect();
    assert_eq!(names, ["old", "new"]);
}

#[test]
fn an_input_that_is_overwritten_is_a_result() {
    let text = "input x : f32[64]\ny = relu_(x)\nz = gelu(y)\n";
    for &policy in Policy::VARIANTS {
        let analysis = analysis(text, policy);
        let graph = &analysis.graph;
        let y = graph.output[graph.op_named("y").unwrap()];
        assert!(graph.is_final(y));
        assert_eq!(
            analysis.fused.traffic.bytes_written,
            2 * 64 * 4,
            "{policy:?}"
        );
    }
    // Only its last value.
    let twice = "input x : f32[64]\ny = relu_(x)\nz = mul_(y, 2)\n";
    let analysis = analysis(twice, Policy::Rules);
    assert_eq!(analysis.fused.traffic.bytes_written, 64 * 4);
    // An intermediate tensor ends with its last reader.
    let inner = "input x : f32[64]\na = gelu(x)\ny = relu_(a)\nz = sum(y)\n";
    let analysis = self::analysis(inner, Policy::Rules);
    assert_eq!(analysis.fused.traffic.bytes_written, 4);
}

#[test]
fn memory_is_used_again() {
    let text = "input x : f32[1024]\na = gelu(x)\nb = relu_(a)\nc = mul_(b, 2)\n";
    let analysis = analysis(text, Policy::None);
    assert_eq!(analysis.unfused.peak_memory.bytes, 2 * 4096);
    let functional = text.replace("_(", "(");
    let analysis = self::analysis(&functional, Policy::None);
    assert_eq!(analysis.unfused.peak_memory.bytes, 3 * 4096);
}

#[test]
fn a_result_that_does_not_fit_is_refused() {
    let cases = [
        (
            "input x : f16[8]\ninput y : f16[4, 8]\nz = add_(x, y)",
            "`add_` writes into `x`, which is f16[8], but its result is f16[4, 8]",
        ),
        (
            "input x : f16[8]\nz = sub_(2, x)",
            "`sub_` cannot write into the number 2",
        ),
    ];
    for (text, message) in cases {
        let found = diagnostics(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].message, message);
        assert_eq!(sound_fixes(text, &found).concat().len(), 1, "{text}");
    }
    for call in [
        "softmax_(x)",
        "sum_(x)",
        "lt_(x, x)",
        "where_(x, x, x)",
        "matmul_(x, x)",
        "_(x)",
    ] {
        let found = diagnostics(&format!("input x : f16[8, 8]\nz = {call}"));
        assert_eq!(found[0].code, Code::UnknownFunction, "{call}");
    }
}

#[test]
fn lists_and_texts_keep_what_is_in_place() {
    let text = format!("{CACHE}r = mul_(o, 2)\n");
    let parsed = parse(&text);
    assert_eq!(parse(&print(&parsed.program)).program.ops.len(), 4);
    assert!(print(&parsed.program).contains("index_copy_(k, position, new_k, axis=2)"));
    let outcome = analyze_program(&parsed.program, &Options::default());
    let analysis = outcome.analysis.unwrap();
    let list =
        OpList::new(&analysis.graph).with_attributes(&parsed.program, &outcome.statement_of_op);
    let json = serde_json::to_string(&list).unwrap();
    let read = program_of_op_list(&read_json(&json).unwrap()).program;
    let again = analyze_program(&read, &Options::default())
        .analysis
        .unwrap();
    assert_eq!(again.unfused.traffic, analysis.unfused.traffic);
    assert_eq!(again.graph.digest(), analysis.graph.digest());
    let functional = parse(&text.replace("_(", "("));
    let functional = analyze_program(&functional.program, &Options::default());
    assert_ne!(
        functional.analysis.unwrap().graph.digest(),
        analysis.graph.digest()
    );
    // The name with the underscore is read, too.
    let list = r#"[{"op_type": "elementwise", "function": "relu_", "inputs": ["x"], "output": "y", "shape": [4], "dtype": "f16"}]"#;
    let read = program_of_op_list(&read_json(list).unwrap()).program;
    assert_eq!(read.ops[0].callee.text, "relu_");
}

#[test]
fn names_of_pytorch_work_in_place() {
    for (written, own) in [
        ("torch.relu_(x)", "relu_"),
        ("F.relu_(x)", "relu_"),
        ("torch.index_copy_(x, i, x, dim=0)", "index_copy_"),
    ] {
        let text = format!("input x : f16[4, 4]\ninput i : i64[4]\ny = {written}");
        assert_eq!(parse(&text).program.ops[0].callee.text, own, "{written}");
    }
}

#[test]
fn iterations_write_into_caches_of_their_own() {
    let text = "\
input x : f16[4, 8]
input i : i64[1]
repeat 3 with x = y {
  input cache : f16[128, 8]
  new = slice(x, end=1, axis=0)
  written = index_copy_(cache, i, new, axis=0)
  scores = matmul(x, written, transpose_b=true)
  y = matmul(scores, written)
}
";
    let analysis = analysis(text, Policy::Rules);
    let writes = analysis
        .graph
        .ops
        .ids()
        .filter(|&op| analysis.graph.ops[op].in_place);
    let kernels: Vec<_> = writes
        .map(|op| &analysis.fused.kernels[analysis.partition.kernel_of[op]])
        .map(|kernel| (kernel.bytes_read, kernel.bytes_written))
        .collect();
    assert_eq!(kernels, [(16 + 8, 16); 3]);
    // A cache of all iterations is overwritten once.
    let shared = text.replace("  input cache : f16[128, 8]\n", "");
    let shared = format!("input cache : f16[128, 8]\n{shared}");
    let found = diagnostics(&shared);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code, Code::OverwrittenTensor);
}

#[test]
fn a_script_writes_in_place() {
    let tensors =
        "input x : f32[64, 32]\ninput i : i64[2]\ninput p : f32[2, 32]\ninput r : f32[32]\n";
    for (call, expected) in [
        (
            "index_copy_(x, i, p, axis=0)",
            "    y = x.index_copy_(0, i, p)\n",
        ),
        (
            "index_add_(x, i, p, axis=0)",
            "    y = x.index_add_(0, i, p)\n",
        ),
        ("index_put_(x, i, p)", "    y = x.index_put_((i,), p)\n"),
        ("index_put(x, i, p)", "    y = x.index_put((i,), p)\n"),
        (
            "slice_scatter_(x, p, start=5, end=7, axis=0)",
            "    x[5:7] = p\n    y = x\n",
        ),
        (
            "slice_scatter(x, p, start=5, end=7, axis=0)",
            "    y = torch.slice_scatter(x, p, 0, 5, 7, 1)\n",
        ),
        ("copy_(x, r)", "    y = x.copy_(r)\n"),
        ("copy(x, r)", "    y = torch.empty_like(x).copy_(r)\n"),
        ("relu_(x)", "    y = x.relu_()\n"),
        ("add_(x, r)", "    y = x.add_(r)\n"),
        ("mul_(x, 2)", "    y = x.mul_(2.0)\n"),
        ("scale_(x, factor=3)", "    y = x.mul_(3.0)\n"),
        ("silu_(x)", "    y = F.silu(x, inplace=True)\n"),
        ("clamp_(x, min=0)", "    y = x.clamp_(min=0.0)\n"),
        ("tril_(x)", "    y = x.tril_(0)\n"),
        (
            "gelu_(x)",
            "    y = x.copy_(F.gelu(x, approximate=\"tanh\"))\n",
        ),
        ("maximum_(x, r)", "    y = x.copy_(torch.maximum(x, r))\n"),
    ] {
        let text = format!("{tensors}y = {call}\n");
        let program = parse(&text).program;
        let outcome = analyze_program(&program, &Options::default());
        let analysis = outcome.analysis.unwrap();
        let script = script("t", &program, &analysis, &outcome.statement_of_op).unwrap();
        assert!(script.contains(expected), "{call}: {script}");
        let writes = call.contains("_(");
        let flag = if writes { "True" } else { "False" };
        assert!(script.contains(&format!("WRITES_INPUTS = {flag}")));
    }
}

#[test]
fn the_library_writes_into_a_part_by_one_small_kernel() {
    let time_s = |text: &str| {
        let options = Options {
            device: device("h200").unwrap().clone(),
            ..Options::of_policy(Policy::None)
        };
        let outcome = analyze_program(&parse(text).program, &options);
        outcome.analysis.unwrap().predicted.unwrap().unfused_s
    };
    let attention = CACHE.lines().filter(|line| !line.contains("index_copy"));
    let attention: Vec<_> = attention
        .map(|line| line.replace("k2, v2", "k, v"))
        .collect();
    let writes_s = time_s(CACHE) - time_s(&attention.join("\n"));
    // Two kernels that are as good as empty.
    assert!((2e-6..10e-6).contains(&writes_s), "{writes_s}");
    let copied_s = time_s(&CACHE.replace("index_copy_", "index_copy")) - time_s(CACHE);
    let bytes = 4.0 * 64.0 * 8.0 * 8192.0 * 128.0 * 2.0;
    assert!(
        copied_s > bytes / 4.8e12 && copied_s < 1.5 * bytes / 4.8e12,
        "{copied_s}"
    );
}

#[test]
fn a_declared_size_is_known_though_nothing_loads_it() {
    let list = [Op {
        function: Some(fuseline_core::model::functions::Function::Copy),
        in_place: true,
        ..Op::new("y", OpType::Elementwise, &["x", "s"], "y", &[64], 4)
    }];
    let declared = [
        TensorDecl::new("x", &[64], 4),
        TensorDecl::new("s", &[64], 4),
    ];
    let analysis = analyze(&list, &declared, &Options::default()).unwrap();
    assert_eq!(analysis.fused.traffic.bytes_read, 256);
    assert_eq!(analysis.fused.peak_memory.bytes, 512);
    let x = &analysis.tensors[analysis.graph.inputs[fuseline_core::OpId::new(0)][0]];
    assert_eq!((x.bytes, x.fused_bytes), (256, 0));
}
