"""Random op lists, for comparing the compiler's policy with the compiler itself (scheduler.py).

    python tests/measure/random_programs.py FOLDER SEED COUNT

Writes FOLDER/rSEED_N.fuse. The same seed gives the same lists.
"""

import math
import pathlib
import random
import sys

SMALL = [2, 3, 5, 7, 8, 12, 16, 24]
MEDIUM = [32, 48, 64, 96, 100, 128, 200, 255, 256, 384, 512, 768, 1000]
LARGE = [1024, 1536, 2048, 3000, 4096, 5120, 8192, 16384, 32768]
MOST_ELEMENTS = 1 << 26
UNARY = ["relu", "exp", "tanh", "sigmoid", "gelu", "silu", "abs", "neg", "square", "softplus", "sin", "log1p"]
BINARY = ["add", "sub", "mul", "div", "maximum", "add", "mul"]


class Writer:
    """The lines of one list, and the tensors that later lines may read."""

    def __init__(self, rng):
        self.rng, self.lines, self.head, self.tensors, self.count = rng, [], [], [], 0
        self.read = set()

    def declare(self, shape, dtype, role="input"):
        name = f"{role[0]}{len(self.head)}"
        self.head.append(f"{role} {name} : {dtype}[{', '.join(map(str, shape))}]")
        tensor = (name, tuple(shape), dtype)
        if role == "input":
            self.tensors.append(tensor)
        return tensor

    def op(self, function, inputs, shape, dtype, attributes=""):
        name = f"t{self.count}"
        self.count += 1
        arguments = [one if isinstance(one, str) else one[0] for one in inputs]
        self.read.update(arguments)
        self.lines.append(f"{name} = {function}({', '.join(arguments)}{', ' + attributes if attributes else ''})")
        tensor = (name, tuple(shape), dtype)
        self.tensors.append(tensor)
        return tensor

    def pick(self, fits=lambda tensor: True):
        """Mostly a recent tensor."""
        all_fit = [tensor for tensor in self.tensors if fits(tensor) and math.prod(tensor[1]) > 1]
        if not all_fit:
            return None
        return self.rng.choice(all_fit[-3:] if self.rng.random() < 0.6 else all_fit)


def shape_of(rng):
    for _ in range(100):
        kinds = rng.choice([(LARGE, MEDIUM), (MEDIUM, LARGE), (LARGE, SMALL), (MEDIUM, MEDIUM), (SMALL, MEDIUM, MEDIUM), (SMALL, LARGE, MEDIUM), (SMALL, MEDIUM, SMALL, MEDIUM), (LARGE, LARGE), (MEDIUM, SMALL, MEDIUM)])
        shape = [rng.choice(sizes) for sizes in kinds]
        if 256 <= math.prod(shape) <= MOST_ELEMENTS:
            return shape
    return [1024, 256]


def broadcasts(a, b):
    return len(a) == len(b) and all(x == y or y == 1 for x, y in zip(a, b))


def unary(w):
    x = w.pick()
    w.op(w.rng.choice(UNARY), [x], x[1], x[2])


def binary(w):
    x = w.pick()
    y = w.pick(lambda t: t[2] == x[2] and broadcasts(x[1], t[1]) and t is not x)
    if y is None:
        if w.rng.random() < 0.5:
            w.op(w.rng.choice(["add", "mul", "sub"]), [x, w.rng.choice(["2", "0.5", "1"])], x[1], x[2])
            return
        shape = w.rng.choice([x[1], x[1][-1:], (1,) * (len(x[1]) - 1) + x[1][-1:], x[1][:-1] + (1,)])
        y = w.declare(shape, x[2], w.rng.choice(["input", "weight"]))
        if len(shape) < len(x[1]) and y in w.tensors:
            w.tensors.remove(y)
    w.op(w.rng.choice(BINARY), [x, y], x[1], x[2])


def centred(w):
    """A tensor with one of its reductions, as norms written out have it."""
    x = w.pick()
    axis = w.rng.randrange(len(x[1]))
    shape = tuple(1 if i == axis else n for i, n in enumerate(x[1]))
    row = w.op(w.rng.choice(["mean", "max", "sum"]), [x], shape, x[2], f"axis={axis}")
    w.op(w.rng.choice(["sub", "div", "mul"]), [x, row], x[1], x[2])


