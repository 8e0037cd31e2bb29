"""Reads kernels that Fuseline printed in Triton: as Python always, and by Triton's compiler where that is installed.

    python3 tests/python/compile_triton.py KERNELS.json

The file has a list of {"code", "signature"}: the text of a kernel, and the types of its pointers in Triton's words. Prints how many
it parsed and compiled, and exits with 1 and the first errors if one is wrong. No GPU is needed: Triton's own form of a kernel is
where shapes and types are checked.
"""

import ast
import importlib.util
import json
import pathlib
import sys
import tempfile

SHOWN = 5


def entry(code):
    """The name of the function that is the kernel."""
    tree = ast.parse(code)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return next(name for name in functions if name.startswith("fused_"))


def compiler():
    """What compiles a kernel; `None` without Triton."""
    if importlib.util.find_spec("triton") is None:
        return None
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource, make_backend

    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)

    def compile_kernel(kernel, signature):
        source = ASTSource(kernel, signature, {})
        options = backend.parse_options({"arch": "sm90"})
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)

    return compile_kernel


def module_of(path):
    """Triton reads the source of a function from its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(source):
    kernels = json.loads(pathlib.Path(source).read_text())
    compile_kernel = compiler()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for number, kernel in enumerate(kernels):
            try:
                name = entry(kernel["code"])
                if compile_kernel:
                    path = pathlib.Path(folder) / f"kernel_{number}.py"
                    path.write_text(kernel["code"])
                    compile_kernel(getattr(module_of(path), name), kernel["signature"])
            except Exception as error:
                wrong.append(f"{kernel['code']}\n{type(error).__name__}: {error}\n{error.__cause__ or ''}")
    print(f"{len(kernels)} kernels parsed{', compiled' if compile_kernel else ''}, {len(wrong)} wrong")
    print("\n\n".join(wrong[:SHOWN]), file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
