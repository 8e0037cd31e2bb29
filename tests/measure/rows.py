"""Times of reductions beyond the rows of a layer on a real GPU: losses over a vocabulary, few long rows, other axes.

    python tests/measure/rows.py OUT.json SECONDS known|fresh

Times are taken as in decode.py.
"""

import sys

import torch
import torch.nn.functional as F

import decode
from patterns import tensor


def target(rows, words):
    return torch.randint(0, words, (rows, 1), device="cuda")


def alone(*shape):
    return [tensor(*shape)]


def image(b, c, s):
    return tensor(b, c, s, s)


def channels(b, c, s, dtype):
    return [image(b, c, s).to(dtype), torch.randn(c, device="cuda"), torch.randn(c, device="cuda")]


def batch_norm(x, w, b):
    return F.batch_norm(x, None, None, w, b, True)


# Name of the op list: inputs of a size, and the call.
PATTERNS = {
    "loss": (lambda m, n: [tensor(m, n), target(m, n)], lambda x, t: -F.log_softmax(x, -1).gather(1, t).mean()),
    "loss_f32": (lambda m, n: [tensor(m, n), target(m, n)], lambda x, t: -F.log_softmax(x.float(), -1).gather(1, t).mean()),
    "long_sum": (alone, lambda x: x.sum(-1, keepdim=True)),
    "long_softmax": (alone, lambda x: torch.softmax(x, -1)),
    "long_rms_norm": (alone, lambda x: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)),
    "column_sum": (alone, lambda x: x.sum(0, keepdim=True)),
    "column_softmax": (alone, lambda x: torch.softmax(x, 0)),
    "channel_sum": (alone, lambda x: x.sum(1, keepdim=True)),
    "channel_softmax": (alone, lambda x: torch.softmax(x, 1)),
    "batch_norm_train": (lambda b, c, s: channels(b, c, s, torch.bfloat16), batch_norm),
    "batch_norm_train_f16": (lambda b, c, s: channels(b, c, s, torch.float16), batch_norm),
    "group_norm": (lambda b, c, s: [image(b, c, s), tensor(c), tensor(c)], lambda x, w, b: F.group_norm(x, 32, w, b)),
}
BOTH = ("eager", "inductor")


def of(sizes):
    for pattern, every in sizes.items():
        for size in every:
            for variant in BOTH:
                yield pattern, size, variant


def known():
    columns = [(4096, 4096), (1024, 1024), (128, 65536), (65536, 128), (1024, 16384), (16384, 1024)]
    layers = [(8192, 8192), (16384, 2048), (65536, 1024), (4096, 16384), (131072, 512)]
    others = [(32, 64, 4096), (64, 1000, 49), (16, 21, 65536), (4, 256, 16384)]
    others += [(16, c, 16384) for c in (32, 64, 96, 128, 256)] + [(4, 64, 65536), (64, 64, 1024), (64, 32, 4096), (8, 48, 50176)]
    images = [(32, 64, 112), (32, 256, 56), (32, 2048, 7), (64, 512, 14), (8, 64, 256), (16, 1024, 14)]
    stages = [(128, 2048, 7), (8, 2048, 7), (32, 1024, 14), (32, 512, 28), (32, 128, 28), (32, 64, 56)]
    return of({
        "loss": [(4096, 128256), (512, 128256), (8192, 32000), (2048, 50257), (64, 128256)],
        "loss_f32": [(4096, 128256), (8192, 32000)],
        "long_sum": [(1, 1 << 20), (1, 1 << 24), (1, 65536), (4, 1 << 20), (16, 1 << 18), (16, 1 << 20), (64, 131072), (128, 65536), (256, 32768), (2048, 131072), *layers],
        "long_softmax": [(1, 32000), (1, 128256), (8, 128256), (64, 128256), (64, 32768), (256, 32768), (2048, 131072), *layers],
        "long_rms_norm": [(1, 65536), (64, 32768), (2048, 65536)],
        "column_sum": columns + [(16, 65536)],
        "column_softmax": columns + [(2048, 64), (8192, 8192), (64, 131072), (500, 3000), (20000, 600)],
        "channel_sum": others,
        "channel_softmax": others,
        "batch_norm_train": images + stages + [(4, 32, 512)],
        "batch_norm_train_f16": images + stages,
        "group_norm": images,
    })


def fresh():
    """Sizes that no figure of the model has seen, set before they were measured."""
    columns = [(3072, 2048), (512, 24576), (40960, 256)]
    images = [(48, 2048, 7), (12, 256, 48), (100, 96, 20), (24, 768, 14), (16, 320, 28)]
    return of({
        "loss": [(3072, 151936), (6144, 49152), (256, 151936)],
        "loss_f32": [(2048, 65536)],
        "long_sum": [(1, 3 << 20), (2, 1 << 19), (8, 200000), (48, 100000), (192, 50000), (1024, 65536), (12288, 4096), (49152, 768)],
        "long_softmax": [(1, 151936), (4, 50257), (32, 151936), (128, 49152), (12288, 4096), (49152, 768)],
        "long_rms_norm": [(16, 49152)],
        "column_sum": columns,
        "column_softmax": columns,
        "channel_sum": [(12, 96, 3136), (8, 19, 131072)],
        "channel_softmax": [(12, 96, 3136), (8, 19, 131072)],
        "batch_norm_train": images,
        "batch_norm_train_f16": images,
    })


if __name__ == "__main__":
    path, seconds, which = sys.argv[1:4]
    decode.measure(path, float(seconds), {"known": known, "fresh": fresh}[which](), PATTERNS)
