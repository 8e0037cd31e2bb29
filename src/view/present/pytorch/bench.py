"""__TITLE__: runs eager and compiled, compares their results and times both. Written by Fuseline.

    python bench.py [OUT.json]         print and save times, kernels, errors and GPU rates; --quick skips max-autotune
    python bench.py --probe [OUT.json] only the GPU rates, in a few seconds
    ncu --nvtx --profile-from-start off --clock-control none --cache-control all --csv --page raw \
        --metrics dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum \
        --log-file traffic.csv python bench.py --traffic     bytes of each kernel with flushed caches

Needs PyTorch. Times need an NVIDIA GPU; without one, only the comparison runs.
"""

import json
import statistics
import sys
from datetime import datetime, timezone

import torch
import torch.nn.functional as F

DIGEST = "__DIGEST__"  # identifies the measured list of ops
TEXT = """\
__TEXT__"""  # the list of ops, which Fuseline needs for records of measured patterns
HAS_RANDOM = __HAS_RANDOM__
WRITES_INPUTS = __WRITES_INPUTS__
RESULTS = (
    __RESULTS__
)
REPLAYS = 40
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TORCH = torch.__version__


def normal(shape, dtype, mean, deviation):
    return (mean + deviation * torch.randn(shape, device=DEVICE)).to(dtype)


def positive(shape, dtype):
    return (0.5 + torch.randn(shape, device=DEVICE).abs()).to(dtype)


def whole(shape, dtype, low, high):
    return torch.randint(low, high, shape, device=DEVICE).to(dtype)


__FOUR_BITS__def inputs():
    torch.manual_seed(0)
    return (
        __INPUTS__
    )


def copies(arguments):
    """The arguments of a call: copies where it writes into them, so that each call gets the same."""
    return [argument.clone() for argument in arguments] if WRITES_INPUTS else arguments


def program(__ARGUMENTS__):
    __BODY__
    return (__RETURNED__,)


def variants():
    yield "eager", program
    yield "compiled", torch.compile(program, dynamic=False)
    if DEVICE == "cuda" and "--quick" not in sys.argv:
        yield "max-autotune", torch.compile(program, dynamic=False, mode="max-autotune-no-cudagraphs")


def errors(outputs, expected):
    """For each result its largest difference over the largest element; random results are not compared."""
    if HAS_RANDOM:
        return None
    differences = []
    for own, other in zip(outputs, expected):
        own, other = own.double(), other.double()
        finite = torch.isfinite(other)
        scale = other[finite].abs().max().item() if finite.any() else 1.0
        differences.append((own - other)[finite].abs().max().item() / max(scale, 1e-30) if finite.any() else 0.0)
    return differences


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


def back_to_back_us(graph):
    def batch():
        for _ in range(REPLAYS):
            graph.replay()

    batch()
    return statistics.median(timed_us(batch) / REPLAYS for _ in range(3))


def times_of(call):
    """Warm: 40 replays between two events. Cold: the L2 overwritten before each replay."""
    graph = graph_of(call)
    scratch = torch.empty(256 << 20, dtype=torch.uint8, device=DEVICE)
    warm = back_to_back_us(graph)
    cold = statistics.median(timed_us(graph.replay, scratch.zero_) for _ in range(REPLAYS))
    return {"time_us": round(warm, 2), "time_cold_us": round(cold, 2)}


