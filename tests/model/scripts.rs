//! Programs as scripts of PyTorch.

use crate::inductor_measured::{DEFAULT, options};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::{parse, print};
use fuseline_core::{Options, analyze_program};
use fuseline_view::present::pytorch::{SCRIPT_NAME, Script, script};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) fn script_of(text: &str) -> Script {
    let program = parse(text).program;
    let outcome = analyze_program(&program, &Options::default());
    assert_eq!(outcome.diagnostics, [], "{text}");
    let analysis = outcome.analysis.unwrap();
    script("a program", &program, &analysis, &outcome.statement_of_op)
}

/// The lines of the function `program`.
pub(crate) fn body(script: &str) -> Vec<&str> {
    let begin = script.find("\ndef program(").unwrap() + 1;
    let lines = script[begin..].lines();
    lines.take_while(|line| !line.is_empty()).collect()
}

/// The expression of the last op.
pub(crate) fn expression(text: &str) -> String {
    let script = script_of(text).unwrap_or_else(|why| panic!("{text}: {why:?}"));
    let lines = body(&script);
    let [.., line, _] = &lines[..] else {
        panic!("{script}");
    };
    line.split_once(" = ").unwrap().1.to_owned()
}

#[test]
fn the_help_of_a_script_calls_it_by_the_name_of_its_file() {
    let script = script_of("input x : f16[8]\ny = relu(x)\n").unwrap();
    let calls: Vec<&str> = script.split("python ").skip(1).collect();
    assert!(calls.len() > 2 && calls.iter().all(|call| call.starts_with(SCRIPT_NAME)));
}

#[test]
fn the_transformer_block_is_a_program_of_pytorch() {
    let text = EXAMPLES
        .iter()
        .find(|e| e.id == "transformer")
        .unwrap()
        .text;
    let script = script_of(text).unwrap();
    assert_eq!(
        body(&script),
        [
            "def program(input, w_qkv, w_out, w_ffn_up, w_ffn_down):",
            "    qkv = input @ w_qkv  # qkv_proj",
            "    qkv_split = qkv.reshape((32, 2048, 384))  # split_heads",
            "    scores_raw = torch.bmm(qkv_split[..., 0:128], qkv_split[..., 128:256].mT)  # attn_scores",
            "    scores = F.softmax(scores_raw, 2)  # softmax",
            "    attn_out = torch.bmm(scores, qkv_split[..., 256:384])  # attn_output",
            "    attn_concat = attn_out.reshape((2048, 4096))  # concat_heads",
            "    proj_out = attn_concat @ w_out  # out_proj",
            "    resid1 = proj_out + input  # residual_add1",
            "    ln1 = F.layer_norm(resid1, (4096,), eps=1e-5)  # layer_norm1",
            "    ffn_up_out = ln1 @ w_ffn_up  # ffn_up",
            "    gelu_out = F.gelu(ffn_up_out, approximate=\"tanh\")  # gelu",
            "    ffn_down_out = gelu_out @ w_ffn_down  # ffn_down",
            "    resid2 = ffn_down_out + ln1  # residual_add2",
            "    ln2 = F.layer_norm(resid2, (4096,), eps=1e-5)  # layer_norm2",
            "    return (ln2,)",
        ]
    );
    let drawn = "normal((4096, 12288), torch.float16, 0.0, 0.015625),";
    assert!(script.contains(drawn), "{script}");
    assert!(
        script.contains("RESULTS = (\n    ((2048, 4096), torch.float16),\n)"),
        "{script}"
    );
}

#[test]
fn every_example_is_a_script_with_a_line_for_each_op() {
    for example in EXAMPLES {
        let program = parse(example.text).program;
        let outcome = analyze_program(&program, &Options::default());
        let analysis = outcome.analysis.unwrap();
        let written = script(example.title, &program, &analysis, &outcome.statement_of_op);
        let written = written.unwrap();
        let lines = body(&written).len();
        assert_eq!(lines, analysis.graph.ops.len() + 2, "{}", example.id);
        assert!(!written.contains("__TITLE__") && !written.contains("__BODY__"));
        assert_eq!(
            written.contains("HAS_RANDOM = True"),
            written.contains("F.dropout")
        );
    }
}

#[test]
fn groups_of_rows_meet_a_matrix_each() {
    let experts = "input x : f16[4, 8]\nweight w : f16[2, 8, 6]\ny = matmul(x, w, k=8) : f16[4, 6]";
    assert_eq!(
        expression(experts),
        "torch.bmm(x.reshape(2, 2, 8), w).reshape(4, 6)"
    );
    let uneven = experts.replace("f16[4, ", "f16[5, ");
    assert!(script_of(&uneven).is_err());
}

