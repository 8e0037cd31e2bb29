"""Writes a PyTorch model as a Fuseline program.

Save this file beside your code. It needs only torch (2.6 or newer; tested with 2.15):

    import fuseline
    print(fuseline.export(model, x))

Paste the text into the page, or drop it there as a file. The model may be on any device, including ``meta``:
``torch.export`` traces the model and never runs it. Ops with a function in the notation stay whole (a linear
layer, attention, a layer norm), and all other ops are decomposed to core ATen. An operator that is then still
unknown becomes an ``opaque`` op: its bytes count, and a warning names it.

:class:`Program` describes what the text contains beside the ops.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import operator
import os
import re
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import fx, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils.flop_counter import flop_registry

__all__ = ["OpaqueOperatorWarning", "Program", "export", "trace"]


class OpaqueOperatorWarning(UserWarning):
    """The notation has no function for some operators."""


def export(
    model: Callable[..., Any] | ExportedProgram,
    *inputs: Any,
    dynamic_shapes: Any = None,
    path: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> str:
    """The program of a module, a function or an ``ExportedProgram`` as text; also written to ``path``, if given.

    ``inputs`` and ``kwargs`` are those of a call of the model. ``dynamic_shapes`` is that of ``torch.export.export``:
    a dimension that it names becomes a ``param`` of that name, with its range.
    """
    text = trace(model, *inputs, dynamic_shapes=dynamic_shapes, **kwargs).text()
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def trace(
    model: Callable[..., Any] | ExportedProgram, *inputs: Any, dynamic_shapes: Any = None, **kwargs: Any
) -> Program:
    """As :func:`export`, but gives the program as data."""
    if isinstance(model, ExportedProgram):
        exported, title = model, "An exported program"
    else:
        module, title = _as_module(model)
        with torch.no_grad():
            exported = torch.export.export(module, inputs, kwargs or None, dynamic_shapes=dynamic_shapes, strict=False)
    names = _dimension_names(model, inputs, kwargs, dynamic_shapes)
    program = _Tracer(exported.run_decompositions(_decompositions()), names).program(title)
    if program.opaque:
        listed = ", ".join(f"{name} ({count})" for name, count in sorted(program.opaque.items()))
        warnings.warn(
            f"the notation has no function for {listed}: they become opaque ops, which count bytes, "
            "and FLOPs only if PyTorch has a formula",
            OpaqueOperatorWarning,
            stacklevel=3,
        )
    return program


# --- The program as data -------------------------------------------------------------------------------------


@dataclass(eq=False)
class Tensor:
    """A tensor of the program. ``module`` and ``word`` are what its name is made of."""

    module: str
    word: str
    dtype: torch.dtype
    shape: tuple[int | torch.SymInt, ...]
    role: str = ""
    """``weight`` or ``input``; empty for the result of an op."""
    comment: str = ""


@dataclass(eq=False)
class Op:
    """One statement. ``inputs`` holds tensors, and numbers as they are written."""

    output: Tensor
    function: str
    inputs: list[Tensor | str]
    attributes: dict[str, str]
    calls: tuple[tuple[str, int], ...]
    """Path and number of the call of each module that the op stands in, the outermost first."""
    source: str
    """The line of Python that asked for it."""
    item: int | None = None
    """Which of several results of an operator it is."""

    def tensors(self) -> Iterator[Tensor]:
        return (given for given in self.inputs if isinstance(given, Tensor))


@dataclass
class Param:
    """A dynamic size."""

    name: str
    value: int
    low: int
    high: int | None
    comment: str


@dataclass
class Block:
    """Equal rounds of ops, ``length`` each, the first of which starts at ``start``."""

    start: int
    length: int
    rounds: int
    carried: list[tuple[Tensor, Tensor]]
    """The tensor that the first round reads, and the one of the round before that the others read for it."""
    own: list[Tensor]
    """Weights and inputs of a round, those of the first."""
    same: dict[Tensor, Tensor]
    """Each tensor of another round, to its like in the first."""
    outputs: list[Tensor]
    """Results of every round."""

    @property
    def end(self) -> int:
        return self.start + self.length * self.rounds


@dataclass
class Program:
    """A model in Fuseline's terms: ``text()`` is the notation.

    Dynamic sizes are params; parameters and buffers are weights and what the caller passes is an input, each
    with its type; a tensor has the path of its module and the name that the model's author gave it; layers that
    are equal but for their weights are one repeated block; comments are the lines of the model's source.
    """

    title: str
    params: list[Param]
    ops: list[Op]
    inputs: list[Tensor]
    outputs: list[Tensor]
    opaque: Counter[str]
    """Operators without a function of the notation, and how often they occur."""
    unread: list[Tensor]
    """Parameters and buffers that nothing reads; they are not part of the text."""
    notes: list[str]
    sizes: _Sizes

    def externals(self) -> list[Tensor]:
        """Inputs in the order of the call, then weights in the order in which ops read them."""
        read = dict.fromkeys(t for op in self.ops for t in op.tensors() if t.role)
        inputs = [tensor for tensor in self.inputs if tensor in read]
        return inputs + [tensor for tensor in read if tensor.role == "weight"]

    def text(self) -> str:
        return _Printer(self).text()


# --- From the exported graph to ops --------------------------------------------------------------------------

LOWERINGS: dict[str, Callable[..., Any]] = {}
"""How an ATen operator is written, by its name with or without its overload. A lowering takes the tracer and the
operator's arguments, and gives the tensor of its result, or a tuple for an operator with several results."""


