"""Registers of the kernels that the compiler generates for the patterns, one line a kernel.

    python tests/measure/registers.py OUT.json
"""

import json
import sys

import torch
import triton
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

from gpu import call_of
from patterns import PATTERNS

launched = []
run = CachingAutotuner.run


def noting(tuner, *arguments, **options):
    """Runs a kernel, then notes the launcher that tuning has left."""
    result = run(tuner, *arguments, **options)
    launcher = tuner.launchers[0]
    launched.append({
        "kernel": tuner.fn.__name__,
        "registers": launcher.n_regs,
        "spills": launcher.n_spills,
        "warps": launcher.config.num_warps,
        "blocks": dict(launcher.config.kwargs),
    })
    return result


def main(out):
    CachingAutotuner.run = noting
    rows = []
    for pattern, (_, _, known, sizes) in PATTERNS.items():
        for size in ([known] if known else []) + sizes:
            call = call_of(pattern, size, "inductor")
            launched.clear()
            call()
            torch.cuda.synchronize()
            rows += [{"pattern": pattern, "size": size, **kernel} for kernel in launched]
    about = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__}
    with open(out, "w") as file:
        lines = ",\n  ".join(json.dumps(row) for row in rows)
        file.write(json.dumps(about)[:-1] + f', "rows": [\n  {lines}\n]}}\n')


if __name__ == "__main__":
    main(sys.argv[1])
