"""Runs the scripts that `fuseline script` writes one after the other in one process, so that PyTorch and the profiler start once.

    python tests/measure/scripts.py OUT.json SCRIPT...
"""

import json
import pathlib
import runpy
import sys
import tempfile
import traceback

import torch


def result_of(script):
    torch._dynamo.reset()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "result.json"
        sys.argv = [script, str(out), "--quick"]
        runpy.run_path(script, run_name="__main__")
        return json.loads(out.read_text())


def main(out, *scripts):
    results = {}
    for script in scripts:
        try:
            results[pathlib.Path(script).stem] = result_of(script)
        except Exception:  # one script that fails must not cost the others
            traceback.print_exc()
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(result)}" for name, result in results.items())
        pathlib.Path(out).write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
