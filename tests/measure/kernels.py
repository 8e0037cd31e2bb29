"""Runs the code of kernels against PyTorch: each kernel on what eager PyTorch gives the ops before it.

    for f in public/examples/*.fuse public/measured/*.fuse; do
        n=$(basename $f .fuse); fuseline script $f > FOLDER/$n.py
        for p in none inductor optimal; do fuseline code $f --language triton --policy $p > FOLDER/$n.$p.triton; done
    done
    python tests/measure/kernels.py FOLDER OUT.json

Files may be of `--language cuda` and end in .cuda as well: nvcc compiles these, and needs no more than the GPU that runs them.
OUT.json has for each the largest difference of each kernel over the
largest element of its tensor, and the times of all kernels and of the eager program, each in a CUDA graph.
"""

import hashlib
import json
import multiprocessing
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import importlib.util
import traceback

PROCESSES = 12
REPLAYS = 20


def module_of(code, folder, name):
    """Triton reads the source of a function from its file."""
    path = pathlib.Path(folder) / f"{name}.py"
    path.write_text(code)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def key_of(name):
    """`random_key` of the interpreter under seed 0, by which an op drops elements."""
    mask = 2**64 - 1
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = ((state ^ byte) * 0x100000001B3) & mask
    # The first number that is drawn is left out.
    for _ in range(2):
        state = (state + 0x9E3779B97F4A7C15) & mask
    mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    return (mixed ^ (mixed >> 31)) >> 32


def dropout(name):
    import torch

    key = key_of(name)

    def dropped(x, p=0.5, training=True):
        place = torch.arange(x.numel(), device=x.device)
        mask = 0xFFFFFFFF
        state = ((place ^ key) * 747796405 + 2891336453) & mask
        word = (((state >> ((state >> 28) + 4)) ^ state) * 277803737) & mask
        drawn = (((word >> 22) ^ word) >> 8).double() / 2**24
        return torch.where((drawn < p).reshape(x.shape), 0, x.double() / (1 - p)).to(x.dtype)

    return dropped


def tensors_of(script, folder):
    """All tensors of the program, eager, and a function that computes them again."""
    source = re.sub(
        r"^(    (\w+) = )F\.dropout\(", r"\1DROPOUT('\2')(", script, flags=re.MULTILINE
    )
    source = re.sub(r"    return \(.*\)\n\n\ndef variants", "    return dict(locals())\n\n\ndef variants", source)
    module = module_of(source, folder, "script")
    module.DROPOUT = dropout
    arguments = module.inputs()
    return module.program(*arguments), lambda: module.program(*arguments)


def triton_kernel(code):
    """The tensors of a kernel, each with whether it is written."""
    launch = re.search(r"^def launch_\w+\((.*)\):$", code, flags=re.MULTILINE)
    if launch:
        return [(name, f"tl.store({name}_ptr " in code) for name in launch.group(1).split(", ")]


def cuda_kernel(code):
    tensors = re.findall(r"^    (const )?[\w ]+\* __restrict__ (\w+)_data[,)]", code, flags=re.MULTILINE)
    return [(name, not is_read) for is_read, name in tensors]


def load_triton(code, folder, name):
    module = module_of(code, folder, name)
    return next(getattr(module, name) for name in vars(module) if name.startswith("launch_"))


def load_cuda(code, folder, name):
    """nvcc compiles the kernel for this GPU, and PyTorch loads it."""
    import torch
    from torch.cuda._utils import _cuda_load_module

    # What was compiled to be checked is there to be timed.
    binary = pathlib.Path(tempfile.gettempdir()) / f"{hashlib.sha256(code.encode()).hexdigest()}.cubin"
    if not binary.exists():
        source = pathlib.Path(folder) / f"{name}.cu"
        source.write_text(code)
        major, minor = torch.cuda.get_device_capability()
        own = source.with_suffix(".cubin")
        command = ["nvcc", "-cubin", f"-arch=sm_{major}{minor}", "-o", own, source]
        compiled = subprocess.run(command, capture_output=True, text=True)
        if compiled.returncode:
            raise RuntimeError(compiled.stderr)
        # Another process may compile the same kernel, and reads the whole file or none.
        own.replace(binary)
    kernel, groups, threads = re.search(r"^// (\w+)<<<(\d+), (\d+)>>>", code, flags=re.MULTILINE).groups()
    kernel = _cuda_load_module(binary.read_bytes(), [kernel])[kernel]
    return lambda *tensors: kernel((int(groups), 1, 1), (int(threads), 1, 1), tensors)


