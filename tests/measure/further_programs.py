"""Further programs as engineers write them, written before they were measured, as those of more_programs.py."""

import math

import torch
import torch.nn.functional as F

from more_programs import filters, image, index, mask, positive
from programs import BF16, F32, integers, of, program, w

# Round 8.


@program(of(4, 1024, 1024), of(1024), of(1024), w(3072, 1024), of(3072), w(1024, 1024), of(1024), w(4096, 1024), of(4096), w(1024, 4096), of(1024))
def parallel_gpt_j_block(x, g, c, w_qkv, b_qkv, wo, bo, w1, b1, w2, b2):
    h = F.layer_norm(x, (1024,), g, c)
    q, k, v = (p.view(4, 1024, 16, 64).transpose(1, 2) for p in F.linear(h, w_qkv, b_qkv).chunk(3, -1))
    a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(4, 1024, 1024)
    return x + F.linear(a, wo, bo) + F.linear(F.gelu(F.linear(h, w1, b1), approximate="tanh"), w2, b2)


@program(of(2, 1024, 2048), of(2048), w(2048, 2048), w(2048, 2048), w(2048, 2048), of(128), of(128), of(1024, 128), of(1024, 128), w(2048, 2048))
def attention_with_normed_heads(x, g, wq, wk, wv, gq, gk, cos, sin, wo):
    h = F.rms_norm(x, (2048,), g)
    q, k, v = (F.linear(h, m).view(2, 1024, 16, 128) for m in (wq, wk, wv))
    q, k = F.rms_norm(q, (128,), gq).transpose(1, 2), F.rms_norm(k, (128,), gk).transpose(1, 2)

    def turned(t):
        a, b = t.chunk(2, dim=-1)
        return t * cos + torch.cat((-b, a), dim=-1) * sin

    a = F.scaled_dot_product_attention(turned(q), turned(k), v.transpose(1, 2), is_causal=True)
    return x + F.linear(a.transpose(1, 2).reshape(2, 1024, 2048), wo)


@program(of(8, 512, 512), w(1536, 512), of(1536), of(8, 1, 512, 512), w(512, 512), of(512))
def graph_biased_attention(x, w_qkv, b_qkv, bias, wo, bo):
    q, k, v = F.linear(x, w_qkv, b_qkv).view(8, 512, 3, 8, 64).permute(2, 0, 3, 1, 4).unbind(0)
    scores = torch.matmul(q, k.transpose(-1, -2)) * 0.125 + bias
    mixed = torch.matmul(torch.softmax(scores, dim=-1), v)
    return F.linear(mixed.transpose(1, 2).reshape(8, 512, 512), wo, bo)


@program(of(4, 8, 1024, 64), of(4, 8, 1024, 64), of(4, 8, 1024, 64))
def kernel_feature_attention(q, k, v):
    q, k = F.relu(q) + 1e-3, F.relu(k) + 1e-3
    state = k.transpose(-1, -2) @ v
    return (q @ state) / (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)


@program(of(2, 16, 512, 64), of(2, 16, 512, 64), of(2, 16, 512, 64), of(512, 512), of(16, 1, 1, dtype=F32))
def cosine_attention(q, k, v, bias, temperature):
    q, k = F.normalize(q.float(), dim=-1).to(BF16), F.normalize(k.float(), dim=-1).to(BF16)
    scores = (q @ k.transpose(-1, -2)).float() * torch.exp(temperature.clamp(max=4.6)) + bias.float()
    return torch.softmax(scores, dim=-1).to(BF16) @ v


@program(of(8, 256, 1024), of(8, 64, 1024), of(1024), of(1024), w(1024, 1024), w(2048, 1024), w(1024, 1024), of(1))
def gated_cross_attention(x, media, g, c, wq, wkv, wo, gate):
    q = F.linear(F.layer_norm(x, (1024,), g, c), wq).view(8, 256, 16, 64).transpose(1, 2)
    k, v = (p.view(8, 64, 16, 64).transpose(1, 2) for p in F.linear(media, wkv).chunk(2, -1))
    a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(8, 256, 1024)
    return x + torch.tanh(gate) * F.linear(a, wo)


