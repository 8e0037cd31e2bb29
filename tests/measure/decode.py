"""Times of decode steps on a real GPU: products of few rows, attention of few queries, small kernels, whole blocks.

    python tests/measure/decode.py OUT.json SECONDS known|further|masked|fresh|drawn

A time is that of one call among many in one CUDA graph, so no time is the replay's own. `time_us` repeats the call on
the same tensors: weights and keys come from the L2 if they fit. `time_cold_us` takes another copy of all tensors for
each call, more than the L2 holds: they come from memory, as in a model of many layers.
"""

import json
import random
import statistics
import sys
import time

import torch
import torch.nn.functional as F

from gpu import kernels_of, variant_of
from patterns import tensor

BEYOND_L2_BYTES = 300 << 20
F8 = torch.float8_e4m3fn


def weight(n, k):
    return tensor(n, k) * k**-0.5


def f8(*shape):
    return torch.randn(*shape, device="cuda").to(F8)


def scale():
    return torch.full((), 0.01, device="cuda")


def rotary(q, cos, sin):
    a, b = q.chunk(2, -1)
    return q * cos + torch.cat((-b, a), -1) * sin


def rms_norm(x, w):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w


def sdpa(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1])


def block(x, n1, wqkv, wo, n2, wgate, wup, wdown, kc, vc, at, cos, sin):
    """A step of one layer: norm, one product for Q, K, V, rotary, cache update, attention, and the gated MLP."""
    b, kv, t, d = kc.shape
    heads = wo.shape[1] // d
    h = rms_norm(x, n1)
    q, k, v = F.linear(h, wqkv).split([heads * d, kv * d, kv * d], -1)
    q, k = rotary(q.view(b, 1, heads, d).transpose(1, 2), cos, sin), rotary(k.view(b, 1, kv, d).transpose(1, 2), cos, sin)
    kc.index_copy_(2, at, k)
    vc.index_copy_(2, at, v.view(b, 1, kv, d).transpose(1, 2))
    x = x + F.linear(sdpa(q, kc, vc).transpose(1, 2).reshape(b, heads * d), wo)
    h = rms_norm(x, n2)
    return x + F.linear(F.silu(F.linear(h, wgate)) * F.linear(h, wup), wdown)


def block_inputs(b, t, h, heads, kv, d, i):
    return [tensor(b, h), tensor(h), weight((heads + 2 * kv) * d, h), weight(h, heads * d), tensor(h), weight(i, h), weight(i, h), weight(h, i),
            tensor(b, kv, t, d), tensor(b, kv, t, d), torch.full((1,), t - 1, device="cuda"), tensor(1, 1, 1, d), tensor(1, 1, 1, d)]


