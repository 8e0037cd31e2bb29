"""Kernels that torch.compile would launch on an H200, by its own lowering, scheduler and code generation, without a GPU.

    for f in FOLDER/*.fuse; do fuseline script $f > ${f%.fuse}.py; done
    python tests/measure/scheduler.py OUT.json FOLDER/*.py

Inputs are tensors without data on a device of whose driver only the properties are asked. What `fuseline script` wrote is compiled up to
the code that calls the kernels, which is not run. OUT.json has for each program its kernels in order: what each calls, the ops of the list
whose lines it computes, and the bytes that it reads and writes by the compiler's own count. A program that fails has its `problem`.
Shape padding is off, because the compiler measures for it.
"""

import importlib.util
import json
import pathlib
import re
import sys
import types
from unittest import mock

import torch

H200 = types.SimpleNamespace(
    name="NVIDIA H200",
    major=9,
    minor=0,
    multi_processor_count=132,
    total_memory=150_754_820_096,
    warp_size=32,
    max_threads_per_multi_processor=2048,
    max_threads_per_block=1024,
    regs_per_multiprocessor=65536,
    shared_memory_per_block=49152,
    shared_memory_per_block_optin=232448,
    shared_memory_per_multiprocessor=233472,
    L2_cache_size=62_914_560,
    is_integrated=0,
    is_multi_gpu_board=0,
    gcnArchName="",
)


def pretend():
    """Answers every question about the device as an H200 does. Only what runs kernels would need the device itself."""
    answers = {
        "torch.cuda.is_available": True,
        "torch.cuda._is_compiled": True,
        "torch.cuda._lazy_init": None,
        "torch.cuda.is_initialized": True,
        "torch.cuda.device_count": 1,
        "torch.cuda.current_device": 0,
        "torch.cuda.set_device": None,
        "torch.cuda.synchronize": None,
        "torch.cuda.is_bf16_supported": True,
        "torch.cuda.get_device_capability": (9, 0),
        "torch.cuda.get_device_name": H200.name,
        "torch.cuda.get_device_properties": H200,
        "torch.cuda._get_device_properties": H200,
        "torch._C._cuda_getDevice": 0,
        "torch._C._cuda_exchangeDevice": 0,
        "torch._C._cuda_maybeExchangeDevice": 0,
        "torch._C._cuda_getDeviceCount": 1,
        "torch._C._cuda_getCurrentRawStream": 0,
        "torch.cuda.manual_seed_all": None,
        "torch.cuda.manual_seed": None,
        "torch.accelerator.is_available": False,
        "torch.cuda._exchange_device": 0,
        "torch.cuda._maybe_exchange_device": 0,
        "torch.cuda.is_current_stream_capturing": False,
        "torch.cuda.get_rng_state": torch.zeros(16, dtype=torch.uint8),
        "torch.cuda.set_rng_state": None,
        "torch._subclasses.fake_tensor.init_gpu_context": None,
    }
    for name, answer in answers.items():
        mock.patch(name, lambda *_, answer=answer, **__: answer, create=True).start()


# Without a device, tensors without data get a guard that asks none.
torch._C._ensureCUDADeviceGuardSet()
pretend()

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402

import torch._dynamo  # noqa: E402, what follows asks for the device as it is imported
import torch._inductor.config as config  # noqa: E402
from torch._dynamo.device_interface import CudaInterface  # noqa: E402
from torch._inductor.constant_folding import ConstantFolder  # noqa: E402
from torch._inductor.fx_passes import joint_graph  # noqa: E402
from torch._inductor.graph import GraphLowering  # noqa: E402
from torch._inductor.virtualized import V  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

config.shape_padding = False
config.fx_graph_cache = False
config.compile_threads = 1
torch._inductor.config.triton.autotune_at_compile_time = False
for worker in (CudaInterface, CudaInterface.Worker):
    worker.get_device_properties = staticmethod(lambda device=None: H200)
CudaInterface.get_compute_capability = staticmethod(lambda device=None: 90)


MATH_ATTENTION = torch.nn.functional.scaled_dot_product_attention