def kernels_of(call):
    """The kernels of one call in their order, with their starts and times."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        call()
        torch.cuda.synchronize()
    events = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    events = [e for e in events if not e.name.startswith(("Memset", "Memcpy"))]
    events.sort(key=lambda e: e.time_range.start)
    first_us = events[0].time_range.start if events else 0
    return [
        {"name": e.name, "start_us": round(e.time_range.start - first_us, 3), "time_us": e.time_range.elapsed_us()}
        for e in events
    ]


def traffic(arguments):
    """One call of each variant where Nsight Compute looks, in a range of its name."""
    for name, function in variants():
        function(*arguments)
        torch.cuda.synchronize()
        with torch.cuda.nvtx.range(name):
            torch.cuda.profiler.start()
            function(*arguments)
            torch.cuda.synchronize()
            torch.cuda.profiler.stop()


if DEVICE == "cuda":
    import triton
    import triton.language as tl

    @triton.jit
    def rate_kernel(x_ptr, y_ptr, is_exp: tl.constexpr, rounds: tl.constexpr, size: tl.constexpr):
        at = tl.program_id(0) * size + tl.arange(0, size)
        x = tl.load(x_ptr + at)
        for _ in range(rounds):
            if is_exp:
                x = tl.exp(x * -0.5)
            else:
                x = x * 0.999 + 0.001
        tl.store(y_ptr + at, x)


def seconds(call):
    """One replay between two events, the median of ten, for calls that take longer than their launch."""
    graph = graph_of(call)
    graph.replay()
    return statistics.median(timed_us(graph.replay) for _ in range(10)) * 1e-6


def matmul_flops_per_s(dtype):
    """The better of two large products of random numbers."""
    best = 0.0
    for rows, inner, columns in [(4096, 4096, 4096), (4096, 16384, 4096)]:
        a, b = torch.randn(rows, inner, device=DEVICE).to(dtype), torch.randn(inner, columns, device=DEVICE).to(dtype)
        best = max(best, 2 * rows * inner * columns / seconds(lambda: a @ b))
    return best


def probe():
    """The GPU and the rates that it reaches, as a device of Fuseline has them."""
    gpu = torch.cuda.get_device_properties(0)
    is_amd = torch.version.hip is not None
    is_ampere = not is_amd and (gpu.major, gpu.minor) >= (8, 0)
    rates = {}
    # An element-wise kernel, because a copy of this size runs on the copy engines.
    count = min(1 << 29, gpu.total_memory // 16)
    a = torch.randn(count, device=DEVICE, dtype=torch.float16)
    b = torch.empty_like(a)
    rates["memory_bytes_per_s"] = 4 * count / seconds(lambda: torch.neg(a, out=b))
    del a, b
    tiny = torch.randn(1024, device=DEVICE, dtype=torch.float16)
    # Many in one graph: the CPU starts graphs of one kernel more slowly than the GPU ends them.
    launches = 100
    chain = graph_of(lambda: [torch.neg(tiny, out=tiny) for _ in range(launches)])
    rates["kernel_s"] = back_to_back_us(chain) / launches * 1e-6
    l2_bytes = getattr(gpu, "L2_cache_size", 0)
    if l2_bytes:
        # Both tensors together take half of the cache. What a launch takes has to be the smaller part.
        a = torch.randn(l2_bytes // 8, device=DEVICE, dtype=torch.float16)
        b = torch.empty_like(a)
        chain = graph_of(lambda: [torch.neg(a, out=b) for _ in range(launches)])
        time_s = back_to_back_us(chain) / launches * 1e-6
        if time_s > 2 * rates["kernel_s"]:
            rates["l2_bytes_per_s"] = 4 * a.numel() / (time_s - rates["kernel_s"])
        del a, b
    rates["matrix_f16_flops_per_s"] = matmul_flops_per_s(torch.float16)
    if is_amd or is_ampere:
        rates["matrix_bf16_flops_per_s"] = matmul_flops_per_s(torch.bfloat16)
    if is_ampere:
        precision = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high")
        rates["matrix_tf32_flops_per_s"] = matmul_flops_per_s(torch.float32)
        torch.set_float32_matmul_precision(precision)
    elements, rounds = 1 << 24, 256
    x, y = (torch.rand(elements, device=DEVICE) for _ in range(2))
    rounds_per_s = [
        elements * rounds / seconds(lambda: rate_kernel[(elements // 1024,)](x, y, is_exp, rounds, 1024))
        for is_exp in (False, True)
    ]
    rates["vector_flops_per_s"] = 2 * rounds_per_s[0]
    rates["exp_per_s"] = rounds_per_s[1]
    for name, value in rates.items():
        print(f"{name:>24}: {value:.4g}")
    device = {
        "name": gpu.name,
        "measured_on": datetime.now(timezone.utc).date().isoformat(),
        "measured_with": f"PyTorch {TORCH}",
        **{name: float(f"{value:.4g}") for name, value in rates.items()},
        "multiprocessors": gpu.multi_processor_count,
        "memory_bytes": gpu.total_memory,
    }
    if l2_bytes:
        device["l2_bytes"] = l2_bytes
    if shared_bytes := getattr(gpu, "shared_memory_per_block_optin", 0):
        device["shared_bytes_per_block"] = shared_bytes
    return device


def save(result, default):
    out = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), default)
    with open(out, "w") as file:
        json.dump(result, file, indent=1)
    print(f"saved {out}")


def main():
    if "--probe" in sys.argv:
        if DEVICE == "cpu":
            sys.exit("The probe needs a GPU, and PyTorch finds none.")
        return save({"device": probe(), "torch": TORCH}, "device.json")
    arguments = inputs()
    if "--traffic" in sys.argv:
        return traffic(arguments)
    expected = program(*copies(arguments))
    shapes = tuple((tuple(result.shape), result.dtype) for result in expected)
    assert shapes == RESULTS, f"results are {shapes}, and {RESULTS} by the list of ops"
    rows = []
    for name, function in variants():
        row = {"variant": name, "errors": errors(function(*copies(arguments)), expected)}
        if DEVICE == "cuda":
            call = lambda: function(*arguments)
            row |= times_of(call)
            row["kernels"] = kernels_of(call)
        rows.append(row)
    device = probe() if DEVICE == "cuda" else "cpu"
    result = {"program": "__TITLE__", "digest": DIGEST, "device": device, "torch": TORCH, "rows": rows, "text": TEXT}
    for row in rows:
        kernels = row.get("kernels")
        told = f"{len(kernels)} kernels, {row['time_us']} us, {row['time_cold_us']} us with a cold cache" if kernels is not None else "not timed"
        print(f"{row['variant']:>14}: {told}; errors {row['errors']}")
    save(result, "bench.json")


if __name__ == "__main__":
    with torch.no_grad():
        main()