#[test]
fn what_pytorch_cannot_run_is_named() {
    let reasons = |text: &str| {
        let unwritable = script_of(text).unwrap_err();
        unwritable
            .into_iter()
            .map(|u| (u.name, u.reason.to_string()))
            .collect::<Vec<_>>()
    };
    let of_bare = reasons("input x : f16[8]\ny = elementwise(x) : f16[8]\nz = relu(y)\n");
    assert_eq!(of_bare.len(), 1);
    assert_eq!(of_bare[0].0, "y");
    assert!(of_bare[0].1.contains("use a function"), "{of_bare:?}");
    let of_f8 = reasons("input x : f8[8, 8]\nweight w : f8[8, 8]\ny = matmul(x, w) : f16[8, 8]\n");
    assert_eq!(of_f8.len(), 1, "{of_f8:?}");
    assert!(of_f8[0].1.contains("scales"), "{of_f8:?}");
    let of_blocks = reasons(
        "input x : f8[8, 8]\ninput s : f32[8, 2]\ny = scaled_matmul(x, x, s, s) : bf16[8, 8]\n",
    );
    assert!(
        of_blocks[0].1.contains("one for each row and column"),
        "{of_blocks:?}"
    );
    for moved in [
        "rearrange(x) : f16[10]",
        "rearrange(x) : f16[2, 4]",
        "rearrange(x, x) : f16[16]",
    ] {
        let of_order = reasons(&format!("input x : f16[8]\ny = {moved}\n"));
        assert!(
            of_order[0].1.contains("how its elements move"),
            "{of_order:?}"
        );
    }
    let of_f4 = reasons("input x : f4[8, 8]\nweight w : f4[8, 8]\ny = matmul(x, w) : f16[8, 8]\n");
    assert!(of_f4[0].1.contains("scales"), "{of_f4:?}");
    let in_place = reasons(
        "input x : i4[8, 8]\ninput n : i4[8, 2]\ny = slice_scatter_(x, n, end=2, axis=1)\n",
    );
    assert!(in_place[0].1.contains("4 bits in place"), "{in_place:?}");
}

#[test]
fn an_index_is_within_what_it_leads_to_behind_ops_that_move_it() {
    let text = "input places : i64[16]
input kinds : i64[512]
weight rows : f16[2, 8]
head = slice(places, start=0, end=4, axis=0)
kind = gather(kinds, head, axis=0)
wide = expand(kind) : i64[3, 4]
known = ne(wide, -100)
label = where(known, wide, 0)
y = embedding(label, rows)";
    let script = script_of(text).unwrap();
    let inputs = [
        "whole((16,), torch.int64, 0, 512),",
        "whole((512,), torch.int64, 0, 2),",
    ];
    for input in inputs {
        assert!(script.contains(input), "{input} in {script}");
    }
}

#[test]
fn f8_is_calculated_in_f32_and_moved_as_it_is() {
    let text = "input x : f8[4, 8]\na = gelu(x)\nb = transpose(a)\nc = add(b, 1)\nr = cast(c) : f16[8, 4]\n";
    assert_eq!(
        body(&script_of(text).unwrap()),
        [
            "def program(x):",
            "    a = (F.gelu(x.to(torch.float32), approximate=\"tanh\")).to(torch.float8_e4m3fn)",
            "    b = a.permute(1, 0)",
            "    c = (b.to(torch.float32) + 1.0).to(torch.float8_e4m3fn)",
            "    r = c.to(torch.float32).to(torch.float16)",
            "    return (r,)",
        ]
    );
}

