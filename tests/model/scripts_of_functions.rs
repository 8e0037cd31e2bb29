//! What PyTorch calls each function, in a script.

use crate::scripts::{body, expression};
use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use fuseline_core::{Options, analyze_program};
use fuseline_view::present::pytorch::script;
use strum::VariantArray;

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
    ("y = log_sigmoid(x)", "F.logsigmoid(x)"),
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
    ("y = bitcast(x, dtype=bf16)", "x.view(torch.bfloat16)"),
    ("y = xlogy(x, w)", "torch.xlogy(x, w)"),
    ("y = xlogy(2, x)", "torch.xlogy(2.0, x)"),
    ("y = logaddexp(x, w)", "torch.logaddexp(x, w)"),
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
    ("y = scaled_matmul(o, wide, n, n, z, transpose_b=true) : bf16[16, 32]", "torch._scaled_mm(o, wide.mT, scale_a=n, scale_b=n, bias=z, out_dtype=torch.bfloat16)"),
    ("y = scaled_matmul(o, wide, n, n, z, transpose_b=true) : f16[16, 32]", "torch._scaled_mm(o, wide.mT, scale_a=n, scale_b=n, bias=z.to(torch.float16), out_dtype=torch.float16)"),
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
    ("y = expand(g, shape=[4, -1])", "g.expand(4, -1)"),
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
input z : bf16[32]
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

/// A GPU multiplies i8 in `_int_mm` alone, which wants more than 16 rows and sides of multiples of
/// 8.
#[test]
fn a_product_of_i8_is_one_that_a_gpu_has() {
    let product = |rows: u64, columns: u64| {
        let text = format!(
            "input a : i8[{rows}, 64]\ninput b : i8[{columns}, 64]\ny = matmul(a, b, transpose_b=true) : i32[{rows}, {columns}]"
        );
        expression(&text)
    };
    assert_eq!(product(32, 16), "torch._int_mm(a, b.mT)");
    let widened = "a.to(torch.int32) @ b.to(torch.int32).mT";
    assert_eq!(product(16, 16), widened);
    assert_eq!(product(32, 12), widened);
}
