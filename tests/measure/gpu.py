"""Times and memory traffic of the patterns on a real GPU, eager and compiled, and the device's own rates.

    python tests/measure/gpu.py rates OUT.json
    python tests/measure/gpu.py times OUT.json SECONDS [fresh|fused|wide]
    ncu ... python tests/measure/gpu.py traffic TIMES.json     (see run.sh)

Each case is written as it ends, so a run that is cut short loses nothing.
"""

import json
import statistics
import sys
import time

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from patterns import PATTERNS, TEMPLATES, WIDE, fresh_sizes, tensor

torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True
REPLAYS = 40


def graph_of(call):
    """A CUDA graph of one call, after a warm-up on a stream of its own."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def timed_us(action, before=lambda: None):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    before()
    start.record()
    action()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1000


def batch_of(graph):
    for _ in range(REPLAYS):
        graph.replay()


def times_of(call):
    """Warm: replay after replay. Cold: the L2 overwritten before each. Back to back: many between two events."""
    graph = graph_of(call)
    scratch = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    for _ in range(5):
        graph.replay()
    torch.cuda.synchronize()
    warm = statistics.median(timed_us(graph.replay) for _ in range(REPLAYS))
    cold = statistics.median(timed_us(graph.replay, scratch.zero_) for _ in range(REPLAYS))
    back_to_back = statistics.median(timed_us(lambda: batch_of(graph)) / REPLAYS for _ in range(3))
    return {"time_us": round(warm, 2), "time_cold_us": round(cold, 2), "time_back_to_back_us": round(back_to_back, 2)}


def kernels_of(call):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        call()
        torch.cuda.synchronize()
    events = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    events = [e for e in events if not e.name.startswith(("Memset", "Memcpy"))]
    return [e.name[:110] for e in sorted(events, key=lambda e: e.time_range.start)]


def variant_of(function, variant):
    torch._dynamo.reset()
    if variant == "eager":
        return function
    if variant == "inductor":
        return torch.compile(function, dynamic=False)
    # Templates alone: with the library among the candidates the quicker of both wins, and epilogues stay kernels of their own.
    options = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON", "max_autotune_conv_backends": "TRITON"}
    return torch.compile(function, dynamic=False, options=options)


def cases(which):
    if which == "fresh":
        for variant in ("eager", "inductor"):
            yield from ((p, s, variant) for p in PATTERNS for s in fresh_sizes(p))
        return
    if which == "wide":
        for variant in ("eager", "inductor"):
            yield from ((p, s, variant) for p, sizes in WIDE.items() for s in sizes)
        return
    if which == "fused":
        # What `fresh` lacks.
        for place in range(3):
            for pattern in TEMPLATES:
                yield from ((pattern, size, variant) for size in fresh_sizes(pattern)[place : place + 1] for variant in TEMPLATES[pattern])
        return
    sized = [(p, s) for p, (_, _, known, sizes) in PATTERNS.items() if known for s in [known] + sizes]
    # Known sizes first, then one further size of each pattern after the other.
    sized.sort(key=lambda case: ([PATTERNS[case[0]][2]] + PATTERNS[case[0]][3]).index(case[1]))
    for variant in ("eager", "inductor"):
        yield from ((p, s, variant) for p, s in sized)
    for pattern in ("linear_bias", "linear_bias_relu", "mlp2", "attention"):
        yield pattern, PATTERNS[pattern][3][0], "inductor_triton_gemm"


def call_of(pattern, size, variant):
    torch.manual_seed(1)
    inputs, function, _, _ = PATTERNS[pattern]
    arguments = inputs(*size)
    compiled = variant_of(function, variant)

    def call():
        with torch.no_grad():
            return compiled(*arguments)

    call()
    torch.cuda.synchronize()
    return call


def measure_times(out, seconds, which):
    deadline = time.monotonic() + seconds
    rows = []
    for pattern, size, variant in cases(which):
        if time.monotonic() > deadline:
            print("out of time at", pattern, size, variant)
            break
        try:
            call = call_of(pattern, size, variant)
            row = {"pattern": pattern, "size": size, "variant": variant, **times_of(call), "kernels": kernels_of(call)}
        except Exception as problem:  # one case that fails must not cost the others
            print("FAILED", pattern, size, variant, str(problem)[:200])
            continue
        rows.append(row)
        with open(out, "w") as file:
            json.dump(rows, file)
        print(pattern, size, variant, row["time_us"], row["time_cold_us"], row["time_back_to_back_us"], len(row["kernels"]), flush=True)


def trace_traffic(times):
    """For ncu: each case once, with a spinning kernel in front of it as a mark."""
    with open(times) as file:
        rows = json.load(file)
    for row in rows:
        if row["variant"] == "inductor_triton_gemm":
            continue
        call = call_of(row["pattern"], row["size"], row["variant"])
        call()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        torch.cuda._sleep(10)
        call()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()


@triton.jit
def rate_kernel(x_ptr, y_ptr, which: tl.constexpr, rounds: tl.constexpr, size: tl.constexpr):
    at = tl.program_id(0) * size + tl.arange(0, size)
    x = tl.load(x_ptr + at)
    for _ in range(rounds):
        if which == 0:
            x = x * 0.999 + 0.001
        elif which == 1:
            x = tl.exp(x * -0.5)
        elif which == 2:
            x = libdevice.erf(x) + 0.1
        elif which == 3:
            x = libdevice.tanh(x) + 0.1
        elif which == 4:
            x = 1.0 / (x + 1.5)
        else:
            x = libdevice.rsqrt(x + 1.5)
    tl.store(y_ptr + at, x)


def pools():
    """Library pooling over images of many sizes, in both layouts; none is a pattern's."""
    rows = []
    for size in [(8, 32, 56, 56), (16, 96, 80, 80), (64, 48, 40, 40), (32, 128, 96, 96), (128, 64, 72, 72), (64, 256, 64, 64)]:
        for layout in (torch.contiguous_format, torch.channels_last):
            x = tensor(*size).to(memory_format=layout)
            rows.append({
                "size": size,
                "channels_last": layout == torch.channels_last,
                "max_2": times_of(lambda: torch.nn.functional.max_pool2d(x, 2)),
                "max_3_step_2": times_of(lambda: torch.nn.functional.max_pool2d(x, 3, 2, 1)),
                "avg_2": times_of(lambda: torch.nn.functional.avg_pool2d(x, 2)),
            })
    return rows


