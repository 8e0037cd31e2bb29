"""More programs as engineers write them, each round written before it was measured. `tests/model/programs/predicted.json` has what
the recipe said of them on the day that they were written.
"""

import math

import torch
import torch.nn.functional as F

from programs import BF16, F32, integers, of, program, t, w, weight


def image(*shape, dtype=BF16):
    return lambda: t(*shape, dtype=dtype).to(memory_format=torch.channels_last)


def filters(*shape):
    return lambda: weight(*shape).to(memory_format=torch.channels_last)


def positive(*shape, dtype=BF16):
    return lambda: t(*shape, dtype=dtype).abs()


def index(bound, *shape):
    return lambda: integers(bound, *shape)


def mask(*shape):
    return lambda: torch.rand(*shape, device="cuda") > 0.3


# Round 4.


@program(of(8, 512, 768), w(768, 768), of(768), w(768, 768), of(768), w(768, 768), of(768), w(768, 768), of(768), of(768), of(768), w(3072, 768), of(3072), w(768, 3072), of(768), of(768), of(768))
def bert_layer(x, wq, bq, wk, bk, wv, bv, wo, bo, g1, c1, w1, b1, w2, b2, g2, c2):
    q, k, v = (F.linear(x, m, b).view(8, 512, 12, 64).transpose(1, 2) for m, b in ((wq, bq), (wk, bk), (wv, bv)))
    mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(8, 512, 768)
    x = F.layer_norm(x + F.linear(mixed, wo, bo), (768,), g1, c1)
    return F.layer_norm(x + F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2), (768,), g2, c2)


@program(of(4, 2048, 2304), of(2304))
def gemma_norm(x, g):
    wide = x.float()
    normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
    return (normed * (1.0 + g.float())).to(BF16)


@program(of(2, 1024, 2048), of(2048), of(2048), w(6144, 2048), w(2048, 2048), w(8192, 2048), w(2048, 8192))
def parallel_block(x, g, b, w_qkv, w_out, w_up, w_down):
    h = F.layer_norm(x, (2048,), g, b)
    q, k, v = (part.view(2, 1024, 16, 128).transpose(1, 2) for part in F.linear(h, w_qkv).chunk(3, dim=-1))
    mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(2, 1024, 2048)
    return x + F.linear(mixed, w_out) + F.linear(F.gelu(F.linear(h, w_up), approximate="tanh"), w_down)


@program(image(32, 3, 224, 224), filters(768, 3, 16, 16), of(768), of(1, 1, 768), of(1, 197, 768))
def vit_patches(x, f, b, cls, positions):
    tokens = F.conv2d(x, f, b, stride=16).flatten(2).transpose(1, 2)
    return torch.cat((cls.expand(32, 1, 768), tokens), dim=1) + positions


@program(image(32, 3, 224, 224), filters(64, 3, 7, 7), of(64), positive(64), of(64), of(64))
def resnet_stem(x, f, mean, var, g, b):
    h = F.relu(F.batch_norm(F.conv2d(x, f, stride=2, padding=3), mean, var, g, b))
    return F.max_pool2d(h, 3, 2, 1)


@program(image(16, 256, 28, 28), of(256), positive(256), of(256), of(256), filters(128, 256, 1, 1), of(128), positive(128), of(128), of(128), filters(32, 128, 3, 3))
def dense_layer(x, m1, v1, g1, b1, f1, m2, v2, g2, b2, f2):
    h = F.conv2d(F.relu(F.batch_norm(x, m1, v1, g1, b1)), f1)
    h = F.conv2d(F.relu(F.batch_norm(h, m2, v2, g2, b2)), f2, padding=1)
    return torch.cat((x, h), dim=1)


@program(image(32, 24, 56, 56), filters(144, 24, 1, 1), of(144), positive(144), filters(144, 1, 3, 3), of(144), positive(144), filters(24, 144, 1, 1), of(24), positive(24))
def inverted_residual(x, f1, m1, v1, f2, m2, v2, f3, m3, v3):
    h = F.relu6(F.batch_norm(F.conv2d(x, f1), m1, v1))
    h = F.relu6(F.batch_norm(F.conv2d(h, f2, padding=1, groups=144), m2, v2))
    return x + F.batch_norm(F.conv2d(h, f3), m3, v3)


@program(image(8, 256, 32, 32), image(8, 512, 64, 64), filters(256, 512, 1, 1), of(256))
def pyramid_merge(top, lateral, f, b):
    return F.interpolate(top, scale_factor=2, mode="nearest") + F.conv2d(lateral, f, b)


@program(of(16, 256, 56, 56), w(16, 256), w(256, 16))
def channel_attention(x, w1, w2):
    gates = [F.linear(F.relu(F.linear(s, w1)), w2) for s in (x.mean((2, 3)), x.amax((2, 3)))]
    return x * torch.sigmoid(gates[0] + gates[1])[:, :, None, None]


@program(image(8, 256, 32, 32), filters(128, 256, 1, 1), filters(128, 256, 1, 1), filters(128, 256, 1, 1), filters(256, 128, 1, 1))
def non_local_block(x, f_theta, f_phi, f_g, f_out):
    theta, phi, g = (F.conv2d(x, f).flatten(2) for f in (f_theta, f_phi, f_g))
    weights = torch.softmax(theta.transpose(1, 2) @ phi, dim=-1)
    mixed = (weights @ g.transpose(1, 2)).transpose(1, 2).reshape(8, 128, 32, 32)
    return x + F.conv2d(mixed.contiguous(memory_format=torch.channels_last), f_out)


@program(of(256, 512, dtype=F32), of(256, 512, dtype=F32), of(256, 512, dtype=F32))
def vae_sample_and_kl(mu, log_var, noise):
    z = mu + noise * torch.exp(0.5 * log_var)
    kl = -0.5 * (1 + log_var - mu.pow(2) - log_var.exp()).sum(1)
    return z, kl.mean()


@program(of(16, 4, 64, 64), of(16, 4, 64, 64), index(1000, 16), positive(1000, 1, dtype=F32))
def add_noise(x, noise, steps, alphas):
    a = F.embedding(steps, alphas)[:, :, None, None]
    return (torch.sqrt(a) * x + torch.sqrt(1 - a) * noise).to(BF16), (torch.sqrt(a) * noise - torch.sqrt(1 - a) * x).to(BF16)


@program(of(8, 512, 32, 32), of(8, 512, 32, 32))
def adaptive_instance_norm(content, style):
    mean_c, mean_s = content.mean((2, 3), keepdim=True), style.mean((2, 3), keepdim=True)
    std_c = torch.sqrt(content.var((2, 3), keepdim=True) + 1e-5)
    std_s = torch.sqrt(style.var((2, 3), keepdim=True) + 1e-5)
    return (content - mean_c) / std_c * std_s + mean_s


@program(of(16, 1024, 512), of(16, 256), w(1024, 256), of(1024))
def film(x, condition, w_film, b_film):
    scale, shift = F.linear(condition, w_film, b_film).chunk(2, dim=-1)
    return F.relu(x * (1 + scale[:, None]) + shift[:, None])


@program(of(64, 1, 30, 30), of(64, 1, 30, 30))
def hinge_losses(real, fake):
    return F.relu(1 - real).mean() + F.relu(1 + fake).mean(), -fake.mean()


@program(of(2048, 32000), of(2048, 32000), index(32000, 2048))
def distillation(student, teacher, target):
    log_p = torch.log_softmax(student.float() / 4, dim=-1)
    q = torch.softmax(teacher.float() / 4, dim=-1)
    soft = (q * (torch.log(q + 1e-9) - log_p)).sum(-1).mean() * 16
    return 0.5 * soft + 0.5 * F.cross_entropy(student.float(), target)