@program(of(4, 1024, 2048), of(2048), w(5504, 2048), w(5504, 2048), w(2048, 5504), of(2048))
def feed_forward_with_norm_behind(x, g, w_gate, w_up, w_down, g_behind):
    h = F.rms_norm(x, (2048,), g)
    h = F.linear(F.gelu(F.linear(h, w_gate), approximate="tanh") * F.linear(h, w_up), w_down)
    return x + F.rms_norm(h, (2048,), g_behind)


@program(of(4096, 1024), of(4096, 1024), of(4096, 1024), of(1024), of(1024))
def sum_of_three_then_norm(x, y, z, g, b):
    h = x + 0.5 * y + 0.25 * z
    return F.layer_norm(h, (1024,), g, b), h


@program(of(4096, 2048), of(2048), of(2048), positive(2048, dtype=F32))
def smoothed_norm_quantize(x, g, b, smooth):
    h = F.layer_norm(x, (2048,), g, b).float() / smooth
    scale = h.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
    return torch.round(h / scale).clamp(-127, 127).to(torch.int8), scale


@program(of(16, 128, 64, 64), of(128), of(128))
def group_norm_twice_gated(x, g, b):
    h = F.group_norm(x, 16, g, b)
    return h * torch.sigmoid(h) + x


@program(of(32, 1024, 48), of(48), of(48), w(192, 48), of(192), w(48, 192), of(48))
def narrow_feed_forward(x, g, b, w1, b1, w2, b2):
    return x + F.linear(F.relu(F.linear(F.layer_norm(x, (48,), g, b), w1, b1)), w2, b2)


@program(of(2048, 50304), index(50304, 2048), of(2048, dtype=F32))
def weighted_token_loss(logits, target, weights):
    losses = F.cross_entropy(logits.float(), target, reduction="none")
    return (losses * weights).sum() / weights.sum().clamp(min=1)


@program(of(4096, 1000), of(4096, 1000))
def jensen_shannon(a, b):
    p, q = torch.softmax(a.float(), -1), torch.softmax(b.float(), -1)
    m = torch.log(0.5 * (p + q) + 1e-9)
    return 0.5 * ((p * (torch.log(p + 1e-9) - m)).sum(-1) + (q * (torch.log(q + 1e-9) - m)).sum(-1)).mean()


@program(of(16384, 40, dtype=F32), mask(16384, 40))
def asymmetric_multi_label(x, y):
    y = y.float()
    p = torch.sigmoid(x)
    not_p = (1 - p + 0.05).clamp(max=1)
    loss = y * torch.log(p.clamp(min=1e-8)) * (1 - p) + (1 - y) * torch.log(not_p.clamp(min=1e-8)) * (1 - not_p) ** 4
    return -loss.sum(-1).mean()


@program(of(8, 1, 128, 128), mask(8, 1, 128, 128))
def tversky_loss(x, y):
    p, y = torch.sigmoid(x.float()).flatten(1), y.float().flatten(1)
    hit, extra, missed = (p * y).sum(1), (p * (1 - y)).sum(1), ((1 - p) * y).sum(1)
    return 1 - ((hit + 1) / (hit + 0.3 * extra + 0.7 * missed + 1)).mean()


@program(of(512, 256, dtype=F32), of(512, 256, dtype=F32), of(512, dtype=F32))
def contrastive_pairs(a, b, same):
    d = torch.sqrt((a - b).pow(2).sum(1) + 1e-6)
    return (same * d.pow(2) + (1 - same) * F.relu(1 - d).pow(2)).mean()


@program(of(1024, 1024, dtype=F32), of(1024, 1024, dtype=F32))
def decorrelation(x, y):
    x = (x - x.mean(0)) * torch.rsqrt(x.var(0) + 1e-5)
    y = (y - y.mean(0)) * torch.rsqrt(y.var(0) + 1e-5)
    return (x.T @ y / 1024).pow(2).sum()


@program(of(2048, 4096, dtype=F32), of(2048, 4096), of(2048, 4096, dtype=F32), positive(2048, 4096, dtype=F32), positive(2048, 4096, dtype=F32))
def ams_grad_from_half(p, g, m, v, v_max):
    g = g.float() + 1e-4 * p
    m, v = m + 0.1 * (g - m), v + 0.001 * (g * g - v)
    v_max = torch.maximum(v_max, v)
    return p - 1e-3 * m / (torch.sqrt(v_max) + 1e-8), m, v, v_max