def reduce(w):
    x = w.pick()
    rank = len(x[1])
    axes = w.rng.choice([[rank - 1], [rank - 1], [0], list(range(rank)), sorted(w.rng.sample(range(rank), w.rng.randint(1, rank)))])
    shape = tuple(1 if i in axes else n for i, n in enumerate(x[1]))
    function = w.rng.choice(["sum", "mean", "max", "sum", "min"])
    w.op(function, [x], shape, x[2], f"axis={axes[0]}" if len(axes) == 1 else f"axis={axes}")


def norm(w):
    x = w.pick(lambda t: len(t[1]) >= 2 and t[1][-1] > 1)
    if x is None:
        return
    function = w.rng.choice(["softmax", "layer_norm", "rms_norm", "log_softmax", "layer_norm"])
    inputs, attributes = [x], ""
    if function in ("softmax", "log_softmax"):
        attributes = f"axis={w.rng.choice([len(x[1]) - 1] * 4 + [0])}"
    elif w.rng.random() < 0.5:
        inputs.append(w.declare(x[1][-1:], x[2], "weight"))
        if function == "layer_norm":
            inputs.append(w.declare(x[1][-1:], x[2], "weight"))
    w.op(function, inputs, x[1], x[2], attributes)


def transpose(w):
    x = w.pick(lambda t: len(t[1]) >= 2)
    if x is None:
        return
    perm = list(range(len(x[1])))
    while perm == sorted(perm):
        w.rng.shuffle(perm)
    w.op("transpose", [x], [x[1][i] for i in perm], x[2], f"perm={perm}")