def _lowers(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(lowering: Callable[..., Any]) -> Callable[..., Any]:
        LOWERINGS.update((f"aten.{name}", lowering) for name in names)
        return lowering

    return register


def _decompositions() -> Any:
    """PyTorch's table to core ATen, without the operators that the notation has a function for."""
    table = torch.export.default_decompositions()
    for name in LOWERINGS:
        _, packet, *overload = name.split(".")
        packet = getattr(torch.ops.aten, packet, None)
        for known in overload or (packet.overloads() if packet is not None else ()):
            table.pop(getattr(packet, known, None), None)
    return table


class _Tracer:
    """Walks the graph. ``node`` is where it stands; ``emit`` writes ops for it."""

    def __init__(self, exported: ExportedProgram, dimension_names: list[list[str | None]]) -> None:
        self.exported = exported
        self.ops: list[Op] = []
        self.made: dict[Tensor, Op] = {}
        self.notes: list[str] = []
        self.values: dict[fx.Node, Any] = {}
        self.sizes = _Sizes(exported, dimension_names)

    def program(self, title: str) -> Program:
        graph = self.exported.graph_signature
        weights = self._declare()
        for node in self.exported.graph.nodes:
            if node.op == "call_function":
                self.node = node
                self.values[node] = self._lower()
        nodes = {node.name: node for node in self.exported.graph.nodes}
        outputs = []
        for spec in graph.output_specs:
            node = nodes.get(getattr(spec.arg, "name", ""))
            value = self.values.get(node) if node is not None else None
            if isinstance(value, Tensor) and not value.role and spec.kind != OutputKind.TOKEN:
                outputs.append(value)
        self._remove_unread(outputs)
        for op in self.ops:
            for size in op.output.shape:
                self.sizes.text(size)  # Sizes that only the data tell become params here.
        read = {tensor for op in self.ops for tensor in op.tensors()}
        return Program(
            title=title,
            params=self.sizes.params,
            ops=self.ops,
            inputs=list(dict.fromkeys(v for v in self.values.values() if isinstance(v, Tensor) and v.role == "input")),
            outputs=list(dict.fromkeys(outputs)),
            opaque=self._count_opaque(),
            unread=[weight for weight in weights if weight not in read],
            notes=self.notes,
            sizes=self.sizes,
        )

    def _declare(self) -> list[Tensor]:
        """Makes the tensors of the placeholders; gives those of parameters and buffers."""
        specs = {spec.arg.name: spec for spec in self.exported.graph_signature.input_specs}
        shared: dict[int, Tensor] = {}
        for node in self.exported.graph.nodes:
            value = node.meta.get("val")
            if node.op == "get_attr" or node.op == "placeholder" and not isinstance(value, torch.Tensor):
                self.values[node] = value
            if node.op != "placeholder" or not isinstance(value, torch.Tensor):
                continue
            spec = specs[node.name]
            is_state = spec.kind in (InputKind.PARAMETER, InputKind.BUFFER)
            module, _, word = (spec.target or node.name).rpartition(".") if is_state else ("", "", node.name)
            tensor = Tensor(module, word, value.dtype, tuple(value.shape), "weight" if is_state else "input")
            if spec.kind == InputKind.BUFFER:
                tensor.comment = "buffer"
            elif spec.kind == InputKind.CONSTANT_TENSOR:
                tensor.word = "constant" if spec.target.startswith("lifted_tensor") else spec.target
                tensor.comment = "constant"
            # Tied weights are one tensor under two names.
            held = self.exported.state_dict.get(spec.target) if is_state else None
            if held is None and is_state:
                held = self.exported.constants.get(spec.target)
            self.values[node] = shared.setdefault(id(held), tensor) if held is not None else tensor
        return list(dict.fromkeys(v for v in self.values.values() if isinstance(v, Tensor) and v.role == "weight"))

    def _lower(self) -> Any:
        node = self.node
        value = node.meta.get("val")
        if node.target is operator.getitem:
            return self.values[node.args[0]][node.args[1]]
        if not _holds_tensor(value):
            return value  # A size, or an assertion.
        name = str(node.target)
        lowering = LOWERINGS.get(name) or LOWERINGS.get(name.rpartition(".")[0])
        args, kwargs = (self._given(part) for part in (node.args, node.kwargs))
        count = len(self.ops)
        result = None
        if lowering is not None and _is_real([args, kwargs, value]):
            try:
                result = lowering(self, *args, **kwargs)
            except TypeError as problem:  # Arguments that a newer PyTorch has added.
                if count != len(self.ops):
                    raise
                self.notes.append(f"the call of {name} has an unknown form: {problem}")
        if result is None:
            del self.ops[count:]
            result = self._opaque(args, kwargs)
        return result

    def _given(self, argument: Any) -> Any:
        if isinstance(argument, fx.Node):
            return self.values.get(argument, argument.meta.get("val"))
        if isinstance(argument, (list, tuple)):
            return [self._given(part) for part in argument]
        if isinstance(argument, dict):
            return {name: self._given(part) for name, part in argument.items()}
        return argument

    def _opaque(self, args: Any, kwargs: Any) -> Any:
        """An operator without a function: one op, of whose bytes each of several results that are used is a part."""
        name = str(self.node.target).removesuffix(".default")
        value = self.node.meta["val"]
        attributes = {"name": _quoted(name)}
        packet = getattr(self.node.target, "overloadpacket", None)
        if packet in flop_registry:
            fakes = fx.map_arg((self.node.args, self.node.kwargs), lambda node: node.meta.get("val"))
            try:
                flops = flop_registry[packet](*fakes[0], **fakes[1], out_val=value)
            except Exception:  # noqa: BLE001 - a formula of any extension
                flops = None
            text = self.sizes.text(flops) if flops is not None else None
            if text is not None:
                attributes["flops"] = text
        inputs = list(dict.fromkeys(_tensors_in((args, kwargs))))
        if isinstance(value, torch.Tensor):
            return self.emit("opaque", *inputs, **attributes)
        used = {place: value[place] for place in sorted(self.used()) if isinstance(value[place], torch.Tensor)}
        function = "opaque"
        if len(used) > 1:
            dtypes = {one.dtype for one in used.values()}
            dtype = dtypes.pop() if len(dtypes) == 1 else torch.int8
            size = sum(_elements(one.shape) * (one.dtype.itemsize // dtype.itemsize) for one in used.values())
            inputs = [self.emit("opaque", *inputs, shape=(size,), dtype=dtype, **attributes)]
            function, attributes = "rearrange", {}
        parts = {place: self.emit(function, *inputs, like=one, item=place, **attributes) for place, one in used.items()}
        return tuple(parts.get(place) for place in range(len(value)))

    # What lowerings call.

    def used(self) -> set[int]:
        """Which results of an operator with several are read."""
        return {user.args[1] for user in self.node.users if user.target is operator.getitem}

    @property
    def value(self) -> torch.Tensor:
        """The traced result of the operator; the first of several."""
        value = self.node.meta["val"]
        return value if isinstance(value, torch.Tensor) else value[0]

    def emit(
        self,
        function: str,
        *inputs: Tensor | float | None,
        like: torch.Tensor | None = None,
        shape: Iterable[int | torch.SymInt] | None = None,
        dtype: torch.dtype | None = None,
        item: int | None = None,
        **attributes: Any,
    ) -> Tensor:
        """Writes an op whose result is that of the operator, but for what is stated otherwise."""
        like = self.value if like is None else like
        output = Tensor(
            module="",
            word=function,
            dtype=like.dtype if dtype is None else dtype,
            shape=tuple(like.shape if shape is None else shape),
        )
        written = {name: self.attribute(value) for name, value in attributes.items() if value is not None}
        given = [part if isinstance(part, Tensor) else _number(part) for part in inputs if part is not None]
        op = Op(output, function, given, written, _calls(self.node), _source(self.node), item)
        self.ops.append(op)
        self.made[output] = op
        return output

    def attribute(self, value: Any) -> str:
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(self.attribute(part) for part in value)}]"
        if isinstance(value, torch.SymInt):
            return self.sizes.text(value) or self.sizes.fixed(value)
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float) and value == -math.inf:
            return "-3.4e38"  # Only operands may be -inf.
        return value if isinstance(value, str) else _number(value)

    def cast(self, tensor: Any, dtype: torch.dtype) -> Any:
        """The tensor in another element type; numbers stay."""
        if not isinstance(tensor, Tensor) or tensor.dtype == dtype:
            return tensor
        result = self.emit("cast", tensor, shape=tensor.shape, dtype=dtype)
        self.ops[-1].attributes["dtype"] = DTYPES[dtype]
        return result

    def reshape(self, tensor: Tensor, shape: Sequence[int | torch.SymInt]) -> Tensor:
        """The tensor in another shape; views of views are one."""
        while (made := self.made.get(tensor)) is not None and made.function == "reshape":
            (tensor,) = made.tensors()
        if _same_sizes(tensor.shape, shape):
            return tensor
        return self.emit("reshape", tensor, shape=shape, dtype=tensor.dtype)

    def _count_opaque(self) -> Counter[str]:
        names = (op.attributes["name"].strip("`") for op in self.ops if op.function == "opaque")
        return Counter(names)

    def _remove_unread(self, outputs: list[Tensor]) -> None:
        """Removes ops whose results nobody needs, such as those that only gave a size."""
        needed = set(outputs)
        kept = []
        for op in reversed(self.ops):
            if op.output in needed:
                needed.update(op.tensors())
                kept.append(op)
        self.ops = kept[::-1]


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(part, torch.Tensor) for part in value)
    return isinstance(value, torch.Tensor)


def _is_real(value: Any) -> bool:
    """Whether no tensor is of complex numbers, with which no function of the notation computes."""
    return not any(part.dtype.is_complex for part in _tensors_in(value, (Tensor, torch.Tensor)))


def _tensors_in(value: Any, kind: type | tuple[type, ...] = Tensor) -> Iterator[Any]:
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors_in(part, kind)
    elif isinstance(value, dict):
        yield from _tensors_in(list(value.values()), kind)


