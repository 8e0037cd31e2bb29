"""Writes the exported programs beside it, each a few kB: as `torch.export.save` writes them, as `fuseline.export` does,
and, in `printed`, as `print` writes the program.

    PYTHONPATH=public/python python tests/model/files/make_pt2.py

Needs torch and transformers. The weights are cut out but in the first, as nothing but their shapes is read; paths of the machine
are cut off.
"""

import re
import tempfile
import zipfile
from pathlib import Path

import torch
import transformers
from torch import nn
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim
from torch.nn.attention.flex_attention import flex_attention
from torch.nn import functional

import fuseline

FOLDER = Path(__file__).parent


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.up = nn.Linear(16, 64)
        self.down = nn.Linear(64, 16)

    def forward(self, x):
        return x + self.down(functional.gelu(self.up(self.norm(x))))


class Attention(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        split = lambda t: t.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        q, k, v = map(split, self.qkv(x).chunk(3, dim=-1))
        values = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, :, :length])
        return self.out(values.transpose(1, 2).reshape(batch, length, width))


class Conv(nn.Module):
    """Layers that write in place, into a view too."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = self.pool(functional.relu_(self.norm(self.conv(x))))
        x += 1
        x[:, 0].zero_()
        x = functional.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.head(x).softmax(-1)


class Unknown(nn.Module):
    """Operators that the notation has not, and sizes that it cannot tell."""

    def forward(self, x, y):
        z = torch.einsum("bij,bkj->bik", x, y)
        z = torch.linalg.inv(z)
        return z, functional.pad(x, (0, x.shape[0] % 3)), x.reshape(2 * x.shape[0], -1)


class Autocast(nn.Module):
    """Casts that the graph does not show."""

    def __init__(self):
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(64, 128), nn.LayerNorm(128), nn.Linear(128, 64)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.down(functional.gelu(self.norm(self.up(x))))


class Recurrent(nn.Module):
    """A layer of which both results are read."""

    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.GRU(40, 64, batch_first=True), nn.Linear(64, 8)

    def forward(self, x):
        steps, last = self.layer(x)
        return self.head(last[-1]), steps.mean(1)


class Losses(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = nn.Embedding(128, 32)

    def forward(self, z, t, y):
        i = torch.cdist(z, self.codes.weight).argmin(1)
        near = functional.smooth_l1_loss(z, self.codes(i))
        return functional.one_hot(i, 128).float().mean(0), functional.cross_entropy(t, y), near, torch.logsumexp(t, -1)


class ClassLosses(nn.Module):
    def forward(self, t, y, w, p):
        smooth = functional.cross_entropy(t, y, label_smoothing=0.1)
        weighted = functional.cross_entropy(t, y, weight=w)
        odds = functional.binary_cross_entropy_with_logits(t, p, pos_weight=w)
        return smooth, weighted, odds, -functional.logsigmoid(t).mean()


class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(1_000_000, 64, mode="sum")

    def forward(self, indices, offsets):
        return self.table(indices, offsets)


class SmallProducts(nn.Module):
    """Products of integers and floats of one byte."""

    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.randint(-128, 127, (64, 128), dtype=torch.int8))
        self.register_buffer("v", torch.randn(64, 128).to(torch.float8_e4m3fn))
        self.register_buffer("s", torch.tensor(0.1))

    def forward(self, x):
        a = torch._int_mm((x * 10).round().clamp(-128, 127).to(torch.int8), self.w.t())
        b = torch._scaled_mm(x.to(torch.float8_e4m3fn), self.v.t(), self.s, self.s, out_dtype=torch.bfloat16)
        return a, b


class Masks(nn.Module):
    """A size that only the data tell."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x):
        return self.layer(x[x[:, 0] > 0]).sum(0)


class Complex(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(64, 64)

    def forward(self, x, f):
        q = torch.view_as_complex(self.q(x).reshape(2, 16, 4, 8, 2))
        return torch.view_as_real((q * f[:, None])[..., 2:].transpose(1, -2)), q.abs(), torch.polar(x, x).real


class Int4(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.randint(0, 255, (64, 64), dtype=torch.uint8))
        self.register_buffer("s", torch.rand(64, 4))

    def forward(self, x):
        parts = [(self.w & 0xF).float() - 8, (self.w >> 4).float() - 8]
        w = torch.stack(parts, -1).reshape(64, 4, 32) * self.s[..., None]
        return functional.linear(x, w.reshape(64, 128))


class Volumes(nn.Module):
    """Convolutions and pools that the notation has no function for."""

    def __init__(self):
        super().__init__()
        self.down, self.norm = nn.Conv3d(1, 8, 3, padding=1), nn.InstanceNorm3d(8, affine=True)
        self.up, self.wide = nn.ConvTranspose3d(8, 4, 2, 2), nn.ConvTranspose2d(4, 6, 3, 2, 1)

    def forward(self, x, image):
        x = self.up(functional.max_pool3d(functional.relu(self.norm(self.down(x))), 2))
        pooled = functional.max_pool2d(image, 3, 2, ceil_mode=True)
        wide = functional.avg_pool2d(image, 3, 2, 1, count_include_pad=False)
        return x, self.wide(image), pooled, wide, functional.adaptive_avg_pool3d(x, 1)


class Writes(nn.Module):
    """Writes into buffers and views."""

    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.zeros(2, 4, 64, 16))
        self.register_buffer("v", torch.zeros(2, 4, 64, 16))

    def forward(self, x, places, mask):
        self.k.index_copy_(2, places, x)
        self.v[:, :, places] = x
        y = x.clone()
        y[:, 1:3].mul_(3)
        y[mask] = 0
        y[:0] = 2
        table = torch.zeros(8, 16)
        table[places, places] = x[0, 0, :, 0]
        return functional.scaled_dot_product_attention(x, self.k, self.v), y, table, x[:, :, places, None]