@program(of(1024, 768), of(1024, 768), of(1, dtype=F32), of(1, dtype=F32))
def sigmoid_pairs(a, b, temperature, bias):
    a, b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    logits = (a @ b.t()).float() * torch.exp(temperature) + bias
    rows = torch.arange(1024, device=a.device)
    labels = torch.where(rows[:, None] == rows, torch.ones_like(logits), -torch.ones_like(logits))
    return -F.logsigmoid(labels * logits).sum(-1).mean()


@program(of(16, 1024, dtype=F32), of(16, 1024, dtype=F32), of(16, 1024, dtype=F32), of(16, 1024, dtype=F32), mask(16, 1024))
def preference_loss(chosen, rejected, ref_chosen, ref_rejected, kept):
    kept = kept.float()
    a, b, c, d = ((x * kept).sum(-1) for x in (chosen, rejected, ref_chosen, ref_rejected))
    return -F.logsigmoid(0.1 * ((a - b) - (c - d))).mean()


@program(of(4096, 128, dtype=F32))
def standardize_all(x):
    return (x - x.mean()) / (x.std() + 1e-8)


@program(of(4 << 20, dtype=F32), of(4 << 20, dtype=F32), positive(4 << 20, dtype=F32), of(4 << 20, dtype=F32))
def rms_prop(p, g, square, momentum):
    square = 0.99 * square + 0.01 * g * g
    momentum = 0.9 * momentum + g / (torch.sqrt(square) + 1e-8)
    return p - 1e-2 * momentum, square, momentum


@program(of(1024, 4096))
def newton_schulz(x):
    x = x / (x.norm() + 1e-7)
    a = x @ x.t()
    b = -4.7750 * a + 2.0315 * (a @ a)
    return 3.4445 * x + b @ x


@program(of(4096, 1024, dtype=F32), of(4096, 1024, dtype=F32), of(4096, 1024, dtype=F32))
def lars(p, g, momentum):
    g = g + 1e-4 * p
    ratio = 1e-3 * p.norm() / (g.norm() + 1e-9)
    momentum = 0.9 * momentum + ratio * g
    return p - momentum, momentum


@program(index(100000, 4096, 8), w(100000, 64), of(4096, 16), w(256, 80), of(256), w(1, 256))
def wide_and_deep(ids, table, dense, w1, b1, w2):
    pooled = F.embedding(ids, table).sum(1)
    h = F.relu(F.linear(torch.cat((pooled, dense), dim=-1), w1, b1))
    return torch.sigmoid(F.linear(h, w2)[:, 0])


@program(of(16384, 128), index(16384, 16384, 16), w(128, 256), of(128))
def sage_layer(features, neighbours, w_layer, b):
    mean = F.embedding(neighbours, features).mean(1)
    h = F.relu(F.linear(torch.cat((features, mean), dim=-1), w_layer, b))
    return F.normalize(h, dim=-1)


@program(of(16384, 64), of(16384, 1), of(16384, 1), index(16384, 16384, 16))
def graph_attention(features, source, target, neighbours):
    scores = F.leaky_relu(F.embedding(neighbours, source)[..., 0] + target, 0.2)
    return (torch.softmax(scores, dim=-1)[..., None] * F.embedding(neighbours, features)).sum(1)


@program(of(2, 16, 2048, 64), of(2, 16, 2048, 64), of(2, 16, 2048, 64))
def sliding_window(q, k, v):
    rows = torch.arange(2048, device=q.device)[:, None]
    columns = torch.arange(2048, device=q.device)[None]
    seen = (columns <= rows) & (columns > rows - 512)
    scores = (q @ k.transpose(-2, -1)) * 0.125
    return torch.softmax(scores.masked_fill(~seen, float("-inf")), dim=-1) @ v


@program(of(2, 1024, 2048), w(576, 2048), of(512), w(4096, 512))
def latent_keys(x, w_down, g, w_up):
    latent, rope = F.linear(x, w_down).split((512, 64), dim=-1)
    k, v = F.linear(F.rms_norm(latent, (512,), g), w_up).view(2, 1024, 16, 256).chunk(2, dim=-1)
    rope = rope[:, :, None].expand(2, 1024, 16, 64)
    return torch.cat((k, rope), dim=-1).transpose(1, 2).contiguous(), v.transpose(1, 2).contiguous()


@program(of(8192, 2, 1024), of(8192, 2), of(8192, 1024))
def combine_experts(outputs, logits, shared):
    weights = torch.softmax(logits.float(), dim=-1)
    return (outputs * weights[..., None]).sum(1).to(BF16) + shared


@program(of(4096, 2048), lambda: integers(127, 4096, 2048, dtype=torch.int8), of(4096))
def dynamic_quantized_linear(x, w_int, w_scale):
    scale = x.abs().amax(-1, keepdim=True) / 127
    x_int = torch.clamp(torch.round(x / scale), -128, 127)
    return (x_int @ w_int.to(BF16).t()) * scale * w_scale


@program(of(8, 8, 1024, 128))
def quantize_cache(k):
    low, high = k.amin(-1, keepdim=True), k.amax(-1, keepdim=True)
    scale = (high - low) / 255
    return torch.clamp(torch.round((k - low) / scale), 0, 255).to(torch.uint8), scale, low


@program(of(2048, 1024), w(4096, 1024), of(4096))
def fake_quantized_linear(x, w_up, b):
    scale = w_up.abs().amax(1, keepdim=True) / 7
    return F.relu(F.linear(x, torch.clamp(torch.round(w_up / scale), -8, 7) * scale, b))


@program(of(8, 1024, 1024), of(1024), of(1024), of(1024), of(1024))
def four_time_mixes(x, mu_r, mu_k, mu_v, mu_g):
    change = F.pad(x, (0, 0, 1, 0))[:, :-1] - x
    return x + change * mu_r, x + change * mu_k, x + change * mu_v, x + change * mu_g


@program(of(4, 8, 1024, 64), of(4, 8, 1024, 64), of(4, 8, 1024, 128), of(8, 1, 1, dtype=F32))
def retention(q, k, v, log_gamma):
    steps = torch.arange(1024, device=q.device, dtype=F32)
    distance = steps[:, None] - steps[None]
    decay = torch.where(distance >= 0, torch.exp(log_gamma * distance), 0.0)
    y = ((q @ k.transpose(-2, -1)) * decay.to(BF16)) @ v
    return F.rms_norm(y, (128,)).transpose(1, 2).reshape(4, 1024, 1024)


@program(of(16, 3000, 208), of(16, 3000, 208), w(80, 208))
def log_mel(real, imaginary, mel):
    power = real * real + imaginary * imaginary
    return torch.log(torch.clamp(F.linear(power, mel), min=1e-5)).transpose(1, 2).contiguous()


@program(of(64, 512, 32, dtype=F32), w(96, 512, dtype=F32), of(96, dtype=F32))
def reversible_norm_forecast(x, w_time, b):
    mean, std = x.mean(1, keepdim=True), torch.sqrt(x.var(1, keepdim=True) + 1e-5)
    y = F.linear(((x - mean) / std).transpose(1, 2), w_time, b).transpose(1, 2)
    return y * std + mean


@program(of(64, 128, 256), w(256, 256), of(256), w(512, 256), of(512), of(256), of(256))
def gated_residual_network(x, w1, b1, w2, b2, g, b):
    h = F.linear(F.elu(F.linear(x, w1, b1)), w2, b2)
    return F.layer_norm(x + F.glu(h, dim=-1), (256,), g, b)


