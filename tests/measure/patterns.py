"""The patterns of public/measured in PyTorch: what each op list there says, at any size."""

import torch
import torch.nn.functional as F

DEVICE = "cuda"
DTYPE = torch.bfloat16

LINEAR_SIZES = [[2048, 2048, 2048], [8192, 1024, 8192], [1024, 4096, 4096], [8192, 8192, 8192]]
CONV_SIZES = [[64, 128, 28, 128], [32, 256, 14, 256], [32, 32, 112, 64]]
ATTENTION_SIZES = [[12, 1024, 64], [32, 1024, 128], [16, 4096, 64]]
MATRIX_SIZES = [[4096, 4096], [16384, 4096], [2048, 2048], [16384, 16384], [32768, 1024]]


# Sizes that no figure of the model has seen: set before they were measured, and measured after the model was done.
FRESH = {
    "linear": [[3072, 3072, 3072], [4096, 2048, 8192], [6144, 4096, 2048], [512, 8192, 8192]],
    "mlp2": [[4096, 2048, 8192], [3072, 1536, 6144]],
    "conv": [[16, 64, 112, 64], [64, 256, 14, 256], [128, 64, 28, 128]],
    "attention": [[24, 1536, 64], [8, 2048, 128], [64, 512, 64]],
    "matrix": [[6144, 6144], [8192, 2048], [4096, 12288], [65536, 512], [3072, 3072]],
    "transformer_block": [[1536, 1536, 24], [2048, 1024, 16], [1024, 2048, 32]],
    "conv_bn": [[32, 64, 56, 64], [64, 128, 28, 128], [32, 256, 14, 256], [32, 32, 112, 64]],
    "attn_values": [[16, 2048, 64], [12, 1024, 64], [32, 1024, 128], [16, 4096, 64]],
    "multi_head": [[2048, 16, 64], [1024, 12, 64], [1024, 32, 128], [4096, 16, 64]],
}

# Widths of current language models, beyond those of `FRESH`: set before they were measured.
WIDE = {
    "linear_bias": [[4096, 8192, 8192], [2048, 16384, 4096], [8192, 4096, 16384]],
    "mlp2": [[2048, 4096, 16384], [4096, 5120, 20480], [2048, 8192, 28672]],
    "multi_head": [[2048, 32, 128], [4096, 40, 128], [2048, 64, 128]],
    "transformer_block": [[1024, 4096, 32], [2048, 4096, 32], [4096, 4096, 32], [2048, 5120, 40], [8192, 4096, 32], [2048, 8192, 64], [4096, 8192, 64], [2048, 12288, 96]],
}


def tensor(*shape):
    return torch.randn(*shape, device=DEVICE, dtype=DTYPE)


def matrices(count, *rest):
    """`count` matrices, then whatever `rest` makes of the row width."""
    return lambda m, n: [tensor(m, n) for _ in range(count)] + [make(n) for make in rest]


def linear(m, k, n):
    return [tensor(m, k), tensor(k, n) * k**-0.5, tensor(n)]


def linear_masked(m, k, n):
    return linear(m, k, n) + [tensor(m, n)]


def mlp(m, d, f):
    return [tensor(m, d), tensor(d, f) * d**-0.5, tensor(f), tensor(f, d) * f**-0.5, tensor(d)]


def convolution(*channel_values):
    def make(b, c, p, o):
        last = torch.channels_last
        x = tensor(b, c, p, p).contiguous(memory_format=last)
        w = (tensor(o, c, 3, 3) * 0.05).contiguous(memory_format=last)
        return [x, w] + [tensor(o, 1, 1) for _ in channel_values]

    return make


def heads_of(count):
    return lambda h, s, d: [tensor(h, s, d) for _ in range(count)]


def block(s, h, heads):
    weights = [tensor(h, 3 * h), tensor(h, h), tensor(h, 4 * h), tensor(4 * h, h)]
    w_qkv, w_out, w_up, w_down = [w * w.shape[0] ** -0.5 for w in weights]
    return [tensor(s, h), w_qkv, w_out, tensor(h), tensor(h), w_up, w_down, tensor(h), tensor(h), heads]


def transformer_block(x, w_qkv, w_out, gamma1, beta1, w_up, w_down, gamma2, beta2, heads):
    s, h = x.shape
    q, k, v = ((x @ w_qkv).chunk(3, -1))
    q, k, v = (t.reshape(s, heads, h // heads).transpose(0, 1) for t in (q, k, v))
    mixed = torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)), -1), v)
    resid1 = mixed.transpose(0, 1).reshape(s, h) @ w_out + x
    norm1 = F.layer_norm(resid1, (h,), gamma1, beta1)
    resid2 = F.gelu(norm1 @ w_up) @ w_down + norm1
    return F.layer_norm(resid2, (h,), gamma2, beta2)


def convolution_norm(b, c, p, o):
    x, w = convolution()(b, c, p, o)
    return [x, w, tensor(o), tensor(o).abs() + 0.5, tensor(o), tensor(o)]


def conv_bn(x, w, mean, variance, scale, shift):
    return F.batch_norm(F.conv2d(x, w, padding=1), mean, variance, scale, shift)


def projected(s, heads, d):
    width = heads * d
    return heads_of(3)(heads, s, d) + [tensor(width, width) * width**-0.5, tensor(width)]


def multi_head(q, k, v, w_out, b_out):
    heads, s, d = q.shape
    mixed = scores_of(q, k) @ v
    return mixed.transpose(0, 1).reshape(s, heads * d) @ w_out + b_out