/// PyTorch has no `gather`, `index_copy` or `scatter` of f8, so their bytes are moved.
#[test]
fn f8_is_written_in_place_as_it_is() {
    let given = [
        ("x", "f8[4, 2, 256, 32]"),
        ("new", "f8[4, 2, 1, 32]"),
        ("at", "i64[1]"),
        ("ix", "i64[4, 2, 1, 32]"),
    ];
    let of = |line: &str| {
        let read = given
            .iter()
            .filter(|(name, _)| line.split(['(', ')', ',', ' ']).any(|word| word == *name));
        let inputs: Vec<String> = read
            .map(|(name, of)| format!("input {name} : {of}\n"))
            .collect();
        let inputs = inputs.concat();
        let script = script_of(&format!("{inputs}{line}\ny = cast(k, dtype=bf16)")).unwrap();
        body(&script)[1].trim().to_owned()
    };
    let cases = [
        (
            "k = index_copy_(x, at, new, axis=2)",
            "k = (x.view(torch.uint8).index_copy_(2, at, new.view(torch.uint8))).view(torch.float8_e4m3fn)",
        ),
        (
            "k = scatter(x, ix, new, axis=2)",
            "k = (torch.scatter(x.view(torch.uint8), 2, ix, new.view(torch.uint8))).view(torch.float8_e4m3fn)",
        ),
        (
            "k = gather(x, ix, axis=2)",
            "k = (torch.gather(x.view(torch.uint8), 2, ix)).view(torch.float8_e4m3fn)",
        ),
        (
            "k = slice_scatter_(x, new, axis=2, start=5, end=6)",
            "x[:, :, 5:6] = new",
        ),
        (
            "k = index_add_(x, at, new, axis=2)",
            "k = x.copy_((torch.index_add(x.to(torch.float32), 2, at, new.to(torch.float32))).to(torch.float8_e4m3fn))",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(of(line), expected, "{line}");
    }
}

#[test]
fn names_become_variables_of_their_own() {
    let text = "input lambda : f16[8]\ninput F : f16[8]\nthe_sum: h = add(lambda, F)\nrepeat 2 with h = y {\ny = relu(h)\n}\n";
    let script = script_of(text).unwrap();
    assert_eq!(
        body(&script),
        [
            "def program(lambda_2, F_2):",
            "    h = lambda_2 + F_2  # the_sum",
            "    y_1 = F.relu(h)",
            "    y_2 = F.relu(y_1)",
            "    return (y_2,)",
        ]
    );
}

/// Records are made of the program in the file that the script saves.
#[test]
fn a_script_holds_its_program() {
    let text = r#"param S = 8
input x : f16[S, 16]
`a """ b` = relu(x)
`c \\ d` = relu(`a """ b`)
"#;
    let script = script_of(text).unwrap();
    let (_, after) = script.split_once("TEXT = \"\"\"\\\n").unwrap();
    let (quoted, _) = after.split_once("\"\"\"  #").unwrap();
    let unquoted = quoted.replace("\\\"", "\"").replace(r"\\", r"\");
    assert_eq!(unquoted, print(&parse(text).program), "{quoted}");
}

/// What a script saved on an H200, of which these fields are compared.
#[derive(Deserialize)]
struct Saved {
    rows: Vec<SavedRow>,
}

#[derive(Deserialize)]
struct SavedRow {
    variant: String,
    errors: Option<Vec<f64>>,
    time_us: f64,
    kernels: Vec<Value>,
}

/// Examples whose script launched more or fewer kernels than the policy for torch.compile predicts,
/// and why: `docs/scripts.md`.
const DIFFERENT: &[(&str, isize, &str)] = &[
    ("mlp", 1, "seeds of a dropout"),
    ("attention", 1, "seeds of a dropout"),
    ("conv_bias", 2, "copies into another layout"),
    ("conv_bn", 2, "copies into another layout"),
    ("conv_bn_relu", 2, "copies into another layout"),
    ("conv_relu", 2, "copies into another layout"),
    ("conv_bn_relu_maxpool", 2, "copies into another layout"),
    ("resnet_block", 3, "copies into another layout"),
    ("resnet_bottleneck", 2, "copies into another layout"),
    ("multi_head", -1, "nothing to make contiguous"),
    ("gpt2_layers", -12, "nothing to make contiguous"),
    ("llama", -1, "nothing to make contiguous"),
];

/// Examples that have no row, because they are newer than the run or, like the last one, a place to
/// write in.
const NOT_RUN: [&str; 3] = ["residual_layer", "transformer_block", "blank"];

#[test]
fn every_script_ran_on_a_gpu_with_the_predicted_kernels() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = folder.join("tests/measure/results/h200_scripts.json");
    let saved: BTreeMap<String, Saved> =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    for example in EXAMPLES {
        if NOT_RUN.contains(&example.id) {
            continue;
        }
        let rows = &saved[example.id].rows;
        let ran: Vec<&str> = rows.iter().map(|row| row.variant.as_str()).collect();
        assert_eq!(ran, ["eager", "compiled"], "{}", example.id);
        for row in rows {
            assert!(row.time_us > 0.0, "{}", example.id);
            let errors = row.errors.iter().flatten();
            assert!(errors.copied().all(|e| e < 0.02), "{}", example.id);
        }
        let program = parse(example.text).program;
        let analysis = analyze_program(&program, &options(DEFAULT))
            .analysis
            .unwrap();
        let further = DIFFERENT.iter().find(|(id, _, _)| *id == example.id);
        let expected = analysis.fused.launches.cast_signed() + further.map_or(0, |&(_, by, _)| by);
        assert_eq!(
            rows[1].kernels.len().cast_signed(),
            expected,
            "{}",
            example.id
        );
    }
}
