"""Writes the exported programs beside it, each a few kB, and beside each what `fuseline.export` writes of the same module.

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
from torch.export import Dim
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


def write(name, module, inputs, dynamic_shapes=None, decomposes=False, weights=False):
    module = module.eval()
    exported = torch.export.export(module, inputs, dynamic_shapes=dynamic_shapes, strict=False)
    text = fuseline.export(module, *inputs, dynamic_shapes=dynamic_shapes)
    (FOLDER / f"{name}.pt2.fuse").write_text(text, encoding="utf-8")
    if decomposes:
        exported = exported.run_decompositions()
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