CACHES = {
    "pool": (8, 16, 4, 16),
    "pair": (8, 16, 4, 16),
    "heads": (8, 4, 16, 16),
    "both": (2, 8, 16, 4, 16),
    "layers": (3, 2, 4, 64, 16),
    "stacked": (3, 4, 64, 16),
    "first": (2, 2, 4, 1, 16),
    "at": (2, 4, 64, 16),
    "range": (2, 4, 64, 16),
    "nested": (4, 4, 64, 16),
    "turned": (2, 64, 4, 16),
}


def write_caches(caches, k, rows, slot, block, offset, at):
    """Writes into each cache once, but into `both` twice; then reads all of each."""
    pool, pair, heads, both, layers, stacked, first, whole, span, nested, turned = caches
    pool.view(-1, 4, 16)[slot] = rows
    pair[block, offset] = rows
    heads[block, :, offset] = rows
    one, other = both.unbind()
    one.view(-1, 4, 16)[slot] = rows
    other.view(-1, 4, 16)[slot] = rows
    layers[2].index_copy_(2, at, k)
    stacked[1, :, at] = k[0]
    first[0, ...] = k
    whole[:, :, at] = k
    span[:, :, 3:4] = k
    nested[:2, :, 5:6] = k
    turned.transpose(1, 2)[:, :, at] = k
    return [cache.sum() for cache in caches]


class Caches(nn.Module):
    def __init__(self):
        super().__init__()
        for name, shape in CACHES.items():
            self.register_buffer(name, torch.zeros(shape))

    def forward(self, *step):
        return write_caches([getattr(self, name) for name in CACHES], *step)


class GivenCaches(nn.Module):
    def forward(self, caches, *step):
        return write_caches(caches, *step)


class Decode(nn.Module):
    """A step of a small Llama with a cache of transformers, which is no buffer of the module."""

    def __init__(self):
        super().__init__()
        config = transformers.LlamaConfig(
            vocab_size=100,
            num_hidden_layers=2,
            hidden_size=64,
            intermediate_size=128,
            num_attention_heads=4,
            num_key_value_heads=2,
        )
        self.model = transformers.LlamaForCausalLM(config)
        self.cache = transformers.StaticCache(config=config, max_cache_len=64)
        self.cache.early_initialization(1, 2, 16, torch.float32, "cpu")

    def forward(self, ids, position_ids):
        return self.model(ids, past_key_values=self.cache, position_ids=position_ids).logits


class Experts(nn.Module):
    """Experts of transformers, of which each token chooses two: a grouped product of all chosen rows."""

    def __init__(self):
        super().__init__()
        config = transformers.MixtralConfig(hidden_size=64, intermediate_size=96, num_local_experts=16)
        config._experts_implementation = "grouped_mm"
        self.block = transformers.models.mixtral.modeling_mixtral.MixtralSparseMoeBlock(config).to(torch.bfloat16)

    def forward(self, x):
        return self.block(x)


class Loops(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda x: self.a(x).relu(), lambda x: self.b(x), (x,))
        last, all_ = scan(lambda carried, row: (torch.tanh(carried + row), (carried * row).clone()), torch.zeros(16), y)
        return last, all_, while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, self.b(x)), (torch.tensor(0), y))[1]


class Flex(nn.Module):
    def forward(self, q, k, v):
        return flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score + (i - j) * 0.1)


class Step(nn.Module):
    """A step of training, which `torch.export` does not trace."""

    def forward(self, a, b, x, y):
        loss = lambda p: functional.cross_entropy(functional.relu(x @ p[0].t()) @ p[1].t(), y)
        ga, gb = torch.func.grad(loss)((a, b))
        return a - 0.1 * ga, b - 0.1 * gb


class Borders(nn.Module):
    def forward(self, x):
        return [functional.pad(x, (2, 1), mode=mode) for mode in ("reflect", "replicate", "circular")] + [x[:, 1:-1]]