@program(of(2048, 1024, dtype=F32), of(2048, 1024, dtype=F32), positive(2048, dtype=F32))
def row_wise_adagrad(p, g, state):
    state = state + (g * g).mean(1)
    return p - 0.01 * g / (torch.sqrt(state)[:, None] + 1e-8), state


@program(of(1024, 2048, dtype=F32), of(1024, 2048, dtype=F32), of(1024, 2048, dtype=F32))
def trust_ratio_by_row(p, g, m):
    m = 0.9 * m + g + 0.01 * p
    ratio = p.norm(dim=1, keepdim=True) / (m.norm(dim=1, keepdim=True) + 1e-8)
    return p - 0.1 * ratio.clamp(max=10) * m, m


@program(of(1 << 21, dtype=F32), of(1 << 21, dtype=F32), of(1 << 21, dtype=F32))
def sharpness_step(p, g, noise):
    e = g * (0.05 / (g.norm() + 1e-12))
    return p + e + 0.01 * noise, e


@program(image(16, 128, 32, 32), filters(128, 128, 3, 3), of(128), of(128), positive(128), of(128), of(128))
def residual_with_leaky_relu(x, f, b, mean, var, g, shift):
    h = F.batch_norm(F.conv2d(x, f, b, padding=1), mean, var, g, shift)
    return x + F.leaky_relu(h, 0.1)


@program(image(8, 64, 64, 64), filters(64, 64, 3, 3), of(64), filters(128, 64, 3, 3), of(128))
def two_convs_with_stride(x, f1, b1, f2, b2):
    return F.silu(F.conv2d(F.silu(F.conv2d(x, f1, b1, padding=1)), f2, b2, stride=2, padding=1))


@program(image(8, 256, 16, 16), filters(64, 256, 1, 1), of(64), of(256), of(256))
def context_block(x, f, b, g, shift):
    pooled = x.mean((2, 3), keepdim=True)
    h = F.relu(F.conv2d(pooled, f, b))
    return torch.cat((F.relu(x * g[:, None, None] + shift[:, None, None]), h.expand(8, 64, 16, 16)), dim=1)


@program(image(8, 128, 40, 40), filters(64, 128, 3, 3), of(64))
def dense_prediction_probabilities(x, f, b):
    return torch.softmax(F.conv2d(x, f, b, padding=1).float(), dim=1)


@program(of(16, 64, 48, 48), of(16, 64, 48, 48))
def pooled_difference(x, y):
    return F.avg_pool2d((x - y).abs(), 4)


@program(of(8, 4, 64, 64, dtype=F32), of(8, 4, 64, 64), of(8, dtype=F32), of(8, dtype=F32))
def euler_step_with_rescaled_guidance(x, eps, sigma, sigma_next):
    cond, uncond = eps[:4].float(), eps[4:].float()
    guided = uncond + 5.0 * (cond - uncond)
    guided = guided * (cond.std((1, 2, 3), keepdim=True) / guided.std((1, 2, 3), keepdim=True))
    return x[:4] + guided * (sigma_next - sigma)[:4, None, None, None]


@program(of(8, 256, 768), of(8, 768), w(2304, 768), of(2304))
def modulated_tokens(x, c, w_mod, b_mod):
    shift, scale, gate = F.linear(F.silu(c), w_mod, b_mod)[:, None].chunk(3, dim=-1)
    h = x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(BF16)
    return x + gate * (h * (1 + scale) + shift)


@program(of(2048, 4096), lambda: integers(127, 4096, 4096, dtype=torch.int8), of(4096), of(4096))
def weight_only_int8_with_bias(x, w_q, scale, b):
    return F.linear(x, w_q.to(BF16)) * scale + b


@program(of(4096, 4096))
def fake_quantize_with_error(x):
    scale = x.float().abs().amax() / 127
    q = torch.round(x.float() / scale).clamp(-127, 127) * scale
    return q.to(BF16), (q - x.float()).pow(2).mean()


@program(of(2048, 32, 128))
def four_bit_blocks(x):
    low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    step = (high - low).float() / 15 + 1e-6
    return torch.round((x.float() - low.float()) / step).to(torch.int8), step, low


@program(index(200000, 4096), index(200000, 4096, 8), w(200000, 64))
def sampled_item_loss(anchor, others, table):
    a, b = F.embedding(anchor, table), F.embedding(others, table)
    scores = (a[:, None] * b).sum(-1).float()
    return -torch.log_softmax(scores, dim=-1)[:, 0].mean()