# For the end of a file: what a comment begins with, the tensors of a kernel, and how to load it.
LANGUAGES = {".triton": ("#", triton_kernel, load_triton), ".cuda": ("//", cuda_kernel, load_cuda)}


def kernels_of(text, language):
    """The kernels that `fuseline code` printed: ops, and the code with its tensors or why there is none."""
    comment, arguments_of, _ = LANGUAGES[language]
    kernels = []
    for section in re.split(rf"^{comment} Kernel \d+: ", text, flags=re.MULTILINE)[1:]:
        ops, code = section.split("\n", 1)
        arguments = arguments_of(code)
        if arguments:
            kernels.append({"ops": ops, "arguments": arguments, "code": code})
        else:
            kernels.append({"ops": ops, "reason": code.strip().removeprefix(f"{comment} ")})
    return kernels


def entries_of(folder):
    for path in sorted(pathlib.Path(folder).iterdir()):
        if path.suffix not in LANGUAGES:
            continue
        program, policy = path.stem.split(".")
        script = path.with_name(f"{program}.py")
        if not script.exists():
            continue
        script = script.read_text()
        kernels = kernels_of(path.read_text(), path.suffix)
        yield {"program": program, "policy": policy, "language": path.suffix, "script": script, "kernels": kernels}


def difference(own, other):
    import torch

    own, other = own.double(), other.double()
    finite = torch.isfinite(other)
    if not finite.any():
        return 0.0
    scale = max(other[finite].abs().max().item(), 1e-30)
    return (own - other)[finite].abs().max().item() / scale


def launches_of(entry, folder):
    """For each kernel its ops and either a launch with its tensors, or why there is none."""
    import torch

    _, _, load = LANGUAGES[entry["language"]]
    tensors, again = tensors_of(entry["script"], folder)
    launches, passed = [], {}
    for number, kernel in enumerate(entry["kernels"]):
        if "code" not in kernel:
            launches.append((kernel["ops"], None, kernel["reason"]))
            continue
        launch = load(kernel["code"], folder, f"kernel_{number}")
        arguments, written = [], []
        for name, is_written in kernel["arguments"]:
            if name not in tensors:
                # A value of each row that kernels pass on. No op gives it, so its readers are what checks it.
                room = max(tensors[other].numel() for other, _ in kernel["arguments"] if other in tensors)
                arguments.append(passed.setdefault(name, torch.zeros(room, device="cuda")))
                continue
            tensor = tensors[name]
            if is_written:
                own = torch.full(tensor.shape, 0, dtype=tensor.dtype, device=tensor.device)
                written.append((name, own, tensor))
                arguments.append(own)
            else:
                arguments.append(tensor.contiguous())
        launches.append((kernel["ops"], (launch, arguments, written), None))
    return launches, again


def checked(entry):
    """The error of each kernel. It compiles them on the way."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            launches, _ = launches_of(entry, folder)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"[:400]}
        for ops, launch, reason in launches:
            if launch is None:
                rows.append({"ops": ops, "reason": reason})
                continue
            function, arguments, written = launch
            try:
                function(*arguments)
                errors = {name: difference(own, tensor) for name, own, tensor in written}
                rows.append({"ops": ops, "errors": errors})
            except Exception as error:
                rows.append({"ops": ops, "failed": f"{type(error).__name__}: {error}"[-600:]})
    return {"kernels": rows}


def time_us(call):
    """The median time of a CUDA graph of the call."""
    import torch

    for _ in range(2):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    times = []
    for _ in range(REPLAYS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(1000 * start.elapsed_time(end))
    return round(statistics.median(times), 2)


def timed(entry):
    with tempfile.TemporaryDirectory() as folder:
        try:
            launches, again = launches_of(entry, folder)
            own = [launch for _, launch, _ in launches if launch]

            def kernels():
                for function, arguments, _ in own:
                    function(*arguments)

            result = {"kernels_us": time_us(kernels), "without_code": len(launches) - len(own)}
            if "DROPOUT" not in entry["script"] and "F.dropout" not in entry["script"]:
                result["eager_us"] = time_us(again)
            return result
        except Exception as error:
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error}"[:400]}


def main(source, out):
    entries = list(entries_of(source))
    with multiprocessing.get_context("spawn").Pool(PROCESSES, maxtasksperchild=4) as pool:
        results = pool.map(checked, entries, chunksize=1)
    rows = []
    for entry, result in zip(entries, results):
        # One after the other, with the kernels that are compiled by now.
        row = {"program": entry["program"], "policy": entry["policy"], "language": entry["language"][1:], **result, **timed(entry)}
        rows.append(row)
        pathlib.Path(out).write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