def write(name, module, inputs, dynamic_shapes=None, decomposes=False, weights=False):
    module = module.eval()
    exported = torch.export.export(module, inputs, dynamic_shapes=dynamic_shapes, strict=False)
    fuseline.export(module, *inputs, dynamic_shapes=dynamic_shapes, path=FOLDER / f"{name}.fuseline.pt2")
    if decomposes:
        exported = exported.run_decompositions()
    # As `print(exported)` writes it.
    printed = re.sub(r"# File: \S*?/(site-packages/\S*|[^/\s]*:\d)", r"# File: \1", str(exported))
    (FOLDER / "printed" / f"{name}.txt").write_text(printed, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "model.pt2")
        torch.export.save(exported, saved)
        method = zipfile.ZIP_STORED if weights else zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(saved) as old, zipfile.ZipFile(FOLDER / f"{name}.pt2", "w", method) as new:
            for entry in old.infolist():
                content = old.read(entry)
                if entry.filename.endswith("models/model.json"):
                    content = re.sub(rb'File \\"[^"]*?/(site-packages/[^"]*|[^/"]*)\\"', rb'File \\"\1\\"', content)
                elif not weights and "/data/" in entry.filename or "sample_inputs" in entry.filename:
                    continue
                # One date, so that equal models give equal files.
                new.writestr(zipfile.ZipInfo(entry.filename), content, method)


def save(name, module, *inputs):
    fuseline.export(module.eval(), *inputs, path=FOLDER / f"{name}.fuseline.pt2")


save("masks", Masks(), torch.randn(50, 16))
save("complex", Complex(), torch.randn(2, 16, 64), torch.polar(torch.ones(16, 8), torch.randn(16, 8)))
save("int4", Int4(), torch.randn(1, 128))
save("volumes", Volumes(), torch.randn(1, 1, 16, 16, 16), torch.randn(2, 4, 17, 17))
save("writes", Writes(), torch.randn(2, 4, 8, 16), torch.arange(8), torch.rand(2, 4, 8, 16) > 0.5)
ROWS = torch.arange(3)
STEP = (torch.randn(2, 4, 1, 16), torch.randn(3, 4, 16), *(ROWS.clone() for _ in range(3)), torch.arange(1))
write("caches", Caches(), STEP)
save("given_caches", GivenCaches(), [torch.zeros(shape) for shape in CACHES.values()], *STEP)
save("decode", Decode(), torch.tensor([[1]]), torch.tensor([[5]]))
save("experts", Experts(), torch.randn(2, 1, 64, dtype=torch.bfloat16))
save("loops", Loops(), torch.randn(8, 16))
save("flex", Flex(), *torch.randn(3, 1, 2, 128, 16))
save("step", Step(), torch.randn(64, 32), torch.randn(10, 64), torch.randn(16, 32), torch.randint(0, 10, (16,)))
save("borders", Borders(), torch.randn(1, 4, 8))
layers = nn.Sequential(*(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True) for _ in range(6)))
torch.backends.mha.set_fastpath_enabled(False)
save("layers", layers, torch.randn(2, 16, 64))
BATCH, LENGTH = Dim("batch", min=1, max=64), Dim("length", min=2, max=512)
write("mlp", Mlp(), (torch.randn(4, 8, 16),), weights=True)
write(
    "attention",
    Attention(),
    (torch.randn(4, 8, 64), torch.randn(4, 8, 8)),
    {"x": {0: BATCH, 1: LENGTH}, "mask": {0: BATCH, 1: LENGTH, 2: LENGTH}},
)
write("conv", Conv(), (torch.randn(2, 3, 32, 32),))
write("conv_decomposed", Conv(), (torch.randn(2, 3, 32, 32),), decomposes=True)
write("autocast", Autocast(), (torch.randn(16, 64),))
write("recurrent", Recurrent(), (torch.randn(8, 30, 40),))
write("losses", Losses(), (torch.randn(128, 32), torch.randn(16, 10), torch.randint(0, 10, (16,))))
CLASSES = (torch.randn(16, 10), torch.randint(0, 10, (16,)), torch.rand(10), torch.rand(16, 10))
write("class_losses", ClassLosses(), CLASSES)
write("bags", Bags(), (torch.randint(0, 1000, (96,)), torch.arange(0, 96, 3)))
write("small_products", SmallProducts(), (torch.randn(32, 128),))
ids = torch.randint(0, 100, (2, 16))
SMALL = {"vocab_size": 100, "use_cache": False}
gpt2 = transformers.GPT2Config(n_layer=1, n_embd=64, n_head=4, n_positions=32, **SMALL)
write("gpt2", transformers.GPT2LMHeadModel(gpt2), (ids,))
llama = transformers.LlamaConfig(
    num_hidden_layers=1,
    hidden_size=64,
    intermediate_size=128,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=32,
    **SMALL,
)
write("llama", transformers.LlamaForCausalLM(llama), (ids,))
write("unknown", Unknown(), (torch.randn(4, 8, 8), torch.randn(4, 8, 8)), {"x": {0: BATCH}, "y": {0: BATCH}})