@program(of(16, 17, 64, 48, dtype=F32))
def soft_argmax(heat):
    probs = torch.softmax(heat.flatten(2), dim=-1).view(16, 17, 64, 48)
    x = (probs.sum(2) * torch.arange(48, device=heat.device, dtype=F32)).sum(-1)
    y = (probs.sum(3) * torch.arange(64, device=heat.device, dtype=F32)).sum(-1)
    return torch.stack((x, y), dim=-1)


@program(of(16, 80, 128, 128), positive(16, 80, 128, 128))
def heat_map_focal_loss(logits, target):
    p = torch.clamp(torch.sigmoid(logits.float()), 1e-4, 1 - 1e-4)
    is_peak = (target >= 1).float()
    peaks = torch.log(p) * (1 - p).pow(2) * is_peak
    others = torch.log(1 - p) * p.pow(2) * (1 - target.float()).pow(4) * (1 - is_peak)
    return -(peaks.sum() + others.sum()) / torch.clamp(is_peak.sum(), min=1)


@program(of(1024, 4, dtype=F32), of(512, 4, dtype=F32))
def box_overlaps(a, b):
    low = torch.maximum(a[:, None, :2], b[None, :, :2])
    high = torch.minimum(a[:, None, 2:], b[None, :, 2:])
    size = torch.clamp(high - low, min=0)
    shared = size[..., 0] * size[..., 1]
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return shared / (area_a[:, None] + area_b - shared)


@program(lambda: integers(255, 32, 224, 224, 3, dtype=torch.uint8), of(3, dtype=F32), of(3, dtype=F32))
def images_to_network(pixels, mean, std):
    return ((pixels.float() / 255 - mean) / std).permute(0, 3, 1, 2).contiguous().to(BF16)


@program(of(64, 3, 224, 224), index(64, 64), positive(64, 1, 1, 1))
def mix_up(x, order, share):
    return x * share + x[order] * (1 - share)


@program(of(2048, 2048), of(2048), w(11008, 2048), w(2048, 5504), of(2048))
def re_glu_ffn(x, g, w_in, w_out, g_out):
    gate, value = F.linear(F.rms_norm(x, (2048,), g), w_in).chunk(2, dim=-1)
    return x + F.rms_norm(F.linear(F.relu(gate) * value, w_out), (2048,), g_out)


# Round 5.


@program(of(8, 256, 768), w(2304, 768), of(2304), mask(8, 256), w(768, 768), of(768))
def padded_attention(x, w_qkv, b_qkv, kept, w_out, b_out):
    q, k, v = (p.view(8, 256, 12, 64).transpose(1, 2) for p in F.linear(x, w_qkv, b_qkv).chunk(3, dim=-1))
    bias = (1.0 - kept.to(BF16)[:, None, None, :]) * -10000.0
    probs = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(64) + bias, dim=-1)
    return F.linear((probs @ v).transpose(1, 2).reshape(8, 256, 768), w_out, b_out)


@program(of(4, 256, 1024), of(4, 4096, 512), of(1024), of(1024), of(512), of(512), w(1024, 1024), w(2048, 512), w(1024, 1024))
def latent_cross_attention(latents, x, g1, b1, g2, b2, w_q, w_kv, w_out):
    q = F.linear(F.layer_norm(latents, (1024,), g1, b1), w_q).view(4, 256, 16, 64).transpose(1, 2)
    k, v = F.linear(F.layer_norm(x, (512,), g2, b2), w_kv).view(4, 4096, 2, 16, 64).unbind(2)
    mixed = F.scaled_dot_product_attention(q, k.transpose(1, 2), v.transpose(1, 2))
    return latents + F.linear(mixed.transpose(1, 2).reshape(4, 256, 1024), w_out)


@program(of(32, 512, 64), of(32, 512, 64), of(32, 512, 64), of(32, 512, 512), of(32, 512, 64))
def attention_backward(q, k, v, probs, grad):
    grad_v = probs.transpose(1, 2) @ grad
    grad_probs = (grad @ v.transpose(1, 2)).float()
    wide = probs.float()
    grad_scores = (wide * (grad_probs - (wide * grad_probs).sum(-1, keepdim=True)) * 0.125).to(BF16)
    return grad_scores @ k, grad_scores.transpose(1, 2) @ q, grad_v


@program(of(4096, 5504), of(4096, 5504), of(4096, 5504))
def swiglu_backward(grad, gate, up):
    s = torch.sigmoid(gate)
    return grad * up * s * (1 + gate * (1 - s)), grad * gate * s


@program(of(8192, 2048), of(8192, 2048), of(2048))
def rms_norm_backward(grad, x, g):
    x, scaled = x.float(), (grad * g).float()
    inverse = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    normed = x * inverse
    return (inverse * (scaled - normed * (scaled * normed).mean(-1, keepdim=True))).to(BF16)


@program(of(2048, 32000), index(32000, 2048))
def cross_entropy_backward(logits, target):
    hot = (torch.arange(32000, device=logits.device) == target[:, None]).float()
    return ((torch.softmax(logits.float(), dim=-1) - hot) / 2048).to(BF16)


@program(index(32000, 16, 1024), w(32000, 512), of(256, dtype=F32))
def sinusoidal_embedding(ids, table, frequencies):
    angles = torch.arange(1024, device=ids.device, dtype=F32)[:, None] * frequencies
    positions = torch.cat((torch.sin(angles), torch.cos(angles)), dim=-1).to(BF16)
    return F.embedding(ids, table) * math.sqrt(512) + positions


@program(of(1024, 1024), w(8, 1024), of(8, 1024, 2048), of(8, 1024, 2048), of(8, 2048, 1024))
def dense_experts(x, w_router, w_gate, w_up, w_down):
    weights = torch.softmax(F.linear(x, w_router).float(), dim=-1).to(BF16)
    wide = x[None].expand(8, 1024, 1024)
    h = torch.bmm(F.silu(torch.bmm(wide, w_gate)) * torch.bmm(wide, w_up), w_down)
    return (h * weights.t()[:, :, None]).sum(0)


@program(of(4, 1024, 16, 64), of(4, 1024, 16, 64), of(64), w(1024, 1024))
def gated_head_norm(o, gate, g, w_out):
    h = F.rms_norm(o.float(), (64,)).to(BF16) * g * F.silu(gate)
    return F.linear(h.reshape(4, 1024, 1024), w_out)


@program(of(16, 192, 28, 28), of(192), of(192))
def layer_norm_of_channels(x, g, b):
    mean = x.mean(1, keepdim=True)
    var = (x - mean).pow(2).mean(1, keepdim=True)
    return g[:, None, None] * ((x - mean) / torch.sqrt(var + 1e-6)) + b[:, None, None]


@program(of(16, 28, 28, 768), of(768), of(768))
def global_response_norm(x, g, b):
    size = torch.sqrt((x.float() * x.float()).sum((1, 2), keepdim=True))
    share = size / (size.mean(-1, keepdim=True) + 1e-6)
    return (g * (x * share) + b + x).to(BF16)


@program(of(8, 256, 64, 64), of(64))
def pixel_shuffle_bias(x, b):
    y = x.view(8, 64, 2, 2, 64, 64).permute(0, 1, 4, 2, 5, 3).reshape(8, 64, 128, 128)
    return F.leaky_relu(y + b[:, None, None], 0.2)


@program(image(16, 256, 56, 56), filters(1, 2, 7, 7))
def spatial_attention(x, f):
    pooled = torch.cat((x.mean(1, keepdim=True), x.amax(1, keepdim=True)), dim=1)
    return x * torch.sigmoid(F.conv2d(pooled, f, padding=3))


@program(image(16, 64, 56, 56), filters(64, 64, 1, 1), of(64), positive(64), filters(64, 1, 3, 3), of(64), positive(64))
def ghost_module(x, f1, m1, v1, f2, m2, v2):
    first = F.relu(F.batch_norm(F.conv2d(x, f1), m1, v1))
    second = F.relu(F.batch_norm(F.conv2d(first, f2, padding=1, groups=64), m2, v2))
    return torch.cat((first, second), dim=1)


