//! Kernels in Triton: Python reads them, and Triton compiles them where it is installed.

use fuseline_codegen::kernel_code::{Kernel, of_program, triton};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::model::dtype::DType;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Graph, Options, Policy, Program, analyze_program};
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::process::Command;
use strum::VariantArray;

fn type_of(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "*fp64",
        DType::F32 => "*fp32",
        DType::F16 => "*fp16",
        DType::Bf16 => "*bf16",
        DType::F8e4m3 => "*fp8e4nv",
        DType::F8e5m2 => "*fp8e5",
        DType::I64 => "*i64",
        DType::I32 => "*i32",
        DType::I8 => "*i8",
        DType::F4 | DType::I4 | DType::F8e8m0 => panic!("no kernel has such an argument"),
        DType::Bool => "*i1",
    }
}

/// A kernel for `compile_triton.py`; `None` where it has no code in Triton.
fn printed(graph: &Graph, kernel: &Kernel) -> Option<(String, serde_json::Value)> {
    let code = triton(graph, kernel).ok()?.text();
    let head = code.lines().find(|line| line.starts_with("def fused_"));
    let (_, names) = head.unwrap().split_once('(').unwrap();
    let names = names.trim_end_matches("):").split(", ");
    let types = kernel.arguments.iter().map(|own| type_of(own.dtype));
    let signature: BTreeMap<&str, &str> = names.zip(types).collect();
    let json = json!({ "code": code, "signature": signature });
    Some((code, json))
}

fn analysed(program: &Program, policy: Policy) -> Option<(Analysis, Vec<Kernel>)> {
    let outcome = analyze_program(program, &Options::of_policy(policy));
    let analysis = outcome.analysis?;
    let (graph, statements) = (&analysis.graph, &outcome.statement_of_op);
    let coded = of_program(program, graph, statements, &analysis.partition, true);
    let kernels = coded.iter().filter_map(|coded| coded.clone().ok()?);
    let kernels = kernels.collect();
    Some((analysis, kernels))
}

fn sized(program: &Program, size: Option<i64>) -> Program {
    let mut program = program.clone();
    for param in &mut program.params {
        param.value = size.unwrap_or(param.value);
    }
    program
}

/// Where Triton is not installed, at least this much of its rules is checked: pointers have the
/// shape of the tile.
#[test]
fn a_store_of_one_row_has_the_shape_of_its_tile() {
    let (analysis, kernels) = analysed(&parse(SMALL[0]).program, Policy::Rules).unwrap();
    let (code, _) = printed(&analysis.graph, &kernels[0]).unwrap();
    assert!(code.contains("tl.store(z_ptr + column + row, z)"), "{code}");
}

/// `tl.dot` takes at least 16 rows, columns and steps.
#[test]
fn a_product_of_few_rows_or_columns_is_summed_on_vector_units() {
    for (sizes, tile) in [
        ([1, 4096, 4096], Some("(1, 64)")),
        ([15, 512, 512], Some("(16, 64)")),
        ([512, 512, 3], Some("(64, 4)")),
        ([1, 64, 1], Some("(1, 1)")),
        ([16, 512, 512], None),
        ([512, 8, 512], None),
    ] {
        let [rows, k, columns] = sizes;
        let text = format!(
            "input x : f16[{rows}, {k}]\nweight w : f16[{k}, {columns}]\ny = matmul(x, w)\n"
        );
        let (analysis, kernels) = analysed(&parse(&text).program, Policy::None).unwrap();
        let (code, _) = printed(&analysis.graph, &kernels[0]).unwrap();
        assert_eq!(code.contains("tl.dot("), tile.is_none(), "{code}");
        if let Some(tile) = tile {
            assert!(
                code.contains(&format!("y = tl.zeros({tile}, tl.float32)")),
                "{code}"
            );
            assert!(code.contains("y += tl.sum(left[:, :, None] * right[None, :, :], axis=1)"));
        }
    }
}

/// Products of one row, one column and one step, and loops over one element.
const SMALL: &[&str] = &[
    "input x : f16[1, 64]\nweight w : f16[64, 256]\nweight b : f16[256]\ny = matmul(x, w)\nz = add(y, b)\n",
    "input x : f16[256, 64]\nweight w : f16[64, 1]\ny = matmul(x, w)\nz = relu(y)\n",
    "input x : f32[1, 1]\nweight w : f32[1, 1]\ny = matmul(x, w)\nz = gelu(y)\n",
    "input x : bf16[4, 1, 32]\ninput w : bf16[4, 32, 1]\ny = matmul(x, w)\n",
    "input x : f32[1]\ny = exp(x)\n",
    "input x : f32[1, 1]\ny = softmax(x)\nz = layer_norm(y)\n",
    "input x : f32[5, 1]\ny = softmax(x)\ns = sum(y)\n",
    "input x : f32[4]\na.b = relu(x)\na_b = exp(a.b)\nc = opaque(a.b, a_b) : f32[4]\n",
    "input x : f32[1, 5]\ny = layer_norm(x)\nz = add(y, x)\n",
];

#[test]
fn kernels_of_every_example_compile_at_small_sizes_too() {
    let mut kernels = Vec::new();
    let mut seen = HashSet::new();
    let mut take = |program: &Program, policy| {
        let Some((analysis, own)) = analysed(program, policy) else {
            return;
        };
        let mut names = HashSet::new();
        for kernel in &own {
            let Some((code, json)) = printed(&analysis.graph, kernel) else {
                continue;
            };
            // Kernels of one file have names of their own.
            let is_definition = |line: &&str| line.starts_with("def ");
            for line in code.lines().filter(is_definition) {
                let (line, _) = line.split_once('(').unwrap();
                let is_helper = ["uniform_at", "multiply"]
                    .iter()
                    .any(|name| line[4..].starts_with(name));
                assert!(is_helper || names.insert(line.to_owned()), "{line}");
            }
            if seen.insert(code) {
                kernels.push(json);
            }
        }
    };
    for example in EXAMPLES {
        let program = parse(example.text).program;
        for &policy in Policy::VARIANTS {
            for size in [None, Some(1), Some(2), Some(3)] {
                take(&sized(&program, size), policy);
            }
        }
    }
    for text in SMALL {
        for &policy in Policy::VARIANTS {
            take(&parse(text).program, policy);
        }
    }
    assert!(kernels.len() > 300, "{}", kernels.len());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("triton_kernels.json");
    std::fs::write(&file, serde_json::to_string(&kernels).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/compile_triton.py");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let ran = Command::new(&python).arg(script).arg(&file).output();
    let ran = ran.unwrap_or_else(|error| panic!("{python} reads the kernels: {error}"));
    let [told, errors] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(ran.status.success(), "{told}{errors}");
    println!("{told}");
}
