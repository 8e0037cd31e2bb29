//! Programs as scripts of PyTorch.

use crate::inductor_measured::{DEFAULT, options};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::model::functions::Function;
use fuseline_core::notation::{parse, print};
use fuseline_core::{Options, analyze_program};
use fuseline_view::present::pytorch::{SCRIPT_NAME, Script, script};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use strum::VariantArray;

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
fn expression(text: &str) -> String {
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

/// One statement of each function, with what PyTorch calls it.
#[rustfmt::skip]
const CASES: &[(&str, &str)] = &[
    ("y = add(x, w)", "x + w"),
    ("y = sub(x, w)", "x - w"),
    ("y = mul(x, 2)", "x * 2.0"),
    ("y = div(1, x)", "1.0 / x"),
    ("y = sub(i, 1)", "i - 1"),
    ("y = mul(i, 0.5)", "i * 0.5"),
    ("y = maximum(x, w)", "torch.maximum(x, w)"),
    ("y = maximum(x, 0.5)", "torch.clamp(x, min=0.5)"),
    ("y = minimum(0.5, x)", "torch.clamp(x, max=0.5)"),
    ("y = pow(x, exponent=3)", "x ** 3.0"),
    ("y = pow(x, w)", "x ** w"),
    ("y = lt(x, w)", "x < w"),
    ("y = le(x, w)", "x <= w"),
    ("y = gt(x, w)", "x > w"),
    ("y = ge(x, w)", "x >= w"),
    ("y = eq(x, w)", "x == w"),
    ("y = ne(x, w)", "x != w"),
    ("y = logical_and(m, m)", "torch.logical_and(m, m)"),
    ("y = logical_or(m, m)", "torch.logical_or(m, m)"),
    ("y = logical_not(m)", "torch.logical_not(m)"),
    ("y = sign(x)", "torch.sign(x)"),
    ("y = isnan(x)", "torch.isnan(x)"),
    ("y = isinf(x)", "torch.isinf(x)"),
    ("y = exp2(x)", "torch.exp2(x)"),
    ("y = expm1(x)", "torch.expm1(x)"),
    ("y = log2(x)", "torch.log2(x)"),
    ("y = log1p(x)", "torch.log1p(x)"),
    ("y = tan(x)", "torch.tan(x)"),
    ("y = ceil(x)", "torch.ceil(x)"),
    ("y = trunc(x)", "torch.trunc(x)"),
    ("y = selu(x)", "F.selu(x)"),
    ("y = softplus(x)", "F.softplus(x)"),
    ("y = mish(x)", "F.mish(x)"),
    ("y = hardsigmoid(x)", "F.hardsigmoid(x)"),
    ("y = hardswish(x)", "F.hardswish(x)"),
    ("y = softsign(x)", "F.softsign(x)"),
    ("y = leaky_relu(x)", "F.leaky_relu(x, 0.01)"),
    ("y = elu(x, alpha=2)", "F.elu(x, 2.0)"),
    ("y = logical_xor(m, m)", "torch.logical_xor(m, m)"),
    ("y = floor_divide(x, w)", "torch.floor_divide(x, w)"),
    ("y = floor_divide(i, 2)", "torch.floor_divide(i, 2)"),
    ("y = trunc_divide(x, w)", "torch.div(x, w, rounding_mode=\"trunc\")"),
    ("y = trunc_divide(i, 2)", "torch.div(i, 2, rounding_mode=\"trunc\")"),
    ("y = remainder(x, 3)", "torch.remainder(x, 3.0)"),
    ("y = prod(x, axis=[0, 1], keepdim=false)", "x.prod(1).prod(0)"),
    ("y = any(x)", "x.any(1, keepdim=True)"),
    ("y = all(m, axis=0)", "m.all(0, keepdim=True)"),
    ("y = argmax(x, keepdim=false)", "x.argmax(1)"),
    ("y = argmin(x)", "x.argmin(1, keepdim=True)"),
    ("y = sdpa(x, w, x, causal=true)", "F.scaled_dot_product_attention(x, w, x, is_causal=True)"),
    ("y = sdpa(q, q, q, b, scale=1/4)", "F.scaled_dot_product_attention(q, q, q, b, scale=0.25)"),
    ("y = sdpa(q, t, t, enable_gqa=true)", "F.scaled_dot_product_attention(q, t, t, enable_gqa=True)"),
    ("y = group_norm(image, c, c, groups=3)", "F.group_norm(image, 3, c, c, eps=1e-5)"),
    ("y = adaptive_avg_pool2d(image, size=2)", "F.adaptive_avg_pool2d(image, (2, 2))"),
    ("y = adaptive_max_pool2d(image, size=[1, 2])", "F.adaptive_max_pool2d(image, (1, 2))"),
    ("y = interpolate(image, times=2)", "F.interpolate(image, (16, 16), mode=\"nearest\")"),
    ("y = interpolate(image, size=4, mode=bilinear)", "F.interpolate(image, (4, 4), mode=\"bilinear\")"),
    ("y = interpolate_bilinear(image, size=4, align_corners=true)", "F.interpolate(image, (4, 4), mode=\"bilinear\", align_corners=True)"),
    ("y = topk(x, count=2)", "torch.topk(x, 2, 1)[0]"),
    ("y = topk_indices(x, count=2, axis=0)", "torch.topk(x, 2, 0)[1]"),
    ("y = sort(x, axis=0, descending=true)", "torch.sort(x, dim=0, descending=True, stable=True)[0]"),
    ("y = argsort(x)", "torch.sort(x, dim=-1, stable=True)[1]"),
    ("y = scatter(x, j, s, axis=1)", "torch.scatter(x, 1, j, s)"),
    ("y = scatter_add(x, j, s, axis=1)", "torch.scatter_add(x, 1, j, s)"),
    ("y = index_copy(q, h, q, axis=0)", "torch.index_copy(q, 0, h, q)"),
    ("y = index_add(q, h, q, axis=0)", "torch.index_add(q, 0, h, q)"),
    ("y = index_put(q, h, q)", "q.index_put((h,), q)"),
    ("y = slice_scatter(x, x)", "torch.slice_scatter(x, x, 1, 0, 8, 1)"),
    ("y = copy(x, w)", "torch.empty_like(x).copy_(w)"),
    ("y = index(x, i)", "x[i]"),
    ("y = flip(x, axis=[0, 1])", "x.flip(0, 1)"),
    ("y = roll(x, shift=-2, axis=0)", "x.roll(-2, 0)"),
    ("y = one_hot(i, classes=5)", "F.one_hot(i, 5)"),
    ("y = rotary(x, w, g)", "x * w + torch.cat((-x[..., 4:], x[..., :4]), -1) * g"),
    ("y = neg(x)", "-x"),
    ("y = abs(x)", "torch.abs(x)"),
    ("y = square(x)", "torch.square(x)"),
    ("y = relu(x)", "F.relu(x)"),
    ("y = gelu(x)", "F.gelu(x, approximate=\"tanh\")"),
    ("y = gelu(x, approximate=none)", "F.gelu(x)"),
    ("y = silu(x)", "F.silu(x)"),
    ("y = sigmoid(x)", "torch.sigmoid(x)"),
    ("y = tanh(x)", "torch.tanh(x)"),
    ("y = exp(x)", "torch.exp(x)"),
    ("y = log(x)", "torch.log(x)"),
    ("y = erf(x)", "torch.erf(x)"),
    ("y = sin(x)", "torch.sin(x)"),
    ("y = cos(x)", "torch.cos(x)"),
    ("y = round(x)", "torch.round(x)"),
    ("y = floor(x)", "torch.floor(x)"),
    ("y = sqrt(x)", "torch.sqrt(x)"),
    ("y = rsqrt(x)", "torch.rsqrt(x)"),
    ("y = reciprocal(x)", "torch.reciprocal(x)"),
    ("y = scale(x, factor=1/8)", "x * 0.125"),
    ("y = shift(x, amount=1e-5)", "x + 1e-5"),
    ("y = mask(x)", "x.masked_fill(torch.ones(4, 8, dtype=torch.bool, device=DEVICE).triu(5), float(\"-inf\"))"),
    ("y = mask(x, w)", "x + w"),
    ("y = tril(x, diagonal=1)", "torch.tril(x, 1)"),
    ("y = triu(x)", "torch.triu(x, 0)"),
    ("y = full(value=3) : f32[4]", "torch.full((4,), 3.0, dtype=torch.float32, device=DEVICE)"),
    ("y = arange(start=3, step=-2) : i64[4]", "torch.arange(3, -5, -2, dtype=torch.int64, device=DEVICE).reshape((4,))"),
    ("y = arange() : i64[4, 2]", "torch.arange(8, dtype=torch.int64, device=DEVICE).reshape((4, 2))"),
    ("y = dropout(x, p=0.1)", "F.dropout(x, 0.1, training=True)"),
    ("y = cast(x, dtype=f32)", "x.to(torch.float32)"),
    ("y = where(m, x, -inf)", "torch.where(m, x, float(\"-inf\"))"),
    ("y = where(m, places, 0)", "torch.where(m, places, 0)"),
    ("y = clamp(x, min=0, max=6)", "torch.clamp(x, min=0.0, max=6.0)"),
    ("y = clamp(j, min=0, max=6)", "torch.clamp(j, min=0, max=6)"),
    ("y = shift(j, amount=1)", "j + 1"),
    ("y = scale(j, factor=2)", "j * 2"),
    ("y = batch_norm(image, c, c)", "image * c.view(-1, 1, 1) + c.view(-1, 1, 1)"),
    ("y = batch_norm(image, c, c, c, c)", "F.batch_norm(image, c, c, c, c, eps=1e-5)"),
    ("y = batch_norm(image, c, c, training=true)", "F.batch_norm(image, None, None, c, c, training=True, eps=1e-5)"),
    ("y = sum(x)", "x.sum(1, keepdim=True)"),
    ("y = sum(x, axis=[0, 1], keepdim=false)", "x.sum((0, 1))"),
    ("y = mean(x, axis=0)", "x.mean(0, keepdim=True)"),
    ("y = max(x, keepdim=false)", "x.amax(1)"),
    ("y = min(x)", "x.amin(1, keepdim=True)"),
    ("y = var(x)", "x.var(1, keepdim=True)"),
    ("y = softmax(x, axis=0)", "F.softmax(x, 0)"),
    ("y = log_softmax(x)", "F.log_softmax(x, 1)"),
    ("y = layer_norm(x, g, g)", "F.layer_norm(x, (8,), g, g, eps=1e-5)"),
    ("y = rms_norm(x, g, g)", "F.rms_norm(x, (8,), g, eps=1e-6) + g"),
    ("y = l2_norm(x)", "F.normalize(x, dim=1, eps=1e-12)"),
    ("y = cumsum(x)", "x.cumsum(1)"),
    ("y = max_pool2d(image, kernel=2)", "F.max_pool2d(image, (2, 2), (2, 2), (0, 0))"),
    ("y = avg_pool2d(image, kernel=3, stride=1, padding=1)", "F.avg_pool2d(image, (3, 3), (1, 1), (1, 1))"),
    ("y = matmul(x, w, transpose_b=true)", "x @ w.mT"),
    ("y = matmul(x, v)", "x @ v.to(torch.float16)"),
    ("y = dequantize(x, g)", "x.to(torch.float16) * g"),
    ("y = dequantize(x, s, j)", "(x.to(torch.float16) - j.repeat_interleave(4, -1).to(torch.float16)) * s.repeat_interleave(4, -1)"),
    ("y = scaled_matmul(o, wide, n, n, transpose_b=true) : f16[16, 32]", "torch._scaled_mm(o, wide.mT, scale_a=n, scale_b=n, out_dtype=torch.float16)"),
    ("y = scaled_matmul(o, wide, d, e, transpose_b=true) : f32[16, 32]", "(torch._scaled_mm(o, wide.mT, scale_a=d.float(), scale_b=e.mT, out_dtype=torch.bfloat16)).to(torch.float32)"),
    ("y = linear(x, w)", "F.linear(x, w)"),
    ("y = conv1d(q, u, padding=1)", "F.conv1d(q, u, padding=1)"),
    ("y = conv2d(image, k, stride=2, padding=1)", "F.conv2d(image, k, stride=(2, 2), padding=(1, 1))"),
    ("y = reshape(x, shape=[2, -1])", "x.reshape((2, 16))"),
    ("y = rearrange(x) : f16[2, 4, 4]", "x.reshape((4, 2, 4)).movedim(-3, -2)"),
    ("y = rearrange(x) : f16[2, 2, 4, 2]", "x.reshape((4, 2, 2, 2)).movedim(-4, -2)"),
    ("y = contiguous(x)", "x.reshape((4, 8)).contiguous()"),
    ("y = transpose(x)", "x.permute(1, 0)"),
    ("y = split(x, parts=2, index=1)", "x[:, 4:8]"),
    ("y = slice(x, start=1, step=2, axis=0)", "x[1:4:2]"),
    ("y = concat(x, w, axis=0)", "torch.cat((x, w), 0)"),
    ("y = expand(g, shape=[4, 8])", "g.expand((4, 8))"),
    ("y = repeat(x, times=[2, 1])", "x.repeat((2, 1))"),
    ("y = repeat_interleave(x, times=2, axis=0)", "x.repeat_interleave(2, dim=0)"),
    ("y = embedding(i, w)", "F.embedding(i, w)"),
    ("y = gather(x, j, axis=1)", "torch.gather(x, 1, j)"),
    ("y = pad(x, pad=[1, 2])", "F.pad(x, (1, 2))"),
    ("y = pad(x, pad=[1, 2], value=-3)", "F.pad(x, (1, 2), value=-3.0)"),
    ("y = mul(x, v)", "x * v"),
    ("y = add(v, x) : f32[4, 8]", "v + x"),
    ("y = add_(x, v)", "x.copy_((x + v).to(torch.float16))"),
    ("y = mul(j, 2)", "j * 2"),
    ("y = mul(j, 0.5)", "j * 0.5"),
    ("y = add(b, 1)", "b + 1"),
];

const DECLARED: &str = "input x : f16[4, 8]\ninput w : f16[4, 8]\ninput m : bool[4, 8]\ninput v : f32[8]\ninput g : f16[8]
input c : f16[3]\ninput image : f16[2, 3, 8, 8]\nweight k : f16[5, 3, 3, 3]\ninput i : i64[6]\ninput j : i64[4, 2]
input s : f16[4, 2]
input q : f16[2, 4, 4]
input t : f16[1, 8, 4]
input h : i64[2]
input b : bool[4, 4]
input o : f8[16, 64]
weight wide : f8e5m2[32, 64]
input n : f32[]
input d : f16[16, 1]
input e : f32[32, 1]
weight u : f16[5, 4, 3]
input places : i64[4, 8]\n";

#[test]
fn every_function_has_its_counterpart() {
    for (statement, expected) in CASES {
        let declared: Vec<&str> = (DECLARED.lines())
            .filter(|line| {
                let name = line.split([' ', ':']).nth(1).unwrap();
                let words = statement.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.skip(1).any(|word| word == name)
            })
            .collect();
        let declared = declared.join("\n");
        let declared = if *statement == "y = matmul(x, v)" {
            declared.replace("v : f32[8]", "v : f32[8, 2]")
        } else {
            declared
        };
        let text = format!("{declared}\n{statement}\n");
        assert_eq!(expression(&text), *expected, "{text}");
    }
    let called = |name: &str| CASES.iter().any(|(s, _)| s.contains(&format!("= {name}(")));
    for function in Function::VARIANTS {
        // A variant is called by an attribute, and what is not known has no counterpart.
        let is_other = matches!(
            function,
            Function::GeluErf
                | Function::BatchNormTrain
                | Function::Opaque
                | Function::Part
                | Function::Convolution
        );
        assert!(is_other || called(function.name()), "{function}");
    }
}

#[test]
fn both_results_of_an_operator_are_one_call() {
    let cases = [
        (
            "topk(x, count=2)",
            "topk_indices(x, count=2)",
            "torch.topk(x, 2, 1)",
        ),
        (
            "sort(x, axis=0, descending=true)",
            "argsort(x, axis=0, descending=true)",
            "torch.sort(x, dim=0, descending=True, stable=True)",
        ),
        (
            "max(x, axis=0)",
            "argmax(x, axis=0)",
            "torch.max(x, 0, keepdim=True)",
        ),
        (
            "min(x, keepdim=false)",
            "argmin(x, keepdim=false)",
            "torch.min(x, 1)",
        ),
    ];
    let lines = |text: &str| {
        let program = parse(text).program;
        let outcome = analyze_program(&program, &Options::default());
        let analysis = outcome.analysis.unwrap();
        let written = script("", &program, &analysis, &outcome.statement_of_op).unwrap();
        body(&written)[1..]
            .iter()
            .map(|line| line.trim().to_owned())
            .collect::<Vec<_>>()
    };
    for (values, indices, call) in cases {
        for text in [
            format!("v = {values}\ni = {indices}"),
            format!("i = {indices}\nv = {values}"),
        ] {
            let text = format!("input x : f16[8, 4]\n{text}\n");
            let written = lines(&text);
            assert_eq!(written[0], format!("v, i = {call}"), "{text}");
            assert_eq!(written.len(), 2, "{text}");
        }
    }
    // The values of other types are cast.
    assert_eq!(
        lines("input x : f8[8, 4]\nv = topk(x, count=2)\ni = topk_indices(x, count=2)\n")[..2],
        [
            "v, i = torch.topk(x.to(torch.float32), 2, 1)",
            "v = v.to(torch.float8_e4m3fn)"
        ]
    );
    // Elements of 4 bits are packed one result at a time.
    let packed = lines("input x : i4[8, 4]\nv = topk(x, count=2)\ni = topk_indices(x, count=2)\n");
    assert!(
        packed[0].starts_with("v = ") && packed[1].starts_with("i = "),
        "{packed:#?}"
    );
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