@program(of(16, 3, 80, 80, 85), of(80, 80, 2), of(3, 1, 1, 2))
def decode_boxes(raw, grid, anchors):
    y = torch.sigmoid(raw)
    xy = (y[..., :2] * 2 - 0.5 + grid) * 8
    wh = (y[..., 2:4] * 2).pow(2) * anchors
    return torch.cat((xy, wh, y[..., 4:]), dim=-1).view(16, -1, 85)


@program(image(8, 64, 96, 96), filters(64, 64, 3, 3), of(64), filters(64, 64, 3, 3), of(64))
def super_resolution_block(x, f1, b1, f2, b2):
    return x + F.conv2d(F.leaky_relu(F.conv2d(x, f1, b1, padding=1), 0.2), f2, b2, padding=1) * 0.2


@program(image(8, 128, 64, 64), of(128), of(128), filters(128, 128, 3, 3), of(128))
def down_block(x, g, b, f, bias):
    h = F.conv2d(F.silu(F.group_norm(x, 32, g, b)), f, bias, padding=1)
    return F.avg_pool2d(x + h, 2)


@program(of(8192, 256), of(1024, 256))
def soft_codebook(x, codes):
    distance = x.pow(2).sum(-1, keepdim=True) - 2 * x @ codes.t() + codes.pow(2).sum(-1)
    weights = torch.softmax(-distance.float(), dim=-1).to(BF16)
    quantized = weights @ codes
    usage = weights.float().mean(0)
    return quantized, (x - quantized).float().pow(2).mean(), -(usage * torch.log(usage + 1e-9)).sum()


@program(of(64, 3, 64, 64, dtype=F32))
def gradient_penalty(grad):
    return (grad.flatten(1).norm(dim=1) - 1).pow(2).mean() * 10


@program(of(8, 3, 256, 256, dtype=F32), of(8, 3, 256, 256, dtype=F32))
def structural_similarity(x, y):
    mx, my = F.avg_pool2d(x, 3, 1), F.avg_pool2d(y, 3, 1)
    vx = F.avg_pool2d(x * x, 3, 1) - mx * mx
    vy = F.avg_pool2d(y * y, 3, 1) - my * my
    both = F.avg_pool2d(x * y, 3, 1) - mx * my
    return ((2 * mx * my + 1e-4) * (2 * both + 9e-4) / ((mx * mx + my * my + 1e-4) * (vx + vy + 9e-4))).mean()


@program(of(8, 200, 512), of(8, 50, 512), w(1024, 512), of(1024))
def transducer_joint(encoded, predicted, w_out, b):
    joint = torch.tanh(encoded[:, :, None] + predicted[:, None])
    return torch.log_softmax(F.linear(joint, w_out, b).float(), dim=-1)


@program(of(512, 1024), of(512, 1024), w(3072, 1024), of(3072), w(3072, 1024), of(3072))
def gru_cell(x, h, w_ih, b_ih, w_hh, b_hh):
    r_x, z_x, n_x = F.linear(x, w_ih, b_ih).chunk(3, dim=-1)
    r_h, z_h, n_h = F.linear(h, w_hh, b_hh).chunk(3, dim=-1)
    z = torch.sigmoid(z_x + z_h)
    return (1 - z) * torch.tanh(n_x + torch.sigmoid(r_x + r_h) * n_h) + z * h


@program(of(16, 1024, 256, dtype=F32), of(16, 1024, 256, dtype=F32))
def gated_scan(gate, value):
    log_decay = torch.cumsum(F.logsigmoid(gate), dim=1)
    return torch.exp(log_decay) * torch.cumsum(value * torch.exp(-log_decay), dim=1)


@program(of(4096, 64), of(4096, 64), of(4096, 64))
def pairwise_ranking(user, positive_item, negative_item):
    margin = (user * positive_item).sum(-1) - (user * negative_item).sum(-1)
    decay = user.pow(2).sum() + positive_item.pow(2).sum() + negative_item.pow(2).sum()
    return -F.logsigmoid(margin.float()).mean() + 1e-5 * decay / 4096


@program(index(50000, 128, 200), index(50000, 128, 200), w(50000, 64), of(128, 200, 64))
def next_item_loss(positives, negatives, table, h):
    kept = (positives > 0).float()
    good = (h * F.embedding(positives, table)).sum(-1).float()
    bad = (h * F.embedding(negatives, table)).sum(-1).float()
    loss = -F.logsigmoid(good) - F.logsigmoid(-bad)
    return (loss * kept).sum() / kept.sum()


@program(of(4096, 18, dtype=F32), of(4096, 18, dtype=F32), index(18, 4096), of(4096, dtype=F32), of(4096, dtype=F32))
def q_learning_loss(q, q_next, action, reward, done):
    chosen = q.gather(1, action[:, None])[:, 0]
    target = reward + 0.99 * q_next.amax(1) * (1 - done)
    return F.smooth_l1_loss(chosen, target)


@program(of(1024, 17, dtype=F32), of(1024, 17, dtype=F32), of(1024, 17, dtype=F32))
def squashed_policy(mean, log_std, noise):
    log_std = torch.clamp(log_std, -5, 2)
    raw = mean + torch.exp(log_std) * noise
    log_prob = (-0.5 * noise.pow(2) - log_std - 0.9189385).sum(-1)
    return torch.tanh(raw), log_prob - (2 * (math.log(2) - raw - F.softplus(-2 * raw))).sum(-1)


@program(of(512, 32, dtype=F32), of(512, 32, dtype=F32), of(32, dtype=F32))
def quantile_huber(quantiles, targets, taus):
    error = targets[:, None, :] - quantiles[:, :, None]
    size = error.abs()
    huber = torch.where(size < 1, 0.5 * error * error, size - 0.5)
    weight = (taus[:, None] - (error < 0).float()).abs()
    return (weight * huber).sum(1).mean(1).mean()


@program(of(2048, 64, dtype=F32), of(2048, 64, dtype=F32), of(2048, 64, dtype=F32))
def gaussian_nll(mean, raw, target):
    var = F.softplus(raw) + 1e-4
    return (0.5 * (torch.log(var) + (target - mean).pow(2) / var)).mean()


@program(of(2 << 20, dtype=F32), of(2 << 20, dtype=F32), of(2 << 20, dtype=F32), positive(2 << 20, dtype=F32), positive(2 << 20, dtype=F32))
def ams_grad(p, g, m, v, largest):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    largest = torch.maximum(largest, v)
    return p - 1e-3 * m / (torch.sqrt(largest) + 1e-8), m, v, largest


@program(of(1024, 2048), of(1024, 1024), of(2048, 2048))
def preconditioner_update(g, left, right):
    return 0.95 * left + 0.05 * (g @ g.t()), 0.95 * right + 0.05 * (g.t() @ g)


@program(of(512, 4096), lambda: integers(127, 8192, 4096, dtype=torch.int8), of(8192), of(8192))
def weight_only_int8(x, w_int, scale, b):
    return F.gelu(F.linear(x, w_int.to(BF16)) * scale + b)


@program(of(4096, 4096))
def power_of_two_blocks(x):
    blocks = x.float().view(4096, 128, 32)
    exponent = torch.floor(torch.log(blocks.abs().amax(-1, keepdim=True) + 1e-12) / math.log(2)) - 2
    scale = torch.exp(exponent * math.log(2))
    return (torch.clamp(torch.round(blocks / scale * 4) / 4, -6, 6) * scale).view(4096, 4096).to(BF16)


