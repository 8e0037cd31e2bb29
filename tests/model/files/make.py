"""Writes the model files beside it, each a few kB. Needs torch, onnx and onnxscript.

The weights are cut out, as nothing but their shapes is read: their tensors say that the values stand in another file.
"""

from pathlib import Path

import numpy
import onnx
import torch
from onnx import TensorProto, helper
from torch import nn
from torch.nn import functional

FOLDER = Path(__file__).parent


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(64, 256)
        self.down = nn.Linear(256, 64)

    def forward(self, x):
        return self.down(functional.gelu(self.up(x)))


class Attention(nn.Module):
    """A block of attention and a feed-forward net with norms, as most transformers have it."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        split = lambda t: t.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        q, k, v = split(q), split(k), split(v)
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        values = torch.softmax(scores, dim=-1) @ v
        x = x + self.out(values.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.mlp_norm(x))))


class ResNetBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 32, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(32)
        self.skip = nn.Conv2d(16, 32, 1, stride=2, bias=False)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        y = functional.relu(self.bn2(self.conv2(y)) + self.skip(x))
        y = functional.max_pool2d(y, 2)
        return self.head(functional.adaptive_avg_pool2d(y, 1).flatten(1))


class RmsNorm(nn.Module):
    """Written out, as the exporter that traces has no operator for it."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Decoder(nn.Module):
    """Tokens, a norm, causal attention by SDPA and the last token's logits."""

    def __init__(self, width=64, heads=4, words=100):
        super().__init__()
        self.heads = heads
        self.words = nn.Embedding(words, width)
        self.norm = RmsNorm(width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, ids):
        x = self.words(ids)
        batch, length, width = x.shape
        y = self.norm(x)
        split = lambda t: t.view(batch, length, self.heads, -1).transpose(1, 2)
        values = functional.scaled_dot_product_attention(split(self.q(y)), split(self.k(y)), split(self.v(y)), is_causal=True)
        x = x + self.o(values.transpose(1, 2).reshape(batch, length, width))
        return x[:, -1] @ self.words.weight.T


def without_weights(model):
    """Removes the values of all tensors with more than 64 elements."""
    graphs = [model.graph]
    for tensor in [t for graph in graphs for t in graph.initializer]:
        if numpy.prod(tensor.dims) > 64:
            for field in ("raw_data", "float_data"):
                tensor.ClearField(field)
            tensor.data_location = TensorProto.EXTERNAL
            tensor.ClearField("external_data")
            tensor.external_data.add(key="location", value="weights.bin")
    for node in model.graph.node:
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
    for info in model.graph.value_info:
        info.ClearField("metadata_props")
    model.graph.ClearField("metadata_props")
    return model


def exported(name, module, inputs, dynamic, is_new):
    path = FOLDER / f"{name}.onnx"
    torch.onnx.export(module.eval(), inputs, path, dynamo=is_new, external_data=False, verbose=False, **dynamic)
    onnx.save(without_weights(onnx.load(path)), path)


def by_trace(names):
    """Sizes by name for the exporter that traces."""
    return {"input_names": list(names), "dynamic_axes": names}


def main():
    torch.manual_seed(0)
    batch, length = torch.export.Dim("batch", min=2), torch.export.Dim("length", min=2)
    x = torch.zeros(2, 16, 64)
    image = torch.zeros(2, 16, 32, 32)
    ids = torch.zeros(2, 16, dtype=torch.int64)
    exported("mlp", Mlp(), (torch.zeros(4, 64),), {}, True)
    exported("attention", Attention(), (x,), {"dynamic_shapes": ({0: batch, 1: length},)}, True)
    exported("attention_traced", Attention(), (x,), by_trace({"x": {0: "batch", 1: "length"}}), False)
    exported("resnet_block", ResNetBlock(), (image,), {"dynamic_shapes": ({0: batch},)}, True)
    exported("resnet_block_traced", ResNetBlock(), (image,), by_trace({"image": {0: "batch", 2: "height", 3: "width"}}), False)
    exported("decoder", Decoder(), (ids,), {"dynamic_shapes": ({0: batch, 1: length},)}, True)
    exported("decoder_traced", Decoder(), (ids,), by_trace({"ids": {0: "batch", 1: "length"}}), False)
    onnx.save(by_hand(), FOLDER / "by_hand.onnx")


def by_hand():
    """Operators that are not understood, a branch that reads from outside, and names that need another spelling."""
    info = lambda name, shape, kind=TensorProto.FLOAT: helper.make_tensor_value_info(name, kind, shape)
    branch = lambda name, kind: helper.make_graph(
        [helper.make_node(kind, ["inner/x"], [name])], name, [], [info(name, None)])
    nodes = [
        helper.make_node("Relu", ["inner x"], ["inner/x"], name="first relu"),
        helper.make_node("If", ["flag"], ["chosen"], name="branch", then_branch=branch("a", "Exp"), else_branch=branch("b", "Neg")),
        helper.make_node("NonZero", ["inner/x"], ["places"], name=""),
        helper.make_node("Frobnicate", ["chosen", "inner/x"], ["1"], domain="my.ops"),
        helper.make_node("Frobnicate", ["1"], ["2"], domain="my.ops"),
        helper.make_node("TopK", ["2", "count"], ["best", "which"], axis=-1),
        helper.make_node("Exp", ["best"], ["param"]),
        helper.make_node("Neg", ["inner/x"], ["nobody reads this"]),
    ]
    graph = helper.make_graph(
        nodes, "by hand",
        [info("inner x", [None, 32]), info("flag", [], TensorProto.BOOL)],
        [info("param", None), info("which", None, TensorProto.INT64), info("places", None, TensorProto.INT64)],
        [helper.make_tensor("count", TensorProto.INT64, [1], [4])],
        value_info=[info("chosen", ["inner x_0", 32]), info("1", ["inner x_0", 32]), info("2", ["inner x_0", 32])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("my.ops", 1)])


if __name__ == "__main__":
    main()
