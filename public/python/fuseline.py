"""Saves a PyTorch model as a file that Fuseline opens.

Save this file beside your code. It needs only torch (2.6 or newer; tested with 2.11):

    import fuseline
    fuseline.export(model, x)  # writes Model.pt2

Drop the file on the page, or open it there. ``fuseline analyze Model.pt2`` reads it, too. The model may be on any
device, including ``meta``: ``torch.export`` traces it and never runs it. The file holds the traced graph and the shapes
of the weights, never a weight, so it has some 100 kB.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
import types
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

__all__ = ["ExportError", "export"]


class ExportError(RuntimeError):
    """PyTorch cannot trace the model. The message says why, and what to change."""


def export(
    model: Callable[..., Any] | ExportedProgram,
    *inputs: Any,
    dynamic_shapes: Any = None,
    path: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Path:
    """Saves a module, a function or an ``ExportedProgram``; gives the path of the file.

    ``inputs`` and ``kwargs`` are those of a call of the model. ``dynamic_shapes`` is that of ``torch.export.export``:
    a dimension that it names becomes a param of that name, with its range. Without ``path`` the file has the name of
    the module's class or of the function.
    """
    names: dict[str, str] = {}
    if isinstance(model, ExportedProgram):
        exported, title = model, "model"
    else:
        module, title = _as_module(model)
        exported = _traced(module, title, inputs, kwargs, dynamic_shapes)
        names = _symbol_names(exported, _dimension_names(model, inputs, kwargs, dynamic_shapes))
    _own_what_is_written(exported)
    exported = exported.run_decompositions(_decompositions())
    path = Path(f"{title}.pt2" if path is None else path)
    graph = json.dumps(_graph(exported, names), separators=(",", ":"))
    with zipfile.ZipFile(path, "w") as archive:
        # Without a date, so that equal models give equal files.
        archive.writestr(zipfile.ZipInfo("models/model.json"), graph, zipfile.ZIP_DEFLATED)
    return path


# --- Tracing -------------------------------------------------------------------------------------------------


def _as_module(model: Callable[..., Any]) -> tuple[nn.Module, str]:
    """A module that calls a function with the function's own argument names."""
    if isinstance(model, nn.Module):
        return model, type(model).__name__
    module = nn.Module()
    owner = getattr(model, "__self__", None)
    if isinstance(owner, nn.Module):  # A method of a module reads its parameters.
        module.add_module("owner", owner)
    called = model
    if inspect.isfunction(model):
        # PyTorch records the lines of functions that are called `forward`.
        code = model.__code__.replace(co_name="forward")
        called = types.FunctionType(code, model.__globals__, model.__name__, model.__defaults__, model.__closure__)
        called.__kwdefaults__ = model.__kwdefaults__
    module.forward = lambda *args, **kwargs: called(*args, **kwargs)
    with contextlib.suppress(ValueError):  # Builtin functions have no signature.
        module.forward.__signature__ = inspect.signature(model)
    name = getattr(model, "__name__", type(model).__name__)
    return module, name if name.isidentifier() else "model"


def _traced(module: nn.Module, title: str, inputs: Any, kwargs: Any, dynamic_shapes: Any) -> ExportedProgram:
    """The model as ``torch.export`` sees it: by running its Python on fake tensors, else by reading its bytecode."""
    problems = []
    for strict in (False, True):
        try:
            with torch.no_grad():
                return torch.export.export(
                    module, inputs, kwargs or None, dynamic_shapes=dynamic_shapes, strict=strict
                )
        except Exception as problem:  # noqa: BLE001 - whatever the model's own code raises
            problems.append(problem)
    if dynamic_shapes is None:
        # Gradients inside the model, which torch.export refuses, are ops to the tracer below it.
        with contextlib.suppress(Exception):
            return _by_ops(module, inputs, kwargs)
    first = problems[0]
    reason = (str(first).strip() or type(first).__name__).splitlines()[0]
    message = f"torch.export cannot trace {title}: {reason}."
    hints = [hint for pattern, hint in _HINTS if re.search(pattern, f"{type(first).__name__}: {first}")]
    raise ExportError(" ".join([message, *hints[:1]])) from first


