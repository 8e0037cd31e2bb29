"""Programs as engineers write them, none of which the compiler's policy was made with. Each has an op list of the same name in
tests/model/programs/. `python tests/measure/launches.py OUT.json` counts their kernels.
"""

import torch
import torch.nn.functional as F

BF16, F32 = torch.bfloat16, torch.float32


def t(*shape, dtype=BF16):
    return torch.randn(*shape, device="cuda").to(dtype)


def weight(*shape, dtype=BF16):
    return t(*shape, dtype=dtype) * shape[-1] ** -0.5


def integers(bound, *shape, dtype=torch.int64):
    return torch.randint(0, bound, shape, device="cuda", dtype=dtype)


PROGRAMS = {}


def program(*inputs):
    """Registers a function with what makes its inputs."""

    def register(function):
        PROGRAMS[function.__name__] = (function, lambda: [make() for make in inputs])
        return function

    return register


def of(*shape, dtype=BF16):
    return lambda: t(*shape, dtype=dtype)


def w(*shape, dtype=BF16):
    return lambda: weight(*shape, dtype=dtype)


@program(of(2048, 1024), w(4096, 1024), of(4096), w(1024, 4096), of(1024))
def mlp_gelu_tanh(x, w1, b1, w2, b2):
    return F.linear(F.gelu(F.linear(x, w1, b1), approximate="tanh"), w2, b2)


@program(of(1024, 2048), w(5504, 2048), w(5504, 2048), w(2048, 5504))
def swiglu(x, w_gate, w_up, w_down):
    return F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x, w_up), w_down)


@program(of(4096, 768), w(6144, 768), of(6144), w(768, 3072), of(768))
def geglu_packed(x, w_in, b_in, w_out, b_out):
    value, gate = F.linear(x, w_in, b_in).chunk(2, dim=-1)
    return F.linear(value * F.gelu(gate), w_out, b_out)


@program(of(4, 512, 4096), of(4096))
def rms_norm_in_f32(x, g):
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
    return g * h.to(BF16)


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


@program(of(2, 32, 1024, 128), of(2, 8, 1024, 128), of(1024, 128), of(1024, 128))
def rope_halves(q, k, cos, sin):
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


@program(of(2, 1024, 16, 64), of(1024, 1, 32, dtype=F32), of(1024, 1, 32, dtype=F32))
def rope_pairs(x, cos, sin):
    a, b = x[..., ::2].float(), x[..., 1::2].float()
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(3).to(BF16)


@program(of(1, 32, 1024, 128), of(1, 8, 1024, 128), of(1, 8, 1024, 128))
def gqa_repeat_kv(q, k, v):
    def repeat_kv(x):
        b, h, s, d = x.shape
        return x[:, :, None].expand(b, h, 4, s, d).reshape(b, h * 4, s, d)

    scores = torch.matmul(q, repeat_kv(k).transpose(2, 3)) * 128**-0.5
    probs = torch.softmax(scores, dim=-1, dtype=F32).to(BF16)
    return torch.matmul(probs, repeat_kv(v)).transpose(1, 2).contiguous()


@program(of(4, 12, 512, 64), of(4, 12, 512, 64), of(4, 12, 512, 64))
def attention_divided(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / 8.0, dim=-1) @ v


@program(of(4, 12, 512, 64), of(4, 12, 512, 64), of(4, 12, 512, 64))
def attention_multiplied(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) * 0.125, dim=-1) @ v


