"""Kernels of programs.py, more_programs.py and further_programs.py on a real GPU, eager and compiled, each as a list of names.

    python tests/measure/launches.py OUT.json [CODE.txt] [PART PARTS] [NAME...]

With CODE.txt it also writes what the compiler generated. PART of PARTS takes every PARTS-th program, for several processes at once; of
these names, if any.
"""

import json
import sys

import torch
from torch._inductor.utils import run_and_get_code

import further_programs  # noqa: F401, these two register their programs
import more_programs  # noqa: F401
import programs
from gpu import kernels_of


def launches(name, code):
    torch.manual_seed(1)
    torch._dynamo.reset()
    function, inputs = programs.PROGRAMS[name]
    arguments = inputs()
    compiled = torch.compile(function, dynamic=False)
    with torch.no_grad():
        function(*arguments)
        _, sources = run_and_get_code(compiled, *arguments)
        torch.cuda.synchronize()
        row = {"eager": kernels_of(lambda: function(*arguments)), "inductor": kernels_of(lambda: compiled(*arguments))}
    if code:
        with open(code, "a") as file:
            file.write("".join(f"\n======== {name}\n{source}" for source in sources))
    return row


def main(out, code=None, part="0", parts="1", *names):
    rows = {}
    for name in (names or list(programs.PROGRAMS))[int(part) :: int(parts)]:
        print("========", name, file=sys.stderr, flush=True)
        try:
            rows[name] = launches(name, code)
        except Exception as problem:  # one program that fails must not cost the others
            rows[name] = {"problem": str(problem)[:400]}
        with open(out, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