_HINTS = [
    (
        r"TensorWrapper|functorch|GradTrackingTensor|does not require grad|Expected FakeTensor",
        "torch.export takes no gradients: export the forward pass alone, or trace the step with sizes that are fixed,"
        " without dynamic_shapes.",
    ),
    (
        r"GuardOnDataDependent|data-dependent|Could not guard|unbacked",
        "The model branches on values of a tensor: replace the branch by torch.where or torch.cond, or state what holds"
        " with torch._check(...).",
    ),
    (
        r"ConstraintViolation|specialized|not all values of",
        "The model fixes a size that dynamic_shapes leaves open: leave that dimension out of dynamic_shapes.",
    ),
]
"""What to change, by what the exception says."""


def _by_ops(module: nn.Module, inputs: Any, kwargs: Any) -> ExportedProgram:
    """The ops that a call runs, gradients included, without the modules that they stand in."""
    from torch.fx.experimental.proxy_tensor import make_fx

    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}

    def called(state: dict[str, torch.Tensor], *inputs: Any) -> Any:
        return torch.func.functional_call(module, state, inputs, kwargs)

    traced = make_fx(called, tracing_mode="fake")(state, *inputs)
    with torch.no_grad():
        return torch.export.export(traced, (state, *inputs), strict=False)


def _own_what_is_written(exported: ExportedProgram) -> None:
    """Makes buffers of constants that the program writes into, such as a cache that is no buffer of a module.

    PyTorch refuses to decompose writes into constants, and constants that share memory with buffers.
    """
    written = set()
    for node in exported.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if schema is None or torch.Tag.inplace_view in node.target.tags:  # `detach_` writes no element.
            continue
        for argument, value in zip(schema.arguments, node.args):
            if argument.alias_info is not None and argument.alias_info.is_write:
                while isinstance(value, torch.fx.Node) and value.op == "call_function":  # Views of it.
                    value = value.args[0]
                written.add(getattr(value, "name", None))
    for spec in exported.graph_signature.input_specs:
        if spec.kind == InputKind.CONSTANT_TENSOR and spec.arg.name in written:
            spec.kind, spec.persistent = InputKind.BUFFER, False
            exported.constants[spec.target] = exported.constants[spec.target].clone()


def _decompositions() -> Any:
    """PyTorch's table to core ATen, without the operators that Fuseline reads whole."""
    table = torch.export.default_decompositions()
    for name in KEPT.split():
        packet, _, overload = name.partition(".")
        packet = getattr(torch.ops.aten, packet, None)
        for known in [overload] if overload else packet.overloads() if packet is not None else ():
            table.pop(getattr(packet, known, None), None)
    return table


# --- Names of sizes ------------------------------------------------------------------------------------------


def _dimension_names(model: Any, inputs: Any, kwargs: Any, dynamic_shapes: Any) -> list[list[str | None]]:
    """The names of ``Dim`` objects for each dimension of each tensor that is passed, in their order."""
    if dynamic_shapes is None:
        return []
    called = model.forward if isinstance(model, nn.Module) else model
    try:
        given = inspect.signature(called).bind(*inputs, **kwargs).arguments
    except ValueError:
        return []
    if isinstance(dynamic_shapes, (list, tuple)):
        dynamic_shapes = dict(zip(given, dynamic_shapes))
    found: list[list[str | None]] = []

    def walk(value: Any, stated: Any) -> None:
        if isinstance(value, torch.Tensor):
            dims = stated if isinstance(stated, dict) else dict(enumerate(stated or ()))
            found.append([_name_of(dims.get(axis)) for axis in range(value.dim())])
        elif isinstance(value, (list, tuple)):
            for place, part in enumerate(value):
                walk(part, stated[place] if isinstance(stated, (list, tuple)) and place < len(stated) else None)
        elif isinstance(value, dict):
            for name, part in value.items():
                walk(part, stated.get(name) if isinstance(stated, dict) else None)

    for name, value in given.items():
        walk(value, dynamic_shapes.get(name))
    return found