def heads_of(x, count):
    b, s, h = x.shape
    return x.view(b, s, count, h // count).permute(0, 2, 1, 3)


@program(of(8, 512, 768), w(2304, 768), of(2304), w(768, 768), of(768))
def attention_permuted_divided(x, w_qkv, b_qkv, w_out, b_out):
    q, k, v = (heads_of(part, 12) for part in F.linear(x, w_qkv, b_qkv).split(768, dim=2))
    mixed = torch.softmax(q @ k.transpose(-2, -1) / 8.0, dim=-1) @ v
    return F.linear(mixed.permute(0, 2, 1, 3).reshape(8, 512, 768), w_out, b_out)


@program(of(8, 512, 768), w(2304, 768), of(2304), w(768, 768), of(768))
def attention_permuted_multiplied(x, w_qkv, b_qkv, w_out, b_out):
    q, k, v = (heads_of(part, 12) for part in F.linear(x, w_qkv, b_qkv).split(768, dim=2))
    mixed = torch.softmax((q @ k.transpose(-2, -1)) * 0.125, dim=-1) @ v
    return F.linear(mixed.permute(0, 2, 1, 3).reshape(8, 512, 768), w_out, b_out)


@program(of(2, 16, 1024, 64), of(2, 16, 1024, 64), of(2, 16, 1024, 64), lambda: torch.rand(1024, 1024, device="cuda") > 0.3)
def attention_where(q, k, v, mask):
    scores = torch.where(mask, q @ k.transpose(-2, -1) * 0.125, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v


@program(of(2, 1024, 1024), w(3072, 1024))
def attention_causal_tril(x, w_qkv):
    q, k, v = (heads_of(part, 16) for part in F.linear(x, w_qkv).chunk(3, dim=-1))
    mask = torch.tril(torch.ones(1024, 1024, dtype=torch.bool, device=x.device))
    scores = (q @ k.transpose(-2, -1) / 8.0).masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v


@program(of(4, 8, 1024, 64), of(4, 8, 1024, 64), of(4, 8, 1024, 64), of(1, 8, 1024, 1024))
def attention_bias_added(q, k, v, bias):
    return torch.softmax(q @ k.transpose(-2, -1) * 0.125 + bias, dim=-1) @ v


@program(of(4096, 512, dtype=F32))
def softmax_axis_0(x):
    return torch.softmax(x, dim=0)


@program(of(32, 128, 1024))
def softmax_axis_1(x):
    return torch.softmax(x, dim=1)


@program(of(2048, 1024), w(32000, 1024), lambda: integers(32000, 2048))
def cross_entropy_by_gather(x, w_vocabulary, target):
    log_probs = torch.log_softmax(F.linear(x, w_vocabulary).float(), dim=-1)
    return -log_probs.gather(-1, target[:, None]).mean()


@program(of(65536, 512))
def column_sum_long(x):
    return x.sum(0)


@program(of(4096, 4096, dtype=F32))
def row_and_column_sums(x):
    return x.sum(0), x.sum(1)


@program(of(8, 256, 32, 32), of(256), of(256))
def group_norm_reshaped(x, g, b):
    groups = x.reshape(8, 32, -1)
    mean = groups.mean(-1, keepdim=True)
    var = groups.var(-1, keepdim=True, correction=0)
    y = ((groups - mean) * torch.rsqrt(var + 1e-5)).reshape(8, 256, 32, 32)
    return y * g[:, None, None] + b[:, None, None]


@program(of(64, 64, 56, 56, dtype=F32), of(64, dtype=F32), of(64, dtype=F32))
def batch_norm_train_relu(x, g, b):
    return F.relu(F.batch_norm(x, None, None, g, b, training=True))


@program(of(32, 64, 56, 56, dtype=F32), w(128, 64, 3, 3, dtype=F32), of(128, dtype=F32), lambda: t(128, dtype=F32).abs(), of(128, dtype=F32), of(128, dtype=F32))
def conv_batch_norm_eval_relu(x, filters, mean, var, g, b):
    return F.relu(F.batch_norm(F.conv2d(x, filters, padding=1), mean, var, g, b, training=False))


@program(lambda: integers(50257, 8, 1024), w(50257, 768), w(1024, 768), of(768), of(768))
def embedding_add_norm(ids, tokens, positions, g, b):
    return F.layer_norm(F.embedding(ids, tokens) + positions, (768,), g, b)


@program(of(4096, 2048), lambda: integers(2048, 4096, 256), of(4096, 256))
def gather_and_add(x, index, y):
    return torch.relu(x.gather(1, index) + y)


@program(lambda: integers(2, 64, 2048))
def positions_by_cumsum(mask):
    return mask.cumsum(1) * mask - 1


@program(of(16, 64, 64, 64), w(64, 64, 3, 3))
def pad_conv_relu(x, filters):
    return F.relu(F.conv2d(F.pad(x, (1, 1, 1, 1)), filters))


@program(of(4096, 4096))
def quantize_rows(x):
    scale = x.abs().amax(-1, keepdim=True).float() / 127.0
    q = torch.clamp(torch.round(x.float() / scale), -128, 127).to(torch.int8)
    return q, scale


@program(lambda: integers(127, 4096, 4096, dtype=torch.int8), of(4096, 1), of(4096, 1024))
def dequantize_matmul(q, scale, x):
    return (q.to(BF16) * scale) @ x


@program(of(4 << 20, dtype=F32), of(4 << 20, dtype=F32), of(4 << 20, dtype=F32), lambda: t(4 << 20, dtype=F32).abs())
def adam_step(p, g, m, v):
    m = m * 0.9 + g * 0.1
    v = v * 0.999 + g * g * 0.001
    return p - 1e-3 * m / (torch.sqrt(v) + 1e-8), m, v


@program(of(4096, 1024), of(4096, 1024), of(1024), of(1024))
def residual_and_norm(x, update, g, b):
    y = x + update
    return y, F.layer_norm(y, (1024,), g, b)


@program(of(4096, 4096))
def slices_with_a_step(x):
    return x[:, ::2] * torch.sigmoid(x[:, 1::2])


@program(of(8192, 512), of(8192, 1536), of(2048))
def concat_then_scale(a, b, g):
    return torch.cat((torch.relu(a), torch.sigmoid(b)), dim=-1) * g


@program(of(2048, 4096), of(2048, 4096, dtype=F32), of(4096))
def mixed_types(x, y, g):
    return torch.sigmoid(x + y).to(BF16) * g


@program(of(32, 256, 28, 28), w(64, 256), of(64), w(256, 64), of(256))
def squeeze_excite(x, w1, b1, w2, b2):
    s = x.mean((2, 3))
    s = torch.sigmoid(F.linear(F.relu(F.linear(s, w1, b1)), w2, b2))
    return x * s[:, :, None, None]


@program(of(4096, 4096, dtype=F32), of(4096, 4096, dtype=F32))
def mse_loss(a, b):
    return ((a - b) ** 2).mean()


@program(of(8 << 20, dtype=F32))
def clip_by_norm(g):
    norm = torch.sqrt((g * g).sum())
    return g * torch.clamp(1.0 / (norm + 1e-6), max=1.0)


@program(of(8, 1024, 1024), of(1024), of(1024), w(4096, 1024), of(4096), w(1024, 4096), of(1024))
def feed_forward_pre_norm(x, g, b, w1, b1, w2, b2):
    h = F.layer_norm(x, (1024,), g, b)
    return x + F.linear(F.gelu(F.linear(h, w1, b1)), w2, b2)


@program(of(16384, 768), of(16384, 768))
def cosine_similarity(a, b):
    dot = (a * b).sum(-1)
    return dot / (torch.sqrt((a * a).sum(-1)) * torch.sqrt((b * b).sum(-1)))


@program(of(16, 64, 96, 96))
def instance_norm(x):
    mean = x.mean((2, 3), keepdim=True)
    var = ((x - mean) ** 2).mean((2, 3), keepdim=True)
    return (x - mean) * torch.rsqrt(var + 1e-5)


@program(of(8192, 1024), w(64, 1024))
def gate_with_threshold(x, w_gate):
    probs = torch.softmax(F.linear(x, w_gate).float(), dim=-1)
    kept = torch.where(probs > 0.02, probs, 0.0)
    return kept / kept.sum(-1, keepdim=True)


@program(of(64, 128, 56, 56))
def hard_swish(x):
    return x * torch.clamp(x + 3.0, 0.0, 6.0) / 6.0


@program(of(4096, 1, dtype=F32), of(128, dtype=F32), w(1024, 256, dtype=F32), of(1024, dtype=F32))
def time_embedding(steps, frequencies, w1, b1):
    angles = steps * frequencies
    return F.silu(F.linear(torch.cat((torch.cos(angles), torch.sin(angles)), dim=-1), w1, b1))


@program(of(16384, 256))
def column_maximum(x):
    return x.amax(0)


@program(of(4096, 1024, dtype=F32), of(1024, dtype=F32), of(1024, dtype=F32))
def batch_norm_1d_by_hand(x, g, b):
    mean = x.mean(0)
    var = x.var(0, correction=0)
    return (x - mean) * torch.rsqrt(var + 1e-5) * g + b


@program(of(8192, 1024), of(1024, dtype=F32))
def rows_and_columns_of_an_error(x, y):
    error = x.float() - y
    return error.abs().mean(1), (error * error).mean(0)


@program(of(32, 1024, 256), of(256), of(256))
def channel_shuffle_norm(x, g, b):
    y = F.layer_norm(x, (256,), g, b)
    return y.reshape(32, 1024, 4, 64).transpose(2, 3).reshape(32, 1024, 256) + x


@program(of(8, 64, 64, 64), w(64, 64, 3, 3), of(64), w(64, 64, 3, 3), of(64))
def residual_conv_block(x, f1, b1, f2, b2):
    h = F.relu(F.conv2d(x, f1, b1, padding=1))
    return F.relu(x + F.conv2d(h, f2, b2, padding=1))


# From here on: written after the recipe had been mended, and before they were measured.


@program(of(2, 512, 2048), of(512, 1, 64), of(512, 1, 64), w(2048, 2048), w(512, 2048), w(512, 2048), w(2048, 2048))
def grouped_attention_layer(x, cos, sin, w_q, w_k, w_v, w_out):
    q = F.linear(x, w_q).view(2, 512, 32, 64)
    k = F.linear(x, w_k).view(2, 512, 8, 64)
    v = F.linear(x, w_v).view(2, 512, 8, 64)
    q = q * cos + rotate_half(q) * sin
    k = k * cos + rotate_half(k) * sin
    q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
    k, v = (t[:, :, None].expand(2, 8, 4, 512, 64).reshape(2, 32, 512, 64) for t in (k, v))
    causal = torch.tril(torch.ones(512, 512, dtype=torch.bool, device=x.device))
    scores = (q @ k.transpose(2, 3)) * 0.125
    scores = torch.where(causal, scores, float("-inf"))
    mixed = torch.softmax(scores, dim=-1) @ v
    return F.linear(mixed.transpose(1, 2).reshape(2, 512, 2048), w_out)


@program(of(8192, 512), of(512), of(512), w(2048, 512), w(512, 2048), of(512))
def layer_scale_block(x, g, b, w_up, w_down, scale):
    h = F.layer_norm(x, (512,), g, b)
    return x + scale * F.linear(F.relu(F.linear(h, w_up)), w_down)


@program(of(4096, 1000), lambda: integers(1000, 4096))
def label_smoothing(logits, target):
    log_probs = torch.log_softmax(logits.float(), dim=-1)
    chosen = log_probs.gather(1, target[:, None])[:, 0]
    return -(0.9 * chosen + 0.1 * log_probs.mean(-1)).mean()


@program(of(8192, 256, dtype=F32), of(8192, 256, dtype=F32))
def kl_divergence(a, b):
    log_p, log_q = torch.log_softmax(a, dim=-1), torch.log_softmax(b, dim=-1)
    return (torch.exp(log_p) * (log_p - log_q)).sum(-1).mean()


@program(of(8, 1024, 768), of(768), of(768))
def time_shift(x, mix_k, mix_r):
    before = F.pad(x, (0, 0, 1, 0))[:, :-1]
    return x * mix_k + before * (1 - mix_k), x * mix_r + before * (1 - mix_r)


@program(lambda: integers(30000, 2048, 32), w(30000, 256))
def bag_of_words(ids, table):
    return F.embedding(ids, table).mean(1)


@program(of(32, 1024, 64), of(32, 1024, 64), of(32, 1024, 64))
def linear_attention(q, k, v):
    q, k = torch.softmax(q, dim=-1), torch.softmax(k, dim=-2)
    return q @ (k.transpose(1, 2) @ v)


@program(of(32768, 256))
def standardized_columns(x):
    wide = x.float()
    centred = wide - wide.mean(0)
    return (centred * torch.rsqrt((centred * centred).mean(0) + 1e-5)).to(BF16)


@program(of(16, 128, 64, 64))
def quantize_channels(x):
    scale = x.abs().amax((0, 2, 3), keepdim=True) / 127
    return torch.clamp(torch.round(x / scale), -127, 127).to(torch.int8), scale


@program(of(8, 512, 1024), w(8, 1024, 2048), of(8, 1, 2048), w(8, 2048, 1024))
def experts(x, w_up, b_up, w_down):
    return torch.bmm(F.silu(torch.bmm(x, w_up) + b_up), w_down)


@program(of(4, 512, 12, 64), of(4, 512, 12, 64), of(4, 512, 12, 64), of(1, 12, 512, 512))
def attention_with_position_bias(q, k, v, bias):
    q, k, v = (t.permute(0, 2, 1, 3) for t in (q, k, v))
    scores = torch.matmul(q, k.transpose(-2, -1)) / 8.0 + bias
    return torch.matmul(torch.softmax(scores, dim=-1), v)


@program(of(16384, 64, dtype=F32))
def router_statistics(logits):
    probs = torch.softmax(logits, dim=-1)
    return probs, probs.sum(0), (probs > 0.05).float().sum(0)


# A second check: written after the first one had mended the recipe once more, and before they were measured.


@program(of(16, 512, 768), w(768, 768), of(768), of(768), of(768))
def tanh_pooler_with_norm(x, w_pool, b_pool, g, b):
    first = torch.tanh(F.linear(x[:, 0], w_pool, b_pool))
    return F.layer_norm(first, (768,), g, b), x.amax(1)


@program(of(4096, 3072), of(3072), of(4096, 1024))
def gated_three_ways(x, b, skip):
    a, g, v = (x + b).chunk(3, dim=-1)
    return torch.sigmoid(a) * torch.tanh(g) * v + skip


@program(of(32768, 1024, dtype=F32), of(1024, dtype=F32))
def layer_norm_backward_like(dy, g):
    scaled = dy * g
    return scaled - scaled.mean(-1, keepdim=True), dy.sum(0)


@program(of(2, 16, 512, 64), of(2, 16, 512, 64), of(2, 16, 512, 64), of(512, 512, dtype=F32))
def attention_in_f32_mask(q, k, v, mask):
    scores = (q @ k.transpose(-2, -1)).float() * 0.125 + mask
    return torch.softmax(scores, dim=-1).to(BF16) @ v


@program(of(1024, 50257, dtype=F32), lambda: integers(50257, 1024))
def temperature_and_entropy(logits, target):
    log_probs = torch.log_softmax(logits / 0.7, dim=-1)
    entropy = -(torch.exp(log_probs) * log_probs).sum(-1)
    return log_probs.gather(-1, target[:, None])[:, 0], entropy


@program(of(64, 128, 32, 32), of(128), of(128))
def group_norm_two_axes(x, g, b):
    y = x.view(64, 8, 16, 32, 32).float()
    mean = y.mean((2, 3, 4), keepdim=True)
    var = y.var((2, 3, 4), keepdim=True, correction=0)
    y = ((y - mean) * torch.rsqrt(var + 1e-5)).view(64, 128, 32, 32)
    return torch.relu(y.to(BF16) * g.view(1, 128, 1, 1) + b.view(1, 128, 1, 1))


@program(of(1 << 20, dtype=F32), of(1 << 20, dtype=F32))
def lamb_norms(p, update):
    ratio = torch.sqrt((p * p).sum()) / torch.sqrt((update * update).sum())
    return p - 0.01 * ratio * update


@program(of(8, 12, 256, 64), of(8, 12, 256, 64))
def decay_along_a_sequence(k, v):
    return torch.cumsum(k * v, dim=2) / torch.arange(1, 257, device=k.device, dtype=BF16)[:, None]


@program(of(4096, 512), of(4096, 512), w(512, 1024))
def project_a_concatenation(a, b, w_out):
    return F.linear(torch.cat((a, torch.relu(b)), dim=-1), w_out)


@program(of(512, 256, 64), of(64), of(64))
def swap_then_normalize(x, g, b):
    return F.layer_norm(x.transpose(0, 1), (64,), g, b).sum(1)