@program(of(8, 16, 1, 128), lambda: integers(127, 8, 16, 4096, 128, dtype=torch.int8), of(8, 16, 4096, 1), lambda: integers(127, 8, 16, 4096, 128, dtype=torch.int8), of(8, 16, 4096, 1))
def decode_with_int8_cache(q, k_int, k_scale, v_int, v_scale):
    k, v = k_int.to(BF16) * k_scale, v_int.to(BF16) * v_scale
    probs = torch.softmax((q @ k.transpose(-2, -1)).float() * 128**-0.5, dim=-1).to(BF16)
    return probs @ v


@program(of(16384, 3, 3, dtype=F32), of(16384, 64, 3, dtype=F32), of(16384, 3, dtype=F32))
def rigid_transform(rotation, points, shift):
    return (rotation[:, None] * points[:, :, None, :]).sum(-1) + shift[:, None]


@program(of(8192, 64, 3, dtype=F32), of(10, dtype=F32))
def fourier_features(x, bands):
    angles = (x[..., None] * bands).flatten(2)
    return torch.cat((x, torch.sin(angles), torch.cos(angles)), dim=-1).to(BF16)


@program(of(8192, 128, dtype=F32), positive(8192, 128, dtype=F32), of(8192, 128, 3, dtype=F32))
def volume_rendering(density, steps, colour):
    optical = F.relu(density) * steps
    through = torch.exp(-(torch.cumsum(optical, dim=-1) - optical))
    weights = through * (1 - torch.exp(-optical))
    return (weights[..., None] * torch.sigmoid(colour)).sum(1), weights.sum(-1)


@program(positive(65536, dtype=F32), of(64, dtype=F32), w(128, 64, dtype=F32), of(128, dtype=F32))
def radial_filters(distance, centres, w1, b1):
    basis = torch.exp(-10 * (distance[:, None] - centres).pow(2))
    envelope = 0.5 * (torch.cos(distance * math.pi / 5) + 1) * (distance < 5).float()
    return F.silu(F.linear(basis, w1, b1)) * envelope[:, None]


@program(of(256, 256, 128), of(128), of(128), w(256, 128), w(256, 128), w(128, 128), of(128), of(128), w(128, 128))
def triangle_multiplication(z, g1, b1, w_in, w_gate, w_g, g2, b2, w_out):
    h = F.layer_norm(z, (128,), g1, b1)
    a, b = (F.linear(h, w_in) * torch.sigmoid(F.linear(h, w_gate))).permute(2, 0, 1).chunk(2, dim=0)
    mixed = (a @ b.transpose(-1, -2)).permute(1, 2, 0)
    return z + torch.sigmoid(F.linear(h, w_g)) * F.linear(F.layer_norm(mixed, (128,), g2, b2), w_out)


@program(of(64, 8, 256, 32), of(64, 8, 256, 32), of(64, 8, 256, 32), of(256, 256, 128), w(8, 128), of(64, 256, 256))
def row_attention_with_pairs(q, k, v, pairs, w_bias, gate):
    bias = F.linear(pairs, w_bias).permute(2, 0, 1)
    scores = (q * 32**-0.5) @ k.transpose(-1, -2) + bias
    mixed = (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(64, 256, 256)
    return torch.sigmoid(gate) * mixed


@program(of(8, 20, 180, 360, dtype=F32), of(8, 20, 180, 360, dtype=F32), positive(180, 1, dtype=F32))
def weighted_error(forecast, truth, weights):
    weights = weights / weights.mean()
    return torch.sqrt(((forecast - truth).pow(2) * weights).mean((2, 3))).mean(0)


@program(of(2, 2048, 1024), of(1024), of(1024), w(1024, 1024), w(1024, 1024), w(1024, 1024), of(1024), of(1024), of(1024))
def channel_mixing(x, mix_k, mix_r, w_k, w_r, w_v, g, b, scale):
    h = F.layer_norm(x, (1024,), g, b)
    before = F.pad(h, (0, 0, 1, 0))[:, :-1]
    k = torch.relu(F.linear(h * mix_k + before * (1 - mix_k), w_k)).pow(2)
    r = torch.sigmoid(F.linear(h * mix_r + before * (1 - mix_r), w_r))
    return x + scale * r * F.linear(k, w_v)


# Round 6.


@program(of(2, 1024, 1600), of(1600), of(1600), w(4800, 1600), of(4800), w(1600, 1600), of(1600))
def gpt2_attention(x, g, b, w_qkv, b_qkv, w_out, b_out):
    h = F.layer_norm(x, (1600,), g, b)
    q, k, v = (p.view(2, 1024, 25, 64).transpose(1, 2) for p in F.linear(h, w_qkv, b_qkv).split(1600, dim=2))
    causal = torch.tril(torch.ones(1024, 1024, dtype=torch.bool, device=x.device))
    scores = torch.where(causal, q @ k.transpose(-1, -2) * 0.125, -1e4)
    mixed = (torch.softmax(scores.float(), dim=-1).to(BF16) @ v).transpose(1, 2).reshape(2, 1024, 1600)
    return x + F.linear(mixed, w_out, b_out)


@program(of(1, 4096, 2048), of(2048), w(5632, 2048), w(5632, 2048), w(2048, 5632), of(2048))
def llama_mlp_into_next_norm(x, g, w_gate, w_up, w_down, g_next):
    def norm(y, scale):
        wide = y.float()
        return scale * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(BF16)

    h = norm(x, g)
    x = x + F.linear(F.silu(F.linear(h, w_gate)) * F.linear(h, w_up), w_down)
    return x, norm(x, g_next)


@program(of(4, 32, 1, 128), of(4, 32, 2048, 128), of(4, 32, 2048, 128), mask(4, 1, 1, 2048))
def decode_attention(q, k, v, seen):
    scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(128)
    scores = scores.float().masked_fill(~seen, -1e9)
    return torch.matmul(torch.softmax(scores, dim=-1).to(BF16), v)


@program(of(8, 197, 768), of(768), of(768), w(3072, 768), of(3072), w(768, 3072), of(768), of(768))
def vit_mlp_with_layer_scale(x, g, b, w1, b1, w2, b2, scale):
    return x + scale * F.linear(F.gelu(F.linear(F.layer_norm(x, (768,), g, b), w1, b1)), w2, b2)


@program(of(16, 256, 1024), of(16, 1024), w(6144, 1024), of(6144))
def adaptive_layer_norm_zero(x, condition, w_mod, b_mod):
    shift, scale, gate, shift2, scale2, gate2 = F.linear(F.silu(condition), w_mod, b_mod)[:, None].chunk(6, dim=-1)
    h = F.layer_norm(x, (1024,)) * (1 + scale) + shift
    x = x + gate * h
    return x + gate2 * (F.layer_norm(x, (1024,)) * (1 + scale2) + shift2)


@program(of(4, 16, 2048, 64), of(2048, 32), of(2048, 32))
def rotate_interleaved(q, cos, sin):
    pairs = q.view(4, 16, 2048, 32, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


@program(of(8, 512, 512), w(64, 512), w(64, 512), w(512, 512), of(8, 512))
def single_head_attention(x, w_q, w_k, w_v, gate):
    q, k, v = F.linear(x, w_q), F.linear(x, w_k), F.linear(x, w_v)
    weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) * 0.125, dim=-1)
    return torch.bmm(weights, v) * torch.sigmoid(gate)[..., None]