def measure_rates(out):
    device = torch.cuda.get_device_properties(0)
    rates = {
        "device": device.name,
        "torch": torch.__version__,
        "multiprocessors": device.multi_processor_count,
        "l2_bytes": device.L2_cache_size,
        "shared_bytes_per_block": device.shared_memory_per_block_optin,
        "memory_bytes": device.total_memory,
    }

    def per_call_us(call):
        return times_of(call)

    elements, rounds = 1 << 24, 256
    x, y = (torch.rand(elements, device="cuda") for _ in range(2))
    for which, name in enumerate(["fma", "exp", "erf", "tanh", "division", "rsqrt"]):
        us = per_call_us(lambda: rate_kernel[(elements // 1024,)](x, y, which, rounds, 1024))["time_us"]
        rates[f"{name}_per_s"] = elements * rounds / us * 1e6
    rates["streams"] = []
    for log in range(16, 31):
        n = 1 << log
        a, b, c = (tensor(n) for _ in range(3))
        rates["streams"].append({
            "elements": n,
            "copy": per_call_us(lambda: c.copy_(a)),
            "relu": per_call_us(lambda: torch.relu(a)),
            "add": per_call_us(lambda: torch.add(a, b, out=c)),
            "exp": per_call_us(lambda: torch.exp(a)),
            "gelu": per_call_us(lambda: torch.nn.functional.gelu(a)),
            "sigmoid": per_call_us(lambda: torch.sigmoid(a)),
        })
    rates["rows"] = []
    for m, n in [(1024, 1024), (4096, 1024), (2048, 2048), (32768, 1024), (4096, 4096), (8192, 8192), (2048, 32768), (65536, 4096)]:
        a, bias, column = tensor(m, n), tensor(n), tensor(m, 1)
        rates["rows"].append({
            "size": [m, n],
            "add_row": per_call_us(lambda: a + bias),
            "sub_column": per_call_us(lambda: a - column),
            "sum": per_call_us(lambda: a.sum(-1, keepdim=True)),
            "amax": per_call_us(lambda: a.amax(-1, keepdim=True)),
            "softmax": per_call_us(lambda: torch.softmax(a, -1)),
            "layer_norm": per_call_us(lambda: torch.nn.functional.layer_norm(a, (n,), bias, bias)),
        })
    rates["pools"] = pools()
    rates["graph_launch"] = []
    tiny = tensor(1024)
    for nodes in (1, 2, 5, 10, 20, 50, 100, 200):
        def chain():
            for _ in range(nodes):
                torch.relu_(tiny)
        rates["graph_launch"].append({"nodes": nodes, **per_call_us(chain)})
    rates["matmul"] = []
    shapes = [(1, m, k, n) for m, k, n in [(512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (4096, 1024, 4096), (4096, 4096, 1024), (8192, 1024, 8192), (1024, 4096, 4096), (4096, 16384, 4096), (4096, 4096, 12288), (128, 4096, 4096), (16384, 512, 2048)]]
    shapes += [(16, 2048, 64, 2048), (16, 2048, 2048, 64), (32, 1024, 128, 1024), (32, 1024, 1024, 128), (12, 512, 64, 512)]
    for batch, m, k, n in shapes:
        a, b = tensor(batch, m, k), tensor(batch, k, n)
        a, b = (a[0], b[0]) if batch == 1 else (a, b)
        call = lambda: a @ b
        rates["matmul"].append({"batch": batch, "size": [m, k, n], **per_call_us(call), "kernels": kernels_of(call)})
    with open(out, "w") as file:
        json.dump(rates, file)
    print(json.dumps({k: v for k, v in rates.items() if not isinstance(v, list)}))


if __name__ == "__main__":
    task, path = sys.argv[1:3]
    if task == "rates":
        measure_rates(path)
    elif task == "times":
        measure_times(path, float(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else "known")
    else:
        trace_traffic(path)
