"""Writes src/import/pt2/printed/schemas.txt: the names of the arguments of each ATen operator.

A printed graph gives arguments by position, and the lowering of operators knows them by name. Run it again when the
lowering learns an operator that the list lacks: python tests/measure/schemas.py
"""

import collections
import pathlib
import re

import torch

# Operators that no graph of a model names, or that the lowering will not know.
OTHERS = re.compile(
    r"backward|sparse|quantize|dequantize|fbgemm|mkldnn|miopen|nested|_foreach|_fused_(?!rms)|"
    r"^(fft_|_fft|fake_|_fake|_cslt|_test|_validate|linalg_(?!vector_norm|norm|matmul|vecdot|cross)|_linalg|"
    r"_thnn|q_|qscheme|_amp_|_cufft|_dirichlet|_make_|_autocast|_assert|data$|names|rename|align_|refine|"
    r"cudnn_(?!batch_norm)|_cudnn)|_(csr|csc|bsr|bsc|coo)|window$|^_transform|gradient$|_for_vulkan|_jvp$|_copy$"
)


def main():
    found = collections.defaultdict(dict)
    for schema in torch._C._jit_get_all_schemas():
        space, name = schema.name.split("::")
        arguments = schema.arguments
        kinds = [str(a.type) for a in arguments] + [str(r.type) for r in schema.returns]
        if space != "aten" or any(a.is_out for a in arguments) or OTHERS.search(name.rstrip("_")) and not name == "_to_copy":
            continue
        if not any("Tensor" in kind for kind in kinds) or any(a.name in ("names", "dimnames") for a in arguments):
            continue
        if re.search("[Dd]imname|names|hacked_twin|^t$|complex|^prim_", schema.overload_name):
            continue
        functional = name if name.endswith("__") else name.rstrip("_")
        words = " ".join(argument.name for argument in arguments)
        found[functional][schema.overload_name] = words
    lines = []
    for name, overloads in sorted(found.items()):
        common = collections.Counter(overloads.values()).most_common(1)[0][0]
        lines.append(f"{name} {common}".strip())
        for overload, words in sorted(overloads.items()):
            # The overload without a name is written `default` in a graph.
            if words != common:
                lines.append(f"{name}.{overload or 'default'} {words}".strip())
    path = pathlib.Path(__file__).parents[2] / "src/import/pt2/printed/schemas.txt"
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
