//! Kernels as text: CUDA, the bytes of each line, and the lines that fusion removed.

use fuseline_codegen::code_bytes::code_bytes;
use fuseline_codegen::kernel_code::{Code, CodeLanguage, CodegenError, Kernel, of_program};
use fuseline_core::analysis::Kernel as Launch;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::model::functions::Function;
use fuseline_core::model::graph::SizeSource;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Conventions, KernelId, Options, Policy, ReshapeCost, analyze_program,
};
use fuseline_view::present::kernel_code::{KernelCode, kernel_code};
use strum::VariantArray;

struct Coded {
    analysis: Analysis,
    kernels: Vec<(KernelId, Kernel)>,
}

fn coded(text: &str, options: &Options) -> Coded {
    let program = parse(text).program;
    let outcome = analyze_program(&program, options);
    let analysis = outcome.analysis.unwrap();
    let kernels = of_program(
        &program,
        &analysis.graph,
        &outcome.statement_of_op,
        &analysis.partition,
        options.conventions.reshape == ReshapeCost::View,
    );
    let kernels = kernels
        .iter_enumerated()
        .filter_map(|(id, kernel)| Some((id, kernel.clone().unwrap()?)))
        .collect();
    Coded { analysis, kernels }
}

fn every_example(mut each: impl FnMut(&str, &Coded)) {
    for example in EXAMPLES {
        for reshape in [ReshapeCost::Copy, ReshapeCost::View] {
            // Many policies give the same kernels, which move the same bytes.
            let mut coded_before = Vec::new();
            for &policy in Policy::VARIANTS {
                let options = Options {
                    policy,
                    conventions: Conventions {
                        reshape,
                        ..Conventions::default()
                    },
                    ..Options::default()
                };
                let about = format!("{}, {policy:?}, {reshape:?}", example.id);
                let outcome = analyze_program(&parse(example.text).program, &options);
                let kernels = outcome.analysis.unwrap().partition;
                if !coded_before.contains(&kernels) {
                    each(&about, &coded(example.text, &options));
                    coded_before.push(kernels);
                }
            }
        }
    }
}

/// What a kernel moves for copies of operands.
fn copied_bytes(kernel: &Launch) -> u64 {
    let accesses = kernel.traffic.reads.iter().chain(&kernel.traffic.writes);
    let copies = accesses.filter(|access| access.source == SizeSource::Copied);
    copies.map(|access| access.bytes).sum()
}

/// The bytes of the lines that run, and of those that fusion removed.
fn sums(code: &Code, bytes: &[Option<u64>]) -> [u64; 2] {
    [false, true].map(|is_removed| {
        let lines = code.lines.iter().zip(bytes);
        let lines = lines.filter(|(line, _)| {
            line.access
                .is_some_and(|access| access.is_removed == is_removed)
        });
        lines.filter_map(|(_, bytes)| *bytes).sum()
    })
}