def _number(value: float | bool) -> str:
    """A number as the notation writes it, which has no infinity but the negative one, and no NaN."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and not math.isfinite(value):
        return "-inf" if value < 0 else "3.4e38"
    return repr(value)


# --- Sizes ---------------------------------------------------------------------------------------------------

DTYPES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int8: "i8",
    torch.uint8: "i8",
    torch.bool: "bool",
    torch.float8_e4m3fn: "f8",
    torch.float8_e5m2: "f8",
    torch.float8_e4m3fnuz: "f8",
    torch.float8_e5m2fnuz: "f8",
    # Types that the notation has not are written as one of as many bytes.
    torch.complex64: "f64",
    torch.complex32: "f32",
    torch.int16: "f16",
    torch.uint16: "f16",
    torch.uint32: "i32",
    torch.uint64: "i64",
}


class _Sizes:
    """Names the symbols of dynamic sizes and writes expressions over them."""

    def __init__(self, exported: ExportedProgram, dimension_names: list[list[str | None]]) -> None:
        self.params: list[Param] = []
        self.notes: list[str] = []
        self.ranges = exported.range_constraints
        self.names: dict[str, str] = {}
        inputs = [
            node
            for node in exported.graph.nodes
            if node.op == "placeholder"
            and node.name in exported.graph_signature.user_inputs
            and isinstance(node.meta.get("val"), torch.Tensor)
        ]
        if len(dimension_names) != len(inputs):
            dimension_names = [[] for _ in inputs]
        for node, stated in zip(inputs, dimension_names):
            for axis, size in enumerate(node.meta["val"].shape):
                symbols = sorted(size.node.expr.free_symbols, key=str) if isinstance(size, torch.SymInt) else []
                for symbol in symbols:
                    named = stated[axis] if axis < len(stated) else None
                    fallback = "B" if axis == 0 else f"{node.name}_size{axis}"
                    of = f"dimension {axis} of {node.name}"
                    self._add(symbol, named or fallback, size.node.shape_env, of)

    def _add(self, symbol: Any, name: str, shape_env: Any, comment: str) -> None:
        if str(symbol) in self.names:
            return
        taken = {param.name for param in self.params}
        name = _unique(re.sub(r"\W", "_", name), taken)
        bounds = self.ranges.get(symbol)
        low = max(int(bounds.lower), 1) if bounds is not None else 1
        high = None
        if bounds is not None and bounds.upper.is_finite and bounds.upper < 2**31:
            high = int(bounds.upper)
        value = _hint_of(symbol, shape_env)
        if value is None:
            value = high or max(low, 1024)
            comment = f"{comment}; it depends on data, so this value is a guess"
        self.names[str(symbol)] = name
        self.params.append(Param(name, value, low, high, comment))

    def text(self, size: int | torch.SymInt) -> str | None:
        """A size as the notation writes it; ``None`` if its expression is not one of the notation."""
        if not isinstance(size, torch.SymInt):
            return str(max(int(size), 1))
        expr = size.node.expr
        for symbol in sorted(expr.free_symbols, key=str):
            self._add(symbol, f"size_{symbol}", size.node.shape_env, "a size that the model computes")
        try:
            return self._expression(expr, size.node.shape_env)
        except ValueError:
            return None

    def fixed(self, size: torch.SymInt) -> str:
        """The size for the sizes of the example inputs, where it has no expression."""
        value = _hint_of(size.node.expr, size.node.shape_env)
        self.notes.append(f"the notation cannot express the size {size}, so the text has {value}")
        return str(value or 1)

    def _expression(self, expr: Any, shape_env: Any, is_factor: bool = False) -> str:
        if expr.is_Integer:
            return str(int(expr))
        if expr.is_Symbol:
            return self.names[str(expr)]
        if expr.is_Add:
            # Params first: S + 1, not 1 + S.
            parts = sorted(expr.args, key=lambda part: (part.is_Number, part.could_extract_minus_sign(), str(part)))
            text = " + ".join(self._expression(part, shape_env) for part in parts).replace("+ -", "- ")
            return f"({text})" if is_factor else text
        if expr.is_Mul:
            order = {name: place for place, name in enumerate(self.names)}
            place = lambda part: (not part.is_Number, order.get(str(part), len(order)), str(part))  # noqa: E731
            parts = sorted(expr.args, key=place)
            return "*".join(self._expression(part, shape_env, True) for part in parts).replace("-1*", "-")
        if expr.is_Pow and expr.exp.is_Integer and 0 < expr.exp <= 4:
            return "*".join([self._expression(expr.base, shape_env, True)] * int(expr.exp))
        if type(expr).__name__ in ("FloorDiv", "CleanDiv"):
            whole, by = (_hint_of(part, shape_env) for part in expr.args)
            # The notation's division is exact.
            if whole is not None and by and whole % by == 0:
                over, under = (self._expression(part, shape_env, True) for part in expr.args)
                return f"({over}/{under})" if is_factor else f"{over}/{under}"
        raise ValueError(expr)


def _hint_of(expr: Any, shape_env: Any) -> int | None:
    """The value of an expression at the example inputs."""
    values = getattr(shape_env, "backed_var_to_val", None) or getattr(shape_env, "var_to_val", {})
    result = expr.xreplace(values)
    return int(result) if result.is_Integer else None


def _same_sizes(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return [str(size) for size in a] == [str(size) for size in b]


def _is_size(size: Any, number: int) -> bool:
    return isinstance(size, int) and size == number


def _elements(shape: Sequence[Any]) -> Any:
    return functools.reduce(operator.mul, shape, 1)


def _dimension_names(model: Any, inputs: Any, kwargs: Any, dynamic_shapes: Any) -> list[list[str | None]]:
    """The names of ``Dim`` objects for each dimension of each tensor that is passed, in their order."""
    if dynamic_shapes is None or isinstance(model, ExportedProgram):
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


# --- Where an op comes from ----------------------------------------------------------------------------------

_TORCH = os.path.dirname(torch.__file__)
_FRAME = re.compile(r'File "(?P<file>.+?)", line (?P<line>\d+), in .*\n\s*(?P<code>.*)')
_ASSIGNED = re.compile(r"(?P<names>[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*(?::[^=]+)?[-+*/]?=(?!=)")
_CALL = re.compile(r"@(\d+)$")


def _calls(node: fx.Node) -> tuple[tuple[str, int], ...]:
    """The modules that a node stands in: the path of each, and the number of its call."""
    calls = []
    for key, (path, _) in (node.meta.get("nn_module_stack") or {}).items():
        path = re.sub(_CALL, "", path)
        if not path or path.startswith("_empty_nn_module_stack"):
            continue
        call = _CALL.search(key)
        calls.append((path, int(call[1]) if call else 0))
    return tuple(calls)


def _source(node: fx.Node) -> str:
    """The innermost line outside of PyTorch: ``file.py:12: code``."""
    frames = _FRAME.finditer(node.meta.get("stack_trace") or "")
    own = [f for f in frames if not f["file"].startswith((_TORCH, "torch/"))]
    if not own:
        return ""
    return f"{os.path.basename(own[-1]['file'])}:{own[-1]['line']}: {' '.join(own[-1]['code'].split())}"


def _give_names(ops: list[Op]) -> None:
    """A module's last op has the path of the module, that of a line the name which the line gives it; the ops
    before it, within the same module and line, have the names of their functions."""
    last_of = {call: op for op in ops for call in op.calls}
    start = 0
    for place, op in enumerate(ops):
        op.output.module = op.calls[-1][0] if op.calls else ""
        op.output.word = _WORDS.get(op.function, op.function)
        if op.function == "opaque":
            op.output.word = re.split(r"[.:]", op.attributes["name"].strip("`"))[-1].strip("_") or "opaque"
        following = ops[place + 1] if place + 1 < len(ops) else None
        if following is not None and (following.calls, following.source) == (op.calls, op.source):
            continue
        assigned = _ASSIGNED.match(op.source.partition(": ")[2])
        words = [word.strip() for word in assigned["names"].split(",")] if assigned else []
        for named in ops[start : place + 1]:
            if named.calls and last_of[named.calls[-1]] is named:
                named.output.word = ""
            elif len(words) > 1 and named.item is not None and named.item < len(words):
                named.output.word = words[named.item]
            elif len(words) == 1 and named is op:
                named.output.word = words[0]
        start = place + 1


_WORDS = {"sdpa": "attention", "gelu_erf": "gelu", "concat": "cat"}


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
    return module, getattr(model, "__name__", type(model).__name__)


# --- Repeated layers -----------------------------------------------------------------------------------------


def _blocks(ops: list[Op], outputs: list[Tensor]) -> list[Block]:
    """Rounds of equal ops, found by the modules that they stand in: ``h.0``, ``h.1``; or calls of one module."""
    folding = _Folding(ops, outputs)
    blocks: list[Block] = []
    depth = max((len(op.calls) for op in ops), default=0)
    for level in range(depth):
        families: dict[Any, dict[Any, int]] = {}
        for place, op in enumerate(ops):
            if level < len(op.calls):
                path, call = op.calls[level]
                outer = op.calls[:level]
                numbered = re.fullmatch(r"(.*?)\d+", path)
                if numbered:
                    families.setdefault((outer, numbered[1], call), {}).setdefault(path, place)
                families.setdefault((outer, path), {}).setdefault(call, place)
        for starts in families.values():
            if len(starts) > 1:
                blocks += folding.fold(sorted(starts.values()), blocks)
    return sorted(blocks, key=lambda block: block.start)


class _Folding:
    def __init__(self, ops: list[Op], outputs: list[Tensor]) -> None:
        self.ops = ops
        self.outputs = set(outputs)
        self.producer = {op.output: place for place, op in enumerate(ops)}
        self.readers: dict[Tensor, list[int]] = {}
        for place, op in enumerate(ops):
            for tensor in op.tensors():
                self.readers.setdefault(tensor, []).append(place)
        self.keys = [self._key(op) for op in ops]

    def _key(self, op: Op) -> Any:
        """What is equal in equal ops, whatever they read."""
        inputs = tuple(_type_key(given) if isinstance(given, Tensor) else given for given in op.inputs)
        return op.function, tuple(op.attributes.items()), _type_key(op.output), inputs

    def fold(self, starts: list[int], taken: list[Block]) -> list[Block]:
        """Blocks whose rounds begin at ``starts``; as many rounds as are equal, from the first on that fits."""
        blocks: list[Block] = []
        first = 0
        while first + 1 < len(starts):
            start, length = starts[first], starts[first + 1] - starts[first]
            rounds = 1
            while (
                first + rounds < len(starts)
                and starts[first + rounds] == start + rounds * length
                and self._equal(start, start + rounds * length, length)
            ):
                rounds += 1
            block = None
            # What ops behind the layers read of an earlier layer keeps it out of the block.
            while rounds > 1 and block is None:
                block = self._block(start, length, rounds)
                rounds -= block is None
            if block is not None and all(block.end <= other.start or other.end <= start for other in taken):
                blocks.append(block)
                first += block.rounds
            else:
                first += 1
        return blocks

    def _equal(self, a: int, b: int, length: int) -> bool:
        return self.keys[a : a + length] == self.keys[b : b + length]

    def _block(self, start: int, length: int, rounds: int) -> Block | None:
        """The block of these rounds, if each reads the same, its own like, or what the one before has written."""
        end = start + length * rounds
        carried: dict[Tensor, Tensor] = {}
        shared: set[Tensor] = set()
        own: dict[Tensor, tuple[Tensor, ...]] = {}
        for offset in range(length):
            group = [self.ops[start + offset + length * r] for r in range(rounds)]
            for given in zip(*(op.inputs for op in group)):
                if isinstance(given[0], str):
                    continue
                places = [self.producer.get(tensor, -1) for tensor in given]
                inside = [place - start - length * r for r, place in enumerate(places)]
                if inside[0] >= 0 and len(set(inside)) == 1:
                    continue  # Written by the round itself.
                if places[0] >= start:
                    return None
                if len(set(given)) == 1:
                    shared.add(given[0])
                elif inside[1] < 0 <= places[1] - start and len(set(inside[1:])) == 1:
                    source = self.ops[places[1]].output
                    if carried.setdefault(given[0], source) is not source:
                        return None
                elif given[0].role and len({tensor.role for tensor in given}) == 1 and len(set(given)) == rounds:
                    if own.setdefault(given[0], given) != given:
                        return None
                else:
                    return None
        if shared & (carried.keys() | own.keys()):
            return None
        same: dict[Tensor, Tensor] = {}
        for first, given in own.items():
            for r, tensor in enumerate(given):
                window = range(start + length * r, start + length * (r + 1))
                if tensor in same or any(place not in window for place in self.readers[tensor]):
                    return None
                same[tensor] = first
        outputs = []
        for offset in range(length):
            results = [self.ops[start + offset + length * r].output for r in range(rounds)]
            is_output = [result in self.outputs for result in results]
            if all(is_output):
                outputs.append(results[0])
            elif any(is_output[:-1]):
                return None
            for r, result in enumerate(results):
                same[result] = results[0]
                last_reader = max(self.readers.get(result, [0]))
                if r < rounds - 1 and last_reader >= min(end, start + length * (r + 2)):
                    return None
        return Block(start, length, rounds, list(carried.items()), list(own), same, outputs)


def _type_key(tensor: Tensor) -> Any:
    return tensor.dtype, tuple(str(size) for size in tensor.shape)


# --- The text ------------------------------------------------------------------------------------------------

_NAME = re.compile(r"[A-Za-z_](?:\w|\.(?=\w))*", re.ASCII)
_COMMENT_LENGTH = 110


def _quoted(name: str) -> str:
    """A name as it is, or in backquotes."""
    if _NAME.fullmatch(name):
        return name
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`").replace("\n", "\\n").replace("\r", "\\r") + "`"


def _unique(name: str, taken: set[str]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate


class _Printer:
    def __init__(self, program: Program) -> None:
        self.program = program
        _give_names(program.ops)
        self.blocks = _blocks(program.ops, program.outputs)
        self.same = {tensor: first for block in self.blocks for tensor, first in block.same.items()}
        self.names: dict[Tensor, str] = {}
        self._name_tensors()

    def text(self) -> str:
        program = self.program
        in_block = {tensor for block in self.blocks for tensor in block.own}
        outside = [t for t in program.externals() if self.same.get(t, t) is t and t not in in_block]
        lines = [*self._header(), ""]
        lines += [self._param(param) for param in program.params]
        lines += [""] * bool(program.params)
        lines += self._declarations(outside)
        at = 0
        self.source = ""
        outputs = set(program.outputs)
        for block in self.blocks:
            lines += self._ops(at, block.start)
            lines += self._block(block)
            outputs -= set(block.outputs)
            at = block.end
        lines += self._ops(at, len(program.ops))
        # A result that ops read, too, is said to be one.
        in_blocks = {like for block in self.blocks for like in block.outputs}
        read = {self.same.get(t, t) for op in program.ops for t in op.tensors()}
        for tensor in program.outputs:
            first = self.same.get(tensor, tensor)
            if first in read and first not in in_blocks:
                lines.append(f"output {self.name(tensor)}")
        return "\n".join(lines) + "\n"

    def _header(self) -> list[str]:
        program = self.program
        weights = [t for t in program.externals() if t.role == "weight"]
        count = sum(int(_elements(weight.shape)) for weight in weights)
        size = sum(tensor_bytes(weight) for weight in weights)
        lines = [
            f"# {program.title}, written by fuseline.export with torch {torch.__version__}.",
            f"# Ops: {len(program.ops)}; weights: {count:,} elements, {size:,} bytes.",
        ]
        if program.opaque:
            listed = ", ".join(f"{name} ({count})" for name, count in sorted(program.opaque.items()))
            lines.append(f"# Opaque ops, because the notation has no function for them: {listed}.")
        if program.unread:
            named = ", ".join(".".join(filter(None, (t.module, t.word))) for t in program.unread[:3])
            rest = f" and {len(program.unread) - 3} more" if len(program.unread) > 3 else ""
            size = sum(map(tensor_bytes, program.unread))
            lines.append(f"# Left out, because no op reads them: {named}{rest}, {size:,} bytes.")
        notes = dict.fromkeys((*program.notes, *program.sizes.notes))
        return lines + [f"# {' '.join(note.split())}." for note in notes]

    def _param(self, param: Param) -> str:
        high = param.high
        comment = param.comment
        if high is None:
            high = 16 * param.value
            comment += "; the model states no upper bound"
        return f"param {param.name} = {param.value} in {min(param.low, param.value)}..{high}  # {comment}"

    def _declarations(self, tensors: list[Tensor], indent: str = "") -> list[str]:
        width = max((len(self.name(tensor)) for tensor in tensors), default=0)
        role = max((len(tensor.role) for tensor in tensors), default=0)
        return [
            f"{indent}{tensor.role:{role}} {self.name(tensor):{width}} : {self.type(tensor)}"
            + (f"  # {tensor.comment}" if tensor.comment else "")
            for tensor in tensors
        ] + [""] * bool(tensors)

    def _block(self, block: Block) -> list[str]:
        carried = ", ".join(f"{self.name(outer)} = {self.name(inner)}" for outer, inner in block.carried)
        first, last = (
            _stem(self.program.ops[start : start + block.length]) for start in (block.start, block.end - block.length)
        )
        lines = [""] if block.start else []
        lines.append(f"repeat {block.rounds}{f' with {carried}' if carried else ''} {{  # {first} to {last}")
        lines += self._declarations(block.own, "  ")
        self.source = ""
        lines += self._ops(block.start, block.start + block.length, "  ")
        read = {tensor for op in self.program.ops[block.start : block.end] for tensor in op.tensors()}
        lines += [f"  output {self.name(tensor)}" for tensor in block.outputs if tensor in read]
        self.source = ""
        return [*lines, "}", ""]

    def _ops(self, start: int, end: int, indent: str = "") -> list[str]:
        lines = []
        for op in self.program.ops[start:end]:
            if op.source and op.source != self.source:
                self.source = op.source
                is_long = len(op.source) > _COMMENT_LENGTH
                lines.append(f"{indent}# {op.source[:_COMMENT_LENGTH]}{'…' if is_long else ''}")
            inputs = [self.name(given) if isinstance(given, Tensor) else given for given in op.inputs]
            attributes = [f"{name}={value}" for name, value in op.attributes.items()]
            annotation = self._annotation(op)
            lines.append(
                f"{indent}{self.name(op.output)} = {op.function}({', '.join(inputs + attributes)})"
                + (f" : {annotation}" if annotation else "")
            )
        return lines

    def _annotation(self, op: Op) -> str | None:
        """The type of a result, without which a function that infers it can do."""
        is_inferred = op.function not in _STATED
        sizes = [self.program.sizes.text(size) for size in op.output.shape]
        if is_inferred and None in sizes:
            return None
        return self.type(op.output)

    def type(self, tensor: Tensor) -> str:
        sizes = ", ".join(self.program.sizes.text(size) or self.program.sizes.fixed(size) for size in tensor.shape)
        return f"{DTYPES[tensor.dtype]}[{sizes}]"

    def name(self, tensor: Tensor) -> str:
        return self.names[self.same.get(tensor, tensor)]

    def _name_tensors(self) -> None:
        """Paths and words as names. Inside a block the path starts where the rounds differ."""
        taken = {param.name for param in self.program.params}
        stems: dict[Tensor, str] = {}
        stem_of = [_stem(self.program.ops[b.start : b.start + b.length]) for b in self.blocks]
        for block, stem in zip(self.blocks, stem_of):
            inside = [op.output for op in self.program.ops[block.start : block.start + block.length]]
            stems |= dict.fromkeys((*block.own, *inside), stem)
        is_alone = len(self.blocks) == 1
        for tensor in (*self.program.externals(), *(op.output for op in self.program.ops)):
            if self.same.get(tensor, tensor) is not tensor:
                continue
            module = tensor.module
            stem = stems.get(tensor, "")
            if stem and (module == stem or module.startswith(f"{stem}.")):
                outer = "" if is_alone else re.sub(r"[._]?\d+$", "", stem)
                module = ".".join(filter(None, (outer, module[len(stem) + 1 :])))
            name = ".".join(filter(None, (module, tensor.word))) or re.sub(r"^.*\.(?=[A-Za-z])|[._]?\d+$", "", stem)
            self.names[tensor] = _unique(name, taken)
        self.names = {tensor: _quoted(name) for tensor, name in self.names.items()}


def _stem(ops: list[Op]) -> str:
    """The innermost module that all ops stand in."""
    common = os.path.commonprefix([[path for path, _ in op.calls] for op in ops])
    return common[-1] if common else ""


def tensor_bytes(tensor: Tensor) -> int:
    return int(_elements(tensor.shape)) * tensor.dtype.itemsize


_STATED = {"reshape", "contiguous", "rearrange", "expand", "full", "arange", "opaque"}
"""Functions whose result has the size that is annotated."""


# --- ATen operators ------------------------------------------------------------------------------------------

_UNARY = """
abs ceil cos erf exp exp2 expm1 floor hardsigmoid hardswish log log1p log2 mish neg reciprocal relu round rsqrt selu
sigmoid sign sin silu softplus sqrt tan tanh trunc isnan isinf logical_not
""".split()
_BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "maximum": "maximum",
    "minimum": "minimum",
    "pow": "pow",
    "remainder": "remainder",
    "floor_divide": "floor_divide",
}
_COMPARISONS = {
    "eq": "eq",
    "ne": "ne",
    "lt": "lt",
    "le": "le",
    "gt": "gt",
    "ge": "ge",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "logical_xor": "logical_xor",
}
_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "div": 1}


def _unary(function: str) -> Callable[..., Any]:
    def lowering(t: _Tracer, x: Tensor) -> Tensor:
        if function in ("isnan", "isinf", "logical_not"):
            return t.emit(function, t.cast(x, torch.bool) if function == "logical_not" else x)
        return t.emit(function, t.cast(x, t.value.dtype))

    return lowering


def _binary(function: str) -> Callable[..., Any]:
    def lowering(t: _Tracer, a: Any, b: Any, *, alpha: float = 1, rounding_mode: str | None = None) -> Any:
        dtype = t.value.dtype
        if rounding_mode is not None:
            function_ = {"floor": "floor_divide"}.get(rounding_mode)
            return t.emit(function_, t.cast(a, dtype), t.cast(b, dtype)) if function_ else None
        if not isinstance(a, Tensor) and not isinstance(b, Tensor):
            return None
        a, b = (_operand(t, part, dtype) for part in (a, b))
        if not isinstance(b, Tensor) and b == _NEUTRAL.get(function) and isinstance(a, Tensor):
            return a  # As torch.compile, which computes nothing for x + 0 and x / 1.
        if alpha != 1:
            b = t.emit("mul", b, alpha, shape=b.shape) if isinstance(b, Tensor) else b * alpha
        if function == "pow" and b in (2, 0.5):
            return t.emit("square" if b == 2 else "sqrt", a)
        if function == "pow" and not isinstance(b, Tensor):
            return t.emit("pow", a, exponent=b)
        return t.emit(function, a, b)

    return lowering


def _comparison(function: str) -> Callable[..., Any]:
    def lowering(t: _Tracer, a: Any, b: Any) -> Any:
        if function.startswith("logical"):
            return t.emit(function, t.cast(a, torch.bool), t.cast(b, torch.bool))
        dtypes = [part.dtype for part in (a, b) if isinstance(part, Tensor)]
        widest = functools.reduce(torch.promote_types, dtypes)
        return t.emit(function, _operand(t, a, widest), _operand(t, b, widest))

    return lowering


def _operand(t: _Tracer, value: Any, dtype: torch.dtype) -> Any:
    """A tensor or a number of the type in which an op computes; a dynamic size becomes a tensor."""
    if isinstance(value, (torch.SymInt, torch.SymFloat)):
        return t.emit("full", shape=(), dtype=dtype)
    return t.cast(value, dtype)


for _name in _UNARY:
    _lowers(_name)(_unary(_name))
for _name, _function in _BINARY.items():
    _lowers(_name)(_binary(_function))
for _name, _function in _COMPARISONS.items():
    _lowers(_name)(_comparison(_function))
_lowers("max.other")(_binary("maximum"))
_lowers("min.other")(_binary("minimum"))


@_lowers("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "__and__", "__or__")
def _bitwise(t: _Tracer, *inputs: Any) -> Any:
    name = re.search("and|or|xor|not", str(t.node.target).replace("xor", "XOR"), re.IGNORECASE)
    if t.value.dtype != torch.bool or name is None:
        return None
    return t.emit(f"logical_{name[0].lower()}", *inputs)


@_lowers("rsub")
def _rsub(t: _Tracer, a: Tensor, b: Any, alpha: float = 1) -> Any:
    return t.emit("sub", b, a) if alpha == 1 else None


@_lowers("gelu")
def _gelu(t: _Tracer, x: Tensor, *, approximate: str = "none") -> Tensor:
    return t.emit("gelu", x) if approximate == "tanh" else t.emit("gelu", x, approximate="none")


@_lowers("leaky_relu")
def _leaky_relu(t: _Tracer, x: Tensor, slope: float = 0.01) -> Tensor:
    return t.emit("leaky_relu", x, slope=slope)


@_lowers("elu")
def _elu(t: _Tracer, x: Tensor, alpha: float = 1.0, scale: float = 1, input_scale: float = 1) -> Any:
    return t.emit("elu", x, alpha=alpha) if scale == input_scale == 1 else None


@_lowers("clamp", "clamp_min", "clamp_max", "hardtanh")
def _clamp(t: _Tracer, x: Tensor, low: Any = None, high: Any = None, **named: Any) -> Tensor:
    low, high = named.get("min", low), named.get("max", high)
    kind = str(t.node.target)
    if "hardtanh" in kind:
        low, high = (-1 if low is None else low), (1 if high is None else high)
    if "clamp_max" in kind:
        low, high = None, low
    x = t.cast(x, t.value.dtype)
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        x = t.emit("maximum", x, low) if low is not None else x
        return t.emit("minimum", x, high) if high is not None else x
    return t.emit("clamp", x, min=low, max=high)


@_lowers("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def _where(t: _Tracer, condition: Tensor, a: Any, b: Any) -> Any:
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return None
    return t.emit("where", condition, t.cast(a, t.value.dtype), t.cast(b, t.value.dtype))


@_lowers("masked_fill")
def _masked_fill(t: _Tracer, x: Tensor, mask: Tensor, value: Any) -> Tensor:
    return t.emit("where", mask, value, x)


@_lowers("dropout")
def _dropout(t: _Tracer, x: Tensor, p: float, train: bool) -> Tensor:
    return t.emit("dropout", x, p=p) if train and p > 0 else x


@_lowers("native_dropout")
def _native_dropout(t: _Tracer, x: Tensor, p: float, train: bool | None) -> Any:
    return (_dropout(t, x, p, train is not False), None) if 1 not in t.used() else None


@_lowers("_to_copy", "to.dtype", "to.dtype_layout", "to.device", "type_as")
def _to(t: _Tracer, x: Tensor, *_: Any, **__: Any) -> Tensor:
    return t.cast(x, t.value.dtype)


@_lowers("alias", "detach", "lift_fresh_copy", "lift_fresh", "positive")
def _same(t: _Tracer, x: Tensor, *_: Any, **__: Any) -> Tensor:
    return x


@_lowers("clone", "contiguous")
def _clone(t: _Tracer, x: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy, where it lays the elements out anew; one in the same order is none to torch.compile."""
    before = t.node.args[0].meta["val"]
    made = t.made.get(x)
    if made is not None and made.attributes.get("perm") == "[0, 2, 1, 3]":
        source = t.made.get(made.inputs[0])
        if source is not None and source.function == "sdpa":
            return x  # On a GPU attention writes [batch, sequence, head, size], whatever the traced strides say.
    return x if _same_sizes(before.stride(), t.value.stride()) else t.emit("contiguous", x)


