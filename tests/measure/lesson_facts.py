"""What lessons say of rounding, number formats, tiles and attention, measured: the table of docs/measurement.md, *Facts in lessons*.

    TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 python tests/measure/lesson_facts.py
"""

import time

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.profiler import ProfilerActivity, profile
from triton.testing import do_bench

from timing import call_us

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
    say("matmul of the library", us=time_us(lambda: a @ b))
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


# --- Programs: what a call takes, what compiling takes, and which result is nearer to f64 ---


def linear_relu(x, w, b):
    return torch.relu(x @ w + b)


def linear_norm(x, w, b, r):
    return F.layer_norm(F.gelu(x @ w + b) + r, (w.shape[1],))


def three_gelus(x):
    return F.gelu(F.gelu(F.gelu(x)))


def two_means(c):
    return c.mean(1), c.mean(0)


def kernels_us(function, *inputs, calls=20):
    """Microseconds that the kernels of one call take."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        for _ in range(calls):
            function(*inputs)
        torch.cuda.synchronize()
    return sum(event.self_device_time_total for event in profiled.key_averages()) / calls


def inputs_of_linear_norm(rows):
    bf16 = {"dtype": torch.bfloat16, **GPU}
    x, w = torch.randn(rows, 1024, **bf16), torch.randn(1024, 4096, **bf16) / 32
    return x, w, torch.randn(4096, **bf16), torch.randn(rows, 4096, **bf16)


def programs():
    inputs = inputs_of_linear_norm(4096)
    linear_norm(*inputs)
    torch.compiler.reset()
    started = time.perf_counter()
    compiled = torch.compile(linear_norm)
    result = compiled(*inputs)
    torch.cuda.synchronize()
    took_s = time.perf_counter() - started
    eager, exact = linear_norm(*inputs), linear_norm(*(tensor.double() for tensor in inputs))
    say(
        "linear layer, GELU, residual, layer norm",
        first_call_s=took_s,
        eager_us=kernels_us(linear_norm, *inputs),
        compiled_us=kernels_us(compiled, *inputs),
        equal_elements=(eager == result).float().mean().item(),
        eager_error=(eager.double() - exact).abs().mean().item(),
        compiled_error=(result.double() - exact).abs().mean().item(),
    )
    for rows in (4096, 128):
        inputs = inputs_of_linear_norm(rows)
        say(f"the same with {rows} rows", kernels_us=kernels_us(linear_norm, *inputs), wall_us=call_us(linear_norm, *inputs))

    x = torch.randn(8192, 8192, dtype=torch.bfloat16, **GPU)
    fused = torch.compile(lambda x: two_means(three_gelus(x)))
    first, second = torch.compile(three_gelus), torch.compile(two_means)
    say(
        "three GELUs, means of rows and of columns, in us",
        eager=call_us(lambda: two_means(three_gelus(x))),
        compiled=call_us(fused, x),
        last_gelu_written=call_us(lambda: second(first(x))),
    )

    x, w = (torch.randn(4096, 4096, dtype=torch.bfloat16, **GPU) for _ in range(2))
    b = torch.randn(4096, dtype=torch.bfloat16, **GPU)
    generated = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON"}
    one, two = torch.compile(linear_relu, options=generated), torch.compile(linear_relu)
    for _ in range(3):
        times = {"eager": linear_relu, "library_and_a_kernel": two, "one_generated_kernel": one}
        say("linear layer with ReLU in us", **{name: call_us(of, x, w, b) for name, of in times.items()})


COPY = r"""
template <int LOADS> __device__ void copy(const float *x, float *y, long n) {
  long at = (long)blockIdx.x * blockDim.x * LOADS + threadIdx.x;
  float values[LOADS];
#pragma unroll
  for (int i = 0; i < LOADS; i++) values[i] = x[at + (long)i * blockDim.x];
#pragma unroll
  for (int i = 0; i < LOADS; i++) y[at + (long)i * blockDim.x] = values[i];
}
extern "C" __global__ void copy1(const float *x, float *y, long n) { copy<1>(x, y, n); }
extern "C" __global__ void copy4(const float *x, float *y, long n) { copy<4>(x, y, n); }
"""


def single_kernels():
    """The four kernels of the lesson *What limits a kernel*."""
    few, x, w = (torch.randn(rows, 8192, dtype=torch.float16, **GPU) for rows in (32, 8192, 8192))
    say(
        "f16 kernels, in us",
        square=kernels_us(torch.matmul, x, w),
        thin=kernels_us(torch.matmul, few, w),
        add=kernels_us(torch.add, x, w),
        softmax=kernels_us(lambda t: torch.softmax(t, -1), few),
    )


def occupancy(elements=1 << 28):
    """A copy by blocks of 256 threads, of which shared memory that nobody uses keeps some out: 8, 4 and 2 of them have room."""
    x, y = torch.randn(elements, **GPU), torch.empty(elements, **GPU)
    for loads in (1, 4):
        kernel = torch.cuda._compile_kernel(COPY, f"copy{loads}")
        times = {}
        for blocks in (8, 4, 2):
            shared_bytes = 220 * 1024 // blocks // 1024 * 1024
            kernel.set_shared_memory_config(shared_bytes)

            def launch():
                kernel((elements // 256 // loads, 1, 1), (256, 1, 1), (x, y, elements), shared_mem=shared_bytes)

            times[f"occupancy_{blocks * 256 * 100 // 2048}"] = time_us(launch)
        say(f"copy of {x.nbytes / 1e9:.2f} GB, {loads} loads a thread, in us", **times)


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


def masks(length=8192):
    """Causal attention by SDPA, which chooses its backend, and by FlexAttention."""
    q, k, v = (torch.randn(4, 16, length, 64, dtype=torch.bfloat16, **GPU) for _ in range(3))
    mask = torch.ones(length, length, dtype=torch.bool, **GPU).tril()
    causal = create_block_mask(lambda b, h, i, j: i >= j, None, None, length, length)
    flex = torch.compile(flex_attention)
    say(
        f"causal attention of 4 x 16 heads of 64, {length} tokens, in us",
        sdpa=time_us(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
        sdpa_mask_tensor=time_us(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask)),
        flex=time_us(lambda: flex(q, k, v, block_mask=causal)),
        flex_own_score=time_us(lambda: flex(q, k, v, score_mod=distance, block_mask=causal)),
    )


def distance(score, b, h, i, j):
    return score + (j - i) * torch.exp2(-0.5 * (h + 1))


print(torch.__version__, torch.cuda.get_device_name(0))
torch.manual_seed(0)
programs()  # first: compiling in a process that has compiled nothing
for dtype in (torch.bfloat16, torch.float16):
    rounding(dtype)
accumulators(4096)
scales()
formats()
tiles()
single_kernels()
occupancy()
for length in (2048, 8192):
    for is_causal in (False, True):
        attention(length, is_causal)
masks()