def _name_of(dim: Any) -> str | None:
    """The name of a ``Dim``; of ``2*half`` that of ``half``."""
    name = getattr(getattr(dim, "root", dim), "__name__", None)
    return name if isinstance(name, str) and name.isidentifier() else None


def _symbol_names(exported: ExportedProgram, names: list[list[str | None]]) -> dict[str, str]:
    """The name that the caller gave each symbol of the graph."""
    passed = set(exported.graph_signature.user_inputs)
    inputs = [node.meta.get("val") for node in exported.graph.nodes if node.op == "placeholder" and node.name in passed]
    inputs = [value for value in inputs if isinstance(value, torch.Tensor)]
    if len(names) != len(inputs):
        return {}
    found: dict[str, str] = {}
    for value, stated in zip(inputs, names):
        for size, name in zip(value.shape, stated):
            symbols = size.node.expr.free_symbols if isinstance(size, torch.SymInt) else ()
            if name is not None and name not in found.values():
                found.update((str(symbol), name) for symbol in list(symbols)[:1] if str(symbol) not in found)
    return found


# --- The file ------------------------------------------------------------------------------------------------


def _graph(exported: ExportedProgram, names: dict[str, str]) -> Any:
    """The graph as ``torch.export.save`` writes it, with the caller's names of sizes and without paths of folders."""
    # Weights on the meta device have shapes alone, so no byte of them is copied.
    exported._state_dict = {name: _on_meta(weight) for name, weight in exported.state_dict.items()}
    exported._constants = {name: _on_meta(value) for name, value in exported.constants.items()}
    exported._example_inputs = None
    _replace_flex_attention(exported)
    saved = io.BytesIO()
    torch.export.save(exported, saved)
    with zipfile.ZipFile(saved) as archive:
        entries = [name for name in archive.namelist() if _GRAPH.search(name)]
        graph = json.loads(archive.read(entries[0]))
    for part in _objects(graph):
        if isinstance(part.get("expr_str"), str):
            part["expr_str"] = re.sub(r"\b\w+\b", lambda word: names.get(word[0], word[0]), part["expr_str"])
        if isinstance(part.get("stack_trace"), str):
            part["stack_trace"] = _FILE.sub(_without_folder, part["stack_trace"])
    ranges = graph.get("range_constraints", {})
    graph["range_constraints"] = {names.get(symbol, symbol): bounds for symbol, bounds in ranges.items()}
    return graph


_GRAPH = re.compile(r"(^|/)(models/[^/]*\.json|serialized_exported_program\.json)$")
_FILE = re.compile(r'File "([^"]*)"')
_TORCH = os.path.dirname(torch.__file__)


def _without_folder(file: re.Match[str]) -> str:
    """The name of a file; of one of PyTorch with its folder, by which Fuseline knows that it is no line of the model."""
    path = file[1]
    if path.startswith(_TORCH):
        return f'File "torch/{path[len(_TORCH) + 1 :]}"'
    return f'File "{os.path.basename(path)}"'


def _replace_flex_attention(exported: ExportedProgram) -> None:
    """Makes attention of it, without the change of scores: ``torch.export.save`` cannot write its functions."""
    graph = exported.graph
    for node in [node for node in graph.nodes if str(node.target) == "flex_attention"]:
        q, k, v, *_ = node.args
        scale = node.args[5] if len(node.args) > 5 else None
        named = {"scale": scale, "enable_gqa": q.meta["val"].shape[1] != k.meta["val"].shape[1]}
        with graph.inserting_before(node):
            attention = graph.call_function(torch.ops.aten.scaled_dot_product_attention.default, (q, k, v), named)
        attention.meta = {**node.meta, "val": node.meta["val"][0]}
        for user in list(node.users):
            if user.args[1] == 0:
                user.replace_all_uses_with(attention)
                attention.name = user.name  # The signature knows the results by their names.
            if not user.users:
                graph.erase_node(user)
        graph.erase_node(node)
    graph.eliminate_dead_code()