# Sums, maxima and norms.


def _reduction(function: str) -> Callable[..., Any]:
    def lowering(t: _Tracer, x: Tensor, dim: Any = None, keepdim: bool = False, **named: Any) -> Any:
        if named.get("correction", 1) not in (0, 1, None) or function == "var" and not isinstance(keepdim, bool):
            return None
        if isinstance(dim, bool):  # var(x, unbiased)
            dim = None
        x = t.cast(x, t.value.dtype) if function in ("sum", "prod", "mean", "any", "all") else x
        dims = [dim] if isinstance(dim, int) else list(dim or range(len(x.shape)))
        if not dims:
            return x
        count = _elements([x.shape[dim] for dim in dims])
        is_biased = named.get("correction") == 0
        if is_biased and not (isinstance(count, int) and count > 0):
            return None
        reduced = t.emit(function, x, axis=dims[0] if len(dims) == 1 else dims, keepdim=bool(keepdim))
        # The notation's variance is over one element less than there are.
        return t.emit("mul", reduced, (count - 1) / count) if is_biased else reduced

    return lowering


for _name, _function in {
    "sum": "sum",
    "mean": "mean",
    "amax": "max",
    "amin": "min",
    "prod": "prod",
    "any": "any",
    "all": "all",
    "var.correction": "var",
}.items():
    _lowers(_name)(_reduction(_function))