@program(of(2, 4096, 1024), w(1024, 1024), w(1024, 1024), w(1024, 1024))
def linear_attention_with_elu(x, w_q, w_k, w_v):
    q, k, v = (F.linear(x, m).view(2, 4096, 16, 64).transpose(1, 2) for m in (w_q, w_k, w_v))
    q, k = F.elu(q.float()) + 1, F.elu(k.float()) + 1
    state = k.transpose(-1, -2) @ v.float()
    norm = (q * k.sum(2, keepdim=True)).sum(-1, keepdim=True)
    return ((q @ state) / (norm + 1e-6)).to(BF16).transpose(1, 2).reshape(2, 4096, 1024)


@program(of(4, 2048, 1024), of(1024, 4), of(1024), w(64, 1024), of(64), w(1024, 64), of(1024))
def selective_inputs(x, f, b, w_low, b_low, w_dt, b_dt):
    padded = F.pad(x, (0, 0, 3, 0))
    h = F.silu(sum(padded[:, i : i + 2048] * f[:, i] for i in range(4)) + b)
    return h, F.softplus(F.linear(F.linear(h, w_low, b_low), w_dt, b_dt).float())


@program(of(8192, 4096), w(64, 4096), of(64))
def grouped_router(x, w_router, bias):
    scores = torch.sigmoid(F.linear(x, w_router).float())
    biased = (scores + bias).view(8192, 8, 8)
    best = biased.amax(-1, keepdim=True)
    kept = torch.where(biased >= best, scores.view(8192, 8, 8), 0.0).view(8192, 64)
    return kept / (kept.sum(-1, keepdim=True) + 1e-20) * 2.5


@program(of(8, 1024, 50304, dtype=BF16), index(50304, 8, 1024))
def soft_capped_loss(logits, target):
    capped = 30 * torch.tanh(logits.float() / 30)
    return F.cross_entropy(capped.view(-1, 50304), target.view(-1))


@program(of(4096, 1024), w(1024, 1024), of(1024), w(1024, 1024), of(1024), of(1024), of(1024))
def prediction_head(x, w1, b1, w2, b2, g, b):
    h = F.layer_norm(F.gelu(F.linear(x, w1, b1)), (1024,), g, b)
    return F.linear(h, w2) + b2


@program(of(512, 2048), w(2048, 2048), w(2048, 2048), of(2048))
def residual_of_two_products(x, w1, w2, b):
    return x @ w1.t() + torch.tanh(x @ w2.t() + b)


@program(image(32, 128, 28, 28), filters(128, 128, 3, 3), of(128), positive(128), of(128), of(128), filters(128, 128, 3, 3), of(128), positive(128), of(128), of(128))
def basic_block(x, f1, m1, v1, g1, b1, f2, m2, v2, g2, b2):
    h = F.relu(F.batch_norm(F.conv2d(x, f1, padding=1), m1, v1, g1, b1))
    return F.relu(F.batch_norm(F.conv2d(h, f2, padding=1), m2, v2, g2, b2) + x)


@program(image(16, 64, 56, 56), filters(128, 64, 3, 3), of(128), of(128))
def conv_norm_in_training(x, f, g, b):
    return F.relu(F.batch_norm(F.conv2d(x, f, stride=2, padding=1), None, None, g, b, training=True))


@program(image(8, 256, 32, 32), filters(256, 256, 3, 3), of(256), filters(80, 256, 1, 1), of(80), filters(8, 256, 1, 1), of(8))
def detection_head(x, f, b, f_class, b_class, f_box, b_box):
    h = F.relu(F.conv2d(x, f, b, padding=1))
    return torch.sigmoid(F.conv2d(h, f_class, b_class)), torch.exp(F.conv2d(h, f_box, b_box))


@program(image(16, 512, 16, 16), filters(128, 512, 1, 1), filters(128, 512, 1, 1))
def pyramid_pooling(x, f1, f2):
    whole = F.relu(F.conv2d(x.mean((2, 3), keepdim=True), f1)).expand(16, 128, 16, 16)
    halves = F.interpolate(F.relu(F.conv2d(F.avg_pool2d(x, 8), f2)), scale_factor=8, mode="nearest")
    return torch.cat((x, whole, halves), dim=1)


@program(of(32, 512, 14, 14), w(1000, 512), of(1000), index(1000, 32))
def classifier_loss(x, w_head, b, target):
    return F.cross_entropy(F.linear(x.mean((2, 3)), w_head, b).float(), target)


@program(of(16, 64, 64, 64), of(64), of(64))
def layer_norm_over_image(x, g, b):
    mean, var = x.float().mean((1, 2, 3), keepdim=True), x.float().var((1, 2, 3), keepdim=True)
    return ((x - mean) * torch.rsqrt(var + 1e-5)).to(BF16) * g[:, None, None] + b[:, None, None]


@program(of(32, 256, 1024, dtype=F32), of(256, dtype=F32), of(256, dtype=F32))
def batch_norm_of_sequences(x, g, b):
    return F.relu(F.batch_norm(x, None, None, g, b, training=True))


@program(of(64, 128, 768), mask(64, 128), w(256, 768))
def sentence_embedding(x, kept, w_out):
    kept = kept[..., None].to(BF16)
    pooled = (x * kept).sum(1) / torch.clamp(kept.sum(1), min=1e-9)
    return F.normalize(F.linear(pooled, w_out), dim=-1)


@program(of(8192, 128, dtype=F32), of(8192, 128, dtype=F32))
def wasserstein_gaussians(a, b):
    mean = (a.mean(0) - b.mean(0)).pow(2).sum()
    std = (a.std(0) - b.std(0)).pow(2).sum()
    return torch.sqrt(mean + std)


@program(of(4096, 100, dtype=F32), index(100, 4096))
def large_margin_loss(cosines, target):
    hot = (torch.arange(100, device=cosines.device) == target[:, None]).float()
    return F.cross_entropy(64 * (cosines - 0.35 * hot), target)


@program(of(4, 19, 256, 256), index(19, 4, 256, 256))
def segmentation_loss(logits, target):
    log_probs = torch.log_softmax(logits.float(), dim=1)
    return -log_probs.gather(1, target[:, None]).mean()


@program(of(256, 1024, dtype=F32), of(256, 1024, dtype=F32))
def spectral_convergence(a, b):
    return (b - a).norm() / b.norm() + (torch.log(b.abs() + 1e-7) - torch.log(a.abs() + 1e-7)).abs().mean()


@program(of(32, 1024, dtype=F32), of(32, 1024, dtype=F32), of(32, 1024, dtype=F32), of(32, 1024, dtype=F32))
def clipped_value_loss(value, old, returns, advantages):
    clipped = old + torch.clamp(value - old, -0.2, 0.2)
    worst = torch.maximum((value - returns).pow(2), (clipped - returns).pow(2))
    return 0.5 * worst.mean(), (advantages - advantages.mean()) / (advantages.std() + 1e-8)


@program(of(4096, 6, dtype=F32))
def policy_entropy(logits):
    log_probs = torch.log_softmax(logits, dim=-1)
    return -(torch.exp(log_probs) * log_probs).sum(-1).mean()


@program(of(8 << 20, dtype=F32), of(8 << 20), of(8 << 20, dtype=F32), positive(8 << 20, dtype=F32))
def mixed_precision_adam(p, g, m, v):
    g = g.float() / 1024
    m = 0.9 * m + 0.1 * g
    v = 0.95 * v + 0.05 * g * g
    p = p - 3e-4 * (m / 0.19 / (torch.sqrt(v / 0.0975) + 1e-8) + 0.1 * p)
    return p, p.to(BF16), m, v


@program(of(2048, 1024, dtype=F32), of(2048, 1024, dtype=F32))
def normalized_update(p, g):
    g = g / (g.norm(dim=1, keepdim=True) + 1e-8)
    p = p - 0.01 * g
    return p / p.norm(dim=1, keepdim=True)


