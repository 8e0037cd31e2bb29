"""How long a launch takes from Python, from a compiled function and in a CUDA graph: the constants of src/core/analysis/launches.rs.

    python tests/measure/launch_times.py
"""

import json
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile

from timing import call_us

X = torch.randn(256, 256, device="cuda", dtype=torch.bfloat16)


def chain(op, count):
    def function(x):
        for _ in range(count):
            x = op(x)
        return x

    return function


def for_each_kernel(make, few=4, many=32):
    """Microseconds that each further kernel takes: the tensors are so small that their work takes none."""
    return (call_us(*make(many)) - call_us(*make(few))) / (many - few)


def layer_norm(x, gamma, beta):
    c = x - x.mean(-1, keepdim=True)
    v = (c * c).mean(-1, keepdim=True) + 1e-5
    return c * torch.rsqrt(v) * gamma + beta


def sums(count):
    """As many kernels: sums over different shapes share no loop."""
    torch._dynamo.reset()
    inputs = [torch.randn(64 + 8 * i, 512 + 64 * i, device="cuda") for i in range(count)]
    return torch.compile(lambda xs: [x.sum(-1) for x in xs]), inputs


def trace(function, *arguments):
    function(*arguments)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
        for _ in range(10):
            function(*arguments)
        torch.cuda.synchronize()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiled.export_chrome_trace(file.name)
        events = json.load(open(file.name))["traceEvents"]
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") == "cuda_runtime" and "Launch" in e["name"]}
    kernels = sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])
    return calls, kernels


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    w = torch.randn_like(X)
    for name, op in [("mul", lambda x: x * 1.5), ("mean", lambda x: x.mean(-1, keepdim=True).expand(256, 256)), ("matmul", lambda x: x @ w)]:
        print(f"eager, each {name}: {for_each_kernel(lambda n, op=op: (chain(op, n), X)):.1f} us")
    print(f"compiled, each sum: {for_each_kernel(sums, 4, 16):.1f} us")
    graph = torch.cuda.CUDAGraph()
    doubled = chain(lambda x: x * 1.5, 32)
    doubled(X)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        doubled(X)
    print(f"CUDA graph, each mul: {call_us(graph.replay) / 32:.2f} us")
    for n in (256, 512, 1024, 2048, 4096, 8192):
        x = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
        gamma, beta = (torch.randn(n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        print(f"layer norm of nine kernels, {n} x {n}: {call_us(layer_norm, x, gamma, beta):.1f} us")
        calls, kernels = trace(layer_norm, x, gamma, beta)
        gaps = [after["ts"] - before["ts"] - before["dur"] for before, after in zip(kernels, kernels[1:])]
        latencies = [k["ts"] - calls[k["args"]["correlation"]]["ts"] for k in kernels]
        print(f"  in a trace: median gap {median(gaps):.1f} us, shortest from call to start {min(latencies):.1f} us")


if __name__ == "__main__":
    main()