@_lowers("max.default", "min.default", "max.dim", "min.dim", "argmax", "argmin")
def _extreme(t: _Tracer, x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    kind = re.search("argmax|argmin|max|min", str(t.node.target))[0]
    named = {"axis": dim, "keepdim": keepdim}
    if dim is None:
        x, named = t.reshape(x, [_elements(x.shape)]), {"axis": 0, "keepdim": False}
    if isinstance(t.node.meta["val"], torch.Tensor):
        return t.reshape(t.emit(kind, x, shape=[], **named), t.value.shape) if dim is None else t.emit(kind, x, **named)
    values, indices = t.node.meta["val"]
    used = t.used()
    return (
        t.emit(kind, x, like=values, item=0, **named) if 0 in used else None,
        t.emit(f"arg{kind}", x, like=indices, item=1, **named) if 1 in used else None,
    )


@_lowers("std.correction")
def _std(t: _Tracer, x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    spread = _reduction("var")(t, x, dim, keepdim, correction=correction)
    return spread and t.emit("sqrt", spread)


@_lowers("softmax.int", "log_softmax.int", "_softmax", "_log_softmax")
def _softmax(t: _Tracer, x: Tensor, dim: int, _: Any = None) -> Tensor:
    function = "log_softmax" if "log_softmax" in str(t.node.target) else "softmax"
    return t.emit(function, t.cast(x, t.value.dtype), axis=dim)


@_lowers("cumsum")
def _cumsum(t: _Tracer, x: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    return t.emit("cumsum", t.cast(x, t.value.dtype), axis=dim)


def _row_norm(function: str) -> Callable[..., Any]:
    """A norm over the last dimensions, which are one in the notation."""

    def lowering(t: _Tracer, x: Tensor, over: Any, *rest: Any, **named: Any) -> Any:
        if rest[:1] == (None,) and isinstance(rest[1:2] and rest[1], Tensor):
            return None  # A bias without a weight.
        inputs, rest = [part for part in rest if isinstance(part, Tensor)], rest[2 if function == "layer_norm" else 1 :]
        eps = rest[0] if rest else named.get("eps")
        if len(over) == 1:
            return t.emit(function, x, *inputs, eps=eps)
        count = _elements(over)
        flat = t.reshape(x, [*x.shape[: -len(over)], count])
        inputs = [t.reshape(part, [count]) for part in inputs]
        return t.reshape(t.emit(function, flat, *inputs, shape=flat.shape, eps=eps), t.value.shape)

    return lowering


_lowers("layer_norm")(_row_norm("layer_norm"))
_lowers("rms_norm")(_row_norm("rms_norm"))


@_lowers("group_norm")
def _group_norm(
    t: _Tracer, x: Tensor, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    if weight is None and bias is not None:
        return None
    return t.emit("group_norm", x, weight, bias, groups=groups, eps=eps)


@_lowers("_native_batch_norm_legit_no_training")
def _batch_norm(
    t: _Tracer, x: Tensor, weight: Any, bias: Any, mean: Tensor, variance: Tensor, _: float, eps: float
) -> Any:
    if (weight is None) != (bias is None):
        return None
    return (t.emit("batch_norm", x, mean, variance, weight, bias, item=0, eps=eps),)


@_lowers("_native_batch_norm_legit_functional")
def _batch_norm_training(t: _Tracer, x: Tensor, weight: Any, bias: Any, *rest: Any) -> Any:
    t.notes.append("Updates of running statistics of batch norms are left out")
    *_, eps = rest
    return (t.emit("batch_norm", x, weight, bias, item=0, eps=eps, training=True), None, None, None, None)


# Products.


@_lowers("linear")
def _linear(t: _Tracer, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return t.emit("linear", x, weight, bias)


@_lowers("_int_mm")
def _int_matmul(t: _Tracer, a: Tensor, b: Tensor) -> Tensor:
    """PyTorch's counter of FLOPs has no formula for it."""
    return t.emit("opaque", a, b, name="aten._int_mm", flops=2 * _elements(a.shape) * b.shape[1])


@_lowers("mm", "bmm", "matmul")
def _matmul(t: _Tracer, a: Tensor, b: Tensor) -> Any:
    if min(len(a.shape), len(b.shape)) >= 2:
        return t.emit("matmul", a, b)
    # A vector is a matrix of one row or column.
    rows = t.reshape(a, [1, *a.shape]) if len(a.shape) == 1 else a
    columns = t.reshape(b, [*b.shape, 1]) if len(b.shape) == 1 else b
    shape = [*(rows.shape[:-2] or columns.shape[:-2]), rows.shape[-2], columns.shape[-1]]
    return t.reshape(t.emit("matmul", rows, columns, shape=shape), t.value.shape)


@_lowers("addmm", "baddbmm")
def _addmm(t: _Tracer, bias: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    product = t.emit("matmul", a, b)
    if alpha != 1:
        product = t.emit("mul", product, alpha)
    if beta == 0:
        return product
    if beta != 1:
        bias = t.emit("mul", bias, beta, shape=bias.shape)
    return t.emit("add", product, bias)


@_lowers("_grouped_mm")
def _grouped_mm(t: _Tracer, a: Tensor, b: Tensor, *_: Any, **__: Any) -> Any:
    """Rows in groups, each times a matrix of its own: every row meets one matrix."""
    if len(a.shape) != 2 or len(b.shape) != 3:
        return None
    return t.emit("matmul", a, b, k=a.shape[-1])


@_lowers("scaled_dot_product_attention")
def _attention(
    t: _Tracer,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    if dropout_p:
        t.notes.append("The dropout inside attention is left out")
    k, v = (_batched_as(t, q, part, enable_gqa) for part in (k, v))
    return t.emit("sdpa", q, k, v, mask, causal=is_causal or None, scale=scale, enable_gqa=enable_gqa or None)


def _batched_as(t: _Tracer, q: Tensor, part: Tensor, has_own_heads: bool) -> Tensor:
    """Keys or values with the leading dimensions of the queries, over which PyTorch broadcasts them."""
    kept = 3 if has_own_heads else 2
    shape = [*q.shape[:-kept], *part.shape[-kept:]]
    return part if _same_sizes(part.shape, shape) else t.emit("expand", part, shape=shape)


def _pair(value: Any) -> Any:
    """One number for a list of equal ones."""
    value = list(value) if isinstance(value, (list, tuple)) else [value]
    return value[0] if all(_is_size(part, value[0]) for part in value) else value


@_lowers("conv2d.default", "conv1d.default", "conv2d.padding", "conv1d.padding")
def _convolution(
    t: _Tracer,
    x: Tensor,
    weight: Tensor,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    if len(x.shape) != len(weight.shape):
        return None
    if isinstance(padding, str):
        steps = dilation if isinstance(dilation, (list, tuple)) else [dilation]
        steps = list(steps) * (len(x.shape) - 2) if len(steps) == 1 else steps
        around = [step * (size - 1) for step, size in zip(steps, weight.shape[2:])]
        if padding == "same" and any(both % 2 for both in around):
            return None  # PyTorch pads one side more than the other.
        padding = [both // 2 if padding == "same" else 0 for both in around]
    named = zip(
        ("stride", "padding", "dilation", "groups"), (*map(_pair, (stride, padding, dilation)), groups), (1, 0, 1, 1)
    )
    stated = {name: value for name, value, default in named if value != default}
    return t.emit(f"conv{len(x.shape) - 2}d", x, weight, bias, **stated)


@_lowers("max_pool2d", "avg_pool2d")
def _pool(
    t: _Tracer,
    x: Tensor,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    *rest: Any,
) -> Any:
    is_max = "max_pool2d" in str(t.node.target)
    dilation, ceil_mode = (*rest, 1, False)[:2] if is_max else (1, (*rest, False)[0])
    if _pair(dilation) != 1 or ceil_mode or len(x.shape) != 4:
        return None
    if not is_max:
        counts_padding, divisor = (rest[1] if len(rest) > 1 else True), (rest[2] if len(rest) > 2 else None)
        if divisor is not None or not counts_padding and _pair(padding) != 0:
            return None
    function = "max_pool2d" if is_max else "avg_pool2d"
    return t.emit(function, x, kernel=_pair(kernel), stride=_pair(stride or kernel), padding=_pair(padding) or None)


@_lowers("adaptive_avg_pool2d", "_adaptive_avg_pool2d")
def _adaptive_pool(t: _Tracer, x: Tensor, size: Any) -> Any:
    if _pair(size) == 1:
        return t.emit("mean", x, axis=[-2, -1], keepdim=True)
    if len(x.shape) != 4:
        return None
    return t.emit("adaptive_avg_pool2d", x, size=_pair(size))


@_lowers("upsample_nearest2d.vec", "upsample_bilinear2d.vec")
def _interpolate(t: _Tracer, x: Tensor, _: Any, *rest: Any) -> Tensor:
    is_nearest = "nearest" in str(t.node.target)
    corners = None if is_nearest else bool(rest[0]) or None
    mode = "nearest" if is_nearest else "bilinear"
    return t.emit("interpolate", x, size=list(t.value.shape[-2:]), mode=mode, align_corners=corners)


# Layout.


@_lowers("view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "flatten", "unflatten", "view_as", "reshape_as")
def _reshape(t: _Tracer, x: Tensor, *_: Any) -> Any:
    return t.reshape(x, t.value.shape) if x.dtype == t.value.dtype else None


@_lowers("permute", "transpose.int", "t", "numpy_T", "mT")
def _transpose(t: _Tracer, x: Tensor, *dims: Any) -> Tensor:
    rank = len(x.shape)
    order = list(range(rank))
    if dims and isinstance(dims[0], list):
        order = [dim % rank for dim in dims[0]]
    elif rank >= 2:
        a, b = (dim % rank for dim in dims) if dims else (rank - 2, rank - 1)
        order[a], order[b] = order[b], order[a]
    if order == list(range(rank)):
        return x
    return t.emit("transpose", x, perm=order)


@_lowers("expand")
def _expand(t: _Tracer, x: Tensor, *_: Any, **__: Any) -> Tensor:
    return x if _same_sizes(x.shape, t.value.shape) else t.emit("expand", x)


def _slice_of(t: _Tracer, x: Tensor, axis: int, start: Any, end: Any, step: int = 1, **emitted: Any) -> Tensor:
    return t.emit("slice", x, start=start, end=end, step=step if step != 1 else None, axis=axis, **emitted)


@_lowers("slice.Tensor")
def _slice(t: _Tracer, x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Tensor:
    size = x.shape[dim]
    if _same_sizes(x.shape, t.value.shape):
        return x
    start = 0 if start is None else start
    if isinstance(start, int) and start < 0 and isinstance(size, int):
        start = max(start + size, 0)
    if isinstance(end, int) and isinstance(size, int):
        end = min(end + size if end < 0 else end, size)
    elif isinstance(end, int) and end >= 2**62:
        end = None
    return _slice_of(t, x, dim % len(x.shape), start, end, step)


@_lowers("select.int")
def _select(t: _Tracer, x: Tensor, dim: int, index: Any) -> Tensor:
    dim %= len(x.shape)
    size = x.shape[dim]
    if isinstance(index, int) and index < 0:
        index = index + size
    if _is_size(size, 1):
        return t.reshape(x, t.value.shape)
    shape = [*x.shape[:dim], 1, *x.shape[dim + 1 :]]
    return t.reshape(_slice_of(t, x, dim, index, index + 1, shape=shape), t.value.shape)


@_lowers("split.Tensor", "split_with_sizes", "chunk", "unsafe_chunk", "unsafe_split")
def _split(t: _Tracer, x: Tensor, _: Any, dim: int = 0) -> Any:
    parts = t.node.meta["val"]
    dim %= len(x.shape)
    used = t.used()
    sizes = [part.shape[dim] for part in parts]
    results: list[Tensor | None] = []
    start: Any = 0
    for place, (part, size) in enumerate(zip(parts, sizes)):
        if place not in used:
            results.append(None)
        elif len(parts) == 1:
            results.append(x)
        elif _same_sizes(sizes, [size] * len(sizes)):
            piece = {"parts": len(parts), "index": place, "axis": dim}
            results.append(t.emit("split", x, like=part, item=place, **piece))
        else:
            results.append(_slice_of(t, x, dim, start, start + size, like=part, item=place))
        start = start + size
    return tuple(results)


@_lowers("unbind")
def _unbind(t: _Tracer, x: Tensor, dim: int = 0) -> Any:
    dim %= len(x.shape)
    shape = [*x.shape[:dim], 1, *x.shape[dim + 1 :]]
    parts = t.node.meta["val"]
    results = []
    for place, part in enumerate(parts):
        piece = _slice_of(t, x, dim, place, place + 1, shape=shape, like=part) if len(parts) > 1 else x
        results.append(t.emit("reshape", piece, like=part, item=place) if place in t.used() else None)
    return tuple(results)


@_lowers("cat", "stack")
def _cat(t: _Tracer, tensors: list[Tensor], dim: int = 0) -> Any:
    shape = t.value.shape
    dim %= len(shape)
    if "stack" in str(t.node.target):
        tensors = [t.reshape(part, [*part.shape[:dim], 1, *part.shape[dim:]]) for part in tensors]
    # torch.cat takes empty tensors of any rank.
    tensors = [t.cast(part, t.value.dtype) for part in tensors if not any(_is_size(size, 0) for size in part.shape)]
    if len(tensors) > 1:
        return t.emit("concat", *tensors, axis=dim)
    return tensors[0] if tensors else None


@_lowers("repeat")
def _repeat(t: _Tracer, x: Tensor, times: list[Any]) -> Tensor:
    x = t.reshape(x, [1] * (len(times) - len(x.shape)) + list(x.shape))
    return x if all(_is_size(count, 1) for count in times) else t.emit("repeat", x, times=times)


@_lowers("repeat_interleave.self_int")
def _repeat_interleave(t: _Tracer, x: Tensor, times: Any, dim: int | None = None, **_: Any) -> Tensor:
    x = t.reshape(x, [_elements(x.shape)]) if dim is None else x
    return t.emit("repeat_interleave", x, times=times, axis=dim or 0)


@_lowers("constant_pad_nd", "pad")
def _pad(t: _Tracer, x: Tensor, pad: list[Any], *rest: Any) -> Any:
    is_negative = any(isinstance(size, int) and size < 0 for size in pad)
    return None if is_negative or rest and rest[0] not in (0, "constant") else t.emit("pad", x, pad=pad)


@_lowers("flip")
def _flip(t: _Tracer, x: Tensor, dims: list[int]) -> Tensor:
    return t.emit("flip", x, axis=dims)


@_lowers("roll")
def _roll(t: _Tracer, x: Tensor, shifts: list[Any], dims: Any = ()) -> Any:
    if len(shifts) != len(dims):
        return None
    for shift, dim in zip(shifts, dims):
        x = t.emit("roll", x, shift=shift, axis=dim)
    return x


@_lowers("tril", "triu")
def _triangle(t: _Tracer, x: Tensor, diagonal: Any = 0) -> Tensor:
    return t.emit("tril" if "tril" in str(t.node.target) else "triu", x, diagonal=diagonal or None)


# Tensors from nothing.


@_lowers("full", "full_like", "new_full", "scalar_tensor", "ones", "zeros", "ones_like", "zeros_like", "empty")
def _full(t: _Tracer, *given: Any, **_: Any) -> Tensor:
    kind = str(t.node.target)
    value = 1 if "ones" in kind else 0
    if "full" in kind or "scalar_tensor" in kind:
        value = next((part for part in reversed(given) if isinstance(part, (bool, int, float))), None)
    return t.emit("full", value=value)


_lowers("new_ones", "new_zeros", "new_empty", "empty_like", "empty_permuted", "empty_strided", "new_empty_strided")(
    _full
)


@_lowers("arange")
def _arange(t: _Tracer, *_: Any, **__: Any) -> Tensor:
    return t.emit("arange")


# Indices.


@_lowers("embedding")
def _embedding(t: _Tracer, table: Tensor, index: Tensor, *_: Any) -> Tensor:
    return t.emit("embedding", index, table)


@_lowers("_embedding_bag", "_embedding_bag_forward_only")
def _embedding_bag(
    t: _Tracer, table: Tensor, index: Tensor, offsets: Tensor, by_count: bool = False, mode: int = 0,
    is_sparse: bool = False, weights: Tensor | None = None, *_: Any,
) -> Any:
    """Rows of the table, of which an opaque op makes one for each bag."""
    if t.used() - {0}:
        return None
    shape = [*index.shape, *table.shape[1:]]
    rows = t.emit("embedding", index, table, shape=shape)
    name = _quoted(str(t.node.target).removesuffix(".default"))
    return (t.emit("opaque", rows, offsets, weights, name=name, flops=_elements(shape)), None, None, None)


@_lowers("gather")
def _gather(t: _Tracer, x: Tensor, dim: int, index: Tensor, **_: Any) -> Tensor:
    return t.emit("gather", x, index, axis=dim)


@_lowers("index_select")
def _index_select(t: _Tracer, x: Tensor, dim: int, index: Tensor) -> Any:
    return t.emit("index" if dim % len(x.shape) == 0 else "rearrange", x, index)


@_lowers("index.Tensor")
def _index(t: _Tracer, x: Tensor, indices: list[Any]) -> Any:
    """Indices of the first dimensions; masks and skipped dimensions are not known."""
    is_known = all(isinstance(index, Tensor) and index.dtype == torch.int64 for index in indices)
    return t.emit("index", x, *indices) if is_known else None


@_lowers("index_put")
def _index_put(t: _Tracer, x: Tensor, indices: list[Any], values: Tensor, accumulate: bool = False) -> Any:
    index = indices[0]
    if len(indices) != 1 or not isinstance(index, Tensor) or index.dtype == torch.bool or len(index.shape) != 1:
        return None
    shape = [*index.shape, *x.shape[1:]]
    if not _same_sizes(values.shape, shape):
        values = t.emit("expand", values, shape=shape)
    return t.emit("index_add" if accumulate else "index_copy", x, index, values, axis=0)


@_lowers("scatter.src", "scatter_add", "index_add", "index_copy")
def _scatter(t: _Tracer, x: Tensor, dim: int, index: Tensor, source: Tensor, **named: Any) -> Any:
    kind = str(t.node.target).split(".")[1]
    if kind.startswith("scatter"):
        is_known = _same_sizes(index.shape, source.shape)
    else:
        is_known = len(index.shape) == 1
    return None if named or not is_known else t.emit(kind, x, index, source, axis=dim)


@_lowers("topk")
def _topk(t: _Tracer, x: Tensor, count: Any, dim: int = -1, largest: bool = True, is_sorted: bool = True) -> Any:
    values, indices = t.node.meta["val"]
    used = t.used()
    if not largest:
        return None
    if 1 not in used:
        return t.emit("topk", x, like=values, item=0, count=count, axis=dim), None
    places = t.emit("topk_indices", x, like=indices, item=1, count=count, axis=dim)
    return t.emit("gather", x, places, like=values, item=0, axis=dim) if 0 in used else None, places


@_lowers("sort", "argsort")
def _sort(t: _Tracer, x: Tensor, *given: Any, dim: int = -1, descending: bool = False, stable: Any = None) -> Any:
    given = given[1:] if "stable" in str(t.node.target) and given and not isinstance(given[0], int) else given
    dim, descending = (*given, dim, descending)[:2] if len(given) != 1 else (given[0], descending)
    named = {"axis": dim, "descending": descending or None}
    if isinstance(t.node.meta["val"], torch.Tensor):
        return t.emit("argsort", x, **named)
    values, indices = t.node.meta["val"]
    used = t.used()
    places = t.emit("argsort", x, like=indices, item=1, **named) if 1 in used else None
    if places is not None and 0 in used:
        return t.emit("gather", x, places, like=values, item=0, axis=dim), places
    return t.emit("sort", x, like=values, item=0, **named) if 0 in used else None, places