@program(of(1024, 1024, dtype=F32), of(1024, 1024, dtype=F32), of(512, dtype=F32), of(512, dtype=F32))
def gradient_norm_of_two(g1, g2, g3, g4):
    total = torch.sqrt((g1 * g1).sum() + (g2 * g2).sum() + (g3 * g3).sum() + (g4 * g4).sum())
    scale = torch.clamp(1.0 / (total + 1e-6), max=1.0)
    return g1 * scale, g2 * scale, g3 * scale, g4 * scale


@program(index(1000000, 4096, 26), w(1000000, 16), of(4096, 416), w(400, 416), of(400), w(1, 400), w(1000000, 1))
def factorization_machine_with_mlp(ids, table, dense, w1, b1, w2, linear):
    e = F.embedding(ids, table)
    pairs = 0.5 * (e.sum(1).pow(2) - e.pow(2).sum(1)).sum(-1)
    deep = F.linear(F.relu(F.linear(e.view(4096, 416) + dense, w1, b1)), w2)[:, 0]
    return torch.sigmoid(F.embedding(ids, linear)[..., 0].sum(1) + pairs + deep)


@program(of(2048, 50, 64), of(2048, 64), mask(2048, 50))
def target_attention(history, target, kept):
    scores = (history * target[:, None]).sum(-1) / 8
    weights = torch.softmax(scores.float().masked_fill(~kept, -1e9), dim=-1).to(BF16)
    return (weights[..., None] * history).sum(1)


@program(of(100000, 64), index(100000, 400000), index(100000, 400000), of(400000))
def edge_scores(nodes, source, target, weight_of_edge):
    a, b = F.embedding(source, nodes), F.embedding(target, nodes)
    return torch.sigmoid((a * b).sum(-1) * weight_of_edge)


@program(of(1024, 32, 128), of(1024, 32, 32))
def graph_convolution(nodes, adjacency):
    degree = torch.rsqrt(adjacency.sum(-1) + 1)
    normalized = degree[..., None] * adjacency * degree[:, None]
    return F.relu(torch.bmm(normalized, nodes))


@program(of(2048, 4096), lambda: integers(15, 4096, 4096, dtype=torch.int8), of(32, 4096), of(32, 4096))
def group_quantized_linear(x, q, scale, zero):
    weights = (q.view(32, 128, 4096).to(BF16) - zero[:, None]) * scale[:, None]
    return x @ weights.view(4096, 4096)


@program(of(4096, 4096), of(4096, 4096))
def quantize_both_ways(x, w_up):
    x_scale = x.abs().amax(-1, keepdim=True).float() / 448
    w_scale = w_up.abs().amax(0, keepdim=True).float() / 448
    return (x / x_scale).to(BF16), x_scale, (w_up / w_scale).to(BF16), w_scale


@program(of(8, 4, 512, 512, dtype=F32), positive(4, 1, 1, dtype=F32), positive(4, 1, 1, dtype=F32))
def satellite_bands(x, mean, std):
    x = (torch.clamp(x, 0, 10000) / 10000 - mean) / std
    vegetation = (x[:, 3] - x[:, 0]) / (x[:, 3] + x[:, 0] + 1e-6)
    return torch.cat((x, vegetation[:, None]), dim=1)


@program(of(16, 1, 65536, dtype=F32))
def audio_frames(x):
    emphasized = x[..., 1:] - 0.97 * x[..., :-1]
    return emphasized / (emphasized.abs().amax(-1, keepdim=True) + 1e-7)


@program(of(32, 2048, 64, dtype=F32))
def moving_statistics(x):
    total = torch.cumsum(x, dim=1)
    return (total[:, 64:] - total[:, :-64]) / 64


@program(of(4096, 24, 3, dtype=F32), of(4096, 24, 3, dtype=F32))
def joint_errors(predicted, truth):
    predicted, truth = predicted - predicted[:, :1], truth - truth[:, :1]
    return torch.sqrt((predicted - truth).pow(2).sum(-1)).mean(-1), (predicted - truth).abs().mean()


@program(of(128, 64, 64, dtype=F32), of(128, 64, dtype=F32))
def mahalanobis(precision, error):
    return torch.sqrt(((precision * error[:, None]).sum(-1) * error).sum(-1))


@program(of(64, 256, 256), of(64, 256, 256), w(256, 256), of(256))
def masked_autoencoder_loss(decoded, patches, w_out, b):
    target = (patches - patches.mean(-1, keepdim=True)) / torch.sqrt(patches.var(-1, keepdim=True) + 1e-6)
    return (F.linear(decoded, w_out, b) - target).pow(2).mean(-1)


# Round 7.


@program(of(4, 512, 1024), of(1024), w(1024, 1024), w(256, 1024), w(256, 1024), w(1024, 1024), of(512, 64), of(512, 64))
def grouped_attention_with_rope(x, g, w_q, w_k, w_v, w_out, cos, sin):
    h = F.rms_norm(x, (1024,), g)
    q = F.linear(h, w_q).view(4, 512, 16, 64).transpose(1, 2)
    k = F.linear(h, w_k).view(4, 512, 4, 64).transpose(1, 2)
    v = F.linear(h, w_v).view(4, 512, 4, 64).transpose(1, 2)
    q = q * cos + torch.cat((-q[..., 32:], q[..., :32]), dim=-1) * sin
    k = k * cos + torch.cat((-k[..., 32:], k[..., :32]), dim=-1) * sin
    k, v = (y[:, :, None].expand(4, 4, 4, 512, 64).reshape(4, 16, 512, 64) for y in (k, v))
    mixed = F.scaled_dot_product_attention(q, k, v)
    return x + F.linear(mixed.transpose(1, 2).reshape(4, 512, 1024), w_out)


@program(of(16, 128, 512), w(1536, 512), w(512, 512), of(512), of(512), w(2048, 512), w(512, 2048), of(512), of(512))
def post_norm_layer_without_biases(x, w_qkv, w_out, g1, b1, w1, w2, g2, b2):
    q, k, v = F.linear(x, w_qkv).view(16, 128, 3, 8, 64).permute(2, 0, 3, 1, 4)
    probs = torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1)
    mixed = (probs @ v).transpose(1, 2).reshape(16, 128, 512)
    x = F.layer_norm(x + F.linear(mixed, w_out), (512,), g1, b1)
    return F.layer_norm(x + F.linear(F.relu(F.linear(x, w1)), w2), (512,), g2, b2)


@program(of(8, 77, 768), of(768), of(768), w(768, 768), index(77, 8, 1))
def text_projection(x, g, b, w_out, last):
    h = F.layer_norm(x, (768,), g, b)
    picked = h.gather(1, last[:, :, None].expand(8, 1, 768))[:, 0]
    return F.normalize(F.linear(picked, w_out), dim=-1)


@program(of(2048, 4096), w(14336, 4096), w(14336, 4096), of(2048, 14336))
def gate_and_saved_activations(x, w_gate, w_up, noise):
    gate, up = F.linear(x, w_gate), F.linear(x, w_up)
    s = F.silu(gate)
    return s * up + noise, s, up


@program(of(4096, 2048), of(4096, 2048), of(2048), of(2048), of(4096, 1, dtype=F32), of(4096, 1, dtype=F32))
def layer_norm_backward_from_saved(grad, x, g, b, mean, inverse):
    normed = (x.float() - mean) * inverse
    scaled = grad.float() * g.float()
    dx = inverse * (scaled - scaled.mean(-1, keepdim=True) - normed * (scaled * normed).mean(-1, keepdim=True))
    return dx.to(BF16), (F.relu(normed * g.float() + b.float())).to(BF16)


@program(of(8, 1024, 768), of(8, 1024, 768), w(768, 768))
def blend_by_learned_gate(x, y, w_gate):
    gate = torch.sigmoid(F.linear(x, w_gate) + y.mean(1, keepdim=True))
    return gate * x + (1 - gate) * y