def layernorm_decomposed(x, gamma, beta):
    c = x - x.mean(-1, keepdim=True)
    return c * torch.rsqrt((c * c).mean(-1, keepdim=True) + 1e-5) * gamma + beta


def softmax_decomposed(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def scores_of(q, k):
    return torch.softmax((q @ k.transpose(-1, -2)) * 0.125, -1)


# name: (inputs of a size, function, the size of h200.json, further sizes)
PATTERNS = {
    "linear_bias": (linear, lambda x, w, b: x @ w + b, [4096, 4096, 4096], LINEAR_SIZES),
    "linear_bias_relu": (linear, lambda x, w, b: torch.relu(x @ w + b), [4096, 4096, 4096], LINEAR_SIZES),
    "linear_bias_gelu": (linear, lambda x, w, b: F.gelu(x @ w + b), [4096, 4096, 4096], LINEAR_SIZES),
    "linear_bias_relu_dropout": (linear_masked, lambda x, w, b, mask: torch.relu(x @ w + b) * mask, [4096, 4096, 4096], LINEAR_SIZES),
    "mlp2": (mlp, lambda x, w1, b1, w2, b2: torch.relu(x @ w1 + b1) @ w2 + b2, [4096, 1024, 4096], [[2048, 2048, 8192], [8192, 1024, 4096], [1024, 768, 3072]]),
    "conv_bias": (convolution("b"), lambda x, w, b: F.conv2d(x, w, padding=1) + b, [32, 64, 56, 64], CONV_SIZES),
    "conv_bn_relu": (convolution("scale", "shift"), lambda x, w, a, b: torch.relu(F.conv2d(x, w, padding=1) * a + b), [32, 64, 56, 64], CONV_SIZES),
    "conv_relu": (convolution(), lambda x, w: torch.relu(F.conv2d(x, w, padding=1)), [32, 64, 56, 64], CONV_SIZES),
    "conv_bn_relu_maxpool": (convolution("scale", "shift"), lambda x, w, a, b: F.max_pool2d(torch.relu(F.conv2d(x, w, padding=1) * a + b), 2), [32, 64, 56, 64], CONV_SIZES),
    "attn_scores": (heads_of(2), scores_of, [16, 2048, 64], ATTENTION_SIZES),
    "attention": (heads_of(3), lambda q, k, v: scores_of(q, k) @ v, [16, 2048, 64], ATTENTION_SIZES),
    "sdpa_flash": (lambda h, s, d: [tensor(1, h, s, d) for _ in range(3)], F.scaled_dot_product_attention, [16, 2048, 64], ATTENTION_SIZES),
    "add_relu": (matrices(2), lambda a, b: torch.relu(a + b), [8192, 8192], MATRIX_SIZES),
    "mul_add_relu": (matrices(3), lambda a, b, c: torch.relu(a * b + c), [8192, 8192], MATRIX_SIZES),
    "sigmoid_mul": (matrices(2), lambda a, b: torch.sigmoid(a) * b, [8192, 8192], MATRIX_SIZES),
    "bias_gelu_dropout_add": (matrices(3, tensor), lambda x, mask, skip, b: F.gelu(x + b) * mask + skip, [4096, 4096], [[8192, 8192], [16384, 4096], [2048, 2048]]),
    "add_layernorm": (matrices(2, tensor, tensor), lambda a, b, g, h: F.layer_norm(a + b, g.shape, g, h), [8192, 8192], MATRIX_SIZES),
    "layernorm_gelu": (matrices(1, tensor, tensor), lambda x, g, h: F.gelu(F.layer_norm(x, g.shape, g, h)), [8192, 8192], MATRIX_SIZES),
    "layernorm_decomposed": (matrices(1, tensor, tensor), layernorm_decomposed, [8192, 8192], MATRIX_SIZES),
    "softmax_decomposed": (matrices(1), softmax_decomposed, [8192, 8192], MATRIX_SIZES),
    "rmsnorm_decomposed": (matrices(1, tensor), lambda x, g: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * g, [8192, 8192], MATRIX_SIZES),
    "l2norm_decomposed": (matrices(1), lambda x: x / torch.sqrt((x * x).sum(-1, keepdim=True)), [8192, 8192], MATRIX_SIZES),
    "transformer_block": (block, transformer_block, [1024, 1024, 16], [[2048, 2048, 16], [512, 768, 12], [4096, 1024, 16]]),
    # Measured after the model was done, so at fresh sizes alone.
    "conv_bn": (convolution_norm, conv_bn, None, []),
    "attn_values": (lambda h, s, d: [tensor(h, s, s), tensor(h, s, d)], lambda scores, v: torch.softmax(scores, -1) @ v, None, []),
    "multi_head": (projected, multi_head, None, []),
}


# Patterns with a product or a convolution, which only a template fuses with what follows, and the variants that `fused` measures.
TEMPLATE = ["inductor_triton_gemm"]
TEMPLATES = {
    pattern: ["eager", "inductor"] + TEMPLATE if pattern in ("conv_bn", "attn_values", "multi_head") else TEMPLATE
    for pattern in PATTERNS
    if pattern.startswith(("linear_", "mlp2", "conv_", "attn_", "multi_head"))
}


def fresh_sizes(pattern):
    kinds = {"linear_": "linear", "conv_": "conv", "attn_": "attention", "attention": "attention", "sdpa_": "attention"}
    of_kind = next((kind for start, kind in kinds.items() if pattern.startswith(start)), pattern)
    kind = pattern if pattern in FRESH else of_kind
    return FRESH.get(kind, FRESH["matrix"])