def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Attention as the device calls it, in one kernel. Without a device PyTorch would compute it from its ops."""
    is_shared = enable_gqa and q.shape[-3] != k.shape[-3]
    if q.ndim != 4 or dropout_p or is_shared and (attn_mask is not None or q.dtype == torch.float32):
        return MATH_ATTENTION(q, k, v, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    if attn_mask is None and q.dtype != torch.float32 and q.shape[-1] == v.shape[-1]:
        return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, is_causal, False, scale=scale)[0]
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            attn_mask = torch.where(attn_mask, 0.0, float("-inf")).to(q.dtype)
        attn_mask = attn_mask.expand(*q.shape[:3], k.shape[2])
    return torch.ops.aten._scaled_dot_product_efficient_attention(q, k, v, attn_mask, False, 0.0, is_causal, scale=scale)[0]


torch.nn.functional.scaled_dot_product_attention = attention


def scalar(value, **keywords):
    """`torch.tensor` would write the value to the device."""
    return torch.full((), value, **keywords)


# The patterns of attention are made from tensors of their own, once. Those of random permutations need the device.
mock.patch("torch._inductor.fx_passes.misc_patterns._misc_patterns_init", lambda _: None).start()
with torch.no_grad(), mock.patch("torch.tensor", scalar):
    joint_graph.lazy_init(torch.device("cuda", 0))


class Driver:
    """What Triton asks of a driver as code is written."""

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_active_torch_device(self):
        return torch.device("cuda", 0)


triton.runtime.driver.set_active(Driver())


def on_cpu(deduce):
    """Constants are folded by computing them, which the CPU can do."""

    def deduced(self, node):
        keywords = node.kwargs
        if "device" in keywords:
            node.kwargs = {**keywords, "device": torch.device("cpu")}
        try:
            return deduce(self, node)
        finally:
            node.kwargs = keywords

    return deduced


for folder in (ConstantFolder, joint_graph.UniformValueConstantFolder):
    folder._deduce_value = on_cpu(folder._deduce_value)


class Written(Exception):
    """The code is written, which is all that is wanted."""


def ops_of(node):
    """The lines of the program, by the names that they assign, that a scheduler node computes."""
    names = set()
    for part in node.get_nodes():
        for origin in getattr(part.node, "origins", None) or ():
            trace = origin.meta.get("stack_trace") or ""
            line = trace.strip().rsplit("\n", 1)[-1].strip()
            if found := re.match(r"(\w+) = ", line):
                names.add(found[1])
    return sorted(names)


# Fills of the buffers in which the parts of a kernel wait for each other.
CALLS = re.compile(
    r"^\s+(?:\w+ = )?(\w+\.run|extern_kernels\.\w+|torch\.ops\.[\w.]+|\w+\.zero_|\w+(?:\[[^]]*\])?(?:\.view\([^)]*\))?\.sum)\(", re.MULTILINE
)
VIEWS = ("torch.ops.inductor._reinterpret_tensor", "torch.ops.aten.set_.source_Tensor")


def compiled(program, inputs, is_channels_last=False):
    """The code for a program, and the nodes of the scheduler. Images of a program with a convolution lie with their channels last."""
    found = {}

    def stop(graph):
        code, _ = graph.codegen()
        found["code"] = code.value if hasattr(code, "value") else code
        nodes = graph.scheduler.nodes
        with V.set_graph_handler(graph):
            found["nodes"] = [
                {"ops": ops_of(node), "bytes": int(node.get_read_write_buffers_sizes()), "nodes": len(list(node.get_nodes()))} for node in nodes
            ]
        raise Written

    torch._dynamo.reset()
    with mock.patch.object(GraphLowering, "compile_to_module", stop), FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        arguments = inputs()
        if is_channels_last:
            arguments = [a.contiguous(memory_format=torch.channels_last) if a.dim() == 4 else a for a in arguments]
        try:
            torch.compile(program, dynamic=False, fullgraph=True)(*arguments)
        except Exception as problem:
            if "code" not in found:
                raise problem
    return found


def calls(code):
    """What the code calls, in order, without views."""
    body = code[code.index("def call(") :]
    body = body[: body.find("\ndef benchmark_compiled_module")]
    found = [match[1] for match in CALLS.finditer(body)]
    return [call for call in found if not call.startswith(VIEWS)]


def module_of(path):
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(out, *paths):
    rows = {}
    for path in paths:
        name = pathlib.Path(path).stem
        try:
            module = module_of(path)
            torch.manual_seed = lambda _: None
            found = compiled(module.program, module.inputs, "conv2d" in pathlib.Path(path).read_text())
            rows[name] = {"kernels": calls(found["code"]), "nodes": found["nodes"]}
            if "--code" in sys.argv:
                print(found["code"])
        except Exception as problem:  # one program that fails must not cost the others
            rows[name] = {"problem": f"{type(problem).__name__}: {problem}"[:600]}
        with open(out, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main(*(argument for argument in sys.argv[1:] if argument != "--code"))
