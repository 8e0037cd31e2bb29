def codes(packed, shape):
    """The 4 bits of each element. A byte holds two elements, the first in its low bits."""
    shifts = torch.arange(0, 8, 4, dtype=torch.uint8, device=DEVICE)
    return (packed.unsqueeze(-1) >> shifts & 15).flatten()[: torch.Size(shape).numel()].reshape(shape)


def pairs(codes):
    """Elements of 4 bits, two in a byte."""
    codes = F.pad(codes.flatten().to(torch.uint8), (0, codes.numel() % 2)).view(-1, 2)
    return codes[:, 0] | codes[:, 1] << 4


def int4(packed, shape):
    """The values of an i4, -8 to 7."""
    return (codes(packed, shape).to(torch.int8) ^ 8) - 8


def packed_int4(values):
    return pairs(values.to(torch.int64) & 15)


# The values of an f4 (E2M1) by their 4 bits. The first bit is the sign.
E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0], device=DEVICE)


def float4(packed, shape):
    """The values of an f4."""
    return E2M1[codes(packed, shape).int()]


def packed_float4(values):
    """The nearest values of an f4; of two that are equally near the one of the even code."""
    size = values.abs().float()
    code = torch.where(size < 2, (2 * size).round(), torch.where(size < 4, size.round() + 2, (size / 2).round() + 4))
    return pairs(code.clamp(max=7) + 8 * torch.signbit(values))