# Name of the op list: inputs of a size, and the call.
PATTERNS = {
    "decode_linear": (lambda m, k, n: [tensor(m, k), weight(n, k)], F.linear),
    "decode_matmul": (lambda m, k, n: [tensor(m, k), weight(k, n)], torch.matmul),
    "decode_linear_add": (lambda m, k, n: [tensor(m, k), weight(n, k), tensor(m, n)], lambda x, w, y: F.linear(x, w) + y),
    "decode_linear_bias": (lambda m, k, n: [tensor(m, k), weight(n, k), tensor(n)], F.linear),
    "decode_gate": (lambda m, k, n: [tensor(m, k), weight(n, k), weight(n, k)], lambda x, a, b: F.silu(F.linear(x, a)) * F.linear(x, b)),
    "decode_linear_f8": (lambda m, k, n: [f8(m, k), f8(n, k), scale(), scale()], lambda x, w, s, t: torch._scaled_mm(x, w.t(), s, t, out_dtype=torch.bfloat16)),
    "decode_attention": (lambda b, h, g, s, t, d: [tensor(b, h, s, d), tensor(b, g, t, d), tensor(b, g, t, d)], sdpa),
    "decode_scores": (lambda h, s, t, d: [tensor(h, s, d), tensor(h, t, d)], lambda q, k: q @ k.transpose(-1, -2)),
    "decode_values": (lambda h, s, t, d: [tensor(h, s, t), tensor(h, t, d)], torch.matmul),
    "decode_linear_int8": (lambda m, k, n: [tensor(m, k), torch.randint(-128, 128, (n, k), dtype=torch.int8, device="cuda"), tensor(n, 1)], lambda x, w, s: F.linear(x, w.to(x.dtype) * s)),
    "causal_attention": (lambda b, h, g, s, d: [tensor(b, h, s, d), tensor(b, g, s, d), tensor(b, g, s, d)], lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=q.shape[1] != k.shape[1])),
    "masked_attention": (lambda b, h, s, t, d: [tensor(b, h, s, d), tensor(b, h, t, d), tensor(b, h, t, d), torch.ones(b, 1, s, t, dtype=torch.bool, device="cuda")], lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m)),
    "decode_attention_mask": (lambda b, h, g, s, t, d: [tensor(b, h, s, d), tensor(b, g, t, d), tensor(b, g, t, d), torch.zeros(b, 1, s, t, dtype=torch.bfloat16, device="cuda")], lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m, enable_gqa=q.shape[1] != k.shape[1])),
    "cast_int8": (lambda m, n: [torch.randint(-128, 128, (m, n), dtype=torch.int8, device="cuda")], lambda x: x.to(torch.bfloat16)),
    "cast_f32": (lambda m, n: [torch.randn(m, n, device="cuda")], lambda x: x.to(torch.bfloat16)),
    "cast_bf16": (lambda m, n: [tensor(m, n)], lambda x: x.float()),
    "cast_f8": (lambda m, n: [tensor(m, n)], lambda x: x.to(F8)),
    "decode_rms_norm": (lambda m, n: [tensor(m, n), tensor(n)], lambda x, w: F.rms_norm(x, w.shape, w, 1e-6)),
    "decode_add_rms_norm": (lambda m, n: [tensor(m, n), tensor(m, n), tensor(n)], lambda x, y, w: (x + y, rms_norm(x + y, w))),
    "decode_layer_norm": (lambda m, n: [tensor(m, n), tensor(n), tensor(n)], lambda x, w, b: F.layer_norm(x, w.shape, w, b)),
    "decode_softmax": (lambda m, n: [tensor(m, n)], lambda x: torch.softmax(x, -1)),
    "decode_add": (lambda m, n: [tensor(m, n), tensor(m, n)], torch.add),
    "decode_silu_mul": (lambda m, n: [tensor(m, n), tensor(m, n)], lambda x, y: F.silu(x) * y),
    "decode_gelu": (lambda m, n: [tensor(m, n)], lambda x: F.gelu(x, approximate="tanh")),
    "decode_sum": (lambda m, n: [tensor(m, n)], lambda x: x.sum(-1, keepdim=True)),
    "decode_rotary": (lambda b, h, d: [tensor(b, h, 1, d), tensor(1, 1, 1, d), tensor(1, 1, 1, d)], rotary),
    "decode_cache": (lambda b, g, t, d: [tensor(b, g, t, d), torch.full((1,), t // 2, device="cuda"), tensor(b, g, 1, d)], lambda c, at, x: c.index_copy_(2, at, x)),
    "decode_block": (block_inputs, block),
}

WEIGHTS = [(4096, 4096), (4096, 14336), (14336, 4096), (4096, 6144), (4096, 1024), (2048, 2048), (8192, 8192), (8192, 28672), (1024, 4096), (896, 4864), (5120, 5120)]
ROWS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
HEADS = [(32, 8, 128), (32, 32, 128), (64, 8, 128), (28, 4, 128), (16, 2, 64)]
SMALL = [(1, 2048), (1, 8192), (16, 4096), (64, 4096), (128, 8192), (128, 14336)]
FEW = [(1, 4096, 4096), (8, 4096, 14336), (64, 4096, 4096), (128, 14336, 4096), (16, 2048, 2048)]
ROW_PATTERNS = ["decode_rms_norm", "decode_add_rms_norm", "decode_layer_norm", "decode_softmax", "decode_add", "decode_silu_mul", "decode_gelu", "decode_sum"]


def known():
    for k, n in WEIGHTS:
        yield from (("decode_linear", (m, k, n), "eager") for m in ROWS)
    for k, n in [(4096, 4096), (4096, 14336), (14336, 4096), (2048, 2048)]:
        yield from (("decode_matmul", (m, k, n), "eager") for m in (1, 8, 64))
    for k, n in [(4096, 4096), (4096, 14336), (14336, 4096), (2048, 2048), (8192, 8192)]:
        yield from (("decode_linear_f8", (m, k, n), "eager") for m in (1, 16, 64, 128, 256, 512, 2048, 4096, 8192))
    for h, g, d in HEADS:
        for b in (1, 4, 16, 64):
            for t in (512, 2048, 8192, 32768, 131072):
                if 4 * b * g * t * d <= 12 << 30:
                    yield "decode_attention", (b, h, g, 1, t, d), "eager"
    for s in (4, 16, 64, 128, 512):
        for t in (2048, 16384):
            yield from (("decode_attention", (b, 32, 8, s, t, 128), "eager") for b in (1, 8))
        yield from (("decode_attention", (b, 16, 16, s, 4096, 64), "eager") for b in (1, 8, 32))
    for pattern in ("decode_linear_bias", "decode_linear_add", "decode_gate"):
        yield from ((pattern, size, variant) for size in FEW for variant in ("eager", "inductor"))
    for pattern in ("decode_scores", "decode_values"):
        yield from ((pattern, size, "eager") for size in [(32, 1, 512, 128), (32, 1, 2048, 128), (32, 1, 16384, 128), (256, 1, 2048, 128), (2048, 1, 1024, 128), (16, 1, 4096, 64), (32, 16, 2048, 128), (256, 16, 2048, 128)])
    yield from (("decode_linear_int8", size, variant) for size in FEW for variant in ("eager", "inductor"))
    for pattern in ROW_PATTERNS:
        yield from ((pattern, size, variant) for size in SMALL for variant in ("eager", "inductor"))
    for size in [(1, 32, 128), (16, 32, 128), (64, 8, 128)]:
        yield from (("decode_rotary", size, variant) for variant in ("eager", "inductor"))
    for size in [(1, 8, 4096, 128), (16, 8, 4096, 128), (64, 8, 8192, 128)]:
        yield from (("decode_cache", size, variant) for variant in ("eager", "inductor"))


def further():
    """Attention and casts beyond decode steps, and whole blocks with other batches and lengths."""
    for h, g, d in [(32, 32, 128), (32, 8, 128), (16, 16, 64), (8, 8, 256), (16, 16, 32)]:
        yield from (("causal_attention", (b, h, g, s, d), "eager") for b, s in [(1, 512), (1, 2048), (1, 8192), (8, 1024), (4, 4096)])
    for b, h, s, t, d in [(1, 32, 1, 4096, 128), (16, 32, 1, 4096, 128), (1, 32, 2048, 2048, 128), (8, 16, 1024, 1024, 64)]:
        yield "masked_attention", (b, h, s, t, d), "eager"
    for d in (32, 96, 192, 256):
        yield from (("decode_attention", (b, 16, 16, s, t, d), "eager") for b, s, t in [(1, 1, 4096), (16, 1, 4096), (1, 2048, 2048), (8, 1024, 1024)])
    for t in (16, 64, 128, 256):
        yield from (("decode_attention", (b, 32, 8, s, t, 128), "eager") for b, s in [(1, 1), (64, 1), (8, 512)])
    for h, g in [(32, 2), (32, 1), (71, 1)]:
        yield from (("decode_attention", (b, h, g, 1, 4096, 128), "eager") for b in (1, 16))
    for pattern in ("cast_int8", "cast_f32", "cast_bf16", "cast_f8"):
        yield from ((pattern, size, variant) for size in [(64, 4096), (4096, 4096), (14336, 8192)] for variant in ("eager", "inductor"))
    for size in [(16, 1024, 4096, 32, 8, 128, 14336), (1, 16384, 2048, 16, 8, 128, 6144), (128, 512, 1536, 12, 2, 128, 8960), (4, 8192, 5120, 40, 8, 128, 17408)]:
        yield from (("decode_block", size, variant) for variant in ("eager", "inductor"))


def masked():
    """Attention with a mask in a tensor: of one query, of few, of many."""
    for h, g, d in [(32, 8, 128), (32, 32, 128), (28, 4, 128), (16, 2, 64)]:
        for t in (512, 2048, 8192, 32768):
            yield from (("decode_attention_mask", (b, h, g, 1, t, d), "eager") for b in (1, 16) if 4 * b * g * t * d <= 6 << 30)
    for b, s in [(1, 4), (1, 16), (1, 64), (8, 16), (1, 512), (1, 4096)]:
        yield "decode_attention_mask", (b, 32, 8, s, 4096, 128), "eager"
    for size in [(1, 32, 32, 512, 512, 128), (8, 32, 8, 512, 2048, 128), (1, 16, 16, 2048, 2048, 64), (1, 32, 8, 2048, 2048, 128), (4, 32, 32, 1024, 1024, 128)]:
        yield "decode_attention_mask", size, "eager"
    for size in [(16, 12, 12, 512, 512, 64), (64, 12, 12, 128, 128, 64), (1, 24, 24, 4096, 4096, 128)]:
        yield "decode_attention_mask", size, "eager"


def fresh():
    """Sizes that no figure of the model has seen, set before they were measured."""
    for size in [(1, 2048, 4096, 32, 8, 128, 14336), (8, 4096, 3584, 28, 4, 128, 18944), (64, 2048, 2560, 32, 8, 128, 9728)]:
        yield from (("decode_block", size, variant) for variant in ("eager", "inductor"))
    for k, n in [(3584, 18944), (18944, 3584), (3072, 3072), (2560, 9728), (6144, 2048), (4096, 128256)]:
        yield from (("decode_linear", (m, k, n), "eager") for m in (1, 3, 12, 24, 48, 96, 200))
    for k, n in [(3584, 18944), (18944, 3584), (3072, 3072)]:
        yield from (("decode_linear_f8", (m, k, n), "eager") for m in (1, 32, 96, 1024, 3072))
    for h, g, d in [(24, 8, 128), (40, 8, 128), (16, 16, 64)]:
        for b, t in [(1, 1024), (1, 16384), (2, 65536), (8, 4096), (32, 2048), (48, 8192), (24, 1024)]:
            yield "decode_attention", (b, h, g, 1, t, d), "eager"
    for pattern in ("decode_scores", "decode_values"):
        yield from ((pattern, size, "eager") for size in [(24, 1, 1024, 128), (64, 1, 8192, 128), (384, 1, 3072, 64), (40, 8, 4096, 128)])
    yield from (("decode_linear_int8", size, variant) for size in [(4, 3072, 8192), (48, 5120, 5120)] for variant in ("eager", "inductor"))
    for b, h, s, t, d in [(2, 24, 8, 3072, 128), (4, 40, 32, 8192, 128), (16, 12, 100, 1024, 64), (3, 64, 256, 6144, 128)]:
        yield "decode_attention", (b, h, h, s, t, d), "eager"
    for pattern in ROW_PATTERNS:
        yield from ((pattern, size, variant) for size in [(2, 3072), (24, 5120), (96, 11008)] for variant in ("eager", "inductor"))
    for pattern in ("decode_linear_bias", "decode_linear_add", "decode_gate"):
        yield from ((pattern, size, variant) for size in [(4, 3072, 8192), (48, 5120, 5120)] for variant in ("eager", "inductor"))
    # A product with what follows in one kernel of the compiler's, known and fresh.
    for pattern in ("decode_linear", "decode_linear_add"):
        yield from ((pattern, size, "inductor_triton_gemm") for size in FEW + [(4, 3072, 8192), (48, 5120, 5120)])


def drawn():
    """Sizes drawn at random, for testing only."""
    draw = random.Random(20261130)
    widths = [768, 1280, 1536, 2304, 3584, 4608, 5376, 7168, 9216, 11008, 12288, 13824, 16384, 18432, 22016, 25600]
    few = [1, 2, 3, 5, 6, 7, 9, 10, 14, 20, 28, 36, 40, 56, 72, 80, 112, 120, 128]
    for _ in range(40):
        yield "decode_linear", (draw.choice(few), draw.choice(widths), draw.choice(widths)), "eager"
    for _ in range(14):
        yield "decode_linear_f8", (draw.choice([1, 4, 16, 48, 80, 128, 300, 1536, 6144]), draw.choice(widths), draw.choice(widths)), "eager"
    for _ in range(26):
        d, g = draw.choice([64, 128]), draw.choice([1, 2, 4, 8, 16])
        h, b, t = g * draw.choice([1, 4, 6, 8]), draw.choice([1, 2, 3, 6, 12, 20, 40, 64]), draw.choice([768, 1500, 3000, 6000, 12000, 24000, 50000, 100000])
        if b * g * t * d <= 3 << 30:
            yield "decode_attention", (b, h, g, 1, t, d), "eager"
    for _ in range(10):
        g = draw.choice([2, 4, 8])
        h = g * draw.choice([1, 4, 6])
        yield "decode_attention", (draw.choice([1, 2, 4]), h, g, draw.choice([2, 4, 8, 16, 50]), draw.choice([1500, 6000, 24000, 100000]), 128), "eager"
    for pattern in ROW_PATTERNS:
        for variant in ("eager", "inductor"):
            for _ in range(2):
                yield pattern, (draw.choice([1, 3, 6, 12, 20, 40, 80, 128]), draw.choice([1536, 2560, 3584, 5120, 7168, 9216, 13824])), variant
    for size in [(2, 6000, 3584, 28, 4, 128, 18944), (32, 1500, 5120, 40, 8, 128, 13824)]:
        yield from (("decode_block", size, variant) for variant in ("eager", "inductor"))
    for pattern in ("decode_linear_bias", "decode_linear_add", "decode_gate", "decode_linear_int8"):
        for variant in ("eager", "inductor"):
            yield pattern, (draw.choice([2, 6, 24, 80]), draw.choice([3584, 7168]), draw.choice([4608, 9216])), variant
    for size in [(6, 8, 12000, 128), (40, 4, 3000, 128)]:
        yield from (("decode_cache", size, variant) for variant in ("eager", "inductor"))


def bytes_of(arguments):
    return sum(t.numel() * t.element_size() for t in arguments)


def graph_of(call, copies, calls):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for index in range(calls):
            call(*copies[index % len(copies)])
    return graph


def replay_us(graph):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(6):
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1000)
    return statistics.median(times[1:])


def time_of(call, copies):
    """Microseconds of one call in a graph of many, each on the next copy of the arguments."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for arguments in copies[:2] + copies[:1]:
            call(*arguments)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    few = graph_of(call, copies, 4)
    # As many calls as fill a millisecond, and at least one of each copy.
    calls = max(8, min(200, int(4000 / replay_us(few))))
    few.reset()
    calls = -(-calls // len(copies)) * len(copies)
    graph = graph_of(call, copies, calls)
    time_us = replay_us(graph) / calls
    graph.reset()
    return round(time_us, 3)


def measure(out, seconds, cases, patterns):
    deadline = time.monotonic() + seconds
    rows = []
    for pattern, size, variant in cases:
        if time.monotonic() > deadline:
            print("out of time at", pattern, size, variant)
            break
        inputs, function = patterns[pattern]
        try:
            torch.manual_seed(1)
            one = inputs(*size)
            function = variant_of(function, variant)
            count = max(1, min(64, -(-BEYOND_L2_BYTES // bytes_of(one))))
            copies = [one] + [[t.clone() for t in one] for _ in range(count - 1)]
            with torch.no_grad():
                row = {"pattern": pattern, "size": size, "variant": variant}
                row["time_us"] = time_of(function, copies[:1])
                row["time_cold_us"] = time_of(function, copies) if count > 1 else row["time_us"]
                row["kernels"] = kernels_of(lambda: function(*one))
        except Exception as problem:  # one case that fails must not cost the others
            print("FAILED", pattern, size, variant, str(problem)[:200])
            continue
        rows.append(row)
        with open(out, "w") as file:
            json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}, file)
        print(pattern, size, variant, row["time_us"], row["time_cold_us"], " ".join(k[:48] for k in row["kernels"][:3]), flush=True)
        del copies, one
        torch.cuda.empty_cache()


if __name__ == "__main__":
    path, seconds, which = sys.argv[1:4]
    measure(path, float(seconds), {"known": known, "further": further, "masked": masked, "fresh": fresh, "drawn": drawn}[which](), PATTERNS)
