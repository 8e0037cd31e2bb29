"""__TITLE__: eager and compiled, checked against each other and timed. Written by Fuseline.

    python bench.py [OUT.json]         times, kernels and errors, printed and saved; with --quick without max-autotune
    ncu --nvtx --profile-from-start off --clock-control none --cache-control all --csv --page raw \
        --metrics dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum \
        --log-file traffic.csv python bench.py --traffic     bytes of every kernel with flushed caches

Needs PyTorch; times need a GPU of NVIDIA. Without one, only the check runs.
"""

import json
import statistics
import sys

import torch
import torch.nn.functional as F

DIGEST = "__DIGEST__"  # tells whether a list of ops is still the one that was measured
HAS_RANDOM = __HAS_RANDOM__
RESULTS = (
    __RESULTS__
)
REPLAYS = 40
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def normal(shape, dtype, mean, deviation):
    return (mean + deviation * torch.randn(shape, device=DEVICE)).to(dtype)


def positive(shape, dtype):
    return (0.5 + torch.randn(shape, device=DEVICE).abs()).to(dtype)


def whole(shape, dtype, low, high):
    return torch.randint(low, high, shape, device=DEVICE).to(dtype)


def inputs():
    torch.manual_seed(0)
    return (
        __INPUTS__
    )


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


def times_of(call):
    """Warm: 40 replays between two events. Cold: the L2 overwritten before each replay."""
    graph = graph_of(call)
    scratch = torch.empty(256 << 20, dtype=torch.uint8, device=DEVICE)

    def batch():
        for _ in range(REPLAYS):
            graph.replay()

    batch()
    warm = statistics.median(timed_us(batch) / REPLAYS for _ in range(3))
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


def main():
    arguments = inputs()
    if "--traffic" in sys.argv:
        return traffic(arguments)
    expected = program(*arguments)
    shapes = tuple((tuple(result.shape), result.dtype) for result in expected)
    assert shapes == RESULTS, f"results are {shapes}, and {RESULTS} by the list of ops"
    rows = []
    for name, function in variants():
        row = {"variant": name, "errors": errors(function(*arguments), expected)}
        if DEVICE == "cuda":
            call = lambda: function(*arguments)
            row |= times_of(call)
            row["kernels"] = kernels_of(call)
        rows.append(row)
    device = torch.cuda.get_device_name() if DEVICE == "cuda" else "cpu"
    result = {"program": "__TITLE__", "digest": DIGEST, "device": device, "torch": torch.__version__, "rows": rows}
    for row in rows:
        kernels = row.get("kernels")
        told = f"{len(kernels)} kernels, {row['time_us']} us, {row['time_cold_us']} us with a cold cache" if kernels is not None else "not timed"
        print(f"{row['variant']:>14}: {told}; errors {row['errors']}")
    out = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), "bench.json")
    with open(out, "w") as file:
        json.dump(result, file, indent=1)
    print(f"saved {out}")


if __name__ == "__main__":
    with torch.no_grad():
        main()