#[test]
fn the_lines_of_a_kernel_move_its_bytes_and_those_that_are_removed_what_fusion_saved() {
    let mut with_removed = 0;
    let mut wrong = Vec::new();
    every_example(|about, coded| {
        for (id, kernel) in &coded.kernels {
            let comparison = &coded.analysis.comparisons[*id];
            // Code reads operands by their strides, so it makes none of a library's copies.
            let copied = copied_bytes(&coded.analysis.fused.kernels[*id]);
            let fused = coded.analysis.fused.kernels[*id].bytes() - copied;
            let ops = coded.analysis.fused.kernels[*id].ops.iter();
            let alone = ops.map(|&op| copied_bytes(coded.analysis.unfused.of_lone_op(op)));
            // Nor does it index a part of a buffer by lines of its own.
            let ops = coded.analysis.fused.kernels[*id].ops.iter();
            let views = ops.filter(|op| coded.analysis.partition.views.contains(op));
            let indexed = views.map(|&op| coded.analysis.unfused.of_lone_op(op).bytes());
            let apart = comparison.unfused_bytes - alone.sum::<u64>() - indexed.sum::<u64>();
            // What another kernel computes, too, is no op of its own here.
            let is_alone = coded.analysis.partition.recomputed[*id].is_empty();
            for &language in CodeLanguage::VARIANTS {
                let Ok(code) = language.code(&coded.analysis.graph, kernel) else {
                    continue;
                };
                let bytes = code_bytes(&coded.analysis, *id, kernel, &code);
                let [moved, removed] = sums(&code, &bytes);
                let unfused = moved + removed;
                if moved != fused || is_alone && unfused != apart {
                    wrong.push(format!(
                        "{about}, {language:?}, kernel {}: {moved} of {fused}, {unfused} of {}",
                        id.number(),
                        comparison.unfused_bytes
                    ));
                }
                with_removed += usize::from(removed > 0);
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(with_removed > 100, "{with_removed}");
}

/// One of each kind: elements, rows and tiles.
#[test]
fn cuda_is_written_as_it_was_checked() {
    let program = "\
param N = 300
input x : f16[64, N]
weight w : f16[N, 128]
weight b : f32[N]
y = add(x, b) @kernel 1
r = relu(y) @kernel 1
p = softmax(r) @kernel 2
z = matmul(p, w) : f16[64, 128] @kernel 3
g = gelu(z) @kernel 3
";
    let options = Options::of_policy(Policy::Manual);
    let coded = coded(program, &options);
    assert_eq!(coded.kernels.len(), 3);
    let mut text = String::new();
    for (_, kernel) in &coded.kernels {
        let code = CodeLanguage::Cuda.code(&coded.analysis.graph, kernel);
        text.push_str(&code.unwrap().text());
        text.push('\n');
    }
    let path = "tests/model/golden/kernels.cu";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    assert!(text == golden, "{path} differs; is this right?\n{text}");
}

#[test]
fn a_removed_store_and_load_stand_where_the_value_is_computed_and_are_not_copied() {
    let text = "input x : f16[64, 64]\na = exp(x)\nb = relu(a)\nc = add(a, b)\n";
    let program = parse(text).program;
    let outcome = analyze_program(&program, &Options::of_policy(Policy::Inductor));
    let analysis = outcome.analysis.unwrap();
    let kernel = KernelId::new(0);
    let shown = kernel_code(
        &analysis,
        &program,
        &outcome.statement_of_op,
        kernel,
        CodeLanguage::Cuda,
    );
    let KernelCode::Lines { text, lines } = shown else {
        panic!("{shown:?}");
    };
    let removed = |line: &&fuseline_view::present::kernel_code::CodeLine| {
        line.moved.as_ref().is_some_and(|moved| moved.is_removed)
    };
    let removed: Vec<_> = (lines.iter().filter(removed))
        .map(|line| {
            let moved = line.moved.as_ref().unwrap();
            assert!(!text.contains(line.text.trim()), "{}", line.text);
            let bytes = moved.bytes.as_deref().unwrap();
            (line.text.trim(), moved.words.as_str(), bytes)
        })
        .collect();
    let load_of_a = (
        "const float a = __half2float(a_data[element]);",
        "load of a, removed by fusion",
        "8.19 kB",
    );
    assert_eq!(
        removed,
        [
            (
                "a_data[element] = __float2half(a);",
                "store of a, removed by fusion",
                "8.19 kB"
            ),
            load_of_a,
            load_of_a,
            (
                "b_data[element] = __float2half(b);",
                "store of b, removed by fusion",
                "8.19 kB"
            ),
            (
                "const float b = __half2float(b_data[element]);",
                "load of b, removed by fusion",
                "8.19 kB"
            ),
        ]
    );
    let place = |start: &str| {
        lines
            .iter()
            .position(|line| line.text.trim().starts_with(start))
    };
    assert_eq!(
        place("a_data[element] ="),
        place("const float a = expf").map(|at| at + 1)
    );
}

#[test]
fn what_has_no_code_is_a_sentence() {
    let shown = |text: &str, reshape: ReshapeCost| {
        let program = parse(text).program;
        let options = Options {
            conventions: Conventions {
                reshape,
                ..Conventions::default()
            },
            ..Options::default()
        };
        let outcome = analyze_program(&program, &options);
        let analysis = outcome.analysis.unwrap();
        let statements = &outcome.statement_of_op;
        kernel_code(
            &analysis,
            &program,
            statements,
            KernelId::new(0),
            CodeLanguage::Cuda,
        )
    };
    let sorted = "input x : f16[64, 64]\ny = sort(x)\n";
    let reason = CodegenError::NoKernel(Function::Sort);
    assert_eq!(
        shown(sorted, ReshapeCost::Copy),
        KernelCode::Refused(reason)
    );
    let view = "input x : f16[64, 64]\ny = reshape(x) : f16[4096]\n";
    assert_eq!(shown(view, ReshapeCost::View), KernelCode::Nothing);
    assert!(matches!(
        shown(view, ReshapeCost::Copy),
        KernelCode::Lines { .. }
    ));
}
