"""Copies of operands that eager PyTorch makes for its matmuls, by its own dispatcher, without a GPU.

    for f in FOLDER/*.fuse; do fuseline script $f > ${f%.fuse}.py; done
    python tests/measure/operand_copies.py OUT.json FOLDER/*.py

Runs what `fuseline script` wrote on tensors without data. OUT.json has for each list the elements of each copy, in order. A copy that
the library makes inside a call (cuBLAS, of matrices without rows) is not among them. The lists have no other op that copies.
"""

import importlib.util
import json
import pathlib
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Copies(TorchDispatchMode):
    """The elements of each clone."""

    def __init__(self):
        super().__init__()
        self.elements = []

    def __torch_dispatch__(self, function, kinds, arguments=(), keywords=None):
        result = function(*arguments, **(keywords or {}))
        if function is torch.ops.aten.clone.default:
            self.elements.append(result.numel())
        return result


def copies(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.DEVICE = "meta"
    arguments = module.inputs()
    with torch.no_grad(), Copies() as found:
        module.program(*arguments)
    return {"copies": found.elements, "list": module.TEXT.splitlines()}


def main(out, *paths):
    rows = {pathlib.Path(path).stem: copies(pathlib.Path(path)) for path in paths}
    note = f"Elements of the copies that eager PyTorch {torch.__version__.split('+')[0]} makes of matmul operands (tests/measure/operand_copies.py)."
    lines = [f' "{name}": {json.dumps(row)}' for name, row in rows.items()]
    body = ",\n ".join(lines)
    pathlib.Path(out).write_text(f'{{\n "note": {json.dumps(note)},\n "lists": {{\n {body}\n }}\n}}\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