@program(of(4096, 39, 16), of(39, 16))
def pairwise_field_interactions(e, bias):
    h = e + bias
    total = h.sum(1)
    return 0.5 * (total * total - (h * h).sum(1)), h.mean(1)


@program(of(4096, 512), w(512, 512), of(512), w(512, 512), of(512), of(512))
def gated_cross_layer(x, w1, b1, w2, b2, g):
    return F.rms_norm(x * torch.sigmoid(F.linear(x, w1, b1)) * F.linear(x, w2, b2) + x, (512,), g)


@program(of(1024, 128), w(128, 128), mask(1024, 1024), of(1024, 1024))
def masked_edge_mixing(x, w1, edges, weights):
    scores = torch.where(edges, weights.float(), -1e9)
    return F.elu(torch.softmax(scores, dim=-1).to(BF16) @ F.linear(x, w1))


@program(of(256, 64, 3, dtype=F32), of(256, 64, dtype=F32))
def radial_basis_edges(x, charge):
    d = torch.sqrt(((x[:, :, None] - x[:, None]) ** 2).sum(-1) + 1e-6)
    energy = charge[:, :, None] * charge[:, None] / d
    return torch.exp(-2 * (d - 1) ** 2), energy.sum((1, 2))


@program(of(16, 80, 1024), of(80), of(80))
def spectrogram_normalize_and_delta(x, mean, std):
    h = (x.float() - mean.float()[:, None]) / std.float()[:, None].abs().clamp(min=1e-3)
    return h, h[..., 2:] - h[..., :-2]


@program(of(8, 64000, dtype=F32))
def loudness_and_peak(x):
    power = (x * x).mean(-1, keepdim=True)
    return x * torch.rsqrt(power + 1e-8), 10 * torch.log10(power + 1e-8), x.abs().amax(-1)


@program(of(128, 256, dtype=F32), of(128, 256, dtype=F32), mask(128, 256))
def normalized_advantages(returns, values, kept):
    k = kept.float()
    a = returns - values
    mean = (a * k).sum() / k.sum()
    var = ((a - mean) ** 2 * k).sum() / k.sum()
    return (a - mean) * torch.rsqrt(var + 1e-8) * k


@program(of(2048, 8, dtype=F32), of(2048, 8, dtype=F32), index(8, 2048, 1), of(2048, dtype=F32))
def double_q_targets(online, target, action, reward):
    best = torch.where(online >= online.amax(-1, keepdim=True), target, -1e9).amax(-1)
    chosen = online.gather(1, action)[:, 0]
    return F.smooth_l1_loss(chosen, reward + 0.99 * best)


@program(of(4096, 4096), of(4096, 1, dtype=F32), of(4096, 1, dtype=F32), of(4096, 4096))
def softmax_gradient_from_statistics(scores, top, total, grad):
    p = torch.exp(scores.float() - top) / total
    return (p * (grad.float() - (p * grad.float()).sum(-1, keepdim=True))).to(BF16)


@program(of(8192, 2048), of(8192, 2048), of(2048))
def silu_gate_gradients(x, dy, g):
    s = torch.sigmoid(x.float())
    d = dy.float() * g.float()
    return (d * s * (1 + x.float() * (1 - s))).to(BF16), (dy.float() * x.float() * s).sum(0)


@program(of(1024, 64, dtype=F32))
def robust_moments(x):
    centre = x.mean(0)
    d = (x - centre).abs()
    return centre, d.mean(0), (d > 2 * d.mean(0)).float().mean()


@program(of(32, 512, 16, dtype=F32), of(16, dtype=F32))
def exponential_decay_mix(x, rate):
    steps = torch.arange(512, device=x.device, dtype=F32)
    weights = torch.exp(-F.softplus(rate) * steps[:, None])
    return (x * weights).sum(1) / weights.sum(0)


@program(of(4, 256, 256, 64), of(64), of(64), w(64, 64), w(64, 64))
def pair_update(z, g, b, w_gate, w_value):
    h = F.layer_norm(z, (64,), g, b)
    return z + torch.sigmoid(F.linear(h, w_gate)) * F.linear(h, w_value)


@program(of(16, 96, 512), w(512, 96), of(512), w(96, 512), of(96), of(512), of(512))
def time_mixing(x, w1, b1, w2, b2, g, b):
    h = F.layer_norm(x, (512,), g, b).transpose(1, 2)
    return x + F.linear(F.gelu(F.linear(h, w1, b1)), w2, b2).transpose(1, 2)


