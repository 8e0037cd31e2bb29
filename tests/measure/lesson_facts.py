"""What lessons say of rounding, number formats, tiles and attention, measured: the table of docs/measurement.md, *Facts in lessons*.

    python tests/measure/lesson_facts.py
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel
from triton.testing import do_bench

GPU = {"device": "cuda"}


def say(what, **figures):
    print(f"{what}: " + ", ".join(f"{name} {figure:.4g}" for name, figure in figures.items()), flush=True)


def time_us(function):
    return do_bench(function) * 1e3


# --- Rounding: each tensor that goes through memory is rounded once more ---


def layer(x, w, b, r):
    return F.gelu(x @ w + b) * 0.7 + r


def chain(x):
    for _ in range(8):
        x = x * 1.01 + 0.003
    return x


def rounding(dtype):
    def error(result, exact):
        return ((result.double() - exact).abs().mean() / exact.abs().mean()).item()

    x, r = (torch.randn(4096, 4096, dtype=dtype, **GPU) for _ in range(2))
    w, b = torch.randn(4096, 4096, dtype=dtype, **GPU) / 64, torch.randn(4096, dtype=dtype, **GPU)
    for name, function, inputs in (("layer", layer, (x, w, b, r)), ("chain of 16 ops", chain, (x,))):
        exact = function(*(tensor.double() for tensor in inputs))
        say(
            f"{name} in {dtype}, mean error over mean value",
            unfused=error(function(*inputs), exact),
            compiled=error(torch.compile(function)(*inputs), exact),
            rounded_once=error(exact.to(dtype), exact),
        )


def accumulators(terms):
    """Sums of positive products, added one by one in 16 bits, and by the library, which adds in f32."""
    for dtype in (torch.float16, torch.bfloat16):
        a, b = torch.rand(256, terms, dtype=dtype, **GPU), torch.rand(terms, 256, dtype=dtype, **GPU) / 8
        exact = a.double() @ b.double()
        total = torch.zeros(256, 256, dtype=dtype, **GPU)
        for k in range(terms):
            total += a[:, k : k + 1] * b[k : k + 1, :]
        off = [((sums.double() - exact).abs() / exact).mean().item() for sums in (total, a @ b)]
        say(f"{terms} terms in {dtype}, mean relative error", one_by_one=off[0], library=off[1])


def scales():
    x, w = torch.randn(4096, 4096, **GPU) * 0.02, torch.randn(4096, 4096, **GPU) * 0.01
    exact = x.double() @ w.double()
    for name in ("no scale", "scales of amax"):
        scale = [448 / t.abs().max() if name != "no scale" else torch.ones((), **GPU) for t in (x, w)]
        of_x, of_w = ((t * s).to(torch.float8_e4m3fn) for t, s in zip((x, w), scale))
        y = torch._scaled_mm(
            of_x, of_w.t().contiguous().t(), scale_a=1 / scale[0], scale_b=1 / scale[1], out_dtype=torch.bfloat16
        )
        say(
            f"f8 with {name}",
            error=((y.double() - exact).norm() / exact.norm()).item(),
            zeros_of_w=(of_w.float() == 0).float().mean().item(),
        )


def formats():
    a = torch.randn(8192, 8192, **GPU)
    half, brain, f8 = a.half(), a.bfloat16(), a.to(torch.float8_e4m3fn)
    across, one = f8.t().contiguous().t(), torch.ones((), **GPU)
    times = {"f32": time_us(lambda: a @ a), "f16": time_us(lambda: half @ half), "bf16": time_us(lambda: brain @ brain)}
    times["f8"] = time_us(lambda: torch._scaled_mm(f8, across, scale_a=one, scale_b=one, out_dtype=torch.bfloat16))
    torch.set_float32_matmul_precision("high")
    times["TF32"] = time_us(lambda: a @ a)
    torch.set_float32_matmul_precision("highest")
    say("8192 x 8192 x 8192 in us", **times)


# --- Tiles: registers, spills and times ---


@triton.jit
def matmul(a, b, c, n, k, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr):
    across = tl.cdiv(n, columns)
    row = tl.program_id(0) // across * rows + tl.arange(0, rows)
    column = tl.program_id(0) % across * columns + tl.arange(0, columns)
    inner = tl.arange(0, depth)
    a += row[:, None] * k + inner[None, :]
    b += inner[:, None] * n + column[None, :]
    sums = tl.zeros((rows, columns), tl.float32)
    for _ in range(0, k, depth):
        sums = tl.dot(tl.load(a), tl.load(b), sums)
        a += depth
        b += depth * n
    tl.store(c + row[:, None] * n + column[None, :], sums.to(tl.float16))


@triton.jit
def softmax(x, y, length: tl.constexpr):
    place = tl.program_id(0) * length + tl.arange(0, length)
    row = tl.load(x + place).to(tl.float32)
    powers = tl.exp(row - tl.max(row, 0))
    tl.store(y + place, (powers / tl.sum(powers, 0)).to(tl.float16))


def tiles(n=4096):
    a, b, c = (torch.randn(n, n, dtype=torch.float16, **GPU) for _ in range(3))
    for rows, columns, warps, stages in (
        (64, 64, 4, 3), (128, 128, 4, 3), (128, 128, 8, 3), (128, 256, 4, 3), (128, 256, 8, 3), (256, 256, 8, 2),
    ):  # fmt: skip
        def launch():
            grid = (n // rows * (n // columns),)
            return matmul[grid](a, b, c, n, n, rows, columns, 64, num_warps=warps, num_stages=stages)

        kernel = launch()
        say(
            f"{rows} x {columns} tile, {warps} warps",
            registers=kernel.n_regs, spills=kernel.n_spills, shared_bytes=kernel.metadata.shared, us=time_us(launch),
        )  # fmt: skip
    for length in (4096, 16384, 32768, 65536):
        x = torch.randn((1 << 27) // length, length, dtype=torch.float16, **GPU)
        y = torch.empty_like(x)

        def launch():
            return softmax[(len(x),)](x, y, length, num_warps=4)

        kernel = launch()
        say(f"softmax of {length}, 4 warps", registers=kernel.n_regs, spills=kernel.n_spills, us=time_us(launch))


# --- Attention: what forward and backward cost ---


def attention(length, is_causal):
    q, k, v = (torch.randn(2, 16, length, 128, dtype=torch.bfloat16, requires_grad=True, **GPU) for _ in range(3))

    def forward():
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.MATH):
        with sdpa_kernel(backend):
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            y = forward()
            peak = torch.cuda.max_memory_allocated() - before
            gradient = torch.randn_like(y)
            say(
                f"{backend.name}, {length} tokens, causal {is_causal}",
                forward_us=time_us(forward),
                backward_us=time_us(lambda: torch.autograd.grad(y, (q, k, v), gradient, retain_graph=True)),
                peak_MB=peak / 1e6,
            )


print(torch.__version__, torch.cuda.get_device_name(0))
torch.manual_seed(0)
for dtype in (torch.bfloat16, torch.float16):
    rounding(dtype)
accumulators(4096)
scales()
formats()
tiles()
for length in (2048, 8192):
    for is_causal in (False, True):
        attention(length, is_causal)