def reshape(w):
    x = w.pick()
    shape = list(x[1])
    at = w.rng.randrange(len(shape))
    factors = [n for n in (2, 4, 8, 16) if shape[at] % n == 0 and shape[at] > n]
    if factors and w.rng.random() < 0.6:
        n = w.rng.choice(factors)
        shape[at : at + 1] = w.rng.choice([[n, shape[at] // n], [shape[at] // n, n]])
    elif len(shape) > 1:
        at = w.rng.randrange(len(shape) - 1)
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
    else:
        return
    w.op("reshape", [x], shape, x[2], f"shape={shape}")


def concat(w):
    x = w.pick(lambda t: len(t[1]) >= 2)
    if x is None:
        return
    axis = w.rng.randrange(len(x[1]))
    fits = lambda t: t[2] == x[2] and len(t[1]) == len(x[1]) and all(a == b or i == axis for i, (a, b) in enumerate(zip(t[1], x[1]))) and t is not x
    y = w.pick(fits) or w.declare(x[1], x[2])
    parts = [x, y] if w.rng.random() < 0.7 else [y, x]
    shape = [n + (y[1][i] if i == axis else 0) for i, n in enumerate(x[1])]
    if math.prod(shape) <= MOST_ELEMENTS * 2:
        w.op("concat", parts, shape, x[2], f"axis={axis}")


def slice_(w):
    x = w.pick()
    axis = w.rng.randrange(len(x[1]))
    n = x[1][axis]
    if n < 4:
        return
    start, end = w.rng.choice([(0, n // 2), (n // 2, n), (1, n), (0, n - 1)])
    shape = [end - start if i == axis else m for i, m in enumerate(x[1])]
    w.op("slice", [x], shape, x[2], f"axis={axis}, start={start}, end={end}")


def halves(w):
    """Two halves and their product, as gated activations have it."""
    x = w.pick(lambda t: t[1][-1] % 2 == 0 and t[1][-1] > 2)
    if x is None:
        return
    axis, n = len(x[1]) - 1, x[1][-1]
    shape = x[1][:-1] + (n // 2,)
    a = w.op("slice", [x], shape, x[2], f"axis={axis}, start=0, end={n // 2}")
    b = w.op("slice", [x], shape, x[2], f"axis={axis}, start={n // 2}, end={n}")
    w.op("mul", [w.op(w.rng.choice(["silu", "sigmoid", "gelu"]), [a], shape, x[2]), b], shape, x[2])


def scan(w):
    x = w.pick(lambda t: len(t[1]) >= 2)
    if x is not None:
        w.op("cumsum", [x], x[1], x[2], f"axis={w.rng.choice([len(x[1]) - 1] * 3 + [0])}")


def gather(w):
    x = w.pick(lambda t: len(t[1]) == 2)
    if x is None:
        return
    if w.rng.random() < 0.5:
        rows = w.rng.choice(MEDIUM + LARGE[:3])
        index = w.declare((rows,), "i64")
        w.tensors.remove(index)
        w.op("embedding", [index, x], (rows, x[1][1]), x[2])
    else:
        index = w.declare((x[1][0], 1), "i64")
        w.tensors.remove(index)
        w.op("gather", [x, index], (x[1][0], 1), x[2], "axis=1")


def pad(w):
    x = w.pick()
    before, after = w.rng.choice([(1, 0), (0, 1), (1, 1), (0, 8)])
    shape = list(x[1])
    shape[-1] += before + after
    w.op("pad", [x], shape, x[2], f"pad=[{before}, {after}]")


def matmul(w):
    x = w.pick(lambda t: len(t[1]) == 2 and min(t[1]) >= 8 and t[1][1] <= 8192 and all(n % 8 == 0 for n in t[1]))
    if x is None:
        return
    columns = w.rng.choice([64, 128, 256, 512, 1024])
    weight = w.declare((x[1][1], columns), x[2], "weight")
    y = w.op("matmul", [x, weight], (x[1][0], columns), x[2])
    if w.rng.random() < 0.6:
        bias = w.declare((columns,), x[2], "weight")
        y = w.op("add", [y, bias], y[1], x[2])
    if w.rng.random() < 0.5:
        w.op(w.rng.choice(UNARY), [y], y[1], x[2])


def batch_norm(w):
    x = w.pick(lambda t: len(t[1]) == 4)
    if x is None:
        x = w.declare((w.rng.choice([4, 8, 16, 32]), w.rng.choice([16, 32, 64, 96, 128]), *[w.rng.choice([7, 14, 28, 32, 56])] * 2), w.rng.choice(["f32", "bf16"]))
    weights = [w.declare((x[1][1],), x[2], "weight") for _ in range(2)] if w.rng.random() < 0.5 else []
    w.op("batch_norm", [x, *weights], x[1], x[2], "training=true")


def cast(w):
    x = w.pick()
    dtype = {"f32": w.rng.choice(["bf16", "f16"])}.get(x[2], "f32")
    w.op("cast", [x], x[1], dtype, f"dtype={dtype}")


def choose(w):
    x = w.pick()
    condition = w.op(w.rng.choice(["gt", "le"]), [x, "0"], x[1], "bool")
    w.tensors.remove(condition)
    y = w.pick(lambda t: t[2] == x[2] and broadcasts(x[1], t[1]) and t is not x)
    w.op("where", [condition, x, y or "0"], x[1], x[2])


STEPS = [(unary, 16), (binary, 16), (centred, 6), (reduce, 14), (norm, 8), (transpose, 8), (reshape, 6), (concat, 5), (slice_, 4), (halves, 2), (scan, 3), (gather, 3), (pad, 2), (matmul, 4), (batch_norm, 2), (cast, 4), (choose, 2)]


def program(rng):
    w = Writer(rng)
    dtype = rng.choice(["f32", "f32", "bf16", "f16"])
    shape = shape_of(rng)
    for _ in range(rng.randint(1, 2)):
        w.declare(shape, dtype)
    steps, weights = zip(*STEPS)
    for _ in range(rng.randint(2, 7)):
        rng.choices(steps, weights)[0](w)
    lines = [line for line in w.head if line.split()[1] in w.read] + w.lines
    inner = [t[0] for t in w.tensors if t[0] in w.read and t[0].startswith("t")]
    if inner and rng.random() < 0.25:
        lines.append(f"output {rng.choice(inner)}")
    return "\n".join(lines) + "\n", w.count


def main(folder, seed, count):
    rng = random.Random(int(seed))
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for number in range(int(count)):
        ops = 0
        while ops < 2:
            text, ops = program(rng)
        (pathlib.Path(folder) / f"r{seed}_{number}.fuse").write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