# Round 9.


@program(of(8, 256, 768), of(768), of(768), w(2304, 768), of(2304), w(768, 768), of(768), of(768), of(768), w(3072, 768), of(3072), w(768, 3072), of(768))
def encoder_layer_norm_first(x, g1, c1, w_qkv, b_qkv, wo, bo, g2, c2, w1, b1, w2, b2):
    q, k, v = F.linear(F.layer_norm(x, (768,), g1, c1), w_qkv, b_qkv).view(8, 256, 3, 12, 64).unbind(2)
    q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
    x = x + F.linear(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(8, 256, 768), wo, bo)
    return x + F.linear(F.relu(F.linear(F.layer_norm(x, (768,), g2, c2), w1, b1)), w2, b2)


@program(of(2, 512, 1024), w(1024, 1024), w(256, 1024), w(256, 1024), of(512, 64), of(512, 64), mask(512, 512))
def grouped_queries_by_expand(x, wq, wk, wv, cos, sin, causal):
    q = F.linear(x, wq).view(2, 512, 16, 64).transpose(1, 2)
    k = F.linear(x, wk).view(2, 512, 4, 64).transpose(1, 2)
    v = F.linear(x, wv).view(2, 512, 4, 64).transpose(1, 2)
    half = lambda t: torch.cat((-t[..., 32:], t[..., :32]), dim=-1)
    q, k = q * cos + half(q) * sin, k * cos + half(k) * sin
    k, v = (t[:, :, None].expand(2, 4, 4, 512, 64).reshape(2, 16, 512, 64) for t in (k, v))
    scores = (q @ k.transpose(2, 3) * 0.125).masked_fill(~causal, float("-inf"))
    return torch.softmax(scores, dim=-1, dtype=F32).to(BF16) @ v


@program(of(16, 8, 256, 64), of(16, 8, 256, 64), of(16, 8, 256, 64), of(16, 1, 1, 256))
def divided_and_padded_attention(q, k, v, padding):
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(64)
    return torch.matmul(torch.softmax(scores + padding, dim=-1), v)


@program(of(4, 16, 1024, 32, dtype=F32), of(4, 16, 1024, 32, dtype=F32), of(4, 16, 1024, 32, dtype=F32))
def attention_call_in_f32(q, k, v):
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(4, 1024, 512) * 2


@program(of(4, 1024, 1024), w(1024, 1024), w(1024, 1024), w(1024, 1024), of(16, dtype=F32))
def retention_by_decay(x, wq, wk, wv, rate):
    q, k, v = (F.linear(x, m).view(4, 1024, 16, 64).transpose(1, 2) for m in (wq, wk, wv))
    at = torch.arange(1024, device=x.device, dtype=F32)
    decay = torch.exp(-F.softplus(rate)[:, None, None] * (at[:, None] - at).clamp(min=0))
    scores = torch.tril((q @ k.transpose(-1, -2)).float() * decay).to(BF16)
    return scores @ v


@program(of(4, 2048, 1024), of(1024), of(1024), w(1024, 1024), of(1024))
def sandwich_norm(x, g1, g2, w1, b1):
    return x + F.rms_norm(F.linear(F.rms_norm(x, (1024,), g1), w1, b1), (1024,), g2)


@program(of(4096, 3072), of(3072), of(3072), of(4096, 3072))
def norm_of_gated_product(x, g, b, z):
    return F.layer_norm(x * F.silu(z), (3072,), g, b) * F.silu(z)


@program(of(2048, 32, 64), of(64), of(32, 1))
def norm_by_head_with_scale(x, g, s):
    return (F.rms_norm(x, (64,), g) * s).view(2048, 2048)


@program(of(64, 512, 196), of(512), of(512))
def batch_statistics_of_tokens(x, g, b):
    h = x.float()
    mean, var = h.mean((0, 2), keepdim=True), h.var((0, 2), keepdim=True)
    return ((h - mean) * torch.rsqrt(var + 1e-5) * g[:, None] + b[:, None]).to(BF16)


@program(of(1024, 32000), of(1024, 32000), index(32000, 1024))
def distil_and_label(student, teacher, target):
    log_probs = torch.log_softmax(student.float(), dim=-1)
    soft = -(torch.softmax(teacher.float(), dim=-1) * log_probs).sum(-1)
    hard = -log_probs.gather(1, target[:, None])[:, 0]
    return (0.7 * soft + 0.3 * hard).mean()


