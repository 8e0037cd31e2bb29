//! Scripts of PyTorch with tensors of 4 bits, two elements in each byte.

use crate::scripts::{body, script_of};

/// The lines of the function, without its head and what it returns.
fn ops(text: &str) -> (String, Vec<String>) {
    let script = script_of(text).unwrap_or_else(|why| panic!("{text}: {why:?}"));
    let lines = body(&script);
    let ops = lines[1..lines.len() - 1].iter();
    let ops = ops.map(|line| line.trim().to_owned()).collect();
    (script, ops)
}

/// A weight in groups of 128 with zero points, and one of blocks of 32 with f8 scales.
#[test]
fn a_weight_is_unpacked_where_it_is_read() {
    let (script, lines) = ops("\
input x : f16[16, 256]
weight q : i4[256, 384]
weight s : f16[2, 384]
weight z : i4[2, 384]
w = dequantize(q, s, z)
y = matmul(x, w)
");
    let zero = "int4(z, (2, 384)).repeat_interleave(128, -2).to(torch.float16)";
    let scale = "s.repeat_interleave(128, -2)";
    assert_eq!(
        lines,
        [
            &format!("w = (int4(q, (256, 384)).to(torch.float16) - {zero}) * {scale}"),
            "y = x @ w"
        ]
    );
    assert!(script.contains("packed_int4(whole((256, 384), torch.int8, -8, 8)),\n"));
    assert!(script.contains("    ((16, 384), torch.float16),\n"));
    assert!(script.contains("zip(outputs, expected)"));

    let (script, lines) = ops("\
input x : bf16[16, 256]
weight q : f4[384, 256]
weight s : f8[384, 8]
w = dequantize(q, s) : bf16[384, 256]
y = linear(x, w)
");
    let scale = "s.to(torch.float32).repeat_interleave(32, -1)";
    assert_eq!(
        lines,
        [
            &format!("w = (float4(q, (384, 256)).to(torch.float32) * {scale}).to(torch.bfloat16)"),
            "y = F.linear(x, w)"
        ]
    );
    assert!(
        script.contains("packed_float4(normal((384, 256), torch.float32, "),
        "{script}"
    );
}

/// What an op writes has half a byte for each element, and a view of it is no op.
#[test]
fn results_are_packed_and_views_are_not() {
    let (script, lines) = ops("\
input x : f32[8, 33]
q = cast(x, dtype=i4)
r = reshape(q, shape=[33, 8])
u = cast(r, dtype=f32)
f = cast(x, dtype=f4)
p = concat(q, q, axis=1)
n = sum(q)
");
    assert_eq!(
        lines,
        [
            "q = packed_int4(x.to(torch.int8))",
            "r = int4(q, (8, 33)).reshape((33, 8))",
            "u = r.to(torch.float32)",
            "f = packed_float4(x.to(torch.float32))",
            "p = packed_int4(torch.cat((int4(q, (8, 33)), int4(q, (8, 33))), 1))",
            "n = int4(q, (8, 33)).sum(1, keepdim=True)",
        ]
    );
    // 8 x 33 elements of f4 and 8 x 66 of i4 in bytes.
    assert!(
        script.contains("    ((132,), torch.uint8),\n    ((264,), torch.uint8),\n"),
        "{script}"
    );
    let decoded = "decoded = ((None, None), (float4, (8, 33)), (int4, (8, 66)), (None, None),)";
    assert!(script.contains(decoded), "{script}");
    assert!(script.contains("zip(numbers(outputs), numbers(expected))"));
}

#[test]
fn a_script_without_tensors_of_4_bits_does_not_unpack() {
    let (script, _) = ops("input x : f16[8]\ny = relu(x)\n");
    assert!(
        !script.contains("int4") && !script.contains("__FOUR_BITS__"),
        "{script}"
    );
}