@program(image(16, 64, 64, 64), filters(64, 64, 3, 3), of(64), of(64), positive(64), of(64), of(64))
def attention_gate_of_images(x, f, b, mean, var, g, shift):
    h = F.batch_norm(F.conv2d(x, f, b, padding=1), mean, var, g, shift)
    return x * torch.sigmoid(h) + h


@program(image(8, 32, 128, 128), filters(64, 32, 3, 3), of(64), filters(64, 64, 3, 3), of(64))
def encoder_stage(x, f1, b1, f2, b2):
    h = F.gelu(F.conv2d(x, f1, b1, padding=1))
    h = F.gelu(F.conv2d(h, f2, b2, padding=1))
    return h, F.max_pool2d(h, 2)


@program(of(32, 128, 28, 28), of(128), of(128), of(128), positive(128))
def batch_norm_then_mean(x, g, b, mean, var):
    return F.relu(F.batch_norm(x, mean, var, g, b)).mean((2, 3))


@program(of(64, 512, 7, 7), w(512, 512), of(512), w(100, 512))
def generalized_mean_pool(x, w1, b, w2):
    pooled = torch.clamp(x, min=1e-6).pow(3).mean((2, 3)).pow(1 / 3)
    return F.linear(F.normalize(F.linear(pooled, w1, b), dim=-1), w2)


@program(of(4096, 512, dtype=F32), of(4096, 512, dtype=F32))
def correlation_loss(a, b):
    a, b = a - a.mean(0), b - b.mean(0)
    return 1 - ((a * b).sum(0) / (torch.sqrt((a * a).sum(0) * (b * b).sum(0)) + 1e-8)).mean()


@program(of(8192, 1024), index(1024, 8192), of(1024, dtype=F32))
def class_weighted_loss(logits, target, class_weights):
    log_probs = torch.log_softmax(logits.float(), dim=-1)
    losses = -log_probs.gather(1, target[:, None])[:, 0]
    weights = F.embedding(target, class_weights[:, None])[:, 0]
    return (losses * weights).sum() / weights.sum()


@program(of(64, 1024), of(64, 1024), mask(64, 1024))
def masked_huber(predicted, truth, kept):
    error = (predicted - truth).float().abs()
    loss = torch.where(error < 1, 0.5 * error * error, error - 0.5)
    return (loss * kept.float()).sum(-1) / torch.clamp(kept.float().sum(-1), min=1)


@program(of(16, 2, 256, 256, dtype=F32), of(16, 2, 256, 256, dtype=F32))
def end_point_error(flow, truth):
    error = torch.sqrt((flow - truth).pow(2).sum(1) + 1e-8)
    return error.mean(), (error > 3).float().mean()


@program(of(1 << 22, dtype=F32), of(1 << 22, dtype=F32), of(1 << 22, dtype=F32), of(1 << 22, dtype=F32))
def look_ahead_step(p, slow, g, m):
    m = 0.9 * m + g
    p = p - 0.01 * m
    slow = slow + 0.5 * (p - slow)
    return slow, m, p - slow


@program(of(1024, 4096, dtype=F32), of(1024, 4096, dtype=F32), positive(1024, dtype=F32))
def per_row_adaptive_step(p, g, v):
    v = 0.9 * v + 0.1 * (g * g).mean(1)
    return p - 0.01 * g * torch.rsqrt(v + 1e-8)[:, None], v


@program(index(5000, 8192), index(20000, 8192), w(5000, 128), w(20000, 128), w(5000, 1), w(20000, 1))
def matrix_factorization(users, items, user_table, item_table, user_bias, item_bias):
    score = (F.embedding(users, user_table) * F.embedding(items, item_table)).sum(-1)
    return score + F.embedding(users, user_bias)[:, 0] + F.embedding(items, item_bias)[:, 0]


@program(of(8192, 64), of(8192, 64), of(8192, 64), w(64, 192), of(64))
def message_update(nodes, incoming, edges, w_update, b):
    return nodes + F.silu(F.linear(torch.cat((nodes, incoming, edges), dim=-1), w_update, b))


@program(of(4096, 4096), of(4096))
def static_int8_quantize(x, smooth):
    return torch.clamp(torch.round(x * smooth / 0.05), -128, 127).to(torch.int8)


@program(lambda: integers(127, 2048, 8192, dtype=torch.int32), of(2048, 1, dtype=F32), of(8192, dtype=F32), of(8192))
def dequantize_accumulator(accumulator, x_scale, w_scale, b):
    return F.gelu((accumulator.float() * x_scale * w_scale).to(BF16) + b, approximate="tanh")


@program(of(16, 256, 64, 64), of(16, 256, 64, 64))
def style_statistics(x, y):
    return (x.mean((2, 3)) - y.mean((2, 3))).pow(2).mean() + (x.std((2, 3)) - y.std((2, 3))).pow(2).mean()


@program(of(128, 100, 40, dtype=F32), of(40, dtype=F32), of(40, dtype=F32))
def speech_features(x, mean, std):
    x = (x - mean) / std
    first = x[:, 2:] - x[:, :-2]
    return torch.cat((x[:, 1:-1], first), dim=-1)


@program(of(8, 4096, 256), of(256), of(256))
def causal_average_norm(x, g, b):
    steps = torch.arange(1, 4097, device=x.device, dtype=F32)[:, None]
    average = torch.cumsum(x.float(), dim=1) / steps
    return F.layer_norm(average.to(BF16), (256,), g, b)


@program(of(32, 1024, 128), w(64, 128), of(32, 64, 128))
def slot_attention(x, w_slots, slots):
    logits = slots @ x.transpose(1, 2) * 128**-0.5
    weights = torch.softmax(logits, dim=1) + 1e-8
    return (weights / weights.sum(-1, keepdim=True)) @ x


@program(of(256, 64, 64), of(256, 64, 64))
def symmetric_distance(a, b):
    difference = a - b
    return torch.sqrt((difference * difference.transpose(1, 2)).abs().sum((1, 2)))


@program(of(16384, 2, 3, dtype=F32))
def plane_normals(edges):
    a, b = edges[:, 0], edges[:, 1]
    x = a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1]
    y = a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2]
    z = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return torch.stack((x, y, z), dim=-1) / torch.sqrt(x * x + y * y + z * z + 1e-9)[:, None]


@program(of(65536, 32, dtype=F32), w(64, 32, dtype=F32), of(64, dtype=F32), w(64, 64, dtype=F32), of(64, dtype=F32), w(1, 64, dtype=F32))
def sine_network(x, w1, b1, w2, b2, w3):
    return F.linear(torch.sin(30 * F.linear(torch.sin(30 * F.linear(x, w1, b1)), w2, b2)), w3)


@program(of(2048, 128, dtype=F32), of(2048, 128, dtype=F32), positive(2048, 128, dtype=F32))
def advantage_by_group(rewards, log_probs, kept):
    grouped = rewards.view(256, 8, 128)
    advantage = ((grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)).view(2048, 128)
    return -(advantage * log_probs * kept).sum() / kept.sum()


@program(of(4, 24, 64, 512), of(4, 24, 64, 512), of(4, 24, 64, 64))
def chunk_state_update(k, v, decay):
    inner = torch.tril(k @ v.transpose(-1, -2)) * torch.exp(-decay.float().abs()).to(BF16)
    return inner @ v


@program(of(8, 3, 512, 512, dtype=F32), of(3, 3, dtype=F32))
def colour_transform(x, matrix):
    y = (x[:, None] * matrix[None, :, :, None, None]).sum(2)
    return torch.clamp(y, 0, 1).pow(1 / 2.2)