@program(of(4096, 100, dtype=F32), index(100, 4096, 1))
def margin_by_class(scores, target):
    own = scores.gather(1, target)
    return F.relu(scores - own + 1).sum(-1).mean() - 1, (own[:, 0] > 0).float().mean()


@program(of(2048, 512, dtype=F32), of(2048, 512, dtype=F32))
def log_cosh_and_mape(x, y):
    e = x - y
    a = e.abs()
    return (a + F.softplus(-2 * a) - 0.6931472).mean(), (a / (y.abs() + 1e-3)).mean()


@program(of(8, 32, 128, 128), of(8, 32, 128, 128))
def charbonnier_and_edges(x, y):
    e = torch.sqrt((x.float() - y.float()) ** 2 + 1e-6)
    return e.mean((1, 2, 3)), (e[..., 1:] - e[..., :-1]).abs().mean((1, 2, 3))


@program(of(1024, 768, dtype=F32), of(1024, 768, dtype=F32))
def alignment_and_spread(a, b):
    a, b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    return (a - b).pow(2).sum(1).mean(), torch.log(torch.exp(-2 * (2 - 2 * a @ a.T)).mean())


@program(of(4096, 1024, dtype=F32), of(4096, 1024), of(4096, 1024, dtype=F32))
def nesterov_with_master_weights(p, g, m):
    g = g.float()
    m = 0.95 * m + g
    p = p * (1 - 1e-5) - 0.02 * (g + 0.95 * m)
    return p, m, p.to(BF16)


@program(of(1024, 4096, dtype=F32), of(1024, 4096, dtype=F32))
def column_scaled_update(p, g):
    scale = torch.rsqrt((g * g).mean(0) + 1e-8)
    return p - 1e-3 * g * scale


@program(of(512, 1024, dtype=F32), of(512, 1024, dtype=F32), of(512, 1024, dtype=F32))
def clipped_pair_of_gradients(a, b, p):
    total = torch.sqrt((a * a).sum() + (b * b).sum())
    scale = torch.clamp(1.0 / (total + 1e-6), max=1.0)
    return p - 0.1 * a * scale, b * scale


@program(image(16, 64, 56, 56), filters(128, 64, 3, 3), of(128), positive(128), of(128), of(128), filters(128, 64, 1, 1), of(128), positive(128), of(128), of(128))
def block_with_projection(x, f1, m1, v1, g1, b1, f2, m2, v2, g2, b2):
    h = F.batch_norm(F.conv2d(x, f1, stride=2, padding=1), m1, v1, g1, b1)
    return F.relu(h + F.batch_norm(F.conv2d(x, f2, stride=2), m2, v2, g2, b2))


@program(image(8, 128, 32, 32), of(128), of(128), filters(128, 128, 3, 3), of(128))
def norm_activate_convolve(x, g, b, f, bias):
    return x + F.conv2d(F.gelu(F.group_norm(x, 32, g, b)), f, bias, padding=1)


@program(image(8, 64, 64, 64), filters(64, 64, 3, 3), of(64), filters(64, 64, 3, 3), of(64))
def gated_convolution(x, f1, b1, f2, b2):
    return torch.tanh(F.conv2d(x, f1, b1, padding=1)) * torch.sigmoid(F.conv2d(x, f2, b2, padding=1))


@program(of(32, 8, 8, 512), of(512), of(512), w(2048, 512), w(512, 2048))
def window_reverse_and_mlp(x, g, b, w1, w2):
    h = x.view(2, 4, 4, 8, 8, 512).permute(0, 1, 3, 2, 4, 5).reshape(2, 1024, 512)
    return h + F.linear(F.gelu(F.linear(F.layer_norm(h, (512,), g, b), w1)), w2)


@program(of(8, 3, 128, 128, dtype=F32), of(8, 3, 128, 128, dtype=F32))
def image_blend_and_clip(x, y):
    grey = x.mean(1, keepdim=True)
    z = torch.clamp(0.6 * x + 0.4 * grey, 0, 1)
    return z, (z - y).abs().mean((1, 2, 3))