def _on_meta(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    shape = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    return nn.Parameter(shape, requires_grad=False) if isinstance(value, nn.Parameter) else shape


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """All objects of a JSON value."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


KEPT = """
__and__ __lshift__ __or__ __rshift__ __xor__ _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d
_convolution _embedding_bag _embedding_bag_forward_only _fused_rms_norm _grouped_mm _index_put_impl _int_mm
_log_softmax _native_batch_norm_legit _native_batch_norm_legit_functional _native_batch_norm_legit_no_training
_scaled_dot_product_attention_math _scaled_dot_product_cudnn_attention _scaled_dot_product_efficient_attention
_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu _scaled_mm _scaled_mm_v2 _softmax
_to_copy _unsafe_index_put _unsafe_view _upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d
_upsample_nearest_exact2d _upsample_nearest_exact3d abs acos acosh adaptive_avg_pool1d adaptive_avg_pool2d
adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d add addcdiv addcmul addmm alias all alpha_dropout amax
amin any arange argmax argmin argsort as_strided asin asinh atan atan2 atanh avg_pool2d avg_pool2d_backward avg_pool3d
baddbmm batch_norm bernoulli bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm
broadcast_tensors broadcast_to cat ceil channel_shuffle chunk clamp clamp_max clamp_min clip clone col2im concat
constant_pad_nd contiguous conv1d conv2d conv3d conv_transpose1d conv_transpose2d.input conv_transpose3d.input
convolution convolution_backward copy copysign cos cosh cudnn_batch_norm cummax cummin cumprod cumsum detach digamma
div divide dot dropout elu embedding embedding_bag empty empty_like empty_permuted empty_strided eq erf erfc erfinv
exp exp2 expand expand_as expm1 feature_dropout fill flatten flip floor floor_divide fmax fmin fmod frac full
full_like gather ge gelu gelu_backward grid_sampler_2d grid_sampler_3d group_norm gru gt hardsigmoid hardswish
hardtanh heaviside histc hypot i0 igamma igammac im2col index.Tensor index_add index_copy index_put index_select
instance_norm isfinite isinf isnan isneginf isposinf layer_norm ldexp le leaky_relu lgamma lift lift_fresh
lift_fresh_copy linalg_vector_norm linear log log10 log1p log2 log_sigmoid log_softmax logaddexp logaddexp2
logcumsumexp logical_and logical_not logical_or logical_xor logit lstm lt mT masked_fill matmul max max.other
max_pool2d max_pool2d_with_indices max_pool2d_with_indices_backward max_pool3d max_pool3d_with_indices maximum mean
min min.other minimum mish mm mul multiply mv nan_to_num narrow native_batch_norm native_dropout native_group_norm
native_layer_norm ne neg new_empty new_empty_strided new_full new_ones new_zeros nextafter norm normal_functional
numpy_T ones ones_like pad permute pixel_shuffle pixel_unshuffle polygamma positive pow prod rand rand_like randint
randint_like randn randn_like randperm reciprocal reflection_pad1d reflection_pad2d reflection_pad3d relu relu6
remainder repeat repeat_interleave.self_int replication_pad1d replication_pad2d replication_pad3d reshape reshape_as
resolve_conj resolve_neg rms_norm rnn_relu rnn_tanh roll round rsqrt rsub scalar_tensor scaled_dot_product_attention
scatter.src scatter.value scatter_add select select_scatter selu sigmoid sign signbit silu sin sinc sinh slice
slice_scatter softmax softplus sort special_bessel_j0 special_bessel_j1 special_erf special_i0e special_i1 special_i1e
special_ndtri special_zeta split split_with_sizes sqrt square squeeze stack std std_mean sub subtract sum swapaxes
swapdims t tan tanh tensor_split to topk transpose tril triu true_divide trunc type_as unbind unflatten unfold uniform
unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze upsample_bicubic2d upsample_bilinear2d upsample_linear1d
upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d var var_mean view view_as
where.ScalarOther where.ScalarSelf where.self xlogy zero zeros zeros_like
"""
"""The ATen operators that Fuseline reads whole: `src/import/pt2/operators.rs`, whose test compares both."""