@program(of(4, 4, 64, 64, dtype=F32), of(4, 4, 64, 64), of(4, dtype=F32))
def predicted_start_clamped(x, v, t_):
    a, s = torch.cos(t_)[:, None, None, None], torch.sin(t_)[:, None, None, None]
    start = a * x - s * v.float()
    limit = start.abs().amax((1, 2, 3), keepdim=True).clamp(min=1)
    return start / limit, s * x + a * v.float()


@program(of(2048, 4096), of(4096))
def quantize_by_groups_of_the_row(x, smooth):
    h = (x * smooth).float().view(2048, 32, 128)
    scale = h.abs().amax(-1, keepdim=True).clamp(min=1e-8) / 127
    return torch.round(h / scale).to(torch.int8).view(2048, 4096), scale.view(2048, 32)


@program(lambda: integers(127, 1024, 4096, dtype=torch.int8), of(1024, 1, dtype=F32), of(4096), w(1024, 4096))
def dequantize_into_norm_linear(q, scale, g, w1):
    return F.linear(F.rms_norm((q.float() * scale).to(BF16), (4096,), g), w1)


@program(index(100000, 2048, 26), w(100000, 32), of(26, 32))
def attentional_factorization(ids, table, query):
    e = F.embedding(ids, table)
    p = torch.softmax((e * query).sum(-1).float(), dim=-1)
    return (e.float() * p[..., None]).sum(1)


@program(of(2048, 512), of(2048, 512), w(512, 1024), of(512))
def late_fusion_gate(a, b, w1, b1):
    gate = torch.sigmoid(F.linear(torch.cat((a, b), dim=-1), w1, b1))
    return gate * a + (1 - gate) * b


@program(of(1024, 32, 64), of(1024, 32, 32), w(64, 64), of(64))
def neighbour_mean_update(x, edges, w1, b1):
    degree = edges.float().abs().sum(-1, keepdim=True).clamp(min=1)
    return F.relu(F.linear((edges @ x / degree.to(BF16)), w1, b1)) + x


@program(of(16, 48000, dtype=F32), of(16, 48000, dtype=F32))
def scale_invariant_error(x, y):
    scale = (x * y).sum(-1, keepdim=True) / ((y * y).sum(-1, keepdim=True) + 1e-8)
    e = x - scale * y
    return (e * e).mean(-1)


@program(of(32, 512, 80), w(512, 80), of(512), w(512, 512), of(512))
def prenet_and_residual(x, w1, b1, w2, b2):
    h = F.relu(F.linear(x, w1, b1))
    return h + F.relu(F.linear(h, w2, b2))


@program(of(256, 128, dtype=F32), of(256, 128, dtype=F32), of(256, 128, dtype=F32))
def off_policy_corrections(log_new, log_old, reward):
    ratio = torch.exp((log_new - log_old).clamp(-5, 5))
    weights = torch.clamp(ratio, max=1.0)
    return weights * reward, (ratio * ratio).mean(), weights.mean()


@program(of(4096, 16, dtype=F32), of(4096, 16, dtype=F32))
def mixture_log_likelihood(logits, log_p):
    joint = torch.log_softmax(logits, dim=-1) + log_p
    return torch.logsumexp(joint, dim=-1).mean(), torch.softmax(joint, dim=-1)


@program(of(64, 4096, dtype=F32), of(4096, dtype=F32))
def whiten_by_running_mean(x, mean):
    new = 0.9 * mean + 0.1 * x.mean(0)
    return x - new, new, (x - new).pow(2).mean()


@program(of(8192, 512), of(8192, 512), of(8192, 1, dtype=F32), of(512))
def rms_norm_gradient_without_weight_gradient(x, dy, rstd, g):
    d = dy.float() * g.float()
    h = x.float() * rstd
    return (rstd * (d - h * (d * h).mean(-1, keepdim=True))).to(BF16) + dy


@program(of(4, 16, 64, 128), of(4, 16, 64, 128), of(4, 16, 64, dtype=F32))
def delta_rule_chunk(k, v, beta):
    scores = torch.tril((k @ k.transpose(-1, -2)).float() * beta[..., None], -1)
    return v - (scores.to(BF16) @ v)


@program(of(8, 128, 256), w(1024, 256), of(1024), w(256, 1024), of(256), of(256), of(128, 256))
def position_then_feed_forward(x, w1, b1, w2, b2, g, positions):
    h = x + positions
    return F.rms_norm(h + F.linear(F.gelu(F.linear(h, w1, b1)), w2, b2), (256,), g)
